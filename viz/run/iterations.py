"""Dividing a run into sections: the iterations of its training loops, and the code before, between and after them.

An iteration is one pass through the innermost loop that computes a root and calls `backward()` in each pass, and uses a
parameter before: not one over the steps of an episode that was played in another loop.
Without such a loop, it is one call of a function that does both and is called in several places. If the loop is in a
library, as that of a Trainer, an iteration ends with a step of the optimiser, or without one with a backward call. Any
other program is a single section.
"""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise, permutations, takewhile
from typing import Literal

import numpy as np

from engine.trace.events import (
    BackwardEnded,
    CodeEntered,
    Frame,
    GroupEntered,
    GroupLeft,
    LeafCreated,
    LoopVariable,
    ModeChanged,
    OpCalled,
    Trace,
)
from engine.trace.file.outline import CODES, KINDS, RECORDED, Outline
from engine.trace.loops import NAMELESS
from engine.trace.source import Sources, syntax_tree

from ..graph.nested_loops import Loop, loops_in
from ..reading.source_text import lines_of
from ..reading.text import one_line
from .pauses import Pauses, ends_of_steps, within

SectionKind = Literal["before", "iteration", "between", "after"]


@dataclass(frozen=True, slots=True)
class Section:
    """The events from `start` up to `end`, and their name: `step = 57`.

    `around` has the names of the iterations of outer loops (`("epoch = 0",)`). `loop` is the position of the loop that
    an iteration belongs to: the depth of its frame, its file, and the line before its body (0 for a call of a
    function).
    """

    kind: SectionKind
    label: str
    start: int
    end: int
    around: tuple[str, ...] = ()
    loop: tuple[int, str, int] | None = None

    @property
    def name(self) -> str:
        """`epoch = 0 · i = 32`; "the program" for one that is its own only section."""
        return " · ".join(filter(None, (*self.around, self.label))) or "the program"


LONGEST = 40
"""The characters of a line of the program that names a section."""
FEWEST_CALLS = 3
"""The backward calls at one place of the program from which on they are those of a library's loop."""
BACKWARD = {"backward", "grad"}
"""The functions that a program calls for a backward call of its own."""
OUTSIDE, HEADER = -1, 0
Place = tuple[int, str, int]
"""A loop in a run: the depth of its frame, its file, and the line before its body."""


def sections(trace: Trace, outline: Outline) -> tuple[Section, ...]:
    """The sections of a trace, in order; together they have all events from the first iteration on, but for the end of
    a pass through the loop whose other events a pause of the recording has skipped.

    Cost: linear in the events, times the number of loops around backward calls.
    """
    chosen, pauses = _training_loops(trace, outline), Pauses(trace, outline)
    iterations = sorted(
        (one for loop in chosen for one in _iterations_of(trace, outline, loop)), key=lambda one: one.start
    )
    iterations = _numbered(pauses, iterations)
    if not iterations:
        iterations = _training_calls(trace, outline)
    if len(iterations) < 2:
        iterations = _of_library(trace, outline, pauses, ends_of_steps(trace, outline), lambda frames: ("step", frames))
    if len(iterations) < 2:
        sources = Sources(trace.files)
        calls = _calls_with_roots(trace, outline)
        iterations = _of_library(trace, outline, pauses, calls, lambda frames: _loop_of_calls(sources, frames))
    if len(iterations) < 2 or any(a.end > b.start for a, b in pairwise(iterations)):
        return (Section("iteration", "", 0, len(trace.events)),)
    return tuple(_with_gaps(trace, outline, pauses, _with_own_code(outline, iterations)))


def _with_own_code(outline: Outline, iterations: Sequence[Section]) -> list[Section]:
    """The iterations, each beginning with the code of a custom Function that runs first: its events have no position of
    their own."""
    is_entered = outline.kinds == CODES[CodeEntered]
    starts = []
    for one in iterations:
        start = one.start
        while start > 0 and is_entered[start - 1] and outline.stacks[start - 1] < 0:
            start -= 1
        starts.append(start)
    ends = [
        min(one.end, following) for one, following in zip(iterations, [*starts[1:], len(outline.kinds)], strict=True)
    ]
    return [replace(one, start=start, end=end) for one, start, end in zip(iterations, starts, ends, strict=True)]


