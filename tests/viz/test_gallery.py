"""The programs of the gallery: what they say of themselves, and that the founding cases come out."""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import engine
from engine.trace import Accumulated, BackwardEnded, ErrorRaised, Trace, VjpRun, WarningGiven
from viz import scene as drawn
from viz.difference import changed
from viz.gallery import (
    CONTENTS,
    HERE,
    Chapter,
    Program,
    StepRef,
    find,
    find_line,
    fixed_programs,
    gallery,
    read,
    resolve,
)

ALL = (*gallery(), *fixed_programs())
PROGRAMS = [pytest.param(program, id=program.id) for program in ALL]
MISTAKES = [program for program in gallery() if program.confusion is not None]
SILENT = "Mistakes: silent"
NETWORKS = [program for program in gallery() if program.group == "Networks"]


def named(program: Program) -> str:
    return program.id


INF, NAN = float("inf"), float("nan")
LONGEST_TEXT = 210  # three short sentences
STEPS = (8, 60)
# Six passes over four selections each, as the case is written; eight moments of time, since fewer show no decay.
# Twenty, since that is how many it takes until nothing is left that float32 can add to 1.
MORE_STEPS = {"element_by_element": 70, "jacobian": 70, "rnn": 70, "rnn_twenty": 130}

# Numbers of a story that no tensor holds.
KNOWN_NUMBERS: dict[str, set[float]] = {
    "item_loss": {26.0},  # a Python float, which is the point
    "cast_seed": {1e38, 1e-45},  # where float32 ends
    "half_underflow": {1.49e-8, 6e-8},  # what the gradient would be, and the smallest number of float16
    "two_layers": {1936},  # a year
    "flag_of_inner_fixed": {12, 27},  # the slope of a cube, which is not computed there
}

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


def record(program: Program) -> tuple[Trace, dict[str, Any], str]:
    """Run a program as Python would; its trace (up to an error that nobody caught), its names, and what it printed."""
    space: dict[str, Any] = {"__name__": "__main__"}
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # they are in the trace
        with engine.record() as trace:
            exec(compile(program.source, str(program.path), "exec"), space)
    return trace, space, output.getvalue()


_recorded: dict[str, tuple[Trace, dict[str, Any], str]] = {}


def recorded(name: str) -> tuple[Trace, dict[str, Any], str]:
    """The recording of a program; made once for all tests, which only read it."""
    if name not in _recorded:
        program = find(name)
        assert program is not None, name
        _recorded[name] = record(program)
    return _recorded[name]


_drawn: dict[str, dict[str, Any]] = {}


def picture(name: str) -> dict[str, Any]:
    """The scene of a program; made once for all tests, which only read it."""
    if name not in _drawn:
        _drawn[name] = drawn.scene(recorded(name)[0])
    return _drawn[name]


def grads(trace: Trace, name: str) -> list[Any]:
    """What `.grad` of the tensor with this name holds at the end of each backward call that wrote it or None."""
    held: list[Any] = []
    now: Any = None
    for event in trace.events:
        if isinstance(event, Accumulated) and trace.names.get(event.tensor) == name:
            now = trace.value(event.after).array
        elif isinstance(event, BackwardEnded) and event.completed:
            held.append(now)
            now = None
    return held


def cases() -> list[Any]:
    return [
        pytest.param(name, figures, id=f"{row}-{name}")
        for row, programs in FIGURES.items()
        for name, figures in programs.items()
    ]


def test_gallery_opens_with_founding_case_one() -> None:
    assert gallery()[0].rows == (1,)


def test_contents_name_every_program_once() -> None:
    listed = [name for names in CONTENTS.values() for name in names]
    listed += [program.id for program in fixed_programs()]
    assert sorted(listed) == sorted(path.stem for path in HERE.glob("*.py") if path.stem != "__init__")
    assert sorted(listed) == sorted(path.stem for path in HERE.glob("*.toml"))


def test_contents_are_read_without_running_a_program(tmp_path: Path) -> None:
    (tmp_path / "loud.py").write_text("raise SystemExit('ran')\n")
    (tmp_path / "loud.toml").write_text(
        'title = "t"\nquestion = "q"\noutcome = "o"\n[[chapter]]\ntitle = "c"\ntext = "x"\nline = "raise"\n'
    )
    assert read(tmp_path / "loud.py", "Group").source.startswith("raise")


