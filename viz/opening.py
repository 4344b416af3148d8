"""How a graph begins: what is folded and where lines break, so that it is seen whole."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from . import diagnose, layout
from .folds import FOLD_ABOVE_TOLD, begins_folded, inner_first, levels, told_of
from .graph import Drawing
from .layouts.views import MOST_NODES, WHOLE, zoom
from .reading import Reading
from .visible import VIEW, Lines, Visible


@dataclass(frozen=True, slots=True)
class Opening:
    """The groups that begin folded, and row and line by element where the picture stands in several."""

    folded: frozenset[str]
    lines: Lines
    limit: float = math.inf


_known: WeakKeyDictionary[Drawing, dict[int, Opening]] = WeakKeyDictionary()


def opening(read: Reading, above: int) -> Opening:
    """The most open way in which a graph is seen whole in `VIEW`; of one that never is, as its size says (`folds`).

    `above` says of what size on levels are folded; in a program with a story (`FOLD_ABOVE_TOLD`), which speaks of them,
    modules with parameters stay open.
    """
    known = _known.setdefault(read.drawing, {})
    if above not in known:
        known[above] = _opening(read, above)
    return known[above]


def _opening(read: Reading, above: int) -> Opening:
    first = begins_folded(read.drawing, above)
    best, most = Opening(frozenset(first), {}), 0.0
    error = diagnose.explain(read.facts, read.drawing)
    at = error.at if error is not None else None
    kept = told_of(read.facts, read.drawing, at)
    ways = dict.fromkeys(folded - kept for folded in levels(read.drawing))
    if above < FOLD_ABOVE_TOLD:
        ways.update(dict.fromkeys(_shut(read.drawing, kept, at)))
    for folded in [frozenset(first)] if first else ways:
        seen = Visible(read.facts, read.drawing, folded, direct=folded)
        graph = seen.graph()
        if len(graph) > MOST_NODES:
            continue
        try:
            placed = layout.layout(graph)
        except Exception:  # noqa: BLE001, S112  the scene says so, and shows it otherwise
            continue
        size = zoom(graph, placed, VIEW)
        if size > most:
            best, most = _found(folded, seen, placed), size
        if size >= WHOLE:
            break
    return best


def _shut(drawing: Drawing, kept: AbstractSet[str], error: str | None) -> list[frozenset[str]]:
    """Further ways: calls of modules that hold parameters are folded too, the inner ones first."""
    failing = drawing.grouping.path(drawing.items[error].group) if error in drawing.items else []
    calls = drawing.grouping.calls.difference(failing)
    return [(folded & calls) | (folded - kept) for folded in inner_first(drawing)]


def _found(folded: frozenset[str], seen: Visible, placed: layout.Placed) -> Opening:
    lines = {element: placed.lines[place] for element, place in seen.shown.items() if place in placed.lines}
    return Opening(folded, lines, placed.limit)