def _up_to_pauses(pauses: Pauses, iterations: Sequence[Section]) -> tuple[list[Section], list[int]]:
    """The iterations, each up to the pause that the recording makes in it; and where each pass through the loop ends.

    What is left of a pass in which the recording goes on, after its update, is no iteration: that was not recorded.
    """
    parts: list[Section] = []
    ends: list[int] = []
    is_paused = False
    for one in iterations:
        if is_paused and pauses.is_rest(one.start, one.end):
            ends[-1] = one.end
            continue
        start = one.start + within(pauses.places, one.start, one.start + 1)
        end = pauses.cut(start, one.end)
        is_paused = within(pauses.places, end - 1, end)
        parts.append(replace(one, start=start, end=end))
        ends.append(one.end)
    return parts, ends


def _training_loops(trace: Trace, outline: Outline) -> list[Place]:
    """The loops whose passes are iterations; none of them is inside another.

    Of two that are, it is the one in which an optimiser takes a step, as around the steps of an attack or a sampler
    that have backward calls of their own; else the one with more backward calls.
    """
    votes: Counter[Place] = Counter()
    starts: dict[Place, list[int]] = {}
    learns: dict[Place, bool] = {}
    for call, root in _last_calls(trace, outline):
        around: list[Place] = []
        for place in reversed(_loops_around(trace, int(outline.stacks[call]))):
            if place not in starts:
                starts[place] = [one.start for one in _iterations_of(trace, outline, place)]
            number = _number_of(starts[place], call)
            if len(starts[place]) > 1 and _number_of(starts[place], root) == number >= 0:
                around.append(place)
                if place not in learns:
                    learns[place] = _uses_leaf(trace, outline, starts[place][number], call)
        if around:
            votes[next((place for place in around if learns[place]), around[0])] += 1
    places = [place for place, _ in votes.most_common()]
    if any(_is_inside(trace, one, other) for one, other in permutations(places, 2)):
        stepped = {place for stack in ends_of_steps(trace, outline) for place in _loops_around(trace, stack)}
        places.sort(key=lambda place: place not in stepped)
    loops: list[Place] = []
    for place in places:
        if not any(_is_inside(trace, place, other) or _is_inside(trace, other, place) for other in loops):
            loops.append(place)
    return loops


def _uses_leaf(trace: Trace, outline: Outline, start: int, end: int) -> bool:
    """Return whether some op between two events uses a leaf that receives gradients."""
    taught = outline.taught()
    ops = (event for index in range(start, end) if isinstance(event := trace.events[index], OpCalled))
    return any(one.tensor in taught for op in ops for one in op.inputs)


def _training_calls(trace: Trace, outline: Outline) -> list[Section]:
    """The calls of the function that most often both computes a root and calls `backward()`; if an optimiser takes a
    step in some of them, as in one that runs a closure, only those: another call only evaluates the closure."""
    votes: Counter[tuple[int, str, str]] = Counter()
    for call, root in _last_calls(trace, outline):
        frames, before = (_frames(trace, int(outline.stacks[event])) if event >= 0 else () for event in (call, root))
        same = [depth for depth in range(1, len(frames)) if frames[:depth] == before[:depth] and len(before) > depth]
        for depth in reversed(same):
            frame, other = frames[depth], before[depth]
            if (frame.file, frame.function) == (other.file, other.function):
                votes[depth, frame.file, frame.function] += 1
                break
    calls = [] if not votes else _calls(trace, outline, *votes.most_common(1)[0][0])
    steps = np.sort(list(chain.from_iterable(ends_of_steps(trace, outline).values())))
    return [one for one in calls if within(steps, one.start + 1, one.end + 1)] or calls


def _calls(trace: Trace, outline: Outline, depth: int, file: str, function: str) -> list[Section]:
    """The calls of a function at a depth, each from its first event to its last, including the computation of its
    arguments."""
    lines = [(frames[: depth - 1], frames[depth - 1].line) if len(frames) >= depth else None for frames in trace.stacks]
    is_in = [
        len(frames) > depth and (frames[depth].file, frames[depth].function) == (file, function)
        for frames in trace.stacks
    ]
    calling = {line for line, inside in zip(lines, is_in, strict=True) if inside}
    calls: list[Section] = []
    before: object = None
    for event, stack in _turning_points(outline, {}, set()):
        now = lines[stack] if lines[stack] in calling else None
        if now == before:
            continue
        if before is not None:
            calls[-1] = replace(calls[-1], end=event)
        if now is not None:
            label = _text_of(trace, trace.stacks[stack][depth - 1]) or function
            calls.append(Section("iteration", label, event, len(outline.kinds), loop=(depth - 1, file, 0)))
        before = now
    return calls


