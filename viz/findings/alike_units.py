"""Layers whose units are copies of each other, because their weights began with one value.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

import numpy as np

from engine.trace.events import Accumulated, GroupEntered, OpCalled, Refreshed, Value
from engine.trace.summary import SAMPLE

from ..reading.facts import Facts
from .finding import Finding
from .untrained.parameters import names_of

SAME = 1e-5
"""The share of the largest element by which equal ones may differ: a product adds up in another order at its edges."""
FEWEST = 8
"""The fewest elements of a sample that have another one to be compared with."""


def alike_units(facts: Facts) -> list[Finding]:
    """One finding for the first two layers, of which the one passes on units that are alike, and the other takes them.

    Weights and gradients of both must be alike for each unit; a layer alone is no sign, since its inputs may be alike.
    Only weights count that the program updates.  Cost: linear in the ops and in the elements of these weights.
    """
    gradients = _first_gradients(facts)
    alike: dict[int, set[int]] = {}  # by weight, the numbers of units that are alike
    for op, before, after in _pairs(facts, gradients.keys() & _updated(facts)):
        for weight in (before, after):
            if weight not in alike:
                alike[weight] = _units(facts, gradients[weight])
        if units := alike[before] & alike[after]:
            return [_finding(facts, op, before, after, min(units))]
    return []


def _first_gradients(facts: Facts) -> dict[int, Accumulated]:
    """By leaf the first gradient that arrives."""
    first: dict[int, Accumulated] = {}
    for event in facts.trace.events:
        if isinstance(event, Accumulated) and not event.retained:
            first.setdefault(event.tensor, event)
    return first


def _updated(facts: Facts) -> set[int]:
    """List the tensors that an optimiser's step updates or the program writes after their gradient has come, and, in
    one iteration of many, those that the other iterations train."""
    trained = set(facts.elsewhere("taught"))
    arrived: set[int | None] = set()
    for event in facts.trace.events:
        if isinstance(event, Accumulated):
            arrived.add(event.tensor)
        elif isinstance(event, GroupEntered):
            trained.update(tensor for tensor in event.tensors if tensor is not None)
        elif isinstance(event, (OpCalled, Refreshed)):
            target = event.inplace if isinstance(event, OpCalled) else event.tensor
            if target is not None and target in arrived:
                trained.add(target)
    return trained


def _pairs(facts: Facts, weights: set[int]) -> Iterator[tuple[OpCalled, int, int]]:
    """(op, weight, weight): the second, of the op, is multiplied by what is made of the product with the first.

    What is between them, such as a bias and an activation, works on each unit by itself.
    """
    tensors = weights & facts.tensors.keys()
    weight_of = {tensor: tensor for tensor in tensors if len(facts.tensors[tensor].shape) > 1}  # also transposed
    after: dict[int, int] = {}  # by tensor, the weight of the last product before it
    for op in facts.ops:
        event = op.event
        if event.call is not None or event.node is None:
            continue
        inputs = [one.tensor for one in event.inputs if one.tensor is not None]
        own = {weight_of[tensor] for tensor in inputs if tensor in weight_of}
        others = {after[tensor] for tensor in inputs if tensor in after}
        results = [output.tensor for output in event.outputs]
        if len(own) == 1 and len(inputs) == 1:
            weight_of.update(dict.fromkeys(results, min(own)))
        elif len(own) == 1:
            if len(others) == 1 and others != own:
                yield event, min(others), min(own)
            after.update(dict.fromkeys(results, min(own)))
        elif len(others) == 1 and not own:
            after.update(dict.fromkeys(results, min(others)))


def _units(facts: Facts, gradient: Accumulated) -> set[int]:
    """How many units are alike in a gradient and its weight, along the first dimension or the second."""
    fact = facts.tensors[gradient.tensor]
    version = next(fact.before(gradient.index), None)
    if version is None:
        return set()
    both = facts.trace.value(fact.values[version]), facts.trace.value(gradient.added)
    if any(value.shape != fact.shape or value.damaged for value in both) or not prod(fact.shape):
        return set()
    return {n for axis, n in enumerate(fact.shape[:2]) if n > 1 and all(_is_alike(value, axis) for value in both)}


def _is_alike(value: Value, axis: int) -> bool:
    """Return whether the known elements are equal that differ in their place along one dimension only."""
    if value.array is not None:
        return _is_close(value.array, value.array.take([0], axis))
    sample = value.sample
    places = np.unravel_index(np.arange(sample.size) * -(-prod(value.shape) // SAMPLE), value.shape)
    others = np.stack([place for number, place in enumerate(places) if number != axis])
    _, first, group = np.unique(others, axis=1, return_index=True, return_inverse=True)
    return sample.size - first.size >= FEWEST and _is_close(sample, sample[first][group.ravel()])


def _is_close(elements: np.ndarray, first: np.ndarray) -> bool:
    """Return whether all are like the first ones of their kind; not if some are not finite."""
    wide = first.astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        return bool(np.abs(elements - wide).max() <= SAME * np.abs(wide).max())


def _finding(facts: Facts, op: OpCalled, before: int, after: int, units: int) -> Finding:
    names = names_of(facts, [before, after])
    code = facts.code_at(op.stack)
    where = f", up to {code}," if code else ""
    why = (
        f"The {units} units between {names}{where} have the same weights and receive the same gradient. So each update "
        "changes them in the same way: they stay copies of each other, and the layer can do no more than a single unit."
    )
    fix = (
        "Start the weights with random numbers, as `nn.Linear` and `nn.init.kaiming_uniform_` do; only a bias may "
        "start with one value."
    )
    at = facts.ops[facts.op_at[op.index]].id
    return Finding("alike-units", op.index, at, f"{units} units are alike", why, fix, facts.line_number(op.stack))
