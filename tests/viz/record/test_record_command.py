"""`backstep record`, and `-m`: the script's own output and status, and a trace that opens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.trace.events import Accumulated, Trace
from viz import cli
from viz.record.runner import find_module

from ..helpers.scripts import ROOT, SMALL, kinds

TRAIN = """
import sys
import engine as torch
from .. import scale
print(__name__, __package__, __spec__.name, sys.argv[1:], sys.path[0], sep="|")
print(__file__ == sys.argv[0], __loader__ is __spec__.loader, __cached__ == __spec__.cached)
(scale * 2).sum().backward()
sys.exit(3)
"""


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the module my.nets.train, in which a recording begins."""
    (tmp_path / "my" / "nets").mkdir(parents=True)
    (tmp_path / "my" / "__init__.py").write_text("import engine\nscale = engine.ones(2, requires_grad=True) * 3\n")
    (tmp_path / "my" / "nets" / "__init__.py").write_text("")
    (tmp_path / "my" / "nets" / "train.py").write_text(TRAIN)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_module_is_run_as_python_would_and_recorded(package: Path, capfd: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "my.nets.train", "-o", "2"]
    paths = {**os.environ, "PYTHONPATH": str(ROOT)}
    plain = subprocess.run(command, capture_output=True, text=True, check=False, env=paths)
    assert cli.main(["record", "-m", "my.nets.train", "-o", "2"]) == plain.returncode == 3
    out, err = capfd.readouterr()
    assert out == plain.stdout and plain.stderr == ""
    trace = Trace.open("my.nets.train.backstep")
    assert kinds(trace).count("OpCalled") == 3  # one of them by the package, which is imported first
    assert any(isinstance(event, Accumulated) for event in trace.events)
    assert "recorded 3 forward and 3 backward ops into my.nets.train.backstep" in err


def test_record_replaces_a_trace_and_names_it_after_the_script(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.py").write_text(SMALL + "\nimport os; os.chdir('/')\n")
    assert cli.main(["record", "small.py"]) == 0
    Path("small.py").write_text("raise ValueError('no')")
    assert cli.main(["record", "-o", "small.backstep", "small.py"]) == 1
    assert kinds(Trace.open("small.backstep")) == ["ErrorRaised"]
    assert "ValueError: no" in capfd.readouterr().err


def test_package_is_run_by_its_main(package: Path) -> None:
    (package / "my" / "__main__.py").write_text("")
    assert find_module("my") == ("my.__main__", package / "my" / "__main__.py")
    assert "my" not in sys.modules
