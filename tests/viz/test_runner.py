"""Scripts run as Python runs them, and what could go wrong is explained."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.trace import Accumulated, ErrorRaised, OpCalled, Trace
from viz import explain, runner
from viz.programs import from_file
from viz.runner import Recording, ScriptError, run_script
from viz.scene import scene

from .scripts import ROOT, SMALL, array, kinds

Script = Callable[..., tuple[Recording, Trace]]
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Write a script and run it."""

    def run(text: str | bytes, *args: str, name: str = "script.py", **options: Any) -> tuple[Recording, Trace]:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        recording = run_script(path, args, trace_path=tmp_path / "trace.backstep", **options)
        return recording, Trace.open(str(recording.trace_path))

    return run


def raised(trace: Trace) -> ErrorRaised:
    """The error that a trace ends with."""
    last = trace.events[-1]
    assert isinstance(last, ErrorRaised)
    return last


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
    assert run_script("in/größe mit leer.py").returncode == 0
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
def test_status_and_output_are_those_of_python(script: Script, tmp_path: Path, capfd: Capture, text: str) -> None:
    recording, _ = script(text)
    ours = capfd.readouterr()
    theirs = subprocess.run([sys.executable, str(tmp_path / "script.py")], capture_output=True, text=True, check=False)
    assert (recording.returncode, ours.out) == (theirs.returncode, theirs.stdout)
    assert ours.err == theirs.stderr


def test_input_reaches_the_script(tmp_path: Path) -> None:
    (tmp_path / "s.py").write_text("print(input() + '!')")
    program = "import sys; from viz.runner import run_script; run_script(sys.argv[1])"
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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("import sys\nsys.exit(3)\n", "script.py ended itself in line 6, with status 3."),
        ("def f():\n    raise SystemExit('no\\ndata')\nf()\n",
         "script.py ended itself in line 6, with status 1 and the message “no data”."),
        ("import argparse\nargparse.ArgumentParser().parse_args(['--x'])\n", "itself in line 6, with status 2."),
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
    assert said == "script.py ended itself in line 4 of helper.py, with status 4."


ASKS = "import engine as torch\nx = torch.ones(3)\nn = float(input())\n"


def test_script_that_asks_for_input_where_there_is_none_is_told_what_ran_and_what_to_do(script: Script) -> None:
    recording, trace = script(ASKS, quiet=True)
    said = "script.py had made 1 tensor when it stopped with EOFError, and computed nothing from it yet."
    assert recording.explanation.startswith(said)
    error = scene(trace)["error"]
    assert error["why"].startswith("`n = float(input())` in line 3 waits for a line that is typed, and none can come")
    assert "read `sys.argv`" in error["fix"]["text"]


def test_script_that_does_not_end_is_told_how_it_is_ended(
    script: Script, monkeypatch: pytest.MonkeyPatch, capfd: Capture
) -> None:
    monkeypatch.setattr(runner, "LONG", 0.0)
    script(SMALL)
    assert "script.py is still running. Ctrl-C ends it, and what it has recorded is shown." in capfd.readouterr().err
    script(SMALL, quiet=True)
    assert "script.py is still running. Save it again to end it." in capfd.readouterr().err


def test_trace_tells_no_folder_of_this_machine(script: Script, tmp_path: Path) -> None:
    _, trace = script(SMALL + "import os\nraise OSError(os.path.abspath(__file__))\n")
    assert str(tmp_path) not in raised(trace).traceback + raised(trace).message
    assert str(tmp_path) not in "".join(trace.files) + repr(trace.stacks)


def test_interrupted_script_keeps_what_was_recorded(script: Script) -> None:
    recording, trace = script(SMALL + "import signal\nsignal.raise_signal(signal.SIGINT)\nx * 2\n")
    assert recording.returncode == -signal.SIGINT and recording.error == "KeyboardInterrupt"
    assert "BackwardEnded" in kinds(trace) and raised(trace).type == "KeyboardInterrupt"
    assert scene(trace)["error"]["why"].startswith("The program was ended from outside (Ctrl-C) at ")


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
    with pytest.raises(ScriptError, match=r"no script .*In that folder there are there\.py"):
        run_script(tmp_path / "their.py")
    with pytest.raises(ScriptError, match=r"is a folder\. Give the path"):
        run_script(tmp_path)
    (tmp_path / "__main__.py").touch()
    with pytest.raises(ScriptError, match=r"is a folder\. Give the script in it, such as .*__main__\.py"):
        run_script(tmp_path)


# -- as torch ---------------------------------------------------------------------------------------------------------


