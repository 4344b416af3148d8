"""Running sums, products, extremes and differences along a dimension."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...ops import elementwise as el
from ...ops import inplace as ip
from ...ops import reduction as rd
from ...ops import scalar
from ...ops import scan as sc
from ...ops import shape as so
from ...tensor.tensor import Tensor
from ..calls.check import combination, need_tensor, one_dim, refused, summed_dtype
from ..calls.named_results import pair
from ..calls.out import takes_out
from ..math.choice import bitwise_xor

__all__ = [
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "cumulative_trapezoid",
    "diff",
    "logcumsumexp",
    "trapezoid",
    "trapz",
]

cummax_pair, cummin_pair = pair("cummax"), pair("cummin")


@takes_out
def cumsum(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The running sum along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.cumsum.

    >>> import engine as torch
    >>> torch.cumsum(torch.arange(4), 0)
    tensor([0, 1, 3, 6])
    """
    need_tensor(input, "cumsum")
    return rd.cumsum(input, one_dim(dim, input._array.ndim), summed_dtype(input, dtype))


@takes_out
def cumprod(input: Tensor, dim: int, *, dtype: Any = None) -> Tensor:
    """The running product along `dim`.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.cumprod.

    >>> import engine as torch
    >>> torch.cumprod(torch.tensor([1.0, 2.0, 3.0]), dim=0)
    tensor([1., 2., 6.])
    """
    need_tensor(input, "cumprod")
    return sc.cumprod(input, one_dim(dim, input._array.ndim), summed_dtype(input, dtype))


@takes_out
def logcumsumexp(input: Tensor, dim: int) -> Tensor:
    """log of the running sum of exp(input) along `dim`, without overflow.

    Shapes: (*) -> (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.logcumsumexp.

    >>> import engine as torch
    >>> torch.logcumsumexp(torch.zeros(3), 0)
    tensor([0.0000, 0.6931, 1.0986])
    """
    need_tensor(input, "logcumsumexp")
    place = one_dim(dim, input._array.ndim)
    if not input.is_floating_point():
        raise refused("logcumsumexp_out_cpu", input)
    return sc.logcumsumexp(input, place)


@takes_out
def cummax(input: Tensor, dim: int) -> Any:
    """(values, indices): the largest so far along `dim`; of ties, the last position.

    Shapes: (*) -> (*), (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.cummax.

    >>> import engine as torch
    >>> torch.cummax(torch.tensor([1, 3, 2]), 0).values
    tensor([1, 3, 3])
    """
    need_tensor(input, "cummax")
    return cummax_pair(*sc.cummax(input, one_dim(dim, input._array.ndim)))


@takes_out
def cummin(input: Tensor, dim: int) -> Any:
    """(values, indices): the smallest so far along `dim`; of ties, the last position.

    Shapes: (*) -> (*), (*).  Raises IndexError where there is no dimension `dim`.  Source: torch.cummin.

    >>> import engine as torch
    >>> torch.cummin(torch.tensor([3, 1, 2]), 0).indices
    tensor([0, 1, 1])
    """
    need_tensor(input, "cummin")
    return cummin_pair(*sc.cummin(input, one_dim(dim, input._array.ndim)))


# -- differences --------------------------------------------------------------------------------------------------


@takes_out
def diff(
    input: Tensor, n: int = 1, dim: int = -1, prepend: Tensor | None = None, append: Tensor | None = None
) -> Tensor:
    """The n-th difference of neighbours along `dim`; `prepend` and `append` are put before and after it first.

    Shapes: (*, D, *) -> (*, D', *), D' = D - n, and what is put before and after.  Raises RuntimeError for no
    dimension, or what is put there of another shape.  Source: torch.diff.

    >>> import engine as torch
    >>> torch.diff(torch.tensor([1, 4, 9]))
    tensor([3, 5])
    """
    need_tensor(input, "diff")
    if not input._array.ndim:
        raise errors.runtime("diff expects input to be at least one-dimensional")
    if n < 0:
        raise errors.runtime(f"order must be non-negative but got {n}")
    place = one_dim(dim, input._array.ndim)
    for other in (prepend, append):
        if other is not None:
            _fits(input, other, place)
    if not n:
        return ip.copy(so.zero_of(input.detach(), size=input._array.shape), input)
    parts = [t for t in (prepend, input, append) if t is not None]
    result: Tensor = so.cat(parts, dim=place) if len(parts) > 1 else input
    for _ in range(min(n, result._array.shape[place])):
        size = result._array.shape[place]
        later, earlier = _part(result, place, min(1, size), size), _part(result, place, 0, max(0, size - 1))
        result = bitwise_xor(later, earlier) if result.dtype.name == "bool" else el.sub(later, earlier)
    return result


