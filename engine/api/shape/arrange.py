"""Elements moved or repeated, and matrices made of diagonals."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...ops import arrange as ar
from ...ops import image as im
from ...ops import indexing as ix
from ...ops import shape as sh
from ...ops import views as vw
from ...tensor.escapes import escape
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import kind, one_dim, sizes_of
from ..calls.out import takes_out
from .parts import two_dims
from .shape import flatten, reshape, unsqueeze

__all__ = [
    "constant_pad_nd",
    "diag",
    "diag_embed",
    "diagflat",
    "flip",
    "fliplr",
    "flipud",
    "repeat_interleave",
    "roll",
    "rot90",
    "tile",
]

# -- several times ------------------------------------------------------------------------------------------------


def repeat(self: Tensor, *times: Any, repeats: Any = None) -> Tensor:
    """The tensor repeated along each dimension; more numbers than dimensions add dimensions in front.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).repeat(2, 2)
    tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    if not times and repeats is None:
        raise TypeError('repeat() missing 1 required positional arguments: "repeats"')
    times, shape = sizes_of(times if repeats is None else (repeats,)), self._array.shape
    if len(times) < len(shape):
        raise errors.runtime(
            "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor"
        )
    sizes = [n * r for n, r in zip((1,) * (len(times) - len(shape)) + shape, times, strict=True)]
    for n in sizes:
        if n < 0:
            raise errors.runtime(f"Trying to create tensor with negative dimension {n}: {sizes}")
    return ar.repeat(self, times)


def tile(input: Tensor, dims: Any) -> Tensor:
    """The tensor repeated along its last dimensions.

    Shapes: (*) -> (*'), each size times its number in `dims`.  Source: torch.tile.

    >>> import engine as torch
    >>> torch.tile(torch.tensor([1, 2]), (2,))
    tensor([1, 2, 1, 2])
    """
    if isinstance(dims, int):
        raise TypeError("tile(): argument 'dims' (position 2) must be tuple of ints, not int")
    return repeat(input, (1,) * (input._array.ndim - len(dims)) + tuple(dims))


def tile_method(self: Tensor, *times: Any, dims: Any = None) -> Tensor:
    """As `tile`; the numbers may stand one by one.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).tile(2)
    tensor([1, 2, 1, 2])
    """
    if not times and dims is None:
        raise TypeError('tile() missing 1 required positional arguments: "dims"')
    return tile(self, sizes_of(times if dims is None else (dims,)))


def repeat_interleave(
    input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None
) -> Tensor:
    """Each element (or part along `dim`) `repeats` times in a row; with a single tensor, each index that many times.

    Shapes: (*) -> (N) of N elements; along `dim` (*, D, *) -> (*, D', *).  Raises RuntimeError for negative repeats, or
    another number of them.  Source: torch.repeat_interleave.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).repeat_interleave(torch.tensor([2, 1]))
    tensor([1, 1, 2])
    """
    if repeats is None:
        return _places(input, output_size)
    if dim is None:
        input, dim = flatten(input), 0
    if isinstance(repeats, Tensor):
        return _interleaved(input, repeats, dim, output_size)
    if repeats < 0:
        raise errors.runtime("Repeats must be non-negative")
    rank = input._array.ndim
    place = one_dim(dim, rank)
    wide = unsqueeze(input, place + 1)
    sizes = (*input._array.shape[: place + 1], repeats, *input._array.shape[place + 1 :])
    copied = sh.clone(sh.expand(wide, sizes), memory_format="contiguous")
    return flatten(copied, place, place + 1)


def _places(repeats: Tensor, output_size: int | None) -> Tensor:
    """Each place as many times as the tensor says."""
    counts = repeats._array
    if counts.dtype.kind == "f" or counts.dtype.name not in ("int64", "int32"):
        raise NotImplementedError(f"\"repeat_interleave_cpu\" not implemented for '{kind(repeats)}'")
    if counts.ndim != 1:
        raise errors.runtime("repeat_interleave only accept 1D vector as repeat")
    if (counts < 0).any():
        raise errors.runtime("repeats can not be negative")
    if output_size is not None and output_size != int(counts.sum()):
        raise errors.runtime("allocated size does not match required size")
    escape(repeats, "repeat_interleave")
    return tensor_of(xp.repeat(xp.arange(counts.size, dtype=counts.dtype, like=counts), counts))


