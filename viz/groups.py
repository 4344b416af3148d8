"""Groups of ops as the program is written: rounds of a loop, calls of a function or a module, ops recorded by a
backward call.

A group is an interval of the recorded order, so that groups nest and the graph between them has no cycle.
"""

from __future__ import annotations

import ast
import itertools
import math
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from engine.trace import BackwardStarted, Frame, GroupEntered, GroupLeft, OpCalled, Trace

from . import nests, text
from .owncode import own_code

MOST_MEMBERS = 40
"""Direct members above which a group is cut into parts: what does not fit on a screen is not read."""

LIBRARY = 8
"""Ops of one call of the library from which on they are a group."""
_NAME = re.compile(r"(?:[\w.]*\.)?(\w+)\(.*\)$", re.DOTALL)
"""A call as a whole; its function's own name."""
_TRANSPARENT = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Frames that are no call to the reader."""


@dataclass(slots=True)
class Scope:
    """A group while and after it is read.  `ops` are its direct members, `key` says which loop or call it is."""

    id: str
    label: str
    within: Scope | None
    key: tuple[object, ...]
    members: list[int | Scope] = field(default_factory=list)
    statement: int = -1
    seen: set[tuple[int, int, int, int]] = field(default_factory=set)
    round: int = 0
    loop: Loop | None = None


@dataclass(frozen=True, slots=True)
class Grouping:
    """`labels` and `within` by group id (outermost first), `of` the innermost group of each op (None: none).

    `calls` are the groups that are one call of a function or a module each, `callers` the positions that call them,
    `library` those of what a function of the library runs, `loops` those that are a round, with its loop, `parts` runs
    of so many members that they do not fit on a screen.
    """

    labels: Mapping[str, str]
    within: Mapping[str, str | None]
    of: Mapping[int, str | None]
    calls: frozenset[str] = frozenset()
    library: frozenset[str] = frozenset()
    loops: Mapping[str, Loop] = field(default_factory=dict)
    parts: frozenset[str] = frozenset()
    callers: Mapping[str, object] = field(default_factory=dict)

    def path(self, group: str | None) -> list[str]:
        """The group and those around it, innermost first."""
        path = []
        while group is not None:
            path.append(group)
            group = self.within[group]
        return path


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the program, from the line before its body on; `taken` are the names that it takes apart."""

    line: int
    end: int
    label: str
    starts: tuple[int, ...]
    length: int | None
    sure: tuple[int, ...]
    file: str
    taken: frozenset[str]


def groups(trace: Trace) -> Grouping:
    """The groups of a trace.  Cost: linear in its events times the depth of the calls."""
    reader = _Reader(trace)
    k = 0
    last: OpCalled | None = None
    scope = reader.top
    hidden = own_code(trace.events).hidden
    for event in trace.events:
        if event.index in hidden:
            continue
        if isinstance(event, OpCalled):
            reader.ops.append(event)
            if event.call is None or reader.backward is None:
                if last is None or not _continues(trace, last, event):
                    scope = reader.visit(event.stack)
                scope.members.append(k)
                last = event
            else:
                reader.backward.members.append(k)
            k += 1
        elif isinstance(event, GroupEntered):
            reader.enter(event)
            last = None
        elif isinstance(event, GroupLeft):
            reader.leave()
            last = None
        elif isinstance(event, BackwardStarted):
            last = None
            around = reader.visit(event.stack)
            frames = trace.stacks[event.stack] if event.stack >= 0 else ()
            label = source(trace, frames[-1]) if frames else "backward"
            reader.backward = reader.open(around, f"recorded by {label}", ("backward", event.call))
    _nest(reader.top, reader)
    _wrap(reader.top, reader)
    _prune(reader.top)
    if k > MOST_MEMBERS:
        _cut(reader.top, reader)
    return _collect(reader.top)


def _continues(trace: Trace, last: OpCalled, event: OpCalled) -> bool:
    """Whether two ops at one place are parts of one expression: the first's result has no name, as in `a[i, j]`, or
    the second only gives the view that was written, in `a[i] = x`, its new node."""
    made = {out.tensor for out in last.outputs}.difference(trace.names)
    again = event.name == "as_strided.path"
    return last.stack == event.stack and (again or any(i.tensor in made for i in event.inputs))


def source(trace: Trace, frame: Frame, limit: int = 60) -> str:
    """The program's text of one position, on one line."""
    lines = trace.files.get(frame.file, "").splitlines()[frame.line - 1 : frame.end_line]
    if not lines:
        return f"line {frame.line}"
    lines[-1] = lines[-1][: frame.end_col]
    lines[0] = lines[0][frame.col :]
    return text.one_line("\n".join(lines), limit)


