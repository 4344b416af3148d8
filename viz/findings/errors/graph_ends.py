"""Where the graph of a tensor ends: at an op that lets no gradient through, or at leaves.  Pure."""

from __future__ import annotations

from engine.trace.events import OpCalled

from ...reading.error_tensors import asks
from ...reading.facts import Facts
from ..untrained.checkpoints import cutting_checkpoints


def nearest_cut(facts: Facts, root: int) -> OpCalled | None:
    """The nearest op before `root` with an input that requires a gradient and a result that does not.

    The parameters that the function of a checkpoint uses are inputs too.
    """
    checkpoints = {op for tensor, op in cutting_checkpoints(facts).items() if facts.tensors[tensor].requires_grad}
    todo, seen = [root], {root}
    while todo:
        tensor = todo.pop(0)
        fact = facts.tensors.get(tensor)
        op = facts.producer(tensor, fact.last) if fact is not None and fact.versions else None
        if op is None:
            continue
        event = facts.ops[op].event
        inputs = [i.tensor for i in event.inputs if i.tensor is not None]
        is_cut = op in checkpoints or any(asks(facts, t, event.index) for t in inputs if t in facts.tensors)
        if event.node is None and is_cut:
            return event
        todo += [t for t in inputs if t not in seen]
        seen.update(inputs)
    return None


def leaves_behind(facts: Facts, root: int) -> list[int]:
    """The leaves from which `root` was computed, whether or not they require a gradient."""
    todo, seen, leaves = [root], {root}, []
    while todo:
        tensor = todo.pop()
        fact = facts.tensors.get(tensor)
        if fact is None:
            continue
        op = fact.producers.get(max(fact.producers)) if fact.producers else None
        if op is None:
            leaves.append(tensor)
            continue
        fresh = [i.tensor for i in facts.ops[op].event.inputs if i.tensor is not None and i.tensor not in seen]
        seen.update(fresh)
        todo += fresh
    return sorted(leaves)
