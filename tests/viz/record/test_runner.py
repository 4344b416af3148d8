"""Scripts run as Python runs them, and what could go wrong is explained."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import ClassVar

import pytest

from engine.trace.events import Accumulated, ErrorRaised, OpCalled, Trace
from viz.record import runner
from viz.record.runner import WITHOUT_INPUT, ScriptError, run_script
from viz.scene.scene import scene

from ..helpers.scripts import ROOT, SMALL, Capture, Script, array, kinds, raised

# -- as Python would --------------------------------------------------------------------------------------------------


def test_script_is_recorded_with_names_and_places(script: Script) -> None:
    recording, trace = script(SMALL)
    assert (recording.returncode, recording.explanation, recording.error) == (0, "", "")
    assert kinds(trace)[:4] == ["LeafCreated", "OpCalled", "OpCalled", "BackwardStarted"]
    assert trace.names[0] == "x" and "y" in trace.names.values() and trace.files == {"script.py": SMALL}
    (frame,) = trace.stacks[trace.events[1].stack]
    assert (frame.file, frame.line, frame.col, frame.end_col) == ("script.py", 3, 5, 10)
    assert "incomplete" not in trace.meta and trace.argv[0].endswith("script.py")
    (arrived,) = [e for e in trace.events if isinstance(e, Accumulated)]
    assert array(trace, arrived.after).tolist() == [2, 4]


THREAD = """
import threading
import engine as torch
x = torch.ones(2, requires_grad=True)
def work():
    threading.main_thread().join()
    (x * 2).sum().backward()