@pytest.mark.parametrize(
    ("sidecar", "expected"),
    [
        ('title = "t"\n', "chapter"),
        ('title = "t"\nchapter = []\nsurprise = 1\n', "surprise"),
        ('title = "t"\n[[chapter]]\nstep = { kind = "tea" }\n', "tea"),
        ("title =", "broken.toml"),
    ],
)
def test_sidecar_out_of_form_is_named(tmp_path: Path, sidecar: str, expected: str) -> None:
    (tmp_path / "broken.py").write_text("")
    (tmp_path / "broken.toml").write_text(sidecar)
    with pytest.raises(ValueError, match=expected) as raised:
        read(tmp_path / "broken.py", "Group")
    assert "broken.toml" in str(raised.value)
    assert "docs/gallery.md" in str(raised.value)


def test_titles_and_questions_are_unique() -> None:
    assert len({program.title for program in ALL}) == len(ALL)
    assert len({program.question for program in gallery()}) == len(gallery())


def test_founding_cases_are_claimed_by_the_programs_that_prove_them() -> None:
    claimed = {row: {program.id for program in gallery() if row in program.rows} for row in range(1, 22)}
    assert claimed == {row: set(programs) for row, programs in FIGURES.items()}


@pytest.mark.parametrize("program", PROGRAMS)
def test_texts_are_short_and_well_formed(program: Program) -> None:
    assert program.question.endswith("?")
    assert len(program.title.removesuffix(", fixed")) <= 36
    fewest = 1 if program.fixes else 2 if program.confusion else 3  # a mistake is made in the fewest lines
    assert fewest <= len(program.chapters) <= 6
    for chapter in program.chapters:
        assert len(chapter.text) <= LONGEST_TEXT, chapter.title
        assert chapter.text.endswith((".", "?")), chapter.title
        assert len(re.findall(r"[.?:](?= |$)", chapter.text)) <= 5, chapter.title
        assert chapter.text.count("`") % 2 == 0, chapter.title
        assert chapter.text.count("**") % 2 == 0, chapter.title
        assert not re.search(r"[`*#<>]", chapter.title), chapter.title


@pytest.mark.parametrize("program", PROGRAMS)
def test_source_is_free_of_what_is_said_about_it(program: Program) -> None:
    assert '"""' not in program.source
    assert "#" not in program.source
    assert max(map(len, program.source.splitlines())) <= 72


@pytest.mark.parametrize("program", PROGRAMS)
def test_chapters_name_lines_that_exist_in_the_order_of_the_program(program: Program) -> None:
    for chapter in program.chapters:
        names = [chapter.line, chapter.until, chapter.step.line if chapter.step else None]
        lines = [find_line(program.source, name) or 0 for name in names if name is not None]
        assert 0 not in lines, names
        if chapter.until is not None:
            assert lines[0] < lines[1], names


@pytest.mark.parametrize("name", ["infinity", "poisoned_where", "log_of_softmax"])
def test_infinities_give_no_warning_of_the_array_library(name: str) -> None:
    script = [sys.executable, str(HERE / f"{name}.py")]
    environment = {**os.environ, "PYTHONPATH": str(HERE.parents[1])}
    run = subprocess.run(script, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert run.stderr == ""


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_has_steps_enough_and_not_too_many(program: Program) -> None:
    fewest = 1 if program.confusion or program.fixes else STEPS[0]
    assert fewest <= len(picture(program.id)["steps"]) <= MORE_STEPS.get(program.id, STEPS[1])


@pytest.mark.parametrize("program", PROGRAMS)
def test_chapters_resolve_against_the_recorded_program(program: Program) -> None:
    told = resolve(program.chapters, picture(program.id))
    for chapter, here in zip(program.chapters, told, strict=True):
        assert here["lines"] is not None, chapter.title
        assert (here["step"] is None) == (chapter.step is None), chapter.title
        assert len(here["select"]) == len(chapter.select), (chapter.title, chapter.select)


@pytest.mark.parametrize("program", PROGRAMS)
def test_chapters_lead_forwards_in_time(program: Program) -> None:
    times = [chapter["step"] for chapter in resolve(program.chapters, picture(program.id))]
    assert None not in times[1:]
    later = times if times[0] is not None else times[1:]
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


@pytest.mark.parametrize("program", [program for program in ALL if not program.confusion], ids=named)
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


# -- mistakes and what mends them ---------------------------------------------------------------------------------


def told(trace: Trace) -> list[str]:
    """Every message of a run, as the terminal has it."""
    errors = [f"{event.type}: {event.message}" for event in trace.events if isinstance(event, ErrorRaised)]
    return errors + [f"UserWarning: {event.message}" for event in trace.events if isinstance(event, WarningGiven)]


def test_every_confusion_has_a_program() -> None:
    loud = {program.confusion for program in MISTAKES if program.group != SILENT}
    silent = {program.confusion for program in MISTAKES if program.group == SILENT}
    assert loud == set(range(1, 15))
    assert silent == set(range(15, 26))


@pytest.mark.parametrize("program", MISTAKES, ids=named)
def test_mistake_gets_the_message_that_it_says_or_none(program: Program) -> None:
    found = told(recorded(program.id)[0])
    if program.says.startswith("Silence. "):
        assert found == []
    else:
        assert len(found) == 1
        # numbers in a Jacobian stand behind the first line; torch ends some messages in a blank
        assert found[0].partition("\n")[0].rstrip() == program.says


@pytest.mark.parametrize("program", fixed_programs(), ids=named)
def test_fixed_program_runs_to_its_end_without_a_word(program: Program) -> None:
    assert told(recorded(program.id)[0]) == []


@pytest.mark.parametrize("program", [program for program in ALL if program.holds], ids=named)
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


@pytest.mark.parametrize("program", MISTAKES, ids=named)
def test_mistake_and_fixed_program_differ_in_few_lines(program: Program) -> None:
    fixed = find(program.fixed or "")
    assert fixed is not None
    assert fixed.fixes == program.id
    lines = changed(program.source, fixed.source)
    assert lines.added or lines.gone
    assert len(lines.added) <= 6


NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?![\w]|\.\d)")


