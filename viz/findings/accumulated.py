"""Gradients that pile up over updates, because nothing zeroed them in between.  Pure."""

from __future__ import annotations

from engine.trace.events import Accumulated, GradSet, GroupEntered, GroupLeft, OpCalled, Refreshed

from ..reading import text
from ..reading.facts import Facts
from .finding import Finding


def forgotten(facts: Facts) -> list[Finding]:
    """The first gradient that is added to one of an earlier value of its leaf, and that an update then uses.

    Adding up over several calls before one update is what `.grad` is for, and is no finding.  Nor is a sum that is
    zeroed before anybody uses it, such as what the loss of a GAN's generator leaves in the discriminator.
    """
    received: set[int] = set()  # leaves whose gradient was not zeroed or replaced since it arrived
    updated: set[int] = set()  # those of them that were changed since
    mixed: dict[int, Accumulated] = {}  # leaves whose gradient belongs to two values of them
    steps: list[str] = []
    for event in facts.trace.events:
        if isinstance(event, GroupEntered):
            steps.append(event.kind if event.kind.endswith(".step") else steps[-1] if steps else "")
        elif isinstance(event, GroupLeft):
            del steps[-1:]
        elif isinstance(event, GradSet):
            mixed.pop(event.tensor, None)
        elif isinstance(event, (OpCalled, Refreshed)):
            written = event.inplace if isinstance(event, OpCalled) else event.tensor
            if written is None:
                continue
            if written in mixed:
                return [_finding(facts, mixed[written], steps[-1] if steps else "")]
            if written in received:
                updated.add(written)
            else:
                leaves = [leaf for leaf in facts.holding(written, event.index) if leaf in mixed]
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


def clears(facts: Facts, event: OpCalled | Refreshed) -> bool:
    """Whether a write leaves nothing but zeros."""
    return is_zero(facts, event.outputs[0].value if isinstance(event, OpCalled) else event.value)


def is_zero(facts: Facts, value: int | None) -> bool:
    """Whether a value is nothing but zeros; so is none at all."""
    if value is None:
        return True
    kept = facts.trace.value(value)
    if kept.damaged:
        return False
    return bool(kept.stats["zeros"] == kept.stats["size"]) if "size" in kept.stats else not kept.sample.any()


def _finding(facts: Facts, event: Accumulated, step: str) -> Finding:
    name = facts.name(event.tensor) or "a leaf"
    call = facts.calls[event.call]
    frame = facts.frame(call.event.stack)
    line = frame.line if frame is not None else None
    where = f" in line {line}" if line is not None else ""
    held, added, now = (
        "nothing" if value is None else text.brief(facts.trace.value(value))
        for value in (event.before, event.added, event.after)
    )
    why = (
        f"`{name}.grad` still held {held} from an earlier call, and the backward call{where} added {added}: {now}. "
        f"{name} was updated in between, so the sum mixes gradients at two different values of {name}."
    )
    fix = f"If you do not want this, set `{name}.grad = None` (or call `{name}.grad.zero_()`) after each update."
    if step:
        fix = f"If you do not want this, call zero_grad() of the {step.removesuffix('.step')} before each backward()."
    return Finding("not-zeroed", event.index, None, f"{name}.grad not zeroed", why, fix, line)
