"""Running products, extremes and sums of exponentials along a dimension."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, xp
from ..arrays.ufunc_folds import running_fold
from .choice import eq, where
from .elementwise import exp
from .op import PLAIN, Traits, op
from .presentation import PICKED, Presentation
from .reduction import scatter_sum, wide
from .result_shapes import like_first
from .shape import Sizes


def _shifted(self: Array, dim: int, step: int, fill: float) -> Array:
    """The elements moved by `step` places (1 or -1) along `dim`; what comes in is `fill`."""
    if not self.ndim:
        return xp.full_like(self, fill)
    out = xp.empty_like(self)
    before = (slice(None),) * dim
    ahead, behind, new = slice(1, None), slice(None, -1), slice(0, 1)
    if step < 0:
        ahead, behind, new = behind, ahead, slice(-1, None)
    out[(*before, ahead)] = self[(*before, behind)]
    out[(*before, new)] = fill
    return out


def _recurrence(self: Array, factor: Array, dim: int, reverse: bool = False) -> Array:
    """y[k] = self[k] + factor[k] * y[k - 1] along `dim` (k + 1 in reverse), in log2(n) doubling steps."""
    total, product = self.copy(), factor.copy()
    if not self.ndim:
        return total
    before = (slice(None),) * dim
    reach, n = 1, self.shape[dim]
    while reach < n:
        near, far = (*before, slice(reach, None)), (*before, slice(None, -reach))
        if reverse:
            near, far = far, near
        total[near] += product[near] * total[far].copy()
        product[near] *= product[far].copy()
        reach *= 2
    return total


shifted = op(
    "shifted", _shifted, PLAIN,
    Presentation(shape=like_first, word="moved by a step along the dimension, with the fill value in the gap"),
    self=lambda grad, dim, step: shifted(grad, dim, -step, 0),
)  # fmt: skip
"""The elements one place further along a dimension."""
recurrence = op(
    "recurrence", _recurrence, PLAIN,
    Presentation(
        shape=like_first, word="r(i) = g(i) + factor(i)·r(i − 1), along the dimension (from the end, where reversed)",
    ),
    self=lambda grad, factor, dim, reverse: _adjoint(grad, factor, dim, reverse),
    factor=lambda grad, factor, result, dim, reverse: _adjoint(grad, factor, dim, reverse)
    * shifted(result, dim, -1 if reverse else 1, 0),
)  # fmt: skip
"""y[k] = x[k] + f[k] y[k-1]: what gradients of running products are made of."""


def _adjoint(grad: Any, factor: Any, dim: int, reverse: bool) -> Any:
    """The gradient of a recurrence is one that runs the other way, its factors one place on."""
    return recurrence(grad, shifted(factor, dim, 1 if reverse else -1, 0), dim, not reverse)


def _cumprod(self: Array, dim: int, dtype: Any = None) -> Array:
    return (
        self.cumprod(axis=dim, dtype=wide(self, dtype)) if self.ndim else self.astype(wide(self, dtype) or self.dtype)
    )


def _cumprod_slope(grad: Any, self: Any, result: Any, self_sizes: Sizes, dim: int) -> Any:
    """The product of what stands before x[k], times the sum over j >= k of grad[j] x[k+1] ... x[j]; no division."""
    if math.prod(self_sizes) <= 1:
        return grad
    before = cumprod(shifted(self, dim, 1, 1), dim)
    return before * recurrence(grad, shifted(self, dim, -1, 0), dim, True)


cumprod = op(
    "cumprod", _cumprod, PLAIN,
    Presentation(shape=like_first, word="the running product along the dimension"),
    self=_cumprod_slope,
)  # fmt: skip


def _running_extreme(ufunc: Any, reaches: Any) -> Any:
    """(values, indices) of the running extreme; among ties the last place, and nan wins as it comes."""

    def kernel(self: Array, dim: int) -> tuple[Array, Array]:
        if not self.ndim:
            return self.copy(), xp.zeros((), dtype="int64", like=self)
        values = running_fold(ufunc, self, dim)
        hit = reaches(self, values) if self.dtype.kind != "f" else reaches(self, values) | (self != self)
        places = xp.arange(self.shape[dim], like=self).reshape((-1,) + (1,) * (self.ndim - dim - 1))
        return values, running_fold(xp.maximum, xp.where(hit, places, 0), dim)

    return kernel


def _running_slope(grad: Any, result1: Any, self_sizes: Sizes, dim: int) -> Any:
    """Each gradient goes to the place that was the extreme then."""
    return scatter_sum(grad, result1, dim, self_sizes) if self_sizes else grad


RUNNING = (0,)
"""Of the results (values, indices), only the values carry a gradient."""
cummax = op(
    "cummax", _running_extreme(xp.maximum, lambda x, top: x >= top), Traits(differentiable=RUNNING),
    PICKED,
    self=_running_slope,
)  # fmt: skip
cummin = op(
    "cummin", _running_extreme(xp.minimum, lambda x, low: x <= low), Traits(differentiable=RUNNING),
    PICKED,
    self=_running_slope,
)  # fmt: skip


def _logcumsumexp(self: Array, dim: int) -> Array:
    return running_fold(xp.logaddexp, self, dim) if self.ndim else self.copy()


def _logcumsumexp_slope(grad: Any, self: Any, result: Any, self_sizes: Sizes, dim: int) -> Any:
    """exp(x[k]) times the sum over j >= k of grad[j] / exp(result[j]), without ever leaving [0, 1].

    The sum obeys s[k] = grad[k] + exp(result[k] - result[k+1]) s[k+1], and results only grow.
    """
    if not self_sizes:
        return grad
    nothing = eq(result, -math.inf)
    factor = where(nothing, 0, exp(result - shifted(result, dim, -1, math.inf)))
    return recurrence(grad, factor, dim, True) * where(nothing, 0, exp(self - result))


logcumsumexp = op("logcumsumexp", _logcumsumexp, self=_logcumsumexp_slope)
