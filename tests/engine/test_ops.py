"""Every op, row by row: its rules against small steps, Tensors against arrays, and all of it against torch."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import engine
from engine import autograd
from engine.backward.loop import run_backward
from engine.ops.op import REGISTRY
from engine.tensor.node import gradient_edge
from tests.engine.helpers import call, flat, floats, function_of, leaves, spelled_outputs
from tests.samples import NOT_DIFFERENTIABLE, SAMPLES, Sample

DIFFERENTIABLE = [s for s in SAMPLES if REGISTRY[s.op].rules and s.op not in NOT_DIFFERENTIABLE]
SMOOTH = [s for s in DIFFERENTIABLE if not s.kink]
SPELLED = [s for s in SAMPLES if s.spelled]


def by_name(sample: Sample) -> str:
    return sample.name


def test_samples_cover_the_registry_and_nothing_else() -> None:
    assert {s.op for s in SAMPLES} == {name for name in REGISTRY if not name.startswith("_doc")}


def test_samples_without_spelling_say_why() -> None:
    assert [s.op for s in SAMPLES if not s.spelled and not s.reason] == []


@pytest.mark.parametrize("sample", SMOOTH, ids=by_name)
def test_rule_agrees_with_small_steps(sample: Sample) -> None:
    function, inputs = function_of(sample)
    assert autograd.gradcheck(function, inputs)


@pytest.mark.parametrize("sample", SMOOTH, ids=by_name)
def test_second_derivative_agrees_with_small_steps(sample: Sample) -> None:
    function, inputs = function_of(sample)
    assert autograd.gradgradcheck(function, inputs)


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=by_name)
def test_backward_on_arrays_equals_backward_on_tensors(sample: Sample) -> None:
    results = []
    for create_graph in (False, True):
        inputs = leaves(sample)
        outputs = floats(call(sample, inputs))
        weights = [np.cos(np.arange(o.numel(), dtype=float)).reshape(o.shape).astype(o._array.dtype) for o in outputs]
        edges = [gradient_edge(o) for o in outputs]
        captures = [gradient_edge(t) for t in flat(inputs)]
        given = [engine.from_numpy(w) for w in weights]
        found = run_backward(edges, given, keep=True, create_graph=create_graph, captures=captures, accumulate=False)
        results.append([None if f is None else np.asarray(f._array) for f in found])
    for raw, graphed in zip(*results, strict=True):
        assert (raw is None) == (graphed is None)
        if raw is not None:
            assert raw.dtype == graphed.dtype
            np.testing.assert_array_equal(raw, graphed)


@pytest.mark.parametrize("sample", DIFFERENTIABLE, ids=by_name)
def test_gradients_have_shape_and_dtype_of_their_inputs(sample: Sample) -> None:
    inputs = leaves(sample, dtype="float32")
    for output in floats(call(sample, inputs)):
        autograd.backward(output, engine.ones_like(output), retain_graph=True)
    for leaf in flat(inputs):
        assert leaf.grad is not None
        assert (leaf.grad.shape, leaf.grad.dtype) == (leaf.shape, leaf.dtype)
        assert type(leaf.grad._array) is np.ndarray


# -- against torch ------------------------------------------------------------------------------------------------


def close(ours: Any, theirs: Any, sample: Sample) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert str(ours.dtype) == str(theirs.dtype)
    tolerance = 2e-6 if "32" in str(theirs.dtype) else 1e-12  # the last digits of exp or pow are the library's own
    tolerance = 1e-8 if sample.loose and tolerance < 1e-8 else tolerance
    np.testing.assert_allclose(ours.detach()._array, theirs.detach().numpy(force=True), rtol=tolerance, atol=tolerance)


def outputs_of(sample: Sample, library: Any, dtype: str) -> tuple[list[Any], list[Any]]:
    return spelled_outputs(sample, library, leaves(sample, library, dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sample", SPELLED, ids=by_name)
def test_forward_equals_torch(sample: Sample, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    ours, _ = outputs_of(sample, engine, dtype)
    theirs, _ = outputs_of(sample, torch, dtype)
    for mine, yours in zip(ours, theirs, strict=True):
        close(mine, yours, sample)
        assert (mine.requires_grad, mine.is_leaf) == (yours.requires_grad, yours.is_leaf)


@pytest.mark.parametrize("sample", SPELLED, ids=by_name)
def test_direct_call_equals_the_spelled_one(sample: Sample) -> None:
    spelled, _ = outputs_of(sample, engine, "float64")
    made = call(sample, leaves(sample))
    direct_ones = made[: len(spelled)] if isinstance(made, tuple) else [made]  # functions of nn give the first alone
    for mine, direct in zip(spelled, direct_ones, strict=True):
        np.testing.assert_array_equal(mine._array, direct._array)


@pytest.mark.parametrize("sample", [s for s in SPELLED if s in DIFFERENTIABLE], ids=by_name)
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


def names(node: Any) -> Any:
    if node is None:
        return None
    short = node.name().replace("torch::autograd::", "")
    return (short, [(names(n), nr) for n, nr in node.next_functions])


@pytest.mark.parametrize("sample", [s for s in SPELLED if s.same_node], ids=by_name)
def test_nodes_and_edges_are_torchs(sample: Sample) -> None:
    torch = pytest.importorskip("torch")
    if sample.op == "floor_divide":
        expected, _ = outputs_of(sample, torch, "float64")
        assert expected[0].grad_fn.name().endswith("NotImplemented")
    ours, _ = outputs_of(sample, engine, "float64")
    theirs, _ = outputs_of(sample, torch, "float64")
    assert [names(o.grad_fn) for o in ours] == [names(o.grad_fn) for o in theirs]


@pytest.mark.parametrize("sample", [s for s in SPELLED if s in DIFFERENTIABLE], ids=by_name)
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
