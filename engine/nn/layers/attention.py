"""Attention of several heads."""

from __future__ import annotations

from typing import Any

from ...arrays.session import unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..functional.attention import as_added
from ..module import Module
from ..parameter import fresh
from .linear import Linear

__all__ = ["MultiheadAttention"]


class NonDynamicallyQuantizableLinear(Linear):
    """The projection back, under the name that torch prints."""


class MultiheadAttention(Module):
    """Queries, keys and values projected, attention with each head, the heads joined and projected.

    Shapes: (L, N, embed_dim), (S, N, kdim), (S, N, vdim) -> (L, N, embed_dim), (N, L, S); N first with `batch_first`.
    Raises AssertionError where num_heads does not divide embed_dim.  Source: torch.nn.MultiheadAttention.

    >>> import engine as torch
    >>> out, weights = MultiheadAttention(4, 2)(*[torch.ones(3, 1, 4)] * 3)
    >>> out.shape, weights.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 3, 3]))
    """

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} "
                "instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        options = {"device": device, "dtype": dtype}
        with unrecorded():
            self._make_weights(options)
            self.register_parameter("in_proj_bias", fresh(3 * embed_dim, **options) if bias else None)
            self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **options)
            self.bias_k = fresh(1, 1, embed_dim, **options) if add_bias_kv else None
            self.bias_v = fresh(1, 1, embed_dim, **options) if add_bias_kv else None
            self.add_zero_attn = add_zero_attn
            self._reset_parameters()

    def _make_weights(self, options: dict[str, Any]) -> None:
        size = self.embed_dim
        apart = {"q": size, "k": self.kdim, "v": self.vdim}
        if self._qkv_same_embed_dim:
            self.in_proj_weight = fresh(3 * size, size, **options)
        for letter, width in apart.items():
            weight = None if self._qkv_same_embed_dim else fresh(size, width, **options)
            self.register_parameter(f"{letter}_proj_weight", weight)
        if not self._qkv_same_embed_dim:
            self.register_parameter("in_proj_weight", None)

    def _reset_parameters(self) -> None:
        for name in ("in_proj_weight", "q_proj_weight", "k_proj_weight", "v_proj_weight"):
            if getattr(self, name) is not None:
                init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None = None,
        need_weights: bool = True, attn_mask: Tensor | None = None, average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:  # fmt: skip
        """The output and, with `need_weights`, how much each step looks at each other one (the mean of the heads).

        Shapes: (steps, batch, size), with `batch_first` (batch, steps, size), or (steps, size).
        """
        other = None if attn_mask is None else attn_mask.dtype
        key_padding_mask = as_added(key_padding_mask, "key_padding_mask", query.dtype, other, "attn_mask")
        attn_mask = as_added(attn_mask, "attn_mask", query.dtype)
        turned = self.batch_first and query.dim() == 3
        if turned:
            query, key, value = _turned(query, key, value)
        apart: dict[str, Any] = {}
        if not self._qkv_same_embed_dim:
            names = ("q_proj_weight", "k_proj_weight", "v_proj_weight")
            apart = {"use_separate_proj_weight": True, **{name: getattr(self, name) for name in names}}
        out, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k,
            self.bias_v, self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias,
            training=self.training, key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            average_attn_weights=average_attn_weights, is_causal=is_causal, **apart,
        )  # fmt: skip
        return (out.transpose(1, 0) if turned else out), weights


def _turned(query: Tensor, key: Tensor, value: Tensor) -> tuple[Any, Any, Any]:
    """(batch, steps, size) as (steps, batch, size); what is one tensor stays one."""
    first = query.transpose(1, 0)
    second = first if key is query else key.transpose(1, 0)
    third = second if value is key else value.transpose(1, 0)
    return first, second, third
