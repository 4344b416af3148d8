"""Each step in words: one sentence, made from its event."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from engine.arrays.element_types import eps, name_of, rounded
from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    Damaged,
    DataSet,
    ErrorRaised,
    GradSet,
    Input,
    OpCalled,
    Saved,
    Trace,
    VjpRun,
)

from ..graph.graph import Drawing, slots
from ..layout.cards import expression_of
from ..reading import text
from ..reading.facts import Facts
from ..reading.labels import written_name
from ..reading.own_code import OwnCall
from ..reading.source_text import source
from ..time.steps import Flow, Step
from .names import called, closed, made_by, op_expression, saved_name, unnamed, value

MOST_RESULTS = 3
"""The most results of one op that are written out; of more, the first ones and the number of the others."""
FIRST = 140
"""The most characters of an error's message that is quoted whole; of a longer one, the first sentence."""
_GRAD = re.compile(r"\bgrad\(|\bbackward\(")
_NUMBERS = {2: "two", 3: "three", 4: "four"}
ROUNDED = 5
"""How many roundings of its type the product of two numbers may be away from the recorded number,"""
NEAR = 1e-4
"""and the relative difference that four written digits do not show."""
MOST_OPS = 4
"""The most ops of the program's own code that are written out in the step that runs them."""


def say(step: Step, drawing: Drawing) -> str:
    """The sentence of a step.  It names tensors as the program and the cards do, and quotes the numbers if there are
    few."""
    facts = drawing.facts
    event = facts.trace.events[step.event]
    match event:
        case OpCalled() if step.kind == "write" and step.op is None:
            return _write(event, facts)
        case OpCalled():
            return _forward(event, facts)
        case VjpRun():
            return _vjp(event, step, facts)
        case Accumulated():
            card = drawing.items.get(step.at or "")
            return _accumulated(event, facts, facts.mark(event.tensor, card.version) if card is not None else "")
        case DataSet():
            name, data = called(event.tensor, facts, "a tensor"), value(facts.trace, event.value)
            return (
                f"The program replaces the values of {name} through .data: {data}. Its version counter does not change."
            )
        case GradSet():
            return _grad_set(event, facts)
        case Damaged():
            return "The file is damaged here: this event and those after it cannot be read."
        case ErrorRaised():
            first = text.one_line(first_of(event.message), 240)
            return f"{event.type}: {first}" + ("" if first.endswith("…") else ".")
    return step.name


def first_of(message: str) -> str:
    """The text of an error for a small place: all of a short message, else its first sentence.

    >>> first_of("No such thing. Use another.")
    'No such thing. Use another'
    """
    whole = " ".join(message.split())
    return (whole if len(whole) <= FIRST else whole.split(". ")[0]).rstrip(".")


def _forward(event: OpCalled, facts: Facts) -> str:
    out = event.outputs[0]
    result = value(facts.trace, out.value)
    name = facts.names.get(out.tensor)
    if event.inplace is not None:
        is_first = bool(event.inputs) and event.inputs[0].tensor == event.inplace
        what = called(event.inplace, facts, _expression(event, facts) or ("its first input" if is_first else ""))
        return f"{op_expression(event, facts)} changes {what} in place; it now holds {result}."
    note = ""
    if event.node is not None and event.node.saved:
        note = f" {event.node.name} saves {text.join(_each([saved_name(s, event, facts) for s in event.node.saved]))}."
    expression = op_expression(event, facts)
    if event.attrs.get("function") == "Error":
        what = called(event.inputs[0].tensor, facts, result)
        return f"The op that computed {what} cannot be differentiated: its node only raises an error."
    named = [(facts.names.get(one.tensor), value(facts.trace, one.value)) for one in event.outputs]
    several = [f"{one} = {content}" for one, content in named if one]
    if len(several) > 1:
        more = len(several) - MOST_RESULTS
        result = text.join([*several[:MOST_RESULTS], *([f"{more} more"] if more > 0 else [])])
        return f"{expression} gives {result}.{note}{own(event, facts)}"
    return f"{expression} gives {name + ' = ' if name and name != expression else ''}{result}.{note}{own(event, facts)}"


def _expression(event: OpCalled, facts: Facts) -> str:
    """The program's expression for the tensor that an op writes, if it is not the call in which both ops run, as
    `opt.step()` is."""
    expression = expression_of(event.inplace, facts) if event.inplace is not None else ""
    frame = facts.frames.get(event.stack)
    if not expression or frame is None or source(facts.trace, frame, len(expression) + 1) != expression:
        return expression
    return "" if isinstance(ast.parse(expression, mode="eval").body, ast.Call) else expression


def _each(parts: Sequence[str]) -> list[str]:
    """The parts, each once: `a` for both operands of `a * a`."""
    return list(dict.fromkeys(parts))


