"""Order: sorting, the k largest, medians, modes, and distinct values.

Sorting is stable everywhere, nan counts as the largest, and the last dimension is worked on.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, contiguous, library_of, xp
from ..arrays.ufunc_folds import running_fold
from .arithmetic import no_derivative
from .op import Traits, op
from .presentation import PICKED
from .reduction import even_share, raised, scatter_sum
from .shape import Sizes

VALUES = (0,)
"""Of the results (values, indices), only the values carry a gradient."""


def _order(self: Array, descending: bool = False) -> Array:
    """The places of the elements in order along the last dimension; equal ones stay as they stood."""
    if not descending:
        return self.argsort(axis=-1, kind="stable")
    backwards = xp.flip(self, -1).argsort(axis=-1, kind="stable")
    return xp.flip(self.shape[-1] - 1 - backwards, -1)


def _in_order(self: Array, order: Array, dim: int) -> tuple[Array, Array]:
    """(values, indices) for places along the last dimension of what was moved there from `dim`."""
    values = xp.take_along_axis(self, order, axis=-1)
    return contiguous(xp.moveaxis(values, -1, dim)), contiguous(xp.moveaxis(order, -1, dim))


def _alone(self: Array) -> tuple[Array, Array]:
    return self.copy(), xp.zeros((), dtype="int64", like=self)


def _sort(self: Array, dim: int, descending: bool = False) -> tuple[Array, Array]:
    if not self.ndim:
        return _alone(self)
    moved = xp.moveaxis(self, dim, -1)
    return _in_order(moved, _order(moved, descending), dim)


def _topk(self: Array, k: int, dim: int, largest: bool = True) -> tuple[Array, Array]:
    if not self.ndim:
        return _alone(self)
    moved = xp.moveaxis(self, dim, -1)
    n = moved.shape[-1]
    if not 0 < k < n // 2:
        return _in_order(moved, _order(moved, largest)[..., :k], dim)
    some = moved.argpartition(n - k if largest else k - 1, axis=-1)
    some = xp.sort(some[..., n - k :] if largest else some[..., :k], axis=-1)
    order = _order(xp.take_along_axis(moved, some, axis=-1), largest)
    return _in_order(moved, xp.take_along_axis(some, order, axis=-1), dim)


def _argsort(self: Array, dim: int, descending: bool = False) -> Array:
    if not self.ndim:
        return xp.zeros((), dtype="int64", like=self)
    return contiguous(xp.moveaxis(_order(xp.moveaxis(self, dim, -1), descending), -1, dim))


def _scatter(grad: Any, result1: Any, self_sizes: Sizes, dim: int) -> Any:
    """Each gradient goes to the place that its value came from."""
    return scatter_sum(grad, result1, dim, self_sizes) if self_sizes else grad


SORTED = Traits(node="SortBackward0", differentiable=VALUES)
sort = op("sort", _sort, SORTED, PICKED, self=_scatter)
sort_stable = op("sort.stable", _sort, Traits(node="SortBackward1", differentiable=VALUES), PICKED, self=_scatter)
topk = op("topk", _topk, Traits(differentiable=VALUES), PICKED, self=_scatter)
argsort = op("argsort", _argsort)

# -- one of them --------------------------------------------------------------------------------------------------


def _chosen(self: Array, dim: int, keepdim: bool, place: Any) -> tuple[Array, Array]:
    """(values, indices) of one element of each row: that at `place(rows)` among the sorted ones."""
    if not self.ndim:
        return _alone(self)
    moved = xp.moveaxis(self, dim, -1)
    at = place(moved)
    if isinstance(at, int):
        index = moved.argpartition(at, axis=-1)[..., at : at + 1]
    else:
        index = xp.take_along_axis(_order(moved), at, axis=-1)
    values, index = _in_order(moved, index, dim)
    return (values, index) if keepdim else (values.squeeze(axis=dim), index.squeeze(axis=dim))


def _nans(moved: Array) -> Array:
    return (moved != moved).sum(axis=-1, keepdims=True)


def _middle(moved: Array) -> Any:
    """The lower one of the two in the middle; the first nan where there is one."""
    n = moved.shape[-1]
    nans = _nans(moved) if moved.dtype.kind == "f" else None
    if nans is None or not nans.any():
        return (n - 1) // 2
    return xp.where(nans > 0, n - nans, (n - 1) // 2)


def _middle_number(moved: Array) -> Any:
    """The lower one of the two in the middle of those that are numbers."""
    n = moved.shape[-1]
    nans = _nans(moved) if moved.dtype.kind == "f" else None
    return (n - 1) // 2 if nans is None or not nans.any() else xp.maximum((n - nans - 1) // 2, 0)


def _most_frequent(moved: Array) -> Any:
    """The end of the longest run of equal elements: the smallest of the most frequent, where it stands last."""
    ranked = xp.sort(moved, axis=-1)
    places = xp.arange(moved.shape[-1], like=moved)
    new = library_of(moved).ones(moved.shape, dtype=bool)
    new[..., 1:] = ranked[..., 1:] != ranked[..., :-1]
    length = places - running_fold(xp.maximum, xp.where(new, places, 0), moved.ndim - 1)
    return xp.expand_dims(length.argmax(axis=-1), -1)


def _median(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen(self, dim, keepdim, _middle)


def _nanmedian(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen(self, dim, keepdim, _middle_number)


def _mode(self: Array, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen(self, dim, keepdim, _most_frequent)


def _kthvalue(self: Array, k: int, dim: int, keepdim: bool = False) -> tuple[Array, Array]:
    return _chosen(self, dim, keepdim, lambda moved: k - 1)


def _median_of_all(self: Array) -> Array:
    return _median(self.reshape(-1), 0)[0] if self.size else xp.full_like(self, xp.nan, shape=())


def _nanmedian_of_all(self: Array) -> Array:
    return _nanmedian(self.reshape(-1), 0)[0] if self.size else xp.full_like(self, xp.nan, shape=())


def _chosen_slope(grad: Any, result1: Any, self_sizes: Sizes, dim: int, keepdim: bool) -> Any:
    """The gradient goes to the place that was chosen."""
    if not self_sizes:
        return grad
    index = raised(result1, self_sizes, dim, keepdim)
    return scatter_sum(raised(grad, self_sizes, dim, keepdim), index, dim, self_sizes)


def _even(grad: Any, self: Any, result: Any) -> Any:
    """All that equal the result share the gradient."""
    return grad * even_share(self, result)


median = op("median", _median_of_all, Traits(node="MedianBackward0"), self=_even)
nanmedian = op("nanmedian", _nanmedian_of_all, Traits(node="NanmedianBackward0"), self=_even)
median_dim = op(
    "median.dim", _median, Traits(node="MedianBackward1", differentiable=VALUES), PICKED,
    self=_chosen_slope,
)  # fmt: skip
nanmedian_dim = op(
    "nanmedian.dim", _nanmedian, Traits(node="NanmedianBackward1", differentiable=VALUES), PICKED, self=_chosen_slope
)
mode = op("mode", _mode, Traits(differentiable=VALUES), PICKED, self=_chosen_slope)
kthvalue = op("kthvalue", _kthvalue, Traits(differentiable=VALUES), PICKED, self=_chosen_slope)


def _quantile_places(self: Array, q: Array, ignore_nan: bool, interpolation: str) -> tuple[Array, Array, Array]:
    """Of sorted rows: the place below each quantile, that above it, and which part of the way it lies between them.

    A row with a nan gives nan, which stands last, or is taken as one that ends before its nans.
    """
    n = self.shape[-1]
    missing, scale = _nans(self), q.reshape(-1)
    if ignore_nan:
        ranks = xp.maximum(scale * (n - 1 - missing).astype(q.dtype), 0)
    else:
        ranks = xp.where(missing > 0, q.dtype.type(n - 1), scale * q.dtype.type(n - 1))
    if interpolation in ROUNDED:
        ranks = ROUNDED[interpolation](ranks)
    low = xp.floor(ranks)
    weight = xp.full_like(ranks, 0.5) if interpolation == "midpoint" else ranks - low
    return low.astype("int64"), xp.ceil(ranks).astype("int64"), weight.astype(q.dtype, copy=False)


ROUNDED = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}
quantile_places = op("quantile_places", _quantile_places)

# -- the different ones -------------------------------------------------------------------------------------------


def _unique(self: Array, dim: int | None = None) -> tuple[Array, Array, Array]:
    """(values in order, the place of each element among them, how often each occurs)."""
    if dim is not None:
        values, inverse, counts = xp.unique(self, return_inverse=True, return_counts=True, axis=dim)
        return values, inverse.reshape(-1), counts
    flat = self.reshape(-1)
    if flat.dtype.kind == "f":
        values, inverse, counts = xp.unique(flat, return_inverse=True, return_counts=True, equal_nan=False)
    else:
        values, inverse, counts = xp.unique(flat, return_inverse=True, return_counts=True)
    return values, inverse.reshape(self.shape), counts


def _unique_consecutive(self: Array, dim: int | None = None) -> tuple[Array, Array, Array]:
    """As `unique`, of runs: (the first of each run, the run of each element, its length)."""
    length = self.size if dim is None else self.shape[dim]
    rows = (self if dim is None else xp.moveaxis(self, dim, 0)).reshape(length, self.size // max(length, 1))
    new = library_of(self).ones(length, dtype=bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    run = xp.cumsum(new) - 1
    counts = xp.bincount(run) if run.size else xp.zeros(0, dtype="int64", like=self)
    if dim is None:
        return self.reshape(-1)[new], run.reshape(self.shape), counts
    return xp.compress(new, self, axis=dim), run, counts


def _nowhere(name: str) -> Any:
    return lambda grad: no_derivative(name)


unique = op("_unique2", _unique, Traits(node="Unique2Backward0", differentiable=VALUES), self=_nowhere("_unique2"))
unique_dim = op(
    "unique_dim", _unique, Traits(node="UniqueDimBackward0", differentiable=VALUES), self=_nowhere("unique_dim")
)
unique_consecutive = op(
    "unique_consecutive", _unique_consecutive, Traits(differentiable=VALUES), self=_nowhere("unique_consecutive")
)
