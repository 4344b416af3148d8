"""What is told first of a program without a story."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from viz.findings.nonfinite import findings
from viz.scene import problem_story, scene
from viz.scene.reading import reading_of
from viz.schema.scene import Chapter

from ..helpers.scripts import Script
from ..helpers.traces import CASE_3, TRANSFORMER, recorded

HEAD = "import engine as torch\n"


def opened(source: str, folder: Path) -> tuple[list[Chapter], int | None]:
    """What is told of a program, and the time at which it opens."""
    trace = recorded(source, folder)
    made = scene.scene(trace, revision={"id": "r"}, program={"id": "p"})
    chapters = problem_story.chapters(trace, made)
    return chapters, problem_story.opens(trace, made, chapters)


def told(source: str, folder: Path) -> list[Chapter]:
    return opened(HEAD + source, folder)[0]


def test_a_sound_program_opens_at_its_beginning(tmp_path: Path) -> None:
    assert opened(CASE_3, tmp_path) == ([], None)


def test_a_sound_model_opens_when_its_boxes_have_their_gradients(tmp_path: Path) -> None:
    chapters, opens = opened(TRANSFORMER, tmp_path)
    line = reading_of(recorded(TRANSFORMER, tmp_path)).line
    assert chapters == [] and opens is not None
    assert line.steps[opens - 1].kind == "accumulate" and line.steps[opens].kind == "write"


def test_a_model_opens_at_the_gradients_of_its_loss_and_not_at_a_later_derivative(tmp_path: Path) -> None:
    later = "x = torch.randn(2, 4, requires_grad=True)\ntorch.autograd.grad({}, x)\n".format("(x ** 2).sum()")
    plain, with_it = (opened(source, tmp_path)[1] for source in (TRANSFORMER, TRANSFORMER + later))
    assert plain == with_it is not None


def test_the_error_is_where_a_program_opens(tmp_path: Path) -> None:
    source = "x = torch.ones(2, requires_grad=True)\ny = x * 2\ny.backward()\n"
    chapters, opens = opened(HEAD + source, tmp_path)
    assert [c["title"] for c in chapters] == ["RuntimeError in line 4"]
    assert chapters[0]["text"] == "The program stops at `y.backward()`. The inspector shows the cause and a fix."
    assert chapters[0]["select"] and chapters[0]["fix"]
    assert opens == chapters[0]["step"] == 2


def test_a_file_that_is_not_python_stopped_nowhere(script: Script) -> None:
    _, trace = script(HEAD + "x = (1\n")
    made = scene.scene(trace, revision={"id": "r"}, program={"id": "p"})
    (chapter,) = problem_story.chapters(trace, made)
    assert chapter["text"] == "The file is not valid Python at `x = (1`. The inspector shows the cause and a fix."


def test_an_error_that_no_node_stands_for_is_told_with_its_place(tmp_path: Path) -> None:
    chapters = told("x = torch.ones(2, requires_grad=True)\ny = x * 2\n{}['key']\n", tmp_path)
    assert "KeyError" in chapters[0]["title"] and chapters[0]["text"].startswith("The program stops at `")


@pytest.mark.parametrize(
    ("tensor", "call", "kind", "numbers", "fix"),
    [
        ("torch.zeros(2, requires_grad=True)", "(x / x.abs()).sum()", "nan", "0 ÷ 0 = nan at [0]", "divisor"),
        ("torch.tensor([1., 0.], requires_grad=True)", "(-x.log()).sum()", "inf", "log(0) = -inf at [1]", "clamp"),
        ("torch.tensor(100., requires_grad=True)", "x.exp()", "inf", "exp(100) = inf", "88.7"),
        ("torch.tensor([-1., 4.], requires_grad=True)", "x.sqrt().sum()", "nan", "sqrt(-1) = nan at [0]", "root"),
    ],
)
def test_a_birth_is_told_in_numbers_with_its_remedy(
    tensor: str, call: str, kind: str, numbers: str, fix: str, tmp_path: Path
) -> None:
    first = told(f"x = {tensor}\n{call}.backward()\n", tmp_path)[0]
    assert kind in first["title"] and "line 3" in first["title"]
    assert numbers in first["text"] and fix in first["text"]


def test_the_infinite_slope_of_a_root_is_found_in_backward(tmp_path: Path) -> None:
    source = "x = torch.tensor([4., 0.], requires_grad=True)\n(x ** 2).sqrt().sum().backward()\n"
    chapters = told(source, tmp_path)
    assert [c["title"] for c in chapters] == ["An inf gradient appears in line 3", "A nan gradient appears in line 3"]
    assert "it receives 1 and sends inf at [1]" in chapters[0]["text"]


def test_a_gradient_poisoned_by_where_is_told_as_such(tmp_path: Path) -> None:
    source = (
        "x = torch.tensor([0., 4.], requires_grad=True)\ntorch.where(x > 0, 1 / x, torch.zeros(2)).sum().backward()\n"
    )
    chapters, opens = opened(HEAD + source, tmp_path)
    last = chapters[-1]
    assert [c["title"] for c in chapters] == ["An inf appears in line 3", last["title"]]
    assert opens == last["step"], "the infinity was thrown away; the gradient is wrong"
    assert "nan gradient" in last["title"] and "0 · inf is nan" in last["text"]


def test_an_infinity_that_the_program_wrote_is_not_born(tmp_path: Path) -> None:
    source = (
        "x = torch.tensor([1., 2.], requires_grad=True)\n"
        'y = x.masked_fill(torch.tensor([True, False]), float("-inf"))\ny.softmax(0).sum().backward()\n'
    )
    assert told(source, tmp_path) == []


def test_a_nan_that_was_there_from_the_beginning_is_traced_to_its_tensor(tmp_path: Path) -> None:
    source = (
        'w = torch.tensor([1.], requires_grad=True)\ndata = torch.tensor([float("nan")])\n(w * data).sum().backward()\n'
    )
    read = reading_of(recorded(HEAD + source, tmp_path))
    assert findings(read.facts)[0].why.startswith("data holds nan before anything is computed, in `w * data`")


def test_a_nan_in_a_buffer_that_is_filled_before_it_is_used_is_not_told(tmp_path: Path) -> None:
    source = (
        'w = torch.tensor([1., 2.], requires_grad=True)\nbuffer = torch.tensor([float("nan"), float("nan")])\n'
        "view = buffer.view(2)\nbuffer[:] = 3.\n(w * buffer).sum().backward()\n"
    )
    assert told(source, tmp_path) == []


LOOP = "w = torch.tensor(1., requires_grad=True)\nfor _ in range(3):\n    ((w * 2 - 3) ** 2).backward()\n"


@pytest.mark.parametrize(
    "update", ["    w.data -= 0.1 * w.grad\n", "    with torch.no_grad():\n        w -= 0.1 * w.grad\n"]
)
def test_a_gradient_that_piles_up_over_updates_is_told(update: str, tmp_path: Path) -> None:
    chapters, opens = opened(HEAD + LOOP + update, tmp_path)
    assert [c["title"] for c in chapters] == ["w.grad not zeroed"] and "`w.grad = None`" in chapters[0]["text"]
    assert opens == chapters[0]["step"], "a long script begins far from its fault"


@pytest.mark.parametrize("between", ["    w.grad.zero_()\n", "    w.grad = None\n"])
def test_a_gradient_that_is_zeroed_is_no_finding(between: str, tmp_path: Path) -> None:
    assert told(LOOP + "    w.data -= 0.1 * w.grad\n" + between, tmp_path) == []


GAN = """import engine.nn as nn
gen, disc = nn.Linear(1, 1), nn.Linear(1, 1)
ways = [torch.optim.SGD(net.parameters(), lr=0.1) for net in (gen, disc)]
for _ in range(2):
    fake = gen(torch.ones(2, 1))
    ways[1].zero_grad({zeros})
    (disc(fake.detach()).mean() - 3 * disc(torch.ones(2, 1)).mean()).backward()
    ways[1].step()
    ways[0].zero_grad()
    (-disc(fake).mean()).backward()
    ways[0].step()
