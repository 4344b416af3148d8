"""Sizes of kernels, strides and the like: one number for all dimensions, or one each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def each(value: Any, dims: int) -> tuple[int, ...]:
    """A number for each of `dims` dimensions.

    >>> each(3, 2), each([1, 2], 2)
    ((3, 3), (1, 2))
    """
    return tuple(value) if isinstance(value, Iterable) else (value,) * dims


def turned(sides: tuple[int, ...]) -> tuple[int, ...]:
    """Repeat each padding for both sides of its dimension, the last dimension first, as `F.pad` takes it.

    >>> turned((1, 2))
    (2, 2, 1, 1)
    """
    return tuple(side for side in reversed(sides) for _ in range(2))
