"""Losses whose softmax runs over the wrong dimension, over one number, twice, or is missing, and losses whose arguments
are swapped.  Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engine.trace.events import OpCalled

from ..reading import labels, text
from ..reading.error_tensors import asks
from ..reading.facts import Facts
from .finding import Finding, Kind

OF_PROBABILITIES = frozenset({"nll_loss", "binary_cross_entropy", "mse_loss", "l1_loss", "smooth_l1_loss"})
"""Losses that are computed of probabilities or their logarithms."""


def wrong_losses(facts: Facts) -> list[Finding]:
    """The first loss of each of these kinds: nll_loss after a softmax over a dimension that is not the classes';
    nll_loss of probabilities without a logarithm; a cross entropy that receives probabilities instead of scores; a loss
    of the softmax of one number; and a binary cross entropy with its target first.

    Cost: linear in the ops.
    """
    result: dict[Kind, Finding] = {}
    for op in facts.ops:
        for finding in _looked_at(facts, op.event) if op.event.call is None else ():
            result.setdefault(finding.kind, finding)
    return list(result.values())


def _softmax(facts: Facts, op: OpCalled) -> OpCalled | None:
    """The op itself if it is log_softmax, or the softmax of which it takes the logarithm."""
    name, argument = labels.written_name(op), op.inputs[0]
    if name == "log_softmax":
        return op
    if name != "log" or argument.tensor not in facts.tensors:
        return None
    producer = facts.producer(argument.tensor, argument.version)
    before = facts.ops[producer].event if producer is not None else None
    return before if before is not None and labels.written_name(before) == "softmax" else None


def _looked_at(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    name = labels.written_name(event)
    if name in ("binary_cross_entropy", "binary_cross_entropy_with_logits"):
        yield from _swapped(facts, event)
    argument = event.inputs[0] if event.inputs else None
    producer = (
        facts.producer(argument.tensor, argument.version)
        if argument is not None and argument.tensor in facts.tensors
        else None
    )
    before = facts.ops[producer].event if producer is not None else None
    if before is None or argument is None or argument.tensor is None:
        return
    was, by = labels.written_name(before), _by(facts, before)
    shape = facts.tensors[argument.tensor].shape
    soft = _softmax(facts, before) if name == "nll_loss" else None
    over = soft or (before if was in ("softmax", "log_softmax") else None)
    classes = 1 if len(shape) > 1 else 0
    if soft is not None and (dim := _dim(soft, shape)) != classes:
        why = (
            f"nll_loss expects the classes along dimension {classes} of {text.shape(shape)}, but {_by(facts, soft)} "
            f"makes the probabilities sum to 1 along dimension {dim}: over {text.count(shape[dim], 'sample')} of a "
            "class, not over the classes of a sample."
        )
        fix = f"Write dim={classes if len(shape) != 2 else -1}."
        yield _finding("loss-dimension", facts, soft, f"{labels.written_name(soft)} over dimension {dim}", why, fix)
    elif over is not None and name in OF_PROBABILITIES and _size_along(over) == 1:
        why = (
            f"{_by(facts, over)} takes the softmax over one number, which is always 1, whatever the number is. So the "
            "loss does not depend on the scores, and all gradients are 0."
        )
        fix = (
            "For one output that says yes or no, use binary_cross_entropy_with_logits and a target of floats, without "
            "softmax; for classes, give the last layer an output for each."
        )
        yield _finding("one-class", facts, over, "softmax of one number", why, fix)
    elif name == "nll_loss" and was in ("softmax", "sigmoid"):
        why = f"nll_loss expects logarithms of probabilities, but {by} gives the probabilities themselves."
        yield _finding(
            "no-logarithm", facts, before, "no logarithm", why, "Use log_softmax, or cross_entropy of the scores."
        )
    elif name == "log_softmax" and was == "softmax" and before.attrs.get("dim") == event.attrs.get("dim"):
        why = (
            f"{by} has already made probabilities, and the cross entropy applies softmax to them again. As they all "
            "lie between 0 and 1, no class can become certain, and the gradients stay small."
        )
        yield _finding(
            "softmax-twice",
            facts,
            event,
            "softmax taken twice",
            why,
            "Pass the scores to the cross entropy: remove the first softmax.",
        )
    elif name == "binary_cross_entropy_with_logits" and was == "sigmoid":
        why = (
            f"{by} has already made probabilities, and this loss applies sigmoid to them again: all results exceed 0.5."
        )
        yield _finding(
            "sigmoid-twice", facts, event, "sigmoid taken twice", why, "Pass the scores to it: remove the sigmoid."
        )


def _dim(softmax: OpCalled, shape: Sequence[int]) -> int:
    """The dimension of a shape over which a softmax runs, counted from 0."""
    return int(softmax.attrs["dim"]) % max(len(shape), 1)


def _size_along(softmax: OpCalled) -> int:
    """The number of elements over which a softmax runs."""
    shape = softmax.outputs[0].shape
    return shape[_dim(softmax, shape)] if shape else 1


def _swapped(facts: Facts, event: OpCalled) -> Iterator[Finding]:
    """A prediction requires a gradient, and a target does not."""
    operands = [one.tensor for one in event.inputs[:2] if one.tensor in facts.tensors]
    asked = [asks(facts, tensor, event.index) for tensor in operands if tensor is not None]
    if asked == [False, True]:
        why = (
            f"{_by(facts, event)} takes the prediction first and the target second. Here the second requires a "
            "gradient and the first does not: the loss and its gradients are other ones than those that are meant."
        )
        yield _finding("swapped", facts, event, "prediction and target swapped", why, "Swap the first two arguments.")


def _by(facts: Facts, event: OpCalled) -> str:
    return facts.written(event.stack) or labels.written_name(event)


def _finding(kind: Kind, facts: Facts, event: OpCalled, label: str, why: str, fix: str) -> Finding:
    at = facts.ops[facts.op_at[event.index]].id
    return Finding(kind, event.index, at, label, why, fix, facts.line_number(event.stack))
