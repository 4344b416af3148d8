"""Attention, of one head and of several.

Of several heads lengths come first: query is (L, N, E), key and value are (S, N, E); one sample alone leaves out N.
Source: torch.nn.functional, torch.nn.attention; Vaswani et al., 2017.
"""

from __future__ import annotations

import math
import warnings
from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.index.scatter import index_select
from ...api.linalg.linalg import bmm, matmul
from ...api.linalg.products import baddbmm
from ...api.reduce.reduction import mean
from ...api.shape.arrange import repeat
from ...api.shape.joining import cat
from ...api.shape.parts import chunk, split
from ...api.shape.shape import contiguous, expand, reshape, squeeze, unflatten, unsqueeze, view
from ...api.shape.transposes import transpose
from ...arrays import errors
from ...arrays.array import library_of, xp
from ...ops import attention as at
from ...ops import elementwise as eo
from ...ops import scalar as sc
from ...ops import shape as so
from ...ops.attention import mask_scores
from ...tensor.tensor import Tensor, tensor_of
from .activation import softmax
from .affine import linear
from .dropouts import dropout
from .padding import pad

__all__ = [
    "multi_head_attention_forward",
    "scaled_dot_product_attention",
]


def scaled_dot_product_attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None, dropout_p: float = 0.0,
    is_causal: bool = False, scale: float | None = None, enable_gqa: bool = False,
) -> Tensor:  # fmt: skip
    """softmax(query @ keyᵀ * scale + mask) @ value; `scale` is 1 / sqrt(size of a query) if not given.

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
        result = at.attention(query, key, value, attn_mask, 0.0, is_causal, scale)
        return result[0]
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
    heads, query_heads = tensor._array.shape[-3], query._array.shape[-3]
    if heads == query_heads:
        return tensor
    if not heads or query_heads % heads:
        raise errors.runtime(
            "Number of heads in key and value must divide the number of heads in query for grouped query attention"
        )
    places = xp.arange(query_heads, like=tensor._array) // (query_heads // heads)
    return index_select(tensor, -3, tensor_of(places))


def _goes_in_one(query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None, dropout_p: float) -> bool:
    """Return whether torch computes this attention as one node."""
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
    score_shape = (*query._array.shape[:-1], key._array.shape[-2])
    shape = attn_mask._array.shape
    for back in range(1, len(shape) + 1):
        if shape[-back] not in (1, score_shape[-back]):
            raise errors.runtime(
                f"The size of tensor a ({score_shape[-back]}) must match the size of tensor b ({shape[-back]}) at "
                f"non-singleton dimension {len(score_shape) - back}"
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


NO_HINT = (
    "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
    "`generate_square_subsequent_mask` to create this mask."
)


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True,
    key_padding_mask: Tensor | None = None, need_weights: bool = True, attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None, static_k: Tensor | None = None, static_v: Tensor | None = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Project, attend with each head, join the heads and project again; the output and the weights (or None).

    Masks are True, or minus infinity, where nothing is looked at: `attn_mask` by place, (L, S) or (N * heads, L, S),
    `key_padding_mask` by key, (N, S).  The weights are (N, L, S), or with `average_attn_weights` False by head.

    Shapes: (L, N, E), (S, N, E), (S, N, E) -> (L, N, E), (N, L, S); without N in all of them (L, E), (S, E), (S, E) ->
    (L, E), (L, S).  Raises AssertionError where the heads do not divide E.
    Source: torch.nn.functional.multi_head_attention_forward; Vaswani et al., 2017.

    >>> import engine as torch
    >>> attention = torch.nn.MultiheadAttention(4, 2)  # calls this
    >>> attention(torch.zeros(3, 1, 4), torch.zeros(5, 1, 4), torch.zeros(5, 1, 4))[1].shape
    torch.Size([1, 3, 5])
    """
    batched = _check_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = unsqueeze(query, 1), unsqueeze(key, 1), unsqueeze(value, 1)
        key_padding_mask = None if key_padding_mask is None else unsqueeze(key_padding_mask, 0)
    length, samples, size = query._array.shape
    padding = as_added(
        key_padding_mask, "key_padding_mask", query.dtype, None if attn_mask is None else attn_mask.dtype, "attn_mask"
    )
    if is_causal and attn_mask is None:
        raise errors.runtime(NO_HINT)
    if is_causal and padding is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = as_added(attn_mask, "attn_mask", query.dtype)
        is_causal = is_causal and padding is None
    head = _head_size(size, embed_dim_to_check, num_heads)
    if use_separate_proj_weight:
        projected = _apart(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias)
    else:
        if key._array.shape != value._array.shape:
            raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")
        if in_proj_weight is None:
            raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
        projected = _together(query, key, value, in_proj_weight, in_proj_bias)
    attn_mask = _of_rank_3(attn_mask, length, key._array.shape[0], samples * num_heads)
    keys, values, attn_mask, padding = _with_bias(
        projected[1], projected[2], bias_k, bias_v, static_k, static_v, attn_mask, padding, samples
    )
    heads = samples * num_heads
    queries = transpose(view(projected[0], length, heads, head), 0, 1)
    keys = _by_head(keys, static_k, heads, head, "static_k")
    values = _by_head(values, static_v, heads, head, "static_v")
    if add_zero_attn:
        nothing = tensor_of(xp.zeros((heads, 1, head), dtype=keys._array.dtype, like=keys._array))
        keys, values = cat([keys, nothing], dim=1), cat([values, nothing], dim=1)
        attn_mask, padding = _one_more(attn_mask), _one_more(padding)
    mask = _merged(attn_mask, padding, samples, num_heads, keys._array.shape[1])
    dropout_p = dropout_p if training else 0.0
    result, weights = _attended(queries, keys, values, mask, dropout_p, is_causal, need_weights, samples, num_heads)
    result = linear(result, out_proj_weight, out_proj_bias)
    result = view(result, length, samples, result._array.shape[1])
    if weights is not None and average_attn_weights:
        weights = mean(weights, dim=1)
    if not batched:
        result = squeeze(result, 1)
        weights = None if weights is None else squeeze(weights, 0)
    return result, weights