class _Reader:
    """Follows the call stacks: which scopes are open at an event, and where a new round or call begins."""

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.top = Scope("g", "", None, ())
        self.count = 0
        self.ops: list[OpCalled] = []
        self.opened: list[Scope] = []
        self.entered: list[tuple[Scope, int, str, list[Scope]]] = []
        self.backward: Scope | None = None
        self.loops: dict[str, list[Loop]] = {name: _loops(code, name) for name, code in trace.files.items()}
        self.around: dict[tuple[str, int], list[Loop]] = {}

    def open(self, within: Scope, label: str, key: tuple[object, ...]) -> Scope:
        scope = Scope(f"g{self.count}", label, within, key)
        self.count += 1
        within.members.append(scope)
        return scope

    def enter(self, event: GroupEntered) -> None:
        """Open the group of a module's call: frames up to the call are around it, deeper ones in it."""
        around = self.visit(event.stack)
        frames = self.trace.stacks[event.stack] if event.stack >= 0 else ()
        outermost = not self.entered
        above = "" if outermost else self.entered[-1][2]
        name = event.name.removeprefix(above + ".") if above else event.name
        held = outermost and name != event.kind
        label = f"{name}: {event.kind}" if held or name.rpartition(".")[2].isdigit() else name
        scope = self.open(around, label, ("module", event.name, _place(frames[-1]) if frames else None))
        within = "" if outermost else event.name  # names in the outermost one begin with none
        self.entered.append((scope, len(frames), within, self.opened))
        self.opened = []

    def leave(self) -> None:
        """Close the group that was entered last; without one (the recording began inside) there is none to close."""
        if self.entered:
            *_, self.opened = self.entered.pop()

    def visit(self, stack: int) -> Scope:
        """The innermost scope of an event with this stack, opened where it is new."""
        frames = self.trace.stacks[stack] if 0 <= stack < len(self.trace.stacks) else ()
        scope, start, level = self.top, 0, 0
        if self.entered:
            scope, start, *_ = self.entered[-1]
        for depth, frame in enumerate(frames):
            if depth < start:
                continue
            last = depth == len(frames) - 1
            place = _place(frame)
            loops = self._enclosing(frame, frames[depth - 1] if depth else None)
            for loop in loops:
                scope = self._round(scope, level, loop, frames, depth, innermost=loop is loops[-1])
                level += 1
            if not last and not _is_transparent(frames[depth + 1]):
                key = ("call", depth, frames[depth + 1].function, place)
                open_here = level < len(self.opened) and self.opened[level].key == key
                if open_here and not self._restarts(frames, depth + 1, level + 1):
                    scope = self.opened[level]
                else:
                    scope = self.open(scope, frames[depth + 1].function, key)
                    self.opened[level:] = [scope]
                scope.seen.add(_place(frames[depth + 1]))
                level += 1
        del self.opened[level:]
        return scope

    def _round(
        self, around: Scope, level: int, loop: Loop, frames: tuple[Frame, ...], depth: int, innermost: bool
    ) -> Scope:
        """The round of `loop` that an event belongs to: a new one where a position comes again, or an earlier one.

        What comes again inside an inner loop is a round of that one, also where the outer loop has nothing else:
        `_nest` tells those apart.
        """
        frame, last = frames[depth], depth == len(frames) - 1
        place = _place(frame)
        statement = sum(start <= frame.line for start in loop.starts)
        here = self.opened[level] if level < len(self.opened) else None
        key = ("loop", frame.file, loop.line)
        again = False
        if here is not None and here.key == key:
            within = len(self.opened) > level + 1 and self.opened[level + 1].key[-1:] == (place,)
            again = statement < here.statement or (
                innermost
                and place in here.seen
                and (last or not within or self._restarts(frames, depth + 1, level + 2))
            )
        if here is None or here.key != key or again:
            number = here.round + 1 if again and here is not None else 1
            here = self.open(around, f"{loop.label} · {number}", key)
            here.round, here.loop = number, loop
            self.opened[level:] = [here]
        here.statement = statement
        here.seen.add(place)
        return here

    def _restarts(self, frames: tuple[Frame, ...], depth: int, level: int) -> bool:
        """Whether an event in the open call before `level` belongs to another run of the same call.

        A position outside of loops comes once in one run of a function.
        """
        frame = frames[depth]
        if self._enclosing(frame, frames[depth - 1]) or _place(frame) not in self.opened[level - 1].seen:
            return False
        if depth == len(frames) - 1:
            return True
        if _is_transparent(frames[depth + 1]):  # a comprehension runs its places many times
            return False
        if len(self.opened) > level and self.opened[level].key[-1:] == (_place(frame),):
            return self._restarts(frames, depth + 1, level + 1)
        return True

    def _enclosing(self, frame: Frame, caller: Frame | None) -> list[Loop]:
        key = (frame.file, frame.line)
        if key not in self.around:
            loops = self.loops.get(frame.file, [])
            self.around[key] = [loop for loop in loops if loop.line < frame.line <= loop.end]
        found = self.around[key]
        if caller is not None and caller.file == frame.file and found:
            outer = self.around.get((caller.file, caller.line), [])
            found = [loop for loop in found if loop not in outer]
        return found


