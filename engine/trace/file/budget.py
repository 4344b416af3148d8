"""Which values of a long recording are written whole: docs/decisions/0014."""

from __future__ import annotations

import sys
from collections.abc import Set
from typing import Any

import numpy as np

from ...arrays.element_types import name_of
from ...ops.op import CUSTOM
from ..events import Accumulated, AnyEvent, CodeEntered, CodeLeft, OpCalled, Value, VjpRun
from ..summary import SAMPLE, PendingArray, StoredArray, Summary, sample_of, statistics
from .iterations import Iterations, Selection

WHOLE = 256 * 2**20
"""Bytes of values that are always written whole: as many as some 20,000 events of a small network have."""
SMALL = 4096
"""The number of elements up to which a value is always written whole: as many as the page shows."""


class Budget:
    """Decides which values are written whole, from the order of the events alone.

    Beyond `WHOLE` bytes, large values that a replay computes again are written as a sample with their statistics. If
    `selection` names iterations that keep their values, this holds for all other iterations, from the first byte on and
    for any size. Values with which a replay begins are always written whole: leaves, gradients that a call received,
    values written past the recorder, results of the program's own code.
    """

    def __init__(self, whole: int, selection: Selection) -> None:
        self.left = whole if selection.is_all else 2**62
        self.selection, self.iterations = selection, Iterations()
        self.is_kept = selection.keeps(0)
        self.depth = 0

    def see(self, event: AnyEvent) -> bool:
        """Take in an event and return whether a replay computes its values again; call it for all events, in order."""
        if isinstance(event, OpCalled):
            return not self.depth and event.name != CUSTOM.name
        if isinstance(event, (VjpRun, Accumulated)):
            return not self.depth
        self.iterations.see(event)
        if not self.selection.is_all:
            self.is_kept = any(map(self.selection.keeps, self.iterations.numbers))
        self.depth += isinstance(event, CodeEntered) - isinstance(event, CodeLeft)
        return False

    def is_whole(self, entry: Any, is_made_again: bool) -> bool:
        """Return whether a value of the recorder is written whole, and not as a sample; call it once for each, because
        the bytes are counted."""
        if entry.size <= SAMPLE or isinstance(entry, (Summary, StoredArray)):
            return True
        if is_made_again and not self.is_kept:
            return False
        if entry.size <= SMALL:
            return True
        self.left -= entry.nbytes
        return self.left >= 0 or not is_made_again


def as_sample(value: Value) -> Value:
    """A value without most of its elements."""
    return value if value.array is None else sample_value(value.array)


def sample_value(array: np.ndarray) -> Value:
    """The sample of an array, with its statistics."""
    return Value(array.shape, name_of(array.dtype), None, sample_of(array).copy(), statistics(array))


class WrittenValues:
    """The values of a recorder that were written: they are released if only the recorder holds them.

    Values that the program also holds, in a tensor or a node of its graph, cost nothing to keep.
    """

    def __init__(self) -> None:
        self.bytes = 0
        self.numbers: dict[int, list[int]] = {}
        """By the id of an array: the values that it stands for. A gradient that is passed on is several values."""
        self._look_at = 256
        self._gone: dict[tuple[tuple[int, ...], str], StoredArray] = {}

    def add(self, number: int, entry: Any) -> None:
        """Note an array that the recorder holds for a value that is written now."""
        if not isinstance(entry, (np.ndarray, Summary, PendingArray)):
            return
        numbers = self.numbers.setdefault(id(entry), [])
        if not numbers:
            self.bytes += _bytes(entry)
        numbers.append(number)

    def let_go(self, values: list[Any], compared: Set[int] = frozenset()) -> None:
        """Release arrays that nobody else holds and that are no longer `compared`. Linear in the arrays added since the
        last call."""
        if len(self.numbers) < self._look_at:
            return
        lists = list(self.numbers.values())
        self.numbers = {}
        self.bytes -= sum(_bytes(values[numbers[0]]) for numbers in lists)
        for numbers in lists:
            self._look(values, numbers, compared)
        self._look_at = 256 + 2 * len(self.numbers)

    def let_all_go(self, values: list[Any], compared: Set[int] = frozenset()) -> None:
        """Release all arrays that are not `compared`, whoever else holds them: they will be written unannounced."""
        for numbers in self.numbers.values():
            if compared.isdisjoint(numbers):
                self.bytes -= _bytes(values[numbers[0]])
                for number in numbers:
                    values[number] = self._on_file(values[number])
        self.numbers = {key: numbers for key, numbers in self.numbers.items() if not compared.isdisjoint(numbers)}

    def _on_file(self, entry: Any) -> StoredArray:
        """The placeholder for a value that was released: one for all values of a shape."""
        key = entry.shape, name_of(entry.dtype)
        if key not in self._gone:
            if len(self._gone) >= MOST_SHAPES:
                self._gone.clear()
            self._gone[key] = StoredArray(entry)
        return self._gone[key]

    def _look(self, values: list[Any], numbers: list[int], compared: Set[int]) -> None:
        """Release one array, or note it again if others hold it; if it was written since, its values are copies by
        now."""
        count = sum(values[n] is values[numbers[0]] for n in numbers)
        is_alone = count == len(numbers) and sys.getrefcount(values[numbers[0]]) < ALONE + count
        if is_alone and compared.isdisjoint(numbers):
            gone = self._on_file(values[numbers[0]])
            for number in numbers:
                values[number] = gone
            return
        for number in numbers:
            self.add(number, values[number])


def _bytes(entry: Any) -> int:
    """The memory that a value takes while it is kept."""
    return int(entry.nbytes) if isinstance(entry, (np.ndarray, PendingArray)) else SAMPLE * int(entry.dtype.itemsize)


MOST_SHAPES = 10_000
_LIST = [object()]
ALONE = sys.getrefcount(_LIST[0])
"""The number of references to an object that only one list holds, as this function counts them."""
