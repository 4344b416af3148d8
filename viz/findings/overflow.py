"""The op where numbers that later overflow started to grow: the cause of an explosion, not its last step.  Pure."""

from __future__ import annotations

import itertools
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from engine.trace.events import Accumulated, OpCalled

from ..reading import labels, text
from ..reading.facts import CallFact, Facts
from .finding import NONFINITE_GRADIENT, Finding

LARGE = 1e4
"""A magnitude that values of a sound program rarely reach: the first value above it begins an explosion."""

LEAP = 10
"""The factor between one loss and the next in a run whose loss explodes."""

FEWEST = 3
"""The fewest losses in a row from which this is concluded."""

HUGE = 1e12
"""The magnitude of an input above which an overflow is due to the input, not to the op."""


def growth(facts: Facts, nonfinite_findings: list[Finding]) -> list[Finding]:
    """The op at which the values behind the first inf or nan passed `LARGE`, if that is an overflow; without an inf or
    nan, the loss that grows from update to update.

    The search goes back from each op to the op that computed its largest input, and from an update of a parameter to
    the loss of its gradient.  Cost: linear in the events.
    """
    start = next((f for f in nonfinite_findings if f.kind not in NONFINITE_GRADIENT), None)
    event = facts.trace.events[start.event] if start is not None else None
    search = _Search(facts)
    if start is None:
        return search.diverging()
    if not isinstance(event, OpCalled) or search.largest(event)[1] < HUGE:
        return []
    path = list(search.back(event))
    first = path[-1]
    if first.event is event or first.into >= LARGE:
        return []
    return [search.finding(first, path)]


@dataclass(frozen=True, slots=True)
class _Stop:
    """An op on the way back, with the largest magnitudes of its inputs and of its result."""

    event: OpCalled
    into: float
    out: float


class _Search:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.arrivals: dict[int, list[Accumulated]] = defaultdict(list)
        for event in facts.trace.events:
            if isinstance(event, Accumulated):
                self.arrivals[event.tensor].append(event)

    def size(self, value: int | None) -> float:
        """The largest finite magnitude in a value."""
        if value is None:
            return 0.0
        content = self.facts.trace.value(value)
        if content.array is None:
            return max((abs(content.stats[key]) for key in ("min", "max")), default=0.0)
        if content.array.dtype.kind != "f":
            return 0.0
        sizes = np.abs(content.array[np.isfinite(content.array)])
        return float(sizes.max()) if sizes.size else 0.0

    def largest(self, event: OpCalled) -> tuple[tuple[int, int] | None, float]:
        """The input with the largest magnitude, as (tensor, version), and that magnitude."""
        sizes = {
            (i.tensor, i.version): self.size(self.facts.value(i.tensor, i.version))
            for i in event.inputs
            if i.tensor is not None
        }
        best = max(sizes, key=lambda one: sizes[one], default=None)
        return best, sizes[best] if best is not None else 0.0

    def back(self, event: OpCalled) -> Iterator[_Stop]:
        """The ops on the way back, as long as their inputs are large."""
        seen: set[int] = set()
        now: OpCalled | None = event
        while now is not None and now.index not in seen:
            seen.add(now.index)
            best, into = self.largest(now)
            yield _Stop(now, into, max((self.size(out.value) for out in now.outputs), default=0.0))
            if best is None or into < LARGE:
                return
            producer = self.facts.producer(*best)
            before = self.facts.ops[producer].event if producer is not None else None
            now = self.loss(before) if before is not None and before.inplace is not None else before

    def loss(self, update: OpCalled) -> OpCalled | None:
        """The op that computed the loss of the gradient with which a leaf was last updated."""
        arrivals = self.arrivals[update.inplace] if update.inplace is not None else []
        last = bisect_left(arrivals, update.index, key=lambda e: e.index) - 1
        call = self.facts.calls.get(arrivals[last].call) if last >= 0 else None
        return self.root(call) if call is not None else None

    def diverging(self) -> list[Finding]:
        """The first loss that an update made `LEAP` times as large, if all later updates did the same."""
        lines: dict[int, list[tuple[OpCalled, float]]] = defaultdict(list)
        for call in self.facts.calls.values():
            root = self.root(call) if len(call.event.roots) == 1 else None
            if root is not None:
                lines[call.event.stack].append((root, max((self.size(out.value) for out in root.outputs), default=0.0)))
        result = []
        for losses in lines.values():
            sizes = [size for _, size in losses]
            calm = [k for k in range(1, len(sizes)) if sizes[k] < LEAP * sizes[k - 1]]
            begin = calm[-1] if calm else 0
            if len(sizes) - begin < FEWEST or sizes[-1] < LARGE or not sizes[begin]:
                continue
            if self.updated(losses[begin][0], losses[begin + 1][0]):
                result.append(self.leap(losses[begin + 1][0], sizes[begin:]))
        return result

    def updated(self, since: OpCalled, until: OpCalled) -> bool:
        """Return whether a leaf that receives gradients was written between two ops."""
        between = self.facts.ops[self.facts.op_at[since.index] : self.facts.op_at[until.index]]
        return any(op.event.inplace in self.facts.receives for op in between)

    def leap(self, event: OpCalled, sizes: list[float]) -> Finding:
        where = self.facts.code_at(event.stack, 60)
        losses = text.join([text.number(size) for size in sizes[:3]])
        last = f", and finally {text.number(sizes[-1])}" if len(sizes) > 3 else ""
        why = (
            f"Each update makes the loss larger: {where or 'it'} gives {losses}{last}. The steps overshoot the minimum."
        )
        fix = "Use a smaller learning rate, or call clip_grad_norm_() before the step."
        if event.attrs.get("reduction") == "sum":
            fix += ' reduction="sum" adds up all elements; with "mean" the gradient does not grow with their number.'
        at = self.facts.ops[self.facts.op_at[event.index]].id
        line = self.facts.line_number(event.stack)
        return Finding("divergence", event.index, at, "The loss explodes", why, fix, line)

    def root(self, call: CallFact) -> OpCalled | None:
        producers = [self.facts.made_by(root.tensor, call.start) for root in call.event.roots]
        return next((self.facts.ops[op].event for op in producers if op is not None), None)

    def finding(self, first: _Stop, path: list[_Stop]) -> Finding:
        here = [stop.out for stop in path[::-1] if stop.event.stack == first.event.stack and stop.event.inplace is None]
        name = labels.written_name(first.event)
        where = self.facts.code_at(first.event.stack, 60) or name
        most = max(stop.out for stop in path)
        why = (
            f"Here the numbers exceed {LARGE:,.0f}: {where} turns numbers up to {text.number(first.into)} into numbers "
            f"up to {text.number(first.out)}. They keep growing, to {text.number(most)}; the largest float32 "
            "number is 3.4e38."
        )
        times = sorted(later / sooner for sooner, later in itertools.pairwise(here) if sooner)
        if len(times) > 1 and times[len(times) // 2] > 1.1:
            middle = float(f"{times[len(times) // 2]:.2g}")
            why += f" Each run of this line makes them about {text.number(middle)} times as large."
        fix = (
            "Start with smaller weights, or normalise between the iterations. If only gradients grow, call "
            "clip_grad_norm_() before the step, or use a smaller learning rate."
        )
        at = self.facts.ops[self.facts.op_at[first.event.index]].id
        line = self.facts.line_number(first.event.stack)
        return Finding("growth", first.event.index, at, "The numbers explode", why, fix, line)
