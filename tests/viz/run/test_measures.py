"""The numbers of a run that are noted while it is recorded are those that its values give."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as torch
from engine import nn
from engine.arrays.session import slot
from engine.trace.events import DataSet, Trace
from engine.trace.file import tracefile
from engine.trace.file.measures import TABLES, Measures, fit
from engine.trace.file.outline import row_sum
from engine.trace.file.streaming import Stream
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from viz.findings.runs import run_findings
from viz.run.iterations import sections
from viz.run.measures import measured
from viz.run.overview import overview
from viz.run.run import Run

ROUNDS = 12


def decaying() -> None:
    """Two writes of each weight in a step."""
    torch.manual_seed(0)
    model: Any = nn.Sequential(nn.Linear(30, 40), nn.ReLU(), nn.Linear(40, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=0.1)
    for _ in range(ROUNDS):
        optimizer.zero_grad()
        model(torch.randn(4, 30)).square().mean().backward()
        optimizer.step()


def accumulating() -> None:
    """Two gradients for each step."""
    w: Any = torch.ones(70, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.001, momentum=0.9)
    for step in range(2 * ROUNDS):
        (w * w).sum().backward()
        if step % 2:
            optimizer.step()
            optimizer.zero_grad()


def attacking() -> None:
    """A leaf that each round makes anew and that no optimiser knows, with a root that is not a number."""
    w: Any = torch.ones(3, requires_grad=True)
    for _ in range(ROUNDS):
        x: Any = torch.zeros(5, 3, requires_grad=True)
        (x * w).sum(1).backward(torch.ones(5))
        x.data = x.data + x.grad.sign()
        w.data -= 0.1


def diverging() -> None:
    """A run of which the loss and the gradients are inf, and then nan."""
    w: Any = torch.tensor([2.0, 3.0], requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=1.0)
    for _ in range(2 * ROUNDS):
        optimizer.zero_grad()
        (w**4).sum().backward()
        optimizer.step()


PROGRAMS: list[Callable[[], None]] = [decaying, accumulating, attacking, diverging]


def recorded(path: Path, program: Callable[[], None], limit: int) -> Trace:
    """A recording of a program that is written, and let go of, after every op."""
    recorder = Recorder(limit)
    stream = Stream(recorder, str(path), Places(str(Path(__file__).parent)))
    slot.active = recorder
    recorder.pace = lambda: stream._write(float("inf")) and None
    program()
    stream.finish({})
    return Trace.open(str(path))


def same(one: Measures, other: Measures) -> bool:
    tables = [(getattr(one, name), getattr(other, name), fields(kind)) for name, kind in TABLES.items()]
    return all(
        np.array_equal(getattr(mine, column.name), getattr(its, column.name), equal_nan=True)
        for mine, its, columns in tables
        for column in columns
    )


@pytest.mark.parametrize("limit", [65_536, 64], ids=["whole", "sampled"])
@pytest.mark.parametrize("program", PROGRAMS)
def test_what_is_noted_is_what_the_values_give(tmp_path: Path, program: Callable[[], None], limit: int) -> None:
    trace = recorded(tmp_path / "t", program, limit)
    noted = Run(trace).outline
    plain, parts = replace(noted, measures=None, measured=0), sections(trace, noted)
    assert noted.measures is not None and len(noted.measures.gradients.event) and len(noted.measures.updates.event)
    assert noted.measured == len(trace.events) and measured(trace, noted) is noted.measures
    assert same(noted.measures, measured(trace, plain))
    assert len(parts) >= ROUNDS
    found = run_findings(overview(trace, noted, parts))
    assert found == run_findings(overview(trace, plain, parts))
    assert bool(found) == (program is diverging)


@pytest.mark.parametrize("block", [45, 50, 56])
@pytest.mark.parametrize("program", [decaying, accumulating, attacking])
def test_numbers_after_the_last_block_of_a_killed_recording_are_worked_out(
    tmp_path: Path, program: Callable[[], None], block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tracefile, "BLOCK", block)
    recorded(tmp_path / "t", program, 64)
    with sqlite3.connect(tmp_path / "t") as db:
        last = max(int(key.split("/")[0]) for (key,) in db.execute("SELECT key FROM outline WHERE key LIKE '%/%'"))
        db.execute("DELETE FROM outline WHERE key LIKE ?", (f"{last}/%",))
    db.close()
    trace = Trace.open(str(tmp_path / "t"))
    noted = Run(trace).outline
    assert noted.measures is not None and 0 < noted.measured < len(trace.events)
    assert same(measured(trace, noted), measured(trace, replace(noted, measures=None, measured=0)))


def test_numbers_are_those_of_the_program(tmp_path: Path) -> None:
    """One weight of 1 and a rate of 0.1: its gradient is 2 w, so that each step leaves four fifths of it."""

    def program() -> None:
        w: Any = torch.tensor([1.0, 0.0], dtype=torch.float64, requires_grad=True)
        optimizer = torch.optim.SGD([w], lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            (w * w).sum().backward()
            optimizer.step()
        w.data = w.data.clone()  # as a trainer does at its end, which moves the weights to the CPU

    trace = recorded(tmp_path / "t", program, 100)
    found = Run(trace).outline.measures
    assert found is not None
    (moved,) = (event.index for event in trace.events if isinstance(event, DataSet))
    assert len(found.updates.event) == 3 and found.updates.event[-1] < moved
    assert found.losses.loss == pytest.approx([1, 0.8**2, 0.8**4])
    assert found.gradients.norm == pytest.approx([2, 1.6, 1.28]) == found.gradients.largest
    assert found.gradients.mean == pytest.approx([1, 0.8, 0.64])
    assert found.gradients.zeros.tolist() == [1, 1, 1] and found.gradients.nonfinite.tolist() == [0, 0, 0]
    assert found.updates.ratio == pytest.approx([0.2, 0.2, 0.2]) and not found.updates.sampled.any()


@pytest.mark.parametrize("key", ["gradients.norm", "updates.event", "losses.event"])
@pytest.mark.parametrize("change", ["missing", "shorter", "beyond"])
def test_numbers_that_do_not_fit_are_worked_out(tmp_path: Path, key: str, change: str) -> None:
    trace = recorded(tmp_path / "t", accumulating, 100)
    whole = Run(trace).outline.measures
    data = {"missing": None, "shorter": bytes(8), "beyond": np.full(ROUNDS, 1 << 40, "<i8").tobytes()}[change]
    with sqlite3.connect(tmp_path / "t") as db:
        if data is None:
            db.execute("DELETE FROM outline WHERE key = ?", (key,))
        else:
            packed = zlib.compress(data)
            db.execute("UPDATE outline SET data = ?, sum = ? WHERE key = ?", (packed, row_sum(key, packed), key))
    db.close()
    run = Run(Trace.open(str(tmp_path / "t")))
    assert run.outline.measures is None and len(run.outline.kinds) == len(trace.events)
    assert whole is not None and same(whole, measured(run.whole, run.outline))
    assert fit(whole, len(trace.events), len(run.outline.born)) and not fit(whole, 3, 1)
