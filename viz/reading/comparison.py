"""Two recordings of one program, on the engine and on another library, compared step by step up to the first
difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

import numpy as np

from engine.ops.op import REGISTRY
from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardStarted,
    ErrorRaised,
    Input,
    LeafCreated,
    OpCalled,
    Trace,
    Value,
    VjpRun,
)

from . import text
from .library import ROUNDINGS, gap, unit

DRIFT = 8192
"""Roundings by which numbers may differ that were computed from numbers with other roundings, as in the later steps of
a training: in float32, a thousandth."""


@dataclass(frozen=True, slots=True)
class Step:
    """A step that both recordings have: its kind (`what`), its line, and its values by their names."""

    event: AnyEvent
    what: str
    line: str
    values: tuple[tuple[str, int | None], ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """The first step at which two recordings differ: its number, from 1, and why, in a sentence."""

    step: int
    text: str
    events: tuple[int | None, int | None]
    """The event in each recording; None in the one that has ended."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """How far two recordings go together: `steps` is how many, `ops` and `vjps` of them are ops and VJPs.

    `worst` is the largest relative difference of a value in them; `first` is the first step that differs, if any.
    `random_leaf` is one that begins with other numbers in each, as random draws do: from there on numbers are not
    compared.
    """

    names: tuple[str, str]
    steps: int
    ops: int
    vjps: int
    worst: float
    first: Difference | None
    random_leaf: str = ""

    @property
    def text(self) -> str:
        """The comparison in sentences."""
        ours, theirs = self.names
        same = f"{text.count(self.ops, 'forward op')} and {text.count(self.vjps, 'VJP')} in the same order"
        numbers = (
            f", with numbers that are {self.numbers}."
            if not self.random_leaf
            else (
                f". Numbers are not compared, because {self.random_leaf} starts with different values in each: give "
                "the program fixed values instead of random ones to compare them."
            )
        )
        if self.first is None:
            return f"{ours} and {theirs} do the same: {same}{numbers}"
        before = f" Before it they have {same}{numbers}" if self.steps else ""
        return f"First difference, in step {self.first.step:,}: {self.first.text}{before}"

    @property
    def numbers(self) -> str:
        """How equal the numbers are."""
        return "equal to the last bit" if not self.worst else f"equal to {text.rough(self.worst)}"


def compared(one: Trace, other: Trace, names: tuple[str, str]) -> Comparison:
    """Compare forward ops, VJPs, gradients that arrive at leaves, and errors, in their order; `names` are those of the
    libraries.  Cost: linear in the events and the kept elements.
    """
    left, right = list(steps(one)), list(steps(other))
    leaves = _leaves(one), _leaves(other)
    worst, ops, vjps, random_leaf = 0.0, 0, 0, ""
    for number, (mine, its) in enumerate(zip(left, right, strict=False)):
        random_leaf = random_leaf or _other_leaf(one, other, mine.event, its.event, leaves)
        roundings = inf if random_leaf else DRIFT if worst else ROUNDINGS
        difference = _step(one, other, mine, its, names, roundings)
        if isinstance(difference, str):
            parting = Difference(number + 1, difference, (mine.event.index, its.event.index))
            return Comparison(names, number, ops, vjps, worst, parting, random_leaf)
        worst = max(worst, difference)
        ops, vjps = ops + isinstance(mine.event, OpCalled), vjps + isinstance(mine.event, VjpRun)
    number = min(len(left), len(right))
    first: Difference | None = None
    if len(left) != len(right):
        longer, at = (names[0], left[number]) if len(left) > len(right) else (names[1], right[number])
        shorter = names[1] if longer == names[0] else names[0]
        events = (at.event.index, None) if longer == names[0] else (None, at.event.index)
        first = Difference(number + 1, f"{longer} goes on with {at.what}{at.line}, and {shorter} has ended.", events)
    return Comparison(names, number, ops, vjps, worst, first, random_leaf)


def _leaves(trace: Trace) -> dict[int, LeafCreated]:
    return {event.tensor: event for event in trace.events if isinstance(event, LeafCreated)}


def _other_leaf(
    one: Trace, other: Trace, mine: AnyEvent, its: AnyEvent, leaves: tuple[Mapping[int, LeafCreated], ...]
) -> str:
    """The name of a leaf for which two calls have different numbers; "" if there is none."""
    if not isinstance(mine, OpCalled) or not isinstance(its, OpCalled):
        return ""
    op = REGISTRY.get(mine.name)
    start = int(op is not None and op.traits.replaces)  # an input that the op overwrites does not count
    for first, second in list(zip(mine.inputs, its.inputs, strict=False))[start:]:
        left, right = leaves[0].get(_tensor_number(first)), leaves[1].get(_tensor_number(second))
        if left is None or right is None or (left.version, right.version) != (first.version, second.version):
            continue
        difference = value_difference(one.value(left.value), other.value(right.value))
        if isinstance(difference, float) and difference > ROUNDINGS * unit(one.value(left.value).dtype):
            return one.names.get(left.tensor) or other.names.get(right.tensor) or "a leaf"
    return ""


def _tensor_number(argument: Input) -> int:
    return -1 if argument.tensor is None else argument.tensor


def _step(one: Trace, other: Trace, mine: Step, its: Step, names: tuple[str, str], roundings: float) -> float | str:
    """The largest difference of a value in a step, or why the steps are not the same."""
    if mine.what != its.what:
        return f"{names[0]} has {mine.what}{mine.line}, {names[1]} {its.what}{its.line}."
    worst = 0.0
    for (name, first), (_, second) in zip(mine.values, its.values, strict=False):
        if first is None or second is None:
            if first is not second:
                has, lacks = names if second is None else names[::-1]
                return f"in {mine.what}{mine.line}, {name} is a tensor on {has} and None on {lacks}."
            continue
        difference = value_difference(one.value(first), other.value(second))
        if isinstance(difference, str):
            return f"in {mine.what}{mine.line}, {name} {difference}."
        if roundings == inf:
            continue
        if difference > roundings * unit(one.value(first).dtype):
            apart = (
                "differs in its nan or inf elements"
                if np.isinf(difference)
                else (f"differs by {text.rough(difference, 2)} of its largest number")
            )
            return f"in {mine.what}{mine.line}, {name} {apart}."
        worst = max(worst, difference)
    return worst


def value_difference(one: Value, other: Value) -> float | str:
    """How far two values are apart, of large ones their samples; or in words what is not the same.  Nothing is known of
    values without elements, such as complex ones."""
    if one.dtype != other.dtype:
        return f"is {one.dtype} and {other.dtype}"
    if one.shape != other.shape:
        return f"has the shapes {list(one.shape)} and {list(other.shape)}"
    if one.damaged or other.damaged:
        return 0.0
    if one.array is not None and other.array is not None:
        return gap(one.array, other.array)
    return gap(one.sample, other.sample) if len(one.sample) == len(other.sample) else 0.0


def steps(trace: Trace) -> Iterator[Step]:
    """The kinds of events that both recordings have, in order."""
    ops = {e.node.node: e for e in trace.events if isinstance(e, OpCalled) and e.node is not None}
    for event in trace.events:
        if isinstance(event, OpCalled):
            node = f" ({event.node.name})" if event.node is not None else ""
            values = [(_result(nr, event.outputs), out.value) for nr, out in enumerate(event.outputs)]
            yield Step(event, f"the op {event.name}{node}", _line(trace, event.stack), tuple(values))
        elif isinstance(event, VjpRun):
            op = ops.get(event.node)
            record = op.node if op is not None else None
            name = record.name if record is not None else "a node"
            inputs = record.inputs if record is not None else ()
            sent = tuple((f"the gradient of {n}", value) for n, value in zip(inputs, event.cotangents, strict=False))
            yield Step(event, f"the VJP of {name}", _line(trace, op.stack) if op is not None else "", sent)
        elif isinstance(event, BackwardStarted):
            seeds = tuple(("the seed gradient", root.gradient) for root in event.roots)
            yield Step(event, f"a call of {event.function}", _line(trace, event.stack), seeds)
        elif isinstance(event, Accumulated):
            leaf = trace.names.get(event.tensor, "a leaf")
            yield Step(event, "an accumulation", "", ((f"the gradient of {leaf}", event.after),))
        elif isinstance(event, ErrorRaised):
            yield Step(event, f"{event.type}: {event.message.splitlines()[0] if event.message else ''}", "", ())


def _result(nr: int, outputs: Sequence[object]) -> str:
    return "the result" if len(outputs) == 1 else f"result {nr + 1}"


def _line(trace: Trace, stack: int) -> str:
    frames = trace.stacks[stack] if stack >= 0 else ()
    return f" in line {frames[-1].line}" if frames else ""
