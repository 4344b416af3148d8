"""Expressions that both libraries evaluate: what they are made of, and what it means that they agree."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import evaluated

X = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4) / 4
FLOATS = {
    "x": X, "w": X[::-1].copy(), "u": (X + 0.1) / 4, "v": X[0].copy(), "n": np.array([1, np.nan, 3], "float32"),
    "f": np.array([np.inf, -np.inf, np.nan, 1.5], "float32"), "s": np.array(2.0, "float32"),
}  # fmt: skip
DATA = {
    "h": X.astype("float16"), "d": X.astype("float64"), "i": np.arange(3), "e": np.zeros(0, "float32"),
    "b": np.array([True, False, True]), "k": np.array([[1, 1, 2, 2], [3, 4, 4, 3]]), "c": np.array([1, 2, 3], "uint8"),
}  # fmt: skip


def scope(library: Any, grads: bool = False) -> dict[str, Any]:
    """The names of the expressions: floats that require grad where `grads`, and other data."""
    made = {name: library.tensor(value, requires_grad=grads) for name, value in FLOATS.items()}
    made.update({name: library.tensor(value) for name, value in DATA.items()})
    made["torch"] = library
    return made


def outcome(expression: str, library: Any, grads: bool = False) -> Any:
    """The value of an expression, or the error that it raises."""
    return evaluated(expression, scope(library, grads))


def parts(value: Any) -> list[Any]:
    """The results of a function, one or several."""
    return list(value) if isinstance(value, (tuple, list)) else [value]


def first_line(value: Any) -> Any:
    """An error as its type and first line."""
    return (type(value).__name__, str(value).split("\n")[0]) if isinstance(value, Exception) else value


def assert_agreement(expression: str, nodes: bool = True) -> None:
    """Errors, kinds of results, dtypes, shapes and values are torch's, and of floats that require grad the nodes."""
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(expression, engine), outcome(expression, torch)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert first_line(ours) == first_line(theirs)
        return
    assert type(ours).__name__ == type(theirs).__name__
    for mine, yours in zip(parts(ours), parts(theirs), strict=True):
        if not isinstance(yours, torch.Tensor):
            assert repr(mine) == repr(yours)
            continue
        assert (str(mine.dtype), tuple(mine.shape)) == (str(yours.dtype), tuple(yours.shape))
        tolerance = {"torch.float16": 2e-3, "torch.float64": 1e-8}.get(str(yours.dtype), 1e-5)
        np.testing.assert_allclose(mine.numpy(), yours.numpy(), rtol=tolerance, atol=1e-6)
    if nodes:
        _assert_nodes(outcome(expression, engine, True), outcome(expression, torch, True), torch)


def _assert_nodes(ours: Any, theirs: Any, torch: Any) -> None:
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert first_line(ours) == first_line(theirs)
        return
    for mine, yours in zip(parts(ours), parts(theirs), strict=True):
        if isinstance(yours, torch.Tensor):
            assert names(mine.grad_fn) == names(yours.grad_fn)
