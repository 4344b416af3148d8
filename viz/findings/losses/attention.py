"""Attention weights that sum to 1 over the samples or the heads instead of the keys.  Pure."""

from __future__ import annotations

from engine.trace.events import Input, OpCalled

from ...reading import labels, text
from ...reading.facts import Facts
from ...reading.rearranged import Origin, origin
from ..finding import Finding
from .about_loss import about, constant, written_at

PRODUCTS = frozenset({"bmm", "matmul"})
"""Products of stacks of matrices."""


def attention_over_batch(facts: Facts) -> list[Finding]:
    """The first softmax of queries times keys that runs over a dimension of the stack of matrices, and whose result
    multiplies the values.

    A softmax over the queries is not searched: slot attention and BiDAF have one by intention.  Cost: linear in the
    ops.
    """
    for op in facts.ops:
        event = op.event
        if event.call is None and event.node is not None and labels.written_name(event) in PRODUCTS:
            finding = _looked_at(facts, event.inputs[0])
            if finding is not None:
                return [finding]
    return []


def _looked_at(facts: Facts, weights: Input) -> Finding | None:
    before = _before_scaling(facts, weights)
    if before is None or labels.written_name(before.op) != "softmax" or not _is_of_products(facts, before.op):
        return None
    shape = before.op.outputs[0].shape
    rank, first = len(shape), before.since[0] if before.since else before.op
    keys = before.dimension(len(first.outputs[0].shape) - 1)
    dim = int(before.op.attrs["dim"]) % max(rank, 1)
    if rank < 3 or keys != rank - 1 or dim >= rank - 2:
        return None
    what = "samples" if dim == 0 else "heads"
    why = (
        f"{written_at(facts, before.op)} makes the attention weights, of shape {text.shape(shape)}, sum to 1 along "
        f"dimension {dim}, over {shape[dim]} matrices of the stack. So each of the {what} changes the weights of the "
        f"others, and the weights of one query do not sum to 1 over its {text.count(shape[-1], 'key')}."
    )
    fix = "Write dim=-1: the last dimension is that of the keys."
    return about("attention-dimension", facts, before.op, f"softmax over dimension {dim}", why, fix)


def _before_scaling(facts: Facts, argument: Input) -> Origin | None:
    """The op before rearrangements and a dropout, which multiplies by zeros and a constant."""
    before = origin(facts, argument)
    if before is None or (before.since and len(before.since[0].outputs[0].shape) < 2):
        return before
    name = labels.written_name(before.op)
    if name == "dropout" or (name == "mul" and _is_mask(facts, before.op)):
        earlier = origin(facts, before.op.inputs[0])
        return None if earlier is None else Origin(earlier.op, (*before.since, before.op, *earlier.since))
    return before


def _is_mask(facts: Facts, event: OpCalled) -> bool:
    """Return whether an op multiplies by constants."""
    other = event.inputs[1] if len(event.inputs) == 2 else None
    fact = facts.tensors.get(other.tensor) if other is not None and other.tensor is not None else None
    return fact is not None and not fact.requires_grad


def _is_of_products(facts: Facts, softmax: OpCalled) -> bool:
    """Return whether the scores of a softmax are products of matrices, scaled and masked."""
    scores, shape = softmax.inputs[0], softmax.outputs[0].shape
    while (before := origin(facts, scores)) is not None:
        event, name = before.op, labels.written_name(before.op).removesuffix("_")
        if name in PRODUCTS:
            return True
        is_scaled = name in ("mul", "div") and constant(facts, event) is not None
        if event.outputs[0].shape != shape or not (is_scaled or name in ("masked_fill", "add")):
            return False
        scores = event.inputs[0]
    return False
