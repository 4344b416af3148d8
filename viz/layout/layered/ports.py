"""The points at which edges attach: the row of a card, side by side at an op, the ports of an open group."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ..sheet import COLUMN_GAP, Piece, Point, Sheet, Size, clean
from .ranked_graph import LANE, LANE_GAP, spread

Part = tuple[Hashable, Hashable | None, Hashable | None, Hashable]
"""A part of an edge inside one group: (edge, from, to, origin); None is a port."""
Own = Sequence[tuple[Part, tuple[int, int]]]
"""The parts of edges inside a group, with the vertices that they join."""

HAIR = 0.01
SHIFT = 8.0
"""Distance of the routes of values and of gradients from the middle between them."""
BESIDE = 3.0
"""The same in a lane and at a port, where no other route is near."""
PITCH, FREE = 20.0, 16.0
"""Distance between two edges that enter an op, and the part of the op's height that they leave free."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """The heights, from a node's middle, at which edges meet it: values and gradients, on its right and left side."""

    right: float = -SHIFT
    right_back: float = SHIFT
    left: float = -SHIFT
    left_back: float = SHIFT
    fan: bool = True


class GradientOrigin(NamedTuple):
    """The origin of edges that leave the gradient of a card, not its value: they begin where gradients meet it."""

    card: Hashable


class Ports:
    """The heights at which edges meet the vertices of one group, which are at the heights `y`.

    `rooms` has the open groups in it, `anchors` those of each node, `place` the argument of an op that an edge is.
    """

    def __init__(
        self, sheet: Sheet, y: Sequence[float], sizes: Sequence[Size], rooms: Mapping[Hashable | None, Piece],
        anchors: Callable[[Hashable], Anchors], place: Mapping[Hashable, int], own: Own,
    ) -> None:  # fmt: skip
        self.sheet, self.y, self.sizes, self.rooms, self.anchors = sheet, y, sizes, rooms, anchors
        self.fans = self._fans(place, own)

    def right(self, a: int, origin: Hashable) -> Point:
        """Heights at which values leave vertex `a` and gradients come back to it."""
        vertex, middle = self.sheet.vertices[a], self.y[a]
        if a >= self.sheet.members:
            return middle - BESIDE, middle + BESIDE
        if vertex in self.rooms:
            height = middle - self.sizes[a][1] / 2 + self.rooms[vertex].outs[origin]
            return height - BESIDE, height + BESIDE
        anchors = self.anchors(vertex)
        if origin == GradientOrigin(vertex):
            return middle + anchors.right_back - BESIDE, middle + anchors.right_back + BESIDE
        return middle + anchors.right, middle + anchors.right_back

    def left(self, key: Hashable, b: int, origin: Hashable) -> Point:
        """Heights at which values enter vertex `b` by an edge and gradients leave it."""
        vertex, middle = self.sheet.vertices[b], self.y[b]
        if b >= self.sheet.members:
            return middle - BESIDE, middle + BESIDE
        if vertex in self.rooms:
            height = middle - self.sizes[b][1] / 2 + self.rooms[vertex].ins[origin]
            return height - BESIDE, height + BESIDE
        if (key, b) in self.fans:
            return middle + self.fans[key, b] - SHIFT / 2, middle + self.fans[key, b] + SHIFT / 2
        anchors = self.anchors(vertex)
        return middle + anchors.left, middle + anchors.left_back

    def comes(self, a: int, origin: Hashable, b: int) -> float:
        """The height at which an edge from vertex `a` begins to climb to vertex `b`."""
        way = self.sheet.way(a, origin, b)
        return self.y[way[-1]] if way else sum(self.right(a, origin)) / 2

    def _fans(self, place: Mapping[Hashable, int], own: Own) -> dict[tuple[Hashable, int], float]:
        """The heights at which several edges enter one op: side by side, in the order of their sources, and from one
        source in the order of the arguments."""
        arriving: dict[int, list[tuple[float, int, int, Hashable]]] = defaultdict(list)
        for number, ((key, _, _, origin), (a, b)) in enumerate(own):
            vertex = self.sheet.vertices[b]
            if b < self.sheet.members and vertex not in self.rooms and self.anchors(vertex).fan:
                arriving[b].append((self.comes(a, origin, b), place.get(key, 0), number, key))
        fans: dict[tuple[Hashable, int], float] = {}
        for b, coming in arriving.items():
            if len(coming) < 2:
                continue
            pitch = min(PITCH, (self.sizes[b][1] - FREE) / len(coming))
            for i, (*_, key) in enumerate(sorted(coming, key=lambda c: c[:3])):
                fans[key, b] = (i - (len(coming) - 1) / 2) * pitch
        return fans

    def levels(self, own: Own) -> dict[int, float]:
        """The group's own ports, at the heights of the vertices that they lead to, if there is room."""
        sides: dict[str, dict[int, list[float]]] = {"in": defaultdict(list), "out": defaultdict(list)}
        for (key, u, v, origin), (a, b) in own:
            way = self.sheet.way(a, origin, b)
            if u is None:
                sides["in"][a].append(self.y[way[0]] if way else sum(self.left(key, b, origin)) / 2)
            if v is None:
                sides["out"][b].append(self.comes(a, origin, b))
        result: dict[int, float] = {}
        for side in filter(None, sides.values()):
            levels = {port: sum(heights) / len(heights) for port, heights in side.items()}
            ports = sorted(levels, key=lambda port: (levels[port], self.y[port]))
            gaps = [LANE + LANE_GAP] * (len(ports) - 1)
            result.update(zip(ports, spread([levels[port] for port in ports], gaps), strict=True))
        return result


def from_height(way: Sequence[Point], y: float) -> list[Point]:
    """A route that begins at another height on the same side of a card: with another climb, or with one more."""
    (x, level), (beyond, after), *rest = way
    if abs(level - after) > HAIR:
        return [(x, y), (beyond, after), *rest]
    if rest and abs(rest[0][0] - beyond) > HAIR and abs(beyond - x) < COLUMN_GAP:
        return [(x, y), (beyond, y), *rest]  # beside a card that is narrower than its column
    climb = math.copysign(min(COLUMN_GAP - SHIFT, abs(beyond - x)), beyond - x)
    return clean([(x, y), (x + climb, after), *way[1:]])


def in_order(sheet: Sheet, own: Own, place: Mapping[Hashable, int]) -> list[list[int]]:
    """For each op of the group, the vertices in the rank before it that are its arguments, in order (`place`)."""
    ports: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for (key, _, v, origin), (a, b) in own:
        if v is not None and key in place:
            ports[b].append((place[key], (sheet.way(a, origin, b) or [a])[-1]))
    orders = (list(dict.fromkeys(node for _, node in sorted(one))) for one in ports.values())
    return [order for order in orders if len(order) > 1]


def from_cards(sheet: Sheet, own: Own) -> Iterator[tuple[int, int]]:
    """Pairs of vertices: one reached from a card's value, one from its gradient, which is below the value."""
    ports: dict[int, tuple[dict[int, None], dict[int, None]]] = defaultdict(lambda: ({}, {}))
    for (_, u, _, origin), (a, b) in own:
        if u is not None:
            ports[a][origin == GradientOrigin(u)][(sheet.way(a, origin, b) or [b])[0]] = None
    for values, gradients in ports.values():
        yield from ((one, other) for one in values for other in gradients if one != other)


def straight(enters: bool, lanes: Sequence[float], start: float, end: float) -> Point:
    """The heights of both ends of a route; an end at the border of a line may be at any height."""
    return (lanes[0] if lanes else end, end) if enters else (start, lanes[-1] if lanes else start)
