"""Products that are put together, against torch's, which multiplies each alone."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.backward.test_joined_products import STEPS, arrays, joined, loss, ordinary, parameters


def test_gradients_of_weights_used_at_many_steps_are_torchs(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    counts = joined(monkeypatch)
    found = ordinary()
    assert sum(counts) == 2 * STEPS and max(counts) > 20
    p = parameters(torch)
    loss(p, torch).backward()
    for mine, theirs in zip(found, arrays(p), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-4, atol=1e-5)  # sums of 70 float32 products, in two orders
