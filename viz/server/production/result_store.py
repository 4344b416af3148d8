"""The results of long computations, for all processes of a server: on disk, or in Redis (on_disk.py, on_redis.py).

A process that answers visitors only looks for them; one that works in the background makes missing ones.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Protocol

from viz.server.http.gzip_pieces import DeflatedText
from viz.server.store import Problem, ResultPending

LIFETIME = 3600
"""Seconds for which a result is kept."""
LARGEST = 32 << 20
"""Bytes of one result, compressed."""
HEAD = struct.Struct("<LQ")


class Results(Protocol):
    """Bytes by key, for a while, for all processes."""

    def get(self, key: str) -> bytes | None: ...

    def put(self, key: str, value: bytes, seconds: int) -> None: ...


class _Shelf:
    """The common part of both: the progress of a result that is being made."""

    results: Results

    def tell(self, request: str, replayed: int) -> None:
        self.results.put(_progress_of(request), b"%d" % replayed, LIFETIME)

    def replayed(self, request: str) -> int:
        return int(self.results.get(_progress_of(request)) or 0)


class VisitorShelf(_Shelf):
    """The store of a process that answers visitors. Raises ResultPending if a result is not there."""

    def __init__(self, results: Results, long: int) -> None:
        self.results, self.long = results, long

    def __call__(self, request: str, make: Callable[[], DeflatedText]) -> DeflatedText:
        content = self.results.get(key_of(request))
        if content is None:
            raise ResultPending
        return unpacked(content)


class BackgroundShelf(_Shelf):
    """The store of a process in the background: a request for something that took others long. Raises Problem if a
    result is too large."""

    long = 0

    def __init__(self, results: Results, largest: int = LARGEST) -> None:
        self.results, self.largest = results, largest

    def __call__(self, request: str, make: Callable[[], DeflatedText]) -> DeflatedText:
        content = self.results.get(key_of(request))
        if content is not None:
            return unpacked(content)
        result = make()
        if len(result.blocks) > self.largest:
            raise _too_large()
        self.results.put(key_of(request), packed(result), LIFETIME)
        return result


def key_of(request: str) -> str:
    return f"backstep:result:{hashlib.sha256(request.encode()).hexdigest()}"


def _progress_of(request: str) -> str:
    return f"{key_of(request)}:progress"


def packed(text: DeflatedText) -> bytes:
    """A compressed text as bytes.

    >>> from viz.server.http.gzip_pieces import pack
    >>> unpacked(packed(pack(b"a text"))).text
    b'a text'
    """
    return HEAD.pack(text.crc, text.size) + text.blocks


def unpacked(data: bytes) -> DeflatedText:
    crc, size = HEAD.unpack_from(data)
    return DeflatedText(data[HEAD.size :], crc, size)


def _too_large() -> Problem:
    text = (
        "This result is larger than this server keeps for one visitor. The previous view is still there. "
        "Install Backstep to compute it on your own machine."
    )
    return Problem("too-much", "This is too large for this server", text)