def _fits(input: Tensor, other: Tensor, dim: int) -> None:
    mine, theirs = input._array.shape, other._array.shape
    if len(mine) != len(theirs):
        raise errors.runtime("diff expects prepend or append to be the same dimension as input")
    for d, (a, b) in enumerate(zip(mine, theirs, strict=True)):
        if d != dim and a != b:
            raise errors.runtime(
                "diff expects the shape of tensor to prepend or append to match that of input except along the "
                f"differencing dimension; input.size({d}) = {a}, but got tensor.size({d}) = {b}"
            )


def _part(tensor: Tensor, dim: int, start: int, end: int) -> Tensor:
    return so.slice_(tensor, dim=dim, start=start, end=end)


# -- areas --------------------------------------------------------------------------------------------------------


def _spacing(name: str, y: Tensor, x: Any, dx: Any, dim: int) -> Any:
    """The checked arguments: the distances of the points as a tensor, or None where they are `dx` apart."""
    need_tensor(y, name, "y")
    if not isinstance(dx, (int, float)):
        raise combination(name, y, dx=dx)
    if y.dtype.name == "bool":
        raise errors.runtime(f"{name}: received a bool input for `y`, but bool is not supported")
    if x is None:
        return None
    if not y._array.ndim:
        raise IndexError(f"Dimension specified as {max(dim, 0)} but tensor has no dimensions")
    if x.dtype.name == "bool":
        raise errors.runtime(f"{name}: received a bool input for `x`, but bool is not supported")
    place = one_dim(dim, y._array.ndim)
    if x._array.ndim == 1:
        if x._array.shape[0] != y._array.shape[place]:
            raise errors.runtime(f"{name}: There must be one `x` value for each sample point")
        x = so.view(x, size=(-1,) + (1,) * (y._array.ndim - place - 1))
    size, along = x._array.shape, place - y._array.ndim
    return el.sub(_part(x, along % x._array.ndim, 1, size[along]), _part(x, along % x._array.ndim, 0, size[along] - 1))


def _pairs(y: Tensor, dim: int) -> Tensor:
    size = y._array.shape[dim]
    return el.add(_part(y, dim, 1, size), _part(y, dim, 0, size - 1))


@takes_out
def trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area under points `y` along `dim`, at `x` or `dx` apart, by trapezoids.

    Shapes: (*, D, *), (D) -> (*, *).  Raises RuntimeError where `x` does not fit.  Source: torch.trapezoid.

    >>> import engine as torch
    >>> torch.trapezoid(torch.tensor([1.0, 5.0, 10.0]))
    tensor(10.5000)
    """
    steps = _spacing("trapezoid", y, x, dx, dim)
    if not y._array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    place = one_dim(dim, y._array.ndim)
    if steps is not None:
        return scalar.div_number(rd.sum_dim(el.mul(_pairs(y, place), steps), place), other=2.0)
    if not y._array.shape[place]:
        return so.zero_of(y.detach(), size=y._array.shape[:place] + y._array.shape[place + 1 :])
    y = y if y.is_floating_point() else y.float()
    total = rd.sum_dim(y, place)
    ends = el.add(so.select(y, dim=place, index=0), so.select(y, dim=place, index=y._array.shape[place] - 1))
    return scalar.mul_number(el.sub(total, scalar.mul_number(ends, other=0.5)), other=dx)


@takes_out
def cumulative_trapezoid(y: Tensor, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Tensor:
    """The area under points `y` up to each of them; see trapezoid.

    Shapes: (*, D, *), (D) -> (*, D - 1, *).  Raises RuntimeError where `x` does not fit.
    Source: torch.cumulative_trapezoid.

    >>> import engine as torch
    >>> torch.cumulative_trapezoid(torch.tensor([1.0, 3.0, 5.0]))
    tensor([2., 6.])
    """
    if isinstance(y, Tensor) and not y._array.ndim:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    steps = _spacing("cumulative_trapezoid", y, x, dx, dim)
    place = one_dim(dim, y._array.ndim)
    if steps is not None:
        return scalar.div_number(cumsum(el.mul(_pairs(y, place), steps), place), other=2.0)
    y = y if y.is_floating_point() else y.float()
    return cumsum(scalar.mul_number(_pairs(y, place), other=dx / 2), place)


trapz = trapezoid

METHODS = ("cumsum", "cumprod", "cummax", "cummin", "logcumsumexp", "diff")
"""Functions that are methods of Tensor too."""
