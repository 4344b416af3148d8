"""The questions that stories ask: each is open when it is asked, and its right choice is what the recording shows."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from engine.trace.events import Accumulated, AnyEvent, ErrorRaised, OpCalled, Trace, VjpRun
from viz.gallery import Program, resolve
from viz.scene.reading import reading_of
from viz.schema.story import Choice

from ..helpers.programs import ALL, picture, recorded

ASKED = [(program, number) for program in ALL for number, chapter in enumerate(program.chapters) if chapter.ask]
NUMBER = r"(?<![\w.])-?(?:\d+(?:\.\d+)?(?:e-?\d+)?|inf|nan)(?![\w.])"


def arrived(trace: Trace, until: AnyEvent) -> set[str | None]:
    """The tensors that have received a gradient up to an event."""
    events = trace.events[: until.index + 1]
    return {trace.names.get(event.tensor) for event in events if isinstance(event, Accumulated)}


def says(trace: Trace, event: AnyEvent) -> str:
    read = reading_of(trace)
    return read.step_sentences[read.line.step_of[event.index]]


def upstream(trace: Trace, event: AnyEvent) -> Any:
    assert isinstance(event, VjpRun) and event.upstream[0] is not None
    return trace.value(event.upstream[0]).array


OTHERWISE: dict[str, Callable[[Trace, dict[str, Any], AnyEvent], bool]] = {
    "inner_grad": lambda trace, _, event: arrived(trace, event) == {"x"},
    "diamond": lambda trace, _, event: "ExpBackward0" in says(trace, event),
    "copied_tensor": lambda trace, _, event: arrived(trace, event) == {"y"},
    "pooling": lambda _, space, __: np.count_nonzero(space["edges"].grad.numpy()) == 4,
    "second_derivative": lambda _, space, __: space["second"].item() == 12,
    "rnn_twenty": lambda trace, _, event: f"{np.linalg.norm(upstream(trace, event)):.1g}" == "0.0004",
}
"""The answers that are not the value of their step."""


def test_the_programs_that_are_taught_most_ask() -> None:
    assert len({program.id for program, _ in ASKED}) >= 30


@pytest.mark.parametrize(("program", "number"), ASKED, ids=lambda one: getattr(one, "id", one))
def test_question_is_open_and_its_right_choice_is_what_the_next_press_shows(program: Program, number: int) -> None:
    chapter = program.chapters[number]
    assert chapter.ask is not None
    choices = chapter.ask["choices"]
    assert 2 <= len(choices) <= 4 and len({choice["text"] for choice in choices}) == len(choices)
    (right,) = (choice for choice in choices if choice["right"])
    said = f"{chapter.title} {chapter.text} {chapter.ask['text']}"
    assert not re.search(rf"(?<![\w.-]){re.escape(right['text'])}(?![\w.])", said), "it is given away"
    trace, space, _ = recorded(program.id)
    *before, time = [one["step"] or 0 for one in resolve(program.chapters[: number + 1], picture(program.id))]
    assert time > max(before, default=0), "the next press shows nothing"
    event = trace.events[reading_of(trace).line.steps[time - 1].event]
    if program.id in OTHERWISE:
        assert OTHERWISE[program.id](trace, space, event)
        return
    is_error = isinstance(event, ErrorRaised)
    shown = [is_error if "error" in choice["text"] else is_shown(trace, event, choice) for choice in choices]
    assert [choice["right"] for choice in choices] == shown


def is_shown(trace: Trace, event: AnyEvent, choice: Choice) -> bool:
    """Whether the numbers of a choice are the value that an event leaves, or the last ones of it."""
    if isinstance(event, ErrorRaised):
        return False
    assert isinstance(event, (Accumulated, OpCalled))
    held = trace.value(event.after if isinstance(event, Accumulated) else event.outputs[0].value).array
    assert held is not None
    stated = [float(one) for one in re.findall(NUMBER, choice["text"])]
    return bool(stated) and np.allclose(held.ravel()[-len(stated) :], stated, rtol=1e-3, atol=0, equal_nan=True)
