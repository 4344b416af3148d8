"""The parameters that optimisers hold, and their names.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from engine.trace.events import GroupEntered

from ...reading import text
from ...reading.facts import Facts

MOST_NAMED = 4
"""The most parameters that are named one by one; of more, the sentence names the first and counts the rest."""


@dataclass(slots=True)
class OptimizerTensors:
    """The tensors that require a gradient and that optimisers hold, in order, the number of others that nothing uses,
    the class of the first optimiser that took a step, and the last of their events."""

    tensors: dict[int, None] = field(default_factory=dict)
    unknown: int = 0
    name: str = ""
    last: int = -1


def optimizer_tensors(facts: Facts) -> OptimizerTensors:
    """What the optimisers of a trace hold.  Linear in the events."""
    holdings, last = OptimizerTensors(), {}
    for event in facts.trace.events:
        if isinstance(event, GroupEntered) and (event.tensors or event.optimizer):
            holdings.name, holdings.last = holdings.name or event.optimizer or event.kind, event.index
            holdings.tensors.update(dict.fromkeys(t for t in event.tensors if t is not None))
            if event.tensors:
                last[event.kind, event.stack] = sum(t is None for t in event.tensors)
    holdings.unknown = sum(last.values())
    return holdings


def names_of(facts: Facts, tensors: Sequence[int]) -> str:
    """The names of parameters; of many, the first and the number of the others."""
    names = [facts.names.get(tensor) or "a parameter without a name" for tensor in tensors]
    return text.join(names) if len(names) <= MOST_NAMED else f"{names[0]} and {len(names) - 1} more parameters"
