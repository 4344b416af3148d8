"""A trace is read as it was written, and a file that cannot be read raises an error that says so."""

from __future__ import annotations

import contextlib
import dataclasses
import gc
import importlib
import json
import os
import shutil
import socket
import sqlite3
import stat
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.arrays import array
from engine.trace.file import batches
from engine.trace.file.batches import checksum
from engine.trace.file.consistency import open_checked
from engine.trace.file.database import Database, TraceFileError
from engine.trace.file.encoding import (
    KINDS,
    MalformedJson,
    OpaqueArgument,
    decode,
    encode,
    event_text,
    events_from,
    from_bytes,
    parsed,
)
from engine.trace.file.tracefile import (
    SCHEMA,
    TraceWriteError,
    Writer,
    open_trace,
    save,
    tally,
)
from engine.trace.log_reader import value_of

from .equality import event_fields, traces_equal, values_equal
from .sample_traces import every_kind, rows, sample_trace

tr: Any = importlib.import_module("engine.trace.events")  # `engine.trace` is the sum of a diagonal, as in torch
resource: Any = pytest.importorskip("resource") if sys.platform != "win32" else None


ROOT = Path(__file__).parents[3]


def test_file_reads_as_it_was_written(tmp_path: Path) -> None:
    before = sample_trace()
    before.save(str(tmp_path / "t.backstep"))
    after = tr.Trace.open(str(tmp_path / "t.backstep"))
    assert tuple(after.events) == tuple(before.events)
    assert traces_equal(before, after) and traces_equal(after, before)
    for first, second in zip(before.values, after.values, strict=True):
        assert values_equal(first, second) and first.shape == second.shape
        assert np.asarray(first.sample).tobytes() == np.asarray(second.sample).tobytes()
    assert dict(after.values[-1].stats)["max"] == float("inf") and np.isnan(after.values[-1].stats["mean"])
    assert after.values[0].array is not None and not after.values[0].array.flags.writeable


def test_equality_of_traces_sees_every_difference() -> None:
    before = sample_trace()
    events = list(before.events)
    changed = [
        dataclasses.replace(before, names={0: "y"}),
        dataclasses.replace(before, files={}),
        dataclasses.replace(before, stacks=()),
        dataclasses.replace(before, argv=()),
        dataclasses.replace(before, meta={"seed": 4}),
        dataclasses.replace(before, events=events[:-1]),
        dataclasses.replace(before, events=[*events[:-1], tr.BackwardEnded(14, -1, 0, True, (1, None))]),
        dataclasses.replace(before, values=(value_of(np.array([1.0], "float32")), *before.values[1:])),
    ]
    assert [traces_equal(before, other) for other in changed] == [False] * len(changed)
    assert not values_equal(value_of(np.array(0.0)), value_of(np.array(-0.0)))


def test_saving_again_gives_the_same_trace(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "a")
    save(open_trace(tmp_path / "a"), tmp_path / "b")
    assert traces_equal(open_trace(tmp_path / "a"), open_trace(tmp_path / "b"))
    save(open_trace(tmp_path / "a"), tmp_path / "a")
    assert traces_equal(open_trace(tmp_path / "a"), sample_trace())


STATICS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just(...)
    | st.slices(9) | st.sampled_from([*array.DTYPES, float, int, bool, np.dtype("float32"), array.CPU]),
    lambda inner: st.lists(inner) | st.lists(inner).map(tuple) | st.dictionaries(st.text(), inner),
    max_leaves=12,
)  # fmt: skip


@given(STATICS)
@settings(max_examples=200, deadline=None)
def test_static_arguments_come_back_the_same(value: object) -> None:
    data = json.loads(json.dumps(encode(value), allow_nan=False))
    assert _same(decode(data), value)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, float):
        return np.float64(a).tobytes() == np.float64(b).tobytes()
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_same(a[k], b[k]) for k in a)
    return bool(a == b)


def test_arrays_among_static_arguments_keep_their_bits() -> None:
    index = np.array([[0, 2], [1, 1]])
    again = decode(encode((index, np.float32(2.5))))
    assert again[0].tobytes() == index.tobytes() and again[0].dtype == index.dtype and again[0].shape == (2, 2)
    assert type(again[1]) is np.float32 and again[1] == 2.5


def test_what_json_cannot_hold_is_described() -> None:
    thing = decode(encode({"hook": print}))["hook"]
    assert thing == OpaqueArgument("<built-in function print>") and decode(encode(thing)) == thing


@pytest.mark.parametrize("data", [{"$": "pickle"}, {"a": 1}, {"$": "op", "name": "no such op"}, {"$": "slice"},
                                  {"$": "array", "dtype": "object", "shape": [1], "base64": ""}])  # fmt: skip
def test_unknown_json_is_refused(data: object) -> None:
    with pytest.raises(MalformedJson):
        decode(data)


