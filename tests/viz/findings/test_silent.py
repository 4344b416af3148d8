"""What goes wrong without an error is found: at its node, with numbers of the run; and not where it is mended."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import engine as torch
from tests.viz.helpers.programs import MISTAKES, SILENT, picture
from tests.viz.helpers.traces import recorded
from viz.gallery import fixed_programs
from viz.scene import scene as drawn
from viz.schema.scene import Scene

# Program -> the node's label, the kind, and the numbers that prove it.
PROOFS = {
    "added_up": ("x", "sum", "from an earlier `y.backward()` in line 6, and the next run of this line added 6: 12"),
    "forgotten_zero": (
        "w v1",
        "not-zeroed",
        "held -4 from an earlier call, and the backward call in line 6 added -2: -6",
    ),
    "inner_adds_up": ("y", "sum", "added 12: 24"),
    "silent_second": ("x", "sum", "added [2 2 2]: [4 4 4]"),
    "graph_in_grad": ("x", "sum", "added 12: 24"),
    "data_edit": ("×", "write", "sends [10 10]; with the value of the forward pass it would send [1 1]"),
    "poisoned_where": ("reciprocal", "nan-gradient", "it receives 0 and sends nan"),
    "root_of_zero": ("×", "nan-gradient", "it receives inf"),
    "log_of_softmax": ("log", "inf", "log(0) = -inf"),
    "half_detached": ("×", "cut", "contributes [1 2 3]; the path that was cut would contribute another [1 2 3]"),
    "ties": ("max", "tie", "3 occurs 2 times in x"),
    "kink": ("clamp min=0", "kink", "x[1] is 0, exactly the bound"),
    "cast_seed": ("y", "cast", "1e-50 became 0 and 1e50 became inf"),
    "broadcast_loss": ("mse_loss", "shape", "broadcast to 3×3: 9 differences, every element of one with every"),
    "broadcast_by_hand": ("−", "shape", "Element by element there are 3: [0 0 0]"),
    "half_underflow": ("÷ 8192", "rounded", "It receives 1.221e-4 and should send 1.49e-8"),
    "copied_tensor": ("y", "copy", "has the numbers of `x * x` in line 4, [1 4 9], but it is a new leaf"),
    "scaled_leaf": ("w", "leaf", "The gradient [0.2 0.4 0.6] passed through it and went on"),
}


def found(scene: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    labels = {node["id"]: node["label"] for node in scene["nodes"]}
    return [(labels.get(one["at"], ""), one["kind"], one["why"]) for one in scene["findings"]]


def of(code: str, folder: Path) -> Scene:
    return drawn.scene(recorded(f"import engine as torch\n{code}\n", folder))


def test_every_silent_mistake_is_found() -> None:
    silent = {program.id for program in MISTAKES if program.group == SILENT}
    assert silent - set(PROOFS) == {"engine_order"}, "an order is no mistake of the graph: the story tells of it"


@pytest.mark.parametrize("name", PROOFS)
def test_mistake_is_proved_in_numbers_at_its_node(name: str) -> None:
    label, kind, proof = PROOFS[name]
    assert [one for one in found(picture(name)) if one[:2] == (label, kind) and proof in one[2]], found(picture(name))


def test_sum_of_two_calls_names_both_lines(tmp_path: Path) -> None:
    code = "x = torch.tensor(2., requires_grad=True)\ny = x * x\nz = 3 * x\ny.backward()\nprint(x.grad)\nz.backward()"
    ((_, _, why),) = found(of(code, tmp_path))
    assert "held 4 from `y.backward()` in line 5, and `z.backward()` in line 7 added 3: 7" in why


def test_each_name_that_is_no_leaf_is_told_of_at_its_own_card() -> None:
    told = [one for one in picture("inner_grad")["findings"] if one["kind"] == "leaf"]
    assert [one["label"] for one in told] == ["z is not a leaf", "y is not a leaf"]
    assert len({one["at"] for one in told}) == 2


@pytest.mark.parametrize("name", [program.id for program in fixed_programs()])
def test_fixed_program_has_nothing_left_to_find(name: str) -> None:
    # a branch of poisoned_where_fixed that is thrown away is finite: not even there is an infinity left
    assert found(picture(name)) == []


@pytest.mark.parametrize(
    ("between", "told"),
    [
        ("", []),
        ("print(x.grad)\n", ["sum"]),
        ("x.grad.tolist()\n", ["sum"]),
        ("print(x)\n", []),
        ("first.backward(retain_graph=True)\n", ["sum"]),
    ],
    ids=["two losses", "printed", "left for Python", "another one printed", "the same root again"],
)
def test_adding_up_is_told_where_somebody_looked_or_the_same_came_twice(
    between: str, told: list[str], tmp_path: Path
) -> None:
    code = "x = torch.tensor(3., requires_grad=True)\nfirst = x * x\nsecond = 5 * x\n"
    code += f"first.backward(retain_graph=True)\n{between}second.backward()\nprint(x.grad)"
    assert [kind for _, kind, _ in found(of(code, tmp_path))] == told


@pytest.mark.parametrize(
    "code",
    [
        "x = torch.tensor([3., 1], requires_grad=True)\nx.max().backward()",
        "x = torch.tensor([1., 2], requires_grad=True)\n(x * torch.ones(2).detach()).sum().backward()",
        "x = torch.tensor([1., 2], requires_grad=True)\ny = 2 * x\ny.backward(torch.tensor([1, 2]))",
        "x = torch.ones(2, 1, requires_grad=True)\n(x - torch.ones(2, 1)).sum().backward()",
        "x = torch.ones(2, requires_grad=True)\n(x * x).sum().backward()\nx.data.mul_(2)",
        "x = torch.tensor([1.], dtype=torch.float16, requires_grad=True)\n(0 * x).sum().backward()",
    ],
    ids=["no tie", "another's copy", "a cast that loses nothing", "equal shapes", "a write behind", "a slope of 0"],
)
def test_what_is_no_mistake_is_not_found(code: str, tmp_path: Path) -> None:
    assert found(of(code, tmp_path)) == []


def test_large_values_that_were_not_kept_are_no_reason_to_fail(tmp_path: Path) -> None:
    code = "x = torch.ones(300, 300, requires_grad=True)\nfor _ in range(2):\n    x.max().backward()"
    assert of(code, tmp_path)["findings"][-1]["kind"] == "sum"


def test_a_gradient_that_is_called_upon_is_taken_out_before_it_is_emptied(tmp_path: Path) -> None:
    first = "x = torch.tensor(2., requires_grad=True)\ny = x * x * x\ny.backward(create_graph=True)\nprint(x.grad)\n"
    with pytest.warns(UserWarning, match="reference cycle"):
        (finding,) = of(first + "x.grad.backward()", tmp_path)["findings"]
    advised = re.findall(r"`([^`]+)`", finding["fix"])[0]
    assert advised == "g = x.grad; x.grad = None; g.backward()"
    space: dict[str, Any] = {"torch": torch}
    with pytest.warns(UserWarning, match="reference cycle"):
        exec(first + advised, space)
    assert space["x"].grad.item() == 12


@pytest.mark.parametrize(
    ("later", "kinds"), [("h.add_(1)", []), ("h.data.add_(1)", []), ("g.data.add_(1)", ["write"])]
)  # fmt: skip
def test_what_an_op_in_place_overwrites_is_saved_as_a_copy_that_no_later_write_reaches(
    later: str, kinds: list[str], tmp_path: Path
) -> None:
    """As the candidate of a GRU, whose gates are applied in place."""
    code = f"w, g = torch.ones(3, requires_grad=True), torch.rand(3, requires_grad=True)\nh = w * 2\nh.mul_(g)\n{later}"
    scene = of(f"{code}\nh.sum().backward()", tmp_path)
    assert [one["kind"] for one in scene["findings"] if one["kind"] == "write"] == kinds


SAMPLES = (
    "x, y, w = torch.rand(3, 2), torch.rand(3), torch.rand(2, 1, requires_grad=True)\n"
    "column, row = x @ w, (x @ w).squeeze(1)\ndata = torch.rand(3, 1)\n"
)
"""One number for each of three samples: computed as a column and as a row, and a row and a column of data."""


def products(code: str, folder: Path) -> list[str]:
    return [one["label"] for one in of(SAMPLES + code, folder)["findings"] if one["kind"] == "shape"]


@pytest.mark.parametrize(
    "code",
    [
        "(row * data).mean().backward()",
        "(-(column * y)).sum().backward()",
        "(-column.exp() * row.detach()).mean().backward()",
        "(0.5 * (row * data) * y - 1).mean().neg().backward()",
        "(row.exp() * (data - data.mean()) / 2).mean().backward()",
        "torch.min(row * data, row.clamp(0.8, 1.2) * data).mean().neg().backward()",
        "torch.max(-y * column, -y * column.clamp(0.8, 1.2)).mean().backward()",
        "torch.relu(1 - row * data).mean().backward()",
        "(row * data).clamp(max=2).sum().backward()",
        "(row * (data - column.detach())).mean().backward()",
        "(row * (y.unsqueeze(1) - (x @ w).detach())).mean().backward()",  # advantages, of a reward that was raised
    ],
)
def test_products_of_a_column_and_a_row_that_are_only_averaged_are_found(code: str, tmp_path: Path) -> None:
    assert products(code, tmp_path) == ["9 products, not 3"]


def test_products_that_should_be_element_by_element_are_in_the_text(tmp_path: Path) -> None:
    code = "(row * torch.tensor([[1.], [2.], [4.]]) / row.detach()).sum().backward()"
    (why,) = [why for _, kind, why in found(of(SAMPLES.replace("rand", "ones") + code, tmp_path)) if kind == "shape"]
    assert "broadcast to 3×3: 9 products, every element of one with every element of the other" in why
    assert why.endswith("Element by element there are 3: [2 4 8].")


@pytest.mark.parametrize(
    "code",
    [
        "(row * row[:, None]).sum().backward()",
        "(row.unsqueeze(1) * y).mean().backward()",
        "(row.view(-1, 1) * y).mean().backward()",
        "(2 * y.reshape(3, 1) * row).mean().backward()",
        "(column * column.squeeze(1)).mean().backward()",
        "(column * column.exp().flatten()).sum().backward()",
        "torch.outer(row, y).sum().backward()",
        "(column @ y[None]).sum().backward()",
        "(column * column.T).sum().backward()",
        "(column * torch.rand(4)).mean().backward()",
        "(column * y).sum(0).pow(2).sum().backward()",
        "(column * y).sin().mean().backward()",
        "both = column * y\n(both * both).mean().backward()",
        "((column * y) @ x).sum().backward()",
        "torch.softmax(column * y, 1).mean().backward()",
        "((column * y) * torch.eye(3)).sum().backward()",
        "(torch.eye(3) - column * y).abs().mean().backward()",
        "(torch.eye(3) - column * y).mean().backward()",
        "(-(column * y) ** 2).exp().mean().backward()",
        "both = column * y\n(both.mean() + both.diagonal().sum()).backward()",
        "(column * torch.rand(3, requires_grad=True)).mean().backward()",  # a weight for each feature
        "(torch.rand(3, 1, requires_grad=True).exp() * row).mean().backward()",
        "error, q = data - column, torch.rand(3)\ntorch.max(q * error, (q - 1) * error).mean().backward()",
        "error, q = data - column, torch.rand(3)\ntorch.max(q * error, (1 - q) * -error).sum().backward()",
        "torch.relu(1 - column * torch.tensor([0.1, 1, 10])).mean().backward()",
        "torch.min(row * data, torch.eye(3)).mean().backward()",
        "(column.detach() * y).mean()\nrow.sum().backward()",
        "(column * y).mean()\nrow.sum().backward()",
        "(x[0, :1] * y[:1, None]).sum()\n(column[:1] * y[:1]).sum().backward()",
        "(column.squeeze(1) * y).mean().backward()",
        "(column * y.view(-1, 1)).mean().backward()",
    ],
)
def test_products_that_may_be_meant_are_not_found(code: str, tmp_path: Path) -> None:
    assert products(code, tmp_path) == []


def test_ratio_with_its_own_detached_copy_is_meant(tmp_path: Path) -> None:
    code = "x = torch.ones(3, requires_grad=True)\nlogp = x * 2\n((logp - logp.detach()).exp() * 3).sum().backward()"
    assert found(of(code, tmp_path)) == []