@pytest.mark.parametrize("program", [*MISTAKES, *fixed_programs(), *NETWORKS], ids=named)
def test_numbers_in_a_story_are_on_the_screen(program: Program) -> None:
    """Decimals and numbers of two digits; the sum of several is written out in words."""
    drawing = picture(program.id)
    shown = {float(x) for value in drawing["values"] for x in (*(value["data"] or ()), value["stats"]["norm"])}
    shown |= {float(x) for x in NUMBER.findall(program.source)} | KNOWN_NUMBERS.get(program.id, set())
    for chapter in program.chapters:
        for text in NUMBER.findall(chapter.text):
            if len(text.lstrip("-")) > 1:
                digits = len(text.partition("e")[0].partition(".")[2])
                unit = 10.0 ** (int(text.partition("e")[2] or 0) - digits)
                assert any(abs(abs(x) - abs(float(text))) <= 0.5001 * unit for x in shown), (chapter.title, text)


def test_measured_data_name_their_source() -> None:
    page = (HERE.parents[1] / "docs" / "gallery.md").read_text("utf-8")
    measured = [program for program in gallery() if program.data]
    assert [program.id for program in measured] == ["two_layers"]
    assert all(program.data.split(". ")[0] in page for program in measured)


def test_optimiser_brings_the_loss_down() -> None:
    losses = [float(line.partition("(")[2].partition(",")[0]) for line in recorded("training_loop")[2].splitlines()]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] / 1000


def test_rows_of_layer_norm_s_gradient_sum_to_zero() -> None:
    np.testing.assert_allclose(recorded("layer_norm")[1]["x"].grad.sum(dim=1).tolist(), [0, 0], atol=1e-6)


def test_first_backward_of_the_first_program_is_one_hot_and_gives_2_0_0_0() -> None:
    trace, _, output = recorded("weights")
    assert output.splitlines()[0] == "tensor([[2., 0., 0., 0.]])"
    first = next(event for event in trace.events if isinstance(event, VjpRun))
    assert np.asarray(trace.value(first.upstream[0] or 0).array).tolist() == [[1, 0, 0, 0]]


def test_matrix_product_leaves_the_other_factor_alone() -> None:
    assert recorded("matrix_product")[1]["a"].grad is None


def test_jacobian_holds_twice_a_on_its_diagonal() -> None:
    space = recorded("jacobian")[1]
    expected = np.diag([2, 4, 6, 8, 10, 12]).reshape(2, 3, 2, 3)
    assert space["full"].tolist() == expected.tolist() == space["jacobian"].tolist()


def test_inner_grad_warns_once_for_each_reading() -> None:
    trace, _, output = recorded("inner_grad")
    warned = [event for event in trace.events if isinstance(event, WarningGiven)]
    assert output.splitlines()[:2] == ["None", "None"]
    assert len(warned) == 2
    assert all(e.message.startswith("The .grad attribute of a Tensor that is not a leaf") for e in warned)


