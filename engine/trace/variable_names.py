"""Which variable a result is bound to: `y` for the product in `y = w * x`.

Read from the syntax tree: from the expression at a frame upwards as long as the value stays the same tensor, and
through the `return` of the user's own functions into the frame that called them.
"""

from __future__ import annotations

import ast
import re
from array import array
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

from .columns import Texts
from .events import (
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    ErrorRaised,
    Frame,
    LeafCreated,
    OpCalled,
)
from .messages import places_of
from .source import COMPREHENSIONS, File, Sources, first_name

_WRAPPERS = frozenset({"Variable", "Parameter", "as_tensor"})
_INNER = re.compile(r"native_|_|\w+(_forward|_with_indices)$")
"""Ops whose functions return the first result only: the others are for backward."""
_VERDICTS = frozenset({"gradcheck", "gradgradcheck"})
"""Functions of tensors that return True or False."""
_SAME = frozenset({"contiguous", "cpu", "cuda", "double", "expand", "float", "reshape", "to", "type", "view"})

MOST_CLIMBS = 10_000
"""Call stacks of which the names are remembered."""
_NO_GUARD = nullcontext()

_Element = tuple[str, tuple[int, int]]
"""A part of the element that a comprehension yields in each iteration, `[0]` of `(a(), b())`, and its position."""


@dataclass(frozen=True, slots=True)
class Binding:
    """The names of a result's parts (one, or one per element of an unpacking `a, b = ...`).

    `exact` is False if the value passed through something that may return another tensor (`.to(...)`, `Parameter(...)`,
    the return of a function): an exact binding of the same name to another tensor has priority.  `place` is the
    position of the assignment and its call: equal for everything that one assignment binds.  `each` marks the variable
    of a loop, which is bound to the parts of the value.  The names of a comprehension have no index yet, if `element`
    is set: the iteration is not `counted`.
    """

    names: tuple[str | None, ...]
    exact: bool
    place: object = None
    each: bool = False
    counted: tuple[object, ...] | None = None
    element: _Element | None = None


