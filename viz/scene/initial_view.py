"""How a graph opens: folded groups, line breaks and card widths, so that it fits the screen and is legible."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import networkx as nx

from ..findings.errors.explain import explain
from ..graph.folds import (
    FOLD_ABOVE,
    FOLD_ABOVE_TOLD,
    begins_folded,
    failing,
    further_folds,
    inner_first,
    levels,
    repeats,
    told_of,
)
from ..graph.graph import Drawing
from ..layout import choice
from ..layout.cards import grown
from ..layout.sheet import Box, Size, around
from ..layout.views import EASY, HAIR, LARGE, MOST_NODES, WHOLE, extent, lower, zoom, zooms
from .reading import Reading
from .visible_graph import VIEW, Lines, VisibleGraph


@dataclass(frozen=True, slots=True)
class Opening:
    """The groups that start folded, and row and line by element if the picture is broken into lines.

    At `zoom` the text on nodes has room.
    """

    folded: frozenset[str]
    lines: Lines
    limit: float = math.inf
    zoom: float = 1.0


ROOM = 1.15
"""The factor by which text must become wider for a wider picture to be worth it."""
FINER = 0.04
"""The number of smaller sizes that are tried if the size that all text needs does not fit."""


_openings: WeakKeyDictionary[Drawing, dict[int, Opening]] = WeakKeyDictionary()


def opening(reading: Reading, above: int) -> Opening:
    """The most open way in which a graph is visible as a whole in `VIEW`; if there is none, by its size (`folds`).

    `above` is the size from which on groups are folded; in a program with a story (`FOLD_ABOVE_TOLD`), which talks
    about them, modules with parameters stay open.
    """
    openings = _openings.setdefault(reading.drawing, {})
    if above not in openings:
        openings[above] = _opening(reading, above)
    return openings[above]


def _opening(reading: Reading, above: int) -> Opening:
    first = begins_folded(reading.drawing, above)
    best, most = Opening(first[0] if first else frozenset(), {}), 0.0
    for folded in first or _ways(reading, above):
        visible = VisibleGraph(reading.facts, reading.drawing, folded, direct=folded)
        graph = visible.graph()
        if len(graph) > MOST_NODES:
            continue
        try:
            picture = choice.layout(graph)
        except Exception:  # noqa: BLE001, S112  the scene reports it, and is shown without
            continue
        size = zoom(graph, picture, visible.view)
        good = size >= WHOLE or _is_read_on(reading, visible, graph, picture)
        if good or size > most:
            best, most = _opening_of(folded, visible, picture), size
        if good:
            break
    return _roomy(reading, _lasting(reading, best, most)) if most else best


def _lasting(reading: Reading, begin: Opening, size: float) -> Opening:
    """The opening without its lines, if the picture in lines does not reach the zoom `size`."""
    if not begin.lines:
        return begin
    visible = VisibleGraph(reading.facts, reading.drawing, begin.folded, begin.lines, begin.limit, begin.folded)
    graph = visible.graph()
    is_same = zoom(graph, choice.layout(graph), visible.view) >= size - HAIR
    return begin if is_same else replace(begin, lines={})


def _roomy(reading: Reading, begin: Opening) -> Opening:
    """The opening with nodes as wide as their text is at the zoom at which the picture's height fits.

    They are only so wide that the picture shrinks in no view, stays legible, and needs no more lines.
    """
    zooms_before = _zooms(reading, begin)
    before = [min(pair) for pair in zooms_before]
    text_zoom = min((high for wide, high in zooms_before if WHOLE <= high < wide), default=LARGE)
    while grown(text_zoom) > ROOM:
        opening = replace(begin, zoom=text_zoom)
        now = [min(pair) for pair in _zooms(reading, opening)]
        if now and all(size >= min(was, EASY) - HAIR for size, was in zip(now, before, strict=True)):
            return opening
        text_zoom += FINER
    return begin


def _zooms(reading: Reading, begin: Opening) -> list[Size]:
    """The widths and heights at which a picture is seen, in its own view and on a lower screen.

    None if it is too large to be seen whole, or would be broken into other lines.
    """
    visible = VisibleGraph(
        reading.facts, reading.drawing, begin.folded, begin.lines, begin.limit, begin.folded, begin.zoom
    )
    graph = visible.graph()
    if len(graph) > MOST_NODES:
        return []
    picture = choice.layout(graph)
    same = bool(picture.lines) == bool(begin.lines)
    return [zooms(graph, picture, view) for view in (visible.view, lower(visible.view))] if same else []


def _ways(reading: Reading, above: int) -> list[frozenset[str]]:
    """Ways to fold a graph, beginning with the most open; without a story, calls of modules with parameters are folded
    too if nothing else helps, inner ones first.

    The place of an error stays open.
    """
    drawing = reading.drawing
    error = explain(reading.facts, drawing)
    open_so = frozenset(failing(drawing, error.at if error is not None else None))
    story_groups = told_of(reading.facts, drawing)
    ways = levels(drawing, story_groups)
    if above < FOLD_ABOVE_TOLD:
        ways += [(folded & drawing.grouping.calls) | (folded - story_groups) for folded in inner_first(drawing)]
    ways += further_folds(drawing, story_groups)
    return list(dict.fromkeys(folded.union(drawing.grouping.quiet) - open_so for folded in ways))


def _is_read_on(reading: Reading, visible: VisibleGraph, graph: nx.MultiDiGraph, picture: choice.Picture) -> bool:
    """Return whether the picture can be read iteration by iteration: all are open, each fits on a low screen too, and
    so does each step together with the one before.  If all add to one leaf, the view would return to it again and
    again."""
    grouping, alike = reading.drawing.grouping, repeats(reading.drawing).every
    innermost = alike.difference(group for one in alike for group in grouping.paths[grouping.within[one]])
    if not innermost or not innermost <= picture.boxes.keys() or not alike.isdisjoint(visible.folded):
        return False  # one is folded, or a group around it
    if len(graph) > FOLD_ABOVE:
        return False
    if extent(graph, picture)[0] > VIEW[0] / WHOLE or any(len(picture.parts.get(one, ())) > 1 for one in innermost):
        return False
    places = [
        _box(graph, picture, visible.place_of[step.at]) for step in reading.line.steps if step.at in visible.place_of
    ]
    pairs = [around(pair) for pair in itertools.pairwise(places)]
    return all(_fits(picture.boxes[one], lower(VIEW)) for one in innermost) and all(_fits(pair, VIEW) for pair in pairs)


def _fits(box: Box, view: Size) -> bool:
    return (box[2] - box[0]) * WHOLE <= view[0] and (box[3] - box[1]) * WHOLE <= view[1]


def _box(graph: nx.MultiDiGraph, picture: choice.Picture, place: str) -> Box:
    (x, y), (w, h) = picture.positions[place], graph.nodes[place]["size"]
    return (x - w / 2, y - h / 2, x + w / 2, y + h / 2)


def _opening_of(folded: frozenset[str], visible: VisibleGraph, picture: choice.Picture) -> Opening:
    lines = {element: picture.lines[place] for element, place in visible.place_of.items() if place in picture.lines}
    return Opening(folded, lines, picture.limit)
