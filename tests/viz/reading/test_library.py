"""A program that ran on PyTorch: its numbers against those of the engine's ops.  The recordings are the engine's own,
said to be PyTorch's; tests/parity has real ones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import engine
from engine.trace.events import OpCalled, Trace, Value, VjpRun
from engine.trace.recorder import Recorder
from viz.reading.facts import collect
from viz.reading.library import Agreement, about, agreement, library
from viz.scene.details import details
from viz.scene.reading import reading_of

SAID = {"name": "PyTorch", "version": "2.13.0", "documentation": {"aten::istft": "Inverse short time transform"}}


def recorded(dtype: Any = None) -> Trace:
    with engine.record() as trace:
        x = engine.tensor([0.5, 2.0, 3.0], dtype=dtype, requires_grad=True)
        (x.exp() * x).sum().backward()
    return replace(trace, meta={"library": SAID})


def altered(trace: Trace, index: int, factor: float) -> Trace:
    """A trace in which the elements of one value are others."""
    value = trace.value(index)
    assert value.array is not None
    values = [*trace.values]
    values[index] = Value(
        value.shape, value.dtype, (value.array * factor).astype(value.dtype), value.sample, value.stats
    )
    return replace(trace, values=tuple(values))


def of(trace: Trace, name: str) -> Agreement | None:
    facts = collect(trace)
    fact = next(fact for fact in facts.ops if fact.event.name == name)
    vjps = [one for one in (trace.events[i] for i in fact.vjps) if isinstance(one, VjpRun)]
    return agreement(facts, fact.event, vjps, [{}] * len(vjps))


def numbers(trace: Trace, name: str) -> tuple[int, int]:
    """The value that an op gave, and the one that its VJP sent to its first input."""
    op = next(e for e in trace.events if isinstance(e, OpCalled) and e.name == name)
    vjp = next(e for e in trace.events if isinstance(e, VjpRun) and op.node is not None and e.node == op.node.node)
    assert vjp.cotangents[0] is not None
    return op.outputs[0].value, vjp.cotangents[0]


@pytest.mark.parametrize("dtype", [engine.float16, engine.float32, engine.float64])
def test_numbers_that_are_rounded_otherwise_agree(dtype: Any) -> None:
    trace = recorded(dtype)
    same = of(trace, "mul")
    assert same == Agreement(0.0, True, "Backstep's op gives the recorded numbers to the last bit.")
    result, sent = numbers(trace, "mul")
    unit = float(np.finfo(trace.value(result).dtype).eps)
    for index in (result, sent):
        near, far = of(altered(trace, index, 1 + 4 * unit), "mul"), of(altered(trace, index, 1 + 200 * unit), "mul")
        assert near is not None and near.agrees and near.worst > 0 and near.text.endswith("which is rounding.")
        assert far is not None and not far.agrees and far.text.endswith("more than rounding.")
        assert far.text.startswith("The result" if index == result else "The gradient of ")


def test_nan_on_one_side_is_a_difference() -> None:
    found = of(altered(recorded(), numbers(recorded(), "exp")[0], float("nan")), "exp")
    assert found is not None and found.worst == float("inf") and "differs in its nan or inf elements" in found.text


def test_inspector_compares_where_a_library_computed() -> None:
    trace = recorded()
    element = next(id for id, item in reading_of(trace).drawing.items.items() if item.op is not None)
    compared = details(trace, {}, element)["compared"]
    assert compared is not None and compared["library"] == "PyTorch 2.13.0" and compared["agrees"]
    for other in (replace(trace, meta={}), engine.replay(trace)):  # what the engine computed
        assert details(other, {}, element)["compared"] is None


def test_op_that_only_the_library_has_is_described_by_its_documentation() -> None:
    trace = recorded()
    event = next(e for e in trace.events if isinstance(e, OpCalled))
    said = about(trace, replace(event, name="aten::istft"))
    assert said.startswith("Inverse short time transform. An op of PyTorch that Backstep's engine does not have")
    assert about(trace, replace(event, name="aten::stft")).startswith("An op of PyTorch")
    assert about(trace, event) == "" == about(replace(trace, meta={}), replace(event, name="aten::istft"))


@pytest.mark.parametrize(
    "said", ["PyTorch", {}, {"name": 3, "documentation": []}, {"documentation": {"aten::istft": 1}}]
)
def test_library_that_a_file_makes_up_does_no_harm(said: Any) -> None:
    trace = replace(recorded(), meta={"library": said})
    event = next(e for e in trace.events if isinstance(e, OpCalled))
    assert isinstance(library(trace), str) and isinstance(about(trace, replace(event, name="aten::istft")), str)


def test_what_a_recorder_is_told_of_the_library_is_in_the_trace() -> None:
    with engine.record() as trace:
        recorder: Recorder = engine.arrays.session.slot.active
        recorder.meta["library"] = SAID
    assert library(trace) == "PyTorch 2.13.0"