def _is_transparent(frame: Frame) -> bool:
    return frame.function.rpartition(".")[2] in _TRANSPARENT


def _place(frame: Frame) -> tuple[int, int, int, int]:
    return frame.line, frame.col, frame.end_line, frame.end_col


def _loops(code: str, file: str) -> list[Loop]:
    """The loops of a file by first line, outer ones first."""
    try:
        tree = ast.parse(code)
    except SyntaxError:
        return []
    found = []
    for node in nests.loops_of(tree):
        end = node.body[-1].end_lineno or node.lineno
        target = "while" if isinstance(node, ast.While) else f"for {ast.unparse(node.target)}"
        starts, sure = tuple(s.lineno for s in node.body), nests.surely_runs(node)
        parts = () if isinstance(node, ast.While) else ast.walk(node.iter)
        taken = frozenset(part.id for part in parts if isinstance(part, ast.Name))
        length = nests.length(node, tree)
        found.append(Loop(node.body[0].lineno - 1, end, target, starts, length, sure, file, taken))
    return sorted(found, key=lambda loop: (loop.line, -loop.end))


def _nest(scope: Scope, reader: _Reader) -> None:
    """Deal out the rounds of an inner loop to the rounds of an outer one that has nothing else, inner loops first."""
    kept: list[int | Scope] = []
    for member in scope.members:
        kept.append(member)
        if isinstance(member, Scope):
            _nest(member, reader)
            kept.extend(_rounds_around(member, reader))
    scope.members = kept


def _rounds_around(outer: Scope, reader: _Reader) -> list[Scope]:
    """The further rounds of an outer loop, of which one was read.

    That one keeps what is its own, and what stands before the inner loop; what stands after it is the last one's.
    """
    rounds = [m for m in outer.members if isinstance(m, Scope) and m.key[0] == "loop"]
    if len(rounds) < 2 or len({m.key for m in rounds}) > 1 or outer.key[0] != "loop" or outer.within is None:
        return []
    begin = next(n for n, m in enumerate(outer.members) if m is rounds[0])
    before, after = outer.members[:begin], outer.members[begin + len(rounds) :]
    inner = next((loop for loop in reader.loops.get(str(rounds[0].key[1]), ()) if loop.line == rounds[0].key[-1]), None)
    if outer.members[begin : begin + len(rounds)] != rounds or rounds[0].key[1] != outer.key[1] or inner is None:
        return []
    reached = [{sum(start <= place[0] for start in inner.starts) for place in m.seen} for m in rounds]
    sure = inner.length is not None and any(all(n in r for r in reached) for n in inner.sure)
    each = inner.length if sure else nests.period([[reader.ops[k] for k in _ops(m)] for m in rounds])
    if not each or each >= len(rounds):
        return []
    for n, one in enumerate(rounds):
        one.round = n % each + 1
        one.label = f"{inner.label} · {one.round}"
    name = outer.label.rpartition(" · ")[0]
    outer.members = [*before, *rounds[:each]]
    made = []
    for start in range(each, len(rounds), each):
        scope = Scope(f"g{reader.count}", f"{name} · {outer.round + start // each}", outer.within, outer.key)
        scope.members, scope.round = list(rounds[start : start + each]), outer.round + start // each
        scope.seen, scope.loop = outer.seen, outer.loop
        reader.count += 1
        made.append(scope)
    made[-1].members += after
    return made


