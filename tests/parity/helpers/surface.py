"""Expressions run here and in torch: what the tables of the surface tests are compared by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import engine
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import evaluated

X = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4) / 4
MADE = {
    "x": X, "y": X[:2], "v": X[0], "b": np.stack([X, X + 1]), "w": X[::-1].copy(), "m": X.T.copy(),
    "c": np.stack([X.T, X.T * 2]), "sq": X[:, :3] * 2,
}  # fmt: skip


def scope(library: Any, grads: bool = False) -> dict[str, Any]:
    """The names that expressions use."""
    found = {name: library.tensor(value, requires_grad=grads) for name, value in MADE.items()}
    found["s"] = library.tensor(2.0, requires_grad=grads)
    found.update(
        torch=library, i=library.arange(3), i2=library.tensor([[0, 2, 1, 1]]), mask=library.tensor(X > 1.5),
        e=library.empty(0), d=library.tensor(X.astype("float64")),
    )  # fmt: skip
    return found


def outcome(expression: str, library: Any, grads: bool = False, found: dict[str, Any] | None = None) -> Any:
    """What an expression gives, or raises."""
    return evaluated(expression, scope(library, grads) if found is None else found)


def flat(made: Any) -> list[Any]:
    """The tensors (or other values) of a result."""
    if isinstance(made, (list, tuple)) and type(made).__name__ != "Size":
        return [item for part in made for item in flat(part)]
    return [made]


def same_error(expression: str, torch: Any) -> None:
    """Both raise the same class; the first line of the message is torch's."""
    ours, theirs = outcome(expression, engine), outcome(expression, torch)
    assert isinstance(theirs, Exception), expression
    assert (type(ours).__name__, str(ours).split("\n")[0]) == (type(theirs).__name__, str(theirs).split("\n")[0])


def same_tensors(expression: str, torch: Any) -> None:
    """Both give the same values, shapes, dtypes, strides, versions, and are views of the same kind."""
    ours, theirs = flat(outcome(expression, engine)), flat(outcome(expression, torch))
    assert len(ours) == len(theirs)
    for mine, yours in zip(ours, theirs, strict=True):
        if not isinstance(yours, torch.Tensor):
            assert repr(mine) == repr(yours)
            continue
        assert (tuple(mine.shape), str(mine.dtype)) == (tuple(yours.shape), str(yours.dtype))
        np.testing.assert_allclose(mine.numpy(), yours.numpy(), rtol=2e-6, atol=1e-7)
        assert (mine._version, mine._is_view()) == (yours._version, yours._is_view())
        if yours.numel():
            assert laid(mine) == laid(yours)


def laid(tensor: Any) -> tuple[Any, ...]:
    """Where its elements lie; of a dimension of size 1 the stride says nothing."""
    steps = [s for s, n in zip(tensor.stride(), tensor.shape, strict=True) if n > 1]
    return steps, tensor.storage_offset()


def same_graph(expression: str, torch: Any) -> None:
    """Both build the same nodes and give the same gradients."""
    scopes = [scope(engine, True), scope(torch, True)]
    made = [flat(outcome(expression, found["torch"], True, found)) for found in scopes]
    for mine, yours in zip(*made, strict=True):
        assert not isinstance(mine, Exception), mine
        assert names(mine.grad_fn) == names(yours.grad_fn)
        np.testing.assert_allclose(mine.detach().numpy(), yours.detach().numpy(), rtol=2e-6, atol=1e-7)
    for results in made:
        total = sum((r * r).sum() for r in results if r.requires_grad)
        total.backward()
    for name in (*MADE, "s"):
        mine, yours = scopes[0][name].grad, scopes[1][name].grad
        assert (mine is None) == (yours is None), name
        if mine is not None:
            np.testing.assert_allclose(mine.numpy(), yours.numpy(), rtol=1e-5, atol=1e-6)


def derived_twice(out: Any, inputs: Sequence[Any], library: Any) -> list[Any]:
    """A result, its gradients with weights, and the second derivatives of the sum of their cubes."""
    weights = library.tensor(np.cos(np.arange(out.numel(), dtype=float)).reshape(tuple(out.shape)))
    first = library.autograd.grad(out, inputs, weights.requires_grad_(), create_graph=True, allow_unused=True)
    total = sum((g * g * g).sum() for g in first if g is not None)
    second = library.autograd.grad(total, [*inputs, weights], allow_unused=True)
    return [out, *first, *second]


def same(mine: Any, yours: Any, tolerance: float) -> None:
    """Both have the same shape, dtype and, so far as the tolerance says, numbers."""
    assert (tuple(mine.shape), str(mine.dtype)) == (tuple(yours.shape), str(yours.dtype)), mine
    np.testing.assert_allclose(mine.detach().numpy(), yours.detach().numpy(force=True), rtol=tolerance, atol=tolerance)


def same_or_nothing(ours: Sequence[Any], theirs: Sequence[Any], tolerance: float) -> None:
    """The same one by one; where one of the two has None, since it knows that it is 0, the other has zeros."""
    for mine, yours in zip(ours, theirs, strict=True):
        if mine is None or yours is None:
            assert mine is yours or not (mine if yours is None else yours).detach().numpy(force=True).any()
        else:
            same(mine, yours, tolerance)
