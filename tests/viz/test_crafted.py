"""Trace files that were altered on purpose are shown or refused in a sentence; nothing else happens."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FILES = int(os.environ.get("BACKSTEP_CRAFTED_FILES", "160"))
"""How many: `BACKSTEP_CRAFTED_FILES=10000` tries more than there is time for at every change."""
MEMORY = 500 * 2**20


@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
def test_crafted_files_are_shown_or_refused_in_a_sentence() -> None:
    command = [sys.executable, "-m", "tests.viz.crafted", "0", str(FILES)]
    done = subprocess.run(command, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False)
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines and "ends" in lines[-1], done.stderr[-2000:]
    assert lines[:-1] == []
    assert min(lines[-1]["ends"].values()) > FILES // 10
    assert lines[-1]["peak"] < MEMORY
