"""Shapes and views."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import array, errors
from ...arrays.array import dtype_of
from ...ops import shape as sh
from ...ops.reduction import sum_all, sum_dim
from ...tensor.tensor import Tensor
from ..calls.check import LETTERS, kind, one_dim, sizes_of

__all__ = [
    "broadcast_to",
    "flatten",
    "ravel",
    "reshape",
    "squeeze",
    "unflatten",
    "unsqueeze",
]


def filled_in(size: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Sizes for `count` elements, with the -1 among them worked out."""
    for place, n in enumerate(size):
        if n < -1:
            raise errors.runtime(f"invalid shape dimension {n} at index {place} of shape {list(size)}")
    open_places = size.count(-1)
    if open_places > 1:
        raise errors.runtime("only one dimension can be inferred")
    product = math.prod(n for n in size if n != -1)
    if open_places:
        if not product and not count:
            raise errors.runtime(
                f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension size "
                "-1 can be any value and is ambiguous"
            )
        if not product or count % product:
            raise errors.runtime(f"shape '{list(size)}' is invalid for input of size {count}")
        return tuple(count // product if n == -1 else n for n in size)
    if product != count:
        raise errors.runtime(f"shape '{list(size)}' is invalid for input of size {count}")
    return size


def _viewable(data: Any, size: tuple[int, ...]) -> bool:
    """Return whether the elements can be seen in another shape without a copy."""
    if data.flags.c_contiguous or not data.size:
        return True
    groups = _groups(data.shape, data.strides)
    left = [n for n in size if n != 1][::-1]
    for elements, _ in reversed(groups):
        while left and elements % left[0] == 0 and elements > 1:
            elements //= left.pop(0)
        if elements != 1:
            return False
    return not left


def _groups(shape: tuple[int, ...], strides: tuple[int, ...]) -> list[tuple[int, int]]:
    """Runs of dimensions that lie evenly in memory: (number of elements, stride of the innermost)."""
    groups: list[tuple[int, int]] = []
    for n, stride in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if groups and groups[-1][1] == n * stride:
            groups[-1] = (groups[-1][0] * n, stride)
        else:
            groups.append((n, stride))
    return groups


def view(input: Tensor, *sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same elements in another shape, sharing storage.  Raises RuntimeError if that needs a copy.

    >>> import engine as torch
    >>> torch.arange(4).view(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    if size is not None:
        sizes = (size,)
    elif dtype is not None:
        return _reread(input, dtype)
    if len(sizes) == 1 and isinstance(sizes[0], array.dtype):
        return _reread(input, sizes[0])
    shape = filled_in(sizes_of(sizes), input._array.size)
    if not _viewable(input._array, shape):
        raise errors.runtime(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return sh.view(input, shape)


def _reread(input: Tensor, dtype: array.dtype) -> Tensor:
    """The same bytes as elements of another dtype."""
    data = input._array
    if dtype.numpy == data.dtype:
        return sh.alias(input)
    ratio = dtype.itemsize // data.itemsize
    names = f"to view {kind(input)} as {LETTERS[dtype.name]} (different element sizes)"
    if dtype.itemsize != data.itemsize:
        if not data.ndim:
            raise errors.runtime(f"self.dim() cannot be 0 {names}")
        if data.strides[-1] != data.itemsize:
            raise errors.runtime(f"self.stride(-1) must be 1 {names}, but got {data.strides[-1] // data.itemsize}")
        if ratio > 1 and data.shape[-1] % ratio:
            raise errors.runtime(f"self.size(-1) must be divisible by {ratio} {names}, but got {data.shape[-1]}")
    return sh.view_dtype(input, dtype=dtype.numpy)


def reshape(input: Tensor, *size: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape: a view where it can be one, else a copy.

    Shapes: (*) -> (*'), as many elements.  Raises RuntimeError for another number of elements.  Source: torch.reshape.

    >>> import engine as torch
    >>> torch.reshape(torch.arange(4), (2, -1))
    tensor([[0, 1],
            [2, 3]])
    """
    result_shape = filled_in(sizes_of(size if shape is None else (shape,)), input._array.size)
    if input._array.flags.c_contiguous:
        return sh.view(input, result_shape)
    if _viewable(input._array, result_shape):
        return sh.reshape_alias(input, result_shape)
    return sh.unsafe_view(sh.clone(input, memory_format="contiguous"), result_shape)


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` seen in the shape of `other`.

    >>> import engine as torch
    >>> torch.arange(4).view_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return view(input, *other._array.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` in the shape of `other`.

    >>> import engine as torch
    >>> torch.arange(4).reshape_as(torch.zeros(2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    return reshape(input, *other._array.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` as one.

    Shapes: (*, *D, *) -> (*, D', *).  Raises RuntimeError where `start_dim` is behind `end_dim`, IndexError where there
    is no such dimension.  Source: torch.flatten.

    >>> import engine as torch
    >>> torch.flatten(torch.ones(2, 3, 4), 1).shape
    torch.Size([2, 12])
    """
    shape = input._array.shape
    start, end = one_dim(start_dim, len(shape)), one_dim(end_dim, len(shape))
    if start > end:
        raise errors.runtime("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, 1)
    if start == end:
        return input
    return reshape(input, *shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


UNFLATTEN = "unflatten got an unexpected error:"


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several.

    Shapes: (*, D, *) -> (*, *sizes, *).  Raises RuntimeError where the sizes do not multiply to D.
    Source: torch.unflatten.

    >>> import engine as torch
    >>> torch.unflatten(torch.arange(4), 0, (2, 2))
    tensor([[0, 1],
            [2, 3]])
    """
    shape = input._array.shape
    place = one_dim(dim, len(shape))
    parts = tuple(sizes)
    if not parts:
        raise errors.runtime("unflatten: sizes must be non-empty")
    if not shape:
        raise errors.runtime(f"{UNFLATTEN}\nDimension specified as {dim} but tensor has no dimensions")
    product = math.prod(n for n in parts if n != -1)
    if product and (product != shape[place] if -1 not in parts else shape[place] % product):
        raise errors.runtime(
            f"unflatten: Provided sizes {list(parts)} don't multiply up to the size of dim {place} ({shape[place]}) "
            "in the input tensor"
        )
    try:
        sizes = filled_in(parts, shape[place])
    except RuntimeError as error:
        raise errors.runtime(f"{UNFLATTEN}\n{error}") from None
    return view(input, *shape[:place], *sizes, *shape[place + 1 :])


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension.

    Shapes: (*) -> (N) of N elements.  Source: torch.ravel.

    >>> import engine as torch
    >>> torch.ravel(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 2, 3, 4])
    """
    return reshape(contiguous(input), -1)


def contiguous(input: Tensor, memory_format: Any = None) -> Tensor:
    """Itself, or a copy whose elements lie one after the other; with channels_last, channels innermost.

    >>> import engine as torch
    >>> torch.arange(4).reshape(2, 2).t().contiguous().stride()
    (2, 1)
    """
    if is_contiguous(input, memory_format):
        return input
    last = memory_format == "channels_last"
    return sh.clone(input, memory_format="channels_last" if last else "contiguous")


def is_contiguous(input: Tensor, memory_format: Any = None) -> bool:
    """Return whether the elements lie one after the other in memory; with channels_last, channels innermost.

    >>> import engine as torch
    >>> torch.arange(4).reshape(2, 2).t().is_contiguous()
    False
    """
    if memory_format == "channels_last":
        if input._array.ndim != 4:
            raise errors.runtime("required rank 4 tensor to use channels_last format")
        return bool(input._array.transpose(0, 2, 3, 1).flags.c_contiguous)
    return bool(input._array.flags.c_contiguous)


def stride(input: Tensor, dim: int | None = None) -> Any:
    """How many elements lie in memory between neighbours along each dimension.

    >>> import engine as torch
    >>> torch.zeros(2, 3).stride()
    (3, 1)
    """
    data = input._array
    if data.size:
        steps = tuple(s // data.itemsize for s in data.strides)
    else:  # numpy gives zeros, torch what they would be
        steps = tuple(math.prod(max(n, 1) for n in data.shape[place + 1 :]) for place in range(data.ndim))
    return steps if dim is None else steps[one_dim(dim, len(steps))]


def size(input: Tensor, dim: int | None = None) -> Any:
    """The shape, or its entry `dim`.

    >>> import engine as torch
    >>> torch.zeros(2, 3).size(1)
    3
    """
    return input.shape if dim is None else input._array.shape[one_dim(dim, input._array.ndim)]


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """The tensor without dimensions of size 1: without all of them, or without `dim` if its size is 1.

    Shapes: (*) -> (*').  Raises IndexError where there is no dimension `dim`.  Source: torch.squeeze.

    >>> import engine as torch
    >>> torch.squeeze(torch.ones(1, 3, 1)).shape
    torch.Size([3])
    """
    rank = input._array.ndim
    if dim is None:
        return sh.squeeze(input)
    if isinstance(dim, int):
        return sh.squeeze_dim(input, one_dim(dim, rank))
    dims = tuple(one_dim(d, rank) for d in dim)
    for d in dims:
        if dims.count(d) > 1:
            raise errors.runtime(f"dim {d} appears multiple times in the list of dims")
    return sh.squeeze_dims(input, tuple(sorted(dims)) if rank else ())


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """The tensor with a new dimension of size 1 at `dim`.

    Shapes: (*, *) -> (*, 1, *).  Raises IndexError where there can be no dimension `dim`.  Source: torch.unsqueeze.

    >>> import engine as torch
    >>> torch.unsqueeze(torch.tensor([1, 2]), 1)
    tensor([[1],
            [2]])
    """
    return sh.unsqueeze(input, one_dim(dim, input._array.ndim, 1))


def expand(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """Dimensions of size 1 repeated without a copy; -1 keeps a size.

    >>> import engine as torch
    >>> torch.tensor([[1], [2]]).expand(2, 3)
    tensor([[1, 1, 1],
            [2, 2, 2]])
    """
    target_shape, shape = sizes_of(sizes if size is None else (size,)), input._array.shape
    return sh.expand(input, expanded(input, target_shape, shape))


def expanded(input: Tensor, sizes: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that `shape` is expanded to, checked."""
    extra = len(sizes) - len(shape)
    if extra < 0:
        raise errors.runtime(
            f"expand(torch.{dtype_of(input._array).legacy}{{{list(shape)}}}, size={list(sizes)}): the number of sizes "
            f"provided ({len(sizes)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    result = []
    for place in range(len(sizes) - 1, -1, -1):
        n = sizes[place]
        present = 1 if place < extra else shape[place - extra]
        if n == -1:
            if place < extra:
                raise errors.runtime(
                    f"The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension {place}"
                )
            n = present
        elif n != present and present != 1:
            raise errors.runtime(
                f"The expanded size of the tensor ({n}) must match the existing size ({present}) at non-singleton "
                f"dimension {place}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )
        result.append(n)
    return tuple(result[::-1])


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` expanded to the shape of `other`.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).expand_as(torch.zeros(2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, *other._array.shape)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """`input` expanded to `size`.

    Shapes: (*) -> (*size).  Raises RuntimeError where `input` does not broadcast to `size`.
    Source: torch.broadcast_to.

    >>> import engine as torch
    >>> torch.broadcast_to(torch.tensor([1, 2]), (2, 2))
    tensor([[1, 2],
            [1, 2]])
    """
    return expand(input, *((size,) if isinstance(size, int) else size))


def sum_to_size(input: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """`input` summed down to a shape that broadcasts to its own.

    >>> import engine as torch
    >>> torch.ones(2, 3).sum_to_size(1, 3)
    tensor([[2., 2., 2.]])
    """
    target_shape, shape = sizes_of(sizes if size is None else (size,)), input._array.shape
    if not target_shape:
        return sum_all(input)
    if shape == target_shape:
        return input
    extra = len(shape) - len(target_shape)
    if extra < 0 or any(n not in (1, m) for n, m in zip(target_shape, shape[extra:], strict=True)):
        raise errors.runtime(f"size {{{list(target_shape)}}} is not expandable to size {{{list(shape)}}}.")
    summed = (*range(extra), *(d + extra for d, n in enumerate(target_shape) if n == 1 and shape[d + extra] != 1))
    result = sum_dim(input, summed, True) if summed else input
    return view(result, target_shape) if extra else result


METHODS = ("reshape", "flatten", "unflatten", "ravel", "squeeze", "unsqueeze", "broadcast_to")
"""Functions that are methods of Tensor too."""
