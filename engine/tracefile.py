"""A trace on disk: one SQLite file, written as the program runs, read as it is looked at.

docs/trace-format.md describes the tables.  Nothing in a file is run: values are bytes of plain element types, the rest
is JSON that is checked field by field.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import os
import re
import shutil
import sqlite3
import stat
import tempfile
import threading
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, Self, TypeVar, overload
from urllib.request import pathname2url

import numpy as np

from . import trace as trace_module
from .coherence import Head, check
from .encoding import NUMPY, Malformed, decode, encode, event_fields, events_from, from_bytes, little, shape_of
from .reading import value_of
from .summary import SAMPLE
from .trace import AnyEvent, Frame, Trace, Value

SCHEMA = 2
"""The version of the tables.  It grows when an older reader would misread them.  1 had no checksums of rows."""
APPLICATION = 0x42737470
"""SQLite's application id of a trace file: `Bstp`."""
SUFFIX = ".backstep"
_JOURNAL = bytes.fromhex("d9d505f920a163d7")
"""What a journal of SQLite begins with, and ends with where it names another one."""
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
"""The tables of schema 1."""


def tables(schema: int) -> str:
    """The SQL of a schema's tables: from 2 on each row ends with a checksum of its other columns."""
    return _TABLES if schema == 1 else re.sub(r"\n?\);\n", ", sum INTEGER NOT NULL);\n", _TABLES)


def checksum(*columns: Any) -> int:
    """CRC-32 of the columns of a row, as texts (without the elements, which have a digest of their own)."""
    return zlib.crc32("\x1f".join(map(str, columns)).encode("utf-8", "surrogatepass"))


@functools.cache
def _expected(schema: int) -> frozenset[tuple[Any, ...]]:
    """What sqlite_master says of a file with these tables and nothing else."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(tables(schema))
        return frozenset(db.execute(_MASTER))


_MASTER = "SELECT type, name, tbl_name, sql FROM sqlite_master"

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
            self._db.executescript(tables(SCHEMA))
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
        self._execute("INSERT INTO events VALUES (?, ?, ?, ?, ?)", (*row, checksum(*row)))
        self._counts["events"] += 1
        self._waiting += 1
        if self._waiting >= self.every or time.monotonic() - self._flushed >= self.seconds:
            self.flush()

    def value(self, value: Value) -> None:
        """Append a value; equal ones are kept once."""
        whole = _DAMAGED if value.damaged else int(value.array is not None)
        data = value.sample if value.array is None else value.array
        raw = little(np.asarray(data)).tobytes()
        shape, stats = dumps(list(value.shape)), dumps(encode(dict(value.stats))) if whole == 0 else None
        digest = digest_of(value.dtype, shape, whole, stats, raw)
        content = self._contents.get(digest)
        if content is None:
            content = self._contents[digest] = len(self._contents)
            row = (content, digest, value.dtype, shape, whole, raw, stats)
            told = checksum(content, digest.hex(), value.dtype, shape, whole, stats)
            self._execute("INSERT INTO contents VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (*row, told))
        pair = (self._counts["values"], content)
        self._execute("INSERT INTO tensor_values VALUES (?, ?, ?)", (*pair, checksum(*pair)))
        self._counts["values"] += 1

    def stack(self, frames: Sequence[Frame]) -> None:
        """Append a call stack, outermost frame first."""
        listed = [[f.file, f.function, f.line, f.end_line, f.col, f.end_col] for f in frames]
        row = (self._counts["stacks"], dumps(listed))
        self._execute("INSERT INTO stacks VALUES (?, ?, ?)", (*row, checksum(*row)))
        self._counts["stacks"] += 1

    def file(self, name: str, text: str) -> None:
        """Add one of the user's files."""
        # SQLite's texts are UTF-8: a lone surrogate (an undecodable byte) becomes a question mark
        row = (_clean(name), _clean(text))
        self._execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (*row, checksum(*row)))

    def name(self, tensor: int, name: str | None) -> None:
        """Set the variable name of a tensor, or take it back."""
        if name is None:
            self._execute("DELETE FROM names WHERE tensor = ?", (tensor,))
        else:
            row = (tensor, _clean(name))
            self._execute("INSERT OR REPLACE INTO names VALUES (?, ?, ?)", (*row, checksum(*row)))

    def meta(self, key: str, value: Any) -> None:
        """Note something about the whole."""
        row = (key, dumps(encode(value)))
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, checksum(*row)))

    def flush(self) -> None:
        """Make what was written so far survive."""
        self.meta("counts", self._counts)
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
        self.meta("counts", self._counts)
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
            self.meta("counts", self._counts)
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