def _of_library(
    trace: Trace,
    outline: Outline,
    pauses: Pauses,
    ends_at: Mapping[int, list[int]],
    loop_of: Callable[[tuple[Frame, ...]], tuple[str, tuple[Frame, ...]]],
) -> list[Section]:
    """The iterations of loops that the program does not contain: each ends with a step of the optimiser, or a backward
    call, made at the same place of the program as the others (`ends_at`, by call stack), and has a backward call.
    `loop_of` gives the name of an iteration and the frames around the loop."""
    calls = [call for call, _ in outer_calls(outline)]
    loops: list[tuple[str, list[Section]]] = []  # with the line of the program that runs the loop
    for stack, steps in ends_at.items():
        since = loops[-1][1][-1].end if loops else 0
        if steps[0] <= since:  # the second optimiser of the same iterations
            continue
        before = [since, *steps[:-1]]
        ends = [
            end for start, end in zip(before, steps, strict=True)
            if bisect_left(calls, start) < bisect_left(calls, end)
        ]  # fmt: skip
        if len(ends) < 2:
            continue
        name, around = loop_of(_frames(trace, stack))
        call = _frames(trace, int(outline.stacks[calls[bisect_left(calls, since)]]))
        same = takewhile(lambda both: both[0] == both[1], zip(around, call, strict=False))
        shared = tuple(frame for frame, _ in same)
        inside = [nr for nr, frames in enumerate(trace.stacks) if tuple(frames[: len(shared)]) == shared]
        begin = since + int(np.argmax(np.isin(outline.stacks[since:], inside)))
        loop = (len(shared) - 1, shared[-1].file, 0) if shared else None
        iterations = [
            Section("iteration", f"{name} {number + pauses.skipped(end)}", start, end, loop=loop)
            for number, (start, end) in enumerate(pairwise([begin, *ends]))
        ]
        loops.append((_text_of(trace, shared[-1]) if shared else "", iterations))
    if len(loops) == 1:
        return loops[0][1]
    return [replace(one, around=(line,) if line else ()) for line, iterations in loops for one in iterations]


def _calls_with_roots(trace: Trace, outline: Outline) -> dict[int, list[int]]:
    """The ends of backward calls, by the call stack that makes them, if each has a root made since the one before.

    So it is in a minimisation by SciPy; the rows of a Jacobian have one for all.
    """
    ended, calls = outline.where(BackwardEnded), _last_calls(trace, outline)
    ends: dict[int, list[int]] = {}
    shared: set[int] = set()
    for number, (call, root) in enumerate(calls):
        stack = int(outline.stacks[call])
        before = ends.setdefault(stack, [])
        if before and root < before[-1]:
            shared.add(stack)
        following = calls[number + 1][0] if number + 1 < len(calls) else len(outline.kinds)
        last = int(np.searchsorted(ended, following)) - 1  # of this call, not of one inside of it
        before.append(int(ended[last]) + 1 if last >= 0 and ended[last] > call else following)
    return {stack: events for stack, events in ends.items() if len(events) >= FEWEST_CALLS and stack not in shared}


def _loop_of_calls(sources: Sources, frames: tuple[Frame, ...]) -> tuple[str, tuple[Frame, ...]]:
    """The innermost place where the program calls a library that calls it back or makes the backward call itself; and
    before it the name of an iteration of the loop there: of the function that is called back, such as a `closure`, else
    of that of the library, such as `fit_one_cycle`."""
    functions = [*(frame.function for frame in frames[1:]), ""]
    for depth in reversed(range(len(frames))):
        callee, function = _callee(sources.node(frames[depth])), functions[depth]
        if callee != function and (function or callee not in BACKWARD):
            return (function if function.isidentifier() else callee) or "call", frames[: depth + 1]
    return "call", frames


def _callee(node: ast.AST | None) -> str:
    """The last name of the function that an expression calls: `step` for `model.optimizer.step()`."""
    match node:
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return name
    return ""


def _frames(trace: Trace, stack: int) -> tuple[Frame, ...]:
    return tuple(trace.stacks[stack]) if 0 <= stack < len(trace.stacks) else ()


