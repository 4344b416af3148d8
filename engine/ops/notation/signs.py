"""Ops that have a sign of their own, written with it.

Each writer gets the printer, the expression and the indices of each input (None: of whole tensors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .expression_text import ATOM, COMPARISON, MATRIX, POWER, PRODUCT, SCALED, SERIES, SUM, NoIndices, Places, Printed
from .index_notation import viewed
from .symbol import Symbol, is_call, is_number

if TYPE_CHECKING:
    from ...formula.printer import Printer

Inner = Sequence[Places | None]
Writer = Callable[["Printer", Symbol, Inner], Printed]


def plus(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`a + b`; of zeros of a shape and something else, that."""
    zeros = [is_call(item, "zero") or is_call(item, "zero_of") for item in x.inputs]
    if any(zeros):  # zeros of a shape, to which something is added
        return p.show(x.inputs[zeros.index(True) - 1], inner[zeros.index(True) - 1])
    return f"{p.part(x.inputs[0], inner[0], SUM)} + {p.part(x.inputs[1], inner[1], SERIES)}", SUM


def minus(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`a − b`."""
    return f"{p.part(x.inputs[0], inner[0], SUM)} {p.style.minus} {p.part(x.inputs[1], inner[1], SERIES)}", SUM


def negative(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`−a`."""
    return p.style.minus + p.part(x.inputs[0], inner[0], SERIES), SUM


def times(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`a · b` of numbers and places, `a ⊙ b` of tensors, `2·a` with a number before it."""
    a, b = x.inputs
    if is_number(a) and isinstance(b, Symbol):
        return f"{p.part(a, inner[0], SCALED)}{p.style.scaled}{p.part(b, inner[1], SCALED)}", SCALED
    sign = p.style.times if inner[0] is not None or x.shape == () else p.style.each
    return f"{p.part(a, inner[0], PRODUCT)}{sign}{p.part(b, inner[1], MATRIX)}", PRODUCT


def quotient(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`a / b`."""
    a, b = (p.show(item, places) for item, places in zip(x.inputs, inner, strict=True))
    return p.style.fraction(a, b)


def reciprocal(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`1 / a`."""
    return p.style.fraction(("1", ATOM), p.show(x.inputs[0], inner[0]))


def root(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`√a`."""
    return p.style.root(p.show(x.inputs[0], inner[0])[0]), POWER


def inverse_root(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`1 / √a`."""
    return p.style.fraction(("1", ATOM), root(p, x, inner))


def power(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`aᵇ`; either may be a static argument."""
    base, exponent = x.attrs.get("self", x.inputs[0]), x.attrs.get("exponent", x.inputs[-1])
    raised = p.show(exponent, inner[-1] if isinstance(exponent, Symbol) else None)[0]
    return p.style.power(p.part(base, inner[0], ATOM), raised), POWER


def choice(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`a where test, else b`."""
    test, then, other = x.inputs
    branches = p.part(then, inner[1], p.style.in_choice), p.part(other, inner[2], p.style.in_choice)
    return p.style.choice(p.show(test, inner[0])[0], *branches)


def masked(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The value where the mask is, else what was there."""
    mask = p.show(x.inputs[1], inner[1])[0]
    return p.style.choice(mask, p.argument(x.attrs.get("value"), None), p.show(x.inputs[0], inner[0])[0])


def magnitude(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`|a|`."""
    return p.style.magnitude(p.show(x.inputs[0], inner[0])[0]), ATOM


def nothing(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`0`, whatever the shape."""
    return "0", ATOM


def matrices(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`A B`, the product of matrices."""
    return f"{p.part(x.inputs[0], None, MATRIX)}{p.style.gap}{p.part(x.inputs[1], None, SCALED)}", MATRIX


def transposed(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`Aᵀ`."""
    return p.part(x.inputs[0], None, ATOM) + p.style.transposed, POWER


def last_two_swapped(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`Aᵀ` where it is the last two dimensions that change places."""
    rank = None if x.shape is None else len(x.shape)
    if rank is None or {x.attrs["dim0"], x.attrs["dim1"]} not in ({rank - 2, rank - 1}, {-2, -1}):
        return p.function(x, inner)
    return transposed(p, x, inner)


def permuted(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`Aᵀ` where it is a matrix whose dimensions change places."""
    return transposed(p, x, inner) if tuple(x.attrs["dims"]) == (1, 0) else p.function(x, inner)


def relation(sign: str) -> Writer:
    """`a < b`, and the like."""

    def write(p: Printer, x: Symbol, inner: Inner) -> Printed:
        a, b = (p.part(item, places, SUM) for item, places in zip(x.inputs, inner, strict=True))
        return f"{a} {p.style.signs[sign]} {b}", COMPARISON

    return write


def part(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`x[:, 2]`, `x[0:3]`: a selection, written as in Python."""
    attrs = x.attrs
    key = str(attrs["index"]) if "index" in attrs else f"{attrs['start']}:{attrs['end']}"
    if attrs.get("step", 1) != 1:
        key += f":{attrs['step']}"
    return f"{p.part(x.inputs[0], None, ATOM)}[{', '.join([':'] * attrs['dim'] + [key])}]", ATOM


def picked(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`a[k]`."""
    return p.part(x.inputs[0], None, ATOM) + p.argument(x.inputs[1], None), ATOM


def total(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`Σ a`, of all elements."""
    if x.shape == ():
        return f"{p.style.series} {p.part(x.inputs[0], None, PRODUCT)}", SERIES
    return p.function(x, inner)


def inverse(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """`A⁻¹`."""
    return p.part(x.inputs[0], None, ATOM) + p.style.inverse, POWER


def solution(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """A⁻¹ B, or B A⁻¹; a triangle of which only a part counts stays a function."""
    if x.attrs.get("unitriangular"):
        return p.function(x, inner)
    inverse, other = f"{p.part(x.inputs[0], None, ATOM)}{p.style.inverse}", x.inputs[1]
    if x.attrs.get("left", True):
        return f"{inverse}{p.style.gap}{p.part(other, None, SCALED)}", MATRIX
    return f"{p.part(other, None, MATRIX)}{p.style.gap}{inverse}", MATRIX


def resampled_back(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The transpose of a resampling, which is linear: `upsample_bilinear2dᵀ(ḡ)`."""
    assert x.op is not None
    name = f"{x.attrs['name'].strip('_')}ᵀ"
    p.explain(name, x.op.presentation.word or "")
    return p.style.function(name) + p.style.brackets(p.show(x.inputs[0], None)[0]), ATOM


def viewed_part(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The part that a path of views reads, each written as the view that it is."""
    try:
        return p.show(viewed(x), None)
    except NoIndices:
        return p.function(x, inner)
