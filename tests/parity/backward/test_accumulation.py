"""What arrives at the leaves: gradients that add up, are summed over broadcasting, and of what was written."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine import autograd
from tests.parity.helpers.outcomes import both, values

SECOND = "Trying to backward through the graph a second time"


def test_gradients_accumulate_in_the_leaf() -> None:
    x = engine.tensor([[1.0, 2, 3, 4]], requires_grad=True)
    z = 2 * x
    for weights, expected in [([1, 0, 0, 0], [2, 0, 0, 0]), ([0, 1, 0, 0], [2, 2, 0, 0]), ([1, 1, 1, 1], [4, 4, 2, 2])]:
        z.backward(engine.tensor([weights], dtype=engine.float32), retain_graph=True)
        assert values(x.grad) == [expected]
    held = x.grad
    z.sum().backward()
    assert x.grad is held  # written in place, as torch does
    assert held._version == 3


def test_retained_gradients_add_up_in_a_tensor_of_their_own() -> None:
    x = engine.ones(2, requires_grad=True)
    y = x * 2
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    held = y.grad
    y.sum().backward()
    assert (values(held), values(y.grad)) == ([1, 1], [2, 2])  # torch does not write an inner tensor's in place


def test_gradient_passed_is_not_shared_with_the_leaf() -> None:
    x = engine.ones(2, requires_grad=True)
    weights = engine.ones(2)
    (x + 0).backward(weights)
    x.grad.mul_(5)
    assert values(weights) == [1, 1]


def test_second_backward_raises_after_the_values_were_freed() -> None:
    x = engine.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    with pytest.raises(RuntimeError, match=SECOND) as raised:
        y.backward()
    assert "MulBackward0" in "".join(raised.value.__notes__)
    assert values(x.grad) == [4, 4]


def test_second_backward_runs_where_nothing_was_saved() -> None:
    x = engine.ones(3, requires_grad=True)
    y = (x + x).view(3).sum() + (-x).mean() + engine.cat([x, x])[1:].sum()
    y.backward()
    first = x.grad.clone()
    y.backward()
    assert engine.equal(x.grad, 2 * first)


def test_inputs_receive_and_nobody_else() -> None:
    for library in both():
        x, w = library.ones(2, requires_grad=True), library.ones(2, requires_grad=True)
        y = x * w
        (y * y).sum().backward(inputs=[w])
        assert (x.grad, values(w.grad)) == (None, [2, 2])
        z = library.ones(2, requires_grad=True) * 2
        (z * 3).sum().backward(inputs=[z])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert values(z.grad) == [3, 3]


def test_several_roots_add_up() -> None:
    for library in both():
        x = library.tensor([1.0, 2.0], requires_grad=True)
        library.autograd.backward([x.sum(), x * x], [None, library.tensor([1.0, 10.0])])
        assert values(x.grad) == [3, 41]


def test_saved_tensor_written_in_place_is_an_error_in_torchs_words() -> None:
    messages = []
    for library in both():
        told = []
        x = library.tensor([0.0, 1.0, 2.0], requires_grad=True)
        y = library.exp(x)
        y.mul_(2)
        told.append(y)
        y = x * 2
        w = y * y
        y[0] = 5.0
        told.append(w)
        y = x * 2
        w = library.relu(y)
        w.detach().zero_()
        told.append(w)
        for tensor in told:
            with pytest.raises(RuntimeError) as raised:
                tensor.sum().backward()
            messages.append(str(raised.value))
    assert messages[:3] == messages[3:]


def test_data_write_goes_unseen() -> None:
    for library in both():
        x = library.ones(1, requires_grad=True)
        y = x * 1.0
        z = (y * y).sum()
        y.data.mul_(10)
        z.backward()
        assert values(x.grad) == [20]


@st.composite
def broadcast_shapes(draw: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    full = draw(st.lists(st.integers(1, 3), max_size=3))
    cut = [draw(st.sampled_from([n, 1])) for n in full]
    skip = draw(st.integers(0, len(full)))
    pair = (tuple(full), tuple(cut[skip:]))
    return pair if draw(st.booleans()) else pair[::-1]


@given(broadcast_shapes(), st.sampled_from(["add", "sub", "mul", "div", "maximum", "atan2"]), st.integers(0, 9))
@settings(max_examples=150, deadline=None)
def test_broadcast_gradient_is_summed_to_the_operands_shape(shapes: Any, name: str, seed: int) -> None:
    torch = pytest.importorskip("torch")
    draws = np.random.default_rng(seed)
    arrays = [draws.uniform(0.5, 2, shape) for shape in shapes]
    found = []
    for library in (engine, torch):
        x, y = (library.tensor(np.asarray(a), requires_grad=True) for a in arrays)
        made = getattr(library, name)(x, y)
        made.backward(library.tensor(np.cos(np.arange(float(np.prod(made.shape)))).reshape(tuple(made.shape))))
        found.append((x.grad, y.grad))
    for mine, yours in zip(*found, strict=True):
        assert tuple(mine.shape) == tuple(yours.shape)
        np.testing.assert_allclose(mine.numpy(), yours.numpy(), rtol=1e-12, atol=1e-12)


@given(st.lists(st.sampled_from(["twice", "square", "shared", "part"]), min_size=1, max_size=6))
@settings(max_examples=60, deadline=None)
def test_accumulated_gradient_is_the_gradient_of_the_sum(kinds: list[str]) -> None:
    losses = {
        "twice": lambda t: (2 * t).sum(), "square": lambda t: (t * t).sum(), "shared": lambda t: (t * t.sum()).sum(),
        "part": lambda t: t[1:].sum() * t[0],
    }  # fmt: skip
    x = engine.tensor([1.0, -2.0, 0.5], requires_grad=True)
    for kind in kinds:
        losses[kind](x).backward()
    (whole,) = autograd.grad(sum(losses[kind](x) for kind in kinds), x)
    np.testing.assert_allclose(x.grad.numpy(), whole.numpy(), rtol=1e-6)


def test_legacy_broadcasting_expands_or_sums_the_gradient() -> None:
    with autograd.legacy_broadcasting():
        x = engine.tensor([[1.0, 2], [3, 4]], requires_grad=True)
        ((2 * x) ** 3).backward(engine.tensor([1.0, 0.0]))
        assert values(x.grad) == [[24, 0], [216, 0]]
        a = engine.zeros(1, requires_grad=True)
        (3 * a).backward(engine.tensor([0.1, 1.0, 0.0001]))
        assert a.grad.item() == pytest.approx(3.3003)
    with pytest.raises(RuntimeError, match="Mismatch in shape") as raised:
        (3 * a).backward(engine.tensor([0.1, 1.0, 0.0001]))
    assert "legacy_broadcasting" in "".join(raised.value.__notes__)


@pytest.mark.parametrize("place", ["cpu", "cuda"])
def test_same_program_runs_on_both_devices(place: str) -> None:
    if place == "cuda" and not engine.cuda.is_available():
        pytest.skip("cupy finds no GPU here")
    x = engine.tensor([[0.5, -1.0], [2.0, 0.25]], requires_grad=True, device=place)
    y = (engine.exp(x) @ x.t()).softmax(1).log().sum() + x[0].max() + engine.cat([x, x]).mean() + (x / 3).tanh().std()
    y.backward()
    expected = engine.tensor(x.detach().cpu().numpy(), requires_grad=True)
    z = (engine.exp(expected) @ expected.t()).softmax(1).log().sum() + expected[0].max()
    z = z + engine.cat([expected, expected]).mean() + (expected / 3).tanh().std()
    z.backward()
    assert x.grad.device.type == place
    np.testing.assert_allclose(x.grad.cpu().numpy(), expected.grad.numpy(), rtol=1e-5)
