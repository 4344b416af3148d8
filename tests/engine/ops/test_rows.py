"""Every op, row by row: its rules against small steps, and Tensors against arrays."""

from __future__ import annotations

import numpy as np

import engine
from engine import autograd
from engine.backward.loop import run_backward
from engine.ops.op import REGISTRY
from engine.tensor.node import gradient_edge
from tests.batches import batches
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


@batches("sample", SMOOTH, by_name)
def test_rule_agrees_with_small_steps(sample: Sample) -> None:
    function, inputs = function_of(sample)
    assert autograd.gradcheck(function, inputs)


@batches("sample", SMOOTH, by_name)
def test_second_derivative_agrees_with_small_steps(sample: Sample) -> None:
    function, inputs = function_of(sample)
    assert autograd.gradgradcheck(function, inputs)


@batches("sample", DIFFERENTIABLE, by_name)
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


@batches("sample", DIFFERENTIABLE, by_name)
def test_gradients_have_shape_and_dtype_of_their_inputs(sample: Sample) -> None:
    inputs = leaves(sample, dtype="float32")
    for output in floats(call(sample, inputs)):
        autograd.backward(output, engine.ones_like(output), retain_graph=True)
    for leaf in flat(inputs):
        assert leaf.grad is not None
        assert (leaf.grad.shape, leaf.grad.dtype) == (leaf.shape, leaf.dtype)
        assert type(leaf.grad._array) is np.ndarray


@batches("sample", SPELLED, by_name)
def test_direct_call_equals_the_spelled_one(sample: Sample) -> None:
    spelled, _ = spelled_outputs(sample, engine, leaves(sample, engine, "float64"))
    made = call(sample, leaves(sample))
    direct_ones = made[: len(spelled)] if isinstance(made, tuple) else [made]  # functions of nn give the first alone
    for mine, direct in zip(spelled, direct_ones, strict=True):
        np.testing.assert_array_equal(mine._array, direct._array)
