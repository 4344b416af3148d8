"""A nan on its way back: what passes it on in torch passes it on here, where the first one is looked for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.saying import evaluated, listed

PASSED = """
F.relu(x) | F.relu6(x) | F.hardtanh(x, -2, 2) | F.threshold(x, 0.1, 9.0) | F.leaky_relu(x) | F.elu(x) | F.selu(x)
F.hardswish(x) | F.hardsigmoid(x) | F.silu(x) | F.gelu(x) | F.mish(x) | F.softplus(x) | F.logsigmoid(x) | F.tanh(x)
F.huber_loss(x, y) | F.smooth_l1_loss(x, y) | F.l1_loss(x, y) | F.mse_loss(x, y) | x.clamp(0, 2) | x.abs() | x.max()
torch.maximum(x, y) | torch.fmax(x, y) | torch.where(x > 0, x, y) | x.norm() | x.softmax(0) | x.logsumexp(0)
x.sort()[0]
torch.atan2(x * 0, x * 0) | torch.atan2(x, y) | F.max_pool1d(x[None], 2) | x.nansum() | x.median()
"""


@batches("expression", listed(PASSED))
def test_gradient_where_a_value_is_nan_is_torchs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (torch, engine):
        names: dict[str, Any] = {"torch": library, "F": library.nn.functional, "y": library.zeros(4)}
        names["x"] = library.tensor([1.5, np.nan, -0.5, 0.0], requires_grad=True)
        made = evaluated(expression, names)
        made.backward(library.ones_like(made))
        found.append((made.detach().numpy(), names["x"].grad.numpy()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)
