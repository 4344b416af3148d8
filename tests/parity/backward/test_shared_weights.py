"""The gradients of weights that a network uses at every step, against torch's."""

from __future__ import annotations

import numpy as np
import pytest

from tests.engine.backward.test_shared_weights import arrays, loss, ordinary, parameters


def test_gradients_of_weights_used_at_many_steps_are_torchs() -> None:
    torch = pytest.importorskip("torch")
    p = parameters(torch)
    loss(p, torch).backward()
    for mine, theirs in zip(ordinary(), arrays(p), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=2e-5, atol=1e-6)  # sums of 70 products of float32
