"""What a recording keeps of a large array instead of the array."""

from __future__ import annotations

from typing import Any

from . import array

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

    def is_of(self, data: Any) -> bool:
        """Whether what is held is that array, or a view of it."""
        return self._data is data or (self._data is not None and self._data.base is data)

    def secure(self) -> None:
        """Let the array be written: a copy is made much sooner than the statistics, which nobody may ask for."""
        data = self._data
        if data is not None:
            self._data = data.copy()

    def settle(self) -> tuple[Any, dict[str, float]]:
        """The sample and the statistics, and let the array go.  Linear in its size.

        Two threads may be at it, the program and the one that streams.  What was found while the program was about to
        write is not taken: by then the copy is held.
        """
        while self._made is None:
            data = self._data
            if data is None:  # the other thread is just done
                continue
            flat = data.reshape(-1)
            sample = array.to_numpy(flat[:: max(1, -(-flat.size // SAMPLE))]).copy()
            made = sample, array.statistics(data)
            if self._data is data:
                self._made, self._data = made, None
        return self._made

    @property
    def sample(self) -> Any:
        return self.settle()[0]

    @property
    def stats(self) -> dict[str, float]:
        return self.settle()[1]
