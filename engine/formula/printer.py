"""Expressions as text and as TeX that MathJax sets: one printer, two styles."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ..ops.result_shapes import ELEMENTWISE, Sizes
from .glossary import MISSING, NAMES, PLACES, WORDS
from .index_notation import NoIndices, Places, viewed
from .styles import ATOM, CHOICE, COMPARISON, MATRIX, POWER, PRODUCT, SCALED, SERIES, SUM, TEXT, Printed, Style
from .sums import PLACED
from .symbol import Symbol, is_call, is_number

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
    """Whether a static argument is as it would be if nobody had said it."""
    values = value if isinstance(value, tuple) else (value,)
    return name in _NEUTRAL and all(one == _NEUTRAL[name] for one in values)


class Printer:
    """Writes expressions; `labels` has what each name is called, and whether with a bar.

    `used` are the names that were written, `hatted` those under a hat, `words` the functions and signs, each with
    what it does.
    """

    def __init__(self, style: Style, labels: Mapping[str, tuple[str, bool]]) -> None:
        self.style, self.labels = style, labels
        called = {word for label, _ in labels.values() for word in _WORD.findall(label)}  # of `b[i]` the `i` too
        self.free = iter([letter for letter in LETTERS if letter not in called])
        self.ranges: dict[str, int] = {}
        self.used: dict[str, None] = {}
        self.hatted: dict[str, None] = {}
        self.words: dict[str, str] = {}

    def leaf(self, name: str) -> str:
        """A named value."""
        self.used[name] = None
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
        found = next(self.free, None)
        if found is None:
            raise NoIndices
        self.ranges[found] = size
        return found

    def summed(self, letters: Sequence[str], body: str, condition: str = "", sign: str = "") -> str:
        """Σ of a body over indices, of which the last may have a condition."""
        return f"{self.style.under(sign or self.style.series, ''.join(letters) + condition)} {body}"

    def at(self, shown: str, places: Places) -> str:
        """A name with its indices."""
        index = [p for p in places if p is not None]
        if 0 < len(index) < len(places):
            self.explain("i, j, …", PLACES)
        return self.style.below(shown, index) if index else shown

    def held(self, x: Any, places: Places | None, least: int) -> str:
        """An expression, in brackets where it would not hold together."""
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
        name = x.op.name
        if places is not None:
            if x.shape is None:
                raise NoIndices
            if name not in ELEMENTWISE:
                if name not in PLACED:
                    raise NoIndices
                return PLACED[name](self, x, places)
        writer = _WRITERS.get(name)
        inner = [self.under(x, item, places) for item in x.inputs]
        if writer is not None:
            return writer(self, x, inner)
        if name in self.style.signs:
            a, b = (self.held(item, p, SUM) for item, p in zip(x.inputs, inner, strict=True))
            return f"{a} {self.style.signs[name]} {b}", COMPARISON
        return self.function(x, inner)

    def under(self, x: Symbol, item: Any, places: Places | None) -> Places | None:
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
        given = [self.argument(item, places) for item, places in zip(x.inputs, inner, strict=True) if item is not None]
        if "self" in x.attrs:  # a number where a tensor may stand
            given.insert(0, self.static(x.attrs["self"]))
        given += [
            f"{'' if k == 'other' else f'{self.static(k)}='}{self.static(v, k in _SIDES)}"
            for k, v in x.attrs.items()
            if k not in _OF_SHAPES
            and v is not None
            and v is not False
            and v != x.op.statics.get(k)
            and not _neutral(k, v)
        ]
        return self.style.function(self.called(x.op.name)) + self.style.brackets(", ".join(given)), ATOM

    def called(self, op: str) -> str:
        """The name of an op as a function; kept with what it does."""
        name = NAMES.get(op, op.partition(".")[0].strip("_").removeprefix("special_"))
        shown = "σ" if name == "sigmoid" else name
        if says := WORDS.get(shown, MISSING):
            self.explain(shown, says)
        return name

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


# -- one writer per op that has a sign of its own ---------------------------------------------------------------------

Inner = Sequence[Places | None]
Writer = Callable[[Printer, Symbol, Inner], Printed]


def _sum(p: Printer, x: Symbol, inner: Inner) -> Printed:
    zeros = [is_call(item, "zero") or is_call(item, "zero_of") for item in x.inputs]
    if any(zeros):  # zeros of a shape, to which something is added
        return p.show(x.inputs[zeros.index(True) - 1], inner[zeros.index(True) - 1])
    return f"{p.held(x.inputs[0], inner[0], SUM)} + {p.held(x.inputs[1], inner[1], SERIES)}", SUM


def _difference(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return f"{p.held(x.inputs[0], inner[0], SUM)} {p.style.minus} {p.held(x.inputs[1], inner[1], SERIES)}", SUM


def _negated(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.style.minus + p.held(x.inputs[0], inner[0], SERIES), SUM


def _times(p: Printer, x: Symbol, inner: Inner) -> Printed:
    a, b = x.inputs
    if is_number(a) and isinstance(b, Symbol):
        return f"{p.held(a, inner[0], SCALED)}{p.style.scaled}{p.held(b, inner[1], SCALED)}", SCALED
    sign = p.style.times if inner[0] is not None or x.shape == () else p.style.each
    return f"{p.held(a, inner[0], PRODUCT)}{sign}{p.held(b, inner[1], MATRIX)}", PRODUCT


def _over(p: Printer, x: Symbol, inner: Inner) -> Printed:
    a, b = (p.show(item, places) for item, places in zip(x.inputs, inner, strict=True))
    return p.style.fraction(a, b)


def _reciprocal(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.style.fraction(("1", ATOM), p.show(x.inputs[0], inner[0]))


def _root(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.style.root(p.show(x.inputs[0], inner[0])[0]), POWER


def _inverse_root(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.style.fraction(("1", ATOM), _root(p, x, inner))


def _power(p: Printer, x: Symbol, inner: Inner) -> Printed:
    base, exponent = x.attrs.get("self", x.inputs[0]), x.attrs.get("exponent", x.inputs[-1])
    raised = p.show(exponent, inner[-1] if isinstance(exponent, Symbol) else None)[0]
    return p.style.power(p.held(base, inner[0], ATOM), raised), POWER


def _choice(p: Printer, x: Symbol, inner: Inner) -> Printed:
    test, then, other = x.inputs
    least = SUM if p.style is TEXT else CHOICE
    shown = p.held(then, inner[1], least), p.held(other, inner[2], least)
    return p.style.choice(p.show(test, inner[0])[0], *shown)


def _masked(p: Printer, x: Symbol, inner: Inner) -> Printed:
    mask = p.show(x.inputs[1], inner[1])[0]
    return p.style.choice(mask, p.argument(x.attrs.get("value"), None), p.show(x.inputs[0], inner[0])[0])


def _magnitude(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.style.magnitude(p.show(x.inputs[0], inner[0])[0]), ATOM


def _nothing(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return "0", ATOM


def _matrices(p: Printer, x: Symbol, inner: Inner) -> Printed:
    gap = " " if p.style is TEXT else r"\,"
    return f"{p.held(x.inputs[0], None, MATRIX)}{gap}{p.held(x.inputs[1], None, SCALED)}", MATRIX


def _transposed(p: Printer, x: Symbol, inner: Inner) -> Printed:
    rank = None if x.shape is None else len(x.shape)
    if x.op is not None and x.op.name == "transpose":
        dims = {x.attrs["dim0"], x.attrs["dim1"]}
        if rank is None or dims not in ({rank - 2, rank - 1}, {-2, -1}):
            return p.function(x, inner)
    if x.op is not None and x.op.name == "permute" and tuple(x.attrs["dims"]) != (1, 0):
        return p.function(x, inner)
    return p.held(x.inputs[0], None, ATOM) + p.style.transposed, POWER


def _part(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`x[:, 2]`, `x[0:3]`: a selection, written as in Python."""
    attrs = x.attrs
    key = str(attrs["index"]) if "index" in attrs else f"{attrs['start']}:{attrs['end']}"
    if attrs.get("step", 1) != 1:
        key += f":{attrs['step']}"
    return f"{p.held(x.inputs[0], None, ATOM)}[{', '.join([':'] * attrs['dim'] + [key])}]", ATOM


