"""One group's columns: its vertices and the lanes of the edges between them, as the layered layout ranks them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import pairwise

from .ranked import LANE, Ranked

Point = tuple[float, float]
Size = tuple[float, float]

COLUMN_GAP = 36.0
WIDEST_GAP = 52.0
LEVEL, SLOPE = 60.0, 0.12
"""A climb up to which the gap is enough, and how much wider it gets past that."""
PORT_GAP = 24.0
PAD = 14.0


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
        """A lane in each rank that an edge passes; edges of one origin from one vertex share them."""
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

    def ranked(self, heights: list[float], heavy: list[tuple[int, int, Hashable]]) -> Ranked:
        lanes = range(len(self.vertices), len(self.ranks))
        ports = range(self.members, len(self.vertices))
        level = [pair for a, b, origin in heavy for pair in pairwise([a, *self.way(a, origin, b), b])]
        return Ranked(
            tuple(self.ranks), (*heights, *(LANE for _ in lanes)), frozenset((*ports, *lanes)), tuple(self.edges),
            frozenset(level),
        )  # fmt: skip

    def widen(
        self, y: list[float], sizes: list[Size], nominal: list[Size], holds: list[float], part: list[int]
    ) -> None:
        """Move the neighbours of open groups apart, in their own ranks only; a group stays where it is held."""
        grown = [i for i in part if i < len(sizes) and sizes[i][1] != nominal[i][1]]
        up = {i: holds[i] - nominal[i][1] / 2 for i in grown}
        down = {i: sizes[i][1] - holds[i] - nominal[i][1] / 2 for i in grown}
        ranks: dict[int, list[int]] = defaultdict(list)
        for i in part if grown else ():
            ranks[self.ranks[i]].append(i)
        for layer in {self.ranks[i] for i in grown}:
            nodes = sorted(ranks[layer], key=lambda i: y[i])
            moved: dict[int, float] = {}
            so_far = 0.0
            for i in nodes:
                so_far += up.get(i, 0.0)
                moved[i] = so_far
                so_far += down.get(i, 0.0)
            here = [moved[i] for i in nodes if i in up]
            middle = sum(here) / len(here)
            for i in nodes:
                y[i] += moved[i] - middle + (sizes[i][1] / 2 - holds[i] if i in up else 0.0)

    def columns(self, sizes: list[Size], y: list[float], framed: bool) -> list[tuple[float, float]]:
        """(left, right) of each rank's column; where routes climb far, there is more room between two."""
        climb = [0.0] * (max(self.ranks, default=-1) + 1)
        for a, b in self.edges:
            climb[self.ranks[a]] = max(climb[self.ranks[a]], abs(y[a] - y[b]))
        widths = [0.0] * (max(self.ranks, default=-1) + 1)
        for i, (w, _) in enumerate(sizes):
            widths[self.rank[i]] = max(widths[self.rank[i]], w)
        columns: list[tuple[float, float]] = []
        has_in = framed and any(i >= self.members and v[0] == "in" for i, v in enumerate(self.vertices))  # type: ignore[index]
        has_out = framed and any(i >= self.members and v[0] == "out" for i, v in enumerate(self.vertices))  # type: ignore[index]
        x = PAD if framed and not has_in else 0.0
        for rank, width in enumerate(widths):
            columns.append((x, x + width))
            near_port = (rank == 0 and has_in) or (rank == len(widths) - 2 and has_out)
            gap = min(COLUMN_GAP + SLOPE * max(climb[rank] - LEVEL, 0.0), WIDEST_GAP)
            x += width + (PORT_GAP if near_port else gap)
        if framed and not has_out and columns:
            right = columns[-1][1]
            columns.append((right + PAD, right + PAD))
        return columns


def clean(points: list[Point]) -> list[Point]:
    """Without points that repeat or lie on the line between their neighbours."""
    kept: list[Point] = []
    for point in points:
        if kept and abs(kept[-1][0] - point[0]) < 0.01 and abs(kept[-1][1] - point[1]) < 0.01:
            continue
        if len(kept) > 1 and abs(kept[-1][1] - point[1]) < 0.01 and abs(kept[-2][1] - point[1]) < 0.01:
            kept[-1] = point
            continue
        kept.append(point)
    return kept
