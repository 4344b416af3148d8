"""Work that several callers request at the same time is done once, and all get its result."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Any, TypeVar

from .lru import Lru

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SingleFlight:
    """One run per key at a time, in the thread that asked first; other keys do not wait for it."""

    def __init__(self) -> None:
        self._running: dict[Hashable, Future[Any]] = {}
        self._lock = threading.Lock()

    def cached(self, cache: Lru[K, V], key: K, work: Callable[[], V]) -> V:
        """The cached value of the key; without one, the result of `work`, which is then cached.

        A cached value never waits.  An error of `work` goes to all who waited for it, and is not kept.
        """
        hit = cache.get(key)
        if hit is not None:
            return hit
        with self._lock:
            running = self._running.get((id(cache), key))
            if running is None:
                mine = self._running[id(cache), key] = Future[V]()
        if running is not None:
            outcome: V = _outcome(running)
            return outcome
        try:
            hit = cache.get(key)  # another run may have ended between the first look and ours
            value = hit if hit is not None else cache.put(key, work())
        except BaseException as error:
            mine.set_exception(error)
            raise
        else:
            mine.set_result(value)
            return value
        finally:
            with self._lock:
                del self._running[id(cache), key]
            del mine  # an error holds this frame: otherwise they would hold each other, and everything that `work` had


def _outcome(running: Future[V]) -> V:
    try:
        return running.result()
    finally:
        del running  # likewise
