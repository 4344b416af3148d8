"""Ops that have a sign of their own, written with it.

Each writer gets the printer, the expression and the indices of each input (None: of whole tensors).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from .index_notation import viewed
from .printed import ATOM, MATRIX, POWER, PRODUCT, SCALED, SERIES, SUM, NoIndices, Places, Printed
from .symbol import Symbol, is_call, is_number

if TYPE_CHECKING:
    from ...formula.printer import Printer

Inner = Sequence[Places | None]
Writer = Callable[["Printer", Symbol, Inner], Printed]


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
    shown = p.held(then, inner[1], p.style.in_choice), p.held(other, inner[2], p.style.in_choice)
    return p.style.choice(p.show(test, inner[0])[0], *shown)


def _masked(p: Printer, x: Symbol, inner: Inner) -> Printed:
    mask = p.show(x.inputs[1], inner[1])[0]
    return p.style.choice(mask, p.argument(x.attrs.get("value"), None), p.show(x.inputs[0], inner[0])[0])


def _magnitude(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return p.style.magnitude(p.show(x.inputs[0], inner[0])[0]), ATOM


def _nothing(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return "0", ATOM


def _matrices(p: Printer, x: Symbol, inner: Inner) -> Printed:
    return f"{p.held(x.inputs[0], None, MATRIX)}{p.style.gap}{p.held(x.inputs[1], None, SCALED)}", MATRIX


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
    if x.attrs.get("left", True):
        return f"{inverse}{p.style.gap}{p.held(other, None, SCALED)}", MATRIX
    return f"{p.held(other, None, MATRIX)}{p.style.gap}{inverse}", MATRIX


def _resampled_back(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The transpose of a resampling, which is linear: `upsample_bilinear2dᵀ(ḡ)`."""
    name = f"{x.attrs['name'].strip('_')}ᵀ"
    p.explain(
        name, "the transpose of the resampling: each number goes to the places it was made of, times their weights"
    )
    return p.style.function(name) + p.style.brackets(p.show(x.inputs[0], None)[0]), ATOM


def _taken(p: Printer, x: Symbol, inner: Inner) -> Printed:
    """The part that a path of views reads, each written as the view that it is."""
    try:
        return p.show(viewed(x), None)
    except NoIndices:
        return p.function(x, inner)


WRITERS: dict[str, Writer] = {
    "add": _sum, "sub": _difference, "neg": _negated, "mul": _times, "div": _over, "reciprocal": _reciprocal,
    "sqrt": _root, "rsqrt": _inverse_root, "pow.Tensor_Scalar": _power, "pow.Tensor_Tensor": _power,
    "pow.Scalar": _power, "where": _choice, "masked_fill": _masked, "abs": _magnitude, "zero": _nothing,
    "zero_of": _nothing, "mm": _matrices, "bmm": _matrices, "mv": _matrices,
    "matmul_pairs": _matrices, "multiplied": _matrices, "t": _transposed, "transpose": _transposed,
    "resample_backward": _resampled_back, "take_slice": _taken,
    "permute": _transposed, "matrix_inverse": _inverted, "matrix_solve": _solved, "linalg_solve_triangular": _solved,
    "select": _part, "slice": _part, "index": _picked, "sum": _summed, "sum_to_size": _summed,
}  # fmt: skip