def _interleaved(input: Tensor, repeats: Tensor, dim: int, output_size: int | None) -> Tensor:
    counts = repeats._array
    place = one_dim(dim, input._array.ndim)
    n = input._array.shape[place] if input._array.ndim else 1
    if counts.ndim > 1 or (counts.dtype.kind == "f" and counts.ndim > 1):
        raise errors.runtime("repeats must be 0-dim or 1-dim tensor")
    if counts.size == 1:
        repeats = tensor_of(xp.broadcast_to(counts.reshape(1), (n,)))
    elif counts.size != n:
        raise errors.runtime(
            "repeats must have the same size as input along dim, but got repeats.size(0) = "
            f"{counts.size} and input.size({place}) = {n}"
        )
    return ix.index_select(input, _places(repeats, output_size), place)


# -- moved along and turned ---------------------------------------------------------------------------------------


def roll(input: Tensor, shifts: Any, dims: Any = ()) -> Tensor:
    """Elements shifted along dimensions; those shifted beyond the end reappear at the start.

    Without `dims` the tensor is rolled as if it were flattened.

    Shapes: (*) -> (*).  Raises RuntimeError where `shifts` and `dims` differ in length, IndexError where there is no
    such dimension.  Source: torch.roll.

    >>> import engine as torch
    >>> torch.roll(torch.arange(5), 2)
    tensor([3, 4, 0, 1, 2])
    """
    by = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    along = (dims,) if isinstance(dims, int) else tuple(dims or ())
    if not by:
        raise errors.runtime("`shifts` required")
    if len(by) != len(along) and (along or len(by) > 1):
        raise errors.runtime(f"shifts and dimensions must align. shifts: {len(by)}, dims:{len(along)}")
    if along and not input._array.ndim:
        raise IndexError(f"Dimension specified as {along[0]} but tensor has no dimensions")
    return ar.roll(input, by, tuple(one_dim(d, input._array.ndim) for d in along))


