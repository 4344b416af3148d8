"""What is said of a script that recorded nothing, that ended itself, and of files that are named like ours."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from viz.record import missing_recording
from viz.server.programs import from_file

from ..helpers.scripts import ROOT, SMALL, Capture, Script, kinds


def test_script_that_recorded_nothing_is_explained(script: Script) -> None:
    assert "imports neither torch nor the engine" in script("print(1)")[0].explanation
    assert "imports the engine (line 2), but no op ran" in script("\nimport engine")[0].explanation
    assert "requires_grad=True" in script("import engine\ny = engine.ones(2) * 2")[0].explanation
    assert "never called backward" in script("import engine\ny = engine.ones(2, requires_grad=True) * 2")[0].explanation


def test_script_of_real_torch_is_told_of_as_torch() -> None:
    said = missing_recording.nothing_recorded(
        "s.py", "\nimport torch\n", missing_recording.Counts(0, 0, 0), as_torch=False, error=""
    )
    assert said.startswith("s.py imports torch (line 2), but no op ran.")
    assert "SyntaxError" in missing_recording.nothing_recorded(
        "s.py", "x = =", missing_recording.Counts(0, 0, 0), False, "SyntaxError"
    )
    assert "before its first op" in missing_recording.nothing_recorded(
        "s.py", "1/0", missing_recording.Counts(0, 0, 0), False, "KeyError"
    )
    assert missing_recording.nothing_recorded("s.py", "", missing_recording.Counts(1, 1, 0), False, "KeyError") == ""
    stopped = missing_recording.nothing_recorded("s.py", "", missing_recording.Counts(26, 0, 0), False, "KeyError")
    assert "KeyError after 26 ops" in stopped and "requires_grad" not in stopped
    assert missing_recording.imports("from engine import a\nimport torch.nn") == missing_recording.Imports(1, 2)


@pytest.mark.parametrize("name", ["engine.py", "viz.py", "engine/__init__.py"])
def test_modules_named_like_ours_are_the_programs(script: Script, tmp_path: Path, capfd: Capture, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("def mine(y):\n    return y.sum()\n")
    module = missing_recording.module_of(name)
    recording, trace = script(
        f"from backstep import engine as torch, record\nfrom {module} import mine\nimport {module}, sys\n"
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
        "with record() as trace:\n    mine(x * x).backward()\n    print(x.grad)\n"
        f"print(len(trace.events) > 5, sys.modules['{module}'] is {module}, {module}.__file__)\n"
    )
    assert capfd.readouterr().out == f"tensor([2., 4.])\nTrue True {tmp_path / name}\n"
    assert "Accumulated" in kinds(trace) and not recording.explanation and recording.returncode == 0


def test_import_of_another_engine_is_explained(script: Script, tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text("")
    recording, _ = script(SMALL)
    assert recording.error == "AttributeError" and "has no" not in recording.note
    assert "If Backstep's own is meant, write `from backstep import engine as torch`." in recording.explanation


def test_block_in_a_program_with_an_engine_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "engine.py").write_text("def mine(y):\n    return y.sum()\n")
    (tmp_path / "program.py").write_text(
        "import backstep, engine\nfrom backstep import engine as torch\n"
        "with backstep.record() as trace:\n"
        "    engine.mine(torch.ones(2, requires_grad=True)).backward()\n"
        "print(len(backstep.replay(trace).events) == len(trace.events))\n"
    )
    paths = os.pathsep.join(map(str, (ROOT, ROOT / "viz" / "public")))
    done = subprocess.run(
        [sys.executable, "program.py"], cwd=tmp_path, env={**os.environ, "PYTHONPATH": paths},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (done.stdout, done.returncode) == ("True\n", 0), done.stderr


def test_own_files_do_not_shadow_themselves() -> None:
    assert missing_recording.shadows(ROOT, ROOT) == [] and missing_recording.shadowed("s.py", []) == ""


def test_each_file_named_like_ours_is_explained() -> None:
    one = missing_recording.shadowed("s.py", ["viz.py"])
    assert one.startswith("`import viz` loads `viz.py` beside s.py, as without Backstep.")
    two = missing_recording.shadowed("s.py", ["engine.py", "viz/__init__.py"])
    assert "`import engine` loads `engine.py`" in two and "`import viz` loads `viz/__init__.py`" in two


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import sys\nsys.exit(3)\n", "script.py exited in line 6 with status 3."),
        ("def f():\n    raise SystemExit('no\\ndata')\nf()\n",
         "script.py exited in line 6 with status 1 and the message “no data”."),
        ("import argparse\nargparse.ArgumentParser().parse_args(['--x'])\n", "exited in line 6 with status 2."),
        ("import sys\nsys.exit()\n", ""),
        ("import sys\nsys.exit(0)\n", ""),
        ("import sys\ntry:\n    sys.exit(3)\nexcept SystemExit:\n    pass\n", ""),
    ],
)  # fmt: skip
def test_script_that_ends_itself_is_told_with_its_status_and_line(script: Script, text: str, says: str) -> None:
    explanation = script(SMALL + text)[0].explanation
    assert explanation.endswith(says) if says else explanation == ""


def test_script_that_ends_itself_in_another_file_is_told_of_that(script: Script, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text("import sys\n\ndef stop():\n    sys.exit(4)\n")
    said = script(SMALL + "import helper\nhelper.stop()\n")[0].explanation
    assert said == "script.py exited in line 4 of helper.py with status 4."


def test_opened_trace_says_how_its_script_ended(script: Script) -> None:
    recording, _ = script(SMALL + "import sys\nsys.exit(3)\n")
    assert from_file(recording.trace_path).about["note"] == "script.py exited in line 6 with status 3."
    assert from_file(script(SMALL)[0].trace_path).about["note"] == ""
