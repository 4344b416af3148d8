"""Tensors brought to one shape or dtype, with the nodes that torch has for it."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...ops import shape as so
from ...tensor.grad_mode import mode
from ...tensor.tensor import Tensor


def broadcast(*tensors: Tensor) -> list[Tensor]:
    """The tensors in the shape that they broadcast to; the ones that have it are themselves."""
    shape: tuple[int, ...] = ()
    for tensor in tensors:
        shape = _joint(shape, tensor._array.shape)
    return [t if t._array.shape == shape else so.expand(t, shape) for t in tensors]


def _joint(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that two shapes broadcast to; raises torch's error where they do not."""
    rank = max(len(a), len(b))
    wide_a, wide_b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    made = list(wide_a)
    for place in reversed(range(rank)):
        m, n = wide_a[place], wide_b[place]
        if m != n and 1 not in (m, n):
            raise errors.runtime(
                f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension {place}"
            )
        made[place] = n if m == 1 else m
    return tuple(made)


def of_dtype(tensor: Tensor, dtype: Any) -> Tensor:
    """The tensor in a numpy dtype; itself if it has it."""
    return tensor if tensor._array.dtype == dtype else so.cast(tensor, dtype)


def need_no_gradient(function: str, **tensors: Tensor | None) -> None:
    """Raise torch's error where an argument that has no derivative requires one."""
    for name, tensor in tensors.items():
        if tensor is not None and tensor._requires_grad and mode.enabled:
            raise errors.runtime(
                f"The function '{function}' is not differentiable with respect to argument '{name}'. This input cannot "
                "have requires_grad True.",
                tensors=(tensor,),
            )
