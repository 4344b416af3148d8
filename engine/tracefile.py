"""A trace on disk: one SQLite file, written as the program runs, read as it is looked at.

docs/trace-format.md describes the tables.  Nothing in a file is run: values are bytes of plain element types, the rest
is JSON that is checked field by field.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload
from urllib.request import pathname2url

import numpy as np

from . import trace as trace_module
from .encoding import NUMPY, Malformed, decode, encode, event_fields, event_from, from_bytes, little
from .reading import value_of
from .trace import AnyEvent, Frame, Trace, Value

SCHEMA = 1
"""The version of the tables.  It grows when an older reader would misread them."""
APPLICATION = 0x42737470
"""SQLite's application id of a trace file: `Bstp`."""
SUFFIX = ".backstep"
QUICK_CHECK = 16 * 2**20
"""Bytes up to which a file is checked as a whole when it is opened; a larger one fails where it is damaged."""

_TABLES = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE files (name TEXT PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE stacks (id INTEGER PRIMARY KEY, frames TEXT NOT NULL);
CREATE TABLE events (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, stack INTEGER NOT NULL, fields TEXT NOT NULL);
CREATE TABLE contents (
    id INTEGER PRIMARY KEY, digest BLOB UNIQUE NOT NULL, dtype TEXT NOT NULL, shape TEXT NOT NULL,
    whole INTEGER NOT NULL, data BLOB NOT NULL, stats TEXT
);
CREATE TABLE tensor_values (id INTEGER PRIMARY KEY, content INTEGER NOT NULL REFERENCES contents (id));
CREATE TABLE names (tensor INTEGER PRIMARY KEY, name TEXT NOT NULL);
"""
_NAMES = frozenset({"meta", "files", "stacks", "events", "contents", "tensor_values", "names"})

T = TypeVar("T")


class TraceFileError(ValueError):
    """A file that cannot be read as a trace: what was expected, what was found, what to do."""


class CannotWrite(TraceFileError):
    """A trace that could not be written: `reason` says why in a few words ("the disk is full")."""

    def __init__(self, path: str, reason: str) -> None:
        self.reason = reason
        super().__init__(
            f"cannot write a trace to {path!r}: {reason}. Give a path in a folder that exists and may be written, on a "
            "disk with room."
        )


class Writer:
    """Writes a trace piece by piece; what was flushed stays readable if the process is killed.

    A flush happens after `every` events or `seconds`, whichever is first, when an event is written.
    An existing file at `path` is replaced.  Every method raises CannotWrite where the file cannot be written.

    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "t.backstep")
    >>> with Writer(path) as writer:
    ...     writer.file("a.py", "x = 1")
    >>> Trace.open(path).files["a.py"]
    'x = 1'
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 512, seconds: float = 0.25) -> None:
        self.path = os.fspath(path)
        self.every, self.seconds = every, seconds
        check_target(self.path)
        try:
            for old in (self.path, self.path + "-journal"):
                if os.path.exists(old):
                    os.remove(old)
            self._connect()
            self._db.execute(f"PRAGMA application_id = {APPLICATION}")
            self._db.execute(f"PRAGMA user_version = {SCHEMA}")
            self._db.executescript(_TABLES)
        except (OSError, sqlite3.Error) as error:
            raise CannotWrite(self.path, _reason(error, self.path)) from error
        self._counts = dict.fromkeys(("events", "stacks", "values"), 0)
        self._contents: dict[bytes, int] = {}
        self._waiting = 0
        self._flushed = time.monotonic()
        self._execute("BEGIN")
        self.meta("complete", False)

    def event(self, event: AnyEvent) -> None:
        """Append an event."""
        row = (self._counts["events"], type(event).__name__, event.stack, dumps(event_fields(event)))
        self._execute("INSERT INTO events VALUES (?, ?, ?, ?)", row)
        self._counts["events"] += 1
        self._waiting += 1
        if self._waiting >= self.every or time.monotonic() - self._flushed >= self.seconds:
            self.flush()

    def value(self, value: Value) -> None:
        """Append a value; equal ones are kept once."""
        whole = value.array is not None
        data = value.array if whole else value.sample
        raw = little(np.asarray(data)).tobytes()
        shape, stats = dumps(list(value.shape)), None if whole else dumps(encode(dict(value.stats)))
        head = f"{value.dtype}|{shape}|{whole}|{stats}|".encode()
        digest = hashlib.blake2b(head + raw, digest_size=16).digest()
        content = self._contents.get(digest)
        if content is None:
            content = self._contents[digest] = len(self._contents)
            row = (content, digest, value.dtype, shape, int(whole), raw, stats)
            self._execute("INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        self._execute("INSERT INTO tensor_values VALUES (?, ?)", (self._counts["values"], content))
        self._counts["values"] += 1

    def stack(self, frames: Sequence[Frame]) -> None:
        """Append a call stack, outermost frame first."""
        listed = [[f.file, f.function, f.line, f.end_line, f.col, f.end_col] for f in frames]
        self._execute("INSERT INTO stacks VALUES (?, ?)", (self._counts["stacks"], dumps(listed)))
        self._counts["stacks"] += 1

    def file(self, name: str, text: str) -> None:
        """Add one of the user's files."""
        # SQLite's texts are UTF-8: a lone surrogate (an undecodable byte) becomes a question mark
        self._execute("INSERT OR REPLACE INTO files VALUES (?, ?)", (_clean(name), _clean(text)))

    def name(self, tensor: int, name: str | None) -> None:
        """Set the variable name of a tensor, or take it back."""
        if name is None:
            self._execute("DELETE FROM names WHERE tensor = ?", (tensor,))
        else:
            self._execute("INSERT OR REPLACE INTO names VALUES (?, ?)", (tensor, name))

    def meta(self, key: str, value: Any) -> None:
        """Note something about the whole."""
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, dumps(encode(value))))

    def flush(self) -> None:
        """Make what was written so far survive."""
        self._execute("COMMIT")
        self._execute("BEGIN")
        self._waiting = 0
        self._flushed = time.monotonic()

    def _connect(self) -> None:
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # A killed process loses nothing that was committed: the system has it.  No waiting for the disk.
        self._db.execute("PRAGMA synchronous = OFF")

    def _execute(self, statement: str, values: tuple[Any, ...] = ()) -> None:
        try:
            self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise CannotWrite(self.path, _reason(error, self.path)) from error

    def undo(self) -> None:
        """Go back to the last flush: what was written since could not be kept."""
        with contextlib.suppress(sqlite3.Error):
            if self._db.in_transaction:  # SQLite may have gone back by itself
                self._db.execute("ROLLBACK")

    def give_up(self, meta: dict[str, Any]) -> None:
        """Go back to the last flush and let go of the file, with `meta` noted if there is room for it."""
        self.undo()
        with contextlib.suppress(CannotWrite):
            self.meta("meta", meta)
        self._db.close()

    def pause(self) -> None:
        """Flush and let go of the file for a while: a connection must not be carried into a forked process."""
        if self._db.in_transaction:
            self._execute("COMMIT")
        self._db.close()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._connect()
        self._execute("BEGIN")

    def close(self, complete: bool = True) -> None:
        """Flush and let go of the file; `complete` says that nothing is missing at the end."""
        try:
            self.meta("complete", complete)
            self._execute("COMMIT")
        finally:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with contextlib.suppress(CannotWrite) if kind is not None else contextlib.nullcontext():
            self.close(complete=kind is None)  # after an error the file may be lost too: the first error is told


