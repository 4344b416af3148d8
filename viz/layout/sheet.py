"""One group's columns: its vertices and the lanes of the edges between them, as the layered layout ranks them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from .layered.ranked_graph import GAP, LANE, LANE_GAP, RankedGraph, spread

Point = tuple[float, float]
Size = tuple[float, float]
Box = tuple[float, float, float, float]

COLUMN_GAP = 36.0
WIDEST_GAP = 52.0
LEVEL, SLOPE = 60.0, 0.12
"""The highest climb for which the normal gap is enough, and how much wider the gap becomes for each unit above that."""
FAR = 200.0
"""Extra width of a column above which its vertices stand at one of its borders, not in the middle."""
PORT_GAP = 24.0
PAD = 14.0
HEAD = 34.0


@dataclass(slots=True)
class Sheet:
    """A group's vertices (members first, then ports) and the lanes of the edges between them."""

    vertices: list[Hashable]
    members: int
    rank: list[int]
    ranks: list[int] = field(default_factory=list)
    lane: dict[tuple[int, Hashable], list[int]] = field(default_factory=dict)
    edges: dict[tuple[int, int], None] = field(default_factory=dict)

    def chains(self, ends: list[tuple[int, int]], origins: list[Hashable]) -> None:
        """A lane in each rank that an edge passes through; edges of one origin from one vertex share lanes."""
        self.ranks = list(self.rank)
        for (a, b), origin in zip(ends, origins, strict=True):
            chain = self.lane.setdefault((a, origin), [])
            need = self.rank[b] - self.rank[a] - 1
            while len(chain) < need:
                before = chain[-1] if chain else a
                self.ranks.append(self.rank[a] + len(chain) + 1)
                chain.append(len(self.ranks) - 1)
                self.edges[before, chain[-1]] = None
            self.edges[chain[need - 1] if need > 0 else a, b] = None

    def way(self, a: int, origin: Hashable, b: int) -> list[int]:
        return self.lane[a, origin][: self.rank[b] - self.rank[a] - 1]

    def ranked(
        self, heights: list[float], heavy: list[tuple[int, int, Hashable]], arguments: Sequence[Sequence[int]],
        sides: Sequence[tuple[int, int]],
    ) -> RankedGraph:  # fmt: skip
        lanes = range(len(self.vertices), len(self.ranks))
        ports = range(self.members, len(self.vertices))
        level = [pair for a, b, origin in heavy for pair in pairwise([a, *self.way(a, origin, b), b])]
        return RankedGraph(
            tuple(self.ranks), (*heights, *(LANE for _ in lanes)), frozenset((*ports, *lanes)), tuple(self.edges),
            frozenset(level), tuple(map(tuple, arguments)), tuple(sides),
        )  # fmt: skip

    def is_way(self, i: int) -> bool:
        """Return whether a vertex only reserves space for an edge."""
        return i >= self.members

    def widen(
        self, y: list[float], sizes: list[Size], nominal: list[Size], holds: list[float], part: list[int]
    ) -> None:
        """Move neighbours out of the way of open groups, only in their own ranks; the groups keep the held heights."""
        grown = {i for i in part if i < len(sizes) and sizes[i][1] != nominal[i][1]}
        high = {i: sizes[i][1] if i < len(sizes) else LANE for i in part}
        up = {i: holds[i] if i in grown else high[i] / 2 for i in part}
        down = {i: high[i] - up[i] for i in part}
        ranks: dict[int, list[int]] = defaultdict(list)
        for i in part if grown else ():
            ranks[self.ranks[i]].append(i)
        for layer in {self.ranks[i] for i in grown}:
            nodes = sorted(ranks[layer], key=lambda i: y[i])
            gaps = [LANE_GAP if self.is_way(a) and self.is_way(b) else GAP for a, b in pairwise(nodes)]
            apart = [down[a] + gap + up[b] for (a, b), gap in zip(pairwise(nodes), gaps, strict=True)]
            here = [place for place, i in enumerate(nodes) if i in grown]
            heights = [y[i] for i in nodes]
            levels = spread([heights[place] for place in here], [sum(apart[a:b]) for a, b in pairwise(here)])
            for place, level in zip(here, levels, strict=True):
                heights[place] = level
            for place in range(here[0], 0, -1):
                heights[place - 1] = min(heights[place - 1], heights[place] - apart[place - 1])
            for place in range(here[-1] + 1, len(nodes)):
                heights[place] = max(heights[place], heights[place - 1] + apart[place - 1])
            for before, after in pairwise(here):
                inner = range(before + 1, after)
                for place in inner:
                    heights[place] = max(heights[place], heights[place - 1] + apart[place - 1])
                for place in reversed(inner):
                    heights[place] = min(heights[place], heights[place + 1] - apart[place])
            for i, level in zip(nodes, heights, strict=True):
                y[i] = level + (high[i] / 2 - up[i])

    def columns(self, sizes: list[Size], y: list[float], part: Sequence[int]) -> dict[int, Point]:
        """(left, right) of each rank's column of a part, with more room between two if routes climb far."""
        climb: dict[int, float] = defaultdict(float)
        inside = set(part)
        for a, b in self.edges:
            if a in inside:
                climb[self.ranks[a]] = max(climb[self.ranks[a]], abs(y[a] - y[b]))
        widths = dict.fromkeys(sorted({self.ranks[i] for i in part}), 0.0)
        for i in part:
            if i < len(sizes):
                widths[self.rank[i]] = max(widths[self.rank[i]], sizes[i][0])
        ports = {self.vertices[i][0]: self.rank[i] for i in part if self.members <= i < len(sizes)}  # type: ignore[index]  # past the members stand ports
        columns: dict[int, Point] = {}
        x = 0.0
        for rank, width in widths.items():
            columns[rank] = (x, x + width)
            near_port = rank == ports.get("in") or rank + 1 == ports.get("out")
            gap = min(COLUMN_GAP + SLOPE * max(climb[rank] - LEVEL, 0.0), WIDEST_GAP)
            x += width + (PORT_GAP if near_port else gap)
        return columns

    def centres(self, sizes: list[Size], columns: dict[int, Point], part: Sequence[int]) -> dict[int, float]:
        """The positions of vertices in their columns: in the middle, or in a much wider column at one of its borders.

        That is the left border beside an open group, near the vertices' sources; the right one for those without any.
        """
        reached = {b for _, b in self.edges}
        result = {}
        for i in part:
            if i < len(sizes):
                (x0, x1), half = columns[self.rank[i]], sizes[i][0] / 2
                far = x1 - x0 > 2 * half + FAR and i < self.members
                result[i] = (x0 + x1) / 2 if not far else x0 + half if i in reached else x1 - half
        return result


