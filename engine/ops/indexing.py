"""Indexing with index tensors and masks; ints, slices and None are views in `shape`."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, Arrays, xp, zeros_at
from .notation import index_notation, signs
from .op import PLAIN, Traits, op
from .presentation import ADDED_AT, Presentation
from .result_shapes import Attrs, ShapeArgument, like_first
from .shape import Sizes


def _key(indices: Any) -> Any:
    return tuple(slice(None) if i is None else i for i in indices)


def _index(self: Array, indices: Arrays) -> Array:
    result = self[_key(indices)]
    # numpy lays what was picked first in memory; in torch the dimensions lie as they lay before.
    return result if result.flags.c_contiguous or not _in_order(self) else result.copy()


def _in_order(data: Array) -> bool:
    """Return whether the strides of an array never grow from one dimension to the next."""
    steps = [step for step, n in zip(data.strides, data.shape, strict=True) if n > 1 and step]
    return steps == sorted(steps, reverse=True)


def _index_backward(self: Array, indices: Arrays, sizes: Sizes) -> Array:
    """Each element of `self` added where `index` took it from."""
    out = zeros_at(self, sizes)
    xp.add.at(out, _key(indices), self)
    return out


def _index_put(self: Array, values: Array, indices: Arrays, accumulate: bool = False) -> Array:
    out = self.copy()
    _write_index_put(out, values, indices, accumulate)
    return out


def _write_index_put(self: Array, values: Array, indices: Arrays, accumulate: bool = False) -> None:
    if accumulate:
        xp.add.at(self, _key(indices), values)
    else:
        self[_key(indices)] = values


def _index_cleared(self: Array, indices: Arrays) -> Array:
    out = self.copy()
    out[_key(indices)] = 0
    return out


index = op(
    "index", _index, PLAIN, Presentation(chooses=True, indexing=True, notation=signs.picked),
    self=lambda grad, indices, self_sizes: index_backward(grad, indices, self_sizes),
)  # fmt: skip
index_backward = op(
    "index_backward", _index_backward, Traits(node="IndexPutBackward0"),
    Presentation(shape=ShapeArgument("sizes"), name="add_at", word=ADDED_AT, indexed=index_notation.added_at),
    self=lambda grad, indices: index(grad, indices),
)  # fmt: skip
index_cleared = op(
    "index_cleared", _index_cleared, PLAIN,
    Presentation(
        shape=like_first, name="clear_at", word="the elements at the indices become 0, the rest stays",
        indexed=index_notation.cleared,
    ),
    self=lambda grad, indices: index_cleared(grad, indices),
)  # fmt: skip
index_put = op(
    "index_put", _index_put, Traits(write=_write_index_put, by_place=True, repeats=("index_put", "indices", "tensor")),
    self=lambda grad, indices, accumulate: grad if accumulate else index_cleared(grad, indices),
    values=lambda grad, indices: index(grad, indices),
)  # fmt: skip


def _index_select(self: Array, index: Array, dim: int) -> Array:
    if not self.ndim:
        return self.copy()
    return self.take(index if index.ndim else index.reshape(1), axis=dim)


def _index_add(self: Array, index: Array, dim: int, sizes: Sizes) -> Array:
    out = zeros_at(self, sizes)
    if not sizes:
        return self.reshape(())
    key: Any = (slice(None),) * dim + (index if index.ndim else index.reshape(1),)
    xp.add.at(out, key, self)
    return out


def _selected(attrs: Attrs, first: Sizes, index: Sizes) -> Sizes | None:
    """As many slices along `dim` as the index has numbers."""
    return (*first[: attrs["dim"]], *index, *first[attrs["dim"] + 1 :]) if len(index) == 1 else None


index_select = op(
    "index_select", _index_select, PLAIN,
    Presentation(
        shape=_selected, word="the slices at the index, one after the other", indexed=index_notation.rows_picked,
    ),
    self=lambda grad, index, dim, self_sizes: index_sum(grad, index, dim, self_sizes),
)  # fmt: skip
index_sum = op(
    "index_sum", _index_add, PLAIN,
    Presentation(shape=ShapeArgument("sizes"), name="add_at", word=ADDED_AT, indexed=index_notation.rows_added),
    self=lambda grad, index, dim: index_select(grad, index, dim),
)  # fmt: skip
