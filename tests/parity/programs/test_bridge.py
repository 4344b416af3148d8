"""Programs that ran on PyTorch, as the app shows them: the engine's ops beside its numbers, edits, comparisons."""

from __future__ import annotations

import _thread
import threading
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import backstep
import engine
from engine.replay.program import Edits, commands
from engine.trace.events import Accumulated, ErrorRaised, LeafCreated, OpCalled, Refreshed, StatisticMoved, Trace
from engine.trace.file.consistency import open_checked
from tests.parity.helpers.recordings import recorded_here
from viz.reading.comparison import compared
from viz.reading.library import library
from viz.record.compare_command import compare
from viz.run.run import Run
from viz.scene.details import details
from viz.scene.reading import reading_of
from viz.server.revisions import StoreComputation
from viz.server.store import Problem

pytestmark = pytest.mark.parity

NET = """
net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.LayerNorm(4), torch.nn.Linear(4, 2))
with torch.no_grad():
    for nr, parameter in enumerate(net.parameters()):
        count = torch.arange(float(parameter.numel()))
        parameter.copy_(torch.sin(count + nr).reshape(parameter.shape))
x = torch.tensor(X, requires_grad=True)
for step in range(2):
    loss = torch.nn.functional.cross_entropy(net(x), torch.tensor([0, 1]))
    loss.backward()
print(loss.item())
"""
X = [[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]]
SPECTRUM = """
x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
y = (x * 2).exp()
torch.fft.rfft(y).abs().sum().backward()
"""


def run(source: str, torch: Any, **names: Any) -> Trace:
    """The recording of a program in this process; `torch` is the library that it has under this name."""
    space = {"__name__": "program", "torch": torch, "print": lambda *_: None, **names}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with backstep.record() as trace:
            exec(compile(source, "<backstep program>", "exec"), space)
    return trace


def test_what_pytorch_computed_is_compared_op_by_op() -> None:
    torch = pytest.importorskip("torch")
    trace = run(NET, torch, X=X)
    assert library(trace) == f"PyTorch {torch.__version__}"
    shown = {}
    for element in reading_of(trace).drawing.items:
        found = details(trace, {}, element)
        if found["kind"] == "op":
            shown[found["head"]["name"]] = found
    assert {"AddmmBackward0", "TanhBackward0", "NativeLayerNormBackward0", "LogSoftmaxBackward0"} <= set(shown)
    for name, found in shown.items():
        compared_with = found["compared"]
        assert compared_with is not None and compared_with["agrees"], name
        assert found["formula"] or not name.endswith("Backward0"), name
    assert shown["TanhBackward0"]["formula"][0]["text"].endswith("²)") and shown["TanhBackward0"]["jacobian"]


def test_edited_leaf_gives_what_pytorch_gives_for_it() -> None:
    torch = pytest.importorskip("torch")
    other = [[0.0, 1.0, -2.0], [3.0, 0.25, 1.0]]
    trace = run(NET, torch, X=X)
    leaf = next(one.tensor for one in trace.events if isinstance(one, LeafCreated) and one.shape == (2, 3))
    made = StoreComputation().replay(trace, {"leaves": {str(leaf): other}, "commands": None})
    assert made.meta["recomputed"].startswith("Recomputed by Backstep's engine, which agrees with the recording to ")
    for mine, theirs in zip(gradients(made), gradients(run(NET, torch, X=other)), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6)


def gradients(trace: Trace) -> list[Any]:
    return [trace.value(one.after).array for one in trace.events if isinstance(one, Accumulated)]


