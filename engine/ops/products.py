"""Products beyond those of two matrices: with something added, batched and summed, crossed, as distances."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, xp
from ..arrays.ufunc_folds import folded
from .choice import eq, where, zero
from .elementwise import absolute, pow_number, sign
from .linalg import bmm, mv
from .notation import signs
from .op import PLAIN, READS_FIRST, SAME, Traits, op
from .presentation import Presentation
from .reduction import sum_dim
from .result_shapes import broadcast
from .shape import Sizes, expand, scaled, t, transpose, unsqueeze


def _combined(self: Array, product: Array, beta: float, alpha: float) -> Array:
    """beta * self + alpha * product; what is in `self` does not matter where beta is 0."""
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    if not beta:
        return product
    return product + (self if beta == 1 else self * self.dtype.type(beta))


def _addmv(self: Array, mat: Array, vec: Array, beta: float = 1, alpha: float = 1) -> Array:
    return _combined(self, xp.matmul(mat, vec), beta, alpha)


def _addr(self: Array, vec1: Array, vec2: Array, beta: float = 1, alpha: float = 1) -> Array:
    product = vec1[:, None] * vec2
    if alpha != 1:
        product = product * product.dtype.type(alpha)
    return product if not beta else product + (self if beta == 1 else self * beta)


def _addbmm(self: Array, batch1: Array, batch2: Array, beta: float = 1, alpha: float = 1) -> Array:
    rows, columns = batch1.shape[1], batch2.shape[2]
    left, right = batch1.transpose(1, 0, 2).reshape(rows, -1), batch2.reshape(-1, columns)
    return _combined(self, xp.matmul(left, right), beta, alpha)


def _baddbmm(self: Array, batch1: Array, batch2: Array, beta: float = 1, alpha: float = 1) -> Array:
    return _combined(self, xp.matmul(batch1, batch2), beta, alpha)


def _outer(a: Any, b: Any) -> Any:
    return unsqueeze(a, 1) * unsqueeze(b, 0)


addmv = op(
    "addmv", _addmv, READS_FIRST,
    self=lambda grad, beta: scaled(grad, beta),
    mat=lambda grad, vec, alpha: scaled(_outer(grad, vec), alpha),
    vec=lambda grad, mat, alpha: scaled(mv(t(mat), grad), alpha),
)  # fmt: skip
addr = op(
    "addr", _addr, Traits(promote=SAME.promote, reads_first=True),
    self=lambda grad, beta: scaled(grad, beta),
    vec1=lambda grad, vec2, alpha: scaled(mv(grad, vec2), alpha),
    vec2=lambda grad, vec1, alpha: scaled(mv(t(grad), vec1), alpha),
)  # fmt: skip
addbmm = op(
    "addbmm", _addbmm, READS_FIRST,
    self=lambda grad, beta: scaled(grad, beta),
    batch1=lambda grad, batch2, batch1_sizes, batch2_sizes, alpha: scaled(
        bmm(_for_each(grad, batch1_sizes, batch2_sizes), transpose(batch2, 1, 2)), alpha
    ),
    batch2=lambda grad, batch1, batch1_sizes, batch2_sizes, alpha: scaled(
        bmm(transpose(batch1, 1, 2), _for_each(grad, batch1_sizes, batch2_sizes)), alpha
    ),
)  # fmt: skip
baddbmm = op(
    "baddbmm", _baddbmm, READS_FIRST,
    self=lambda grad, beta: scaled(grad, beta),
    batch1=lambda grad, batch2, alpha: scaled(bmm(grad, transpose(batch2, 1, 2)), alpha),
    batch2=lambda grad, batch1, alpha: scaled(bmm(transpose(batch1, 1, 2), grad), alpha),
)  # fmt: skip


def _for_each(grad: Any, batch1: Sizes, batch2: Sizes) -> Any:
    """The gradient of a sum over a batch, for every member of the batch."""
    return expand(unsqueeze(grad, 0), (batch1[0], batch1[1], batch2[2]))


def _vdot(self: Array, other: Array) -> Array:
    return xp.matmul(self, other)


vdot = op("vdot", _vdot, self=lambda grad, other: grad * other, other=lambda grad, self: grad * self)


def _cross(self: Array, other: Array, dim: int = -1) -> Array:
    """By places along `dim`: quicker than numpy's, and laid out like other results."""
    before = (slice(None),) * (dim if dim >= 0 else self.ndim + dim)
    a, b = ([x[(*before, place)] for place in range(3)] for x in (self, other))
    rows = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return xp.stack(rows, axis=dim)


