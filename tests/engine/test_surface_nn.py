"""nn.functional beside torch's: values, dtypes, graphs, gradients, errors and warnings of expressions."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import engine
from tests.engine.test_ops import names
from tests.engine.test_surface import listed

RNG = np.random.default_rng(3)
GIVEN: dict[str, np.ndarray] = {
    "x": RNG.normal(size=(3, 4)), "y": RNG.normal(size=(3, 4)), "z": RNG.normal(size=(3, 4)),
    "b": RNG.normal(size=(2, 3, 4)), "w": RNG.normal(size=(5, 4)), "c": RNG.normal(size=5), "v": RNG.normal(size=4),
    "v2": RNG.normal(size=4), "v3": RNG.uniform(0.1, 0.9, 3), "u3": RNG.normal(size=3),
    "n": RNG.normal(size=(2, 4, 3, 3)),
    "p": RNG.uniform(0.1, 0.9, (3, 4)), "q": RNG.normal(size=(2, 3, 5, 4)), "k": RNG.normal(size=(2, 3, 6, 4)),
    "W": RNG.normal(size=(2, 4, 4)), "m": RNG.normal(size=(5, 6)),
}  # fmt: skip
"""Tensors that require grad, by the names that the expressions below have for them."""
FIXED: dict[str, np.ndarray] = {
    "t": RNG.uniform(0.1, 0.9, (3, 4)), "i": np.array([1, 0, 3]), "s": np.array([1.0, -1.0, 1.0]),
    "f": RNG.normal(size=4), "rm": RNG.normal(size=4), "rv": RNG.uniform(0.5, 2, 4), "g": RNG.uniform(0.1, 0.9, 4),
}  # fmt: skip
"""Tensors that do not."""


def scope(library: Any, dtype: str = "float64") -> dict[str, Any]:
    """The names of the expressions."""
    made = {
        k: library.tensor(a.astype(dtype), requires_grad=k in GIVEN) if a.dtype.kind == "f" else library.tensor(a)
        for k, a in (GIVEN | FIXED).items()
    }
    return {**made, "torch": library, "F": library.nn.functional}


GRAPHS = """
F.linear(x, w, c) | F.linear(x, w) | F.linear(b, w, c) | F.linear(b, w) | F.linear(v, w, c) | F.linear(v, w)
F.linear(b.transpose(0, 1), w, c) | F.linear(v, v2) | F.linear(x, v2) | F.linear(x, w.detach(), c)
F.linear(b.detach(), w, c) | F.linear(b, w.detach(), c.detach()) | F.linear(b.transpose(0, 1), w)
F.linear(x, w, c[0]) | F.linear(b, w, c.view(1, 5)) | F.linear(b, w, c[0]) | F.linear(v, w[0], c[0])
F.linear(b, w[0]) | torch.addmm(c, x, w.t()) | torch.addmm(c, x, w.t(), beta=2, alpha=3)
torch.addmm(c, x, w.t(), beta=0) | F.relu6(x) | F.leaky_relu(x) | F.prelu(x, v) | F.prelu(x, v[:1]) | F.prelu(n, v)
F.prelu(u3, v[:1]) | F.prelu(x, v[0]) | F.prelu(v[0], v[:1]) | F.rrelu(x) | F.elu(x) | F.elu(x, 2.0) | F.selu(x)
F.celu(x) | F.celu(x, 2.0) | F.gelu(x) | F.gelu(x, approximate="tanh") | F.silu(x) | F.mish(x) | F.softplus(x)
F.softplus(x, 2, 1) | F.softsign(x) | F.softmin(x, 1) | F.softmax(x, 1) | F.softmax(x, dim=-1) | F.log_softmax(x, 1)
F.logsigmoid(x) | F.hardtanh(x) | F.hardtanh(x, -2, 0.5) | F.hardsigmoid(4 * x) | F.hardswish(4 * x) | F.hardshrink(x)
F.softshrink(x) | F.tanhshrink(x) | F.threshold(x, 0.1, 0.2) | F.glu(x) | F.glu(x, 1) | F.relu(x) | F.sigmoid(x)
F.tanh(x) | F.softmax(x) | F.softmin(b) | F.log_softmax(v) | F.relu(x * 1, inplace=True) | F.elu(x * 1, inplace=True)
F.silu(x * 1, inplace=True) | F.hardswish(x * 1, inplace=True) | F.leaky_relu_(x * 1)
F.softmax(x, 1, dtype=torch.float64) | F.relu6(i) | F.hardtanh(i) | F.softsign(i) | F.tanhshrink(i)
F.threshold(i, 1.5, 2.5) | F.relu(i) | F.softshrink(x, 0.1) | F.rrelu(x, 0.1, 0.3) | F.celu_(x * 1) | F.selu_(x * 1)
F.threshold_(x * 1, 0.1, 0.2) | F.hardtanh_(x * 1) | F.rrelu_(x * 1) | F.mish(x * 1, inplace=True) | F.relu_(x * 1)
F.layer_norm(x, (4,)) | F.layer_norm(x, (4,), v, v2) | F.layer_norm(b, (3, 4), y, z) | F.layer_norm(b, [4], None, v)
F.layer_norm(b, (4,), v.detach(), None, 0.1) | F.batch_norm(x, rm, rv) | F.batch_norm(x, rm, rv, v, v2, training=True)
F.batch_norm(n, rm, rv, v, v2) | F.batch_norm(n, None, None, v, v2, True, 0.1, 0.01)
F.batch_norm(b[:, :, 0].reshape(3, 2)[:, :2], None, None, training=True) | F.batch_norm(x[:0], rm, rv, training=True)
F.batch_norm(n, rm.clone(), rv.clone(), training=True, momentum=0.3) | F.group_norm(n, 2) | F.group_norm(n, 2, v, v2)
F.group_norm(x, 2, v) | F.group_norm(n[:0], 2) | F.rms_norm(x, (4,)) | F.rms_norm(x, (4,), v)
F.rms_norm(x, (3, 4), None, 0.01) | F.normalize(x) | F.normalize(x, p=1) | F.normalize(b, dim=(0, 1))
F.normalize(x, 3, 0) | F.normalize(v, dim=0)
"""
"""Same values, nodes, edges and gradients."""

ERRORS = """
F.linear(x, w.t()) | F.linear(x, w.t(), c) | F.linear(x, w, x) | F.linear(x, w.float()) | F.linear(x, w, c.float())
F.linear(x, w, c[:3]) | F.linear(x, w[0], c) | F.linear(c[0], w) | F.linear(2, w) | F.linear(x, 2)
F.linear(b, w.t()) | F.linear(b, w.t(), c) | F.linear(x.float(), w, c) | F.linear(b, w, c[:3]) | torch.addmm(c, x, w)
torch.addmm(c, x[0], w.t()) | torch.addmm(c, x, w.t()[0]) | torch.addmm(b, x, w.t()) | torch.addmm(2, x, w)
F.gelu(x, approximate="x") | F.gelu(i) | F.gelu(x, "tanh") | F.gelu(2) | F.leaky_relu(i) | F.elu(i) | F.celu(i)
F.selu(i) | F.silu(i) | F.mish(i) | F.softplus(i) | F.softmin(i, 0) | F.logsigmoid(i) | F.hardsigmoid(i)
F.hardswish(i) | F.hardshrink(i) | F.softshrink(i) | F.softshrink(x, -1) | F.glu(x[:, :3]) | F.glu(i) | F.glu(v[0])
F.glu(x, 5) | F.celu(x, 0) | F.hardtanh(x, 2, 1) | F.prelu(x, c) | F.prelu(x, c[:3]) | F.prelu(x, w)
F.prelu(x, v.float()) | F.prelu(u3, v) | F.prelu(v[0], v) | F.rrelu(i) | F.rrelu(x, 2, 1) | F.leaky_relu(x, "a")
F.gumbel_softmax(i) | F.leaky_relu(2) | F.elu(i > 0) | F.relu6(i > 0) | F.softmax(x, dim=3) | F.softmax(i, 0)
F.layer_norm(x, (3,)) | F.layer_norm(x, 4) | F.layer_norm(x, ()) | F.layer_norm(x, (4,), c)
F.layer_norm(x, (4,), None, c) | F.layer_norm(x, (3, 4), c) | F.layer_norm(i, (3,)) | F.layer_norm(x, (4,), v.float())
F.layer_norm(v[0], (4,)) | F.layer_norm(x, (1, 3, 4)) | F.batch_norm(x, None, None) | F.batch_norm(x, rm, None)
F.batch_norm(x, rm, rv, c) | F.batch_norm(x, c, rv) | F.batch_norm(x, rm, c) | F.batch_norm(x, rm, rv, None, c)
F.batch_norm(x[:1], rm, rv, training=True) | F.batch_norm(v, rm, rv) | F.batch_norm(x.float(), rm, rv)
F.batch_norm(n[:1, :, :1, :1], rm, rv, training=True) | F.batch_norm(v[0], rm, rv)
F.batch_norm(x, rm, None, training=True) | F.group_norm(n, 3) | F.group_norm(n, 2, c) | F.group_norm(n, 0)
F.group_norm(x[:1], 4) | F.group_norm(n, 2, v.float()) | F.group_norm(v, 2) | F.rms_norm(x, (3,)) | F.rms_norm(x, 4)
F.rms_norm(x, (4,), c) | F.rms_norm(i, (3,)) | F.rms_norm(x, ()) | F.normalize(x, dim=5) | F.normalize(i)
F.normalize(2) | F.batch_norm(2, rm, rv)
"""


def outcome(expression: str, library: Any, dtype: str = "float64") -> tuple[Any, list[str], dict[str, Any]]:
    """The value of an expression or its exception, the warnings, and the names it was evaluated with."""
    found = scope(library, dtype)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            made = eval(expression, found)  # noqa: S307 - expressions of this file
        except Exception as error:  # noqa: BLE001 - which one is what the tests are about
            made = error
    # inf and nan are results, as in torch: numpy's warnings of them are silenced by the engine, but not in here
    said = [f"{w.category.__name__}: {w.message}" for w in told if w.category is not RuntimeWarning]
    return made, said, found


def several(made: Any) -> list[Any]:
    """The tensors that an expression gave."""
    return [m for m in made if m is not None] if isinstance(made, tuple) else [made]


def near(mine: Any, yours: Any, dtype: str, expression: str) -> None:
    assert (tuple(mine.shape), str(mine.dtype)) == (tuple(yours.shape), str(yours.dtype)), expression
    tolerance = 1e-9 if dtype == "float64" else 1e-5  # sums are taken in another order
    np.testing.assert_allclose(
        mine.detach().numpy(), yours.detach().numpy(), rtol=tolerance, atol=tolerance, err_msg=expression
    )


@pytest.mark.parametrize("expression", listed(GRAPHS))
def test_function_has_torchs_values_graph_and_gradients(expression: str) -> None:
    torch = pytest.importorskip("torch")
    for dtype in ("float64", "float32"):
        ours, told, mine = outcome(expression, engine, dtype)
        theirs, said, yours = outcome(expression, torch, dtype)
        assert not isinstance(ours, Exception), ours
        assert told == said
        for made, wanted in zip(several(ours), several(theirs), strict=True):
            near(made, wanted, dtype, expression)
            assert (made.requires_grad, made.is_leaf) == (wanted.requires_grad, wanted.is_leaf)
            assert names(made.grad_fn) == names(wanted.grad_fn)
        for library, made in ((engine, several(ours)[0]), (torch, several(theirs)[0])):
            if made.requires_grad:
                weights = np.cos(np.arange(made.numel())).reshape(tuple(made.shape))
                made.backward(library.tensor(weights).to(made.dtype))
        for name in GIVEN:
            a, e = mine[name].grad, yours[name].grad
            assert (a is None) == (e is None), name
            if a is not None:
                near(a, e, dtype, f"the gradient of {name} in {expression}")


@pytest.mark.parametrize("expression", listed(ERRORS))
def test_refusal_is_torchs_word_for_word(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, told, _ = outcome(expression, engine)
    theirs, said, _ = outcome(expression, torch)
    assert isinstance(theirs, Exception), theirs
    assert (type(ours).__name__, str(ours)) == (type(theirs).__name__, str(theirs).splitlines()[0])
    assert told == said
