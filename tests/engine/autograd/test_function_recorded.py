"""Custom Functions in a recording, and what a replay makes of them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

import engine
from engine.program import Edits, commands
from engine.replay import replay
from engine.trace import Accumulated, ErrorRaised, OpCalled, VjpRun

from .functions import double, leaf, made, of_square, square, twice, written


def recorded() -> engine.Trace:
    def forward(ctx: Any, x: Any, k: float) -> Any:
        ctx.save_for_backward(x)
        ctx.k = k
        return x * k, x.exp()

    def backward(ctx: Any, g: Any, h: Any) -> Any:
        return g * ctx.k + h * ctx.saved_tensors[0].exp(), None

    with engine.record() as trace:
        x = leaf(engine)
        a, b = made(engine, forward, backward).apply(x, 2.0)
        y = a * b
        made(engine, written, twice, name="Write").apply(y[:2])
        y.sum().backward()
    return trace


def test_function_stands_in_a_recording_with_its_values_and_without_what_it_computes() -> None:
    trace = recorded()
    called = [e for e in trace.events if isinstance(e, OpCalled)]
    assert [e.name for e in called[:2]] == ["custom_function", "mul"]
    assert called[0].node is not None and called[0].node.name == "FBackward"
    assert [saved.tensor for saved in called[0].node.saved] == [0]
    (run,) = [e for e in trace.events if isinstance(e, VjpRun) and e.node == called[0].node.node]
    assert len(run.upstream) == 2 and len(run.cotangents) == 1 and run.freed


def test_replay_of_a_function_takes_what_was_recorded_and_doubts_where_the_inputs_are_others() -> None:
    trace = recorded()
    again = replay(trace)
    assert list(again.events) == list(trace.events) and again.meta["doubt"] is None
    edited = replay(trace, Edits(leaves={0: [1.0, 2.0, 4.0]}))
    assert edited.meta["doubt"] is not None
    (before,) = [e for e in trace.events if isinstance(e, Accumulated)]
    (after,) = [e for e in edited.events if isinstance(e, Accumulated)]
    kept = [t.value(e.added).array for t, e in ((trace, before), (edited, after))]
    assert kept[0] is not None and kept[1] is not None and kept[0].tolist() == kept[1].tolist()


def test_replay_of_another_gradient_through_a_function_is_doubted() -> None:
    trace = recorded()
    (command,) = commands(trace)
    changed = replay(trace, Edits(commands=(replace(command, gradient=2.0),)))
    assert changed.meta["doubt"] is not None


def test_error_in_a_functions_backward_is_recorded_and_replayed() -> None:
    with engine.record() as trace:
        y = made(engine, double, lambda ctx, g: (g, g)).apply(leaf(engine))
        with pytest.raises(RuntimeError, match="incorrect number of gradients"):
            y.sum().backward()
    (error,) = [e for e in trace.events if isinstance(e, ErrorRaised)]
    (raised,) = [e for e in replay(trace).events if isinstance(e, ErrorRaised)]
    assert error.node is not None and (raised.message, raised.type) == (error.message, error.type)


def test_second_order_through_a_function_is_doubted_in_a_replay() -> None:
    with engine.record() as trace:
        x = leaf(engine)
        y = made(engine, square, of_square).apply(x).sum()
        (first,) = engine.autograd.grad(y, x, create_graph=True)
        first.sum().backward()
    assert replay(trace).meta["doubt"] is not None
