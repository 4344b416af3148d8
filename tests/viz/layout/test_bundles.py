"""Steep ways side by side are spread over the gap between their columns."""

from __future__ import annotations

import itertools

from viz.layout.layered import bundles


def climbs(ways: bundles.Routes[str]) -> list[tuple[float, float]]:
    """Where each way climbs."""
    steep = [(p, q) for pair in ways.values() for way in pair for p, q in itertools.pairwise(way) if p[1] != q[1]]
    return [(round(p[0], 2), round(q[0], 2)) for p, q in steep]


def test_steep_ways_side_by_side_are_spread_over_the_gap_between_their_columns() -> None:
    """As the two uses of w in `w * w` and the gradients of both."""
    gap = (100.0, 152.0)
    up = {
        "one": ([(100.0, 0.0), (152.0, -280.0)], [(100.0, 56.0), (152.0, -272.0)]),
        "two": ([(100.0, 0.0), (152.0, -260.0)], [(100.0, 56.0), (152.0, -252.0)]),
    }
    found = climbs(bundles.apart(up, [gap]))
    assert sorted(found) == [(100.0, 125.0), (109.0, 134.0), (118.0, 143.0), (127.0, 152.0)]
    assert found[0][0] < found[2][0]  # what climbs higher climbs first: so they do not cross
    down = {key: ([(x, -y) for x, y in go], [(x, -y) for x, y in back]) for key, (go, back) in up.items()}
    assert climbs(bundles.apart(down, [gap])) == found
    assert climbs(bundles.apart(up, [])) == [gap] * 4  # inside of a group its own layout has done it
    assert climbs(bundles.apart({"one": up["one"]}, [gap])) == [gap] * 2  # a value and its gradient may be close


def test_ways_that_are_no_bundle_climb_over_the_whole_gap() -> None:
    gap, narrow = (0.0, 52.0), (0.0, 24.0)
    apart: bundles.Routes[str] = {"a": ([(0.0, 0.0), (52.0, 200.0)],) * 2, "b": ([(0.0, 100.0), (52.0, 300.0)],) * 2}
    low: bundles.Routes[str] = {"a": ([(0.0, 0.0), (52.0, 60.0)],) * 2, "b": ([(0.0, 0.0), (52.0, 70.0)],) * 2}
    same: bundles.Routes[str] = {"a": ([(0.0, 0.0), (52.0, 200.0)],) * 2, "b": ([(0.0, 0.0), (52.0, 200.0)],) * 2}
    for ways in (apart, low, same):
        assert climbs(bundles.apart(ways, [gap])) == [gap] * 4
    tight: bundles.Routes[str] = {"a": ([(0.0, 0.0), (24.0, 200.0)],) * 2, "b": ([(0.0, 0.0), (24.0, 208.0)],) * 2}
    assert climbs(bundles.apart(tight, [narrow])) == [narrow] * 4
