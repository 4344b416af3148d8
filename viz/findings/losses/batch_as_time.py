"""A recurrent layer that reads a batch of sequences as time, because it was created without `batch_first`.  Pure."""

from __future__ import annotations

from engine.trace.events import GroupEntered, GroupLeft, OpCalled

from ...reading import labels, text
from ...reading.facts import Facts
from ..finding import Finding
from .about_loss import about, producer_of, written_at

RECURRENT = frozenset({"RNN", "LSTM", "GRU"})


def batches_as_time(facts: Facts) -> list[Finding]:
    """The first recurrent layer without `batch_first` of whose output the program takes only the last element along
    dimension 1, and compares the result with a target for each element of dimension 0.

    The layer's output has the time in dimension 0, so this is the last sequence of the batch at every time.  A result
    with a target for each of its rows shows that the program means the rows as samples.  Cost: linear in the ops.
    """
    for event, layer in _last_of_all(facts):
        if _meets_target(facts, event):
            return [_finding(facts, event, layer)]
    return []


def _last_of_all(facts: Facts) -> list[tuple[OpCalled, GroupEntered]]:
    """The ops that take the last element along dimension 1 of the output of such a layer, each with the layer, if
    nothing else uses that output."""
    around: list[GroupEntered] = []
    layers: dict[int, GroupEntered] = {}
    result = []
    for event in facts.trace.events:
        if isinstance(event, GroupEntered):
            around.append(event)
        elif isinstance(event, GroupLeft) and around:
            around.pop()
        elif isinstance(event, OpCalled) and event.call is None:
            layer = next((one for one in around if one.kind in RECURRENT), None)
            if layer is not None:
                layers[event.index] = layer
            elif _is_last_of_batch(facts, event) and event.node is not None:
                maker = producer_of(facts, event.inputs[0])
                if maker is not None and maker.index in layers and labels.written_name(maker) != "transpose":
                    result.append((event, layers[maker.index]))
    return result


def _is_last_of_batch(facts: Facts, event: OpCalled) -> bool:
    """Whether an op is the only use of a tensor of three dimensions, and takes the last of several elements along
    dimension 1."""
    source = event.inputs[0] if event.inputs else None
    fact = facts.tensors.get(source.tensor) if source is not None and source.tensor is not None else None
    if labels.written_name(event) != "select" or source is None or fact is None or len(fact.shape) != 3:
        return False
    size, uses = fact.shape[1], facts.uses.get((fact.tensor, source.version), ())
    is_last = event.attrs.get("dim") in (1, -2) and event.attrs.get("index") in (-1, size - 1)
    return is_last and size > 1 and fact.shape[0] != size and len(uses) == 1


def _meets_target(facts: Facts, event: OpCalled) -> bool:
    """Whether an op that combines what was computed from a result with a constant has a row of both for each row of
    the result."""
    rows, behind = event.outputs[0].shape[0], {event.outputs[0].tensor}
    for op in facts.ops[facts.op_at[event.index] + 1 :]:
        inputs = {one.tensor for one in op.event.inputs if one.tensor is not None}
        if op.event.call is not None or inputs.isdisjoint(behind):
            continue
        shapes = [facts.tensors[tensor].shape for tensor in inputs - behind if _is_constant(facts, tensor)]
        if any(shape[:1] == (rows,) for shape in shapes):
            return True
        behind |= {out.tensor for out in op.event.outputs if out.shape[:1] == (rows,)}
    return False


def _is_constant(facts: Facts, tensor: int) -> bool:
    return tensor in facts.tensors and not facts.tensors[tensor].requires_grad


def _finding(facts: Facts, event: OpCalled, layer: GroupEntered) -> Finding:
    steps, sequences = facts.tensors[event.inputs[0].tensor or 0].shape[:2]
    why = (
        f"{layer.name} was created without batch_first=True, so it takes dimension 0 of its input for time: it reads "
        f"{text.count(sequences, 'sequence')} of {text.count(steps, 'step')}. {written_at(facts, event)} takes the "
        f"last sequence at each of the {steps} steps, and the loss has a target for each of these {steps} rows, as if "
        "they were samples. So each sample sees the samples before it, and not its own sequence."
    )
    fix = f"Create {layer.name} with batch_first=True, as in nn.{layer.kind}(…, batch_first=True)."
    return about("batch-as-time", facts, event, f"{layer.name} reads the batch as time", why, fix)
