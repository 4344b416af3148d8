"""Parts taken out and put in: by place in the flattened tensor, by mask, by view."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from ..arrays.array import Array, xp, zeros_at
from .choice import masked_fill, zero
from .op import PLAIN, Traits, op
from .presentation import ADDED_AT, Presentation
from .result_shapes import ShapeArgument, like_first
from .scatter import copying
from .shape import Sizes, reshape, select, slice_
from .views import Geometry, as_strided_from, diagonal, places_of

# -- by place -----------------------------------------------------------------------------------------------------


def _take(self: Array, index: Array) -> Array:
    return self.reshape(-1)[index]


def _take_sum(self: Array, index: Array, sizes: Sizes) -> Array:
    """Each element added where `take` took it from."""
    out = zeros_at(self, sizes)
    xp.add.at(out.reshape(-1), index, self)
    return out


def _put(self: Array, index: Array, source: Array, accumulate: bool = False) -> None:
    flat = self.reshape(-1)
    if accumulate:
        xp.add.at(flat, index, source.reshape(index.shape))
    else:
        flat[index] = source.reshape(index.shape)
    if not self.flags.c_contiguous:
        self[...] = flat.reshape(self.shape)  # reshape made a copy


take = op(
    "take", _take, PLAIN, Presentation(word="the numbers at the positions in the flattened tensor"),
    self=lambda grad, index, self_sizes: take_sum(grad, index, self_sizes),
)  # fmt: skip
take_sum = op(
    "take_sum", _take_sum, PLAIN, Presentation(shape=ShapeArgument("sizes"), name="add_at", word=ADDED_AT),
    self=lambda grad, index: take(grad, index),
)  # fmt: skip
put = op(
    "put", copying(_put), Traits(write=_put, by_place=True),
    Presentation(shape=like_first, word="the elements at the positions in the flattened tensor are replaced"),
    self=lambda grad, index, source, accumulate: grad if accumulate else put(grad, index, zero(source)),
    source=lambda grad, index, source_sizes: reshape(take(grad, index), source_sizes),
)  # fmt: skip

# -- by mask ------------------------------------------------------------------------------------------------------


def _masked_select(self: Array, mask: Array) -> Array:
    if self.shape == mask.shape:
        return self.reshape(1)[mask.reshape(1)] if not self.ndim else self[mask]
    both = xp.broadcast_shapes(self.shape, mask.shape)
    return xp.broadcast_to(self, both)[xp.broadcast_to(mask, both)]


def _masked_spread(self: Array, mask: Array, sizes: Sizes) -> Array:
    """Zeros with the elements of `self` where `mask`, one after the other."""
    out = zeros_at(self, sizes)
    wide = xp.broadcast_to(mask, sizes)
    out[wide] = self.reshape(-1)[: int(wide.sum())]
    return out


def _masked_taken(self: Array, mask: Array, sizes: Sizes) -> Array:
    """The elements where `mask`, then zeros: as many as `sizes` holds."""
    values = _masked_select(self, mask)
    out = zeros_at(self, sizes)
    out.reshape(-1)[: values.size] = values
    return out


def _masked_scatter(self: Array, mask: Array, source: Array) -> None:
    wide = xp.broadcast_to(mask, self.shape)
    self[wide] = source.reshape(-1)[: int(wide.sum())]


def _joint(self: Sizes, mask: Sizes) -> Sizes:
    return tuple(xp.broadcast_shapes(self, mask))


masked_select = op(
    "masked_select", _masked_select, PLAIN,
    Presentation(chooses=True),
    self=lambda grad, mask, self_sizes, mask_sizes: masked_spread(grad, mask, _joint(self_sizes, mask_sizes)),
)  # fmt: skip
masked_spread = op(
    "masked_spread", _masked_spread, PLAIN,
    Presentation(
        shape=ShapeArgument("sizes"), name="spread_mask",
        word="the numbers in turn where the mask is True, 0 elsewhere",
    ),
    self=lambda grad, mask, self_sizes: masked_taken(grad, mask, self_sizes),
)  # fmt: skip
masked_taken = op(
    "masked_taken", _masked_taken, PLAIN,
    Presentation(shape=ShapeArgument("sizes"), name="take_mask", word="the numbers where the mask is True, in turn"),
    self=lambda grad, mask, self_sizes, mask_sizes: masked_spread(grad, mask, _joint(self_sizes, mask_sizes)),
)  # fmt: skip
masked_scatter = op(
    "masked_scatter", copying(_masked_scatter), Traits(write=_masked_scatter, reads_first=True),
    Presentation(chooses=True, shape=like_first, word="the elements where the mask is True are replaced"),
    self=lambda grad, mask: masked_fill(grad, mask, 0),
    source=lambda grad, mask, source_sizes: masked_taken(grad, mask, source_sizes),
)  # fmt: skip

# -- by view ------------------------------------------------------------------------------------------------------


def _select_scatter(self: Array, src: Array, dim: int, index: int) -> None:
    self[(slice(None),) * dim + (index, Ellipsis)] = src


def _slice_scatter(self: Array, src: Array, dim: int, start: int, end: int, step: int = 1) -> None:
    self[(slice(None),) * dim + (slice(start, end, step),)] = src


def _diagonal_scatter(self: Array, src: Array, offset: int = 0, dim1: int = 0, dim2: int = 1) -> None:
    diagonal.op.kernel(self, offset, dim1, dim2)[...] = src


def _as_strided_scatter(
    self: Array, src: Array, size: Sizes, stride: Sizes, storage_offset: int, source_stride: Sizes, source_offset: int
) -> None:
    source: Geometry = self.shape, source_stride, source_offset
    put_at, own = places_of((size, stride, storage_offset), self), places_of(source, self)
    memory = zeros_at(self, (1 + max(int(p.max()) if p.size else 0 for p in (put_at, own)),))
    memory[own] = self
    memory[put_at] = src
    self[...] = memory[own]


select_scatter = op(
    "select_scatter", copying(_select_scatter), PLAIN,
    Presentation(shape=like_first, word="one slice is replaced"),
    self=lambda grad, dim, index: select_scatter(grad, zero(select(grad, dim, index)), dim, index),
    src=lambda grad, dim, index: select(grad, dim, index),
)  # fmt: skip
slice_scatter = op(
    "slice_scatter", copying(_slice_scatter), PLAIN,
    Presentation(shape=like_first, word="a part is replaced"),
    self=lambda grad, dim, start, end, step: slice_scatter(
        grad, zero(slice_(grad, dim, start, end, step)), dim, start, end, step
    ),
    src=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)  # fmt: skip
diagonal_scatter = op(
    "diagonal_scatter", copying(_diagonal_scatter), PLAIN,
    Presentation(shape=like_first, word="the diagonal is replaced"),
    self=lambda grad, offset, dim1, dim2: diagonal_scatter(
        grad, zero(diagonal(grad, offset, dim1, dim2)), offset, dim1, dim2
    ),
    src=lambda grad, offset, dim1, dim2: diagonal(grad, offset, dim1, dim2),
)  # fmt: skip
as_strided_scatter = op(
    "as_strided_scatter", copying(_as_strided_scatter), PLAIN,
    Presentation(shape=like_first, word="the elements that size and stride select in memory are replaced"),
    self=lambda grad, size, stride, storage_offset, source_stride, source_offset: as_strided_scatter(
        grad, zero(as_strided_from(grad, size, stride, storage_offset, source_stride, source_offset)),
        size, stride, storage_offset, source_stride, source_offset,
    ),
    src=lambda grad, size, stride, storage_offset, source_stride, source_offset: as_strided_from(
        grad, size, stride, storage_offset, source_stride, source_offset
    ),
)  # fmt: skip
