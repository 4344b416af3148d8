"""Arguments from top to bottom: an order within the ranks with no more crossings, and more arguments in their order.

If two arguments of an op are in the wrong order, their branches change places: first all nodes that are joined to the
op only through them, then only the nodes that they alone are computed from, then only the two.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from math import comb

from .ranked_graph import RankedGraph, crossings

MOST = 160
"""The most nodes and lanes, and pairs of arguments, for which an order is searched,"""
TRIES = 100
"""and the most orders that are tried: for each, all crossings are counted."""

Layers = list[list[int]]


def ordered(graph: RankedGraph, layers: Layers) -> Layers:
    """The ranks, each in an order with no more crossings than before and as many arguments in order as can be found."""
    count = len(graph.sides) + sum(comb(len(order), 2) for order in graph.arguments)
    if not 0 < count <= MOST or len(graph.ranks) > MOST:
        return layers
    pairs = [*graph.sides, *(pair for order in graph.arguments for pair in combinations(order, 2))]
    best, least, left = layers, _cost(graph, layers), TRIES
    wrong = deque(pairs)
    while wrong and left > 0:
        upper, lower = wrong.popleft()
        place = _places(best)
        if place[upper] < place[lower]:
            continue
        for trial in _exchanges(graph, best, upper, lower):
            cost, left = _cost(graph, trial), left - 1
            if cost < least:
                best, least = trial, cost
                wrong = deque(pairs)  # an obstacle to another pair may be gone
                break
    return best


def _cost(graph: RankedGraph, layers: Layers) -> tuple[int, int]:
    """The number of crossings, and of arguments in the wrong order."""
    place = _places(layers)
    crossed = sum(place[upper] > place[lower] for upper, lower in graph.sides)
    wrong = sum(place[upper] > place[lower] for order in graph.arguments for upper, lower in combinations(order, 2))
    return crossings(graph, layers) + crossed, wrong


def _places(layers: Layers) -> dict[int, int]:
    return {node: i for layer in layers for i, node in enumerate(layer)}


def _exchanges(graph: RankedGraph, layers: Layers, upper: int, lower: int) -> Iterator[Layers]:
    before, after = graph.neighbours
    around = {node: [*before.get(node, ()), *after.get(node, ())] for node in range(len(graph.ranks))}
    shared = set(around[upper]).intersection(around[lower])
    whole = [_reachable(around, node, shared) for node in (upper, lower)]
    if whole[0].isdisjoint(whole[1]):
        yield _exchanged(layers, *whole)
    sources = [_reachable(before, node, set()) for node in (upper, lower)]
    alone = [sources[0] - sources[1], sources[1] - sources[0]]
    yield _exchanged(layers, *alone)
    yield _exchanged(layers, {upper}, {lower})
    yield _reverse(layers, sources[0] | sources[1])
    yield _reverse(layers, alone[0] | alone[1])
    yield [layer[::-1] for layer in layers]


def _reachable(neighbours: Mapping[int, Sequence[int]], start: int, without: Collection[int]) -> set[int]:
    vertices, todo = {start}, [start]
    while todo:
        for node in neighbours.get(todo.pop(), ()):
            if node not in vertices and node not in without:
                vertices.add(node)
                todo.append(node)
    return vertices


def _exchanged(layers: Layers, upper: Collection[int], lower: Collection[int]) -> Layers:
    """The ranks with two branches exchanged: in the positions of both, first the one, then the other."""
    pairs = []
    for layer in layers:
        ours = iter([*(n for n in layer if n in upper), *(n for n in layer if n in lower)])
        pairs.append([next(ours) if n in upper or n in lower else n for n in layer])
    return pairs


def _reverse(layers: Layers, nodes: Collection[int]) -> Layers:
    """The ranks with some nodes in reverse order, in the same positions."""
    pairs = []
    for layer in layers:
        ours = iter([n for n in reversed(layer) if n in nodes])
        pairs.append([next(ours) if n in nodes else n for n in layer])
    return pairs
