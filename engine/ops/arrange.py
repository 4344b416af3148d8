"""Elements moved or repeated: repeat, roll, rotation, blocks on a diagonal."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, Arrays, xp, zeros_at
from ..arrays.promotion import promote
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .reduction import sum_dim
from .result_shapes import like_first
from .shape import Sizes, reshape, slice_


def _repeat(self: Array, repeats: Sizes) -> Array:
    return xp.tile(self, repeats)


def _gathered(grad: Any, sizes: Sizes, repeats: Sizes) -> Any:
    """The sum over all copies: dimensions taken apart as (copies, size)."""
    padded = (1,) * (len(repeats) - len(sizes)) + sizes
    apart = tuple(n for pair in zip(repeats, padded, strict=True) for n in pair)
    if not repeats:
        return grad
    return reshape(sum_dim(reshape(grad, apart), tuple(range(0, len(apart), 2)), False), sizes)


def _roll(self: Array, shifts: Sizes, dims: Sizes = ()) -> Array:
    return xp.roll(self, shifts, dims) if dims else xp.roll(self, shifts[0])


def _rot90(self: Array, k: int = 1, dims: tuple[int, int] = (0, 1)) -> Array:
    return xp.rot90(self, k, dims).copy(order="K")


repeat = op("repeat", _repeat, self=lambda grad, self_sizes, repeats: _gathered(grad, self_sizes, repeats))
roll = op(
    "roll", _roll, PLAIN, Presentation(shape=like_first, word="shifted along the dimension, from the end to the start"),
    self=lambda grad, shifts, dims: roll(grad, tuple(-s for s in shifts), dims),
)  # fmt: skip
rot90 = op(
    "rot90", _rot90, PLAIN, Presentation(word="rotated by quarter turns"),
    self=lambda grad, k, dims: rot90(grad, -k, dims),
)  # fmt: skip

# -- in blocks -------------------------------------------------------------------------------------------


def _promote_list(values: list[Any]) -> list[Any]:
    return [promote(list(values[0]))]


def _as_matrix(sizes: Sizes) -> Sizes:
    """Rows and columns of what block_diag takes: numbers and vectors are single rows."""
    return (1,) * (2 - len(sizes)) + tuple(sizes)


def _block_diag(tensors: Arrays) -> Array:
    blocks = [a.reshape(_as_matrix(a.shape)) for a in tensors]
    out = zeros_at(blocks[0], (sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)))
    row = column = 0
    for block in blocks:
        rows, columns = block.shape
        out[row : row + rows, column : column + columns] = block
        row, column = row + rows, column + columns
    return out


def _blocks(grad: Any, sizes: list[Sizes]) -> list[Any]:
    blocks = []
    row = column = 0
    for size in sizes:
        rows, columns = _as_matrix(size)
        block = slice_(slice_(grad, 0, row, row + rows), 1, column, column + columns)
        blocks.append(reshape(block, size))
        row, column = row + rows, column + columns
    return blocks


block_diag = op(
    "block_diag", _block_diag, Traits(promote=_promote_list),
    tensors=lambda grad, tensors_sizes: _blocks(grad, tensors_sizes),
)  # fmt: skip
