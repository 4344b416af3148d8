"""Custom Functions in a recording, and what a replay makes of them."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import Any

import pytest

import engine
from engine.autograd.function import once_differentiable
from engine.replay.program import Edits, commands
from engine.replay.replay import replay
from engine.replay.user_code import Blocks, outside
from engine.trace.events import Accumulated, ErrorRaised, OpCalled, Trace, VjpRun

from .functions import double, leaf, made, twice, written


def cube(ctx: Any, x: Any) -> Any:
    ctx.save_for_backward(x)
    return x * x * x


def of_cube(ctx: Any, grad: Any) -> Any:
    (x,) = ctx.saved_tensors
    return 3 * grad * x * x


def recorded(values: Any = None, gradient: Any = None) -> Trace:
    def forward(ctx: Any, x: Any, k: float) -> Any:
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k, x.exp()

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        return g * ctx.k + h * ctx.saved_tensors[0].exp(), None

    with engine.record() as trace:
        x = leaf(engine, *values or ())
        a, b = made(engine, forward, backward).apply(x, 2.0)
        y = a * b
        made(engine, written, twice, name="Write").apply(y[:2])
        y.sum().backward(None if gradient is None else engine.tensor(gradient))
    return trace


def test_function_stands_in_a_recording_with_what_its_forward_and_backward_did() -> None:
    trace = recorded()
    called = [e for e in outside(trace.events) if isinstance(e, OpCalled)]
    assert [e.name for e in called[:2]] == ["custom_function", "mul"]
    assert called[0].node is not None and called[0].node.name == "FBackward"
    assert [saved.tensor for saved in called[0].node.saved] == [0]
    (run,) = [e for e in trace.events if isinstance(e, VjpRun) and e.node == called[0].node.node]
    assert len(run.upstream) == 2 and len(run.cotangents) == 1 and run.freed
    blocks = Blocks(trace.events)
    forward, (backward,) = blocks.forwards[called[0].index], blocks.of_node[called[0].node.node]
    assert [[e.name for e in b.events if isinstance(e, OpCalled)] for b in (forward, backward)] == [
        ["mul", "exp"],
        ["mul", "exp", "mul", "add"],
    ]
    assert forward.left is not None and backward.left is not None
    assert forward.left.results == tuple(out.tensor for out in called[0].outputs)
    assert backward.left.results is not None and len(backward.left.results) == 2


@pytest.mark.parametrize("leaves", [{}, {0: [1.0, 2.0, 4.0]}])
@pytest.mark.parametrize("gradient", [None, 2.0])
def test_replay_of_a_function_equals_a_fresh_run_with_other_leaves_and_gradients(leaves: Any, gradient: Any) -> None:
    trace = recorded()
    (command,) = commands(trace)
    again = replay(trace, Edits(leaves, (replace(command, gradient=gradient),)))
    assert again.meta["doubt"] is None
    fresh = recorded(leaves.get(0), gradient)
    assert arrived(again) == arrived(fresh)
    if not leaves and gradient is None:
        assert list(again.events) == list(trace.events)


def arrived(trace: Trace) -> list[bytes]:
    """What was added to the leaves, bit for bit."""
    kept = [trace.value(e.added).array for e in trace.events if isinstance(e, Accumulated)]
    return [k.tobytes() for k in kept if k is not None]


def test_error_in_a_functions_backward_is_recorded_and_replayed() -> None:
    with engine.record() as trace:
        y = made(engine, double, lambda ctx, g: (g, g)).apply(leaf(engine))
        with pytest.raises(RuntimeError, match="incorrect number of gradients"):
            y.sum().backward()
    (error,) = [e for e in trace.events if isinstance(e, ErrorRaised)]
    (raised,) = [e for e in replay(trace).events if isinstance(e, ErrorRaised)]
    assert error.node is not None and (raised.message, raised.type) == (error.message, error.type)


@pytest.mark.parametrize("values", [None, [1.0, 2.0, 4.0]])
@pytest.mark.parametrize("once", [False, True])
def test_second_order_through_a_function_is_replayed(values: Any, once: bool) -> None:
    def run(values: Any) -> Trace:
        with engine.record() as trace:
            x = leaf(engine, *values or ())
            cubed = made(engine, cube, of_cube)
            if once:
                cubed = made(engine, cube, once_differentiable(of_cube))
            y = cubed.apply(x).sum()
            seed = engine.ones((), requires_grad=True)
            (first,) = engine.autograd.grad(y, x, seed, create_graph=True)
            with contextlib.suppress(RuntimeError):
                (first * first).sum().backward()
        return trace

    trace = run(None)
    again = replay(trace, Edits({} if values is None else {0: values}))
    fresh = run(values)
    assert again.meta["doubt"] is None
    assert arrived(again) == arrived(fresh) and len(arrived(fresh)) == (0 if once else 2)
    errors = [[e.message for e in t.events if isinstance(e, ErrorRaised)] for t in (again, fresh)]
    assert errors[0] == errors[1] and len(errors[0]) == once
    if values is None:
        plain = [
            [replace(e, traceback="") if isinstance(e, ErrorRaised) else e for e in t.events] for t in (again, trace)
        ]
        assert plain[0] == plain[1]  # a replay has no Python frames to print
