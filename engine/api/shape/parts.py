"""Parts of a tensor: slices, pieces, windows, diagonals, any geometry; most are views."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.array import memory_of
from ...ops import shape as sh
from ...ops import views as vw
from ...tensor.escapes import escape
from ...tensor.tensor import Tensor
from ..calls.check import combination, kind, one_dim, whole
from ..calls.examples import with_example

__all__ = [
    "as_strided",
    "chunk",
    "diagonal",
    "dsplit",
    "hsplit",
    "narrow",
    "select",
    "split",
    "split_with_sizes",
    "tensor_split",
    "unbind",
    "unsafe_chunk",
    "unsafe_split",
    "unsafe_split_with_sizes",
    "vsplit",
]

# -- one part -----------------------------------------------------------------------------------------------------


def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The part at `index` of dimension `dim`, without that dimension.

    Shapes: (*, D, *) -> (*, *).  Raises IndexError where there is no dimension `dim`, or no place `index`.
    Source: torch.select.

    >>> import engine as torch
    >>> torch.select(torch.tensor([[1, 2], [3, 4]]), 1, 0)
    tensor([1, 3])
    """
    if not input._array.ndim:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    place, number = selected(input, dim, index)
    return sh.select(input, place, number)


def selected(input: Tensor, dim: int, index: Any) -> tuple[int, int]:
    place, index = one_dim(dim, input._array.ndim), int(index)
    n = input._array.shape[place] if input._array.ndim else 0
    if not -n <= index < n:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(input._array.shape)} at dimension {place}"
        )
    return place, index + n if index < 0 else index


def narrowed(input: Tensor, dim: int, start: Any, length: Any) -> tuple[int, int, int]:
    """(dimension, first place, place after the last) of what narrow takes."""
    size, length = length, length.item() if isinstance(length, Tensor) else length
    if not isinstance(length, int):
        raise combination("narrow", dim, start, size)
    if not input._array.ndim:
        raise errors.runtime("narrow() cannot be applied to a 0-dim tensor.")
    if length < 0:
        raise errors.runtime("narrow(): length must be non-negative.")
    if isinstance(start, Tensor) and (start._array.ndim or start._array.dtype.kind not in "iu"):
        raise errors.runtime("start must be an 0-dim integral Tensor.")
    place = one_dim(dim, input._array.ndim)
    n, first = input._array.shape[place], int(start)
    if not -n <= first <= n:
        raise IndexError(f"start out of range (expected to be in range of [{-n}, {n}], but got {first})")
    first = first + n if first < 0 else first
    if first + length > n:
        raise errors.runtime(f"start ({first}) + length ({length}) exceeds dimension size ({n}).")
    return place, first, first + length


def narrow(input: Tensor, dim: int, start: Any, length: Any) -> Tensor:
    """`length` elements of dimension `dim` from `start`.

    Shapes: (*, D, *) -> (*, length, *).  Raises RuntimeError where the part is not inside, IndexError where there is no
    dimension `dim`.  Source: torch.narrow.

    >>> import engine as torch
    >>> torch.narrow(torch.arange(5), 0, 1, 3)
    tensor([1, 2, 3])
    """
    return sh.slice_(input, *narrowed(input, dim, start, length))


