"""One pass over the events of a trace: the tables that `facts` describes."""

from __future__ import annotations

from engine.trace.events import (
    Accumulated,
    BackwardEnded,
    BackwardStarted,
    DataSet,
    ErrorRaised,
    FlagChanged,
    GradSet,
    LeafCreated,
    OpCalled,
    Refreshed,
    Trace,
    VjpRun,
)

from .facts import CallFact, Facts, OpFact, TensorFact
from .own_code import own_code


def collect(trace: Trace) -> Facts:
    """Read a trace once.  Cost: linear in its events."""
    table = Facts(trace)
    table.own = own_code(trace.events)
    running: list[CallFact] = []
    written: dict[int, int] = {}  # x -> `x.data`, written to and not yet refreshed
    for event in trace.events:
        match event:
            case OpCalled() if event.index not in table.own.hidden:
                _op(table, event, running[-1] if running else None)
                if event.inplace in table.behind:
                    written[table.behind[event.inplace]] = event.inplace
            case LeafCreated():
                _leaf(table, event)
                if running and event.tensor not in table.own.made:
                    table.seeds.add(event.tensor)
            case Refreshed() if event.tensor in table.tensors:
                fact = table.tensors[event.tensor]
                fact.hold(event.version, event.value, event.index)
                if isinstance(event, DataSet):
                    fact.replaced.append(event.version)
                    written[event.tensor] = event.source
                if source := table.tensors.get(written.pop(event.tensor, -1)):
                    fact.given[event.version] = source.tensor, source.last
            case FlagChanged(flag="requires_grad") if event.tensor in table.tensors:
                _flag(table, table.tensors[event.tensor], event)
            case FlagChanged(flag="retain_grad"):
                table.retained.setdefault(event.tensor, event.index)
            case BackwardStarted():
                running.append(_call(table, event))
            case VjpRun() if running:
                running[-1].vjps.append(event.index)
                op = table.op_of_node.get(event.node)
                if op is not None:
                    table.ops[op].vjps.append(event.index)
            case Accumulated():
                _hand(table, event.grad, event.tensor, event.index)
                _hold(table, event.grad, event.tensor, event.index)
                _gradient(table, event)
                table.receives.add(event.tensor)
                if event.retained:
                    table.retained.setdefault(event.tensor, event.index)
            case GradSet():
                if event.source is not None:
                    _hand(table, event.source, event.tensor, event.index)
                _hold(table, event.source, event.tensor, event.index)
            case ErrorRaised():
                table.troubled.update(event.tensors)
                table.errors.append(event)
            case BackwardEnded() if event.call in table.calls:
                table.calls[event.call].end = event.index
                table.calls[event.call].completed = event.completed
                if running:
                    running.pop()
    return table


def _leaf(table: Facts, event: LeafCreated) -> None:
    fact = table.tensors[event.tensor] = TensorFact(
        event.tensor, event.shape, event.dtype, event.requires_grad, event, event.version, event.index,
        producers={event.version: None},
    )  # fmt: skip
    fact.hold(event.version, event.value, event.index)
    table.storages[event.tensor] = event.storage
    if event.source == "edited":  # it stands in the place of an op, whose number no other one takes
        table.counted[None] = table.counted.get(None, 0) + 1
    if event.grad is not None:
        _hand(table, event.grad, event.tensor, event.index)
        _hold(table, event.grad, event.tensor, event.index)


def _flag(table: Facts, fact: TensorFact, event: FlagChanged) -> None:
    """The program switches `requires_grad`; what is frozen before it is used never required a gradient."""
    fact.flags.append(event)
    fact.asked |= event.value
    unused = fact.leaf is not None and all((event.tensor, version) not in table.uses for version in fact.values)
    fact.requires_grad = event.value if unused else fact.requires_grad or event.value


def _hand(table: Facts, gradient: int, leaf: int, event: int) -> None:
    """A tensor is the `.grad` of a leaf from an event on."""
    fact = table.tensors.get(gradient)
    if gradient not in table.owner and fact is not None and any((gradient, v) in table.uses for v in fact.values):
        table.before.add(gradient)
    if table.owner.get(gradient) != leaf:
        table.owner[gradient] = leaf
        table.handed[gradient].append((event, leaf))


