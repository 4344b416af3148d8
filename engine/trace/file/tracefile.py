"""A trace on disk: one SQLite file, written as the program runs, read as it is looked at.

docs/trace-format.md describes the tables.  Nothing in a file is run: values are bytes of plain element types, the rest
is JSON that is checked field by field.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import os
import re
import sqlite3
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from math import isfinite
from typing import Any, Self

from ...arrays.element_types import ELEMENT_TYPES, NAMED
from ..events import AnyEvent, Damaged, Frame, OpCalled, Trace, Value, damaged_value
from ..log_reader import value_of
from ..summary import SAMPLE
from .argument_types import check_arguments
from .batches import Batch, Contents, checksum, digest_of
from .budget import sample_value
from .database import Database, Row, Rows, TraceFileError, blocks_kept, check_header, rows_at_once
from .encoding import (
    MOST_LISTED,
    MOST_TEXT,
    MalformedJson,
    decode,
    dumps,
    encode,
    event_text,
    events_from,
    from_bytes,
    little,
    parsed,
    read_shape,
    shape_text,
)
from .measures import Measures
from .outline import BLOCK, Sketch, row_sum, rows_of

SCHEMA = 3
"""The version of the tables.  It grows when an older reader would misread them.  1 had no checksums of rows; in 1 and 2
each call stack was written whole."""
APPLICATION = 0x42737470
"""SQLite's application id of a trace file: `Bstp`."""
SUFFIX = ".backstep"
EMPTY = 40_000
"""Bytes of a file without events."""
EVENT_ROW, VALUE_ROW, CONTENT_ROW = 30, 15, 100
"""Bytes of a row of `events`, of `tensor_values` and of `contents` with its index, besides texts and elements."""
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
_OUTLINE = "CREATE TABLE outline (key TEXT PRIMARY KEY, data BLOB NOT NULL);\n"


def tables(schema: int) -> str:
    """The SQL of a schema's tables: from 2 on each row ends with a checksum of its other columns, from 3 on there is an
    outline."""
    sql = _TABLES + (_OUTLINE if schema >= 3 else "")
    return sql if schema == 1 else re.sub(r"\n?\);\n", ", sum INTEGER NOT NULL);\n", sql)


@functools.cache
def _expected(schema: int) -> frozenset[tuple[Any, ...]]:
    """The content of sqlite_master in a file with these tables and nothing else."""
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        db.executescript(tables(schema))
        return frozenset(db.execute(_MASTER))


_MASTER = "SELECT type, name, tbl_name, sql FROM sqlite_master"


SMALLER = "Split the op, or record a smaller part of the program."
ROOM = "Give a path in an existing folder that you may write to, on a disk with enough space."


class TraceWriteError(TraceFileError):
    """A trace that could not be written: `reason` says why in a few words ("the disk is full")."""

    def __init__(self, path: str, reason: str, remedy: str = ROOM) -> None:
        self.reason, self.remedy = reason, remedy
        super().__init__(f"cannot write a trace to {path!r}: {reason}. {remedy}")