linalg_cross = op(
    "linalg_cross", _cross, PLAIN,
    Presentation(shape=broadcast, name="cross", word="the cross product a × b"),
    self=lambda grad, other, dim: linalg_cross(other, grad, dim),
    other=lambda grad, self, dim: linalg_cross(grad, self, dim),
)  # fmt: skip

# -- distances ----------------------------------------------------------------------------------------------------


def _differences(x1: Array, x2: Array) -> Array:
    return x1[..., :, None, :] - x2[..., None, :, :]


def _near(x1: Array, x2: Array) -> Array:
    """|a - b| from |a|² + |b|² - 2ab: one product of matrices; rounding may leave a negative square."""
    squares = folded(xp.add, x1 * x1, -1, True) - 2 * xp.matmul(x1, x2.swapaxes(-1, -2))
    squares = squares + folded(xp.add, x2 * x2, -1, True).swapaxes(-1, -2)
    return xp.sqrt(xp.maximum(squares, 0))


def _cdist(x1: Array, x2: Array, p: float = 2) -> Array:
    far = xp.abs(_differences(x1, x2))
    if p == 2:
        return xp.sqrt(folded(xp.add, far * far, -1))
    if p == 1:
        return folded(xp.add, far, -1)
    if p == 0:
        return folded(xp.add, far != 0, -1, False, far.dtype)
    if math.isinf(p):
        return folded(xp.maximum, far, -1) if far.shape[-1] else xp.zeros(far.shape[:-1], far.dtype, like=far)
    return folded(xp.add, far**p, -1) ** (1 / p)


def _flipped(value: Any, rank: int) -> Any:
    return transpose(value, rank - 2, rank - 1)


def _multiplied(self: Array, other: Array) -> Array:
    return xp.matmul(self, other)


multiplied = op(
    "multiplied", _multiplied, PLAIN,
    Presentation(shape=lambda attrs, a, b: (*broadcast(attrs, a[:-2], b[:-2]), a[-2], b[-1]), notation=signs.matrices),
    self=lambda grad, other, other_sizes: multiplied(grad, _flipped(other, len(other_sizes))),
    other=lambda grad, self, self_sizes: multiplied(_flipped(self, len(self_sizes)), grad),
)  # fmt: skip
"""The product of batches of matrices of any rank, in rules."""


def _distance_slope(grad: Any, x: Any, y: Any, result: Any, p: float, ranks: tuple[int, int]) -> Any:
    """How the distances of each row of `x` to all rows of `y` change with it: a sum over the rows of `y`."""
    rank = max(ranks)
    if p == 0:
        return zero(x)
    if p == 2:
        weight = where(eq(result, 0), 0, grad / result)
        return x * sum_dim(weight, rank - 1, True) - multiplied(weight, y)
    off = unsqueeze(x, ranks[0] - 1) - unsqueeze(y, ranks[1] - 2)
    grad, result = unsqueeze(grad, rank), unsqueeze(result, rank)
    if p == 1:
        slope = grad * sign(off)
    elif math.isinf(p):
        slope = where(eq(absolute(off), result), grad * sign(off), 0)
    else:
        nowhere = eq(off, 0) if p < 2 else eq(result, 0)
        steep = sign(off) * pow_number(absolute(off), p - 1) * (grad / pow_number(result, p - 1))
        slope = where(nowhere, 0, steep)
    return sum_dim(slope, rank - 1, False)


def _slope_of_first(grad: Any, x1: Any, x2: Any, result: Any, x1_sizes: Sizes, x2_sizes: Sizes, p: float) -> Any:
    return _distance_slope(grad, x1, x2, result, p, (len(x1_sizes), len(x2_sizes)))


def _slope_of_second(grad: Any, x1: Any, x2: Any, result: Any, x1_sizes: Sizes, x2_sizes: Sizes, p: float) -> Any:
    ranks = len(x2_sizes), len(x1_sizes)
    return _distance_slope(_flipped(grad, max(ranks)), x2, x1, _flipped(result, max(ranks)), p, ranks)


cdist = op("cdist", _cdist, x1=_slope_of_first, x2=_slope_of_second)
euclidean_distance = op(
    "_euclidean_dist", _near, Traits(node="EuclideanDistBackward0"),
    x1=lambda grad, x1, x2, result, x1_sizes, x2_sizes: _slope_of_first(
        grad, x1, x2, result, x1_sizes, x2_sizes, 2
    ),
    x2=lambda grad, x1, x2, result, x1_sizes, x2_sizes: _slope_of_second(
        grad, x1, x2, result, x1_sizes, x2_sizes, 2
    ),
)  # fmt: skip
