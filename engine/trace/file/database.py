"""A SQLite file of unknown origin, read as rows, within limits of time and size.

Every complaint of SQLite becomes a TraceFileError; `tracefile` knows the meaning of the rows.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import shutil
import sqlite3
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic, TypeVar, overload

MOST_BYTES = 129 * 2**20
"""The most bytes of one row that a reader accepts: SQLite and Python hold it at the same time."""
PATIENCE = 2.0
"""Seconds that one query may take, plus the seconds that reading the whole file may take: a long recording is not an
attack."""
PACE = 10 * 2**20
"""Bytes of a file that are read in a second at least."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MOST_BYTES, sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000, sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20, sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 3, sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8, sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 10,
}  # fmt: skip
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of a journal of SQLite, and the last ones if it names another journal."""

T = TypeVar("T")
Row = tuple[Any, ...]


class TraceFileError(ValueError):
    """A file that cannot be read as a trace: what was expected, what was found, what to do."""


def guard(db: sqlite3.Connection) -> None:
    """Set up a connection to a file that somebody else may have written.  Source: sqlite.org/security.html."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "automatic_index = OFF"):
        db.execute(f"PRAGMA {pragma}")
    for category, most in _LIMITS.items():
        db.setlimit(category, most)
    if hasattr(db, "setconfig"):  # from Python 3.12 on
        for name, on in (("DEFENSIVE", True), ("ENABLE_TRIGGER", False), ("ENABLE_VIEW", False)):
            db.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{name}"), on)


