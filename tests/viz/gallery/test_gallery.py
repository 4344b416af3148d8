"""The programs of the gallery: what they say of themselves, and that the founding cases come out."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.trace.events import ErrorRaised
from tests.batches import batches
from viz.gallery import HERE, Group, Program, contents, find, find_line, fixed_programs, gallery, read, resolve

from ..helpers.programs import ALL, grads, named, picture, recorded

GROUP = Group("Group", "Level", ())
INF, NAN = float("inf"), float("nan")
WIDEST_NAME = 36  # letters of a name that fit beside the graph, where a line breaks between names only
LONGEST_TEXT = 210  # three short sentences
LONGEST_NOTES = 240
LECTURED = {
    "weights", "accumulation", "scalar_only", "jacobian", "second_backward", "inner_grad", "several_losses", "diamond",
    "rnn_growing", "second_derivative", "hooks",
}  # fmt: skip
"""The programs that a lecture shows most likely."""
STEPS = (8, 60)
# Six passes over four selections each, as the case is written; eight moments of time, since fewer show no decay.
# Twenty, since that is how many it takes until nothing is left that float32 can add to 1.
MORE_STEPS = {"element_by_element": 70, "jacobian": 70, "rnn": 70, "rnn_twenty": 130}

# Founding case -> program -> what the leaves hold at the end of each backward call; `error` is how the message begins.
Figures = dict[str, Sequence[Any]]
FIGURES: dict[int, dict[str, Figures]] = {
    1: {"weights": {"x": [[[2, 0, 0, 0]], [[0, 2, 0, 0]], [[2, 2, 2, 2]], [[2, 2, 2, 2]]]}},
    2: {"accumulation": {"x": [[[2, 0, 0, 0]], [[2, 2, 0, 0]], [[4, 4, 2, 2]], [[6, 6, 4, 4]]]}},
    3: {"three_inputs": {"a": [[0.3, 3, 3e-4]], "b": [[1.2, 16, 2e-3]], "c": [[1.6667e-2, 1.4286e-1, 1.25e-5]]}},
    4: {"scalar_root": {"a": [3], "b": [4], "c": [10]}},
    5: {"twice": {"a": [3, 6], "b": [4, 8], "c": [1, 2]}},
    6: {
        "infinity": {"a": [[0.3]], "b": [[0]], "c": [[INF]]},
        "too_many_weights": {
            "a": [[3.3003]],
            "error": "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of",
        },
        "legacy_weights": {"a": [[3.3003]], "b": [[0]], "c": [[INF]]},
    },
    7: {
        "element_by_element": {
            "a": [
                [[2, 0, 0], [0, 0, 0]],
                [[2, 4, 0], [0, 0, 0]],
                [[2, 4, 6], [0, 0, 0]],
                [[2, 4, 6], [8, 0, 0]],
                [[2, 4, 6], [8, 10, 0]],
                [[2, 4, 6], [8, 10, 12]],
            ]
        }
    },
    8: {
        "scalar_only": {
            "a": [[[2, 4, 6], [8, 10, 12]]] * 2,
            "error": "grad can be implicitly created only for scalar outputs",
        }
    },
    9: {
        "weighted_matrix": {
            "a": [[[2, 8, 18], [32, 50, 72]], [[2, 4, 6], [8, 10, 12]], [[0, 0, 0], [0, 0, -12]]],
        }
    },
    10: {"jacobian": {"a": [row.tolist() for row in np.diag([2, 4, 6, 8, 10, 12]).reshape(6, 2, 3)]}},
    11: {"matrix_product": {"x": [[[10, 10, 10], [26, 26, 26]]] * 2}},
    12: {
        "second_backward": {
            "x": [[[10, 10, 10], [26, 26, 26]]] * 2,
            "error": "Trying to backward through the graph a second time",
        }
    },
    13: {"inner_grad": {"x": [[96], [96]], "y": [None, [48]]}},
    14: {"scaling": {"x": [[[216]], [[21.6]]]}, "legacy_scaling": {"x": [[[216]], [[21.6]]]}},
    15: {
        "row_of_weights": {
            "x": [[[24, 0], [216, 0]]],
            "error": "Mismatch in shape: grad_output[0] has a shape of torch.Size([2]) and output[0] has a shape of",
        },
        "legacy_rows": {"x": [[[24, 96], [216, 384]], [[24, 0], [216, 0]]]},
    },
    16: {
        "mean_of_cubes": {
            "x": [[[6, 24], [54, 96]]],
            "error": "Mismatch in shape: grad_output[0] has a shape of torch.Size([1]) and output[0] has a shape of",
        },
        "legacy_mean": {"x": [[[6, 24], [54, 96]], [[0.6, 2.4], [5.4, 9.6]]]},
    },
    17: {"several_losses": {"x": [-0.1 * np.array([2, 4, 6]) + 3 + 1e-4 * np.exp([1, 2, 3])]}},
    18: {"stage": {"x": [None, None, [2, 1, 0.5]]}},
    19: {"mini_batches": {"w": [[[-2], [-9]], [[-10], [-23]], [[-5], [-56]]]}},
    20: {"rnn": {}},  # asked below: norms of the states
    21: {"leaf_facts": {"x": [np.array([8, 16, 24]) / 3]}},
}


def cases() -> list[Any]:
    return [
        pytest.param(name, figures, id=f"{row}-{name}")
        for row, programs in FIGURES.items()
        for name, figures in programs.items()
    ]


def test_gallery_opens_with_founding_case_one() -> None:
    assert gallery()[0].rows == (1,)


def test_contents_name_every_folder_once() -> None:
    listed = [folder for group in contents() for folder in group.folders]
    assert sorted(listed) == sorted(path.parent for path in HERE.rglob("story.toml"))
    assert len({folder.name for folder in listed}) == len(listed)


def test_folder_of_a_program_has_its_scripts_and_its_story_and_nothing_else() -> None:
    scripts = {program.path for program in ALL}
    assert {path for path in HERE.glob("*/*/*") if path.name != "__pycache__"} == scripts | {
        path.parent / "story.toml" for path in scripts
    }
    assert {program.path.parent for program in fixed_programs()} == {
        program.path.parent for program in gallery() if program.confusion is not None
    }


def test_program_says_its_level_what_one_learns_and_by_which_words_it_is_found() -> None:
    for program in gallery():
        assert program.level and program.learn.endswith(".") and len(program.words) >= 3, program.id
        assert len(set(program.words)) == len(program.words), program.id


def test_contents_are_read_without_running_a_program(tmp_path: Path) -> None:
    folder = tmp_path / "loud"
    folder.mkdir()
    (folder / "loud.py").write_text("raise SystemExit('ran')\n")
    (folder / "story.toml").write_text(
        'title = "t"\nquestion = "q"\noutcome = "o"\n[[chapter]]\ntitle = "c"\ntext = "x"\nline = "raise"\n'
    )
    assert [program.source for program in read(folder, GROUP)] == ["raise SystemExit('ran')\n"]


@pytest.mark.parametrize(
    ("story", "expected"),
    [
        ('title = "t"\n', "chapter"),
        ('title = "t"\nchapter = []\nsurprise = 1\n', "surprise"),
        ('title = "t"\n[[chapter]]\nstep = { kind = "tea" }\n', "tea"),
        ("title =", "broken/story.toml"),
        ('title = "t"\nconfusion = 1\nquestion = "q"\nsays = "s"\nchapter = []\n', "fixed"),
    ],
)
def test_story_out_of_form_is_named(tmp_path: Path, story: str, expected: str) -> None:
    folder = tmp_path / "broken"
    folder.mkdir()
    (folder / "broken.py").write_text("")
    (folder / "story.toml").write_text(story)
    with pytest.raises(ValueError, match=expected) as raised:
        list(read(folder, GROUP))
    assert "broken/story.toml" in str(raised.value)
    assert "docs/gallery.md" in str(raised.value)


def test_titles_and_questions_are_unique() -> None:
    assert len({program.title for program in ALL}) == len(ALL)
    assert len({program.question for program in gallery()}) == len(gallery())


def test_founding_cases_are_claimed_by_the_programs_that_prove_them() -> None:
    claimed = {row: {program.id for program in gallery() if row in program.rows} for row in range(1, 22)}
    assert claimed == {row: set(programs) for row, programs in FIGURES.items()}


@batches("program", ALL, named)
def test_texts_are_short_and_well_formed(program: Program) -> None:
    assert program.question.endswith("?")
    assert len(program.title.removesuffix(", fixed")) <= 36
    fewest = 1 if program.fixes else 2 if program.confusion else 3  # a mistake is made in the fewest lines
    assert fewest <= len(program.chapters) <= 6
    for chapter in program.chapters:
        for text in (chapter.text, chapter.ask["why"] if chapter.ask else "Nothing is asked."):
            assert len(text) <= LONGEST_TEXT, chapter.title
            assert text.endswith((".", "?")), chapter.title
            assert len(re.findall(r"[.?:](?= |$)", text)) <= 5, chapter.title
            assert text.count("`") % 2 == 0, chapter.title
            assert text.count("**") % 2 == 0, chapter.title
        assert not re.search(r"[`*#<>]", chapter.title), chapter.title


def test_each_chapter_of_the_programs_that_are_lectured_most_has_notes() -> None:
    silent = [f"{program.id}: {one.title}" for program in ALL for one in program.chapters if not one.notes]
    assert [one for one in silent if one.partition(":")[0] in LECTURED] == []
    assert {program.id for program in ALL} >= LECTURED


@batches("program", ALL, named)
def test_notes_are_read_at_a_glance_and_name_stories_that_exist(program: Program) -> None:
    titles = {one.title for one in ALL}
    for chapter in program.chapters:
        notes = chapter.notes
        assert len(notes) <= LONGEST_NOTES, chapter.title
        assert not notes or notes.endswith((".", "?")), chapter.title
        assert notes.count("`") % 2 == 0 and notes.count("**") % 2 == 0, chapter.title
        assert set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", notes)) <= titles, chapter.title


@batches("program", ALL, named)
def test_source_is_free_of_what_is_said_about_it(program: Program) -> None:
    assert '"""' not in program.source
    assert "#" not in program.source
    assert max(map(len, program.source.splitlines())) <= 72


