"""Transformers."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

from ...api.creation import fills
from ...arrays import errors
from ...arrays.session import unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..container import ModuleList
from ..functional.attention import as_added
from ..module import Module
from .activation import GELU, ReLU
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]

Maybe = Tensor | None
Activation = str | Callable[[Tensor], Tensor]


def _activation(activation: Activation) -> Callable[[Tensor], Tensor]:
    if not isinstance(activation, str):
        return activation
    if activation not in ("relu", "gelu"):
        raise errors.runtime(f"activation should be relu/gelu, not {activation}")
    return F.relu if activation == "relu" else F.gelu


def causal_mask(size: int, device: Any = None, dtype: Any = None) -> Tensor:
    """Minus infinity above the diagonal, 0 elsewhere: nothing looks at what comes later."""
    full = fills.full((size, size), float("-inf"), dtype=dtype, device=device)
    mask: Tensor = full.triu(1)
    return mask


def _is_causal(mask: Maybe, hint: bool | None, size: int) -> bool:
    """Return whether a mask hides exactly the later positions: by the hint, if there is one, else by its elements."""
    if hint is not None or mask is None:
        return hint is True
    with unrecorded():
        reference = causal_mask(size, mask.device, mask.dtype)
    return mask.shape == reference.shape and bool((mask._array == reference._array).all())


def _steps(tensor: Tensor, batch_first: bool) -> int:
    return int(tensor.shape[1 if batch_first and tensor.dim() == 3 else 0])


class _Layer(Module):
    """The base of the encoder's and the decoder's layer: the feed-forward part and the norms."""

    def _begin(
        self, names: tuple[str, ...], d_model: int, nhead: int, dim_feedforward: int, dropout: float,
        activation: Activation, layer_norm_eps: float, batch_first: bool, norm_first: bool, bias: bool,
        options: dict[str, Any],
    ) -> None:  # fmt: skip
        super().__init__()
        for name in names:
            attention = MultiheadAttention(d_model, nhead, dropout, bias, batch_first=batch_first, **options)
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **options)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **options)
        self.norm_first = norm_first
        count = len(names) + 1
        for place in range(1, count + 1):
            setattr(self, f"norm{place}", LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options))
        for place in range(1, count + 1):
            setattr(self, f"dropout{place}", Dropout(dropout))
        self.activation = _activation(activation)

    def _around(self, x: Any, norm: Module, part: Callable[[Any], Any]) -> Any:
        """x + part(norm(x)), or norm(x + part(x))."""
        return x + part(norm(x)) if self.norm_first else norm(x + part(x))

    def _fed_forward(self, x: Any) -> Any:
        return self.linear2(self.dropout(self.activation(self.linear1(x))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward part, each with a residual connection and a norm.

    Shapes: (S, N, d_model) -> (S, N, d_model); N first with `batch_first`, or no N.
    Source: torch.nn.TransformerEncoderLayer.

    >>> import engine as torch
    >>> torch.nn.TransformerEncoderLayer(8, 2, 16)(torch.zeros(5, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._begin(
            ("self_attn",), d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, {"device": device, "dtype": dtype},
        )  # fmt: skip
        function = self.activation
        relu, gelu = function is F.relu or isinstance(function, ReLU), function is F.gelu or isinstance(function, GELU)
        self.activation_relu_or_gelu = 1 if relu else 2 if gelu else 0

    def forward(
        self, src: Tensor, src_mask: Maybe = None, src_key_padding_mask: Maybe = None, is_causal: bool = False
    ) -> Tensor:
        """A tensor of the same shape: (steps, batch, size), with `batch_first` (batch, steps, size)."""
        other = None if src_mask is None else src_mask.dtype
        padding = as_added(src_key_padding_mask, "src_key_padding_mask", src.dtype, other, "src_mask")
        mask = as_added(src_mask, "src_mask", src.dtype)

        def attend(x: Any) -> Any:
            out = self.self_attn(x, x, x, key_padding_mask=padding, need_weights=False, attn_mask=mask,
                                 is_causal=is_causal)[0]  # fmt: skip
            return self.dropout1(out)

        x = self._around(src, self.norm1, attend)
        return self._around(x, self.norm2, lambda x: self.dropout2(self._fed_forward(x)))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory, and a feed-forward part.

    Shapes: (T, N, d_model), (S, N, d_model) -> (T, N, d_model); N first with `batch_first`, or no N.
    Source: torch.nn.TransformerDecoderLayer.

    >>> import engine as torch
    >>> torch.nn.TransformerDecoderLayer(8, 2, 16)(torch.zeros(3, 1, 8), torch.zeros(5, 1, 8)).shape
    torch.Size([3, 1, 8])
    """

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1,
        activation: Activation = F.relu, layer_norm_eps: float = 1e-5, batch_first: bool = False,
        norm_first: bool = False, bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        self._begin(
            ("self_attn", "multihead_attn"), d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps,
            batch_first, norm_first, bias, {"device": device, "dtype": dtype},
        )  # fmt: skip

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Maybe = None, memory_mask: Maybe = None,
        tgt_key_padding_mask: Maybe = None, memory_key_padding_mask: Maybe = None, tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """A tensor of the shape of `tgt`."""

        def to_itself(x: Any) -> Any:
            out = self.self_attn(x, x, x, key_padding_mask=tgt_key_padding_mask, need_weights=False,
                                 attn_mask=tgt_mask, is_causal=tgt_is_causal)[0]  # fmt: skip
            return self.dropout1(out)

        def to_memory(x: Any) -> Any:
            out = self.multihead_attn(x, memory, memory, key_padding_mask=memory_key_padding_mask, need_weights=False,
                                      attn_mask=memory_mask, is_causal=memory_is_causal)[0]  # fmt: skip
            return self.dropout2(out)

        x = self._around(tgt, self.norm1, to_itself)
        x = self._around(x, self.norm2, to_memory)
        return self._around(x, self.norm3, lambda x: self.dropout3(self._fed_forward(x)))


