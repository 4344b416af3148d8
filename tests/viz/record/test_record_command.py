"""`backstep record`, and `-m`: the script's own output and status, and a trace that opens."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from engine.trace.events import Accumulated, OpCalled, Trace
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


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, which is the working one."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("folder")
def test_record_replaces_a_trace_and_names_it_after_the_script(capfd: pytest.CaptureFixture[str]) -> None:
    Path("small.py").write_text(SMALL + "\nimport os; os.chdir('/')\n")
    assert cli.main(["record", "small.py"]) == 0
    Path("small.py").write_text("raise ValueError('no')")
    assert cli.main(["record", "-o", "small.backstep", "small.py"]) == 1
    assert kinds(Trace.open("small.backstep")) == ["ErrorRaised"]
    assert "ValueError: no" in capfd.readouterr().err


@pytest.mark.usefixtures("folder")
def test_what_stands_below_the_traceback_is_not_said_again(capfd: pytest.CaptureFixture[str]) -> None:
    Path("small.py").write_text(SMALL + "torch.nn.quantized(3, 2)")
    assert cli.main(["record", "small.py"]) == 1
    assert capfd.readouterr().err.count("asked for in line") == 1


def test_package_is_run_by_its_main(package: Path) -> None:
    (package / "my" / "__main__.py").write_text("")
    assert find_module("my") == ("my.__main__", package / "my" / "__main__.py")
    assert "my" not in sys.modules


TRAINING = """
import engine as torch
w = torch.ones(100, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for i in range(5):
    opt.zero_grad()
    (w * 2).sum().backward()
    opt.step()
print("done")
"""


@pytest.fixture
def training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A recording begins in a folder with the script train.py."""
    (tmp_path / "train.py").write_text(TRAINING)
    monkeypatch.chdir(tmp_path)


@pytest.mark.usefixtures("training")
def test_record_keeps_the_values_of_the_chosen_iterations_and_says_how_many_ran(
    capfd: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["record", "--steps", "1:3", "--every", "4", "train.py"]) == 0
    out, err = capfd.readouterr()
    assert out == "done\n" and " in 5 updates into train.backstep" in err and "--steps" not in err
    trace = Trace.open("train.backstep")
    products = [event for event in trace.events if isinstance(event, OpCalled) and event.name == "mul"][:10]
    doubled = [trace.values[e.outputs[0].value] for e in products if e.call is None and e.inplace is None]
    assert [value.array is not None for value in doubled if value.shape == (100,)] == [True, True, True, False, True]


@pytest.mark.usefixtures("training")
def test_record_says_that_no_chosen_iteration_ran(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["record", "--steps", "5:", "train.py"]) == 0
    assert "the program has 5 updates, and --steps begins with number 5" in capfd.readouterr().err


@pytest.mark.usefixtures("training")
def test_record_ends_at_the_limit_while_the_script_goes_on(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["record", "--max-ops", "7", "train.py"]) == 0
    out, err = capfd.readouterr()
    assert out == "done\n" and "it has 7 ops, the most that --max-ops allows. The script itself went on" in err
    assert kinds(Trace.open("train.backstep")).count("OpCalled") == 7


@pytest.mark.parametrize(
    ("option", "given", "message"),
    [
        ("--steps", "a:b", "'a:b' is not a range of iterations: give one such as 7, 100:103"),
        ("--steps", "5:2", "'5:2' contains no iteration"),
        ("--every", "0", "'0' is not a count: give a whole number of at least 1"),
        ("--max-bytes", "5 apples", "'5 apples' is not a size: give a number of bytes"),
        ("--max-ops", "-1", "'-1' is not a count"),
    ],
)
def test_bad_limits_are_refused_before_anything_runs(
    option: str, given: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit, match="2"):
        cli.main(["record", f"{option}={given}", "no_such_script.py"])
    assert f"argument {option}: {message}" in capsys.readouterr().err


PAUSED = """
import engine as torch
w = torch.zeros(3, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
for step in range(30):
    opt.zero_grad()
    (w - 1).square().sum().backward()
    opt.step()
"""


@pytest.mark.usefixtures("folder")
def test_iterations_between_the_chosen_ones_are_not_recorded(capfd: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(PAUSED)
    assert cli.main(["record", "--every", "10", "--pause", "train.py"]) == 0
    assert "recorded 16 forward and 12 backward ops in 4 of 30 updates" in capfd.readouterr().err
    assert cli.main(["record", "--steps", "40:", "--pause", "train.py"]) == 0
    assert "number 40: only the first two are recorded." in capfd.readouterr().err
    Path("train.py").write_text(PAUSED.replace("opt.step()", "w.data -= 0.1 * w.grad"))
    assert cli.main(["record", "--every", "10", "--pause", "train.py"]) == 0
    assert "The recording did not pause, because the program calls no optimizer.step()" in capfd.readouterr().err


@pytest.mark.usefixtures("folder")
def test_pauses_without_chosen_iterations_are_refused(capfd: pytest.CaptureFixture[str]) -> None:
    Path("train.py").write_text(PAUSED)
    assert cli.main(["record", "--pause", "train.py"]) == 2
    assert "--pause needs the iterations to record" in capfd.readouterr().err
    assert not Path("train.backstep").exists()