@batches("program", ALL, named)
def test_chapters_name_lines_that_exist_in_the_order_of_the_program(program: Program) -> None:
    for chapter in program.chapters:
        names = [chapter.line, chapter.until, chapter.step.line if chapter.step else None]
        lines = [find_line(program.source, name) or 0 for name in names if name is not None]
        assert 0 not in lines, names
        if chapter.until is not None:
            assert lines[0] < lines[1], names


@pytest.mark.parametrize("name", ["infinity", "poisoned_where", "log_of_softmax"])
def test_infinities_give_no_warning_of_the_array_library(name: str) -> None:
    program = find(name)
    assert program is not None
    script = [sys.executable, str(program.path)]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    run = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert run.stderr == ""


@batches("program", ALL, named)
def test_program_has_steps_enough_and_not_too_many(program: Program) -> None:
    fewest = 1 if program.confusion or program.fixes else STEPS[0]
    assert fewest <= len(picture(program.id)["steps"]) <= MORE_STEPS.get(program.id, STEPS[1])


@batches("program", ALL, named)
def test_chapters_resolve_against_the_recorded_program(program: Program) -> None:
    told = resolve(program.chapters, picture(program.id))
    for chapter, here in zip(program.chapters, told, strict=True):
        assert here["lines"] is not None, chapter.title
        assert (here["step"] is None) == (chapter.step is None), chapter.title
        assert len(here["select"]) == len(chapter.select), (chapter.title, chapter.select)


