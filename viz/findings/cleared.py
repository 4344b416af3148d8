"""Gradients that are cleared after backward has computed them and before the optimiser's step: it has none.  Pure."""

from __future__ import annotations

from engine.trace.events import Accumulated, Event, GradSet, GroupEntered, OpCalled, Refreshed

from ..reading import text
from ..reading.facts import Facts
from .accumulated import clears, is_zero
from .finding import Finding


def emptied(facts: Facts) -> list[Finding]:
    """The first step of an optimiser that finds no gradient, where those of all that it holds were cleared unused.

    Gradients that nobody wants, such as what a GAN's generator leaves in the discriminator, are cleared too: those come
    anew before the step.  Cost: linear in the events and in what each step holds.
    """
    arrived: dict[int, Accumulated] = {}  # leaves with a gradient that was not used so far
    lost: dict[int, tuple[Accumulated, Event]] = {}  # leaves whose gradient was cleared unused: how it came, and went
    held: dict[tuple[str, int], tuple[int | None, ...]] = {}
    for event in facts.trace.events:
        if isinstance(event, GroupEntered) and event.kind.endswith(".step"):
            holds = held[event.kind, event.stack] = event.tensors or held.get((event.kind, event.stack), ())
            if any(t in lost for t in holds) and not any(t in arrived for t in holds):
                return [_finding(facts, event, next(t for t in holds if t in lost), lost)]
        elif isinstance(event, Accumulated) and not event.retained:
            arrived[event.tensor] = event
            lost.pop(event.tensor, None)
        elif isinstance(event, GradSet):
            if event.tensor in arrived and is_zero(facts, event.value):
                lost[event.tensor] = arrived.pop(event.tensor), event
        elif isinstance(event, (OpCalled, Refreshed)):
            written = event.inplace if isinstance(event, OpCalled) else event.tensor
            if written is None:
                continue
            leaves = [leaf for leaf in facts.holding(written, event.index) if leaf in arrived]
            if leaves and clears(facts, event):
                lost.update({leaf: (arrived.pop(leaf), event) for leaf in leaves})
            arrived.pop(written, None)
            lost.pop(written, None)
    return []


def _finding(facts: Facts, step: GroupEntered, leaf: int, lost: dict[int, tuple[Accumulated, Event]]) -> Finding:
    came, went = lost[leaf]
    name, optimizer = facts.name(leaf) or "a leaf", step.kind.removesuffix(".step")
    brought = _line(facts, facts.calls[came.call].event.stack)
    left = "None" if isinstance(went, GradSet) and went.value is None else "0"
    why = (
        f"The backward call{brought} brought `{name}.grad` {text.brief(facts.trace.value(came.after))}; "
        f"{_line(facts, went.stack).removeprefix(' in ') or 'the program'} cleared it, so {optimizer}.step()"
        f"{_line(facts, step.stack)} found {left}: nothing used the computed gradient."
    )
    fix = "Call zero_grad() before backward() or after step(), never between the two."
    frame = facts.frame(went.stack)
    return Finding(
        "cleared", went.index, None, "gradients cleared before the step", why, fix, frame.line if frame else None
    )


def _line(facts: Facts, stack: int) -> str:
    frame = facts.frame(stack)
    return f" in {facts.line(frame)}" if frame is not None else ""
