"""Expressions as text and as TeX that MathJax sets: one printer, two styles."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .styles import ATOM, CHOICE, COMPARISON, MATRIX, POWER, PRODUCT, SCALED, SERIES, SUM, TEXT, Printed, Style
from .symbol import ELEMENTWISE, MATRICES, Sizes, Symbol, dims_order, is_number

LETTERS = "ijklmnprs"
"""Index letters, in the order in which they are taken; Unicode has subscripts of all of them."""

Places = Sequence[str | None]
"""An index per dimension: a letter or number, None where the dimension has size 1."""


class NoIndices(Exception):
    """An expression that cannot be written place by place."""


class Printer:
    """Writes expressions; `labels` has what each name is called, and whether with a bar."""

    def __init__(self, style: Style, labels: Mapping[str, tuple[str, bool]]) -> None:
        self.style, self.labels = style, labels
        self.free = iter(LETTERS)

    def leaf(self, name: str) -> str:
        """A named value."""
        return self.style.name(*self.labels.get(name, (name, False)))

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
        return [None if n == 1 else self.letter() for n in shape]

    def letter(self) -> str:
        """The next index letter."""
        found = next(self.free, None)
        if found is None:
            raise NoIndices
        return found

    def at(self, shown: str, places: Places) -> str:
        """A name with its indices."""
        index = "".join(p for p in places if p is not None)
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
                return self.by_place(x, places)
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
        words = [self.argument(item, places) for item, places in zip(x.inputs, inner, strict=True)]
        words += [
            f"{self.static(k)}={self.static(v)}"
            for k, v in x.attrs.items()
            if v is not None and v is not x.op.statics.get(k)
        ]
        name = NAMES.get(x.op.name, x.op.name.partition(".")[0].strip("_"))
        return self.style.function(name) + self.style.brackets(", ".join(words)), ATOM

    def argument(self, item: Any, places: Places | None) -> str:
        """An input of a named function."""
        if isinstance(item, (list, tuple)):
            return "[" + ", ".join(":" if part is None else self.plain(part) for part in item) + "]"
        return self.show(item, places)[0]

    def static(self, value: Any) -> str:
        """A static argument: sizes as 2×3, numbers, else a name."""
        if isinstance(value, tuple) and all(isinstance(n, int) for n in value):
            cross = "×" if self.style is TEXT else r" \times "
            return cross.join(map(str, value)) if value else "()"
        if is_number(value):
            return self.style.number(value)[0]
        if isinstance(value, str) and value.isidentifier():
            return value if self.style is TEXT else rf"\mathrm{{{value}}}".replace("_", r"\_")
        return "…" if self.style is TEXT else r"\ldots"

    # -- place by place -------------------------------------------------------------------------------------------

    def by_place(self, x: Symbol, places: Places) -> Printed:
        """An op that moves, repeats or sums places."""
        assert x.op is not None
        name, item = x.op.name, x.inputs[0]
        if name in (*MATRICES, "mv", "dot"):
            return self.product(x, places)
        if not isinstance(item, Symbol) or item.shape is None or x.shape is None:
            raise NoIndices
        if name == "expand":
            return self.show(item, self.under(x, item, places))
        if name == "unsqueeze":
            return self.show(item, [p for d, p in enumerate(places) if d != x.attrs["dim"]])
        if name in ("squeeze.dim", "view", "reshape"):
            return self.show(item, _respaced(item.shape, x.shape, places))
        if (order := dims_order(name, len(item.shape), x.attrs)) is not None:
            return self.show(item, [places[order.index(d)] for d in range(len(order))])
        if name == "select":
            dim = x.attrs["dim"]
            return self.show(item, [*places[:dim], str(x.attrs["index"]), *places[dim:]])
        if name in ("sum", "sum.dim", "mean", "mean.dim", "sum_to_size"):
            return self.series(x, item, places)
        raise NoIndices

    def series(self, x: Symbol, item: Symbol, places: Places) -> Printed:
        """A sum (or mean) over the dimensions that the result does not have."""
        assert x.op is not None and item.shape is not None and x.shape is not None
        rank = len(item.shape)
        dims = x.attrs.get("dim")
        if x.op.name == "sum_to_size":
            extra = rank - len(x.shape)
            summed = {d for d in range(rank) if d < extra or (x.shape[d - extra] == 1 != item.shape[d])}
        else:
            summed = set(range(rank)) if dims is None else set(dims if isinstance(dims, tuple) else (dims,))
        kept = iter(p for p, n in zip(places, x.shape, strict=True) if n != 1)
        inner: list[str | None] = []
        count = 1
        for d, n in enumerate(item.shape):
            if n == 1:
                inner.append(None)
            elif d in summed:
                inner.append(self.letter())
                count *= n
            else:
                inner.append(next(kept))
        over = [p for d, p in enumerate(inner) if d in summed and p is not None]
        body = self.held(item, inner, PRODUCT)
        if not over:
            return self.show(item, inner)
        shown = f"{self.style.below(self.style.series, ''.join(over))} {body}"
        if x.op.name.startswith("mean"):
            share = f"(1/{count})" if self.style is TEXT else rf"\frac{{1}}{{{count}}}"
            shown = f"{share} {shown}"
        return shown, SERIES

    def product(self, x: Symbol, places: Places) -> Printed:
        """A matrix product as the sum that it is."""
        a, b = x.inputs
        if not isinstance(a, Symbol) or not isinstance(b, Symbol) or a.shape is None or b.shape is None:
            raise NoIndices
        shared = None if a.shape[-1] == 1 else self.letter()
        assert x.op is not None
        matrices = x.op.name in MATRICES
        left = [*(places[:-1] if matrices else places), shared]
        right = [*places[:-2], shared, places[-1]] if matrices else [shared]
        shown = f"{self.held(a, left, PRODUCT)}{self.style.times}{self.held(b, right, PRODUCT)}"
        return (f"{self.style.below(self.style.series, shared)} {shown}", SERIES) if shared else (shown, PRODUCT)


def _respaced(inner: Sizes, outer: Sizes, places: Places) -> list[str | None]:
    """Indices across a reshape that only adds or drops dimensions of size 1."""
    if [n for n in inner if n != 1] != [n for n in outer if n != 1]:
        raise NoIndices
    kept = iter([p for p, n in zip(places, outer, strict=True) if n != 1])
    return [None if n == 1 else next(kept) for n in inner]


# -- one writer per op that has a sign of its own ---------------------------------------------------------------------

NAMES = {
    "select_backward": "place", "slice_backward": "place", "index_backward": "add_at", "index_cleared": "clear_at",
    "scatter_sum": "scatter", "even_share": "share", "off_diagonal": "set_diagonal", "spread_slice": "place",
    **{f"special_{name}": name for name in ("i0e", "i1", "i1e", "zeta", "erfcx", "log_ndtr", "xlog1py")},
    "linalg_vector_norm": "norm", "attention_weights": "weights", "finite": "is_finite",
    "gelu_slope": "gelu_derivative",
    "take_slice": "take", "zero_slice": "clear", "index_sum": "add_at", "sum_to_size": "sum_to",
}  # fmt: skip
"""Words for ops of ours that have no name in torch, or one that says less."""

Inner = Sequence[Places | None]
Writer = Callable[[Printer, Symbol, Inner], Printed]


def _terms(sign: str) -> Writer:
    def write(p: Printer, x: Symbol, inner: Inner) -> Printed:
        left = p.held(x.inputs[0], inner[0], SUM)
        shown = sign if p.style is TEXT else sign.replace("−", "-")
        return f"{left} {shown} {p.held(x.inputs[1], inner[1], SERIES)}", SUM

    return write


def _negated(p: Printer, x: Symbol, inner: Inner) -> Printed:
    minus = "−" if p.style is TEXT else "-"
    return minus + p.held(x.inputs[0], inner[0], SERIES), SUM


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
    bars = ("|", "|") if p.style is TEXT else (r"\left|", r"\right|")
    return bars[0] + p.show(x.inputs[0], inner[0])[0] + bars[1], ATOM


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


_WRITERS: dict[str, Writer] = {
    "add": _terms("+"), "sub": _terms("−"), "neg": _negated, "mul": _times, "div": _over, "reciprocal": _reciprocal,
    "sqrt": _root, "rsqrt": _inverse_root, "pow.Tensor_Scalar": _power, "pow.Tensor_Tensor": _power,
    "pow.Scalar": _power, "where": _choice, "masked_fill": _masked, "abs": _magnitude, "zero": _nothing,
    "zero_of": _nothing, "mm": _matrices, "bmm": _matrices, "mv": _matrices,
    "matmul_pairs": _matrices, "t": _transposed, "transpose": _transposed,
    "select": _part, "slice": _part, "index": _picked, "sum": _summed, "sum_to_size": _summed,
}  # fmt: skip
