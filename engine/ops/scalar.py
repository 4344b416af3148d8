"""Arithmetic with a number as torch's own composites do it: nodes that keep the number, and no tensor made of it."""

from __future__ import annotations

from ..array import Array
from ..op import FLOAT, SAME, Traits, op


def _add(self: Array, other: float) -> Array:
    return self + other


def _sub(self: Array, other: float) -> Array:
    return self - other


def _mul(self: Array, other: float) -> Array:
    return self * other


def _div(self: Array, other: float) -> Array:
    return self / other


add_number = op("add.Scalar", _add, Traits(promote=SAME.promote, node="AddBackward1"), self=lambda grad: grad)
sub_number = op("sub.Scalar", _sub, Traits(promote=SAME.promote, node="SubBackward1"), self=lambda grad: grad)
mul_number = op(
    "mul.Scalar", _mul, Traits(promote=SAME.promote, node="MulBackward1"), self=lambda grad, other: grad * other
)
div_number = op(
    "div.Scalar", _div, Traits(promote=FLOAT.promote, node="DivBackward1"), self=lambda grad, other: grad / other
)
