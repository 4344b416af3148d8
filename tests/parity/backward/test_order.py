"""Nodes run in torch's order, in random graphs."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.parity.helpers.outcomes import both, values

STEPS: dict[str, Any] = {
    "add": lambda library, x, y, scale: x + y,
    "mul": lambda library, x, y, scale: x * y,
    "sin": lambda library, x, y, scale: library.sin(x),
    "tanh": lambda library, x, y, scale: x.tanh(),
    "neg": lambda library, x, y, scale: -x,
    "scale": lambda library, x, y, scale: x * scale,
    "max": lambda library, x, y, scale: library.maximum(x, y),
    "view": lambda library, x, y, scale: x.reshape(-1),
    "sum": lambda library, x, y, scale: x.sum(),
}


def fired(library: Any, seed: int) -> tuple[list[str], Any]:
    """Build a random graph and run it: the nodes in the order in which they ran, and the gradient of the leaf."""
    draw = random.Random(seed)  # noqa: S311 - a program, not a secret
    leaf = library.tensor([0.5, 0.25], requires_grad=True)
    made = [leaf, library.tensor(-0.7, requires_grad=True) * 1, library.tensor(1.1, requires_grad=True) * 1]
    order: list[str] = []
    for number in range(3, draw.randint(8, 25)):
        step = STEPS[draw.choice(sorted(STEPS))]
        result = step(library, made[draw.randrange(number)], made[draw.randrange(number)], draw.random())
        result.register_hook(_noting(order, f"{number} {result.grad_fn.name()}"))
        made.append(result)
    sum(m.sum() for m in made[-4:]).backward()
    return order, values(leaf.grad)


def _noting(order: list[str], text: str) -> Any:
    return lambda gradient: order.append(text)


@pytest.mark.parametrize("seed", range(60))
def test_nodes_run_in_torchs_order(seed: int) -> None:
    ours, theirs = (fired(library, seed) for library in both())
    assert ours[0] == theirs[0]
    np.testing.assert_allclose(ours[1] or 0, theirs[1] or 0, rtol=1e-5)
