"""The gradients that the rule of a step receives and sends if a folded group hides it:
the graph then has no op for it, or no edge to each receiver."""

from __future__ import annotations

import json

from engine.trace.events import VjpRun

from ..reading.values import Table
from ..schema.scene import FoldedGradients, SentGradient
from ..schema.values import Formula
from ..time.steps import Step
from .reading import Reading
from .visible_graph import VisibleGraph


class HiddenGradients:
    """Finds them step by step; `formulas` has those of the ops in folded groups, each once, because iterations of a
    loop share them.

    `values` are numbered as in the scene.
    """

    def __init__(self, reading: Reading, visible: VisibleGraph, values: Table) -> None:
        self.reading, self.trace, self.visible, self.values = reading, reading.facts.trace, visible, values
        self.formulas: list[list[Formula]] = []
        self._numbers: dict[int, int] = {}  # by id: a reading returns the same object each time
        self._equal: dict[str, int] = {}

    def step(self, step: Step) -> FoldedGradients:
        """The parts `within` and `sends` of a step, if it has them."""
        event = self.trace.events[step.event]
        if not isinstance(event, VjpRun) or step.op is None:
            return {}
        sends = self.sends(step, event)
        groups = self.visible.drawing.grouping.labels
        result: FoldedGradients = {"sends": sends} if sends else {}
        if step.at is None or self.visible.place_of.get(step.at) not in groups:
            return result
        gets, gives = (
            ", ".join(dict.fromkeys(self.reading.brief(one) for one in values if one is not None))
            for values in (event.upstream, event.cotangents)
        )
        upstream = next((one for one in event.upstream if one is not None), None)
        result["within"] = {
            "gets": gets, "gives": gives, "upstream": self.values.add(self.trace, upstream),
            "formula": self.number(self.reading.formula(self.reading.facts.ops[step.op].event)),
        }  # fmt: skip
        return result

    def sends(self, step: Step, event: VjpRun) -> list[SentGradient]:
        """One {name, value, in, edge} per receiver, named as in the sentence; none if all are visible.

        `in` is the receiver's folded group, if it is another one; `edge` is the drawn edge from it to the op.
        """
        assert step.op is not None
        visible, drawing = self.visible, self.visible.drawing
        groups = drawing.grouping.labels
        links = {link.slot: link for link in drawing.into[step.op] if link.slot is not None}
        places = {slot: visible.place_of[link.source] for slot, link in links.items()}
        here = visible.place_of.get(step.at) if step.at is not None else None
        if here not in groups and groups.keys().isdisjoint(places.values()):
            return []
        result: list[SentGradient] = []
        for one in self.reading.sent(event, drawing.facts.ops[step.op].event):
            sent = self.values.add(self.trace, event.cotangents[one.slot])
            entry: SentGradient = {"name": one.name or "a leaf", "value": sent}
            place, link = places.get(one.slot), links.get(one.slot)
            if place is not None and place in groups and place != here:
                entry["in"] = place
            if link is not None and link.id in visible.edge_of:
                entry["edge"] = visible.edge_of[link.id]
            result.append(entry)
        return result

    def number(self, formulas: list[Formula]) -> int | None:
        """The position of formulas in the table; None for an op without any."""
        if not formulas:
            return None
        position = self._numbers.get(id(formulas))
        if position is None:
            position = self._numbers[id(formulas)] = self._equal.setdefault(json.dumps(formulas), len(self.formulas))
            if position == len(self.formulas):
                self.formulas.append(formulas)
        return position
