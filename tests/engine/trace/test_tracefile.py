"""What is written is what is read, and what cannot be read says so."""

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
import typing
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
from engine.ops.op import REGISTRY
from engine.trace.building import value_of
from engine.trace.events import Trace
from engine.trace.file import tracefile
from engine.trace.file.argument_types import check_arguments
from engine.trace.file.database import Database, Rows, TraceFileError
from engine.trace.file.encoding import (
    KINDS,
    Malformed,
    Opaque,
    decode,
    encode,
    event_fields,
    event_from,
    events_from,
    from_bytes,
    traces_equal,
    values_equal,
)
from engine.trace.file.tracefile import (
    SCHEMA,
    CannotWrite,
    Writer,
    checksum,
    open_checked,
    open_trace,
    parsed,
    save,
    tables,
    tally,
)
from viz.reading.text import brief
from viz.reading.values import as_json
from viz.server.programs import harmed, unchecked

resource: Any = pytest.importorskip("resource") if sys.platform != "win32" else None
tr: Any = importlib.import_module("engine.trace.events")  # `engine.trace` is the sum of a diagonal, as in torch

ROOT = Path(__file__).parents[3]


def every_kind() -> list[tr.AnyEvent]:
    """One event of each kind, with everything optional there, and an op with nothing optional there."""
    attrs = {"dim": (0, -1), "keepdim": False, "path": ((REGISTRY["mul"], {"k": slice(1, None)}), ...)}
    node = tr.NodeRecord(
        0, "MulBackward0", 3, ("self", "other", "value"), (tr.Edge(None, 0), None, tr.Edge(4, None, 1)),
        (tr.Saved("other", None, 2.5, None, 8), tr.Saved("self", 1, None, 0, 16)),
    )  # fmt: skip
    out = tr.Output(1, 0, 2, (2, 3), "float32", True, 1, 0)
    made: list[tr.AnyEvent] = [
        tr.LeafCreated(0, 0, 0, 0, 0, (1, 4), "float32", "cpu", True, "tensor", None, 0, "fc.weight"),
        tr.OpCalled(1, 1, "mul", (tr.Input("self", 0), tr.Input("other", None, 0, True)), attrs, (out,), node, 0, 1),
        tr.OpCalled(2, -1, "exp", (), {}, (out,), None, None, None),
        tr.Refreshed(3, -1, 1, 2, 2),
        tr.FlagChanged(4, 0, 0, "requires_grad", True),
        tr.ModeChanged(5, 0, False),
        tr.GradSet(6, 0, 0, None, None),
        tr.BackwardStarted(7, 1, 0, "backward", (tr.Root(1, 2, True),), (0,), True, False),
        tr.VjpRun(8, -1, 0, 0, (2, None), (None, 3), (None, None), True),
        tr.Accumulated(9, -1, 0, 0, 5, None, 1, 2, False),
        tr.HookRan(10, -1, 0, 0, 1, 2),
        tr.Escaped(11, 0, 0, "item", 0),
        tr.ErrorRaised(12, 0, "RuntimeError", "größe\n\U0001f389", "note", 0, 0, (0, 1), "Traceback"),
        tr.WarningGiven(13, 0, "UserWarning", "careful"),
        tr.BackwardEnded(14, -1, 0, False, (1, None)),
        tr.GroupEntered(15, 0, "layers.0", "Linear"),
        tr.GroupLeft(16, -1),
        tr.WrittenOutside(17, -1, 1, 3, 2),
        tr.CodeEntered(18, -1, 0, "after", None, 2, 0, (1, None, 3), 2),
        tr.CodeLeft(19, -1, (1, None), True),
        tr.DataSet(20, 0, 1, 4, 2, 3),
        tr.Damaged(21, -1),
    ]
    assert {type(event) for event in made} == set(KINDS.values()) == set(typing.get_args(tr.AnyEvent))
    return made


