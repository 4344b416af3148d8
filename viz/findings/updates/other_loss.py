"""A step that uses the gradients of two losses, as in a GAN whose fake batch is not detached.  Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.trace.events import (
    Accumulated,
    GradSet,
    GroupEntered,
    OpCalled,
    Refreshed,
)

from ...reading import text
from ...reading.facts import Facts
from ..finding import Finding
from ..untrained.parameters import names_of
from .gradient_values import OptimizerLeaves, clears, in_line, is_zero

OPPOSITE = -0.8
"""The cosine of two gradients below which they work against each other: those of a GAN's two losses have -0.9 to -1,
and those of an actor and a critic that share a network by intention down to -0.5."""


def other_losses(facts: Facts) -> list[Finding]:
    """The first step of an optimiser whose gradients belong to two losses that work against each other.

    The first loss reaches parameters of two optimisers; one of them takes its step, and the gradients of the others'
    parameters are still there when the second loss adds to them.  If they are cleared in between, computing them was
    work for nothing, but no mistake.  Cost: linear in the events.
    """
    search = _Search(facts)
    for event in facts.trace.events:
        if isinstance(event, Accumulated) and not event.retained:
            search.arrive(event)
        elif isinstance(event, GradSet):
            search.clear([event.tensor])
        elif isinstance(event, (OpCalled, Refreshed)):
            target = event.inplace if isinstance(event, OpCalled) else event.tensor
            if target is not None and (leaves := facts.holding(target, event.index)) and clears(facts, event):
                search.clear(leaves)
        elif isinstance(event, GroupEntered) and event.optimizer:
            finding = search.step(event)
            if finding is not None:
                return [finding]
    return []


@dataclass(slots=True)
class _Search:
    """The gradients that leaves have, and the steps that were taken since they arrived."""

    facts: Facts
    first: dict[int, Accumulated] = field(default_factory=dict)
    """By leaf, the first gradient since it was cleared."""
    added: dict[int, Accumulated] = field(default_factory=dict)
    """By leaf, the last gradient that was added to others, after another optimiser's step."""
    reached: dict[int, set[int]] = field(default_factory=dict)
    """By backward call, the leaves that it reaches."""
    stepped: list[tuple[GroupEntered, tuple[int, ...]]] = field(default_factory=list)
    """The steps so far, each with the leaves of its optimiser."""
    holdings: OptimizerLeaves = field(default_factory=OptimizerLeaves)

    def arrive(self, event: Accumulated) -> None:
        self.reached.setdefault(event.call, set()).add(event.tensor)
        before = self.first.get(event.tensor)
        if before is None or is_zero(self.facts, event.before):
            self.first[event.tensor] = event
            self.added.pop(event.tensor, None)
        elif self.step_between(before, event) is not None:
            self.added[event.tensor] = event

    def clear(self, leaves: Sequence[int]) -> None:
        for leaf in leaves:
            self.first.pop(leaf, None)
            self.added.pop(leaf, None)

    def step_between(self, first: Accumulated, second: Accumulated) -> GroupEntered | None:
        """The step of another optimiser that used the call of the first gradient, before the second one arrived."""
        begin = bisect_right(self.stepped, first.index, key=lambda one: one[0].index)
        for step, holds in self.stepped[begin:]:
            is_others = first.tensor not in holds and not self.reached[first.call].isdisjoint(holds)
            if is_others and step.index < second.index:
                return step
        return None

    def step(self, event: GroupEntered) -> Finding | None:
        holds = self.holdings.of(event)
        self.stepped.append((event, holds))
        leaves = [leaf for leaf in holds if leaf in self.added]
        cosine = self.cosine(leaves) if leaves else None
        if cosine is None or cosine > OPPOSITE:
            self.clear(holds)
            return None
        return self.finding(event, leaves, cosine)

    def cosine(self, leaves: Sequence[int]) -> float | None:
        """The cosine between the gradients that some leaves had and those that were added; None if it is not known."""
        values = self.facts.trace.value
        both = [(self.added[leaf].before, self.added[leaf].added) for leaf in leaves]
        pairs = [(values(one), values(other)) for one, other in both if one is not None]
        arrays = [(a.array, b.array) for a, b in pairs if a.array is not None and b.array is not None]
        if len(arrays) < len(leaves):
            return None
        first, second = (np.concatenate([pair[k].astype(np.float64).ravel() for pair in arrays]) for k in (0, 1))
        size = float(np.linalg.norm(first) * np.linalg.norm(second))
        return float(first @ second) / size if size > 0 else None

    def finding(self, step: GroupEntered, leaves: Sequence[int], cosine: float) -> Finding | None:
        facts = self.facts
        second = self.added[leaves[0]]
        first = self.first[leaves[0]]
        between = self.step_between(first, second)
        if between is None:
            return None
        losses = [self.loss(one) for one in (first, second)]
        calls = [in_line(facts, facts.calls[one.call].event.stack) for one in (first, second)]
        names = names_of(facts, leaves)
        it = "They" if len(leaves) > 1 else "It"
        why = (
            f"The backward call of {losses[0]}{calls[0]}, whose gradients {between.kind}()"
            f"{in_line(facts, between.stack)} uses, also reaches {names}. {it} still had these gradients when the "
            f"backward call of {losses[1]}{calls[1]} added its own. The two work against each other (their cosine "
            f"is {text.rough(cosine, 2)}), and {step.kind}(){in_line(facts, step.stack)} uses their sum."
        )
        fix = (
            f"Detach what {losses[0]} receives from these parameters, as in D(fake.detach()), or call zero_grad() of "
            "their optimiser before the second backward call."
        )
        line = facts.line_number(facts.calls[second.call].event.stack)
        return Finding("other-loss", second.index, None, f"gradients of {losses[0]} are mixed in", why, fix, line)

    def loss(self, event: Accumulated) -> str:
        roots = self.facts.calls[event.call].event.roots
        return (self.facts.names.get(roots[0].tensor) if roots else None) or "another loss"
