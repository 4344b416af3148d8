"""Of a long recording the beginning is shown, and it is said what is left out."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path

import pytest

import engine as torch
from engine.trace.events import Trace
from viz import cli
from viz.run import run
from viz.run.prefix import left_out, shortened
from viz.run.run import Run
from viz.scene.scene import scene
from viz.server import programs
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Program, Store


@pytest.fixture(scope="module")
def long() -> Trace:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.record() as trace:
        for _ in range(6):
            (x * x).sum().backward()
    return trace


def test_every_beginning_of_a_trace_makes_a_scene(long: Trace) -> None:
    counts = [len(scene(shortened(long, most))["steps"]) for most in range(1, len(long.events) + 1)]
    assert counts == sorted(counts) and counts[0] < counts[-1]


def test_a_short_trace_is_shown_whole_and_nothing_is_said(long: Trace) -> None:
    assert shortened(long) is long and left_out(long) == ""


def test_a_file_is_shown_to_the_number_of_events_that_is_asked_for(long: Trace, tmp_path: Path) -> None:
    long.save(str(tmp_path / "long.backstep"))
    program = from_file(tmp_path / "long.backstep", 7)
    assert Run(program.record(), program.most).trace(0).events == tuple(long.events[:7])
    said = said_of(program)
    assert f"first 7 of its {len(long.events)} events" in said and "--events 35" in said


def test_what_is_shown_beyond_what_was_checked_at_opening_is_checked_then(
    long: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(programs, "CHECKED", 5)
    monkeypatch.setattr(run, "CHECKED", 5)
    path = tmp_path / "long.backstep"
    long.save(str(path))
    with sqlite3.connect(path) as db:
        db.execute("UPDATE events SET sum = sum + 1 WHERE id = 12")
    db.close()
    program = from_file(path)
    assert "damaged" not in program.about["note"] and len(program.record().events) == len(long.events)
    shown = Run(program.record(), program.most).trace(0)
    assert len(shown.events) == 13 and "the events from number 13 on" in said_of(program)


def said_of(program: Program) -> str:
    """What the page says of the rest of a recording."""
    store = Store(Catalogue([program]), StoreComputation())
    said: str = store.scene(store.revision(program.id, None), None, {}, "").json()["program"]["left_out"]
    return said


def test_a_file_exported_from_a_shortened_recording_says_that_it_has_no_more(long: Trace, tmp_path: Path) -> None:
    shortened(long, 7).save(str(tmp_path / "cut.backstep"))
    said = said_of(from_file(tmp_path / "cut.backstep"))
    assert f"first 7 of the {len(long.events)} events" in said and "--events" not in said
    again = said_of(from_file(tmp_path / "cut.backstep", 3))
    assert "first 3 of its 7 events" in again and "--events 7" in again


def test_of_a_long_recording_that_fails_the_failure_is_told_and_the_way_to_it() -> None:
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    with torch.record() as trace, contextlib.suppress(RuntimeError):
        for _ in range(6):
            y = (x * x).sum()
            y.backward()
        y.backward()
    said = left_out(shortened(trace, 7))
    assert "It ends with an error, RuntimeError: Trying to backward through the graph a second time" in said
    assert "freed). To see the error" in said, "the first sentence, whole"
    assert f"To see the error, start Backstep with `--events {len(trace.events)}`" in said
    assert left_out(shortened(trace, len(trace.events))) == ""


@pytest.mark.parametrize("given", ["0", "-1", "many", "1.5"])
def test_parser_refuses_what_is_no_number_of_events(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.parser().parse_args(["run", "--events", given, "train.py"])
    assert "argument --events" in capsys.readouterr().err
