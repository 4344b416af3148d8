"""What is known of the values that `.grad` has over time.  Pure."""

from __future__ import annotations

from engine.trace.events import OpCalled, Refreshed

from ...reading.facts import Facts


def first_value(facts: Facts, tensor: int | None) -> int | None:
    """The value that a leaf has when it is first seen."""
    fact = facts.tensors.get(tensor) if tensor is not None else None
    return fact.leaf.value if fact is not None and fact.leaf is not None else None


def clears(facts: Facts, event: OpCalled | Refreshed) -> bool:
    """Whether a write leaves only zeros."""
    return is_zero(facts, event.outputs[0].value if isinstance(event, OpCalled) else event.value)


def is_zero(facts: Facts, value: int | None) -> bool:
    """Whether a value has only zeros, or does not exist."""
    return value is None or facts.trace.value(value).is_zero


def in_line(facts: Facts, stack: int) -> str:
    """` in line 7`, for the end of a clause; "" if the line is not known."""
    frame = facts.frames.get(stack)
    return f" in {facts.line(frame)}" if frame is not None else ""
