"""Random draws: streams repeat with their seed, moments are the distribution's, nodes and errors are torch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import listed
from tests.parity.helpers.surface import same_error

DRAWS = """
torch.rand(3) | torch.randn(2, 2) | torch.randint(5, (4,)) | torch.randperm(6) | torch.rand_like(x)
torch.randn_like(x) | torch.randint_like(x, 2, 9) | torch.normal(x, 1.0) | torch.normal(0.0, 1.0, (3,))
torch.bernoulli(x / 4)
torch.poisson(x) | torch.multinomial(x, 2) | torch.multinomial(x, 5, True) | torch.zeros(3).uniform_(1, 2)
torch.zeros(3).normal_()
torch.zeros(3).exponential_() | torch.zeros(3).random_(9) | torch.zeros(3).cauchy_()
torch.zeros(3).geometric_(0.3) | torch.zeros(3).log_normal_() | torch.zeros(3).bernoulli_()
torch.binomial(x + 9, x / 4)
"""
MOMENTS = [
    ("torch.rand(n)", 0.5, 1 / 12), ("torch.randn(n)", 0, 1), ("torch.randint(4, (n,)).double()", 1.5, 1.25),
    ("torch.normal(torch.full((n,), 2.0), 3.0)", 2, 9), ("torch.normal(1.0, torch.full((n,), 2.0))", 1, 4),
    ("torch.bernoulli(torch.full((n,), 0.25))", 0.25, 0.1875), ("torch.poisson(torch.full((n,), 3.0))", 3, 3),
    ("torch.zeros(n).uniform_(-1, 3)", 1, 4 / 3), ("torch.zeros(n).exponential_(2)", 0.5, 0.25),
    ("torch.zeros(n).geometric_(0.5)", 2, 2), ("torch.zeros(n).bernoulli_(0.5)", 0.5, 0.25),
    ("torch.zeros(n).log_normal_(0, 0.5)", float(np.exp(0.125)), float(np.exp(0.25) * (np.exp(0.25) - 1))),
    ("torch.multinomial(torch.tensor([1.0, 0.0, 3.0]), n, True).double()", 1.5, 0.75),
]  # fmt: skip
NODES = """
torch.bernoulli(x / 4) | torch.poisson(x) | torch.normal(x, 1.0) | torch.normal(1.0, x) | torch.normal(x, w)
torch.normal(x, v) | z.bernoulli_() | z.bernoulli_(0.5) | z.bernoulli_(x / 4) | z.random_() | z.random_(5)
z.random_(2, 5) | z.exponential_() | z.geometric_(0.5) | z.cauchy_() | z.log_normal_() | z.normal_() | z.uniform_()
"""
ERRORS = """
torch.rand(2, dtype=torch.int64) | torch.randn(2, dtype=torch.int64) | torch.rand(-1) | torch.randint(5)
torch.randint(5, 2, (2,)) | torch.randint(300, (2,), dtype=torch.uint8) | torch.randperm(-1)
torch.randperm(300, dtype=torch.uint8) | torch.rand_like(i) | torch.randn_like(i) | torch.randint(0, (2,))
torch.normal(0.0, -1.0, (2,)) | torch.normal(x, -1.0) | torch.normal(x, y) | torch.normal(x, -x) | torch.normal(i, 1.0)
torch.bernoulli(x * 2) | torch.bernoulli(i) | torch.bernoulli(x, 1.5) | torch.poisson(-x) | torch.poisson(i)
torch.multinomial(x, 5) | torch.multinomial(x, 0) | torch.multinomial(b, 2) | torch.multinomial(i, 2)
torch.multinomial(-x, 2) | torch.multinomial(x * 0, 2) | torch.multinomial(s, 1) | torch.multinomial(e, 1)
x.bernoulli_(2.0) | x.random_(3, 2) | x.exponential_(0.0) | i.exponential_() | x.geometric_(0.0) | x.geometric_(1.5)
x.cauchy_(0, -1) | i.cauchy_() | x.log_normal_(1, -1) | i.log_normal_() | x.normal_(0, -1) | i.normal_()
x.uniform_(1, 0) | i.uniform_() | x.bernoulli_(x - 5) | torch.manual_seed("a") | torch.manual_seed(2**64)
"""
MANY = 40_000


def scope(library: Any, grads: bool = False) -> dict[str, Any]:
    data = np.arange(1.0, 13.0, dtype="float32").reshape(3, 4) / 4
    found = {"x": library.tensor(data, requires_grad=grads), "w": library.tensor(data, requires_grad=grads)}
    found["v"] = library.tensor(data[0], requires_grad=grads)
    return {**found, "z": found["x"] * 1, "torch": library, "n": MANY}


@batches("expression", listed(DRAWS))
def test_draws_repeat_with_their_seed_and_go_on_without(expression: str) -> None:
    drawn = []
    for seed in (3, 3, None):
        if seed is not None:
            engine.manual_seed(seed)
        drawn.append(eval(expression, scope(engine)))  # noqa: S307 - expressions of this file
    assert engine.equal(drawn[0], drawn[1])
    engine.manual_seed(3)
    state = engine.get_rng_state()
    engine.rand(7)
    engine.set_rng_state(state)
    assert engine.equal(drawn[0], eval(expression, scope(engine)))  # noqa: S307 - expressions of this file


@pytest.mark.parametrize(("expression", "mean", "variance"), MOMENTS)
def test_draws_have_the_mean_and_variance_of_their_distribution(expression: str, mean: float, variance: float) -> None:
    engine.manual_seed(11)
    drawn = eval(expression, scope(engine)).numpy().astype("float64")  # noqa: S307 - expressions of this file
    assert drawn.shape == (MANY,)
    assert abs(drawn.mean() - mean) < 6 * np.sqrt(variance / MANY)
    assert abs(drawn.var() / variance - 1) < 0.1


@batches("expression", listed(NODES))
def test_nodes_of_draws_are_torchs_and_pass_on_zeros(expression: str) -> None:
    torch = pytest.importorskip("torch")
    for library in (engine, torch):
        found = scope(library, True)
        made = eval(expression, found)  # noqa: S307 - expressions of this file
        if library is engine:
            ours = made.grad_fn
        assert made.dtype is library.float32
        made.sum().backward()
        assert found["x"].grad is not None and not found["x"].grad.any()
    assert names(ours) == names(made.grad_fn)


@batches("expression", listed(ERRORS))
def test_error_is_torchs_in_its_first_line(expression: str) -> None:
    same_error(expression, pytest.importorskip("torch"))


def test_a_generator_of_its_own_leaves_the_default_stream_alone() -> None:
    engine.manual_seed(0)
    expected = engine.rand(3)
    engine.manual_seed(0)
    own = engine.Generator().manual_seed(5)
    first = engine.rand(4, generator=own)
    assert engine.equal(engine.rand(3), expected)
    assert engine.equal(first, engine.rand(4, generator=engine.Generator().manual_seed(5)))
    twin = own.clone_state()
    assert engine.equal(engine.randn(2, generator=own), engine.randn(2, generator=twin))
    assert own.initial_seed() == 5 and own.seed() == own.initial_seed()


def test_places_drawn_without_replacement_are_all_different() -> None:
    engine.manual_seed(1)
    weights = engine.rand(50, 20) + 0.1
    places = engine.multinomial(weights, 20)
    assert engine.equal(places.sort(1).values, engine.arange(20).expand(50, 20))
    assert engine.multinomial(engine.tensor([0.0, 2.0, 0.0]), 1).tolist() == [1]


def test_what_was_drawn_is_kept_in_a_replay() -> None:
    engine.manual_seed(2)
    with engine.record() as trace:
        x = engine.full((4,), 0.5, requires_grad=True)
        kept = engine.bernoulli(x) * engine.normal(x, 1.0)
        (kept * x).sum().backward()
    assert list(engine.replay(trace).events) == list(trace.events)