def open_checked(path: str | os.PathLike[str], most: int) -> Trace:
    """A trace of unknown origin, of which the first `most` events were read and fit together.

    It ends before the first event that is damaged, and says so in `meta["damaged"]`.  Raises as `open_trace` does, also
    where events contradict each other.
    """
    trace = open_trace(path)
    rows = trace.events
    assert isinstance(rows, _Rows)
    try:
        for start in range(0, min(most, len(rows)), rows.size):
            rows[start]
    except DamagedRow as error:
        behind = f"the events from number {error.row + 1:,} on"
        told = {**trace.meta, "damaged": [*trace.meta.get("damaged", ()), behind]}
        trace = dataclasses.replace(trace, events=rows.first(error.row), meta=told)
    try:
        check(itertools.islice(trace.events, most), _heads(rows.source), lambda value: trace.values[value].damaged)
    except Malformed as error:
        raise rows.source.damaged(str(error)) from error
    return trace


def _heads(source: _Database) -> Callable[[int], Head | None]:
    """How to look up the shape and dtype of a value without its elements; None where there is none."""

    @functools.lru_cache(maxsize=64)
    def block(number: int) -> dict[int, Head]:
        asked = (
            "SELECT tensor_values.id, dtype, shape FROM tensor_values JOIN contents ON contents.id = content "
            "WHERE tensor_values.id >= ? AND tensor_values.id < ?"
        )
        found = source.all(asked, (number * 1024, (number + 1) * 1024))
        return {value: (shape_of(parsed(shape)), str(dtype)) for value, dtype, shape in found}

    return lambda value: block(value // 1024).get(value)


def _trace(source: _Database) -> Trace:
    meta = {key: decode(parsed(value)) for key, value in source.rows("meta", "key, value")}
    told = meta.get("meta") or {}
    argv, counts = meta.get("argv") or (), meta.get("counts")
    if not isinstance(told, dict) or not all(isinstance(key, str) for key in told):
        raise Malformed("row 'meta' of meta: names and what they stand for are expected")
    if not isinstance(argv, (list, tuple)) or not all(isinstance(word, str) for word in argv):
        raise Malformed("row 'argv' of meta: a list of texts is expected")
    if not meta.get("complete"):
        told = {**told, "incomplete": True}
    names, files = dict(source.rows("names", "tensor, name")), dict(source.rows("files", "name, text"))
    lengths = {name: source.length(table) for name, table in
               (("events", "events"), ("stacks", "stacks"), ("values", "tensor_values"))}  # fmt: skip
    if source.schema == 1:
        told = {**told, "unchecked": True}
    elif counts != lengths:
        raise source.damaged(f"it was written with {counts}, and has {lengths}")
    else:
        told.pop("unchecked", None)
    event = _event_reader(lengths)
    stacks = tuple(_Rows(source, "SELECT id, frames{} FROM stacks", "stacks", _read_stack, lengths["stacks"]))
    if source.lost:
        told = {**told, "damaged": list(dict.fromkeys(source.lost))}
    return Trace(
        _Rows(source, "SELECT id, kind, stack, fields{} FROM events", "events", event, lengths["events"]),
        stacks,
        files,
        names,
        _Rows(source, _VALUES, "tensor_values", _read_value, lengths["values"], block=4),
        tuple(argv),
        told,
    )


_VALUES = (
    "SELECT tensor_values.id, content, dtype, shape, whole, data, stats, digest, contents.sum, tensor_values.sum "
    "FROM tensor_values JOIN contents ON contents.id = tensor_values.content"
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
    if not os.path.isfile(name):
        raise TraceFileError(f"{name!r} is not a regular file: give the path of a trace file")
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
    if head[18:20] != b"\1\1":
        raise TraceFileError(f"{name!r} keeps a log beside it (WAL), which no trace does. Record the program again.")
    page = int.from_bytes(head[16:18], "big")
    expected = (65536 if page == 1 else page) * int.from_bytes(head[28:32], "big")
    if head[24:28] == head[92:96] and size < expected:
        raise TraceFileError(
            f"{name!r} is cut off: {expected:,} bytes were expected, {size:,} found. Copy it again, or record it again."
        )


def guard(db: sqlite3.Connection) -> None:
    """Set up a connection to a file that somebody else may have written.  Source: sqlite.org/security.html."""
    for pragma in ("trusted_schema = OFF", "cell_size_check = ON", "mmap_size = 0", "automatic_index = OFF"):
        db.execute(f"PRAGMA {pragma}")
    for category, most in _LIMITS.items():
        db.setlimit(category, most)
    if hasattr(db, "setconfig"):  # from Python 3.12 on
        for name, on in (("DEFENSIVE", True), ("ENABLE_TRIGGER", False), ("ENABLE_VIEW", False)):
            db.setconfig(getattr(sqlite3, f"SQLITE_DBCONFIG_{name}"), on)


MOST_BYTES = 256 * 2**20
"""Bytes of one column that a reader takes."""
MOST_TEXT = 8 * 2**20
"""Characters of one of the user's files, of a row of meta, of a stack."""
MOST_NAME = 4096
"""Characters of a name."""
MOST_ROWS = 1_000_000
"""Rows of a table that is read as a whole when a file is opened."""
PATIENCE = 2.0
"""Seconds that one query may take, and as many more as reading the whole file may: a long recording is no attack."""
PACE = 10 * 2**20
"""Bytes of a file that are read in a second at least."""
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: MOST_BYTES, sqlite3.SQLITE_LIMIT_SQL_LENGTH: 100_000, sqlite3.SQLITE_LIMIT_COLUMN: 100,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 20, sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 3, sqlite3.SQLITE_LIMIT_VDBE_OP: 25_000,
    sqlite3.SQLITE_LIMIT_FUNCTION_ARG: 8, sqlite3.SQLITE_LIMIT_ATTACHED: 0, sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 1,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 50, sqlite3.SQLITE_LIMIT_VARIABLE_NUMBER: 10,
}  # fmt: skip


_LOST = {
    "meta": "what the recording tells of itself", "files": "the text of a file", "names": "the name of a tensor",
    "stacks": "where some steps stand in the program",
}  # fmt: skip


class DamagedRow(TraceFileError):
    """A row of the events that does not fit its checksum: `row` is its number."""

    def __init__(self, text: str, row: int) -> None:
        self.row = row
        super().__init__(text)


class _Database:
    """A read-only connection, shared by threads; every complaint of SQLite becomes a TraceFileError."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.Lock()
        self._until = float("inf")
        self._patience = PATIENCE + os.path.getsize(name) / PACE
        self.lost: list[str] = []
        """What could not be read since its row does not fit its checksum, in words."""
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
            guard(db)
            db.set_progress_handler(lambda: time.monotonic() > self._until, 10_000)
        except sqlite3.Error as error:
            raise self._failed(error) from error
        return db

    def _recover(self) -> None:
        """The writer was killed in the middle of a flush: go back to the one before, on a copy."""
        self._db.close()
        with open(self.name + "-journal", "rb") as stream:
            stream.seek(-min(8, os.path.getsize(stream.name)), os.SEEK_END)
            if stream.read() == _JOURNAL:  # it names a journal of several files, which SQLite would delete
                raise self.damaged("the journal beside it belongs to several files, as no trace's does")
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
        if version < 1:
            raise TraceFileError(f"{name!r} is a trace of schema {version}; schemas begin with 1. Record it again.")
        self.schema: int = version
        found = set(self.all(_MASTER, most=len(_expected(version)) + 1))
        if found != _expected(version):
            lacking = sorted({row[1] for row in _expected(version) - found if row[3]})
            more = sorted({str(row[1])[:80] for row in found - _expected(version)})
            told = (
                f"it lacks {', '.join(lacking)} as they are there" if lacking else f"it has {', '.join(more)} besides"
            )
            raise TraceFileError(
                f"{name!r} has other tables than a trace of schema {version}: {told}. Record the program again."
            )
        if os.path.getsize(self.name) <= QUICK_CHECK and (said := self.all("PRAGMA quick_check(1)")[0][0]) != "ok":
            raise self.damaged(said)

    def all(self, query: str, values: tuple[Any, ...] = (), most: int = -1) -> list[tuple[Any, ...]]:
        """The rows of a query, at most `most`; one that takes longer than a file of this size may is given up."""
        try:
            with self._lock:
                self._until = time.monotonic() + self._patience
                found = self._db.execute(query, values)
                return found.fetchall() if most < 0 else found.fetchmany(most)
        except (sqlite3.Error, UnicodeDecodeError, OverflowError) as error:
            raise self._failed(error) from error

    def rows(self, table: str, columns: str) -> list[tuple[Any, ...]]:
        """All rows of a small table of two columns, of the types that they were declared with, and sound."""
        found = self.all(f"SELECT {columns}{self.sum} FROM {table} ORDER BY rowid", most=MOST_ROWS + 1)  # noqa: S608 ours
        if table == "names":  # of a longer recording the first: more of it is not shown
            found = found[:MOST_ROWS]
        if len(found) > MOST_ROWS:
            raise self.damaged(f"{table} has more than {MOST_ROWS:,} rows")
        for key, text, *_ in found:
            if not isinstance(text, str) or type(key) is not (int if table == "names" else str):
                raise self.damaged(f"row {str(key)[:40]!r} of {table} has a value of another type")
            if len(text) > MOST_TEXT or (type(key) is str and len(key) > MOST_NAME) or (type(key) is int and key < 0):
                raise self.damaged(f"row {str(key)[:40]!r} of {table} is beyond the limits of docs/trace-format.md")
            if table == "names" and len(text) > MOST_NAME:
                raise self.damaged(f"row {key} of names is longer than {MOST_NAME:,} characters")
        return [(key, text) for key, text, *told in found if not told or self._is_sound(table, key, text, told[0])]

    def _is_sound(self, table: str, key: Any, text: str, told: int) -> bool:
        """Whether a row fits its checksum; what is lost where it does not is noted."""
        is_sound = told == checksum(key, text)
        if not is_sound:
            self.lost.append(_LOST[table])
        return is_sound

    @property
    def sum(self) -> str:
        """The column of checksums, where there is one."""
        return "" if self.schema == 1 else ", sum"

    def length(self, table: str) -> int:
        """How many rows a table has that counts them from 0 without gaps (reading finds the gaps)."""
        last = self.all(f"SELECT max(id) FROM {table}")[0][0]  # noqa: S608 a table of ours
        if last is not None and not (type(last) is int and 0 <= last < 2**40):
            raise self.damaged(f"{table} has a row with the id {last}")
        return 0 if last is None else last + 1

    def _failed(self, error: Exception) -> TraceFileError:
        return self.damaged(f"SQLite says {str(error)!r}")

    def damaged(self, how: str) -> TraceFileError:
        """The error for a file that was a trace once."""
        return TraceFileError(f"{self.name!r} is damaged: {how}. Copy it again, or record the program again.")


class _Rows(Sequence[T], Generic[T]):
    """The rows of a table as objects, read in blocks when they are asked for; the last blocks are kept."""

    KEPT = 256

    def __init__(
        self, source: _Database, query: str, table: str, read: Callable[[tuple[Any, ...]], T], length: int,
        block: int = 256,
    ) -> None:  # fmt: skip
        self.source, self.size, self._read, self._table = source, block, read, table
        self._joined = "JOIN" in query
        if source.schema == 1 and self._joined:
            query = query.replace(", contents.sum, tensor_values.sum", "")
        key = f"{table}.id"
        self._query = f"{query.format(source.sum)} WHERE {key} >= ? AND {key} < ? ORDER BY {key}"
        self._length = length
        self._block = functools.lru_cache(maxsize=self.KEPT)(self._load)

    def _load(self, number: int) -> list[T]:
        return self._between(number * self.size, min((number + 1) * self.size, self._length))

    def _between(self, start: int, stop: int) -> list[T]:
        rows = self.source.all(self._query, (start, stop), stop - start + 1)
        if self._joined and len(rows) < stop - start:  # values whose content is not there
            there = {row[0]: row for row in rows}
            return [self._one(there[n]) if n in there else self._lost(n) for n in range(start, stop)]
        if [row[0] for row in rows] != list(range(start, stop)):
            raise self.source.damaged(f"rows of {self._table} from {start} on are missing")
        return [self._one(row) for row in rows]

    def _one(self, row: tuple[Any, ...]) -> T:
        try:
            if self.source.schema > 1 and not (_sound_value(row) if self._joined else row[-1] == checksum(*row[:-1])):
                return self._lost(row[0])
            return self._read(row)
        except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
            if isinstance(error, TraceFileError):
                raise
            raise self.source.damaged(f"row {row[0]} of {self._table} cannot be read: {error}") from error

    def _lost(self, number: int) -> Any:
        """In place of a row that does not fit its checksum: a value without numbers, no frames; no event."""
        if self._joined:
            return damaged_value((), "float32")
        if self._table == "stacks":
            self.source.lost.append(_LOST["stacks"])
            return ()
        told = self.source.damaged(f"row {number} of {self._table} does not fit its checksum")
        raise DamagedRow(str(told), number)

    def first(self, count: int) -> tuple[T, ...]:
        """The first so many rows, though the one behind them cannot be read."""
        full = count // self.size
        return (*(one for number in range(full) for one in self._block(number)),
                *self._between(full * self.size, count))  # fmt: skip

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
        return self._block(place // self.size)[place % self.size]

    def __iter__(self) -> Iterator[T]:
        for number in range(-(-self._length // self.size)):
            yield from self._block(number)

    def __len__(self) -> int:
        return self._length


def parsed(text: Any) -> Any:
    """JSON data from outside.  Raises Malformed where it is none, is too long, or has a number that JSON lacks."""
    if not isinstance(text, str):
        raise Malformed(f"JSON text is expected, found {type(text).__name__}")
    if len(text) > MOST_TEXT * 4 or text.count(",") + text.count("[") + text.count("{") > MOST_ITEMS:
        raise Malformed(f"it has more than {MOST_ITEMS:,} items")
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise Malformed(f"no JSON ({str(error)[:80]})") from error


def _no_constant(name: str) -> Any:
    raise Malformed(f"{name} is no number of JSON")


MOST_ITEMS = 200_000
"""Items of one JSON text: entries of its lists and objects, however deep."""


def _event_reader(lengths: Mapping[str, int]) -> Callable[[tuple[Any, ...]], AnyEvent]:
    """How to read a row of events in a file of so many values and stacks."""
    read = events_from(lengths)

    def read_event(row: tuple[Any, ...]) -> AnyEvent:
        return read(row[1], row[0], row[2], parsed(row[3]))

    return read_event


def _read_stack(row: tuple[Any, ...]) -> tuple[Frame, ...]:
    return tuple(_frame(part) for part in parsed(row[1]))


def _frame(part: Any) -> Frame:
    match part:
        case [str(file), str(function), *places] if len(places) == 4 and max(len(file), len(function)) <= MOST_NAME:
            if all(type(n) is int and 0 <= n < 2**31 for n in places):
                return Frame(file, function, *places)
    raise Malformed(f"a frame is [file, function, line, end_line, col, end_col], found {str(part)[:80]!r}")


def _sound_value(row: tuple[Any, ...]) -> bool:
    """Whether the two rows behind a value fit their checksums, which are not those of the elements."""
    number, content, dtype, shape, whole, _, stats, digest, told, pair = row
    told_here = checksum(content, bytes(digest).hex(), dtype, shape, whole, stats)
    return bool(pair == checksum(number, content) and told == told_here)


_DAMAGED = -1
"""In place of `whole`: the elements were damaged in the file that the trace was read from, and are not there."""


def digest_of(dtype: str, shape: str, whole: int, stats: str | None, raw: bytes) -> bytes:
    """What tells one content from all others, and a damaged one from what it was."""
    marked = bool(whole) if whole in (0, 1) else whole
    found = hashlib.blake2b(f"{dtype}|{shape}|{marked}|{stats}|".encode(), digest_size=16)
    found.update(raw)
    return found.digest()


def _read_value(row: tuple[Any, ...]) -> Value:
    _, _, dtype, shape, whole, raw, stats, digest, *_ = row
    if dtype not in NUMPY or whole not in (0, 1, _DAMAGED) or not isinstance(raw, bytes):
        raise Malformed(
            f"dtype {str(dtype)[:40]!r}, whole {str(whole)[:40]!r}: a known element type, and 1 or 0 are expected"
        )
    sizes = shape_of(parsed(shape))
    if whole == _DAMAGED or digest != digest_of(dtype, shape, whole, stats, raw):
        return damaged_value(sizes, dtype)
    if whole:
        return value_of(from_bytes(raw, dtype, sizes))
    sample = from_bytes(raw, dtype, (len(raw) // NUMPY[dtype].itemsize,))
    known = decode(parsed(stats))
    if sample.size > SAMPLE or not _are_stats(known):
        raise Malformed(f"a sample of at most {SAMPLE} elements and its statistics are expected")
    return Value(sizes, dtype, None, sample, known)


_STATS = frozenset({"min", "max", "mean", "norm", "nan", "inf", "zeros"})


def _are_stats(stats: Any) -> bool:
    return isinstance(stats, dict) and stats.keys() >= _STATS and all(type(v) in (int, float) for v in stats.values())


def damaged_value(shape: tuple[int, ...], dtype: str) -> Value:
    """What stands for elements that are lost: no number of it is known, and none is found odd or zero."""
    stats = {**dict.fromkeys(("min", "max", "mean", "norm"), float("nan")), **dict.fromkeys(("nan", "inf", "zeros"), 0)}
    return Value(shape, dtype, None, np.zeros(0, NUMPY[dtype]), stats, damaged=True)


def dumps(data: Any) -> str:
    """Compact JSON in UTF-8."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


trace_module.saver = save
trace_module.opener = open_trace
