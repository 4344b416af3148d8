"""Reductions with two results, of differences, without nan, and counts."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, xp, zeros_at
from ..arrays.ufunc_folds import folded
from .choice import eq, gt, isnan, where
from .elementwise import reciprocal, unknown_derivative
from .notation import index_notation
from .op import PLAIN, SAME, Traits, op
from .presentation import DIAGONAL, Presentation
from .reduction import amount_share, norm_of, norm_slope, restored, spread, spread_slope, sum_dim, vector_norm, wide
from .result_shapes import ShapeArgument
from .shape import Sizes, count

# -- two results --------------------------------------------------------------------------------------------------


def _var_mean(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> tuple[Array, Array]:
    average = self.mean(axis=dim, keepdims=True)
    variance = spread(self, average, dim, correction, keepdim)
    return variance, average if keepdim else average.reshape(variance.shape)


def _std_mean(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> tuple[Array, Array]:
    variance, average = _var_mean(self, dim, correction, keepdim)
    return xp.sqrt(variance), average


def _mean_slope(grad: Any, self_sizes: Sizes, dim: Any, keepdim: bool) -> Any:
    return restored(grad, self_sizes, dim, keepdim) / count(self_sizes, dim)


var_mean = op(
    "var_mean", _var_mean, PLAIN,
    Presentation(nonfinite="deviation", letters="yμ"),
    self=lambda grads, self, self_sizes, dim, correction, keepdim: spread_slope(
        grads[0], self, self_sizes, dim, correction, keepdim
    ) + _mean_slope(grads[1], self_sizes, dim, keepdim),
)  # fmt: skip
std_mean = op(
    "std_mean", _std_mean, PLAIN,
    Presentation(nonfinite="deviation", letters="yμ"),
    self=lambda grads, self, self_sizes, results, dim, correction, keepdim: spread_slope(
        where(eq(results[0], 0), 0, grads[0] / (2 * results[0])), self, self_sizes, dim, correction, keepdim
    ) + _mean_slope(grads[1], self_sizes, dim, keepdim),
)  # fmt: skip


def _aminmax(self: Array, dim: int | None = None, keepdim: bool = False) -> tuple[Array, Array]:
    along = dim if self.ndim else None
    return folded(xp.minimum, self, along, keepdim), folded(xp.maximum, self, along, keepdim)


aminmax = op(
    "aminmax", _aminmax,
    self=lambda grads, self, self_sizes, results, dim, keepdim: amount_share(
        grads[0], self, results[0], self_sizes, dim, keepdim
    ) + amount_share(grads[1], self, results[1], self_sizes, dim, keepdim),
)  # fmt: skip

# -- what is no nan -----------------------------------------------------------------------------------------------


def _nansum(self: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    numbers = self if self.dtype.kind != "f" else xp.where(xp.isnan(self), self.dtype.type(0), self)
    return folded(xp.add, numbers, dim, keepdim, wide(self, dtype))


nansum = op(
    "nansum", _nansum,
    self=lambda grad, self, self_sizes, dim, keepdim: where(
        isnan(self), 0, restored(grad, self_sizes, dim, keepdim)
    ),
)  # fmt: skip

# -- norms of differences and rows --------------------------------------------------------------------------------


def _dist(self: Array, other: Array, p: float = 2) -> Array:
    return norm_of(self - other, p)


def _dist_slope(grad: Any, self: Any, other: Any, result: Any, self_sizes: Sizes, other_sizes: Sizes, p: float) -> Any:
    sizes = xp.broadcast_shapes(self_sizes, other_sizes)
    return norm_slope(grad, self - other, result, sizes, p, None, True)


dist = op(
    "dist", _dist, SAME,
    self=_dist_slope,
    other=lambda grad, self, other, result, self_sizes, other_sizes, p: -_dist_slope(
        grad, self, other, result, self_sizes, other_sizes, p
    ),
)  # fmt: skip

TINY = 1e-7
"""Torch adds this to a norm before it divides by it."""


def _others(rank: int, dim: int) -> tuple[int, ...]:
    return tuple(d for d in range(rank) if d != dim)


def _renorm(self: Array, p: float, dim: int, maxnorm: float) -> Array:
    norm = norm_of(self, p, _others(self.ndim, dim), True)
    return self * xp.where(norm > maxnorm, maxnorm / (norm + TINY), 1).astype(self.dtype, copy=False)


def _renorm_slope(grad: Any, self: Any, self_sizes: Sizes, p: float, dim: int, maxnorm: float) -> Any:
    """The product rule: rows that are scaled by maxnorm / norm change that factor too."""
    dims = _others(len(self_sizes), dim)
    norm = vector_norm(self, p, dims, True)
    long, part = gt(norm, maxnorm), reciprocal(norm + TINY)
    factor = where(long, part * maxnorm, 1)
    by_norm = where(long, part * part * -maxnorm, 0) * sum_dim(grad * self, dims, True)
    return grad * factor + norm_slope(by_norm, self, norm, self_sizes, p, dims, True)


renorm = op("renorm", _renorm, self=_renorm_slope)

# -- the diagonal -------------------------------------------------------------------------------------------------


def _trace(self: Array) -> Array:
    return self.trace(dtype=wide(self, None))


def _on_diagonal(self: Array, sizes: Sizes) -> Array:
    out = zeros_at(self, sizes)
    places = xp.arange(min(sizes), like=self)
    out[places, places] = self
    return out


trace = op(
    "trace", _trace, PLAIN, Presentation(word="the sum of the diagonal"),
    self=lambda grad, self_sizes: on_diagonal(grad, self_sizes),
)  # fmt: skip
on_diagonal = op(
    "on_diagonal", _on_diagonal, PLAIN,
    Presentation(shape=ShapeArgument("sizes"), name="diag", word=DIAGONAL, indexed=index_notation.diagonal_placed),
    self=lambda grad: trace(grad),
)  # fmt: skip
"""A number along the diagonal of zeros."""

# -- counts -------------------------------------------------------------------------------------------------------


def _count_nonzero(self: Array, dim: Any = None) -> Array:
    return folded(xp.add, self != 0, dim, False, "int64")


def _bincount(self: Array, minlength: int = 0) -> Array:
    return xp.bincount(self, None, minlength) if self.size else xp.zeros(minlength, dtype="int64", like=self)


def _bincount_weighted(self: Array, weights: Array, minlength: int = 0) -> Array:
    counts = xp.bincount(self, weights, minlength) if self.size else xp.zeros(minlength, like=self)
    return counts.astype(weights.dtype, copy=False) if weights.dtype.kind == "f" else counts


def _histc(self: Array, bins: int, min: float = 0, max: float = 0) -> Array:
    flat = self.reshape(-1)
    if min == max and flat.size:
        min, max = float(flat.min()), float(flat.max())
    if min == max:
        min, max = min - 1, max + 1
    flat = flat[(flat >= min) & (flat <= max)]
    place = xp.minimum(((flat - min) * (bins / (max - min))).astype("int64"), bins - 1)
    return xp.bincount(place, minlength=bins).astype(self.dtype)


count_nonzero = op("count_nonzero", _count_nonzero)
bincount = op("bincount", _bincount)
bincount_weighted = op(
    "bincount.weights",
    _bincount_weighted,
    Traits(node="NotImplemented"),
    weights=lambda grad: unknown_derivative("bincount"),
)
histc = op("histc", _histc)
