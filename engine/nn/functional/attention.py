"""Attention.  Source: torch.nn.functional, torch.nn.attention."""

from __future__ import annotations

import math
from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.index.scatter import index_select
from ...api.linalg.linalg import matmul
from ...arrays import errors
from ...arrays.array import library_of, xp
from ...ops import attention as at
from ...ops import elementwise as eo
from ...ops import scalar as sc
from ...ops import shape as so
from ...tensor.tensor import Tensor, tensor_of
from .dropouts import dropout

__all__ = [
    "scaled_dot_product_attention",
]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query @ keyᵀ * scale + mask) @ value; `scale` is 1 / sqrt(size of a query) where not given.

    The mask is added, or where it is bool, False where nothing is looked at; `is_causal` hides what comes later.  Of
    four dimensions, without dropout and gradient of the mask, it is one node; else it is made of steps.

    Shapes: (*, L, E), (*, S, E), (*, S, V), a mask (*', L, S) -> (*, L, V).  Raises RuntimeError for a mask where
    `is_causal`.  Source: torch.nn.functional.scaled_dot_product_attention; Vaswani et al., 2017.

    >>> import engine as torch
    >>> query = torch.ones(1, 2, 4)
    >>> torch.nn.functional.scaled_dot_product_attention(query, query, query).shape
    torch.Size([1, 2, 4])
    """
    for place, (name, tensor) in enumerate((("query", query), ("key", key), ("value", value)), 1):
        need_tensor(tensor, "scaled_dot_product_attention", name, place)
    _check(query, key, value, attn_mask)
    if enable_gqa:
        key, value = _repeated(query, key), _repeated(query, value)
    if scale is None:
        scale = 1 / math.sqrt(max(1, query._array.shape[-1]))
    if _goes_in_one(query, key, value, attn_mask, dropout_p):
        _check_mask(query, key, attn_mask)
        found = at.attention(query, key, value, attn_mask, 0.0, is_causal, scale)
        return found[0]
    return _in_steps(query, key, value, attn_mask, dropout_p, is_causal, scale)


WORDS = {
    "Float": "float", "Double": "double", "Half": "c10::Half", "Long": "long int", "Int": "int", "Bool": "bool",
    "Short": "short int", "Char": "signed char", "Byte": "unsigned char",
}  # fmt: skip
"""C++'s names of dtypes, which torch has in these messages."""


def _check(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None) -> None:
    """Raise torch's errors for dtypes and ranks that do not fit."""
    words = [WORDS[kind(x)] for x in (query, key, value)]
    if len(set(words)) > 1:
        raise errors.runtime(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {words[0]} key.dtype: "
            f"{words[1]} and value.dtype: {words[2]} instead."
        )
    ranks = [x._array.ndim for x in (query, key, value)]
    if min(ranks) < 2:
        raise errors.runtime(
            f"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: {ranks[0]} key.dim: "
            f"{ranks[1]} and value.dim: {ranks[2]} instead."
        )
    if attn_mask is not None and attn_mask._array.dtype.kind not in "bf":
        raise errors.runtime(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{WORDS[kind(attn_mask)]} and  query.dtype: {words[0]} instead."
        )
    if query._array.dtype.kind != "f":
        raise errors.runtime(f"expected scalar type Float but found {kind(query)}")


def _repeated(query: Tensor, tensor: Tensor) -> Tensor:
    """Keys or values with each head as often as queries share it."""
    heads, wanted = tensor._array.shape[-3], query._array.shape[-3]
    if heads == wanted:
        return tensor
    if not heads or wanted % heads:
        raise errors.runtime(
            "Number of heads in key and value must divide the number of heads in query for grouped query attention"
        )
    places = xp.arange(wanted, like=tensor._array) // (wanted // heads)
    return index_select(tensor, -3, tensor_of(places))


def _goes_in_one(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float) -> bool:
    """Whether torch computes it as one node."""
    shapes = [x._array.shape for x in (query, key, value)]
    if dropout_p or any(len(s) != 4 or not math.prod(s) for s in shapes):
        return False
    if len({s[:2] for s in shapes}) > 1 or len({s[3] for s in shapes}) > 1:
        return False
    if any(x._array.shape[3] > 1 and x._array.strides[3] != x._array.itemsize for x in (query, key, value)):
        return False
    return attn_mask is None or (not attn_mask._requires_grad and attn_mask._array.ndim in (2, 4))


def _check_mask(query: Tensor, key: Tensor, attn_mask: Tensor | None) -> None:
    if attn_mask is None:
        return
    wanted = (*query._array.shape[:-1], key._array.shape[-2])
    found = attn_mask._array.shape
    for back in range(1, len(found) + 1):
        if found[-back] not in (1, wanted[-back]):
            raise errors.runtime(
                f"The size of tensor a ({wanted[-back]}) must match the size of tensor b ({found[-back]}) at "
                f"non-singleton dimension {len(wanted) - back}"
            )


def _in_steps(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float, is_causal: bool, scale: float
) -> Tensor:
    if is_causal:
        if attn_mask is not None:
            raise errors.runtime(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"
            )
        rows, columns = query._array.shape[-2], key._array.shape[-2]
        attn_mask = tensor_of(xp.tril(library_of(query._array).ones((rows, columns), dtype=bool)))
    root = math.sqrt(scale)
    scores: Any = matmul(
        sc.mul_number(query, root),
        sc.mul_number(so.transpose(key, key._array.ndim - 2, key._array.ndim - 1), root),
    )
    if attn_mask is not None:
        scores = eo.add(scores, _added(attn_mask, query))
    weights: Any = at.safe_softmax(scores, scores._array.ndim - 1)
    if dropout_p:
        if not 0 <= dropout_p <= 1:
            raise errors.runtime(f"dropout probability has to be between 0 and 1, but got {dropout_p:g}")
        weights = dropout(weights, dropout_p)
    return matmul(weights, value)


def _added(attn_mask: Tensor, query: Tensor) -> Tensor:
    """A mask as what is added to the scores: minus infinity where a bool one is False."""
    if attn_mask._array.dtype.kind != "b":
        return attn_mask
    return at.mask_scores(attn_mask, query._array.dtype)
