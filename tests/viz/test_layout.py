"""Layouts as properties on random graphs: nothing overlaps, no edge passes through an unrelated box, nothing jumps."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viz import pictures
from viz import layout
from viz.layouts import bundles, dot, layered, sheet, views
from viz.layouts.ranked import Ranked, ranks, spread

from .traces import dag

LAYERED = ("layered", "layered-own")
graphs = st.builds(dag, st.integers(2, 40), st.integers(0, 12), st.integers(0, 10_000))


def box(graph: nx.DiGraph, placed: layout.Placed, node: Any) -> tuple[float, float, float, float]:
    (x, y), (w, h) = placed.positions[node], graph.nodes[node]["size"]
    return x - w / 2, y - h / 2, x + w / 2, y + h / 2


def ends(key: Any) -> tuple[Any, Any]:
    return key[0], key[1]


def overlaps(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a[0] < b[2] - 0.01 and b[0] < a[2] - 0.01 and a[1] < b[3] - 0.01 and b[1] < a[3] - 0.01


def crosses(p: tuple[float, float], q: tuple[float, float], rect: tuple[float, float, float, float]) -> bool:
    """Whether the segment from p to q enters a box (Liang-Barsky)."""
    low, high = 0.0, 1.0
    for axis in (0, 1):
        way = q[axis] - p[axis]
        near, far = rect[axis] + 0.01 - p[axis], rect[axis + 2] - 0.01 - p[axis]
        if abs(way) < 1e-12:
            if near > 0 or far < 0:
                return False
            continue
        first, last = sorted((near / way, far / way))
        low, high = max(low, first), min(high, last)
    return low < high


@pytest.mark.parametrize("name", LAYERED)
@settings(max_examples=40, deadline=None)
@given(graph=graphs)
def test_layered_boxes_do_not_overlap(name: str, graph: nx.DiGraph) -> None:
    placed = layout.layout(graph, name)
    boxes = [box(graph, placed, n) for n in graph]
    assert len(boxes) == len(graph)
    assert not any(overlaps(a, b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("name", LAYERED)
@settings(max_examples=40, deadline=None)
@given(graph=graphs)
def test_layered_edges_pass_through_no_unrelated_box(name: str, graph: nx.DiGraph) -> None:
    placed = layout.layout(graph, name)
    boxes = {n: box(graph, placed, n) for n in graph}
    for routes in (placed.routes, placed.back):
        for key, points in routes.items():
            u, v = ends(key)
            for p, q in itertools.pairwise(points):
                hit = [n for n in graph if n not in (u, v) and crosses(p, q, boxes[n])]
                assert not hit, f"{u} -> {v} passes {hit}"


@settings(max_examples=25, deadline=None)
@given(graph=graphs)
def test_layered_edges_run_from_border_to_border(graph: nx.DiGraph) -> None:
    placed = layout.layout(graph)
    for key, points in placed.routes.items():
        u, v = ends(key)
        assert points[0][0] == pytest.approx(box(graph, placed, u)[2])
        assert points[-1][0] == pytest.approx(box(graph, placed, v)[0])
        assert [x for x, _ in points] == sorted(x for x, _ in points)
        back = placed.back[u, v]
        assert back[0][0] == pytest.approx(points[-1][0]) and back[-1][0] == pytest.approx(points[0][0])


@pytest.mark.parametrize("name", layout.NAMES)
def test_every_layout_gives_the_same_picture_twice_without_overlaps(name: str) -> None:
    graph = dag(30, 8, 3)
    first = layout.layout(graph, name)
    layout.forget()
    second = layout.layout(graph, name)
    assert first.positions == second.positions and first.routes == second.routes
    boxes = [box(graph, first, n) for n in graph]
    assert not any(overlaps(a, b) for a, b in itertools.combinations(boxes, 2))


def test_a_layout_past_its_limit_is_refused_with_the_remedy() -> None:
    graph = dag(130, 0, 1)
    with pytest.raises(layout.LayoutRefused, match=r"up to 120 nodes.*130 are open.*Fold groups"):
        layout.layout(graph, "kamada_kawai")


def test_an_unknown_layout_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="there is no layout 'treemap'; there are layered"):
        layout.layout(dag(3, 0, 1), "treemap")


def grouped(folded: bool) -> nx.DiGraph:
    """A chain a-b-[c-d-e]-f beside b-g-f, where [c-d-e] is a group, open or folded."""
    graph = nx.DiGraph(within={} if folded else {"g0": None})
    inside = ["g0"] if folded else ["c", "d", "e"]
    for node in ["a", "b", *inside, "g", "f"]:
        graph.add_node(node, size=(200, 76) if node == "g0" else (116, 56), group="g0" if node in "cde" else None)
    for u, v in itertools.pairwise(["a", "b", *inside, "f"]):
        graph.add_edge(u, v, origin={"g0": "e"}.get(u, u))
    graph.add_edge("b", "g")
    graph.add_edge("g", "f")
    return graph


def test_a_fold_moves_others_only_sideways_and_as_a_whole() -> None:
    closed, opened = layout.layout(grouped(True)), layout.layout(grouped(False))
    for node in "abf":
        assert opened.positions[node][1] == pytest.approx(closed.positions[node][1])
    for node in "ab":
        assert opened.positions[node] == pytest.approx(closed.positions[node])
    middle = opened.boxes["g0"]
    assert middle[0] < opened.positions["c"][0] < opened.positions["e"][0] < middle[2]
    assert not overlaps(middle, box(grouped(False), opened, "g"))


def test_an_edge_into_a_group_is_one_line_through_its_port() -> None:
    placed = layout.layout(grouped(False))
    route = placed.routes["b", "c"]
    left = placed.boxes["g0"][0]
    assert route[0][0] < left < route[-1][0]
    assert [x for x, _ in route] == sorted(x for x, _ in route)


def test_ranks_put_a_source_next_to_its_first_use() -> None:
    assert ranks(4, [(0, 1), (1, 2), (3, 2)]) == [0, 1, 2, 1]


def test_what_leaves_a_part_does_so_behind_its_own_last_rank() -> None:
    assert ranks(5, [(0, 1), (1, 3), (2, 4)], (), (3, 4)) == [0, 1, 0, 2, 1]
    assert ranks(5, [(3, 0), (0, 1), (4, 2)], (3, 4)) == [1, 2, 1, 0, 0]


def test_ranks_refuse_a_cycle() -> None:
    with pytest.raises(ValueError, match="cycle"):
        ranks(2, [(0, 1), (1, 0)])


@given(st.lists(st.floats(-100, 100), min_size=1, max_size=20))
def test_spread_keeps_order_and_distance(wanted: list[float]) -> None:
    gaps = [5.0] * (len(wanted) - 1)
    found = spread(wanted, gaps)
    assert all(b - a >= 5.0 - 1e-6 for a, b in itertools.pairwise(found))
    assert sum(found) == pytest.approx(sum(wanted), abs=1e-6)


@pytest.mark.skipif(not dot.is_available(), reason="pygraphviz is not installed")
def test_the_worker_gives_what_dot_gives_here() -> None:
    graph = Ranked((0, 1, 1, 2), (56.0, 56.0, 84.0, 56.0), frozenset(), ((0, 1), (0, 2), (1, 3), (2, 3)))
    worker = layout.Worker()
    try:
        assert worker.places(graph) == pytest.approx(dot.places(graph))
    finally:
        worker.stop()


def test_a_worker_over_its_limit_is_ended_and_the_next_task_starts_another() -> None:
    graph = Ranked((0, 1), (56.0, 56.0), frozenset(), ((0, 1),))
    worker = layout.Worker()
    try:
        assert worker.places(graph, limit=0.0) is None
        assert worker._process is None
        if dot.is_available():
            assert worker.places(graph) is not None
    finally:
        worker.stop()


def test_the_second_layout_serves_without_pygraphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dot, "pygraphviz", None)
    layout.forget()
    graph = dag(20, 5, 2)
    assert layout.layout(graph).positions == layout.layout(graph, "layered-own").positions
    layout.forget()


class Named:
    """A node whose comparisons are work that is counted: a search through a list shows."""

    def __init__(self, name: int) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Named) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def work(nodes: int) -> int:
    """The lines of Python that run while a ribbon is laid out: as many on a quiet machine as on a loaded one."""
    graph = nx.DiGraph()
    names = [Named(i) for i in range(nodes)]
    nx.add_path(graph, names)
    nx.add_path(graph, names[::7])
    layout.forget()
    count = 0

    def note(*_: Any) -> Any:
        nonlocal count
        count += 1
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        placed = layered.place(graph, layout._own)
    finally:
        sys.settrace(before)
    assert len(placed.positions) == nodes
    return count


def test_the_work_for_a_ribbon_grows_as_its_length() -> None:
    few, many = work(400), work(1600)
    assert many < 4.1 * few, "four times the nodes are four times the work; quadratic growth would be sixteen times"


def test_what_does_not_hang_together_stands_in_the_order_of_the_program() -> None:
    graph = nx.DiGraph()
    for start in (0, 10, 20):
        nx.add_path(graph, range(start, start + 3), size=(116, 56))
    graph.add_edge(20, 23)
    nx.set_node_attributes(graph, (116, 56), "size")
    placed = layout.layout(graph)
    spans = []
    for part in ({0, 1, 2}, {10, 11, 12}, {20, 21, 22, 23}):
        boxes = [box(graph, placed, n) for n in part]
        spans.append((min(b[1] for b in boxes), max(b[3] for b in boxes)))
    assert spans[0][1] < spans[1][0] and spans[1][1] < spans[2][0]


def chain_of_groups(rounds: int) -> nx.DiGraph:
    """`h` through some open groups, each with a leaf of its own and a side result below."""
    graph = nx.DiGraph(within={f"g{i}": None for i in range(rounds)})
    before = None
    for i in range(rounds):
        names = [f"leaf{i}", f"side{i}", f"mul{i}", f"h{i}"]
        for name, height in zip(names, (150, 90, 56, 84), strict=True):
            graph.add_node(name, size=(116, height), group=f"g{i}")
        graph.add_edges_from([(names[0], names[1]), (names[1], names[2]), (names[2], names[3])])
        if before is not None:
            graph.add_edge(before, names[2])
        before = names[3]
    return graph


def test_a_chain_through_groups_runs_level() -> None:
    placed = layout.layout(chain_of_groups(6))
    heights = [placed.positions[f"{name}{i}"][1] for i in range(1, 6) for name in ("mul", "h")]
    assert max(heights) - min(heights) < 1.0


def chain(count: int, branches: int, seed: int) -> nx.DiGraph:
    """A long chain with some branches, to be seen in a view that is too narrow for it."""
    graph = dag(branches, 2, seed)
    names = [f"c{i}" for i in range(count)]
    graph.add_nodes_from(names, size=(150.0, 90.0))
    nx.add_path(graph, names)
    graph.add_edge(names[0], names[-1])
    graph.add_edges_from([(names[-1], 0)] if 0 in graph else [])
    graph.graph["view"] = (740.0, 900.0)
    return graph


@pytest.mark.parametrize("name", LAYERED)
@settings(max_examples=30, deadline=None)
@given(graph=st.builds(chain, st.integers(8, 16), st.integers(2, 4), st.integers(0, 1000)))
def test_lines_overlap_nowhere_and_their_routes_pass_through_no_box(name: str, graph: nx.DiGraph) -> None:
    placed = layout.layout(graph, name)
    assert len({round(placed.positions[node][1]) for node in ("c0", "c5")} | {0}) > 1, "it is in several lines"
    boxes = {n: box(graph, placed, n) for n in graph}
    assert not any(overlaps(a, b) for a, b in itertools.combinations(boxes.values(), 2))
    for routes in (placed.routes, placed.back):
        for key, points in routes.items():
            u, v = ends(key) if routes is placed.routes else ends(key)[::-1]
            assert points[0][0] == pytest.approx(boxes[u][2 if routes is placed.routes else 0])
            assert points[-1][0] == pytest.approx(boxes[v][0 if routes is placed.routes else 2])
            for p, q in itertools.pairwise(points):
                assert not [n for n in graph if n not in (u, v) and crosses(p, q, boxes[n])], key


def in_view(width: float, height: float, count: int = 9) -> layout.Placed:
    graph = nx.DiGraph(view=(width, height))
    nx.add_path(graph, range(count))
    return layout.layout(graph)


def lines_in(placed: layout.Placed) -> int:
    return len({round(y) for _, y in placed.positions.values()})


def test_a_chain_is_broken_only_where_one_line_would_be_small() -> None:
    assert lines_in(in_view(1400, 500)) == 1
    assert lines_in(in_view(740, 500)) == 2
    assert lines_in(in_view(400, 500)) == 3


def test_a_chain_that_is_whole_in_no_way_is_no_wider_than_the_view() -> None:
    placed = in_view(740, 500, 50)
    xs = [x for x, _ in placed.positions.values()]
    assert lines_in(placed) > 3 and max(xs) - min(xs) + 116 <= 740 / views.WHOLE


def test_a_ribbon_of_too_many_lines_stays_one() -> None:
    assert lines_in(in_view(740, 500, 100)) == 1


def test_a_group_is_cut_by_lines_into_boxes_around_what_it_has_in_each() -> None:
    graph = chain_of_groups(3)
    graph.graph["view"] = (330.0, 700.0)
    placed = layout.layout(graph)
    assert len(set(placed.lines.values())) > 2 and placed.parts, "lines, and one that cuts a group"
    for node in graph:
        x0, y0, x1, y1 = box(graph, placed, node)
        group = graph.nodes[node]["group"]
        parts = placed.parts.get(group, [placed.boxes[group]] if group is not None else [])
        holds = [part for part in parts if part[0] <= x0 and part[1] <= y0 and x1 <= part[2] and y1 <= part[3]]
        assert len(holds) == (group is not None)
        assert all(y0 >= part[1] + sheet.HEAD for part in holds), "under its name, which stands in each of its boxes"
        for other, boxes in placed.parts.items():
            assert other == group or not any(overlaps((x0, y0, x1, y1), part) for part in boxes)


@pytest.mark.parametrize(("length", "lines", "cut"), [(5, 2, 0), (7, 2, 0), (8, 4, 2)])
def test_a_round_stands_in_one_line_where_that_is_not_too_small(length: int, lines: int, cut: int) -> None:
    """Seven of a round in each of two lines are seen at 0.687, in three lines that cut both rounds at 0.949."""
    graph = nx.DiGraph(view=(757.0, 607.0), within={"g0": None, "g1": None})
    for group in graph.graph["within"]:
        graph.add_nodes_from((f"{group}.{i}" for i in range(length)), group=group)
    nx.add_path(graph, list(graph))
    placed = layout.layout(graph)
    assert (lines_in(placed), len(placed.parts)) == (lines, cut)


def test_a_picture_like_another_keeps_its_lines_whatever_is_folded() -> None:
    graph = chain_of_groups(6)
    graph.graph["view"] = (900.0, 700.0)
    first = layout.layout(graph)
    again = chain_of_groups(6)
    for node, line in first.lines.items():
        again.nodes[node]["line"] = line
    assert layout.layout(again).positions == first.positions


def test_ways_between_lines_do_not_cross() -> None:
    """Two branches go on in the next line: what leaves above comes back outside of what leaves below."""
    graph = nx.DiGraph(view=(500.0, 900.0))
    for branch in "ab":
        nx.add_path(graph, ["s", *(f"{branch}{i}" for i in range(7)), "e"])
    placed = layout.layout(graph)
    routes = [*placed.routes.values(), *placed.back.values()]
    pieces = [piece for points in routes for piece in itertools.pairwise(points)]
    channels = [(p, q) for p, q in pieces if p[1] == q[1] and abs(p[0] - q[0]) > 200]
    assert len(channels) >= 4
    assert len({round(p[1]) for p, _ in channels}) == len(channels), "each has its own way between the lines"
    upright = [(p, q) for p, q in pieces if p[0] == q[0]]
    for (a, b), (foot, head) in itertools.product(channels, upright):
        beside = min(foot[1], head[1]) < a[1] < max(foot[1], head[1])
        assert not (beside and min(a[0], b[0]) + 1 < foot[0] < max(a[0], b[0]) - 1), "one way crosses another"


def test_a_line_is_as_high_as_what_stands_in_it() -> None:
    """Behind a fan of seven there is a single chain: its line has the height of one box."""
    graph = nx.DiGraph(view=(500.0, 900.0))
    for branch in range(7):
        nx.add_path(graph, ["s", f"b{branch}", "e"])
    nx.add_path(graph, ["e", *range(8)])
    placed = layout.layout(graph)
    lines = {line for _, line in placed.lines.values()}
    assert len(lines) > 2
    for line in sorted(lines)[1:]:
        heights = [placed.positions[node][1] for node, (_, number) in placed.lines.items() if number == line]
        assert max(heights) - min(heights) < 1


def test_what_goes_on_in_a_later_line_arrives_level_and_passes_no_line_between() -> None:
    graph = nx.DiGraph(view=(500.0, 900.0))
    nx.add_path(graph, range(12))
    graph.add_edges_from((0, later) for later in (5, 9, 11))
    placed = layout.layout(graph)
    assert placed.lines[11][1] > placed.lines[5][1] > placed.lines[0][1]
    left = min(x for x, _ in placed.positions.values()) - layered.SIZE[0] / 2
    for u, v in graph.edges:
        if placed.lines[u] == placed.lines[v]:
            continue
        points = placed.routes[u, v]
        outside = [i for i, (x, _) in enumerate(points) if x < left]
        foot, into = points[outside[-1]], points[outside[-1] + 1]
        assert foot[1] == pytest.approx(into[1]), "it comes in level"
        assert len(outside) == 2, "and straight down from the way under its own line"


def test_a_high_picture_that_is_whole_gets_no_further_lines_that_a_low_screen_sees_smaller() -> None:
    def fans(first: int, second: int) -> layout.Placed:
        graph = nx.DiGraph(view=(756.0, 609.0))
        for branch in range(first):
            nx.add_path(graph, ["s", f"b{branch}", "e"])
        graph.add_edge("e", "x")
        for branch in range(second):
            nx.add_path(graph, ["x", f"c{branch}", "f", "g"])
        return layout.layout(graph)

    assert len({line for _, line in fans(5, 2).lines.values()}) == 2
    assert not fans(5, 4).lines


def test_what_leaves_a_group_in_a_group_leads_level_to_the_border_of_the_outer_one() -> None:
    """The inner one grows when its room is laid out; the ports of the outer one follow."""
    made = pictures.scene("training_loop")
    boxes = {group["label"]: group["box"] for group in made["groups"]}
    inner, outer = boxes["SGD.step"][2], boxes["for step · 1"][2]
    assert inner < outer
    ways = [edge["points"] for edge in made["edges"] if edge["source"] in ("t2.1", "t3.1")]
    assert len(ways) > 1
    for way in ways:
        at, beyond = next((a, b) for a, b in itertools.pairwise(way) if b[0] > inner + 1)
        assert at[1] == beyond[1] and beyond[0] > outer, way


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