"""


@pytest.mark.parametrize("zeros", ["", "set_to_none=False"])
def test_a_sum_that_is_zeroed_before_it_is_used_is_no_finding(zeros: str, tmp_path: Path) -> None:
    assert told(GAN.format(zeros=zeros), tmp_path) == []


def test_a_gradient_that_an_optimiser_finds_twice_is_told_with_its_zero_grad(tmp_path: Path) -> None:
    chapters = told(GAN.replace("    ways[1].zero_grad({zeros})\n", ""), tmp_path)
    assert len(chapters) == 1 and "not zeroed" in chapters[0]["title"]
    assert "call zero_grad() of the SGD before each backward()" in chapters[0]["text"]


def test_the_infinity_of_a_mask_in_attention_is_not_born(tmp_path: Path) -> None:
    source = (
        "att = torch.nn.MultiheadAttention(4, 2, batch_first=True)\nx = torch.ones(1, 3, 4)\n"
        "mask = torch.triu(torch.ones(3, 3, dtype=torch.bool), 1)\n"
        "att(x, x, x, attn_mask=mask)[0].sum().backward()\n"
    )
    assert told(source, tmp_path) == []


def test_an_infinity_that_reaches_nothing_is_marked_and_not_told(tmp_path: Path) -> None:
    source = (
        "x = torch.tensor([1., 2.], requires_grad=True)\nmask = torch.tensor([1., 0.]).log()\n"
        "(x + mask).softmax(0)[0].backward()\n"
    )
    trace = recorded(HEAD + source, tmp_path)
    made = scene.scene(trace, revision={"id": "r"}, program={"id": "p"})
    assert [one["kind"] for one in made["findings"]] == ["inf"] and problem_story.chapters(trace, made) == []


def test_adding_up_before_one_update_is_no_finding(tmp_path: Path) -> None:
    assert told(LOOP + "w.data -= 0.1 * w.grad\n", tmp_path) == []


@pytest.mark.parametrize(
    ("line", "title", "proof"),
    [
        ("(x * x.detach()).sum().backward()", "one path is cut", "contributes [1 2]"),
        ("y = (x * x).sum()\nx.data.mul_(10)\ny.backward()", "x changed unseen", "it would send [1 2]"),
        ("(x.view(2, 1) - torch.ones(2)).sum().backward()", "4 differences, not 2", "there are 2: [0 1]"),
    ],
)
def test_what_goes_wrong_in_silence_is_told(line: str, title: str, proof: str, tmp_path: Path) -> None:
    chapters = told(f"x = torch.tensor([1., 2], requires_grad=True)\n{line}\n", tmp_path)
    assert [chapter["title"] for chapter in chapters] == [title]
    assert proof in chapters[0]["text"]


def test_gradients_that_add_up_are_not_told_as_a_mistake(tmp_path: Path) -> None:
    assert (
        told("x = torch.ones(2, requires_grad=True)\nfor _ in range(2):\n    (x * x).sum().backward()\n", tmp_path)
        == []
    )


def test_a_place_in_a_file_beside_the_script_is_told_with_its_name(tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "apart_of_account.py").write_text("def far(a, b):\n    return ((a - b) ** 2).sum().sqrt()\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    chapters = told(
        "from apart_of_account import far\nx = torch.ones(2, requires_grad=True)\nfar(x * 1, x).backward()\n", tmp_path
    )
    of = f"of {tmp_path.name}/apart_of_account.py"
    assert chapters[0]["title"].startswith("An inf gradient appears in line 2 of ") and chapters[0]["lines"] is None
    assert of in chapters[0]["text"] or "(line 2 of apart_of_account.py)" in chapters[0]["text"]