def rot90(input: Tensor, k: int = 1, dims: Any = (0, 1)) -> Tensor:
    """Rotated by `k` times 90 degrees in the plane of two dimensions, from the first towards the second.

    Shapes: (*, N, *, M, *) -> (*, N', *, M', *).  Raises RuntimeError where `dims` are not two different ones.
    Source: torch.rot90.

    >>> import engine as torch
    >>> torch.rot90(torch.tensor([[1, 2], [3, 4]]))
    tensor([[2, 4],
            [1, 3]])
    """
    rank = input._array.ndim
    if len(dims) != 2:
        raise errors.runtime(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if rank < 2:
        raise errors.runtime(f"expected total dims >= 2, but got total dims = {rank}")
    first, second = (one_dim(d, rank) for d in dims)
    if first == second:
        raise errors.runtime(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return ar.rot90(input, k, (first, second))


def flip(input: Tensor, *along: Any, dims: Any = None) -> Tensor:
    """The elements in the opposite order along `dims`.

    Shapes: (*) -> (*).  Raises IndexError where there is no such dimension.  Source: torch.flip.

    >>> import engine as torch
    >>> torch.flip(torch.arange(3), (0,))
    tensor([2, 1, 0])
    """
    names = dims if dims is not None else along
    if dims is None and not along:
        raise TypeError('flip() missing 1 required positional arguments: "dims"')
    names = names[0] if len(names) == 1 and isinstance(names[0], (tuple, list)) else names
    for place, d in enumerate(names if isinstance(names, (tuple, list)) else (names,)):
        if not hasattr(d, "__index__"):
            raise TypeError(
                "flip(): argument 'dims' (position 1) must be tuple of ints, but found element of type "
                f"{type(d).__name__} at pos {place}"
            )
    axes = tuple(one_dim(d, input._array.ndim) for d in names)
    for d in axes:
        if axes.count(d) > 1:
            raise errors.runtime(f"dim {d} appears multiple times in the list of dims")
    return sh.flip(input, axes)


def fliplr(input: Tensor) -> Tensor:
    """Columns in the opposite order.

    Shapes: (N, M, *) -> (N, M, *).  Raises RuntimeError for fewer than two dimensions.  Source: torch.fliplr.

    >>> import engine as torch
    >>> torch.fliplr(torch.tensor([[1, 2, 3]]))
    tensor([[3, 2, 1]])
    """
    if input._array.ndim < 2:
        raise errors.runtime("Input must be >= 2-d.")
    return sh.flip(input, (1,))


def flipud(input: Tensor) -> Tensor:
    """Rows in the opposite order.

    Shapes: (N, *) -> (N, *).  Raises RuntimeError for no dimension.  Source: torch.flipud.

    >>> import engine as torch
    >>> torch.flipud(torch.tensor([[1], [2]]))
    tensor([[2],
            [1]])
    """
    if input._array.ndim < 1:
        raise errors.runtime("Input must be >= 1-d.")
    return sh.flip(input, (0,))


# -- diagonals and edges ------------------------------------------------------------------------------------------


@takes_out
def diag(input: Tensor, diagonal: int = 0) -> Tensor:
    """A matrix with a vector on its diagonal, or the diagonal of a matrix (a copy).

    Shapes: (N) -> (N', N'), N' = N + the size of `diagonal`; (N, M) -> (D).  Raises RuntimeError for other dimensions.
    Source: torch.diag.

    >>> import engine as torch
    >>> torch.diag(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    rank = input._array.ndim
    if rank == 1:
        return vw.diag_embed(input, diagonal, 0, 1)
    if rank == 2:
        return vw.diagonal_copy(input, diagonal, 0, 1)
    raise errors.runtime(f"diag(): Supports 1D or 2D tensors. Got {rank}D")


def diag_embed(input: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """Matrices, in the plane of two new dimensions, with the last dimension of `input` on their diagonals.

    Shapes: (*, N) -> (*'), one dimension more.  Raises RuntimeError where `dim1` and `dim2` are the same.
    Source: torch.diag_embed.

    >>> import engine as torch
    >>> torch.diag_embed(torch.tensor([[1, 2]]))
    tensor([[[1, 0],
             [0, 2]]])
    """
    first, second = two_dims(input, dim1, dim2, 1)
    return vw.diag_embed(input, offset, first, second)


def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """A matrix with all elements on its diagonal.

    Shapes: (*) -> (N, N).  Source: torch.diagflat.

    >>> import engine as torch
    >>> torch.diagflat(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    return vw.diag_embed(reshape(input, -1), offset, 0, 1)


def constant_pad_nd(input: Tensor, pad: Any, value: Any = 0) -> Tensor:
    """The tensor with a border of `value`: `pad` has the widths before and after, the last dimension first.

    Shapes: (*) -> (*'), as many dimensions.  Raises RuntimeError where `pad` is odd or too long.
    Source: torch.constant_pad_nd.

    >>> import engine as torch
    >>> torch.constant_pad_nd(torch.tensor([1, 2]), (1, 2))
    tensor([0, 1, 2, 0, 0])
    """
    sides, shape = tuple(int(n) for n in pad), input._array.shape
    if len(sides) % 2:
        raise errors.runtime(f"Length of pad must be even but instead it equals {len(sides)}")
    if len(sides) > 2 * len(shape):
        raise errors.runtime(
            "Length of pad should be no more than twice the number of dimensions of the input. Pad length is "
            f"{len(sides)}while the input has {len(shape)}dimensions."
        )
    for place in range(len(sides) // 2):
        n, (before, after) = shape[-1 - place], sides[2 * place : 2 * place + 2]
        if n + min(before, 0) + min(after, 0) < 0 and before < 0 and after < 0:
            raise errors.runtime("narrow(): length must be non-negative.")
        if n + before + after < 0:
            raise errors.runtime(
                f"The input size {n}, plus negative padding {before} and {after} resulted in a negative output size, "
                f"which is invalid. Check dimension {len(shape) - 1 - place} of your input."
            )
    return im.constant_pad_nd(input, sides, value)


METHODS = ("repeat", "repeat_interleave", "roll", "rot90", "flip", "fliplr", "flipud", "diag", "diag_embed", "diagflat")
"""Functions that are methods of Tensor too."""