def check_target(path: str) -> None:
    """Refuse to replace what is not a regular file: a folder, a device, a FIFO, a socket, or a link to one."""
    try:
        mode = os.stat(path).st_mode
    except OSError:  # there is nothing, or it cannot be reached: writing tells
        return
    if not stat.S_ISREG(mode):
        what = next((name for test, name in _OTHER_FILES if test(mode)), "not a regular file")
        raise CannotWrite(path, f"there is {what}, which a trace would replace")


_OTHER_FILES = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a FIFO"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip


def _reason(error: OSError | sqlite3.Error, path: str) -> str:
    """Why a write failed, in a few words."""
    if isinstance(error, OSError):
        return error.strerror or str(error)
    code = getattr(error, "sqlite_errorname", "")
    if code == "SQLITE_FULL":
        return "the disk is full"
    if not os.path.isdir(os.path.dirname(os.path.abspath(path))):
        return "its folder is not there"
    if code.startswith("SQLITE_IOERR"):
        return "the system refused the write: the disk may be full or failing, or files may not become larger"
    return str(error)


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write a whole trace: beside the path first, so that a file there is replaced only by a complete one.

    A link is followed: the file behind it is replaced.  Raises CannotWrite where that fails, or where the path names
    what is not a regular file.
    """
    check_target(os.fspath(path))
    target = os.path.realpath(path)
    beside = f"{target}.{os.getpid()}.part"
    try:
        with Writer(beside, every=2**62, seconds=float("inf")) as writer:
            for name, text in trace.files.items():
                writer.file(name, text)
            for frames in trace.stacks:
                writer.stack(frames)
            for value in trace.values:
                writer.value(value)
            for event in trace.events:
                writer.event(event)
            for tensor, name in trace.names.items():
                writer.name(tensor, name)
            writer.meta("argv", list(trace.argv))
            writer.meta("meta", dict(trace.meta))
        os.replace(beside, target)
    except CannotWrite as error:
        raise CannotWrite(os.fspath(path), error.reason) from error
    except OSError as error:
        raise CannotWrite(os.fspath(path), _reason(error, target)) from error
    finally:
        for left in (beside, beside + "-journal"):
            if os.path.exists(left):
                os.remove(left)


def open_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace; events and values come from the file when they are first asked for.

    Raises TraceFileError where there is no trace that this version can read, FileNotFoundError where there is no file.
    A recording that was cut short has `meta["incomplete"]`.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"no file {name!r}: give the path of a trace that trace.save(path) wrote")
    if os.path.isdir(name):
        raise TraceFileError(f"{name!r} is a folder: give the path of a trace file in it")
    _check_header(name)
    source = _Database(name)
    source.check(name)
    try:
        return _trace(source)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        if isinstance(error, TraceFileError):
            raise
        raise source.damaged(f"a row cannot be read ({error})") from error


def _trace(source: _Database) -> Trace:
    meta = {key: decode(json.loads(value)) for key, value in source.all("SELECT key, value FROM meta")}
    told = dict(meta.get("meta") or {})
    if not meta.get("complete"):
        told["incomplete"] = True
    return Trace(
        _Rows(source, "SELECT id, kind, stack, fields FROM events", "events", _read_event),
        tuple(_Rows(source, "SELECT id, frames FROM stacks", "stacks", _read_stack)),
        dict(source.all("SELECT name, text FROM files ORDER BY rowid")),
        dict(source.all("SELECT tensor, name FROM names ORDER BY rowid")),
        _Rows(source, _VALUES, "tensor_values", _read_value, "tensor_values.", block=4),
        tuple(meta.get("argv") or ()),
        told,
    )


_VALUES = (
    "SELECT tensor_values.id, dtype, shape, whole, data, stats FROM tensor_values "
    "JOIN contents ON contents.id = tensor_values.content"
)


def tally(path: str | os.PathLike[str]) -> dict[str, int]:
    """How many events of each kind a file has, and as `nodes` how many ops are differentiable; none are read.

    Raises as `open_trace` does.
    """
    name = os.fspath(path)
    _check_header(name)
    source = _Database(name)
    source.check(name)
    found: dict[str, int] = dict(source.all("SELECT kind, count(*) FROM events GROUP BY kind"))
    asked = "SELECT count(*) FROM events WHERE kind = 'OpCalled' AND json_type(fields, '$.node') = 'object'"
    return {**found, "nodes": source.all(asked)[0][0]}


def _shown(head: bytes) -> str:
    """The beginning of a file as one would read it: as text where it is text.

    >>> _shown(b"import torch"), _shown(bytes([0, 1]))
    ('“import torch”', 'the bytes 00 01')
    """
    text = head.decode("latin-1").strip()
    return f"“{text}”" if text.isascii() and text.isprintable() else f"the bytes {head.hex(' ')}"


def _check_header(name: str) -> None:
    """Refuse what is no SQLite file, or only the beginning of one."""
    size = os.path.getsize(name)
    try:
        with open(name, "rb") as stream:
            head = stream.read(100)
    except OSError as error:
        raise TraceFileError(f"{name!r} cannot be read: {error.strerror}") from error
    if not head:
        raise TraceFileError(f"{name!r} is empty: a trace file was expected. Record it again.")
    if not head.startswith(b"SQLite format 3\0") or len(head) < 100:
        raise TraceFileError(
            f"{name!r} is no trace: a SQLite file was expected, it begins with {_shown(head[:12])}. "
            "Traces are written by trace.save(path); a script is recorded with `backstep run`."
        )
    page = int.from_bytes(head[16:18], "big")
    expected = (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")
    if head[24:28] == head[92:96] and size < expected:
        raise TraceFileError(
            f"{name!r} is cut off: {expected:,} bytes were expected, {size:,} found. Copy it again, or record it again."
        )


class _Database:
    """A read-only connection, shared by threads; every complaint of SQLite becomes a TraceFileError."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._db = self._connect(Path(name), "ro")
        try:
            self._db.execute("SELECT count(*) FROM sqlite_master").fetchone()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not os.path.exists(name + "-journal"):
                raise self._failed(error) from error
            self._recover()

    def _connect(self, path: Path, mode: str) -> sqlite3.Connection:
        try:
            address = f"file:{pathname2url(str(path.absolute()))}?mode={mode}"
            db = sqlite3.connect(address, uri=True, isolation_level=None, check_same_thread=False)
            weakref.finalize(self, db.close)
            db.execute("PRAGMA trusted_schema = OFF")
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return db

    def _recover(self) -> None:
        """The writer was killed in the middle of a flush: go back to the one before, on a copy."""
        self._db.close()
        folder = tempfile.mkdtemp(prefix="backstep-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        copy = Path(folder) / "trace"
        shutil.copyfile(self.name, copy)
        shutil.copyfile(self.name + "-journal", f"{copy}-journal")
        self._db = self._connect(copy, "rw")
        self.all("SELECT count(*) FROM sqlite_master")

    def check(self, name: str) -> None:
        """Refuse what is a SQLite file but no trace, or one of a later version."""
        application = self.all("PRAGMA application_id")[0][0]
        version = self.all("PRAGMA user_version")[0][0]
        if application != APPLICATION:
            raise TraceFileError(
                f"{name!r} is a SQLite file of another program, no trace. Give a file that trace.save(path) wrote."
            )
        if version > SCHEMA:
            raise TraceFileError(
                f"{name!r} is a trace of schema {version}; this Backstep reads schemas up to {SCHEMA}. "
                "Update Backstep (pip install --upgrade backstep), or record the program again."
            )
        found = {row[0] for row in self.all("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not found >= _NAMES:
            missing = ", ".join(sorted(_NAMES - found))
            raise TraceFileError(f"{name!r} lacks the tables {missing}. Record the program again.")
        if os.path.getsize(self.name) <= QUICK_CHECK and (said := self.all("PRAGMA quick_check(1)")[0][0]) != "ok":
            raise self.damaged(said)

    def all(self, query: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
        """All rows of a query."""
        try:
            with self._lock:
                return self._db.execute(query, values).fetchall()
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self._failed(error) from error

    def _failed(self, error: Exception) -> TraceFileError:
        return self.damaged(f"SQLite says {str(error)!r}")

    def damaged(self, how: str) -> TraceFileError:
        """The error for a file that was a trace once."""
        return TraceFileError(f"{self.name!r} is damaged: {how}. Copy it again, or record the program again.")


class _Rows(Sequence[T], Generic[T]):
    """The rows of a table as objects, read in blocks when they are asked for; the last blocks are kept."""

    KEPT = 256

    def __init__(
        self, source: _Database, query: str, table: str, read: Callable[[tuple[Any, ...]], T], prefix: str = "",
        block: int = 256,
    ) -> None:  # fmt: skip
        self._source, self._read, self._table, self._size = source, read, table, block
        self._query = f"{query} WHERE {prefix}id >= ? AND {prefix}id < ? ORDER BY {prefix}id"
        self._length: int = source.all(f"SELECT count(*) FROM {table}")[0][0]  # noqa: S608 a table of ours
        self._block = functools.lru_cache(maxsize=self.KEPT)(self._load)

    def _load(self, number: int) -> list[T]:
        start, stop = number * self._size, min((number + 1) * self._size, self._length)
        rows = self._source.all(self._query, (start, stop))
        if [row[0] for row in rows] != list(range(start, stop)):
            raise self._source.damaged(f"rows of {self._table} are missing")
        try:
            return [self._read(row) for row in rows]
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise self._source.damaged(f"a row of {self._table} cannot be read ({error})") from error

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return tuple(self[i] for i in range(*index.indices(self._length)))
        place = index + self._length if index < 0 else index
        if not 0 <= place < self._length:
            raise IndexError(f"{index} is not below the number of {self._table}, {self._length}")
        return self._block(place // self._size)[place % self._size]

    def __iter__(self) -> Iterator[T]:
        for number in range(-(-self._length // self._size)):
            yield from self._block(number)

    def __len__(self) -> int:
        return self._length


def _read_event(row: tuple[Any, ...]) -> AnyEvent:
    return event_from(row[1], row[0], row[2], json.loads(row[3]))


def _read_stack(row: tuple[Any, ...]) -> tuple[Frame, ...]:
    return tuple(Frame(str(f[0]), str(f[1]), *(int(n) for n in f[2:6])) for f in json.loads(row[1]))


def _read_value(row: tuple[Any, ...]) -> Value:
    _, dtype, shape, whole, data, stats = row
    sizes = tuple(json.loads(shape))
    if whole:
        return value_of(from_bytes(data, dtype, sizes))
    if dtype not in NUMPY:
        raise Malformed(f"dtype {dtype!r} is none of {', '.join(NUMPY)}")
    sample = from_bytes(data, dtype, (len(data) // NUMPY[dtype].itemsize,))
    return Value(sizes, dtype, None, sample, decode(json.loads(stats)))


def dumps(data: Any) -> str:
    """Compact JSON in UTF-8."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


trace_module.saver = save
trace_module.opener = open_trace
