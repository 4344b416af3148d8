"""What the tables say that an op was given is what it was given."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine.trace.events import OpCalled
from engine.trace.recorder import Recorder
from tests.engine.walk import Walk
from viz.reading.facts import collect

Given = dict[int, list[Any]]


def copies(values: Any) -> Iterator[Any]:
    """Of the arguments of an op, those in lists too; None for what is no tensor."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from copies(value)
        else:
            yield value._array.copy() if isinstance(value, engine.Tensor) else None


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Given:
    """What each op was given, by the number of its event; of one that writes in place only what it reads besides."""
    found: Given = {}
    op, plain = Recorder.op, Recorder.plain

    def seen(self: Recorder, called: Any, inputs: Any, statics: Any, outputs: Any, node: Any, inplace: Any) -> None:
        before = list(copies([None if value is inplace else value for value in inputs]))
        op(self, called, inputs, statics, outputs, node, inplace)
        if called.name != "copy_slices":  # the write itself stands before it, and what is said of it is its path
            found[len(self.log) - 1] = before

    def seen_plain(self: Recorder, called: Any, first: Any, second: Any, out: Any, node: Any) -> None:
        before = list(copies([first] if second is None else [first, second]))
        plain(self, called, first, second, out, node)
        found[len(self.log) - 1] = before

    monkeypatch.setattr(Recorder, "op", seen)
    monkeypatch.setattr(Recorder, "plain", seen_plain)
    return found


@pytest.mark.parametrize("first", range(0, 200, 50))
def test_input_has_the_value_that_the_op_was_given(first: int, given: Given) -> None:
    for seed in range(first, first + 50):
        given.clear()
        with warnings.catch_warnings(), engine.record() as trace:
            warnings.simplefilter("ignore")
            Walk(seed).run(8 + seed % 24)
        table = collect(trace)
        ops = [event for event in trace.events if isinstance(event, OpCalled) and event.index in given]
        assert ops
        for event in ops:
            for argument, was in zip(event.inputs, given[event.index], strict=True):
                value = None if argument.tensor is None else table.value(argument.tensor, argument.version)
                if was is not None and value is not None:
                    assert np.array_equal(trace.value(value).array, was, True), (seed, event)  # type: ignore[arg-type]
