"""Distances between rows."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, xp, zeros_at
from ..arrays.ufunc_folds import folded
from .choice import eq, where, zero
from .elementwise import absolute, pow_number, sign
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .result_shapes import ShapeArgument
from .shape import Sizes, unsqueeze


def _size(self: Array, p: float, dim: Any, keepdim: bool) -> Array:
    """The p-norm along `dim`: how many are not 0, their sum, the root of their squares' sum ..., the largest."""
    if p == 0:
        return folded(xp.add, self != 0, dim, keepdim, self.dtype)
    if p == 2:
        return xp.sqrt(folded(xp.add, self * self, dim, keepdim))
    sizes = abs(self)
    if p == 1:
        return folded(xp.add, sizes, dim, keepdim)
    if math.isinf(p):
        return folded(xp.maximum if p > 0 else xp.minimum, sizes, dim, keepdim)
    return folded(xp.add, sizes**p, dim, keepdim) ** (1 / p)


def _size_slope(grad: Any, self: Any, norm: Any, p: float) -> Any:
    """sign(x) |x|^(p-1) / norm^(p-1), 0 where the norm is 0; `grad` and `norm` broadcast to the shape of x."""
    if p == 0:
        return zero(self) * grad
    if p == 1:
        return grad * sign(self)
    if math.isinf(p):
        return where(eq(absolute(self), norm), grad * sign(self), 0)
    if p == 2:
        return grad * where(eq(norm, 0), 0, self / norm)
    steep = (
        where(eq(self, 0), 0, sign(self) * pow_number(absolute(self), p - 1))
        if p < 2
        else self * pow_number(absolute(self), p - 2)
    )
    return steep * where(eq(norm, 0), 0, grad / pow_number(norm, p - 1))


def _norm(self: Array, p: float, dim: int, keepdim: bool = False) -> Array:
    return _size(self, p, dim if self.ndim else None, keepdim)


def _raised(value: Any, dim: int, keepdim: bool, sizes: Sizes) -> Any:
    return value if keepdim or not sizes else unsqueeze(value, dim)


norm_dim = op(
    "norm.ScalarOpt_dim", _norm, Traits(node="NormBackward1"),
    Presentation(word="the norm"),
    self=lambda grad, self, result, p, dim, keepdim, self_sizes: _size_slope(
        _raised(grad, dim, keepdim, self_sizes), self, _raised(result, dim, keepdim, self_sizes), p
    ),
)  # fmt: skip


def _pairs(rows: int, like: Array) -> tuple[Array, Array]:
    """The places (i, j), i < j, of all pairs of rows, row by row."""
    places = xp.arange(rows, like=like)
    above = places[:, None] < places
    shape = above.shape
    return xp.broadcast_to(places[:, None], shape)[above], xp.broadcast_to(places, shape)[above]


def _pair_differences(self: Array) -> Array:
    first, second = _pairs(self.shape[0], self)
    return self[first] - self[second]


def _pair_sums(self: Array, sizes: Sizes) -> Array:
    out = zeros_at(self, sizes)
    first, second = _pairs(sizes[0], self)
    xp.add.at(out, first, self)
    xp.add.at(out, second, -self)
    return out


pair_differences = op(
    "pair_differences", _pair_differences, PLAIN, Presentation(word="the difference of each pair of rows"),
    self=lambda grad, self_sizes: pair_sums(grad, self_sizes),
)  # fmt: skip
"""The row i minus the row j, for all pairs i < j."""
pair_sums = op(
    "pair_sums", _pair_sums, PLAIN,
    Presentation(
        shape=ShapeArgument("sizes"), word="each pair's number, added to the first row and taken from the second",
    ),
    self=lambda grad: pair_differences(grad),
)  # fmt: skip


def _pdist(self: Array, p: float = 2) -> Array:
    return _size(_pair_differences(self), p, 1, False)


pdist = op(
    "_pdist_forward", _pdist, Traits(node="PdistBackward0"),
    self=lambda grad, self, result, p, self_sizes: pair_sums(
        _size_slope(unsqueeze(grad, 1), pair_differences(self), unsqueeze(result, 1), p), self_sizes
    ),
)  # fmt: skip
