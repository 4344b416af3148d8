"""A loss whose sign is wrong: a cross entropy with a minus, or the logarithm of a probability without one.  Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from engine.arrays.element_types import is_float
from engine.trace.events import Accumulated, OpCalled

from ...reading import labels
from ...reading.facts import CallFact, Facts
from ..finding import Finding
from ..updates.gradient_values import is_zero
from .about_loss import about, constant, elements, producer_of, written_at

REDUCED = ("mean", "sum")
LAST_OPS = 20
"""The most ops from the scores back to the op of the layer that gives them."""


def negated_losses(facts: Facts) -> list[Finding]:
    """The first loss that an update makes smaller and with it the probabilities of the targets, or of a sigmoid.

    The loss is a cross entropy times -1, or the mean or sum of the log-probabilities that gather picks, alone: as a
    part of a loss, or for a network that plays against another one, it may be meant. So the parameters of the layer
    that gives the scores must be among those that are updated, against their gradient.
    Nothing counts that is multiplied by a number other than 1 and -1, which may be a reward. A log-sigmoid counts if
    the loss is its mean or sum, times nothing, and if no other backward call adds to the gradients, as the second one
    of a discriminator does.
    Cost: linear in the events, and in the updates of the parameters of such a loss.
    """
    for call in facts.calls.values():
        roots = [facts.made_by(root.tensor, call.start) for root in call.event.roots]
        loss = _loss(facts, facts.ops[roots[0]].event) if len(roots) == 1 and roots[0] is not None else None
        if loss is None or call.order > 1:
            continue
        learning = _descending(facts, call)
        if loss.picks is loss.softmax and not _is_alone(facts, call):
            continue
        if not learning.isdisjoint(_of_last_layer(facts, loss.softmax)):
            return [_finding(facts, loss)]
    return []


class _Loss(NamedTuple):
    """The op that takes the log-probabilities of the targets, the op that turns the sign or comes last, and the
    softmax; of a log-sigmoid, it is both the first and the last of them."""

    picks: OpCalled
    last: OpCalled
    softmax: OpCalled


def _loss(facts: Facts, root: OpCalled) -> _Loss | None:
    """The loss that an op is the root of, if it grows with the log-probabilities of the targets."""
    event: OpCalled | None = root
    sign, picks, turn = 1.0, None, None
    is_reduced, is_scaled = False, False
    while event is not None:
        name, form = labels.written_name(event), labels.presentation(event)
        is_reduced |= name in REDUCED
        factor = constant(facts, event)
        is_scaled |= factor is not None
        if factor is not None and (name == "mul" or factor < 0) and abs(factor) != 1:
            return None  # it may be a reward
        if name == "log_softmax":
            return _Loss(picks, turn or root, event) if picks is not None and sign > 0 else None
        if event.name == "log_sigmoid":
            is_meant = sign < 0 or picks is not None or is_scaled or not is_reduced
            return None if is_meant else _Loss(event, root, event)
        if name == "neg" or (name in ("mul", "div") and factor == -1):
            sign, turn = -sign, turn or event
        elif name.startswith("nll_loss") and event.attrs.get("reduction") in REDUCED and len(event.inputs) == 2:
            sign, picks = -sign, event
        elif name == "gather" and picks is None:
            picks = event
        elif not (name in REDUCED or form.rearranges or form.indexing or (factor or 0) > 0):
            return None
        event = producer_of(facts, event.inputs[0])
    return None


def _of_last_layer(facts: Facts, softmax: OpCalled) -> set[int]:
    """The leaves of the last op before the scores that has any, as a linear layer has its weight."""
    event: OpCalled | None = softmax
    for _ in range(LAST_OPS):
        event = producer_of(facts, event.inputs[0]) if event is not None and event.inputs else None
        leaves = set(_leaves(facts, event)) if event is not None else set()
        if leaves:
            return leaves
    return set()


def _leaves(facts: Facts, event: OpCalled) -> Iterator[int]:
    """The inputs of an op that are leaves of floats, perhaps rearranged."""
    for one in event.inputs:
        while (before := producer_of(facts, one)) is not None and labels.presentation(before).rearranges:
            one = before.inputs[0]
        fact = facts.tensors.get(one.tensor) if one.tensor is not None and before is None else None
        if one.tensor is not None and fact is not None and fact.leaf is not None and is_float(fact.leaf.dtype):
            yield one.tensor


def _descending(facts: Facts, call: CallFact) -> set[int]:
    """The leaves of a call that are written before the next one, if all writes together go against the gradients."""
    gradients = {
        event.tensor: facts.trace.value(event.after).array
        for event in facts.trace.events[call.start : call.end + 1]
        if isinstance(event, Accumulated) and event.call == call.call and not event.retained
    }
    total, changes = 0.0, set[int]()
    starts = [one.start for one in facts.calls.values() if one.start > call.end]
    following = min(starts, default=len(facts.trace.events))
    for event in facts.trace.events[call.end : following]:
        if not isinstance(event, OpCalled) or event.inplace not in gradients:
            continue
        before, after = elements(facts, event.inputs[0]), facts.trace.value(event.outputs[0].value).array
        gradient = gradients[event.inplace]
        if before is None or after is None or gradient is None or not before.shape == after.shape == gradient.shape:
            continue
        total += float(np.vdot(after.astype(np.float64) - before, gradient))
        changes.add(event.inplace)
    return changes if total < 0 else set()


def _is_alone(facts: Facts, call: CallFact) -> bool:
    """Whether a call adds to no gradient of another one."""
    events = facts.trace.events[call.start : call.end + 1]
    return all(is_zero(facts, e.before) for e in events if isinstance(e, Accumulated) and e.call == call.call)


def _finding(facts: Facts, loss: _Loss) -> Finding:
    by = written_at(facts, loss.picks)
    if loss.picks is loss.softmax:
        why = (
            f"The loss grows with the log-sigmoid of {by}, and the optimiser minimises it. So the model learns to make "
            "the probability of the sigmoid small, and the loss has no lower bound."
        )
        fix = "Negate the loss: minimise the negative log-sigmoid."
    elif labels.written_name(loss.picks) == "gather":
        why = (
            f"The loss grows with the logarithms of the targets' probabilities that {by} picks, and the optimiser "
            "minimises it. So the model learns to give its targets small probabilities."
        )
        fix = "Negate the loss: minimise the negative log-likelihood."
    else:
        why = (
            f"The loss is the cross entropy of {by} times a negative number, and the optimiser minimises it. So the "
            "cross entropy grows, and the model learns to give its targets small probabilities."
        )
        fix = "Remove the minus: the cross entropy is already a negative log-likelihood."
    return about("negated", facts, loss.last, "The loss has the wrong sign", why, fix)
