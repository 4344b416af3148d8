"""Order: sorting, the k largest, medians, quantiles, and distinct values."""

from __future__ import annotations

import operator
from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...ops import arithmetic as ar
from ...ops import choice as ch
from ...ops import reduction as rd
from ...ops import shape as so
from ...ops import sorting as sr
from ...tensor.escapes import escape
from ...tensor.grad_mode import mode as grad_mode
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import combination, need_tensor, one_dim, refused
from ..calls.named_results import pair
from ..calls.out import takes_out

__all__ = [
    "argsort",
    "kthvalue",
    "median",
    "mode",
    "msort",
    "nanmedian",
    "nanquantile",
    "quantile",
    "sort",
    "topk",
    "unique",
    "unique_consecutive",
]

sort_pair, topk_pair, median_pair, nanmedian_pair = pair("sort"), pair("topk"), pair("median"), pair("nanmedian")
mode_pair, kthvalue_pair = pair("mode"), pair("kthvalue")


@takes_out
def sort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool | None = None) -> Any:
    """(values, indices) in order along `dim`; equal elements keep their order, nan counts as the largest.

    Shapes: (*) -> (*), (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.sort.

    >>> import engine as torch
    >>> torch.sort(torch.tensor([3.0, 1.0, 2.0])).indices
    tensor([1, 2, 0])
    """
    need_tensor(input, "sort")
    op = sr.sort if stable is None else sr.sort_stable
    return sort_pair(*op(input, dim=one_dim(dim, input._array.ndim), descending=descending))


