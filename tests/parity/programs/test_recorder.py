"""The recorder of the real torch: a program runs as without it, and is recorded by `backstep run` without a flag."""

from __future__ import annotations

import contextlib
import importlib
import io
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.arrays.session import slot
from engine.trace.events import (
    BackwardStarted,
    ErrorRaised,
    GroupEntered,
    LeafCreated,
    OpCalled,
    Printed,
    Trace,
    VjpRun,
)
from engine.trace.file.consistency import open_checked
from tests.parity.helpers.recordings import recorded_here
from viz.record.block import Block
from viz.record.imports import Import
from viz.record.runner import Script, run_script
from viz.record.torch.import_hook import watching

pytestmark = [pytest.mark.parity, pytest.mark.usefixtures("oracle")]

torch: Any
try:
    torch = importlib.import_module("torch")
except ImportError:
    torch = None

NET = """
import torch
from torch import nn
import torch.nn.functional as F

class Scale(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, factor):
        ctx.save_for_backward(x)
        ctx.factor = factor
        return x * factor

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.factor, None

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.rnn = nn.LSTM(8, 6, batch_first=True)
        self.head = nn.Linear(6, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x)), inplace=True), 2)
        with torch.autocast("cpu", enabled=False):  # not every processor has a recurrence in bfloat16
            states, _ = self.rnn(x.flatten(2)[:, :, :8].float())
        return Scale.apply(self.head(F.dropout(states[:, -1], 0.2)), 2.0)

torch.manual_seed(3)
net = Net()
optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
data = torch.utils.data.TensorDataset(torch.randn(12, 1, 6, 6), torch.randint(0, 3, (12,)))
losses = []
for images, labels in torch.utils.data.DataLoader(data, batch_size=4, shuffle=True):
    optimizer.zero_grad()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        scores = net(images)
    loss = F.cross_entropy(scores.float(), labels)
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    losses.append(loss.item())
with torch.no_grad():
    net.eval()
    scores = net(torch.ones(1, 1, 6, 6))
hooked = torch.ones(3, requires_grad=True)
hooked.register_hook(lambda gradient: gradient * 3)
(first,) = torch.autograd.grad((hooked ** 3).sum(), hooked, create_graph=True)
first.sum().backward()
print(losses, scores, hooked.grad, torch.rand(2))
"""


UNSEEN = """
import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

torch.manual_seed(1)
w = torch.randn(3, 3, requires_grad=True)
print(torch.func.vmap(lambda a: (a @ w).sin().sum())(torch.ones(4, 3)))
print(torch.func.grad(lambda a: (a ** 3).sum())(torch.ones(3)))
net, x = nn.Sequential(nn.Linear(3, 3), nn.ReLU(), nn.Linear(3, 3)), torch.ones(2, 3, requires_grad=True)
checkpoint(net, x, use_reentrant=False).sum().backward()
checkpoint(net, x, use_reentrant=True).sum().backward()
torch.sparse.mm(torch.eye(2).to_sparse(), x).sum().backward()
torch.fft.rfft(x).abs().sum().backward()
with torch.autograd.graph.saved_tensors_hooks(lambda t: t.clone(), lambda t: t):
    y = (x * x).exp().sum()
y.backward()
class Own(torch.Tensor):
    pass
own = torch.ones(3).as_subclass(Own).requires_grad_()
(own * 2).sum().backward()
for options in ({"foreach": True}, {"fused": True}):
    optimizer = torch.optim.Adam(net.parameters(), **options)
    optimizer.step()
net.register_full_backward_hook(lambda module, sent, received: (sent[0] * 2,))
net(x).sum().backward()
z = torch.zeros(4, 4)
z[1:3, 1:3] = 1
z.resize_(2, 8)
torch.add(z, 1, out=z.new_empty(0))
nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
meta = torch.ones(2, device="meta") + 1
torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.quint8).dequantize()
compiled = torch.compile(lambda a: a.sin() + 1, backend="eager")
compiled(x).sum().backward()
print(x.grad, own.grad, type(own * 2), [p.grad for p in net.parameters()], z, (nested * 2).unbind(), torch.rand(2))
"""


