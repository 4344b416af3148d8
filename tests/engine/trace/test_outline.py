"""The outline of a recording: in its file it is that of the events, and never believed where it does not fit."""

from __future__ import annotations

import dataclasses
import sqlite3
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as torch
from engine import nn
from engine.arrays.session import slot
from engine.trace.events import LeafCreated, Trace
from engine.trace.file import tracefile
from engine.trace.file.database import Row, Rows
from engine.trace.file.outline import Outline, Sketch, _joined, outline, outline_in_file, row_sum
from engine.trace.file.streaming import Stream
from engine.trace.recorder import Recorder
from engine.trace.source import Places


@pytest.fixture(scope="module")
def run() -> Trace:
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    optimizer = torch.optim.Adam(model.parameters())
    with torch.record() as trace:
        for _ in range(3):
            model(torch.ones(2, 3)).sum().backward()
            optimizer.step()
            optimizer.zero_grad()
    return trace


def same(one: Outline, other: Outline) -> bool:
    """Whether two outlines say the same."""
    for field in dataclasses.fields(Outline):
        mine, its = getattr(one, field.name), getattr(other, field.name)
        if field.name == "changes":
            if not all(np.array_equal(getattr(mine, name), getattr(its, name)) for name in mine.__slots__):
                return False
        elif not (np.array_equal(mine, its) if isinstance(mine, np.ndarray) else mine == its):
            return False
    return True


def test_file_has_the_outline_of_its_events(run: Trace, tmp_path: Path) -> None:
    path = tmp_path / "run.backstep"
    run.save(str(path))
    opened = Trace.open(str(path))
    stored = outline_in_file(opened)
    assert stored is not None
    assert same(stored, outline(run.events))
    assert same(stored, outline(opened.events))
    assert outline_in_file(run) is None, "what is in memory has no file"


def written_in_blocks(path: Path, events: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Stream, Recorder]:
    """A recording of a training that wrote a block of its outline each time it had so many events, and still runs."""
    monkeypatch.setattr(tracefile, "BLOCK", events)
    recorder = Recorder()
    stream = Stream(recorder, str(path), Places(str(Path(__file__).parent)))
    monkeypatch.setattr(slot, "active", recorder)
    recorder.pace = lambda: stream._write(float("inf")) and None
    model = nn.Sequential(nn.Linear(3, 2), nn.Tanh())
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=0.1)
    for _ in range(8):
        model(torch.ones(2, 3)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    stream._write(float("inf"))
    return stream, recorder


def test_recording_that_is_cut_off_has_the_outline_of_all_its_blocks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream, _ = written_in_blocks(tmp_path / "t", 60, monkeypatch)
    cut_off = Trace.open(str(tmp_path / "t"))  # as a kill leaves it: the file was flushed, and is not closed
    rows, read = cut_off.events, set[int]()
    assert isinstance(rows, Rows)
    load = rows._one

    def one(row: Row) -> Any:
        read.add(row[0])
        return load(row)

    monkeypatch.setattr(rows, "_one", one)
    found = outline_in_file(cut_off)
    assert found is not None and 0 < found.measured < len(rows) == len(found.kinds)
    assert min(read) >= found.measured // Rows.BLOCK * Rows.BLOCK, "only what follows the last block is read"
    assert same(replace(found, measures=None, measured=0), outline(cut_off.events))
    monkeypatch.undo()
    stream.finish({})
    whole = outline_in_file(Trace.open(str(tmp_path / "t")))
    assert whole is not None and whole.measured == len(whole.kinds)
    assert same(replace(whole, measures=None, measured=0), outline(Trace.open(str(tmp_path / "t")).events))


def test_blocks_behind_a_damaged_one_are_not_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stream, _ = written_in_blocks(tmp_path / "t", 60, monkeypatch)
    stream.finish({})
    with sqlite3.connect(tmp_path / "t") as db:
        db.execute("UPDATE outline SET data = x'00' WHERE key = '2/born'")
    db.close()
    trace = Trace.open(str(tmp_path / "t"))
    found = outline_in_file(trace)
    assert found is not None and 120 <= found.measured < len(trace.events)
    assert same(replace(found, measures=None, measured=0), outline(trace.events))


def test_tensor_that_is_made_late_is_born_in_its_block() -> None:
    late = [LeafCreated(0, -1, 1, 0, 0, (), "float32", "cpu", False, "seen", None)]
    sketch = Sketch()
    sketch.add(late[0])
    first = sketch.take()
    sketch.add(replace(late[0], index=1, tensor=0))
    assert first.born.tolist() == [-1, 0] and _joined([first, sketch.take()]).born.tolist() == [1, 0]


@pytest.mark.parametrize(
    "change",
    [
        "DELETE FROM outline WHERE key = 'kinds'",
        "DELETE FROM outline",
        "UPDATE outline SET data = x'00'",
        "UPDATE outline SET sum = sum + 1 WHERE key = 'born'",
        "UPDATE outline SET data = 'text' WHERE key = 'loops'",
    ],
)
def test_outline_that_is_damaged_is_made_of_the_events(run: Trace, tmp_path: Path, change: str) -> None:
    path = tmp_path / "run.backstep"
    run.save(str(path))
    with sqlite3.connect(path) as db:
        db.execute(change)
    db.close()
    assert outline_in_file(Trace.open(str(path))) is None


@pytest.mark.parametrize(
    ("key", "data"),
    [
        ("kinds", bytes(3)),
        ("stacks", np.full(10_000, 5, "<i4").tobytes()),
        ("born", np.array([1 << 40], "<i8").tobytes()),
        ("calls", b"[[-1, [0]]]"),
        ("loops", b'[[0, [[{}, 1, "i", "0"]]]]'),
        ("held", b"3"),
        ("modes", bytes(1 << 24)),
    ],
)
def test_outline_that_does_not_fit_is_made_of_the_events(run: Trace, tmp_path: Path, key: str, data: bytes) -> None:
    path = tmp_path / "run.backstep"
    run.save(str(path))
    packed = zlib.compress(data)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE outline SET data = ?, sum = ? WHERE key = ?", (packed, row_sum(key, packed), key))
    db.close()
    assert outline_in_file(Trace.open(str(path))) is None
