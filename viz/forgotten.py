"""Gradients that pile up over updates, because nothing zeroed them in between.  Pure."""

from __future__ import annotations

from engine.trace import Accumulated, OpCalled, Refreshed

from . import text
from .births import Finding
from .facts import Facts


def forgotten(facts: Facts) -> list[Finding]:
    """The first gradient that is added to one of an earlier value of its leaf: the leaf was updated, not its `.grad`.

    Adding up over several calls before one update is what `.grad` is for, and is no finding.
    """
    received: set[int] = set()  # leaves whose gradient was not zeroed or replaced since it arrived
    updated: set[int] = set()  # those of them that were changed since
    for event in facts.trace.events:
        if isinstance(event, OpCalled) and event.inplace in received:
            updated.add(event.inplace)
        elif isinstance(event, Refreshed) and event.tensor in received:
            updated.add(event.tensor)
        elif isinstance(event, Accumulated) and not event.retained:
            if event.tensor in updated and not _is_zero(facts, event.before):
                return [_finding(facts, event)]
            received.add(event.tensor)
            updated.discard(event.tensor)
    return []


def _is_zero(facts: Facts, value: int | None) -> bool:
    if value is None:
        return True
    kept = facts.trace.value(value)
    return bool(kept.stats["zeros"] == kept.stats["size"]) if "size" in kept.stats else not kept.sample.any()


def _finding(facts: Facts, event: Accumulated) -> Finding:
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
        f"{name} was updated in between, so the sum mixes gradients of two different values of it."
    )
    fix = f"If that is not meant, set `{name}.grad = None` (or call `{name}.grad.zero_()`) after each update."
    return Finding("sum", event.index, None, f"{name}.grad not zeroed", why, fix, line)