def run(source: str) -> tuple[str, list[str]]:
    """What a text prints that is run as a script, to the last bit, and its warnings."""
    out, distribution = io.StringIO(), torch.distributions.Distribution
    always, validate = torch.is_warn_always_enabled(), distribution._validate_args
    torch.set_printoptions(precision=17)
    torch.set_warn_always(True)  # else the second run does not give the warnings of the first
    try:
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as given:
            warnings.simplefilter("always")
            exec(compile(source, "net.py", "exec"), {"__name__": "__main__"})
    finally:
        torch.set_printoptions(profile="default")
        torch.set_warn_always(always)
        distribution.set_default_validate_args(validate)  # torch.compile turns them off, for the whole process
    return out.getvalue(), sorted({str(one.message) for one in given})


def patched() -> list[Any]:
    """What the recorder replaces in torch while it runs."""
    places = [
        (torch.nn.Module, "__call__"), (torch.Tensor, "grad"), (torch.Tensor, "data"), (torch.Tensor, "item"),
        (torch.Tensor, "requires_grad"), (torch.autograd, "backward"), (torch.autograd.graph, "_engine_run_backward"),
        (torch.autograd.Function, "apply"), (torch.no_grad, "__enter__"), (warnings, "_showwarnmsg_impl"),
        (threading.Thread, "_bootstrap_inner"),
    ]  # fmt: skip
    hooks = importlib.import_module("torch.optim.optimizer")
    found: list[Any] = [vars(owner).get(name) for owner, name in places]
    return [*found, len(hooks._global_optimizer_pre_hooks), torch._C._len_torch_dispatch_stack()]


def recorded_as_alone(source: str) -> Trace:
    """The recording of a program that prints the same as without it and leaves torch as it was."""
    before, alone = patched(), run(source)
    with Block() as trace:
        recorded = run(source)
    assert recorded == alone and patched() == before
    assert_is_consistent(trace)
    return trace


def test_program_runs_to_the_last_bit_as_without_recording_and_torch_is_left_as_it_was() -> None:
    trace = recorded_as_alone(NET)
    assert "aten::" not in {op.name.partition(".")[0] for op in ops(trace)}
    names = {event.name for event in trace.events if isinstance(event, GroupEntered)}
    assert {"net", "conv", "norm", "rnn", "head", "AdamW.step"} <= names
    assert any(op.name == "custom_function" and op.attrs["function"] == "Scale" for op in ops(trace))
    assert {"net.conv.weight", "net.head.bias"} <= set(trace.names.values())


def test_whatever_the_recorder_cannot_look_into_runs_as_without_it() -> None:
    trace = recorded_as_alone(UNSEEN)
    found = {op.name for op in ops(trace)}
    assert {"aten::_fft_r2c", "aten::_sparse_addmm", "torch::SinBackward0"} <= found  # the last one was compiled


def test_ops_that_cannot_be_read_are_nodes_that_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault in the bridge costs the arguments of an op, not its place in the graph nor what runs backwards."""
    source = NET + "a = torch.ones(3, requires_grad=True)\nb = a * 2\nb[:1].mul_(3)\nb.sum().backward()\n"
    whole = recorded_as_alone(source)
    entries = importlib.import_module("viz.record.torch.entries")

    def broken(*_: Any) -> None:
        raise OverflowError("planted")

    monkeypatch.setattr(entries, "counterpart_of", broken)
    trace = recorded_as_alone(source)
    assert [type(event) for event in trace.events] == [type(event) for event in whole.events]
    assert [one for one in trace.events if isinstance(one, VjpRun)] == [
        one for one in whole.events if isinstance(one, VjpRun)
    ]
    lost = [op for op in ops(trace) if "planted" in str(op.attrs.get("not_seen"))]
    assert {"torch::convolution", "torch::CopySlices", "torch::addmm"} <= {op.name for op in lost}
    for was, op in zip(ops(whole), ops(trace), strict=True):
        assert [(o.tensor, o.shape) for o in op.outputs] == [(o.tensor, o.shape) for o in was.outputs]
        assert leading(op) == leading(was)


def leading(op: OpCalled) -> list[Any]:
    """The edges of an op's node along which a gradient goes."""
    return [] if op.node is None else [edge for edge in op.node.edges if edge is not None]


