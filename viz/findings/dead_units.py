"""Layers with many units that are 0 for every example: no gradient passes these, so they stay dead.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from engine.trace.events import OpCalled

from ..reading import labels
from ..reading.facts import Facts
from ..reading.source_text import source
from .finding import Finding

UNITS, EXAMPLES = 8, 16
"""The fewest units of a layer, and the fewest examples, for a finding: with few examples every net has units at 0."""
SHARE = 0.8
"""The share of dead units that no sound network reaches: if its inputs are very similar, it may have two thirds."""


def dead_units(facts: Facts) -> list[Finding]:
    """One finding per line of the program, for its call with the most dead units.

    Only calls count that are part of a graph and whose results are recorded with all elements.  Cost: linear in the
    elements of these results.
    """
    worst: dict[int, tuple[float, int, int, int]] = {}  # by stack: share, dead units, all of them, op
    for index, dead, units in _layers(facts):
        stack = facts.ops[index].event.stack
        worst[stack] = max(worst.get(stack, (0.0, 0, 0, 0)), (dead / units, dead, units, index))
    return [_finding(facts, *entry[1:]) for _, entry in sorted(worst.items()) if entry[0] >= SHARE]


def _layers(facts: Facts) -> Iterator[tuple[int, int, int]]:
    """(op, dead units, units) of each layer that is large enough."""
    for op in facts.ops:
        event = op.event
        if event.node is None or not labels.is_rectifier(event):
            continue
        result = facts.trace.value(event.outputs[0].value)
        if not result.is_whole or len(result.shape) < 2:
            continue
        unit = _dimension(facts, event, len(result.shape))
        units = result.shape[unit]
        if units < UNITS or prod(result.shape) < units * EXAMPLES or (array := result.array) is None:
            continue
        others = tuple(axis for axis in range(len(result.shape)) if axis != unit)
        yield op.index, int(np.count_nonzero(~(array != 0).any(axis=others))), units


def _dimension(facts: Facts, event: OpCalled, dimensions: int) -> int:
    """The dimension of a layer's units: the channels of a convolution, else the features."""
    first = next(argument for argument in event.inputs if argument.tensor is not None)
    maker = facts.producer(first.tensor, first.version) if first.tensor is not None else None
    is_convolved = maker is not None and "conv" in facts.ops[maker].event.name
    return 1 if dimensions > 3 or (is_convolved and dimensions == 3) else dimensions - 1


def _finding(facts: Facts, dead: int, units: int, index: int) -> Finding:
    op = facts.ops[index]
    event, frame = op.event, facts.frames.get(op.event.stack)
    name = labels.written_name(event)
    where = f"{name} in `{source(facts.trace, frame, 48)}` ({facts.line(frame)})" if frame is not None else name
    count = prod(facts.trace.value(event.outputs[0].value).shape) // units
    why = (
        f"{dead} of the {units} units ({100 * dead // units} %) of {where} are 0 for all {count:,} inputs: no gradient "
        "passes through them, so the weights before them do not change."
    )
    fix = (
        "Lower the learning rate, start with smaller weights or a positive bias, normalise the inputs, or use "
        "leaky_relu."
    )
    return Finding(
        "dead-units", event.index, op.id, f"{dead} of {units} units are dead", why, fix,
        facts.line_number(event.stack),
    )  # fmt: skip