def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, as views.

    Shapes: (*, D, *) -> (*, *), ... D of them.  Raises IndexError where there is no dimension `dim`.
    Source: torch.unbind.

    >>> import engine as torch
    >>> torch.unbind(torch.tensor([1.0, 2.0]))
    (tensor(1.), tensor(2.))
    """
    if not input._array.ndim:
        raise IndexError("Dimension specified as 0 but tensor has no dimensions")
    parts: tuple[Tensor, ...] = sh.unbind(input, one_dim(dim, input._array.ndim))
    return parts


# -- in pieces ----------------------------------------------------------------------------------------------------


def _piece(input: Tensor, split_size: int, dim: int) -> int:
    """The dimension that is split, checked."""
    if not input._array.ndim:
        raise errors.runtime("split expects at least a 1-dimensional tensor")
    if split_size < 0:
        raise errors.runtime(f"split expects split_size be non-negative, but got split_size={split_size}")
    place = one_dim(dim, input._array.ndim)
    if not split_size and input._array.shape[place]:
        raise errors.runtime(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {input._array.shape[place]}"
        )
    return place


def _pieces(input: Tensor, sizes: tuple[int, ...], dim: int) -> int:
    """The dimension that is split into parts of given sizes, checked."""
    if not input._array.ndim:
        raise errors.runtime("split_with_sizes expects at least a 1-dimensional tensor")
    place = one_dim(dim, input._array.ndim)
    if any(n < 0 for n in sizes):
        raise errors.runtime(
            f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={list(sizes)}"
        )
    n = input._array.shape[place]
    if sum(sizes) != n:
        raise errors.runtime(
            f"split_with_sizes expects split_sizes to sum exactly to {n} (input tensor's size at dimension {place}), "
            f"but got split_sizes={list(sizes)}"
        )
    return place


def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of size `split_size`, the last with the rest; or of given sizes.

    Shapes: (*, D, *) -> (*, D', *), ...  Raises RuntimeError for a negative size, or sizes that do not sum to D.
    Source: torch.split.

    >>> import engine as torch
    >>> torch.arange(5).split(2)
    (tensor([0, 1]), tensor([2, 3]), tensor([4]))
    """
    if isinstance(split_size_or_sections, Tensor):
        split_size_or_sections = int(split_size_or_sections)
    if isinstance(split_size_or_sections, int):
        place = _piece(tensor, split_size_or_sections, dim)
        parts: tuple[Tensor, ...] = vw.split(tensor, split_size_or_sections, place)
        return parts
    return split_with_sizes(tensor, split_size_or_sections, dim)


def split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """As `split`, under the names of Tensor's method.

    >>> import engine as torch
    >>> torch.arange(3).split(2)
    (tensor([0, 1]), tensor([2]))
    """
    return split(self, split_size, dim)


