"""Kinds of errors and warnings: each is what the engine really raises, and each has a program here that raises it."""

from __future__ import annotations

import contextlib
import io
import sys
import warnings
from typing import get_args

import pytest

import engine
from engine.trace.events import ErrorRaised, Trace, WarningGiven
from engine.trace.messages import ErrorKind, WarningKind, gradients_passed, read_error, warning_kind

LEAF = "x = torch.tensor([1., 2.], requires_grad=True)\n"
FUNCTION = """
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    {backward}
x = torch.tensor([1., 2.], requires_grad=True)
y = Twice.apply(x)
"""
BACKWARD = "@staticmethod\n    def backward(ctx, grad):\n        return {}"
ERRORS: dict[ErrorKind, str] = {
    "second-backward": LEAF + "y = (x * x).sum()\ny.backward()\ny.backward()",
    "not-scalar": LEAF + "(x * x).backward()",
    "seed-shape": LEAF + "(x * x).backward(torch.ones(3))",
    "seed-count": LEAF + "torch.autograd.backward([x.sum(), x.prod()], [torch.tensor(1.)])",
    "no-history": "torch.tensor(1.).backward()",
    "constant-input": LEAF + "c = torch.tensor(1.)\ntorch.autograd.grad((x * c).sum(), c)",
    "unused-input": LEAF + "torch.autograd.grad(x.sum(), torch.ones(1, requires_grad=True))",
    "no-inputs": LEAF + "x.sum().backward(inputs=[])",
    "saved-changed": LEAF + "y = x * 1\nz = y * y\ny += 1\nz.sum().backward()",
    "leaf-changed": LEAF + "x += 1",
    "leaf-view-changed": LEAF + "x[0] = 1",
    "several-views": LEAF + "first, second = (x * 1).unbind()\nfirst += 1",
    "unrecorded-view": LEAF + "y = x * 1\nwith torch.no_grad():\n    part = y[0:1]\npart *= 2",
    "inference-tensor": LEAF + "with torch.inference_mode():\n    c = torch.ones(2)\nx * c",
    "integer-leaf": "torch.tensor([1], requires_grad=True)",
    "numpy-of-grad": LEAF + "x.numpy()",
    "flag-of-inner": LEAF + "(x * 1).requires_grad_(False)",
    "size-of-grad": LEAF + "x.grad = torch.ones(3)",
    "retain-constant": "torch.ones(2).retain_grad()",
    "nan-found": "x = torch.zeros(2, requires_grad=True)\nwith torch.autograd.detect_anomaly():\n"
    "    (x / x).sum().backward()",
    "jacobian-mismatch": "x = torch.ones(2, dtype=torch.float64, requires_grad=True)\n"
    "torch.autograd.gradcheck(lambda x: x * x.detach(), x)",
    "gradient-count": FUNCTION.format(backward=BACKWARD.format("grad, grad")) + "y.sum().backward()",
    "gradient-shape": FUNCTION.format(backward=BACKWARD.format("grad.new_ones(3)")) + "y.sum().backward()",
    "no-backward": FUNCTION.format(backward="") + "y.sum().backward()",
    "once-differentiable": FUNCTION.format(
        backward=BACKWARD.format("grad * 2").replace("\n", "\n    @torch.autograd.function.once_differentiable\n", 1)
    )
    + "g, = torch.autograd.grad((y * y).sum(), x, create_graph=True)\ng.sum().backward()",
    "no-derivative": LEAF + "(x // torch.tensor(2.)).sum().backward()",
    "number-backward": LEAF + "x.sum().item().backward()",
    "target-size": "torch.nn.BCEWithLogitsLoss()(torch.ones(2, 1), torch.ones(2))",
    "batch-sizes": "torch.nn.CrossEntropyLoss()(torch.ones(4, 3), torch.tensor([0, 1]))",
    "class-columns": "torch.nn.CrossEntropyLoss()(torch.ones(2, 3), torch.tensor([[0], [1]]))",
    "class-range": "torch.nn.CrossEntropyLoss()(torch.ones(2, 3), torch.tensor([0, 3]))",
    "class-dimension": "torch.nn.CrossEntropyLoss()(torch.ones(2, 5, 3), torch.zeros(2, 5, dtype=torch.long))",
    "soft-target": "torch.nn.CrossEntropyLoss()(torch.ones(2, 2), torch.tensor([[0, 1], [1, 0]]))",
    "probability-range": "torch.nn.BCELoss()(torch.tensor([2.0]), torch.ones(1))",
    "no-kernel": "torch.nn.functional.log_softmax(torch.tensor([1, 2]), 0)",
    "mean-of-integers": "torch.tensor([1, 2]).mean()",
    "channels": "torch.nn.Conv2d(3, 8, 3)(torch.ones(1, 1, 4, 4))",
    "features": "torch.nn.LSTM(10, 4)(torch.ones(5, 2, 8))",
    "one-per-channel": "torch.nn.BatchNorm1d(4)(torch.ones(1, 4))",
    "index-range": "torch.nn.Embedding(3, 2)(torch.tensor([3]))",
    "view-size": "torch.ones(6).view(4, 4)",
    "view-strides": "torch.ones(2, 3).t().view(6)",
    "index-bounds": "torch.ones(2)[5]",
    "list-sizes": "torch.cat([torch.ones(2, 4), torch.ones(3, 5)], dim=1)",
    "batched-matrices": "torch.bmm(torch.ones(2, 3, 4), torch.ones(2, 5, 6))",
    "subscript-sizes": "torch.einsum('ij,jk->ik', torch.ones(2, 3), torch.ones(4, 5))",
    "number-of-many": LEAF + "x.item()",
    "truth-of-many": LEAF + "bool(x > 0)",
    "no-parameters": "torch.optim.SGD([], lr=0.1)",
    "before-init": "class Net(torch.nn.Module):\n    def __init__(self):\n        self.a = torch.nn.ReLU()\nNet()",
    "matrix-shapes": "torch.ones(2, 3) @ torch.ones(2, 3)",
    "sizes": LEAF + "x + torch.ones(3)",
    "dtypes": "torch.ones(2, 2) @ torch.ones(2, 2, dtype=torch.float64)",
    # The engine raises it on a GPU only; these are PyTorch's words.
    "devices": "raise RuntimeError('Expected all tensors to be on the same device, but found at least two devices')",
    # The engine clips nothing then; these are PyTorch's words.
    "nothing-to-clip": "raise RuntimeError('Expected !nested_tensorlist[0].empty() to be true, but got false.')",
    "none-used": LEAF + "x.grad.zero_()",
    "syntax": "x = = 1",
    "no-module": "import a_module_that_nobody_has.part",
    "no-file": "open('a file that is not there')",
    "no-input": "input()",
    "interrupted": "raise KeyboardInterrupt",
    "other": "{}['key']",
}
WARNINGS: dict[WarningKind, str] = {
    "grad-of-inner": LEAF + "(x * 1).grad",
    "graph-in-grad": LEAF + "(x * x).sum().backward(create_graph=True)",
    "expanded-write": "torch.ones(1).expand(2).masked_fill_(torch.tensor(True), 0.)",
    "target-shape": "torch.nn.functional.mse_loss(torch.ones(2, 1), torch.ones(2))",
    "other": "torch.ones(()).T",
}


