"""Order and heights by Graphviz dot, through the pygraphviz wheel, which not every platform has."""

from __future__ import annotations

from typing import Any

from .ranked import GAP, LOW_GAP, Ranked, separated

try:
    import pygraphviz
except ImportError:  # no wheel for this platform: the second layout serves
    pygraphviz = None

POINTS = 72.0
"""Layout units per inch: dot's sizes are in inches, its positions in points."""

LEVEL = 100
"""Weight of the edges that are to run level, against 1 of an edge between two boxes."""


def is_available() -> bool:
    return pygraphviz is not None


def places(graph: Ranked) -> list[float]:
    """The height (y) of each node.  Raises RuntimeError where pygraphviz is missing.

    dot gets the lanes as nodes of their own, so that its ranks are ours; from its answer only the heights are used.
    """
    if pygraphviz is None:
        raise RuntimeError("pygraphviz is not installed")
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
        drawing.add_edge(source, target, weight=str(weight))
    drawing.layout(prog="dot")
    wanted = [-_height(drawing, node) for node in range(len(graph.ranks))]
    layers = [sorted(layer, key=lambda n: wanted[n]) for layer in graph.layers]
    return separated(graph, layers, wanted)


def _height(drawing: Any, node: int) -> float:
    return float(drawing.get_node(node).attr["pos"].split(",")[1])
