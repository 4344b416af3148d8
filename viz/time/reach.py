"""The reach of a backward call: the ops that run, their dependency counts, the leaves that receive gradients."""

from __future__ import annotations

from engine.trace.events import BackwardStarted, Edge

from ..reading.facts import Facts


def reached(facts: Facts, event: BackwardStarted) -> tuple[dict[int, int], set[int]]:
    """The number of gradients that each op waits for, by op, and the leaves.  Cost: linear in the edges reached."""
    missing: dict[int, int] = {}
    leaves: set[int] = set()
    todo: list[int] = []
    for root in event.roots:
        first = behind(facts, root.tensor, event.index)
        if first is None:
            leaves.add(root.tensor)
        elif first not in missing and facts.node(first) is not None:
            missing[first] = 0
            todo.append(first)
    while todo:
        for edge in edges(facts, todo.pop()):
            if edge.leaf is not None:
                leaves.add(edge.leaf)
            following = op_behind(facts, edge)
            if following is None:
                continue
            if following not in missing:
                missing[following] = 0
                todo.append(following)
            missing[following] += 1
    if event.inputs is not None:
        return _only_to(facts, event, missing, leaves)
    return missing, leaves


def behind(facts: Facts, tensor: int, event: int) -> int | None:
    """The op that receives a gradient for a tensor: the one that computed its values or, if that has no node, the last
    one before it that has; None for a leaf."""
    producer = facts.made_by(tensor, event)
    if producer is None or facts.node(producer) is not None:
        return producer
    fact = facts.tensors[tensor]
    op = fact.history.get(next(fact.before(event)))
    return producer if op is None else op


def edges(facts: Facts, op: int) -> list[Edge]:
    """The edges that a cotangent can travel from the node of `op`."""
    record = facts.node(op)
    return [edge for edge in record.edges if edge is not None] if record is not None else []


def op_behind(facts: Facts, edge: Edge) -> int | None:
    return None if edge.node is None else facts.op_of_node.get(edge.node)


def _only_to(
    facts: Facts, event: BackwardStarted, missing: dict[int, int], leaves: set[int]
) -> tuple[dict[int, int], set[int]]:
    """Keeps the ops on a path to the inputs that the call asks for.

    A gradient for an intermediate tensor is taken where it arrives: the op that computed the tensor need not run.
    """
    inputs = set(event.inputs or ())
    makers = {behind(facts, t, event.index) for t in inputs}
    path: set[int] = set()
    for op in sorted(missing):  # an op's inputs were computed before it
        for edge in edges(facts, op):
            following = op_behind(facts, edge)
            if edge.leaf in inputs or (following is not None and (following in path or following in makers)):
                path.add(op)
    counts = dict.fromkeys(sorted(path), 0)
    for op in path:
        for edge in edges(facts, op):
            following = op_behind(facts, edge)
            if following in counts and following is not None:
                counts[following] += 1
    return counts, leaves & inputs