threading.Thread(target=work).start()
"""


def test_what_a_thread_does_after_the_last_line_is_recorded(script: Script) -> None:
    recording, trace = script(THREAD)
    assert (recording.returncode, recording.explanation) == (0, "")
    assert [event.name for event in trace.events if isinstance(event, OpCalled)] == ["mul", "sum"]
    assert kinds(trace).count("Accumulated") == 1


def test_recording_ends_with_the_error_whatever_threads_do_then(script: Script) -> None:
    _, trace = script(THREAD + "1 / 0\n")
    assert raised(trace).message == "division by zero" and "OpCalled" not in kinds(trace)


def test_script_with_an_idle_pool_of_threads_ends(script: Script) -> None:
    text = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
    recording, trace = script(SMALL + text + "pool.submit(lambda: x * 2).result()\n")
    assert recording.returncode == 0 and kinds(trace)[-1] == "OpCalled"


ENVIRONMENT = """
import sys, os, json, pickle, __main__
class Mine: pass
print(json.dumps({
    "argv": sys.argv, "name": __name__, "file": __file__, "first": sys.path[0], "cwd": os.getcwd(),
    "main": __main__.__dict__ is globals(), "package": __package__, "spec": str(__spec__), "doc": __doc__,
    "mine": pickle.loads(pickle.dumps(Mine())).__class__.__module__, "safe": sys.flags.safe_path,
    "loader": type(__loader__).__name__, "builtins": type(__builtins__).__name__,
    "ours": [p for p in sys.path if os.path.exists(os.path.join(p, "viz", "child.py"))],
}, sort_keys=True))
"""


def test_script_finds_what_python_gives_it(script: Script, tmp_path: Path, capfd: Capture) -> None:
    script('"""The doc."""' + ENVIRONMENT, "--size", "größe", "-x")
    ours = capfd.readouterr().out
    command = [sys.executable, str(tmp_path / "script.py"), "--size", "größe", "-x"]
    assert ours == subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_relative_path_is_passed_on_as_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: Capture) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "größe mit leer.py").write_text("import sys\nprint(sys.argv[0], __file__)\n")
    monkeypatch.chdir(tmp_path)
    assert run_script(runner.Script(Path("in/größe mit leer.py"))).returncode == 0
    assert capfd.readouterr().out.strip() == f"in/größe mit leer.py {tmp_path / 'in' / 'größe mit leer.py'}"


@pytest.mark.parametrize(
    "text",
    ["import sys; sys.exit(3)", "import sys; sys.exit('bye')", "raise SystemExit", "import sys; sys.exit(-1)", "1 / 0",
     "import os; os._exit(4)", "def f():\n    raise ValueError('größe')\nf()", "x = = 2", "import nothing_there",
     "from . import sibling", "import sys\nsys.excepthook = lambda *a: print('mine')\n1 / 0", "raise KeyboardInterrupt",
     "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError from e",
     "import atexit\natexit.register(print, 'last')\nprint('first')",
     "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"],
)  # fmt: skip
def test_status_and_output_are_those_of_python(
    script: Script, tmp_path: Path, capfd: Capture, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    monkeypatch.setattr(runner, "LONG", 1000.0)  # a process may take long to start where others run
    recording, _ = script(text)
    ours = capfd.readouterr()
    theirs = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False)
    assert (recording.returncode, ours.out) == (theirs.returncode, theirs.stdout)
    assert ours.err == theirs.stderr


def test_input_reaches_the_script(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("print(input() + '!')")
    program = "import sys, pathlib; from viz.record.runner import *; run_script(Script(pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-c", program, str(tmp_path / "s.py")]
    found = subprocess.run(command, input="hello\n", capture_output=True, text=True, check=True, cwd=ROOT)
    assert found.stdout == "hello!\n"


def test_modules_beside_the_script_are_found_and_shown(script: Script, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "__init__.py").write_text("from .inner import double\n")
    (tmp_path / "lib" / "inner.py").write_text("def double(v):\n    return v * 2\n")
    text = "import engine\nfrom lib import double\nx = engine.ones(2, requires_grad=True)\ny = double(x)\n"
    recording, trace = script(text)
    assert list(trace.files) == ["script.py", "lib/inner.py"] and trace.names[1] == "y"
    assert {f.name for f in recording.files} == {"script.py", "__init__.py", "inner.py"}


def test_script_that_forks_records_its_own_part_only(script: Script, tmp_path: Path) -> None:
    fork = "import os\npid = os.fork()\nz = x * 3\nif not pid:\n    os._exit(0)\nos.waitpid(pid, 0)\nw = z * 5\n"
    recording, trace = script(SMALL + fork)
    assert recording.returncode == 0 and "incomplete" not in trace.meta
    assert [e.inputs[1].scalar for e in trace.events if isinstance(e, OpCalled) and e.name == "mul"][1:] == [3, 5]


def test_processes_that_the_script_spawns_find_its_main(script: Script, capfd: Capture) -> None:
    text = (
        "import multiprocessing as mp\ndef f(v): return v + 1\n"
        "if __name__ == '__main__':\n    with mp.get_context('spawn').Pool(1) as pool: print(pool.map(f, [1, 2]))\n"
    )
    recording, _ = script(text)
    assert recording.returncode == 0 and capfd.readouterr().out == "[2, 3]\n"


# -- how it ends ------------------------------------------------------------------------------------------------------


def test_script_that_removes_its_own_file_keeps_its_recording(script: Script) -> None:
    recording, trace = script(SMALL + "\nimport os\nos.remove(__file__)\n")
    assert recording.returncode == 0 and any(isinstance(e, OpCalled) for e in trace.events)


def test_script_that_raises_is_recorded_up_to_there(script: Script) -> None:
    recording, trace = script(SMALL + "def f():\n    y.backward()\nf()\n")
    (last,) = [event for event in trace.events if isinstance(event, ErrorRaised)]
    assert recording.error == "RuntimeError" and recording.explanation == ""
    assert last.message.startswith("Trying to backward through the graph a second time")
    assert 'File "script.py", line 6, in f' in last.traceback
    assert "engine" not in last.traceback.split("RuntimeError")[0]
    assert [f.line for f in trace.stacks[last.stack]] == [7, 6]


ASKS = "import engine as torch\nx = torch.ones(3)\nn = float(input())\n"


def test_script_that_asks_for_input_where_there_is_none_is_told_what_ran_and_what_to_do(script: Script) -> None:
    recording, trace = script(ASKS, streams=WITHOUT_INPUT)
    said = "script.py had made 1 tensor when it stopped with EOFError, and computed nothing from it yet."
    assert recording.explanation.startswith(said)
    error = scene(trace)["error"]
    assert error is not None
    assert error["why"].startswith("`n = float(input())` in line 3 waits for a line of input, but")
    assert "read `sys.argv`" in error["fix"]["text"]


def test_script_that_does_not_end_is_told_how_it_is_ended(
    script: Script, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.setattr(runner, "LONG", 0.0)
    script(SMALL)
    assert (
        "script.py is still running. Press Ctrl-C to stop it and keep the recording up to there."
        in capfd.readouterr().err
    )


class _Due(threading.Timer):
    """A timer that goes off when the test says so."""

    made: ClassVar[list[_Due]] = []

    def start(self) -> None:
        self.made.append(self)


def test_script_that_has_ended_is_not_said_to_run_while_its_process_does(
    script: Script, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threading, "Timer", _Due)
    monkeypatch.setattr(_Due, "made", [])
    here, on, said = tmp_path / "here", tmp_path / "on", list[str]()
    os.mkfifo(here)
    os.mkfifo(on)
    meets = f"open({str(here)!r}, 'w').close()\n    open({str(on)!r}).read()\n"
    text = f"import atexit\ndef meet():\n    {meets}atexit.register(meet)\nmeet()\n1 / 0\n"
    runs = threading.Thread(target=script, args=(text,), kwargs={"on_slow": said.append})
    runs.start()
    for _ in range(2):  # in the script, and after it
        here.read_bytes()  # waits for the script
        due = _Due.made[0]
        due.function(*due.args, **due.kwargs)
        on.write_bytes(b"")
    runs.join()
    assert said == ["script.py is still running."]


def test_trace_tells_no_folder_of_this_machine(script: Script, tmp_path: Path) -> None:
    _, trace = script(SMALL + "import os\nraise OSError(os.path.abspath(__file__))\n")
    assert str(tmp_path) not in raised(trace).traceback + raised(trace).message
    assert str(tmp_path) not in "".join(trace.files) + repr(trace.stacks)


def test_interrupted_script_keeps_what_was_recorded(script: Script) -> None:
    recording, trace = script(SMALL + "import signal\nsignal.raise_signal(signal.SIGINT)\nx * 2\n")
    assert recording.returncode == -signal.SIGINT and recording.error == "KeyboardInterrupt"
    assert "BackwardEnded" in kinds(trace) and raised(trace).type == "KeyboardInterrupt"
    error = scene(trace)["error"]
    assert error is not None and error["why"].startswith("The program was interrupted (Ctrl-C) at ")


WAITS = """
import sqlite3, sys, os, signal
db = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True)
while not db.execute("SELECT count(*) FROM events").fetchone()[0]:
    pass
