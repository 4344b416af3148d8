"""A finding about an op of a loss.  Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from engine.trace.events import Input, OpCalled

from ...reading import labels
from ...reading.facts import Facts
from ..finding import Finding, Kind


def about(kind: Kind, facts: Facts, event: OpCalled, label: str, why: str, fix: str) -> Finding:
    """A finding at an op, with its line."""
    at = facts.ops[facts.op_at[event.index]].id
    return Finding(kind, event.index, at, label, why, fix, facts.line_number(event.stack))


def elements(facts: Facts, argument: Input) -> np.ndarray | None:
    """The elements of an input, if they are known."""
    value = facts.read(argument)
    return None if value is None else value.array


def written_at(facts: Facts, event: OpCalled) -> str:
    """The program's text of an op with its line, or else the name of the op."""
    return facts.code_at(event.stack) or labels.written_name(event)


def producer_of(facts: Facts, argument: Input) -> OpCalled | None:
    """The op that computed an input; None for a leaf and for a number."""
    if argument.tensor is None or argument.tensor not in facts.tensors:
        return None
    producer = facts.producer(argument.tensor, argument.version)
    return None if producer is None else facts.ops[producer].event


def ops_behind(facts: Facts, argument: Input, since: int = 0) -> Iterator[OpCalled]:
    """The ops from which an input was computed, as far back as the event `since`."""
    todo, seen = [argument], set[int]()
    while todo:
        event = producer_of(facts, todo.pop())
        if event is not None and event.index not in seen and event.index >= since:
            seen.add(event.index)
            yield event
            todo += event.inputs


def constant(facts: Facts, event: OpCalled) -> float | None:
    """The number by which an op multiplies or divides; None if it is a parameter, or not a single number."""
    if len(event.inputs) == 1:
        other = event.attrs.get("other")
        return float(other) if isinstance(other, (int, float)) else None
    for argument in event.inputs[:2]:
        if argument.tensor is None and isinstance(argument.scalar, (int, float)):
            return float(argument.scalar)
        fact = facts.tensors.get(argument.tensor) if argument.tensor is not None else None
        if fact is not None and fact.shape in ((), (1,)) and not fact.requires_grad:
            array = elements(facts, argument)
            return None if array is None else float(array.reshape(()))
    return None