def test_events_of_the_wrong_form_are_refused() -> None:
    fields = event_fields(every_kind()[1])
    assert events_from({})("OpCalled", 1, 1, fields) == every_kind()[1]
    wrong = [
        ("Nothing", fields),
        ("OpCalled", {}),
        *(("OpCalled", {**fields, **change}) for change in (
            {"inputs": 3}, {"name": 3}, {"outputs": [3]}, {"call": "x"}, {"inplace": True},
        )),
    ]  # fmt: skip
    for kind, data in wrong:
        with pytest.raises(MalformedJson):
            events_from({})(kind, 1, 1, data)


def test_event_without_a_number_that_it_needs_is_not_written() -> None:
    with pytest.raises(TypeError, match="%d format"):
        event_text(tr.BackwardEnded(0, -1, None, True, ()))  # a fault of a recorder of ours


def test_bytes_that_do_not_fill_the_shape_are_refused() -> None:
    wrong = [(b"1234", "float32", (2,)), (b"", "object", ()), (b"1234", "float32", (-1,)), (b"", "O", (0,))]
    for raw, dtype, shape in wrong:
        with pytest.raises(MalformedJson):
            from_bytes(raw, dtype, shape)


# -- files that are no trace ------------------------------------------------------------------------------------------


def test_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        open_trace(tmp_path / "nowhere.backstep")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "is empty"),
        (b"import torch\n", "is not a trace.*begins with “import torch”"),
        (b"SQLite format 3\0", "is not a trace"),
    ],
)
def test_foreign_file_is_refused(tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(TraceFileError, match=says):
        open_trace(tmp_path / "f")


def test_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match="is a folder"):
        open_trace(tmp_path)


def test_database_of_another_program_is_refused(tmp_path: Path) -> None:
    db = sqlite3.connect(tmp_path / "f")
    db.execute("CREATE TABLE t (a)")
    db.commit()
    db.close()
    with pytest.raises(TraceFileError, match="of another program"):
        open_trace(tmp_path / "f")


def test_newer_schema_is_refused_by_name(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    db = sqlite3.connect(tmp_path / "f")
    db.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    db.close()
    with pytest.raises(TraceFileError, match=f"schema {SCHEMA + 1}; .* up to {SCHEMA}.*[Uu]pdate"):
        open_trace(tmp_path / "f")


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.95])
def test_truncated_file_is_refused(tmp_path: Path, kept: float) -> None:
    save(sample_trace(), tmp_path / "f")
    raw = (tmp_path / "f").read_bytes()
    (tmp_path / "f").write_bytes(raw[: int(len(raw) * kept)])
    with pytest.raises(TraceFileError, match="is cut off"):
        open_trace(tmp_path / "f")


