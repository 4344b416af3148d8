"""A quantity over time: the results of one expression in every iteration, as one series.

The states of a recurrent network are computed by one expression, one in each iteration of the loop: the norms of their
gradients, side by side, show how far back the loss has an influence.  A leaf that several calls reach has a norm for
each of them, and a loss that each iteration computes has its values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from engine.trace.events import Accumulated, VjpRun

from ..graph.graph import Item
from ..reading import text
from ..reading.facts import Facts
from ..reading.values import as_json
from ..schema.details import Series
from ..schema.values import Num, Track
from .reading import Reading

FEWEST = 3
"""The number of points below which a series shows nothing that the cards do not."""
MOST = 256
"""The most points that are sent, evenly spaced, with the first and the last among them."""


@dataclass(frozen=True, slots=True)
class Point:
    """One iteration: `label` names it, `element` is the id of its card, `moments` are (event, trace value) from which
    on it has a number."""

    label: str
    element: str | None
    moments: tuple[tuple[int, int], ...]


def through(reading: Reading, item: Item) -> Series | None:
    """The series of an element, as in docs/scene-format.md; None if it occurs fewer than three times. Cost: linear in
    the ops."""
    if item.op is not None:
        facts, event = reading.facts, reading.facts.ops[item.op].event
        if event.node is None:
            return None
        title = f"norm of the gradient that {event.node.name} receives"
        ops = _again(reading, item.op)
        names = _iterations(reading, ops)
        points = [_gradient(facts, op, 0, None, name) for op, name in zip(ops, names, strict=True)]
        return _series(reading, title, "norm", points, ops.index(item.op))
    if item.tensor is None:
        return None
    return _of_leaf(reading, item.tensor) or _of_results(reading, item)


def through_group(reading: Reading, group: str) -> Series | None:
    """The series of a group's result: the first one with a gradient that is used outside of it."""
    drawing = reading.drawing
    inside = {i for i, item in drawing.items.items() if group in drawing.grouping.paths[item.group]}
    for link in drawing.links.values():
        if link.grad and link.source in inside and link.target not in inside:
            return through(reading, drawing.items[link.source])
    return None


def _of_leaf(reading: Reading, tensor: int) -> Series | None:
    """The gradient that each backward call brought to a leaf."""
    facts = reading.facts
    events = [e for e in facts.trace.events if isinstance(e, Accumulated) and e.tensor == tensor and not e.retained]
    name = facts.names.get(tensor) or "the leaf"
    iterations = reading.drawing.grouping.iterations_of_calls
    labels = _told_apart([iterations.get(e.call, ()) for e in events], [f"call {e.call + 1}" for e in events])
    points = [Point(label, None, ((e.index, e.added),)) for label, e in zip(labels, events, strict=True)]
    return _series(reading, f"norm of the gradient that each call adds to {name}.grad", "norm", points)


def _of_results(reading: Reading, item: Item) -> Series | None:
    """The results of one expression, iteration by iteration: values of a loss, gradients of everything else."""
    facts = reading.facts
    assert item.tensor is not None
    op = facts.tensors[item.tensor].producers.get(item.version)
    if op is None:
        return None
    place = next(n for n, out in enumerate(facts.ops[op].event.outputs) if out.tensor == item.tensor)
    ops = _again(reading, op)
    name = facts.names.get(item.tensor) or "the result"
    outs = [facts.ops[k].event.outputs[place] for k in ops]
    iterations = _iterations(reading, ops)
    if item.role == "root" and all(text.size(out.shape) == 1 for out in outs):
        points = [
            Point(label, reading.drawing.card(out.tensor), ((facts.ops[k].event.index, out.value),))
            for label, k, out in zip(iterations, ops, outs, strict=True)
        ]
        return _series(reading, f"{name} in each iteration", "size", points, ops.index(op))
    cards = [reading.drawing.card(out.tensor) for out in outs]
    accumulations: dict[int, list[Accumulated]] = {out.tensor: [] for out in outs}
    for event in facts.trace.events:
        if isinstance(event, Accumulated) and event.retained and event.tensor in accumulations:
            accumulations[event.tensor].append(event)
    points = [
        _gradient(facts, k, place, card, label, accumulations[out.tensor])
        for k, card, label, out in zip(ops, cards, iterations, outs, strict=True)
    ]
    roots = {facts.names.get(root) for root in facts.roots}
    loss = roots.pop() if len(roots) == 1 else None
    return _series(reading, f"norm of ∂{loss or 'L'}/∂{name} in each iteration", "norm", points, ops.index(op))


