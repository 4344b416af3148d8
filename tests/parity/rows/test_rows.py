"""Every op, row by row, against torch: values, gradients and theirs, nodes, and what a second call says."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import engine
from engine.ops.op import REGISTRY
from tests.batches import batches
from tests.engine.helpers import leaves, spelled_outputs
from tests.parity.helpers.nodes import names
from tests.samples import NOT_DIFFERENTIABLE, SAMPLES, Sample

SPELLED = [s for s in SAMPLES if s.spelled]
DIFFERENTIABLE = [s for s in SPELLED if REGISTRY[s.op].rules and s.op not in NOT_DIFFERENTIABLE]


def by_name(sample: Sample) -> str:
    return sample.name


def close(ours: Any, theirs: Any, sample: Sample) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype)
    tolerance = 2e-6 if "32" in str(theirs.dtype) else 1e-12  # the last digits of exp or pow are the library's own
    tolerance = 1e-8 if sample.loose and tolerance < 1e-8 else tolerance
    np.testing.assert_allclose(ours.detach()._array, theirs.detach().numpy(force=True), rtol=tolerance, atol=tolerance)


def outputs_of(sample: Sample, library: Any, dtype: str) -> tuple[list[Any], list[Any]]:
    return spelled_outputs(sample, library, leaves(sample, library, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@batches("sample", SPELLED, by_name)
def test_forward_equals_torch(sample: Sample, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    ours, _ = outputs_of(sample, engine, dtype)
    theirs, _ = outputs_of(sample, torch, dtype)
    for mine, yours in zip(ours, theirs, strict=True):
        close(mine, yours, sample)
        assert (mine.requires_grad, mine.is_leaf) == (yours.requires_grad, yours.is_leaf)


@batches("sample", DIFFERENTIABLE, by_name)
def test_gradient_and_its_gradient_equal_torch(sample: Sample) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (engine, torch):
        outputs, inputs = outputs_of(sample, library, "float64")
        output = next(o for o in outputs if o.requires_grad)
        count = int(np.prod(output.shape))
        weights = library.tensor(np.cos(np.arange(count, dtype=float)).reshape(tuple(output.shape)))
        weights = weights.to(output.dtype).requires_grad_()
        first = library.autograd.grad(output, inputs, weights, create_graph=True, allow_unused=True)
        total = sum((g * g + g).sum() for g in first if g is not None)
        second = [None] * len(inputs)
        if getattr(total, "requires_grad", False):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                second = library.autograd.grad(total, inputs, allow_unused=True)
        found.append((list(first), list(second)))
    for mine, yours in zip(found[0][0] + found[0][1], found[1][0] + found[1][1], strict=True):
        if mine is not None and yours is not None:
            close(mine, yours, sample)
        elif (mine is None) != (yours is None):  # one of the two knows that it is 0
            rest = mine._array if mine is not None else yours.numpy(force=True)
            assert not rest.any()


@batches("sample", [s for s in SPELLED if s.same_node], by_name)
def test_nodes_and_edges_are_torchs(sample: Sample) -> None:
    torch = pytest.importorskip("torch")
    if sample.op == "floor_divide":
        expected, _ = outputs_of(sample, torch, "float64")
        assert expected[0].grad_fn.name().endswith("NotImplemented")
    ours, _ = outputs_of(sample, engine, "float64")
    theirs, _ = outputs_of(sample, torch, "float64")
    assert [names(o.grad_fn) for o in ours] == [names(o.grad_fn) for o in theirs]


@batches("sample", DIFFERENTIABLE, by_name)
def test_second_backward_raises_where_torch_raises(sample: Sample) -> None:
    """What each op saves is torch's: an op that saves nothing can run again."""
    torch = pytest.importorskip("torch")
    raised = []
    for library in (engine, torch):
        outputs, _ = outputs_of(sample, library, "float64")
        output = next(o for o in outputs if o.requires_grad)
        output.backward(library.ones_like(output))
        try:
            output.backward(library.ones_like(output))
            raised.append("")
        except RuntimeError as error:
            raised.append(str(error))
    assert raised[0] == raised[1]
