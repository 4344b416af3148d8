"""Errors that PyTorch itself raises, as the page explains them: the tensors that they are about, why, and the fix."""

from __future__ import annotations

import contextlib
import linecache
from pathlib import Path

import pytest

import backstep
from engine.trace.file.consistency import open_checked
from tests.parity.helpers.recordings import recorded_here
from viz.findings.errors import Explained, explain
from viz.scene.reading import reading
from viz.scene.scene import scene

pytestmark = pytest.mark.parity

torch = pytest.importorskip("torch")

LAYER = """
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
"""
CASES = {
    "matrices": (
        f"{LAYER}x = torch.ones(2, 5)\nnet(x).sum().backward()",
        ["x has shape [2, 5], and the transposed net.0.weight has [4, 3]", "5 columns of the first"],
        "Give net.0 5 input features, as in nn.Linear(5, 3)",
    ),
    "matrices without a layer": (
        "a, b = torch.ones(2, 5), torch.ones(4, 3)\na @ b",
        ["a has shape [2, 5], and b has [4, 3]"],
        "Transpose or reshape one of the two.",
    ),
    "matrices of one shape": (
        "layer, x = torch.nn.Linear(4, 3), torch.ones(4, 3)\nlayer(x)",
        ["x has shape [4, 3], and the transposed layer.weight has [4, 3]"],
        "Give layer 3 input features, as in nn.Linear(3, 3)",
    ),
    "matrices inside of a call": (
        "net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(9, 2))\n"
        "out = net(torch.ones(3, 4))",
        ["The result of relu has shape [3, 8], and the transposed net.2.weight has [9, 2]"],
        "Give net.2 8 input features",
    ),
    "matrices after a call": (
        f"{LAYER}w = torch.ones(4, 2)\nout = 2 * (net(torch.ones(3, 4)) @ w)",
        ["`net(torch.ones(3, 4))` in line 5", "has shape [3, 3], and w has [4, 2]"],
        "Transpose or reshape one of the two.",
    ),
    "double": (
        f"{LAYER}data = torch.from_numpy(numpy.ones((2, 4)))\nout = net(data)",
        ["data float64"],
        "`data = data.float()`: arrays of numpy are float64",
    ),
    "classes": (
        f"{LAYER}y = torch.tensor([0.0, 1.0])\nloss = torch.nn.functional.cross_entropy(net(torch.ones(2, 4)), y)",
        ["A target that names classes must have integers", "it is float32"],
        "Convert the target with `.long()`",
    ),
    "devices": (
        f"{LAYER}x = torch.ones(2, 4, device='meta')\nloss = net(x).sum()",
        ["on different devices", "net.0.bias on cpu and x on meta"],
        "Move the model and its data to one device",
    ),
    "sizes": (
        "a, b = torch.ones(2, 3), torch.ones(2, 4)\nc = a + b",
        ["Shapes here: a [2, 3] and b [2, 4].", "in dimension 1 they are 3 and 4"],
        "unsqueeze()",
    ),
    "a number made a tensor": (
        f"{LAYER}loss = net(torch.ones(1, 4)).sum()\nloss = torch.tensor(loss.item())\nloss.backward()",
        ["a new tensor with the number of loss, which item() took out of the graph"],
        "Call backward() on the tensor itself",
    ),
    "no_grad": (
        f"{LAYER}with torch.no_grad():\n    loss = net(torch.ones(1, 4)).sum()\nloss.backward()",
        ["computed while gradients were switched off"],
        "Compute it outside of no_grad()",
    ),
    "no_grad for good": (
        f"{LAYER}optimizer = torch.optim.SGD(net.parameters())\nx = torch.ones(1, 4)\nnet(x).sum().backward()\n"
        "optimizer.step()\ntorch.set_grad_enabled(False)\nloss = net(x).sum()\nloss.backward()",
        ["`torch.set_grad_enabled(False)`", "has switched gradients off, and they stay off"],
        "call `torch.set_grad_enabled(True)` afterwards",
    ),
    "a step between": (
        f"{LAYER}optimizer = torch.optim.Adam(net.parameters())\nx = torch.ones(1, 4, requires_grad=True)\n"
        "loss = net(x).sum()\nloss.backward(retain_graph=True)\noptimizer.step()\nloss.backward()",
        ["AddmmBackward0 saved net.0.weight", "`optimizer.step()`"],
        "Run every backward call before net.0.weight is updated",
    ),
    "a state of two tensors": (
        "rnn = torch.nn.LSTM(2, 3)\nstate = None\nfor _ in range(2):\n"
        "    out, state = rnn(torch.ones(1, 2), state)\n    out.sum().backward()",
        ["state was computed before `out.sum().backward()`"],
        "`state = tuple(one.detach() for one in state)`",
    ),
}


def explained(source: str, folder: Path) -> Explained | None:
    """The error that ends a program on PyTorch, which is recorded as a file."""
    path, text = str(folder / "program.py"), f"import numpy, torch\n{source}\n"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    with torch.enable_grad(), contextlib.suppress(RuntimeError), backstep.record() as trace:
        exec(compile(text, path, "exec"), {"__name__": "__main__"})
    read = reading(trace)
    return explain(read.facts, read.drawing)


@pytest.mark.parametrize("name", CASES)
def test_error_of_pytorch_is_explained_by_what_its_op_was_given(name: str, tmp_path: Path) -> None:
    source, parts, fix = CASES[name]
    found = explained(source, tmp_path)
    assert found is not None and found.at is not None
    assert [part for part in parts if part not in found.why] == [], found.why
    assert fix in found.fix


def test_matrix_that_does_not_fit_is_marked_and_no_step_of_the_failed_call_has_its_name(tmp_path: Path) -> None:
    source = (
        "import torch\nnet = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(3, 2))\n"
        "x = torch.randn(5, 4)\ny = net(x)\n"
    )
    with contextlib.suppress(RuntimeError):
        recorded_here(source, tmp_path, "shapes.py")
    trace = open_checked(tmp_path / "shapes.backstep", 1000)
    made = scene(trace, revision={"id": "a", "label": "", "base": None}, program={"id": "shapes"})
    error = made["error"]
    assert error is not None
    assert [node["shape"] for node in made["nodes"] if node["id"] == error["node"]] == [[5, 8]]
    assert "y" not in trace.names.values() and "net(x)" not in {node["label"] for node in made["nodes"]}