# -- checks -------------------------------------------------------------------------------------------------------


def _check_ranks(
    query: Tensor, key: Tensor, value: Tensor, padding: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    """Return whether there is a dimension of samples; raises torch's errors if the ranks do not fit."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor")
    start = f"For {'' if rank == 3 else 'un'}batched ({rank}-D) `query`, expected"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"{start} `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D tensors respectively"
        )
    if padding is not None and padding.dim() != rank - 1:
        raise AssertionError(
            f"{start} `key_padding_mask` to be `None` or {rank - 1}-D but found {padding.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"{start} `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
            )
        mask_shape = (num_heads, query._array.shape[0], key._array.shape[0])
        if rank == 2 and attn_mask.dim() == 3 and attn_mask._array.shape != mask_shape:
            raise AssertionError(f"Expected `attn_mask` shape to be {mask_shape} but got {attn_mask.shape}")
    return rank == 3


def _head_size(size: int, embed_dim_to_check: int, num_heads: int) -> int:
    if size != embed_dim_to_check:
        raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {size}")
    if size // num_heads * num_heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {num_heads}")
    return size // num_heads


# -- masks --------------------------------------------------------------------------------------------------------


def as_added(mask: Tensor | None, name: str, target: Any, other: Any = None, other_name: str = "") -> Any:
    """A mask as what is added to the scores, in the dtype `target`: minus infinity where a bool one is True.

    Warns as torch does where `other`, the dtype of the mask that it goes together with, is another.
    """
    if mask is None:
        return None
    which = mask._array.dtype.kind
    if which not in "bf":
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and other is not mask.dtype:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            UserWarning,
            stacklevel=3,
        )
    if which == "f":
        return mask
    return mask_scores(mask, target.numpy, True)


def _of_rank_3(mask: Tensor | None, length: int, keys: int, heads: int) -> Tensor | None:
    """The mask with a dimension of samples and heads."""
    if mask is None:
        return None
    rank = mask.dim()
    shape = (length, keys) if rank == 2 else (heads, length, keys)
    if mask._array.shape != shape:
        raise errors.runtime(f"The shape of the {rank}D attn_mask is {mask.shape}, but should be {shape}.")
    return unsqueeze(mask, 0) if rank == 2 else mask


def _one_more(mask: Tensor | None) -> Tensor | None:
    """The mask with a last key that is looked at."""
    return None if mask is None else pad(mask, (0, 1))


def _merged(attn_mask: Tensor | None, padding: Tensor | None, samples: int, num_heads: int, keys: int) -> Tensor | None:
    """Both masks as one, for each sample and head."""
    if padding is None:
        return attn_mask
    for place, length in ((0, samples), (1, keys)):
        if padding._array.shape[place] != length:
            raise AssertionError(
                f"Expected key_padded_mask.shape[{place}] to be {length}, but got {padding._array.shape[place]}"
            )
    wide = expand(view(padding, samples, 1, 1, keys), -1, num_heads, -1, -1)
    by_head = reshape(wide, samples * num_heads, 1, keys)
    return by_head if attn_mask is None else eo.add(attn_mask, by_head)


# -- projections --------------------------------------------------------------------------------------------------


def _unpacked(packed: Tensor, parts: int, size: int) -> list[Tensor]:
    """Several projections that were computed as one, each on its own in memory."""
    apart = unsqueeze(unflatten(packed, -1, (parts, size)), 0)
    moved = contiguous(squeeze(transpose(apart, 0, -2), -2))
    return [so.select(moved, 0, i) for i in range(parts)]


def _together(query: Tensor, key: Tensor, value: Tensor, weight: Tensor, bias: Tensor | None) -> list[Tensor]:
    """Query, key and value projected by the parts of one weight."""
    size = query._array.shape[-1]
    if key is not value:
        biases: Any = (None,) * 3 if bias is None else chunk(bias, 3)
        parts = zip((query, key, value), chunk(weight, 3), biases, strict=True)
        return [linear(x, w, b) for x, w, b in parts]
    if query is key:
        return _unpacked(linear(query, weight, bias), 3, size)
    w_q, w_kv = split(weight, [size, size * 2])
    b_q, b_kv = (None, None) if bias is None else split(bias, [size, size * 2])
    first = linear(query, w_q, b_q)
    return [first, *_unpacked(linear(key, w_kv, b_kv), 2, size)]


def _apart(
    query: Tensor, key: Tensor, value: Tensor, w_q: Tensor | None, w_k: Tensor | None, w_v: Tensor | None,
    bias: Tensor | None,
) -> list[Tensor]:  # fmt: skip
    """Query, key and value projected by a weight each."""
    if key._array.shape[:2] != value._array.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    size = query._array.shape[-1]
    biases: Any = (None,) * 3 if bias is None else chunk(bias, 3)
    heads = []
    for letter, word, x, w, b in zip(
        "qkv", ("query", "key", "value"), (query, key, value), (w_q, w_k, w_v), biases, strict=True
    ):
        if w is None:
            raise AssertionError(f"use_separate_proj_weight is True but {letter}_proj_weight is None")
        shape = (size, x._array.shape[-1])
        if w._array.shape != shape:
            raise AssertionError(f"expecting {word} weights shape of {shape}, but got {w.shape}")
        heads.append((x, w, b))
    return [linear(x, w, b) for x, w, b in heads]


def _with_bias(
    keys: Tensor, values: Tensor, bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None,
    static_v: Tensor | None, attn_mask: Tensor | None, padding: Tensor | None, samples: int,
) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:  # fmt: skip
    """Keys, values and masks with one more key and value, the same for all samples, where these are given."""
    if bias_k is None and bias_v is None:
        return keys, values, attn_mask, padding
    if bias_k is None:
        raise AssertionError("bias_v is set but bias_k is None")
    if bias_v is None:
        raise AssertionError("bias_k is set but bias_v is None")
    if static_k is not None:
        raise AssertionError("bias cannot be added to static key.")
    if static_v is not None:
        raise AssertionError("bias cannot be added to static value.")
    keys = cat([keys, repeat(bias_k, 1, samples, 1)])
    values = cat([values, repeat(bias_v, 1, samples, 1)])
    return keys, values, _one_more(attn_mask), _one_more(padding)


def _by_head(projected: Tensor, static: Tensor | None, heads: int, size: int, name: str) -> Tensor:
    """(samples * heads, length, size of a head): the projection, or what is given in its place."""
    if static is None:
        return transpose(view(projected, projected._array.shape[0], heads, size), 0, 1)
    for place, length in ((0, heads), (2, size)):
        if static._array.shape[place] != length:
            raise AssertionError(f"expecting {name}.size({place}) of {length}, but got {static._array.shape[place]}")
    return static


# -- attention ----------------------------------------------------------------------------------------------------


def _attended(
    queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool,
    need_weights: bool, samples: int, num_heads: int,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Compute the attention's result for each position, (L * N, E), and the weights by sample and head."""
    _, length, head = queries._array.shape
    size = head * num_heads
    if need_weights:
        scaled = eo.mul(queries, math.sqrt(1 / head))
        crossed = transpose(keys, -2, -1)
        scores = bmm(scaled, crossed) if mask is None else baddbmm(mask, scaled, crossed)
        weights = softmax(scores, dim=-1)
        if dropout_p > 0:
            weights = dropout(weights, p=dropout_p)
        result = reshape(transpose(bmm(weights, values), 0, 1), length * samples, size)
        return result, view(weights, samples, num_heads, length, keys._array.shape[1])
    if mask is not None:
        one = mask._array.shape[0] == 1 and mask.dim() == 3
        mask = unsqueeze(mask, 0) if one else view(mask, samples, num_heads, -1, keys._array.shape[1])
    parts = [view(x, samples, num_heads, x._array.shape[1], head) for x in (queries, keys, values)]
    result = scaled_dot_product_attention(parts[0], parts[1], parts[2], mask, dropout_p, is_causal)
    moved = contiguous(result.permute(2, 0, 1, 3))
    return view(moved, samples * length, size), None