def check_header(name: str) -> None:
    """Refuse a file that is not SQLite's, or only the beginning of one."""
    size = os.path.getsize(name)
    if not os.path.isfile(name):
        raise TraceFileError(f"{name!r} is not a regular file: give the path of a trace file")
    try:
        with open(name, "rb") as stream:
            head = stream.read(100)
    except OSError as error:
        raise TraceFileError(f"{name!r} cannot be read: {error.strerror}") from error
    if not head:
        raise TraceFileError(f"{name!r} is empty: expected a trace file. Record the program again.")
    if not head.startswith(b"SQLite format 3\0") or len(head) < 100:
        raise TraceFileError(
            f"{name!r} is not a trace: expected a SQLite file, but it {_as_text(head[:12])}. "
            "Traces are written by trace.save(path); a script is recorded with `backstep run`."
        )
    if head[18:20] != b"\1\1":
        raise TraceFileError(f"{name!r} is in SQLite's WAL mode, which no trace file uses. Record the program again.")
    page = int.from_bytes(head[16:18], "big")
    expected = (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")
    if head[24:28] == head[92:96] and size < expected:
        raise TraceFileError(
            f"{name!r} is cut off: expected {expected:,} bytes, found {size:,}. Copy it again, or record the program "
            "again."
        )


def _as_text(head: bytes) -> str:
    r"""The beginning of a file as one would read it: as text where it is text.

    >>> _as_text(b"import torch"), _as_text(bytes([0, 1]))
    ('begins with “import torch”', 'begins with the bytes 00 01')
    >>> _as_text(b"PK\3\4...")
    'is a zip archive, such as torch.save() writes'
    """
    if head.startswith(b"PK\3\4"):
        return "is a zip archive, such as torch.save() writes"
    text = head.decode("latin-1").strip()
    is_text = text.isascii() and text.isprintable()
    return f"begins with “{text}”" if is_text else f"begins with the bytes {head.hex(' ')}"


@dataclass
class _Deadline:
    """The time at which a query is given up."""

    at: float = math.inf


class Database:
    """A read-only connection, shared by threads."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._deadline = _Deadline()
        self._patience = PATIENCE + os.path.getsize(name) / PACE
        self._db = self._connect(Path(name), "ro")
        try:
            self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not os.path.exists(name + "-journal"):
                raise self._error_of(error) from error
            self._recover()

    def _connect(self, path: Path, mode: str) -> sqlite3.Connection:
        try:
            address = f"{path.absolute().as_uri()}?mode={mode}"
            db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, db.close)
            guard(db)
            deadline = self._deadline  # a handler that held `self` would keep the connection open for ever
            db.set_progress_handler(lambda: time.monotonic() > deadline.at, 10_000)
        except sqlite3.Error as error:
            raise self._error_of(error) from error
        return db

    def _recover(self) -> None:
        """The writer was killed in the middle of a flush: go back to the flush before it, on a copy."""
        self._db.close()
        with open(self.name + "-journal", "rb") as stream:
            stream.seek(-min(8, os.path.getsize(stream.name)), os.SEEK_END)
            if stream.read() == _JOURNAL:  # it names a journal of several files, which SQLite would delete
                raise self.damage_error("the journal beside it belongs to several files, which a trace's never does")
        folder = tempfile.mkdtemp(prefix="backstep-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder) / "trace"
        shutil.copyfile(self.name, copy)
        shutil.copyfile(self.name + "-journal", f"{copy}-journal")
        self._db = self._connect(copy, "rw")
        self.all("SELECT count(*) FROM sqlite_master")

    def all(self, query: str, values: Row = (), most: int = -1) -> list[Row]:
        """The rows of a query, at most `most`; a query that takes too long for a file of this size is given up."""
        try:
            with self._lock:
                self._deadline.at = time.monotonic() + self._patience
                cursor = self._db.execute(query, values)
                return cursor.fetchall() if most < 0 else cursor.fetchmany(most)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_TOOBIG:
                table = query.partition(" FROM ")[2].split()[0]
                raise self.damage_error(
                    f"{table} has a text or bytes of more than {MOST_BYTES // 2**20} MiB"
                ) from error
            raise self._error_of(error) from error

    def length(self, table: str) -> int:
        """The number of rows of a table that counts them from 0 without gaps (reading finds gaps)."""
        last = self.all(f"SELECT max(id) FROM {table}")[0][0]  # noqa: S608 a table of ours
        if last is not None and not (type(last) is int and 0 <= last < 2**40):
            raise self.damage_error(f"{table} has a row with the id {last}")
        return 0 if last is None else last + 1

    def _error_of(self, error: Exception) -> TraceFileError:
        return self.damage_error(f"SQLite says {str(error)!r}")

    def damage_error(self, how: str) -> TraceFileError:
        """The error for a file that used to be a trace."""
        return TraceFileError(f"{self.name!r} is damaged: {how}. Copy it again, or record the program again.")


class Rows(Sequence[T], Generic[T]):
    """The rows of a table as objects, read in blocks on demand; the last blocks are kept.

    `query` selects the id and the columns that `read` takes; `block` rows are read at once, `most_blocks` are kept.
    `lost(id)` stands for a missing row; without `lost`, a missing row is refused.
    """

    BLOCK = 256
    MOST_BLOCKS = 256

    def __init__(
        self, source: Database, query: str, table: str, read: Callable[[Row], T], length: int, block: int = BLOCK,
        most_blocks: int = MOST_BLOCKS, lost: Callable[[int], T] | None = None,
    ) -> None:  # fmt: skip
        self.source, self.size, self._read, self._table, self._lost = source, block, read, table, lost
        self._query = f"{query} WHERE {table}.id >= ? AND {table}.id < ? ORDER BY {table}.id"
        self._length = length
        self._block = functools.lru_cache(maxsize=most_blocks)(self._load)

    def _load(self, number: int) -> list[T]:
        start, stop = number * self.size, min((number + 1) * self.size, self._length)
        rows = self.source.all(self._query, (start, stop), stop - start + 1)
        if [row[0] for row in rows] == list(range(start, stop)):
            return [self._one(row) for row in rows]
        if self._lost is None:
            raise self.source.damage_error(f"rows of {self._table} from {start} on are missing")
        there = {row[0]: row for row in rows}
        return [self._one(there[n]) if n in there else self._lost(n) for n in range(start, stop)]

    def _one(self, row: Row) -> T:
        try:
            return self._read(row)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, TraceFileError):
                raise
            raise self.source.damage_error(f"row {row[0]} of {self._table} cannot be read: {error}") from error

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            if step != 1 or stop <= start:
                return tuple(self[i] for i in range(start, stop, step))
            first = start // self.size
            blocks = map(self._block, range(first, (stop - 1) // self.size + 1))
            return tuple(
                itertools.islice(
                    itertools.chain.from_iterable(blocks), start - first * self.size, stop - first * self.size
                )
            )
        place = index + self._length if index < 0 else index
        if not 0 <= place < self._length:
            raise IndexError(f"{index} is not below the number of {self._table}, {self._length}")
        return self._block(place // self.size)[place % self.size]

    def around(self, index: int) -> Iterator[tuple[int, T]]:
        """The rows of the block of one, which are read together, each with its id."""
        number = index // self.size
        return enumerate(self._block(number), number * self.size)

    def __iter__(self) -> Iterator[T]:
        for number in range(-(-self._length // self.size)):
            yield from self._block(number)

    def __len__(self) -> int:
        return self._length


ROWS_AT_ONCE = 4, 64
"""The least and the most rows that are read at once,"""
BYTES_AT_ONCE = 1 << 16
"""and about how many bytes of the file, when their size is between."""


def rows_at_once(size: int, rows: int) -> int:
    """How many rows to read at once from a file of so many bytes and such rows: many where they are small.

    >>> rows_at_once(80_000_000, 250_000), rows_at_once(1_000_000_000, 1_000)
    (64, 4)
    """
    least, most = ROWS_AT_ONCE
    return min(most, max(least, BYTES_AT_ONCE * rows // max(size, 1)))


BLOCKS_KEPT = 16, 2048
"""The least and the most blocks that are kept,"""
BYTES_KEPT = 1 << 25
"""and about how many bytes of the file, when their size is between."""


def blocks_kept(size: int, rows: int, block: int) -> int:
    """How many blocks of rows to keep of a file of so many bytes and such rows: many where they are small.

    >>> blocks_kept(30_000_000, 60_000, 64), blocks_kept(1_000_000_000, 1_000, 4)
    (1048, 16)
    """
    least, most = BLOCKS_KEPT
    return min(most, max(least, BYTES_KEPT * rows // max(size * block, 1)))