def _clones(layer: Module, count: int) -> ModuleList:
    with unrecorded():
        return ModuleList([copy.deepcopy(layer) for _ in range(count)])


def _not_nested(layer: Any) -> str:
    """Why torch would not compute nested tensors with such layers; "" where it would."""
    if not isinstance(layer, TransformerEncoderLayer):
        return "encoder_layer was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = (
        (layer.norm_first, "encoder_layer.norm_first was True"),
        (
            not attention.batch_first,
            "encoder_layer.self_attn.batch_first was not True(use batch_first for better inference performance)",
        ),
        (not attention._qkv_same_embed_dim, "encoder_layer.self_attn._qkv_same_embed_dim was not True"),
        (attention.in_proj_bias is None, "encoder_layer.self_attn was passed bias=False"),
        (not layer.activation_relu_or_gelu, "encoder_layer.activation_relu_or_gelu was not True"),
        (layer.norm1.eps != layer.norm2.eps, "encoder_layer.norm1.eps was not equal to encoder_layer.norm2.eps"),
        (attention.num_heads % 2 == 1, "encoder_layer.self_attn.num_heads is odd"),
    )
    return next((reason for applies, reason in reasons if applies), "")


class TransformerEncoder(Module):
    """Encoder layers one after the other: copies of one.

    torch's way through nested tensors in evaluation is not gone; padded places have the values of the plain way.

    Shapes: (S, N, d_model) -> (S, N, d_model); N first with `batch_first`, or no N.
    Source: torch.nn.TransformerEncoder.

    >>> import engine as torch
    >>> layer = torch.nn.TransformerEncoderLayer(8, 2, 16)
    >>> torch.nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)(torch.zeros(5, 1, 8)).shape
    torch.Size([5, 1, 8])
    """

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.use_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _not_nested(encoder_layer)
        if enable_nested_tensor and reason:
            warnings.warn(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {reason}", stacklevel=2
            )
            self.use_nested_tensor = False

    def forward(
        self, src: Tensor, mask: Maybe = None, src_key_padding_mask: Maybe = None, is_causal: bool | None = None
    ) -> Tensor:
        """A tensor of the same shape."""
        other = None if mask is None else mask.dtype
        padding = as_added(src_key_padding_mask, "src_key_padding_mask", src.dtype, other, "mask")
        mask = as_added(mask, "mask", src.dtype)
        causal = _is_causal(mask, is_causal, _steps(src, self.layers[0].self_attn.batch_first))
        out: Any = src
        for layer in self.layers:
            out = layer(out, src_mask=mask, is_causal=causal, src_key_padding_mask=padding)
        normed: Tensor = out if self.norm is None else self.norm(out)
        return normed