def sample_values() -> list[tr.Value]:
    """Arrays of every dtype, odd shapes, and bits that `==` cannot tell apart."""
    payload = np.array([0x7FC00001, 0xFFC00002, 0x80000000, 0x7F800000], dtype="<u4").view("<f4")
    arrays = [
        payload, np.array(-0.0), np.zeros((0, 3)), np.array(7), np.array([True, False]),
        np.arange(12.0).reshape(3, 4).T, *[np.arange(3).astype(d.numpy) for d in array.DTYPES],
    ]  # fmt: skip
    kept = [value_of(a) for a in arrays]
    stats = {"min": 0.0, "max": float("inf"), "mean": float("nan"), "norm": 1e-300, "nan": 1, "inf": 2, "zeros": 3}
    return [*kept, tr.Value((1000, 1000), "float32", None, np.arange(64, dtype="float32"), stats)]


def sample_trace() -> tr.Trace:
    frames = (tr.Frame("größe.py", "<module>", 1, 2, 0, 4), tr.Frame("lib/a.py", "f.<locals>.g", 3, 3, 4, 9))
    return tr.Trace(
        tuple(every_kind()), (frames, frames[:1]), {"größe.py": "x = 1\n", "lib/a.py": "\n\n\nf(x)"},
        {0: "x", 1: "self.w"},
        tuple(sample_values()), ("script.py", "--größe"), {"seed": 3, "nested": {"a": (1, None)}},
    )  # fmt: skip


def rows(found: Any) -> Rows[Any]:
    """What reads from the file."""
    assert isinstance(found, Rows)
    return found


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
    assert thing == Opaque("<built-in function print>") and decode(encode(thing)) == thing


@pytest.mark.parametrize("data", [{"$": "pickle"}, {"a": 1}, {"$": "op", "name": "no such op"}, {"$": "slice"},
                                  {"$": "array", "dtype": "object", "shape": [1], "base64": ""}])  # fmt: skip
def test_unknown_json_is_refused(data: object) -> None:
    with pytest.raises(Malformed):
        decode(data)


def test_events_of_the_wrong_form_are_refused() -> None:
    fields = event_fields(every_kind()[1])
    assert event_from("OpCalled", 1, 1, fields) == every_kind()[1]
    wrong = [
        ("Nothing", fields),
        ("OpCalled", {}),
        *(("OpCalled", {**fields, **change}) for change in (
            {"inputs": 3}, {"name": 3}, {"outputs": [3]}, {"call": "x"}, {"inplace": True},
        )),
    ]  # fmt: skip
    for kind, data in wrong:
        with pytest.raises(Malformed):
            event_from(kind, 1, 1, data)


def test_bytes_that_do_not_fill_the_shape_are_refused() -> None:
    wrong = [(b"1234", "float32", (2,)), (b"", "object", ()), (b"1234", "float32", (-1,)), (b"", "O", (0,))]
    for raw, dtype, shape in wrong:
        with pytest.raises(Malformed):
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
    with pytest.raises(TraceFileError, match="lacks names"):
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
    arrays = [value_of(np.full(1000, i)) for i in range(50)]
    with pytest.raises(CannotWrite) as found:
        list(map(writer.value, arrays))
    assert found.value.reason == "the disk is full"
    with pytest.raises(CannotWrite):
        writer.close()


