"""The width of a picture's lines: the picture should be as large as possible in its view."""

from __future__ import annotations

import math

import networkx as nx

from .layered.layered import SIZE, Picture, Places, Plan, place
from .sheet import Size, around

WHOLE = 0.612
"""A graph that fits at this zoom or a larger one is shown whole: its text still has 12 px."""
HAIR = 0.003
"""A small margin at the border."""
LARGE = 1.0
"""The zoom above which a larger picture has no advantage."""
EASY = 0.76
"""The zoom from which on a picture stays in one line: reading on in a line is easier than in the next one."""
EACH = 0.15
"""How much more zoom is needed for each further line, and for each group that continues in another line."""
EACH_OF_BOXES = 0.06
"""The same for a picture that is a row of boxes, the parts of a model: its next line is easy to find, as in a text."""
LOW = (1.24, 0.705)
"""The view on a lower screen, relative to this one: at 1280 x 720 px there is no panel beside the stage."""
LESS = 0.8
"""The share of its zoom on such a screen that a whole picture must keep with more lines; a row of boxes must only stay
legible there."""
WIDE = (1.24, 0.82)
"""The view on a screen of 1280 x 800 px, relative to this one: a whole picture stays whole there."""
ZOOMS = (1.0, 0.9, 0.82, 0.75, 0.7, WHOLE + HAIR)
"""The zooms that are tried: at each, lines are as wide as the view."""
MOST_NODES = 120
"""The most nodes of a picture that can be seen whole."""


def picture_for_view(graph: nx.DiGraph, places: Places) -> Picture:
    """The picture in the lines of the nodes' attribute `line` (row and line), or as wide as `graph.graph["limit"]`;
    without these, in the lines that make it largest in a view.

    The view is `graph.graph["view"]`, width and height in px; `line` comes with the limit of its picture.  The picture
    is in one line if that is large enough, or if there is no view.  If it cannot be whole in the view, it is at least
    no wider, so that one follows it downwards only; a ribbon that would need too many lines stays in one.
    """
    lines, limit = nx.get_node_attributes(graph, "line"), graph.graph.get("limit", math.inf)
    plan = Plan(limit, lines) if lines or math.isfinite(limit) else None
    view: Size | None = graph.graph.get("view")
    best = place(graph, places, plan)
    if plan is not None or view is None or len(graph) > MOST_NODES:
        return best
    most = zoom(graph, best, view)
    if most >= EASY:
        return best
    fits = most >= WHOLE
    low, middle = lower(view), (view[0] * WIDE[0], view[1] * WIDE[1])
    for wide in ZOOMS[::-1]:  # the fewest lines first
        limit = view[0] / wide
        result = place(graph, places, Plan(limit))
        over = extent(graph, result)[0] - limit
        if (
            over > 0 and zoom(graph, result, view) < WHOLE
        ):  # a line on its own may be wider than in the unbroken picture
            result = place(graph, places, Plan(limit - over))
        more = _breaks(result) - _breaks(best)
        size = zoom(graph, result, view)
        higher = zoom(graph, result, low) < min(LESS * zoom(graph, best, low), graph.graph.get("low", LARGE))
        higher |= zoom(graph, best, middle) >= WHOLE > zoom(graph, result, middle)
        if (size > most + graph.graph.get("each", EACH) * more and not (fits and higher)) or (
            not fits and extent(graph, result)[0] <= view[0] / (WHOLE + HAIR)
        ):
            best, most, fits = result, size, True
    return best


def lower(view: Size) -> Size:
    """The same view on a lower screen."""
    return view[0] * LOW[0], view[1] * LOW[1]


def _breaks(picture: Picture) -> int:
    """How often one has to read on in another place: for each further line, and again if it begins within a group.

    What begins in a row of its own depends on nothing above it.
    """
    lines = {place for place in picture.lines.values() if place[1]}
    return len(lines) + sum(len(boxes) - 1 for boxes in picture.parts.values())


def zoom(graph: nx.DiGraph, picture: Picture, view: Size) -> float:
    """The zoom at which a whole picture fits into a view of that size."""
    return min(*zooms(graph, picture, view), LARGE)


def zooms(graph: nx.DiGraph, picture: Picture, view: Size) -> Size:
    """The zooms at which a picture is as wide, and as high, as a view."""
    wide, high = extent(graph, picture)
    return view[0] / max(wide, 1.0), view[1] / max(high, 1.0)


def extent(graph: nx.DiGraph, picture: Picture) -> Size:
    """Width and height of a picture."""
    corners = [*picture.boxes.values()]
    for node, (x, y) in picture.positions.items():
        w, h = graph.nodes[node].get("size", SIZE)
        corners.append((x - w / 2, y - h / 2, x + w / 2, y + h / 2))
    corners += [(x, y, x, y) for routes in (picture.routes, picture.back) for way in routes.values() for x, y in way]
    if not corners:
        return 0.0, 0.0
    x0, y0, x1, y1 = around(corners)
    return x1 - x0, y1 - y0
