"""Parameters whose gradient is 0 in every backward call, and the op that sends only zeros.  Pure."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection

from engine.trace.events import Accumulated, GroupEntered, VjpRun

from ...reading import labels, text
from ...reading.facts import Facts
from ...reading.source_text import source
from ..finding import Finding
from .parameters import names_of

SMALLEST_HALF = 2.0**-24
"""The smallest number above 0 in float16."""
FEWEST = 2
"""The fewest times, with an update between them, that only zeros must have come: an update may change a weight of 0, as
the first one does that of LoRA's second factor."""


def zero_gradients(facts: Facts, later: Collection[str] = ()) -> list[Finding]:
    """One finding per op that receives a nonzero gradient and sends only zeros to parameters, in every call.

    Only parameters count that an optimiser holds and that every call reached with zeros.  `later` names those that get
    only zeros in the other iterations of the run too.  Cost: linear in the events.
    """
    parameters = {t for e in facts.trace.events if isinstance(e, GroupEntered) for t in e.tensors if t is not None}
    added: dict[int, list[Accumulated]] = defaultdict(list)
    for event in facts.trace.events:
        if isinstance(event, Accumulated) and event.tensor in parameters and not event.retained:
            added[event.tensor].append(event)
    steps = [e.index for e in facts.trace.events if isinstance(e, GroupEntered) and e.optimizer]
    still = [
        t for t, events in added.items()
        if (facts.names.get(t) in later or len({bisect(steps, e.index) for e in events}) >= FEWEST)
        and all(_is_zero(facts, e.added) for e in events)
    ]  # fmt: skip
    if not still or facts.errors:
        return []
    by_stop: dict[int, list[int]] = {}
    for tensor, op in _stops(facts, set(still)).items():
        by_stop.setdefault(op, []).append(tensor)
    dead = {op for op in by_stop if _is_dead(facts, op)}
    stops = [op for op in by_stop if op in dead or not dead or not _takes_zeros(facts, op)]  # dead ones gave 0
    return [_finding(facts, op, by_stop[op], 0 if later else len(added[by_stop[op][0]])) for op in sorted(stops)]


def _is_zero(facts: Facts, value: int | None) -> bool:
    """Return whether a value has elements, and all of them are 0."""
    content = None if value is None else facts.trace.value(value)
    return content is not None and content.is_zero and text.size(content.shape) > 0


def _stops(facts: Facts, still: set[int]) -> dict[int, int]:
    """By tensor, the op of the first call that received a nonzero gradient and sent only zeros towards it."""
    call = next(iter(facts.calls.values()))
    stops: dict[int, int] = {}
    if all(_is_zero(facts, facts.value(root.tensor, facts.tensors[root.tensor].first)) for root in call.event.roots):
        return stops  # the loss is 0: there is nothing left to learn
    stop_of: dict[int, int] = {}  # by node that received zeros, the op that began it
    for index in call.vjps:
        event = facts.trace.events[index]
        op = facts.op_of_node.get(event.node) if isinstance(event, VjpRun) else None
        record = facts.node(op) if op is not None else None
        if op is None or record is None or not isinstance(event, VjpRun):
            continue
        stop = stop_of.get(event.node, op) if all(_is_zero(facts, above) for above in event.upstream) else op
        for edge, cotangent in zip(record.edges, event.cotangents, strict=False):
            if edge is None or not _is_zero(facts, cotangent):
                continue
            if edge.leaf in still:
                stops.setdefault(edge.leaf, stop)
            elif edge.node is not None:
                stop_of.setdefault(edge.node, stop)
    return stops


def _finding(facts: Facts, index: int, tensors: list[int], calls: int) -> Finding:
    """`calls` is the number of backward calls; 0 for an iteration of a run, where later ones count too."""
    op, many = facts.ops[index], len(tensors) > 1
    frame = facts.frames.get(op.event.stack)
    name = labels.written_name(op.event)
    where = f"{name} in `{source(facts.trace, frame, 48)}` ({facts.line(frame)})" if frame is not None else name
    why = (
        f"The gradient of {names_of(facts, tensors)} is 0 "
        f"{f'in all {calls} backward calls' if calls else 'from here to the end of the run'}, so "
        f"{'they learn' if many else 'it learns'} nothing: {where} receives a nonzero gradient and sends only zeros."
    )
    fix = "Check the inputs of this op: if its derivative is 0, or it multiplies by 0, no gradient gets through it."
    if _is_dead(facts, index):
        why += " All of its inputs are below 0, where its derivative is 0."
        fix = "Make some inputs positive: change the bias, lower the learning rate, or use leaky_relu."
    elif (largest := _underflow(facts, index)) is not None:
        why += (
            f" It computes in float16, in which numbers below {text.rough(SMALLEST_HALF)} become 0, and the gradient "
            f"that it receives is at most {text.rough(largest)}."
        )
        fix = "Scale the loss with torch.amp.GradScaler, and keep the parameters in float32 under torch.autocast."
    label = f"{facts.names.get(tensors[0]) or 'a parameter'} gets only zeros"
    if many:
        label = f"{len(tensors)} parameters get only zeros"
    line = facts.line_number(op.event.stack)
    return Finding("stalled", op.vjps[0] if op.vjps else op.event.index, op.id, label, why, fix, line)


def _inputs(facts: Facts, op: int) -> list[int | None]:
    return [facts.value(i.tensor, i.version) for i in facts.ops[op].event.inputs if i.tensor is not None]


def _is_dead(facts: Facts, op: int) -> bool:
    """Return whether all inputs of an op that is flat below 0 lie there."""
    return labels.is_rectifier(facts.ops[op].event) and all(
        value is not None and float(facts.trace.value(value).stats["max"]) < 0 for value in _inputs(facts, op)
    )


def _underflow(facts: Facts, op: int) -> float | None:
    """The largest magnitude of the gradient that an op receives, if it is float16 and its product with one of the op's
    inputs is too small for float16; else None."""
    event = next((facts.trace.events[index] for index in facts.ops[op].vjps), None)
    above = [one for one in event.upstream if one is not None] if isinstance(event, VjpRun) else []
    if not above or any(facts.trace.value(one).dtype != "float16" for one in above):
        return None
    received = max(_magnitude(facts, one) for one in above)
    factors = [size for one in _inputs(facts, op) if one is not None and (size := _magnitude(facts, one)) > 0]
    return received if factors and received * min(factors) < SMALLEST_HALF else None


def _magnitude(facts: Facts, value: int) -> float:
    stats = facts.trace.value(value).stats
    return max(abs(float(stats["min"])), abs(float(stats["max"])))


def _takes_zeros(facts: Facts, op: int) -> bool:
    return any(_is_zero(facts, value) for value in _inputs(facts, op))
