"""Statistics: means and variances together, reductions without nan, distances, covariances and counts."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...ops import choice as ch
from ...ops import elementwise as el
from ...ops import linalg as lo
from ...ops import reduction as rd
from ...ops import shape as so
from ...ops import statistics as st
from ...ops.views import diagonal
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import kind, need_float, need_tensor, one_dim, refused, some_dims, summed_dtype
from ..calls.named_results import aminmax_pair
from ..calls.out import takes_out
from .reduction import spread_arguments

__all__ = [
    "aminmax",
    "bincount",
    "corrcoef",
    "count_nonzero",
    "cov",
    "dist",
    "histc",
    "nanmean",
    "nansum",
    "renorm",
    "std_mean",
    "trace",
    "var_mean",
]


@takes_out
def var_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(variance, mean); see var.

    Shapes: (*) -> (), (); over `dim` (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.var_mean.

    >>> import engine as torch
    >>> torch.var_mean(torch.tensor([1.0, 3.0]))
    (tensor(2.), tensor(2.))
    """
    return st.var_mean(input, **spread_arguments("var_mean", input, dim, unbiased, correction, keepdim))


@takes_out
def std_mean(
    input: Tensor, dim: Any = None, unbiased: bool | None = None, keepdim: bool = False, *,
    correction: float | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """(standard deviation, mean); see std.

    Shapes: (*) -> (), (); over `dim` (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.std_mean.

    >>> import engine as torch
    >>> torch.std_mean(torch.tensor([1.0, 2.0, 3.0]))
    (tensor(1.), tensor(2.))
    """
    return st.std_mean(input, **spread_arguments("std_mean", input, dim, unbiased, correction, keepdim))


@takes_out
def aminmax(input: Tensor, *, dim: int | None = None, keepdim: bool = False) -> Any:
    """(min, max) of all elements or along `dim`; ties share the gradient.

    Shapes: (*) -> (), (); along `dim` (*, D, *) -> (*, *), (*, *); with `keepdim` (*, D, *) -> (*, 1, *), (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.aminmax.

    >>> import engine as torch
    >>> torch.aminmax(torch.tensor([3, 1, 2])).max
    tensor(3)
    """
    need_tensor(input, "aminmax")
    if dim is None:
        if not input._array.size:
            raise errors.runtime(
                "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
            )
        return aminmax_pair(*st.aminmax(input, dim=None, keepdim=keepdim))
    place = one_dim(dim, input._array.ndim)
    if input._array.ndim and not input._array.shape[place]:
        raise IndexError(f"aminmax: Expected reduction dim {place} to have non-zero size.")
    return aminmax_pair(*st.aminmax(input, dim=place, keepdim=keepdim))


# -- what is no nan -----------------------------------------------------------------------------------------------


@takes_out
def nansum(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The sum of the elements that are not nan.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.nansum.

    >>> import engine as torch
    >>> torch.nansum(torch.tensor([1.0, float("nan")]))
    tensor(1.)
    """
    need_tensor(input, "nansum")
    dims = some_dims(() if dim is None else dim, input._array.ndim)
    return st.nansum(input, dim=dims, keepdim=keepdim, dtype=summed_dtype(input, dtype))


@takes_out
def nanmean(input: Tensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The mean of the elements that are not nan.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.nanmean.

    >>> import engine as torch
    >>> torch.nanmean(torch.tensor([1.0, float("nan")]))
    tensor(1.)
    """
    need_tensor(input, "nanmean")
    if not input.is_floating_point():
        raise errors.runtime(f"nanmean(): expected input to have floating point or complex dtype but got {kind(input)}")
    dims = some_dims(() if dim is None else dim, input._array.ndim)
    there = ch.logical_not(ch.isnan(input.detach()))
    return el.div(nansum(input, dim, keepdim, dtype=dtype), rd.sum_dim(there, dims, keepdim))


# -- distances and norms ------------------------------------------------------------------------------------------


def dist(input: Tensor, other: Tensor, p: float = 2) -> Tensor:
    """The p-norm of input - other.

    Shapes: (*), (*) -> (), broadcast.  Raises RuntimeError where they do not.  Source: torch.dist.

    >>> import engine as torch
    >>> torch.dist(torch.tensor([0.0, 0.0]), torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    need_tensor(input, "dist")
    need_tensor(other, "dist", "other", 2)
    if not input.is_floating_point() and not other.is_floating_point():
        raise errors.runtime(
            f"norm(): input dtype should be either floating point or complex. Got {kind(input)} instead."
        )
    return st.dist(input, other, p=float(p))


@takes_out
def renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> Tensor:
    """Scale the parts along `dim` whose p-norm is above `maxnorm` down to it.

    Shapes: (*) -> (*).  Raises RuntimeError for one dimension alone, or `maxnorm` below 0.  Source: torch.renorm.

    >>> import engine as torch
    >>> torch.renorm(torch.tensor([[3.0, 4.0], [0.3, 0.4]]), 2, 0, 1)
    tensor([[0.6000, 0.8000],
            [0.3000, 0.4000]])
    """
    need_tensor(input, "renorm")
    place = need_renorm(input, p, dim, maxnorm)
    return st.renorm(input, p=float(p), dim=place, maxnorm=float(maxnorm))


def need_renorm(input: Tensor, p: float, dim: int, maxnorm: float) -> int:
    """The dimension of a renorm, all arguments looked at."""
    if p <= 0:
        raise errors.runtime("renorm: non-positive-norm not supported")
    if maxnorm < 0:
        raise errors.runtime(f"renorm: expected maxnorm to be >= 0 but got {maxnorm:g}")
    if input._array.ndim < 2:
        raise errors.runtime(f"renorm: input needs at least 2 dimensions, got {input._array.ndim} dimensions")
    place = one_dim(dim, input._array.ndim)
    if not input.is_floating_point():
        raise errors.runtime(
            f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind(input)}"
        )
    return place


def trace(input: Tensor) -> Tensor:
    """The sum of the diagonal of a matrix.

    Shapes: (N, M) -> ().  Raises RuntimeError for other dimensions than two.  Source: torch.trace.

    >>> import engine as torch
    >>> torch.trace(torch.tensor([[1, 2], [3, 4]]))
    tensor(5)
    """
    need_tensor(input, "trace")
    if input._array.ndim != 2:
        raise errors.runtime(f"trace: expected a matrix, but got tensor with dim {input._array.ndim}")
    if input.dtype.name == "bool":
        raise refused("trace", input)
    return st.trace(input)


# -- covariance ---------------------------------------------------------------------------------------------------


def _weights(name: str, weights: Tensor, observations: int, whole: bool) -> None:
    if weights._array.ndim > 1:
        raise errors.runtime(
            f"cov(): expected {name} to have one or fewer dimensions but got {name} with {weights._array.ndim} "
            "dimensions"
        )
    if weights.is_floating_point() == whole:
        word = "integral" if whole else "floating point"
        raise errors.runtime(f"cov(): expected {name} to have {word} dtype but got {name} with {kind(weights)} dtype")
    if weights.numel() != observations:
        raise errors.runtime(
            f"cov(): expected {name} to have the same numel as there are observations in the input but got "
            f"{weights.numel()} != {observations}"
        )
    if weights.numel() and bool((weights._array < 0).any()):
        raise errors.runtime(f"cov(): {name} cannot be negative")


def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """The covariances of the rows, each a variable with its observations in the columns.

    `fweights` says how often each observation was made, `aweights` how much it counts.

    Shapes: (N, M), (M), (M) -> (N, N); (M), (M), (M) -> ().  Raises RuntimeError for more than two dimensions, or
    weights of another shape.  Source: torch.cov.

    >>> import engine as torch
    >>> torch.cov(torch.tensor([[0.0, 2.0], [0.0, 4.0]]))
    tensor([[2., 4.],
            [4., 8.]])
    """
    need_tensor(input, "cov")
    rank = input._array.ndim
    if rank > 2:
        raise errors.runtime(
            f"cov(): expected input to have two or fewer dimensions but got an input with {rank} dimensions"
        )
    if input.dtype.name == "bool":
        raise errors.runtime("cov(): bool dtype is not supported for input")
    rows = so.view(input, size=(1, input.numel())) if rank < 2 else input
    observations = rows._array.shape[1]
    weights = _joint_weights(fweights, aweights, observations)
    if weights is None:
        total: Any = observations
        sums = rd.sum_dim(rows, 1)
    else:
        total = rd.sum_all(weights)
        sums = rd.sum_dim(el.mul(rows, weights), 1)
    average = el.div(sums, _number(total, sums))
    free = _free(total, weights, aweights, correction)
    centred = el.sub(rows, so.unsqueeze(average, dim=1))
    other = centred if weights is None else el.mul(centred, weights)
    products = el.div(lo.mm(centred, so.t(other)), _number(free, centred))
    return so.squeeze(products)


def _joint_weights(fweights: Tensor | None, aweights: Tensor | None, observations: int) -> Tensor | None:
    if fweights is not None:
        _weights("fweights", fweights, observations, True)
    if aweights is not None:
        _weights("aweights", aweights, observations, False)
    if fweights is None or aweights is None:
        return aweights if fweights is None else fweights
    return el.mul(fweights, aweights)


def _free(total: Any, weights: Tensor | None, aweights: Tensor | None, correction: int) -> Any:
    """Compute the number that a sum of products is divided by, at least 0."""
    if weights is None:
        return max(0, total - correction)
    if not correction:
        return total
    lost: Any = correction
    if aweights is not None:
        lost = el.div(el.mul(rd.sum_all(el.mul(weights, aweights)), correction), total)
    return ch.clamp_min(el.sub(total, lost), min=0)


def _number(value: Any, like: Tensor) -> Tensor:
    """A number as a tensor without dimensions, as torch divides by it."""
    return value if isinstance(value, Tensor) else tensor_of(xp.asarray(value, dtype="int64", like=like._array))


def corrcoef(input: Tensor) -> Tensor:
    """The correlations of the rows: covariances divided by the standard deviations.

    Shapes: (N, M) -> (N, N); (M) -> ().  Raises RuntimeError for more than two dimensions.  Source: torch.corrcoef.

    >>> import engine as torch
    >>> torch.corrcoef(torch.tensor([[1.0, 2.0, 3.0], [3.0, 2.0, 1.0]]))
    tensor([[ 1., -1.],
            [-1.,  1.]])
    """
    need_tensor(input, "corrcoef")
    rank = input._array.ndim
    if rank > 2:
        raise errors.runtime(
            f"corrcoef(): expected input to have two or fewer dimensions but got an input with {rank} dimensions"
        )
    matrix = cov(input)
    if not matrix._array.ndim:
        return el.div(matrix, matrix)
    deviation = el.sqrt(diagonal(matrix))
    n = deviation._array.shape[0]
    matrix = el.div(el.div(matrix, so.view(deviation, size=(n, 1))), so.view(deviation, size=(1, n)))
    return ch.clamp(matrix, min=-1, max=1)


# -- counts -------------------------------------------------------------------------------------------------------


def count_nonzero(input: Tensor, dim: Any = None) -> Tensor:
    """How many elements are not zero.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*').  Raises IndexError where there is no
    dimension `dim`.  Source: torch.count_nonzero.

    >>> import engine as torch
    >>> torch.count_nonzero(torch.tensor([0, 7, 7]))
    tensor(2)
    """
    need_tensor(input, "count_nonzero")
    dims = some_dims(() if dim is None else dim, input._array.ndim)
    return st.count_nonzero(input, dim=dims)


def bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor:
    """How often each of 0, 1, 2 ... occurs, or the sum of its `weights`.

    Shapes: (N) -> (K), K = the largest + 1, or `minlength`.  Raises RuntimeError for negative numbers and other
    dimensions than one, NotImplementedError for floats.  Source: torch.bincount.

    >>> import engine as torch
    >>> torch.bincount(torch.tensor([0, 2, 2]))
    tensor([1, 0, 2])
    """
    need_tensor(input, "bincount")
    if input.is_floating_point() or input.dtype.name == "bool":
        raise refused("bincount_cpu", input)
    if minlength < 0:
        raise errors.runtime("minlength should be >= 0")
    if input._array.ndim != 1 or (input.numel() and int(input._array.min()) < 0):
        raise errors.runtime("bincount only supports 1-d non-negative integral inputs.")
    if weights is not None and weights._array.shape != input._array.shape:
        raise errors.runtime("weights should be 1-d and have the same length as input")
    if weights is None:
        return st.bincount(input, minlength=minlength)
    return st.bincount_weighted(input, weights, minlength=minlength)


@takes_out
def histc(input: Tensor, bins: int = 100, min: float = 0, max: float = 0) -> Tensor:
    """How many elements lie in each of `bins` equal parts of [min, max]; 0 and 0 stand for the range of the data.

    Shapes: (*) -> (bins).  Raises RuntimeError where `bins` is not positive, or `max` below `min`.
    Source: torch.histc.

    >>> import engine as torch
    >>> torch.histc(torch.tensor([1.0, 2.0, 1.0]), bins=2, min=1, max=2)
    tensor([2., 1.])
    """
    need_tensor(input, "histc")
    need_float("histogram_cpu", input)
    if bins <= 0:
        raise errors.runtime(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    if max < min:
        raise errors.runtime("torch.histc: max must be larger than min")
    ends = (min, max) if min != max or not input.numel() else (float(input._array.min()), float(input._array.max()))
    if not all(math.isfinite(end) for end in ends):
        raise errors.runtime(f"torch.histc: range of [{ends[0]:g}, {ends[1]:g}] is not finite")
    return st.histc(input, bins=bins, min=float(min), max=float(max))


METHODS = (
    "aminmax", "nansum", "nanmean", "dist", "renorm", "trace", "cov", "corrcoef", "count_nonzero", "bincount", "histc",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