def run(source: str, monkeypatch: pytest.MonkeyPatch) -> Trace:
    monkeypatch.setattr(sys, "stdin", io.StringIO())
    with warnings.catch_warnings(), contextlib.suppress(Exception, KeyboardInterrupt):
        warnings.simplefilter("ignore")
        with engine.record() as trace:
            exec(compile(source, "program.py", "exec"), {"torch": engine})
    return trace


def errors(source: str, monkeypatch: pytest.MonkeyPatch) -> list[ErrorRaised]:
    return [event for event in run(source, monkeypatch).events if isinstance(event, ErrorRaised)]


@pytest.mark.parametrize("kind", get_args(ErrorKind))
def test_kind_of_an_error_is_read_from_the_message_that_the_engine_raises(
    kind: ErrorKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    (error,) = errors(ERRORS[kind], monkeypatch)
    assert read_error(error).kind == kind, error.message


@pytest.mark.parametrize("kind", get_args(WarningKind))
def test_kind_of_a_warning_is_read_from_the_message_that_the_engine_gives(
    kind: WarningKind, monkeypatch: pytest.MonkeyPatch
) -> None:
    (warning,) = (event for event in run(WARNINGS[kind], monkeypatch).events if isinstance(event, WarningGiven))
    assert warning_kind(warning) == kind, warning.message


@pytest.mark.parametrize(
    ("kind", "parts"),
    [
        ("seed-count", {"roots": "2", "gradients": "1"}),
        ("gradient-count", {"expected": "1", "returned": "2"}),
        ("gradient-shape", {"index": "0", "returned": "[3]", "expected": "[2]"}),
        ("no-derivative", {"op": "floor_divide"}),
        ("no-module", {"name": "a_module_that_nobody_has"}),
    ],
)
def test_parts_of_a_message_are_read_by_name(
    kind: ErrorKind, parts: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (error,) = errors(ERRORS[kind], monkeypatch)
    assert read_error(error).parts == parts


def test_gradients_are_counted_only_where_their_number_was_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (count,), (shape,) = (errors(ERRORS[kind], monkeypatch) for kind in ("seed-count", "seed-shape"))
    assert gradients_passed(count) == 1
    assert gradients_passed(shape) is None and gradients_passed(None) is None
