"""Normalisations: a mean taken away, a deviation divided out.  Statistics keep their dimensions, of size 1."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, by_rows, strided, xp
from ..arrays.ufunc_folds import BLOCK, folded
from .elementwise import rsqrt
from .notation import sums
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .reduction import mean_dim, sum_dim
from .result_shapes import like_first
from .shape import Sizes, count, reshape

# -- what all of them share ---------------------------------------------------------------------------------------


def _row_dots(a: Array, b: Array) -> Array:
    """The inner product of each pair of rows: in blocks where they are long, as one running total rounds too much."""
    many, long = a.shape
    if long < 4 * BLOCK:
        return xp.einsum("ij,ij->i", a, b)
    whole = long - long % BLOCK
    parts = (strided(x, (many, whole // BLOCK, BLOCK), (x.strides[0], BLOCK * x.itemsize, x.itemsize)) for x in (a, b))
    dots = folded(xp.add, xp.einsum("ikj,ikj->ik", *parts), 1)
    return dots + xp.einsum("ij,ij->i", a[:, whole:], b[:, whole:]) if long > whole else dots


def _dots(a: Array, b: Array, dims: Sizes) -> Array:
    """The sum of a * b over `dims`, which stay with size 1, without an array for the product."""
    shape = a.shape
    keepdim_shape = tuple(1 if d in dims else n for d, n in enumerate(shape))
    first = dims[0] if dims else 0
    if a.size < 4096:  # einsum takes longer to begin than this does altogether
        return folded(xp.add, a * b, dims, True)
    if dims == tuple(range(first, len(shape))):
        flat = (count(shape[:first]), count(shape[first:]))
        return _row_dots(a.reshape(flat), b.reshape(flat)).reshape(keepdim_shape)
    if dims == (0, *range(2, len(shape))):
        flat = (shape[0] * shape[1], count(shape[2:]))
        return folded(xp.add, _row_dots(a.reshape(flat), b.reshape(flat)).reshape(shape[:2]), 0).reshape(keepdim_shape)
    return folded(xp.add, a * b, dims, True)


def _single(self: Array) -> Array:
    """The array in the precision that statistics are taken in."""
    return self.astype("float32") if self.dtype == "float16" else self


def _mean(self: Array, dims: Sizes) -> Array:
    return folded(xp.add, self, dims, True) / self.dtype.type(count(self.shape, dims))


def _standardized(self: Array, dims: Sizes, eps: float) -> tuple[Array, Array, Array]:
    """(x - mean) / deviation as a new array, the mean, and 1 / deviation."""
    wide = _single(self)
    mean = _mean(wide, dims)
    off = wide - mean
    rstd = 1 / xp.sqrt(_dots(off, off, dims) / wide.dtype.type(count(self.shape, dims)) + wide.dtype.type(eps))
    off *= rstd
    return off, mean, rstd


def _scaled(out: Array, weight: Array | None, bias: Array | None, dtype: Any) -> Array:
    """`out` times weight plus bias, written into it."""
    if weight is not None:
        out *= weight
    if bias is not None:
        out += bias
    return out.astype(dtype, copy=False)


def _normalized(self: Array, mean: Array | None, rstd: Array | None, dims: Sizes, eps: float) -> Array:
    if mean is None:
        return _standardized(self, dims, eps)[0].astype(self.dtype, copy=False)
    out = self - mean
    out *= rstd
    return out.astype(self.dtype, copy=False)


def _normalized_backward(
    self: Array, input: Array, mean: Array | None, rstd: Array | None, dims: Sizes, eps: float
) -> Array:
    """rstd * (g - mean(g) - x̂ * mean(g * x̂)): what a gradient g of the normalised x̂ is for the input."""
    grad = _single(self)
    if mean is None:
        unit, mean, rstd = _standardized(input, dims, eps)
    else:
        unit = input - mean
        unit *= rstd
    unit *= _dots(grad, unit, dims) / grad.dtype.type(count(self.shape, dims))
    out = grad - _mean(grad, dims)
    out -= unit
    out *= rstd
    return out.astype(self.dtype, copy=False)


def _normalized_backward_slope(grad: Any, self: Any, input: Any, result: Any, dims: Sizes, eps: float) -> Any:
    """The derivative by the input of <u, P(g)>, P(g) the map above: -r² x̂ (mean(ug) - mean(u) mean(g) - bd)
    - r (d P(g) + b P(u)), where b = mean(g x̂) and d = mean(u x̂)."""
    mean = mean_dim(input, dims, True)
    off = input - mean
    rstd = rsqrt(mean_dim(off * off, dims, True) + eps)
    unit = off * rstd
    b, d = mean_dim(self * unit, dims, True), mean_dim(grad * unit, dims, True)
    common = mean_dim(grad * self, dims, True) - mean_dim(grad, dims, True) * mean_dim(self, dims, True) - b * d
    other = normalized_backward(grad, input, mean, rstd, dims, eps)
    return -unit * (rstd * rstd * common) - rstd * (d * result + b * other)


normalized = op(
    "normalized", _normalized, PLAIN,
    Presentation(shape=like_first, word="(x − mean) / standard deviation", indexed=sums.normalized),
    self=lambda grad, self, mean, rstd, dims, eps: normalized_backward(grad, self, mean, rstd, dims, eps),
)  # fmt: skip
"""(x - mean) / deviation.  The statistics, where they are given, are those of x along `dims`, worked out before: the
derivative goes through them."""
normalized_backward = op(
    "normalized_backward", _normalized_backward, PLAIN,
    Presentation(
        shape=like_first, name="through_normalized",
        word="through (x − mean) / deviation: (h − mean of h − x̂ ⊙ mean of h ⊙ x̂) / deviation",
        indexed=sums.through_normalized,
    ),
    self=lambda grad, input, mean, rstd, dims, eps: normalized_backward(grad, input, mean, rstd, dims, eps),
    input=_normalized_backward_slope,
)  # fmt: skip

# -- layer norm ---------------------------------------------------------------------------------------------------


def _last(sizes: Sizes, normalized_shape: Sizes) -> Sizes:
    """The dimensions that `normalized_shape` stands for: the last ones."""
    return tuple(range(len(sizes) - len(normalized_shape), len(sizes)))


def _layer_norm(
    input: Array, weight: Array | None, bias: Array | None, normalized_shape: Sizes, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    out, mean, rstd = _standardized(input, _last(input.shape, normalized_shape), eps)
    return by_rows(_scaled(out, weight, bias, input.dtype)), mean, rstd


def _times(grad: Any, weight: Any) -> Any:
    """The gradient of what was multiplied by the weight, if there is one."""
    return grad if weight is None else grad * weight


STATISTICS = Presentation(
    letters="yμρ", roles=("", "the mean that was taken away", "1 / standard deviation, the factor used")
)
layer_norm = op(
    "native_layer_norm", _layer_norm, Traits(differentiable=(0,), fused="none"),
    STATISTICS,
    input=lambda grad, input, weight, result1, result2, input_sizes, normalized_shape, eps: normalized_backward(
        _times(grad, weight), input, result1, result2, _last(input_sizes, normalized_shape), eps
    ),
    weight=lambda grad, input, result1, result2, input_sizes, normalized_shape, eps: grad
    * normalized(input, result1, result2, _last(input_sizes, normalized_shape), eps),
    bias=lambda grad, bias: grad,
)  # fmt: skip

# -- group norm ---------------------------------------------------------------------------------------------------


def _by_channel(sizes: Sizes) -> Sizes:
    """The shape of one number per channel that broadcasts over the rest."""
    return (1, sizes[1], *(1 for _ in sizes[2:]))


def _group_norm(
    input: Array, weight: Array | None, bias: Array | None, N: int, C: int, HxW: int, group: int, eps: float = 1e-5
) -> tuple[Array, Array, Array]:
    wide = _by_channel(input.shape)
    out, mean, rstd = _standardized(
        input.reshape(N, group, -1) if input.size else input.reshape(N, group, 0), (2,), eps
    )
    scale, shift = (None if a is None else a.reshape(wide) for a in (weight, bias))
    result = _scaled(out.reshape(input.shape), scale, shift, input.dtype)
    return result, mean.reshape(N, group), rstd.reshape(N, group)


def _group_slope(
    grad: Any, input: Any, weight: Any, result1: Any, result2: Any, input_sizes: Sizes, N: int, C: int, HxW: int,
    group: int, eps: float,
) -> Any:  # fmt: skip
    by_group, statistic = (N, group, C * HxW // group), (N, group, 1)
    scaled = grad if weight is None else grad * reshape(weight, _by_channel(input_sizes))
    slope = normalized_backward(
        reshape(scaled, by_group), reshape(input, by_group), reshape(result1, statistic),
        reshape(result2, statistic), (2,), eps,
    )  # fmt: skip
    return reshape(slope, input_sizes)


def _group_weight_slope(
    grad: Any, input: Any, result1: Any, result2: Any, input_sizes: Sizes, N: int, C: int, HxW: int, group: int,
    eps: float,
) -> Any:  # fmt: skip
    by_group, statistic = (N, group, C * HxW // group), (N, group, 1)
    unit = normalized(reshape(input, by_group), reshape(result1, statistic), reshape(result2, statistic), (2,), eps)
    return sum_dim(grad * reshape(unit, input_sizes), _all_but_channel(input_sizes), False)


group_norm = op(
    "native_group_norm", _group_norm, Traits(differentiable=(0,)),
    STATISTICS,
    input=_group_slope,
    weight=_group_weight_slope,
    bias=lambda grad, input_sizes: sum_dim(grad, _all_but_channel(input_sizes), False),
)  # fmt: skip

# -- batch norm ---------------------------------------------------------------------------------------------------


def _all_but_channel(sizes: Sizes) -> Sizes:
    return (0, *range(2, len(sizes)))


def _batch_norm(
    input: Array, weight: Array | None, bias: Array | None, running_mean: Array | None, running_var: Array | None,
    training: bool, eps: float = 1e-5,
) -> tuple[Array, Array, Array]:  # fmt: skip
    wide = _by_channel(input.shape)
    scale, shift = (None if a is None else a.reshape(wide) for a in (weight, bias))
    if training:
        out, mean, rstd = _standardized(input, _all_but_channel(input.shape), eps)
        return _scaled(out, scale, shift, input.dtype), mean.reshape(-1), rstd.reshape(-1)
    steep = 1 / xp.sqrt(running_var.reshape(wide) + eps)  # type: ignore[union-attr]  # there when not training
    out = (input - running_mean.reshape(wide)) * steep  # type: ignore[union-attr]  # there when not training
    none = xp.zeros((0,), dtype=input.dtype, like=input)
    return _scaled(out, scale, shift, input.dtype), none, none


def moved_statistic(running: Array, batch: Array, momentum: float, eps: float | None, elements: int) -> Array:
    """A running mean or variance after the part `momentum` of a batch's was taken into it.  `batch` is the mean; with
    `eps`, 1 / standard deviation, of which the unbiased variance is (batch⁻² - eps) · elements / (elements - 1)."""
    own = batch.astype("float64")
    if eps is not None:
        own = (own**-2 - eps) * (elements / (elements - 1))
    return ((1 - momentum) * running.astype("float64") + momentum * own).astype(running.dtype)


def _running_mean_and_rstd(running_mean: Any, running_var: Any, sizes: Sizes, eps: float) -> tuple[Any, Any]:
    """The mean and 1 / deviation that were measured before."""
    wide = _by_channel(sizes)
    return reshape(running_mean, wide), rsqrt(reshape(running_var, wide) + eps)


def _batch_slope(
    grad: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, result1: Any, result2: Any,
    input_sizes: Sizes, training: bool, eps: float,
) -> Any:  # fmt: skip
    wide = _by_channel(input_sizes)
    scaled = grad if weight is None else grad * reshape(weight, wide)
    if not training:
        return scaled * _running_mean_and_rstd(running_mean, running_var, input_sizes, eps)[1]
    mean, rstd = reshape(result1, wide), reshape(result2, wide)
    return normalized_backward(scaled, input, mean, rstd, _all_but_channel(input_sizes), eps)


def _batch_weight_slope(
    grad: Any, input: Any, running_mean: Any, running_var: Any, result1: Any, result2: Any, input_sizes: Sizes,
    training: bool, eps: float,
) -> Any:  # fmt: skip
    wide, dims = _by_channel(input_sizes), _all_but_channel(input_sizes)
    if training:
        unit = normalized(input, reshape(result1, wide), reshape(result2, wide), dims, eps)
    else:
        mean, rstd = _running_mean_and_rstd(running_mean, running_var, input_sizes, eps)
        unit = (input - mean) * rstd
    return sum_dim(grad * unit, dims, False)


batch_norm = op(
    "native_batch_norm", _batch_norm, Traits(differentiable=(0,), fused="none"),
    STATISTICS,
    input=_batch_slope,
    weight=_batch_weight_slope,
    bias=lambda grad, input_sizes: sum_dim(grad, _all_but_channel(input_sizes), False),
)  # fmt: skip
