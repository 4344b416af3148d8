"""The product of a table of three dimensions with rows of two matrices."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, xp
from .linalg import mm
from .op import op
from .shape import Sizes, permute, reshape, t, unsqueeze


def _trilinear(i1: Array, i2: Array, i3: Array) -> Array:
    rows, first = i1.shape
    outputs, _, second = i2.shape
    half = xp.matmul(i1, i2.transpose(1, 0, 2).reshape(first, outputs * second))
    return xp.einsum("moj,mj->mo", half.reshape(rows, outputs, second), i3)


def _outer(a: Any, b: Any, rows: int, columns: int) -> Any:
    """All products of a column of `a` and one of `b`, row by row."""
    return reshape(unsqueeze(a, 2) * unsqueeze(b, 1), (rows, columns))


def _slices(i2: Any, sizes: Sizes, dims: Sizes) -> Any:
    """The table with its dimensions in another order, the first two as one."""
    n = [sizes[d] for d in dims]
    return reshape(permute(i2, dims), (n[0] * n[1], n[2]))


trilinear = op(
    "_trilinear", _trilinear,
    i1=lambda grad, i2, i3, i2_sizes, i3_sizes: mm(
        _outer(grad, i3, i3_sizes[0], i2_sizes[0] * i2_sizes[2]), _slices(i2, i2_sizes, (0, 2, 1))
    ),
    i2=lambda grad, i1, i3, i1_sizes, i2_sizes: reshape(
        mm(t(_outer(grad, i1, i1_sizes[0], i2_sizes[0] * i2_sizes[1])), i3), i2_sizes
    ),
    i3=lambda grad, i1, i2, i1_sizes, i2_sizes: mm(
        _outer(grad, i1, i1_sizes[0], i2_sizes[0] * i2_sizes[1]), _slices(i2, i2_sizes, (0, 1, 2))
    ),
)  # fmt: skip
"""The sum over i and j of i1[m, i] * i2[o, i, j] * i3[m, j]."""
