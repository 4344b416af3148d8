"""Gradients that are zeroed at the wrong time: not at all between two updates, or before the step uses them.  Pure."""

from __future__ import annotations

from engine.trace.events import (
    Accumulated,
    Event,
    GradSet,
    GroupEntered,
    GroupLeft,
    LeafCreated,
    OpCalled,
    Refreshed,
)

from ...reading import labels, text
from ...reading.facts import Facts
from ..finding import Finding
from .gradient_values import OptimizerLeaves, clears, first_value, in_line, is_zero


def not_zeroed(facts: Facts) -> list[Finding]:
    """The first gradient that is added to one of an earlier value of its leaf, if an update then uses the sum.

    Adding up over several calls before one update is the purpose of `.grad`, and not a finding.  Neither is a sum that
    is zeroed before it is used, such as the gradient that the loss of a GAN's generator leaves in the discriminator.
    """
    updated = set(facts.elsewhere("updated"))  # leaves that were changed since their gradient arrived,
    received = set(updated)  # of those whose gradient was not zeroed or replaced since
    mixed: dict[int, Accumulated] = {}  # leaves whose gradient belongs to two values of them
    steps: list[str] = []
    for event in facts.trace.events:
        if isinstance(event, GroupEntered):
            steps.append(event.kind if event.optimizer else steps[-1] if steps else "")
        elif isinstance(event, GroupLeft):
            del steps[-1:]
        elif isinstance(event, GradSet):
            mixed.pop(event.tensor, None)
        elif isinstance(event, (OpCalled, Refreshed)):
            target = event.inplace if isinstance(event, OpCalled) else event.tensor
            if target is None:
                continue
            if target in mixed:
                return [_not_zeroed_finding(facts, mixed[target], steps[-1] if steps else "")]
            if target in received:
                updated.add(target)
            else:
                leaves = [leaf for leaf in facts.holding(target, event.index) if leaf in mixed]
                if leaves and clears(facts, event):
                    for leaf in leaves:
                        del mixed[leaf]
        elif isinstance(event, Accumulated) and not event.retained:
            if is_zero(facts, event.before):
                mixed.pop(event.tensor, None)
            elif event.tensor in updated:
                mixed.setdefault(event.tensor, event)
            received.add(event.tensor)
            updated.discard(event.tensor)
    return []


def cleared(facts: Facts) -> list[Finding]:
    """The first step of an optimiser that finds no gradient because those of all its parameters were cleared unused.

    Unwanted gradients, such as those that a GAN's generator leaves in the discriminator, are cleared too, but new ones
    come before the step.  Cost: linear in the events and in the parameters of each step.
    """
    arrived: dict[int, _Came] = {}  # leaves with a gradient that was not used so far
    lost: dict[int, tuple[_Came, Event]] = {}  # leaves whose gradient was cleared unused: the two events
    holdings = OptimizerLeaves()
    unused = facts.elsewhere("taught") - facts.elsewhere("updated")
    for event in facts.trace.events:
        if isinstance(event, GroupEntered) and event.optimizer:
            holds = holdings.of(event)
            if any(t in lost for t in holds) and not any(t in arrived for t in holds):
                return [_cleared_finding(facts, event, next(t for t in holds if t in lost), lost)]
        elif isinstance(event, Accumulated) and not event.retained:
            arrived[event.tensor] = event
            lost.pop(event.tensor, None)
        elif isinstance(event, LeafCreated):
            if event.tensor in unused and not is_zero(facts, first_value(facts, event.grad)):
                arrived[event.tensor] = event
        elif isinstance(event, GradSet):
            if event.tensor in arrived and is_zero(facts, event.value):
                lost[event.tensor] = arrived.pop(event.tensor), event
        elif isinstance(event, (OpCalled, Refreshed)):
            target = event.inplace if isinstance(event, OpCalled) else event.tensor
            if target is None:
                continue
            leaves = [leaf for leaf in facts.holding(target, event.index) if leaf in arrived]
            if leaves and clears(facts, event) and not _was_zero(facts, event):
                lost.update({leaf: (arrived.pop(leaf), event) for leaf in leaves})
            arrived.pop(target, None)
            lost.pop(target, None)
    return []


def _was_zero(facts: Facts, event: OpCalled | Refreshed) -> bool:
    """Whether an op that writes only zeros read only zeros, as the clipping of a gradient of 0 does."""
    before = facts.read(event.inputs[0]) if isinstance(event, OpCalled) and event.inputs else None
    return before is not None and before.is_zero


_Came = Accumulated | LeafCreated
"""How a gradient came: by a backward call, or from an earlier section of a run."""


def _not_zeroed_finding(facts: Facts, event: Accumulated, step: str) -> Finding:
    name = facts.names.get(event.tensor) or "a leaf"
    call = facts.calls[event.call]
    line = facts.line_number(call.event.stack)
    where = f" in line {line}" if line is not None else ""
    before, added, now = (
        "nothing" if value is None else text.brief(facts.trace.value(value))
        for value in (event.before, event.added, event.after)
    )
    why = (
        f"`{name}.grad` still held {before} from an earlier call, and the backward call{where} added {added}: {now}. "
        f"{name} was updated in between, so the sum mixes gradients at two different values of {name}."
    )
    fix = f"If you do not want this, set `{name}.grad = None` (or call `{name}.grad.zero_()`) after each update."
    if not step and _is_held_by_none(facts, event.tensor):
        why += f" No optimiser holds {name}: the program itself sets its values, as those of a copy that is averaged."
        fix = "Such a copy needs no gradients: call `requires_grad_(False)` on it, or compute with it under no_grad()."
    if step:
        fix = f"If you do not want this, call zero_grad() of the {step.removesuffix('.step')} before each backward()."
    return Finding("not-zeroed", event.index, None, f"{name}.grad not zeroed", why, fix, line)


def _is_held_by_none(facts: Facts, leaf: int) -> bool:
    """Whether there are optimisers in use, and none of them holds a leaf."""
    steps = [event.tensors for event in facts.trace.events if isinstance(event, GroupEntered) and event.optimizer]
    return bool(steps) and not any(leaf in tensors for tensors in steps)


def _cleared_finding(facts: Facts, step: GroupEntered, leaf: int, lost: dict[int, tuple[_Came, Event]]) -> Finding:
    came, went = lost[leaf]
    name, optimizer = facts.names.get(leaf) or "a leaf", step.optimizer
    left = "None" if isinstance(went, GradSet) and went.value is None else "0"
    if isinstance(came, Accumulated):
        brought = in_line(facts, facts.calls[came.call].event.stack)
        origin = f"The backward call{brought} left {_brief(facts, came.after)} in `{name}.grad`"
        fix = "Call zero_grad() before backward() or after step(), never between the two."
    else:
        origin = f"The previous iteration left {_brief(facts, first_value(facts, came.grad))} in `{name}.grad`"
        fix = "Call step() after backward(), and before the next zero_grad()."
    clears, how = in_line(facts, went.stack).removeprefix(" in ") or "the program", "cleared it"
    if isinstance(went, OpCalled) and labels.presentation(went).sign == "×":
        how, fix = "multiplied it by 0", "Multiply it by a nonzero number. If this clips it, pass a norm above 0."
    why = (
        f"{origin}; {clears} {how}, so {optimizer}.step(){in_line(facts, step.stack)} found {left}: nothing used "
        "the computed gradient."
    )
    line = facts.line_number(went.stack)
    return Finding("cleared", went.index, None, "gradients cleared before the step", why, fix, line)


def _brief(facts: Facts, value: int | None) -> str:
    return "a gradient" if value is None else text.brief(facts.trace.value(value))