def outer_calls(outline: Outline) -> Iterator[tuple[int, int]]:
    """The backward calls that are not inside another one, each with the event that made the last of its roots."""
    ends = outline.where(BackwardEnded).tolist()
    roots = dict(outline.calls)
    running = 0
    for event in sorted([*roots, *ends]):
        if event not in roots:
            running -= 1
            continue
        if not running and roots[event]:
            tensors = (tensor for tensor in roots[event] if 0 <= tensor < len(outline.born))
            yield event, max((int(outline.born[tensor]) for tensor in tensors), default=-1)
        running += 1


def _last_calls(trace: Trace, outline: Outline) -> list[tuple[int, int]]:
    """The outer calls without those at places that record a graph of the gradients, if there are others: that graph is
    for a call to come, as in the inner loop of MAML, whose iterations are parts of one."""
    calls = list(outer_calls(outline))
    first = {int(outline.stacks[call]): call for call, _ in reversed(calls)}
    inner = {stack for stack, call in first.items() if getattr(trace.events[call], "create_graph", False)}
    return [(call, root) for call, root in calls if int(outline.stacks[call]) not in inner] or calls


def backward_calls(trace: Trace, outline: Outline) -> tuple[Section, ...]:
    """The backward calls of a program as sections, each up to the next one, named by the program's own text; the second
    of two equal lines has a (2)."""
    starts = [call for call, _ in outer_calls(outline)]
    if not starts:
        return ()
    seen: Counter[str] = Counter()
    calls = []
    for begin, start, end in zip([0, *starts[1:]], starts, [*starts[1:], len(outline.kinds)], strict=True):
        frames = _frames(trace, int(outline.stacks[start]))
        text = (_text_of(trace, frames[-1]) if frames else "") or "backward()"
        seen[text] += 1
        calls.append(Section("iteration", f"{text} ({seen[text]})" if seen[text] > 1 else text, begin, end))
    return tuple(calls)


def _number_of(starts: Sequence[int], event: int) -> int:
    """The number of the iteration that an event belongs to; -1 for none."""
    return bisect_right(starts, event) - 1


def _is_inside(trace: Trace, inner: Place, outer: Place) -> bool:
    """Return whether a loop runs inside another one anywhere in the trace."""
    if inner == outer:
        return True
    both = ((_statement(trace, frames, inner), _statement(trace, frames, outer)) for frames in trace.stacks)
    return inner[0] >= outer[0] and any(OUTSIDE not in statements for statements in both)


def _loops_around(trace: Trace, stack: int) -> list[Place]:
    """The loops whose bodies contain a stack, outermost first."""
    frames = _frames(trace, stack)
    return [
        (depth, frame.file, loop.line)
        for depth, frame in enumerate(frames)
        for loop in loops_in(trace.files.get(frame.file, ""), frame.file)
        if loop.line < frame.line <= loop.end and _is_own(trace, frame, loop)
    ]


def _is_own(trace: Trace, frame: Frame, loop: Loop) -> bool:
    """Return whether a frame itself runs a loop, and not a function that is defined around it or inside it."""
    return _function_at(trace.files.get(frame.file, ""), frame.line) == _function_at(
        trace.files.get(frame.file, ""), loop.first
    )


@lru_cache(maxsize=4096)
def _function_at(text: str, line: int) -> int:
    """The first line of the innermost function that contains a line; 0 for none."""
    return max((first for first, end in _functions(text) if first <= line <= end), default=0)


@lru_cache(maxsize=64)
def _functions(text: str) -> tuple[tuple[int, int], ...]:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    return tuple(
        (node.lineno + (0 if isinstance(node, ast.Lambda) else 1), node.end_lineno or node.lineno)
        for node in _nodes(text)
        if isinstance(node, kinds) and not (isinstance(node, ast.Lambda) and node.lineno == node.end_lineno)
    )


def _nodes(text: str) -> Iterator[ast.AST]:
    try:
        return ast.walk(syntax_tree(text))
    except (SyntaxError, ValueError, RecursionError):
        return iter(())


def _loop(trace: Trace, place: Place) -> Loop:
    _, file, line = place
    return next(loop for loop in loops_in(trace.files[file], file) if loop.line == line)


