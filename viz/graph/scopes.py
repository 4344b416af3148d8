"""The call stacks of a trace as nested scopes: iterations of loops, calls of functions and modules, ops that a backward
call recorded."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import count, islice
from typing import Literal, NamedTuple

from engine.trace.events import AnyEvent, BackwardStarted, Frame, GroupEntered, GroupLeft, OpCalled, Trace
from engine.trace.loops import variable
from engine.trace.source import syntax_tree

from ..reading.facts import Facts
from ..reading.source_text import source
from . import nested_loops

_TRANSPARENT = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Functions whose frames are not calls to the reader."""


class Counted(NamedTuple):
    """The name of an iteration or of a call that is one of several: how the name begins for one and for many, and which
    one it is.

    `round 3` is one of `rounds 1–21`, `t = 2` one of `t = 0–20`.
    """

    one: str
    many: str
    which: str

    @property
    def name(self) -> str:
        return self.one + self.which

    def behind(self, text: str) -> Counted:
        """The same with a text before it: `cell · t = 2`."""
        return Counted(text + self.one, text + self.many, self.which)


Part = Literal[
    "",
    "module",  # a call of a module
    "update",  # a step of an optimiser, and its ops
    "data",  # the data of the model, without a gradient
    "aside",  # computed from its results, without a gradient
]
"""The role of a group beside a model: `quiet` has the last three, which are folded beside it."""


@dataclass(slots=True)
class Scope:
    """A group while it is read and afterwards. `members` are its direct ones, `key` says which loop or call it is.

    An iteration of a loop has its number, `round`, and if known the value of the loop's variable, `text`. One of
    several has a `counted` name.
    """

    id: str
    label: str
    within: Scope | None
    key: tuple[object, ...]
    members: list[int | Scope] = field(default_factory=list)
    statement: int = -1
    seen: set[tuple[int, int, int, int]] = field(default_factory=set)
    latest: tuple[int, int, int, int] | None = None
    round: int = 0
    loop: Loop | None = None
    text: str | None = None
    counted: Counted | None = None
    kin: str = ""
    """What it has in common with equal groups, if that is not the label: the function that is called, or the class of a
    module that the program holds."""
    ranges: Mapping[str, tuple[Counted, Counted]] = field(default_factory=dict)
    """For a part: its first and last iteration or call, by how their names begin."""
    part: Part = ""

    @property
    def nth_round(self) -> Counted:
        """`step = 2`; `round 3` if the loop has no variable that says more."""
        if self.text is None or self.loop is None:
            return Counted("round ", "rounds ", str(self.round))
        return Counted(f"{self.loop.variable} = ", f"{self.loop.variable} = ", self.text)

    def count(self, counted: Counted) -> None:
        """Name it as one of several."""
        self.counted, self.label = counted, counted.name


@dataclass(frozen=True, slots=True)
class Loop:
    """A loop of the program: its header begins at line `first`, its body after `line`, with a statement at each of
    `starts`.

    `taken` are the names over which it iterates, `variable` tells its iterations apart and differs in each of them if
    it `counts`.
    """

    first: int
    line: int
    end: int
    label: str
    starts: tuple[int, ...]
    length: int | None
    sure: tuple[int, ...]
    file: str
    taken: frozenset[str]
    variable: str | None
    counts: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """The state of reading a stack before one of its frames: the scope, how many are open, and the last frame before it
    in which positions may come again (-1: none)."""

    scope: Scope
    level: int
    cut: int


@dataclass(frozen=True, slots=True)
class Path:
    """How the stack of an event was read: its frames, and a mark before each of them and after the last."""

    frames: tuple[Frame, ...] = ()
    marks: list[Mark] = field(default_factory=list)


@dataclass(slots=True)
class Tree:
    """The scopes of a trace: `top` contains all of them, `ops` has the ops that their members number.

    `loops` are those of each file, `runs` the scopes in which a line of a file ran: it runs once in each iteration, and
    once in each call without loops. `ids` names further scopes.
    """

    trace: Trace
    loops: Mapping[str, tuple[Loop, ...]]
    ids: Iterator[str] = field(default_factory=lambda: (f"g{number}" for number in count()))
    top: Scope = field(default_factory=lambda: Scope("g", "", None, ()))
    ops: list[OpCalled] = field(default_factory=list)
    runs: dict[tuple[str, int], set[str]] = field(default_factory=dict)


