"""A contrastive loss whose similarities are multiplied by the temperature instead of divided by it.  Pure."""

from __future__ import annotations

from math import exp, floor, log
from typing import NamedTuple

import numpy as np

from engine.trace.events import Input, OpCalled

from ...reading import labels, text
from ...reading.facts import Facts
from ...reading.rearranged import origin
from ..finding import Finding
from .about_loss import about, constant, elements, written_at

MOST_SCALE = 0.5
"""The largest scale that is certainly a mistake: scores within ±0.5 leave every class a similar probability."""
UNIT = 1e-3
"""How far the length of a vector of length 1 may be from 1, because of rounding and half precision."""


def flat_scores(facts: Facts) -> list[Finding]:
    """The first cross entropy of similarities of unit vectors that are scaled down by constants.

    A cosine is between -1 and 1, so that the scores, and with them the loss, have a bound.  A scale that is learnt has
    none.  Cost: linear in the ops, and in the vectors of the cross entropies that have such a scale.
    """
    for op in facts.ops:
        event = op.event
        if event.call is not None or event.node is None or not labels.written_name(event).startswith("nll_loss"):
            continue
        softmax = origin(facts, event.inputs[0])
        if softmax is None or labels.written_name(softmax.op) != "log_softmax" or softmax.since:
            continue
        scale = _scale(facts, softmax.op.inputs[0])
        if scale is not None and 0 < scale.factor <= MOST_SCALE and _are_cosines(facts, scale.similarity):
            count = _classes(facts, softmax.op, scale.factor)
            if count > 1:
                return [_finding(facts, scale, count)]
    return []


class _Scale(NamedTuple):
    """The constant that scales a similarity, the last op that does so, and the op that computes the similarity."""

    factor: float
    op: OpCalled
    similarity: OpCalled


def _scale(facts: Facts, scores: Input) -> _Scale | None:
    """How scores are scaled, looking through masks and rearrangements; None if they are not, or by a parameter."""
    factor, scaling = 1.0, None
    while (before := origin(facts, scores)) is not None:
        event, name = before.op, labels.written_name(before.op).rstrip("_")
        number = constant(facts, event) if name in ("mul", "div") else None
        if number:
            factor, scaling = factor * (number if name == "mul" else 1 / number), scaling or event
        elif name != "masked_fill" and not (name == "mul" and _is_mask(facts, event)):
            return None if scaling is None else _Scale(factor, scaling, event)
        scores = event.inputs[0] if _is_data(facts, event.inputs[0]) else event.inputs[1]
    return None


def _is_mask(facts: Facts, event: OpCalled) -> bool:
    """Return whether an op multiplies its first input by constants of which none is larger than 1, such as 0 and 1."""
    mask = event.inputs[1]
    fact = facts.tensors.get(mask.tensor) if mask.tensor is not None else None
    array = elements(facts, mask) if fact is not None and not fact.requires_grad else None
    return array is not None and array.size > 0 and bool(np.abs(array).max() <= 1)


def _is_data(facts: Facts, argument: Input) -> bool:
    """Return whether an operand is data, and not a single number."""
    return argument.tensor in facts.tensors and facts.tensors[argument.tensor].shape not in ((), (1,))


def _are_cosines(facts: Facts, event: OpCalled) -> bool:
    """Return whether an op multiplies vectors that all have length 1: a matrix product, or a sum of products."""
    name = labels.written_name(event)
    if name in ("mm", "bmm", "matmul") and len(event.inputs) == 2:
        return _have_length_one(facts, event.inputs[0], -1) and _have_length_one(facts, event.inputs[1], -2)
    dims = event.attrs.get("dim")
    dim = dims[0] if isinstance(dims, (list, tuple)) and len(dims) == 1 else dims
    products = origin(facts, event.inputs[0]) if name == "sum" else None
    if not isinstance(dim, int) or products is None or products.since or labels.written_name(products.op) != "mul":
        return False
    sides = products.op.inputs
    return len(sides) == 2 and all(_have_length_one(facts, one, dim) for one in sides)


def _have_length_one(facts: Facts, argument: Input, dim: int) -> bool:
    array = elements(facts, argument)
    if array is None or array.dtype.kind != "f" or array.ndim < 2 or array.shape[dim] < 2:
        return False
    lengths = np.sqrt((array.astype(np.float64) ** 2).sum(dim))
    return lengths.size > 1 and bool(np.abs(lengths - 1).max() < (UNIT if array.itemsize > 2 else 20 * UNIT))


def _classes(facts: Facts, softmax: OpCalled, bound: float) -> int:
    """The fewest classes of a softmax whose scores are within a bound, as all are but those that a mask excludes; 0 if
    that is not known."""
    array = elements(facts, softmax.inputs[0])
    if array is None or not array.size:
        return 0
    return int((np.abs(array) <= bound * (1 + 20 * UNIT)).sum(int(softmax.attrs["dim"])).min())


def _finding(facts: Facts, scale: _Scale, count: int) -> Finding:
    factor = float(f"{scale.factor:.3g}")
    bounds = log(1 + (count - 1) * exp(-2 * scale.factor)), log(count)
    least, even = (text.number(floor(1000 * value) / 1000) for value in bounds)
    why = (
        f"The similarities of vectors of length 1 lie between −1 and 1, and {written_at(facts, scale.op)} scales them "
        f"by {text.number(factor)}, so all scores lie between −{text.number(factor)} and {text.number(factor)}. The "
        f"softmax over {count} classes stays almost even: the loss cannot fall below {least}, however "
        f"similar the pairs become. With equal scores it is {even}."
    )
    by = "Divide by the temperature instead of multiplying by it"
    if labels.written_name(scale.op).startswith("div"):
        by = "Multiply by the scale instead of dividing by it"
    wide = text.number(float(f"{1 / factor:.3g}"))
    fix = f"{by}: the scores then lie between −{wide} and {wide}."
    return about("flat-scores", facts, scale.op, f"scores only between ±{text.number(factor)}", why, fix)
