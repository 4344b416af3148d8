"""A cache of the entries used last, limited in number and bytes: for scenes, layouts and the server."""

from __future__ import annotations

import math
import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Lru(Generic[K, V]):
    """A dictionary of the entries used last: at most `most`, of `limit` bytes in all as `weigh` says of each; safe to
    use from several threads.

    The entry used last stays, however large: the one on the screen is not computed again for each question about it.
    """

    def __init__(self, most: float, limit: float = math.inf, weigh: Callable[[K, V], int] | None = None) -> None:
        self.most, self.limit = most, limit
        self.weight = 0
        self._weigh: Callable[[Any, Any], int] = weigh or (lambda _key, _value: 0)
        self._entries: OrderedDict[K, tuple[V, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            entry = self._entries.get(key)
            if entry is None:
                return None
            self._entries.move_to_end(key)
            return entry[0]

    def put(self, key: K, value: V) -> V:
        """Keeps the value, and forgets those used longest ago until the rest is within the limit."""
        weight = self._weigh(key, value)
        forgotten = []  # released outside of the lock: freeing a large one takes time
        with self._lock:
            forgotten.append(self._entries.pop(key, None))
            self._entries[key] = (value, weight)
            self.weight += weight - (forgotten[0][1] if forgotten[0] else 0)
            while len(self._entries) > max(1, self.most if self.weight <= self.limit else 1):
                old = self._entries.popitem(last=False)[1]
                self.weight -= old[1]
                forgotten.append(old)
        return value

    def clear(self) -> None:
        with self._lock:
            self._entries.clear()
            self.weight = 0

    def __len__(self) -> int:
        return len(self._entries)
