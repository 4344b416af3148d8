"""Copies of parts, and copies in which a part is replaced.  Source: torch."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...ops import parts as pa
from ...ops import views as vw
from ...tensor.tensor import Tensor
from ..calls.check import one_dim
from .parts import geometry, narrowed, selected, two_dims
from .shape import filled_in

__all__ = [
    "as_strided_copy",
    "as_strided_scatter",
    "diagonal_scatter",
    "narrow_copy",
    "select_scatter",
    "slice_scatter",
    "view_copy",
]


def narrow_copy(input: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    """As narrow, with its own memory.

    Shapes: (*, D, *) -> (*, length, *).  Raises RuntimeError where the part is not inside.  Source: torch.narrow_copy.

    >>> import engine as torch
    >>> torch.narrow_copy(torch.arange(4), 0, 1, 2)
    tensor([1, 2])
    """
    place, first, stop = narrowed(input, dim, start, length)
    return vw.narrow_copy(input, place, first, stop - first)


def as_strided_copy(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """As as_strided, with its own memory.

    Shapes: (*) -> (*size).  Raises RuntimeError where the memory is too small.  Source: torch.as_strided_copy.

    >>> import engine as torch
    >>> torch.as_strided_copy(torch.arange(4), (2,), (2,))
    tensor([0, 2])
    """
    return vw.as_strided_copy(input, **geometry(input, size, stride, storage_offset))


def view_copy(input: Tensor, size: Any) -> Tensor:
    """As view, with its own memory.

    Shapes: (*) -> (*'), as many elements.  Raises RuntimeError for another number of elements.
    Source: torch.view_copy.

    >>> import engine as torch
    >>> torch.view_copy(torch.arange(4), (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    shape = filled_in(tuple(size), input._array.size)
    return vw.view_copy(input, shape)


def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy with `src` written to the part that select takes.

    Shapes: (*, D, *), (*, *) -> (*, D, *).  Raises IndexError where there is no place `index`, RuntimeError for a `src`
    of another shape.  Source: torch.select_scatter.

    >>> import engine as torch
    >>> torch.select_scatter(torch.zeros(2, 2), torch.ones(2), 0, 1)
    tensor([[0., 0.],
            [1., 1.]])
    """
    if not input._array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place, number = selected(input, dim, index)
    part = input._array.shape[:place] + input._array.shape[place + 1 :]
    _same_part(part, src)
    return pa.select_scatter(input, src, place, number)


def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A copy with `src` written to a slice.

    Shapes: (*, D, *), (*, D', *) -> (*, D, *).  Raises RuntimeError for a `src` of another shape.
    Source: torch.slice_scatter.

    >>> import engine as torch
    >>> torch.slice_scatter(torch.zeros(4), torch.ones(2), 0, 1, 3)
    tensor([0., 1., 1., 0.])
    """
    place = one_dim(dim, input._array.ndim)
    if step <= 0:
        raise errors.runtime("slice step must be positive")
    n = input._array.shape[place]
    first, last, _ = slice(start, end, step).indices(n)
    last = max(first, last)
    part = (*input._array.shape[:place], len(range(first, last, step)), *input._array.shape[place + 1 :])
    _same_part(part, src)
    return pa.slice_scatter(input, src, place, first, last, step)


def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy with `src` written to a diagonal.

    Shapes: (*), (*', D) -> (*).  Raises RuntimeError for a `src` of another shape.  Source: torch.diagonal_scatter.

    >>> import engine as torch
    >>> torch.diagonal_scatter(torch.zeros(2, 2), torch.ones(2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    first, second = two_dims(input, dim1, dim2)
    shape = input._array.shape
    n = vw.diagonal_length(shape[first], shape[second], offset)
    _same_part((*(m for d, m in enumerate(shape) if d not in (first, second)), n), src)
    return pa.diagonal_scatter(input, src, offset, first, second)


def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy with `src` written to the elements that as_strided reads.

    Shapes: (*), (*size) -> (*).  Raises RuntimeError for a `src` of another shape.  Source: torch.as_strided_scatter.

    >>> import engine as torch
    >>> torch.as_strided_scatter(torch.zeros(4), torch.ones(2), (2,), (2,))
    tensor([1., 0., 1., 0.])
    """
    named = geometry(input, size, stride, storage_offset)
    _same_part(named["size"], src)
    return pa.as_strided_scatter(input, src, **named)


def _same_part(part: tuple[int, ...], src: Tensor) -> None:
    if src._array.shape != part:
        raise errors.runtime(
            "expected src to have a size equal to the slice of self. src size = "
            f"{list(src._array.shape)}, slice size = {list(part)}"
        )


METHODS = ("narrow_copy", "select_scatter", "slice_scatter", "diagonal_scatter", "as_strided_scatter")
"""Functions that are methods of Tensor too."""
