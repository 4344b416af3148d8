"""A backward pass through a graph of earlier: one that was freed, or whose saved tensors have changed since.  Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.trace.events import NodeRecord, OpCalled, VjpRun

from ...reading import labels, text
from ...reading.error_tensors import shares
from ...reading.facts import CallFact
from .carried_state import CarriedTensor, carried, computed_once, from_earlier_section
from .case import Answer, Case
from .fixes import edited

MOST_NAMED = 4
"""The most saved tensors that are named one by one; of more, the sentence names the first and counts the rest."""
FOR_SUMS = "If it sums up losses for printing, add numbers, as in `total += loss.item()`, and call loss.backward()."
"""The advice where what is carried over may be a sum of losses."""


def second_backward(case: Case) -> Answer:
    """A call that goes back through a graph that an earlier one has freed."""
    if (link := from_earlier_section(case)) is not None:
        return f"{_goes_on(link)}, whose saved tensors its own backward call has freed.", _cut_off(link), None
    freed = [
        e for e in case.facts.trace.events
        if isinstance(e, VjpRun) and e.freed and e.node == case.event.node and e.index < case.event.index
    ]  # fmt: skip
    earlier = case.facts.calls.get(freed[-1].call) if freed else None
    saved = _some([s.name for s in case.op.node.saved]) if case.op is not None and case.op.node is not None else ""
    name = case.op.node.name if case.op is not None and case.op.node is not None else "This node"
    by = case.code_at(earlier.event.stack) if earlier is not None else "an earlier backward call"
    why = (
        f"{name} needs the tensors it saved in forward ({saved or 'its inputs'}), "
        f"but {by} has already run through it and freed them: "
        "a backward call frees saved tensors as it goes, because most graphs are used only once."
    )
    fix = f"Pass retain_graph=True to the earlier call ({by}), or compute the result again before the second call."
    state = carried(case, earlier) if earlier is not None else None
    if earlier is not None and (again := computed_once(case, earlier)) is not None:
        return again
    if state is None or earlier is None:
        return why, fix, edited(case, earlier, retain_graph=True) if earlier is not None else None
    node = case.op.node.name if case.op is not None and case.op.node is not None else "a node"
    why = (
        f"{state.subject} was computed {_before(state, by)} and is used again after it{_where(state)}. "
        f"So this call goes back through a graph that was freed: {node} no longer has its saved tensors "
        f"({saved or 'its inputs'})."
    )
    if state.collection or state.loop is not None:
        return why, _cut_off(state), None
    fix = f"Compute {state.name or 'it'} again after {by}." if state.is_in_order else _cut_off(state)
    before, after = _nodes(case, earlier)
    if updated := _updated(case, earlier, before):
        return why, f"{fix} retain_graph=True would not help: the value of {updated} has changed since.", None
    if updated := _updated(case, earlier, after):
        fix += (
            f" retain_graph=True would help this call only: its graph needs the value of {updated} too, which changes "
            "with each update."
        )
        return why, fix, None
    fix += f" To go back through all of it, pass retain_graph=True to {by}."
    return why, fix, edited(case, earlier, retain_graph=True)


def _some(names: Sequence[str]) -> str:
    return text.join(names) if len(names) <= MOST_NAMED else f"{names[0]} and {len(names) - 1} more"


def _detach(state: CarriedTensor) -> str:
    """How to cut the path through a value that is carried over."""
    name = state.name or "it"
    how = f"`{state.name} = {state.name}.detach()`" if state.name else "`.detach()`"
    if state.name and not state.is_tensor:
        how += f", or, for a tuple, detach each tensor: `{state.name} = tuple(one.detach() for one in {state.name})`"
    return f"If {name} only carries a value over, detach it after the call: {how}."


def _before(state: CarriedTensor, by: str) -> str:
    """When the program computed a tensor of which an earlier call freed the graph, or changed a saved tensor."""
    return f"before {by}" if state.loop is None else f"once, before the loop in line {state.loop} and before {by},"


def _where(state: CarriedTensor) -> str:
    """How the program comes to use a tensor again."""
    still = f", because it is still in the list {state.collection}" if state.collection else ""
    return (f" (in {state.where})" if state.where else "") + still


def _goes_on(state: CarriedTensor) -> str:
    """How a graph comes to go on into that of an earlier iteration."""
    when = "in an earlier iteration" if state.loop is None else f"once, before the loop in line {state.loop},"
    return (
        f"{state.subject} was computed {when} and is used again in this one{_where(state)}. So this call goes "
        f"back through {'the graph of that iteration' if state.loop is None else 'its graph'} too"
    )


def _cut_off(state: CarriedTensor) -> str:
    """How to keep a graph inside its iteration; a single number may be a sum of losses."""
    if state.collection:
        return (
            f"Empty the list after each update, with the other lists that belong to it: `{state.collection}.clear()`. "
            "Or create them inside the loop."
        )
    if state.loop is not None:
        return (
            f"Compute {state.name or 'it'} inside the loop in line {state.loop}, so that each iteration has a graph of "
            "its own, from the updated parameters. If the parameters behind it should not learn, leave it there and "
            "compute it under `torch.no_grad()`."
        )
    return _detach(state) + (f" {FOR_SUMS}" if state.is_sum else "")


def _without_retaining(case: Case) -> str:
    """That a call which keeps its graph for the next one need not do so once the two graphs are apart."""
    event = case.call.event if case.call is not None else None
    keeps = event is not None and event.retain_graph and not event.create_graph
    return " Then leave out retain_graph=True." if keeps else ""


def _updated(case: Case, earlier: CallFact, nodes: Sequence[NodeRecord]) -> str:
    """The name of the first leaf that one of some nodes saved for backward and that the program writes between an
    earlier call and the failing one; "" if there is none."""
    writes = {
        op.event.inplace for op in case.facts.ops
        if op.event.inplace is not None and earlier.start < op.event.index < case.event.index
    }  # fmt: skip
    leaves = [leaf for leaf in writes if leaf in case.facts.tensors and case.facts.tensors[leaf].is_leaf]
    storages = {case.facts.storages.get(leaf, -1 - leaf): leaf for leaf in leaves if leaf in case.facts.receives}
    saved = (one.tensor for node in nodes for one in node.saved if one.tensor is not None)
    leaf = next((storages[where] for t in saved if (where := case.facts.storages.get(t, -1 - t)) in storages), None)
    return "" if leaf is None else case.named(leaf)


def _nodes(case: Case, earlier: CallFact) -> tuple[list[NodeRecord], list[NodeRecord]]:
    """The nodes that the failing call would run, in the order in which it would: those from before an earlier call, and
    those from after it."""
    facts, roots = case.facts, case.call.event.roots if case.call is not None else ()
    todo = [op for root in roots if (op := facts.made_by(root.tensor, case.event.index)) is not None]
    seen, before, after = set(todo), list[NodeRecord](), list[NodeRecord]()
    while todo:
        op = todo.pop()
        node = facts.node(op)
        if node is None:
            continue
        (before if facts.ops[op].event.index < earlier.start else after).append(node)
        behind = (facts.op_of_node.get(edge.node) for edge in node.edges if edge is not None and edge.node is not None)
        fresh = {one for one in behind if one is not None} - seen
        seen |= fresh
        todo += fresh
    before.sort(key=lambda node: -node.sequence_nr)
    after.sort(key=lambda node: -node.sequence_nr)
    return before, after


_TYPED = {"+": "+", "−": "-", "×": "*", "÷": "/", "**": "**"}
"""The signs of ops that have an augmented assignment, and how it is typed."""


def saved_changed(case: Case) -> Answer:
    """A call for which a node has saved a tensor that was written to since."""
    if (link := from_earlier_section(case)) is not None:
        why = f"{_goes_on(link)}, and a tensor that it saved has changed since, as a parameter does with each update."
        return why, _cut_off(link) + _without_retaining(case), None
    tensor = case.tensor
    writer = _first_write(case, tensor)
    leaf = writer.inplace if writer is not None and tensor is not None else None
    if leaf is not None and not (leaf in case.facts.tensors and case.facts.tensors[leaf].is_leaf):
        leaf = None  # else the saved one is the leaf itself, or a view of it, as the transposed weight of a layer
    name = case.part(leaf if leaf is not None else (tensor if tensor is not None or writer is None else writer.inplace))
    node = case.op.node.name if case.op is not None and case.op.node is not None else "A node"
    by = case.statement_at(writer.stack) or labels.written_name(writer) if writer is not None else "an in-place op"
    why = (
        f"{node} saved {name} in forward and needs that value for its derivative, but {by} has overwritten it since. "
        "With the new value the gradient would be wrong, so autograd refuses."
    )
    state = _carried_over(case)
    if leaf is not None and state is not None:
        why += (
            f" {state.subject} was computed {_before(state, 'that write')} and is used again after it{_where(state)}, "
            "so this call goes back through an earlier graph too."
        )
        value = state.name or "it"
        if state.collection or state.loop is not None:
            return why, _cut_off(state) + _without_retaining(case), None
        if state.is_in_order:
            return why, f"Compute {value} again after the update, or run every backward call before it.", None
        fix = f"If {value} only carries a value over, detach it after the call. {FOR_SUMS}"
        return why, fix + _without_retaining(case), None
    if leaf is not None:
        return why, f"Run every backward call before {name} is updated, or compute the loss again after it.", None
    if tensor is not None and writer is not None and tensor != writer.inplace:
        why = (
            f"{node} saved {name}. Since then {by} wrote into the same memory. One version counter covers all of that "
            "memory, so the saved tensor counts as changed even if other elements were written, and autograd refuses."
        )
        return why, "Keep the parts as separate tensors in a list, and combine them with torch.stack().", None
    if writer is not None and writer.name == "copy_slices":
        fix = f"Write to a copy: `{name} = {name}.clone()` before it. Or compute a new tensor with torch.where()."
        return why, fix, None
    plain = labels.written_name(writer).rstrip("_") if writer is not None else "the operation"
    sign = _TYPED.get(labels.presentation(writer).sign) if writer is not None else None
    instead = f"`{name} = {name} {sign} …`" if sign else f"`{plain}`"
    return (
        why,
        f"Use the out-of-place form, {instead}, without the underscore or the augmented assignment.",
        None,
    )


def _first_write(case: Case, tensor: int | None) -> OpCalled | None:
    """The first write to the memory of a tensor since the failing node saved it; of the ops of `h[0] = 1`, which writes
    to a view, the one that writes to `h`."""
    start = case.op.index if case.op is not None else -1
    ops = (op.event for op in case.facts.ops if start < op.event.index < case.event.index)
    writes = [
        op for op in ops
        if op.inplace is not None and (tensor is None or shares(case.facts, tensor, op.inplace))
    ]  # fmt: skip
    first = writes[0] if writes else None
    return next((op for op in writes if first and op.stack == first.stack and op.inplace == tensor), first)


def _carried_over(case: Case) -> CarriedTensor | None:
    """The tensor that links the graph of the failing call to that of the program's first backward call."""
    before = (call for call in case.facts.calls.values() if case.call is not None and call.start < case.call.start)
    earlier = min(before, key=lambda call: call.start, default=None)
    return carried(case, earlier) if earlier is not None else None
