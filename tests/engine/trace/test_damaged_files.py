"""Damaged, altered or out-of-bounds parts of a trace file are refused or shown as lost, never as another number."""

from __future__ import annotations

import contextlib
import dataclasses
import importlib
import json
import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.ops.op import REGISTRY
from engine.trace.events import Trace
from engine.trace.file import tracefile
from engine.trace.file.argument_types import check_arguments
from engine.trace.file.batches import checksum
from engine.trace.file.consistency import open_checked
from engine.trace.file.database import TraceFileError
from engine.trace.file.encoding import (
    MalformedJson,
    events_from,
)
from engine.trace.file.tracefile import (
    TraceWriteError,
    Writer,
    open_trace,
    save,
    tables,
)
from engine.trace.log_reader import value_of
from viz.reading.text import brief
from viz.reading.values import as_json
from viz.server.programs import damage_note, unchecked

from .equality import event_fields, traces_equal, values_equal
from .sample_traces import every_kind, sample_trace, sample_values

tr: Any = importlib.import_module("engine.trace.events")  # `engine.trace` is the sum of a diagonal, as in torch


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
    """A trace with the events, files, names, stacks and the description that were found whole."""
    lost = {event.index: event for event in found.events if isinstance(event, tr.Damaged)}
    events = tuple(lost.get(event.index, event) for event in trace.events)
    stacks = tuple(one if held else () for one, held in zip(trace.stacks, found.stacks, strict=True))
    files = {name: text for name, text in trace.files.items() if name in found.files}
    names = {tensor: name for tensor, name in trace.names.items() if tensor in found.names}
    is_described = "the description of the recording" not in found.meta.get("damaged", ())
    meta = {key: value for key, value in trace.meta.items() if key != "damaged" and is_described}
    return dataclasses.replace(trace, events=events, stacks=stacks, files=files, names=names, meta=meta)


def test_damaged_elements_are_a_value_without_numbers(tmp_path: Path) -> None:
    found = altered(tmp_path / "f", "UPDATE contents SET data = zeroblob(length(data)) WHERE id = 3")
    value = found.values[3]
    assert value.damaged and value.array is None and not value.sample.size and value.shape == sample_values()[3].shape
    assert brief(value).endswith("numbers missing")
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
    says = "call stack 1 has 20,001 frames; at most 20,000 in one"
    with pytest.raises(TraceWriteError, match=says), Writer(tmp_path / "f") as writer:
        writer.stack(deep)


@pytest.mark.parametrize(("change", "says"), [
    ("UPDATE stacks SET frames = '[]' WHERE id = 1", "the source lines of some steps"),
    ("UPDATE names SET name = 'y' WHERE tensor = 1", "the name of a tensor"),
    ("UPDATE files SET text = 'x = 2'", "the text of a file"),
])  # fmt: skip
def test_altered_rows_that_a_page_can_do_without_are_left_out_and_said(tmp_path: Path, change: str, says: str) -> None:
    found = altered(tmp_path / "f", change)
    assert says in damage_note(found) and found.events[-1] == every_kind()[-1]
    assert 1 not in found.names or "names" not in change
    assert not found.files or "files" not in change


@pytest.mark.parametrize("change", [
    "UPDATE tensor_values SET content = 0 WHERE id = 3", "UPDATE tensor_values SET content = 999 WHERE id = 3",
    "UPDATE contents SET shape = '[1]' WHERE id = 3", "UPDATE contents SET dtype = 'object' WHERE id = 3",
])  # fmt: skip
def test_value_whose_rows_were_altered_has_no_number(tmp_path: Path, change: str) -> None:
    value = altered(tmp_path / "f", change).values[3]
    assert value.damaged and value.array is None and brief(value) == "numbers missing"


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
    assert "cannot be read: the events from number 281 on." in damage_note(found)


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
        with pytest.raises(MalformedJson, match=says):
            read("OpCalled", 1, 0, {**fields, **change})
    with pytest.raises(MalformedJson, match="stack: 1"):
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
    with pytest.raises(MalformedJson, match=f"attrs: {says}"):
        check_arguments(name, {**sound, **change})


def test_every_static_argument_of_every_op_has_a_type() -> None:
    for op in REGISTRY.values():
        with pytest.raises(MalformedJson, match="no such argument"):
            check_arguments(op.name, {"no such": 0})
        values = {name: object() for name in op.statics}
        if values:
            with pytest.raises(MalformedJson, match="is expected, found"):
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


def test_path_of_views_that_does_not_fit_its_base_is_refused(tmp_path: Path) -> None:
    with engine.record() as trace:
        a = engine.ones(3, 2, requires_grad=True) * 1
        a.unsqueeze(2)[1] = 5.0  # a view may have more dimensions than its base
        a.sum().backward()
    save(trace, tmp_path / "sound")
    open_checked(tmp_path / "sound", 100)
    written = next(e for e in trace.events if isinstance(e, tr.OpCalled) and e.name == "copy_slices")
    path = [list(step) for step in written.attrs["path"]]
    path[-1][1] = {**path[-1][1], "dim": 3}
    altered_op = dataclasses.replace(written, attrs={**written.attrs, "path": tuple(map(tuple, path))})
    events = tuple(altered_op if event is written else event for event in trace.events)
    save(dataclasses.replace(trace, events=events), tmp_path / "f")
    with pytest.raises(TraceFileError, match=f"row {written.index} of events: "):
        open_checked(tmp_path / "f", 100)
