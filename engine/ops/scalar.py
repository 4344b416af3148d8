"""Arithmetic with a number as torch's own composites do it: nodes that keep the number, and no tensor made of it."""

from __future__ import annotations

from ..arrays.array import Array
from ..arrays.promotion import result_dtype
from .op import FLOAT, SAME, Traits, op
from .presentation import elementwise


def _common(self: Array, other: float) -> Array:
    """The array in the dtype of the result: integers and a float make the default float dtype, not numpy's."""
    return self if self.dtype.kind == "f" else self.astype(result_dtype([self, other]), copy=False)


def _add(self: Array, other: float) -> Array:
    return _common(self, other) + other


def _sub(self: Array, other: float) -> Array:
    return _common(self, other) - other


def _mul(self: Array, other: float) -> Array:
    return _common(self, other) * other


def _div(self: Array, other: float) -> Array:
    return self / other


add_number = op(
    "add.Scalar", _add, Traits(promote=SAME.promote, node="AddBackward1"), elementwise(sign="+", operands="commuting"),
    self=lambda grad: grad,
)  # fmt: skip
sub_number = op(
    "sub.Scalar", _sub, Traits(promote=SAME.promote, node="SubBackward1"), elementwise(sign="−"),
    self=lambda grad: grad,
)  # fmt: skip
mul_number = op(
    "mul.Scalar", _mul, Traits(promote=SAME.promote, node="MulBackward1"), elementwise(sign="×", operands="commuting"),
    self=lambda grad, other: grad * other,
)  # fmt: skip
div_number = op(
    "div.Scalar", _div, Traits(promote=FLOAT.promote, node="DivBackward1"), elementwise(nonfinite="division", sign="÷"),
    self=lambda grad, other: grad / other,
)  # fmt: skip
