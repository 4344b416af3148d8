"""Gradients that vanish or explode on their way back through the steps of a loop or through equal layers.  Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import hypot, sqrt
from statistics import median

from engine.trace.events import VjpRun

from ..reading import labels, text
from ..reading.facts import CallFact, Facts
from ..reading.source_text import source
from .finding import Finding

FEWEST = 8
"""The fewest runs of an op, one after the other, from which this is concluded."""
MILLION = 1e6
"""The factor by which the gradient has to shrink or grow: in float32, a number is lost beside one a million times as
large."""
STEADY = 0.95
"""The ratio of a run's norm to that of the one before is typically below this, or above its inverse."""
BESIDE = 1e3
"""A gradient that is so many times that of the run before it did not come through that run alone."""


def vanishing(facts: Facts) -> list[Finding]:
    """One finding per line whose repeated op shrinks the gradient to a millionth, or makes it a million times as large.

    The runs are those of one op on one line within a backward call, each on the path of the one before.
    Cost: linear in the events, and in the elements of the gradients that repeated ops receive.
    """
    chains: dict[int, list[_Chain]] = defaultdict(list)
    for call in facts.calls.values():
        steepest = max(_chains(facts, call), key=lambda chain: chain.change, default=None)
        if steepest is not None:
            chains[steepest.stack].append(steepest)
    return [_finding(facts, pieces[0], len(pieces)) for pieces in chains.values()]


@dataclass(frozen=True, slots=True)
class _Chain:
    """The runs of one op on one line: the gradients that they received, in the order of the backward pass."""

    stack: int
    events: tuple[VjpRun, ...]
    norms: tuple[float, ...]

    @property
    def fades(self) -> bool:
        return self.norms[-1] < self.norms[0]

    @property
    def ratio(self) -> float:
        """The typical factor between the norms of one run and the next."""
        return median(b / a for a, b in zip(self.norms, self.norms[1:], strict=False) if a)

    @property
    def change(self) -> float:
        """The factor by which the norm shrinks or grows in all."""
        first, last = self.norms[0], self.norms[-1]
        small, large = min(first, last), max(first, last)
        return large / small if small else float("inf")

    @property
    def faded(self) -> float:
        """The norm half way from the first to the last one, in orders of magnitude."""
        first, last = self.norms[0], self.norms[-1]
        return sqrt(first * last) or first / MILLION

    @property
    def is_steady(self) -> bool:
        """Whether the change happens in many steps: a flat function that sends zeros at once is another finding."""
        if not self.norms[0] or self.change < MILLION:
            return False
        if not self.norms[-1] and min(filter(None, self.norms)) > self.norms[0] / MILLION:
            return False
        return self.ratio < STEADY if self.fades else self.ratio > 1 / STEADY


def _chains(facts: Facts, call: CallFact) -> Iterator[_Chain]:
    """The chains of a backward call along which the gradient vanishes or explodes."""
    runs: dict[tuple[int, str], list[VjpRun]] = defaultdict(list)
    for index in call.vjps:
        event = facts.trace.events[index]
        op = facts.op_of_node.get(event.node) if isinstance(event, VjpRun) else None
        if isinstance(event, VjpRun) and op is not None:
            called = facts.ops[op].event
            runs[called.stack, called.name].append(event)
    for (stack, _), events in runs.items():
        if len(events) < FEWEST:
            continue
        chain = _Chain(stack, tuple(events), tuple(_norm(facts, event.upstream) for event in events))
        if not chain.is_steady or not _is_one_behind_the_other(facts, call, chain):
            continue
        if not (chain.fades and _has_a_way_around(facts, call, chain)):
            yield chain


def _norm(facts: Facts, values: Sequence[int | None]) -> float:
    return hypot(*(float(facts.trace.value(value).stats["norm"]) for value in values if value is not None))


def _is_one_behind_the_other(facts: Facts, call: CallFact, chain: _Chain) -> bool:
    """Return whether each run received its gradient through the one before, which the terms of a sum do not."""
    members = {event.node for event in chain.events}
    through: dict[int, int] = defaultdict(int)  # by node: through how many members in a row its gradient has come
    for index in call.vjps:
        event = facts.trace.events[index]
        if not isinstance(event, VjpRun):
            continue
        through[event.node] += event.node in members
        op = facts.op_of_node.get(event.node)
        record = facts.node(op) if op is not None else None
        for edge in record.edges if record is not None else ():
            if edge is not None and edge.node is not None:
                through[edge.node] = max(through[edge.node], through[event.node])
    return through[chain.events[-1].node] == len(chain.events)


def _has_a_way_around(facts: Facts, call: CallFact, chain: _Chain) -> bool:
    """Return whether a gradient far larger than those of the runs reaches the last run by another path, such as a skip
    connection."""
    norms = {event.index: norm for event, norm in zip(chain.events, chain.norms, strict=True)}
    before: dict[int, float] = {}  # by VJP: the norm of the last run until then
    norm = 0.0
    for index in call.vjps:
        norm = norms.get(index, norm)
        if chain.events[0].index <= index < chain.events[-1].index:
            before[index] = norm
    leading = {chain.events[-1].node}
    for index in reversed(before):
        event = facts.trace.events[index]
        op = facts.op_of_node.get(event.node) if isinstance(event, VjpRun) else None
        record = facts.node(op) if op is not None else None
        if not isinstance(event, VjpRun) or record is None:
            continue
        if any(edge is not None and edge.node in leading for edge in record.edges):
            leading.add(event.node)
            if _norm(facts, event.upstream) > max(chain.faded, BESIDE * before[index]):
                return True
    return False


def _finding(facts: Facts, chain: _Chain, calls: int) -> Finding:
    first, last = chain.norms[0], chain.norms[-1]
    ratio = text.number(float(f"{chain.ratio:.2g}"))
    passed = (norm * MILLION < first if chain.fades else norm > first * MILLION for norm in chain.norms)
    place = next(index for index, is_past in enumerate(passed) if is_past)
    event = chain.events[place]
    op = facts.ops[facts.op_of_node[event.node]]
    frame = facts.frames.get(chain.stack)
    where = labels.written_name(op.event)
    if frame is not None:
        where = f"{where} in `{source(facts.trace, frame, 48)}` ({facts.line(frame)})"
    change = "shrinks" if chain.fades else "grows"
    why = (
        f"On its way back through {len(chain.norms)} runs of {where}, the norm of the gradient {change} from "
        f"{text.number(first)} to {text.number(last)}: each run multiplies it by about {ratio}."
    )
    if calls > 1:
        why += f" This happens in {calls} backward calls; the numbers are those of the first."
    if chain.fades:
        why += f" What happened before the last {place} runs has almost no influence on the gradient of the parameters."
        fix = (
            "Let each run keep the size of the gradient: use gates that start open (an LSTM with a forget bias of 1), "
            "skip connections, normalisation, or orthogonal initial weights."
        )
    else:
        fix = (
            "Call clip_grad_norm_() before the step, start with smaller or orthogonal weights, or backpropagate "
            "through fewer steps."
        )
    label = "The gradient vanishes" if chain.fades else "The gradient explodes"
    line = frame.line if frame is not None else None
    return Finding("vanishing" if chain.fades else "exploding", event.index, op.id, label, why, fix, line)