class Writer:
    """Writes a trace piece by piece; what was flushed stays readable if the process is killed.

    A flush happens after `every` events or `seconds`, whichever is first, when an event is written.
    An existing file at `path` is replaced.  Every method raises TraceWriteError where the file cannot be written.

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
            reason = _reason(error, self.path)
            with contextlib.suppress(AttributeError):  # where it could not even be opened
                self._db.close()
            with contextlib.suppress(OSError):  # what was begun is not a trace, and would not be replaced by one
                os.remove(self.path)
            raise TraceWriteError(self.path, reason) from error
        self._events, self._contents = Batch(self._execute, "events", 5), Contents(self._execute)
        self._counts = dict.fromkeys(("events", "stacks", "values"), 0)
        self._sketch, self._blocks = Sketch(), 0
        self.bytes = EMPTY  # of what was written, and what SQLite adds to it: about the size of the file
        self._frames: Sequence[Frame] = ()
        self._framed = self._texts = 0
        self._waiting = 0
        self._flushed = time.monotonic()
        self._execute("BEGIN")
        self.meta("complete", False)

    def event(self, event: AnyEvent) -> None:
        """Append an event."""
        row = (self._counts["events"], type(event).__name__, event.stack, event_text(event))
        if len(row[3]) > 2 * MOST_LISTED:  # a shorter one is within every limit of reading
            self._check_readable(row)
        self._events.add(row, checksum(*row))
        self._sketch.add(event)
        self.bytes += len(row[3]) + EVENT_ROW
        self._counts["events"] += 1
        self._waiting += 1
        if self._waiting >= self.every or time.monotonic() - self._flushed >= self.seconds:
            self.flush()

    def _check_readable(self, row: Row) -> None:
        """An event beyond the limits of reading ends the recording: behind it, no file of it could be opened."""
        try:
            event = _event_reader({})(row)
            if isinstance(event, OpCalled):
                check_arguments(event.name, event.attrs)
        except MalformedJson as error:
            raise TraceWriteError(self.path, f"event {row[0] + 1:,} is too large ({error})", SMALLER) from error

    def value(self, value: Value) -> bytes:
        """Append a value; equal ones are kept once, and one that is larger than is read as a sample.

        What it gives is for `again`.
        """
        if value.array is not None and value.array.nbytes > MOST_ARRAY:
            value = sample_value(value.array)
        if value.array is not None:
            return self.elements(little(value.array).tobytes(), value.dtype, value.shape)
        whole, stats = (_DAMAGED, None) if value.damaged else (0, _stats_text(value.stats))
        return self._value(value.dtype, value.shape, whole, little(value.sample).tobytes(), stats)

    def elements(self, raw: bytes, dtype: str, shape: tuple[int, ...]) -> bytes:
        """Append a value by all of its elements, in C order, at most `MOST_ARRAY` bytes."""
        return self._value(dtype, shape, 1, raw, None)

    def again(self, content: bytes) -> None:
        """Append a value that is the same as an earlier one."""
        self.bytes += VALUE_ROW
        number, self._counts["values"] = self._counts["values"], self._counts["values"] + 1
        self._contents.use(number, content)

    def read(self, number: int) -> Value:
        """A value that was written before."""
        self._contents.write()
        row = self._execute(f"{_VALUES.format('')} WHERE tensor_values.id = ?", (number,)).fetchone()
        return _read_value(row)

    def _value(self, dtype: str, sizes: tuple[int, ...], whole: int, raw: bytes, stats: str | None) -> bytes:
        shape = shape_text(sizes)
        digest = digest_of(dtype, shape, whole, stats, raw)
        if self._contents.add(digest, (dtype, shape, whole, raw, stats)):
            self.bytes += len(raw) + len(stats or "") + CONTENT_ROW
        self.again(digest)
        return digest

    def stack(self, frames: Sequence[Frame]) -> None:
        """Append a call stack, outermost frame first."""
        number = self._counts["stacks"]
        shared = in_common(self._frames, frames) if number % RESTART else 0
        entries = [[f.file, f.function, f.line, f.end_line, f.col, f.end_col] for f in frames[shared:]]
        self._frames, self._framed = frames, self._framed + len(frames)
        if self._framed > MOST_FRAMES or len(entries) > MOST_DEEP or number >= MOST_STACKS:
            most = f"at most {MOST_DEEP:,} in one, {MOST_FRAMES:,} in all, and {MOST_STACKS:,} stacks can be read"
            raise TraceWriteError(self.path, f"call stack {number + 1:,} has {len(frames):,} frames; {most}", SMALLER)
        row = (number, dumps([shared, *entries]))
        self._execute("INSERT INTO stacks VALUES (?, ?, ?)", (*row, checksum(*row)))
        self._counts["stacks"] += 1

    def file(self, name: str, text: str) -> None:
        """Add one of the user's files; the text of one that is larger than is read is left out."""
        self._texts += len(text.encode("utf-8", "replace"))
        if len(text) > MOST_TEXT or self._texts > MOST_TEXTS:
            return
        self.bytes += len(text)
        # SQLite's texts are UTF-8: a lone surrogate (an undecodable byte) becomes a question mark
        row = (_clean(name), _clean(text))
        self._execute("INSERT OR REPLACE INTO files VALUES (?, ?, ?)", (*row, checksum(*row)))

    def name(self, tensor: int, name: str | None) -> None:
        """Set the variable name of a tensor, or take it back."""
        if name is None:
            self._execute("DELETE FROM names WHERE tensor = ?", (tensor,))
        else:
            row = (tensor, _clean(name[:MOST_NAME]))
            self._execute("INSERT OR REPLACE INTO names VALUES (?, ?, ?)", (*row, checksum(*row)))

    def meta(self, key: str, value: Any) -> None:
        """Note something about the whole."""
        row = (key, dumps(encode(value)))
        self._execute("INSERT OR REPLACE INTO meta VALUES (?, ?, ?)", (*row, checksum(*row)))

    @property
    def is_block_due(self) -> bool:
        """Whether a block of the outline should be written."""
        return len(self._sketch) >= BLOCK

    def block(self, measures: Measures | None = None) -> None:
        """Write the outline of the events since its last block, with the numbers of the run since then."""
        for key, data in rows_of(dataclasses.replace(self._sketch.take(), measures=measures), self._blocks):
            self._execute("INSERT INTO outline VALUES (?, ?, ?)", (key, data, row_sum(key, data)))
            self.bytes += len(data) + CONTENT_ROW
        self._blocks += 1

    def flush(self) -> None:
        """Make what was written so far survive."""
        self._commit()
        self._execute("BEGIN")
        self._waiting = 0
        self._flushed = time.monotonic()

    def _connect(self) -> None:
        self._db = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        # A killed process loses nothing that was committed: the system has it.  No waiting for the disk.
        self._db.execute("PRAGMA synchronous = OFF")

    def _commit(self) -> None:
        self._events.write()
        self._contents.write()
        self.meta("counts", self._counts)
        self._execute("COMMIT")

    def _execute(self, statement: str, values: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return self._db.execute(statement, values)
        except sqlite3.Error as error:
            raise TraceWriteError(self.path, _reason(error, self.path)) from error

    def undo(self) -> None:
        """Go back to the last flush: what was written since could not be kept."""
        self._events.drop()
        self._contents.drop()
        with contextlib.suppress(sqlite3.Error):
            if self._db.in_transaction:  # SQLite may have gone back by itself
                self._db.execute("ROLLBACK")

    def give_up(self, meta: dict[str, Any]) -> None:
        """Go back to the last flush and let go of the file, with `meta` noted if there is room for it."""
        self.undo()
        with contextlib.suppress(TraceWriteError):
            self.meta("meta", meta)
        self._db.close()

    def pause(self) -> None:
        """Flush and let go of the file for a while: a connection must not be carried into a forked process."""
        if self._db.in_transaction:
            self._commit()
        self._db.close()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._connect()
        self._execute("BEGIN")

    def close(self, complete: bool = True, measures: Measures | None = None) -> None:
        """Flush and let go of the file; `complete` says that nothing is missing at the end, `measures` are the last
        numbers of the run."""
        try:
            self.meta("complete", complete)
            self.block(measures)
            self._commit()
        finally:
            self._db.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        with contextlib.suppress(TraceWriteError) if kind is not None else contextlib.nullcontext():
            self.close(complete=kind is None)  # after an error the file may be lost too: report the first error


def check_target(path: str) -> None:
    """Refuse to replace what is not a regular file: a folder, a device, a FIFO, a socket, or a link to one."""
    try:
        mode = os.stat(path).st_mode
    except OSError:  # there is nothing, or it cannot be reached: writing tells
        return
    if not stat.S_ISREG(mode):
        what = next((name for test, name in _OTHER_FILES if test(mode)), "not a regular file")
        raise TraceWriteError(path, f"there is {what}, which a trace would replace")


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
        return (
            "the system refused the write: the disk may be full or failing, or the file may have reached a size limit"
        )
    return str(error)


def save(trace: Trace, path: str | os.PathLike[str]) -> None:
    """Write the trace to one file; see docs/trace-format.md.

    It is written beside the path first, so that a file there is replaced only by a complete one.  A link is followed:
    the file behind it is replaced.  Raises TraceWriteError if that fails, or if the path does not name a regular file.
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
    except TraceWriteError as error:
        raise TraceWriteError(os.fspath(path), error.reason, error.remedy) from error
    except OSError as error:
        raise TraceWriteError(os.fspath(path), _reason(error, target)) from error
    finally:
        for left in (beside, beside + "-journal"):
            if os.path.exists(left):
                os.remove(left)


def open_trace(path: str | os.PathLike[str]) -> Trace:
    """Read a trace from a file that `save` wrote; nothing in the file is run.

    Events and values come from the file when they are first asked for.  Raises TraceFileError where there is no trace
    that this version can read, FileNotFoundError where there is no file.  A recording that was cut short has
    `meta["incomplete"]`.
    """
    name = os.fspath(path)
    if not os.path.exists(name):
        raise FileNotFoundError(f"no file {name!r}: give the path of a trace written by trace.save(path)")
    if os.path.isdir(name):
        raise TraceFileError(f"{name!r} is a folder: give the path of a trace file in it")
    check_header(name)
    source = _File(name)
    try:
        return _trace(source)
    except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        if isinstance(error, TraceFileError):
            raise
        raise source.damage_error(f"a row cannot be read ({error})") from error


def _trace(source: _File) -> Trace:
    meta = {key: decode(parsed(value, "value")) for key, value in source.rows("meta", "key, value")}
    about = meta.get("meta") or {}
    argv, counts = meta.get("argv") or (), meta.get("counts")
    if not isinstance(about, dict) or not all(isinstance(key, str) for key in about):
        raise MalformedJson("row 'meta' of meta: an object is expected")
    if not isinstance(argv, (list, tuple)) or not all(isinstance(word, str) for word in argv):
        raise MalformedJson("row 'argv' of meta: a list of texts is expected")
    if not meta.get("complete"):
        about = {**about, "incomplete": True}
    names, files = dict(source.rows("names", "tensor, name")), dict(source.rows("files", "name, text"))
    lengths = {name: source.length(table) for name, table in
               (("events", "events"), ("stacks", "stacks"), ("values", "tensor_values"))}  # fmt: skip
    if source.schema == 1:
        about = {**about, "unchecked": True}
    elif counts != lengths:
        raise source.damage_error(f"it was written with {counts}, and has {lengths}")
    else:
        about.pop("unchecked", None)
    if lengths["stacks"] > MOST_STACKS:
        raise source.damage_error(f"stacks has more than {MOST_STACKS:,} rows")
    read_stack = _Stacks(source).row
    stacks = tuple(Rows(source, source.select("stacks", "id, frames"), "stacks", read_stack, lengths["stacks"]))
    size, count = os.path.getsize(source.name), lengths["values"]
    block = rows_at_once(size, count)
    read_event = source.checked(_event_reader(lengths), lambda number: Damaged(number, -1))
    if source.lost:
        about = {**about, "damaged": list(dict.fromkeys(source.lost))}
    return Trace(
        Rows(source, source.select("events", "id, kind, stack, fields"), "events", read_event, lengths["events"]),
        stacks,
        files,
        names,
        Rows(
            source,
            source.values,
            "tensor_values",
            source.value,
            count,
            block=block,
            most_blocks=blocks_kept(size, count, block),
            lost=_lost_value,
        ),
        tuple(argv),
        about,
    )


def tally(path: str | os.PathLike[str]) -> dict[str, int]:
    """How many events of each kind a file has, and as `nodes` how many ops are differentiable; none are read.

    Raises as `open_trace` does.
    """
    name = os.fspath(path)
    check_header(name)
    source = _File(name)
    counts: dict[str, int] = dict(source.all("SELECT kind, count(*) FROM events GROUP BY kind"))
    query = "SELECT count(*) FROM events WHERE kind = 'OpCalled' AND json_type(fields, '$.node') = 'object'"
    return {**counts, "nodes": source.all(query)[0][0]}


MOST_NAME = 4096
"""Characters of a name."""
MOST_FRAMES = 2**24
"""Frames of all call stacks of a file together."""
MOST_ARRAY = 128 * 2**20
"""Bytes of the elements of a value."""
MOST_STACKS = 500_000
"""Call stacks of a file."""
MOST_TEXTS = 64 * 2**20
"""Bytes of all files of the user together, and of all rows of meta, of names."""
MOST_DEEP = 20_000
"""Frames of a call stack that are not those of the one before."""
RESTART = 64
"""Call stacks of which one is written whole: what a damaged one costs."""
MOST_ROWS = 1_000_000
"""Rows of a table that is read as a whole when a file is opened."""
_LOST = {
    "meta": "the description of the recording", "files": "the text of a file", "names": "the name of a tensor",
    "stacks": "the source lines of some steps",
}  # fmt: skip


class _File(Database):
    """A trace file: a database with our tables, of a schema that this version reads."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.lost: list[str] = []
        """The parts that could not be read since their rows do not fit their checksums, in words."""
        self.schema = self._schema()
        """Its version."""
        self.sum = "" if self.schema == 1 else ", sum"
        """The column of checksums, where there is one."""
        self.values = _VALUES.format(", contents.sum, tensor_values.sum" if self.sum else "")

    def _schema(self) -> int:
        """Refuse what is a SQLite file but no trace, or one of a later version."""
        application = self.all("PRAGMA application_id")[0][0]
        version = self.all("PRAGMA user_version")[0][0]
        if application != APPLICATION:
            raise TraceFileError(
                f"{self.name!r} is a SQLite file of another program, not a trace. Give a file written by "
                "trace.save(path)."
            )
        if version > SCHEMA:
            raise TraceFileError(
                f"{self.name!r} is a trace of schema {version}; this Backstep reads schemas up to {SCHEMA}. "
                "Update Backstep (pip install --upgrade backstep), or record the program again."
            )
        if version < 1:
            raise TraceFileError(
                f"{self.name!r} is a trace of schema {version}, but schemas begin with 1. Record the program again."
            )
        statements = set(self.all(_MASTER, most=len(_expected(version)) + 1))
        if statements != _expected(version):
            lacking = sorted({row[1] for row in _expected(version) - statements if row[3]})
            more = sorted({str(row[1])[:80] for row in statements - _expected(version)})
            note = f"it lacks the expected {', '.join(lacking)}" if lacking else f"it also has {', '.join(more)}"
            raise TraceFileError(
                f"{self.name!r} has different tables from a trace of schema {version}: {note}. Record the program "
                "again."
            )
        if os.path.getsize(self.name) <= QUICK_CHECK and (answer := self.all("PRAGMA quick_check(1)")[0][0]) != "ok":
            raise self.damage_error(answer)
        return version

    def rows(self, table: str, columns: str) -> list[tuple[Any, ...]]:
        """All rows of a small table of two columns, of the types that they were declared with, and sound."""
        self._check_sizes(table, columns.split(", ")[1])
        result = self.all(f"{self.select(table, columns)} ORDER BY rowid", most=MOST_ROWS + 1)
        if table == "names":  # of a longer recording the first: more of it is not shown
            result = result[:MOST_ROWS]
        if len(result) > MOST_ROWS:
            raise self.damage_error(f"{table} has more than {MOST_ROWS:,} rows")
        for key, text, *_ in result:
            if not isinstance(text, str) or type(key) is not (int if table == "names" else str):
                raise self.damage_error(f"row {str(key)[:40]!r} of {table} has a value of another type")
            if len(text) > MOST_TEXT or (type(key) is str and len(key) > MOST_NAME) or (type(key) is int and key < 0):
                raise self.damage_error(
                    f"row {str(key)[:40]!r} of {table} is beyond the limits of docs/trace-format.md"
                )
            if table == "names" and len(text) > MOST_NAME:
                raise self.damage_error(f"row {key} of names is longer than {MOST_NAME:,} characters")
        return [(key, text) for key, text, *sums in result if not sums or self._is_sound(table, key, text, sums[0])]

    def _check_sizes(self, table: str, column: str) -> None:
        """Refuse texts that are too large before they are here."""
        size = f"length(CAST({column} AS BLOB))"  # that of a text ends at its first zero
        longest, together = self.all(f"SELECT max({size}), total({size}) FROM {table}")[0]  # noqa: S608 names of ours
        if (longest or 0) > 4 * MOST_TEXT:
            row = self.all(f"SELECT rowid FROM {table} WHERE {size} > {4 * MOST_TEXT}", most=1)[0][0]  # noqa: S608 ours
            raise self.damage_error(f"row {row} of {table} is beyond the limits of docs/trace-format.md")
        if together > MOST_TEXTS:
            raise self.damage_error(f"{table} has {together:,.0f} bytes, beyond the limits of docs/trace-format.md")

    def _is_sound(self, table: str, key: Any, text: str, expected: int) -> bool:
        """Return whether a row fits its checksum; if not, note the loss."""
        is_sound = expected == checksum(key, text)
        if not is_sound:
            self.lost.append(_LOST[table])
        return is_sound

    def select(self, table: str, columns: str) -> str:
        """The query for columns of a table, and its checksums."""
        return f"SELECT {columns}{self.sum} FROM {table}"  # noqa: S608 names of ours

    def checked(self, read: Callable[[Row], Any], lost: Callable[[int], Any]) -> Callable[[Row], Any]:
        """How to read a row that ends with its checksum: where that does not fit, it is `lost(id)`."""
        if not self.sum:
            return read
        return lambda row: read(row[:-1]) if row[-1] == checksum(*row[:-1]) else lost(row[0])

    def value(self, row: Row) -> Value:
        """A value, of the rows of it and of its content."""
        return _read_value(row) if not self.sum or _sound_value(row) else _lost_value(row[0])


_VALUES = (
    "SELECT tensor_values.id, content, dtype, shape, whole, data, stats, digest{} "
    "FROM tensor_values JOIN contents ON contents.id = tensor_values.content"
)


def _lost_value(_: int) -> Value:
    return damaged_value((), "float32")


def in_common(one: Sequence[Any], other: Sequence[Any]) -> int:
    """How many entries two sequences begin with that are the same.

    >>> in_common("abc", "abd")
    2
    """
    pairs = enumerate(zip(one, other, strict=False))
    return next((n for n, (a, b) in pairs if a is not b and a != b), min(len(one), len(other)))


def _event_reader(lengths: Mapping[str, int]) -> Callable[[tuple[Any, ...]], AnyEvent]:
    """How to read a row of events in a file of so many values and stacks."""
    read = events_from(lengths)

    def read_event(row: tuple[Any, ...]) -> AnyEvent:
        return read(row[1], row[0], row[2], parsed(row[3], "fields"))

    return read_event


class _Stacks:
    """Reads the call stacks in their order: from schema 3 on, each begins with frames of the one before."""

    def __init__(self, source: _File) -> None:
        self.row = source.checked(self._read, self._lose)
        self._lost = source.lost
        self._is_shared = source.schema > 2
        self._before: tuple[Frame, ...] | None = None
        self._frames: dict[str, Frame] = {}
        self._count = 0

    def _read(self, row: Row) -> tuple[Frame, ...]:
        entries = parsed(row[1], "frames")
        if not isinstance(entries, list) or len(entries) < self._is_shared:
            raise MalformedJson(f"a list of frames is expected, found {str(entries)[:80]!r}")
        shared = entries.pop(0) if self._is_shared else 0
        if shared and self._before is None:
            return self._lose(row[0])
        before = self._before or ()
        if type(shared) is not int or not 0 <= shared <= len(before):
            raise MalformedJson(f"{str(shared)[:80]} frames of the stack before, which has {len(before)}")
        self._count += shared + len(entries)
        if self._count > MOST_FRAMES:
            raise MalformedJson(f"the stacks have more than {MOST_FRAMES:,} frames")
        self._before = before[:shared] + tuple(map(self._frame, entries))
        return self._before

    def _lose(self, _: int) -> tuple[Frame, ...]:
        self._lost.append(_LOST["stacks"])
        self._before = None
        return ()

    def _frame(self, part: Any) -> Frame:
        """Each frame once, however many stacks it is in."""
        key = repr(part)
        frame = self._frames.get(key)
        if frame is None:
            frame = self._frames[key] = _frame(part)
        return frame


def _frame(part: Any) -> Frame:
    match part:
        case [str(file), str(function), *places] if len(places) == 4 and max(len(file), len(function)) <= MOST_NAME:
            if all(type(n) is int and 0 <= n < 2**31 for n in places):
                return Frame(file, function, *places)
    raise MalformedJson(f"a frame is [file, function, line, end_line, col, end_col], found {str(part)[:80]!r}")


def _sound_value(row: tuple[Any, ...]) -> bool:
    """Return whether the two rows behind a value fit their checksums, which are not those of the elements."""
    number, content, dtype, shape, whole, _, stats, digest, recorded, pair = row
    told_here = checksum(content, bytes(digest).hex(), dtype, shape, whole, stats)
    return bool(pair == checksum(number, content) and recorded == told_here)


_DAMAGED = -1
"""In place of `whole`: the elements were damaged in the file that the trace was read from, and are not there."""


def _read_value(row: tuple[Any, ...]) -> Value:
    _, _, dtype, shape, whole, raw, stats, digest, *_ = row
    is_known = dtype in ELEMENT_TYPES or (dtype in NAMED and whole == _DAMAGED)
    if not is_known or whole not in (0, 1, _DAMAGED) or not isinstance(raw, bytes):
        raise MalformedJson(
            f"dtype {str(dtype)[:40]!r}, whole {str(whole)[:40]!r}: a known element type, and 1 or 0 are expected"
        )
    sizes = read_shape(shape)
    if whole == _DAMAGED or digest != digest_of(dtype, shape, whole, stats, raw):
        return damaged_value(sizes, dtype)
    if whole:
        return value_of(from_bytes(raw, dtype, sizes))
    sample = from_bytes(raw, dtype, (len(raw) // ELEMENT_TYPES[dtype].itemsize,))
    statistics = decode(parsed(stats, "stats"))
    if sample.size > SAMPLE or not _are_stats(statistics):
        raise MalformedJson(f"a sample of at most {SAMPLE} elements and its statistics are expected")
    return Value(sizes, dtype, None, sample, statistics)


_STATS = frozenset({"min", "max", "mean", "norm", "nan", "inf", "zeros"})


def _are_stats(stats: Any) -> bool:
    return isinstance(stats, dict) and stats.keys() >= _STATS and all(type(v) in (int, float) for v in stats.values())


def _stats_text(stats: Mapping[str, float]) -> str:
    """Statistics as `encode` has them: that looks at each number, of which nearly all are finite."""
    if isfinite(sum(stats.values())):
        items = [f'["{name}",{n!r}]' for name, n in stats.items()]
    else:
        items = [f'["{name}",{dumps(encode(n))}]' for name, n in stats.items()]
    return f'{{"$":"dict","items":[{",".join(items)}]}}'


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")


Trace.save, Trace.open = save, staticmethod(open_trace)  # bound here, where the file is known