@batches("program", ALL, named)
def test_chapters_lead_forwards_in_time(program: Program) -> None:
    first, *rest = [chapter["step"] for chapter in resolve(program.chapters, picture(program.id))]
    later = [step for step in ([] if first is None else [first]) + rest if step is not None]
    assert None not in rest
    assert later == sorted(set(later))


@pytest.mark.parametrize(("name", "figures"), cases())
def test_founding_case_comes_out(name: str, figures: Figures) -> None:
    trace, _, _ = recorded(name)
    for tensor, expected in figures.items():
        if tensor != "error":
            held = grads(trace, tensor)[: len(expected)]
            assert len(held) == len(expected)
            for value, figure in zip(held, expected, strict=True):
                assert (value is None) == (figure is None), tensor
                if figure is not None:
                    np.testing.assert_allclose(value, figure, rtol=1e-4, err_msg=tensor)


@batches("program", [program for program in ALL if not program.confusion], named)
def test_program_ends_in_an_error_only_where_it_says_so(program: Program) -> None:
    trace, _, _ = recorded(program.id)
    errors = [event for event in trace.events if isinstance(event, ErrorRaised)]
    promised = re.search(r"RuntimeError|raises? (a|the)", program.outcome)
    assert len(errors) == (1 if promised else 0), [event.message for event in errors]
    for event in errors:
        begin = FIGURES[program.rows[0]][program.id]["error"] if program.rows else program.outcome.partition(": ")[2]
        assert event.type == "RuntimeError"
        assert not program.rows or event.message.startswith(str(begin))
        assert event.note or event.message, "an error needs a second part that explains it"


@batches("program", ALL, named)
def test_no_name_in_a_program_is_wider_than_the_panel_that_shows_it(program: Program) -> None:
    assert [name for name in re.findall(r"[\w.@]+", program.source) if len(name) > WIDEST_NAME] == []