def test_saving_into_a_folder_that_goes_is_explained(tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    trace = sample_trace()

    def names() -> Iterator[tuple[int, str]]:
        shutil.rmtree(tmp_path / "d")
        yield 0, "x"

    class Going(dict[int, str]):
        def items(self) -> Any:
            return names()

    with pytest.raises(CannotWrite, match="cannot write a trace"):
        save(dataclasses.replace(trace, names=Going()), tmp_path / "d" / "f")


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
            with pytest.raises(CannotWrite, match=f"there is a {what}"):
                write(tmp_path / name)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["device", "fifo", "folder", "link", "socket"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_saving_to_a_link_writes_the_file_behind_it(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "f")
    save(sample_trace(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink() and traces_equal(open_trace(tmp_path / "f"), sample_trace())


# -- damage ------------------------------------------------------------------------------------------------------------


def altered(path: Path, change: str) -> Trace:
    """The sample trace from a file on which a statement was run."""
    save(sample_trace(), path)
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute(change)
        db.commit()
    return open_trace(path)


def test_one_flipped_bit_never_shows_another_number(tmp_path: Path) -> None:
    save(sample_trace(), tmp_path / "f")
    raw, before = (tmp_path / "f").read_bytes(), sample_trace()
    rng = np.random.default_rng(1)
    lost = 0
    for place in rng.integers(100, len(raw), 150):
        damaged = bytearray(raw)
        damaged[place] ^= 1 << int(rng.integers(8))
        (tmp_path / "g").write_bytes(damaged)
        try:
            found = open_trace(tmp_path / "g")
            kept = [i for i, value in enumerate(found.values) if not value.damaged]
            lost += len(kept) < len(before.values) or "damaged" in found.meta
            found, before = (_without_what_was_lost(one, found) for one in (found, sample_trace()))
            assert all(values_equal(found.values[i], before.values[i]) for i in kept)
            assert traces_equal(dataclasses.replace(found, values=()), dataclasses.replace(before, values=()))
        except TraceFileError:
            lost += 1
    assert lost > 3


def _without_what_was_lost(trace: Trace, found: Trace) -> Trace:
    """A trace with the events, files, names and stacks that were found whole."""
    lost = {event.index: event for event in found.events if isinstance(event, tr.Damaged)}
    events = tuple(lost.get(event.index, event) for event in trace.events)
    stacks = tuple(one if held else () for one, held in zip(trace.stacks, found.stacks, strict=True))
    files = {name: text for name, text in trace.files.items() if name in found.files}
    names = {tensor: name for tensor, name in trace.names.items() if tensor in found.names}
    meta = {key: value for key, value in trace.meta.items() if key != "damaged"}
    return dataclasses.replace(trace, events=events, stacks=stacks, files=files, names=names, meta=meta)


def test_damaged_elements_are_a_value_without_numbers(tmp_path: Path) -> None:
    found = altered(tmp_path / "f", "UPDATE contents SET data = zeroblob(length(data)) WHERE id = 3")
    value = found.values[3]
    assert value.damaged and value.array is None and not value.sample.size and value.shape == sample_values()[3].shape
    assert brief(value).endswith("damaged in the file")
    shown = as_json(value)
    assert shown["damaged"] and shown["data"] is None and set(shown["stats"].values()) == {None, 1}
    save(found, tmp_path / "again")
    assert traces_equal(open_trace(tmp_path / "again"), found)


@pytest.mark.parametrize("change", [
    "DELETE FROM events WHERE id = 20", "DELETE FROM events WHERE id = 21",
    "DELETE FROM meta WHERE key = 'counts'", "CREATE VIEW v AS SELECT 1", "CREATE INDEX i ON events (kind)",
])  # fmt: skip
def test_altered_rows_are_refused(tmp_path: Path, change: str) -> None:
    with pytest.raises(TraceFileError):  # noqa: PT012 it may be found when it is opened, or when it is read
        found = altered(tmp_path / "f", change)
        traces_equal(found, found)


def recursive(depth: int) -> tr.Trace:
    """A trace with a call stack for each level of a function that calls itself."""
    calls = tr.Frame("a.py", "f", 2, 2, 11, 20)
    stacks = tuple((calls,) * level + (tr.Frame("a.py", "f", 1, 1, 4, 9),) for level in range(depth))
    return dataclasses.replace(sample_trace(), stacks=stacks)


def test_call_stacks_share_their_beginnings(tmp_path: Path) -> None:
    """Twice the depth has four times the frames, and twice the rows."""
    sizes = []
    for depth in (200, 400):
        save(recursive(depth), tmp_path / "f")
        with contextlib.closing(sqlite3.connect(tmp_path / "f")) as db:
            sizes.append(db.execute("SELECT sum(length(frames)) FROM stacks WHERE id % 64").fetchone()[0])
    assert sizes[1] < 2.2 * sizes[0]
    found = open_trace(tmp_path / "f")
    assert found.stacks == recursive(400).stacks
    assert len({id(frame) for stack in found.stacks for frame in stack}) == 2


def test_damaged_call_stack_takes_those_that_begin_with_it_along(tmp_path: Path) -> None:
    save(recursive(100), tmp_path / "f")
    with contextlib.closing(sqlite3.connect(tmp_path / "f")) as db:
        db.execute("UPDATE stacks SET frames = replace(frames, '9', '8') WHERE id = 40")
        db.commit()
    found, whole = open_trace(tmp_path / "f").stacks, recursive(100).stacks
    assert found == (*whole[:40], *[()] * 24, *whole[64:])


def test_source_that_is_larger_than_is_read_is_left_out(tmp_path: Path) -> None:
    files = {"large.py": "x" * (8 * 2**20 + 1), "a.py": "x = 1"}
    save(dataclasses.replace(sample_trace(), files=files, names={0: "x" * 5000}), tmp_path / "f")
    found = open_trace(tmp_path / "f")
    assert dict(found.files) == {"a.py": "x = 1"} and found.names[0] == "x" * 4096


def test_array_that_is_larger_than_is_read_is_written_as_a_sample(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracefile, "MOST_ARRAY", 800)
    save(dataclasses.replace(sample_trace(), values=(value_of(np.arange(101.0)),) * 4), tmp_path / "f")
    found = open_trace(tmp_path / "f").values[3]
    assert found.array is None and found.shape == (101,) and found.stats["max"] == 100.0 and found.sample.size == 51


def test_texts_that_are_too_large_are_refused_before_they_are_read(tmp_path: Path) -> None:
    for change, says in [
        ("INSERT INTO meta VALUES ('x', CAST(zeroblob(34000000) AS TEXT), 0)", r"row \d of meta"),
        ("INSERT INTO files VALUES ('x', printf('%.*c', 34000000, 'x'), 0)", "row 3 of files"),
        ("INSERT INTO files VALUES ('x', printf('%.*c', 9000000, 'x'), 0)", "row 'x' of files"),
    ]:
        with pytest.raises(TraceFileError, match=says):
            altered(tmp_path / "f", change)


def test_call_stacks_beyond_what_can_be_read_are_not_written(tmp_path: Path) -> None:
    deep = (tr.Frame("a.py", "f", 2, 2, 11, 20),) * 20_001
    with pytest.raises(CannotWrite, match="call stack 1 has 20,001 frames; at most 20,000 in one"):
        Writer(tmp_path / "f").stack(deep)


@pytest.mark.parametrize(("change", "says"), [
    ("UPDATE stacks SET frames = '[]' WHERE id = 1", "the source lines of some steps"),
    ("UPDATE names SET name = 'y' WHERE tensor = 1", "the name of a tensor"),
    ("UPDATE files SET text = 'x = 2'", "the text of a file"),
])  # fmt: skip
def test_altered_rows_that_a_page_can_do_without_are_left_out_and_said(tmp_path: Path, change: str, says: str) -> None:
    found = altered(tmp_path / "f", change)
    assert says in harmed(found) and found.events[-1] == every_kind()[-1]
    assert 1 not in found.names or "names" not in change
    assert not found.files or "files" not in change


@pytest.mark.parametrize("change", [
    "UPDATE tensor_values SET content = 0 WHERE id = 3", "UPDATE tensor_values SET content = 999 WHERE id = 3",
    "UPDATE contents SET shape = '[1]' WHERE id = 3", "UPDATE contents SET dtype = 'object' WHERE id = 3",
])  # fmt: skip
def test_value_whose_rows_were_altered_has_no_number(tmp_path: Path, change: str) -> None:
    value = altered(tmp_path / "f", change).values[3]
    assert value.damaged and value.array is None and brief(value) == "damaged in the file"


def test_file_with_a_damaged_event_ends_with_it_and_says_so(tmp_path: Path) -> None:
    with engine.record() as trace:
        for _ in range(300):
            engine.ones(2)
    save(trace, tmp_path / "f")
    with contextlib.closing(sqlite3.connect(tmp_path / "f")) as db:
        db.execute("UPDATE events SET fields = replace(fields, '2', '3') WHERE id = 280")
        db.commit()
    events = tuple(open_trace(tmp_path / "f").events)
    assert events == (*trace.events[:280], tr.Damaged(280, -1), *trace.events[281:])
    found = open_checked(tmp_path / "f", 20_000)
    assert tuple(found.events) == events[:281]
    save(found, tmp_path / "again")
    assert tuple(open_checked(tmp_path / "again", 20_000).events) == events[:281]
    assert "cannot be read: the events from number 281 on." in harmed(found)


@pytest.mark.parametrize("schema", [1, 2])
def test_earlier_schemas_open_and_the_first_is_called_unchecked(tmp_path: Path, schema: int) -> None:
    save(sample_trace(), tmp_path / "f")
    whole = {
        number: json.dumps([list(dataclasses.astuple(frame)) for frame in frames])
        for number, frames in enumerate(sample_trace().stacks)
    }
    with (
        contextlib.closing(sqlite3.connect(tmp_path / "f")) as db,
        contextlib.closing(sqlite3.connect(tmp_path / "o")) as old,
    ):
        old.executescript(tables(schema))
        for table in ("meta", "files", "stacks", "events", "contents", "tensor_values", "names"):
            rows = [row[:-1] if schema == 1 else row for row in db.execute(f"SELECT * FROM {table}")]  # noqa: S608 ours
            if table == "stacks":
                sums = [() if schema == 1 else (checksum(number, text),) for number, text in whole.items()]
                rows = [(number, text, *told) for (number, text), told in zip(whole.items(), sums, strict=True)]
            old.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[0]))})", rows)  # noqa: S608
        old.execute("PRAGMA application_id = 0x42737470")
        old.execute(f"PRAGMA user_version = {schema}")
        old.commit()
    found = open_trace(tmp_path / "o")
    assert ("without checksums" in unchecked(found)) == (schema == 1)
    assert traces_equal(dataclasses.replace(found, meta=sample_trace().meta), sample_trace())