def _statement(trace: Trace, frames: Sequence[Frame], place: Place) -> int:
    """The statement of a loop's body that a stack is at, counted from 1; 0 in the header, -1 outside the loop."""
    depth, file, _ = place
    if depth >= len(frames) or frames[depth].file != file:
        return OUTSIDE
    frame, loop = frames[depth], _loop(trace, place)
    if not loop.first <= frame.line <= loop.end or not _is_own(trace, frame, loop):
        return OUTSIDE
    return sum(start <= frame.line for start in loop.starts) if frame.line > loop.line else HEADER


def _iterations_of(trace: Trace, outline: Outline, place: Place) -> list[Section]:
    """The iterations of a loop.

    The next one begins when the loop's variable changes, when the program comes back to an earlier statement, and after
    code of the header or outside the loop has run. If the variable does not tell the iterations apart, it also begins
    when the program comes back, after a backward call, to the place where the iteration began; so does one of a loop
    of a single pass, as over the updates per step of an agent, that another loop runs again.
    """
    depth, _, line = place
    loop = _loop(trace, place)
    at = [_statement(trace, frames, place) for frames in trace.stacks]
    told_at = _told_at(outline)
    calls = {event for event, _ in outline.calls}
    iterations: list[Section] = []
    texts: dict[tuple[int, int], str | None] = {}  # by depth and line of a loop: what is told of its value, if any
    header: int | None = None  # where the events of the header began that come before an iteration
    inside, last, first_stack, has_called, since = False, 0, -1, False, 0
    ends = _ends_of_outer_groups(outline)

    def is_other_pass(stack: int, event: int) -> bool:
        *outer, innermost = _loops_around(trace, stack)
        return bool(outer) and innermost == place and within(ends, since, event + 1)

    for event, stack in _turning_points(outline, told_at, calls):
        turned = False
        for one in told_at.get(event, ()):
            label = "" if one.name == NAMELESS else f"{one.name} = {one.text}"
            texts[one.depth, one.line] = None if one.text is None else label
            turned |= (one.depth, one.line, one.name) == (depth, line, loop.variable)
        here = at[stack]
        if here in (OUTSIDE, HEADER):
            header = None if here == OUTSIDE else event if header is None else header
            if inside:
                iterations[-1] = replace(iterations[-1], end=event)
            inside = False
            continue
        value = None if loop.variable is None else texts.get((depth, line))
        again = has_called and stack == first_stack and (value is None or is_other_pass(stack, event))
        if not inside or turned or here < last or again:
            if inside:
                iterations[-1] = replace(iterations[-1], end=event)
            begin = event if header is None else header
            around = tuple(_outer_labels(trace, stack, texts, place))
            iterations.append(Section("iteration", value or "", begin, len(outline.kinds), around, place))
            first_stack, has_called = stack, False
        if event in calls:
            has_called, since = True, event
        inside, header, last = True, None, here
    outer = takewhile(place.__ne__, _loops_around(trace, first_stack))
    is_apart = any(_loop(trace, one).variable in (None, NAMELESS) for one in outer)
    return _apart(Pauses(trace, outline), iterations) if is_apart else iterations


def _ends_of_outer_groups(outline: Outline) -> np.ndarray:
    """The events with which a group ends that is inside no other: a call of a model, or the step of an optimiser."""
    kinds = outline.kinds & (RECORDED - 1)
    changes = (kinds == CODES[GroupEntered]).astype(np.int64) - (kinds == CODES[GroupLeft])
    ends: np.ndarray = np.flatnonzero((changes < 0) & (np.cumsum(changes) == 0))
    return ends


def _told_at(outline: Outline) -> dict[int, tuple[LoopVariable, ...]]:
    """The variables of loops, by the next event with a stack: one without, as the note of a write that was
    not seen, may have come between."""
    own = np.flatnonzero(outline.stacks >= 0)
    told_at: dict[int, tuple[LoopVariable, ...]] = {}
    places = np.searchsorted(own, [event for event, _ in outline.loops])
    for place, (_, variables) in zip(places.tolist(), outline.loops, strict=True):
        if place < len(own):
            event = int(own[place])
            told_at[event] = (*told_at.get(event, ()), *variables)
    return told_at


def _turning_points(
    outline: Outline, told_at: Mapping[int, object], calls: AbstractSet[int]
) -> Iterator[tuple[int, int]]:
    """The events, with their stacks, at which another iteration may begin or end because the stack changes."""
    own = np.flatnonzero(outline.stacks >= 0)
    stacks = outline.stacks[own]
    is_new = np.ones(len(own), bool)
    is_new[1:] = stacks[1:] != stacks[:-1]
    is_new |= np.isin(own, [*told_at, *calls])
    return zip(own[is_new].tolist(), stacks[is_new].tolist(), strict=True)


