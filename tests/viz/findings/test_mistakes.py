"""Programs that are wrong, what they are told, and the programs that mend them."""

from __future__ import annotations

import re
import warnings

import numpy as np

from engine.trace.events import ErrorRaised, Trace, WarningGiven
from tests.batches import batches
from viz.gallery import Program, find, fixed_programs
from viz.wording.text_difference import changed_lines

from ..helpers.programs import ALL, MISTAKES, NETWORKS, SILENT, named, picture, recorded

# Numbers of a story that no tensor holds.
KNOWN_NUMBERS: dict[str, set[float]] = {
    "item_loss": {26.0},  # a Python float, which is the point
    "cast_seed": {3e38, 1e-45},  # where float32 ends
    "half_underflow": {1.49e-8, 6e-8},  # what the gradient would be, and the smallest number of float16
    "two_layers": {1936},  # a year
    "flag_of_inner_fixed": {12, 27},  # the slope of a cube, which is not computed there
}


def told(trace: Trace) -> list[str]:
    """Every message of a run, as the terminal has it."""
    errors = [f"{event.type}: {event.message}" for event in trace.events if isinstance(event, ErrorRaised)]
    return errors + [f"UserWarning: {event.message}" for event in trace.events if isinstance(event, WarningGiven)]


def test_every_confusion_has_a_program() -> None:
    loud = {program.confusion for program in MISTAKES if program.group != SILENT}
    silent = {program.confusion for program in MISTAKES if program.group == SILENT}
    assert loud == set(range(1, 15))
    assert silent == set(range(15, 26))


@batches("program", MISTAKES, named)
def test_mistake_gets_the_message_that_it_says_or_none(program: Program) -> None:
    found = told(recorded(program.id)[0])
    assert bool(program.says) != bool(program.silence)
    if program.silence:
        assert found == []
    else:
        assert len(found) == 1
        # numbers in a Jacobian stand behind the first line; torch ends some messages in a blank
        assert found[0].partition("\n")[0].rstrip() == program.says


@batches("program", fixed_programs(), named)
def test_fixed_program_runs_to_its_end_without_a_word(program: Program) -> None:
    assert told(recorded(program.id)[0]) == []


@batches("program", [program for program in ALL if program.holds], named)
def test_program_ends_with_the_numbers_that_it_says(program: Program) -> None:
    space = recorded(program.id)[1]
    for expression, expected in program.holds.items():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # .grad of an inner tensor is looked at on purpose
            held = eval(expression, {}, space)  # noqa: S307 (an expression of our own sidecar)
        if expected == "None":
            assert held is None, expression
        else:
            np.testing.assert_allclose(np.array(held.tolist() if hasattr(held, "tolist") else held), expected, 1e-5)


@batches("program", MISTAKES, named)
def test_mistake_and_fixed_program_differ_in_few_lines(program: Program) -> None:
    fixed = find(program.fixed or "")
    assert fixed is not None
    assert fixed.fixes == program.id
    lines = changed_lines(program.source, fixed.source)
    assert lines.added or lines.gone
    assert len(lines.added) <= 6


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]|\.\d)")


@batches("program", [*MISTAKES, *fixed_programs(), *NETWORKS], named)
def test_numbers_in_a_story_are_on_the_screen(program: Program) -> None:
    """Decimals and numbers of two digits; the sum of several is written out in words."""
    drawing = picture(program.id)
    shown = {float(x) for value in drawing["values"] for x in (*(value["data"] or ()), value["stats"]["norm"])}
    shown |= {float(x) for step in drawing["steps"] for x in NUMBER.findall(step["say"])}  # of a folded round, too
    shown |= {float(x) for x in NUMBER.findall(program.source)} | KNOWN_NUMBERS.get(program.id, set())
    for chapter in program.chapters:
        for text in NUMBER.findall(chapter.text):
            if len(text.lstrip("-")) > 1:
                digits = len(text.partition("e")[0].partition(".")[2])
                unit = 10.0 ** (int(text.partition("e")[2] or 0) - digits)
                assert any(abs(abs(x) - abs(float(text))) <= 0.5001 * unit for x in shown), (chapter.title, text)
