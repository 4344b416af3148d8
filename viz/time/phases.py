"""The names of a program's phases: the call behind the steps of a phase, as written in the program."""

from __future__ import annotations

import re
from typing import Any

from engine.trace.events import (
    BackwardEnded,
    BackwardStarted,
    DataSet,
    ErrorRaised,
    GradSet,
    GroupEntered,
    OpCalled,
)

from ..graph.graph import Drawing
from ..graph.scopes import place_of
from ..reading.facts import Facts
from ..reading.labels import written_call, written_name
from ..reading.source_text import source
from ..schema.scene import PhaseKind
from .steps import Phase

_TARGET = re.compile(r"^[\w.\[\], ]+ = ")
"""The target of an assignment."""
WHOLE = 160
"""The most characters of a call that the timeline receives; its width decides how many of them it shows."""
CALLS = re.compile(r"\b(?:backward|grad)\(")
"""A call for gradients; not `zero_grad()` or `no_grad()`."""


def label(facts: Facts, call: BackwardStarted | None, stack: int, event: Any) -> str:
    """The running call, or an event outside of calls, as in the program; a call that the user added, as it would be
    written."""
    frame = facts.frames.get(stack)
    if frame is not None:
        text = source(facts.trace, frame, WHOLE)
        if isinstance(event, GradSet) and text.endswith(".grad"):  # the position of an assignment is that of its target
            text += " = None" if event.value is None else " = …"
        return text
    if call is not None:
        return written_call(call, facts.trace, facts.names.get)
    if isinstance(event, DataSet):
        return f"{facts.names.get(event.tensor) or 'tensor'}.data = …"
    owner = event.tensor if isinstance(event, GradSet) else facts.owner.get(event.inplace)
    target = f"{facts.names.get(owner) or 'tensor'}.grad" if owner is not None else "tensor"
    return f"{target} = …" if isinstance(event, GradSet) else f"{target}.{written_name(event)}()"


def label_of_update(drawing: Drawing, group: str, event: OpCalled) -> str:
    """The call of an optimiser's step in the program, whose group this is, by an op in it."""
    facts = drawing.facts
    frames = facts.trace.stacks[event.stack] if event.stack >= 0 else ()
    called = next((frame for frame in frames if place_of(frame) == drawing.grouping.callers.get(group)), None)
    return label(facts, None, event.stack, event) if called is None else source(facts.trace, called, WHOLE)


def optimizer_steps(drawing: Drawing) -> frozenset[str]:
    """The groups that are the step of an optimiser.

    The program's own optimiser has a group for the function around it too, which may call others before the update.
    """
    grouping, events = drawing.grouping, drawing.facts.trace.events
    kinds = {event.kind for event in events if isinstance(event, GroupEntered) and event.optimizer}
    steps = {group for group in grouping.calls if grouping.kin.get(group) in kinds}
    return frozenset(steps.difference(around for group in steps for around in grouping.paths[grouping.within[group]]))


def failing(facts: Facts, event: ErrorRaised, last: Phase | None, now: int) -> Phase:
    """The phase of an error outside any backward call: the call that failed before it began, or the program.

    `last` is the phase before it, `now` the number of its step.  If the error was found at the end of a call that ran,
    that call's phase continues.
    """
    frame = facts.failing[event.index]
    text = "error" if frame is None else source(facts.trace, frame, WHOLE)
    kind: PhaseKind = "backward" if CALLS.search(text) else "forward"
    if kind == "backward":
        text = _TARGET.sub("", text)  # the call, as for one that begins
    same = last is not None and last.label == text
    ended = event.index > 0 and isinstance(facts.trace.events[event.index - 1], BackwardEnded)
    if last is not None and same and ended and kind == last.kind == "backward":
        return last
    return Phase(kind, text, now, now, last.call if last is not None and same else None, event.stack)
