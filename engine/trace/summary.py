"""What a recording keeps of a large array instead of the array."""

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, to_numpy, xp
from .arena import Arena

SAMPLE = 64
"""Elements in a sample."""


class Summary:
    """What is kept of an array over the limit: statistics and at most 64 elements, taken with an even stride.

    They are worked out when they are first asked for, or when many wait: till then the array itself is held, or a copy
    of it where it may be written.
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
        """The array itself, or its copy, while it waits to be looked at; None afterwards."""
        return self._data

    def secure(self, arena: Arena) -> None:
        """Let the array be written: a copy is made much sooner than the statistics, which nobody may ask for."""
        data = self._data
        if data is not None:
            self._data = arena.copy(data)

    def settle(self) -> tuple[Any, dict[str, float]]:
        """The sample and the statistics, and let the array go.  Linear in its size.

        Two threads may be at it, the program and the one that streams.  What was found while the program was about to
        write is not taken: by then the copy is held.
        """
        while self._made is None:
            data = self._data
            if data is None:  # the other thread is just done
                continue
            made = to_numpy(sample_of(data.reshape(-1))).copy(), statistics(data)
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


def sample_of(flat: Any) -> Any:
    """At most `SAMPLE` of the elements of a vector, with an even stride."""
    return flat[:: max(1, -(-flat.size // SAMPLE))]


BLOCK = 2**15
"""Elements that are looked at together: few enough that what is worked out of them stays in the processor's cache."""


def statistics(data: Array) -> dict[str, float]:
    """min, max, mean and norm of the finite elements, and how many are nan, infinite, zero.  Linear in the size."""
    flat = data.reshape(-1)
    low, high = (flat.min(), flat.max()) if flat.size else (0, 0)
    nan = inf = 0
    if flat.dtype.kind == "f" and not xp.isfinite(low + high):
        finite = xp.isfinite(flat)
        nan = int(xp.isnan(flat).sum())
        inf = int(flat.size - finite.sum()) - nan
        flat = flat[finite]
        low, high = (flat.min(), flat.max()) if flat.size else (0, 0)
    total, squares = sums_of(flat)
    return {
        "min": float(low),
        "max": float(high),
        "mean": float(total / max(flat.size, 1)),
        "norm": float(xp.sqrt(squares)),
        "nan": nan,
        "inf": inf,
        "zeros": int(xp.count_nonzero(data == 0)),
        "size": int(data.size),
    }


def sums_of(flat: Array) -> tuple[Any, Any]:
    """The sum of a vector and that of its squares, in float64, block by block: a whole copy would go through memory."""
    total = squares = xp.float64(0)
    for start in range(0, flat.size, BLOCK):
        block = flat[start : start + BLOCK].astype("float64")
        total = total + block.sum()
        block *= block
        squares = squares + block.sum()
    return total, squares
