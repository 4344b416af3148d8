"""Boxes and ways of a picture, and graphs to lay out: what the tests of layouts share."""

from __future__ import annotations

from typing import Any

import networkx as nx

from viz.layout import choice

LAYERED = ("layered", "layered-own")


def box(graph: nx.DiGraph, placed: choice.Picture, node: Any) -> tuple[float, float, float, float]:
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
