"""Errors that PyTorch itself raises, as the page explains them: the tensors that they are about, why, and the fix."""

from __future__ import annotations

import contextlib
import linecache
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import backstep
import engine
from engine.trace.file.consistency import open_checked
from tests.parity.helpers.recordings import recorded_here
from viz.findings.errors.explain import ErrorExplanation, explain
from viz.scene.reading import reading_of
from viz.scene.scene import scene

pytestmark = pytest.mark.parity

torch = pytest.importorskip("torch")

LAYER = """
net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.ReLU())
"""
SHOWN = "import warnings; warnings.simplefilter('always'); "
CASES = {
    "matrices": (
        f"{LAYER}x = torch.ones(2, 5)\nnet(x).sum().backward()",
        ["x has shape [2, 5], and the transposed net.0.weight has [4, 3]", "as many columns (5) as"],
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
    "a target of another shape": (
        f"{LAYER}{SHOWN}x, y = torch.ones(2, 4), torch.ones(2)\nloss = torch.nn.functional.mse_loss(net(x), y)",
        ["Shapes here: `net(x)` in line 5", "[2, 3] and y [2].", "in dimension 1 they are 3 and 2"],
        "Give both the same shape: often the last layer",
    ),
    "a target of another shape in a longer expression": (
        f"{LAYER}{SHOWN}x, y = torch.ones(2, 4), torch.ones(2)\nloss = 2 * torch.nn.MSELoss()(net(x), target=y)",
        ["Shapes here: `net(x)` in line 5", "[2, 3] and y [2]."],
        "Give both the same shape",
    ),
    "an operand that is computed in the line": (
        "x, y = torch.ones(2, 3), torch.ones(2)\nout = y * x.exp()",
        ["Shapes here: y [2] and `x.exp()` in line 3"],
        "Change the shapes so that they fit",
    ),
    "double": (
        f"{LAYER}data = torch.from_numpy(numpy.ones((2, 4)))\nout = net(data)",
        ["data float64"],
        "`data = data.float()`: numpy arrays are float64",
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
    "a sum of losses": (
        "net = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Linear(3, 1))\n"
        "optimizer, total = torch.optim.SGD(net.parameters()), 0\nfor _ in range(2):\n"
        "    total = total + net(torch.ones(1, 4)).pow(2).sum()\n    total.backward(retain_graph=True)\n"
        "    optimizer.step()",
        ["total was computed before that write", "goes back through an earlier graph too"],
        "`total += loss.item()`",
    ),
    "a state of two tensors": (
        "rnn = torch.nn.LSTM(2, 3)\nstate = None\nfor _ in range(2):\n"
        "    out, state = rnn(torch.ones(1, 2), state)\n    out.sum().backward()",
        ["state was computed before `out.sum().backward()`"],
        "`state = tuple(one.detach() for one in state)`",
    ),
}


ARGUMENTS = {
    "a target without the last dimension": (
        "net = torch.nn.Linear(6, 1)\ny = torch.ones(8)\nloss = torch.nn.BCEWithLogitsLoss()(net(torch.ones(8, 6)), y)",
        ["`net(torch.ones(8, 6))` in line 4", "has shape [8, 1], and y has [8]"],
        "Use `y.unsqueeze(1)`, or call `squeeze(1)` on the input",
    ),
    "the same for probabilities": (
        "p, y = torch.full((4,), 0.5), torch.ones(4, 1)\nloss = torch.nn.functional.binary_cross_entropy(p, y)",
        ["p has shape [4], and y has [4, 1]"],
        "Use `y.squeeze(1)`, or call `unsqueeze(1)`",
    ),
    "another number of rows": (
        "out = torch.nn.Linear(16, 3)(torch.ones(4, 32).view(-1, 16))\n"
        "loss = torch.nn.functional.cross_entropy(out, torch.tensor([0, 1, 2, 0]))",
        ["here there are 8 rows and 4 targets", "each example was split into 2 rows"],
        "`x.flatten(1)`",
    ),
    "labels from 1": (
        "scores, y = torch.ones(3, 5), torch.tensor([1, 4, 5])\nloss = torch.nn.functional.cross_entropy(scores, y)",
        ["scores for 5 classes, so a target is a number from 0 to 4; one is 5."],
        "Labels that begin at 1 need `- 1`.",
    ),
    "a label below 0": (
        "scores, y = torch.ones(3, 5), torch.tensor([1, 4, -1])\nloss = torch.nn.functional.cross_entropy(scores, y)",
        ["one is -1."],
        "pass `ignore_index=-1`",
    ),
    "classes in the last dimension": (
        "y = torch.zeros(2, 5, dtype=torch.long)\nloss = torch.nn.functional.cross_entropy(torch.ones(2, 5, 3), y)",
        ["That would be [2, 3], and the target has [2, 5]"],
        "`scores.transpose(1, 2)`",
    ),
    "one-hot integers": (
        "y = torch.tensor([[0, 1], [1, 0]])\nloss = torch.nn.functional.cross_entropy(torch.ones(2, 2), y)",
        ["stands for the probabilities of the classes, which are floats; these are integers."],
        "`target.argmax(1)`",
    ),
    "scores in place of probabilities": (
        "scores, y = torch.tensor([-1.5, 2.0]), torch.ones(2)\n"
        "loss = torch.nn.functional.binary_cross_entropy(scores, y)",
        ["numbers from 0 to 1; scores goes from -1.5 to 2."],
        "BCEWithLogitsLoss",
    ),
    "probabilities that are nan": (
        "p, y = torch.tensor([0.5, float('nan')]), torch.ones(2)\n"
        "loss = torch.nn.functional.binary_cross_entropy(p, y)",
        ["of p, 1 are nan or inf."],
        "the op that gives the first nan",
    ),
    "a target that is no probability": (
        "p, y = torch.full((2,), 0.5), torch.tensor([0.0, 3.0])\nloss = torch.nn.functional.binary_cross_entropy(p, y)",
        ["y goes from 0 to 3."],
        "for numbers of classes, use cross_entropy",
    ),
    "the target first": (
        "scores, y = torch.ones(2, 3), torch.zeros(2, 3, dtype=torch.long)\n"
        "loss = torch.nn.functional.cross_entropy(y, scores)",
        ["no version of this op for tensors of int64", "y int64"],
        "the scores come first, and the target second",
    ),
    "a mean of integers": (
        "counts = torch.tensor([1, 2])\ncounts.mean()",
        ["The mean of integers"],
        "`counts.float().mean()`",
    ),
    "channels": (
        "net = torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3))\nx = torch.ones(4, 1, 12, 12)\nnet(x)",
        ["net.0 takes 3 channels, and x has 1: its shape is [4, 1, 12, 12]"],
        "Create net.0 with in_channels=1, or give it an input of 3 channels. `x.expand(-1, 3, -1, -1)` gives",
    ),
    "channels that come last": (
        "net = torch.nn.Conv2d(3, 8, 3)\nimages = torch.ones(4, 12, 12, 3)\nnet(images)",
        ["net takes 3 channels, and images has 12"],
        "`x.permute(0, 3, 1, 2)`",
    ),
    "features of an LSTM": (
        "rnn = torch.nn.LSTM(10, 4)\nrnn(torch.ones(5, 2, 8))",
        ["rnn was created for 10 features in the last dimension; its input has 8 there"],
        "Create it for 8, or give its input 10.",
    ),
    "features of attention": (
        "attention = torch.nn.MultiheadAttention(8, 2)\nx = torch.ones(4, 2, 6)\nattention(x, x, x)",
        ["attention was created for 8 features in the last dimension; its input has 6 there"],
        "Create it for 6",
    ),
    "features of a norm": (
        "norm = torch.nn.LayerNorm(8)\nx = torch.ones(4, 6)\nnorm(x)",
        ["norm was created for 8 features in the last dimension; x has 6 there"],
        "Create it for 6",
    ),
    "a norm of two dimensions": (
        "norm = torch.nn.LayerNorm([2, 8])\nx = torch.ones(3, 4, 6)\nnorm(x)",
        ["norm was created for inputs that end in the shape [2, 8]; x has shape [3, 4, 6]"],
        "Create it for the shape of its input",
    ),
    "a batch of one": (
        "net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.BatchNorm1d(4))\nnet(torch.ones(1, 2))",
        ["net.1 receives shape [1, 4], one number per channel"],
        "`DataLoader(…, drop_last=True)`",
    ),
    "a row that is not there": (
        "table = torch.nn.Embedding(10, 4)\nwords = torch.tensor([[1, 2], [0, 10]])\ntable(words)",
        ["table has 10 rows, for the indices 0 to 9; the largest index is 10."],
        "Create it with 11 rows or more",
    ),
    "a row below 0": (
        "table = torch.nn.Embedding(10, 4)\nwords = torch.tensor([[1, 2], [0, -1]])\ntable(words)",
        ["table has 10 rows, for the indices 0 to 9; one index is -1."],
        "where the negative index comes from",
    ),
    "a view of another size": (
        "x = torch.ones(4, 16, 12, 12)\nx.view(4, 400)",
        ["x, of shape [4, 16, 12, 12], has 9,216 elements, and a tensor of shape [4, 400] has 1,600"],
        "`flatten(1)`: it has 2,304 columns here",
    ),
    "a view that does not divide": (
        "x = torch.ones(10)\nx.view(-1, 4)",
        ["x, of shape [10], has 10 elements, which cannot be divided into parts of 4"],
        "Choose sizes whose product is 10",
    ),
    "a view across memory": (
        "x = torch.ones(2, 3, 4)\nx.transpose(1, 2).view(2, 12)",
        ["neighbours in the shape are no longer neighbours in memory"],
        "Use `reshape()`",
    ),
    "an index past the end": (
        "x = torch.ones(2, 3)\nx[5]",
        ["Dimension 0 has size 2, so an index there is a number from 0 to 1; 5 is not."],
        "Indices begin at 0",
    ),
    "a list of two lengths": (
        "a, b = torch.ones(2, 4), torch.ones(3, 5)\ntorch.cat([a, b], dim=1)",
        ["The first has 2 there, and number 1 (counted from 0) has 3. Shapes here: a [2, 4] and b [3, 5]."],
        "Join them along the dimension in which they differ",
    ),
    "a stack of two shapes": (
        "a, b = torch.ones(2, 4), torch.ones(3, 5)\ntorch.stack([a, b])",
        ["so all must have one shape. Shapes here: a [2, 4] and b [3, 5]."],
        "pad_sequence",
    ),
    "batches of matrices": (
        "a, b = torch.ones(2, 3, 4), torch.ones(2, 5, 6)\ntorch.bmm(a, b)",
        ["must have 2 matrices of 4 rows", "it has 2 of 5. Shapes here: a [2, 3, 4] and b [2, 5, 6]."],
        "`b.transpose(1, 2)`",
    ),
    "a letter of two sizes": (
        "a, b = torch.ones(2, 3), torch.ones(4, 5)\ntorch.einsum('ij,jk->ik', a, b)",
        ["j is 3 in an earlier operand, and 4 in operand 1"],
        "order of each operand's dimensions",
    ),
    "a number of three": (
        "loss = torch.ones(3)\nprint(loss.item())",
        ["give one number; loss has shape [3]"],
        "`loss.mean()`",
    ),
    "a condition of three": (
        "w = torch.ones(3)\nif w > 0:\n    pass",
        ["A condition needs one True or False"],
        "`.all()` or `.any()`",
    ),
    "an optimiser of nothing": (
        "torch.optim.SGD([], lr=0.1)",
        ["The list of parameters is empty"],
        "nn.ModuleList",
    ),
    "a layer before __init__": (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        self.a = torch.nn.Linear(2, 2)\nNet()",
        ["must be set up before it can hold layers"],
        "`super().__init__()`",
    ),
    "a copied list": (
        "w = torch.ones(2, requires_grad=True)\nparts = [w[0] * 2, w[1] * 3]\n"
        "loss = torch.tensor(parts).sum()\nloss.backward()",
        ["`torch.tensor(parts)` in line 4", "copies the numbers of 2 tensors that were computed"],
        "Use `torch.stack()`",
    ),
    "numbers that are typed": (
        "w = torch.ones(2)\nparts = [w[0] * 2, w[1] * 3]\nv = torch.ones(2, requires_grad=True)\n"
        "other = [v[0] * 2, v[1] * 3]\nloss = (torch.tensor([2.0, 3.0]) * torch.stack(parts)).sum()\nloss.backward()",
        ["Nothing that loss was computed from requires a gradient"],
        "with requires_grad=True before loss is computed",
    ),
    "a place that is not there": (
        "many = torch.tensor([1, 50])\nx, places = torch.ones(2, 3), torch.tensor([0, 7])\nx.index_select(0, places)",
        ["An index is counted from 0, and must be smaller than the size of its dimension; one index here is not."],
        "Look at the largest index",
    ),
    "a column that is not there": (
        "x, places = torch.ones(2, 3), torch.tensor([0, 7])\nx.index_select(1, places)",
        ["Dimension 1 has size 3, so an index there is a number from 0 to 2; 7 is not."],
        "Indices begin at 0",
    ),
    "two losses, one of them whole": (
        "mean, losses = torch.ones(()), torch.ones(3)\nprint(mean.item(), losses.item())",
        ["losses has shape [3]"],
        "`losses.mean()`",
    ),
    "no gradient of one of two": (
        "w, b = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)\nw.sum().backward()\n"
        "print(w.grad.sum(), b.grad.sum())",
        ["`b.grad` is None until a backward call brings b its first gradient"],
        "Call backward() of something computed from b first.",
    ),
    "no gradient yet": (
        "w = torch.ones(2, requires_grad=True)\nw.grad.zero_()",
        ["`w.grad` is None until a backward call brings w its first gradient"],
        "zero_grad() of the optimiser",
    ),
    "no gradient any more": (
        "w = torch.ones(2, requires_grad=True)\nw.sum().backward()\nw.grad = None\nv = 0.1 * w.grad",
        ["`w.grad` was set to None before this line"],
        "before it is cleared",
    ),
    "no gradient at all": (
        "w = torch.ones(2)\nv = 0.1 * w.grad",
        ["`w.grad` is None: w does not require a gradient"],
        "requires_grad=True",
    ),
    "no leaf any more": (
        "w = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    w.sum().backward()\n    w = w - 0.1 * w.grad",
        ["`w.grad` is None here: w was computed, so it is not a leaf"],
        "Update w in place: `with torch.no_grad(): w -= …`",
    ),
}


def explained(
    source: str, folder: Path, library: str = "import numpy, torch", record: Callable[..., Any] = backstep.record
) -> ErrorExplanation | None:
    """The error that ends a program; on PyTorch, unless another library is given, with its way to record."""
    path, text = str(folder / "program.py"), f"{library}\n{source}\n"
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    with torch.enable_grad(), contextlib.suppress(Exception), record() as trace, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they are errors in tests, and torch gives some before its error
        exec(compile(text, path, "exec"), {"__name__": "__main__"})
    read = reading_of(trace)
    return explain(read.facts, read.drawing)


@pytest.mark.parametrize("name", CASES)
def test_error_of_pytorch_is_explained_by_what_its_op_was_given(name: str, tmp_path: Path) -> None:
    source, parts, fix = CASES[name]
    found = explained(source, tmp_path)
    assert found is not None and found.at is not None
    assert [part for part in parts if part not in found.why] == [], found.why
    assert fix in found.fix


@pytest.mark.parametrize("name", ARGUMENTS)
def test_error_about_arguments_is_explained_alike_on_both(name: str, tmp_path: Path) -> None:
    source, parts, fix = ARGUMENTS[name]
    for library, record in (("import torch", backstep.record), ("import engine as torch", engine.record)):
        found = explained(source, tmp_path, library, record)
        assert found is not None
        assert [part for part in parts if part not in found.why] == [], (library, found.why)
        assert fix in found.fix, (library, found.fix)


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
