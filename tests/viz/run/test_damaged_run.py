"""A file that is damaged somewhere shows no iteration, and no number of a run, that was not recorded."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine as torch
from engine.trace.events import Accumulated, Damaged, OpCalled, Trace
from engine.trace.file.database import TraceFileError
from engine.trace.file.outline import outline_in_file
from tests.engine.trace.equality import event_fields, values_equal
from viz.run.run import Run
from viz.scene.run_overview import document, in_iterations

STEPS = 12


@pytest.fixture(scope="module")
def recorded() -> Trace:
    w: Any = torch.ones(3, 2, requires_grad=True)
    optimizer = torch.optim.SGD([w], lr=0.01, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 4)
    with torch.record() as trace:
        for _ in range(STEPS):
            optimizer.zero_grad()
            hidden: Any = torch.ones(4, 3)
            for _ in range(20):
                hidden = hidden * 1.01
            (hidden @ w).square().mean().backward()
            optimizer.step()
            scheduler.step()
    return trace


@pytest.fixture
def damaged(recorded: Trace, tmp_path: Path) -> Callable[..., Run]:
    """The run of a file on which statements were run."""

    def make(*changes: str) -> Run:
        path = tmp_path / "run.backstep"
        recorded.save(str(path))
        with sqlite3.connect(path) as db:
            for change in changes:
                db.execute(change)
        db.close()
        return Run(Trace.open(str(path)))

    return make


def lost(event: int) -> str:
    return f"UPDATE events SET fields = '{{}}' WHERE id = {event}"  # noqa: S608 ours


def same_beginning(one: Trace, other: Trace, count: int) -> bool:
    return list(map(event_fields, one.events[:count])) == list(map(event_fields, other.events[:count])) and all(
        values_equal(a, b) for a, b in zip(one.values, other.values, strict=False)
    )


def test_iteration_ends_with_its_damaged_event_and_the_others_are_whole(
    recorded: Trace, damaged: Callable[..., Run]
) -> None:
    whole = Run(recorded)
    assert len(whole.sections) == STEPS
    section = whole.sections[7]
    at = section.start + 9
    assert isinstance(recorded.events[at], OpCalled)
    run = damaged(lost(at))
    found = run.trace(7)
    assert isinstance(found.events[-1], Damaged) and sum(isinstance(one, Damaged) for one in found.events) == 1
    assert same_beginning(found, whole.trace(7), len(found.events) - 1)
    assert found.meta["damaged"] == [f"the events from number {at + 1:,} to {section.end:,}"]
    assert all(same_beginning(run.trace(k), whole.trace(k), 10**6) for k in range(STEPS) if k not in (7, 8))


def test_iteration_that_uses_what_a_damaged_event_made_is_refused(recorded: Trace, damaged: Callable[..., Run]) -> None:
    section = Run(recorded).sections[7]
    at = next(k for k in range(section.start, section.end) if isinstance(recorded.events[k], Accumulated))
    run = damaged(lost(at))
    with pytest.raises(TraceFileError, match=f"Event number {at + 1} is damaged in the file; it created a tensor"):
        run.trace(8)
    assert run.trace(9).events and in_iterations(run) == []


def test_run_ends_where_an_event_is_damaged_and_nothing_tells_what_it_did(
    recorded: Trace, damaged: Callable[..., Run]
) -> None:
    at = Run(recorded).sections[7].start + 9
    run = damaged(lost(at), "DELETE FROM outline")
    assert len(run.sections) == 8 and run.sections[-1].end == at + 1
    assert isinstance(run.trace(7).events[-1], Damaged)


def test_numbers_of_a_run_end_before_an_update_that_is_lost(recorded: Trace, damaged: Callable[..., Run]) -> None:
    """The next one would be shown as large as both."""
    whole = Run(recorded)
    section = whole.sections[7]
    writes = [k for k in range(section.start, section.end) if getattr(recorded.events[k], "inplace", None) is not None]
    found = damaged(lost(writes[-1])).overview
    for name, rows in found.rows.items():
        was = whole.overview.rows[name]
        assert np.array_equal(rows[:, :7], was[:, :7], equal_nan=True)
        known = ~np.isnan(rows)
        assert np.array_equal(rows[known], was[known])
    assert found.rooted == (True,) * 8 + (False,) * 4


def test_loss_that_is_damaged_is_not_known(recorded: Trace, damaged: Callable[..., Run]) -> None:
    call, roots = Run(recorded).outline.calls[5]
    event = next(e for e in recorded.events if isinstance(e, OpCalled) and e.outputs[0].tensor == roots[0])
    value = event.outputs[0].value
    assert event.index < call
    run = damaged(f"UPDATE tensor_values SET sum = sum + 1 WHERE id = {value}")  # noqa: S608 ours
    shown = document(run.overview, "p", 1, None)
    assert shown["loss"][5] is None and shown["loss"].count(None) == 1
    assert not any(one["kind"] == "loss-nonfinite" for one in shown["findings"])


@pytest.mark.parametrize("name", ["rates", "born", "kinds"])
@pytest.mark.parametrize("key", ["x/{}", "{}x", "1/{}"])
def test_row_of_the_outline_under_another_key_is_not_taken_for_a_missing_one(
    damaged: Callable[..., Run], key: str, name: str
) -> None:
    run = damaged(f"UPDATE outline SET key = '{key.format(name)}' WHERE key = '{name}'")  # noqa: S608 ours
    assert outline_in_file(run.whole) is None
    assert np.unique(run.overview.rate).size == 3
