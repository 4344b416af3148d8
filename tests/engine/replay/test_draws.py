"""Layers that draw or keep count: what is drawn, what is written, and that a replay does the same again."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.replay.replay import replay
from engine.replay.run import same_bits
from engine.trace.events import LeafCreated

F = engine.nn.functional


def ones(*shape: int) -> Any:
    return engine.ones(*shape, requires_grad=True)


def test_dropout_keeps_the_part_that_was_asked_for_and_scales_it() -> None:
    engine.manual_seed(1)
    x = ones(200, 200)
    made = F.dropout(x, 0.25)
    made.sum().backward()
    values = made.detach().numpy()
    assert set(np.unique(values)) == {np.float32(0), np.float32(1 / 0.75)}
    assert abs((values == 0).mean() - 0.25) < 0.01  # 6 deviations of 40,000 draws
    np.testing.assert_array_equal(x.grad.numpy(), values)


@pytest.mark.parametrize(("function", "rank"), [("dropout1d", 3), ("dropout2d", 4), ("dropout3d", 5)])
def test_dropout_of_channels_drops_them_whole(function: str, rank: int) -> None:
    engine.manual_seed(1)
    made = getattr(F, function)(ones(8, 16, *[3] * (rank - 2)), 0.5).detach().numpy()
    by_channel = made.reshape(8, 16, -1)
    assert (by_channel == by_channel[:, :, :1]).all()
    assert 0.3 < (by_channel[:, :, 0] == 0).mean() < 0.7


def test_alpha_dropout_keeps_mean_and_deviation() -> None:
    engine.manual_seed(2)
    x = engine.randn(400, 400)
    made = F.alpha_dropout(x, 0.3, training=True).numpy()
    assert abs(made.mean()) < 0.01 and abs(made.std() - 1) < 0.01


def test_rrelu_draws_slopes_between_its_bounds_on_the_left_alone() -> None:
    engine.manual_seed(3)
    x: Any = engine.tensor(np.linspace(-1, 1, 1000), requires_grad=True)
    F.rrelu(x, 0.1, 0.3, training=True).sum().backward()
    slopes = x.grad.numpy()
    left = slopes[:500]
    assert (slopes[500:] == 1).all() and 0.1 <= left.min() < 0.12 and 0.28 < left.max() < 0.3


def test_hard_gumbel_softmax_is_one_hot_with_the_gradient_of_the_soft_one() -> None:
    logits: Any = engine.tensor(np.log([[0.7, 0.2, 0.1]] * 2000), requires_grad=True)
    engine.manual_seed(4)
    hard = F.gumbel_softmax(logits, tau=0.5, hard=True)
    weights = engine.tensor(np.arange(3.0))
    (hard * weights).sum().backward()
    found, logits.grad = logits.grad.numpy(), None
    engine.manual_seed(4)
    (F.gumbel_softmax(logits, tau=0.5) * weights).sum().backward()
    np.testing.assert_allclose(found, logits.grad.numpy(), atol=1e-12)
    np.testing.assert_allclose(hard.detach().numpy().sum(1), 1)
    np.testing.assert_allclose(hard.detach().numpy().mean(0), [0.7, 0.2, 0.1], atol=0.05)


def test_same_seed_draws_the_same() -> None:
    made = []
    for _ in range(2):
        engine.manual_seed(5)
        made.append(F.dropout(ones(50), 0.5).detach().numpy())
    np.testing.assert_array_equal(made[0], made[1])


def program() -> Any:
    """A network of layers that draw and count."""
    engine.manual_seed(6)
    rng = np.random.default_rng(6)
    table: Any = engine.tensor(rng.normal(size=(10, 8)), requires_grad=True)
    hidden = F.dropout(F.embedding(engine.tensor([[1, 2, 3], [4, 4, 0]]), table, max_norm=2.0), 0.3)
    heads = F.layer_norm(hidden, (8,)).view(2, 3, 2, 4).transpose(1, 2)
    found = F.scaled_dot_product_attention(heads, heads, heads, is_causal=True).transpose(1, 2).reshape(2, 3, 8)
    mean, var = engine.zeros(3, dtype=engine.float64), engine.ones(3, dtype=engine.float64)
    found = F.batch_norm(F.gelu(found), mean, var, training=True)
    loss = F.cross_entropy(found.reshape(6, 8), engine.tensor([0, 1, 2, 3, 4, 5])) + F.mse_loss(found, hidden)
    loss = loss + F.rrelu(hidden, training=True).sum() + F.gumbel_softmax(hidden, hard=True).std()
    loss.backward()
    return mean


def test_replay_of_layers_that_draw_is_the_recording_bit_for_bit() -> None:
    with engine.record() as trace:
        program()
    again = replay(trace)
    assert len(again.events) == len(trace.events) and again.meta["doubt"] is None
    assert any(isinstance(e, LeafCreated) and e.source == "random" for e in trace.events)
    for before, after in zip(trace.events, again.events, strict=True):
        assert type(before) is type(after)
        number = getattr(before, "value", None)
        if isinstance(number, int) and not isinstance(number, bool):
            first, second = trace.value(number).array, again.value(after.value).array
            assert first is not None and second is not None and same_bits(first, second)
