"""Edges enter an op in the order of its arguments, from top to bottom, where that crosses nothing."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from itertools import combinations

import networkx as nx
import pytest

from tests.viz.helpers import pictures
from viz.layout import choice, dot
from viz.layout.layered import argument_order, lines, turns
from viz.layout.layered.ports import Anchors, GradientOrigin
from viz.layout.layered.ranked_graph import RankedGraph, crossings

LAYERED = ("layered", "layered-own")
CARD = {"size": (116.0, 56.0), "anchors": Anchors(fan=False)}


def fed(*edges: tuple[str, str, int]) -> nx.DiGraph:
    """Cards and ops; an edge says which argument it is."""
    graph = nx.DiGraph()
    for u, v, place in edges:
        for node in (u, v):
            graph.add_node(node, **CARD)
        graph.add_edge(u, v, argument=place)
    for node in graph:
        if graph.in_degree(node):
            graph.nodes[node]["anchors"] = Anchors()
    return graph


@pytest.mark.parametrize("name", LAYERED)
@pytest.mark.parametrize("first", ["a", "b"])
def test_the_first_argument_comes_from_above(name: str, first: str) -> None:
    """Whichever of the cards the program makes first."""
    graph = fed(*sorted([("a", "op", 0), ("b", "op", 1)], key=lambda edge: edge[0] != first))
    placed = choice.layout(graph, name)
    assert placed.positions["a"][1] < placed.positions["b"][1]
    assert placed.routes["a", "op"][-1][1] < placed.routes["b", "op"][-1][1]


@pytest.mark.parametrize("name", LAYERED)
def test_a_whole_branch_changes_places_with_another(name: str) -> None:
    graph = fed(("b", "x", 0), ("c", "x", 1), ("x", "y", 0), ("a", "z", 0), ("z", "op", 0), ("y", "op", 1))
    placed = choice.layout(graph, name)
    heights = {node: y for node, (_, y) in placed.positions.items()}
    assert heights["a"] < heights["b"] < heights["c"]
    assert placed.routes["z", "op"][-1][1] < placed.routes["y", "op"][-1][1]


def test_an_order_is_kept_that_crosses_less() -> None:
    """a (op) b and b (op) a one under the other: one of the two is not fed as written."""
    graph = RankedGraph(
        (0, 0, 1, 1), (56.0,) * 4, frozenset(), ((0, 2), (1, 2), (0, 3), (1, 3)), arguments=((0, 1), (1, 0))
    )
    assert argument_order.ordered(graph, [[0, 1], [2, 3]]) == [[0, 1], [2, 3]]
    apart = RankedGraph((0, 0, 1, 1), (56.0,) * 4, frozenset(), ((0, 2), (1, 3), (1, 2)), arguments=((1, 0),))
    layers = argument_order.ordered(apart, [[0, 1], [2, 3]])
    assert crossings(apart, layers) == 0
    assert layers == [[1, 0], [3, 2]], "all of it upside down crosses nothing either"


@pytest.mark.parametrize("name", LAYERED)
def test_what_comes_from_a_gradient_lies_below_what_comes_from_its_value(name: str) -> None:
    graph = nx.DiGraph()
    graph.add_node("w", size=(116.0, 136.0), anchors=Anchors(-15.0, 35.0, 0.0, 35.0, fan=False))
    graph.add_edge("w", "step", origin=GradientOrigin("w"))
    graph.add_edge("w", "use")
    placed = choice.layout(graph, name)
    assert placed.positions["use"][1] < placed.positions["step"][1]


def test_what_leaves_a_line_above_enters_a_later_one_above() -> None:
    """Whatever order is asked for there: ways lie in one another."""
    graph = nx.DiGraph()
    nx.add_path(graph, ["a", *(f"a{i}" for i in range(12)), "end"])
    nx.add_path(graph, ["b", *(f"b{i}" for i in range(12)), "end"])
    for number in (0, 1):
        graph.graph["view"] = (757.0, 607.0)
        graph.edges["a11", "end"]["argument"], graph.edges["b11", "end"]["argument"] = number, 1 - number
        placed = choice.layout(graph)
        assert len(set(placed.lines.values())) > 1
        cut = [way for way in placed.routes.values() if len(way) > 5]
        for one, other in combinations(cut, 2):
            assert (one[0][1] < other[0][1]) == (one[-1][1] < other[-1][1])


def test_ports_of_a_line_follow_the_parts_of_the_next_one() -> None:
    over: list[turns.Over] = [("low", "p", 0, 1), ("high", "q", 0, 1), ("far", "r", 0, 2)]
    parts: list[Mapping[Hashable, int]] = [{}, {"low": 1, "high": 0}, {"far": 0}]
    found = lines.sides(0, over, [], parts)
    assert set(found) == {(("out", a), ("out", b)) for a, b in ("qp", "qr", "pr")}


@pytest.mark.skipif(not dot.is_available(), reason="pygraphviz is not installed")
def test_the_worker_is_told_of_arguments() -> None:
    graph = RankedGraph((0, 0, 1), (56.0,) * 3, frozenset(), ((0, 2), (1, 2)), arguments=((1, 0),))
    worker = choice.Worker()
    try:
        found = worker.places(graph)
    finally:
        worker.stop()
    assert found is not None and found[1] < found[0]
    assert found == pytest.approx(dot.places(graph))


def test_most_ops_of_the_gallery_are_fed_as_written() -> None:
    """Of the others one argument would have to cross something."""
    several, wrong = 0, []
    for name in pictures.names():
        scene = pictures.scene(name)
        ops = {node["id"] for node in scene["nodes"] if node["kind"] == "op"}
        into: dict[str, list[tuple[float, int]]] = {}
        for edge in scene["edges"]:
            if edge["target"] in ops and edge["input"] is not None:
                place = int(edge["id"].rsplit(":", 1)[1])
                into.setdefault(edge["target"], []).append((edge["points"][-1][1], place))
        for op, coming in into.items():
            several += len(coming) > 1
            if [place for _, place in sorted(coming)] != sorted(place for _, place in coming):
                wrong.append(f"{name} {op}")
    assert several > 200 and len(wrong) <= 0.12 * several, wrong


def test_op_of_thousands_of_arguments_is_left_as_it_is_without_a_look_at_their_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of 10,000 there are 50 million: a list of them took 4 GB."""
    count = 10_000
    edges = tuple((k, count) for k in range(count))
    graph = RankedGraph((*[0] * count, 1), (56.0,) * (count + 1), frozenset(), edges, arguments=(tuple(range(count)),))
    layers = [list(range(count)), [count]]
    monkeypatch.setattr(argument_order, "combinations", lambda *_: pytest.fail("all pairs"))
    assert argument_order.ordered(graph, layers) == layers
