"""Reductions, and the sum that undoes broadcasting."""

from __future__ import annotations

from typing import Any

from ..array import Array, xp
from ..op import Traits, op
from .shape import expand, unsqueeze


def _sum_to_size(self: Array, size: tuple[int, ...]) -> Array:
    """Sum over the dimensions that broadcasting `size` to the shape of `self` added or stretched."""
    extra = self.ndim - len(size)
    stretched = tuple(i + extra for i, n in enumerate(size) if n == 1 and self.shape[i + extra] != 1)
    dims = (*range(extra), *stretched)
    summed = self.sum(axis=dims, keepdims=True) if dims else self
    return summed.reshape(size)


sum_to_size = op("sum_to_size", _sum_to_size, self=lambda grad, self_sizes: expand(grad, self_sizes))


def _sum(self: Array) -> Array:
    return xp.sum(self)


def _sum_dim(self: Array, dim: Any, keepdim: bool = False) -> Array:
    return xp.sum(self, axis=dim, keepdims=keepdim)


def _restored(grad: Any, sizes: tuple[int, ...], dim: Any, keepdim: bool) -> Any:
    """A gradient of a reduction, expanded to the shape that was reduced."""
    if not keepdim:
        rank = len(sizes)
        for d in sorted(d % rank for d in (dim if isinstance(dim, tuple) else (dim,))):
            grad = unsqueeze(grad, d)
    return expand(grad, sizes)


sum_all = op("sum", _sum, Traits(node="SumBackward0"), self=lambda grad, self_sizes: expand(grad, self_sizes))
sum_dim = op(
    "sum.dim", _sum_dim, Traits(node="SumBackward1"),
    self=lambda grad, self_sizes, dim, keepdim: _restored(grad, self_sizes, dim, keepdim),
)  # fmt: skip