def _wrap(scope: Scope, reader: _Reader) -> None:
    """Put what one call of the library runs into a group of its own, where that is much, as `jacobian(f, x)` does.

    A module's call has its group already.
    """
    kept: list[int | Scope] = []
    filled = [member for member in scope.members if isinstance(member, int) or _ops(member)]
    for place, run in itertools.groupby(filled, lambda member: _called_from(member, reader)):
        members = list(run)
        direct = [member for member in members if isinstance(member, int)]
        much = len(direct) >= LIBRARY and place is not None and place != _called_by(scope)
        name = _NAME.match(_text(direct[0], reader)) if much else None
        if name is not None:
            made = Scope(f"g{reader.count}", name[1], scope, ("library", place))
            reader.count += 1
            made.members = members
            members = [made]
        kept += members
    scope.members = kept
    for member in kept:
        if isinstance(member, Scope):
            for inner in member.members if member.key[0] == "library" else [member]:
                if isinstance(inner, Scope):
                    inner.within = member if inner is not member else inner.within
                    _wrap(inner, reader)


def _called_by(scope: Scope) -> object:
    """The position in the program of the module's call that a scope stands for."""
    return scope.key[-1] if scope.key[:1] == ("module",) else None


def _called_from(member: int | Scope, reader: _Reader) -> object:
    """The position in the program that an op, or the call of a function, comes from."""
    if isinstance(member, Scope):
        return member.key[-1] if member.key[0] == "call" else None
    stack = reader.ops[member].stack
    frames = reader.trace.stacks[stack] if 0 <= stack < len(reader.trace.stacks) else ()
    return _place(frames[-1]) if frames else None


def _text(op: int, reader: _Reader) -> str:
    frames = reader.trace.stacks[reader.ops[op].stack]
    return source(reader.trace, frames[-1], limit=200)


def _ops(scope: Scope) -> list[int]:
    return [k for m in scope.members for k in ([m] if isinstance(m, int) else _ops(m))]


def _prune(top: Scope) -> None:
    """Drop groups of fewer than two ops, and those that hold everything: a box around all tells nothing."""

    def visit(scope: Scope) -> list[int | Scope]:
        kept: list[int | Scope] = []
        for member in scope.members:
            if isinstance(member, int):
                kept.append(member)
                continue
            inner = visit(member)
            if len(inner) < 2:
                for only in inner:
                    if isinstance(only, Scope) and member.round:  # a round that is one call: the call in this round
                        only.label += f" · {member.round}"
                kept.extend(inner)
            else:
                member.members = inner
                kept.append(member)
        return kept

    top.members = visit(top)
    while len(top.members) == 1 and isinstance(top.members[0], Scope):
        top.members = top.members[0].members


def _cut(top: Scope, reader: _Reader) -> None:
    """Cut groups with too many members into parts of about the square root of their number."""
    todo = [top]
    while todo:
        scope = todo.pop()
        if len(scope.members) > MOST_MEMBERS:
            length = max(2, min(MOST_MEMBERS, math.ceil(math.sqrt(len(scope.members)))))
            members, scope.members = scope.members, []
            for start in range(0, len(members), length):
                part = members[start : start + length]
                reader.open(scope, _span(part, start), ("part", start)).members = part
        todo.extend(m for m in scope.members if isinstance(m, Scope))


def _span(part: list[int | Scope], start: int) -> str:
    """A name for a run of members: `for t · 1–21`, `block × 5`, or their places."""
    first, last = part[0], part[-1]
    if isinstance(first, Scope) and isinstance(last, Scope):
        (begin, _, low), (end, _, high) = first.label.rpartition(" · "), last.label.rpartition(" · ")
        if begin and begin == end:
            return f"{begin} · {low.split('–')[0]}–{high.split('–')[-1]}"
        if first.label == last.label:
            return f"{first.label} × {len(part)}"
    return f"part {start + 1}–{start + len(part)}"


def _collect(top: Scope) -> Grouping:
    labels: dict[str, str] = {}
    within: dict[str, str | None] = {}
    of: dict[int, str | None] = {}
    callers: dict[str, object] = {}
    library: set[str] = set()
    loops: dict[str, Loop] = {}
    parts: set[str] = set()
    todo: list[tuple[Scope, str | None]] = [(top, None)]
    while todo:
        scope, ident = todo.pop()
        rounds = Counter(member.key for member in scope.members if isinstance(member, Scope))
        for member in scope.members:
            if isinstance(member, int):
                of[member] = ident
            else:
                alone = member.round == 1 and rounds[member.key] == 1  # no rounds to tell apart: it is the loop
                labels[member.id] = member.label.removesuffix(" · 1") if alone else member.label
                within[member.id] = ident
                if member.key[0] in ("call", "module"):
                    callers[member.id] = member.key[-1]
                if member.key[0] == "part":
                    parts.add(member.id)
                if member.loop is not None:
                    loops[member.id] = member.loop
                if member.key[0] == "library":
                    library.add(member.id)
                todo.append((member, member.id))
    return Grouping(labels, within, of, frozenset(callers), frozenset(library), loops, frozenset(parts), callers)
