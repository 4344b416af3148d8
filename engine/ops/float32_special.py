"""Special functions of float32 arrays on the processor, by identities, in a few passes of numpy's vector instructions.

expit of scipy and expm1 of numpy go element by element, at 2 to 14 ns each: an activation would take longer than the
matrix products around it.  Every function here falls back to theirs for other dtypes and on a GPU.
"""

from __future__ import annotations

from ..arrays.array import Array, float32, special_of, xp

_SINGLE = float32.numpy


def is_quick(data: Array) -> bool:
    """Return whether these functions have a fast form for an argument: a float32 array with at least one dimension."""
    return isinstance(data, xp.ndarray) and data.dtype is _SINGLE and data.ndim > 0


def expm1(self: Array) -> Array:
    """exp(x) - 1 for x up to 0, as a new array: tanh(x / 2) (exp(x) + 1)."""
    if not is_quick(self):
        return xp.expm1(self)
    out = xp.exp(self)
    out += 1
    half = self * 0.5
    out *= xp.tanh(half, out=half)
    return out


def expit(self: Array) -> Array:
    """1 / (1 + exp(-x)), as a new array."""
    if not is_quick(self):
        return special_of(self).expit(self).astype(self.dtype, copy=False)
    out = xp.negative(self)
    xp.exp(out, out=out)
    out += 1
    return xp.reciprocal(out, out=out)
