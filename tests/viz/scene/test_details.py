"""The inspector's numbers: arithmetic that adds up, a ledger that balances, a check that can fail."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from engine.ops import op as ops
from viz.scene.details import details
from viz.scene.reading import reading_of
from viz.scene.scene import scene

from ..helpers.traces import CASE_1, CASE_3, recorded


def detailed(source: str, folder: Path, label: str) -> Any:
    trace = recorded(source, folder)
    found = scene(trace)
    element = next(n["id"] for n in found["nodes"] if n["label"] == label)
    result = details(trace, found, element)
    json.dumps(result, allow_nan=False)
    return result


def lines(found: dict[str, Any], moment: int) -> list[tuple[str, str]]:
    return [(line["label"], " ".join(line["cells"])) for line in found["moments"][moment]["lines"]]


def test_an_elementwise_vjp_is_written_as_in_the_design(tmp_path: Path) -> None:
    found = detailed(CASE_1, tmp_path, "× 2")
    assert lines(found, 1) == [("upstream", "1 0 0 0"), ("local", "2 2 2 2"), ("to x", "2 0 0 0")]
    assert [m["step"] for m in found["moments"]] == [0, 2, 5, 9]
    assert found["check"]["agrees"] and found["check"]["worst"] < 1e-8
    assert found["jacobian"]["data"] == [2 if i % 5 == 0 else 0 for i in range(16)]
    assert found["saved"][0]["label"] == "freed by loss.backward(), line 12"


def test_local_derivatives_stand_in_rows_as_the_gradients_around_them(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.ones(2, 3, requires_grad=True)\ny = x / 2\ny.sum().backward()\n"
    found = detailed(source, tmp_path, "÷ 2")["moments"][1]["lines"]
    assert [(line["label"], line["cols"]) for line in found] == [("upstream", 3), ("local", 3), ("to x", 3)]


def test_a_matrix_product_writes_out_every_sum_of_products(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, 3, requires_grad=True)\na = torch.ones(3, 4)\n"
        "out = torch.mm(x, a)\nout.backward(torch.tensor([[1., 2., 3., 4.], [5., 6., 7., 8.]]))\n"
    )
    found = detailed(source, tmp_path, "@")
    sums = [line for line in found["moments"][1]["lines"] if line["total"] is not None]
    assert [(s["label"], s["total"]) for s in sums][0::3] == [("x[0, 0]", "= 10"), ("x[1, 0]", "= 26")]
    assert sums[0]["cells"] == ["1·1", "+ 2·1", "+ 3·1", "+ 4·1"]
    for line in sums:
        terms = [cell.removeprefix("+ ").split("·") for cell in line["cells"]]
        assert sum(float(a) * float(b) for a, b in terms) == pytest.approx(float(line["total"].removeprefix("= ")))
    assert lines(found, 1)[-1] == ("to x", "10 10 10 26 26 26")


def test_what_broadcasting_repeated_is_shown_before_and_after_its_sum(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.ones(2, 3)\nb = torch.tensor([1., 2., 3.], requires_grad=True)\n"
        "y = x * b\ny.backward(torch.tensor([[1., 2., 3.], [4., 5., 6.]]))\n"
    )
    written = dict(lines(detailed(source, tmp_path, "×"), 1))
    assert written["for b, before the sum (2×3)"] == "1 2 3 4 5 6"
    assert written["to b"] == "5 7 9"
    assert written["summed over dim 0"] == "2×3 to 3 b was broadcast along dim 0"


def test_the_ledger_of_a_leaf_balances(tmp_path: Path) -> None:
    found = detailed(CASE_3, tmp_path, "b")
    data = [v["data"] for v in found["values"]]
    single = [e for e in found["ledger"] if e["after"] is None]
    total = found["ledger"][-1]
    assert [e["label"] for e in single] == ["by MulBackward0 of 2 * b * b", "by MulBackward0 of 2 * b"]
    np.testing.assert_allclose(np.sum([data[e["added"]] for e in single], axis=0), data[total["after"]], rtol=1e-6)
    assert total["before"] is None


def test_the_ledger_tells_the_inputs_of_one_op_apart(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.tensor(3.0, requires_grad=True)\ny = x * x\ny.backward()\n"
    single = [e["label"] for e in detailed(source, tmp_path, "x")["ledger"] if e["after"] is None]
    assert single == ["by MulBackward0 of x * x, to input 1", "by MulBackward0 of x * x, to input 2"]


def test_the_ledger_has_the_zeroing_between_calls(tmp_path: Path) -> None:
    found = detailed(CASE_1, tmp_path, "x")
    assert [e["label"] for e in found["ledger"]] == [
        "x.grad after z.backward(torch.tensor([[1., 0., 0., 0…, line 7", "x.grad.zero_()",
        "x.grad after z.backward(torch.tensor([[0., 1., 0., 0…, line 10", "x.grad.zero_()",
        "x.grad after loss.backward(), line 12",
    ]  # fmt: skip


def test_the_ledger_leaves_out_what_grad_took_along(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nx = torch.tensor(2.0, requires_grad=True)\ny = x * x * x\n"
        "(slope,) = torch.autograd.grad(y, x, create_graph=True)\nslope.backward()\n"
    )
    found = detailed(source, tmp_path, "x")
    added = [found["values"][e["added"]]["data"][0] for e in found["ledger"]]
    assert sum(added[:-1]) == added[-1] == 12


def test_a_wrong_rule_fails_the_check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trace = recorded("import engine as torch\nx = torch.ones(2, requires_grad=True)\ny = torch.exp(x)\n", tmp_path)
    found = scene(trace)
    right = details(trace, found, "n0")["check"]
    assert right is not None and right["agrees"]
    monkeypatch.setattr(ops.REGISTRY["exp"], "rules", {"self": lambda grad, result: grad * result * 1.001})
    wrong = details(trace, found, "n0")["check"]
    assert wrong is not None and not wrong["agrees"] and "differs" in wrong["text"]


def test_a_check_takes_the_values_that_the_rule_was_given(tmp_path: Path) -> None:
    start = "import engine as torch\ny = torch.tensor([1., 1], requires_grad=True)\n"
    square = detailed(start + "z = (y * y).sum()\ny.data.mul_(10)\nz.backward()\n", tmp_path, "×")["check"]
    assert square["agrees"] and square["text"].startswith("10 by the rule, 10 by differences")
    assert square["text"].endswith("both use y as changed after forward")
    exp = detailed(start + "z = y.exp()\nz.data.mul_(10)\nz.backward(torch.ones(2))\n", tmp_path, "exp")["check"]
    assert not exp["agrees"] and exp["text"].startswith("27.18 by the rule, 2.71828 by differences")
    assert exp["text"].endswith("a value was changed after forward, unseen by the graph")
    plain = detailed(start + "z = (y * y).sum()\nz.backward()\n", tmp_path, "×")["check"]
    assert plain["agrees"] and "changed" not in plain["text"]


def test_a_formula_is_only_of_what_a_call_asked_for(tmp_path: Path) -> None:
    source = (
        "import engine as torch\nw = torch.ones(2, requires_grad=True)\nx = torch.ones(2, requires_grad=True)\n"
        "loss = (w * x).sum()\n"
    )
    first = "a = torch.autograd.grad(loss, x, retain_graph=True)\n"
    only = detailed(source + first, tmp_path, "×")["formula"]
    assert [(f["text"], f.get("calls")) for f in only] == [("x\u0304 = y\u0304 ⊙ w", None)]
    both = detailed(source + first + "b = torch.autograd.grad(loss, w)\n", tmp_path, "×")["formula"]
    assert [(f["input"], f["calls"]) for f in both] == [("self", [1]), ("other", [0])]
    unasked = detailed(source, tmp_path, "×")["formula"]
    assert [f["input"] for f in unasked] == ["self", "other"] and "calls" not in unasked[0]


def test_what_has_no_name_is_called_in_the_numbers_as_in_the_formula(tmp_path: Path) -> None:
    source = (
        "import engine as torch\na = torch.tensor([1., 2], requires_grad=True)\nb = a * 3\nu = 1\n"
        "y = ((a + 1) * b).sum()\ny.backward()\n"
    )
    found = detailed(source, tmp_path, "×")
    assert found["formula"][0]["text"] == "u\u0304 = z\u0304 ⊙ b"
    assert found["formula"][0]["terms"] == {"u\u0304": "self", "z\u0304": "result", "b": "other"}
    assert [label for label, _ in lines(found, 0)][:2] == ["u", "b"]
    assert "to u" in [label for label, _ in lines(found, 1)] and found["jacobian"]["input"] == "u"


def test_every_element_of_a_scene_has_details(tmp_path: Path) -> None:
    trace = recorded(CASE_3, tmp_path)
    found = scene(trace)
    for node in found["nodes"]:
        made = details(trace, found, node["id"])
        known = range(len(made["values"]))
        for figure in made["figures"]:
            assert all(v is None or v in known for _, v in figure["track"])
        assert made["moments"] and made["head"]["name"]
    with pytest.raises(KeyError):
        details(trace, found, "n99")


def test_a_large_value_is_summed_up(tmp_path: Path) -> None:
    source = "import engine as torch\nx = torch.ones(40, 40, requires_grad=True)\ny = (x * 2).sum()\ny.backward()\n"
    found = detailed(source, tmp_path, "× 2")
    assert lines(found, 1)[0] == ("upstream (40×40)", "norm 40 from 1 to 1")
    assert found["jacobian"] is None and found["check"]["agrees"]
    assert {f["kind"] for f in found["figures"]} == {"heatmap", "histogram"}


def test_reading_is_shared_by_scene_and_details(tmp_path: Path) -> None:
    trace = recorded(CASE_1, tmp_path)
    assert reading_of(trace) is reading_of(trace)
