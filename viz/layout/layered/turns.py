"""Where routes between lines turn: in the margins, or as soon as nothing blocks their way to the next line.

A way leaves its line straight down, to the right of what it comes from, where all below it is free, and it enters the
next line straight down, to the left of what it leads to, where all above that is free.  Both are one problem: turned
by half a turn, a way that enters is one that leaves.
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
"""Between the ways of a value and of its gradient, and from one such pair to the next."""
BESIDE = 20.0
"""Between what a way comes from and where it turns: the head of an arrow has a place there."""
AIR = 7.0
"""Between an upright and what stands beside it."""
SAVED = 30.0
"""By so much a way turns before the margin, or it turns there."""
HAIR = 2.0
CLIMB = ((0.0, 0.0), (0.25, 0.156), (0.5, 0.5), (0.75, 0.844), (1.0, 1.0))
"""How much of its height a curve between two levels has climbed after parts of its length."""

Over = tuple[Hashable, Hashable, int, int]
"""An edge that leaves its line: (key, origin, its line, the line in which it arrives)."""


@dataclass(frozen=True, slots=True)
class Way:
    """What of one origin goes on from a line in later ones: the last of these, and where it runs.

    `slot` counts from the inside in the left margin, `place` the ways under its line from above.  From its line it goes
    down at `out` (its gradient, its value beside it), and at `into` down into the next one (its value).
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
        """Where it leaves its channel."""
        return self.into, self.margin if self.last > self.first + 1 else self.into

    def covers(self, x: float) -> bool:
        """Whether its channel passes a place."""
        return min(*self.downs, self.out) < x < max(*self.downs, self.out)

    def crosses(self, other: Way) -> bool:
        """Whether it crosses another one from the same line, between that and the next."""
        upper, lower = (self, other) if self.place < other.place else (other, self)
        return upper.covers(lower.out) or any(map(lower.covers, upper.downs))


Ways = dict[tuple[Hashable, int], Way]


def settled(
    ways: Mapping[tuple[Hashable, int], Way], pieces: Sequence[Piece], over: Sequence[Over],
    origins: Mapping[Hashable, Hashable], size: Callable[[Hashable], Size],
) -> Ways:  # fmt: skip
    """The ways with the places where they turn: as near as no two of them cross."""
    turns = {
        one: replace(way, out=pieces[way.first].box[2] + OUT + STEP * way.place, into=way.margin)
        for one, way in ways.items()
    }
    rooms = [_Room(piece, origins, size) for piece in pieces]
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


def _take(ways: Ways, under: Sequence[tuple[Hashable, int]], one: tuple[Hashable, int], better: Way) -> bool:
    free = not any(better.crosses(ways[other]) for other in under if other != one)
    if free:
        ways[one] = better
    return free


class _Room:
    """What stands in a line: its cards, its groups, and its routes by edge."""

    def __init__(self, piece: Piece, origins: Mapping[Hashable, Hashable], size: Callable[[Hashable], Size]) -> None:
        self.origins, self.routes = origins, dict(piece.routes)
        self.top, self.bottom = piece.box[1], piece.box[3]
        self.cards = [
            (x - w / 2, y - h / 2, x + w / 2, y + h / 2) for v, (x, y) in piece.at.items() for w, h in [size(v)]
        ]
        self.groups = [box for boxes in piece.boxes.values() for box in boxes]

    @cached_property
    def walls(self) -> dict[Hashable, list[Box]]:
        """What is around each edge."""
        return {key: [*_walls(go), *_walls(back)] for key, (go, back) in self.routes.items()}

    def out(self, origin: Hashable, key: Hashable, margin: float) -> float | None:
        go, back = self.routes[key]
        if go[0][0] + BESIDE > margin - SAVED:
            return None
        return _nearest(back, go, margin, self.solid(origin), self.groups)

    def into(self, origin: Hashable, keys: Sequence[Hashable], margin: float) -> float | None:
        """For all edges to the line at once: before they part."""
        go, back = (_shared([self.routes[key][side] for key in keys]) for side in (0, 1))
        if not (go and back) or go[-1][0] - BESIDE < margin + SAVED:
            return None
        solid, groups = ([_turned(box) for box in boxes] for boxes in (self.solid(origin), self.groups))
        turn = _nearest(_backwards(go), _backwards(back), -margin, solid, groups)
        return None if turn is None else -turn

    def solid(self, origin: Hashable) -> list[Box]:
        """What a way must not touch: its own edges it may."""
        return [*self.cards, *(box for key, own in self.walls.items() if self.origins[key] != origin for box in own)]

    def shorten(self, keys: Sequence[Hashable], x: float, enter: bool = False) -> None:
        """Let edges turn at a place, where they enter the line or leave it."""
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
    """A way up to where it turns; level from its last point before that."""
    kept = [point for point in way if point[0] < x]
    return [*kept, (x, kept[-1][1])]


def entering(way: Sequence[Point], x: float) -> list[Point]:
    """A way from where it turns on."""
    return _backwards(leaving(_backwards(way), -x))


def _nearest(
    inner: Sequence[Point], outer: Sequence[Point], margin: float, solid: list[Box], groups: list[Box]
) -> float | None:
    """The first place where two ways can go straight down, the outer one beside the inner one; None where that is
    hardly before the margin.  Uprights touch neither what is solid nor groups, level pieces pass borders of groups.
    """
    begin = max(min(x for x, _ in way) for way in (inner, outer))  # before that only one of the two is there
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
    """The first place from `x` on where two uprights are beside all boxes."""
    for x0, _, x1, _ in sorted(boxes):
        if x0 - AIR < x + PAIR and x < x1 + AIR:
            x = x1 + AIR
    return x


def _meet(one: Box, other: Box) -> bool:
    return one[0] + HAIR < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def _walls(way: Sequence[Point]) -> Iterator[Box]:
    """Boxes around the pieces of a way, around a climb several."""
    for (ax, ay), (bx, by) in pairwise(way):
        for (s, low), (e, high) in pairwise(CLIMB if abs(ay - by) > HAIR else ((0.0, 0.0), (1.0, 1.0))):
            y0, y1 = ay + (by - ay) * low, ay + (by - ay) * high
            yield ax + (bx - ax) * s, min(y0, y1), ax + (bx - ax) * e, max(y0, y1)


def _shared(ways: Sequence[Sequence[Point]]) -> list[Point]:
    """How far some ways that begin together are the same."""
    first, *others = ways
    count = next((i for i, point in enumerate(first) if any(way[i : i + 1] != [point] for way in others)), len(first))
    return list(first[:count])


def _backwards(way: Sequence[Point]) -> list[Point]:
    return [(-x, -y) for x, y in reversed(way)]


def _turned(box: Box) -> Box:
    """By half a turn."""
    return -box[2], -box[3], -box[0], -box[1]
