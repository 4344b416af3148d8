"""Edits of a program that ran on PyTorch.  The recordings are the engine's own, rounded otherwise and said to be
PyTorch's; tests/parity has real ones."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import engine
from engine.replay.program import commands
from engine.trace.events import AnyEvent, LeafCreated, OpCalled, Trace, Value, damaged_value
from viz.server.library.on_engine import base_of
from viz.server.revisions import StoreComputation
from viz.server.store import Problem


def program() -> Trace:
    """A program that reads its loss, with a mask that no gradient goes through; `x` is tensor 0, `w` tensor 1."""
    with engine.record() as trace:
        x = engine.tensor([0.5, 2.0, 3.0])
        w = engine.tensor([1.0, -1.0, 2.0], requires_grad=True)
        mask = x > 1.0
        loss = ((x * w).exp() * mask).sum()
        print(loss.item(), end="")
        loss.backward()
    return trace


def torchs(trace: Trace, factor: float = 1.0, event: Callable[[AnyEvent], AnyEvent] = lambda one: one) -> Trace:
    """A recording as if it were PyTorch's: what ops computed is multiplied, events are changed."""
    changed = {out.value for one in trace.events if isinstance(one, OpCalled) for out in one.outputs}
    values = [scaled(value, factor) if number in changed else value for number, value in enumerate(trace.values)]
    said = {"library": {"name": "PyTorch", "version": "2.13.0"}}
    return replace(trace, events=tuple(map(event, trace.events)), values=tuple(values), meta=said)


def scaled(value: Value, factor: float) -> Value:
    if value.array is None or value.array.dtype.kind != "f":
        return value
    return replace(value, array=np.asarray(value.array * np.float32(factor)))


def renamed(name: str) -> Callable[[AnyEvent], AnyEvent]:
    """Makes the op of a name one that the engine does not have."""
    return lambda one: replace(one, name="aten::own") if isinstance(one, OpCalled) and one.name == name else one


def edited(trace: Trace, leaf: int, numbers: list[float]) -> Trace:
    return StoreComputation().replay(trace, {"leaves": {str(leaf): numbers}, "commands": None})


def known(trace: Trace) -> list[Any]:
    return [None if value.array is None else value.array.tolist() for value in trace.values]


def test_edit_is_computed_by_the_engine_and_says_how_well_that_agrees() -> None:
    trace = torchs(program(), 1 + 2**-22)
    made = edited(trace, 1, [2.0, 1.0, 0.0])
    assert known(made) == known(edited(program(), 1, [2.0, 1.0, 0.0]))
    said = made.meta["recomputed"]
    assert said == "Recomputed by Backstep's engine, which agrees with the recording to 2e-7."
    assert base_of(trace, made).meta == trace.meta and known(base_of(trace, made)) == known(program())


def test_value_that_is_read_is_doubted_for_the_edit_and_not_for_rounding() -> None:
    trace = torchs(program(), 1 + 2**-22)
    assert edited(trace, 1, [1.0, -1.0, 2.0]).meta["doubt"] is None
    assert edited(trace, 1, [1.0, -1.0, 3.0]).meta["doubt"] is not None


def test_same_numbers_are_said_to_be_the_same() -> None:
    assert edited(torchs(program()), 1, [0.0, 0.0, 0.0]).meta["recomputed"].endswith("to the last bit.")
    assert "recomputed" not in edited(program(), 1, [0.0, 0.0, 0.0]).meta


def test_op_that_the_engine_lacks_keeps_its_numbers_where_the_edit_does_not_reach_it() -> None:
    trace = torchs(program(), event=renamed("gt"))
    assert known(edited(trace, 1, [2.0, 1.0, 0.0])) == known(edited(program(), 1, [2.0, 1.0, 0.0]))
    with pytest.raises(Problem, match=r"The edited leaf reaches aten::own in line \d+ of test_on_engine.py, which"):
        edited(trace, 0, [1.0, 1.0, 1.0])


@pytest.mark.parametrize(
    ("trace", "said"),
    [(torchs(program(), event=renamed("exp")), r"The program uses aten::own in line \d+ of test_on_engine.py"),
     (torchs(program(), 1.5), "computes different numbers from the recording: they differ by 0.3")],
)  # fmt: skip
def test_edit_that_the_engine_cannot_compute_is_refused_with_the_reason(trace: Trace, said: str) -> None:
    for _ in range(2):  # the reason is found once
        with pytest.raises(Problem, match=said) as refused:
            edited(trace, 1, [2.0, 1.0, 0.0])
        assert (
            refused.value.title == "This edit cannot be computed here" and "Nothing was changed" in refused.value.text
        )


def test_values_that_no_trace_has_stay_unknown() -> None:
    """A complex spectrum, of which only another op of the library makes numbers again."""
    with engine.record() as made:
        w = engine.tensor([1.0, -1.0, 2.0], requires_grad=True)
        w.detach().exp().sin()
        (w * 2).sum().backward()
    trace = torchs(made, event=lambda one: renamed("exp")(renamed("sin")(one)))
    spectrum = next(one for one in trace.events if isinstance(one, OpCalled) and one.name == "aten::own").outputs[0]
    lost = damaged_value((3,), "float32")
    trace = replace(trace, values=tuple(lost if nr == spectrum.value else v for nr, v in enumerate(trace.values)))
    after = StoreComputation().replay(trace, again(trace))
    leaf = next(one for one in after.events if isinstance(one, LeafCreated) and one.tensor == spectrum.tensor)
    assert after.value(leaf.value).damaged and base_of(trace, after).value(leaf.value).damaged


def again(trace: Trace) -> dict[str, Any]:
    """Edits that pass another gradient."""
    (command,) = commands(trace)
    passed = {"id": command.id, "kind": "backward", "after": command.after, "gradient": 3.0}
    return {"leaves": {}, "commands": [passed]}
