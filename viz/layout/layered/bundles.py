"""Steep routes between two columns, spread side by side so that each can be followed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple, TypeVar

from ..sheet import Point, clean

STEEP = 90.0
"""The least climb of a steep route, and the least height over which two of them run side by side."""
NEAR = 6.0
"""Routes this close cannot be told apart,"""
STEP = 9.0
"""so they are drawn this far apart,"""
CLIMB = 24.0
"""if that leaves this width for the climb of each."""

Key = TypeVar("Key", bound=Hashable)
Routes = dict[Key, tuple[list[Point], list[Point]]]


class Climb(NamedTuple):
    """A climb in a gap between columns; `gap` has the beginning and the end of the gap."""

    gap: Point
    start: float
    end: float

    @property
    def rank(self) -> float:
        """The order in a bundle: the route to the highest point climbs first, to the lowest falls first: none cross."""
        return (self.start + self.end) * (1.0 if self.end < self.start else -1.0)


def apart(routes: Routes[Key], gaps: Sequence[Point]) -> Routes[Key]:
    """The routes (from left to right), with bundles of steep routes spread over the gaps in which they climb."""
    gap_set = set(gaps)
    users: dict[Climb, set[Hashable]] = defaultdict(set)
    for key, pair in routes.items():
        for way in pair:
            for steep in (_steep(a, b, gap_set) for a, b in pairwise(way)):
                if steep is not None:
                    users[steep].add(key)
    moved = _windows(users)
    return {key: (_moved(go, moved, gap_set), _moved(back, moved, gap_set)) for key, (go, back) in routes.items()}


def _steep(a: Point, b: Point, gaps: set[Point]) -> Climb | None:
    gap = (a[0], b[0])
    return Climb(gap, a[1], b[1]) if abs(a[1] - b[1]) > STEEP and gap in gaps else None


def _windows(users: Mapping[Climb, set[Hashable]]) -> dict[Climb, Point]:
    """The part of the gap in which each route of a bundle climbs."""
    rooms: dict[tuple[Point, bool], list[Climb]] = defaultdict(list)
    for steep in users:
        rooms[steep.gap, steep.end < steep.start].append(steep)
    windows: dict[Climb, Point] = {}
    for (gap, _), ways in rooms.items():
        for bundle in _bundles(sorted(ways, key=lambda one: one.rank)):
            step = min(STEP, (gap[1] - gap[0] - CLIMB) / max(len(bundle) - 1, 1))
            if step > 0 and len(set().union(*(users[one] for one in bundle))) > 1:
                for place, one in enumerate(bundle):
                    windows[one] = gap[0] + place * step, gap[1] - (len(bundle) - 1 - place) * step
    return windows


def _bundles(ways: Sequence[Climb]) -> list[list[Climb]]:
    """The groups of climbs that are too close to each other."""
    bundles: list[list[Climb]] = []
    for steep in ways:
        if bundles and _are_near(bundles[-1][-1], steep):
            bundles[-1].append(steep)
        else:
            bundles.append([steep])
    return bundles


def _are_near(one: Climb, other: Climb) -> bool:
    """Return whether two routes in one gap run side by side too closely."""
    (low, high), (bottom, top) = sorted(one[1:]), sorted(other[1:])
    shared = min(high, top) - max(low, bottom)
    climb = (high - low + top - bottom) / 2
    return shared > STEEP and abs(one.rank - other.rank) / 2 * (one.gap[1] - one.gap[0]) < NEAR * climb


def _moved(way: list[Point], moved: Mapping[Climb, Point], gaps: set[Point]) -> list[Point]:
    points = way[:1]
    for a, b in pairwise(way):
        steep = _steep(a, b, gaps)
        if steep is not None and steep in moved:
            start, end = moved[steep]
            points += [(start, a[1]), (end, b[1])]
        points.append(b)
    return clean(points)
