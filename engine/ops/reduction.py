"""Reductions.  `dim` is one dimension or a tuple of several, counted from the front; None stands for all."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, as_array, by_rows, xp, zeros_at
from ..arrays.ufunc_folds import folded
from .choice import eq, where, zero
from .elementwise import absolute, exp, pow_number, sign
from .notation import index_notation, signs, sums
from .op import FLOAT, PLAIN, Traits, op
from .presentation import ADDED_AT, PICKED, Presentation
from .result_shapes import ShapeArgument, like_first, number, reduced
from .shape import Sizes, along, count, expand, flip, sum_to_size, unsqueeze, view

__all__ = ["sum_to_size"]  # the loop looks for it here


def raised(value: Any, sizes: Sizes, dim: Any, keepdim: bool) -> Any:
    """A reduction's result or gradient with the reduced dimensions back in place, of size 1."""
    if keepdim or not sizes:
        return value
    for d in range(len(sizes)) if dim is None else sorted(dim if isinstance(dim, tuple) else (dim,)):
        value = unsqueeze(value, d)
    return value


def restored(grad: Any, sizes: Sizes, dim: Any, keepdim: bool) -> Any:
    """A gradient of a reduction, expanded to the shape that was reduced."""
    return expand(raised(grad, sizes, dim, keepdim), sizes)


def wide(self: Array, dtype: Any) -> Any:
    """The dtype in which integers are summed."""
    return dtype if dtype is not None or self.dtype.kind == "f" else "int64"


# -- sums ---------------------------------------------------------------------------------------------------------


def _sum(self: Array, dtype: Any = None) -> Array:
    return folded(xp.add, self, dtype=wide(self, dtype))


def _sum_dim(self: Array, dim: Any, keepdim: bool = False, dtype: Any = None) -> Array:
    return folded(xp.add, self, dim, keepdim, wide(self, dtype))


def _mean(self: Array, dtype: Any = None) -> Array:
    return _mean_dim(self, None, False, dtype)


def _mean_dim(self: Array, dim: Any, keepdim: bool = False, dtype: Any = None) -> Array:
    which = dtype or self.dtype
    total = folded(xp.add, self, dim, keepdim, "float32" if which == "float16" else which)
    return (total / total.dtype.type(count(self.shape, dim))).astype(which, copy=False)


SUM = "the sum along the dimension"
sum_all = op(
    "sum", _sum, Traits(node="SumBackward0"),
    Presentation(shape=number, word=SUM, notation=signs.total, indexed=sums.series),
    self=lambda grad, self_sizes: expand(grad, self_sizes),
)  # fmt: skip
sum_dim = op(
    "sum.dim", _sum_dim, Traits(node="SumBackward1"),
    Presentation(shape=reduced, word=SUM, indexed=sums.series),
    self=lambda grad, self_sizes, dim, keepdim: restored(grad, self_sizes, dim, keepdim),
)  # fmt: skip
MEAN = "the mean"
mean_all = op(
    "mean", _mean, Traits(node="MeanBackward0"),
    Presentation(shape=number, word=MEAN, indexed=sums.mean),
    self=lambda grad, self_sizes: expand(grad, self_sizes) / count(self_sizes),
)  # fmt: skip
mean_dim = op(
    "mean.dim", _mean_dim, Traits(node="MeanBackward1"),
    Presentation(shape=reduced, word=MEAN, indexed=sums.mean),
    self=lambda grad, self_sizes, dim, keepdim: restored(grad, self_sizes, dim, keepdim) / count(self_sizes, dim),
)  # fmt: skip


def _cumsum(self: Array, dim: int, dtype: Any = None) -> Array:
    return self.cumsum(axis=dim, dtype=wide(self, dtype)) if self.ndim else self.astype(wide(self, dtype) or self.dtype)


cumsum = op(
    "cumsum", _cumsum, PLAIN,
    Presentation(
        shape=like_first, word="the running sum along the dimension", indexed=sums.running_sum,
    ),
    self=lambda grad, dim: _summed_from_behind(grad, dim),
)  # fmt: skip


def _summed_from_behind(grad: Any, dim: int) -> Any:
    """The sum of what stands at a place and after it."""
    return flip(cumsum(flip(grad, (dim,)), dim), (dim,))


# -- spread -------------------------------------------------------------------------------------------------------