def test_field_out_of_bounds_is_refused_by_its_name() -> None:
    read = events_from({"values": 4, "stacks": 1})
    fields = event_fields(every_kind()[1])
    read("OpCalled", 1, 0, fields)
    for change, says in [
        ({"outputs": [{**fields["outputs"][0], "value": -1}]}, "outputs: value: -1 is not a whole number"),
        ({"outputs": [{**fields["outputs"][0], "value": 4}]}, "below the number of values, 4"),
        ({"outputs": [{**fields["outputs"][0], "shape": [-1]}]}, "outputs: shape: .*not a shape"),
        ({"outputs": [{**fields["outputs"][0], "dtype": "object"}]}, "outputs: dtype: "),
        ({"outputs": fields["outputs"] * 20_000}, "20,000 entries; at most"),
        ({"attrs": 3}, "attrs: names of static arguments"),
    ]:
        with pytest.raises(Malformed, match=says):
            read("OpCalled", 1, 0, {**fields, **change})
    with pytest.raises(Malformed, match="stack: 1"):
        read("OpCalled", 1, 1, fields)


@pytest.mark.parametrize(("name", "change", "says"), [
    ("slice", {"end": ""}, "end: int is expected, found ''"),
    ("slice", {"axis": 0}, "axis: slice has no such argument"),
    ("slice", {"dim": 2**70}, "dim: int is expected"),
    ("sum.dim", {"dim": [0.5]}, r"dim: int \| tuple.*is expected"),
    ("sum.dim", {"dtype": "float32"}, r"dtype: dtype \| None is expected"),
    ("take_slice", {"path": (("slice", {"dim": 0, "start": 0, "end": "2", "step": 1}, None),)}, "path: path"),
    ("custom_function", {"function": 3}, "function: names and flags are expected"),
])  # fmt: skip
def test_static_argument_of_another_type_is_refused_by_its_name(name: str, change: Any, says: str) -> None:
    sound: Any = {
        "slice": {"dim": 0, "start": 0, "end": 2, "step": 1},
        "sum.dim": {"dim": (0, -1), "keepdim": False, "dtype": None},
        "take_slice": {"path": (("slice", {"dim": 0, "start": 0, "end": 2, "step": 1}, None),)},
        "custom_function": {"function": "F", "tensors": (True, False)},
    }[name]
    check_arguments(name, sound)
    with pytest.raises(Malformed, match=f"attrs: {says}"):
        check_arguments(name, {**sound, **change})


