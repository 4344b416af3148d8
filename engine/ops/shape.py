"""Shape, views and dtype."""

from __future__ import annotations

from typing import Any

from ..array import Array, xp
from ..op import VIEW, Traits, op

cast = op(
    "to", lambda self, dtype: self.astype(dtype, copy=False), Traits(node="ToCopyBackward0"),
    self=lambda grad: grad,
)  # fmt: skip


def _expand(self: Array, size: tuple[int, ...]) -> Array:
    return xp.broadcast_to(self, size)


expand = op("expand", _expand, VIEW, self=lambda grad, self_sizes: _back(grad, self_sizes))
unsqueeze = op("unsqueeze", lambda self, dim: xp.expand_dims(self, dim), VIEW, self=lambda grad, dim: squeeze_dim(grad, dim))


def _squeeze_dim(self: Array, dim: int) -> Array:
    return xp.squeeze(self, axis=dim)


squeeze_dim = op(
    "squeeze.dim", _squeeze_dim, Traits(node="SqueezeBackward1", view=True),
    self=lambda grad, dim: unsqueeze(grad, dim),
)  # fmt: skip


def _back(grad: Any, sizes: tuple[int, ...]) -> Any:
    """The gradient of a broadcast."""
    from .reduction import sum_to_size

    return sum_to_size(grad, sizes)
