"""Parameters whose gradient is 0 in every backward call, and the op that sends only zeros.  Pure."""

from __future__ import annotations

from bisect import bisect
from collections import defaultdict
from collections.abc import Collection

import numpy as np

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
    if (cause := _cause(facts, index)) is not None:
        why, fix = f"{why} {cause[0]}", cause[1]
    label = f"{facts.names.get(tensors[0]) or 'a parameter'} gets only zeros"
    if many:
        label = f"{len(tensors)} parameters get only zeros"
    line = facts.line_number(op.event.stack)
    return Finding("stalled", op.vjps[0] if op.vjps else op.event.index, op.id, label, why, fix, line)


def _cause(facts: Facts, index: int) -> tuple[str, str] | None:
    """Why an op sends only zeros, and what helps; None if it is not known."""
    event = facts.ops[index].event
    name = labels.written_name(event).removesuffix("_")
    if _is_dead(facts, index):
        why = "All of its inputs are below 0, where its derivative is 0."
        return why, "Make some inputs positive: change the bias, lower the learning rate, or use leaky_relu."
    if (largest := _underflow(facts, index)) is not None:
        why = (
            f"It computes in float16, in which numbers below {text.rough(SMALLEST_HALF)} become 0, and the gradient "
            f"that it receives is at most {text.rough(largest)}."
        )
        return why, "Scale the loss with torch.amp.GradScaler, and keep the parameters in float32 under torch.autocast."
    if labels.presentation(event).jumps:
        why = "Its result is constant except where it jumps, so its derivative is 0."
        fix = (
            "Compute the loss from the numbers before it. To round in forward only, let the gradient through: "
            f"`x + (x.{name}() - x).detach()`."
        )
        return why, fix
    if name.startswith("clamp") and any(ends := _outside(facts, index)):
        why = f"All of its inputs are {' or '.join(one for one in ends if one)}, where its derivative is 0."
        return why, "Widen the range, or use a function that is not flat outside, such as sigmoid for 0 to 1."
    if (factor := _zero_factor(facts, index)) is not None:
        why = f"It multiplies by {factor}, which is 0 everywhere."
        return why, "Look where this comes from: a state or a weight that is 0, a mask that hides all, a dropout of 1."
    if event.name == "custom_function":
        function = event.attrs.get("function") or "it"
        why = f"{function} is a custom Function, whose backward returned these zeros."
        return why, f"Check the backward of {function}: it returns the gradient of the loss for each input of forward."
    return None


def _zero_factor(facts: Facts, op: int) -> str | None:
    """The name of a factor of a product that is 0 everywhere; None if there is none."""
    event = facts.ops[op].event
    is_product = labels.presentation(event).sign in ("×", "@") or event.name == "dropout"
    factors = event.inputs[1:] if event.name == "addmm" else event.inputs if is_product else ()
    for one in factors:
        if one.tensor is not None and _is_zero(facts, facts.value(one.tensor, one.version)):
            return facts.names.get(one.tensor) or "a factor"
    return None


def _outside(facts: Facts, op: int) -> tuple[str, str]:
    """The side of the range of a clamp, or both, on which all of its inputs are; "" and "" if some are inside."""
    event = facts.ops[op].event
    values = [facts.trace.value(index).array for index in _inputs(facts, op)[:1] if index is not None]
    array = values[0] if values else None
    low, high = (event.attrs.get(end) for end in ("min", "max"))
    if array is None or not all(one is None or isinstance(one, (int, float)) for one in (low, high)):
        return "", ""
    below = array < low if low is not None else np.zeros(array.shape, dtype=bool)
    above = array > high if high is not None else np.zeros(array.shape, dtype=bool)
    if not (below | above).all():
        return "", ""
    return (
        f"below {text.number(low)}" if below.any() else "",
        f"above {text.number(high)}" if above.any() else "",
    )


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
