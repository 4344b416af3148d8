"""The layered layout's plain data: nodes in ranks, with sizes, and edges between neighbouring ranks only.

A `RankedGraph` graph is small, has integers as names and can be written as JSON, so that a worker process can place it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

GAP = 22.0
"""Distance between two boxes of a rank, in layout units."""
LANE_GAP = 4.0
LOW, LOW_GAP = 40.0, 12.0
"""A box up to this height, such as a stub, may be this close to the next."""
LANE = 14.0
"""Height of the lane in which an edge passes through a rank."""

Step = tuple[Hashable, Hashable, Hashable]
"""From vertex to vertex of a group: (from, to, origin)."""


@dataclass(frozen=True)
class RankedGraph:
    """`ranks` and `heights` by node; `lanes` are the nodes that only keep room for an edge; `edges` span one rank.

    The edges in `level` should run level before all others.  `arguments` has, for each op with several, the nodes that
    they come from: all in one rank, and best in that order from top to bottom.  `sides` are pairs in one rank of which
    the first one must be above the other, because the edges that begin or end there would cross.
    """

    ranks: tuple[int, ...]
    heights: tuple[float, ...]
    lanes: frozenset[int]
    edges: tuple[tuple[int, int], ...]
    level: frozenset[tuple[int, int]] = frozenset()
    arguments: tuple[tuple[int, ...], ...] = ()
    sides: tuple[tuple[int, int], ...] = ()

    @cached_property
    def layers(self) -> list[list[int]]:
        layers: list[list[int]] = [[] for _ in range(max(self.ranks, default=-1) + 1)]
        for node, rank in enumerate(self.ranks):
            layers[rank].append(node)
        return layers

    @cached_property
    def neighbours(self) -> tuple[dict[int, list[int]], dict[int, list[int]]]:
        """Sources and targets of each node."""
        before: dict[int, list[int]] = defaultdict(list)
        after: dict[int, list[int]] = defaultdict(list)
        for source, target in self.edges:
            after[source].append(target)
            before[target].append(source)
        return before, after

    def components(self) -> list[list[int]]:
        """The connected parts, each in order, sorted by their first nodes."""
        before, after = self.neighbours
        seen = [False] * len(self.ranks)
        parts: list[list[int]] = []
        for first in range(len(self.ranks)):
            if seen[first]:
                continue
            seen[first], todo, part = True, [first], []
            while todo:
                node = todo.pop()
                part.append(node)
                for other in (*before.get(node, ()), *after.get(node, ())):
                    if not seen[other]:
                        seen[other] = True
                        todo.append(other)
            parts.append(sorted(part))
        return parts

    def part(self, nodes: Sequence[int]) -> RankedGraph:
        """The graph of some nodes, numbered from 0 in the given order, with its first rank as 0."""
        if len(nodes) == len(self.ranks):
            return self
        number = {node: i for i, node in enumerate(nodes)}
        low = min(self.ranks[node] for node in nodes)
        _, after = self.neighbours
        edges = [(node, target) for node in nodes for target in after.get(node, ())]
        return RankedGraph(
            tuple(self.ranks[node] - low for node in nodes),
            tuple(self.heights[node] for node in nodes),
            frozenset(number[node] for node in nodes if node in self.lanes),
            tuple((number[a], number[b]) for a, b in edges),
            frozenset((number[a], number[b]) for a, b in edges if (a, b) in self.level),
            tuple(tuple(map(number.__getitem__, order)) for order in self.arguments if order[0] in number),
            tuple((number[a], number[b]) for a, b in self.sides if a in number and b in number),
        )

    def is_low(self, node: int) -> bool:
        return node not in self.lanes and self.heights[node] <= LOW

    def distance(self, upper: int, lower: int) -> float:
        """The least distance between the centres of two neighbours in a rank."""
        if upper in self.lanes and lower in self.lanes:
            return self.heights[upper] / 2 + self.heights[lower] / 2 + LANE_GAP
        gap = LOW_GAP if self.is_low(upper) or self.is_low(lower) else GAP
        return (self.heights[upper] + self.heights[lower]) / 2 + gap


def ranks(
    count: int, edges: Sequence[tuple[int, int]], first: Sequence[int] = (), last: Sequence[int] = ()
) -> list[int]:
    """Ranks by longest path; a node without sources moves next to its nearest target.

    `first` and `last` are put before and after all others of their part: an edge that leaves the part must not pass its
    last column, where the border of a group may be.  Raises ValueError if the edges have a cycle.
    """
    after: dict[int, list[int]] = defaultdict(list)
    missing = [0] * count
    for source, target in edges:
        after[source].append(target)
        missing[target] += 1
    fresh = [n for n in range(count) if missing[n] == 0]
    sources = set(fresh)
    rank = [0] * count
    order: list[int] = []
    while fresh:
        node = fresh.pop()
        order.append(node)
        for target in after[node]:
            rank[target] = max(rank[target], rank[node] + 1)
            missing[target] -= 1
            if missing[target] == 0:
                fresh.append(target)
    if len(order) != count:
        raise ValueError("the graph has a cycle: layers need an order")
    for node in sources.difference(first):
        if after[node]:
            rank[node] = min(rank[target] for target in after[node]) - 1
    before, behind = set(first), set(last)
    for part in _parts(count, after):
        inner = [rank[n] for n in part if n not in before and n not in behind] or [0]
        for node in part:
            if node in before:
                rank[node] = min(inner) - 1
            elif node in behind:
                rank[node] = max(inner) + 1
    base = min(rank, default=0)
    return [r - base for r in rank]


def _parts(count: int, after: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """The connected parts, each a list of nodes."""
    root = list(range(count))

    def top(node: int) -> int:
        while root[node] != node:
            root[node] = root[root[node]]
            node = root[node]
        return node

    for source, targets in after.items():
        for target in targets:
            root[top(target)] = top(source)
    parts: dict[int, list[int]] = defaultdict(list)
    for node in range(count):
        parts[top(node)].append(node)
    return list(parts.values())


def spread(targets: Sequence[float], gaps: Sequence[float]) -> list[float]:
    """The positions nearest to `targets` (least squares) in this order, with neighbours at least `gaps` apart.

    Pool-adjacent-violators: linear, exact.

    >>> spread([0.0, 0.0], [10.0])
    [-5.0, 5.0]
    """
    offsets = [0.0]
    for gap in gaps:
        offsets.append(offsets[-1] + gap)
    pools: list[list[float]] = []
    for place, offset in zip(targets, offsets, strict=True):
        pools.append([place - offset, 1.0])
        while len(pools) > 1 and pools[-2][0] >= pools[-1][0]:
            total, n = pools.pop()
            mean, m = pools[-1]
            pools[-1] = [(mean * m + total * n) / (m + n), m + n]
    places = [mean for mean, n in pools for _ in range(int(n))]
    return [place + offset for place, offset in zip(places, offsets, strict=True)]


def separated(graph: RankedGraph, layers: Sequence[Sequence[int]], targets: Sequence[float]) -> list[float]:
    """Positions as near to `targets` as the order within each rank and the sizes allow."""
    positions = list(targets)
    for layer in layers:
        gaps = [graph.distance(a, b) for a, b in pairwise(layer)]
        for node, y in zip(layer, spread([targets[n] for n in layer], gaps), strict=True):
            positions[node] = y
    return positions


def crossings(graph: RankedGraph, layers: list[list[int]]) -> int:
    """The number of edge crossings between neighbouring ranks (inversions, counted with a binary tree)."""
    place = {node: i for layer in layers for i, node in enumerate(layer)}
    _, after = graph.neighbours
    total = 0
    for rank, layer in enumerate(layers[:-1]):
        size = len(layers[rank + 1])
        if size < 2 or len(layer) < 2:
            continue
        tree, seen = [0] * (size + 1), 0
        for node in layer:
            ends = sorted(place[t] for t in after.get(node, ()))
            for end in ends:
                i, smaller = end + 1, 0
                while i:
                    smaller += tree[i]
                    i &= i - 1
                total += seen - smaller
            for end in ends:
                i = end + 1
                while i <= size:
                    tree[i] += 1
                    i += i & -i
                seen += 1
    return total


def longest(steps: list[Step], start: Hashable | None, end: Hashable | None) -> list[Step]:
    """The steps of the longest path, from `start` to `end` if these are given and joined; the first of equal ones."""
    after: dict[Hashable, list[Step]] = defaultdict(list)
    missing: dict[Hashable, int] = defaultdict(int)
    for step in dict.fromkeys(steps):
        after[step[0]].append(step)
        missing[step[1]] += 1
    length: dict[Hashable, int] = {}
    came: dict[Hashable, Step] = {}
    begin = start if start in after else None
    fresh = [u for u in after if not missing[u]]
    while fresh:
        u = fresh.pop()
        if begin is None or u == begin:
            length.setdefault(u, 0)
        for step in after[u]:
            v = step[1]
            if u in length and length[u] + 1 > length.get(v, 0):
                length[v], came[v] = length[u] + 1, step
            missing[v] -= 1
            if missing[v] == 0:
                fresh.append(v)
    last = end if end in came else max(length, key=lambda v: length[v], default=None)
    way: list[Step] = []
    while last in came:
        way.append(came[last])
        last = came[last][0]
    return way[::-1]