def _vjp(event: VjpRun, step: Step, facts: Facts) -> str:
    trace = facts.trace
    upstream = text.join([value(trace, u) for u in event.upstream if u is not None])
    if step.op is None:
        return f"{step.name} passes on {upstream or 'nothing'}.{own(event, facts)}"
    op = facts.ops[step.op].event
    ways = _ways(event, op, facts)
    doing = f"{step.name} receives " + (f"the upstream gradient {upstream}" if upstream else "no upstream gradient")
    number = next((i.scalar for i in op.inputs if i.tensor is None), None)
    if op.name == "mul" and number is not None and len(ways) == 1:
        doing = f"{step.name} multiplies the upstream gradient {upstream} by {text.scalar(number)}"
    freed = ""
    if op.node is not None and op.node.saved and event.freed:
        freed = f" {_its_saved(op.node.saved)} freed."
    sent = text.join(ways) or "nothing on"
    return f"{doing} and sends {sent}.{own(event, facts)}{freed}{_returned_gradients(event, facts)}"


def _its_saved(saved: Sequence[Saved]) -> str:
    """`Its saved tensor is` or `Its saved values are`: the noun for the values that a node keeps, with its verb."""
    kind = "tensor" if all(one.tensor is not None for one in saved) else "value"
    places = {(one.tensor, one.scalar if one.tensor is None else None) for one in saved}
    return f"Its saved {kind} is" if len(places) == 1 else f"Its saved {kind}s are"


def _returned_gradients(event: VjpRun, facts: Facts) -> str:
    """The gradients that `autograd.grad` returns to the program, if this is the last step of the call."""
    call, events = facts.calls.get(event.call), facts.trace.events
    if call is None or call.vjps[-1:] != [event.index] or call.end >= len(events):
        return ""
    frame = facts.frames.get(call.event.stack)
    if frame is not None and not _GRAD.search(source(facts.trace, frame)):
        return ""  # called by gradcheck or jacobian, not by the program: they return something else
    ended = events[call.end]
    if any(isinstance(e, ErrorRaised) for e in events[call.end + 1 : call.end + 2]):
        return ""  # it raised instead
    if not isinstance(ended, BackwardEnded) or any(isinstance(e, OpCalled) for e in events[event.index : call.end]):
        return ""  # with create_graph the sums follow, as steps of their own
    gradients = []
    for result in ended.results[:MOST_RESULTS]:
        fact = facts.tensors.get(result) if result is not None else None
        if result is None or fact is None:
            gradients.append("None")
        else:
            name = facts.trace.names.get(result)
            gradients.append(f"{name} = {value(facts.trace, fact.values[fact.first])}" if name else "")
    more = len(ended.results) - MOST_RESULTS
    parts = [*gradients, *([f"{more} more"] if more > 0 else [])]
    return f" The call returns {text.join(parts)}." if all(parts) and parts else ""


@dataclass(frozen=True, slots=True)
class InputGradient:
    """The gradient for one input of an op, by its place in the node record: `name` is its receiver, `is_leaf` whether
    that is a leaf, `end` the node or the leaf, `op` the op that computed a receiver without a name."""

    slot: int
    value: str
    name: str
    is_leaf: bool
    folded: str
    end: object
    op: int | None


def _ways(event: VjpRun, op: OpCalled, facts: Facts) -> list[str]:
    """`3 to h and to the leaf w`: an entry for each value that is sent."""
    names: dict[str, list[tuple[str, object]]] = {}
    for one in sent(event, op, facts):
        name = f"the leaf {one.name}" if one.is_leaf and one.name else one.name or "a leaf"
        names.setdefault(one.value, []).append((f"{name}{one.folded}", one.end))
    return [f"{what} {text.join(_receiver_texts(where))}" for what, where in names.items()]


def sent(event: VjpRun, op: OpCalled, facts: Facts) -> list[InputGradient]:
    """The gradients that a rule sends, with their receivers; two of one name are told apart by their ops."""
    by_slot = {slot: op.inputs[position] for position, slot in slots(op).items()}
    several = sum(cotangent is not None for cotangent in event.unsummed) > 1
    receivers = [
        _sent(event, op, slot, by_slot[slot], facts, several)
        for slot, cotangent in enumerate(event.cotangents)
        if cotangent is not None and slot in by_slot
    ]
    if len(receivers) < 2:
        return receivers
    parts = []
    ways = {(one.name, one.end, one.value) for one in receivers}
    named = Counter(name for name, _, _ in ways)
    ended, valued = Counter((name, end) for name, end, _ in ways), Counter((name, value) for name, _, value in ways)
    for one in receivers:  # is there another end and value under this name? Counted, because there may be many
        alike = named[one.name] - ended[one.name, one.end] - valued[one.name, one.value] + 1 > 0
        expression = made_by(one.op, facts) if alike and one.op is not None else None
        parts.append(replace(one, name=f"{one.name} of {expression}") if expression else one)
    return parts


