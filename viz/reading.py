"""A trace as the app reads it, once: facts, graph and timeline, and positions in the program's text."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from engine.trace import Frame, Trace

from .collect import collect
from .facts import Facts
from .graph import Drawing, draw
from .groups import groups
from .steps import Timeline
from .tangles import untangle
from .timeline import timeline
from .unseen import Unseen, unseen

Json = dict[str, Any]


@dataclass(frozen=True)
class Reading:
    """What is worked out of a trace whatever is folded or edited."""

    facts: Facts
    drawing: Drawing
    line: Timeline

    @cached_property
    def unseen(self) -> dict[int, list[Unseen]]:
        """What rules were given other than what forward had, by the event of the VJP."""
        return unseen(self.facts)

    def code(self, stack: int) -> Json | None:
        """The user's innermost position of a stack, as docs/scene-format.md has it."""
        return self.position(self.facts.frame(stack))

    def position(self, frame: Frame | None) -> Json | None:
        """A frame as the browser has it; None where its file is not part of the trace."""
        names = list(self.facts.trace.files)
        if frame is None or frame.file not in names:
            return None
        return {
            "file": names.index(frame.file),
            "line": frame.line,
            "end": frame.end_line,
            "col": frame.col,
            "stop": frame.end_col,
        }


_readings: WeakKeyDictionary[Trace, Reading] = WeakKeyDictionary()


def reading(trace: Trace) -> Reading:
    """Facts, graph and timeline of a trace, remembered as long as the trace lives."""
    found = _readings.get(trace)
    if found is None:
        table = collect(trace)
        drawing = draw(table, groups(trace))
        untangle(drawing)
        found = _readings[trace] = Reading(table, drawing, timeline(drawing))
    return found
