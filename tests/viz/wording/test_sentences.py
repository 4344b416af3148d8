"""Each step in words."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from viz.gallery import gallery
from viz.layout import cards
from viz.scene.reading import reading_of
from viz.scene.scene import scene
from viz.wording.sentences import say

from ..helpers.programs import ALL, picture, record
from ..helpers.programs import recorded as program_recorded
from ..helpers.traces import CASE_1, CASE_3, recorded

NUMBER = r"-?(?:inf|nan|[\d.]+(?:e[+-]?\d+)?)"


def said(source: str, folder: Path) -> list[str]:
    read = reading_of(recorded(source, folder))
    return [say(step, read.drawing) for step in read.line.steps]


def test_founding_case_1_is_told_in_its_own_names_and_numbers(tmp_path: Path) -> None:
    assert said(CASE_1, tmp_path)[:5] == [
        "x × 2 gives z = [2 4 6 8]. MulBackward0 saves 2.",
        "sum(z, dim=1) gives loss = 20.",
        "MulBackward0 multiplies the upstream gradient [1 0 0 0] by 2 and sends [2 0 0 0] to the leaf x.",
        "The leaf x receives [2 0 0 0]; x.grad was None and now holds it.",
        "The program sets x.grad to zero: [0 0 0 0].",
    ]


def test_many_truth_values_are_told_by_how_many_are_true(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.arange(36.0).reshape(6, 6)\nm = x > 31.5\nm.all()\n"
    assert said(source, tmp_path)[-2:] == ["x > 31.5 gives m = 6×6, 4 of 36 True.", "all(m) gives False."]


def test_accumulation_is_written_as_a_sum(tmp_path: Path) -> None:
    sentences = said(CASE_1, tmp_path)
    assert sentences[6] == "The leaf x adds [0 2 0 0] to x.grad: [0 0 0 0] + [0 2 0 0] = [0 2 0 0]."
    assert sentences[9].endswith("sends [2 2 2 2] to the leaf x. Its saved value is freed.")


def test_a_node_with_two_inputs_says_what_goes_where(tmp_path: Path) -> None:
    sentences = said(CASE_3, tmp_path)
    assert any("sends [0.1 1 1e-4] to AddBackward0 and to LogBackward0" in s for s in sentences)


def test_every_step_has_one_sentence_that_ends_with_a_full_stop(tmp_path: Path) -> None:
    source = CASE_3 + "a.grad = None\nb.grad = torch.ones(3)\ny.backward(torch.ones(3))\n"
    sentences = said(source, tmp_path)
    assert all(s.endswith(".") and "\n" not in s for s in sentences)
    assert "The program drops the gradient: a.grad is None." in sentences
    assert "The program sets b.grad to [1 1 1]." in sentences
    assert sentences[-1].startswith("RuntimeError: Trying to backward through the graph a second time")


def test_the_gradient_that_a_call_starts_from_is_called_so(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x\n"
        "(g,) = torch.autograd.grad(y, x, create_graph=True)\n"
    )
    assert "gradient × x gives 2. MulBackward0 saves gradient." in said(source, tmp_path)


def test_a_broadcast_input_says_that_it_was_summed(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, 3, requires_grad=True)\nb = torch.ones(3, requires_grad=True)\n"
        "y = x + b\ny.backward(torch.ones(2, 3))\n"
    )
    assert any("[2 2 2] to the leaf b (summed over the broadcast dimensions)" in s for s in said(source, tmp_path))


def test_expressions_are_written_as_the_program_would(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([1., -2., 3.], requires_grad=True)\ny = (x - 4) ** 2\n"
        "v = -y[1]\nm = torch.ones(3, 3).sum(dim=0, keepdim=True)\nw = torch.stack([x, x, x, x, x])\n"
        "r = w.reshape(15)[3:]\nx.data\nz = x * x\nz.sum().backward()\n"
    )
    sentences = said(source, tmp_path)
    starts = [
        "x − 4 gives [-3 -6 -1].", "[-3 -6 -1] ** 2 gives y = [9 36 1].", "y[1] gives 36.", "−36 gives v = -36.",
        "sum(a 3×3 tensor, dim=0, keepdim=True) gives m = [3 3 3].", "stack(x, …, x, dim=0) gives w = ",
        "view(w, 15) gives ", "x.data gives [1 -2 3].",
        "x × x gives z = [1 4 9]. MulBackward0 saves x.",
    ]  # fmt: skip
    assert [start for start in starts if not any(s.startswith(start) for s in sentences)] == []
    assert any(s.endswith("sends [1 -2 3] to the leaf x twice. Its saved tensor is freed.") for s in sentences)


def test_a_result_that_is_written_in_a_call_is_not_its_later_self(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nw = torch.ones(6, requires_grad=True)\nopt = torch.optim.Adam([w], lr=0.1)\n"
        "w.grad = torch.ones(6)\nopt.step()\n"
    )
    sentences = said(source, tmp_path)
    divided = [one for one in sentences if one.startswith("(the result of sqrt) ÷= 0.03162")]
    assert [one.split(";")[0] for one in divided] == [
        "(the result of sqrt) ÷= 0.03162 changes its first input in place"
    ], sentences


def test_slices_and_ops_with_several_results_are_told_whole(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([[1., 2.], [3., 4.], [5., 6.]])\nhead = x[:2]\nright = x[:, 1:]\n"
        "top, middle, bottom = x.unbind()\nlargest, places = x.max(dim=0)\na, b, c, d = torch.ones(4).unbind()\n"
    )
    assert said(source, tmp_path) == [
        "x[:2] gives head = [[1 2] [3 4]].", "x[:, 1:2] gives right = [[2] [4] [6]].",
        "unbind(x, dim=0) gives top = [1 2], middle = [3 4] and bottom = [5 6].",
        "max(x, dim=0) gives largest = [5 6] and places = [2 2].",
        "unbind([1 1 1 1], dim=0) gives a = 1, b = 1, c = 1 and 1 more.",
    ]  # fmt: skip


def test_what_was_written_to_by_a_recorded_op_is_no_leaf(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor(0.5, requires_grad=True)\nb = torch.zeros(2)\nb[0] = x\n"
        "b.sum().backward()\n"
    )
    read = reading_of(recorded(source, tmp_path))
    tensors = {tensor for tensor, name in read.facts.trace.names.items() if name == "b"}
    roles = {(i.version, i.role) for i in read.drawing.items.values() if i.tensor in tensors}
    assert roles == {(0, "constant"), (1, "inner")}
    assert any(s.endswith("sends [1 1] to b v1.") for s in said(source, tmp_path))


def test_what_grad_returns_is_told_where_it_returns(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([1., 2.], requires_grad=True)\ny = (x * x).sum()\n"
        "found = torch.autograd.grad(y, x)\n(slope,) = torch.autograd.grad((x * x).sum(), x)\n"
    )
    ends = [s.partition(" The call returns ")[2] for s in said(source, tmp_path) if " The call returns " in s]
    assert ends == ["found = [2 4].", "slope = [2 4]."]


def test_a_write_by_index_belongs_to_its_round(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor(0.5, requires_grad=True)\nb = torch.zeros(3)\nb[0] = x\n"
        "for i in (1, 2):\n    b[i] = torch.sin(b[i - 1])\nb[2].backward()\n"
    )
    grouping = reading_of(recorded(source, tmp_path)).drawing.grouping
    assert sorted(grouping.labels.values()) == ["i = 1", "i = 2"]


def test_a_nan_beside_the_one_path_is_written_on_the_edge(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor([0., 4.], requires_grad=True)\ny = torch.reciprocal(x)\n"
        "y.backward(torch.tensor([0., 1.]))\n"
    )
    trace = recorded(source, tmp_path)
    texts = [flow["text"] for step in scene(trace)["steps"] for flow in step["flows"] if flow["text"]]
    assert "[nan -0.0625]" in texts and not any("·" in text for text in texts)


def test_all_of_a_short_message_is_said(tmp_path: Path) -> None:
    sentence = said("import engine as torch\ntorch.ones(2, requires_grad=True).numpy()\n", tmp_path)[-1]
    assert sentence.endswith("requires grad. Use tensor.detach().numpy() instead.")


def test_a_message_that_ends_with_a_full_stop_has_one(tmp_path: Path) -> None:
    sentence = said(CASE_3 + "y.backward(torch.ones(1))\n", tmp_path)[-1]
    assert sentence.startswith("RuntimeError: Mismatch in shape") and sentence.endswith("torch.Size([3]).")


@pytest.fixture(scope="module")
def spoken() -> list[tuple[str, str, str]]:
    """(program, kind of the step, its sentence) of all steps of the gallery."""
    found: list[tuple[str, str, str]] = []
    for program in gallery():
        read = reading_of(record(program)[0])
        found += [(program.id, step.kind, say(step, read.drawing)) for step in read.line.steps]
    return found


def test_gallery_speaks_in_whole_short_sentences(spoken: list[tuple[str, str, str]]) -> None:
    assert {kind for _, kind, _ in spoken} == {"forward", "vjp", "accumulate", "write", "error"}
    for program, kind, sentence in spoken:
        where = f"{program}, {kind}: {sentence}"
        assert sentence.endswith((".", "…")) and "  " not in sentence and "\n" not in sentence, where
        assert len(sentence) <= 280, where
        assert not re.search(r"\b(object at|array\(|NoneType)|=scalar", sentence), where


def test_sums_that_are_told_are_right(spoken: list[tuple[str, str, str]]) -> None:
    sums = re.compile(r": (.+) \+ (.+) = (.+)\.$")
    told = [found for _, kind, sentence in spoken if kind == "accumulate" and (found := sums.search(sentence))]
    assert len(told) > 10
    for found in told:
        before, added, after = (np.array(re.findall(NUMBER, part), float) for part in found.groups())
        assert np.allclose(before + added, after, rtol=2e-3, atol=1e-3, equal_nan=True), found[
            0
        ]  # four digits are told


@pytest.mark.parametrize(("written", "norm"), [("x * 0", "nan"), ("x.abs()", "inf"), ("x.clamp(-1, 1)", "5")])
def test_the_norm_of_what_holds_an_inf_or_a_nan_is_no_number(written: str, norm: str, tmp_path: Path) -> None:
    before = "import engine as torch\nx = torch.ones(5, 5)\nx[1, 2] = -float('inf')\nx.requires_grad_()\n"
    source = f"{before}y = {written}\ny.sum().backward()\n"
    assert any(f"gives y = 5×5, norm {norm}." in sentence for sentence in said(source, tmp_path))
    shown = [
        value["stats"]["norm"] for value in scene(recorded(source, tmp_path))["values"] if value["shape"] == [5, 5]
    ]
    assert norm in [f"{one:g}" if isinstance(one, float) else str(one) for one in shown]


def test_what_is_written_where_a_gradient_travels_is_true_of_its_type() -> None:
    """A product, or what the type makes of it; of what is neither, the value alone."""
    told = [
        text
        for program in ALL
        for step in picture(program.id)["steps"]
        if (text := next((flow["text"] for flow in step["flows"] if flow["text"] and "·" in flow["text"]), None))
    ]
    assert len(told) > 100
    for text in told:
        a, b, result = (float(number) for number in re.split(" · | [=≈] ", text))
        assert np.isclose(a * b, result, 6e-3, 0, equal_nan=True), text
        near = 5e-4 if "=" in text else 1e-9
        assert not np.isfinite(a * b) or ("=" in text) == np.isclose(result, a * b, near, 1e-12), text
    small = [flow["text"] for step in picture("half_underflow")["steps"] for flow in step["flows"]]
    assert "1.49e-8 → 0 in float16" in small


@pytest.mark.filterwarnings("ignore:Using a target size")
def test_what_has_no_name_is_called_by_what_made_it(tmp_path: Path) -> None:
    code = "a = torch.ones(3, 1)\nb = torch.ones(3, requires_grad=True)\nz = torch.nn.functional.mse_loss(a, b)"
    told = said(f"import engine as torch\n{code}\n", tmp_path)
    assert told[-1].endswith("saves expand(a, 3×3) and expand(b, 3×3).")


def test_a_view_without_a_name_is_called_as_it_was_written(tmp_path: Path) -> None:
    """Also once it was written to: the write is not what it is."""
    code = "x = torch.ones(3)\nx[:2].mul_(10)\n"
    trace = recorded(f"import engine as torch\n{code}", tmp_path)
    read = reading_of(trace)
    assert "changes x[:2] in place" in say(read.line.steps[1], read.drawing)
    assert "x[:2] v1" in [node["label"] for node in scene(trace)["nodes"]]


SHARED = """\
import engine as torch
a = torch.tensor([1., 2.], requires_grad=True)
b = torch.tensor([3., 4.], requires_grad=True)
(a * b).sum().backward()
b.grad = a.grad
(a * 2).sum().backward()
b.grad.zero_()
a.grad = None
(b * 5).sum().backward()
"""


def test_two_leaves_with_one_gradient_are_both_named(tmp_path: Path) -> None:
    sentences = said(SHARED, tmp_path)
    assert "The program sets b.grad to [3 4]. a.grad is the same tensor." in sentences
    assert "The leaf a adds [2 2] to a.grad: [3 4] + [2 2] = [5 6]. b.grad is the same tensor." in sentences
    assert "The program sets a.grad and b.grad, which are one tensor, to zero: [0 0]." in sentences
    assert sentences[-1] == "The leaf b adds [5 5] to b.grad: [0 0] + [5 5] = [5 5]."


def test_a_gradient_that_no_leaf_has_any_more_is_called_so(tmp_path: Path) -> None:
    source = (
        "import engine as torch\na = torch.tensor([1., 2.], requires_grad=True)\n(a * 2).sum().backward()\n"
        "g = a.grad\na.grad = None\ng.zero_()\n"
    )
    assert said(source, tmp_path)[-1] == "The program sets the former a.grad to zero: [0 0]."


def test_a_large_tensor_without_a_name_is_called_by_its_expression_or_its_op(tmp_path: Path) -> None:
    told = said(
        "import engine as torch\nx = torch.arange(6., requires_grad=True)\ny = (x * x)[2]\n"
        "z = (x.double().to(torch.float32) + x).sum()\nw = torch.ones(2, 3).exp()\n",
        tmp_path,
    )
    assert "(x × x)[2] gives y = 4." in told
    assert "(the result of to(dtype=float32)) + x gives [0 2 4 6 8 10]." in told
    assert "exp(a 2×3 tensor) gives w = [[2.718 2.718 2.718] [2.718 2.718 2.718]]." in told


def test_what_a_node_saved_without_a_name_is_called_as_on_its_card(tmp_path: Path) -> None:
    read = reading_of(recorded(
        "import engine as torch\nx = torch.arange(6., requires_grad=True)\n"
        "y = x * (x.exp().sigmoid().double().to(torch.float32))\n", tmp_path,
    ))  # fmt: skip
    told = [say(step, read.drawing) for step in read.line.steps]
    last = read.facts.ops[-1]
    assert told[-1].endswith("MulBackward0 saves x and its input 2.")
    assert [chip["text"] for chip in cards.saved_chips(last.index, read.facts)] == ["saved x", "input 2"]


def test_two_nodes_of_one_name_that_receive_different_gradients_are_told_apart() -> None:
    read = reading_of(program_recorded("once_fixed")[0])
    told = say(read.line.steps[10], read.drawing)
    assert "sends 3 to MulBackward0 of x × 2 and 6 to MulBackward0 of gradient × x." in told


VERSION = re.compile(r"[\w.\[\]]+ v\d+\b")


def test_a_tensor_that_was_written_to_is_called_as_on_its_card() -> None:
    """Where gradients go on the graph; an expression has the program's own names."""
    marked = set()
    for one in ALL:
        read = reading_of(program_recorded(one.id)[0])
        labels = {cards.head(item, read.drawing)[0] for item in read.drawing.items.values()}
        for step in read.line.steps:
            told = say(step, read.drawing)
            named = set(VERSION.findall(told))
            assert named <= labels, (one.id, told)
            item = read.drawing.items.get(step.at or "")
            if step.kind == "accumulate" and item is not None and VERSION.fullmatch(cards.head(item, read.drawing)[0]):
                assert cards.head(item, read.drawing)[0] in told, (one.id, told)
            marked |= {one.id} if named else set()
    assert {"forgotten_zero", "saved_in_place", "training_loop"} <= marked
