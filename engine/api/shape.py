"""Shapes and views."""

from __future__ import annotations

import math
from typing import Any

from .. import errors
from ..array import CPU, as_numpy_dtype, device, dtype, dtype_of, move
from ..ops import shape as sh
from ..tensor import Tensor
from .check import one_dim, sizes_of

__all__ = [
    "atleast_2d",
    "broadcast_to",
    "cat",
    "flatten",
    "hstack",
    "movedim",
    "narrow",
    "permute",
    "ravel",
    "reshape",
    "select",
    "squeeze",
    "stack",
    "t",
    "transpose",
    "unbind",
    "unflatten",
    "unsqueeze",
    "vstack",
]


def filled_in(size: tuple[int, ...], count: int) -> tuple[int, ...]:
    """Sizes for `count` elements, with the -1 among them worked out."""
    for place, n in enumerate(size):
        if n < -1:
            raise errors.runtime(f"invalid shape dimension {n} at index {place} of shape {list(size)}")
    open_places = size.count(-1)
    if open_places > 1:
        raise errors.runtime("only one dimension can be inferred")
    known = math.prod(n for n in size if n != -1)
    if open_places:
        if not known and not count:
            raise errors.runtime(
                f"cannot reshape tensor of 0 elements into shape {list(size)} because the unspecified dimension "
                f"size -1 "
                "can be any value and is ambiguous"
            )
        if not known or count % known:
            raise errors.runtime(f"shape '{list(size)}' is invalid for input of size {count}")
        return tuple(count // known if n == -1 else n for n in size)
    if known != count:
        raise errors.runtime(f"shape '{list(size)}' is invalid for input of size {count}")
    return size


def _viewable(array: Any, size: tuple[int, ...]) -> bool:
    """Whether the elements can be seen in another shape without a copy."""
    if array.flags.c_contiguous or not array.size:
        return True
    groups = _groups(array.shape, array.strides)
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


def view(input: Tensor, *size: Any) -> Tensor:
    """The same elements in another shape, sharing storage.  Raises RuntimeError where that takes a copy."""
    if len(size) == 1 and isinstance(size[0], dtype):
        raise errors.OutOfScope("view(dtype) reinterprets bytes, which Backstep leaves out; to(dtype) converts values")
    wanted = filled_in(sizes_of(size), input._array.size)
    if not _viewable(input._array, wanted):
        raise errors.runtime(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return sh.view(input, wanted)  # type: ignore[no-any-return]


def reshape(input: Tensor, *size: Any) -> Tensor:
    """The same elements in another shape: a view where it can be one, else a copy.

    >>> import engine as torch
    >>> torch.arange(4).reshape(2, -1)
    tensor([[0, 1],
            [2, 3]])
    """
    wanted = filled_in(sizes_of(size), input._array.size)
    if input._array.flags.c_contiguous:
        return sh.view(input, wanted)  # type: ignore[no-any-return]
    if _viewable(input._array, wanted):
        return sh.reshape_alias(input, wanted)  # type: ignore[no-any-return]
    return sh.unsafe_view(sh.clone(input, memory_format="contiguous"), wanted)  # type: ignore[no-any-return]


def view_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` seen in the shape of `other`."""
    return view(input, *other._array.shape)


def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` in the shape of `other`."""
    return reshape(input, *other._array.shape)


def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """The dimensions from `start_dim` to `end_dim` as one."""
    shape = input._array.shape
    start, end = one_dim(start_dim, len(shape)), one_dim(end_dim, len(shape))
    if start > end:
        raise errors.runtime("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, 1)
    if start == end:
        return input
    return reshape(input, *shape[:start], math.prod(shape[start : end + 1]), *shape[end + 1 :])


def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """One dimension as several."""
    shape = input._array.shape
    place = one_dim(dim, len(shape))
    return view(input, *shape[:place], *filled_in(tuple(sizes), shape[place]), *shape[place + 1 :])


def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return reshape(contiguous(input), -1)


def contiguous(input: Tensor, memory_format: Any = None) -> Tensor:
    """Itself, or a copy whose elements lie one after the other."""
    return input if input._array.flags.c_contiguous else sh.clone(input, memory_format="contiguous")


def is_contiguous(input: Tensor) -> bool:
    """Whether the elements lie one after the other in memory."""
    return bool(input._array.flags.c_contiguous)


def stride(input: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours of each dimension."""
    steps = tuple(s // input._array.itemsize for s in input._array.strides)
    return steps if dim is None else steps[one_dim(dim, len(steps))]


def size(input: Tensor, dim: int | None = None) -> Any:
    """The shape, or its entry `dim`."""
    return input.shape if dim is None else input._array.shape[one_dim(dim, input._array.ndim)]


# -- order and number of dimensions -------------------------------------------------------------------------------


def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """Two dimensions exchanged."""
    rank = input._array.ndim
    return sh.transpose(input, one_dim(dim0, rank), one_dim(dim1, rank))  # type: ignore[no-any-return]


def permute(input: Tensor, *dims: Any) -> Tensor:
    """The dimensions in another order."""
    given, rank = sizes_of(dims), input._array.ndim
    if len(given) != rank:
        raise errors.runtime(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(given)}"
        )
    order = tuple(one_dim(d, rank) for d in given)
    if len(set(order)) < rank:
        raise errors.runtime("permute(): duplicate dims are not allowed.")
    return sh.permute(input, order)  # type: ignore[no-any-return]


def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Dimensions moved to other places, the others in their order."""
    rank = input._array.ndim
    sources = [one_dim(d, rank) for d in (source if isinstance(source, (tuple, list)) else (source,))]
    places = [one_dim(d, rank) for d in (destination if isinstance(destination, (tuple, list)) else (destination,))]
    order = [d for d in range(rank) if d not in sources]
    for place, d in sorted(zip(places, sources, strict=True)):
        order.insert(place, d)
    return sh.permute(input, tuple(order))  # type: ignore[no-any-return]


def t(input: Tensor) -> Tensor:
    """A matrix with rows and columns exchanged."""
    if input._array.ndim > 2:
        raise errors.runtime(f"t() expects a tensor with <= 2 dimensions, but self is {input._array.ndim}D")
    return sh.t(input)  # type: ignore[no-any-return]


def transposed(input: Tensor) -> Tensor:
    """All dimensions in the opposite order: `x.T`."""
    return sh.permute(input, tuple(range(input._array.ndim))[::-1])  # type: ignore[no-any-return]


def matrix_transposed(input: Tensor) -> Tensor:
    """The last two dimensions exchanged: `x.mT`."""
    if input._array.ndim < 2:
        raise errors.runtime(
            f"tensor.mT is only supported on matrices or batches of matrices. Got {input._array.ndim}-D tensor."
        )
    return transpose(input, -2, -1)


def squeeze(input: Tensor, dim: Any = None) -> Tensor:
    """Without dimensions of size 1: all of them, or `dim` where it is one."""
    rank = input._array.ndim
    if dim is None:
        return sh.squeeze(input)  # type: ignore[no-any-return]
    if isinstance(dim, int):
        place = one_dim(dim, rank)
        return sh.squeeze_dim(input, place) if rank else sh.squeeze(input)  # type: ignore[no-any-return]
    return sh.squeeze_dims(input, tuple(sorted(one_dim(d, rank) for d in dim)))  # type: ignore[no-any-return]


def unsqueeze(input: Tensor, dim: int) -> Tensor:
    """With a dimension of size 1 at `dim`."""
    return sh.unsqueeze(input, one_dim(dim, input._array.ndim, 1))  # type: ignore[no-any-return]


def expand(input: Tensor, *size: Any) -> Tensor:
    """Dimensions of size 1 repeated without a copy; -1 keeps a size."""
    given, shape = sizes_of(size), input._array.shape
    return sh.expand(input, expanded(input, given, shape))  # type: ignore[no-any-return]


def expanded(input: Tensor, given: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes that `shape` is expanded to, checked."""
    extra = len(given) - len(shape)
    if extra < 0:
        raise errors.runtime(
            f"expand(torch.{dtype_of(input._array).legacy}{{{list(shape)}}}, size={list(given)}): the number of sizes "
            f"provided ({len(given)}) must be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    made = []
    for place, n in enumerate(given):
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
                f"dimension {place}.  Target sizes: {list(given)}.  Tensor sizes: {list(shape)}"
            )
        made.append(n)
    return tuple(made)


def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """`input` expanded to the shape of `other`."""
    return expand(input, *other._array.shape)


def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """`input` expanded to `size`."""
    return expand(input, *size)


def sum_to_size(input: Tensor, *size: Any) -> Tensor:
    """`input` summed down to a shape that broadcasts to its own."""
    wanted = sizes_of(size)
    return input if input._array.shape == wanted else sh.sum_to_size(input, wanted)


# -- joining ------------------------------------------------------------------------------------------------------


def _tensor_list(function: str, tensors: Any) -> list[Tensor]:
    if isinstance(tensors, Tensor):
        raise TypeError(f"{function}(): argument 'tensors' (position 1) must be tuple of Tensors, not Tensor")
    listed = list(tensors)
    for place, tensor in enumerate(listed):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"expected Tensor as element {place} in argument 0, but got {type(tensor).__name__}")
    return listed


def cat(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors one after the other along `dim`."""
    listed = _tensor_list("cat", tensors)
    if not listed:
        raise ValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [(place, x._array.shape) for place, x in enumerate(listed) if x._array.shape != (0,)]
    if shapes:
        first = shapes[0][1]
        if not first:
            raise errors.runtime("zero-dimensional tensor (at position 0) cannot be concatenated")
        dim = one_dim(dim, len(first))
        for place, shape in shapes[1:]:
            _check_joined(first, shape, dim, place)
    return sh.cat(listed, dim=dim)  # type: ignore[no-any-return]


def _check_joined(first: tuple[int, ...], shape: tuple[int, ...], dim: int, place: int) -> None:
    if len(shape) != len(first):
        raise errors.runtime(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
    for d, (want, have) in enumerate(zip(first, shape, strict=True)):
        if d != dim and want != have:
            raise errors.runtime(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} for "
                f"tensor number {place} in the list."
            )


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, as views.

    >>> import engine as torch
    >>> torch.unbind(torch.tensor([1.0, 2.0]))
    (tensor(1.), tensor(2.))
    """
    if not input._array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    found: tuple[Tensor, ...] = sh.unbind(input, one_dim(dim, input._array.ndim))
    return found


def stack(tensors: Any, dim: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension.

    >>> import engine as torch
    >>> torch.stack([torch.tensor(1.0), torch.tensor(2.0)])
    tensor([1., 2.])
    """
    listed = _tensor_list("stack", tensors)
    if not listed:
        raise errors.runtime("stack expects a non-empty TensorList")
    first = listed[0]._array.shape
    place = one_dim(dim, len(first), 1)
    for number, tensor in enumerate(listed):
        if tensor._array.shape != first:
            raise errors.runtime(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and "
                f"{list(tensor._array.shape)} at entry {number}"
            )
    return sh.stack(listed, dim=place)  # type: ignore[no-any-return]


def hstack(tensors: Any) -> Tensor:
    """Tensors side by side: along the second dimension, vectors along their only one."""
    listed = [reshape(x, 1) if not x._array.ndim else x for x in _tensor_list("hstack", tensors)]
    return cat(listed, 0 if listed and listed[0]._array.ndim == 1 else 1)


def vstack(tensors: Any) -> Tensor:
    """Tensors on top of each other: along the first dimension, vectors as rows."""
    return cat([atleast_2d(x) for x in _tensor_list("vstack", tensors)], 0)


def atleast_2d(input: Tensor) -> Tensor:
    """With two dimensions at least."""
    if not input._array.ndim:
        return reshape(input, 1, 1)
    return unsqueeze(input, 0) if input._array.ndim == 1 else input


# -- parts --------------------------------------------------------------------------------------------------------


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The part at `index` of dimension `dim`, which goes away."""
    if not input._array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place = one_dim(dim, input._array.ndim)
    n = input._array.shape[place]
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input._array.shape)} at dimension {place}"
        )
    return sh.select(input, place, index + n if index < 0 else index)  # type: ignore[no-any-return]