def read(facts: Facts) -> Tree:
    """The scopes of a trace, in one pass over its events. Cost: linear in the events times the depth of the calls."""
    trace = facts.trace
    reader = _Reader(Tree(trace, {name: loops_in(code, name) for name, code in trace.files.items()}))
    for event in trace.events:
        reader.turn(event)
        if event.index in facts.own.hidden:
            continue
        match event:
            case OpCalled():
                reader.op(event)
            case GroupEntered():
                reader.enter(event)
            case GroupLeft():
                reader.leave()
            case BackwardStarted():
                reader.start(event)
    return reader.tree


class _Reader:
    """Follows the call stacks: which scopes are open at an event, and where a new iteration or call begins."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.trace = tree.trace
        self.opened: list[Scope] = []
        self.last = Path()
        self.entered: list[tuple[Scope, int, str, list[Scope], Path]] = []
        self.backward: Scope | None = None
        self.around: dict[tuple[str, int], list[Loop]] = {}
        self.held: dict[tuple[int, int, str], str | None] = {}
        self.base, self.outer = _loop_of_window(tree.trace)
        self.before: OpCalled | None = None  # the program's op before, if nothing else began or ended since
        self.scope = tree.top  # the scope of that op

    def open(self, within: Scope, label: str, key: tuple[object, ...]) -> Scope:
        scope = Scope(next(self.tree.ids), label, within, key)
        within.members.append(scope)
        return scope

    def turn(self, event: AnyEvent) -> None:
        """Take over the values of loop variables from an event on."""
        for one in event.loops:
            self.held[one.depth, one.line, one.name] = one.text

    def op(self, event: OpCalled) -> None:
        """Put an op into the innermost scope of its stack, or into that of the backward call that recorded it."""
        number = len(self.tree.ops)
        self.tree.ops.append(event)
        if event.call is not None and self.backward is not None:
            self.backward.members.append(number)
            return
        if self.before is None or not self._continues(self.before, event):
            self.scope = self.visit(event.stack)
        self.scope.members.append(number)
        self.before = event

    def _continues(self, last: OpCalled, event: OpCalled) -> bool:
        """Whether two ops at one position are parts of one expression.

        Either the first op's result has no name, as in `a[i, j]`, or the second op only gives the view that was
        written, as in `a[i] = x`, its new node.
        """
        results = {out.tensor for out in last.outputs}.difference(self.trace.names)
        again = event.name == "as_strided.path"
        return last.stack == event.stack and (again or any(i.tensor in results for i in event.inputs))

    def start(self, event: BackwardStarted) -> None:
        """Open the group of the ops that a backward call records."""
        self.before = None
        around = self.visit(event.stack)
        frames = self.trace.stacks[event.stack] if event.stack >= 0 else ()
        label = source(self.trace, frames[-1]) if frames else "backward"
        self.backward = self.open(around, f"recorded by {label}", ("backward", event.call))

    def enter(self, event: GroupEntered) -> None:
        """Open the group of a module's call: frames up to the call are around it, deeper ones in it."""
        self.before = None
        around = self.visit(event.stack)
        frames = self.trace.stacks[event.stack] if event.stack >= 0 else ()
        outermost = not self.entered
        above = "" if outermost else self.entered[-1][2]
        name = event.name.removeprefix(above + ".") if above else event.name
        held = outermost and name != event.kind
        is_place = name.rpartition(".")[2].isdigit()  # in a Sequential
        label = f"{name}: {event.kind}" if held or is_place else name
        scope = self.open(around, label, ("module", event.name, event.kind, place_of(frames[-1]) if frames else None))
        scope.kin = event.kind if held and not is_place else ""
        in_update = not outermost and self.entered[-1][0].part == "update"
        scope.part = "update" if in_update or "." in event.kind else "module"  # a class has no dot: `AdamW.step` has
        within = "" if outermost else event.name  # names in the outermost one have no prefix
        self.entered.append((scope, len(frames), within, self.opened, self.last))
        self.opened, self.last = [], Path()

    def leave(self) -> None:
        """Close the group that was entered last; if the recording began inside one, there may be none to close."""
        self.before = None
        if self.entered:
            *_, self.opened, self.last = self.entered.pop()

    def visit(self, stack: int) -> Scope:
        """The innermost scope of an event with this stack, opened if it is new.

        If the event before had the same frames, only those in which something may begin again are read, so that a call
        at depth 1,000 does not cost 1,000 steps.
        """
        frames = self.trace.stacks[stack] if 0 <= stack < len(self.trace.stacks) else ()
        scope, start = (self.entered[-1][0], self.entered[-1][1]) if self.entered else (self.tree.top, self.base)
        first = self._first_new(frames, start)
        marks = self.last.marks[: first - start + 1] or [Mark(scope, 0, -1)]
        for depth in range(first, len(frames)):
            scope, level, cut = marks[-1].scope, marks[-1].level, marks[-1].cut
            frame = frames[depth]
            last = depth == len(frames) - 1
            place = place_of(frame)
            loops = self._enclosing(frame, frames[depth - 1] if depth else None)
            if depth == self.base:
                loops = [loop for loop in loops if loop.line > self.outer]
            for loop in loops:
                scope = self._round(scope, level, loop, frames, depth, innermost=loop is loops[-1])
                level += 1
            self.tree.runs.setdefault((frame.file, frame.line), set()).add(scope.id)
            if not last and not _is_transparent(frames[depth + 1]):
                key = ("call", depth, frames[depth + 1].function, place)
                open_here = level < len(self.opened) and self.opened[level].key == key
                if open_here and not self._restarts(frames, depth + 1, level + 1):
                    scope = self.opened[level]
                else:
                    scope = self.open(scope, frames[depth + 1].function, key)
                    self.opened[level:] = [scope]
                scope.latest = place_of(frames[depth + 1])
                scope.seen.add(scope.latest)
                level += 1
            elif not last:
                cut = depth
            marks.append(Mark(scope, level, depth if loops else cut))
        del self.opened[marks[-1].level :]
        self.last = Path(frames, marks)
        return marks[-1].scope

    def _first_new(self, frames: tuple[Frame, ...], start: int) -> int:
        """The outermost frame at which reading a stack may give another result than at the event before.

        A frame in a loop, or before a comprehension, may run its positions repeatedly; the frames around it continue.
        """
        marks = self.last.marks
        depth = shared(self.last.frames, frames) - 1
        if depth <= start or not marks:
            return start
        mark = marks[depth - start]
        if mark.cut < depth - 1 and not self._restarts(frames, depth, mark.level):
            return depth
        return max(mark.cut, start)

    def _round(
        self, around: Scope, level: int, loop: Loop, frames: tuple[Frame, ...], depth: int, innermost: bool
    ) -> Scope:
        """The iteration of `loop` that an event belongs to.

        A new one begins if its variable has another value, or if the same position or an earlier one comes again. A
        repetition inside an inner loop is an iteration of that one, also if the outer loop has nothing else: `_nest`
        tells those apart.
        """
        frame, last = frames[depth], depth == len(frames) - 1
        place = place_of(frame)
        statement = sum(start <= frame.line for start in loop.starts)
        here = self.opened[level] if level < len(self.opened) else None
        key = ("loop", frame.file, loop.line)
        again = False
        text = None if loop.variable is None else self.held.get((depth, loop.line, loop.variable))
        if here is not None and here.key == key:
            within = len(self.opened) > level + 1 and self.opened[level + 1].key[-1:] == (place,)
            again = (
                here.text != text
                or statement < here.statement
                or (
                    innermost
                    and not (loop.counts and text is not None)  # else one in a library call is not an iteration
                    and place in here.seen
                    and (last or not within or self._restarts(frames, depth + 1, level + 2))
                )
            )
        if here is None or here.key != key or again:
            number = here.round + 1 if again and here is not None else 1
            here = self.open(around, "", key)
            here.round, here.loop, here.text = number, loop, text
            here.count(here.nth_round)
            self.opened[level:] = [here]
        here.statement = statement
        here.seen.add(place)
        return here

    def _restarts(self, frames: tuple[Frame, ...], depth: int, level: int) -> bool:
        """Whether an event in the open call before `level` belongs to another run of the same call.

        A position outside of loops comes once in one run of a function.
        """
        for level, depth in enumerate(range(depth, len(frames)), level):  # noqa: B020  each goes on from where it is
            frame = frames[depth]
            if self._enclosing(frame, frames[depth - 1]) or place_of(frame) not in self.opened[level - 1].seen:
                return False
            if depth == len(frames) - 1:
                call = self.opened[level - 1]  # several ops of one line, as of `clip_grad_norm_(…)`, are not a new run
                return len(call.seen) == 1 or call.latest != place_of(frame)
            if _is_transparent(frames[depth + 1]):  # a comprehension runs its positions many times
                return False
            if len(self.opened) <= level or self.opened[level].key[-1:] != (place_of(frame),):
                return True
        return False

    def _enclosing(self, frame: Frame, caller: Frame | None) -> list[Loop]:
        key = (frame.file, frame.line)
        if key not in self.around:
            loops = self.tree.loops.get(frame.file, ())
            self.around[key] = [loop for loop in loops if loop.line < frame.line <= loop.end]
        enclosing = self.around[key]
        if caller is not None and caller.file == frame.file and enclosing:
            outer = self.around.get((caller.file, caller.line), [])
            enclosing = [loop for loop in enclosing if loop not in outer]
        return enclosing


