"""Reads the call stacks of a trace: where an iteration of a loop begins, or a call of a function or a module."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.trace.events import AnyEvent, BackwardStarted, Frame, GroupEntered, GroupLeft, LeafCreated, OpCalled, Trace
from engine.trace.source import COMPREHENSIONS

from ..reading.facts import Facts
from ..reading.source_text import source
from .nested_loops import Loop, Span, loops_in, repeated_in
from .scopes import Scope, Tree, place_of


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
            case LeafCreated():
                reader.tree.leaves.append(event)
            case GroupEntered():
                reader.enter(event)
            case GroupLeft():
                reader.leave()
            case BackwardStarted():
                reader.start(event)
    return reader.tree


@dataclass(frozen=True, slots=True)
class _OpenGroup:
    """A group that was entered: its scope, the frames around it, the name that those of its parts begin with, and what
    was open and read around it."""

    scope: Scope
    depth: int
    name: str
    opened: list[Scope]
    last: Path


@dataclass(frozen=True, slots=True)
class _Interruption:
    """The step of an optimiser while it runs a `function` of the program, and what was open and read in the step."""

    step: _OpenGroup
    function: _OpenGroup
    opened: list[Scope]
    last: Path


class _Reader:
    """Follows the call stacks: which scopes are open at an event, and where a new iteration or call begins."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.trace = tree.trace
        self.opened: list[Scope] = []
        self.last = Path()
        self.entered: list[_OpenGroup] = []
        self.interruptions: list[_Interruption] = []
        self.backward: Scope | None = None
        self.around: dict[tuple[str, int], list[Loop]] = {}
        self.repeated: dict[tuple[str, Span], bool] = {}
        self.loop_values: dict[tuple[int, int, str], str | None] = {}
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
            self.loop_values[one.depth, one.line, one.name] = one.text

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
        """Return whether two ops at one position are parts of one expression.

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
        frames = self.trace.stacks[event.stack] if event.stack >= 0 else ()
        is_library = bool(event.optimizer) and not (frames and frames[-1].function == event.kind)
        around = (self._after_function(frames) if is_library else None) or self.visit(event.stack)
        outermost = not self.entered
        above = "" if outermost else self.entered[-1].name
        name = event.name.removeprefix(above + ".") if above else event.name
        has_name = outermost and name != event.kind
        is_place = name.rpartition(".")[2].isdigit()  # in a Sequential
        label = f"{name}: {event.kind}" if has_name or is_place else name
        scope = self.open(around, label, ("module", event.name, event.kind, place_of(frames[-1]) if frames else None))
        scope.kin = event.kind if has_name and not is_place else ""
        in_update = not outermost and self.entered[-1].scope.part == "update"
        scope.part = "update" if in_update or "." in event.kind else "module"  # a class has no dot: `AdamW.step` has
        self.tree.updates |= scope.part == "update"
        within = "" if outermost else event.name  # names in the outermost one have no prefix
        self.entered.append(_OpenGroup(scope, len(frames), within, self.opened, self.last))
        self.opened, self.last = [], Path()

    def _after_function(self, frames: tuple[Frame, ...]) -> Scope | None:
        """The scope of an optimiser's step that has run a function of the program first: where that was called.

        None if the event before was not in such a function.

        A step is recorded from its first own op on, after `closure` in `LBFGS.step(closure)`. Its position came then,
        and would look like another run of the function that trains.
        """
        start, depth = self.entered[-1].depth if self.entered else self.base, len(frames)
        if not start < depth < len(self.last.frames) or self.last.frames[:depth] != frames:
            return None
        mark = self.last.marks[depth - start]
        if mark.scope.key[:2] != ("call", depth - 1) or mark.scope.within is None:
            return None
        del self.opened[mark.level - 1 :]
        around = Mark(mark.scope.within, mark.level - 1, mark.cut)
        self.last = Path(frames, [*self.last.marks[: depth - start], around])
        return around.scope

    def leave(self) -> None:
        """Close the group that was entered last; if the recording began inside one, there may be none to close."""
        self.before = None
        self._resume()
        if self.entered:
            group = self.entered.pop()
            self.opened, self.last = group.opened, group.last

    def _interrupt(self, frames: tuple[Frame, ...]) -> None:
        """Leave the step of an optimiser while it runs a function of the program, as `LBFGS.step(closure)` does, and
        continue it after that.

        What the function computes is not part of the update. The program's own optimiser has a frame for its step.
        """
        if self.interruptions and len(frames) <= self.interruptions[-1].step.depth:
            self._resume()
        step = self.entered[-1] if self.entered else None
        if step is None or step.scope.part != "update" or len(frames) <= step.depth:
            return
        kind, name = str(step.scope.key[2]), frames[step.depth].function
        inside = step.depth > 0 and frames[step.depth - 1].function == kind
        if inside or name.rpartition(".")[2] == kind.rpartition(".")[2]:
            return
        place = place_of(frames[step.depth - 1]) if step.depth else None
        key = ("call", step.depth - 1, name, place)
        scope = self.open(step.scope.within or self.tree.top, name.rpartition(".<locals>.")[2], key)
        function = _OpenGroup(scope, step.depth, "", step.opened, step.last)
        self.entered[-1] = function
        self.interruptions.append(_Interruption(step, function, self.opened, self.last))
        self.opened, self.last = [], Path()

    def _resume(self) -> None:
        """Continue the step of an optimiser after an interruption, if its function is the innermost group."""
        if self.interruptions and self.entered and self.entered[-1] is self.interruptions[-1].function:
            interruption = self.interruptions.pop()
            self.entered[-1], self.opened, self.last = interruption.step, interruption.opened, interruption.last

    def visit(self, stack: int) -> Scope:
        """The innermost scope of an event with this stack, opened if it is new.

        If the event before had the same frames, only those in which something may begin again are read, so that a call
        at depth 1,000 does not cost 1,000 steps.
        """
        frames = self.trace.stacks[stack] if 0 <= stack < len(self.trace.stacks) else ()
        self._interrupt(frames)
        scope, start = (self.entered[-1].scope, self.entered[-1].depth) if self.entered else (self.tree.top, self.base)
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
                scope = self._iteration(scope, level, loop, frames, depth, innermost=loop is loops[-1])
                level += 1
            self.tree.runs.setdefault((frame.file, frame.line), set()).add(scope.id)
            if not last and not _is_transparent(frames[depth + 1]):
                key = ("call", depth, frames[depth + 1].function, place)
                open_here = level < len(self.opened) and self.opened[level].key == key
                if open_here and not (
                    self._restarts(frames, depth + 1, level + 1)
                    and (loops or self._may_call_again(frame, frames[depth + 1].function))
                ):
                    scope = self.opened[level]
                else:
                    scope = self.open(scope, frames[depth + 1].function.rpartition(".<locals>.")[2], key)
                    self.opened[level:] = [scope]
                scope.latest = place_of(frames[depth + 1])
                scope.seen.add(scope.latest)
                level += 1
            elif not last:
                cut = depth
            marks.append(Mark(scope, level, depth if loops or self._comes_again(frame) else cut))
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

    def _iteration(
        self, around: Scope, level: int, loop: Loop, frames: tuple[Frame, ...], depth: int, innermost: bool
    ) -> Scope:
        """The iteration of `loop` that an event belongs to.

        A new one begins if its variable has another value, or if the same position or an earlier one comes again: the
        same one only if no statement before it runs in each iteration and had an op in this one. A
        repetition inside an inner loop is an iteration of that one, also if the outer loop has nothing else:
        `scopes.nest` tells those apart.
        """
        frame, last = frames[depth], depth == len(frames) - 1
        place = place_of(frame)
        statement = sum(start <= frame.line for start in loop.starts)
        here = self.opened[level] if level < len(self.opened) else None
        key = ("loop", frame.file, loop.line)
        again = False
        text = None if loop.variable is None else self.loop_values.get((depth, loop.line, loop.variable))
        if here is not None and here.key == key:
            within = len(self.opened) > level + 1 and self.opened[level + 1].key[-1:] == (place,)
            again = (
                here.text != text
                or statement < here.statement
                or (
                    innermost
                    and not (loop.counts and text is not None)  # else one in a library call is not an iteration
                    and place in here.seen
                    and not 0 < here.earliest < statement  # else a call of a library with several ops
                    and (last or not within or self._restarts(frames, depth + 1, level + 2))
                )
            )
        if here is None or here.key != key or again:
            number = here.iteration + 1 if again and here is not None else 1
            here = self.open(around, "", key)
            here.iteration, here.loop, here.text = number, loop, text
            here.count(here.nth_iteration)
            self.opened[level:] = [here]
        here.statement = statement
        here.seen.add(place)
        if not here.earliest and statement in loop.sure:
            here.earliest = statement
        return here

    def _restarts(self, frames: tuple[Frame, ...], depth: int, level: int) -> bool:
        """Return whether an event in the open call before `level` belongs to another run of the same call.

        A position outside of loops and comprehensions comes once in one run of a function.
        """
        for level, depth in enumerate(range(depth, len(frames)), level):  # noqa: B020  each goes on from where it is
            frame = frames[depth]
            if self._enclosing(frame, frames[depth - 1]) or self._comes_again(frame):
                return False
            if place_of(frame) not in self.opened[level - 1].seen:
                return False
            if depth == len(frames) - 1:
                call = self.opened[level - 1]  # several ops of one line, as of `clip_grad_norm_(…)`, are not a new run
                return len(call.seen) == 1 or call.latest != place_of(frame)
            if _is_transparent(frames[depth + 1]):  # a comprehension runs its positions many times
                return False
            if len(self.opened) <= level or self.opened[level].key[-1:] != (place_of(frame),):
                return True
        return False

    def _may_call_again(self, frame: Frame, function: str) -> bool:
        """Return whether a position outside of loops may call a function several times in one run.

        Library code may, as in `net.apply(function)`, and a comprehension; a direct call `function(x)` may not.
        """
        if function == "<module>":
            return False
        name = function.removesuffix(".__init__").rpartition(".")[2]
        is_direct = source(self.trace, frame).partition("(")[0].rpartition(".")[2] == name
        return not is_direct or _is_transparent(frame) or self._comes_again(frame)

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

    def _comes_again(self, frame: Frame) -> bool:
        """Return whether a position is in a comprehension that has no frame of its own, which runs it repeatedly."""
        place = place_of(frame)
        key = (frame.file, place)
        if key not in self.repeated:
            spans = () if _is_transparent(frame) else repeated_in(self.trace.files.get(frame.file, ""))
            self.repeated[key] = any(span[:2] <= place[:2] and place[2:] <= span[2:] for span in spans)
        return self.repeated[key]


def shared(one: tuple[Frame, ...], other: tuple[Frame, ...]) -> int:
    """The number of frames that two stacks have in common, from the outermost one on."""
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if one[low:middle] == other[low:middle] else (low, middle - 1)
    return low


def _is_transparent(frame: Frame) -> bool:
    """Return whether a frame is a comprehension's, which a reader of the program does not see as a call."""
    return frame.function.rpartition(".")[2] in COMPREHENSIONS


def _loop_of_window(trace: Trace) -> tuple[int, int]:
    """For a window, which is one iteration of a loop: the depth of the frame that runs the loop, and the loop's line.

    The groups around the loop contain the whole window, and are not drawn in it.
    """
    match trace.meta.get("section"):  # a file may say anything
        case {"depth": int(depth), "line": int(line)} if depth >= 0 and line >= 0:
            return depth, line
    return 0, 0
