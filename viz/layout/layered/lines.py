"""A chain too long for a screen, broken into lines like text: a layered picture cut between columns, line under line.

The cuts are chosen in the unbroken picture; then each line is laid out on its own, so that it is as high as its
contents.  A route to a later line leaves at the right, runs back under its line and down the left margin past the lines
between, and enters the line of its target, unless there is a shorter way (`turns`); routes from one source share their
way.  A group that continues in the next line has a box in each, open where it is cut.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, permutations

import numpy as np

from ..sheet import Box, Piece, Point, Size, around, clean
from . import turns
from .ranked_graph import LANE
from .turns import INDENT, OUT, PAIR, STEP, LineRoute, Over

MOST = 8
"""The most lines: beyond, the whole cannot be seen anyway, and a single line is easier to follow."""
MOST_OF_BOXES = 12
"""The same for a row of boxes, the parts of a model, of which three or four fill a line."""
MOST_COLUMNS = 80
"""The most columns for which breaks are searched: the cost is quadratic in their number."""
CROSSED = 45.0
"""Cost of a route across a break, in units of saved width."""
CUT = 260.0
"""Cost of cutting the box of a group."""
WIDER = 50.0
"""Cost of each unit of width above the limit."""
HAIR = 0.01
"""Extra width of a column: the ends of routes are computed in another order, and rounded differently."""
ROOM = 9.0
"""Distance between a line and the routes under it, and between these and the next line."""


def numbers(
    piece: Piece, size: Callable[[Hashable], Size], limit: float, most: int, earlier: Mapping[Hashable, int]
) -> dict[Hashable, int]:
    """The line of each node, with as few lines as fit into `limit`, or as narrow as `most` make it; empty for one line.

    `earlier` are the lines of nodes in a picture that this one should resemble.
    """
    boxes = {node: _box(centre, size(node)) for node, centre in piece.at.items()}
    columns = _columns(boxes.values(), [box for one in piece.boxes.values() for box in one])
    ends = _as_earlier(columns, boxes, earlier) if earlier else _breaks(piece, columns, limit, most)
    if len(ends) < 2:
        return {}
    rights = [columns[end][1] for end in ends[:-1]]
    return {node: bisect_left(rights, x) for node, (x, _) in piece.at.items()}


def _as_earlier(columns: Sequence[Point], boxes: Mapping[Hashable, Box], earlier: Mapping[Hashable, int]) -> list[int]:
    """The last columns of lines with the same contents as before; a group that was cut is, if folded, in its first."""
    rights = [right for _, right in columns]
    line: dict[int, int] = {}
    for node, box in boxes.items():
        if node in earlier:
            column = bisect_left(rights, (box[0] + box[2]) / 2)
            line[column] = min(line.get(column, earlier[node]), earlier[node])
    ends, last = [], None
    for column in range(len(columns)):
        now = max(line.get(column, -1), last if last is not None else -1)
        if last is not None and now > last:
            ends.append(column - 1)
        last = now
    return [*ends, len(columns) - 1]


def _breaks(piece: Piece, columns: Sequence[Point], limit: float, most: int) -> list[int]:
    best = [len(columns) - 1]
    if piece.box[2] - piece.box[0] <= limit or not 1 < len(columns) <= MOST_COLUMNS:
        return best
    least = float("inf")
    crossings = [len(_heights(piece, right)) for _, right in columns]
    cuts = [sum(b[0] < right < b[2] for one in piece.boxes.values() for b in one) for _, right in columns]
    costs = [CROSSED * crossed + CUT * cut for crossed, cut in zip(crossings, cuts, strict=True)]
    widths = _widths(columns, crossings)
    for count in range(1, min(most, len(columns)) + 1):
        ends = _ends(widths, columns, costs, count, limit)
        wide = _width(columns, crossings, ends)
        if wide < least - 1.0:
            best, least = ends, wide
        if wide <= limit:
            break
    return best


def _width(columns: Sequence[Point], crossings: Sequence[int], ends: Sequence[int]) -> float:
    """The width of the widest line, with the routes beside it."""
    last = len(columns) - 1
    return max(
        columns[b][1] - columns[a + 1][0] + _beside(crossings[b] if b < last else 0, crossings[a] if a >= 0 else 0)
        for a, b in pairwise([-1, *ends])
    )


def _box(centre: Point, size: Point) -> Box:
    (x, y), (w, h) = centre, size
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def _columns(boxes: Iterable[Box], groups: Iterable[Box]) -> list[Point]:
    """(left, right) of each column, with the borders of groups beside it."""
    columns: list[tuple[float, float]] = []
    for x0, _, x1, _ in sorted(boxes):
        if columns and x0 < columns[-1][1]:
            columns[-1] = (columns[-1][0], max(columns[-1][1], x1))
        else:
            columns.append((x0, x1))
    lefts, rights = [x0 for x0, _ in columns], [x1 for _, x1 in columns]
    for x0, _, x1, _ in groups:
        first, last = bisect_right(rights, x0), bisect_left(lefts, x1) - 1
        columns[first] = (min(columns[first][0], x0), columns[first][1])
        columns[last] = (columns[last][0], max(columns[last][1], x1))
    return [(x0, x1 + HAIR) for x0, x1 in columns]


def _heights(piece: Piece, x: float) -> list[float]:
    """The heights at which routes cross a border between columns, from top to bottom; shared routes count once."""
    both = (points for pair in piece.routes.values() for points in pair)
    return sorted({round(_height(points, x), 1) for points in both if points[0][0] <= x < points[-1][0]})


def _height(points: Sequence[Point], x: float) -> float:
    after = next(i for i, point in enumerate(points) if point[0] > x)
    (ax, ay), (bx, by) = points[max(after - 1, 0)], points[after]
    return ay + (by - ay) * (x - ax) / (bx - ax)


def _widths(columns: Sequence[Point], crossings: Sequence[int]) -> np.ndarray:
    """The width of a line from one column (a row of the matrix) to another one, infinite where that is before it."""
    cut = crossings[:-1]
    lefts = [left - _beside(0, entering) for (left, _), entering in zip(columns, [0, *cut], strict=True)]
    rights = [right + _beside(leaving, 0) for (_, right), leaving in zip(columns, [*cut, 0], strict=True)]
    wide = np.subtract.outer(rights, lefts).T
    wide[np.tril_indices(len(columns), -1)] = np.inf
    return wide


def _ends(wide: np.ndarray, columns: Sequence[Point], costs: Sequence[float], count: int, limit: float) -> list[int]:
    """The last column of each of `count` lines: no wider than the limit, evenly filled, few routes and groups cut."""
    n = len(columns)
    uneven = wide * wide / ((columns[-1][1] - columns[0][0]) / count)
    cut = np.array([*costs[:-1], 0.0])
    beyond = WIDER * np.maximum(wide - limit, 0.0)
    best = np.array([0.0] + [np.inf] * n)  # what the first columns cost in so many lines, by their number
    firsts = []
    for _ in range(count):
        ways = best[:-1, None] + uneven + cut + beyond
        first = ways.argmin(axis=0)
        firsts.append(first)
        best = np.array([np.inf, *ways[first, range(n)]])
    ends = [n - 1]
    for first in firsts[:0:-1]:
        ends.append(int(first[ends[-1]]) - 1)
    return ends[::-1]


def _beside(leaving: int, entering: int) -> float:
    """The width that routes to and from other lines need beside a line; each pair has two."""
    return (OUT + STEP * leaving / 2 if leaving else 0.0) + (INDENT + STEP * entering / 2 if entering else 0.0)


def sides(
    line: int, over: Sequence[Over], pieces: Sequence[Piece], parts: Sequence[Mapping[Hashable, int]]
) -> list[tuple[Hashable, Hashable]]:
    """Pairs of ports at the borders of a line of which the first one should be above the other, or routes cross.

    First come the routes to the nearer line, and among these the ones that leave higher, or whose part is higher
    (`parts`, by line and edge): so the routes are nested.
    """
    ins: dict[Hashable, tuple[float, ...]] = {}
    outs: dict[Hashable, tuple[float, ...]] = {}
    for key, origin, a, b in over:
        if b == line and a < len(pieces):
            ins.setdefault(("in", origin), (-a, pieces[a].routes[key][0][-1][1]))
        if a == line:
            outs[("out", origin)] = max(outs.get(("out", origin), (0, 0)), (b, parts[b][key]))
    return [(one, other) for side in (ins, outs) for one, other in permutations(side, 2) if side[one] < side[other]]


def stacked(
    pieces: Sequence[Piece], over: Sequence[Over], origins: Mapping[Hashable, Hashable],
    size: Callable[[Hashable], Size], under: Callable[[Hashable], float],
) -> Piece:  # fmt: skip
    """Lines one below the other, with the routes between them; `origins` has that of each edge.

    Routes keep the distance `under` below a node.
    """
    ways = _ways(pieces, over)
    left = {way.first for way in ways.values()}
    pieces = [_deepened(piece, size, under) if i in left else piece for i, piece in enumerate(pieces)]
    result, tops = Piece(), _tops(pieces, ways)
    rows = [piece.moved(0.0, top) for piece, top in zip(pieces, tops, strict=True)]
    for piece in rows:
        piece.reach(-INDENT, piece.box[2])
    ways = turns.with_turns(ways, rows, over, origins, size)
    halves = [dict(piece.routes) for piece in rows]
    joined = {
        key: tuple(
            _route_between(halves[a][key][side], halves[b][key][side], ways[origin, a], b, rows[a].box[3], side)
            for side in (0, 1)
        )
        for key, origin, a, b in over
    }  # fmt: skip
    for piece in rows:
        boxes = {group: [*result.boxes.get(group, ()), *own] for group, own in piece.boxes.items()}
        result.take(piece)
        result.boxes.update(boxes)
    result.routes.update(joined)  # type: ignore[arg-type]  # two sides each
    result.ins, result.outs, result.entering, result.leaving = {}, {}, set(), set()
    points = [(x, y - LANE / 2, x, y + LANE / 2) for pair in result.routes.values() for way in pair for x, y in way]
    result.box = around([*(piece.box for piece in rows), *points])
    return result


def _deepened(piece: Piece, size: Callable[[Hashable], Size], under: Callable[[Hashable], float]) -> Piece:
    """A line, deep enough that the routes under it keep their distance from its nodes."""
    x0, y0, x1, y1 = piece.box
    deep = (y + size(node)[1] / 2 + under(node) - ROOM for node, (_, y) in piece.at.items())
    return replace(piece, box=(x0, y0, x1, max(y1, *deep)))


def _ways(pieces: Sequence[Piece], over: Sequence[Over]) -> turns.LineRoutes:
    """The ways by origin and line.  Short ways run inside long ones; of two equally long ones, the one that leaves
    higher is inside, so that none cross."""
    ways: turns.LineRoutes = {}
    for key, origin, a, b in over:
        way = ways.get((origin, a)) or LineRoute(a, b, pieces[a].routes[key][0][-1][1])
        ways[origin, a] = replace(way, last=max(way.last, b))
    ways_by_slot: dict[int, list[LineRoute]] = defaultdict(list)
    by_length = sorted(ways, key=lambda one: (ways[one].last - ways[one].first, ways[one].first, ways[one].height))
    for one, way in ((one, ways[one]) for one in by_length):
        slot = next(
            slot for slot in range(len(ways))
            if not any(max(way.first, w.first) < min(way.last, w.last) for w in ways_by_slot[slot])
        )  # fmt: skip
        ways[one] = replace(way, slot=slot)
        ways_by_slot[slot].append(way)
    for line in range(len(pieces)):
        for place, one in enumerate(sorted((one for one in ways if one[1] == line), key=lambda one: -ways[one].slot)):
            ways[one] = replace(ways[one], place=place)
    return ways


def _tops(pieces: Sequence[Piece], ways: turns.LineRoutes) -> list[float]:
    """The y of the top of each line."""
    tops = [-pieces[0].box[1]]
    for number, (before, piece) in enumerate(pairwise(pieces)):
        count = sum(way.first == number for way in ways.values())
        between = 2 * ROOM + (PAIR + STEP * (count - 1) if count else 0.0)
        tops.append(tops[-1] + before.box[3] + between - piece.box[1])
    return tops


def _route_between(
    start: Sequence[Point], end: Sequence[Point], way: LineRoute, line: int, bottom: float, side: int
) -> list[Point]:
    """A route to another line: of values (`side` 0), or of gradients (1), which runs above it and inside it."""
    into = way.into if line == way.first + 1 else way.margin
    right, left = way.out + (PAIR if side == 0 else 0.0), into - (PAIR if side == 1 else 0.0)
    back = way.out < into  # then the gradient's route is the outer one of the two
    channel = bottom + ROOM + STEP * way.place + (PAIR if (side == 0) != back else 0.0)
    return clean([*turns.leaving(start, right), (right, channel), (left, channel), *turns.entering(end, left)])