def _again(reading: Reading, op: int) -> list[int]:
    """The ops that the same code ran: one for each time that this position of the call was reached."""
    facts, grouping = reading.facts, reading.drawing.grouping
    own = facts.ops[op].event
    alike = [
        k for k, fact in enumerate(facts.ops)
        if fact.event.stack == own.stack and fact.event.name == own.name and fact.order == facts.ops[op].order
        and fact.writes_grad is None
    ]  # fmt: skip
    nth: dict[str, int] = {}
    places: dict[int, int] = {}
    for k in alike:  # a module may run the same op several times in one call: then those with the same number
        group = grouping.of.get(k)
        places[k] = 0
        if group in grouping.calls:
            places[k] = nth[group] = nth.get(group, -1) + 1
    return [k for k in alike if places[k] == places[op]]


def _iterations(reading: Reading, ops: Sequence[int]) -> list[str]:
    """A name for each of the ops that one place of the program ran."""
    iterations = reading.drawing.grouping.iterations
    return _told_apart([iterations.get(op, ()) for op in ops], [f"round {n}" for n in range(1, len(ops) + 1)])


def _told_apart(iterations: Sequence[tuple[str, ...]], counted: Sequence[str]) -> list[str]:
    """The names that tell iterations apart, `t = 3`: the loops around each, without those that are the same for all.

    If two have the same names, as in a comprehension, or a loop has no telling name, all are `counted` instead.

    >>> _told_apart([("step = 0", "t = 4"), ("step = 0", "t = 5")], ["round 1", "round 2"])
    ['t = 4', 't = 5']
    >>> _told_apart([("step = 0",), ("step = 0",)], ["round 1", "round 2"])
    ['round 1', 'round 2']
    """
    if len({len(names) for names in iterations}) == 1:
        varying = [n for n, column in enumerate(zip(*iterations, strict=True)) if len(set(column)) > 1]
        iterations = [tuple(names[n] for n in varying) for names in iterations]
    labels = [", ".join(names) for names in iterations]
    return labels if all(labels) and len(set(labels)) == len(labels) else list(counted)


def _gradient(
    facts: Facts, op: int, place: int, card: str | None, label: str, accumulations: Sequence[Accumulated] = ()
) -> Point:
    """The gradient that reached one output of an op, by each call: of `accumulations`, else when the VJP runs."""
    moments = [(event.index, event.added) for event in accumulations]
    calls = {event.call for event in accumulations}
    for index in facts.ops[op].vjps:
        event = facts.trace.events[index]
        if isinstance(event, VjpRun) and place < len(event.upstream) and event.call not in calls:
            upstream = event.upstream[place]
            if upstream is not None:
                moments.append((index, upstream))
    return Point(label, card or facts.ops[op].id, tuple(sorted(moments)))


def _series(
    reading: Reading, title: str, kind: Literal["norm", "size"], points: Sequence[Point], here: int | None = None
) -> Series | None:
    with_moments = [point for point in points if point.moments]
    if len(with_moments) < FEWEST:
        return None
    chosen = list(_thinned(list(enumerate(points, 1))))
    trace, step_of = reading.facts.trace, reading.line.step_of

    def size(index: int) -> Num | None:
        return as_json(trace.value(index))["stats"]["norm"]

    def track(point: Point) -> Track[Num | None]:
        return [(0, None), *((step_of[at] + 1, size(value)) for at, value in point.moments if at in step_of)]

    return {
        "title": title, "kind": kind, "of": len(points),
        "points": [
            {"label": point.label, "element": point.element, "here": n - 1 == here, "track": track(point)}
            for n, point in chosen
        ],
    }  # fmt: skip


def _thinned(points: list[tuple[int, Point]]) -> Iterator[tuple[int, Point]]:
    if len(points) <= MOST:
        yield from points
        return
    last = len(points) - 1
    yield from (points[round(n * last / (MOST - 1))] for n in range(MOST))