@dataclass(slots=True)
class Piece:
    """A placed connected part with the contents of its groups: centres, boxes of groups, routes, and a box around it.

    Routes there and back both run from left to right.  `ins` and `outs` are the heights of ports, by origin; the edges
    `entering` come from a port at the left border, `leaving` go to one at the right: these ends lie outside the box.
    A group cut by a line has several boxes.  `inside` has the contents of groups, each with its shift, until `flat`
    adds them all here: so nothing is moved again for each group around it.
    """

    at: dict[Hashable, Point] = field(default_factory=dict)
    boxes: dict[Hashable, list[Box]] = field(default_factory=dict)
    routes: dict[Hashable, tuple[list[Point], list[Point]]] = field(default_factory=dict)
    ins: dict[Hashable, float] = field(default_factory=dict)
    outs: dict[Hashable, float] = field(default_factory=dict)
    entering: set[Hashable] = field(default_factory=set)
    leaving: set[Hashable] = field(default_factory=set)
    box: Box = (0.0, 0.0, 0.0, 0.0)
    inside: list[tuple[Piece, float, float]] = field(default_factory=list)

    def moved(self, dx: float, dy: float) -> Piece:
        """The piece, moved."""
        return Piece(
            {vertex: (x + dx, y + dy) for vertex, (x, y) in self.at.items()},
            {group: [moved(box, dx, dy) for box in boxes] for group, boxes in self.boxes.items()},
            {key: (shifted(go, dx, dy), shifted(back, dx, dy)) for key, (go, back) in self.routes.items()},
            {origin: y + dy for origin, y in self.ins.items()}, {origin: y + dy for origin, y in self.outs.items()},
            self.entering, self.leaving, moved(self.box, dx, dy),
            [(inner, x + dx, y + dy) for inner, x, y in self.inside],
        )  # fmt: skip

    def flat(self) -> Piece:
        """The piece with the contents of its groups among its own."""
        todo, self.inside = self.inside[::-1], []
        while todo:
            piece, dx, dy = todo.pop()
            inner = piece.moved(dx, dy)
            self.at.update(inner.at)
            self.boxes.update(inner.boxes)
            self.routes.update(inner.routes)
            todo += inner.inside[::-1]
        return self

    def reach(self, left: float, right: float) -> None:
        """Extend the edges that end in ports to the borders."""
        for key in self.entering:
            go, back = self.routes[key]
            self.routes[key] = clean([(left, go[0][1]), *go[1:]]), clean([(left, back[0][1]), *back[1:]])
        for key in self.leaving:
            go, back = self.routes[key]
            self.routes[key] = clean([*go[:-1], (right, go[-1][1])]), clean([*back[:-1], (right, back[-1][1])])

    def take(self, other: Piece) -> None:
        """Add the contents of another piece."""
        self.at.update(other.at)
        self.boxes.update(other.boxes)
        self.routes.update(other.routes)
        self.ins.update(other.ins)
        self.outs.update(other.outs)
        self.inside += other.inside
        self.entering |= other.entering
        self.leaving |= other.leaving


def around(boxes: Sequence[Box]) -> Box:
    """The box around some boxes."""
    return min(b[0] for b in boxes), min(b[1] for b in boxes), max(b[2] for b in boxes), max(b[3] for b in boxes)


def moved(box: Box, dx: float, dy: float) -> Box:
    return box[0] + dx, box[1] + dy, box[2] + dx, box[3] + dy


def shifted(points: Sequence[Point], dx: float, dy: float) -> list[Point]:
    return [(x + dx, y + dy) for x, y in points]


def clean(points: list[Point]) -> list[Point]:
    """The points without repetitions and without those that lie on the line between their neighbours."""
    corners: list[Point] = []
    for point in points:
        if corners and abs(corners[-1][0] - point[0]) < 0.01 and abs(corners[-1][1] - point[1]) < 0.01:
            continue
        if len(corners) > 1 and abs(corners[-1][1] - point[1]) < 0.01 and abs(corners[-2][1] - point[1]) < 0.01:
            corners[-1] = point
            continue
        corners.append(point)
    return corners