class Binder:
    """Finds names for the events of a trace, in their order, so that the elements of a list are counted."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._counts: dict[tuple[object, ...], int] = {}
        self._parts: dict[tuple[object, ...], _Element] = {}
        self._climbs: dict[int, tuple[Sequence[Frame], _Climb, list[str | None] | None]] = {}  # by the id of the frames

    def binding(self, frames: Sequence[Frame], outputs: int) -> Binding | None:
        """The names of the results of an op at `frames` (outermost first); None if they are not bound to variables.

        >>> frame = Frame("a.py", "<module>", 1, 1, 4, 9)
        >>> Binder(Sources({"a.py": "z = 2 * x"})).binding([frame], 1).names
        ('z',)
        """
        climb, names = self._climbed(frames)
        self._forget(frames)
        if names is None:
            return None
        if climb.part is not None:
            names = [*[None] * max(climb.part, 0), *names[:1], *[None] * outputs]
            if outputs == 1:  # one result after the other, more of them perhaps than the value has parts
                names = [*names, None][min(self._count(tuple(frames)), len(names)) :]
            names = names[:outputs]
        elif len(names) == 1 and outputs > 1:
            names = [f"{names[0]}[{i}]" for i in range(outputs)]
        elif len(names) > 1 and outputs == 1:  # unpacking iterates: one result after the other
            number = self._count(tuple(frames))
            names = [names[number]] if number < len(names) else [None]
        elif len(names) != outputs:
            return None
        return Binding(tuple(names), climb.exact, climb.place, climb.each, climb.counted, climb.element)

    def _climbed(self, frames: Sequence[Frame]) -> tuple[_Climb, list[str | None] | None]:
        """The path up from `frames` and the names at its end: the same in each iteration of a loop."""
        entry = self._climbs.get(id(frames))
        if entry is None or entry[0] is not frames:
            if len(self._climbs) >= MOST_CLIMBS:
                self._climbs.clear()
            climb = _Climb(self.sources, frames)
            entry = self._climbs[id(frames)] = frames, climb, climb.names()
        return entry[1:]

    def numbered(self, binding: Binding) -> Binding:
        """The names with the iteration of a comprehension, `h[2]`; without names if the count could be wrong.  Call it
        once for the result of each iteration: several ops may compute one element.
        """
        if binding.counted is None:
            return binding
        number = self._iteration(binding.counted, binding.element)
        names = (None if n is None or number is None else n.replace("[#]", f"[{number}]", 1) for n in binding.names)
        return replace(binding, names=tuple(names), counted=None)

    def _count(self, place: tuple[object, ...]) -> int:
        number = self._counts.get(place, -1) + 1
        self._counts[place] = number
        return number

    def _iteration(self, place: tuple[object, ...], element: _Element | None) -> int | None:
        """The iteration of a comprehension that an element belongs to: a new one unless a later part of `(a(), b())`
        follows.  None if an iteration may yield no tensor, so that the count could be wrong.
        """
        if element is None:
            return None
        before, self._parts[place] = self._parts.get(place), element
        if place in self._counts and before is not None and before[0] != element[0] and before[1] < element[1]:
            return self._counts[place]
        return self._count(place)

    def _forget(self, frames: Sequence[Frame]) -> None:
        """Counting starts again after an event outside of the comprehension."""
        if self._counts:
            place = tuple(frames)
            self._counts = {k: n for k, n in self._counts.items() if self._within(place, k)}

    def _within(self, frames: tuple[object, ...], counted: tuple[object, ...]) -> bool:
        outer, last = counted[:-1], counted[-1]
        if frames[: len(outer)] != outer or len(frames) <= len(outer):
            return False
        frame = frames[len(outer)]
        assert isinstance(frame, Frame) and isinstance(last, Frame)
        start, stop = (frame.line, frame.col), (frame.end_line, frame.end_col)
        return frame.file == last.file and (last.line, last.col) <= start and stop <= (last.end_line, last.end_col)


class _Climb:
    """One path from the expression of the innermost frame up to the target of an assignment."""

    def __init__(self, sources: Sources, frames: Sequence[Frame]) -> None:
        self.sources = sources
        self.frames = list(frames)
        self.exact = True
        self.suffix = ""
        self.counted: tuple[object, ...] | None = None
        self.element: _Element | None = None
        self.begun = (0, 0)
        self.place: object = None
        self.part: int | None = None
        self.each = False

    def names(self) -> list[str | None] | None:
        """The text of the target, or of each of its elements; None if nothing is bound."""
        while self.frames:
            file = self.sources.file(self.frames[-1].file)
            node = self.sources.node(self.frames[-1])
            self.begun = (self.frames[-1].line, self.frames[-1].col)
            targets = self.within(file, node) if node is not None else None
            if targets != "returned":
                return targets if isinstance(targets, list) else None
            inner = self.frames.pop()
            if not self.frames or not self.called(inner):
                return None
            self.exact = False
        return None

    def within(self, file: File, node: ast.AST) -> list[str | None] | str | None:
        """Names, `"returned"` if the value leaves its function, None if it is used in another way."""
        if isinstance(node, ast.AugAssign):
            return self.target(file, node.target)
        if isinstance(node, ast.Call) and _callee(node) in _VERDICTS:
            return None
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
            return self.target(file, node)
        while (above := file.above.get(node)) is not None:
            match above:
                case ast.Assign(value=value) if value is node:
                    return self.target(file, above.targets[0])
                case ast.AnnAssign(value=value) | ast.NamedExpr(value=value) if value is node:
                    return self.target(file, above.target)
                case ast.For(iter=value) if value is node:
                    self.each = True
                    return self.target(file, above.target)
                case ast.Return() | ast.Lambda():
                    return None if self.suffix else "returned"
                case ast.IfExp() if node is not above.test:
                    node = above
                case ast.Tuple() | ast.List():
                    paired = _paired(file, above, node)
                    if paired is not None:
                        return self.target(file, paired)
                    self.suffix = f"[{above.elts.index(node)}]{self.suffix}"  # type: ignore[arg-type]  # by identity
                    node = above
                case ast.Dict() if node in above.values:
                    key = above.keys[above.values.index(node)]
                    if not isinstance(key, ast.Constant):
                        return None
                    self.suffix = f"[{file.text_of(key)}]{self.suffix}"
                    node = above
                case ast.ListComp(elt=element) if element is node and self.counted is None:
                    self.count(file, above)
                    node = above
                case ast.Subscript(value=whole, slice=ast.Constant(value=int(number))) if whole is node:
                    node = self.picked(above, number)
                case ast.Attribute(attr="values" | "indices" as part) if isinstance(node, ast.Call):
                    node = self.picked(above, int(part == "indices"))
                case ast.Call() | ast.Attribute() if (outer := self.unchanged(file, above, node)) is not None:
                    node = outer
                case _:
                    return None
        return None

    def target(self, file: File, target: ast.expr) -> list[str | None]:
        self.place = (*self.frames[:-1], self.frames[-1].file if self.frames else "", file.span(target))
        if isinstance(target, (ast.Tuple, ast.List)) and not self.suffix:
            simple = not any(isinstance(e, ast.Starred) for e in target.elts)
            return [
                None if isinstance(e, (ast.Tuple, ast.List)) or not simple else file.text_of(e) for e in target.elts
            ]
        if isinstance(target, ast.Name) and target.id == "_":
            return [None]
        return [file.text_of(target) + self.suffix]

    def picked(self, above: ast.AST, number: int) -> ast.AST:
        """One of several results is taken: `autograd.grad(z, x)[0]`."""
        self.part = number
        self.exact = False
        return above

    def count(self, file: File, comprehension: ast.ListComp) -> None:
        """The value is an element of a list from a comprehension: only counting says which one."""
        whole = comprehension.elt
        if _is_sure(whole):
            self.element = self.suffix, self.begun
        self.suffix = f"[#]{self.suffix}"
        if self.frames[-1].function.rpartition(".")[2] in COMPREHENSIONS:  # before Python 3.12, a frame of its own
            self.frames.pop()
        if self.frames:
            frame = self.frames[-1]
            line, end_line, col, end_col = file.span(comprehension)
            self.counted = (*self.frames[:-1], Frame(frame.file, frame.function, line, end_line, col, end_col))

    def unchanged(self, file: File, above: ast.AST, node: ast.AST) -> ast.AST | None:
        """The call around `node` that returns the same tensor: `x.requires_grad_()`, `Variable(x)`."""
        if isinstance(above, ast.Call):
            name = _callee(above)
            if name in _WRAPPERS and above.args[:1] == [node]:
                self.exact = self.exact and name == "Variable"
                return above
            return None
        call = file.above.get(above)
        assert isinstance(above, ast.Attribute)
        if not isinstance(call, ast.Call) or call.func is not above:
            return None
        if above.attr in _SAME:
            self.exact = False
            return call
        return call if above.attr.endswith("_") and not above.attr.startswith("_") else None

    def called(self, inner: Frame) -> bool:
        """Return whether the result of `inner` is the value of the expression in the frame that is now innermost."""
        outer = self.frames[-1]
        file, node = self.sources.file(outer.file), self.sources.node(outer)
        function = inner.function.rpartition(".")[2]
        if not isinstance(node, ast.Call):
            return function.startswith("__")  # an operator of a user's class
        return _callee(node) == function or first_name(node.func) not in file.modules


def _callee(call: ast.Call) -> str:
    """`exp` of `torch.exp(x)`."""
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _root_written(call: ast.Call, is_implicit: bool) -> ast.expr | None:
    """The root in `x.backward()`, and in `autograd.backward(x)` or `accelerator.backward(x)`, whose first argument is
    not a gradient; None if a call is of another function."""
    if _callee(call) != "backward":
        return None
    of = call.func.value if isinstance(call.func, ast.Attribute) else None
    first = call.args[0] if call.args else None
    is_gradient = not is_implicit or (isinstance(first, ast.Constant) and first.value is None)
    if first is not None and (
        of is None or getattr(of, "attr", getattr(of, "id", "")) == "autograd" or not is_gradient
    ):
        return first
    return of


def _is_sure(element: ast.expr) -> bool:
    """Return whether each iteration of a comprehension computes tensors for the same parts of its element: no part is a
    conditional expression with a side that computes nothing."""
    if isinstance(element, ast.IfExp):
        return all(isinstance(side, (ast.BinOp, ast.Call)) for side in (element.body, element.orelse))
    return not any(isinstance(node, (ast.IfExp, ast.BoolOp)) for node in ast.walk(element))


def _paired(file: File, values: ast.Tuple | ast.List, node: ast.AST) -> ast.expr | None:
    """The target of one element in `a, b = x * 2, x * 3`."""
    above = file.above.get(values)
    if isinstance(above, ast.Assign) and isinstance(above.targets[0], (ast.Tuple, ast.List)):
        targets = above.targets[0].elts
        if len(targets) == len(values.elts) and not any(isinstance(e, ast.Starred) for e in (*targets, *values.elts)):
            return targets[values.elts.index(node)]  # type: ignore[arg-type]  # compared by identity: it is one of them
    return None


def tensor_names(
    events: Sequence[AnyEvent], stacks: Sequence[tuple[Frame, ...]], files: Mapping[str, str],
    guard: AbstractContextManager[Any] = _NO_GUARD,
) -> dict[int, str]:  # fmt: skip
    """The variable name of each tensor that the source binds to a name.  A tensor keeps the first name that is
    certainly its own; `guard` is entered for each event.  Linear in the number of events.
    """
    naming = Naming(Sources(files), guard)
    for event in events:
        naming.see(event, stacks[event.stack] if event.stack >= 0 else ())
    naming.settle()
    return naming.names.as_dict()


def _indexed(names: Sequence[str | None]) -> str | None:
    """`y` for `y[0]`, `y[1]`, …: the variable of which several results are the elements."""
    whole = (names[0] or "").removesuffix("[0]")
    return whole if len(names) > 1 and all(name == f"{whole}[{i}]" for i, name in enumerate(names)) else None


def _raised_in(event: ErrorRaised, frame: Frame) -> bool:
    """Return whether an error came up in the lines of a frame, by its traceback."""
    lines = [line for file, line in places_of(event) if file.endswith(frame.file.lstrip("~/"))]
    return bool(lines) and frame.line <= lines[-1] <= frame.end_line


class Naming:
    """Collects names; the ops of one expression are treated together.

    `guard` is entered for the names of each event: a fault that it swallows costs no others.
    """

    def __init__(self, sources: Sources, guard: AbstractContextManager[Any]) -> None:
        self.sources, self.guard = sources, guard
        self.binder = Binder(sources)
        self.names = Texts()
        self.changed: set[int] = set()  # renamed since the file's writer last emptied this
        self.unsure: dict[object, array[int]] = {}
        self.strangers: set[int] = set()
        self.loaded: set[int] = set()
        self.at: tuple[Frame, ...] = ()
        self.run: list[tuple[str, list[int], Binding]] = []
        self.calls: dict[int, tuple[Frame, ...]] = {}
        self.inside: list[tuple[int | None, ...]] = []  # the arguments of the running user code

    def see(self, event: AnyEvent, frames: tuple[Frame, ...]) -> None:
        """Add the next event, which happened at `frames`."""
        with self.guard:
            self.add(event, frames)

    def add(self, event: AnyEvent, frames: tuple[Frame, ...]) -> None:
        """Collect the names of an event."""
        if isinstance(event, CodeEntered):
            self.inside.append(event.given)
        elif isinstance(event, CodeLeft):
            self.left(event)
        elif isinstance(event, BackwardStarted):
            is_inner = frames in self.calls.values()  # of the line that calls backward, which is about another root
            self.calls[event.call] = frames
            if not is_inner:
                self.root(event, frames)
        elif isinstance(event, BackwardEnded):
            results = [t for t in event.results if t is not None]
            self.computed("grad", results, self.calls.pop(event.call, ()))
        elif isinstance(event, LeafCreated):
            if event.name is not None:
                self.name(event.tensor, event.name)
            elif event.source in ("seen", "DataLoader", "gradient"):
                self.strangers.add(event.tensor)
                if event.source == "DataLoader":
                    self.loaded.add(event.tensor)
            elif event.source != "grad":
                self.computed("leaf", [event.tensor], frames)
        elif isinstance(event, OpCalled) and self.is_written(event, frames):
            self.meet(event, frames)
            self.computed(event.name, [out.tensor for out in event.outputs], frames)
        elif isinstance(event, ErrorRaised) and event.call is None and self.at and _raised_in(event, self.at[-1]):
            self.run = []  # the expression has no result

    def root(self, event: BackwardStarted, frames: tuple[Frame, ...]) -> None:
        """Name the root of `out.loss.backward()`, which a library may have computed, as this call does.

        A library, as a Trainer, that calls backward itself calls it on the loss.
        """
        call = self.sources.node(frames[-1]) if len(event.roots) == 1 and frames else None
        if not isinstance(call, ast.Call):
            return
        (root,) = event.roots
        tensor = root.tensor
        of = _root_written(call, root.implicit)
        if of is None:
            if _callee(call) != "backward" and root.implicit and event.function == "backward":
                if frames[: len(self.at)] == self.at:
                    self.run = []  # the call that trains is still running: what it returns is not the loss
                self.settle()
                if tensor not in self.names:
                    self.name(tensor, "loss")
            return
        if self.at and frames[: len(self.at)] != self.at:
            self.settle()  # the expression before the call has ended
        # An element `b[2]` of a tensor or a list is called by the expression that computed it.
        is_key = (
            isinstance(of, ast.Subscript) and isinstance(of.slice, ast.Constant) and isinstance(of.slice.value, str)
        )
        is_call = any(isinstance(node, ast.Call) for node in ast.walk(of))
        if (is_key or isinstance(of, (ast.Name, ast.Attribute))) and not is_call:
            name, earlier_name = self.sources.file(frames[-1].file).text_of(of), self.names.get(tensor)
            if earlier_name is None or name.startswith((f"{earlier_name}.", f"{earlier_name}[")):
                self.name(tensor, name)

    def is_written(self, event: OpCalled, frames: tuple[Frame, ...]) -> bool:
        """Return whether an op is written in the program: not computed by a backward call, unless in user code."""
        return event.call is None or bool(self.inside and frames != self.calls.get(event.call))

    def left(self, event: CodeLeft) -> None:
        """The result of user code has the name that the program assigns to it, not its name inside."""
        self.settle()
        self.at = ()
        tensors = self.inside.pop() if self.inside else ()
        for tensor in event.results or ():
            if tensor is not None and tensor not in tensors:
                self.name(tensor, None)

    def name(self, tensor: int, name: str | None) -> None:
        """Give a tensor a name, or remove its name."""
        if name is not None:
            self.names[tensor] = name
        elif not self.names.drop(tensor):
            return
        self.changed.add(tensor)

    def computed(self, kind: str, tensors: list[int], frames: tuple[Frame, ...]) -> None:
        """Tensors that one event computed at `frames`."""
        if not frames or not tensors:
            return
        if frames != self.at:
            if self.at and frames[: len(self.at)] == self.at:
                self.run = []  # the call is still running, in user code: it has no result yet
            self.settle()
            self.at = frames
        binding = self.binder.binding(frames, len(tensors))
        if binding is not None and _INNER.match(kind) and (whole := _indexed(binding.names)) is not None:
            binding = replace(binding, names=(whole, *[None] * (len(tensors) - 1)))
        if binding is not None:
            self.run.append((kind, tensors, binding))

    def settle(self) -> None:
        """Name the results of one expression, which has ended."""
        with self.guard:
            self.name_results()
        self.run = []

    def name_results(self) -> None:
        """Name the results of the last op of an expression, each time that it ran."""
        for _, results, counted in self.last_ones():
            names = self.binder.numbered(counted)
            pairs = [(t, n) for t, n in zip(results, names.names, strict=True) if n is not None]
            if names.exact:
                for tensor in self.unsure.pop(names.place, ()):
                    self.name(tensor, None)
            for tensor, name in pairs:
                if tensor not in self.names:
                    self.name(tensor, name)
                    if not names.exact:
                        self.unsure.setdefault(names.place, array("q")).append(tensor)

    def last_ones(self) -> list[tuple[str, list[int], Binding]]:
        """The ops of one expression whose results are its value: the last one, each time that it ran."""
        kinds = [kind for kind, _, _ in self.run]
        if self.run and self.run[-1][2].each:  # a loop over the expression's value: its parts, one by one
            return [entry for entry in self.run if entry[0] == kinds[-1]]
        size = len(kinds)
        period = next((p for p in range(1, size) if size % p == 0 and kinds == kinds[:p] * (size // p)), max(size, 1))
        return self.run[period - 1 :: period]

    def meet(self, event: OpCalled, frames: tuple[Frame, ...]) -> None:
        """Name tensors from before the recording as in the expression that uses them."""
        if not frames or not self.strangers:
            return
        tensors = list(dict.fromkeys(i.tensor for i in event.inputs if i.tensor is not None))
        if self.strangers.isdisjoint(tensors):
            return
        operands = tuple(dict.fromkeys(self.sources.operands(frames[-1])))
        is_loaded = not self.loaded.isdisjoint(tensors)
        outside = {name: self.name_outside(frames, name) for name in operands} if is_loaded else {}
        new = [t for t in tensors if t in self.strangers and t not in self.names]
        if len(operands) == len(tensors):
            for tensor, name in zip(tensors, operands, strict=True):
                if tensor in new:
                    self.name(tensor, outside[name] if tensor in self.loaded else name)
        elif len(operands) == len(new) == 1 and operands[0] not in {self.names.get(t) for t in tensors}:
            self.name(new[0], outside[operands[0]] if new[0] in self.loaded else operands[0])
        self.strangers.difference_update(tensors)
        self.loaded.difference_update(tensors)

    def name_outside(self, frames: tuple[Frame, ...], name: str) -> str:
        """The name of a batch where it came from its loader: `images` of `net(images)`, not the `x` of `forward`."""
        for outer, inner in zip(frames[-2::-1], frames[:0:-1], strict=False):
            earlier = self.sources.argument_name(outer, inner, name)
            if earlier is None:
                break
            name = earlier
        return name
