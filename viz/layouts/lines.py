"""A chain too long for a screen, in lines as text is: the layered picture cut between columns, line under line.

Within a line everything stays as the layered layout has it.  What goes on in the next line leaves at the right, runs
back between the lines and enters at the left; these ways are nested, so that none crosses another.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import networkx as nx

from .layered import SIZE, Placed
from .sheet import Point, Size, clean

Box = tuple[float, float, float, float]

MOST = 4
"""Lines at most: past that one cannot see the whole anyway, and a ribbon is followed more easily."""
CROSSED = 90.0
"""What a route over a break costs, against the width that it saves."""
WHOLE = 0.65
"""The zoom down to which a graph is shown whole (assets/modules/camera.mjs)."""
LARGE = 1.1
"""A zoom past which nothing is won."""
EASY = 0.76
"""A zoom from which on one line is kept: reading on in it is easier than in the next."""
EACH = 0.15
"""How much more zoom a further line must give."""
HAIR = 0.01
"""By so much a column is wider than what stands in it: ends of routes are computed in another order, and rounded so."""
INDENT = 28.0
OUT = 14.0
STEP = 9.0
"""Between ways that run side by side from line to line."""
ROOM = 30.0
"""Between a line and the ways under it, and between these and the next line."""


@dataclass(slots=True)
class _Line:
    """The columns from `left` to `right` of the unbroken picture, and how far they move."""

    left: float
    right: float
    top: float = float("inf")
    bottom: float = float("-inf")
    dx: float = 0.0
    dy: float = 0.0
    heights: list[float] = field(default_factory=list)
    """Where routes leave to the next line, from top to bottom."""
    channel: float = 0.0
    """The height (in the new picture) of the first way to the next line."""


def broken(graph: nx.DiGraph, placed: Placed, view: Size) -> Placed:
    """The picture in the number of lines in which it is largest in a view of that size (in px); often that is one.

    As it is where it would not be shown whole in any: a long ribbon is followed.  Only for a picture without boxes of
    groups, since these would have to be cut.
    """
    boxes = [_box(placed.positions[node], graph.nodes[node].get("size", SIZE)) for node in placed.positions]
    columns = _columns(boxes)
    if placed.boxes or len(columns) < 2:
        return placed
    one = _lines(columns, [len(columns) - 1], placed, boxes)
    best, most = one, _zoom(one, view)
    if most >= EASY:
        return placed
    crossings = [len(_heights(placed, right)) for _, right in columns]
    for count in range(2, min(MOST, len(columns)) + 1):
        lines = _lines(columns, _ends(columns, crossings, count), placed, boxes)
        zoom = _zoom(lines, view)
        if zoom >= WHOLE and (most < WHOLE or zoom > most + EACH):
            best, most = lines, zoom
    return placed if best is one else _moved(placed, best)


def _zoom(lines: Sequence[_Line], view: Size) -> float:
    """The zoom at which all lines are in view; they are stacked meanwhile."""
    height = _stack(lines)
    wide = max(
        line.right - line.left + _beside(len(line.heights), len(before.heights) if before else 0)
        for before, line in pairwise([None, *lines])
        if line is not None
    )
    return min(view[0] / wide, view[1] / height, LARGE)


def _box(centre: Point, size: Point) -> Box:
    (x, y), (w, h) = centre, size
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def _columns(boxes: Sequence[Box]) -> list[tuple[float, float]]:
    """(left, right) of what stands one above the other."""
    columns: list[tuple[float, float]] = []
    for x0, _, x1, _ in sorted(boxes):
        if columns and x0 < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    return [(x0, x1 + HAIR) for x0, x1 in columns]


def _heights(placed: Placed, x: float) -> list[float]:
    """Where routes pass a border between columns, from top to bottom; routes that share their way count once."""
    found = set()
    for routes in (placed.routes, placed.back):
        for route in routes.values():
            points = route if route[0][0] <= route[-1][0] else route[::-1]
            if points[0][0] <= x < points[-1][0]:
                found.add(round(_height(points, x), 1))
    return sorted(found)


def _height(points: Sequence[Point], x: float) -> float:
    after = next(i for i, point in enumerate(points) if point[0] > x)
    (ax, ay), (bx, by) = points[max(after - 1, 0)], points[after]
    return ay + (by - ay) * (x - ax) / (bx - ax)


def _ends(columns: Sequence[tuple[float, float]], crossings: Sequence[int], count: int) -> list[int]:
    """The last column of each of `count` lines: evenly filled, few routes cut."""
    n = len(columns)
    width = (columns[-1][1] - columns[0][0]) / count
    best: dict[tuple[int, int], tuple[float, list[int]]] = {(0, 0): (0.0, [])}
    for line in range(1, count + 1):
        for end in range(line, n + 1):
            ways = []
            for start in range(line - 1, end):
                known = best.get((line - 1, start))
                wide = columns[end - 1][1] - columns[start][0]
                beside = _beside(crossings[end - 1] if end < n else 0, crossings[start - 1] if start else 0)
                if known is not None:
                    cost = known[0] + (wide + beside) ** 2 / width + (CROSSED * crossings[end - 1] if end < n else 0.0)
                    ways.append((cost, [*known[1], end - 1]))
            if ways:
                best[line, end] = min(ways)
    return best[count, n][1]


def _beside(leaving: int, entering: int) -> float:
    """Room that the ways to and from other lines need beside a line."""
    return (OUT + STEP * leaving if leaving else 0.0) + (INDENT + STEP * entering if entering else 0.0)


def _lines(
    columns: Sequence[tuple[float, float]], ends: Sequence[int], placed: Placed, boxes: Sequence[Box]
) -> list[_Line]:
    starts = [0, *(end + 1 for end in ends[:-1])]
    lines = [_Line(columns[a][0], columns[b][1]) for a, b in zip(starts, ends, strict=True)]
    for x0, y0, x1, y1 in boxes:
        for line in lines:
            if line.left <= (x0 + x1) / 2 <= line.right:
                line.top, line.bottom = min(line.top, y0), max(line.bottom, y1)
    for routes in (placed.routes, placed.back):
        for route in routes.values():
            for x, y in route:
                line = lines[_line_of(lines, x)]
                line.top, line.bottom = min(line.top, y), max(line.bottom, y)
    for line, after in pairwise(lines):
        line.heights = _heights(placed, line.right)
        for height in line.heights:  # they enter the next line at this height too
            after.top, after.bottom = min(after.top, height), max(after.bottom, height)
    return lines


def _line_of(lines: Sequence[_Line], x: float) -> int:
    """The line of an x of the unbroken picture; the gap behind a line belongs to the next one."""
    return bisect_left([line.right for line in lines[:-1]], x)


def _stack(lines: Sequence[_Line]) -> float:
    """Move the lines under each other; the height of all."""
    low = lines[0].bottom
    for before, line in pairwise(lines):
        before.channel = low + ROOM
        line.dx = lines[0].left - line.left
        line.dy = before.channel + STEP * max(len(before.heights) - 1, 0) + ROOM - line.top
        low = line.bottom + line.dy
    return low - lines[0].top


def _moved(placed: Placed, lines: Sequence[_Line]) -> Placed:
    found = Placed(name=placed.name, note=placed.note)
    for node, (x, y) in placed.positions.items():
        line = lines[_line_of(lines, x)]
        found.positions[node] = (x + line.dx, y + line.dy)
    found.routes = {key: _route(route, lines) for key, route in placed.routes.items()}
    found.back = {key: _route(route[::-1], lines)[::-1] for key, route in placed.back.items()}
    return found


def _route(points: Sequence[Point], lines: Sequence[_Line]) -> list[Point]:
    """A route from left to right, with its way back to the left wherever a line ends."""
    first = _line_of(lines, points[0][0])
    last = max(_line_of(lines, points[-1][0]), first)
    found: list[Point] = []
    rest, entry = list(points), 0  # behind a break its first point is where the route was cut, and is not drawn
    for number in range(first, last):
        line, after = lines[number], lines[number + 1]
        y = _height(rest, line.right)
        found += [(x + line.dx, v + line.dy) for x, v in rest[entry:] if x <= line.right]
        rest, entry = [(line.right, y), *(point for point in rest if point[0] > line.right)], 1
        place = min(range(len(line.heights)), key=lambda i: abs(line.heights[i] - y))
        inner = len(line.heights) - 1 - place
        right, left = line.right + line.dx + OUT + STEP * inner, after.left + after.dx - INDENT - STEP * place
        channel = line.channel + STEP * inner
        found += [(line.right + line.dx, y + line.dy), (right, y + line.dy), (right, channel), (left, channel)]
        found.append((left, y + after.dy))
    found += [(x + lines[last].dx, v + lines[last].dy) for x, v in rest[entry:]]
    return clean(found)
