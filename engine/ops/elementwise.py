"""Elementwise arithmetic and functions."""

from __future__ import annotations

from ..array import xp
from ..op import FLOAT, SAME, op

add = op("add", xp.add, SAME, self=lambda grad: grad, other=lambda grad: grad)
sub = op("sub", xp.subtract, SAME, self=lambda grad: grad, other=lambda grad: -grad)
mul = op("mul", xp.multiply, SAME, self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)
div = op(
    "div", xp.true_divide, FLOAT,
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * (self / other / other),
)  # fmt: skip
neg = op("neg", xp.negative, self=lambda grad: -grad)
exp = op("exp", xp.exp, FLOAT, self=lambda grad, result: grad * result)
log = op("log", xp.log, FLOAT, self=lambda grad, self: grad / self)