"""


def test_killed_script_keeps_what_was_flushed(script: Script, tmp_path: Path) -> None:
    end = "os.kill(os.getpid(), signal.SIGKILL)"
    recording, trace = script(SMALL + WAITS + end, str(tmp_path / "trace.backstep"))
    assert recording.returncode == -signal.SIGKILL and "signal 9" in recording.explanation
    assert kinds(trace)[0] == "LeafCreated" and trace.meta == {"incomplete": True} and trace.names[0] == "x"


def test_values_written_in_place_are_recorded_as_they_were(script: Script, tmp_path: Path) -> None:
    text = (
        "import engine as torch\nx = torch.zeros(1000)\n"
        + "with torch.no_grad():\n    for i in range(300):\n        x.add_(1)\n"
        + WAITS
        + "with torch.no_grad():\n    for i in range(300):\n        x.add_(1)\n"
    )
    _, trace = script(text, str(tmp_path / "trace.backstep"))
    adds = [e for e in trace.events if isinstance(e, OpCalled) and e.name == "add"]
    written = [array(trace, e.outputs[0].value) for e in adds]
    assert [(a[0], a[-1]) for a in written] == [(n, n) for n in range(1, 601)]


@pytest.mark.parametrize("text", ["x = = 2\n", b"x = 1\0", b"x = '\xff'\n"])
def test_script_that_is_no_python_is_explained(script: Script, text: str | bytes) -> None:
    recording, trace = script(text)
    assert recording.returncode == 1 and recording.error in ("SyntaxError", "ValueError")
    assert recording.explanation and raised(trace).type == recording.error


def test_paths_that_cannot_be_run_are_explained(tmp_path: Path) -> None:
    (tmp_path / "there.py").touch()
    with pytest.raises(ScriptError, match=r"no script .*That folder contains there\.py"):
        run_script(runner.Script(tmp_path / "their.py"))
    with pytest.raises(ScriptError, match=r"is a folder\. Give the path"):
        run_script(runner.Script(tmp_path))
    (tmp_path / "__main__.py").touch()
    with pytest.raises(ScriptError, match=r"is a folder\. Give the script in it, such as .*__main__\.py"):
        run_script(runner.Script(tmp_path))


# -- ctrl-c ------------------------------------------------------------------------------------------------------------


DRIVER = """
import sys
from pathlib import Path
from viz.record.runner import Script, run_script
recording = run_script(Script(Path(sys.argv[1])), sys.argv[2])
print("returned", recording.returncode, recording.error, flush=True)
"""


def test_ctrl_c_ends_the_script_and_keeps_the_recording(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text(SMALL + "print('running', flush=True)\nwhile True:\n    pass\n")
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "s.py"), str(tmp_path / "t")]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "running\n"
        os.killpg(driver.pid, signal.SIGINT)  # as a terminal does
        said, errors = driver.communicate(timeout=60)
    assert said == f"returned {-signal.SIGINT} KeyboardInterrupt\n" and "KeyboardInterrupt" in errors
    assert "Accumulated" in kinds(Trace.open(str(tmp_path / "t")))


def test_script_that_handles_ctrl_c_goes_on(tmp_path: Path) -> None:
    waits = "try:\n    print('running', flush=True)\n    while True:\n        pass\n"
    (tmp_path / "s.py").write_text(SMALL + waits + "except KeyboardInterrupt:\n    w = x * 7\n")
    command = [sys.executable, "-c", DRIVER, str(tmp_path / "s.py"), str(tmp_path / "t")]
    with subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as driver:
        assert driver.stdout is not None
        assert driver.stdout.readline() == "running\n"
        os.killpg(driver.pid, signal.SIGINT)
        said, _ = driver.communicate(timeout=60)
    assert said == "returned 0 \n"
    assert "w" in Trace.open(str(tmp_path / "t")).names.values()


# -- a script that records itself --------------------------------------------------------------------------------


def test_script_may_record_itself_and_save(script: Script, tmp_path: Path, capfd: Capture) -> None:
    text = SMALL + (
        "with torch.record() as trace:\n    z = (x * 3).sum()\n    z.backward()\n"
        f"trace.save({str(tmp_path / 'own.backstep')!r})\nx.mul(2)\nprint(len(trace.events))\n"
    )
    recording, trace = script(text)
    assert recording.returncode == 0 and recording.explanation == ""
    own = Trace.open(str(tmp_path / "own.backstep"))
    assert capfd.readouterr().out.split() == [str(len(own.events))]
    assert list(own.events) == list(trace.events)[: len(own.events)] and len(trace.events) > len(own.events)


def test_an_error_of_the_engine_is_printed_without_the_engines_frames(script: Script, capfd: Capture) -> None:
    script("import engine as torch\nx = torch.ones(2, requires_grad=True)\nx.backward()\n")
    printed = capfd.readouterr().err
    assert 'script.py", line 3' in printed and printed.count("File ") == 1
    assert "grad can be implicitly created only for scalar outputs" in printed


def test_viz_show_does_not_hold_up_a_script_that_is_run(script: Script, capfd: Capture) -> None:
    text = SMALL + "import viz\nwith torch.record() as trace:\n    x.mul(2)\nviz.show(trace)\nprint('on')\n"
    recording, _ = script(text)
    printed = capfd.readouterr()
    assert recording.returncode == 0 and printed.out == "on\n" and "viz.show() does nothing here" in printed.err
