"""Which variable a result is bound to: `y` for the product in `y = w * x`.

Read from the syntax tree: from the expression at a frame upwards as long as the value stays the same tensor, and
through the `return` of the user's own functions into the frame that called them.
"""

from __future__ import annotations

import ast
import re
from array import array
from collections.abc import Iterator, Mapping, Sequence
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

_REPEATING = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
"""Expressions of which a part runs as often as something else tells."""
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
    of a loop, which is bound to the parts of the value.  `counted` is the position of a comprehension whose
    elements are counted: its names have no index yet. `element` is None if that count could be wrong.
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
        """The names with the index of an element that a comprehension yields, `h[2]`; without names if it could be
        wrong.  Call it once for the result of each iteration: several ops may compute one element.
        """
        if binding.counted is None:
            return binding
        number = self._index(binding.counted, binding.element)
        names = (None if n is None or number is None else n.replace("[#]", f"[{number}]", 1) for n in binding.names)
        return replace(binding, names=tuple(names), counted=None)

    def _count(self, place: tuple[object, ...]) -> int:
        number = self._counts.get(place, -1) + 1
        self._counts[place] = number
        return number

    def _index(self, place: tuple[object, ...], element: _Element | None) -> int | None:
        """The index of an element in the list that a comprehension makes: a new one unless a later part of `(a(), b())`
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
            self._counts = {k: n for k, n in self._counts.items() if _is_within(place, k)}


class _Climb:
    """One path from the expression of the innermost frame up to the target of an assignment."""

    def __init__(self, sources: Sources, frames: Sequence[Frame]) -> None:
        self.sources = sources
        self.frames = list(frames)
        self.exact = True
        self.suffix = ""
        self.counted: tuple[object, ...] | None = None
        self.element: _Element | None = None
        self.start = (0, 0)
        self.place: object = None
        self.part: int | None = None
        self.each = False

    def names(self) -> list[str | None] | None:
        """The text of the target, or of each of its elements; None if nothing is bound."""
        while self.frames:
            file = self.sources.file(self.frames[-1].file)
            node = self.sources.node(self.frames[-1])
            self.start = (self.frames[-1].line, self.frames[-1].col)
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
                case ast.Call() | ast.Attribute() if (outer := self.call_around(file, above, node)) is not None:
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
            self.element = self.suffix, self.start
        self.suffix = f"[#]{self.suffix}"
        if self.frames[-1].function.rpartition(".")[2] in COMPREHENSIONS:  # before Python 3.12, a frame of its own
            self.frames.pop()
        if self.frames:
            self.counted = _place(file, comprehension, self.frames)

    def call_around(self, file: File, above: ast.AST, node: ast.AST) -> ast.AST | None:
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


class _ListNames:
    """The names of elements of lists, `weights[2]` for the `w` of `[w.clone() for w in weights]`.

    Which iteration an op belongs to is counted once the comprehension has ended: each of them runs the same ops.  This
    is not the index that `Binder` counts, of an element in the new list: with an `if` that one leaves iterations out.
    """

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._comprehensions: dict[int, tuple[Sequence[Frame], _Comprehension | None]] = {}  # by the id of the frames
        self._running: _Comprehension | None = None
        self._kinds: dict[Sequence[Frame], list[str]] = {}  # of the ops so far, by their expression
        self._uses: dict[int, list[tuple[Sequence[Frame], int, str]]] = {}  # of tensors: expression, which op, list

    def leave(self, event: AnyEvent, frames: Sequence[Frame]) -> dict[int, str]:
        """The names of elements, if the comprehension has ended before an event at `frames`."""
        running = self._running
        if running is None or (
            _is_within(tuple(frames), running.place)
            and not any(one.depth < len(running.place) for one in event.loops)  # it runs again, in a loop around it
        ):
            return {}
        names: dict[int, str] = {}
        for tensor, uses in self._uses.items():
            counts = {(name, number // _period(self._kinds[frames])) for frames, number, name in uses}
            if len(counts) == 1:
                ((name, number),) = counts
                names[tensor] = f"{name}[{number}]"
        self._running, self._kinds, self._uses = None, {}, {}
        return names

    def see(self, kind: str, frames: Sequence[Frame]) -> None:
        """Count an op."""
        running = self._comprehension(frames)
        if running is not None and self._running in (None, running):
            self._running = running
            self._kinds.setdefault(tuple(frames), []).append(kind)

    def meet(self, frames: Sequence[Frame], tensor: int, variable: str) -> None:
        """Note that the op that was counted last has a tensor that a variable is bound to."""
        if self._running is not None and tuple(frames) in self._kinds and (name := self._running.lists.get(variable)):
            use = tuple(frames), len(self._kinds[tuple(frames)]) - 1, name
            self._uses.setdefault(tensor, []).append(use)

    def _comprehension(self, frames: Sequence[Frame]) -> _Comprehension | None:
        """The comprehension that the expression at `frames` is in, if each iteration computes it."""
        entry = self._comprehensions.get(id(frames))
        if entry is None or entry[0] is not frames:
            if len(self._comprehensions) >= MOST_CLIMBS:
                self._comprehensions.clear()
            entry = self._comprehensions[id(frames)] = frames, _comprehension(self.sources, frames)
        return entry[1]


@dataclass(frozen=True)
class _Comprehension:
    """A list comprehension at a place, and the lists that its variables go through."""

    place: tuple[object, ...]
    lists: Mapping[str, str]


def _comprehension(sources: Sources, frames: Sequence[Frame]) -> _Comprehension | None:
    """The comprehension around an expression that each of its iterations computes, if its iterations can be counted."""
    if not frames:
        return None
    file, start = sources.file(frames[-1].file), sources.node(frames[-1])
    node, inner = start, start
    while isinstance(node, ast.expr) and not (isinstance(node, ast.ListComp) and node is not start):
        if isinstance(node, (ast.IfExp, ast.BoolOp, *_REPEATING)):
            return None
        node, inner = file.above.get(node), node
    if not isinstance(node, ast.ListComp) or node.elt is not inner or len(node.generators) > 1:
        return None
    (generator,) = node.generators
    if generator.ifs or any(isinstance(below, ast.comprehension) for below in ast.walk(node.elt)):
        return None
    outer = frames[:-1] if frames[-1].function.rpartition(".")[2] in COMPREHENSIONS else frames
    lists = {} if any(_comes_again(sources, frame) for frame in outer[:-1]) else dict(_lists(file, generator))
    lists = {name: of for name, of in lists.items() if not _is_repeated(file, node, of.split(".")[0])}
    return _Comprehension(_place(file, node, outer), lists) if outer and lists else None


def _comes_again(sources: Sources, frame: Frame) -> bool:
    """Return whether the call at a frame may be repeated without an event that tells so."""
    node = sources.node(frame)
    return node is None or _is_repeated(sources.file(frame.file), node)


def _is_repeated(file: File, node: ast.AST, name: str = "") -> bool:
    """Return whether an expression in which a variable is read may be computed repeatedly, with other values of it,
    without an event that tells so: events have the variables of loops only if these are numbers."""
    above = file.above.get(node)
    while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef)):
        if isinstance(above, _REPEATING):
            return True
        if isinstance(above, (ast.For, ast.AsyncFor, ast.While)) and not _is_numbered(above):
            stored = {one.id for one in ast.walk(above) if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
            if not name or name in stored:
                return True
        above = file.above.get(above)
    return False


def _is_numbered(loop: ast.AST) -> bool:
    """Return whether the first variable of a loop is a number."""
    match loop:
        case ast.For(iter=ast.Call(func=ast.Name(id="range" | "trange"))):
            return True
        case ast.For(target=ast.Tuple(), iter=ast.Call(func=ast.Name(id="enumerate"))):
            return True
    return False


def _lists(file: File, generator: ast.comprehension) -> Iterator[tuple[str, str]]:
    """The variables of an iteration, each with the list whose elements it is: of `for w, g in zip(weights, grads)`
    `w` with `weights` and `g` with `grads`."""
    target, values = generator.target, generator.iter
    pairs = [(target, values)]
    match target, values:
        case ast.Tuple(elts=targets), ast.Call(func=ast.Name(id="zip"), args=arguments, keywords=[]):
            pairs = list(zip(targets, arguments, strict=False))
        case ast.Tuple(elts=[_, one]), ast.Call(func=ast.Name(id="enumerate"), args=[other], keywords=[]):
            pairs = [(one, other)]
    for one, other in pairs:
        if isinstance(one, ast.Name) and file.text_of(other).replace(".", "").isidentifier():
            yield one.id, file.text_of(other)


def _place(file: File, comprehension: ast.ListComp, frames: Sequence[Frame]) -> tuple[object, ...]:
    """The position of a comprehension, in the function of the last of `frames`."""
    frame = frames[-1]
    line, end_line, col, end_col = file.span(comprehension)
    return (*frames[:-1], Frame(frame.file, frame.function, line, end_line, col, end_col))


def _is_within(frames: tuple[object, ...], counted: tuple[object, ...]) -> bool:
    """Return whether `frames` are of an expression in a comprehension at a place, or of code that it calls."""
    outer, last = counted[:-1], counted[-1]
    if frames[: len(outer)] != outer or len(frames) <= len(outer):
        return False
    frame = frames[len(outer)]
    assert isinstance(frame, Frame) and isinstance(last, Frame)
    start, stop = (frame.line, frame.col), (frame.end_line, frame.end_col)
    return frame.file == last.file and (last.line, last.col) <= start and stop <= (last.end_line, last.end_col)


def _period(kinds: list[str]) -> int:
    """Of how many ops a repeated sequence of ops consists.

    >>> _period(["t", "addmm", "t", "addmm"]), _period(["mul", "sum"])
    (2, 2)
    """
    size = len(kinds)
    return next((p for p in range(1, size) if size % p == 0 and kinds == kinds[:p] * (size // p)), max(size, 1))


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
        self.lists = _ListNames(sources)
        self.inside: list[tuple[int | None, ...]] = []  # the arguments of the running user code

    def see(self, event: AnyEvent, frames: tuple[Frame, ...]) -> None:
        """Add the next event, which happened at `frames`."""
        with self.guard:
            self.add(event, frames)

    def add(self, event: AnyEvent, frames: tuple[Frame, ...]) -> None:
        """Collect the names of an event."""
        for tensor, name in self.lists.leave(event, frames).items():
            self.name(tensor, name)
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
            self.lists.see(event.name, frames)
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
        period = _period(kinds)
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
                    self.call(tensor, name, frames, outside)
        elif len(operands) == len(new) == 1 and operands[0] not in {self.names.get(t) for t in tensors}:
            self.call(new[0], operands[0], frames, outside)
        self.strangers.difference_update(tensors)
        self.loaded.difference_update(tensors)

    def call(self, tensor: int, name: str, frames: tuple[Frame, ...], outside: Mapping[str, str]) -> None:
        """Name a tensor from before the recording as an expression calls it, if it is loaded as the program does."""
        self.name(tensor, outside[name] if tensor in self.loaded else name)
        if tensor not in self.loaded:
            self.lists.meet(frames, tensor, name)

    def name_outside(self, frames: tuple[Frame, ...], name: str) -> str:
        """The name of a batch where it came from its loader: `images` of `net(images)`, not the `x` of `forward`."""
        for outer, inner in zip(frames[-2::-1], frames[:0:-1], strict=False):
            earlier = self.sources.argument_name(outer, inner, name)
            if earlier is None:
                break
            name = earlier
        return name
