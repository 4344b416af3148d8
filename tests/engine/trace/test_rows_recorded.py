"""Every row through the trace: what is saved is what is declared, and a file run again gives what was recorded."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np

import engine
from engine.ops.op import NUMBERED, REGISTRY
from engine.replay.replay import replay
from engine.trace.events import OpCalled, Trace, VjpRun
from engine.trace.file.consistency import open_checked
from tests.batches import batches
from tests.engine.helpers import call, floats, leaves
from tests.samples import NOT_DIFFERENTIABLE, SAMPLES, Sample

OF_WRITES = {"copy_slices", "as_strided.path"}
"""The ops by which in-place writes of views are recorded; no program calls them itself."""
ROWS = [s for s in SAMPLES if REGISTRY[s.op].rules and s.op not in OF_WRITES | set(NOT_DIFFERENTIABLE)]


def recorded(sample: Sample) -> Trace:
    with engine.record() as trace:
        for output in floats(call(sample, leaves(sample))):
            output.backward(engine.ones_like(output), retain_graph=True)
    return trace


def arrays(trace: Trace) -> list[np.ndarray | None]:
    """The results of every op and every rule."""
    found = []
    for event in trace.events:
        if isinstance(event, OpCalled):
            found += [trace.value(made.value).array for made in event.outputs]
        elif isinstance(event, VjpRun):
            found += [trace.value(c).array for c in event.cotangents if c is not None]
    return found


@batches("sample", ROWS, lambda sample: str(sample.name))
def test_row_saves_what_its_rules_declare_and_runs_again_from_a_file(sample: Sample, tmp_path: Path) -> None:
    trace = recorded(sample)
    saves_what_its_rules_declare(sample, trace)
    trace.save(tmp_path / "row.backstep")
    again = replay(open_checked(tmp_path / "row.backstep", 1000))  # it is not taken for an altered file
    assert [type(e) for e in again.events] == [type(e) for e in trace.events]
    for mine, theirs in zip(arrays(again), arrays(trace), strict=True):
        assert mine is not None and theirs is not None and mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


def saves_what_its_rules_declare(sample: Sample, trace: Trace) -> None:
    """A rule's parameters say what is saved: no more, no less, and nothing by another name."""
    op = REGISTRY[sample.op]
    event = next(e for e in trace.events if isinstance(e, OpCalled) and e.name == sample.op)
    assert event.node is not None and event.node.name == op.node_name
    needs = [name for name, edge in zip(op.differentiable, leaves(sample), strict=False) if edge is not None]
    asked = {n for name in needs for n in inspect.signature(op.rules[name]).parameters}
    saved = {kept.name.partition("[")[0] for kept in event.node.saved}
    assert saved <= asked & {*op.inputs, *NUMBERED, "result", "results"}
