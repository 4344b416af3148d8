"""The steps of a trace and what changes in each: phases, marks, and tracks by element."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from engine.trace.events import Printed

from ..graph.graph import Link
from ..schema.scene import MarkKind, PhaseKind, StepKind
from ..schema.values import Track

BEGIN = 0.0005
"""A backward call begins when its first step moves, this long after the pause, which shows the state before."""
HALF = 0.5
"""Half a step before the end of a backward step the rule has run: its saved tensors are freed, its cotangents are on
their way."""


@dataclass(slots=True)
class Flow:
    """A value that travels along an edge in a step (`back`: a gradient, from target to source); `value` is a trace
    value."""

    link: Link
    back: bool
    value: int | None
    upstream: int | None = None


@dataclass(slots=True)
class Step:
    """`order` is the order of the derivative that the step's backward call computes; 0 outside of backward calls."""

    kind: StepKind
    phase: int
    at: str | None
    name: str
    event: int
    op: int | None
    order: int
    call: int | None
    flows: list[Flow] = field(default_factory=list)
    writes_value: bool = False
    """Whether the step is a write that changes a tensor's values and not its gradient."""


@dataclass(slots=True)
class Phase:
    kind: PhaseKind
    label: str
    start: int
    end: int
    call: int | None
    stack: int
    failed: bool = False


@dataclass(slots=True)
class Timeline:
    """Steps, phases and marks, and the tracks by (element id, key).

    Keys of nodes: state faint saved upstream, row:value row:grad row:seed row:call row:derived; of edges: state faint
    cotangent.  Values in tracks are indices of trace values.
    """

    steps: list[Step] = field(default_factory=list)
    phases: list[Phase] = field(default_factory=list)
    marks: list[tuple[int, MarkKind, str]] = field(default_factory=list)
    warnings: list[tuple[int, str]] = field(default_factory=list)
    prints: list[tuple[int, Printed]] = field(default_factory=list)
    tracks: dict[tuple[str, str], Track[Any]] = field(default_factory=dict)
    step_of: dict[int, int] = field(default_factory=dict)
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)
    """The step at which a backward call begins, by event; for a call that failed before that, its error's step."""
    until: dict[str, int] = field(default_factory=dict)
    """By card of an older version of a tensor, the step from which the card of a newer version has its `.grad`."""

    def put(self, element: str, key: str, step: float, value: Any, default: Any = None) -> None:
        """Set the value from `step` on."""
        track = self.tracks.get((element, key))
        if track is None:
            track = self.tracks[element, key] = [(0, default)]
        if track[-1][0] == step:
            track[-1] = (step, value)
            if len(track) > 1 and track[-2][1] == value:
                track.pop()
        elif track[-1][1] != value:
            track.append((step, value))

    def at(self, element: str, key: str, step: float) -> Any:
        """The value of a track at a time; None before its first one."""
        track = self.tracks.get((element, key), [])
        place = bisect_right(track, step, key=itemgetter(0))
        return track[place - 1][1] if place else None
