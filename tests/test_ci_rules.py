"""The rule of tests/conftest.py, tried on a pytest of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).with_name("conftest.py")
SKIPS = """
import pytest

def test_that_runs():
    assert True

def test_that_needs_a_browser():
    pytest.skip("No Chromium could be started")

def test_that_needs_a_gpu():
    pytest.skip("cupy is not installed")

@pytest.mark.xfail(reason="a known gap")
def test_that_is_expected_to_fail():
    assert False
"""
COLLECTED = 'import pytest\npytest.importorskip("no_such_torch")\n'


def outcome(folder: Path, ci: str) -> tuple[int, str]:
    """Exit status and summary of pytest in `folder` under the rule."""
    (folder / "conftest.py").write_text(CONFTEST.read_text("utf-8"), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(folder), str(folder)],
        cwd=folder, env={**os.environ, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


@pytest.mark.parametrize(
    ("ci", "status", "summary"), [("true", 1, "1 failed, 1 passed, 1 skipped"), ("", 0, "1 passed, 2 skipped")]
)
def test_a_skip_fails_in_ci_alone_and_never_for_want_of_a_gpu(
    tmp_path: Path, ci: str, status: int, summary: str
) -> None:
    (tmp_path / "test_skips.py").write_text(SKIPS, "utf-8")
    found, text = outcome(tmp_path, ci)
    assert (found, summary in text) == (status, True), text
    assert ("No Chromium could be started" in text) is (ci == "true")


@pytest.mark.parametrize(("ci", "status"), [("true", 2), ("", 5)])
def test_file_skipped_whole_fails_in_ci(tmp_path: Path, ci: str, status: int) -> None:
    (tmp_path / "test_parity.py").write_text(COLLECTED, "utf-8")
    found, text = outcome(tmp_path, ci)
    assert found == status, text