class TransformerDecoder(Module):
    """Decoder layers one after the other: copies of one.

    Shapes: (T, N, d_model), (S, N, d_model) -> (T, N, d_model); N first with `batch_first`, or no N.
    Source: torch.nn.TransformerDecoder.

    >>> import engine as torch
    >>> layer = torch.nn.TransformerDecoderLayer(8, 2, 16)
    >>> torch.nn.TransformerDecoder(layer, 2)(torch.zeros(3, 1, 8), torch.zeros(5, 1, 8)).shape
    torch.Size([3, 1, 8])
    """

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, tgt: Tensor, memory: Tensor, tgt_mask: Maybe = None, memory_mask: Maybe = None,
        tgt_key_padding_mask: Maybe = None, memory_key_padding_mask: Maybe = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """A tensor of the shape of `tgt`."""
        causal = _is_causal(tgt_mask, tgt_is_causal, _steps(tgt, self.layers[0].self_attn.batch_first))
        out: Any = tgt
        for layer in self.layers:
            out = layer(
                out, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal,
                memory_is_causal=memory_is_causal,
            )  # fmt: skip
        normed: Tensor = out if self.norm is None else self.norm(out)
        return normed


class Transformer(Module):
    """An encoder and a decoder that attends to it.

    Shapes: (S, N, d_model), (T, N, d_model) -> (T, N, d_model); N first with `batch_first`, or no N.  Raises
    RuntimeError for other features, or two numbers of samples.  Source: torch.nn.Transformer.

    >>> import engine as torch
    >>> model = torch.nn.Transformer(8, 2, 1, 1, 16, batch_first=True)
    >>> model(torch.zeros(1, 5, 8), torch.zeros(1, 3, 8)).shape
    torch.Size([1, 3, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Activation = F.relu, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        options = {"device": device, "dtype": dtype}
        shared = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias,
        )  # fmt: skip

        def norm() -> LayerNorm:
            return LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **options)

        with unrecorded():
            self.encoder = custom_encoder or TransformerEncoder(
                TransformerEncoderLayer(*shared, **options), num_encoder_layers, norm()
            )
            self.decoder = custom_decoder or TransformerDecoder(
                TransformerDecoderLayer(*shared, **options), num_decoder_layers, norm()
            )
            self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)

    def forward(
        self, src: Tensor, tgt: Tensor, src_mask: Maybe = None, tgt_mask: Maybe = None, memory_mask: Maybe = None,
        src_key_padding_mask: Maybe = None, tgt_key_padding_mask: Maybe = None,
        memory_key_padding_mask: Maybe = None, src_is_causal: bool | None = None, tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:  # fmt: skip
        """A tensor of the shape of `tgt`."""
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise errors.runtime("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise errors.runtime("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        out: Tensor = self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )  # fmt: skip
        return out

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Tensor:
        """Minus infinity above the diagonal, 0 elsewhere."""
        return causal_mask(sz, device, dtype)
