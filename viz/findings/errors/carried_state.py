"""A value from before a backward call that is used in a later graph, such as a hidden state.  Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from engine.trace.events import Frame, OpCalled, Root
from engine.trace.source import Sources

from ...reading import labels
from ...reading.facts import CallFact
from .case import Answer, Case
from .kept_graphs import collected_in, loop_above


@dataclass(frozen=True, slots=True)
class CarriedTensor:
    """The tensor that links a later graph to an earlier one: its name, and the code that uses it ("" if unknown).

    `subject` is what a sentence calls it: its name, or the expression that computed it.  `is_tensor` says whether the
    name certainly belongs to the tensor, and not to a tuple that contains it; `is_sum`, whether it is a single number
    to which the program adds; `is_in_order`, whether the program's text computes it above the earlier call and uses it
    below, so that it is not handed from one iteration to the next.  `collection` is the list that it is still in ("":
    none); `loop`, the line of the loop before which it was computed (None: in the loop).
    """

    name: str
    subject: str
    where: str
    is_tensor: bool
    is_sum: bool
    is_in_order: bool = False
    collection: str = ""
    loop: int | None = None


def carried(case: Case, earlier: CallFact) -> CarriedTensor | None:
    """The first tensor from before an earlier backward call that the graph of the failing call uses."""
    if case.call is None or not case.call.event.roots:
        return None
    facts = case.facts
    for event, tensor, version in _inputs_behind(case, case.call.event.roots[:1], earlier.start):
        producer = facts.producer(tensor, version) if tensor in facts.tensors else None
        if producer is not None and facts.ops[producer].event.index < earlier.start and facts.node(producer):
            maker = facts.ops[producer].event.stack
            state = _described(case, tensor, maker, event)
            is_in_order = _are_in_order(case, maker, earlier.event.stack, event.stack)
            repeats = case.call.event.stack == earlier.event.stack
            loop = loop_above(case.facts.sources, *_frames(case, maker, event.stack, earlier.event.stack))
            return None if state is None else replace(state, is_in_order=is_in_order, loop=loop if repeats else None)
    return None


def _frames(case: Case, *stacks: int) -> list[tuple[Frame, ...]]:
    """The frames of some call stacks; of an unknown one, none."""
    frames = case.facts.trace.stacks
    return [frames[stack] if 0 <= stack < len(frames) else () for stack in stacks]


def _are_in_order(case: Case, *stacks: int) -> bool:
    """Whether the calls at some stacks stand below each other in the first function in which their lines differ."""
    for frames in zip(*(case.facts.trace.stacks[stack] for stack in stacks if stack >= 0), strict=False):
        lines = [frame.line for frame in frames]
        if len(set(lines)) > 1:
            return len({(frame.file, frame.function) for frame in frames}) == 1 and all(
                above < below for above, below in pairwise(lines)
            )
    return False


def computed_once(case: Case, earlier: CallFact) -> Answer | None:
    """Of a single number that is computed once, and of which the same line of a loop takes the gradient again: the
    reason of the error, and the fix."""
    call = case.call.event if case.call is not None else None
    if call is None or call.stack != earlier.event.stack:
        return None
    one, other = ([(root.tensor, root.implicit) for root in event.roots] for event in (call, earlier.event))
    if one != other or len(one) != 1 or not call.roots[0].implicit:
        return None
    tensor = call.roots[0].tensor
    maker = case.facts.made_by(tensor, call.index)
    name, by = case.named(tensor), case.code_at(call.stack)
    if maker is None or not name.isidentifier() or case.facts.ops[maker].event.index > earlier.start:
        return None
    why = (
        f"{name} was computed once, in {case.code_at(case.facts.ops[maker].event.stack)}, and {by} runs for it again: "
        "the first run has freed its graph, and a second one would only give the same gradients."
    )
    return why, f"Compute {name} inside the loop, before backward(), so that it follows the updated parameters.", None


def from_earlier_section(case: Case) -> CarriedTensor | None:
    """The first tensor through which the graph of a failing call goes on into earlier iterations of a run, if the error
    arose there."""
    earlier = case.facts.carried
    if case.op is not None or case.call is None or not earlier:
        return None
    for event, tensor, _ in _inputs_behind(case, case.call.event.roots, 0):
        if tensor in earlier:
            state = _described(case, tensor, earlier[tensor], event)
            loop = loop_above(case.facts.sources, *_frames(case, earlier[tensor], event.stack, case.call.event.stack))
            return None if state is None else replace(state, loop=loop)
    return None


def _inputs_behind(case: Case, roots: Sequence[Root], start: int) -> Iterator[tuple[OpCalled, int, int]]:
    """The ops after an event from which roots were computed, each with the tensor and the version of one of its inputs.

    A tensor that is written in place has one op for each of its values.
    """
    facts = case.facts
    todo = [op for root in roots if (op := facts.made_by(root.tensor, case.event.index)) is not None]
    seen = set(todo)
    while todo:
        event = facts.ops[todo.pop()].event
        for argument in event.inputs if event.index >= start else ():
            if argument.tensor is None:
                continue
            yield event, argument.tensor, argument.version
            op = facts.producer(argument.tensor, argument.version) if argument.tensor in facts.tensors else None
            if op is not None and op not in seen:
                seen.add(op)
                todo.append(op)


def _described(case: Case, tensor: int, maker: int, user: OpCalled) -> CarriedTensor | None:
    name = case.facts.trace.names.get(tensor) or ""
    frame = case.facts.frames.get(user.stack)
    is_tensor = bool(name)
    if not name:
        name, frame = _passed_on(case, maker, user)
    if not name and frame is None:
        return None
    where = case.facts.quoted(frame)
    fact = case.facts.tensors[tensor]
    is_sum = fact.shape == () and _adds(user)
    subject = name or f"The result of {case.code_at(maker)}"
    collection = collected_in(case.facts.sources, *_frames(case, maker, user.stack))
    return CarriedTensor(name, subject, where, is_tensor, is_sum, collection=collection)


def _adds(event: OpCalled) -> bool:
    """Whether an op adds something to a number, or weighs it for a running mean."""
    name = labels.written_name(event).rstrip("_")
    return name == "add" or (name == "mul" and sum(one.tensor is not None for one in event.inputs) == 1)


def _passed_on(case: Case, maker: int, user: OpCalled) -> tuple[str, Frame | None]:
    """The outermost name that is bound by a call which computes the tensor and passed to a call which uses it, such as
    `self.state` in `out, self.state = self.rnn(x, self.state)`; and the call that uses it.  `maker` is a call stack."""
    sources, stacks = case.facts.sources, case.facts.trace.stacks
    if not (0 <= maker < len(stacks) and 0 <= user.stack < len(stacks)):
        return "", None
    bound = {name for frame in stacks[maker] for name in _targets(sources, frame)}
    for frame in stacks[user.stack]:
        name = next((name for name in sources.operands(frame) if name in bound), "")
        if name:
            return name, frame
    return "", case.facts.frames.get(user.stack)


def _targets(sources: Sources, frame: Frame) -> list[str]:
    """The names to which the result of the expression at a frame is bound."""
    file, node = sources.file(frame.file), sources.node(frame)
    above = file.above.get(node) if node is not None else None
    if not isinstance(above, ast.Assign):
        return []
    flat = [part for target in above.targets for part in (target.elts if isinstance(target, ast.Tuple) else [target])]
    return [file.text_of(part) for part in flat if isinstance(part, (ast.Name, ast.Attribute))]
