"""Ways from line to line turn where nothing is in their way any more, and touch no card all the same."""

from __future__ import annotations

import itertools
from typing import Any

import networkx as nx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.viz.helpers import pictures
from tests.viz.helpers.geometry import LAYERED, box, crosses, ends
from tests.viz.helpers.traces import dag
from viz.layout import cards, choice
from viz.layout.layered import layered
from viz.layout.layered.ports import from_height
from viz.layout.layered.turns import BESIDE, LineRoute, with_turns
from viz.layout.sheet import Piece, Point
from viz.scene.reading import reading_of
from viz.scene.visible_graph import VisibleGraph

in_lines = st.builds(dag, st.integers(8, 30), st.integers(0, 8), st.integers(0, 10_000))


def uprights(way: list[Point]) -> list[float]:
    return [a[0] for a, b in itertools.pairwise(way) if a[0] == b[0]]


def chain(*more: tuple[Any, Any]) -> tuple[nx.DiGraph, choice.Picture]:
    """Nine in two lines, and edges between them."""
    graph = nx.DiGraph(view=(740.0, 500.0))
    nx.add_path(graph, range(9))
    graph.add_edges_from(more)
    placed = choice.layout(graph)
    assert [placed.lines[node] for node in (4, 5)] == [(0, 0), (0, 1)]
    return graph, placed


def test_a_way_goes_down_beside_what_it_comes_from_where_all_is_free_below() -> None:
    """As of a leaf that later lines use: its way would frame the line on its way to the right margin."""
    _, placed = chain(("w", 1), ("w", 7))
    right = placed.positions["w"][0] + layered.SIZE[0] / 2
    for way in (placed.routes["w", 7], placed.back["w", 7][::-1]):
        assert 0 < uprights(way)[0] - right <= BESIDE + 5
    assert uprights(placed.routes[4, 5])[0] > placed.positions[4][0], "the chain itself leaves at the right margin"


def test_between_lines_no_way_runs_so_far_under_a_node_as_it_needs() -> None:
    """What glows around it, and the lines that run around it from cell to cell, have their own room."""

    def apart(under: float) -> tuple[float, float]:
        graph, _ = chain(("w", 7))
        graph.nodes[4]["under"] = under
        placed = choice.layout(graph)
        levels = [a[1] for way in placed.routes.values() for a, b in itertools.pairwise(way) if b[0] < a[0]]
        bottom = placed.positions[4][1] + layered.SIZE[1] / 2
        return min(y for y in levels if y > bottom) - bottom, placed.positions[5][1] - placed.positions[4][1]

    (near, step), (far, wider) = apart(0.0), apart(60.0)
    assert near < 60.0 <= far < 60.0 + near
    assert wider - step == pytest.approx(far - near), "and no more than that"


@pytest.mark.parametrize(
    ("program", "label", "found"),
    [
        ("diamond", "x", cards.WIRES), ("diamond", "a", cards.WIRES), ("diamond", "y", cards.WIRES),
        ("engine_order", "inner", cards.HALO), ("diamond", "sin", cards.HALO), ("leaf_facts", "t", 0.0),
    ],
)  # fmt: skip
def test_under_a_card_with_one_line_of_cells_there_is_room_for_lines_from_cell_to_cell(
    program: str, label: str, found: float
) -> None:
    """Under a value alone no line runs, and under what takes part in no backward pass nothing does."""
    store = pictures.store()
    read = reading_of(store.trace(store.revision(program, None)))
    graph = VisibleGraph(read.facts, read.drawing, frozenset()).graph()
    (node,) = (one for one in graph if cards.head(read.drawing.items[one], read.drawing)[0] == label)
    assert graph.nodes[node]["under"] == found


def piece(cards: dict[str, Point], routes: dict[str, list[Point]], right: float, height: float) -> Piece:
    found = Piece(box=(0.0, height - 40, right, height + 40))
    found.at.update(cards)
    found.routes.update({key: (way, [(x, y + 6) for x, y in way]) for key, way in routes.items()})
    return found


def turns(above: dict[str, Point], below: dict[str, Point], into: list[Point]) -> LineRoute:
    """Of a way from a card at (50, 0), level to the right, that comes into a line at 200."""
    pieces = [
        piece({"a": (50.0, 0.0), **above}, {"e": [(100.0, 0.0), (600.0, 0.0)]}, 600.0, 0.0),
        piece(below, {"e": into}, 600.0, 200.0),
    ]
    over = [("e", "a", 0, 1)]
    return with_turns({("a", 0): LineRoute(0, 1, 0.0)}, pieces, over, {"e": "a"}, lambda _: (100.0, 40.0))["a", 0]