def _sent(event: VjpRun, op: OpCalled, slot: int, argument: Input, facts: Facts, several: bool) -> InputGradient:
    edge = op.node.edges[slot] if op.node is not None and slot < len(op.node.edges) else None
    tensor, name = argument.tensor, called(argument.tensor, facts, " ").strip()
    behind = facts.op_of_node.get(edge.node) if edge is not None and edge.node is not None else None
    node = facts.node(behind) if behind is not None else None
    is_leaf = edge is not None and edge.leaf is not None  # not the tensor: after a write it is no longer a leaf
    if name:
        name += facts.mark(tensor, argument.version)
    elif not is_leaf:
        name, behind = (node.name, behind) if node is not None else (unnamed(tensor, facts), None)
    fold = ""
    if slot < len(event.unsummed) and event.unsummed[slot] is not None:
        fold = " (summed)" if several else " (summed over the broadcast dimensions)"
    end = edge.node if edge is not None and edge.node is not None else tensor
    return InputGradient(slot, value(facts.trace, event.cotangents[slot]), name, is_leaf, fold, end, behind)


def _receiver_texts(places: Sequence[tuple[str, object]]) -> list[str]:
    """`to the leaf a twice` for a receiver that occurs twice, `to each of two MulBackward0` for two with one name."""
    times = {1: "", 2: " twice"}
    parts = []
    for name in _each([name for name, _ in places]):
        ends = Counter(end for label, end in places if label == name)
        if len(ends) > 1:
            parts.append(f"to each of {_NUMBERS.get(len(ends), len(ends))} {name}")
        else:
            (n,) = ends.values()
            parts.append(f"to {name}{times.get(n, f' {n} times')}")
    return parts


def own(event: AnyEvent, facts: Facts) -> str:
    """The work of the program's own code in the step of an event: hooks, and the forward and backward of Functions."""
    return "".join(_ran(ran, facts) for ran in facts.own.at.get(event.index, ()))


def _ran(ran: OwnCall, facts: Facts) -> str:
    """One call of such code in words."""
    computed = _op_list(ran.ops, facts)
    if ran.entered.place in ("forward", "backward"):
        return f" Its {ran.entered.place} {computed}." if computed else ""
    if ran.entered.place == "pack":
        return f" A hook packs a saved tensor{f': it {computed}' if computed else ''}."
    if ran.entered.place == "unpack":
        return f" A hook unpacks a saved tensor{f': it {computed}' if computed else ''}."
    record = facts.node(facts.op_of_node[ran.entered.node]) if ran.entered.node in facts.op_of_node else None
    tensor = ran.entered.tensor
    where = called(tensor, facts, "a leaf") if tensor is not None else record.name if record else "a node"
    if ran.entered.place == "accumulated":
        return ""  # its ops are steps of their own
    turned = [
        f"turns {value(facts.trace, hook.before)} into {value(facts.trace, hook.after)}" for hook in ran.turned
    ]  # fmt: skip
    doing = text.join(turned) or "changes nothing"
    return f" A hook on {where} {doing}{f': it {computed}' if computed else ''}."


def _op_list(ops: Sequence[OpCalled], facts: Facts) -> str:
    """`runs 2 ops: gradient × 10 = [10 0] and exp(x) = [1 1]`; "" without ops."""
    if not ops:
        return ""
    results = [f"{op_expression(op, facts)} = {value(facts.trace, op.outputs[0].value)}" for op in ops[:MOST_OPS]]
    more = [f"{len(ops) - MOST_OPS} more"] if len(ops) > MOST_OPS else []
    return f"runs {len(ops)} op{'s' * (len(ops) > 1)}: {text.join([*results, *more])}"


def _accumulated(event: Accumulated, facts: Facts, mark: str) -> str:
    along = _along(facts.holding(event.grad, event.index), event.tensor, facts)
    return _added(event, facts, mark) + along + own(event, facts)


def _along(leaves: Sequence[int], leaf: int, facts: Facts) -> str:
    """The other leaves that have the same tensor as their `.grad`."""
    others = [f"{called(one, facts, 'a leaf')}.grad" for one in leaves if one != leaf]
    return f" {text.join(others)} {'is' if len(others) == 1 else 'are'} the same tensor." if others else ""


