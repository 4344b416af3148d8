"""Losses whose softmax runs over the wrong dimension, runs twice, or is missing.  Pure."""

from __future__ import annotations

from collections.abc import Iterator

from engine.trace.events import OpCalled

from ..reading import labels, text
from ..reading.facts import Facts
from .finding import Finding, Kind


def wrong_losses(facts: Facts) -> list[Finding]:
    """The first loss of each of these kinds: nll_loss after a softmax over a dimension that is not the classes';
    nll_loss of probabilities without a logarithm; and a cross entropy that receives probabilities instead of scores.

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
    if soft is not None:
        by, classes = _by(facts, soft), 1 if len(shape) > 1 else 0
        dim = int(soft.attrs["dim"]) % max(len(shape), 1)
        if dim != classes:
            why = (
                f"nll_loss expects the classes along dimension {classes} of {text.shape(shape)}, but {by} makes the "
                f"probabilities sum to 1 along dimension {dim}: over the {shape[dim]} samples of a class, not over the "
                "classes of a sample."
            )
            fix = f"Write dim={classes if len(shape) != 2 else -1}."
            yield _finding("loss-dimension", facts, soft, f"{labels.written_name(soft)} over dimension {dim}", why, fix)
    elif name == "nll_loss" and was in ("softmax", "sigmoid"):
        why = f"nll_loss expects logarithms of probabilities, but {by} gives the probabilities themselves."
        yield _finding(
            "no-logarithm", facts, before, "no logarithm", why, "Use log_softmax, or cross_entropy of the scores."
        )
    elif name == "log_softmax" and was == "softmax" and before.attrs.get("dim") == event.attrs.get("dim"):
        why = (
            f"{by} has already made probabilities, and the cross entropy applies softmax to them again. As they all "
            "lie "
            "between 0 and 1, no class can become certain, and the gradients stay small."
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


def _by(facts: Facts, event: OpCalled) -> str:
    return facts.written(event.stack) or labels.written_name(event)


def _finding(kind: Kind, facts: Facts, event: OpCalled, label: str, why: str, fix: str) -> Finding:
    at = facts.ops[facts.op_at[event.index]].id
    return Finding(kind, event.index, at, label, why, fix, facts.line_number(event.stack))
