"""What tests of scripts are given."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.trace.events import Trace
from viz.record import runner
from viz.record.runner import RecordedRun, run_script

from .helpers.scripts import Script


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Write a script and run it."""

    def run(text: str | bytes, *args: str, name: str = "script.py", **options: Any) -> tuple[RecordedRun, Trace]:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        recording = run_script(runner.Script(path, args), tmp_path / "trace.backstep", **options)
        return recording, Trace.open(str(recording.trace_path))

    return run