def test_import_of_torch_is_answered_by_the_engine(script: Script, capfd: Capture) -> None:
    text = (
        "import torch\nimport torch.nn as nn\nimport torch.autograd\nfrom torch import tensor\nimport engine\n"
        "print(torch is engine, nn is engine.nn, engine.__name__, engine.nn.__spec__.name)\n"
        "x = tensor([1., 2.], requires_grad=True)\n(x * x).sum().backward()\n"
    )
    recording, trace = script(text, as_torch=True)
    assert capfd.readouterr().out == "True True engine engine.nn\n" and recording.explanation == ""
    assert "Accumulated" in kinds(trace)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("torch.exq(x)", r"no torch.exq, asked for in line 3 of script.py. The nearest name is '\w+'; docs/ops.md"),
        ("x.bakward()", r"no Tensor.bakward, asked for in line 3 of script.py. The nearest name is 'backward'"),
        ("from torch import no_grd", "no torch.no_grd, asked for in line 3 of script.py. The nearest name is .no_grad"),
        ("import torch.cuda.amp.nothing", "no torch.cuda.*, asked for in line 3 of script.py"),
        ("import torch.tracefile_", "no torch.tracefile_, asked for in line 3"),
        ("from torch.nn import Lineer", "no torch.nn.Lineer, asked for in line 3"),
    ],
)
def test_missing_name_is_explained_with_its_line(script: Script, capfd: Capture, line: str, says: str) -> None:
    recording, trace = script(f"import torch\nx = torch.ones(2)\n{line}\n", as_torch=True)
    assert recording.returncode == 1
    assert re.search(says, recording.explanation), recording.explanation
    assert re.search(says, capfd.readouterr().err) and re.search(says, raised(trace).note)


TRAINING = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.optim import SGD
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset
from torch.nn.utils import clip_grad_norm_

model = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
optimizer = SGD(model.parameters(), lr=0.1, momentum=0.9)
scheduler = StepLR(optimizer, 1)
loader = DataLoader(TensorDataset(torch.ones(4, 2), torch.ones(4, 1)), batch_size=2, shuffle=True)
for x, y in loader:
    optimizer.zero_grad()
    F.relu(model(x) - y).sum().backward()
    clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
scheduler.step()
"""


def test_training_script_runs_as_torch(script: Script) -> None:
    recording, trace = script(TRAINING, as_torch=True)
    assert recording.returncode == 0, recording.explanation
    assert {"GroupEntered", "GroupLeft", "Accumulated"} <= set(kinds(trace))
    assert {"model.0.weight", "model.0.bias", "model.1.weight", "model.1.bias", "x", "y"} <= set(trace.names.values())


def test_script_that_asks_whether_torch_has_a_name_goes_on(script: Script) -> None:
    recording, _ = script("import torch\nassert not hasattr(torch, 'compile_everything')\n", as_torch=True)
    assert recording.returncode == 0


# -- nothing to see ---------------------------------------------------------------------------------------------------


def test_script_that_recorded_nothing_is_explained(script: Script) -> None:
    assert "does not import the engine" in script("print(1)")[0].explanation
    assert "imports the engine (line 2), but no op ran" in script("\nimport engine")[0].explanation
    assert "requires_grad=True" in script("import engine\ny = engine.ones(2) * 2")[0].explanation
    assert "never called backward" in script("import engine\ny = engine.ones(2, requires_grad=True) * 2")[0].explanation


def test_script_of_real_torch_is_told_of_as_torch() -> None:
    said = explain.nothing_recorded("s.py", "\nimport torch\n", explain.Counts(0, 0, 0), as_torch=False, error="")
    assert said.startswith("s.py imports torch (line 2), whose ops Backstep does not see. Run it with --as-torch")
    assert "SyntaxError" in explain.nothing_recorded("s.py", "x = =", explain.Counts(0, 0, 0), False, "SyntaxError")
    assert "before its first op" in explain.nothing_recorded("s.py", "1/0", explain.Counts(0, 0, 0), False, "KeyError")
    assert explain.nothing_recorded("s.py", "", explain.Counts(1, 1, 0), False, "KeyError") == ""
    assert explain.imports("from engine import a\nimport torch.nn") == explain.Imports(1, 2)


@pytest.mark.parametrize("name", ["engine.py", "viz.py", "engine/__init__.py"])
def test_files_named_like_ours_are_explained_not_obeyed(
    script: Script, tmp_path: Path, capfd: Capture, name: str
) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("print('obeyed')")
    recording, trace = script(SMALL + "import viz\n")
    assert "obeyed" not in capfd.readouterr().out and "Accumulated" in kinds(trace)
    assert f"`{name}`" in recording.explanation and "Rename yours" in recording.explanation


def test_own_files_do_not_shadow_themselves() -> None:
    assert explain.shadows(ROOT, ROOT) == [] and explain.shadowed("s.py", []) == ""


# -- ctrl-c ------------------------------------------------------------------------------------------------------------


DRIVER = """
import sys
from viz.runner import run_script
recording = run_script(sys.argv[1], trace_path=sys.argv[2])
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