def _picked(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.held(x.inputs[0], None, ATOM) + p.argument(x.inputs[1], None), ATOM


def _summed(p: Printer, x: Symbol, inner: Inner) -> Printed:
    if x.shape == ():
        return f"{p.style.series} {p.held(x.inputs[0], None, PRODUCT)}", SERIES
    return p.function(x, inner)


def _inverted(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.held(x.inputs[0], None, ATOM) + p.style.inverse, POWER


def _solved(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """A⁻¹ B, or B A⁻¹; a triangle of which only a part counts stays a function."""
    if x.attrs.get("unitriangular"):
        return p.function(x, inner)
    inverse, other = f"{p.held(x.inputs[0], None, ATOM)}{p.style.inverse}", x.inputs[1]
    gap = " " if p.style is TEXT else r"\,"
    if x.attrs.get("left", True):
        return f"{inverse}{gap}{p.held(other, None, SCALED)}", MATRIX
    return f"{p.held(other, None, MATRIX)}{gap}{inverse}", MATRIX


def _resampled_back(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The transpose of a resampling, which is linear: `upsample_bilinear2dᵀ(ḡ)`."""
    name = f"{x.attrs['name'].strip('_')}ᵀ"
    p.explain(name, WORDS["resampleᵀ"])
    return p.style.function(name) + p.style.brackets(p.show(x.inputs[0], None)[0]), ATOM


def _taken(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The part that a path of views reads, each written as the view that it is."""
    try:
        return p.show(viewed(x), None)
    except NoIndices:
        return p.function(x, inner)


_WRITERS: dict[str, Writer] = {
    "add": _sum, "sub": _difference, "neg": _negated, "mul": _times, "div": _over, "reciprocal": _reciprocal,
    "sqrt": _root, "rsqrt": _inverse_root, "pow.Tensor_Scalar": _power, "pow.Tensor_Tensor": _power,
    "pow.Scalar": _power, "where": _choice, "masked_fill": _masked, "abs": _magnitude, "zero": _nothing,
    "zero_of": _nothing, "mm": _matrices, "bmm": _matrices, "mv": _matrices,
    "matmul_pairs": _matrices, "multiplied": _matrices, "t": _transposed, "transpose": _transposed,
    "resample_backward": _resampled_back, "take_slice": _taken,
    "permute": _transposed, "matrix_inverse": _inverted, "matrix_solve": _solved, "linalg_solve_triangular": _solved,
    "select": _part, "slice": _part, "index": _picked, "sum": _summed, "sum_to_size": _summed,
}  # fmt: skip