def ops(trace: Trace) -> list[OpCalled]:
    return [event for event in trace.events if isinstance(event, OpCalled)]


def assert_is_consistent(trace: Trace) -> None:
    """What arrives at a node is what the nodes before it sent there, added up in its own dtype."""
    nodes = {op.node.node: op.node for op in ops(trace) if op.node is not None}
    arriving: dict[tuple[int, int, int], list[int]] = {}
    for event in trace.events:
        if not isinstance(event, VjpRun):
            continue
        for nr, number in enumerate(event.upstream):
            sent = arriving.pop((event.call, event.node, nr), [])
            if number is None or not sent or (arrived := trace.value(number)).array is None:
                continue
            total = sum(trace.value(one).array for one in sent)  # type: ignore[misc]
            rounding = {"bfloat16": 2**-7, "float16": 2**-10}.get(arrived.dtype, 1e-4)
            assert arrived.array == pytest.approx(total, rel=rounding, abs=1e-6, nan_ok=True), nodes[event.node]
        for edge, number in zip(nodes[event.node].edges, event.cotangents, strict=False):
            if edge is not None and edge.node is not None and number is not None:
                arriving.setdefault((event.call, edge.node, edge.output_nr), []).append(number)


def test_error_passes_through_and_is_the_last_event() -> None:
    before = patched()
    source = "import torch\nx = torch.ones(2, requires_grad=True)\ny = x.exp()\ny.add_(1)\ny.sum().backward()\n"
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as raised, Block() as trace:
        run(source)
    assert patched() == before and not getattr(raised.value, "__notes__", ())
    error = next(event for event in trace.events if isinstance(event, ErrorRaised))
    node = next(op.node for op in ops(trace) if op.node is not None and op.node.node == error.node)
    assert (node.name, error.call) == ("ExpBackward0", 0)


def test_script_is_recorded_without_a_flag_and_its_prints_stand_after_the_ops_before_them(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\nimport engine\n"
        "w = torch.ones(3, requires_grad=True)\n"
        "for step in range(2):\n    twice = w * 2\n    print('a', end=' ')\n    loss = twice.sum()\n"
        "    loss.backward()\n    print(loss.item())\n"
        "other = engine.ones(1, requires_grad=True)\n(other * 3).sum().backward()\nw.view(2)\n"
    )
    recording = run_script(Script(script), tmp_path / "train.backstep")
    assert (recording.returncode, recording.iterations) == (1, 2)
    out, err = capfd.readouterr()
    assert out == "a 6.0\na 6.0\n" and [line for line in err.splitlines() if line.startswith("  File")] == [
        f'  File "{script}", line 12, in <module>'
    ]
    trace = open_checked(recording.trace_path, 1000)
    assert [op.name for op in ops(trace)] == ["mul", "sum"] * 3
    assert set(trace.names.values()) == {"w", "twice", "loss", "other"}
    told = [one.text if isinstance(one, Printed) else getattr(one, "name", "") for one in trace.events]
    assert [one for one in told if one] == [*["mul", "a ", "sum", "6.0\n"] * 2, "mul", "sum"]


@pytest.mark.newest
def test_torch_that_is_too_old_is_named_and_the_script_runs(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "torch.py").write_text('__version__ = "2.3.1+cu121"\n')
    (tmp_path / "train.py").write_text("import torch\nprint(torch.__version__)\n")
    assert run_script(Script(tmp_path / "train.py"), tmp_path / "train.backstep").returncode == 0
    out, err = capfd.readouterr()
    assert out == "2.3.1+cu121\n"
    assert "backstep: PyTorch 2.3.1+cu121 is too old to be recorded: 2.4 or newer is needed." in err


