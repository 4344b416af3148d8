"""The values of `.grad` over time.  Pure."""

from __future__ import annotations

from engine.trace.events import GroupEntered, OpCalled, Refreshed

from ...reading.facts import Facts

UNSCALE = "aten::_amp_foreach_non_finite_check_and_unscale_"
"""The op with which a GradScaler divides gradients by its scale."""


class OptimizerLeaves:
    """The leaves that each optimiser holds, as of its last step: a trace lists them where they are new."""

    def __init__(self) -> None:
        self._by_step: dict[tuple[str, int], tuple[int, ...]] = {}

    def of(self, step: GroupEntered) -> tuple[int, ...]:
        """The leaves of the optimiser that takes a step; those that the recording has not seen are left out."""
        key = step.kind, step.stack
        if step.tensors:
            self._by_step[key] = tuple(tensor for tensor in step.tensors if tensor is not None)
        return self._by_step.get(key, ())


def first_value(facts: Facts, tensor: int | None) -> int | None:
    """The value that a leaf has when it is first seen."""
    fact = facts.tensors.get(tensor) if tensor is not None else None
    return fact.leaf.value if fact is not None and fact.leaf is not None else None


def clears(facts: Facts, event: OpCalled | Refreshed) -> bool:
    """Return whether a write leaves only zeros."""
    return is_zero(facts, event.outputs[0].value if isinstance(event, OpCalled) else event.value)


def is_zero(facts: Facts, value: int | None) -> bool:
    """Return whether a value has only zeros, or does not exist."""
    return value is None or facts.trace.value(value).is_zero


def in_line(facts: Facts, stack: int) -> str:
    """` in line 7`, for the end of a clause; "" if the line is not known."""
    frame = facts.frames.get(stack)
    return f" in {facts.line(frame)}" if frame is not None else ""
