"""Parameters that are used only inside a reentrant checkpoint whose inputs require no gradient.  Pure."""

from __future__ import annotations

from engine.ops.op import CUSTOM
from engine.trace.events import ModeChanged, OpCalled

from ...reading.facts import Facts

REENTRANT = "CheckpointFunction"
"""The custom Function that `checkpoint(…, use_reentrant=True)` applies, in PyTorch and in the engine."""


def cutting_checkpoints(facts: Facts) -> dict[int, int]:
    """By tensor that the function of a reentrant checkpoint uses, the op of the first such checkpoint that has no
    gradient, because none of its inputs requires one.

    Its node is made from its inputs alone: the parameters that its function uses are not among them.  One that runs
    while gradients are switched off has none on purpose.  Cost: linear in the events.
    """
    result: dict[int, int] = {}
    enabled = True
    for event in facts.trace.events:
        if isinstance(event, ModeChanged):
            enabled = event.grad_enabled
        elif isinstance(event, OpCalled) and _is_cut(facts, event) and enabled:
            for call in facts.own.at.get(event.index, ()):
                tensors = (argument.tensor for op in call.ops for argument in op.inputs)
                for tensor in tensors:
                    if tensor in facts.tensors:
                        result.setdefault(tensor, facts.op_at[event.index])
    return result


def _is_cut(facts: Facts, event: OpCalled) -> bool:
    is_checkpoint = event.name == CUSTOM.name and event.attrs.get("function") == REENTRANT and event.node is None
    inputs = (facts.tensors.get(argument.tensor) for argument in event.inputs if argument.tensor is not None)
    return is_checkpoint and not any(fact is not None and fact.requires_grad for fact in inputs)
