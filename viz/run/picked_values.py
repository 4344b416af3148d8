"""The values of a window: each is read and checked once, and its elements do not stay in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from engine.trace.events import Value
from engine.trace.file.database import Rows
from engine.trace.log_reader import LazyStats

SMALL = 64
"""The size up to which the elements of a value stay in memory."""


class PickedValues(Sequence[Value]):
    """Some values of a trace, with numbers of their own.

    A scene asks for shape and statistics of each value several times, and for the elements of few. So everything but
    the elements of larger values is kept: some 700 bytes for each. Values of one block of a file are read together.
    """

    def __init__(self, values: Sequence[Value], numbers: Sequence[int]) -> None:
        self._values, self.numbers = values, numbers
        self._by_number: dict[int, Value] = {}

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        number = self.numbers[index]
        result = self._by_number.get(number)
        if result is None:
            for one, value in self._together(number):
                if one not in self._by_number and one in self._number_set:
                    self._by_number[one] = value if _is_small(value) else LazyValue(value, self._values, one)
            result = self._by_number[number]
        return result

    def __len__(self) -> int:
        return len(self.numbers)

    def _together(self, number: int) -> Iterable[tuple[int, Value]]:
        """The values that are read together with one, and their numbers in the trace."""
        if isinstance(self._values, Rows):
            return self._values.around(number)
        return [(number, self._values[number])]

    @cached_property
    def _number_set(self) -> frozenset[int] | range:
        return self.numbers if isinstance(self.numbers, range) else frozenset(self.numbers)


def _is_small(value: Value) -> bool:
    return value.array is None or value.array.size <= SMALL


class LazyValue(Value):
    """A value with its statistics; the elements and the sample are read again when they are needed."""

    __slots__ = ("_number", "_values")

    _values: Sequence[Value]
    _number: int

    def __init__(self, value: Value, values: Sequence[Value], number: int) -> None:
        stats = value.stats.full() if isinstance(value.stats, LazyStats) else value.stats
        fields = {"shape": value.shape, "dtype": value.dtype, "stats": dict(stats), "damaged": value.damaged}
        for name, field in {**fields, "_values": values, "_number": number}.items():
            object.__setattr__(self, name, field)

    @property
    def is_whole(self) -> bool:
        return True

    @property
    def array(self) -> np.ndarray | None:
        return self._values[self._number].array

    @property
    def sample(self) -> np.ndarray:
        return self._values[self._number].sample
