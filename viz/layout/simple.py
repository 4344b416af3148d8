"""networkx's own layouts: offered in the menu for as many nodes as they can place quickly, with boxes kept apart."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import networkx as nx
import numpy as np

from .layered.layered import SIZE, Picture
from .sheet import Point

SEED = 7
GAP = 24.0
WIDE = 1.6
"""Width of a picture in rows, relative to the side of a square of the same area."""


@dataclass(frozen=True, slots=True)
class Offer:
    """A layout of the menu: the most nodes (`limit`), and the reason for that limit."""

    run: Callable[[nx.DiGraph], dict[Hashable, Any]]
    limit: int
    why: str


def _multipartite(graph: nx.DiGraph) -> dict[Hashable, Any]:
    ranked = nx.DiGraph(graph.edges())
    ranked.add_nodes_from(graph)
    for rank, nodes in enumerate(nx.topological_generations(ranked)):
        for node in nodes:
            ranked.nodes[node]["subset"] = rank
    return dict(nx.multipartite_layout(ranked))


OFFERS: dict[str, Offer] = {
    "multipartite": Offer(
        _multipartite, 1000, "it draws long edges through the nodes between, and boxes are kept apart pair by pair"
    ),
    "spring": Offer(lambda g: nx.spring_layout(g, seed=SEED), 400, "every node pushes every other one"),
    "kamada_kawai": Offer(nx.kamada_kawai_layout, 120, "it compares all distances: two seconds at 300 nodes"),
    "forceatlas2": Offer(
        lambda g: nx.forceatlas2_layout(g, seed=SEED), 200, "it takes half a second at 300 nodes, 40 at 3,000"
    ),
    "circular": Offer(nx.circular_layout, 300, "the circle outgrows the screen"),
    "shell": Offer(nx.shell_layout, 300, "the circle outgrows the screen"),
    "spiral": Offer(nx.spiral_layout, 300, "the spiral outgrows the screen"),
}


class LayoutTooSlow(Exception):
    """A layout would take too long on this graph; the text says what to do."""


def place(graph: nx.DiGraph, name: str) -> Picture:
    """Positions by a layout of networkx, scaled until no boxes overlap, with straight edges.

    Raises LayoutTooSlow above the layout's limit, ValueError for a name that is not offered.
    """
    offer = OFFERS.get(name)
    if offer is None:
        raise ValueError(f"there is no layout {name!r}; there are layered, layered-own, {', '.join(OFFERS)}")
    if len(graph) > offer.limit:
        raise LayoutTooSlow(
            f"{name} is offered up to {offer.limit} nodes, since {offer.why}; {len(graph)} are open here. "
            "Fold groups to show fewer, or use the layered layout."
        )
    plain = nx.DiGraph()  # parallel edges would count twice, and attributes are not weights
    plain.add_nodes_from(graph)
    plain.add_edges_from(graph.edges())
    nodes = list(graph)
    positions = offer.run(plain)
    at = np.array([positions[n] for n in nodes], dtype=float).reshape(-1, 2)
    size = np.array([graph.nodes[n].get("size", SIZE) for n in nodes], dtype=float).reshape(-1, 2)
    at = apart(at, size + GAP)
    picture = Picture({n: (float(x), float(y)) for n, (x, y) in zip(nodes, at, strict=True)}, name=name)
    join(graph, picture)
    return picture


def rows(graph: nx.DiGraph) -> Picture:
    """The nodes in their order, row under row, with straight edges: for every graph, even one with a cycle."""
    picture = Picture()
    size = {node: graph.nodes[node].get("size", SIZE) for node in graph}
    wide = WIDE * math.sqrt(sum((w + GAP) * (h + GAP) for w, h in size.values()))
    x, top, low = 0.0, 0.0, 0.0
    for node, (w, h) in size.items():
        if x and x + w > wide:
            x, top = 0.0, low + 2 * GAP
        picture.positions[node] = (x + w / 2, top + h / 2)
        x, low = x + w + 2 * GAP, max(low, top + h)
    join(graph, picture)
    return picture


def join(graph: nx.DiGraph, picture: Picture) -> None:
    """Straight edges between placed nodes."""
    edges = graph.edges(keys=True) if graph.is_multigraph() else ((u, v, (u, v)) for u, v in graph.edges())
    twins: dict[tuple[Hashable, Hashable], int] = {}
    for u, v, key in edges:
        twins[u, v] = nth = twins.get((u, v), -1) + 1
        start, end = ends(graph, picture.positions, u, v)
        normal = np.array([start[1] - end[1], end[0] - start[0]])
        side = normal / max(float(np.hypot(*normal)), 1e-9)
        middle = (np.array(start) + np.array(end)) / 2
        picture.routes[key] = [start, _point(middle - side * (6 + 12 * nth)), end]
        picture.back[key] = [end, _point(middle + side * (6 + 12 * nth)), start]


def _point(xy: np.ndarray) -> Point:
    return float(xy[0]), float(xy[1])


def apart(at: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Scale positions (n, 2) until boxes of `size` (n, 2) are apart; coinciding ones are first pushed along a line."""
    n = len(at)
    if n < 2:
        return at * 0.0
    at = (at - at.mean(axis=0)) / max(float(np.ptp(at, axis=0).max()), 1e-9)
    at = at + np.arange(n)[:, None] * 1e-6  # no two points coincide, whatever the layout returned
    scale = float(np.sqrt((size[:, 0] * size[:, 1]).sum()) * 1.3)
    at = at * scale
    for _ in range(60):
        for _ in range(40):
            push = _overlap(at, size)
            if push is None:
                return at
            at = at + push
        at = at * 1.25
    return np.stack([np.arange(n) * size[:, 0].max(), at[:, 1] * 0.0], axis=1)


def _overlap(at: np.ndarray, size: np.ndarray) -> np.ndarray | None:
    """How far to push each box, or None if none overlap."""
    between = at[:, None, :] - at[None, :, :]
    room = (size[:, None, :] + size[None, :, :]) / 2 - np.abs(between)
    np.einsum("iik->ik", room)[:] = -1.0
    hit = (room > 1e-6).all(axis=2)
    if not hit.any():
        return None
    along = room[..., 0] <= room[..., 1]
    sign = np.where(between >= 0, 1.0, -1.0)
    push = np.zeros_like(between)
    push[..., 0] = np.where(hit & along, sign[..., 0] * (room[..., 0] / 2 + 0.5), 0.0)
    push[..., 1] = np.where(hit & ~along, sign[..., 1] * (room[..., 1] / 2 + 0.5), 0.0)
    return np.asarray(push.sum(axis=1))


def ends(graph: nx.DiGraph, positions: dict[Hashable, Point], u: Hashable, v: Hashable) -> tuple[Point, Point]:
    """The points at which the straight line between two boxes leaves the one and enters the other."""
    return _border(graph, positions, u, v), _border(graph, positions, v, u)


def _border(graph: nx.DiGraph, positions: dict[Hashable, Point], u: Hashable, v: Hashable) -> Point:
    (x, y), (x1, y1) = positions[u], positions[v]
    w, h = graph.nodes[u].get("size", SIZE)
    dx, dy = x1 - x, y1 - y
    t = min(w / 2 / abs(dx) if dx else np.inf, h / 2 / abs(dy) if dy else np.inf, 1.0)
    return float(x + dx * t), float(y + dy * t)