def test_three_passes_add_up_to_the_weighted_pass() -> None:
    lines = recorded("several_losses")[2].splitlines()
    assert lines[0] == lines[1]


def test_stage_gives_what_the_whole_network_gives() -> None:
    space = recorded("stage")[1]
    assert space["x"].grad.tolist() == space["dz_dx"].tolist()


def test_batches_add_up_to_the_whole_and_are_zeroed_after_the_update() -> None:
    trace, space, _ = recorded("mini_batches")
    assert grads(trace, "w")[2].tolist() == space["whole"].tolist()
    assert space["w"].grad.tolist() == [[0], [0]]


@pytest.mark.parametrize(("name", "shrinks"), [("rnn", True), ("rnn_growing", False)])
def test_norms_through_time_move_in_one_direction(name: str, shrinks: bool) -> None:
    norms = [float(line.partition(": ")[2]) for line in recorded(name)[2].splitlines() if line.startswith("dL")]
    assert len(norms) >= 8
    assert norms[-1] == pytest.approx(2**0.5, abs=1e-3)
    assert norms == sorted(norms, reverse=not shrinks)


def test_leaf_facts_print_as_in_torch() -> None:
    lines = recorded("leaf_facts")[2].splitlines()
    assert lines[:3] == [
        "True tensor([1., 2., 3.], requires_grad=True)",
        "True None",
        "False tensor([2., 4., 6.], grad_fn=<MulBackward0>)",
    ]


# -- chapters against a scene -------------------------------------------------------------------------------------


def code(line: int, col: int, stop: int, end: int | None = None) -> dict[str, int]:
    return {"file": 1, "line": line, "end": end or line, "col": col, "stop": stop}


def scene() -> dict[str, Any]:
    """y = 2 * x and two backward calls, the first one over two lines."""
    text = "x = leaf()\ny = 2 * x\ny.backward(\n    w)\ny.backward(v)\n"
    first, second, product = code(3, 0, 6, end=4), code(5, 0, 13), code(2, 4, 9)
    backward = [("vjp", "n0"), ("accumulate", "t0")]
    steps = [{"kind": "forward", "at": "n0", "code": product, "from": None}]
    steps += [
        {"kind": kind, "at": at, "code": product, "from": call} for call in (first, second) for kind, at in backward
    ]
    nodes = [
        {"id": "t0", "kind": "tensor", "label": "x", "code": None},
        {"id": "n0", "kind": "op", "label": "× 2", "code": product},
        {"id": "t1", "kind": "tensor", "label": "y", "code": product},
    ]
    return {
        "program": {"files": [{"name": "caller.py", "text": "y.backward(w)\n"}, {"name": "p.py", "text": text}]},
        "steps": steps,
        "nodes": nodes,
    }


def place(line: str, step: StepRef | None = None, **more: Any) -> dict[str, Any]:
    return resolve([Chapter("title", "text", line, step=step, **more)], scene())[0]


@pytest.mark.parametrize(
    ("line", "step", "expected"),
    [
        ("y = 2", StepRef("forward"), 1),
        ("y.backward(", StepRef("vjp"), 2),
        ("w)", StepRef("accumulate"), 3),
        ("y.backward( #2", StepRef("accumulate"), 5),
        ("x = leaf", StepRef("accumulate", line="y.backward(v)", at="x"), 5),
        ("y = 2", StepRef("forward", at="2 * x"), 1),
        ("y.backward(", StepRef("vjp", nth=-1), 2),
        ("y.backward(", StepRef("vjp", nth=2), None),
        ("y.backward(", StepRef("vjp", nth=-2), None),
        ("y.backward(", StepRef("error"), None),
        ("y.backward(", None, None),
    ],
)
def test_step_is_the_time_at_which_what_the_line_caused_is_done(line: str, step: Any, expected: int | None) -> None:
    assert place(line, step)["step"] == expected


def test_lines_are_those_that_contain_the_texts() -> None:
    assert place("y.backward(", until="w)")["lines"] == [3, 4]
    assert place("y = 2")["lines"] == [2, 2]
    assert place("not there")["lines"] is None


def test_elements_are_found_by_label_and_by_expression() -> None:
    assert place("y = 2", select=("x", "2 * x", "× 2", "y", "gone", "x #2"))["select"] == ["t0", "n0", "n0", "t1"]


def test_chapters_keep_their_words_and_order() -> None:
    chapters = [Chapter("first", "a", "x ="), Chapter("second", "b", "y =")]
    assert [(c["title"], c["text"]) for c in resolve(chapters, scene())] == [("first", "a"), ("second", "b")]