def _hold(table: Facts, gradient: int | None, leaf: int, event: int) -> None:
    """A tensor, or none, is the `.grad` of a leaf from an event on; other leaves may have the same one."""
    before = table.grads.get(leaf)
    if before == gradient:
        return
    for one in (before, gradient):
        if one is not None:
            others = tuple(held for held in table.holding(one, event) if held != leaf)
            table.holders[one].append((event, (*others, leaf) if one == gradient else others))
    if gradient is None:
        del table.grads[leaf]
    else:
        table.grads[leaf] = gradient


def _gradient(table: Facts, event: Accumulated) -> None:
    """The tensor that `.grad` holds: adding to it in place makes a new version of it, a sum that an op made has its
    own."""
    fact = table.tensors.get(event.grad)
    kept = table.trace.value(event.after)
    if fact is None:
        fact = table.tensors[event.grad] = TensorFact(event.grad, kept.shape, kept.dtype, False, None, 0, event.index)
    if fact.producers.get(fact.last) is not None and event.before != fact.values[fact.last]:
        fact.values[fact.last] = event.after
    else:
        fact.hold(fact.last + 1 if fact.versions else 0, event.after, event.index)


def _op(table: Facts, event: OpCalled, current: CallFact | None) -> None:
    index = len(table.ops)
    inside = event.call is not None and current is not None
    op = OpFact(index, event, current.order if inside and current is not None else 0)
    table.derived |= op.order > 0
    table.ops.append(op)
    table.op_at[event.index] = index
    if event.node is not None:
        table.op_of_node[event.node.node] = index
    if event.inplace is not None and event.inplace in table.owner:
        op.writes_grad = table.owner[event.inplace]
    op.id = _op_id(table, op)
    if event.name == "data" and event.inplace is None and event.inputs[0].tensor is not None:
        table.behind[event.outputs[0].tensor] = event.inputs[0].tensor
    for position, argument in enumerate(event.inputs):
        if argument.tensor is not None and op.writes_grad is None:
            version = table.resolve(argument.tensor, argument.version)
            if version is not None:
                table.uses[argument.tensor, version].append((index, position))
    for out in event.outputs:
        fact = table.tensors.get(out.tensor)
        if fact is None:
            fact = table.tensors[out.tensor] = TensorFact(
                out.tensor, out.shape, out.dtype, out.requires_grad, None, out.version, event.index
            )
            table.storages[out.tensor] = out.storage
        fact.requires_grad |= out.requires_grad
        fact.hold(out.version, out.value, event.index)
        fact.since[out.version] = event.index  # a view of what was written is given anew, by the op that is its history
        fact.producers[out.version] = index
        if out.requires_grad and fact.differentiable is None:
            fact.differentiable = out.version
        if event.node is not None and fact.recorded is None:
            fact.recorded = out.version
        if event.inplace is not None:
            table.writers[out.storage].append((out.version, index))


def _op_id(table: Facts, op: OpFact) -> str:
    """`n5` for the program's own sixth op, `n2.0` for the first one that the third backward call recorded.

    Commands (what writes a gradient) are not counted, so that the id survives when one is added or taken away.
    """
    if op.writes_grad is not None:
        return f"w{op.index}"
    call = op.event.call if op.order else None
    number = table.counted.get(call, 0)
    table.counted[call] = number + 1
    return f"n{number}" if call is None else f"n{call}.{number}"


def _call(table: Facts, event: BackwardStarted) -> CallFact:
    order = 1
    for root in event.roots:
        table.roots[root.tensor].append(event.call)
        fact = table.tensors.get(root.tensor)
        if fact is not None:
            order = max(order, 1 + _highest_order(table, root.tensor))
    call = table.calls[event.call] = CallFact(event.call, event, event.index, len(table.trace.events), order)
    return call


def _highest_order(table: Facts, tensor: int) -> int:
    """The highest order among the ops that a backward from `tensor` would reach."""
    fact = table.tensors[tensor]
    first = table.producer(tensor, fact.last) if fact.versions else None
    if first is None:
        return 0
    if not table.derived:
        return 0
    highest, seen, todo = 0, {first}, [first]
    while todo:
        op = todo.pop()
        highest = max(highest, table.ops[op].order)
        record = table.ops[op].event.node
        for edge in record.edges if record else ():
            following = table.op_of_node.get(edge.node) if edge is not None and edge.node is not None else None
            if following is not None and following not in seen:
                seen.add(following)
                todo.append(following)
    return highest
