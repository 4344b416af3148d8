"""Values that were changed through .data or numpy between forward and backward, as the rule received them.  Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from engine.trace.events import DataSet, LeafCreated, OpCalled, Refreshed, Saved, Trace, VjpRun

from .facts import Facts


@dataclass(frozen=True, slots=True)
class StaleValue:
    """A saved value that holds other numbers when its node runs: the value then, and the event that wrote it."""

    saved: Saved
    now: int
    wrote: int | None


def unseen(facts: Facts) -> dict[int, list[StaleValue]]:
    """By the event of each VJP that ran on such values.  Cost: linear in the events and what nodes saved."""
    now: dict[int, int] = {}
    data: dict[int, int] = {}  # x.data -> x
    wrote: dict[int, int] = {}
    result: dict[int, list[StaleValue]] = defaultdict(list)
    for event in facts.trace.events:
        if isinstance(event, OpCalled):
            now.update((out.tensor, out.value) for out in event.outputs)
            source = event.inputs[0].tensor if event.inputs else None
            if event.name == "data" and source is not None:
                data[event.outputs[0].tensor] = source
            elif event.inplace in data:
                now[data[event.inplace]] = event.outputs[0].value
                wrote[data[event.inplace]] = event.index
        elif isinstance(event, (LeafCreated, Refreshed)):
            now[event.tensor] = event.value
            if isinstance(event, DataSet):
                wrote[event.tensor] = event.index
        elif isinstance(event, VjpRun) and event.node in facts.op_of_node:
            op = facts.op_of_node[event.node]
            record, called = facts.node(op), facts.ops[op].event
            for saved in record.saved if record is not None else ():
                if saved.tensor is not None and not _is_copy(called, saved) and differs(facts.trace, saved, now):
                    result[event.index].append(StaleValue(saved, now[saved.tensor], wrote.get(saved.tensor)))
    return dict(result)


def _is_copy(called: OpCalled, saved: Saved) -> bool:
    """Return whether no later write reaches a saved value: what an op in place overwrites, it saves as a copy."""
    return saved.tensor == called.inplace and saved.value != called.outputs[0].value


def differs(trace: Trace, saved: Saved, now: Mapping[int, int]) -> bool:
    """Return whether a saved tensor holds other numbers now than when it was saved."""
    if saved.tensor is None or saved.value is None or now.get(saved.tensor, saved.value) == saved.value:
        return False
    old, new = trace.value(saved.value).array, trace.value(now[saved.tensor]).array
    return old is not None and new is not None and old.shape == new.shape and not np.array_equal(old, new, True)


def rule_values(unseen: list[StaleValue]) -> dict[int, int]:
    """Tensor -> the value that the rule was given instead of that of forward."""
    return {one.saved.tensor: one.now for one in unseen if one.saved.tensor is not None}
