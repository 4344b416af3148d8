"""A story after an edit: when each chapter happens now, and which chapters no longer apply.

Stories are written by hand, for the program as it was recorded.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import zip_longest
from typing import Any

from engine.trace.events import AnyEvent, ErrorRaised, last_value

from ..layout import cards
from ..reading.source_text import source
from ..schema.scene import Chapter, Scene
from . import problem_story
from .commands import ran, span
from .reading import Reading

Key = tuple[str | None, str, str | None, int]
"""The name of a step in every revision: its command, its kind, its place, and its number among equal ones."""


def outline(reading: Reading) -> dict[str, Any]:
    """The tables of a story (`chapters.resolve`): a scene without a picture, with all groups open."""
    items = reading.drawing.items
    nodes = [
        {"id": ident, "kind": item.kind, "label": cards.head(item, reading.drawing)[0],
         "code": reading.code(reading.facts.ops[item.op].event.stack) if item.op is not None else None}
        for ident, item in items.items()
    ]  # fmt: skip
    return {
        "program": {"files": [{"name": name, "text": text} for name, text in reading.facts.trace.files.items()]},
        "nodes": nodes,
        "steps": [{"kind": step.kind, "at": step.at, **reading.places(step)} for step in reading.line.steps],
    }


def retold(
    chapters: Sequence[Chapter], recorded: Sequence[Chapter], before: Reading, now: Reading, edits: Mapping[str, Any],
    scene: Scene,
) -> list[Chapter]:  # fmt: skip
    """The chapters of an edited program.  `recorded` are those of the recording `before`, of which each names its step;
    `chapters` the same with the elements of the `scene` of `now`.

    A chapter that may have changed asks no question, because its answer was written for the recording.  One that no
    longer happens has the reason as `gone`; one whose step an edit may have changed has the sentence of this revision
    as `now`.  If the program stops at an error without a chapter, a new one describes it, and later ones are gone.
    """
    error = scene["error"]
    stop = None if error is None else problem_story.error_chapter(error, scene["steps"], now.facts)
    after = _EditedRun(before, now, edits, stop)
    result = list(after.chapters(chapters, recorded))
    if stop is None or any(one["step"] == stop["step"] for one in result):
        return result
    place = len(result)
    while place and after.is_behind(result[place - 1]):
        place -= 1
    return [*result[:place], {**stop, "inspect": True}, *result[place:]]


@dataclass(frozen=True)
class _EditedRun:
    """A recording and a revision of it; `stop` is the chapter of the error that ends the revision, if there is one."""

    before: Reading
    now: Reading
    edits: Mapping[str, Any]
    stop: Chapter | None

    @cached_property
    def keys(self) -> list[Key]:
        return _keys(self.before, None)

    @cached_property
    def steps(self) -> dict[Key, int]:
        """The steps of the revision."""
        return {key: step for step, key in enumerate(_keys(self.now, self.edits))}

    def chapters(self, chapters: Sequence[Chapter], recorded: Sequence[Chapter]) -> Iterator[Chapter]:
        """Each chapter with its time in the revision; one without a step goes with the one before it."""
        same = _same_until(self.before, self.now)
        end, time, gone = 0, 0, ""
        for chapter, one in zip(chapters, recorded, strict=True):
            step = None
            if one["step"] is not None:
                end = one["step"]
                step = self.steps.get(self.keys[end - 1])
                gone = self.gone(end - 1, step, time)
                time = time if gone or step is None else step + 1
            if gone:
                yield {**_without_question(chapter), "step": None, "gone": gone}
            elif end > same:
                now = "" if step is None else self.say(step)
                yield {**_without_question(chapter), "step": None if step is None else time, "now": now}
            else:
                yield {**chapter, "step": None if step is None else time}

    def say(self, step: int) -> str:
        return self.now.step_sentences[step]

    def gone(self, was: int, step: int | None, time: int) -> str:
        """Why a step of the recording is not in the revision after `time`; "" if it is."""
        command = self.keys[was][0]
        if command is not None and command not in self.command_ids:
            return f"This no longer happens: you removed {self.call_text(command)}."
        if self.before.line.steps[was].kind == "error":
            if step is not None and self.message(self.now, step) == self.message(self.before, was):
                return ""
            other = "another one stops the program" if self.stop is not None else "the program goes on"
            return f"This error no longer occurs: {other}."
        if step is None:
            return self.stopped or "This no longer happens."
        return "" if step >= time else f"This now happens earlier, in step {step + 1}."

    @property
    def stopped(self) -> str:
        """Why a chapter after the error does not happen."""
        return f"This no longer happens: the program stops first, at the {self.stop['title']}." if self.stop else ""

    def is_behind(self, chapter: Chapter) -> bool:
        """Return whether a chapter comes after the error."""
        if self.stop is None:
            return False
        if "gone" in chapter:
            return bool(chapter["gone"] == self.stopped)
        return (chapter["step"] or 0) > (self.stop["step"] or 0)

    @cached_property
    def command_ids(self) -> set[str]:
        """The ids of the commands that the edits leave in the program."""
        specs = self.edits.get("commands")
        return {ident for ident, *_ in ran(self.before, None)} if specs is None else {str(s["id"]) for s in specs}

    def call_text(self, command: str) -> str:
        """A command as it stands in the program, with its line."""
        one_like_it = next(one for ident, _, one in ran(self.before, None) if ident == command)
        trace = self.before.facts.trace
        frame = (
            self.before.facts.frames.get(trace.events[one_like_it.base].stack) if one_like_it.base is not None else None
        )
        return f"`{source(trace, frame)}` in line {frame.line}" if frame is not None else "its call"

    @staticmethod
    def message(reading: Reading, step: int) -> tuple[str, str] | None:
        event = reading.facts.trace.events[reading.line.steps[step].event]
        return (event.type, event.message) if isinstance(event, ErrorRaised) else None


def _without_question(chapter: Chapter) -> Chapter:
    """A chapter without its question."""
    result = chapter.copy()
    result.pop("ask", None)
    return result


def _keys(reading: Reading, edits: Mapping[str, Any] | None) -> list[Key]:
    """The name of each step in all revisions."""
    owner: dict[int, str] = {}
    for ident, _, command in ran(reading, edits):
        owner.update(dict.fromkeys(range(*span(reading, command)), ident))
    keys: list[Key] = []
    counted = Counter[tuple[str | None, str, str | None]]()
    for number, step in enumerate(reading.line.steps):
        begin = (owner.get(number), step.kind, step.at)
        keys.append((*begin, counted[begin]))
        counted[begin] += 1
    return keys


def _same_until(before: Reading, now: Reading) -> float:
    """How many steps, from the first one, equal those of the recording in every detail."""
    was, is_ = before.facts.trace, now.facts.trace
    pairs = enumerate(zip(was.values, is_.values, strict=False))
    same = next((i for i, (one, other) in pairs if not one.is_like(other)), math.inf)
    both = enumerate(zip_longest(was.events, is_.events))
    first = next((i for i, (a, b) in both if a is None or _plain(a) != _plain(b) or last_value(a) >= same), None)
    return math.inf if first is None else sum(step.event < first for step in before.line.steps)


def _plain(event: AnyEvent | None) -> AnyEvent | None:
    """An event without the parts that a replay lacks: the frames of whoever ran the program."""
    return replace(event, traceback="") if isinstance(event, ErrorRaised) else event
