"""Paths of gradients past unrecorded writes, which change a tensor's values but not its history."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from collections.abc import Set as AbstractSet

from ..reading.facts import Facts
from .graph import Drawing, Link


def way_back(drawing: Drawing, place: str, ops: AbstractSet[int]) -> Iterator[Link]:
    """From a card on to what its tensor was before, where the op behind that is one of `ops`."""
    item = drawing.items[place]
    if item.tensor is None or drawing.facts.history(item.tensor, item.version) not in ops:
        return
    older = drawing.older.get(item.twin or place)
    while older is not None:
        yield older
        older = drawing.older.get(older.source)


def results(drawing: Drawing, op: int) -> Iterator[Link]:
    """The links by which gradients come to an op from what it gave; before each those by which they came to that."""
    starts: list[tuple[str, list[Link]]] = [(link.target, [link]) for link in drawing.out_of[op]]
    for place, links in [*starts, (drawing.facts.ops[op].id, [])]:
        while (newer := drawing.newer.get(place)) is not None:
            links.append(newer)
            place = newer.target
        yield from reversed(links)


class Come:
    """The gradients that have come to tensors, by their versions: what goes on from one to the older ones."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.known: dict[tuple[int, int, int], list[tuple[int, int]]] = defaultdict(list)

    def add(self, call: int, tensor: int, version: int, value: int | None) -> None:
        """A gradient (a trace value) has come in a call: noted where a tensor has several versions."""
        if value is None or len(self.facts.tensors[tensor].versions) < 2:
            return
        made = self.facts.history(tensor, version)
        if made is not None:
            self.known[call, made, tensor].append((version, value))

    def beyond(self, call: int, op: int, link: Link, upstream: int | None) -> tuple[bool, int | None]:
        """Whether a gradient goes on by a link of `way_back`, and its value: the only one that came, or all that the op
        receives.  The sum of some of several is nowhere in a trace: None."""
        come = self.known.get((call, op, link.tensor), [])
        here = [value for version, value in come if version >= link.version]
        value = here[0] if len(here) == 1 else upstream if len(here) == len(come) else None
        return bool(here), value
