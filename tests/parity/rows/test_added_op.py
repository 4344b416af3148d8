"""The row of an op that is added is compared with torch, as every row is."""

from __future__ import annotations

import numpy as np
import pytest

import engine
from tests.engine.helpers import call, flat, leaves
from tests.parity.rows.answers import ask
from tests.repository.test_added_op import PRESENTATIONS, ROWS, added
from tests.samples import Sample


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.op)
def test_value_and_gradient_of_an_added_op_are_torchs(row: Sample) -> None:
    torch = pytest.importorskip("torch")
    with added(PRESENTATIONS):
        inputs = leaves(row, dtype="float64")
        output = call(row, inputs)
        weights = engine.from_numpy(np.cos(np.arange(output.numel(), dtype=float)).reshape(output.shape))
        mine = [output.detach(), *engine.autograd.grad(output, flat(inputs), weights)]
        theirs = ask(row, torch)[: len(mine)]
    for one, other in zip(mine, theirs, strict=True):
        assert other is not None
        np.testing.assert_allclose(one.numpy(), other, rtol=1e-12)