def split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of given sizes along `dim`.

    Shapes: (*, D, *) -> (*, D', *), ...  Raises RuntimeError for a negative size, or sizes that do not sum to D.
    Source: torch.split_with_sizes.

    >>> import engine as torch
    >>> torch.split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    if not isinstance(split_sizes, (list, tuple)):
        raise TypeError(
            "split_with_sizes(): argument 'split_sizes' (position 2) must be tuple of ints, not "
            f"{type(split_sizes).__name__}"
        )
    sizes = tuple(int(n) for n in split_sizes)
    parts: tuple[Tensor, ...] = vw.split_with_sizes(input, sizes, _pieces(input, sizes, dim))
    return parts


def unsafe_split(input: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As split, of tensors that may each be written in place.

    Shapes: (*, D, *) -> (*, D', *), ...  Raises RuntimeError for a negative size.
    Source: torch.unsafe_split.

    >>> import engine as torch
    >>> torch.unsafe_split(torch.arange(3), 2)
    (tensor([0, 1]), tensor([2]))
    """
    parts: tuple[Tensor, ...] = vw.unsafe_split(input, split_size, _piece(input, split_size, dim))
    return parts


def unsafe_split_with_sizes(input: Tensor, split_sizes: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """As split_with_sizes, of tensors that may each be written in place.

    Shapes: (*, D, *) -> (*, D', *), ...  Raises RuntimeError for a negative size, or sizes that do not sum to D.
    Source: torch.unsafe_split_with_sizes.

    >>> import engine as torch
    >>> torch.unsafe_split_with_sizes(torch.arange(3), [1, 2])
    (tensor([0]), tensor([1, 2]))
    """
    sizes = tuple(int(n) for n in split_sizes)
    parts: tuple[Tensor, ...] = vw.unsafe_split_with_sizes(input, sizes, _pieces(input, sizes, dim))
    return parts


def _number(sections: Any) -> Any:
    """How many parts, where a tensor without dimensions says so; else what was given."""
    return whole(sections) if isinstance(sections, Tensor) and not sections._array.ndim else sections


def _chunked(input: Tensor, chunks: int, dim: int) -> Any:
    """The size of a chunk; a list of sizes where the dimension is empty."""
    if not input._array.ndim:
        raise errors.runtime("chunk expects at least a 1-dimensional tensor")
    chunks = _number(chunks)
    if not isinstance(chunks, int):
        raise TypeError(f"chunk(): argument 'chunks' (position 1) must be int, not {type(chunks).__name__}")
    if chunks <= 0:
        raise errors.runtime(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    n = input._array.shape[one_dim(dim, input._array.ndim)]
    return -(-n // chunks) or [0] * chunks


def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most `chunks` views of one size, the last may be smaller.

    Shapes: (*, D, *) -> (*, D / chunks, *), ...  Raises RuntimeError for chunks below 1, IndexError where there is no
    dimension `dim`.  Source: torch.chunk.

    >>> import engine as torch
    >>> torch.chunk(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    return split(input, _chunked(input, chunks, dim), dim)


def unsafe_chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """As chunk, of tensors that may each be written in place.

    Shapes: (*, D, *) -> (*, D / chunks, *), ...  Raises RuntimeError for chunks below 1, IndexError where there is no
    dimension `dim`.  Source: torch.unsafe_chunk.

    >>> import engine as torch
    >>> torch.unsafe_chunk(torch.arange(4), 2)
    (tensor([0, 1]), tensor([2, 3]))
    """
    size = _chunked(input, chunks, dim)
    return unsafe_split(input, size, dim) if isinstance(size, int) else unsafe_split_with_sizes(input, size, dim)


def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """`sections` parts whose sizes differ by at most one, or parts that end at given indices.

    Shapes: (*, D, *) -> (*, D', *), ...  Raises RuntimeError for fewer than one part, IndexError where there is no
    dimension `dim`.  Source: torch.tensor_split.

    >>> import engine as torch
    >>> torch.tensor_split(torch.arange(5), 2)
    (tensor([0, 1, 2]), tensor([3, 4]))
    """
    if not input._array.ndim:
        raise errors.runtime("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims")
    pieces = next((g for g in (indices_or_sections, indices, sections) if g is not None), None)
    if not isinstance(pieces, (Tensor, int, tuple, list)):
        raise combination("tensor_split", input, pieces)
    if isinstance(pieces, Tensor):
        if pieces._array.dtype != "int64":
            raise errors.runtime(
                f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got {kind(pieces)}"
            )
        if pieces._array.ndim > 1:
            raise errors.runtime(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, "
                f"but got a tensor with {pieces._array.ndim} dims"
            )
        escape(pieces, "tolist")
        pieces = pieces._array.tolist()
    place = one_dim(dim, input._array.ndim)
    n = input._array.shape[place]
    if isinstance(pieces, int):
        if pieces <= 0:
            raise errors.runtime(f"number of sections must be larger than 0, got {pieces}")
        small, larger = divmod(n, pieces)
        ends = [(k + 1) * small + min(k + 1, larger) for k in range(pieces - 1)]
    else:
        ends = [int(k) for k in pieces]
    return tuple(_span(input, place, a, b) for a, b in zip([0, *ends], [*ends, n], strict=True))


def _span(input: Tensor, dim: int, start: int, end: int) -> Tensor:
    """The slice between two places, which may be counted from the back or lie outside."""
    first, last, _ = slice(start, end).indices(input._array.shape[dim])
    return sh.slice_(input, dim, first, max(first, last))


def _side_split(name: str, least: int, dim: int, shapes: str) -> Any:
    def function(
        input: Tensor, indices_or_sections: Any = None, *, indices: Any = None, sections: Any = None
    ) -> tuple[Tensor, ...]:
        rank = input._array.ndim
        sections = _number(next((g for g in (indices_or_sections, indices, sections) if g is not None), None))
        if not isinstance(sections, (int, tuple, list)):
            raise combination(name, input, sections)
        if rank < least:
            raise errors.runtime(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor with {rank} "
                "dimensions!"
            )
        place = 0 if rank == 1 else dim
        n = input._array.shape[place]
        if isinstance(sections, int) and (not sections or n % sections):
            raise errors.runtime(
                f"torch.{name} attempted to split along dimension {place}, but the size of the dimension {n} is not "
                f"divisible by the split_size {sections}!"
            )
        return tensor_split(input, sections, place)

    function.__name__ = function.__qualname__ = name
    doc = f"Parts along dimension {dim}: a number of equal parts, or parts that end at given indices."
    function.__doc__ = with_example(doc, name, shapes=f"Shapes: {shapes}, or a number that does not divide D.")
    return function


hsplit = _side_split(
    "hsplit", 1, 1, "(N, D, *) -> (N, D', *), ...; vectors (D) -> (D'), ...  Raises RuntimeError for no dimension",
)  # fmt: skip
vsplit = _side_split(
    "vsplit", 2, 0, "(D, N, *) -> (D', N, *), ...  Raises RuntimeError for fewer than two dimensions",
)  # fmt: skip
dsplit = _side_split(
    "dsplit", 3, 2, "(N, M, D, *) -> (N, M, D', *), ...  Raises RuntimeError for fewer than three dimensions",
)  # fmt: skip

# -- by strides ---------------------------------------------------------------------------------------------------


def two_dims(input: Tensor, dim1: int, dim2: int, extra: int = 0) -> tuple[int, int]:
    rank = input._array.ndim
    first, second = one_dim(dim1, rank, extra), one_dim(dim2, rank, extra)
    if first == second:
        raise errors.runtime(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return first, second


def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The elements whose indices along two dimensions differ by `offset`, as the last dimension: a view.

    Shapes: (*) -> (*', D), the two dimensions gone.  Raises IndexError where there is no such dimension.
    Source: torch.diagonal.

    >>> import engine as torch
    >>> torch.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    first, second = two_dims(input, dim1, dim2)
    return vw.diagonal(input, offset, first, second)


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of `size` elements, `step` apart, along a dimension; each window becomes the last dimension.

    >>> import engine as torch
    >>> torch.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    place = one_dim(dimension, self._array.ndim)
    n = self._array.shape[place] if self._array.ndim else 1
    if size < 0:
        raise errors.runtime(f"size is {size} but must be >= 0")
    if size > n:
        raise errors.runtime(f"maximum size for tensor at dimension {place} is {n} but size is {size}")
    if step <= 0:
        raise errors.runtime(f"step is {step} but must be > 0")
    return vw.unfold(self, place, size, step)


def strides_of(input: Tensor) -> tuple[int, ...]:
    """How many elements lie in memory between neighbours along each dimension."""
    return tuple(s // input._array.itemsize for s in input._array.strides)


def storage_offset(input: Tensor) -> int:
    """The offset of the first element in its memory.

    >>> import engine as torch
    >>> torch.arange(4)[2:].storage_offset()
    2
    """
    return 0 if input._array.base is None else memory_of(input._array)[1]


def geometry(input: Tensor, size: Any, stride: Any, offset: int | None) -> dict[str, Any]:
    """The arguments of as_strided, checked against the memory that the tensor has."""
    sizes, steps = tuple(int(n) for n in size), tuple(int(n) for n in stride)
    own = storage_offset(input)
    first = own if offset is None else int(offset)
    if len(sizes) != len(steps):
        raise errors.runtime("mismatch in length of strides and shape")
    if any(s < 0 for s in steps):
        raise errors.runtime(
            f"as_strided: Negative strides are not supported at the moment, got strides: {list(steps)}"
        )
    if any(n < 0 for n in sizes):
        raise errors.runtime(f"Storage size calculation overflowed with sizes={list(sizes)} and strides={list(steps)}")
    if first < 0:
        raise errors.runtime(f"Tensor: invalid storage offset {first}")
    storage_bytes, item = memory_of(input._array)[0].nbytes, input._array.itemsize
    if 0 not in sizes:
        needed = (first + 1 + sum((n - 1) * s for n, s in zip(sizes, steps, strict=True))) * item
        if needed > storage_bytes:
            raise errors.runtime(
                f"setStorage: sizes {list(sizes)}, strides {list(steps)}, storage offset {first}, and itemsize {item} "
                f"requiring a storage size of {needed} are out of bounds for storage of size {storage_bytes}"
            )
    return {
        "size": sizes, "stride": steps, "storage_offset": first, "source_stride": strides_of(input),
        "source_offset": own,
    }  # fmt: skip


def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """The tensor's memory read with other sizes and strides (in elements): a view.

    Shapes: (*) -> (*size).  Raises RuntimeError where the memory is too small.  Source: torch.as_strided.

    >>> import engine as torch
    >>> torch.as_strided(torch.arange(6), (2, 2), (3, 1))
    tensor([[0, 1],
            [3, 4]])
    """
    return vw.as_strided(input, **geometry(input, size, stride, storage_offset))


METHODS = (
    "select", "narrow", "unbind", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk",
    "chunk", "tensor_split", "hsplit", "vsplit", "dsplit", "diagonal", "unfold", "as_strided", "storage_offset",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
