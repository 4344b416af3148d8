"""A long chain stands in lines, as text does: where they break, and the ways between them."""

from __future__ import annotations

import itertools

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from viz.layout import choice, sheet, views
from viz.layout.layered import layered, lines

from ..helpers.geometry import LAYERED, box, chain_of_groups, crosses, ends, overlaps
from ..helpers.traces import dag


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
    placed = choice.layout(graph, name)
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


def in_view(width: float, height: float, count: int = 9) -> choice.Picture:
    graph = nx.DiGraph(view=(width, height))
    nx.add_path(graph, range(count))
    return choice.layout(graph)


def lines_in(placed: choice.Picture) -> int:
    return len({round(y) for _, y in placed.positions.values()})


def test_a_row_of_boxes_takes_more_lines_as_long_as_it_is_legible_on_a_low_screen() -> None:
    """A further line makes it larger in its own view; any other picture keeps its size on a low screen."""

    def zooms(**about: float) -> list[float]:
        graph = nx.DiGraph(view=(757.0, 512.0), each=views.EACH_OF_BOXES, **about)
        graph.add_nodes_from(range(10), size=(220.0, 110.0))
        nx.add_path(graph, range(10))
        placed = choice.layout(graph)
        return [views.zoom(graph, placed, view) for view in ((757.0, 512.0), views.lower((757.0, 512.0)))]

    (usual, low), (usual_of_boxes, low_of_boxes) = zooms(), zooms(low=views.WHOLE)
    assert usual < 0.8 < usual_of_boxes and views.WHOLE <= low_of_boxes < low


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


def test_a_row_of_boxes_may_have_more_lines_than_a_ribbon_of_ops() -> None:
    graph = nx.DiGraph(view=(740.0, 500.0))
    graph.add_nodes_from(range(28), size=(270, 60))
    nx.add_path(graph, range(28))
    assert lines_in(choice.layout(graph)) == 1
    graph.graph["lines"] = lines.MOST_OF_BOXES
    assert lines_in(choice.layout(graph)) == 10


def test_a_group_is_cut_by_lines_into_boxes_around_what_it_has_in_each() -> None:
    graph = chain_of_groups(3)
    graph.graph["view"] = (330.0, 700.0)
    placed = choice.layout(graph)
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
    placed = choice.layout(graph)
    assert (lines_in(placed), len(placed.parts)) == (lines, cut)


def test_a_picture_like_another_keeps_its_lines_whatever_is_folded() -> None:
    graph = chain_of_groups(6)
    graph.graph["view"] = (900.0, 700.0)
    first = choice.layout(graph)
    again = chain_of_groups(6)
    for node, line in first.lines.items():
        again.nodes[node]["line"] = line
    assert choice.layout(again).positions == first.positions


def test_ways_between_lines_do_not_cross() -> None:
    """Two branches go on in the next line: what leaves above comes back outside of what leaves below."""
    graph = nx.DiGraph(view=(500.0, 900.0))
    for branch in "ab":
        nx.add_path(graph, ["s", *(f"{branch}{i}" for i in range(7)), "e"])
    placed = choice.layout(graph)
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
    placed = choice.layout(graph)
    lines = {line for _, line in placed.lines.values()}
    assert len(lines) > 2
    for line in sorted(lines)[1:]:
        heights = [placed.positions[node][1] for node, (_, number) in placed.lines.items() if number == line]
        assert max(heights) - min(heights) < 1


def test_what_goes_on_in_a_later_line_arrives_level_and_passes_no_line_between() -> None:
    graph = nx.DiGraph(view=(500.0, 900.0))
    nx.add_path(graph, range(12))
    graph.add_edges_from((0, later) for later in (5, 9, 11))
    placed = choice.layout(graph)
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
    def fans(first: int, second: int) -> choice.Picture:
        graph = nx.DiGraph(view=(756.0, 609.0))
        for branch in range(first):
            nx.add_path(graph, ["s", f"b{branch}", "e"])
        graph.add_edge("e", "x")
        for branch in range(second):
            nx.add_path(graph, ["x", f"c{branch}", "f", "g"])
        return choice.layout(graph)

    assert len({line for _, line in fans(5, 2).lines.values()}) == 2
    assert not fans(5, 4).lines


def test_low_parts_stand_one_below_the_other_beside_a_high_one() -> None:
    graph = nx.DiGraph(view=(800.0, 600.0))
    for branch in range(5):
        nx.add_path(graph, ["s", f"b{branch}", *(f"c{i}" for i in range(5))])
    graph.add_nodes_from(["one", "two", "three"], size=(100.0, 56.0))
    graph.add_node("wide", size=(160.0, 56.0))
    at = layered.place(graph, choice._places, layered.Plan(1600.0)).positions
    assert at["one"][0] == at["two"][0] == at["three"][0] > at["c4"][0]
    assert at["one"][1] < at["two"][1] < at["three"][1] < at["b4"][1]
    assert at["wide"][0] > at["three"][0] and at["wide"][1] == at["one"][1]


def test_a_part_in_a_row_of_its_own_is_not_read_on_from_the_row_above() -> None:
    graph = nx.DiGraph(view=(757.0, 607.0))
    nx.add_path(graph, [f"a{i}" for i in range(6)])
    nx.add_path(graph, [f"b{i}" for i in range(6)])
    picture = layered.place(graph, choice._places, layered.Plan(1000.0))
    assert {line for line, _ in picture.lines.values()} == {0, 1} and views._breaks(picture) == 0


def test_a_picture_that_is_whole_on_a_wide_screen_stays_whole_there() -> None:
    view = (757.0, 607.0)
    graph = nx.DiGraph(view=view)
    for part, length in enumerate((1, 6, 8, 8)):
        nx.add_path(graph, [(part, place) for place in range(length)])
        for branch in range(2 if length > 1 else 0):
            nx.add_path(graph, [(part, 0), (part, "branch", branch), (part, 1)])
    wide = views.WIDE[0] * view[0], views.WIDE[1] * view[1]
    assert views.zoom(graph, choice.layout(graph), wide) >= views.WHOLE