def test_a_way_stays_level_as_long_as_something_stands_below() -> None:
    entering = [(-18.0, 200.0), (0.0, 200.0)]
    assert turns({}, {}, entering).out == 120.0
    beneath = turns({"b": (150.0, 40.0), "c": (262.0, 40.0)}, {}, entering)
    assert beneath.out == 319.0, "between the two there is no room"
    assert turns({"b": (560.0, 40.0), "c": (150.0, 40.0)}, {}, entering).out < 510.0
    assert turns({f"c{x}": (x, 40.0) for x in (150.0, 260.0, 370.0, 480.0, 560.0)}, {}, entering).out > 600.0


def test_a_way_comes_into_the_next_line_where_nothing_stands_above() -> None:
    """Over a card it comes down at once, under it from the left margin."""
    into = [(-18.0, 180.0), (300.0, 180.0), (340.0, 200.0)]
    assert turns({}, {"b": (100.0, 210.0)}, into).into == 320.0
    assert turns({}, {"b": (100.0, 210.0), "c": (320.0, 120.0)}, into).into == pytest.approx(263.0)
    assert turns({}, {f"b{x}": (x, 150.0) for x in (50.0, 160.0, 270.0, 330.0)}, into).into == -18.0


def test_ways_that_turn_cross_no_others_under_their_line() -> None:
    """What runs below in the channel must not be met on the way down."""
    long, short = LineRoute(0, 1, 0.0, 1, 0, out=100.0, into=-30.0), LineRoute(0, 1, 0.0, 0, 1, out=300.0, into=-18.0)
    assert not long.crosses(short) and not short.crosses(long)
    nearer = LineRoute(0, 1, 0.0, 1, 0, out=100.0, into=50.0)
    assert nearer.crosses(short) and short.crosses(nearer)
    assert not nearer.crosses(LineRoute(0, 1, 0.0, 0, 1, out=300.0, into=60.0))


@pytest.mark.parametrize("name", LAYERED)
@settings(max_examples=30, deadline=None)
@given(graph=in_lines)
def test_in_lines_no_way_passes_through_an_unrelated_box(name: str, graph: nx.DiGraph) -> None:
    graph.graph["view"] = (500.0, 700.0)
    placed = choice.layout(graph, name)
    boxes = {node: box(graph, placed, node) for node in graph}
    for key, way in [*placed.routes.items(), *placed.back.items()]:
        for p, q in itertools.pairwise(way):
            assert not [n for n in graph if n not in ends(key) and crosses(p, q, boxes[n])], key


@pytest.mark.parametrize(
    ("way", "found"),
    [
        ([(100.0, 40.0), (64.0, 10.0)], [(100.0, 0.0), (64.0, 10.0)]),  # another climb
        ([(100.0, 40.0), (90.0, 40.0), (54.0, 10.0)], [(100.0, 0.0), (90.0, 0.0), (54.0, 10.0)]),  # in its column
        ([(100.0, 40.0), (-30.0, 40.0), (-30.0, 90.0)], [(100.0, 0.0), (72.0, 40.0), (-30.0, 40.0), (-30.0, 90.0)]),
        ([(100.0, 40.0), (64.0, 40.0)], [(100.0, 0.0), (72.0, 40.0), (64.0, 40.0)]),
    ],
)
def test_a_way_that_begins_elsewhere_on_a_side_joins_the_same_way(way: list[Point], found: list[Point]) -> None:
    assert from_height(way, 0.0) == found


def test_a_root_passes_the_gradients_of_other_roots_on_beside_its_value() -> None:
    """Of its own call they begin in the row that shows what is passed."""
    made = pictures.scene("scalar_only")
    node = next(node for node in made["nodes"] if node["label"] == "out")
    (edge,) = (edge for edge in made["edges"] if edge["target"] == node["id"])
    own, other = edge["back"][0][1] - node["y"], edge["through"][0][1] - node["y"]
    assert own == cards.card_anchors((node["w"], node["h"]), node["rows"]).left_back > 0 > other
    assert edge["through"][0][0] == edge["back"][0][0] and edge["through"][1:] == edge["back"][1:]
    assert not any("through" in one for one in made["edges"] if one["target"] != node["id"])
