"""A run in sections: the iterations of its training loops, and what is before, between and after them.

An iteration is one round of the innermost loop in whose rounds both a root is computed and `backward()` is called.  A
program without such a loop, or with only one round, is its own only section.
"""

from __future__ import annotations

import ast
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from engine.trace.events import AnyEvent, BackwardEnded, BackwardStarted, Frame, OpCalled, Trace
from engine.trace.loops import variable

from ..reading.text import one_line

SectionKind = Literal["before", "iteration", "between", "after"]


@dataclass(frozen=True, slots=True)
class Section:
    """The events from `start` up to `end`, and what they are called: `step = 57`.

    `around` are the names of the rounds of outer loops (`("epoch = 0",)`), `loop` the place of the loop of which an
    iteration is a round: the depth of its frame, its file, and the line before its body.
    """

    kind: SectionKind
    label: str
    start: int
    end: int
    around: tuple[str, ...] = ()
    loop: tuple[int, str, int] | None = None


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the program's text: the lines of its header and its body, where its statements start, the variable
    that tells its rounds apart."""

    first: int
    line: int
    end: int
    starts: tuple[int, ...]
    variable: str | None


@dataclass(frozen=True, slots=True)
class At:
    """Where a stack is in a loop: at which statement of its body, counted from 1 (0: in the header)."""

    depth: int
    statement: int


LONGEST = 40
"""Characters of the line of a program that names a section."""
Place = tuple[int, str, int]
"""A loop as a run has it: the depth of its frame, its file, and the line before its body."""


def sections(trace: Trace) -> tuple[Section, ...]:
    """The sections of a trace, in their order; together they have all its events.

    Cost: linear in the events, times the loops around backward calls.
    """
    chosen = _training_loops(trace)
    rounds = sorted((one for loop in chosen for one in _rounds(trace, loop)), key=lambda one: one.start)
    if len(rounds) < 2 or any(a.end > b.start for a, b in pairwise(rounds)):
        return (Section("iteration", "", 0, len(trace.events)),)
    return tuple(_with_gaps(trace, rounds))


def _training_loops(trace: Trace) -> list[Place]:
    """The loops whose rounds are iterations, none inside another."""
    votes: Counter[Place] = Counter()
    born: dict[int, int] = {}
    calls: list[tuple[int, BackwardStarted]] = []
    running = 0
    for event in trace.events:
        if isinstance(event, OpCalled):
            for out in event.outputs:
                born[out.tensor] = event.index
        elif isinstance(event, BackwardStarted):
            if not running and event.roots:
                calls.append((max(born.get(root.tensor, -1) for root in event.roots), event))
            running += 1
        elif isinstance(event, BackwardEnded):
            running -= 1
    starts: dict[Place, list[int]] = {}
    for made, call in calls:
        for place in reversed(_loops_around(trace, call.stack)):
            if place not in starts:
                starts[place] = [one.start for one in _rounds(trace, place)]
            if len(starts[place]) > 1 and _round_of(starts[place], made) == _round_of(starts[place], call.index) >= 0:
                votes[place] += 1
                break
    found: list[Place] = []
    for place, _ in votes.most_common():
        if not any(_is_inside(trace, place, other) or _is_inside(trace, other, place) for other in found):
            found.append(place)
    return found


def _round_of(starts: Sequence[int], event: int) -> int:
    """The number of the round that an event is in; -1 for none."""
    return bisect_right(starts, event) - 1


def _is_inside(trace: Trace, inner: Place, outer: Place) -> bool:
    """Whether a loop runs inside another, somewhere in the trace."""
    if inner == outer:
        return True
    known = (_at(trace, frames, inner) is not None and _at(trace, frames, outer) is not None for frames in trace.stacks)
    return inner[0] >= outer[0] and any(known)


def _loops_around(trace: Trace, stack: int) -> list[Place]:
    """The loops whose bodies a stack is in, outermost first."""
    frames = trace.stacks[stack] if 0 <= stack < len(trace.stacks) else ()
    return [
        (depth, frame.file, loop.line)
        for depth, frame in enumerate(frames)
        for loop in loops_of(trace.files.get(frame.file, ""))
        if loop.line < frame.line <= loop.end and _is_own(trace, frame, loop)
    ]


def _is_own(trace: Trace, frame: Frame, loop: Loop) -> bool:
    """Whether a loop is run by the frame itself, not by a function that is written around or inside of it."""
    return _function_at(trace.files.get(frame.file, ""), frame.line) == _function_at(
        trace.files.get(frame.file, ""), loop.first
    )


@lru_cache(maxsize=4096)
def _function_at(text: str, line: int) -> int:
    """The line of the innermost function that a line is in; 0 for none."""
    return max((first for first, end in _functions(text) if first <= line <= end), default=0)


@lru_cache(maxsize=64)
def _functions(text: str) -> tuple[tuple[int, int], ...]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return tuple(
        (node.lineno + (0 if isinstance(node, ast.Lambda) else 1), node.end_lineno or node.lineno)
        for node in _nodes(text)
        if isinstance(node, kinds) and not (isinstance(node, ast.Lambda) and node.lineno == node.end_lineno)
    )


@lru_cache(maxsize=64)
def loops_of(text: str) -> tuple[Loop, ...]:
    """The loops of a file, outer ones first; none where it is not Python.

    >>> [(loop.line, loop.end, loop.variable) for loop in loops_of("for i in range(3):\\n    print(i)\\n")]
    [(1, 2, 'i')]
    """
    found = [
        Loop(
            node.lineno, node.body[0].lineno - 1,
            node.body[-1].end_lineno or node.lineno, tuple(statement.lineno for statement in node.body), variable(node),
        )
        for node in _nodes(text)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.While))
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda loop: (loop.line, -loop.end)))


def _nodes(text: str) -> Iterator[ast.AST]:
    try:
        return ast.walk(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError):
        return iter(())


def _loop(trace: Trace, place: Place) -> Loop:
    _, file, line = place
    return next(loop for loop in loops_of(trace.files[file]) if loop.line == line)


def _at(trace: Trace, frames: Sequence[Frame], place: Place) -> At | None:
    """Where a stack is in a loop; None where it is elsewhere."""
    depth, file, _ = place
    if depth >= len(frames) or frames[depth].file != file:
        return None
    frame, loop = frames[depth], _loop(trace, place)
    if not loop.first <= frame.line <= loop.end or not _is_own(trace, frame, loop):
        return None
    return At(depth, sum(start <= frame.line for start in loop.starts) if frame.line > loop.line else 0)


def _rounds(trace: Trace, place: Place) -> list[Section]:
    """The rounds of a loop.

    The next begins where the loop's variable has another value, where the program comes back to an earlier statement,
    or after its header or something outside was run; in a loop whose variable does not tell, also where it comes, after
    a backward call, back to where the round began.
    """
    depth, _, line = place
    loop = _loop(trace, place)
    at = [_at(trace, frames, place) for frames in trace.stacks]
    found: list[Section] = []
    held: dict[tuple[int, int], str] = {}
    header: int | None = None  # where the events of the header began that come before a round
    inside, last, first_stack, has_called = False, 0, -1, False
    for event in trace.events:
        turned = False
        for one in event.loops:
            held[one.depth, one.line] = f"{one.name} = {one.text}" if one.text is not None else ""
            turned |= (one.depth, one.line, one.name) == (depth, line, loop.variable)
        if event.stack < 0:
            continue
        here = at[event.stack]
        if here is None or here.statement == 0:
            header = None if here is None else event.index if header is None else header
            inside = False
            continue
        told = loop.variable is not None and held.get((depth, line), "") != ""
        again = not told and has_called and event.stack == first_stack
        if not inside or turned or here.statement < last or again:
            around = tuple(_told(trace, event.stack, held, place))
            begin = event.index if header is None else header
            label = held.get((depth, line), "") if told else ""
            _end(found, begin)
            found.append(Section("iteration", label, begin, begin, around, place))
            first_stack, has_called = event.stack, False
        has_called |= isinstance(event, BackwardEnded | BackwardStarted)
        inside, header, last = True, None, here.statement
        found[-1] = replace(found[-1], end=event.index + 1)
    _end(found, len(trace.events))
    return _numbered(trace, found)


def _end(found: list[Section], limit: int) -> None:
    """What follows the last round without a place of its own is part of it."""
    if found and found[-1].end > limit:
        found[-1] = replace(found[-1], end=limit)


def _told(trace: Trace, stack: int, held: dict[tuple[int, int], str], inner: Place) -> Iterator[str]:
    """What the variables of the loops around an inner one hold, where it can be said."""
    for place in _loops_around(trace, stack):
        if place == inner:
            return
        if text := held.get((place[0], place[2])):
            yield text


def _numbered(trace: Trace, found: list[Section]) -> list[Section]:
    """Rounds that no variable tells apart are counted; those of each round of an outer loop anew."""
    counts: Counter[tuple[str, ...]] = Counter()
    named = []
    for one in found:
        counts[one.around] += 1
        named.append(one if one.label else replace(one, label=f"round {counts[one.around]}"))
    return named


def _with_gaps(trace: Trace, rounds: Sequence[Section]) -> Iterator[Section]:
    """The rounds, and what is between them: sections of their own where ops ran there, else the end of the one before.

    What comes before the first, such as making the model, is a section of its own only where it has a graph.
    """
    events = trace.events
    for number, one in enumerate(rounds):
        if number == 0 and any(_is_recorded(events[k]) for k in range(one.start)):
            yield Section("before", "before the loop", 0, one.start)
        until = rounds[number + 1].start if number + 1 < len(rounds) else len(events)
        begin = next((k for k in range(one.end, until) if isinstance(events[k], OpCalled)), None)
        if begin is None:
            yield replace(one, end=until)
            continue
        while begin > one.end and _belongs(events[begin - 1], events[begin]):
            begin -= 1
        yield replace(one, end=begin)
        kind: SectionKind = "between" if number + 1 < len(rounds) else "after"
        yield Section(kind, _written(trace, events[begin], one), begin, until, one.around)


def _is_recorded(event: AnyEvent) -> bool:
    return isinstance(event, BackwardStarted) or (isinstance(event, OpCalled) and event.node is not None)


def _belongs(event: AnyEvent, following: AnyEvent) -> bool:
    """Whether an event is part of what the next one does: it has the same place, or none of its own."""
    return event.stack in (-1, following.stack) or not isinstance(event, OpCalled)


def _written(trace: Trace, event: AnyEvent, before: Section) -> str:
    """What comes after a round by the text of the line that runs it."""
    frames = trace.stacks[event.stack] if event.stack >= 0 else ()
    if not frames:
        return "after the loop"
    frame = frames[min(before.loop[0] if before.loop else 0, len(frames) - 1)]
    lines = trace.files.get(frame.file, "").splitlines()
    return one_line(lines[frame.line - 1], LONGEST) if frame.line <= len(lines) else "after the loop"