def _outer_labels(trace: Trace, stack: int, texts: Mapping[tuple[int, int], str | None], inner: Place) -> Iterator[str]:
    """The known values of the variables of the loops around an inner one."""
    for place in _loops_around(trace, stack):
        if place == inner:
            return
        if text := texts.get((place[0], place[2])):
            yield text


def _apart(pauses: Pauses, iterations: Sequence[Section]) -> list[Section]:
    """The iterations of a loop inside one without a variable: a name that comes again belongs to the next outer one.
    How often that one went round during pauses is not known, so then each is told by its update."""
    number, numbers = 1, []
    names: set[str] = set()
    for one in iterations:
        if one.label and one.name in names:
            number, names = number + 1, set()
        names.add(one.name)
        numbers.append(number)
    if number == 1:
        return list(iterations)
    names_of_outer = [
        pauses.update(one.start) if pauses else f"round {nr}" for one, nr in zip(iterations, numbers, strict=True)
    ]
    return [replace(one, around=(name, *one.around)) for one, name in zip(iterations, names_of_outer, strict=True)]


def _numbered(pauses: Pauses, sections: list[Section]) -> list[Section]:
    """Numbers iterations that no variable tells apart, starting again in each iteration of an outer loop.  In a
    recording that has paused each has the number of its update."""
    counts: Counter[tuple[Place | None, tuple[str, ...]]] = Counter()
    named = []
    for one in sections:
        counts[one.loop, one.around] += 1
        label = pauses.update(one.start) if pauses else f"round {counts[one.loop, one.around]}"
        named.append(one if one.label else replace(one, label=label))
    return named


def _with_gaps(trace: Trace, outline: Outline, pauses: Pauses, passes: Sequence[Section]) -> Iterator[Section]:
    """The iterations, and the code between them: a section of its own if it ran ops, else part of the iteration before,
    unless that ends with a pause of the recording.

    The code before the first iteration, such as making the model, is a section of its own only if it has a graph.
    """
    ops = outline.where(OpCalled)
    iterations, ends = _up_to_pauses(pauses, passes)
    recorded = np.flatnonzero(outline.kinds >= RECORDED)
    if len(recorded) and recorded[0] < iterations[0].start:
        yield Section("before", "before the loop", 0, iterations[0].start)
    for number, (one, passed) in enumerate(zip(iterations, ends, strict=True)):
        until = iterations[number + 1].start if number + 1 < len(iterations) else len(outline.kinds)
        place = int(np.searchsorted(ops, passed))
        begin = int(ops[place]) if place < len(ops) else until
        is_paused = within(pauses.places, one.end - 1, one.end)
        if begin >= until:
            yield one if is_paused else replace(one, end=until)
            if is_paused and within(pauses.errors, one.end, until):
                yield Section("after", "after the pause", one.end, until)
            continue
        while begin > passed and _belongs(outline, begin - 1):
            begin -= 1
        yield one if is_paused else replace(one, end=begin)
        kind: SectionKind = "between" if number + 1 < len(iterations) else "after"
        label = _name_after(trace, int(outline.stacks[begin]), one)
        yield Section(kind, label, begin, pauses.cut(begin, until), one.around)


def _belongs(outline: Outline, event: int) -> bool:
    """Return whether an event before an op belongs to it: a leaf that it uses, a group, a mode."""
    return KINDS[outline.kinds[event] & (RECORDED - 1)] in (LeafCreated, GroupEntered, ModeChanged)


def _name_after(trace: Trace, stack: int, before: Section) -> str:
    """The name of the code after an iteration: the text of the line that runs it."""
    frames = _frames(trace, stack)
    depth = min(before.loop[0] if before.loop else 0, len(frames) - 1)
    return (_text_of(trace, frames[depth]) if frames else "") or "after the loop"


def _text_of(trace: Trace, frame: Frame) -> str:
    """The line of the program that a frame runs; "" if the text is not known."""
    lines = lines_of(trace.files.get(frame.file, ""))
    return one_line(lines[frame.line - 1].strip(), LONGEST) if 0 < frame.line <= len(lines) else ""
