"""Values of tensors on a GPU, which arrive later; here a CPU stands for it.  Elements of types that numpy lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.arrays.session import slot
from engine.trace.events import Accumulated, BackwardStarted, Escaped, LeafCreated, OpCalled, Trace, VjpRun
from engine.trace.log_reader import value_of
from engine.trace.record import recording
from engine.trace.summary import sample_of, statistics
from tests.parity.helpers.recordings import recorded_here
from viz.findings.runs import run_findings
from viz.reading.labels import written_name
from viz.reading.library import agreement
from viz.reading.values import as_json
from viz.record.block import Block
from viz.record.torch.import_hook import TorchImport
from viz.run.run import Run
from viz.scene.reading import reading_of
from viz.scene.run_overview import in_iterations
from viz.server.library.on_engine import UnlikeEngine, recomputed

pytestmark = pytest.mark.parity
torch: Any = pytest.importorskip("torch")


@pytest.mark.parametrize(
    "elements",
    [np.arange(-500.0, 500.0, dtype="float32"), np.array([np.nan, 1, -np.inf, 0, -0.0, 7], "float64"),
     np.array([np.nan, np.inf], "float32"), np.arange(300, dtype="int64"), np.array([True, False, True])],
)  # fmt: skip
def test_statistics_on_a_device_are_those_on_the_cpu_and_wait_for_it(
    elements: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from viz.record.torch import device_values

    steps: list[str] = []

    class Event:
        def record(self, stream: str) -> None:
            steps.append(f"recorded on {stream}")

        def synchronize(self) -> None:
            steps.append("waits")

    stands = SimpleNamespace(Event=Event, current_stream=lambda device: f"the stream of {device}")
    monkeypatch.setattr(device_values, "pinned", lambda size: torch.empty(size, dtype=torch.uint8))
    kept = device_values.Queue(stands).summary(torch.from_numpy(elements), elements.dtype)
    assert set(steps) == {"recorded on the stream of cpu"}
    recorded = len(steps)
    value = value_of(kept)
    assert steps[recorded:] and set(steps[recorded:]) == {"waits"}
    expected = statistics(elements)
    assert {name: value.stats[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    np.testing.assert_array_equal(value.sample, sample_of(elements))


def test_values_that_arrived_are_let_go_and_only_so_many_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    from viz.record.torch import device_values

    stands = SimpleNamespace(
        Event=lambda: SimpleNamespace(record=lambda stream: None, synchronize=lambda: None),
        current_stream=lambda device: None,
    )
    monkeypatch.setattr(device_values, "pinned", lambda size: torch.empty(size, dtype=torch.uint8))
    monkeypatch.setattr(device_values, "WAITING", 10 * device_values.ALIGNED)
    queue = device_values.Queue(stands)
    for _ in range(100):
        queue.elements(torch.ones(()), np.dtype("float32")).read()
    assert len(queue.coming) <= 1
    unread = [queue.elements(torch.full((), float(n)), np.dtype("float32")) for n in range(100)]
    assert len(queue.coming) == 10 and [one.is_there for one in unread] == [True] * 90 + [False] * 10
    assert [float(one.read()) for one in unread] == list(range(100))


NARROW = """
import torch
w = torch.tensor([0.1, -1.7, 3.14159], dtype=torch.bfloat16, requires_grad=True)
many = torch.linspace(-3, 3, 70_000, dtype=torch.bfloat16)
short = torch.arange(40.0).to(torch.float8_e4m3fn)
y = (w * w).sum() + many.sum() * 0
y.backward()
sparse = torch.eye(2000).to_sparse()
print(w.grad.tolist(), many.double().sum().item(), short.float().sum().item(), sparse.sum().item())
"""


def test_bfloat16_and_float8_are_kept_exactly_and_named_in_a_file(tmp_path: Path) -> None:
    trace = recorded_here(NARROW, tmp_path)
    w, many = (event for event in trace.events if isinstance(event, LeafCreated) and event.dtype == "bfloat16")
    assert as_json(trace.value(w.value))["data"] == [0.1, -1.7, 3.14]
    exact = torch.tensor([0.1, -1.7, 3.14159], dtype=torch.bfloat16)
    assert trace.value(w.value).sample.tolist() == exact.tolist()
    large = trace.value(many.value)
    assert large.array is None and large.dtype == "bfloat16" and large.stats["min"] == -3
    made = [event for event in trace.events if isinstance(event, OpCalled) and event.name == "to"]
    assert written_name(made[0]) == "to" and made[0].outputs[0].dtype == "float8_e4m3fn"
    assert trace.value(made[0].outputs[0].value).sample.tolist()[-4:] == [36, 36, 40, 40]
    vjps = [event for event in trace.events if isinstance(event, VjpRun)]
    assert {trace.value(one).dtype for vjp in vjps for one in vjp.cotangents if one is not None} == {"bfloat16"}
    read = reading_of(trace)
    (square,) = (e for e in trace.events if isinstance(e, OpCalled) and e.name == "mul" and e.outputs[0].shape == (3,))
    found = agreement(read.facts, square, [v for v in vjps if square.node and v.node == square.node.node], [{}])
    assert found is not None and found.agrees, found
    with pytest.raises(UnlikeEngine, match="computes in bfloat16, which Backstep's engine does not have"):
        recomputed(trace, {})


WRITES = """
import torch
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = x * 2
y[0].mul_(5.0)
last = y[1:]
last.copy_(x[:2] * 3)
(y * last[0]).sum().backward(create_graph=True)
(x.grad.tanh() ** 2).sum().backward()
"""


def test_write_to_a_view_is_copy_slices_with_its_path_and_nodes_have_torchs_names(tmp_path: Path) -> None:
    trace = recorded_here(WRITES, tmp_path)
    ops = [event for event in trace.events if isinstance(event, OpCalled)]
    writes = [event for event in ops if event.name == "copy_slices"]
    paths = [(one.attrs["path"][0][0], one.attrs["writer"]) for one in writes[:2]]
    assert paths == [("select", "mul"), ("slice", "copy")]
    assert {one.node.name for one in writes if one.node is not None} == {"CopySlices"}
    again = next(event for event in ops if event.name == "as_strided.path")
    assert again.attrs["path"] == writes[1].attrs["path"] and again.outputs[0].view_of == writes[1].inplace
    assert not any(event.name.startswith("torch::") for event in ops)
    second = {event.node.name for event in ops if event.call is not None and event.node is not None}
    assert {"MulBackward0", "AddBackward0", "SliceBackwardBackward0"} <= second
    read = reading_of(trace)
    for one in writes[:2]:
        assert agreement(read.facts, one, [], []) is None  # it is the write itself that is compared


def test_batch_norm_that_trains_on_two_batches_is_not_said_to_use_statistics_that_changed() -> None:
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    first, second = torch.randn(8, 3), torch.randn(8, 3)
    with Block() as trace:
        torch.nn.functional.mse_loss(net(first), net(second)).backward()
    nodes = [event.node for event in trace.events if isinstance(event, OpCalled) and event.node is not None]
    saved = {one.name for node in nodes if node.name == "NativeBatchNormBackward0" for one in node.saved}
    assert "weight" in saved and not {"running_mean", "running_var"} & saved
    assert not reading_of(trace).findings


STATISTICS = ("min", "max", "mean", "norm", "nan", "inf", "zeros")
LARGE = """
import torch
torch.manual_seed(0)
net = torch.nn.Linear(300, 300)
x = torch.randn(300, 300, requires_grad=True)
q, k = (net(x) * 1).reshape(-1, 2).t()
both = x.reshape(-1).as_strided((2, 45_000), (0, 1))  # as many elements as x: half of them, twice
bits = x.detach().view(torch.int32) + 0
turned = torch.complex(x, x + 1).conj().imag * 1
(q * k.detach() * both[1] + turned.reshape(2, -1)[0]).sum().backward()
"""


def recorded_in_memory(source: str, limit: int) -> Trace:
    """A program as a recording has it that keeps so many elements of a tensor."""
    with recording(sys._getframe(), limit) as trace:
        arrival = TorchImport(slot.active, print)
        arrival.wait()
        exec(compile(source, "large.py", "exec"), {"__name__": "__main__"})
        arrival.stop()
    return trace


def test_large_tensors_are_copied_as_small_ones_are(monkeypatch: pytest.MonkeyPatch) -> None:
    from viz.record.torch import values

    small = recorded_in_memory(LARGE, 2**30)
    monkeypatch.setattr(values, "MANY", 100)
    large = recorded_in_memory(LARGE, 2**30)
    assert len(large.values) == len(small.values)
    assert all(mine.is_like(its) for mine, its in zip(large.values, small.values, strict=True))


def test_statistics_of_large_views_are_those_of_their_elements() -> None:
    whole = recorded_in_memory(LARGE, 2**30)
    short = recorded_in_memory(LARGE, 1000)
    assert len(short.values) == len(whole.values)
    for mine, its in zip(short.values, whole.values, strict=True):
        assert (mine.shape, mine.dtype) == (its.shape, its.dtype)
        np.testing.assert_array_equal(mine.sample, its.sample)
        found, expected = ([one.stats[name] for name in STATISTICS] for one in (mine, its))
        assert found == pytest.approx(expected, rel=1e-5, abs=1e-5, nan_ok=True)  # complex numbers are not kept
    names = {event.node.node: event.node.name for event in short.events if isinstance(event, OpCalled) and event.node}
    sent = {names[event.node]: event for event in short.events if isinstance(event, VjpRun)}
    weight, turned = (short.value(sent[name].cotangents[-1] or -1) for name in ("AddmmBackward0", "TBackward0"))
    assert turned.stats is weight.stats and turned.shape == weight.shape  # a look at it was saved


def test_a_scalar_in_an_f_string_is_read_and_makes_no_op() -> None:
    with Block() as trace:
        w = torch.ones(3, requires_grad=True)
        loss = (w * 2).sum()
        assert f"{loss:.3f} {w}" == "6.000 tensor([1., 1., 1.], requires_grad=True)"
    read = [(one.kind, trace.names[one.tensor]) for one in trace.events if isinstance(one, Escaped)]
    assert read == [("item", "loss"), ("repr", "w")]
    assert [one.name for one in trace.events if isinstance(one, OpCalled)] == ["mul", "sum"]


def test_a_parameter_has_its_name_and_a_card_in_a_module_that_has_a_call_of_its_own() -> None:
    class Scale(torch.nn.Module):  # type: ignore[misc]  # mypy sees nothing of torch
        def __init__(self) -> None:
            super().__init__()
            self.raw, self.positive = torch.nn.Parameter(torch.zeros(3)), torch.nn.Softplus()

        def __call__(self, x: Any) -> Any:
            return x * self.positive(self.raw)

    model, alone = Scale(), torch.nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([*model.parameters(), alone])
    with Block() as trace:
        optimizer.zero_grad()
        x = torch.ones(3) * alone
        for _ in range(30):
            x = model(x)
        x.sum().backward()
    leaves = {trace.names.get(one.tensor): one.source for one in trace.events if isinstance(one, LeafCreated)}
    assert leaves["model.raw"] == "parameter" and leaves["alone"] == "seen"
    grouping = reading_of(trace).drawing.grouping
    assert not any("positive" in label for label in grouping.labels.values()), "a box that only computes with it"


@pytest.mark.filterwarnings("ignore:.*torch.cpu.amp.autocast:FutureWarning")  # torch 2.4 calls what it deprecates
def test_the_root_of_a_call_inside_of_a_librarys_backward_is_not_named_by_the_line_around_it() -> None:
    with Block() as trace:
        x = torch.ones(3, requires_grad=True)
        y = torch.utils.checkpoint.checkpoint(torch.square, x, use_reentrant=True)
        loss = y.sum()
        loss.backward()
    roots = [trace.names.get(one.roots[0].tensor) for one in trace.events if isinstance(one, BackwardStarted)]
    assert len(roots) == 2 and roots[0] == "loss" != roots[1]


WHOLE = """
import torch
w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
keys = w * 2
cached = keys[..., 0:, :]
cached.pow(2).sum().backward()
w[...].sum().backward()
"""


def test_index_that_takes_everything_is_an_op_and_no_leaf(tmp_path: Path) -> None:
    trace = recorded_here(WHOLE, tmp_path)
    leaves = [trace.names.get(event.tensor) for event in trace.events if isinstance(event, LeafCreated)]
    assert leaves == ["w"]
    ops = {event.name: event for event in trace.events if isinstance(event, OpCalled)}
    assert ops["alias"].node is not None and ops["alias"].node.name == "AliasBackward0"
    assert not any("not_seen" in event.attrs for event in ops.values())
    assert recomputed(trace, {})


@pytest.mark.parametrize(
    ("between", "before"),
    [("pass", 1), ("y.grad = None", None), ("del y.grad", None), ("y.grad.zero_()", 0), ("y.grad += 4", 5),
     ("y.grad = torch.full((2,), 7.0)", 7)],
)  # fmt: skip
def test_a_retained_gradient_grows_from_what_the_program_left_in_it(
    between: str, before: float | None, tmp_path: Path
) -> None:
    lines = (
        "import torch", "x = torch.ones(2, requires_grad=True)", "y = x * 2", "y.retain_grad()",
        "y.sum().backward(retain_graph=True)", between, "y.sum().backward()",
    )  # fmt: skip
    trace = recorded_here("\n".join(lines), tmp_path)
    second = [one for one in trace.events if isinstance(one, Accumulated) and one.retained][1]
    elements = [None if one is None else trace.value(one).array for one in (second.before, second.after)]
    expected = [None if before is None else [before] * 2, [(before or 0) + 1] * 2]
    assert [None if one is None else one.tolist() for one in elements] == expected


WORK = """
import json, sys
import torch
from engine.trace.file.consistency import open_checked
import backstep