def narrow(input: Tensor, dim: int, start: int, length: int) -> Tensor:
    """`length` places of dimension `dim` from `start`."""
    place = one_dim(dim, input._array.ndim)
    n = input._array.shape[place]
    start = start + n if start < 0 else start
    if length < 0 or start > n or start + length > n:
        raise errors.runtime(f"start ({start}) + length ({length}) exceeds dimension size ({n}).")
    return sh.slice_(input, place, start, start + length)  # type: ignore[no-any-return]


# -- dtype, device, history ---------------------------------------------------------------------------------------


def to(input: Tensor, *args: Any, dtype: Any = None, device: Any = None, copy: bool = False, **_: Any) -> Tensor:
    """The tensor in another dtype or on another device; itself where nothing changes."""
    for value in args:
        if isinstance(value, Tensor):
            dtype, device = value.dtype, value.device
        elif _is_device(value):
            device = value
        elif not isinstance(value, bool):
            dtype = value
    wanted = as_numpy_dtype(dtype)
    moved = input if device is None else on_device(input, device)
    if wanted is not None and wanted != moved._array.dtype:
        return sh.cast(moved, wanted)  # type: ignore[no-any-return]
    return sh.clone(moved) if copy and moved is input else moved


def _is_device(value: Any) -> bool:
    return isinstance(value, (str, device))


def on_device(input: Tensor, where: Any) -> Tensor:
    """The tensor on another device; gradients come back to this one."""
    place = device(where)
    if place == input.device:
        return input
    if place.type == "cpu" and input.device == CPU:
        return input
    move(input._array[:0] if input._array.ndim else input._array, place)  # says at once where there is no GPU
    return sh.transfer(input, str(place), str(input.device))  # type: ignore[no-any-return]


def type_(input: Tensor, dtype: Any = None) -> Any:
    """torch's name of the tensor type, or the tensor in another dtype."""
    if dtype is None:
        return f"torch.{input.dtype.legacy}"
    return to(input, dtype)


swapaxes = transpose

METHODS = (
    "reshape", "flatten", "unflatten", "ravel", "transpose", "swapaxes", "permute", "movedim", "t", "squeeze",
    "unsqueeze", "broadcast_to", "select", "narrow", "unbind",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
