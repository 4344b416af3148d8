"""Paths of gradients past unrecorded writes, which change a tensor's values but not its history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from ..reading.facts import Facts
from .graph import Drawing, Link


def way_back(drawing: Drawing, place: str, ops: AbstractSet[int]) -> Iterator[Link]:
    """The links from a card to the earlier versions of its tensor, if their op is one of `ops`."""
    item = drawing.items[place]
    if item.tensor is None or drawing.facts.tensors[item.tensor].history.get(item.version) not in ops:
        return
    older = drawing.older.get(item.twin or place)
    while older is not None:
        yield older
        older = drawing.older.get(older.source)


def results(drawing: Drawing, op: int) -> Iterator[Link]:
    """The links by which gradients reach an op from its results, each preceded by the links that lead to that
    result."""
    starts: list[tuple[str, list[Link]]] = [(link.target, [link]) for link in drawing.out_of[op]]
    for place, links in [*starts, (drawing.facts.ops[op].id, [])]:
        while (newer := drawing.newer.get(place)) is not None:
            links.append(newer)
            place = newer.target
        yield from reversed(links)


class ArrivedGradients:
    """The gradients that have arrived at tensors, by version: those of newer versions continue to the older ones."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.arrivals: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)

    def add(self, call: int, tensor: int, version: int, value: int | None) -> None:
        """A gradient (a trace value) has arrived in a call: noted if the tensor has several versions."""
        fact = self.facts.tensors[tensor]
        if value is None or len(fact.versions) < 2:
            return
        producer = fact.history.get(version)
        if producer is not None:
            self.arrivals[call, producer, tensor].append((version, value))

    def beyond(self, call: int, op: int, link: Link, upstream: int | None) -> tuple[bool, int | None]:
        """Return whether a gradient continues along a link of `way_back`, and its value: the only one that arrived, or
        the op's whole upstream gradient.  For a sum of only some of them the value is None, because a trace does not
        have it."""
        gradients = self.arrivals.get((call, op, link.tensor), [])
        here = [value for version, value in gradients if version >= link.version]
        value = here[0] if len(here) == 1 else upstream if len(here) == len(gradients) else None
        return bool(here), value