DEVICE, FILE = sys.argv[1:]
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
with backstep.record(FILE):
    h = Cube.apply(x) * w
    h.retain_grad()
    h.register_hook(lambda gradient: gradient * 2)
    (first,) = torch.autograd.grad(h.sum(), x, create_graph=True)
    (first * w).sum().backward()
    for step in range(60):  # while what is recorded is written
        (x * w).sin().sum().backward()
    big = (x * w).expand(2000, 40).exp()
    big.sum().backward()
    try:
        h.sum().backward()
        h.sum().backward()
    except RuntimeError:
        pass
trace = open_checked(FILE, 10_000)
report = []
for event in trace.events:
    stack = trace.stacks[event.stack] if event.stack >= 0 else ()
    report.append([type(event).__name__, getattr(event, "name", ""), [frame.line for frame in stack]])
values = [value if value.array is None else value.array for value in map(trace.value, range(len(trace.values)))]
sums = [float(v.stats["mean"] * 80_000 if hasattr(v, "stats") else v.sum()) for v in values]
print(json.dumps([report, sums, [list(v.shape) for v in values]]))
"""


def work_on(device: str, folder: Path) -> Any:
    """What the program is on a device: its events with their places, the sums of its values, and their shapes."""
    script = folder / "work.py"
    script.write_text(WORK, "utf-8")
    root = Path(__file__).resolve().parents[3]
    environment = {**os.environ, "PYTHONPATH": f"{root}{os.pathsep}{root / 'viz' / 'public'}"}
    done = subprocess.run(
        [sys.executable, str(script), device, str(folder / device)],
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    assert not done.returncode, done.stderr[-2000:]
    assert "Backstep itself has failed" not in done.stderr, done.stderr
    return json.loads(done.stdout)


@pytest.mark.newest
def test_on_a_device_events_places_and_values_are_those_on_the_cpu(tmp_path: Path) -> None:
    here, there = work_on("cpu", tmp_path), work_on("late", tmp_path)
    (events, sums, shapes), (its_events, its_sums, its_shapes) = here, there
    for mine, its in zip([*events, *shapes], [*its_events, *its_shapes], strict=True):  # one by one: the lists are long
        assert mine == its
    for one, other in zip(sums, its_sums, strict=True):
        assert other == pytest.approx(one, rel=1e-4, abs=1e-4)


def test_numbers_that_nodes_save_are_there_each_time_and_only_where_torch_saves_them() -> None:
    x = torch.ones(2, requires_grad=True)
    with Block() as trace:
        for _ in range(3):
            x = (x * 2.0 + 1.0) ** 3
        x.sum().backward()
    nodes = [event.node for event in trace.events if isinstance(event, OpCalled) and event.node is not None]
    saved = [[(one.name, one.bytes) for one in node.saved] for node in nodes]
    assert saved == [[("other", 8)], [], [("self", 8)]] * 3 + [[]]


SCALED = """\
import torch

