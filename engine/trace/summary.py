"""The summary that a recording keeps instead of a large array."""

from __future__ import annotations

from collections.abc import Iterator
from math import isfinite, sqrt
from typing import Any

import numpy as np

from ..arrays.array import Array, to_numpy, xp

SAMPLE = 64
"""Elements in a sample."""


class Summary:
    """What is kept of an array over the limit: statistics and at most 64 elements, taken with an even stride.

    They are worked out when they are first asked for, when many wait, or just before the array is written, which is
    sooner done than a copy: till then the array itself is held.
    """

    __slots__ = ("_data", "_made", "dtype", "shape", "size")

    def __init__(self, data: Any) -> None:
        self._data: Any = data
        self._made: tuple[Any, dict[str, float]] | None = None
        self.shape: tuple[int, ...] = data.shape
        self.dtype = data.dtype
        self.size: int = data.size

    @property
    def held(self) -> Any:
        """The array itself while it waits to be looked at; None afterwards."""
        return self._data

    def settle(self) -> tuple[Any, dict[str, float]]:
        """The sample and the statistics, and let the array go.  Linear in its size.

        Two threads may be at it, the program and the one that streams.  What the second found while the first was
        about to write is not taken: by then the array is let go.
        """
        while self._made is None:
            data = self._data
            if data is None:  # the other thread is just done
                continue
            made = to_numpy(sample_of(data)).copy(), statistics(data)
            if self._data is data:
                self._made, self._data = made, None
        return self._made

    @property
    def sample(self) -> Any:
        return self.settle()[0]

    @property
    def stats(self) -> dict[str, float]:
        return self.settle()[1]


class OnFile:
    """What a recorder has in place of an array that is written and that nobody else has any more."""

    __slots__ = ("dtype", "shape", "size")

    def __init__(self, data: Any) -> None:
        self.shape, self.dtype, self.size = data.shape, data.dtype, data.size


def sample_of(data: Any) -> Any:
    """At most `SAMPLE` of the elements of an array, with an even stride in its own order; a vector.

    >>> sample_of(np.arange(130).reshape(10, 13).T)[:4]
    array([ 0, 39, 78, 117])
    """
    scattered = isinstance(data, np.ndarray) and not data.flags.c_contiguous
    flat = data.flat if scattered else data.reshape(-1)
    return flat[:: max(1, -(-data.size // SAMPLE))]


BLOCK = 2**18
"""Elements that are looked at together: few enough to stay in the processor's cache from one look to the next."""
ROW = 1024
"""Elements whose sum is taken in float32: few enough that seven digits of it are true."""
SQUARES = 1e-12, 1e15
"""Between these lies the largest element of a block whose squares neither overflow in float32 nor vanish."""


def statistics(data: Array) -> dict[str, float]:
    """min, max, mean and norm of the finite elements, and how many are nan, infinite, zero.  Linear in the size."""
    low, high = float("inf"), -float("inf")
    total = squares = 0.0
    nan = inf = zeros = 0
    for block in blocks(data):
        least, most = float(block.min()), float(block.max())
        if least <= 0 <= most or least != least:
            zeros += int(xp.count_nonzero(block == 0))
        if not isfinite(most - least):
            finite = block[xp.isfinite(block)]
            odd = int(xp.isnan(block).sum())
            nan, inf = nan + odd, inf + int(block.size - finite.size) - odd
            if not finite.size:
                continue
            block, least, most = finite, float(finite.min()), float(finite.max())
        low, high = min(low, least), max(high, most)
        added, squared = sums_of(block, max(-least, most))
        total, squares = total + added, squares + squared
    count = int(data.size) - nan - inf
    return {
        "min": low if count else 0.0,
        "max": high if count else 0.0,
        "mean": total / max(count, 1),
        "norm": sqrt(squares),
        "nan": nan,
        "inf": inf,
        "zeros": zeros,
        "size": int(data.size),
    }


def blocks(data: Array) -> Iterator[Array]:
    """The elements of an array in its own order, as vectors of some `BLOCK` elements, on a GPU as one.

    They are cut between rows and lie without gaps, so that the same elements have the same sums to the last bit, be
    they transposed or not; a transposed array is copied a block at a time.
    """
    if not isinstance(data, np.ndarray):
        yield data.reshape(-1)
        return
    data = np.atleast_1d(data)
    while data.ndim > 1 and len(data) == 1:
        data = data[0]
    rows = max(1, BLOCK * len(data) // max(1, data.size))
    for start in range(0, len(data) if data.size else 0, rows):
        yield np.ascontiguousarray(data[start : start + rows]).reshape(-1)


def sums_of(block: Array, largest: float) -> tuple[float, float]:
    """The sum of a vector and that of its squares; `largest` is the largest magnitude in it.

    Rows of float32 are summed by the processor's dot product, in a tenth of the time of a sum in float64; the sums of
    the rows are added in float64.
    """
    if not (isinstance(block, np.ndarray) and block.dtype == "float32" and SQUARES[0] < largest < SQUARES[1]):
        wide = block.astype("float64")
        return float(wide.sum()), float((wide * wide).sum())
    whole = block.size - block.size % ROW
    rows = block[:whole].reshape(-1, ROW)
    total = float(np.vecdot(rows, np.ones(ROW, "float32")).sum(dtype="float64"))
    squares = float(np.vecdot(rows, rows).sum(dtype="float64"))
    if whole < block.size:
        rest = block[whole:].astype("float64")
        total, squares = total + float(rest.sum()), squares + float((rest * rest).sum())
    return total, squares