def test_damaged_file_never_gives_anything_but_a_trace_file_error(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    raw = (tmp_path / "f").read_bytes()
    rng = np.random.default_rng(0)
    refused = 0
    for number in range(60):
        damaged = bytearray(raw)
        for place in rng.integers(100, len(raw), 40):
            damaged[place] = int(rng.integers(256))
        path = tmp_path / f"f{number}"
        path.write_bytes(damaged)
        try:
            found = open_trace(path)
            traces_equal(found, found)
        except TraceFileError:
            refused += 1
    assert refused > 30


def test_rows_that_are_missing_or_malformed_are_refused_when_read(tmp_path: Path) -> None:
    for number, change in enumerate([
        "DELETE FROM events WHERE id = 3", "UPDATE events SET fields = '{}' WHERE id = 1",
        "UPDATE events SET fields = '" + "[" * 100_000 + "' WHERE id = 1",
        "UPDATE events SET kind = 'Nothing'",
    ]):  # fmt: skip
        path = tmp_path / f"f{number}"
        save(sample_trace(), path)
        db = sqlite3.connect(path)
        db.execute(change)
        db.create_function("crc", 4, checksum)
        db.execute("UPDATE events SET sum = crc(id, kind, stack, fields)")
        db.commit()
        db.close()
        found = open_trace(path)
        with pytest.raises(TraceFileError, match="is damaged"):
            traces_equal(found, found)


def test_view_in_place_of_a_table_is_refused(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    db = sqlite3.connect(tmp_path / "f")
    db.executescript("ALTER TABLE names RENAME TO other; CREATE VIEW names AS SELECT * FROM other")
    db.close()
    with pytest.raises(TraceFileError, match="lacks the expected names"):
        open_trace(tmp_path / "f")


def test_opening_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    raw = (tmp_path / "f").read_bytes()
    found = open_trace(tmp_path / "f")
    assert traces_equal(found, sample_trace())
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        rows(found.events).source._db.execute("DELETE FROM events")
    assert (tmp_path / "f").read_bytes() == raw and [p.name for p in tmp_path.iterdir()] == ["f"]


def test_path_with_marks_of_an_address_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "a b?mode=rw&#%41 größe.backstep"
    save(sample_trace(), path)
    assert traces_equal(open_trace(path), sample_trace())


def test_saving_where_nothing_can_be_written_is_explained(tmp_path: Path) -> None:
    with pytest.raises(TraceFileError, match=r"cannot write a trace to .*existing folder"):
        save(sample_trace(), tmp_path / "none" / "f")


@pytest.mark.skipif(sys.platform == "win32", reason="limits and special files of POSIX")
def test_saving_over_a_limit_is_explained_and_leaves_the_old_file(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    before = (tmp_path / "f").read_bytes()
    large = dataclasses.replace(sample_trace(), values=tuple(value_of(np.full(9000, i)) for i in range(9)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(TraceFileError, match=r"cannot write a trace to .*f': the system refused"):
            save(large, tmp_path / "f")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (tmp_path / "f").read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["f"]


def test_writer_on_a_full_disk_says_so_at_every_call(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "f", every=1)
    writer._db.execute("PRAGMA max_page_count = 20")
    arrays = [value_of(np.full(1000, i)) for i in range(100)]  # some wait for each other
    with pytest.raises(TraceWriteError) as found:
        list(map(writer.value, arrays))
    assert found.value.reason == "the disk is full"
    with pytest.raises(TraceWriteError):
        writer.close()


def test_saving_into_a_folder_that_goes_is_explained(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    trace = sample_trace()

    def names() -> Iterator[tuple[int, str]]:
        shutil.rmtree(tmp_path / "d")
        yield 0, "x"

    class VanishingNames(dict[int, str]):
        def items(self) -> Any:
            return names()

    with pytest.raises(TraceWriteError, match="cannot write a trace"):
        save(dataclasses.replace(trace, names=VanishingNames()), tmp_path / "d" / "f")


@pytest.mark.skipif(sys.platform == "win32", reason="special files of POSIX")
def test_what_is_no_regular_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "fifo")
    (tmp_path / "device").symlink_to("/dev/null")
    with socket.socket(socket.AF_UNIX) as held, contextlib.chdir(tmp_path):
        held.bind("socket")
    for name, what in [
        ("fifo", "FIFO"),
        ("folder", "folder"),
        ("link", "FIFO"),
        ("device", "device"),
        ("socket", "socket"),
    ]:
        for write in (lambda path: save(sample_trace(), path), Writer):
            with pytest.raises(TraceWriteError, match=f"there is a {what}"):
                write(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["device", "fifo", "folder", "link", "socket"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_saving_to_a_link_writes_the_file_behind_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "f")
    save(sample_trace(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and traces_equal(open_trace(tmp_path / "f"), sample_trace())


# -- tables for other tools -------------------------------------------------------------------------------------------


def test_tables_can_be_asked_with_sql(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    db = sqlite3.connect(tmp_path / "f")
    asked = "SELECT json_extract(fields, '$.name') FROM events WHERE kind = 'OpCalled' ORDER BY id"
    assert [row[0] for row in db.execute(asked)] == ["mul", "exp"]
    assert db.execute("SELECT name FROM names WHERE tensor = 1").fetchone() == ("self.w",)
    db.close()


def test_tally_counts_without_reading(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    found = tally(tmp_path / "f")
    assert found == {**dict.fromkeys(KINDS, 1), "OpCalled": 2, "nodes": 1}


def test_equal_values_are_kept_once(tmp_path: Path) -> None:
    same = value_of(np.arange(1000.0))
    save(dataclasses.replace(sample_trace(), values=(same,) * 50), tmp_path / "f")
    db = sqlite3.connect(tmp_path / "f")
    assert db.execute("SELECT count(*) FROM contents").fetchone() == (1,)
    db.close()
    assert len(open_trace(tmp_path / "f").values) == 50 and (tmp_path / "f").stat().st_size < 80_000


def test_equal_values_are_kept_once_however_many_others_lie_between(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(batches, "MOST_CONTENTS", 100)
    writer = Writer(tmp_path / "f")
    contents = [writer.value(value_of(np.full(3, i))) for _ in range(3) for i in range(350)]
    writer.again(contents[5])
    writer.close()
    kept = [value.stats["max"] for value in open_trace(tmp_path / "f").values]
    assert kept == [*range(350)] * 3 + [5]
    with sqlite3.connect(tmp_path / "f") as db:
        assert db.execute("SELECT count(*), max(id) FROM contents").fetchone() == (350, 349)


def test_file_is_let_go_of_with_its_trace(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    found = open_trace(tmp_path / "f")
    source = weakref.ref(rows(found.events).source)
    del found
    gc.collect()
    assert source() is None


def test_events_are_read_when_asked_for(tmp_path: Path) -> None:
    many = [tr.ModeChanged(i, -1, bool(i % 2)) for i in range(2000)]
    save(dataclasses.replace(sample_trace(), events=many), tmp_path / "f")
    found = rows(open_trace(tmp_path / "f").events)
    assert found._block.cache_info().currsize == 0
    assert (found[1999], found[-1], found[1500].index, len(found)) == (many[1999], many[1999], 1500, 2000)
    assert found._block.cache_info().currsize == 2
    assert list(found) == many and found[10:12] == tuple(many[10:12])
    with pytest.raises(IndexError):
        found[2000]


# -- killed recordings ------------------------------------------------------------------------------------------------

KILLED = """
import sys, os
from engine.trace.events import Trace
from engine.trace.file.tracefile import Writer
from engine.trace.events import ModeChanged
writer = Writer(sys.argv[1], every=10)
for i in range(25):
    writer.event(ModeChanged(i, -1, True))
os.kill(os.getpid(), 9)
"""


def test_killed_recording_opens_up_to_its_last_flush(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "f"], cwd=ROOT, check=False)
    found = open_trace(tmp_path / "f")
    assert len(found.events) == 20 and found.meta == {"incomplete": True}


def test_recording_killed_within_a_flush_opens_up_to_the_one_before(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "f", every=2**62, seconds=float("inf"))
    for i in range(20):
        writer.event(tr.ModeChanged(i, -1, True))
    writer.flush()
    writer._db.execute("PRAGMA cache_size = 1")
    for i in range(20, 100):
        writer.value(value_of(np.random.default_rng(i).random(2000)))
        writer.event(tr.ModeChanged(i, -1, True))
    (tmp_path / "dead").mkdir()
    for name in ("f", "f-journal"):
        shutil.copyfile(tmp_path / name, tmp_path / "dead" / name)
    writer.close()
    found = open_trace(tmp_path / "dead" / "f")
    assert len(found.events) == 20 and len(found.values) == 0 and found.meta["incomplete"]
    assert (tmp_path / "dead" / "f-journal").exists()
    assert len(open_trace(tmp_path / "f").events) == 100


def test_event_beyond_the_limits_of_reading_is_not_written(tmp_path: Path) -> None:
    def event(inputs: int) -> tr.OpCalled:
        given = tuple(tr.Input(f"tensors[{nr}]", 0) for nr in range(inputs))
        return tr.OpCalled(
            1, -1, "stack", given, {"dim": 0}, (tr.Output(1, 0, 0, (2,), "float32", False, 0),), None, None, None
        )

    writer = Writer(tmp_path / "f")
    writer.value(value_of(np.zeros(2)))
    writer.event(tr.ModeChanged(0, -1, True))
    writer.event(event(10_000))
    writer.flush()
    with pytest.raises(
        TraceWriteError, match=r"event 3 is too large \(inputs: 10,001 entries; at most 10,000 are read\)\. Split"
    ):
        writer.event(event(10_001))
    writer.give_up({})
    assert len(open_trace(tmp_path / "f").events[1].inputs) == 10_000


def test_what_is_too_long_is_refused_by_table_and_column(tmp_path: Path) -> None:
    with pytest.raises(MalformedJson, match=r"^fields: more than 200,000 items$"):
        parsed("[" + "0," * 200_001 + "0]", "fields")
    path = tmp_path / "f"
    save(sample_trace(), path)
    found = Database(str(path))
    found._db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 100)
    with pytest.raises(TraceFileError, match="events has a text or bytes of more than 129 MiB"):
        found.all("SELECT id, fields FROM events")


def test_writer_flushes_by_time(tmp_path: Path) -> None:
    with Writer(tmp_path / "f", every=2**62, seconds=0.0) as writer:
        writer.event(tr.ModeChanged(0, -1, True))
        assert len(open_trace(tmp_path / "f").events) == 1


def test_failed_recording_is_marked(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Writer(tmp_path / "f"):
        raise KeyError
    assert open_trace(tmp_path / "f").meta == {"incomplete": True}


def _another_shape() -> None:
    x: Any = engine.ones(2, requires_grad=True)
    x.data = engine.ones(3)
    (x * 2).sum().backward()


def _threads() -> None:
    x: Any = engine.ones(2, requires_grad=True)
    turn = threading.Lock()  # what two threads compute at the same moment is not told apart

    def work() -> None:
        for _ in range(20):
            with turn:
                (x * x).sum().backward()

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.mark.parametrize("program", [_another_shape, _threads])
def test_recording_that_is_unusual_fits_together(program: Callable[[], None], tmp_path: Path) -> None:
    with engine.record() as trace:
        program()
    save(trace, tmp_path / "f")
    assert len(open_checked(tmp_path / "f", 20_000).events) == len(trace.events)
