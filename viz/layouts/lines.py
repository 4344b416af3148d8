"""A chain too long for a screen, in lines as text is: a layered picture cut between columns, line under line.

Within a line everything stays as the layered layout has it.  What goes on in the next line leaves at the right, runs
back between the lines and enters at the left; these ways are nested, so that none crosses another.  A group that goes
on in the next line has a box in each, which is open where it is cut.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .ranked import LANE
from .sheet import HEAD, PAD, Box, Piece, Point, Size, around, clean, moved

MOST = 8
"""Lines at most: past that one cannot see the whole anyway, and a ribbon is followed more easily."""
MOST_COLUMNS = 80
"""Columns up to which breaks are looked for: it takes the square of their number."""
CROSSED = 45.0
"""What a route over a break costs, against the width that it saves."""
CUT = 260.0
"""What it costs to cut the box of a group."""
WIDER = 50.0
"""What it costs to be wider than the limit by one unit."""
HAIR = 0.01
"""By so much a column is wider than what stands in it: ends of routes are computed in another order, and rounded so."""
INDENT = 28.0
OUT = 14.0
STEP = 9.0
"""Between ways that run side by side from line to line."""
PAIR, CLOSE = 5.0, 16.5
"""The same between those of a value and of its gradient, which leave so close to each other."""
ROOM = 11.0
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
    boxes: dict[Hashable, Box] = field(default_factory=dict)
    """What is seen of groups in this line."""

    def hold(self, top: float, bottom: float) -> None:
        self.top, self.bottom = min(self.top, top), max(self.bottom, bottom)


def broken(
    piece: Piece, size: Callable[[Hashable], Size], within: Mapping[Hashable, Hashable | None],
    groups: Mapping[Hashable, Hashable | None], limit: float, wanted: Mapping[Hashable, int],
) -> tuple[Piece, dict[Hashable, int]]:  # fmt: skip
    """A piece in as few lines as are no wider than `limit`, or as narrow as they get; and the line of each node.

    `wanted` are the lines of nodes in a picture that this one is to resemble.  `within` has the group around each
    group, outer ones first, `groups` that of each node.
    """
    boxes = {node: _box(centre, size(node)) for node, centre in piece.at.items()}
    columns = _columns(boxes.values(), [box for one in piece.boxes.values() for box in one])
    ends = _as_wanted(columns, boxes, wanted) if wanted else _breaks(piece, columns, boxes, limit)
    if len(ends) < 2:
        return piece, {}
    lines = _lines(columns, ends, piece, boxes)
    _cut(piece, lines, boxes, within, groups)
    _stack(lines)
    return _moved(piece, boxes, lines), {node: _line_of(lines, x) for node, (x, _) in piece.at.items()}


def _as_wanted(columns: Sequence[Point], boxes: Mapping[Hashable, Box], wanted: Mapping[Hashable, int]) -> list[int]:
    """The last columns of lines that hold what they held before; a group that was cut is, when folded, in its first."""
    rights = [right for _, right in columns]
    line: dict[int, int] = {}
    for node, box in boxes.items():
        if node in wanted:
            column = bisect_left(rights, (box[0] + box[2]) / 2)
            line[column] = min(line.get(column, wanted[node]), wanted[node])
    ends, last = [], None
    for column in range(len(columns)):
        now = max(line.get(column, -1), last if last is not None else -1)
        if last is not None and now > last:
            ends.append(column - 1)
        last = now
    return [*ends, len(columns) - 1]


def _breaks(piece: Piece, columns: Sequence[Point], boxes: Mapping[Hashable, Box], limit: float) -> list[int]:
    best = [len(columns) - 1]
    if piece.box[2] - piece.box[0] <= limit or not 1 < len(columns) <= MOST_COLUMNS:
        return best
    least = float("inf")
    crossings = [len(_heights(piece, right)) for _, right in columns]
    cuts = [sum(b[0] < right < b[2] for one in piece.boxes.values() for b in one) for _, right in columns]
    costs = [CROSSED * crossed + CUT * cut for crossed, cut in zip(crossings, cuts, strict=True)]
    for count in range(1, min(MOST, len(columns)) + 1):
        ends = _ends(columns, crossings, costs, count, limit)
        wide = _width(_lines(columns, ends, piece, boxes))
        if wide < least - 1.0:
            best, least = ends, wide
        if wide <= limit:
            break
    return best


def _width(lines: Sequence[_Line]) -> float:
    """Of the widest line, with the ways beside it."""
    return max(
        line.right - line.left + _beside(len(line.heights), len(before.heights) if before else 0)
        for before, line in pairwise([None, *lines])
        if line is not None
    )


def _box(centre: Point, size: Point) -> Box:
    (x, y), (w, h) = centre, size
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def _columns(boxes: Iterable[Box], groups: Iterable[Box]) -> list[Point]:
    """(left, right) of what stands one above the other, with the borders of groups beside it."""
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
    """Where routes pass a border between columns, from top to bottom; routes that share their way count once."""
    both = (points for pair in piece.routes.values() for points in pair)
    return sorted({round(_height(points, x), 1) for points in both if points[0][0] <= x < points[-1][0]})


def _height(points: Sequence[Point], x: float) -> float:
    after = next(i for i, point in enumerate(points) if point[0] > x)
    (ax, ay), (bx, by) = points[max(after - 1, 0)], points[after]
    return ay + (by - ay) * (x - ax) / (bx - ax)


def _ends(
    columns: Sequence[Point], crossings: Sequence[int], costs: Sequence[float], count: int, limit: float
) -> list[int]:
    """The last column of each of `count` lines: no wider than the limit, evenly filled, few routes and groups cut."""
    n = len(columns)
    width = (columns[-1][1] - columns[0][0]) / count
    best: dict[tuple[int, int], tuple[float, list[int]]] = {(0, 0): (0.0, [])}
    for line in range(1, count + 1):
        for end in range(line, n + 1):
            ways = []
            for start in range(line - 1, end):
                known = best.get((line - 1, start))
                beside = _beside(crossings[end - 1] if end < n else 0, crossings[start - 1] if start else 0)
                wide = columns[end - 1][1] - columns[start][0] + beside
                if known is not None:
                    cost = known[0] + wide**2 / width + (costs[end - 1] if end < n else 0.0)
                    cost += WIDER * max(wide - limit, 0.0)
                    ways.append((cost, [*known[1], end - 1]))
            if ways:
                best[line, end] = min(ways)
    return best[count, n][1]


def _steps(heights: Sequence[float]) -> float:
    """From the first to the last of the ways that leave at these heights."""
    return sum(PAIR if below - above <= CLOSE else STEP for above, below in pairwise(heights))


def _beside(leaving: int, entering: int) -> float:
    """Room that the ways to and from other lines need beside a line."""
    return (OUT + STEP * leaving if leaving else 0.0) + (INDENT + STEP * entering if entering else 0.0)


def _lines(columns: Sequence[Point], ends: Sequence[int], piece: Piece, boxes: Mapping[Hashable, Box]) -> list[_Line]:
    starts = [0, *(end + 1 for end in ends[:-1])]
    lines = [_Line(columns[a][0], columns[b][1]) for a, b in zip(starts, ends, strict=True)]
    for x0, y0, x1, y1 in boxes.values():
        lines[_line_of(lines, (x0 + x1) / 2)].hold(y0, y1)
    for pair in piece.routes.values():
        for x, y in (*pair[0], *pair[1]):
            lines[_line_of(lines, x)].hold(y, y)
    for line, after in pairwise(lines):
        line.heights = _heights(piece, line.right)
        for height in line.heights:  # they enter the next line at this height too
            after.hold(height, height)
    return lines


def _cut(
    piece: Piece, lines: Sequence[_Line], boxes: Mapping[Hashable, Box],
    within: Mapping[Hashable, Hashable | None], groups: Mapping[Hashable, Hashable | None],
) -> None:  # fmt: skip
    """What of each group is seen in each line: of one that is cut, a box around what it has there."""
    content: dict[tuple[Hashable, int], list[Box]] = defaultdict(list)
    for node, box in boxes.items():
        content[groups[node], _line_of(lines, (box[0] + box[2]) / 2)].append(box)
    for group in [group for group in within if group in piece.boxes][::-1]:
        own = piece.boxes[group][0]
        seen = [number for number in range(len(lines)) if (group, number) in content]
        for number in seen:
            line, box = lines[number], own
            if len(seen) > 1:
                _, y0, _, y1 = around(content[group, number])
                left = own[0] if number == seen[0] else line.left - PAD
                right = own[2] if number == seen[-1] else line.right + PAD
                box = (left, y0 - (HEAD if number == seen[0] else PAD), right, y1 + PAD)
            line.boxes[group] = box
            line.hold(box[1], box[3])
            content[within[group], number].append(box)


def _line_of(lines: Sequence[_Line], x: float) -> int:
    """The line of an x of the unbroken picture; the gap behind a line belongs to the next one."""
    return bisect_left([line.right for line in lines[:-1]], x)


def _stack(lines: Sequence[_Line]) -> None:
    """Move the lines under each other."""
    low = lines[0].bottom
    for before, line in pairwise(lines):
        before.channel = low + ROOM
        line.dx = lines[0].left - line.left
        line.dy = before.channel + _steps(before.heights) + ROOM - line.top
        low = line.bottom + line.dy


def _moved(piece: Piece, boxes: Mapping[Hashable, Box], lines: Sequence[_Line]) -> Piece:
    found = Piece(ins=piece.ins, entering=piece.entering, leaving=piece.leaving)
    for node, (x, y) in piece.at.items():
        line = lines[_line_of(lines, x)]
        found.at[node] = (x + line.dx, y + line.dy)
    for group in piece.boxes:
        found.boxes[group] = [
            moved(line.boxes[group], line.dx, line.dy) for line in lines if group in line.boxes
        ]  # fmt: skip
    found.routes = {key: (_route(go, lines), _route(back, lines)) for key, (go, back) in piece.routes.items()}
    corners = [_box(found.at[node], (box[2] - box[0], box[3] - box[1])) for node, box in boxes.items()]
    corners += [box for one in found.boxes.values() for box in one]
    corners += [(x, y - LANE / 2, x, y + LANE / 2) for pair in found.routes.values() for way in pair for x, y in way]
    found.box = around(corners)
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
        inner, outer = _steps(line.heights[place:]), _steps(line.heights[: place + 1])
        right, left = line.right + line.dx + OUT + inner, after.left + after.dx - INDENT - outer
        channel = line.channel + inner
        found += [(line.right + line.dx, y + line.dy), (right, y + line.dy), (right, channel), (left, channel)]
        found.append((left, y + after.dy))
    found += [(x + lines[last].dx, v + lines[last].dy) for x, v in rest[entry:]]
    return clean(found)
