"""Order and heights by Graphviz dot, through the pygraphviz wheel, which not every platform has."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from .layered.argument_order import ordered
from .layered.ranked_graph import GAP, LOW_GAP, RankedGraph, separated

try:
    import pygraphviz
except ImportError:  # no wheel for this platform: the second layout is used
    pygraphviz = None

POINTS = 72.0
"""Layout units per inch: dot's sizes are in inches, its positions in points."""

LEVEL = 100
"""Weight of the edges that should run level; an edge between two boxes has 1."""
HEAVIER = 20
"""Weight of an edge that is drawn; one that only keeps an order has 1."""
LONGER, SOME = 1.5, 40.0
"""How much more the edges of an order with more arguments in place may climb: a factor, and layout units."""


def is_available() -> bool:
    return pygraphviz is not None


def places(graph: RankedGraph) -> list[float]:
    """The height (y) of each node: in dot's order, or in one with more arguments in place if it climbs little more.

    Raises RuntimeError if pygraphviz is missing.
    """
    if pygraphviz is None:
        raise RuntimeError("pygraphviz is not installed")
    first = _heights(graph, None)
    layers = [sorted(layer, key=lambda n: first[n]) for layer in graph.layers]
    better = ordered(graph, layers)
    if better == layers:
        return first
    second = _heights(graph, better)
    return second if _climb(graph, second) <= LONGER * _climb(graph, first) + SOME else first


def _heights(graph: RankedGraph, layers: list[list[int]] | None) -> list[float]:
    """Heights in dot's order, or in that of `layers`.

    dot receives the lanes as nodes, so that its ranks are ours; of its answer only the heights are used.
    """
    drawing = pygraphviz.AGraph(strict=False, directed=True)
    drawing.graph_attr.update(rankdir="LR", nodesep=str(GAP / POINTS), ranksep="0.5", splines="false")
    drawing.node_attr.update(shape="box", fixedsize="true", label="", width="0.5")
    for node, height in enumerate(graph.heights):
        if graph.is_low(node):
            height -= 2 * (GAP - LOW_GAP)  # dot knows one distance only
        drawing.add_node(node, height=f"{height / POINTS:.4f}")
    for source, target in graph.edges:
        straight = (source in graph.lanes) + (target in graph.lanes)
        weight = LEVEL if (source, target) in graph.level else (1, 4, 16)[straight]
        drawing.add_edge(source, target, weight=str(weight * (1 if layers is None else HEAVIER)))
    for layer in layers or ():
        drawing.add_subgraph(layer, rank="same")
        for upper, lower in pairwise(layer):
            drawing.add_edge(upper, lower, style="invis", weight="1")  # such an edge keeps the order; one of 0 does not
    drawing.layout(prog="dot")
    heights = [-_height(drawing, node) for node in range(len(graph.ranks))]
    if layers is None:
        layers = [sorted(layer, key=lambda n: heights[n]) for layer in graph.layers]
    return separated(graph, layers, heights)


def _climb(graph: RankedGraph, places: list[float]) -> float:
    return sum(abs(places[source] - places[target]) for source, target in graph.edges)


def _height(drawing: Any, node: int) -> float:
    return float(drawing.get_node(node).attr["pos"].split(",")[1])
