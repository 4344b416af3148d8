"""What a recording keeps of a large array instead of the array."""

from __future__ import annotations

from typing import Any

from . import array

SAMPLE = 64
"""Elements in a sample."""


class Summary:
    """What is kept of an array over the limit: statistics and at most 64 elements, taken with an even stride.

    They are worked out when they are first asked for, before the array is written, or when many wait: till then the
    array itself is held.
    """

    __slots__ = ("_data", "_made", "dtype", "shape", "size")

    def __init__(self, data: Any) -> None:
        self._data: Any = data
        self._made: tuple[Any, dict[str, float]] | None = None
        self.shape: tuple[int, ...] = data.shape
        self.dtype = data.dtype
        self.size: int = data.size

    def settle(self) -> tuple[Any, dict[str, float]]:
        """The sample and the statistics, and let the array go.  Linear in its size, once.

        Two threads may both be at it (the program before a write, and the one that streams): who ends first is right.
        """
        data, made = self._data, self._made
        if made is None:
            flat = data.reshape(-1)
            sample = array.to_numpy(flat[:: max(1, -(-flat.size // SAMPLE))]).copy()
            made = sample, array.statistics(data)
            if self._made is None:
                self._made, self._data = made, None
        return self._made or made

    @property
    def sample(self) -> Any:
        return self.settle()[0]

    @property
    def stats(self) -> dict[str, float]:
        return self.settle()[1]