def _var(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Array:
    return spread(self, _mean_dim(self, dim, True), dim, correction, keepdim)


def spread(self: Array, average: Array, dim: Any, correction: float, keepdim: bool) -> Array:
    """The variance around a mean whose reduced dimensions are of size 1."""
    free = max(0, count(self.shape, dim) - correction)
    off = self - average
    return folded(xp.add, off * off, dim, keepdim) / self.dtype.type(free)


def _std(self: Array, dim: Any = None, correction: float = 1, keepdim: bool = False) -> Array:
    return xp.sqrt(_var(self, dim, correction, keepdim))


def _average(self: Any, dim: Any) -> Any:
    return mean_all(self) if dim is None else mean_dim(self, dim, True)


def spread_slope(grad: Any, self: Any, sizes: Sizes, dim: Any, correction: float, keepdim: bool) -> Any:
    """2 (x - mean) / (n - correction): the derivative of the variance."""
    free = count(sizes, dim) - correction
    factor = 2 / free if free > 0 else math.nan
    return factor * raised(grad, sizes, dim, keepdim) * (self - _average(self, dim))


var = op(
    "var", _var, PLAIN,
    Presentation(nonfinite="deviation"),
    self=lambda grad, self, self_sizes, dim, correction, keepdim: spread_slope(
        grad, self, self_sizes, dim, correction, keepdim
    ),
)  # fmt: skip
std = op(
    "std", _std, PLAIN,
    Presentation(nonfinite="deviation"),
    self=lambda grad, self, self_sizes, result, dim, correction, keepdim: spread_slope(
        where(eq(result, 0), 0, grad / (2 * result)), self, self_sizes, dim, correction, keepdim
    ),
)  # fmt: skip

# -- products -----------------------------------------------------------------------------------------------------


def _prod(self: Array, dtype: Any = None) -> Array:
    return folded(xp.multiply, self, None, False, wide(self, dtype))


def _prod_dim(self: Array, dim: int, keepdim: bool = False, dtype: Any = None) -> Array:
    return folded(xp.multiply, self, dim, keepdim, wide(self, dtype))


def _prod_of_others(self: Array, dim: int) -> Array:
    """For each element the product of the others along `dim`: the running products from both sides, shifted by one."""
    moved = xp.moveaxis(self, dim, -1)
    before, after = xp.ones_like(moved), xp.ones_like(moved)
    before[..., 1:] = moved[..., :-1].cumprod(axis=-1)
    after[..., :-1] = moved[..., :0:-1].cumprod(axis=-1)[..., ::-1]
    return xp.moveaxis(before * after, -1, dim)


def _off_diagonal(self: Array, dim: int, value: float) -> Array:
    """`self` with `value` where the places along `dim` and `dim + 1` are equal."""
    out = self.copy()
    places = xp.arange(self.shape[dim], like=self)
    out[(slice(None),) * dim + (places, places)] = value
    return out


def _prod_of_others_slope(grad: Any, self: Any, self_sizes: Sizes, dim: int) -> Any:
    """Sum over i != k of grad_i times the product of all but x_i and x_k, on an n x n table (i, k)."""
    table_sizes = (*self_sizes[: dim + 1], *self_sizes[dim:])
    table = off_diagonal(expand(unsqueeze(self, dim), table_sizes), dim, 1)
    return sum_dim(unsqueeze(grad, dim + 1) * off_diagonal(prod_of_others(table, dim + 1), dim, 0), dim)


off_diagonal = op(
    "off_diagonal", _off_diagonal, PLAIN,
    Presentation(shape=like_first, name="set_diagonal", word="the diagonal becomes the value"),
    self=lambda grad, dim: off_diagonal(grad, dim, 0),
)  # fmt: skip
prod_of_others = op(
    "prod_of_others", _prod_of_others, PLAIN,
    Presentation(
        shape=like_first, name="product_of_others", word="the product of all other numbers along the dimension",
        indexed=sums.others,
    ),
    self=_prod_of_others_slope,
)  # fmt: skip
PRODUCT = "the product"
prod_all = op(
    "prod", _prod, Traits(node="ProdBackward0"),
    Presentation(word=PRODUCT),
    self=lambda grad, self, self_sizes: grad * view(prod_of_others(view(self, (count(self_sizes),)), 0), self_sizes)
    if self_sizes
    else grad,
)  # fmt: skip
prod_dim = op(
    "prod.dim_int", _prod_dim, Traits(node="ProdBackward1"),
    Presentation(word=PRODUCT),
    self=lambda grad, self, self_sizes, dim, keepdim: raised(grad, self_sizes, dim, keepdim) * prod_of_others(self, dim)
    if self_sizes
    else grad,
)  # fmt: skip

# -- extremes -----------------------------------------------------------------------------------------------------


def _amax(self: Array, dim: Any = None, keepdim: bool = False) -> Array:
    return folded(xp.maximum, self, dim, keepdim)


def _amin(self: Array, dim: Any = None, keepdim: bool = False) -> Array:
    return folded(xp.minimum, self, dim, keepdim)


def _max(self: Array) -> Array:
    return folded(xp.maximum, self)


def _min(self: Array) -> Array:
    return folded(xp.minimum, self)


def _share(self: Array, extreme: Array, dim: Any = None) -> Array:
    """1 / (number of ties) where `self` is the extreme along `dim`, else 0."""
    hit = (self == extreme) | ((self != self) & (extreme != extreme))
    return (hit / folded(xp.add, hit, dim, True)).astype(self.dtype, copy=False)


even_share = op(
    "even_share", _share, PLAIN,
    Presentation(
        shape=like_first, name="share", word="1 over the number of extremes for those elements, 0 for the others",
        indexed=sums.evenly,
    ),
)  # fmt: skip


def amount_share(grad: Any, self: Any, result: Any, self_sizes: Sizes, dim: Any, keepdim: bool) -> Any:
    """The gradient, shared by all that equal the result."""
    return raised(grad, self_sizes, dim, keepdim) * even_share(self, raised(result, self_sizes, dim, keepdim), dim)


amax = op("amax", _amax, self=amount_share)
amin = op("amin", _amin, self=amount_share)
max_all = op("max", _max, Traits(node="MaxBackward1"), self=lambda grad, self, result: grad * even_share(self, result))
min_all = op("min", _min, Traits(node="MinBackward1"), self=lambda grad, self, result: grad * even_share(self, result))


def _gather(self: Array, index: Array, dim: int) -> Array:
    if not index.size:
        return zeros_at(self, index.shape)
    if not self.ndim:
        return xp.broadcast_to(self, index.shape).copy()
    return self[along(self, index, dim)] if index.ndim else self[index]


def _scatter_sum(self: Array, index: Array, dim: int, sizes: Sizes) -> Array:
    out = zeros_at(self, sizes)
    if not index.size:
        return out
    if sizes:
        xp.add.at(out, along(out, index, dim) if index.ndim else index, self)
    else:
        out += self.sum()
    return out


gather = op(
    "gather", _gather, PLAIN,
    Presentation(
        shape=lambda attrs, first, index: index,
        word="along the dimension, the number at the position in each index", indexed=index_notation.gathered,
    ),
    self=lambda grad, index, dim, self_sizes: scatter_sum(grad, index, dim, self_sizes),
)  # fmt: skip
scatter_sum = op(
    "scatter_sum", _scatter_sum, PLAIN,
    Presentation(shape=ShapeArgument("sizes"), name="add_at", word=ADDED_AT, indexed=index_notation.scattered),
    self=lambda grad, index, dim: gather(grad, index, dim),
)  # fmt: skip


def _extreme_dim(place: str) -> Any:
    """max or min along a dimension: (values, indices), the first place among ties."""

    def kernel(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
        if not self.ndim:
            return self.copy(), xp.zeros((), dtype="int64", like=self)
        index = xp.expand_dims(getattr(self, place)(axis=dim), dim)
        values = self[along(self, index, dim)]
        return (values, index) if keepdim else (values.squeeze(axis=dim), index.squeeze(axis=dim))

    return kernel


def _chosen_slope(grad: Any, result1: Any, self_sizes: Sizes, dim: int, keepdim: bool) -> Any:
    """The gradient goes to the place that was chosen."""
    if not self_sizes:
        return grad
    return scatter_sum(
        raised(grad, self_sizes, dim, keepdim), raised(result1, self_sizes, dim, keepdim), dim, self_sizes
    )


max_dim = op(
    "max.dim", _extreme_dim("argmax"), Traits(node="MaxBackward0", differentiable=(0,)), PICKED,
    self=_chosen_slope,
)  # fmt: skip
min_dim = op(
    "min.dim", _extreme_dim("argmin"), Traits(node="MinBackward0", differentiable=(0,)), PICKED,
    self=_chosen_slope,
)  # fmt: skip


def _argmax(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    return self.argmax(axis=dim, keepdims=keepdim)


def _argmin(self: Array, dim: int | None = None, keepdim: bool = False) -> Array:
    return self.argmin(axis=dim, keepdims=keepdim)


def _all(self: Array, dim: Any = None, keepdim: bool = False) -> Array:
    return folded(xp.logical_and, self, dim, keepdim)


def _any(self: Array, dim: Any = None, keepdim: bool = False) -> Array:
    return folded(xp.logical_or, self, dim, keepdim)


argmax, argmin = op("argmax", _argmax), op("argmin", _argmin)
all_true, any_true = op("all", _all), op("any", _any)

# -- exponentials -------------------------------------------------------------------------------------------------


def _logsumexp(self: Array, dim: Any, keepdim: bool = False) -> Array:
    if not count(self.shape, dim):
        return xp.log(folded(xp.add, xp.exp(self), dim, keepdim))
    top = folded(xp.maximum, self, dim, True)
    top = xp.where(xp.isfinite(top), top, 0)
    result = xp.log(folded(xp.add, xp.exp(self - top), dim, True)) + top
    return result if keepdim or not self.ndim else result.squeeze(axis=dim)


def _softmax(self: Array, dim: int) -> Array:
    if not self.size:
        return self.copy()
    if self.dtype == "float16":  # as torch, which rounds the result alone
        return _softmax(self.astype("float32"), dim).astype("float16")
    lifted = by_rows(as_array(self - folded(xp.maximum, self, _axis(self, dim), True)))
    xp.exp(lifted, out=lifted)
    lifted /= folded(xp.add, lifted, _axis(self, dim), True)
    return lifted


def _log_softmax(self: Array, dim: int) -> Array:
    if not self.size:
        return self.copy()
    if self.dtype == "float16":
        return _log_softmax(self.astype("float32"), dim).astype("float16")
    shifted = by_rows(as_array(self - folded(xp.maximum, self, _axis(self, dim), True)))
    shifted -= xp.log(folded(xp.add, xp.exp(shifted), _axis(self, dim), True))
    return shifted


def _axis(self: Array, dim: int) -> int | None:
    return dim if self.ndim else None


def _summed(value: Any, sizes: Sizes, dim: int) -> Any:
    """The sum along `dim`, which stays with size 1."""
    return sum_dim(value, dim, True) if sizes else value


logsumexp = op(
    "logsumexp", _logsumexp, FLOAT,
    self=lambda grad, self, result, self_sizes, dim, keepdim: raised(grad, self_sizes, dim, keepdim)
    * exp(self - raised(result, self_sizes, dim, keepdim)),
)  # fmt: skip
softmax = op(
    "softmax", _softmax, PLAIN,
    Presentation(shape=like_first, nonfinite="row", word="exp(x) over its sum along the dimension"),
    self=lambda grad, result, self_sizes, dim: result * (grad - _summed(grad * result, self_sizes, dim)),
)  # fmt: skip
log_softmax = op(
    "log_softmax", _log_softmax, PLAIN,
    Presentation(shape=like_first, nonfinite="row"),
    self=lambda grad, result, self_sizes, dim: grad - exp(result) * _summed(grad, self_sizes, dim),
)  # fmt: skip

# -- norms --------------------------------------------------------------------------------------------------------


def norm_of(self: Array, ord: float = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """(sum |x|^ord)^(1/ord) over `dim`."""
    if dtype is not None:
        self = self.astype(dtype, copy=False)
    if ord == 2:
        return xp.sqrt(folded(xp.add, self * self, dim, keepdim))
    size = abs(self)
    if ord == 1:
        return folded(xp.add, size, dim, keepdim)
    if ord == 0:
        return folded(xp.add, self != 0, dim, keepdim, self.dtype)
    if math.isinf(ord):
        return folded(xp.maximum if ord > 0 else xp.minimum, size, dim, keepdim)
    return folded(xp.add, size**ord, dim, keepdim) ** (1 / ord)


def norm_slope(grad: Any, self: Any, result: Any, self_sizes: Sizes, ord: float, dim: Any, keepdim: bool) -> Any:
    """The derivative of (sum |x|^p)^(1/p) is sign(x) |x|^(p-1) / norm^(p-1); 0 where the norm is 0."""
    grad, norm = raised(grad, self_sizes, dim, keepdim), raised(result, self_sizes, dim, keepdim)
    if ord == 0:
        return zero(self)
    if ord == 1:
        return grad * sign(self)
    if math.isinf(ord):
        return grad * sign(self) * even_share(absolute(self), norm, dim)
    if ord == 2:
        return grad * where(eq(norm, 0), 0, self / norm)
    if ord < 2:
        steep = where(eq(self, 0), 0, sign(self) * pow_number(absolute(self), ord - 1))
    else:
        steep = self * pow_number(absolute(self), ord - 2)
    return steep * where(eq(norm, 0), 0, grad / pow_number(norm, ord - 1))


vector_norm = op(
    "linalg_vector_norm", norm_of, PLAIN, Presentation(called=lambda attrs, rank: "norm", name="norm", word="the norm"),
    self=norm_slope,
)  # fmt: skip