def test_op_that_only_pytorch_has_is_described_and_stands_in_the_way_of_an_edit(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    run(SPECTRUM, torch).save(str(tmp_path / "spectrum.backstep"))
    trace = open_checked(tmp_path / "spectrum.backstep", 1000)
    own = [event.name for event in trace.events if isinstance(event, OpCalled) and "::" in event.name]
    assert own[0] == "aten::_fft_r2c"
    texts = [details(trace, {}, element)["head"]["about"] for element in reading_of(trace).drawing.items]
    assert sum("An op of PyTorch" in text for text in texts) == len(own)
    assert sum("A trace cannot store complex64 numbers: only the shape is recorded." in text for text in texts) == 1
    with pytest.raises(Problem, match=r"The program uses aten::_fft_r2c in line 4 of .*does not have"):
        StoreComputation().replay(trace, {"leaves": {"0": [1.0, 1.0, 1.0]}, "commands": None})


def test_same_program_on_both_libraries() -> None:
    torch = pytest.importorskip("torch")
    engine = backstep.engine
    names = "Backstep's engine", "PyTorch"
    same = compared(run(NET, engine, X=X), run(NET, torch, X=X), names)
    assert same.first is None and 0 < same.worst < 1e-5 and (same.vjps, same.random_leaf) == (16, "")
    other = NET.replace("net(x)", "net(x) * (1.5 if hasattr(torch, '_C') else 1)")
    first = compared(run(other, engine, X=X), run(other, torch, X=X), names).first
    assert first is not None and "in the op mul (MulBackward0) in line 9, the result differs" in first.text


@pytest.mark.newest
def test_command_compares_a_script_in_processes_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("torch")
    script = tmp_path / "lesson.py"
    leaf = "x = torch.tensor([1.0, 2.0], requires_grad=True)\n"
    script.write_text(f"from backstep import engine as torch\n{leaf}x.exp().sum().backward()\n")
    assert compare(str(script), []) == 0
    assert "do the same: 2 forward ops and 2 VJPs in the same order" in capsys.readouterr().out


def test_statistics_that_a_batch_norm_writes_uncounted_are_recorded() -> None:
    torch = pytest.importorskip("torch")
    source = "norm = torch.nn.BatchNorm1d(3)\nx = torch.tensor(X, requires_grad=True)\n" + "norm(x)\n" * 2
    trace = run(f"{source}norm.eval()\nnorm(x).sum().backward()", torch, X=X)
    found = [details(trace, {}, element)["compared"] for element in reading_of(trace).drawing.items]
    assert sum(one is not None for one in found) >= 4 and all(one["agrees"] for one in found if one is not None)


def test_gradient_that_cancels_out_is_compared_with_what_it_sums() -> None:
    """Softmax does not change with the bias of a key, whose gradient is rounding alone."""
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    source = (
        "q, k, v = (torch.nn.Linear(8, 8) for _ in range(3))\nx = torch.randn(4, 5, 8)\n"
        "((q(x) @ k(x).transpose(1, 2)).softmax(-1) @ v(x)).square().mean().backward()\n"
    )
    trace = run(source, torch)
    found = [details(trace, {}, element)["compared"] for element in reading_of(trace).drawing.items]
    assert [one["text"] for one in found if one is not None and not one["agrees"]] == []


def test_padding_of_an_embedding_keeps_nan_out_of_its_gradient() -> None:
    torch = pytest.importorskip("torch")
    source = (
        "w, at = torch.ones(3, 2, requires_grad=True), torch.tensor([0, 1])\n"
        "rows = torch.nn.functional.embedding(at, w, padding_idx=0)\n"
        "rows.backward(torch.tensor([[float('nan'), 1.0], [2.0, 3.0]]))\n"
    )
    for one in (torch, backstep.engine):
        assert [gradient.tolist() for gradient in gradients(run(source, one))] == [[[0.0, 0.0], [2.0, 3.0], [0.0, 0.0]]]


DIVIDED = """
net = torch.nn.Linear(2, 2)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
a, b = torch.randn(3, 2), torch.randn(3, 2)
b[2] = a[2]
for step in range(3):
    loss = ((net(a) - net(b)) ** 2).sum(1).sqrt().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
NORMED = """
norm, net = torch.nn.BatchNorm1d(4), torch.nn.Linear(3, 4)
x = torch.randn(6, 3)
for step in range(3):
    net.zero_grad()
    norm(net(x)).log().mean().backward()
"""
PADDED = """
table, net = torch.nn.Embedding(6, 3, padding_idx=0), torch.nn.Linear(3, 2)
parameters = [*table.parameters(), *net.parameters()]
optimizer = torch.optim.Adam(parameters)
at = torch.tensor([[1, 2, 0], [0, 0, 0]])
for step in range(2):
    mask = (at != 0).unsqueeze(-1).float()
    loss = net((table(at) * mask).sum(1) / mask.sum(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
"""
MASKED = """
q, k, v = (torch.nn.Linear(4, 4) for _ in range(3))
optimizer = torch.optim.Adam([*q.parameters(), *k.parameters(), *v.parameters()])
x, pad = torch.randn(2, 3, 4), torch.tensor([[False, False, True], [LAST]])
for step in range(2):
    scores = (q(x) @ k(x).transpose(1, 2)).masked_fill(pad[:, None, :], float("-inf"))
    optimizer.zero_grad()
    (scores.softmax(-1) @ v(x)).square().mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "source",
    [DIVIDED, NORMED, PADDED, MASKED.replace("LAST", "True, True, True"), MASKED.replace("LAST", "False, True, True")],
    ids=["sqrt of 0", "log of a norm", "padding", "masked", "attention"],
)
def test_edits_of_programs_with_nan_are_computed_by_the_engine(source: str) -> None:
    torch = pytest.importorskip("torch")
    torch.manual_seed(0)
    trace = run(source, torch)
    leaf = next(one for one in trace.events if isinstance(one, LeafCreated) and one.requires_grad)
    ones = np.ones(leaf.shape).tolist()
    made = StoreComputation().replay(trace, {"leaves": {str(leaf.tensor): ones}, "commands": None})
    assert made.meta["recomputed"].startswith("Recomputed by")
    kinds = [type(one) for one in trace.events]
    assert [type(one) for one in made.events] == kinds  # so that a command stands where it stood
    listed = Edits(commands=commands(trace)).as_json()["commands"]
    call = next(one for one in listed if one["kind"] == "backward")
    for change in ({"gradient": 2.0}, {"retain_graph": True}):
        edit = [{**one, **change} if one is call else one for one in listed]
        assert StoreComputation().replay(trace, {"leaves": {}, "commands": edit}).meta["recomputed"]


def test_tensor_written_before_a_loop_has_its_new_numbers_from_the_beginning_of_an_iteration(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    run = Run(recorded_here("import torch\n" + DIVIDED.replace("range(3)", "range(20)"), tmp_path))
    assert len(run.sections) > 1
    trace = run.trace(0)
    leaf = [one for one in trace.events if isinstance(one, LeafCreated) and one.shape == (3, 2)][1]
    assert not [one for one in trace.events if isinstance(one, Refreshed)]
    made = StoreComputation().replay(trace, {"leaves": {str(leaf.tensor): np.ones((3, 2)).tolist()}, "commands": None})
    used = next(
        one for one in made.events if isinstance(one, OpCalled) and leaf.tensor in [i.tensor for i in one.inputs]
    )
    first = next(one for one in trace.events if isinstance(one, OpCalled) and one.index == used.index)
    assert not made.value(used.outputs[0].value).is_like(trace.value(first.outputs[0].value))


MOVED = """
x = torch.tensor(X, requires_grad=True)
for step in range(3):
    norm(x).exp().mean().backward()
norm.eval()
norm(x).exp().sum().backward()
"""


@pytest.mark.parametrize(
    "norm",
    ["BatchNorm1d(3)", "BatchNorm1d(3, eps=0.5, momentum=1.0)", "BatchNorm1d(3, momentum=None)", "BatchNorm2d(3)",
     "BatchNorm3d(3)", "BatchNorm1d(3, affine=False)", "InstanceNorm2d(3, affine=True, track_running_stats=True)",
     "InstanceNorm1d(3, track_running_stats=True)"],
)  # fmt: skip
def test_statistics_of_a_batch_norm_move_with_the_edit(norm: str, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    sizes = {"BatchNorm2d": (2, 3), "BatchNorm3d": (2, 2, 2), "InstanceNorm1d": (4,), "InstanceNorm2d": (2, 3)}
    shape = (4, 3, *sizes.get(norm.partition("(")[0], ()))
    first, other = (np.random.default_rng(seed).normal(size=shape).tolist() for seed in (1, 2))
    source = f"norm = torch.nn.{norm}\n{MOVED}"
    run(source, torch, X=first).save(str(tmp_path / "norm.backstep"))
    trace, fresh = open_checked(tmp_path / "norm.backstep", 1000), run(source, torch, X=other)
    leaf = next(one.tensor for one in trace.events if isinstance(one, LeafCreated) and one.shape == shape)
    made = StoreComputation().replay(trace, {"leaves": {str(leaf): other}, "commands": None})
    assert made.meta["doubt"] is None
    moved = [[one for one in each.events if isinstance(one, StatisticMoved)] for each in (made, fresh)]
    assert len(moved[0]) == 6
    for mine, theirs in zip(*moved, strict=True):
        np.testing.assert_allclose(made.value(mine.value).array, fresh.value(theirs.value).array, rtol=2e-6, atol=1e-7)


def test_statistics_of_a_batch_norm_are_doubted_where_a_recording_does_not_say_how_they_move() -> None:
    torch = pytest.importorskip("torch")
    trace = run(NORMED, torch)
    events = [
        Refreshed(one.index, one.stack, one.tensor, one.version, one.value) if isinstance(one, StatisticMoved) else one
        for one in trace.events
    ]
    trace = replace(trace, events=tuple(events))
    leaf = next(one.tensor for one in trace.events if isinstance(one, LeafCreated) and one.shape == (6, 3))
    x = np.linspace(0, 1, 18).reshape(6, 3).tolist()
    made = StoreComputation().replay(trace, {"leaves": {str(leaf): x}, "commands": None})
    assert isinstance(made.events[made.meta["doubt"]], Refreshed) and "BatchNorm" in made.meta["why"]


def test_writes_to_lists_of_tensors_count_as_versions_while_they_are_recorded() -> None:
    torch = pytest.importorskip("torch")
    source = (
        "w, a = torch.ones(2, requires_grad=True), torch.ones(2)\ny = (w * a).sum()\n"
        "torch._foreach_mul_([a], 2.0)\n"
        "try:\n    y.backward()\nexcept RuntimeError as error:\n    found = str(error)\n"
    )
    names: dict[str, Any] = {"torch": torch, "found": ""}
    with backstep.record():
        exec(source, names)
    assert "is at version 1; expected version 0" in names["found"]


def test_block_at_the_bottom_of_the_stack_is_recorded() -> None:
    """As in a script whose own top level it is: no frame stands around the program's."""
    torch = pytest.importorskip("torch")
    x, traces, done = torch.ones(2, requires_grad=True), [], threading.Event()

    def work() -> None:
        with backstep.record() as trace:
            (x * x.detach() + torch.zeros(2)).sum().backward()
        traces.append(trace)
        done.set()

    _thread.start_new_thread(work, ())
    assert done.wait(60)
    assert [one.name for one in traces[0].events if isinstance(one, OpCalled)] == ["detach", "mul", "add", "sum"]


def test_seed_gradient_and_retain_graph_are_edited() -> None:
    torch = pytest.importorskip("torch")
    source = (
        "x = torch.tensor([1.0, 2.0], requires_grad=True)\ny = x * x\n"
        "y.backward(torch.tensor([1.0, 0.0]), retain_graph=True)\ny.backward(torch.tensor([1.0, 1.0]))\n"
    )
    trace = run(source, torch)
    first, second = commands(trace)

    def replayed(**edit: Any) -> Trace:
        changed = {"id": first.id, "kind": "backward", "after": first.after, "retain_graph": True, **edit}
        listed = [changed, {"id": second.id, "kind": "backward", "after": second.after}]
        return StoreComputation().replay(trace, {"leaves": {}, "commands": listed})

    assert [one.tolist() for one in gradients(replayed(gradient=[0.0, 1.0]))] == [[0.0, 4.0], [2.0, 8.0]]
    message = next(one.message for one in replayed(retain_graph=False).events if isinstance(one, ErrorRaised))
    with pytest.raises(RuntimeError) as raised:
        run(source.replace("retain_graph=True", "retain_graph=False"), torch)
    assert message == str(raised.value)


RECURRENT = """
net = torch.nn.{layer}(3, 4, batch_first=True)
with torch.no_grad():
    for nr, parameter in enumerate(net.parameters()):
        count = torch.arange(float(parameter.numel()))
        parameter.copy_(torch.sin(count + nr).reshape(parameter.shape))
x = torch.arange(30.0).reshape(2, 5, 3) / 30
out, last = net(x)
out[:, -1].square().sum().backward()
"""
"""PyTorch transposes the result in place, and writes the gates of a GRU into parts of one matrix."""


@pytest.mark.parametrize("layer", ["RNN", "GRU"])
def test_edits_of_recurrent_layers_are_computed_by_the_engine(layer: str) -> None:
    torch = pytest.importorskip("torch")
    trace = run(RECURRENT.replace("{layer}", layer), torch)
    (call,) = commands(trace)
    edit = [{"id": call.id, "kind": "backward", "after": call.after, "gradient": 3.0}]
    made = StoreComputation().replay(trace, {"leaves": {}, "commands": edit})
    assert made.meta["recomputed"].startswith("Recomputed by")


def test_tensor_that_is_transposed_in_place_goes_on_as_on_the_engine() -> None:
    source = "x = torch.ones(2, 3, requires_grad=True)\ny = x * 2\ny.transpose_(0, 1)\n(y * y).sum().backward()\n"
    forms = [
        [(one.name, [i.tensor for i in one.inputs], [(out.tensor, out.version, out.view_of) for out in one.outputs])
         for one in run(source, library_).events if isinstance(one, OpCalled)]
        for library_ in (pytest.importorskip("torch"), engine)
    ]  # fmt: skip
    assert forms[0] == forms[1]
    assert forms[0][1] == ("transpose_", [1], [(2, 0, 1)])