def test_every_static_argument_of_every_op_has_a_type() -> None:
    for op in REGISTRY.values():
        with pytest.raises(Malformed, match="no such argument"):
            check_arguments(op.name, {"no such": 0})
        values = {name: object() for name in op.statics}
        if values:
            with pytest.raises(Malformed, match="is expected, found"):
                check_arguments(op.name, values)


@pytest.mark.parametrize(("change", "says"), [
    ({"outputs": [{"shape": [3]}]}, "outputs: shape: "), ({"node": {"saved": [{"value": 4}]}}, "node: saved: value: "),
])  # fmt: skip
def test_shape_that_does_not_follow_from_the_inputs_is_refused(tmp_path: Path, change: Any, says: str) -> None:
    with engine.record() as trace:
        x = engine.ones(2, requires_grad=True)
        y = x * 2
        (y * y).sum().backward()
        engine.ones(3)
    op = next(e for e in trace.events if isinstance(e, tr.OpCalled) and e.inputs[1].tensor is not None)
    three = next(i for i, value in enumerate(trace.values) if value.shape == (3,))
    assert op.node is not None
    if "outputs" in change:
        altered_op = dataclasses.replace(op, outputs=(dataclasses.replace(op.outputs[0], shape=(3,), value=three),))
    else:
        kept = (dataclasses.replace(op.node.saved[0], value=three), *op.node.saved[1:])
        altered_op = dataclasses.replace(op, node=dataclasses.replace(op.node, saved=kept))
    events = tuple(altered_op if event is op else event for event in trace.events)
    save(dataclasses.replace(trace, events=events), tmp_path / "f")
    with pytest.raises(TraceFileError, match=f"row {op.index} of events: {says}"):
        open_checked(tmp_path / "f", 100)


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
    for i in range(20, 40):
        writer.value(value_of(np.random.default_rng(i).random(2000)))
        writer.event(tr.ModeChanged(i, -1, True))
    (tmp_path / "dead").mkdir()
    for name in ("f", "f-journal"):
        shutil.copyfile(tmp_path / name, tmp_path / "dead" / name)
    writer.close()
    found = open_trace(tmp_path / "dead" / "f")
    assert len(found.events) == 20 and len(found.values) == 0 and found.meta["incomplete"]
    assert (tmp_path / "dead" / "f-journal").exists()
    assert len(open_trace(tmp_path / "f").events) == 40


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
        CannotWrite, match=r"event 3 is too large \(inputs: 10,001 entries; at most 10,000 are read\)\. Split"
    ):
        writer.event(event(10_001))
    writer.give_up({})
    assert len(open_trace(tmp_path / "f").events[1].inputs) == 10_000


def test_what_is_too_long_is_refused_by_table_and_column(tmp_path: Path) -> None:
    with pytest.raises(Malformed, match=r"^fields: more than 200,000 items$"):
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
    together = threading.Barrier(2)

    def work() -> None:
        together.wait()
        for _ in range(20):
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
