"""Sums of many numbers in single precision: as exact as torch's, along whichever dimension they are taken."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from engine.nn import functional

DRAWN = np.random.default_rng(0)
NEAR = 2e-6  # of a running total in single precision the error is a hundred times that


@pytest.mark.parametrize(
    ("shape", "dim"), [((100_000, 3), 0), ((99_999, 3), 0), ((3, 50_001, 5), 1), ((300, 301, 2), (0, 1))]
)
def test_sum_along_a_dimension_that_is_not_the_last_is_exact(shape: tuple[int, ...], dim: Any) -> None:
    values = DRAWN.random(shape, dtype="float32")
    x, wide = engine.tensor(values), values.astype("float64")
    np.testing.assert_allclose(x.sum(dim).numpy(), wide.sum(dim), rtol=NEAR)
    np.testing.assert_allclose(x.mean(dim, keepdim=True).numpy(), wide.mean(dim, keepdims=True), rtol=NEAR)
    np.testing.assert_allclose(x.var(dim).numpy(), wide.var(dim, ddof=1), rtol=NEAR)


@pytest.mark.parametrize("sizes", [(64, 512, 4), (61, 509, 3)])
def test_normalisation_of_many_elements_is_exact(sizes: tuple[int, ...]) -> None:
    values = DRAWN.random((2, 4, *sizes), dtype="float32")
    x, wide = engine.tensor(values), values.astype("float64")

    def normal(dims: tuple[int, ...], data: Any) -> Any:
        return (data - data.mean(dims, keepdims=True)) / np.sqrt(data.var(dims, keepdims=True) + 1e-5)

    np.testing.assert_allclose(functional.layer_norm(x, (4, *sizes)).numpy(), normal((1, 2, 3, 4), wide), atol=NEAR)
    groups = normal((2, 3, 4, 5), wide.reshape(2, 2, 2, *sizes)).reshape(wide.shape)
    np.testing.assert_allclose(functional.group_norm(x, 2).numpy(), groups, atol=NEAR)
    batch = functional.batch_norm(x, None, None, training=True)
    np.testing.assert_allclose(batch.numpy(), normal((0, 2, 3, 4), wide), atol=NEAR)


@pytest.mark.parametrize("exponent", [-0.5, -1, -2, 2, 3, 3.0])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_small_power_is_torchs_bit_for_bit(dtype: str, exponent: float) -> None:
    torch = pytest.importorskip("torch")
    x = (np.random.default_rng(0).standard_normal(1003) * 7).astype(dtype)
    x[:4] = 0, -0.0, np.inf, -np.inf
    mine = engine.pow(engine.tensor(x), exponent).numpy()
    np.testing.assert_array_equal(mine, torch.pow(torch.tensor(x), exponent).numpy())
