"""A Kullback-Leibler divergence of probabilities instead of their logarithms, or against logarithms instead of
probabilities.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from engine.trace.events import Input, OpCalled

from ...reading import labels
from ...reading.facts import Facts
from ...reading.rearranged import origin
from ..finding import Finding, Kind
from .about_loss import about, producer_of, written_at


def divergences(facts: Facts) -> list[Finding]:
    """The first `kl_div` that receives probabilities as its first argument, and the first whose target is a logarithm.

    It consists of `t log t - t s`, or with `log_target` of `exp(t) (t - s)`.  Cost: linear in the ops.
    """
    result: dict[Kind, Finding] = {}
    for op in facts.ops:
        parts = _parts(facts, op.event) if op.event.call is None else None
        for finding in _of(facts, parts) if parts is not None else ():
            result.setdefault(finding.kind, finding)
    return list(result.values())


class _Parts(NamedTuple):
    """The op that ends a divergence, its two arguments, and whether the target is meant to be a logarithm."""

    end: OpCalled
    scores: Input
    target: Input
    log_target: bool


def _parts(facts: Facts, event: OpCalled) -> _Parts | None:
    """The arguments of the divergence that an op ends; None if it is another op."""
    name = labels.written_name(event)
    if name not in ("sub", "mul") or len(event.inputs) != 2:
        return None
    first, second = (producer_of(facts, one) for one in event.inputs)
    names = [None if one is None else labels.written_name(one) for one in (first, second)]
    if first is None or second is None:
        return None
    if name == "sub" and names == ["xlogy", "mul"] and event.attrs.get("alpha", 1) == 1:
        target, same = first.inputs
        others = [one for one in second.inputs if one.tensor != target.tensor]
        if target.tensor == same.tensor and len(second.inputs) == 2 and len(others) == 1:
            return _Parts(event, others[0], target, log_target=False)
    if name == "mul" and names == ["exp", "sub"] and second.attrs.get("alpha", 1) == 1:
        (power,), (target, scores) = first.inputs, second.inputs
        if power.tensor == target.tensor is not None and scores.tensor is not None:
            return _Parts(event, scores, target, log_target=True)
    return None


def _of(facts: Facts, parts: _Parts) -> Iterator[Finding]:
    scores, target = _softmax(facts, parts.scores), _softmax(facts, parts.target)
    if scores is not None and labels.written_name(scores) == "softmax":
        why = (
            f"kl_div expects logarithms of probabilities as its first argument, but {written_at(facts, scores)} gives "
            f"the probabilities themselves.{_below_zero(facts, parts.end)}"
        )
        fix = "Use log_softmax for the first argument; the target stays as it is."
        yield about("no-logarithm", facts, parts.end, "no logarithm", why, fix)
    if target is not None and labels.written_name(target) == "log_softmax" and not parts.log_target:
        why = (
            f"kl_div expects probabilities as its target, but {written_at(facts, target)} gives their logarithms, "
            "which are negative. The divergence takes the logarithm of the target again, which is nan."
        )
        fix = "Pass log_target=True, or use softmax for the target."
        yield about("log-target", facts, parts.end, "the target is a logarithm", why, fix)


def _below_zero(facts: Facts, end: OpCalled) -> str:
    """A sentence on a sum that no divergence has, if it is known."""
    value = facts.trace.value(end.outputs[0].value)
    total = None if value.array is None else float(value.array.sum(dtype="float64"))
    if total is None or not total < 0:
        return ""
    return " A divergence is never negative, but this one is."


def _softmax(facts: Facts, argument: Input) -> OpCalled | None:
    """The softmax or log_softmax whose numbers an argument has, perhaps detached."""
    before = origin(facts, argument)
    while before is not None and before.op.inputs and labels.written_name(before.op) == "detach":
        before = origin(facts, before.op.inputs[0])
    is_softmax = before is not None and labels.written_name(before.op) in ("softmax", "log_softmax")
    return before.op if is_softmax and before is not None else None
