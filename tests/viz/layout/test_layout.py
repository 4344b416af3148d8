"""Layouts as properties on random graphs: nothing overlaps, no edge passes through an unrelated box, nothing jumps."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viz.helpers import pictures
from viz.layout import choice, dot
from viz.layout.layered import layered
from viz.layout.layered.ranked_graph import RankedGraph, ranks, spread

from ..helpers.geometry import LAYERED, box, chain_of_groups, crosses, ends, overlaps
from ..helpers.traces import dag

graphs = st.builds(dag, st.integers(2, 40), st.integers(0, 12), st.integers(0, 10_000))


@pytest.mark.parametrize("name", LAYERED)
@settings(max_examples=40, deadline=None)
@given(graph=graphs)
def test_layered_boxes_do_not_overlap(name: str, graph: nx.DiGraph) -> None:
    placed = choice.layout(graph, name)
    boxes = [box(graph, placed, n) for n in graph]
    assert len(boxes) == len(graph)
    assert not any(overlaps(a, b) for a, b in itertools.combinations(boxes, 2))


@pytest.mark.parametrize("name", LAYERED)
@settings(max_examples=40, deadline=None)
@given(graph=graphs)
def test_layered_edges_pass_through_no_unrelated_box(name: str, graph: nx.DiGraph) -> None:
    placed = choice.layout(graph, name)
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
    placed = choice.layout(graph)
    for key, points in placed.routes.items():
        u, v = ends(key)
        assert points[0][0] == pytest.approx(box(graph, placed, u)[2])
        assert points[-1][0] == pytest.approx(box(graph, placed, v)[0])
        assert [x for x, _ in points] == sorted(x for x, _ in points)
        back = placed.back[u, v]
        assert back[0][0] == pytest.approx(points[-1][0]) and back[-1][0] == pytest.approx(points[0][0])


@pytest.mark.parametrize("name", choice.NAMES)
def test_every_layout_gives_the_same_picture_twice_without_overlaps(name: str) -> None:
    graph = dag(30, 8, 3)
    first = choice.layout(graph, name)
    choice.forget()
    second = choice.layout(graph, name)
    assert first.positions == second.positions and first.routes == second.routes
    boxes = [box(graph, first, n) for n in graph]
    assert not any(overlaps(a, b) for a, b in itertools.combinations(boxes, 2))


def test_a_layout_past_its_limit_is_refused_with_the_remedy() -> None:
    graph = dag(130, 0, 1)
    with pytest.raises(choice.LayoutTooSlow, match=r"up to 120 nodes.*130 are open.*Fold groups"):
        choice.layout(graph, "kamada_kawai")


def test_an_unknown_layout_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="there is no layout 'treemap'; there are layered"):
        choice.layout(dag(3, 0, 1), "treemap")


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
    closed, opened = choice.layout(grouped(True)), choice.layout(grouped(False))
    for node in "abf":
        assert opened.positions[node][1] == pytest.approx(closed.positions[node][1])
    for node in "ab":
        assert opened.positions[node] == pytest.approx(closed.positions[node])
    middle = opened.boxes["g0"]
    assert middle[0] < opened.positions["c"][0] < opened.positions["e"][0] < middle[2]
    assert not overlaps(middle, box(grouped(False), opened, "g"))


def test_an_edge_into_a_group_is_one_line_through_its_port() -> None:
    placed = choice.layout(grouped(False))
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
    graph = RankedGraph((0, 1, 1, 2), (56.0, 56.0, 84.0, 56.0), frozenset(), ((0, 1), (0, 2), (1, 3), (2, 3)))
    worker = choice.Worker()
    try:
        assert worker.places(graph) == pytest.approx(dot.places(graph))
    finally:
        worker.stop()


def test_a_worker_over_its_limit_is_ended_and_the_next_task_starts_another() -> None:
    graph = RankedGraph((0, 1), (56.0, 56.0), frozenset(), ((0, 1),))
    worker = choice.Worker()
    try:
        assert worker.places(graph, limit=0.0) is None
        assert worker._process is None
        if dot.is_available():
            assert worker.places(graph) is not None
    finally:
        worker.stop()


def test_the_second_layout_serves_without_pygraphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dot, "pygraphviz", None)
    choice.forget()
    graph = dag(20, 5, 2)
    assert choice.layout(graph).positions == choice.layout(graph, "layered-own").positions
    choice.forget()


class CountedNode:
    """A node whose comparisons are work that is counted: a search through a list shows."""

    def __init__(self, name: int) -> None:
        self.name = name

    def __eq__(self, other: object) -> bool:
        return isinstance(other, CountedNode) and self.name == other.name

    def __hash__(self) -> int:
        return hash(self.name)


def work(nodes: int) -> int:
    """The lines of Python that run while a ribbon is laid out: as many on a quiet machine as on a loaded one."""
    graph = nx.DiGraph()
    names = [CountedNode(i) for i in range(nodes)]
    nx.add_path(graph, names)
    nx.add_path(graph, names[::7])
    choice.forget()
    count = 0

    def note(*_: Any) -> Any:
        nonlocal count
        count += 1
        return note

    before = sys.gettrace()
    sys.settrace(note)
    try:
        placed = layered.place(graph, choice._own)
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
    placed = choice.layout(graph)
    spans = []
    for part in ({0, 1, 2}, {10, 11, 12}, {20, 21, 22, 23}):
        boxes = [box(graph, placed, n) for n in part]
        spans.append((min(b[1] for b in boxes), max(b[3] for b in boxes)))
    assert spans[0][1] < spans[1][0] and spans[1][1] < spans[2][0]


def test_a_chain_through_groups_runs_level() -> None:
    placed = choice.layout(chain_of_groups(6))
    heights = [placed.positions[f"{name}{i}"][1] for i in range(1, 6) for name in ("mul", "h")]
    assert max(heights) - min(heights) < 1.0


def test_what_leaves_a_group_in_a_group_leads_level_to_the_border_of_the_outer_one() -> None:
    """The inner one grows when its room is laid out; the ports of the outer one follow."""
    made = pictures.scene("training_loop")
    boxes = {group["label"]: group["box"] for group in made["groups"]}
    inner, outer = boxes["SGD.step"][2], boxes["step = 0"][2]
    assert inner < outer
    ways = [edge["points"] for edge in made["edges"] if edge["source"] in ("t2.1", "t3.1")]
    assert len(ways) > 1
    for way in ways:
        at, beyond = next((a, b) for a, b in itertools.pairwise(way) if b[0] > inner + 1)
        assert at[1] == beyond[1] and beyond[0] > outer, way
