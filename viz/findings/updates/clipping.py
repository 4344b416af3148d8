"""Gradients that are clipped at a wrong time: before they arrive, while they are scaled, or after a step has used them.
Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np

from engine.trace.events import (
    Accumulated,
    AnyEvent,
    GradSet,
    GroupEntered,
    GroupLeft,
    LeafCreated,
    OpCalled,
    Refreshed,
)

from ...reading import text
from ...reading.facts import Facts
from ..finding import Finding
from ..untrained.parameters import names_of
from .gradient_values import UNSCALE, OptimizerLeaves, first_value, in_line, is_zero

CLIPS = frozenset({"clip_grad_norm_", "clip_grad_value_", "clip_grad_norm", "clip_grads_with_norm_"})
"""Functions of the program that clip gradients, if there are any: of a call without, only its text is recorded."""


def unused_clips(facts: Facts) -> list[Finding]:
    """The first clip of gradients at a wrong time.

    Either a function clips while there are no gradients, and a step uses those that arrive afterwards; or it clips
    while the scale of a GradScaler is in them, which divides them afterwards; or gradients are changed after a step has
    used them, and cleared before the next one.  A change that the next backward call adds to,
    as of momentum that is kept in `.grad`, is not a finding.  Cost: linear in the events.
    """
    search = _Search(facts)
    for event in facts.trace.events:
        finding = search.look(event)
        if finding is not None:
            return [finding]
    return search.at_end()


@dataclass(slots=True)
class _Search:
    """The state of the gradients at an event."""

    facts: Facts
    clips: frozenset[int] = frozenset()
    """The call stacks of clips."""
    stale: set[int] = field(default_factory=set)
    """Leaves that were updated since their gradient arrived."""
    present: set[int] = field(default_factory=set)
    """Leaves that have a gradient."""
    arrived: dict[int, Accumulated] = field(default_factory=dict)
    cleared: dict[int, AnyEvent] = field(default_factory=dict)
    """Leaves whose gradients were cleared before any arrived, as each iteration does."""
    changed: dict[int, OpCalled | Refreshed] = field(default_factory=dict)
    """Leaves whose gradient was changed after it was used."""
    clipped: dict[int, OpCalled] = field(default_factory=dict)
    """Leaves whose gradient a clip changed since it arrived."""
    early: AnyEvent | None = None
    """The last clip, if there were no gradients."""
    steps: list[GroupEntered | None] = field(default_factory=list)
    """The steps around an event, by group."""
    last: GroupEntered | None = None
    holdings: OptimizerLeaves = field(default_factory=OptimizerLeaves)

    def __post_init__(self) -> None:
        self.clips, self.stale = _clips(self.facts), set(self.facts.elsewhere("updated"))

    def look(self, event: AnyEvent) -> Finding | None:
        if event.stack in self.clips:
            self.early = None if self.present else event
        if isinstance(event, GroupEntered):
            return self.step(event)
        if isinstance(event, GroupLeft):
            del self.steps[-1:]
        elif isinstance(event, LeafCreated):
            if event.grad is not None and not is_zero(self.facts, first_value(self.facts, event.grad)):
                self.present.add(event.tensor)
        elif isinstance(event, Accumulated) and not event.retained:
            self.present.add(event.tensor)
            self.arrived[event.tensor] = event
            self.stale.discard(event.tensor)
            self.changed.pop(event.tensor, None)
            self.clipped.pop(event.tensor, None)
        elif isinstance(event, GradSet):
            return self.cleared_by(event, [event.tensor]) if is_zero(self.facts, event.value) else None
        elif isinstance(event, (OpCalled, Refreshed)):
            return self.write(event)
        return None

    def step(self, event: GroupEntered) -> Finding | None:
        is_step = bool(event.optimizer)
        self.steps.append(event if is_step else self.steps[-1] if self.steps else None)
        if not is_step:
            return None
        self.last = event
        fresh = [
            self.arrived[leaf] for leaf in self.holdings.of(event) if leaf in self.arrived and leaf in self.present
        ]
        if self.early is None or not fresh or any(one.index < self.early.index for one in fresh):
            return None
        return self.too_early(self.early, event, fresh)

    def write(self, event: OpCalled | Refreshed) -> Finding | None:
        target = event.inplace if isinstance(event, OpCalled) else event.tensor
        if target is None:
            return None
        value = event.outputs[0].value if isinstance(event, OpCalled) else event.value
        if target in self.present:
            self.stale.add(target)
            self.changed.pop(target, None)
        leaves = self.facts.holding(target, event.index)
        if not leaves or (self.steps and self.steps[-1] is not None):
            return None
        if is_zero(self.facts, value):
            return self.cleared_by(event, leaves)
        if isinstance(event, OpCalled) and event.name == UNSCALE:
            return self.scaled(event) if not self.clipped.keys().isdisjoint(leaves) else None
        if isinstance(event, OpCalled) and event.stack in self.clips and self.is_change(event, value):
            self.clipped.update(dict.fromkeys(leaves, event))
        for leaf in leaves:
            if leaf in self.stale and leaf in self.present and self.is_change(event, value):
                self.changed.setdefault(leaf, event)
        return None

    def is_change(self, event: OpCalled | Refreshed, value: int) -> bool:
        """Return whether a write gives a gradient other elements; a clip whose limit is not reached does not."""
        if not isinstance(event, OpCalled) or not event.inputs or event.inputs[0].tensor != event.inplace:
            return True
        before = self.facts.value(event.inplace or 0, event.inputs[0].version)
        if before is None:
            return True
        old, new = self.facts.trace.value(before), self.facts.trace.value(value)
        if old.array is not None and new.array is not None:
            return not np.allclose(old.array, new.array, rtol=1e-5, atol=0, equal_nan=True)
        return not np.allclose(old.sample, new.sample, rtol=1e-5, atol=0, equal_nan=True)

    def cleared_by(self, event: AnyEvent, leaves: Sequence[int]) -> Finding | None:
        late = [leaf for leaf in leaves if leaf in self.changed]
        if late:
            return self.too_late(event)
        for leaf in leaves:
            if leaf not in self.arrived:
                self.cleared.setdefault(leaf, event)
            self.present.discard(leaf)
            self.stale.discard(leaf)
        return None

    def at_end(self) -> list[Finding]:
        """The finding at the end of the trace: an iteration that began by clearing gradients is followed by another."""
        if not self.changed or not self.changed.keys() <= self.cleared.keys():
            return []
        return [self.too_late(self.cleared[next(iter(self.changed))])]

    # -- in words -------------------------------------------------------------------------------------------------

    def too_early(self, clip: AnyEvent, step: GroupEntered, fresh: Sequence[Accumulated]) -> Finding:
        facts = self.facts
        name, optimizer = facts.code_at(clip.stack), step.optimizer
        norm = sum(facts.trace.value(one.after).stats["norm"] ** 2 for one in fresh) ** 0.5
        why = (
            f"{name} runs before the backward call{in_line(facts, facts.calls[fresh[0].call].event.stack)}, when no "
            f"parameter has a gradient, so it clips nothing. {optimizer}.step(){in_line(facts, step.stack)} uses the "
            f"gradients as they are, with a norm of {text.rough(norm, 3)}."
        )
        line = facts.line_number(clip.stack)
        fix = "Move it between backward() and step()."
        unclipped = min(fresh, key=lambda one: one.index)  # the clip itself is not a step
        at = f"t{unclipped.tensor}"
        return Finding("unused-clip", unclipped.index, at, "clipped before backward()", why, fix, line)

    def scaled(self, event: OpCalled) -> Finding | None:
        facts, clip = self.facts, next(iter(self.clipped.values()))
        inverse = facts.value(event.inputs[-1].tensor or 0, event.inputs[-1].version)
        factor = 0.0 if inverse is None else facts.trace.value(inverse).stats["max"]
        if not factor:
            return None

        def norm(values: Iterable[int]) -> str:
            return text.rough(factor * sum(facts.trace.value(one).stats["norm"] ** 2 for one in values) ** 0.5, 3)

        arrived = norm(self.arrived[leaf].after for leaf in self.clipped if leaf in self.arrived)
        left = norm(one.outputs[0].value for one in self.clipped.values())
        why = (
            f"{facts.code_at(clip.stack)} compares gradients that are still multiplied by the GradScaler's scale of "
            f"{1 / factor:,.6g} with its limit, and{in_line(facts, event.stack)} they are divided by it. "
            f"Their norm is {arrived} without the scale; after the clip and the division it is {left}."
        )
        fix = "Call `scaler.unscale_(optimizer)` after backward(), before the gradients are clipped."
        line = facts.line_number(clip.stack)
        return Finding("unused-clip", clip.index, None, "clipped while scaled", why, fix, line)

    def too_late(self, went: AnyEvent) -> Finding:
        facts, event = self.facts, next(iter(self.changed.values()))
        user = f"{self.last.kind}(){in_line(facts, self.last.stack)}" if self.last is not None else ""
        if self.last is None or self.last.index > event.index:
            user = "the step of the previous iteration"
        names, clears = names_of(facts, list(self.changed)), in_line(facts, went.stack).removeprefix(" in ")
        many = "gradients" if len(self.changed) > 1 else "gradient"
        why = (
            f"{facts.code_at(event.stack) or 'The program'} changes the {many} of {names} after {user} has used "
            f"them, and {clears or 'the program'} clears them before the next step. No step uses the changed gradients."
        )
        line = facts.line_number(event.stack)
        fix = "Move it between backward() and step()."
        return Finding("unused-clip", event.index, None, "gradients changed after the step", why, fix, line)


def _clips(facts: Facts) -> frozenset[int]:
    """The stack numbers whose innermost line of the program calls a function that clips gradients."""
    files, stacks = {name for name, text in facts.trace.files.items() if "clip_grad" in text}, set()
    for stack, frame in facts.frames.items():
        node = facts.sources.node(frame) if frame.file in files else None
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name in CLIPS:
                stacks.add(stack)
    return frozenset(stacks)
