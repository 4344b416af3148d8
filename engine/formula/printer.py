"""Expressions as text and as TeX that MathJax sets: one printer, two styles."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from ..ops.notation.expression_text import ATOM, ONE_PLACE, NoIndices, Places, Printed
from ..ops.notation.symbol import Symbol, is_number
from ..ops.op import Op
from ..ops.result_shapes import Sizes
from .styles import TEXT, Style

LETTERS = "ijklmnprs"
"""Index letters, in the order in which they are taken; Unicode has subscripts of all of them."""
_WORD = re.compile(r"\w+")
_OF_SHAPES = frozenset({
    "sizes", "size", "memory_format", "source", "output_size", "rows", "source_stride", "apart", "rank",
    "count_include_pad", "keepdim", "arguments", "name", "self",
})  # fmt: skip
"""Static arguments that the shapes beside them say already, or that say nothing of what is computed."""
_NEUTRAL = {"stride": 1, "padding": 0, "dilation": 1, "groups": 1, "output_padding": 0, "storage_offset": 0,
            "source_offset": 0}  # fmt: skip
_SIDES = frozenset({"kernel_size", "stride", "padding", "dilation"})
"""Static arguments with one number per side of a window, written 2×3."""


def _neutral(name: str, value: Any) -> bool:
    """Return whether a static argument has the value that changes nothing, which a formula leaves out."""
    values = value if isinstance(value, tuple) else (value,)
    return name in _NEUTRAL and all(one == _NEUTRAL[name] for one in values)


class Printer:
    """Writes expressions; `labels` has what each name is called, and whether with a bar.

    `names` are those that were written, `hatted` those under a hat, `words` the functions and signs, each with
    what it does.
    """

    def __init__(self, style: Style, labels: Mapping[str, tuple[str, bool]]) -> None:
        self.style, self.labels = style, labels
        called = {word for label, _ in labels.values() for word in _WORD.findall(label)}  # of `b[i]` the `i` too
        self.free = iter([letter for letter in LETTERS if letter not in called])
        self.ranges: dict[str, int] = {}
        self.names: dict[str, None] = {}
        self.hatted: dict[str, None] = {}
        self.words: dict[str, str] = {}

    def leaf(self, name: str) -> str:
        """A named value."""
        self.names[name] = None
        return self.style.name(*self.labels.get(name, (name, False)))

    def normalised(self, name: str) -> str:
        """A named value, normalised: under a hat."""
        self.hatted[name] = None
        label = self.labels.get(name, (name, False))[0]
        self.explain(TEXT.hat(label), f"({label} − mean) / standard deviation: {label} normalised")
        return self.style.hat(self.style.name(label, False))

    def explain(self, sign: str, says: str) -> None:
        """Keeps what a function or sign of the formula does."""
        self.words[sign] = says

    def bar(self, name: str) -> str:
        """The gradient of a named value."""
        return self.style.name(self.labels.get(name, (name, False))[0], True)

    def plain(self, x: Any) -> str:
        """An expression of whole tensors."""
        return self.show(x, None)[0]

    def indexed(self, target: str, shape: Sizes, x: Symbol) -> str:
        """`x̄ᵢⱼ = …`, place by place.  Raises NoIndices where an op does not work place by place."""
        places = self.fresh(shape)
        return f"{self.at(self.bar(target), places)} = {self.show(x, places)[0]}"

    def fresh(self, shape: Sizes) -> list[str | None]:
        """A new letter per dimension."""
        return [None if n == 1 else self.letter(n) for n in shape]

    def letter(self, size: int) -> str:
        """The next index letter, for a dimension of that size."""
        free = next(self.free, None)
        if free is None:
            raise NoIndices
        self.ranges[free] = size
        return free

    def summed(self, letters: Sequence[str], body: str, condition: str = "", sign: str = "") -> str:
        """Σ of a body over indices, of which the last may have a condition."""
        return f"{self.style.under(sign or self.style.series, ''.join(letters) + condition)} {body}"

    def at(self, name: str, places: Places) -> str:
        """A name with its indices."""
        index = [p for p in places if p is not None]
        if 0 < len(index) < len(places):
            self.explain("i, j, …", ONE_PLACE)
        return self.style.below(name, index) if index else name

    def part(self, x: Any, places: Places | None, least: int) -> str:
        """A part of an expression: in brackets if its operator binds less than `least`."""
        text, strength = self.show(x, places)
        return text if strength >= least else self.style.brackets(text)

    def show(self, x: Any, places: Places | None) -> Printed:
        """An expression and how tightly it holds together."""
        if is_number(x):
            return self.style.number(x)
        if not isinstance(x, Symbol):
            return str(x) if self.style is TEXT or not str(x).isidentifier() else rf"\mathrm{{{x}}}", ATOM
        if x.op is None:
            return (self.leaf(x.name) if places is None else self.at(self.leaf(x.name), places)), ATOM
        presentation = x.op.presentation
        if places is not None:
            if x.shape is None:
                raise NoIndices
            if not presentation.elementwise:
                if presentation.indexed is None:
                    raise NoIndices
                return presentation.indexed(self, x, places)
        inner = [self.under(item, places) for item in x.inputs]
        return self.function(x, inner) if presentation.notation is None else presentation.notation(self, x, inner)

    def under(self, item: Any, places: Places | None) -> Places | None:
        """The indices of an input of an op that broadcasts its inputs."""
        if places is None or not isinstance(item, Symbol):
            return places
        if item.shape is None:
            raise NoIndices
        own = places[len(places) - len(item.shape) :]
        return [None if n == 1 else p for n, p in zip(item.shape, own, strict=True)]

    def function(self, x: Symbol, inner: Sequence[Places | None]) -> Printed:
        """An op by its name, with its static arguments."""
        assert x.op is not None
        arguments = [
            self.argument(item, places) for item, places in zip(x.inputs, inner, strict=True) if item is not None
        ]
        if "self" in x.attrs:  # a number where a tensor may stand
            arguments.insert(0, self.static(x.attrs["self"]))
        arguments += [
            f"{'' if k == 'other' else f'{self.static(k)}='}{self.static(v, k in _SIDES)}"
            for k, v in x.attrs.items()
            if k not in _OF_SHAPES
            and v is not None
            and v is not False
            and v != x.op.statics.get(k)
            and not _neutral(k, v)
        ]
        return self.style.function(self.called(x.op)) + self.style.brackets(", ".join(arguments)), ATOM

    def called(self, op: Op) -> str:
        """The name of an op as a function; kept with what it does."""
        if says := op.presentation.word:
            self.explain(op.function, says)
        return op.function

    def argument(self, item: Any, places: Places | None) -> str:
        """An input of a named function."""
        if isinstance(item, (list, tuple)):
            return "[" + ", ".join(":" if part is None else self.plain(part) for part in item) + "]"
        return self.show(item, places)[0]

    def static(self, value: Any, sides: bool = False) -> str:
        """A static argument: sides as 2×3, other numbers with commas, else a name."""
        if isinstance(value, tuple) and all(isinstance(n, int) for n in value):
            cross = "×" if self.style is TEXT else r" \times "
            numbers = [self.style.number(n)[0] for n in value]
            return (cross if sides else ", ").join(numbers) if len(value) == 1 or sides else f"({', '.join(numbers)})"
        if is_number(value):
            return self.style.number(value)[0]
        if isinstance(value, str) and value.isidentifier():
            return value if self.style is TEXT else rf"\mathrm{{{value}}}".replace("_", r"\_")
        return "…" if self.style is TEXT else r"\ldots"
