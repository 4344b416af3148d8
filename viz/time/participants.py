"""The participants of a backward call: the ops that run, the gradients they send, and the receivers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from ..graph.gradient_paths import way_back
from ..graph.graph import Drawing
from ..schema.scene import State


def participants(
    drawing: Drawing,
    latest: Mapping[int, str],
    ops: set[int],
    leaves: set[int],
    inputs: Sequence[int],
    roots: Sequence[str],
) -> dict[str, State | Literal[""]]:
    """The initial state of each element that takes part in the call (empty: it only stays visible).  `latest` has the
    newest card of each tensor by now; `ops` run; the call begins at the cards `roots` and ends at `leaves`; `inputs`
    has the requested tensors, at which it may end before a leaf.  Cost: linear in the links of the ops.
    """
    part: dict[str, State | Literal[""]] = {}
    came = set(roots)
    for op in ops:
        part[drawing.facts.ops[op].id] = "waiting"
        for link in drawing.out_of[op]:
            part[link.id] = "idle"
            part[link.target] = "waiting"
        for link in drawing.into[op]:
            item = drawing.items[link.source]
            part[link.id] = "idle" if link.grad else ""
            if item.tensor in leaves and item.kind != "op" and item.role != "constant":
                part[link.source] = "waiting"
                if item.twin is not None:
                    part[item.twin] = "waiting"
            else:
                part.setdefault(link.source, "")
                if link.grad:
                    came.add(link.source)
    for older in (link for place in came for link in way_back(drawing, place, ops)):
        part[older.id], part[older.target] = "idle", "waiting"
    for leaf in leaves:
        card = latest.get(leaf)
        if card is not None:
            part[card] = "waiting"
    part.update((card, "waiting") for one in inputs if (card := latest.get(one)) in part)
    return part
