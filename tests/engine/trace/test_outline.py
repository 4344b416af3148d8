"""The outline of a recording: in its file it is that of the events, and never believed where it does not fit."""

from __future__ import annotations

import dataclasses
import sqlite3
import zlib
from pathlib import Path

import numpy as np
import pytest

import engine as torch
from engine import nn
from engine.trace.events import Trace
from engine.trace.file.outline import Outline, outline, outline_in_file


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
        db.execute("UPDATE outline SET data = ?, sum = ? WHERE key = ?", (packed, zlib.crc32(packed), key))
    db.close()
    assert outline_in_file(Trace.open(str(path))) is None
