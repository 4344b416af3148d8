"""With `create_graph`, the gradient of what torch differentiates by one function hangs on what that function takes."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import evaluated, listed

CALLS = """
F.relu(x) | F.relu6(x) | F.hardtanh(x) | F.leaky_relu(x) | F.threshold(x, 0.0, 1.0) | F.hardshrink(x) | F.softshrink(x)
F.prelu(x, w[:1]) | F.max_pool1d(x, 2) | F.max_pool2d(x, 2) | F.avg_pool1d(x, 2) | F.avg_pool2d(x, 2)
F.adaptive_avg_pool1d(x, 2) | F.adaptive_max_pool2d(x, 2) | F.pad(x, (1, 1), "reflect") | F.pad(x, (1, 1), "replicate")
F.pad(x, (1, 1)) | F.nll_loss(x[0], torch.tensor([0, 1, 0, 1])) | F.interpolate(x, size=3, mode="nearest")
F.layer_norm(x, (4,), w, b) | F.conv1d(x, w.view(1, 4, 1).expand(2, 4, 1), b[:2])
F.batch_norm(x, None, None, w, b, True) | F.prelu(x, w) | F.conv_transpose1d(x, w.view(4, 1, 1))
F.grid_sample(x.view(1, 1, 4, 4), w.view(1, 1, 2, 2) / 9, align_corners=False)
F.linear(x, w, b[0]) | torch.sum(x) | x.exp() | x.clone().relu_()
"""


def reached(expression: str, library: Any) -> Any:
    """For each gradient whether it requires grad, and what is the gradient of its sum for every leaf."""
    x = library.arange(16.0).reshape(1, 4, 4).sub(7.5).requires_grad_()
    w, b = (library.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True) for _ in range(2))
    made = evaluated(expression, {"torch": library, "F": library.nn.functional, "x": x, "w": w, "b": b})
    found: list[Any] = []
    for gradient in library.autograd.grad(made.sum(), (x, w, b), create_graph=True, allow_unused=True):
        if gradient is None or not gradient.requires_grad:
            found.append(gradient is None)
            continue
        second = library.autograd.grad(gradient.sum(), (x, w, b), retain_graph=True, allow_unused=True)
        found.append([None if s is None else s.mul(1000).round().tolist() for s in second])
    return found


@batches("expression", listed(CALLS))
def test_gradient_leads_where_torchs_does(expression: str) -> None:
    torch = pytest.importorskip("torch")
    assert reached(expression, engine) == reached(expression, torch)


def of_one_leaf(expression: str, library: Any, leaf: str, written: str | None = None) -> Any:
    """The gradient of the one leaf that requires grad and what it leads to; with `written`, after a write to that."""
    leaves = {"x": library.arange(16.0).reshape(1, 4, 4).sub(7.5)}
    leaves |= {name: library.tensor([1.0, 2.0, 3.0, 4.0]) for name in "wb"}
    leaves[leaf].requires_grad_()
    made = evaluated(expression, {"torch": library, "F": library.nn.functional, **leaves})
    if not made.requires_grad:
        return None
    try:
        if written:
            with library.no_grad():
                leaves[written].add_(1)
        (gradient,) = library.autograd.grad(made.sum(), leaves[leaf], create_graph=True, allow_unused=True)
        if gradient is None or not gradient.requires_grad:
            return gradient is None
        (second,) = library.autograd.grad(gradient.sum(), leaves[leaf], allow_unused=True)
        return second if second is None else second.mul(1000).round().tolist()
    except RuntimeError as error:
        return str(error).partition(":")[0]


@batches("expression", listed(CALLS))
def test_gradient_of_one_leaf_leads_where_torchs_does_and_needs_what_torchs_needs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    for leaf in "xwb":
        for written in (None, "x", "w", "b"):
            mine, yours = (of_one_leaf(expression, library, leaf, written) for library in (engine, torch))
            assert mine == yours, (leaf, written)


def test_second_derivative_of_relu_is_zero_and_no_error() -> None:
    x = engine.tensor([-1.0, 2.0], requires_grad=True)
    (slope,) = engine.autograd.grad(engine.relu(x).sum(), x, create_graph=True)
    assert engine.autograd.grad(slope.sum(), x)[0].tolist() == [0.0, 0.0]