w = torch.ones(4, requires_grad=True)
optimizer, losses = torch.optim.SGD([w], lr=0.01), []
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**18)
for step in range({steps}):
    optimizer.zero_grad()
    loss = (w.half() * 2).float().square().sum()
    scaler.scale(loss).backward()
    {clip}
    scaler.step(optimizer)
    scaler.update()
    losses.append(loss.item())
"""
"""The scale is at first too large for float16."""
CLIP = "torch.nn.utils.clip_grad_norm_([w], 1.0)"


@pytest.mark.parametrize("fused", ["", pytest.param(", fused=True", marks=pytest.mark.newest)])
def test_run_with_a_grad_scaler_has_its_losses_and_gradients_without_the_scale(fused: str, tmp_path: Path) -> None:
    text = SCALED.format(steps=20, clip="").replace("lr=0.01", f"lr=0.01{fused}")
    run, alone = Run(recorded_here(text, tmp_path)), dict[str, Any]()
    exec(text, alone)
    found = run.overview
    assert found.loss.tolist() == alone["losses"]
    assert sorted(found.left_out) == [0, 1, 2, 3, 4, 5] and found.updates_left_out == 6 and found.updates == 14
    assert found.scales[0] == 2.0**18 and found.scales[-1] == 2.0**12
    assert found.total[6] == pytest.approx(16.0) and not np.isfinite(found.total[:6]).any()  # 4 elements, each 8
    assert run_findings(found) == [] and in_iterations(run) == []
    inf = reading_of(run.trace(0)).findings[0]
    assert inf.kind == "inf-gradient" and "is converted to float16, which cannot hold it" in inf.why
    assert inf.why.endswith("a problem only if it goes on for ever.") and not inf.fix


OTHER = "other = v.square().sum(); v.grad = None; scaler.scale(other).backward(); scaler.step(second)"


def test_update_that_a_grad_scaler_leaves_out_beside_one_of_another_optimizer_is_no_finding(tmp_path: Path) -> None:
    second = "v = torch.ones(2, requires_grad=True)\nsecond = torch.optim.SGD([v], lr=0.01)\nfor"
    text = SCALED.format(steps=20, clip=OTHER).replace("for", second, 1)
    found = Run(recorded_here(text, tmp_path)).overview
    assert (found.root, list(found.others)) == ("loss", ["other"])
    assert sorted(found.left_out) == [0, 1, 2, 3, 4, 5] and found.updates_left_out == 6 and found.updates == 20
    assert run_findings(found) == []


def test_update_of_several_micro_batches_that_a_grad_scaler_leaves_out_is_one(tmp_path: Path) -> None:
    text = SCALED.format(steps=20, clip="").replace("    optimizer.zero", "    step % 2 or optimizer.zero")
    text = text.replace("    scaler.step", "    if step % 2 == 0: continue\n    scaler.step")
    found = Run(recorded_here(text, tmp_path)).overview
    assert (found.updates, found.updates_left_out) == (4, 6)
    assert run_findings(found) == []


def test_run_whose_gradients_never_become_finite_is_a_finding_with_a_grad_scaler_too(tmp_path: Path) -> None:
    run = Run(recorded_here(SCALED.format(steps=5, clip=""), tmp_path))
    assert [one.kind for one in run_findings(run.overview)] == ["gradient-nonfinite"]


@pytest.mark.parametrize("before", ["", "scaler.unscale_(optimizer); "])
def test_clip_of_gradients_that_are_still_scaled_is_a_finding(before: str, tmp_path: Path) -> None:
    run = Run(recorded_here(SCALED.format(steps=20, clip=before + CLIP), tmp_path))
    clips = [one for one in reading_of(run.trace(7)).findings if one.kind == "unused-clip"]
    assert [one.label for one in clips] == ([] if before else ["clipped while scaled"])
    if clips:
        assert "the GradScaler's scale of 4,096" in clips[0].why and "norm is 16 without the scale" in clips[0].why
