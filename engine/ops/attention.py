"""Attention: values averaged by how well keys match queries.  All arrays are (batch, heads, length, size)."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, xp
from ..arrays.ufunc_folds import folded
from .notation import signs, sums
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .reduction import sum_dim
from .result_shapes import like_first, product_of_matrices
from .shape import transpose

# -- products of pairs of matrices --------------------------------------------------------------------------------


def _matmul(self: Array, other: Array) -> Array:
    return xp.matmul(self, other)


def _swap(matrices: Any) -> Any:
    return transpose(matrices, 2, 3)


matmul = op(
    "matmul_pairs", _matmul, PLAIN,
    Presentation(shape=product_of_matrices, notation=signs.matrices, indexed=sums.matrices, plain=True),
    self=lambda grad, other: matmul(grad, _swap(other)),
    other=lambda grad, self: matmul(_swap(self), grad),
)  # fmt: skip

# -- softmax ------------------------------------------------------------------------------------------------------


def _safe_softmax(self: Array, dim: int) -> Array:
    """Softmax along `dim`; 0 where all of it is minus infinity."""
    if not self.size:
        return self.copy()
    return _normalize_weights(self - _top(self, dim), dim)


def _top(scores: Array, dim: int) -> Array:
    top = folded(xp.maximum, scores, dim, True)
    return xp.where(xp.isneginf(top), xp.zeros_like(top), top)


def _normalize_weights(shifted: Array, dim: int) -> Array:
    """exp(x) / sum(exp(x)), written into its argument."""
    xp.exp(shifted, out=shifted)
    total = folded(xp.add, shifted, dim, True)
    shifted /= xp.where(total == 0, xp.ones_like(total), total)
    return shifted


def _softmax_slope(self: Array, weights: Array) -> Array:
    """w (g - sum(g w)): what a gradient of softmax's result w along the last dimension is for its input."""
    total = xp.einsum("...i,...i->...", self, weights)[..., None]
    out = self - total
    out *= weights
    return out


def _softmax_weights_slope(grad: Any, self: Any, weights: Any) -> Any:
    """The derivative by w of <u, w (g - sum(g w))>."""
    level = sum_dim(self * weights, 3, True)
    return grad * (self - level) - self * sum_dim(grad * weights, 3, True)


softmax_slope = op(
    "softmax_slope", _softmax_slope, PLAIN,
    Presentation(
        shape=like_first, name="softmax_derivative", word="through softmax: p ⊙ (h − the sum of h ⊙ p), row by row",
    ),
    self=lambda grad, weights: softmax_slope(grad, weights),
    weights=_softmax_weights_slope,
)  # fmt: skip


def _summed(value: Any, sizes: tuple[int, ...], dim: int) -> Any:
    return sum_dim(value, dim, True) if sizes else value


safe_softmax = op(
    "_safe_softmax", _safe_softmax, Traits(node="SafeSoftmaxBackward0"),
    self=lambda grad, result, self_sizes, dim: result * (grad - _summed(grad * result, self_sizes, dim)),
)  # fmt: skip

# -- attention in one step ----------------------------------------------------------------------------------------


def _mask_scores(self: Array, dtype: Any, hides: bool = False) -> Array:
    """Turn a mask into summands for scores: minus infinity where it is False (or, if it `hides`, True), else 0."""
    nothing, never = dtype.type(0), dtype.type(-xp.inf)
    return xp.where(self, never, nothing) if hides else xp.where(self, nothing, never)


mask_scores = op("mask_scores", _mask_scores, PLAIN, Presentation(masks=True))


def _weights(
    query: Array, key: Array, attn_mask: Array | None, known: Array | None, is_causal: bool, scale: float
) -> Array:
    """softmax(scale * query @ keyᵀ + mask); `known` where it was worked out before."""
    if known is not None:
        return known
    scores = xp.matmul(query * query.dtype.type(scale), key.swapaxes(-1, -2))
    if not scores.size:
        return scores
    if is_causal:
        rows, columns = scores.shape[-2:]
        later = xp.arange(columns, like=scores) > xp.arange(rows, like=scores)[:, None]
        scores += _mask_scores(later, scores.dtype, True)
    if attn_mask is not None:
        scores += _mask_scores(attn_mask, scores.dtype) if attn_mask.dtype.kind == "b" else attn_mask
    scores -= _top(scores, -1)
    return _normalize_weights(scores, -1)


attention_weights = op(
    "attention_weights", _weights, PLAIN,
    Presentation(
        shape=lambda attrs, a, b, *_: (*a[:-1], b[-2]), name="softmax_of",
        word="the attention weights: softmax of the scaled q kᵀ, masked",
    ),
    query=lambda grad, key, result, scale: matmul(softmax_slope(grad, result), key) * scale,
    key=lambda grad, query, result, scale: matmul(_swap(softmax_slope(grad, result)), query) * scale,
)  # fmt: skip


def _attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float = 1.0,
) -> tuple[Array, Array]:  # fmt: skip
    """The averages of the values, laid out in memory as the queries are, and the weights that they were taken with."""
    weights = _weights(query, key, attn_mask, None, is_causal, scale)
    out = xp.empty_like(query)
    xp.matmul(weights, value, out=out)
    return out, weights


def _score_slope(
    grad: Any, query: Any, key: Any, value: Any, attn_mask: Any, results: Any, is_causal: bool, scale: float
) -> Any:
    """The gradient of the scores."""
    weights = attention_weights(query, key, attn_mask, results[1], is_causal, scale)
    return softmax_slope(matmul(grad, _swap(value)), weights)


attention = op(
    "_scaled_dot_product_flash_attention_for_cpu", _attention,
    Traits(node="ScaledDotProductFlashAttentionForCpuBackward0", differentiable=(0,)),
    query=lambda grad, query, key, value, attn_mask, results, is_causal, scale: matmul(
        _score_slope(grad, query, key, value, attn_mask, results, is_causal, scale), key
    )
    * scale,
    key=lambda grad, query, key, value, attn_mask, results, is_causal, scale: matmul(
        _swap(_score_slope(grad, query, key, value, attn_mask, results, is_causal, scale)), query
    )
    * scale,
    value=lambda grad, query, key, attn_mask, results, is_causal, scale: matmul(
        _swap(attention_weights(query, key, attn_mask, results[1], is_causal, scale)), grad
    ),
)  # fmt: skip
