"""Trace files that were altered on purpose are shown or refused in a sentence; nothing else happens."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

import engine
from engine.trace.events import VjpRun
from engine.trace.file.tracefile import save
from tests.viz.helpers.crafted import holds_together
from viz.server.programs import from_file
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Store

FILES = int(os.environ.get("BACKSTEP_CRAFTED_FILES", "400"))
"""How many: `BACKSTEP_CRAFTED_FILES=10000` tries more than there is time for at every change.
It takes some 30 ms for each.  Other ones: `python -m tests.viz.helpers.crafted COUNT SEED`."""
MEMORY = 500 * 2**20


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_crafted_files_are_shown_or_refused_in_a_sentence() -> None:
    command = [sys.executable, "-m", "tests.viz.helpers.crafted", str(FILES)]
    done = subprocess.run(command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines and "ends" in lines[-1], done.stderr[-2000:]
    assert lines[:-1] == []
    assert min(lines[-1]["ends"].values()) > FILES // 10
    assert lines[-1]["peak"] < MEMORY


def test_text_that_cannot_be_parsed_in_time_or_at_all_is_shown_as_lines(tmp_path: Path) -> None:
    """A file of 8 MiB took minutes to be parsed, and its lines were split again at each step."""
    with engine.record() as trace:
        for _ in range(3):
            engine.ones(2, requires_grad=True).sum().backward()
    name, text = next(iter(trace.files.items()))
    for more in ("x = 1\n" * 1_000_000, "# ## A title\n\0\n", "-" * 100_000 + "1\n", "for a in b:\n  1\n" * 20_000):
        save(dataclasses.replace(trace, files={name: f"{text}\n{more}"}), tmp_path / "f")
        before = time.process_time()
        program = from_file(tmp_path / "f")
        store = Store(Catalogue([program]), StoreComputation())
        holds_together(store.scene(store.revision(program.id, None), None, {}, "").json())
        assert time.process_time() - before < 10


def test_damaged_event_is_a_step_in_its_place(tmp_path: Path) -> None:
    with engine.record() as trace:
        x = engine.tensor(3.0, requires_grad=True)
        y = x * x
        (y * 2.0).backward()
    save(trace, tmp_path / "f")
    last = next(event.index for event in trace.events if isinstance(event, VjpRun))
    with contextlib.closing(sqlite3.connect(tmp_path / "f")) as db:
        db.execute("UPDATE events SET fields = replace(fields, 'true', 'false') WHERE id = ?", (last,))
        db.commit()
    program = from_file(tmp_path / "f")
    store = Store(Catalogue([program]), StoreComputation())
    scene = store.scene(store.revision(program.id, None), None, {}, "").json()
    assert [step["name"] for step in scene["steps"]] == ["mul", "mul", "damaged in the file"]
    assert scene["steps"][-1]["say"] == "The file is damaged here: this event and those after it cannot be read."
    assert scene["steps"][-1]["kind"] == "error" and scene["error"] is None
    assert "without the parts that cannot be read: " in scene["program"]["note"]
    assert f"from number {last + 1} on" in scene["program"]["note"]
    json.dumps(store.scene(store.revision(program.id, {"leaves": {"0": 2.0}, "commands": None}), None, {}, "").json())
