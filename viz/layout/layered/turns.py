"""The points at which routes between lines turn: in the margins, or as soon as nothing blocks the way to the next line.

A way leaves its line straight down, to the right of its source, where everything below is free, and it enters the next
line straight down, to the left of its target, where everything above is free.  Both are one problem: rotated by half a
turn, a way that enters is a way that leaves.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

from ..sheet import Box, Piece, Point, Size

INDENT = 18.0
OUT = 8.0
PAIR, STEP = 5.0, 12.0
"""Distance between the ways of a value and of its gradient, and from one such pair to the next."""
BESIDE = 20.0
"""Distance between the source of a way and its turn: there is room for an arrowhead."""
AIR = 7.0
"""Distance between a vertical piece and the things beside it."""
SAVED = 30.0
"""The least distance from the margin for a turn before it; else a way turns in the margin."""
HAIR = 2.0
CLIMB = ((0.0, 0.0), (0.25, 0.156), (0.5, 0.5), (0.75, 0.844), (1.0, 1.0))
"""The share of its height that a curve between two levels has climbed, by the share of its length."""

Over = tuple[Hashable, Hashable, int, int]
"""An edge that leaves its line: (key, origin, its line, the line in which it arrives)."""


@dataclass(frozen=True, slots=True)
class LineRoute:
    """The way of one origin from a line to later ones: the last of these, and its course.

    `slot` counts from the inside in the left margin, `place` counts the ways under its line from above.  From its line
    it goes down at `out` (the gradient, with the value beside it), and at `into` down into the next one (the value).
    """

    first: int
    last: int
    height: float
    slot: int = 0
    place: int = 0
    out: float = 0.0
    into: float = 0.0

    @property
    def margin(self) -> float:
        return -INDENT - STEP * self.slot

    @property
    def downs(self) -> tuple[float, float]:
        """The x at which it leaves its channel."""
        return self.into, self.margin if self.last > self.first + 1 else self.into

    def covers(self, x: float) -> bool:
        """Return whether the edge's channel passes an x."""
        return min(*self.downs, self.out) < x < max(*self.downs, self.out)

    def crosses(self, other: LineRoute) -> bool:
        """Return whether the edge crosses another one from the same line, between that line and the next."""
        upper, lower = (self, other) if self.place < other.place else (other, self)
        return upper.covers(lower.out) or any(map(lower.covers, upper.downs))


LineRoutes = dict[tuple[Hashable, int], LineRoute]


def with_turns(
    ways: Mapping[tuple[Hashable, int], LineRoute], pieces: Sequence[Piece], over: Sequence[Over],
    origins: Mapping[Hashable, Hashable], size: Callable[[Hashable], Size],
) -> LineRoutes:  # fmt: skip
    """The ways with their turns: as near as possible without two ways that cross."""
    turns = {
        one: replace(way, out=pieces[way.first].box[2] + OUT + STEP * way.place, into=way.margin)
        for one, way in ways.items()
    }
    rooms = [_LineContents(piece, origins, size) for piece in pieces]
    for line, (above, below) in enumerate(pairwise(rooms)):
        under = sorted((one for one in turns if one[1] == line), key=lambda one: turns[one].place)
        for one in under:
            keys = [key for key, origin, a, _ in over if (origin, a) == one]
            out = above.out(one[0], keys[0], turns[one].out)
            if out is not None and _take(turns, under, one, replace(turns[one], out=out)):
                above.shorten(keys, out)
        for one in reversed(under):
            keys = [key for key, origin, a, b in over if (origin, a) == one and b == line + 1]
            into = below.into(one[0], keys, turns[one].into) if keys else None
            if into is not None and _take(turns, under, one, replace(turns[one], into=into)):
                below.shorten(keys, into, enter=True)
    return turns


def _take(
    ways: LineRoutes, under: Sequence[tuple[Hashable, int]], one: tuple[Hashable, int], better: LineRoute
) -> bool:
    free = not any(better.crosses(ways[other]) for other in under if other != one)
    if free:
        ways[one] = better
    return free