def _added(event: Accumulated, facts: Facts, mark: str) -> str:
    """The sentence of an accumulation.  `mark` follows the name of the leaf on its card."""
    trace, name = facts.trace, facts.names.get(event.tensor)
    added, after = value(trace, event.added), value(trace, event.after)
    if not name:
        was = "was None" if event.before is None else f"held {value(trace, event.before)}"
        now = "it" if event.before is None and after == added else after
        return f"A leaf without a name receives {added}; its .grad {was} and now holds {now}."
    if event.retained:
        return f"{name}{mark} retains its gradient: {name}.grad is {after}."
    if event.before is None:
        now = "it" if after == added else after
        return f"The leaf {name}{mark} receives {added}; {name}.grad was None and now holds {now}."
    before, sign = value(trace, event.before), _equals(trace, event)
    return f"The leaf {name}{mark} adds {added} to {name}.grad: {before} + {closed(added)} {sign} {after}."


def _equals(trace: Trace, event: Accumulated) -> str:
    """`=` if the written digits of the summands add up to the written digits of the sum, else `≈`."""
    indices = [i for i in (event.before, event.added, event.after) if i is not None]
    few = [trace.value(i).array_up_to(text.SMALL) for i in indices]
    before, added, after = few if len(few) == 3 else (None, None, None)
    if before is None or added is None or after is None:
        return "="
    added = np.broadcast_to(added, after.shape)
    rows = zip(before.reshape(-1), added.reshape(-1), after.reshape(-1), strict=True)
    return "=" if all(text.result([(b,), (a,)], float(c)).startswith("=") for b, a, c in rows) else "≈"


def _write(event: OpCalled, facts: Facts) -> str:
    grads = [f"{called(leaf, facts, 'a tensor')}.grad" for leaf in facts.holding(event.inplace, event.index)]
    owner = facts.owner.get(event.inplace) if event.inplace is not None else None
    name = text.join(grads) or f"the former {called(owner, facts, 'a tensor')}.grad"
    name += ", which are one tensor," if len(grads) > 1 else ""
    after = value(facts.trace, event.outputs[0].value)
    if written_name(event) == "zero_":
        return f"The program sets {name} to zero: {after}."
    return f"The program changes {name} by {written_name(event)}: it is now {after}."


def _grad_set(event: GradSet, facts: Facts) -> str:
    name = called(event.tensor, facts, "a tensor")
    if event.value is None:
        return f"The program drops the gradient: {name}.grad is None."
    along = _along(facts.holding(event.source, event.index), event.tensor, facts)
    return f"The program sets {name}.grad to {value(facts.trace, event.value)}.{along}"


def flow_text(flow: Flow, matrix: np.ndarray | None, trace: Trace) -> tuple[str | None, str | None]:
    """The text beside a travelling gradient: the value, for one element with its arithmetic; and for several elements
    the arithmetic of the only path that the gradient takes, which holds for the cells of that path.

    `matrix` is the local Jacobian (output cells, input cells), or None.
    """
    if flow.value is None:
        return None, None
    value = trace.value(flow.value)
    path = _path(flow, matrix, trace)
    if value.is_whole and text.size(value.shape) == 1:
        return path or text.brief(value), None
    return text.brief(value), path


def _path(flow: Flow, matrix: np.ndarray | None, trace: Trace) -> str | None:
    """The arithmetic of the only path on which a gradient travels; None if there are several, or none."""
    if not flow.back or flow.upstream is None or flow.value is None or matrix is None:
        return None
    cotangent, upstream = trace.value(flow.value).array, trace.value(flow.upstream).array
    if cotangent is None or upstream is None or (upstream.size, cotangent.size) != matrix.shape:
        return None
    rows = np.flatnonzero(upstream)
    columns = np.flatnonzero(matrix[rows[0]]) if len(rows) == 1 else rows[:0]
    if len(columns) != 1 or np.count_nonzero(cotangent) > 1:  # not if a nan arises beside the path
        return None
    local, one = matrix[rows[0], columns[0]], upstream.reshape(-1)[rows[0]]
    return _product(float(local), float(one), float(cotangent.reshape(-1)[columns[0]]), name_of(cotangent.dtype))


def _product(local: float, upstream: float, result: float, dtype: str) -> str | None:
    """`2 · 3 = 6`; `1.49e-8 → 0 in float16` if the type cannot hold the product; None if it is not a product.

    >>> _product(2.0, 3.0, 6.0, "float32"), _product(1e-4, 1e-4, 0.0, "float16"), _product(2.0, 3.0, 7.0, "float32")
    ('2 · 3 = 6', '1e-8 → 0 in float16', None)
    >>> _product(1.0078125, 1.0078125, 1.015625, "bfloat16")
    '1.008 · 1.008 = 1.016'
    """
    with np.errstate(all="ignore"):
        product = local * upstream
        product_in_dtype = float(rounded(product, dtype))
    near = max(ROUNDED * eps(dtype), NEAR)
    if np.isclose(product, result, near, 0, equal_nan=True):
        return f"{text.number(local)} · {text.number(upstream)} {text.result([(local, upstream)], result)}"
    if np.isclose(product_in_dtype, result, near, 0):
        return f"{text.number(product)} → {text.number(result)} in {dtype}"
    return None
