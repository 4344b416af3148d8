"""How a graph begins: what is folded, where lines break and how wide cards are, so that it is seen whole and read."""

from __future__ import annotations

import math
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

from . import diagnose, layout
from .cards import grown
from .folds import FOLD_ABOVE_TOLD, begins_folded, inner_first, levels, told_of
from .graph import Drawing
from .layouts.sheet import Size
from .layouts.views import EASY, HAIR, LARGE, MOST_NODES, WHOLE, lower, zoom, zooms
from .reading import Reading
from .visible import VIEW, Lines, Visible


@dataclass(frozen=True, slots=True)
class Opening:
    """The groups that begin folded, and row and line by element where the picture stands in several.

    At `zoom` what is written on nodes has room.
    """

    folded: frozenset[str]
    lines: Lines
    limit: float = math.inf
    zoom: float = 1.0


ROOM = 1.15
"""How much wider than before what is written must become for it to be worth a wider picture."""
FINER = 0.04
"""Steps in which less room is tried where all that text wants has no place."""


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
    return _roomy(read, best) if most else best


def _roomy(read: Reading, begin: Opening) -> Opening:
    """The same with nodes as wide as their text is at the zoom to which its height brings the picture.

    So wide that in no view it becomes smaller by that, or smaller than is read with ease, and as many lines hold it.
    """
    seen = _zooms(read, begin)
    before = [min(pair) for pair in seen]
    wanted = min((high for wide, high in seen if WHOLE <= high < wide), default=LARGE)
    while grown(wanted) > ROOM:
        found = replace(begin, zoom=wanted)
        now = [min(pair) for pair in _zooms(read, found)]
        if now and all(size >= min(was, EASY) - HAIR for size, was in zip(now, before, strict=True)):
            return found
        wanted += FINER
    return begin


def _zooms(read: Reading, begin: Opening) -> list[Size]:
    """As how wide and how high a picture is seen, in the view that it is laid out for and on a lower screen.

    Nothing where it is too large to be seen whole, or would be broken into lines otherwise.
    """
    graph = Visible(read.facts, read.drawing, begin.folded, begin.lines, begin.limit, begin.folded, begin.zoom).graph()
    if len(graph) > MOST_NODES:
        return []
    placed = layout.layout(graph)
    same = bool(placed.lines) == bool(begin.lines)
    return [zooms(graph, placed, view) for view in (VIEW, lower(VIEW))] if same else []


def _shut(drawing: Drawing, kept: AbstractSet[str], error: str | None) -> list[frozenset[str]]:
    """Further ways: calls of modules that hold parameters are folded too, the inner ones first."""
    failing = drawing.grouping.path(drawing.items[error].group) if error in drawing.items else []
    calls = drawing.grouping.calls.difference(failing)
    return [(folded & calls) | (folded - kept) for folded in inner_first(drawing)]


def _found(folded: frozenset[str], seen: Visible, placed: layout.Placed) -> Opening:
    lines = {element: placed.lines[place] for element, place in seen.shown.items() if place in placed.lines}
    return Opening(folded, lines, placed.limit)
