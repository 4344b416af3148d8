"""Rows of a trace file that are inserted together.

Python gives its lock away for each call of SQLite, and a program that computes takes a while to give it back: one call
for many rows takes a fraction of the time of a call for each.
"""

from __future__ import annotations

import hashlib
import zlib
from collections import deque
from collections.abc import Callable
from typing import Any

from .database import Row

Execute = Callable[..., Any]
MOST_ROWS = 64
"""The most rows of one call."""
MOST_CONTENTS = 2**14
"""Contents that are known without asking SQLite: equal ones mostly follow each other soon."""
MOST_BYTES = 2**20
"""Bytes of elements that wait; many are inserted earlier."""


def checksum(*columns: Any) -> int:
    """CRC-32 of the columns of a row, as texts (without the elements, which have a digest of their own)."""
    return zlib.crc32("\x1f".join(map(str, columns)).encode("utf-8", "surrogatepass"))


def digest_of(dtype: str, shape: str, whole: int, stats: str | None, raw: bytes) -> bytes:
    """A digest of a content, which differs for any other, and for a damaged one."""
    marked = bool(whole) if whole in (0, 1) else whole
    digest = hashlib.blake2b(f"{dtype}|{shape}|{marked}|{stats}|".encode(), digest_size=16)
    digest.update(raw)
    return digest.digest()


class Batch:
    """Rows of a table, of which `MOST_ROWS` are inserted at once."""

    def __init__(self, execute: Execute, table: str, columns: int) -> None:
        self._execute, self._table = execute, table
        self._row = f"({', '.join('?' * columns)})"
        self._full = columns * MOST_ROWS
        self._columns = columns
        self.waiting: list[Any] = []  # the columns of row after row

    def add(self, row: Row, checksum: int) -> None:
        """Take a row, with the checksum that it ends with."""
        self.waiting += row
        self.waiting.append(checksum)
        if len(self.waiting) >= self._full:
            self.write()

    def write(self) -> None:
        """Insert the rows that wait; they go on waiting if that fails."""
        if self.waiting:
            rows = ", ".join([self._row] * (len(self.waiting) // self._columns))
            self._execute(f"INSERT INTO {self._table} VALUES {rows}", self.waiting)  # noqa: S608 a table of ours
            self.waiting = []

    def drop(self) -> None:
        """Let go of the rows that wait."""
        self.waiting = []


class Contents:
    """The contents that values share, each once, and the values whose contents are not inserted yet."""

    def __init__(self, execute: Execute) -> None:
        self._execute = execute
        self._contents, self._values = Batch(execute, "contents", 8), Batch(execute, "tensor_values", 3)
        self._ids: dict[bytes, int] = {}  # by digest, the latest
        self._new: dict[bytes, Row] = {}
        self._waiting = deque[tuple[int, bytes]]()  # values, each with the digest of its content
        self._bytes = 0
        self._count = 0
        self._has_forgotten = False

    def add(self, digest: bytes, row: Row) -> bool:
        """Take a content; returns whether it is new, as far as is known without asking SQLite."""
        if digest in self._ids or digest in self._new:
            return False
        self._new[digest] = row
        self._bytes += len(row[3])
        return True

    def use(self, number: int, digest: bytes) -> None:
        """Take a value, by its number, that has a content which was added before."""
        self._waiting.append((number, digest))
        if len(self._waiting) >= MOST_ROWS or self._bytes >= MOST_BYTES:
            self.write()

    def write(self) -> None:
        """Insert what waits."""
        if self._has_forgotten:
            self._look_up({digest for _, digest in self._waiting if digest not in self._ids})
        for digest, row in self._new.items():
            if digest not in self._ids:
                self._ids[digest] = self._count
                dtype, shape, whole, _, stats = row
                row_sum = checksum(self._count, digest.hex(), dtype, shape, whole, stats)
                number, self._count = self._count, self._count + 1
                self._contents.add((number, digest, *row), row_sum)
        self._new, self._bytes = {}, 0
        self._contents.write()
        while self._waiting:
            number, digest = self._waiting.popleft()
            pair = (number, self._ids[digest])
            self._values.add(pair, zlib.crc32(b"%d\x1f%d" % pair))
        self._values.write()
        if len(self._ids) >= MOST_CONTENTS:
            self._ids, self._has_forgotten = {}, True

    def _look_up(self, digests: set[bytes]) -> None:
        """Ask SQLite for contents that may be there already."""
        if digests:
            places = ", ".join("?" * len(digests))
            rows = self._execute(f"SELECT digest, id FROM contents WHERE digest IN ({places})", tuple(digests))  # noqa: S608 places
            self._ids.update(rows.fetchall())

    def drop(self) -> None:
        """Let go of what waits."""
        self._new, self._bytes = {}, 0
        self._waiting.clear()
        self._contents.drop()
        self._values.drop()
