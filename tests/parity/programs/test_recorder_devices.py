"""Programs on a GPU, for which a device stands that is made of main memory; and on a device that is chosen once."""

from __future__ import annotations

import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from engine.trace.events import LeafCreated, OpCalled
from tests.parity.helpers.recordings import recorded_here
from viz.gallery import gallery

from .test_gallery_recorded import plain, recorded

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")

WORK = """
import json, sys
import torch
from viz.record.block import Block

DEVICE = sys.argv[1]
if DEVICE == "late":
    from tests.parity.helpers import late_device
    from viz.record.torch import device_values
    late_device.register()
    device_values.pinned = lambda size: torch.empty(size, dtype=torch.uint8)

class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * 3 * x * x

x = torch.linspace(-1, 1, 40).to(DEVICE).requires_grad_()
w = torch.linspace(0, 2, 40).to(DEVICE).requires_grad_()
with Block() as trace:
    h = Cube.apply(x) * w
    h.retain_grad()
    h.register_hook(lambda gradient: gradient * 2)
    (first,) = torch.autograd.grad(h.sum(), x, create_graph=True)
    (first * w).sum().backward()
    big = (x * w).expand(2000, 40).exp()
    big.sum().backward()
    try:
        h.sum().backward()
        h.sum().backward()
    except RuntimeError:
        pass
report = []
for event in trace.events:
    stack = trace.stacks[event.stack] if event.stack >= 0 else ()
    report.append([type(event).__name__, getattr(event, "name", ""), [frame.line for frame in stack]])
values = [value if value.array is None else value.array for value in map(trace.value, range(len(trace.values)))]
sums = [float(v.stats["mean"] * 80_000 if hasattr(v, "stats") else v.sum()) for v in values]
print(json.dumps([report, sums, [list(v.shape) for v in values]]))
"""


def run(device: str, folder: Path) -> Any:
    """What the program is on a device: its events with their places, the sums of its values, and their shapes."""
    script = folder / "work.py"
    script.write_text(WORK, "utf-8")
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'viz' / 'public'}"}
    done = subprocess.run(
        [sys.executable, str(script), device], check=False, capture_output=True, text=True, env=environment
    )
    assert not done.returncode, done.stderr[-2000:]
    assert "Backstep itself has failed" not in done.stderr, done.stderr
    return json.loads(done.stdout)


def has_late_device() -> bool:
    """Return whether this PyTorch takes a device that is written in Python."""
    registration = importlib.import_module("torch.utils.backend_registration")
    return hasattr(registration, "_setup_privateuseone_for_python_backend")


def test_on_a_device_events_places_and_values_are_those_on_the_cpu(tmp_path: Path) -> None:
    if not has_late_device():
        pytest.skip("this PyTorch has no devices written in Python")
    here, there = run("cpu", tmp_path), run("late", tmp_path)
    assert there[0] == here[0]
    assert there[2] == here[2]
    assert there[1] == pytest.approx(here[1], rel=1e-4, abs=1e-4)


WITH_MODE = ("two_layers", "half_detached", "gradcheck", "inner_grad", "hooks", "rnn")
"""Programs that were recorded differently under the mode that `torch.set_default_device` makes."""


@pytest.mark.parametrize("name", WITH_MODE)
def test_a_device_that_is_chosen_once_changes_nothing_in_the_recording(name: str) -> None:
    (program,) = (one for one in gallery() if one.id == name)
    source = program.source.replace("import engine as torch", "import torch")
    without = recorded(source)
    torch.set_default_device("cpu")
    try:
        under_mode = recorded(source)
    finally:
        torch.set_default_device(None)
    assert [plain(event) for event in under_mode.events] == [plain(event) for event in without.events]


CONVERTED = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(3, 2).double()
x = torch.ones(4, 3, dtype=torch.float64)
net(x).sum().backward()
net.float()
net.zero_grad()
net(x.float()).sum().backward()
"""


def test_conversion_of_a_module_is_no_computation_of_the_program(tmp_path: Path) -> None:
    trace = recorded_here(CONVERTED, tmp_path)
    names = [event.name for event in trace.events if isinstance(event, OpCalled)]
    assert names.count("to") == 1, names  # that of x
    weights = [event for event in trace.events if isinstance(event, LeafCreated) and event.name == "net.weight"]
    assert [event.dtype for event in weights] == ["float64", "float32"]
