"""Folds of a ufunc over dimensions, along one, and into places: where numpy and cupy offer them differently.

Sums are as exact as torch's: numpy alone would lose digits along dimensions that are not the last.
"""

from __future__ import annotations

import math
from typing import Any

from numpy import generic, ndarray

from .array import Array, by_rows, float32, strided, xp

_NUMPYS = (ndarray, generic)
_SINGLE = float32.numpy
_FOLDS = {
    xp.add: "sum", xp.multiply: "prod", xp.maximum: "max", xp.minimum: "min",
    xp.logical_and: "all", xp.logical_or: "any",
}  # fmt: skip


MANY, BLOCK = 1 << 15, 512
"""From so many elements on sums are taken in two levels, of blocks and of their sums."""


def _in_blocks(data: Array, dim: Any) -> tuple[Array, Any, tuple[int, ...]]:
    """Data whose sum over a dimension is as exact as torch's, that dimension, and the shape that keepdim leaves.

    numpy adds pairwise along the last dimension only; along another each row goes into one running total, whose
    rounding grows with their number.  So the rows are added in blocks first.
    """
    dims = tuple(d % data.ndim for d in (dim if isinstance(dim, tuple) else (dim,)))
    keepdim_shape = tuple(1 if d in dims else n for d, n in enumerate(data.shape))
    first, last = min(dims, default=0), max(dims, default=0)
    if len(dims) != last - first + 1 or last == data.ndim - 1 or not data.flags.c_contiguous:
        return data, dims, keepdim_shape
    before, after = data.shape[:first], data.shape[last + 1 :]
    n = math.prod(data.shape[first : last + 1])
    if n < 4 * BLOCK:
        return data, dims, keepdim_shape
    rows, whole = data.reshape(*before, n, *after), n - n % BLOCK
    place = (slice(None),) * first
    sums = xp.add.reduce(
        strided(rows, (*before, whole // BLOCK, BLOCK, *after), _split_steps(rows.strides, first)), axis=first + 1
    )
    rest = rows[(*place, slice(whole, None))]
    return (xp.concatenate([sums, rest], axis=first) if n > whole else sums), first, keepdim_shape


def _split_steps(steps: tuple[int, ...], place: int) -> tuple[int, ...]:
    return (*steps[:place], steps[place] * BLOCK, *steps[place:])


def folded(ufunc: Any, data: Array, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Array:
    """`ufunc` folded over `dim`: what the array's methods do; of numpy without their frames in between."""
    if type(data) is ndarray or isinstance(data, _NUMPYS):
        if data.size >= MANY and ufunc is xp.add and dim is not None and data.dtype == _SINGLE:
            data, dim, keepdim_shape = _in_blocks(data, dim)
            result = ufunc.reduce(data, axis=dim, dtype=dtype)
            return by_rows(result.reshape(keepdim_shape) if keepdim else result)
        result = ufunc.reduce(data, axis=dim, dtype=dtype, keepdims=keepdim)
        return result if dim is None else by_rows(result)
    typed = {} if dtype is None else {"dtype": dtype}
    return by_rows(getattr(data, _FOLDS[ufunc])(axis=dim, keepdims=keepdim, **typed))


def running_fold(ufunc: Any, data: Array, dim: int) -> Array:
    """The running fold of `ufunc` along `dim`; cupy has none, so that there it is made in log2(n) doubling steps."""
    if isinstance(data, _NUMPYS):
        return ufunc.accumulate(data, axis=dim)
    out, before, reach = data.copy(), (slice(None),) * dim, 1
    while reach < data.shape[dim]:
        near, far = (*before, slice(reach, None)), (*before, slice(None, -reach))
        out[near] = ufunc(out[near], out[far].copy())
        reach *= 2
    return out


def multiply_at(data: Array, key: Any, values: Array) -> None:
    """data[key] *= values, where a place may be named several times.

    cupy has no `multiply.at`: there, in each pass every place is written once.
    """
    if isinstance(data, ndarray):
        xp.multiply.at(data, key, values)
        return
    places = xp.arange(data.size, like=data).reshape(data.shape)[key].ravel()
    order = xp.argsort(places, kind="stable")
    ordered = places[order]
    nth = xp.arange(places.size, like=data) - xp.searchsorted(ordered, ordered)
    flat, factors = data.reshape(-1), xp.broadcast_to(values, data[key].shape).ravel()
    for n in range(int(nth.max()) + 1 if places.size else 0):
        chosen = order[nth == n]
        flat[places[chosen]] *= factors[chosen]
    data[...] = flat.reshape(data.shape)
