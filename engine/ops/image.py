"""Padding, resampling and reordering of images: linear maps along the last dimensions, given by tables of taps."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from ..array import Array, xp
from ..op import Traits, op
from .shape import Sizes


def _constant_pad_nd(self: Array, pad: Sizes, value: float = 0) -> Array:
    """`pad` has (before, after) per dimension, from the last; negative numbers cut off."""
    rank = self.ndim
    ends = [(0, 0)] * (rank - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    out = xp.full(
        tuple(a + n + b for (a, b), n in zip(ends, self.shape, strict=True)), value, dtype=self.dtype, like=self
    )
    target = tuple(slice(max(a, 0), n - max(b, 0)) for (a, b), n in zip(ends, out.shape, strict=True))
    source = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(ends, self.shape, strict=True))
    out[target] = self[source]
    return out


def _opposite(pad: Sizes) -> Sizes:
    return tuple(-n for n in pad)


constant_pad_nd = op(
    "constant_pad_nd", _constant_pad_nd, Traits(node="ConstantPadNdBackward0"),
    self=lambda grad, pad: constant_pad_nd(grad, _opposite(pad), 0),
)  # fmt: skip
