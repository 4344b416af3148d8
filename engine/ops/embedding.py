"""Rows of a table by their numbers, and sums of such rows."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, library_of, xp, zeros_at
from .indexing import index_select
from .notation import index_notation
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .reduction import sum_dim
from .shape import Sizes, unsqueeze

# -- rows added into a table --------------------------------------------------------------------------------------


def _add_rows(out: Array, places: Array, rows: Array) -> None:
    """out[places[k]] += rows[k], for places that may occur several times."""
    if not places.size:
        return
    if not isinstance(out, xp.ndarray):  # on a GPU `add.at` is quick, and there is no reduceat
        xp.add.at(out, places, rows)
        return
    order = places.argsort(kind="stable")
    ordered = places[order]
    starts = xp.concatenate(([True], ordered[1:] != ordered[:-1])).nonzero()[0]
    if starts.size == places.size:
        out[places] += rows
    else:
        out[ordered[starts]] += xp.add.reduceat(rows[order], starts, axis=0)


def _factors(indices: Array, rows: int, padding_idx: int, scale_grad_by_freq: bool, dtype: Any) -> Array | None:
    """Compute the factor of each gradient row: 0 at the padding, one over how often its number occurs; None for 1."""
    factors = None
    if scale_grad_by_freq:
        factors = (1 / xp.maximum(xp.bincount(indices, minlength=rows), 1)).astype(dtype)[indices]
    if padding_idx >= 0:
        counts = (indices != padding_idx).astype(dtype)
        factors = counts if factors is None else factors * counts
    return None if factors is None else factors[:, None]


def _times(rows: Array, factors: Array | None) -> Array:
    """Rows times their factors; a padding row is 0 whatever it holds, also nan."""
    return rows if factors is None else xp.where(factors == 0, 0, rows * factors).astype(rows.dtype)


def _embedding_backward(
    self: Array, indices: Array, rows: int, padding_idx: int = -1, scale_grad_by_freq: bool = False
) -> Array:
    flat = indices.reshape(-1)
    grads = self.reshape(flat.size, self.shape[-1])
    factors = _factors(flat, rows, padding_idx, scale_grad_by_freq, self.dtype)
    out = zeros_at(self, (rows, self.shape[-1]))
    _add_rows(out, flat, _times(grads, factors))
    return out


def _embedding_again(
    self: Array, indices: Array, rows: int, padding_idx: int = -1, scale_grad_by_freq: bool = False
) -> Array:
    """The adjoint of the above: rows taken, times the factors."""
    flat = indices.reshape(-1)
    vectors = self.take(flat, axis=0)
    factors = _factors(flat, rows, padding_idx, scale_grad_by_freq, self.dtype)
    return _times(vectors, factors).reshape(*indices.shape, self.shape[-1])


embedding_backward = op(
    "embedding_dense_backward", _embedding_backward, PLAIN,
    Presentation(
        shape=lambda attrs, first, index: (attrs["rows"], *first[len(index) :]), name="add_rows",
        word="each row is added to the row at its index; rows without an index get 0",
        indexed=index_notation.embedded,
    ),
    self=lambda grad, indices, rows, padding_idx, scale_grad_by_freq: embedding_again(
        grad, indices, rows, padding_idx, scale_grad_by_freq
    ),
)  # fmt: skip
embedding_again = op(
    "embedding_again", _embedding_again, PLAIN,
    Presentation(name="rows", word="the row at each index"),
    self=lambda grad, indices, rows, padding_idx, scale_grad_by_freq: embedding_backward(
        grad, indices, rows, padding_idx, scale_grad_by_freq
    ),
)  # fmt: skip


def _embedding(
    weight: Array, indices: Array, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Array:
    if indices.size and (indices.min() < 0 or indices.max() >= weight.shape[0]):
        raise IndexError("index out of range in self")
    return weight.take(indices, axis=0)


embedding = op(
    "embedding", _embedding,
    weight=lambda grad, indices, padding_idx, scale_grad_by_freq, weight_sizes: embedding_backward(
        grad, indices, weight_sizes[0], padding_idx, scale_grad_by_freq
    ),
)  # fmt: skip


def _renormed(self: Array, indices: Array, max_norm: float, norm_type: float) -> Array:
    """The rows that are named, brought to at most `max_norm`; the others as they are."""
    named = xp.zeros(self.shape[0], dtype=bool, like=self)
    named[indices.reshape(-1)] = True
    sizes = xp.linalg.norm(self, ord=norm_type, axis=1)
    factors = xp.where(named & (sizes > max_norm), max_norm / (sizes + 1e-7), 1)
    return self * factors.astype(self.dtype)[:, None]


embedding_renorm = op("embedding_renorm", _renormed)

# -- bags ---------------------------------------------------------------------------------------------------------

SUM, MEAN, MAX = 0, 1, 2
"""The modes of embedding_bag."""


def _bags(offsets: Array, count: int, include_last_offset: bool) -> tuple[Array, int]:
    """The bag that each index belongs to, and the number of bags."""
    starts = offsets[:-1] if include_last_offset else offsets
    return xp.searchsorted(starts, xp.arange(count, like=offsets), side="right") - 1, starts.shape[0]


def _embedding_bag(
    weight: Array, indices: Array, offsets: Array, per_sample_weights: Array | None, scale_grad_by_freq: bool = False,
    mode: int = 0, sparse: bool = False, include_last_offset: bool = False, padding_idx: int = -1,
) -> tuple[Array, Array, Array, Array]:  # fmt: skip
    """(result, the bag of each index, the size of each bag, for MAX the chosen index per bag and column)."""
    bags, count = _bags(offsets, indices.shape[0], include_last_offset)
    counts = indices != padding_idx
    sizes = xp.bincount(bags[counts], minlength=count)
    rows, row_bags = weight.take(indices[counts], axis=0), bags[counts]
    if mode == MAX:
        result, chosen = _greatest(rows, row_bags, indices[counts], count)
        return result, bags, sizes, chosen
    if per_sample_weights is not None:
        rows = rows * per_sample_weights[counts][:, None]
    out = zeros_at(weight, (count, weight.shape[1]))
    _add_rows(out, row_bags, rows)
    if mode == MEAN:
        out /= xp.maximum(sizes, 1).astype(out.dtype)[:, None]
    return out, bags, sizes, xp.zeros((0,), dtype="int64", like=indices)


def _greatest(rows: Array, bags: Array, indices: Array, count: int) -> tuple[Array, Array]:
    """The largest of each bag by column, and which index it came from (-1 for an empty bag, whose value is 0)."""
    shape = (count, rows.shape[1])
    top = library_of(rows).full(shape, -xp.inf, dtype=rows.dtype)
    xp.maximum.at(top, bags, rows)
    last = library_of(rows).full(shape, rows.shape[0], dtype="int64")
    places = xp.arange(rows.shape[0], like=indices)[:, None]
    xp.minimum.at(last, bags, xp.where(rows == top[bags], places, rows.shape[0]))
    filled = last < rows.shape[0]
    chosen = xp.where(filled, xp.append(indices, -1)[last], -1)
    return xp.where(filled, top, xp.zeros_like(top)), chosen


def _spread_chosen(self: Array, chosen: Array, rows: int) -> Array:
    out = zeros_at(self, (rows, self.shape[1]))
    columns = xp.broadcast_to(xp.arange(self.shape[1], like=chosen), chosen.shape)
    there = chosen >= 0
    xp.add.at(out, (chosen[there], columns[there]), self[there])
    return out


def _take_chosen(self: Array, chosen: Array, rows: int) -> Array:
    elements = self[chosen, xp.arange(self.shape[1], like=chosen)]
    return xp.where(chosen >= 0, elements, xp.zeros_like(elements))


spread_chosen = op(
    "spread_chosen", _spread_chosen, PLAIN,
    Presentation(name="to_chosen", word="the numbers at the chosen positions, 0 elsewhere"),
    self=lambda grad, chosen, rows: take_chosen(grad, chosen, rows),
)  # fmt: skip
take_chosen = op(
    "take_chosen", _take_chosen, PLAIN,
    Presentation(name="of_chosen", word="the numbers at the chosen positions"),
    self=lambda grad, chosen, rows: spread_chosen(grad, chosen, rows),
)  # fmt: skip


def _one_over(self: Array, like: Array) -> Array:
    """One over the sizes of bags, as a column in the dtype of the gradient."""
    return (1 / xp.maximum(self, 1)).astype(like.dtype)[:, None]


one_over = op("one_over_sizes", _one_over, PLAIN, Presentation(word="1 over the number of rows of each bag"))


def _bag_slope(
    grad: Any, indices: Any, per_sample_weights: Any, result1: Any, result2: Any, result3: Any,
    weight_sizes: Sizes, scale_grad_by_freq: bool,
    mode: int, padding_idx: int,
) -> Any:  # fmt: skip
    if mode == MAX:
        return spread_chosen(grad, result3, weight_sizes[0])
    if mode == MEAN:
        grad = grad * one_over(result2, grad)
    rows = index_select(grad, result1, 0)
    if per_sample_weights is not None:
        rows = rows * unsqueeze(per_sample_weights, 1)
    return embedding_backward(rows, indices, weight_sizes[0], padding_idx, scale_grad_by_freq)


embedding_bag = op(
    "_embedding_bag", _embedding_bag, Traits(node="EmbeddingBagBackward0", differentiable=(0,)),
    weight=_bag_slope,
    per_sample_weights=lambda grad, weight, indices, result1, weight_sizes, padding_idx: sum_dim(
        index_select(grad, result1, 0) * embedding_again(weight, indices, weight_sizes[0], padding_idx, False),
        1, False,
    ),
)  # fmt: skip


def _one_hot(self: Array, num_classes: int) -> Array:
    return (self[..., None] == xp.arange(num_classes, like=self)).astype("int64")


one_hot = op("one_hot", _one_hot)
