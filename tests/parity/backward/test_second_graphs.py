"""The graph of a backward that ran with `create_graph=True`: of which nodes, beside torch's.

docs/differences.md has the reasons.  Values of second gradients are compared elsewhere, for every op.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

import engine

Action = Callable[[Any, Any, Any], Any]

PLAIN: dict[str, Action] = {
    "add": lambda t, x, y: x + y, "sub": lambda t, x, y: x - y, "mul": lambda t, x, y: x * y,
    "div": lambda t, x, y: x / y, "twice": lambda t, x, y: x * 2.0, "two over": lambda t, x, y: 2 / x,
    "neg": lambda t, x, y: -x, "pow": lambda t, x, y: x**3, "square": lambda t, x, y: x.square(),
    "pow of a tensor": lambda t, x, y: x**y, "exp": lambda t, x, y: x.exp(), "log": lambda t, x, y: x.log(),
    "log1p": lambda t, x, y: x.log1p(), "expm1": lambda t, x, y: x.expm1(), "sin": lambda t, x, y: x.sin(),
    "sqrt": lambda t, x, y: x.sqrt(), "rsqrt": lambda t, x, y: x.rsqrt(), "atan": lambda t, x, y: x.atan(),
    "reciprocal": lambda t, x, y: x.reciprocal(), "sum": lambda t, x, y: x.sum(), "sum dim": lambda t, x, y: x.sum(0),
    "mean": lambda t, x, y: x.mean(), "mean dim": lambda t, x, y: x.mean(1), "cumsum": lambda t, x, y: x.cumsum(0),
    "matmul": lambda t, x, y: x @ y.t(), "linear": lambda t, x, y: t.nn.functional.linear(x, y),
    "t": lambda t, x, y: x.t(), "permute": lambda t, x, y: x.permute(1, 0), "view": lambda t, x, y: x.view(-1),
    "reshape": lambda t, x, y: x.reshape(-1), "cat": lambda t, x, y: t.cat([x, y]),
    "stack": lambda t, x, y: t.stack([x, y]), "index": lambda t, x, y: x[0], "slice": lambda t, x, y: x[:, 1:],
    "squeeze": lambda t, x, y: x.unsqueeze(0).squeeze(0), "where": lambda t, x, y: t.where(x > 0.5, x, y),
    "clamp": lambda t, x, y: x.clamp(0.2, 1.0), "lerp": lambda t, x, y: t.lerp(x, y, 0.3),
}  # fmt: skip
"""Ops whose second graph is torch's, but for how a number is written and how a result is laid out."""

COMPOSED: dict[str, Action] = {
    "tanh": lambda t, x, y: x.tanh(), "sigmoid": lambda t, x, y: x.sigmoid(), "relu": lambda t, x, y: x.relu(),
    "softmax": lambda t, x, y: x.softmax(1), "log_softmax": lambda t, x, y: x.log_softmax(1),
    "gelu": lambda t, x, y: t.nn.functional.gelu(x), "softplus": lambda t, x, y: t.nn.functional.softplus(x),
    "mse_loss": lambda t, x, y: t.nn.functional.mse_loss(x, y), "abs": lambda t, x, y: x.abs(),
    "cos": lambda t, x, y: x.cos(), "max": lambda t, x, y: x.max(), "max dim": lambda t, x, y: x.max(1)[0],
    "gather": lambda t, x, y: x.gather(1, t.tensor([[0], [1]])), "prod": lambda t, x, y: x.prod(),
    "norm": lambda t, x, y: x.norm(), "var": lambda t, x, y: x.var(), "maximum": lambda t, x, y: t.maximum(x, y),
    "expand": lambda t, x, y: x[0].expand(3, 3), "outer": lambda t, x, y: t.outer(x[0], y[0]),
}  # fmt: skip
"""Ops whose rule is made of other ops here than torch's is."""


def nodes(function: Any) -> Any:
    """The tree behind a node: names, with what each gets its gradients to."""
    if function is None or type(function).__name__ == "AccumulateGrad":
        return None if function is None else "leaf"
    return function.name(), tuple(nodes(after) for after, _ in function.next_functions)


def written_as_torch(tree: Any) -> Any:
    """With numbers inside of rules as torch's C++ has them: one edge, and a 1 in the name."""
    if not isinstance(tree, tuple):
        return tree
    name, after = tree[0], tuple(written_as_torch(one) for one in tree[1])
    if (
        len(after) == 2
        and after[1] is None
        and name in ("MulBackward0", "AddBackward0", "SubBackward0", "DivBackward0")
    ):
        return name[:-1] + "1", after[:1]
    return name, after


def second(library: Any, action: Action) -> Any:
    x = library.tensor([[0.5, 0.7, 0.9], [1.1, 1.3, 0.3]], requires_grad=True)
    y = library.tensor([[0.6, 0.2, 0.8], [1.0, 1.4, 0.25]], requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out = action(library, x, y)
        (gradient,) = library.autograd.grad(out, x, library.ones_like(out).requires_grad_(), create_graph=True)
    found = nodes(gradient.grad_fn)
    laid_out = library is engine and isinstance(found, tuple) and found[0] == "CloneBackward0"
    return found[1][0] if laid_out else found


@pytest.mark.parity
@pytest.mark.parametrize("name", PLAIN)
def test_second_graph_is_torchs(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert written_as_torch(second(engine, PLAIN[name])) == written_as_torch(second(torch, PLAIN[name]))


@pytest.mark.parity
@pytest.mark.parametrize("name", COMPOSED)
def test_second_graph_is_made_of_other_ops(name: str) -> None:
    torch = pytest.importorskip("torch")
    assert written_as_torch(second(engine, COMPOSED[name])) != written_as_torch(second(torch, COMPOSED[name]))
