"""The second layout: order by barycentre sweeps, then straighten.  No library; time linear in nodes and lanes.

Lists, not arrays: autograd graphs have thousands of ranks of about four nodes, and a numpy call per rank costs more
than the four nodes do (measured: 3,000 nodes in 0.1 s).
"""

from __future__ import annotations

from itertools import pairwise

from .argument_order import ordered
from .ranked_graph import RankedGraph, crossings, separated, spread

SWEEPS = 8
STRAIGHTENINGS = 10


def places(graph: RankedGraph) -> list[float]:
    """The height (y) of each node; deterministic."""
    layers = ordered(graph, order(graph))
    return straighten(graph, layers)


def order(graph: RankedGraph) -> list[list[int]]:
    """The order within each rank after a fixed number of sweeps, and the best of them by crossings."""
    before, after = graph.neighbours
    layers = [list(layer) for layer in graph.layers]
    place = {node: i for layer in layers for i, node in enumerate(layer)}
    best, fewest = [list(layer) for layer in layers], crossings(graph, layers)
    for sweep in range(SWEEPS):
        forward = sweep % 2 == 0
        near = before if forward else after
        for layer in layers if forward else reversed(layers):
            if len(layer) < 2:
                continue
            centre = {n: sum(place[m] for m in near[n]) / len(near[n]) if n in near else place[n] for n in layer}
            layer.sort(key=lambda n: centre[n])
            place.update((node, i) for i, node in enumerate(layer))
        count = crossings(graph, layers)
        if count < fewest:
            best, fewest = [list(layer) for layer in layers], count
        if fewest == 0:
            break
    return best


def straighten(graph: RankedGraph, layers: list[list[int]]) -> list[float]:
    """Heights in the middle of the neighbours; lanes pull hardest, so that long edges are straight."""
    before, after = graph.neighbours
    y = separated(graph, layers, [0.0] * len(graph.ranks))
    lanes = graph.lanes
    for turn in range(STRAIGHTENINGS):
        for layer in layers if turn % 2 == 0 else reversed(layers):
            centres = []
            for node in layer:
                total = weight = 0.0
                for other in (*before.get(node, ()), *after.get(node, ())):
                    pull = 1.0 + 3.0 * (node in lanes) + 3.0 * (other in lanes and node in lanes)
                    total += pull * y[other]
                    weight += pull
                centres.append(total / weight if weight else y[node])
            gaps = [graph.distance(a, b) for a, b in pairwise(layer)]
            for node, place in zip(layer, spread(centres, gaps), strict=True):
                y[node] = place
    return y
