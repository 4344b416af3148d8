"""Views by strides (diagonals, windows, any geometry) and in parts, and the copies that torch has of some of them."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, library_of, memory_of, strided, xp, zeros_at
from .notation import index_notation
from .op import PLAIN, VIEW, Traits, op
from .presentation import DIAGONAL, REARRANGED, Presentation
from .result_shapes import Attrs, ShapeArgument
from .shape import Sizes, cat, reshape, slice_backward

# -- diagonals ----------------------------------------------------------------------------------------------------


def diagonal_length(rows: int, columns: int, offset: int) -> int:
    """How many elements a diagonal has."""
    return max(0, min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns))


def _diagonal(self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    """Not numpy's: that one cannot be written."""
    n = diagonal_length(self.shape[dim1], self.shape[dim2], offset)
    first: list[Any] = [slice(None)] * self.ndim
    if n:
        first[dim1 if offset < 0 else dim2] = slice(abs(offset), None)
    rest = [d for d in range(self.ndim) if d not in (dim1, dim2)]
    sizes = [*(self.shape[d] for d in rest), n]
    steps = [*(self.strides[d] for d in rest), self.strides[dim1] + self.strides[dim2]]
    return strided(self[tuple(first)], sizes, steps)


def _spread_diagonal(self: Array, sizes: Sizes, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    out = zeros_at(self, sizes)
    _diagonal(out, offset, dim1, dim2)[...] = self
    return out


def _diagonal_copy(self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    return _diagonal(self, offset, dim1, dim2).copy()


def _diag_embed(self: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Array:
    side = self.shape[-1] + abs(offset)
    sizes = list(self.shape[:-1])
    for d in sorted((dim1, dim2)):
        sizes.insert(d, side)
    return _spread_diagonal(self, tuple(sizes), offset, dim1, dim2)


def _on_diagonal(attrs: Attrs, first: Sizes) -> Sizes | None:
    """How long the diagonal of a matrix is; of batches of them it is not worked out."""
    if len(first) != 2 or (attrs.get("dim1", 0), attrs.get("dim2", 1)) != (0, 1):
        return None
    offset = attrs.get("offset", 0)
    return (max(0, min(first[0] + min(0, offset), first[1] - max(0, offset))),)


diagonal = op(
    "diagonal", _diagonal, VIEW,
    Presentation(shape=_on_diagonal, word="the numbers on the diagonal", indexed=index_notation.diagonal),
    self=lambda grad, self_sizes, offset, dim1, dim2: diagonal_backward(grad, self_sizes, offset, dim1, dim2),
)  # fmt: skip
diagonal_backward = op(
    "diagonal_backward", _spread_diagonal, Traits(node="DiagonalBackwardBackward0"),
    Presentation(shape=ShapeArgument("sizes"), name="diag", word=DIAGONAL, indexed=index_notation.diagonal_placed),
    self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)  # fmt: skip
diagonal_copy = op(
    "diagonal_copy", _diagonal_copy, Traits(node="DiagonalBackward0_copy"),
    self=lambda grad, self_sizes, offset, dim1, dim2: diagonal_backward(grad, self_sizes, offset, dim1, dim2),
)  # fmt: skip
diag_embed = op(
    "diag_embed", _diag_embed, PLAIN,
    Presentation(name="diag", word=DIAGONAL), self=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2)
)  # fmt: skip

# -- windows ------------------------------------------------------------------------------------------------------


def _unfold(self: Array, dimension: int, size: int, step: int) -> Array:
    if not self.ndim:
        return strided(self, (size,), (self.itemsize,))
    places = (self.shape[dimension] - size) // step + 1
    sizes, steps = list(self.shape), list(self.strides)
    sizes[dimension], steps[dimension] = places, steps[dimension] * step
    return strided(self, (*sizes, size), (*steps, self.strides[dimension]))


def _unfold_backward(self: Array, sizes: Sizes, dimension: int, size: int, step: int) -> Array:
    """Each window added where it was taken: one slice per place in a window, or per window where those are fewer."""
    out = zeros_at(self, sizes)
    if not sizes:
        return out + self.sum()
    before = (slice(None),) * dimension
    places = self.shape[dimension]
    if size <= places:
        for k in range(size):
            out[(*before, slice(k, k + (places - 1) * step + 1, step))] += self[..., k]
    else:
        for p in range(places):
            out[(*before, slice(p * step, p * step + size))] += xp.moveaxis(self[(*before, p)], -1, dimension)
    return out


unfold = op(
    "unfold", _unfold, VIEW,
    Presentation(word="the windows along a dimension"),
    self=lambda grad, self_sizes, dimension, size, step: unfold_backward(grad, self_sizes, dimension, size, step),
)  # fmt: skip
unfold_backward = op(
    "unfold_backward", _unfold_backward, Traits(node="UnfoldBackwardBackward0"),
    Presentation(
        shape=ShapeArgument("sizes"), name="unfoldᵀ",
        word="the transpose of unfold: each window's numbers are added where they were read",
    ),
    self=lambda grad, dimension, size, step: unfold(grad, dimension, size, step),
)  # fmt: skip

# -- any geometry -------------------------------------------------------------------------------------------------

Geometry = tuple[Sizes, Sizes, int]
"""Sizes, strides (in elements) and the place in memory of the first element."""


def places_of(geometry: Geometry, like: Array) -> Array:
    """Where in memory each element lies."""
    sizes, steps, first = geometry
    places = library_of(like).full(sizes, first, dtype="int64")
    for d, (n, step) in enumerate(zip(sizes, steps, strict=True)):
        places += (xp.arange(n, like=like) * step).reshape((n,) + (1,) * (len(sizes) - d - 1))
    return places


def _as_strided(
    self: Array, size: Sizes, stride: Sizes, storage_offset: int, source_stride: Sizes = (), source_offset: int = 0
) -> Array:
    memory, _ = memory_of(self)
    return strided(memory[storage_offset:], size, [s * self.itemsize for s in stride])


def _as_strided_copy(
    self: Array, size: Sizes, stride: Sizes, storage_offset: int, source_stride: Sizes = (), source_offset: int = 0
) -> Array:
    return _as_strided(self, size, stride, storage_offset).copy()


def _laid(self: Array, own: Geometry, target: Geometry, shared: Geometry) -> Array:
    """Elements laid down by one geometry, read by another; what several of `shared` lie on is divided among them."""
    put, read, owners = (places_of(g, self) for g in (own, target, shared))
    room = 1 + max(int(p.max()) if p.size else 0 for p in (put, read, owners))
    memory, owned = xp.zeros(room, dtype=self.dtype, like=self), xp.zeros(room, dtype="int64", like=self)
    xp.add.at(memory, put, self)
    xp.add.at(owned, owners, 1)
    return (memory / xp.maximum(owned, 1).astype(self.dtype))[read]


def _restrided(
    self: Array, sizes: Sizes, size: Sizes, stride: Sizes, storage_offset: int, source_stride: Sizes, source_offset: int
) -> Array:
    """From the geometry of a result back to that of the tensor it was taken from."""
    source = sizes, source_stride, source_offset
    return _laid(self, (size, stride, storage_offset), source, source)


def _strided_from(
    self: Array, size: Sizes, stride: Sizes, storage_offset: int, source_stride: Sizes, source_offset: int
) -> Array:
    """Read `self` by `as_strided` as if it lay in memory by the geometry of its source."""
    source = self.shape, source_stride, source_offset
    return _laid(self, source, (size, stride, storage_offset), source)


STRIDED = "the numbers that size and stride select in memory"
as_strided = op(
    "as_strided", _as_strided, VIEW,
    Presentation(word=STRIDED),
    self=lambda grad, self_sizes, size, stride, storage_offset, source_stride, source_offset: as_strided_backward(
        grad, self_sizes, size, stride, storage_offset, source_stride, source_offset
    ),
)  # fmt: skip
as_strided_into = op(
    "as_strided_", _as_strided, Traits(node="AsStridedBackward1", view=True),
    Presentation(word=STRIDED),
    self=lambda grad, self_sizes, size, stride, storage_offset, source_stride, source_offset: as_strided_backward(
        grad, self_sizes, size, stride, storage_offset, source_stride, source_offset
    ),
)  # fmt: skip
"""In place: the same view, under the name that torch's node has there."""
as_strided_copy = op(
    "as_strided_copy", _as_strided_copy, Traits(node="AsStridedBackward0_copy"),
    self=lambda grad, self_sizes, size, stride, storage_offset, source_stride, source_offset: as_strided_backward(
        grad, self_sizes, size, stride, storage_offset, source_stride, source_offset
    ),
)  # fmt: skip
as_strided_backward = op(
    "as_strided_backward", _restrided, PLAIN,
    Presentation(
        shape=ShapeArgument("sizes"), name="as_stridedᵀ",
        word="the transpose of as_strided: each number is added at the position in memory from which it was read",
    ),
    self=lambda grad, size, stride, storage_offset, source_stride, source_offset: as_strided_from(
        grad, size, stride, storage_offset, source_stride, source_offset
    ),
)  # fmt: skip
as_strided_from = op(
    "as_strided_from", _strided_from, PLAIN,
    Presentation(shape=ShapeArgument("size"), word=STRIDED),
    self=lambda grad, self_sizes, size, stride, storage_offset, source_stride, source_offset: as_strided_backward(
        grad, self_sizes, size, stride, storage_offset, source_stride, source_offset
    ),
)  # fmt: skip

# -- parts --------------------------------------------------------------------------------------------------------


def _split(self: Array, split_size: int, dim: int = 0) -> tuple[Array, ...]:
    n = self.shape[dim]
    starts = range(0, n, split_size) if n else (0,)
    before = (slice(None),) * dim
    return tuple(self[(*before, slice(start, start + split_size))] for start in starts)


def _split_with_sizes(self: Array, split_sizes: Sizes, dim: int = 0) -> tuple[Array, ...]:
    before, start, parts = (slice(None),) * dim, 0, []
    for n in split_sizes:
        parts.append(self[(*before, slice(start, start + n))])
        start += n
    return tuple(parts)


def _unsafe_split(self: Array, split_size: int, dim: int = 0) -> tuple[Array, ...]:
    return _split(self, split_size, dim)


def _unsafe_split_with_sizes(self: Array, split_sizes: Sizes, dim: int = 0) -> tuple[Array, ...]:
    return _split_with_sizes(self, split_sizes, dim)


split = op("split", _split, VIEW, self=lambda grads, dim: cat(grads, dim))
split_with_sizes = op("split_with_sizes", _split_with_sizes, VIEW, self=lambda grads, dim: cat(grads, dim))
unsafe_split = op("unsafe_split", _unsafe_split, Traits(unsafe=True), self=lambda grads, dim: cat(grads, dim))
unsafe_split_with_sizes = op(
    "unsafe_split_with_sizes", _unsafe_split_with_sizes, Traits(unsafe=True), self=lambda grads, dim: cat(grads, dim)
)


def _narrow_copy(self: Array, dim: int, start: int, length: int) -> Array:
    return self[(slice(None),) * dim + (slice(start, start + length),)].copy()


def _view_copy(self: Array, size: Sizes) -> Array:
    return self.reshape(size).copy()


narrow_copy = op(
    "narrow_copy", _narrow_copy,
    self=lambda grad, self_sizes, dim, start, length: slice_backward(grad, self_sizes, dim, start, start + length, 1),
)  # fmt: skip
view_copy = op(
    "view_copy", _view_copy, Traits(node="ViewBackward0_copy"), REARRANGED,
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
