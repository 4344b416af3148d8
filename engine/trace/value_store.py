"""The values of a recording: arrays are kept by reference and copied just before they are written."""

from __future__ import annotations

import itertools
import sys
from collections import Counter, deque
from collections.abc import Iterable
from operator import attrgetter
from typing import Any

import numpy as np

from ..arrays import array
from .summary import Summary, place_of

LIMIT = 65_536
"""Elements up to which a value is kept whole; beyond it, a sample and statistics."""
WAITING = 256 * 2**20
"""Bytes of large arrays that may wait for their statistics."""
BLOCK = 2**24
"""Bytes of a block."""
LEAST, MOST = 2**15, 2**22
"""Bytes of an array that goes into a block: smaller ones have memory that was used before, larger ones large pages of
their own."""
ALIGNED = 64
ALONE = next(map(sys.getrefcount, [object()])) - 1
"""How many references there are to what no list has, counted as `_shared` does."""
BASE = attrgetter("base")


class ValueStore:
    """Arrays by number, in the order in which they came; of those of more than `limit` elements a Summary."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.values: list[Any] = []
        self.queue: deque[Summary] = deque()  # the summaries that wait for their statistics,
        self.waiting = 0  # how many bytes they hold,
        self.summaries: dict[object, Summary] = {}  # and by where their elements lie, one of each
        self.copies = Arena()
        self.compared: set[int] = set()  # values that are compared with what the program may have written past us
        self.owners: dict[int, list[int]] = {}  # by the id of an array: the values that have its memory,
        self.indexed = range(0)  # of those in here

    def add(self, data: Any) -> int:
        """Keep an array that nobody will write unannounced; its number."""
        values = self.values
        values.append(data if data.size <= self.limit else self.summary(data))
        return len(values) - 1

    def add_copy(self, data: Any) -> int:
        """Keep what an array holds now, though it may be written later; its number."""
        if data.size <= self.limit:
            return self.add(self.copies.copy(data))
        number = self.add(data)
        self.preserve(number)
        return number

    def summary(self, data: Any) -> Summary:
        """Summarize a large array, once for all values that share its memory: one node sends a gradient and the next
        receives it, perhaps in another shape.  If more than `WAITING` bytes wait for their summary, the oldest are
        computed."""
        place = place_of(data)
        earlier = self.summaries.get(place)
        array = None if earlier is None else earlier.pending_array  # it keeps the memory from being another array's
        if earlier is not None and array is not None:
            return earlier if array is data else Summary(data, of=earlier)
        summary = self.summaries[place] = Summary(data)
        self.queue.append(summary)
        self.waiting += data.nbytes
        while self.waiting > WAITING:
            oldest = self.queue.popleft()
            self.waiting -= oldest.size * oldest.dtype.itemsize
            oldest.look()
        return summary

    def is_equal(self, number: int, data: Any) -> bool:
        """Return whether an array has the elements of a stored value, as far as they are known.  Linear in its size."""
        value = self.values[number]
        if isinstance(value, Summary):
            now = Summary(data)
            return repr((now.stats, now.sample.tolist())) == repr((value.stats, value.sample.tolist()))
        return bool(value.tobytes() == data.tobytes())

    def preserve(self, number: int) -> None:
        """Let the array of a value be written: the value has a copy from now on."""
        value = self.values[number]
        if isinstance(value, Summary):
            value.look()
        elif array.is_array(value):
            self.values[number] = self.copies.copy(value)

    def preserve_sharing(self, data: Any, since: int) -> None:
        """Let an array be written whose memory values from number `since` on may have.

        Which values have an array is looked up for each value once.
        """
        self.index(since)
        owner = owner_of(data)
        for number in self.owners.pop(id(owner), ()):
            if owner_of(array_of(self.values[number])) is owner:
                self.preserve(number)

    def settle(self) -> None:
        """The recording ends, and no write is announced from here on: values whose memory someone else has are copied.

        Linear in the number of values, and in the elements of those that are copied.
        """
        shared = self._shared()
        owners = self._held_elsewhere(shared)
        for number in shared:
            owner = owner_of(array_of(self.values[number]))
            if owner is not None and id(owner) in owners:
                self.preserve(number)

    def _shared(self) -> list[int]:
        """The values that may have memory in common with anything: not arrays of their own to which only values refer,
        one or several, as most are."""
        values = self.values
        parts = [number for number, base in enumerate(map(BASE, values)) if base is not None]
        several = [number for number, count in enumerate(map(sys.getrefcount, values)) if count != ALONE + 1]
        times = Counter([id(values[number]) for number in several])
        elsewhere = [n for n in several if sys.getrefcount(values[n]) != ALONE + times[id(values[n])]]
        return sorted({*parts, *elsewhere})

    def _held_elsewhere(self, numbers: Iterable[int]) -> set[int]:
        """The ids of the arrays that own the memory of values, and that someone else has, or a view of theirs."""
        arrays, places = self._places(numbers)
        alone = np.empty(0)
        arrays[id(alone)], places[id(alone)] = alone, 1  # held by this variable as a value is by its place
        more = {key: sys.getrefcount(array) - places[key] for key, array in arrays.items()}
        return {id(owner_of(arrays[key])) for key, count in more.items() if count > more[id(alone)]}

    def _places(self, numbers: Iterable[int]) -> tuple[dict[int, Any], Counter[int]]:
        """The arrays behind some values by their ids, and how many references this store has to each."""
        arrays: dict[int, Any] = {}
        places: Counter[int] = Counter()
        counted: set[int] = set()
        places[id(self.copies.block)] += 1  # whose copies nobody writes
        for number in numbers:
            value = self.values[number]
            data = array_of(value)
            if owner_of(data) is None or (isinstance(value, Summary) and value.same in counted):
                continue
            counted.add(value.same if isinstance(value, Summary) else -1)
            places[id(data)] += 1
            if id(data) not in arrays and data.base is not None:
                arrays.setdefault(id(data.base), data.base)
                places[id(data.base)] += 1  # that of the view
            arrays[id(data)] = data
        return arrays, places

    def index(self, since: int) -> None:
        """Enter the values from number `since` on under the arrays whose memory they have."""
        values, owners = self.values, self.owners
        indexed = self.indexed or range(since, since)
        for number in itertools.chain(range(since, indexed.start), range(indexed.stop, len(values))):
            owner = owner_of(array_of(values[number]))
            if owner is not None:
                owners.setdefault(id(owner), []).append(number)
        self.indexed = range(min(indexed.start, since), len(values))


def array_of(value: Any) -> Any:
    """The array that a value holds; of a large one, perhaps in another shape, while it waits for its statistics."""
    return value.pending_array if isinstance(value, Summary) else value


def owner_of(data: Any) -> Any:
    """The array that has the memory of an array, perhaps itself; None if it is not an array."""
    base = getattr(data, "base", None)
    return base if base is not None else data if array.is_array(data) else None


class Arena:
    """Copies of arrays in blocks, of which the system hands out two megabytes at a time; a block is freed when the last
    of its copies is.

    A copy that is kept is memory that the process did not have before.  The system hands it out in pages of 4 KB, each
    filled with zeros first: of a megabyte that takes thirty times as long as the copying.  numpy asks for large pages
    where an array has 4 MB or more.

    >>> arena = Arena()
    >>> row = np.ones((3, 20_000))
    >>> copied = arena.copy(row)
    >>> row[...] = 0
    >>> copied.shape, copied.dtype, bool((copied == 1).all()), copied.flags.c_contiguous
    ((3, 20000), dtype('float64'), True, True)
    """

    def __init__(self) -> None:
        self.block = np.empty(0, "uint8")
        self._free = 0

    def copy(self, data: Any) -> Any:
        """A copy in C order."""
        size = data.nbytes
        if not LEAST <= size < MOST or type(data) is not np.ndarray:
            return data.copy()
        start = self._free
        if start + size > len(self.block):
            self.block, start = np.empty(BLOCK, "uint8"), 0
        self._free = -(-(start + size) // ALIGNED) * ALIGNED
        copy = self.block[start : start + size].view(data.dtype).reshape(data.shape)
        copy[...] = data
        return copy