def inner_first(top: Scope) -> list[Scope]:
    """A scope and all scopes in it, in the order in which they end."""
    scopes, todo = [], [top]
    while todo:
        scopes.append(todo.pop())
        todo += [member for member in scopes[-1].members if isinstance(member, Scope)]
    return scopes[::-1]


def shared(one: tuple[Frame, ...], other: tuple[Frame, ...]) -> int:
    """The number of frames that two stacks have in common, from the outermost one on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _is_transparent(frame: Frame) -> bool:
    return frame.function.rpartition(".")[2] in _TRANSPARENT


def _loop_of_window(trace: Trace) -> tuple[int, int]:
    """For a window, which is one iteration of a loop: the depth of the frame that runs the loop, and the loop's line.

    The groups around the loop contain the whole window, and are not drawn in it.
    """
    match trace.meta.get("section"):  # a file may say anything
        case {"depth": int(depth), "line": int(line)} if depth >= 0 and line >= 0:
            return depth, line
    return 0, 0


def place_of(frame: Frame) -> tuple[int, int, int, int]:
    return frame.line, frame.col, frame.end_line, frame.end_col


MOST_LOOPS = 2_000
"""Loops of a file that are looked at."""


@lru_cache(maxsize=64)
def loops_in(code: str, file: str) -> tuple[Loop, ...]:
    """The loops of a file by first line, outer ones first; none if it is not Python.

    >>> [(loop.first, loop.line, loop.end, loop.variable) for loop in loops_in("for i in x:\\n    f(i)\\n", "a.py")]
    [(1, 1, 2, 'i')]
    """
    try:
        tree = syntax_tree(code)
    except (SyntaxError, ValueError, RecursionError):
        return ()
    loops = []
    for node in islice(nested_loops.loops_of(tree), MOST_LOOPS):
        end = node.body[-1].end_lineno or node.lineno
        target = "while" if isinstance(node, ast.While) else f"for {ast.unparse(node.target)}"
        starts, sure = tuple(s.lineno for s in node.body), nested_loops.surely_runs(node)
        parts = () if isinstance(node, ast.While) else ast.walk(node.iter)
        taken = frozenset(part.id for part in parts if isinstance(part, ast.Name))
        length = nested_loops.length(node, tree)
        line = node.body[0].lineno - 1
        counts = not isinstance(node, ast.While) and nested_loops.counts(node.iter)
        loops.append(Loop(node.lineno, line, end, target, starts, length, sure, file, taken, variable(node), counts))
    return tuple(sorted(loops, key=lambda loop: (loop.line, -loop.end)))
