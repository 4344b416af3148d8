"""Which variable a result is bound to: `y` for the product in `y = w * x`.

Read from the syntax tree: from the expression at a frame upwards as long as the value stays the same tensor, and
through the `return` of the user's own functions into the frame that called them.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass

from .source import _COMPREHENSIONS, File, Sources, first_name
from .trace import Frame

_WRAPPERS = frozenset({"Variable", "Parameter", "as_tensor"})
_SAME = frozenset({"contiguous", "cpu", "cuda", "double", "expand", "float", "reshape", "retain_grad", "to", "type", "view"})


@dataclass(frozen=True, slots=True)
class Binding:
    """The names of a result's parts (one, or one per element of an unpacking `a, b = ...`).

    `exact` is False where the value passed through something that may have made another tensor of it (`.to(...)`,
    `Parameter(...)`, the return of a function): an exact binding of the same name by another tensor goes before.
    """

    names: tuple[str | None, ...]
    exact: bool


class Binder:
    """Asked for the events of a trace in their order, so that the elements of a list are counted."""

    def __init__(self, sources: Sources) -> None:
        self.sources = sources
        self._counts: dict[tuple[object, ...], int] = {}

    def bound_names(self, frames: Sequence[Frame], outputs: int = 1) -> tuple[str | None, ...]:
        """A name per output for a result made at `frames` (outermost first), None where no variable holds it.

        >>> frame = Frame("a.py", "<module>", 1, 1, 4, 9)
        >>> Binder(Sources({"a.py": "z = 2 * x"})).bound_names([frame])
        ('z',)
        """
        found = self.binding(frames, outputs)
        return (None,) * outputs if found is None else found.names

    def binding(self, frames: Sequence[Frame], outputs: int = 1) -> Binding | None:
        """As `bound_names`, with whether the name is surely that of this very tensor."""
        climb = _Climb(self.sources, frames)
        names = climb.names()
        self._forget(frames)
        if names is None:
            return None
        if climb.counted is not None:
            number = self._count(climb.counted)
            names = [None if n is None else n.replace("[#]", f"[{number}]", 1) for n in names]
        if len(names) == 1 and outputs > 1:
            names = [f"{names[0]}[{i}]" for i in range(outputs)]
        elif len(names) > 1 and outputs == 1:  # unpacking iterates: one result after the other
            number = self._count(tuple(frames))
            names = [names[number]] if number < len(names) else [None]
        elif len(names) != outputs:
            return None
        return Binding(tuple(names), climb.exact)

    def _count(self, place: tuple[object, ...]) -> int:
        number = self._counts.get(place, -1) + 1
        self._counts[place] = number
        return number

    def _forget(self, frames: Sequence[Frame]) -> None:
        """Counting starts again once something happens outside of what is counted."""
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
    """One way up from the expression of the innermost frame to a target that is assigned."""

    def __init__(self, sources: Sources, frames: Sequence[Frame]) -> None:
        self.sources = sources
        self.frames = list(frames)
        self.exact = True
        self.suffix = ""
        self.counted: tuple[object, ...] | None = None

    def names(self) -> list[str | None] | None:
        """The text of the target, or of each of its elements; None where nothing is bound."""
        while self.frames:
            file = self.sources.file(self.frames[-1].file)
            node = self.sources.node(self.frames[-1])
            found = self.within(file, node) if node is not None else None
            if found != "returned":
                return found if isinstance(found, list) else None
            inner = self.frames.pop()
            if not self.frames or not self.called(inner):
                return None
            self.exact = False
        return None

    def within(self, file: File, node: ast.AST) -> list[str | None] | str | None:
        """Names, `"returned"` where the value leaves its function, None where it is used otherwise."""
        if isinstance(node, ast.AugAssign):
            return self.target(file, node.target)
        if isinstance(node, (ast.Tuple, ast.List)) and isinstance(node.ctx, ast.Store):
            return self.target(file, node)
        while (above := file.parents.get(node)) is not None:
            match above:
                case ast.Assign(value=value) if value is node:
                    return self.target(file, above.targets[0])
                case ast.AnnAssign(value=value) | ast.NamedExpr(value=value) if value is node:
                    return self.target(file, above.target)
                case ast.For(iter=value) if value is node:
                    return self.target(file, above.target)
                case ast.Return() | ast.Lambda():
                    return None if self.suffix else "returned"
                case ast.IfExp() if node is not above.test:
                    node = above
                case ast.Tuple() | ast.List():
                    paired = _paired(file, above, node)
                    if paired is not None:
                        return self.target(file, paired)
                    self.suffix = f"[{above.elts.index(node)}]{self.suffix}"  # type: ignore[arg-type]
                    node = above
                case ast.Dict() if node in above.values:
                    key = above.keys[above.values.index(node)]  # type: ignore[arg-type]
                    if not isinstance(key, ast.Constant):
                        return None
                    self.suffix = f"[{file.written(key)}]{self.suffix}"
                    node = above
                case ast.ListComp(elt=element) if element is node and self.counted is None:
                    self.count(file, above)
                    node = above
                case ast.Call() | ast.Attribute() if (outer := self.unchanged(file, above, node)) is not None:
                    node = outer
                case _:
                    return None
        return None

    def target(self, file: File, target: ast.expr) -> list[str | None]:
        if isinstance(target, (ast.Tuple, ast.List)) and not self.suffix:
            simple = not any(isinstance(e, ast.Starred) for e in target.elts)
            return [
                None if isinstance(e, (ast.Tuple, ast.List)) or not simple else file.written(e) for e in target.elts
            ]
        if isinstance(target, ast.Name) and target.id == "_":
            return [None]
        return [file.written(target) + self.suffix]

    def count(self, file: File, comprehension: ast.ListComp) -> None:
        """The value is an element of a list that a comprehension makes: which one, only counting tells."""
        self.suffix = f"[#]{self.suffix}"
        if self.frames[-1].function.rpartition(".")[2] in _COMPREHENSIONS:  # before Python 3.12, a frame of its own
            self.frames.pop()
        if self.frames:
            frame = self.frames[-1]
            line, end_line, col, end_col = file.span(comprehension)
            self.counted = (*self.frames[:-1], Frame(frame.file, frame.function, line, end_line, col, end_col))

    def unchanged(self, file: File, above: ast.AST, node: ast.AST) -> ast.AST | None:
        """The call around `node` that gives the same tensor back: `x.requires_grad_()`, `Variable(x)`."""
        if isinstance(above, ast.Call):
            name = above.func.attr if isinstance(above.func, ast.Attribute) else getattr(above.func, "id", "")
            if name in _WRAPPERS and above.args[:1] == [node]:
                self.exact = self.exact and name == "Variable"
                return above
            return None
        call = file.parents.get(above)
        assert isinstance(above, ast.Attribute)
        if not isinstance(call, ast.Call) or call.func is not above:
            return None
        if above.attr in _SAME:
            self.exact = False
            return call
        return call if above.attr.endswith("_") and not above.attr.startswith("_") else None

    def called(self, inner: Frame) -> bool:
        """Whether what `inner` returned is the value of the expression of the frame that is now innermost."""
        outer = self.frames[-1]
        file, node = self.sources.file(outer.file), self.sources.node(outer)
        function = inner.function.rpartition(".")[2]
        if not isinstance(node, ast.Call):
            return function.startswith("__")  # an operator of the user's class
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        return name == function or first_name(node.func) not in file.modules


def _paired(file: File, values: ast.Tuple | ast.List, node: ast.AST) -> ast.expr | None:
    """The target of one element in `a, b = x * 2, x * 3`."""
    above = file.parents.get(values)
    if isinstance(above, ast.Assign) and isinstance(above.targets[0], (ast.Tuple, ast.List)):
        targets = above.targets[0].elts
        if len(targets) == len(values.elts) and not any(isinstance(e, ast.Starred) for e in (*targets, *values.elts)):
            return targets[values.elts.index(node)]  # type: ignore[arg-type]
    return None
