"""Weights that a network uses at every step: each contribution is recorded, and they add up to the gradient."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.arrays.session import slot
from engine.replay.replay import replay
from engine.trace.events import Accumulated, OpCalled, VjpRun
from engine.trace.file.streaming import Stream
from engine.trace.recorder import Recorder
from engine.trace.source import Places

STEPS, BATCH, WIDE = 70, 3, 24
RNG = np.random.default_rng(3)
WEIGHTS = {"wx": (WIDE, WIDE), "wh": (WIDE, WIDE), "b": (WIDE,)}
NUMBERS = {name: RNG.standard_normal(shape).astype("float32") / 6 for name, shape in WEIGHTS.items()}
INPUTS = RNG.standard_normal((STEPS, BATCH, WIDE)).astype("float32")


def parameters(library: Any = engine) -> dict[str, Any]:
    return {name: library.tensor(value.copy(), requires_grad=True) for name, value in NUMBERS.items()}


def loss(p: dict[str, Any], library: Any = engine) -> Any:
    """An Elman network; the weight is once used in another way, in between."""
    h = library.zeros(BATCH, WIDE)
    for step, x in enumerate(library.tensor(INPUTS)):
        h = library.tanh(x @ p["wx"] + h @ p["wh"] + p["b"])
        if step == 5:
            h = h + p["wh"].sum() * 0.01 + p["b"].sum()
    return (h * h).sum()


def arrays(p: dict[str, Any]) -> list[Any]:
    return [t.grad.numpy().copy() for t in p.values()]


def ordinary() -> list[Any]:
    p = parameters()
    loss(p).backward()
    return arrays(p)


def same(a: list[Any], b: list[Any]) -> bool:
    return all(x.tobytes() == y.tobytes() for x, y in zip(a, b, strict=True))


def wiped(gradients: tuple[Any, ...]) -> None:
    """A hook that does what no hook should: it writes into the gradient that it receives."""
    gradients[0].zero_()


def test_a_recording_changes_no_number() -> None:
    p = parameters()
    with engine.record() as trace:
        loss(p).backward()
    assert same(arrays(p), ordinary())
    assert list(replay(trace).events) == list(trace.events)


def test_grad_and_backward_give_the_same_numbers() -> None:
    p = parameters()
    assert same([g.numpy() for g in engine.autograd.grad(loss(p), list(p.values()))], ordinary())
    p = parameters()
    with pytest.warns(UserWarning, match="Anomaly"), engine.autograd.detect_anomaly():
        loss(p).backward()
    assert same(arrays(p), ordinary())


def test_recorded_contributions_are_each_what_its_step_gives(tmp_path: Path) -> None:
    p = parameters()
    with engine.record() as recorded:
        loss(p).backward()
    recorded.save(str(tmp_path / "t.trace"))
    stream = Stream(Recorder(), str(tmp_path / "streamed.trace"), Places(str(tmp_path)))
    stream.start()
    loss(parameters()).backward()
    stream.finish({})
    for trace in (recorded, *(engine.Trace.open(str(tmp_path / f"{n}.trace")) for n in ("t", "streamed"))):
        calls = {e.node.node: e for e in trace.events if isinstance(e, OpCalled) and e.node is not None}
        runs = [e for e in trace.events if isinstance(e, VjpRun)]
        values: Any = [v.array for v in trace.values]
        products = sums = 0
        for run in runs:
            call, upstream = calls[run.node], values[run.upstream[0]]
            if call.name == "mm":
                (left,) = [s.value for s in call.node.saved if s.name == "self"]
                assert np.array_equal(values[run.cotangents[1]], values[left].T.dot(upstream))
                products += 1
            elif call.name == "add" and values[run.cotangents[-1]].shape == (WIDE,):
                assert np.array_equal(values[run.cotangents[-1]], values[run.unsummed[-1]].sum(0))
                sums += 1
        assert products == 2 * STEPS and sums == STEPS
        added = [values[e.added] for e in trace.events if isinstance(e, Accumulated)]
        assert {a.tobytes() for a in added} == {a.tobytes() for a in ordinary()}


def test_contributions_add_up_to_the_gradient_one_after_the_other() -> None:
    p = parameters()
    with engine.record() as trace:
        loss(p).backward()
    nodes = {e.node.node: e.node for e in trace.events if isinstance(e, OpCalled) and e.node is not None}
    sums: dict[int, Any] = {}
    for run in (e for e in trace.events if isinstance(e, VjpRun)):
        for edge, cotangent in zip(nodes[run.node].edges, run.cotangents, strict=True):
            if edge is not None and edge.leaf is not None and cotangent is not None:
                array: Any = trace.value(cotangent).array
                sums[edge.leaf] = sums[edge.leaf] + array if edge.leaf in sums else array
    arrivals = {e.tensor: trace.value(e.added).array for e in trace.events if isinstance(e, Accumulated)}
    assert len(arrivals) == len(p) and arrivals.keys() == sums.keys()
    assert same(list(arrivals.values()), [sums[leaf] for leaf in arrivals])


def test_a_recording_that_is_dropped_leaves_nothing_to_the_collector() -> None:
    p = parameters()
    collecting = gc.isenabled()
    gc.disable()
    try:
        with engine.record() as trace:
            loss(p).backward()
            recorder = slot.active
        assert recorder is not None
        values = recorder.recording.values
        gradient = weakref.ref(
            next(v for v in reversed(values) if isinstance(v, np.ndarray) and v.shape == (BATCH, WIDE))
        )
        del trace, values, recorder
        assert gradient() is None
    finally:
        if collecting:
            gc.enable()


def test_a_write_after_the_backward_leaves_the_recorded_product() -> None:
    x = engine.tensor(INPUTS[0].copy())
    w = engine.tensor(NUMBERS["wx"], requires_grad=True)
    with engine.record() as trace:
        (x @ w + (x * 2) @ w).sum().backward()
        with engine.no_grad():
            x.zero_()
    run = next(e for e in trace.events if isinstance(e, VjpRun) and e.cotangents[0] is None)
    assert run.cotangents[1] is not None
    shown = trace.value(run.cotangents[1]).array
    assert shown is not None and np.abs(shown).min() > 0


@pytest.mark.parametrize("where", ["tensor", "before", "after", "function"])
def test_what_a_hook_writes_into_its_gradient_stays_where_it_is(where: str) -> None:
    """A hook of one summand zeroes the gradient that it is shown; what others were given before that is theirs."""

    class ZeroingClone(engine.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x.clone()

        @staticmethod
        def backward(ctx: Any, g: Any) -> Any:
            return g.zero_()

    w, b = (engine.tensor(NUMBERS[n], requires_grad=True) for n in ("wx", "b"))
    x = engine.tensor(INPUTS[0])
    total: Any = 0
    for _ in range(2):
        inner = x @ w
        if where == "function":
            inner = ZeroingClone.apply(inner)
        y = inner + b
        if where == "tensor":
            inner.register_hook(lambda g: g.zero_())
        elif where == "before":
            inner.grad_fn.register_prehook(wiped)
        elif where == "after":
            inner.grad_fn.register_hook(lambda _, given: wiped(given))
        total = total + (y * engine.ones(BATCH, WIDE)).sum()
    total.backward()
    assert b.grad.numpy().tolist() == [2.0 * BATCH] * WIDE


def test_sums_of_a_bias_over_batches_of_other_sizes_stay_apart() -> None:
    bias = engine.zeros(4, requires_grad=True)
    weights = [engine.arange(float(4 * n)).reshape(n, 4) for n in (1, 3, 1, 3, 2)]
    sum((weight * (weight + bias)).sum() for weight in weights).backward()
    assert bias.grad.tolist() == np.sum([w.numpy().sum(0) for w in weights], 0).tolist()