class _LineContents:
    """The contents of a line: its cards, its groups, and its routes by edge."""

    def __init__(self, piece: Piece, origins: Mapping[Hashable, Hashable], size: Callable[[Hashable], Size]) -> None:
        self.origins, self.routes = origins, dict(piece.routes)
        self.top, self.bottom = piece.box[1], piece.box[3]
        self.cards = [
            (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for v, (x, y) in piece.at.items() for w, h in [size(v)]
        ]
        self.groups = [box for boxes in piece.boxes.values() for box in boxes]

    @cached_property
    def walls(self) -> dict[Hashable, list[Box]]:
        """The boxes around the pieces of each edge."""
        return {key: [*_walls(go), *_walls(back)] for key, (go, back) in self.routes.items()}

    def out(self, origin: Hashable, key: Hashable, margin: float) -> float | None:
        go, back = self.routes[key]
        if go[0][0] + BESIDE > margin - SAVED:
            return None
        return _nearest(back, go, margin, self.solid(origin), self.groups)

    def into(self, origin: Hashable, keys: Sequence[Hashable], margin: float) -> float | None:
        """The turn into the line, for all edges of an origin at once: before they part."""
        go, back = (_shared([self.routes[key][side] for key in keys]) for side in (0, 1))
        if not (go and back) or go[-1][0] - BESIDE < margin + SAVED:
            return None
        solid, groups = ([_turned(box) for box in boxes] for boxes in (self.solid(origin), self.groups))
        turn = _nearest(_backwards(go), _backwards(back), -margin, solid, groups)
        return None if turn is None else -turn

    def solid(self, origin: Hashable) -> list[Box]:
        """The boxes that a way must not touch; it may touch its own edges."""
        return [*self.cards, *(box for key, own in self.walls.items() if self.origins[key] != origin for box in own)]

    def shorten(self, keys: Sequence[Hashable], x: float, enter: bool = False) -> None:
        """Let edges turn at an x, where they enter the line or leave it."""
        for key in keys:
            go, back = self.routes[key]
            if enter:
                go, back = entering(go, x), entering(back, x - PAIR)
                uprights = [(x - PAIR, self.top, x, back[0][1])]
            else:
                go, back = leaving(go, x + PAIR), leaving(back, x)
                uprights = [(x, go[-1][1], x + PAIR, self.bottom)]
            self.routes[key] = go, back
            self.walls[key] = [*_walls(go), *_walls(back), *uprights]


def leaving(way: Sequence[Point], x: float) -> list[Point]:
    """A way up to its turn; level from its last point before that."""
    start = [point for point in way if point[0] < x]
    return [*start, (x, start[-1][1])]


def entering(way: Sequence[Point], x: float) -> list[Point]:
    """A way from its turn on."""
    return _backwards(leaving(_backwards(way), -x))


def _nearest(
    inner: Sequence[Point], outer: Sequence[Point], margin: float, solid: list[Box], groups: list[Box]
) -> float | None:
    """The first x at which two ways can go straight down, the outer one beside the inner one; None if that is close to
    the margin.  Vertical pieces touch neither solid boxes nor groups; level pieces may cross the borders of groups.
    """
    begin = max(min(x for x, _ in way) for way in (inner, outer))  # before that, there is only one of the two
    bases = sorted({begin} | {x for way in (inner, outer) for x, _ in way[:-1] if x > begin})
    for base, end in pairwise([*bases, margin]):
        starts = [max(point for point in way if point[0] <= base) for way in (inner, outer)]
        top = min(y for _, y in starts)
        x = _free(base + BESIDE, [box for box in solid + groups if box[3] > top + HAIR])
        levels = [(sx, y - HAIR, x + PAIR, y + HAIR) for sx, y in starts]
        if x <= min(end - PAIR, margin - SAVED) and not any(_meet(level, box) for level in levels for box in solid):
            return x
    return None


def _free(x: float, boxes: Sequence[Box]) -> float:
    """The first position from `x` on at which two vertical pieces touch no box."""
    for x0, _, x1, _ in sorted(boxes):
        if x0 - AIR < x + PAIR and x < x1 + AIR:
            x = x1 + AIR
    return x


def _meet(one: Box, other: Box) -> bool:
    return one[0] + HAIR < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _walls(way: Sequence[Point]) -> Iterator[Box]:
    """Boxes around the pieces of a way; a climb has several."""
    for (ax, ay), (bx, by) in pairwise(way):
        for (s, low), (e, high) in pairwise(CLIMB if abs(ay - by) > HAIR else ((0.0, 0.0), (1.0, 1.0))):
            y0, y1 = ay + (by - ay) * low, ay + (by - ay) * high
            yield ax + (bx - ax) * s, min(y0, y1), ax + (bx - ax) * e, max(y0, y1)


def _shared(ways: Sequence[Sequence[Point]]) -> list[Point]:
    """The common beginning of some ways."""
    first, *others = ways
    count = next((i for i, point in enumerate(first) if any(way[i : i + 1] != [point] for way in others)), len(first))
    return list(first[:count])


def _backwards(way: Sequence[Point]) -> list[Point]:
    return [(-x, -y) for x, y in reversed(way)]


def _turned(box: Box) -> Box:
    """The box, rotated by half a turn."""
    return -box[2], -box[3], -box[0], -box[1]