def argsort(input: Tensor, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Tensor:
    """The indices that sort `input` along `dim`; see sort.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.argsort.

    >>> import engine as torch
    >>> torch.argsort(torch.tensor([3, 1, 2]))
    tensor([1, 2, 0])
    """
    need_tensor(input, "argsort")
    return sr.argsort(input, dim=one_dim(dim, input._array.ndim), descending=descending)


@takes_out
def msort(input: Tensor) -> Tensor:
    """`input` sorted along its first dimension.

    Shapes: (*) -> (*).  Source: torch.msort.

    >>> import engine as torch
    >>> torch.msort(torch.tensor([[3, 1], [2, 4]]))
    tensor([[2, 1],
            [3, 4]])
    """
    return sort(input, 0)[0]


@takes_out
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """(values, indices) of the k largest (smallest) along `dim`, in order; ties come in no particular order.

    Shapes: (*, D, *) -> (*, k, *), (*, k, *); a number () -> (), ().  Raises RuntimeError where k is negative, or
    larger than D.  Source: torch.topk.

    >>> import engine as torch
    >>> torch.topk(torch.tensor([1, 5, 3]), 2).values
    tensor([5, 3])
    """
    need_tensor(input, "topk")
    place = one_dim(dim, input._array.ndim)
    if not 0 <= k <= (input._array.shape[place] if input._array.ndim else 1):
        raise errors.runtime("selected index k out of range")
    if input.dtype.name == "bool":
        raise errors.runtime("topk does not support bool dtypes on CPU")
    return topk_pair(*sr.topk(input, k=k, dim=place, largest=largest))


# -- one of them --------------------------------------------------------------------------------------------------


def _place(name: str, input: Tensor, dim: int) -> int:
    """The dimension, checked to have elements."""
    place = one_dim(dim, input._array.ndim)
    if input._array.ndim and not input._array.shape[place]:
        raise IndexError(f"{name}(): Expected reduction dim {place} to have non-zero size.")
    return place


def _middle(name: str, input: Tensor, dim: int | None, keepdim: bool, ops: tuple[Any, Any], pair: Any) -> Any:
    need_tensor(input, name)
    whole, along = ops
    place = None if dim is None else _place("median", input, dim)
    if input.dtype.name == "bool":
        raise refused("median_cpu" if dim is None else "median_out", input)
    return whole(input) if place is None else pair(*along(input, dim=place, keepdim=keepdim))


@takes_out
def median(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median (the lower of two), or nan if there is a nan; along `dim` (values, indices).

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.median.

    >>> import engine as torch
    >>> torch.median(torch.tensor([3.0, 1.0, 2.0, 4.0]))
    tensor(2.)
    """
    return _middle("median", input, dim, keepdim, (sr.median, sr.median_dim), median_pair)


@takes_out
def nanmedian(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not nan; along `dim` (values, indices).

    Shapes: (*) -> (); along `dim` (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.nanmedian.

    >>> import engine as torch
    >>> torch.nanmedian(torch.tensor([3.0, float("nan"), 1.0]))
    tensor(1.)
    """
    return _middle("nanmedian", input, dim, keepdim, (sr.nanmedian, sr.nanmedian_dim), nanmedian_pair)


@takes_out
def mode(input: Tensor, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices): the most frequent value along `dim`, the smallest of several, and its last position.

    Shapes: (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).  Raises IndexError where
    there is no dimension `dim`.  Source: torch.mode.

    >>> import engine as torch
    >>> torch.mode(torch.tensor([1, 2, 2])).values
    tensor(2)
    """
    need_tensor(input, "mode")
    return mode_pair(*sr.mode(input, dim=_place("mode", input, dim), keepdim=keepdim))


@takes_out
def kthvalue(input: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    """(values, indices): the k-th smallest along `dim`, counted from 1.

    Shapes: (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).  Raises IndexError where
    there is no dimension `dim`, RuntimeError for k outside 1 … D.  Source: torch.kthvalue.

    >>> import engine as torch
    >>> torch.kthvalue(torch.tensor([3, 1, 2]), 2).values
    tensor(2)
    """
    need_tensor(input, "kthvalue")
    place, k = _place("kthvalue", input, dim), operator.index(k)
    if not 1 <= k <= (input._array.shape[place] if input._array.ndim else 1):
        raise errors.runtime(f"kthvalue(): selected number k out of range for dimension {place}")
    return kthvalue_pair(*sr.kthvalue(input, k=k, dim=place, keepdim=keepdim))


# -- quantiles ----------------------------------------------------------------------------------------------------

INTERPOLATIONS = ("linear", "lower", "higher", "midpoint", "nearest")


def _checked_quantile(name: str, input: Tensor, q: Any, interpolation: str) -> Tensor:
    """`q` as a tensor of the input's dtype, all arguments looked at."""
    need_tensor(input, name)
    if not isinstance(q, (int, float, Tensor)):
        raise combination(name, input, q)
    if isinstance(q, (int, float)) and not 0 <= q <= 1:
        raise errors.runtime(f"quantile() q must be in the range [0, 1] but got {q:g}")
    if not input._array.size:
        raise errors.runtime(f"{name}() input tensor must be non-empty")
    if input.dtype.name not in ("float32", "float64"):
        raise errors.runtime(f"{name}() input tensor must be either float or double dtype")
    if not isinstance(q, Tensor):
        q = tensor_of(xp.asarray(q, dtype=input._array.dtype, like=input._array))
    if q._array.ndim > 1:
        raise errors.runtime("quantile() q must be a scalar or 1D tensor")
    if q.dtype is not input.dtype:
        raise errors.runtime(f"{name}() q tensor must be same dtype as the input tensor")
    if interpolation not in INTERPOLATIONS:
        raise errors.runtime(
            f"{name}() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {interpolation}"
        )
    if not bool(((q._array >= 0) & (q._array <= 1)).all()):
        raise errors.runtime(f"{name}() q values must be in the range [0, 1]")
    return q


def _quantile(
    name: str, input: Tensor, q: Any, dim: int | None, keepdim: bool, interpolation: str, ignore_nan: bool
) -> Tensor:
    """Sort the rows, then go from the element below each rank towards the one above it.

    torch composes it of sort, gather and lerp; so do we, to have its graph.
    """
    q = _checked_quantile(name, input, q, interpolation)
    rows = _sorted_rows(input, dim, keepdim)
    last = rows._array.ndim - 1
    below, above, weight = sr.quantile_places(rows, q, ignore_nan=ignore_nan, interpolation=interpolation)
    if interpolation == "linear" and q._requires_grad and grad_mode.enabled:
        weight = _part_of_the_way(so.detach(rows), q, below, ignore_nan)
    values = rd.gather(rows, below, last)
    if interpolation in ("linear", "midpoint"):
        values = ar.lerp(values, rd.gather(rows, above, last), weight)
    if not q._array.ndim:
        return so.squeeze_row(values, dim=last)
    values = so.transpose(so.unsqueeze(values, dim=0), dim0=0, dim1=last + 1)
    return so.squeeze_row(values, dim=last + 1)


def _part_of_the_way(rows: Tensor, q: Tensor, below: Tensor, ignore_nan: bool) -> Tensor:
    """The weight of the element above each rank once more, by ops through which `q` has its gradient: torch's."""
    missing, last = ch.isnan(rows), rows._array.ndim - 1
    if ignore_nan:
        ranks = q * (rd.sum_dim(ch.logical_not(missing), dim=(last,), keepdim=True) - 1)
        ranks = ch.masked_fill(ranks, ranks < 0, value=0)
    else:
        end = rows._array.shape[-1] - 1
        ranks = so.expand(q * end, size=below._array.shape)
        ranks = ch.masked_fill(ranks, rd.any_true(missing, dim=last, keepdim=True), value=end)
    return ranks - below


def _sorted_rows(input: Tensor, dim: int | None, keepdim: bool) -> Tensor:
    """The elements in order along a new last dimension, beside the dimensions that the result has."""
    rank = input._array.ndim
    if dim is None or not rank:
        if dim is not None:
            one_dim(dim, rank)
        flat = input if rank == 1 else so.view(so.clone(input) if not _plain(input) else input, size=(-1,))
        return so.view(sort(flat)[0], size=(*(1,) * (rank if keepdim else 0), flat._array.shape[0]))
    place = one_dim(dim, rank)
    sizes = input._array.shape
    result_sizes = sizes[:place] + ((1,) if keepdim else ()) + sizes[place + 1 :]
    if place != rank - 1:
        input = so.transpose(so.unsqueeze(input, dim=rank), dim0=place, dim1=rank)
    return so.view(sort(input)[0], size=(*result_sizes, sizes[place]))


def _plain(input: Tensor) -> bool:
    return bool(input._array.flags.c_contiguous)


@takes_out
def quantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """The value below which the fraction `q` of the elements lies, for each `q`; nan if an element is nan.

    Shapes: (*), (*q) -> (*q); along `dim` (*, D, *), (*q) -> (*q, *, *).  Raises RuntimeError for q outside 0 … 1, of
    more dimensions than one, or of another dtype.  Source: torch.quantile.

    >>> import engine as torch
    >>> torch.quantile(torch.tensor([0.0, 1.0, 2.0, 3.0]), 0.5)
    tensor(1.5000)
    """
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@takes_out
def nanquantile(
    input: Tensor, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear"
) -> Tensor:
    """As quantile, over the elements that are not nan.

    Shapes: (*), (*q) -> (*q); along `dim` (*, D, *), (*q) -> (*q, *, *).  Raises RuntimeError for q outside 0 … 1, of
    more dimensions than one, or of another dtype.  Source: torch.nanquantile.

    >>> import engine as torch
    >>> torch.nanquantile(torch.tensor([3.0, float("nan"), 1.0]), 0.5)
    tensor(2.)
    """
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


# -- the different ones -------------------------------------------------------------------------------------------


def unique(
    input: Tensor, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
    dim: int | None = None,
) -> Any:  # fmt: skip
    """The distinct values in order (with `dim`: the distinct slices), on request with inverse indices and counts.

    Shapes: (*) -> (K), (*), (K) of K values; of `dim` (*, D, *) -> (*, K, *), (D), (K).  Raises IndexError where there
    is no dimension `dim`.  Source: torch.unique.

    >>> import engine as torch
    >>> torch.unique(torch.tensor([3, 1, 3]))
    tensor([1, 3])
    """
    need_tensor(input, "unique")
    place = None if dim is None else one_dim(dim, input._array.ndim)
    escape(input, "unique")
    result = sr.unique(input) if place is None else sr.unique_dim(input, dim=place)
    return _on_request(result, return_inverse, return_counts)


def unique_consecutive(
    input: Tensor, return_inverse: bool = False, return_counts: bool = False, dim: int | None = None
) -> Any:
    """As unique, but only among neighbours: the first of every run of equal elements.

    Shapes: (*) -> (K), (*), (K) of K values; of `dim` (*, D, *) -> (*, K, *), (D), (K).  Raises IndexError where there
    is no dimension `dim`.  Source: torch.unique_consecutive.

    >>> import engine as torch
    >>> torch.unique_consecutive(torch.tensor([1, 1, 2, 1]))
    tensor([1, 2, 1])
    """
    need_tensor(input, "unique_consecutive")
    place = None if dim is None else one_dim(dim, input._array.ndim)
    escape(input, "unique")
    return _on_request(sr.unique_consecutive(input, dim=place), return_inverse, return_counts)


def _on_request(results: Any, inverse: bool, counts: bool) -> Any:
    parts = (results[0], *((results[1],) if inverse else ()), *((results[2],) if counts else ()))
    return parts if len(parts) > 1 else parts[0]


METHODS = (
    "sort", "argsort", "msort", "topk", "median", "nanmedian", "mode", "kthvalue", "quantile", "nanquantile", "unique",
    "unique_consecutive",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
