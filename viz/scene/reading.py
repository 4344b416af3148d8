"""A trace as the app reads it, once: facts, graph and timeline, and positions in the program's text."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from engine.trace.events import Accumulated, Frame, OpCalled, Trace, VjpRun
from engine.trace.file.database import Rows

from ..findings.finding import Finding
from ..findings.findings import findings
from ..graph.graph import Drawing, Item, draw
from ..graph.groups import groups
from ..graph.scopes import place_of
from ..graph.tangles import untangle
from ..layout import cards
from ..reading import text
from ..reading.facts import Facts, collect
from ..reading.formulas import call_key, formulas
from ..reading.jacobian import value as number
from ..reading.stale_values import StaleValue, unseen
from ..reading.values import Entry
from ..schema.scene import Origin, Span
from ..schema.values import Code, Formula
from ..tasks.lru import Lru
from ..tasks.single_flight import SingleFlight
from ..time.spans import Span as TimeSpan
from ..time.spans import spans
from ..time.steps import Step, Timeline
from ..time.timeline import timeline
from ..wording import sentences
from ..wording.spans import short, span_texts

T = TypeVar("T")


@dataclass(frozen=True)
class Reading:
    """The parts of a reading that do not depend on folding or edits."""

    facts: Facts
    drawing: Drawing
    line: Timeline

    entries: dict[int, Entry] = field(default_factory=dict)
    """The values of earlier scenes in the browser's form: the next scene shows most of them again."""
    _parts: dict[tuple[Any, ...], Any] = field(default_factory=dict)

    def once(self, key: tuple[Any, ...], make: Callable[[], T]) -> T:
        """The parts that are the same in all scenes of a trace, computed for the first one."""
        if key not in self._parts:
            self._parts[key] = make()
        value: T = self._parts[key]
        return value

    def head(self, item: Item) -> tuple[str, str, str]:
        """Label, second line and tooltip of a node."""
        return self.once(("head", item.id), lambda: cards.head(item, self.drawing))

    def brief(self, value: int) -> str:
        """A value of the trace in few characters."""
        return self.once(("brief", value), lambda: text.brief(self.facts.trace.value(value)))

    def norm(self, value: int) -> float | None:
        """The norm of a value of the trace; None if it has no elements there, such as a complex one."""

        def computed() -> float | None:
            content = self.facts.trace.value(value)
            return None if content.damaged else text.norm(content.stats)

        return self.once(("norm", value), computed)

    def sent(self, event: VjpRun, op: OpCalled) -> list[sentences.InputGradient]:
        """The gradients that a rule sends, with the names of their receivers."""
        return self.once(("sent", event.index), lambda: sentences.sent(event, op, self.facts))

    def formula(self, op: OpCalled) -> list[Formula]:
        """The formulas of an op, computed once for all calls that read the same."""
        key = self.once(("call", op.index), lambda: ("formula", *call_key(self.facts, op)))
        return self.once(key, lambda: formulas(self.facts, op))

    @cached_property
    def unseen(self) -> dict[int, list[StaleValue]]:
        """The values that rules received and that had changed since the forward pass, by the event of the VJP."""
        return unseen(self.facts)

    @cached_property
    def spans(self) -> list[Span]:
        """The levels of time, in words."""
        result = spans(self.drawing, self.line)
        words = span_texts(result, self.drawing, self.line)
        return [
            {
                "start": one.start, "end": one.end, "row": one.row, "within": one.within, "kind": one.kind,
                "label": one.label if one.group is None else short(one.label), "say": sentence.text, "group": one.group,
                "norm": None if sentence.norm is None else number(sentence.norm), "code": self.call(one),
            }
            for one, sentence in zip(result, words, strict=True)
        ]  # fmt: skip

    def call(self, span: TimeSpan) -> Code | None:
        """The position where the program calls a span: the call of a group, the statement of a phase."""
        first = self.line.steps[span.start]
        stack = self.facts.trace.events[first.event].stack
        if span.group is None:
            return self.code(stack) if span.kind == "write" else self.places(first)["from"]
        if first.op is not None:
            stack = self.facts.ops[first.op].event.stack
        frames = self.facts.trace.stacks[stack] if stack >= 0 else ()
        called = self.drawing.grouping.callers.get(span.group)
        return self.position(next((frame for frame in frames if place_of(frame) == called), None))

    @cached_property
    def findings(self) -> list[Finding]:
        """The problems that raised no error."""
        return findings(self.facts)

    @cached_property
    def step_sentences(self) -> list[str]:
        """The sentence of each step."""
        return [sentences.say(step, self.drawing) for step in self.line.steps]

    @cached_property
    def step_places(self) -> list[Origin]:
        """Where each step stands in the program."""
        return [self.places(step) for step in self.line.steps]

    def code(self, stack: int) -> Code | None:
        """The user's innermost position of a stack, as docs/scene-format.md has it."""
        return self.position(self.facts.frames.get(stack))

    def places(self, step: Step) -> Origin:
        """The position of a step in the program: the `code` of its expression; `from`: that of the call it is part
        of."""
        event = self.facts.trace.events[step.event]
        of = event.stack if step.op is None else self.facts.ops[step.op].event.stack
        if step.kind == "accumulate":
            of = self._origin(step)
        call = self.facts.calls.get(step.call) if step.call is not None else None
        called = call.event.stack if call is not None else event.stack
        return {
            "code": self.position(self.facts.failing[event.index]) if step.kind == "error" else self.code(of),
            "from": self.code(called) if step.call is not None or step.kind == "error" else None,
        }

    def _origin(self, step: Step) -> int:
        """The position where the tensor of an accumulation was made."""
        event = self.facts.trace.events[step.event]
        return self.facts.begun_at(event.tensor if isinstance(event, Accumulated) else None)

    def position(self, frame: Frame | None) -> Code | None:
        """A frame in the browser's form; None if its file is not part of the trace."""
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


READINGS = 48, 256 << 20
"""The readings that are cached: their number, and their bytes with those of their traces."""
EVENT = 2_000
"""Bytes of an event with the values that it names, without their elements."""
READ = 4_500
"""Bytes of the data that is computed from an event."""
PARSED = 50
"""Bytes of the syntax tree of a program, by character."""


def weight(trace: Trace) -> int:
    """Roughly the bytes of a trace; for one that is read from a file, only of the part that is read at once.

    An estimate from the number of events and the elements of the values, because to look at each object takes longer
    than to make a scene; a test holds it against what Python says.
    """
    values = trace.values if isinstance(trace.values, tuple) else ()
    read = (
        len(trace.events) if isinstance(trace.events, tuple) else min(len(trace.events), Rows.MOST_BLOCKS * Rows.BLOCK)
    )
    arrays: dict[int, int] = {id(array): array.nbytes for value in values if (array := value.array) is not None}
    return EVENT * read + sum(arrays.values()) + sum(map(len, trace.files.values()))


def _weight(trace: Trace, _reading: Reading) -> int:
    return weight(trace) + READ * len(trace.events) + PARSED * sum(map(len, trace.files.values()))


_readings: Lru[Trace, Reading] = Lru(*READINGS, _weight)
_flight = SingleFlight()


def reading_of(trace: Trace) -> Reading:
    """Facts, graph and timeline of a trace; those used last are cached.

    A reading holds its trace, so it must not be stored in an object that lives as long as the trace.
    """
    return _flight.cached(_readings, trace, lambda: _read(trace))


def _read(trace: Trace) -> Reading:
    table = collect(trace)
    drawing = draw(table, groups(table))
    untangle(drawing)
    return Reading(table, drawing, timeline(drawing))