@pytest.mark.parametrize("fault", ["1 / 0", "raise ImportError('no libcudart')", "raise OSError('no libcudart')"])
def test_torch_that_fails_to_import_has_the_traceback_of_python(fault: str, tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text(f"{fault}\n")
    (tmp_path / "train.py").write_text("import torch\n")
    alone = subprocess.run([sys.executable, "train.py"], capture_output=True, text=True, check=False, cwd=tmp_path)
    command = [sys.executable, "-m", "viz", "record", "-o", tmp_path / "train.backstep", tmp_path / "train.py"]
    recorded = subprocess.run(command, capture_output=True, text=True, check=False)
    said = [line for line in recorded.stderr.splitlines() if not line.startswith("backstep: ")]
    assert said == alone.stderr.replace('"train.py"', f'"{tmp_path}/train.py"').splitlines()
    assert recorded.returncode == alone.returncode == 1


def test_torch_that_cannot_be_watched_is_named_and_left_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    owners = torch.nn.Module, torch.Tensor, torch.autograd, torch.autograd.Function, warnings
    before = [dict(vars(owner)) for owner in owners]
    monkeypatch.delattr(torch.utils.data.dataloader, "_BaseDataLoaderIter")  # one of the last that are replaced
    said: list[str] = []
    with engine.record(), watching(slot.active, said.append):
        assert [dict(vars(owner)) for owner in owners] == before
    (text,) = said
    assert text.startswith(f"PyTorch {torch.__version__} cannot be recorded, and the script")
    assert "_BaseDataLoaderIter" in text and text.endswith("Versions 2.4 to 2.14 can be recorded.")


def test_import_happens_inside_a_context_and_may_be_tried_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "imported_inside.py").write_text("import sys\nsys.steps.append('runs')\n")
    monkeypatch.syspath_prepend(tmp_path)
    steps: list[str] = []

    @contextlib.contextmanager
    def around() -> Iterator[None]:
        steps.append("begins")
        yield
        steps.append("ended")

    imported = Import("imported_inside", around)
    imported.wait()
    with pytest.raises(AttributeError, match="steps"):
        importlib.import_module("imported_inside")
    monkeypatch.setattr(sys, "steps", steps, raising=False)
    module = importlib.import_module("imported_inside")
    assert steps == ["begins", "begins", "runs", "ended"] and imported not in sys.meta_path
    assert type(module.__loader__).__name__ == "SourceFileLoader"


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


ALIASES = """
import torch
class Own(torch.Tensor):
    pass
w = torch.ones(3, requires_grad=True)
(w.as_subclass(Own) * 2).sum().backward()
plain = torch.arange(3).as_subclass(Own).as_subclass(torch.Tensor)
print(w.grad, plain)
"""


def test_alias_of_another_class_is_an_op() -> None:
    trace = recorded_as_alone(ALIASES)
    found = ops(trace)
    assert [op.name for op in found] == ["alias", "mul", "alias", "sum", "alias", "alias", "alias"]
    assert [op.inputs[0].tensor for op in found[1:5]] == [op.outputs[0].tensor for op in found[:4]]
    (started,) = (event for event in trace.events if isinstance(event, BackwardStarted))
    assert started.roots[0].tensor == found[4].outputs[0].tensor
    assert trace.values[found[4].outputs[0].value].array == 6  # a class without a dispatch of its own hides no elements
    assert len([event for event in trace.events if isinstance(event, LeafCreated)]) == 2


FROM_UNSEEN = """
import torch
x = torch.ones(3, requires_grad=True)
y = torch.compile(lambda x: (x.sin() + 1) * 2, backend="eager")(x)
(y * 3).sum().backward()
print(x.grad)
"""


def test_result_of_code_that_is_not_seen_belongs_to_its_node() -> None:
    trace = recorded_as_alone(FROM_UNSEEN)
    found = {op.name: op for op in ops(trace)}
    last, times = found["torch::MulBackward0"], found["mul"]
    assert "not_seen" in last.attrs and last.outputs[0].tensor == times.inputs[0].tensor
    assert trace.values[last.outputs[0].value].array.tolist() == (2 * (torch.ones(3).sin() + 1)).tolist()
    assert [type(event) for event in trace.events if isinstance(event, LeafCreated)] == [LeafCreated]  # x alone
