"""nn.init: bounds, spreads and structure of what is drawn; what is not drawn is torch's, errors are too."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import engine
from engine.nn import init
from tests.parity.helpers.saying import said

torch = pytest.importorskip("torch")

SHAPE = (60, 40, 5)
FAN_IN, FAN_OUT = 40 * 5, 60 * 5

DRAWN: dict[str, tuple[Callable[[Any], Any], float, float | None]] = {
    # name: (how, standard deviation, bound)
    "uniform": (lambda t: init.uniform_(t, -1, 3), 4 / math.sqrt(12), None),
    "normal": (lambda t: init.normal_(t, 0.0, 2.0), 2.0, None),
    "xavier_uniform": (
        lambda t: init.xavier_uniform_(t, gain=2.0), 2 * math.sqrt(2 / (FAN_IN + FAN_OUT)),
        2 * math.sqrt(6 / (FAN_IN + FAN_OUT)),
    ),
    "xavier_normal": (init.xavier_normal_, math.sqrt(2 / (FAN_IN + FAN_OUT)), None),
    "kaiming_uniform": (
        lambda t: init.kaiming_uniform_(t, a=math.sqrt(5)), math.sqrt(1 / 3 / FAN_IN), math.sqrt(1 / FAN_IN),
    ),
    "kaiming_normal": (
        lambda t: init.kaiming_normal_(t, mode="fan_out", nonlinearity="relu"), math.sqrt(2 / FAN_OUT), None,
    ),
    "trunc_normal": (lambda t: init.trunc_normal_(t, std=1.0, a=-1.0, b=1.0), 0.5396, 1.0),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWN)
def test_draws_have_the_spread_and_stay_in_bounds(name: str) -> None:
    how, deviation, bound = DRAWN[name]
    engine.manual_seed(0)
    tensor = engine.empty(*SHAPE, requires_grad=True)
    assert how(tensor) is tensor
    values = tensor.detach().numpy()
    assert values.std() == pytest.approx(deviation, rel=0.05)
    assert tensor.requires_grad and tensor.grad_fn is None
    if bound is not None:
        assert abs(values).max() <= bound * (1 + 1e-6)
        assert abs(values).max() > 0.98 * bound


@pytest.mark.parametrize("shape", [(5, 3), (3, 5), (4, 2, 3)])
def test_orthogonal_rows_or_columns_are_so(shape: tuple[int, ...]) -> None:
    tensor = init.orthogonal_(engine.empty(*shape, dtype=engine.float64), gain=2.0)
    matrix = tensor.numpy().reshape(shape[0], -1)
    product = matrix @ matrix.T if shape[0] <= matrix.shape[1] else matrix.T @ matrix
    np.testing.assert_allclose(product, 4 * np.eye(len(product)), atol=1e-12)


def test_sparse_columns_have_the_zeros_asked_for() -> None:
    values = init.sparse_(engine.empty(10, 6), sparsity=0.35).numpy()
    assert ((values == 0).sum(0) == 4).all()


SAME: dict[str, Callable[[Any], Any]] = {
    "constant": lambda t: t.nn.init.constant_(t.empty(2, 2), 0.3),
    "ones": lambda t: t.nn.init.ones_(t.empty(2)),
    "zeros": lambda t: t.nn.init.zeros_(t.ones(2)),
    "eye": lambda t: t.nn.init.eye_(t.empty(2, 3)),
    "eye of three": lambda t: t.nn.init.eye_(t.empty(2, 3, 1)),
    "dirac": lambda t: t.nn.init.dirac_(t.empty(4, 2, 3), 2),
    "dirac of images": lambda t: t.nn.init.dirac_(t.empty(2, 3, 3, 2)),
    "dirac of volumes": lambda t: t.nn.init.dirac_(t.empty(2, 2, 3, 2, 1)),
    "dirac of two": lambda t: t.nn.init.dirac_(t.empty(2, 3)),
    "dirac of groups": lambda t: t.nn.init.dirac_(t.empty(3, 2, 3), 2),
    "fan of one": lambda t: t.nn.init.xavier_uniform_(t.empty(3)),
    "unknown mode": lambda t: t.nn.init.kaiming_uniform_(t.empty(3, 2), mode="fan"),
    "nothing to fill": lambda t: t.nn.init.kaiming_uniform_(t.empty(0, 2)),
    "nothing to fill normally": lambda t: t.nn.init.kaiming_normal_(t.empty(0, 2)),
    "orthogonal of one": lambda t: t.nn.init.orthogonal_(t.empty(3)),
    "sparse of three": lambda t: t.nn.init.sparse_(t.empty(3, 2, 1), 0.1),
    "old name": lambda t: t.nn.init.constant(t.empty(2), 1.0),
    "far away": lambda t: t.nn.init.trunc_normal_(t.empty(2), mean=9.0).tolist() == [9.0, 9.0],
    "gains": lambda t: [
        t.nn.init.calculate_gain(n) for n in ("linear", "sigmoid", "tanh", "relu", "leaky_relu", "selu")
    ],
    "gain of a slope": lambda t: t.nn.init.calculate_gain("leaky_relu", 0.3),
    "gain of a wrong slope": lambda t: t.nn.init.calculate_gain("leaky_relu", "a"),
    "gain of a bool": lambda t: t.nn.init.calculate_gain("leaky_relu", True),
    "unknown gain": lambda t: t.nn.init.calculate_gain("wave"),
}


@pytest.mark.parametrize("name", SAME)
def test_init_answers_as_torchs(name: str) -> None:
    assert said(engine, SAME[name]) == said(torch, SAME[name])
