"""The derivative of a sampled function: torch.gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...arrays import errors
from ...ops import elementwise as el
from ...ops import scalar
from ...ops import shape as so
from ...tensor.tensor import Tensor
from ..calls.check import combination, need_tensor, one_dim

__all__ = ["gradient"]


def gradient(input: Tensor, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple[Tensor, ...]:
    """The derivative along each dimension of `dim` (default: all), by central differences.

    `spacing` is the distance of two points, or for each dimension a distance or the places of the points (of one
    dimension each).  At the two ends the difference has one side; with `edge_order=2` a parabola through three points.
    Every result has the shape of `input`.  Errors are torch's.

    Shapes: (*) -> (*), ...  Raises RuntimeError where a size is not above `edge_order`.  Source: torch.gradient.

    >>> import engine as torch
    >>> torch.gradient(torch.tensor([1.0, 2.0, 4.0, 7.0]))
    (tensor([1.0000, 1.5000, 2.5000, 3.0000]),)
    """
    need_tensor(input, "gradient")
    rank = input._array.ndim
    spacing = 1 if spacing is None else spacing
    if isinstance(spacing, Tensor) and not spacing._array.ndim and not spacing._requires_grad:
        spacing = spacing.item()
    single = isinstance(spacing, (int, float))
    if not single and not isinstance(spacing, (list, tuple)):
        raise combination("gradient", input, spacing=spacing)
    dims = _dims(dim, rank)
    if not single:
        _need_as_many(spacing, dims, dim, rank)
    _need_points(input, dims, edge_order)
    apart = [spacing] * len(dims) if single else spacing
    return tuple(_slope(input, d, h, edge_order) for d, h in zip(dims, apart, strict=True))


def _dims(dim: Any, rank: int) -> list[int]:
    if dim is None:
        return list(range(rank))
    dims = [one_dim(d, rank) for d in (dim if isinstance(dim, (list, tuple)) else (dim,))]
    for d in dims:
        if dims.count(d) > 1:
            raise errors.runtime(f"dim {d} appears multiple times in the list of dims")
    return dims


def _need_as_many(spacing: Sequence[Any], dims: list[int], dim: Any, rank: int) -> None:
    """Raise torch's errors for distances that are not one for each dimension, and for places that are no row."""
    if dim is None and len(spacing) != rank:
        raise errors.runtime(
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to 'self.dim() = "
            f"{rank}', since dim argument was not given, but got a list of length {len(spacing)}"
        )
    if len(spacing) != len(dims):
        raise errors.runtime(
            "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to have the "
            f"same length, but got a spacing argument of length {len(spacing)} and a dim argument of length "
            f"{len(dims)}."
        )
    for places in spacing:
        if isinstance(places, Tensor) and places._array.ndim != 1:
            raise errors.runtime(
                "torch.gradient expected each element of spacing to have one dimension, but got an element with "
                f"{places._array.ndim} dimensions!"
            )


def _need_points(input: Tensor, dims: list[int], edge_order: int) -> None:
    if edge_order not in (1, 2):
        raise errors.runtime("torch.gradient only supports edge_order=1 and edge_order=2.")
    if any(input._array.shape[d] < edge_order + 1 for d in dims):
        raise errors.runtime("torch.gradient expected each dimension size to be at least edge_order+1")


def _part(tensor: Tensor, dim: int, start: int, end: int) -> Tensor:
    return so.slice_(tensor, dim=dim, start=start, end=end)


def _slope(y: Tensor, dim: int, apart: Any, edge_order: int) -> Tensor:
    parts = _uneven(y, dim, apart, edge_order) if isinstance(apart, Tensor) else _even(y, dim, apart, edge_order)
    return so.cat(parts, dim=dim)


def _even(y: Tensor, dim: int, h: Any, edge_order: int) -> list[Tensor]:
    """Points that are `h` apart."""
    n = y._array.shape[dim]
    first, second, third = (_part(y, dim, k, k + 1) for k in (0, 1, min(2, n - 1)))
    last, before, earlier = (_part(y, dim, n - k, n - k + 1) for k in (1, 2, min(3, n)))
    middle = scalar.div_number(el.sub(_part(y, dim, 2, n), _part(y, dim, 0, n - 2)), other=h)
    if edge_order == 1:
        start, end = el.sub(second, first), el.sub(last, before)
    else:
        times = scalar.mul_number
        start = el.sub(el.add(times(first, other=-1.5), times(second, other=2)), times(third, other=0.5))
        end = el.add(el.sub(times(earlier, other=0.5), times(before, other=2)), times(last, other=1.5))
    divide = scalar.div_number
    return [divide(start, other=h), divide(middle, other=2), divide(end, other=h)]


def _uneven(y: Tensor, dim: int, places: Tensor, edge_order: int) -> list[Tensor]:
    """Points at `places`: the slope, at each, of the parabola through it and its two neighbours."""
    n, many = y._array.shape[dim], places._array.shape[0]
    steps = places[1:] - places[:-1]
    wide = (1,) * dim + (-1,) + (1,) * (y._array.ndim - dim - 1)
    one, two = (steps[part].reshape(wide) for part in (slice(0, many - 2), slice(1, many - 1)))
    near = [_part(y, dim, k, n - 2 + k) for k in range(3)]
    weights = (-two / (one * (one + two)), (two - one) / (one * two), one / (two * (one + two)))
    middle = _weighted(near, weights)
    if edge_order == 1:
        start = (_part(y, dim, 1, 2) - _part(y, dim, 0, 1)) / steps[0]
        end = (_part(y, dim, n - 1, n) - _part(y, dim, n - 2, n - 1)) / steps[many - 2]
        return [start, middle, end]
    one, two = steps[0], steps[1]
    weights = (-(2.0 * one + two) / (one * (one + two)), (one + two) / (one * two), -one / (two * (one + two)))
    start = _weighted([_part(y, dim, k, k + 1) for k in range(3)], weights)
    one, two = steps[many - 3], steps[many - 2]
    weights = (two / (one * (one + two)), -(one + two) / (one * two), (one + 2.0 * two) / (two * (one + two)))
    return [start, middle, _weighted([_part(y, dim, n - 3 + k, n - 2 + k) for k in range(3)], weights)]


def _weighted(parts: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    a, b, c = (weight * part for part, weight in zip(parts, weights, strict=True))
    return a + b + c
