"""Shape, views and dtype: no arithmetic, except the sum that undoes a broadcast."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, Arrays, by_rows, expanded, move, xp, zeros_at
from ..arrays.array import device as device_at
from ..arrays.promotion import promote
from ..arrays.ufunc_folds import folded
from .notation import index_notation, signs, sums
from .op import PLAIN, VIEW, Traits, op
from .presentation import BACK_IN_PLACE, REARRANGED, Presentation
from .result_shapes import Attrs, Permutation, ShapeArgument, like_first

Sizes = tuple[int, ...]


def _cast(self: Array, dtype: Any, memory_format: str = "preserve", device: str | None = None) -> Array:
    """In another dtype, None for its own.  `device` tells where PyTorch put the copy: here it stays where it is."""
    dtype = self.dtype if dtype is None else dtype
    if memory_format == "preserve":
        return self.astype(dtype)
    return _clone(self.astype(dtype, copy=False), memory_format)


def _transfer(self: Array, device: str, source: str) -> Array:
    result = move(self, device_at(device))
    return result.copy() if result is self else result  # a recording that is run again stays where it is


CONVERTED = "in another dtype or on another device"
transfer = op(
    "to.device", _transfer, Traits(node="ToCopyBackward0"),
    Presentation(shape=like_first, word=CONVERTED),
    self=lambda grad, device, source: transfer(grad, source, device),
)  # fmt: skip
cast = op(
    "to", _cast, Traits(node="ToCopyBackward0"),
    Presentation(shape=like_first, word=CONVERTED),
    self=lambda grad: grad,
)  # fmt: skip


def _sum_to_size(self: Array, size: Sizes) -> Array:
    """Sum over the dimensions that broadcasting `size` to the shape of `self` added or stretched."""
    if self.shape == size:
        return self
    extra = self.ndim - len(size)
    if extra == 1 and self.shape[1:] == size:  # a bias, seen from a batch
        return folded(xp.add, self, 0)
    stretched = tuple(i + extra for i, n in enumerate(size) if n == 1 and self.shape[i + extra] != 1)
    if not stretched:
        return folded(xp.add, self, tuple(range(extra)))
    return folded(xp.add, self, (*range(extra), *stretched), keepdim=True).reshape(size)


def _expand(self: Array, size: Sizes) -> Array:
    return expanded(self, size)


sum_to_size = op(
    "sum_to_size", _sum_to_size, PLAIN,
    Presentation(shows_shape=True,
        shape=ShapeArgument("size"), name="sum_to", word="summed over the dimensions that were broadcast",
        notation=signs.total, indexed=sums.sum_of_copies,
    ),
    self=lambda grad, self_sizes: expand(grad, self_sizes),
)  # fmt: skip
expand = op(
    "expand", _expand, VIEW,
    Presentation(
        shows_shape=True, shape=ShapeArgument("size"), word="repeated along dimensions of size 1",
        indexed=index_notation.repeated,
    ),
    self=lambda grad, self_sizes: sum_to_size(grad, self_sizes),
)  # fmt: skip

# -- one dimension more or less -----------------------------------------------------------------------------------


def _unsqueeze(self: Array, dim: int) -> Array:
    return xp.expand_dims(self, dim)


def _squeeze(self: Array) -> Array:
    return xp.squeeze(self).view()  # numpy gives the array itself if nothing is squeezed


def _squeeze_dim(self: Array, dim: int) -> Array:
    return xp.squeeze(self, axis=dim) if self.ndim and self.shape[dim] == 1 else self.view()


def _squeeze_dims(self: Array, dim: Sizes) -> Array:
    return xp.squeeze(self, axis=tuple(d for d in dim if self.shape[d] == 1)).view()


def _unsqueezed(grad: Any, dim: int, self_sizes: Sizes) -> Any:
    return unsqueeze(grad, dim) if self_sizes and self_sizes[dim] == 1 else grad


RAISED = "with a new dimension of size 1"
unsqueeze = op(
    "unsqueeze", _unsqueeze, VIEW,
    Presentation(rearranges=True,
        shape=lambda attrs, first: (*first[: attrs["dim"]], 1, *first[attrs["dim"] :]),
        word=RAISED, indexed=index_notation.raised,
    ),
    self=lambda grad, dim: squeeze_dim(grad, dim),
)  # fmt: skip
squeeze = op("squeeze", _squeeze, VIEW, REARRANGED, self=lambda grad, self_sizes: reshape(grad, self_sizes))
squeeze_dim = op(
    "squeeze.dim", _squeeze_dim, Traits(node="SqueezeBackward1", view=True),
    Presentation(rearranges=True,
        shape=lambda attrs, first: tuple(n for d, n in enumerate(first) if d != attrs["dim"] or n != 1),
        indexed=index_notation.respaced,
    ),
    self=_unsqueezed,
)  # fmt: skip
squeeze_dims = op(
    "squeeze.dims", _squeeze_dims, Traits(node="SqueezeBackward2", view=True), REARRANGED,
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
squeeze_row = op("squeeze.row", _squeeze_dim, Traits(node="SqueezeBackward4"), REARRANGED, self=_unsqueezed)
"""What matmul of a vector and a matrix ends with."""

# -- reshape ------------------------------------------------------------------------------------------------------


def _view(self: Array, size: Sizes) -> Array:
    return self.reshape(size)


def _copy(self: Array, size: Sizes) -> Array:
    return self.reshape(size)


RESHAPED = "the same numbers in the same order, in another shape"
view = op(
    "view", _view, VIEW,
    Presentation(shows_shape=True, rearranges=True,
        shape=ShapeArgument("size"), name="reshape", word=RESHAPED,
        indexed=index_notation.respaced,
    ),
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
reshape_alias = op(
    "_reshape_alias", _view, Traits(node="ReshapeAliasBackward0", view=True),
    Presentation(shows_shape=True, rearranges=True),
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
unsafe_view = op(
    "_unsafe_view", _view, Traits(node="UnsafeViewBackward0", unsafe=True),
    Presentation(shows_shape=True, rearranges=True),
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
reshape = op(
    "reshape", _copy, Traits(node="ViewBackward0"),
    Presentation(shows_shape=True, rearranges=True,
        shape=ShapeArgument("size"), word=RESHAPED,
        indexed=index_notation.respaced,
    ),
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
"""Reshape in a rule: view or copy, whichever it takes."""


def _view_dtype(self: Array, dtype: Any) -> Array:
    return self.view(dtype)


view_dtype = op("view.dtype", _view_dtype, VIEW, Presentation(shows_shape=True))


def _clone(self: Array, memory_format: str = "preserve") -> Array:
    if memory_format == "channels_last":
        return self.transpose(0, 2, 3, 1).copy(order="C").transpose(0, 3, 1, 2)
    return self.copy(order="K" if memory_format == "preserve" else "C")


def _alias(self: Array) -> Array:
    return self.view()


clone = op(
    "clone", _clone, PLAIN,
    Presentation(rearranges=True, shape=like_first, word="a copy", indexed=index_notation.repeated),
    self=lambda grad: grad,
)  # fmt: skip
# What backward(create_graph=True) puts into `.grad`: a copy of its own, so that it can be written.
clone_gradient = op("clone_gradient", lambda self: self.copy(), Traits(node="CopyBackwards"), self=lambda grad: grad)
alias = op("alias", _alias, VIEW, Presentation(rearranges=True, shape=like_first), self=lambda grad: grad)


def _detach(self: Array) -> Array:
    """A view of the same memory that no gradient passes through.

    Shapes: (*) -> (*).  Source: torch.detach.

    >>> import engine as torch
    >>> torch.detach(torch.tensor([1.0], requires_grad=True))
    tensor([1.])
    """
    return self.view()


def _data(self: Array) -> Array:
    return self.view()


detach = op("detach", _detach, VIEW)
data = op("data", _data)

# -- order of dimensions ------------------------------------------------------------------------------------------


def _transpose(self: Array, dim0: int, dim1: int) -> Array:
    return xp.swapaxes(self, dim0, dim1) if self.ndim else self[...]


def _permute(self: Array, dims: Sizes) -> Array:
    return self.transpose(dims)


def _t(self: Array) -> Array:
    return self.T


def _inverse(dims: Sizes) -> Sizes:
    """The permutation that undoes `dims`."""
    return tuple(sorted(range(len(dims)), key=dims.__getitem__))


def _flip(self: Array, dims: Sizes) -> Array:
    return xp.flip(self, dims).copy() if self.ndim else self.copy()


def _swapped(attrs: Attrs, rank: int) -> Sizes:
    order = list(range(rank))
    a, b = attrs["dim0"], attrs["dim1"]
    order[a], order[b] = order[b], order[a]
    return tuple(order)


SWAPPED = "two dimensions exchanged"
transpose = op(
    "transpose", _transpose, VIEW,
    Presentation(rearranges=True,
        shape=Permutation(_swapped), word=SWAPPED, notation=signs.last_two_swapped,
        indexed=index_notation.turned, plain=True,
    ),
    self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1),
)  # fmt: skip
permute = op(
    "permute", _permute, VIEW,
    Presentation(shows_shape=True, rearranges=True,
        shape=Permutation(lambda attrs, rank: tuple(attrs["dims"])), word="the dimensions in another order",
        notation=signs.permuted, indexed=index_notation.turned,
    ),
    self=lambda grad, dims: permute(grad, _inverse(dims)),
)  # fmt: skip
t = op(
    "t", _t, Traits(node="TBackward0", view=True),
    Presentation(rearranges=True,
        shape=Permutation(lambda attrs, rank: tuple(range(rank))[::-1]), notation=signs.transposed,
        indexed=index_notation.turned, plain=True,
    ),
    self=lambda grad: t(grad),
)  # fmt: skip
flip = op(
    "flip", _flip, PLAIN,
    Presentation(shape=like_first, word="in reverse order along the dimension", indexed=sums.in_reverse),
    self=lambda grad, dims: flip(grad, dims),
)  # fmt: skip


def _tril(self: Array, diagonal: int = 0) -> Array:
    return xp.tril(self, diagonal)


def _triu(self: Array, diagonal: int = 0) -> Array:
    return xp.triu(self, diagonal)


def _distance(data: Array) -> Array:
    """How far each element of a matrix lies above its diagonal."""
    rows, columns = (xp.arange(n, like=data) for n in data.shape[-2:])
    return columns - rows[:, None]


def _write_tril(self: Array, diagonal: int = 0) -> None:
    self[..., _distance(self) > diagonal] = 0


def _write_triu(self: Array, diagonal: int = 0) -> None:
    self[..., _distance(self) < diagonal] = 0


tril = op(
    "tril", _tril, Traits(write=_write_tril, repeats=()),
    Presentation(shape=like_first, word="0 above the diagonal", indexed=index_notation.triangle("≤")),
    self=lambda grad, diagonal: tril(grad, diagonal),
)  # fmt: skip
triu = op(
    "triu", _triu, Traits(write=_write_triu, repeats=()),
    Presentation(shape=like_first, word="0 below the diagonal", indexed=index_notation.triangle("≥")),
    self=lambda grad, diagonal: triu(grad, diagonal),
)  # fmt: skip

# -- in place: the same views, under the names that torch's nodes have there --------------------------------------

transpose_into = op(
    "transpose_", _transpose, Traits(node="TransposeBackward1", view=True),
    Presentation(rearranges=True, word=SWAPPED),
    self=lambda grad, dim0, dim1: transpose(grad, dim0, dim1),
)  # fmt: skip
t_into = op("t_", _t, Traits(node="TBackward1", view=True), REARRANGED, self=lambda grad: t(grad))
unsqueeze_into = op(
    "unsqueeze_", _unsqueeze, Traits(node="UnsqueezeBackward1", view=True),
    Presentation(rearranges=True, word=RAISED),
    self=lambda grad, dim: squeeze_dim(grad, dim),
)  # fmt: skip
squeeze_into = op(
    "squeeze_", _squeeze, Traits(node="SqueezeBackward3", view=True), REARRANGED,
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip
squeeze_dim_into = op(
    "squeeze_.dim", _squeeze_dim, Traits(node="SqueezeBackward4", view=True), REARRANGED, self=_unsqueezed
)
squeeze_dims_into = op(
    "squeeze_.dims", _squeeze_dims, Traits(node="SqueezeBackward5", view=True), REARRANGED,
    self=lambda grad, self_sizes: reshape(grad, self_sizes),
)  # fmt: skip

# -- joining ------------------------------------------------------------------------------------------------------


def _promote_list(values: list[Any]) -> list[Any]:
    return [promote(list(values[0]))]


def _joined(parts: Array) -> Array:
    """The array by rows, also where its parts are transposed; channels that lie innermost stay there."""
    return parts if parts.ndim == 4 and parts.transpose(0, 2, 3, 1).flags.c_contiguous else by_rows(parts)


def _cat(tensors: Arrays, dim: int = 0) -> Array:
    return _joined(xp.concatenate([a for a in tensors if a.shape != (0,)] or tensors, axis=dim))


def _stack(tensors: Arrays, dim: int = 0) -> Array:
    return _joined(xp.stack(tensors, axis=dim))


def _parts(grad: Any, dim: int, sizes: list[Sizes]) -> list[Any]:
    """The slices of a gradient that belong to the joined tensors."""
    ends = [0]
    for size in sizes:
        ends.append(ends[-1] + (0 if size == (0,) else size[dim]))
    return [
        zero_of(grad, size) if size == (0,) else slice_(grad, dim, start, end)
        for size, start, end in zip(sizes, ends, ends[1:], strict=False)
    ]


def _zero_of(self: Array, size: Sizes) -> Array:
    return zeros_at(self, size)


zero_of = op(
    "zero_of", _zero_of, PLAIN, Presentation(shape=ShapeArgument("size"), notation=signs.nothing),
    self=lambda grad, self_sizes: zero_of(grad, self_sizes),
)  # fmt: skip
"""Zeros of a size, of the kind of a tensor."""
hung_on = op(
    "hung_on", lambda self, other, zeros: self.copy(),
    self=lambda grad: grad,
    other=lambda grad, other_sizes, zeros: zero_of(grad, other_sizes) if zeros else None,
)  # fmt: skip
"""A gradient that hangs on a tensor with which it does not change: its derivative for that is zeros, or none at all."""
cat = op(
    "cat", _cat, Traits(promote=_promote_list),
    Presentation(word="one after the other along a dimension"),
    tensors=lambda grad, dim, tensors_sizes: _parts(grad, dim, tensors_sizes),
)  # fmt: skip
stack = op(
    "stack", _stack, Traits(promote=_promote_list),
    Presentation(word="one after the other along a new dimension"),
    tensors=lambda grad, dim, tensors_sizes: [select(grad, dim, i) for i in range(len(tensors_sizes))],
)  # fmt: skip


def _unbind(self: Array, dim: int) -> tuple[Array, ...]:
    if self.ndim > 1:
        return tuple(xp.moveaxis(self, dim, 0) if dim else self)
    return tuple(self[i, ...] for i in range(self.shape[dim]))


unbind = op("unbind", _unbind, VIEW, self=lambda grads, dim: stack(grads, dim))

# -- parts --------------------------------------------------------------------------------------------------------


def _select(self: Array, dim: int, index: int) -> Array:
    return self[(slice(None),) * dim + (index, Ellipsis)]


def _slice(self: Array, dim: int, start: int, end: int, step: int = 1) -> Array:
    return self[(slice(None),) * dim + (slice(start, end, step),)]


def _spread_select(self: Array, sizes: Sizes, dim: int, index: int) -> Array:
    out = zeros_at(self, sizes)
    out[(slice(None),) * dim + (index, Ellipsis)] = self
    return out


def _spread_slice(self: Array, sizes: Sizes, dim: int, start: int, end: int, step: int = 1) -> Array:
    out = zeros_at(self, sizes)
    out[(slice(None),) * dim + (slice(start, end, step),)] = self
    return out


def _sliced(attrs: Attrs, first: Sizes) -> Sizes:
    dim, steps = attrs["dim"], slice(attrs["start"], attrs["end"], attrs["step"])
    return (*first[:dim], len(range(first[dim])[steps]), *first[dim + 1 :])


select = op(
    "select", _select, VIEW,
    Presentation(indexing=True,
        shape=lambda attrs, first: tuple(n for d, n in enumerate(first) if d != attrs["dim"]), notation=signs.part,
        indexed=index_notation.row, plain=True,
    ),
    self=lambda grad, self_sizes, dim, index: select_backward(grad, self_sizes, dim, index),
)  # fmt: skip
select_backward = op(
    "select_backward", _spread_select, Traits(node="SelectBackwardBackward0"),
    Presentation(shape=ShapeArgument("sizes"), name="place", word=BACK_IN_PLACE, indexed=index_notation.row_placed),
    self=lambda grad, dim, index: select(grad, dim, index),
)  # fmt: skip
slice_ = op(
    "slice", _slice, VIEW,
    Presentation(indexing=True, shape=_sliced, notation=signs.part, indexed=index_notation.part, plain=True),
    self=lambda grad, self_sizes, dim, start, end, step: slice_backward(grad, self_sizes, dim, start, end, step),
)  # fmt: skip
slice_backward = op(
    "slice_backward", _spread_slice, Traits(node="SliceBackwardBackward0"),
    Presentation(shape=ShapeArgument("sizes"), name="place", word=BACK_IN_PLACE, indexed=index_notation.part_placed),
    self=lambda grad, dim, start, end, step: slice_(grad, dim, start, end, step),
)  # fmt: skip


def scaled(value: Any, factor: float) -> Any:
    """`value` times a number, which is left out where it is 1."""
    return value if factor == 1 else value * factor


def along(self: Array, index: Array, dim: int) -> tuple[Any, ...]:
    """The key that takes one element along `dim` for each of `index`, which has the rank of `self`."""
    rank = self.ndim
    places = [
        xp.arange(n, like=self).reshape((1,) * d + (n,) + (1,) * (rank - d - 1)) for d, n in enumerate(index.shape)
    ]
    places[dim] = index
    return tuple(places)


def count(sizes: Sizes, dim: Any = None) -> int:
    """The number of elements, or of those along `dim` (an int or a tuple)."""
    if dim is None:
        return math.prod(sizes)
    return math.prod(sizes[d] for d in (dim if isinstance(dim, tuple) else (dim,)))