def test_nearest_name_is_one_that_is_meant_for_use(script: Script) -> None:
    recording, _ = script("import torch\ntorch.trace_file\n", as_torch=True)
    assert "no torch.trace_file" in recording.explanation and "tracefile" not in recording.explanation


def test_viz_show_does_not_hold_up_a_script_that_is_run(script: Script, capfd: Capture) -> None:
    text = SMALL + "import viz\nwith torch.record() as trace:\n    x.mul(2)\nviz.show(trace)\nprint('on')\n"
    recording, _ = script(text)
    printed = capfd.readouterr()
    assert recording.returncode == 0 and printed.out == "on\n" and "viz.show() is left out" in printed.err


def test_missing_module_is_to_be_written_by_hand(script: Script) -> None:
    recording, _ = script("import torch\nnet = torch.nn.quantized(3, 2)\n", as_torch=True)
    assert recording.explanation.startswith("The engine has no torch.nn.quantized, asked for in line 2 of script.py.")
    assert "`x @ W + b`" in recording.explanation


ROOMS = """
import torch
import torch.distributed as dist
import torch.onnx
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributions.categorical import Categorical
from torch.distributions.transformed_distribution import TransformedDistribution
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.utils.stateless import functional_call
import torch.nn.utils.prune as prune
assert TransformedDistribution is torch.distributions.TransformedDistribution
assert functional_call is torch.func.functional_call and SDPBackend.MATH and sdpa_kernel
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.profiler import ProfilerActivity, profile
from torch.utils.data.dataloader import default_collate
from torch.utils.tensorboard import SummaryWriter

@torch.jit.script
def double(x):
    return x * 2

@torch.compiler.disable
def triple(x):
    return x * 3

assert Categorical is torch.distributions.Categorical and default_collate is torch.utils.data.default_collate
assert torch.utils.data.sampler.RandomSampler is torch.utils.data.RandomSampler
assert torch.__version__ >= "2.0" and prune.is_pruned(torch.nn.Linear(1, 1)) is False
assert not (dist.is_available() or dist.is_initialized() or torch.jit.is_scripting() or torch.xpu.is_available())
model = torch.nn.Linear(2, 1)
assert not isinstance(model, DDP) and not isinstance(model, torch.fx.GraphModule)
with SummaryWriter("runs") as writer:
    writer.add_scalar("loss", 1.0, 0)
assert {"f": torch.float32, "b": torch.bfloat16}["f"] is torch.float32
assert not hasattr(ProfilerActivity.CPU, "__len__") and repr(ProfilerActivity.CPU).endswith("ProfilerActivity.CPU")
triple(double(model(torch.ones(1, 2)))).sum().backward()
print("ran")
"""


def test_rooms_that_are_not_there_may_be_imported_and_left_unused(script: Script, capfd: Capture) -> None:
    recording, trace = script(ROOMS, as_torch=True)
    printed = capfd.readouterr()
    assert (printed.out, recording.returncode) == ("ran\n", 0), printed.err
    assert "Accumulated" in kinds(trace)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("torch.onnx.export(x)", "torch.onnx.export is not in Backstep: the program is recorded as Python runs it"),
        ("with torch.profiler.profile() as p: pass", "torch.profiler.profile is not in Backstep: nothing is timed"),
        ("with torch.profiler.never: pass", "torch.profiler.never is not in Backstep"),
        ("class Tracer(torch.fx.Tracer): pass", "torch.fx.Tracer is not in Backstep: the program is recorded"),
        ("torch.nn.parallel.DistributedDataParallel(x)", "use the module itself"),
        ("import torch.distributed as d; d.init_process_group('gloo')", "a recording is of one process"),
        ("torch.testing.assert_close(x, x)", "compare with torch.allclose()"),
    ],
)
def test_what_is_used_of_a_room_that_is_not_there_says_so(script: Script, line: str, says: str) -> None:
    recording, trace = script(f"import torch\nx = torch.ones(2)\n{line}\n", as_torch=True)
    assert (recording.returncode, recording.error) == (1, "OutOfScope") and says in raised(trace).message


def test_a_room_that_is_not_there_is_explained_to_a_script_of_the_engine_too(script: Script) -> None:
    recording, _ = script("import engine as torch\ntorch.onnx.export()\n")
    assert "no engine.onnx, asked for in line 2 of script.py: the program is recorded" in recording.explanation
    recording, _ = script("import torch\ntorch.nn.DataParallel(torch.nn.Linear(1, 1))\n", as_torch=True)
    assert "no torch.nn.DataParallel" in recording.explanation and "use the module itself" in recording.explanation


def test_opened_trace_says_how_its_script_ended(script: Script) -> None:
    recording, _ = script(SMALL + "import sys\nsys.exit(3)\n")
    assert from_file(recording.trace_path).about["note"] == "script.py ended itself in line 6, with status 3."
    assert from_file(script(SMALL)[0].trace_path).about["note"] == ""
