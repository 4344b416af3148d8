"""Attention of several heads, with its projections.  Source: torch.nn.functional.multi_head_attention_forward."""

from __future__ import annotations

import math
import warnings
from typing import Any

from ... import creation, errors
from ...api.joining import cat
from ...api.linalg import bmm
from ...tensor import Tensor
from .activation import softmax
from .attention import scaled_dot_product_attention
from .dropout import dropout
from .image import pad
from .linear import linear

__all__ = ["multi_head_attention_forward"]

Maybe = Tensor | None


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Maybe,
    in_proj_bias: Maybe, bias_k: Maybe, bias_v: Maybe, add_zero_attn: bool, dropout_p: float, out_proj_weight: Tensor,
    out_proj_bias: Maybe, training: bool = True, key_padding_mask: Maybe = None, need_weights: bool = True,
    attn_mask: Maybe = None, use_separate_proj_weight: bool = False, q_proj_weight: Maybe = None,
    k_proj_weight: Maybe = None, v_proj_weight: Maybe = None, static_k: Maybe = None, static_v: Maybe = None,
    average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Tensor, Maybe]:  # fmt: skip
    """Project, attend with each head, project back; the output and the weights of attention where asked for.

    Shapes: (steps, batch, size), or (steps, size) without a batch.
    """
    batched = check_shapes(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = _with_batch(query, key, value)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    steps, batch, size = query.shape
    other = None if attn_mask is None else attn_mask.dtype
    key_padding_mask = as_added(key_padding_mask, "key_padding_mask", query.dtype, other, "attn_mask")
    if is_causal and attn_mask is None:
        raise errors.runtime(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        attn_mask = None
    else:
        attn_mask = as_added(attn_mask, "attn_mask", query.dtype)
        is_causal = is_causal and key_padding_mask is None
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    weights = (q_proj_weight, k_proj_weight, v_proj_weight)
    q, k, v = (
        _projected_apart(query, key, value, weights, in_proj_bias)
        if use_separate_proj_weight
        else _projected(query, key, value, in_proj_weight, in_proj_bias)
    )
    attn_mask = _checked_mask(attn_mask, steps, int(key.shape[0]), int(batch * num_heads))
    if bias_k is not None and bias_v is not None:
        k, v = cat([k, bias_k.repeat(1, batch, 1)]), cat([v, bias_v.repeat(1, batch, 1)])
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    elif bias_k is not None:
        raise AssertionError("bias_k is set but bias_v is None")
    elif bias_v is not None:
        raise AssertionError("bias_v is set but bias_k is None")
    heads = int(batch * num_heads)
    q, k, v = (
        _in_heads(tensor, heads, size // num_heads, fixed, name)
        for tensor, fixed, name in ((q, None, ""), (k, static_k, "static_k"), (v, static_v, "static_v"))
    )
    if add_zero_attn:
        nothing = creation.zeros(heads, 1, size // num_heads, dtype=k.dtype, device=k.device)
        k, v = cat([k, nothing], 1), cat([v, nothing], 1)
        attn_mask, key_padding_mask = _one_more(attn_mask), _one_more(key_padding_mask)
    attn_mask = _merged(attn_mask, key_padding_mask, int(batch), num_heads, int(k.shape[1]))
    dropped = dropout_p if training else 0.0
    if need_weights:
        out, seen = _attend_and_tell(q, k, v, attn_mask, dropped)
        out = linear(out.transpose(0, 1).reshape(steps * batch, size), out_proj_weight, out_proj_bias)
        seen = seen.view(batch, num_heads, steps, -1)
        seen = seen.mean(dim=1) if average_attn_weights else seen
        seen = seen if batched else seen.squeeze(0)
    else:
        out, seen = _attend(q, k, v, attn_mask, dropped, is_causal, int(batch)), None
        out = linear(out.permute(2, 0, 1, 3).reshape(steps * batch, size), out_proj_weight, out_proj_bias)
    out = out.view(steps, batch, -1)
    return (out if batched else out.squeeze(1)), seen


def _with_batch(query: Tensor, key: Tensor, value: Tensor) -> tuple[Any, Any, Any]:
    """Each with a batch of one; what was one tensor stays one, so that it is projected at once."""
    first = query.unsqueeze(1)
    second = first if key is query else key.unsqueeze(1)
    third = second if value is key else first if value is query else value.unsqueeze(1)
    return first, second, third


def check_shapes(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Maybe, attn_mask: Maybe, num_heads: int
) -> bool:
    """Whether there is a batch; raises torch's AssertionError where the ranks do not fit."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor")
    kind = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {kind} `query`, expected `key` and `value` to be {rank}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != rank - 1:
        raise AssertionError(
            f"For {kind} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D "
                "tensor instead"
            )
        wanted = (num_heads, query.shape[0], key.shape[0])
        if rank == 2 and attn_mask.dim() == 3 and tuple(attn_mask.shape) != wanted:
            raise AssertionError(f"Expected `attn_mask` shape to be {wanted} but got {attn_mask.shape}")
    return rank == 3


def as_added(mask: Maybe, name: str, target: Any, other: Any = None, other_name: str = "") -> Maybe:
    """A mask as what is added to the scores: a bool one becomes minus infinity where it is True."""
    if mask is None:
        return None
    if mask.dtype.name != "bool" and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {name} are supported")
    if other is not None and mask.dtype != other:
        warnings.warn(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=3,
        )
    if mask.is_floating_point():
        return mask
    return creation.zeros_like(mask, dtype=target).masked_fill_(mask, float("-inf"))  # type: ignore[no-any-return]


def _check_sizes(query: Tensor, key: Tensor, value: Tensor, expected: int, heads: int, apart: bool) -> None:
    size = query.shape[2]
    if size != expected:
        raise AssertionError(f"was expecting embedding dimension of {expected}, but got {size}")
    if size // heads * heads != size:
        raise AssertionError(f"embed_dim {size} not divisible by num_heads {heads}")
    if apart and key.shape[:2] != value.shape[:2]:
        raise AssertionError(f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}")
    if not apart and key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _projected(query: Tensor, key: Tensor, value: Tensor, weight: Maybe, bias: Maybe) -> tuple[Any, Any, Any]:
    """Queries, keys and values by the parts of one weight; at once where they are of one tensor."""
    if weight is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    size = int(query.shape[-1])
    if key is value and query is key:
        parts = _parts(linear(query, weight, bias), 3, size)
        return parts[0], parts[1], parts[2]
    if key is value:
        w_q, w_kv = weight.split([size, 2 * size])
        b_q, b_kv = (None, None) if bias is None else bias.split([size, 2 * size])
        pair = _parts(linear(key, w_kv, b_kv), 2, size)
        return linear(query, w_q, b_q), pair[0], pair[1]
    weights = weight.chunk(3)
    biases = (None, None, None) if bias is None else bias.chunk(3)
    q, k, v = (linear(t, w, b) for t, w, b in zip((query, key, value), weights, biases, strict=True))
    return q, k, v


def _parts(projected: Any, count: int, size: int) -> Any:
    """(steps, batch, count * size) as (count, steps, batch, size)."""
    return projected.unflatten(-1, (count, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()


def _projected_apart(query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Maybe) -> tuple[Any, Any, Any]:
    biases = (None, None, None) if bias is None else bias.chunk(3)
    size = query.shape[-1]
    found = []
    for letter, name, tensor, weight, part in zip(
        "qkv", ("query", "key", "value"), (query, key, value), weights, biases, strict=True
    ):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {letter}_proj_weight is None")
        wanted = (size, tensor.shape[-1])
        if tuple(weight.shape) != wanted:
            raise AssertionError(f"expecting {name} weights shape of {wanted}, but got {weight.shape}")
        if part is not None and tuple(part.shape) != (size,):
            raise AssertionError(f"expecting {name} bias shape of {(size,)}, but got {part.shape}")
        found.append(linear(tensor, weight, part))
    return found[0], found[1], found[2]


def _checked_mask(mask: Maybe, steps: int, source: int, heads: int) -> Maybe:
    if mask is None:
        return None
    wanted = (steps, source) if mask.dim() == 2 else (heads, steps, source)
    if mask.dim() not in (2, 3):
        raise errors.runtime(f"attn_mask's dimension {mask.dim()} is not supported")
    if tuple(mask.shape) != wanted:
        raise errors.runtime(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {wanted}.")
    return mask.unsqueeze(0) if mask.dim() == 2 else mask


def _one_more(mask: Maybe) -> Maybe:
    return None if mask is None else pad(mask, (0, 1))


def _in_heads(tensor: Any, heads: int, size: int, fixed: Maybe, name: str) -> Any:
    """(steps, batch, heads * size) as (batch * heads, steps, size); `fixed` is taken instead, where given."""
    if fixed is None:
        return tensor.view(tensor.shape[0], heads, size).transpose(0, 1)
    for dim, wanted in ((0, heads), (2, size)):
        if fixed.size(dim) != wanted:
            raise AssertionError(f"expecting {name}.size({dim}) of {wanted}, but got {fixed.size(dim)}")
    return fixed


def _merged(mask: Any, padding: Any, batch: int, heads: int, source: int) -> Any:
    """The mask of (batch * heads or 1, steps or 1, source) that is added to the scores."""
    if padding is None:
        return mask
    for dim, wanted in ((0, batch), (1, source)):
        if padding.shape[dim] != wanted:
            raise AssertionError(f"Expected key_padded_mask.shape[{dim}] to be {wanted}, but got {padding.shape[dim]}")
    spread = padding.view(batch, 1, 1, source).expand(-1, heads, -1, -1).reshape(batch * heads, 1, source)
    return spread if mask is None else mask + spread


def _attend_and_tell(q: Any, k: Any, v: Any, mask: Any, dropped: float) -> tuple[Any, Any]:
    scaled = q * math.sqrt(1.0 / float(q.shape[2]))
    turned = k.transpose(-2, -1)
    scores: Any = bmm(scaled, turned)
    if mask is not None:
        scores = mask + scores
    weights: Any = softmax(scores, dim=-1)
    if dropped > 0.0:
        weights = dropout(weights, p=dropped)
    return bmm(weights, v), weights


def _attend(q: Any, k: Any, v: Any, mask: Any, dropped: float, is_causal: bool, batch: int) -> Any:
    heads = q.shape[0] // batch
    if mask is not None:
        alone = mask.shape[0] == 1 and mask.dim() == 3
        mask = mask.unsqueeze(0) if alone else mask.view(batch, heads, -1, k.shape[1])
    q, k, v = (t.view(batch, heads, t.shape[1], t.shape[2]) for t in (q, k, v))
    return scaled_dot_product_attention(q, k, v, mask, dropped, is_causal)
