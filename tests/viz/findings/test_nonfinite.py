"""The first inf and the first nan: why each is born, and a remedy that fits the numbers there."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.finding import Finding
from viz.findings.nonfinite import findings
from viz.reading.facts import collect

from ..helpers.traces import recorded


def born(source: str, folder: Path) -> list[Finding]:
    return findings(collect(recorded(f"import engine as torch\n{source}\n", folder)))


@pytest.mark.parametrize(
    ("source", "label", "remedy"),
    [
        ("x = torch.tensor([100.])\ny = x.exp() / x.exp()", "first nan: div", "Fix the op that produced the inf"),
        ("x = torch.tensor([1., 0.])\ny = x / x", "first nan: div", "Keep the divisor away from 0"),
        ("x = torch.tensor([1., 1000.])\ny = x / torch.zeros(2)", "first inf: div", "Keep the divisor away from 0"),
        ("x = torch.tensor([0., 1e20])\ny = x / 1e-20", "first inf: div", "The largest float32 number is 3.4e38"),
        ("x = torch.tensor([0.])\ny = x * x.log()", "first nan: mul", "Fix the op that produced the inf"),
        ("x = torch.tensor([1e30])\ny = x ** 2", "first inf: pow", "The largest float32 number is 3.4e38"),
        ("x = torch.tensor([0.])\ny = x ** -1", "first inf: pow", "keep its base away from 0"),
        ("x = torch.full((2, 2), 1e20)\ny = x @ x", "first inf: mm", "The largest float32 number is 3.4e38"),
        (
            "x = torch.tensor([1000.], dtype=torch.float64)\ny = x.exp()",
            "first inf: exp",
            "exp overflows float64 above",
        ),
        ("x = torch.tensor([100.], dtype=torch.float64).float()\ny = x.exp()", "first inf: exp", "float32 above 88.7:"),
    ],
)
def test_the_remedy_belongs_to_the_numbers(source: str, label: str, remedy: str, tmp_path: Path) -> None:
    found = next(one for one in born(source, tmp_path) if one.label == label)
    assert remedy in found.fix


@pytest.mark.parametrize(
    ("loss", "numbers", "node", "reason"),
    [
        ("x.log().pow(2).sum()", "[1., -1.]", "PowBackward0", "The nan is in the values of the forward pass"),
        ("x.softmax(0).log()[0]", "[0., 200.]", "SoftmaxBackward0", "The upstream gradient has an inf"),
    ],
)
def test_a_nan_on_the_way_back_is_said_to_come_from_where_it_comes(
    loss: str, numbers: str, node: str, reason: str, tmp_path: Path
) -> None:
    source = f"x = torch.tensor({numbers}, requires_grad=True)\nloss = {loss}\nloss.backward()"
    found = next(one for one in born(source, tmp_path) if one.label == f"first nan gradient: {node}")
    assert reason in found.why and "Born in its local derivative" not in found.why
    assert "power" not in found.fix


def test_a_row_that_a_mask_empties_is_named(tmp_path: Path) -> None:
    source = (
        "s = torch.zeros(2, 2, 3, requires_grad=True)\n"
        "mask = torch.tensor([[True, False, True], [False, False, False]])\n"
        "p = s.masked_fill(~mask[:, None, :], float('-inf')).softmax(-1)\np.sum().backward()"
    )
    found = next(one for one in born(source, tmp_path) if one.label == "first nan: softmax")
    assert "All 3 numbers of the input[1, 0, :] are −inf" in found.why and "A mask leaves nothing" in found.fix


BUCKETS = """\
w = torch.ones(3, 2, requires_grad=True)
distance = torch.tensor([0., 1., 2.]).log()
{use}
(w[bucket] * 2).sum().backward()
"""


@pytest.mark.parametrize(
    ("use", "is_finding"),
    [
        ("bucket = torch.where(distance < 0, 0, (distance * 2).to(torch.int64))", False),
        ("bucket = distance.to(torch.int64).clamp(0, 2); w = w + distance.exp()[0]", True),
        ("bucket = 0", True),
    ],
)
def test_an_inf_that_only_becomes_integers_is_no_finding(use: str, is_finding: bool, tmp_path: Path) -> None:
    labels = [one.label for one in born(BUCKETS.format(use=use), tmp_path)]
    assert labels == (["first inf: log"] if is_finding else [])


@pytest.mark.parametrize(("use", "labels"), [("sign.sum()", []), ("(sign + log).sum()", ["first inf: linalg_slogdet"])])
def test_a_second_result_counts_where_an_op_reads_it(use: str, labels: list[str], tmp_path: Path) -> None:
    tensors = "w = torch.ones(1, requires_grad=True)\nsign, log = torch.linalg.slogdet(torch.zeros(2, 2))\n"
    assert [one.label for one in born(f"{tensors}loss = w * {use}", tmp_path)] == labels


@pytest.mark.parametrize("how", ["targets)", "targets, reduction='sum') / 0"])
def test_a_loss_that_ignores_all_targets_says_so(how: str, tmp_path: Path) -> None:
    source = (
        "x = torch.ones(2, 3, requires_grad=True)\ntargets = torch.tensor([-100, -100])\n"
        f"loss = torch.nn.functional.cross_entropy(x, {how}\nloss.backward()"
    )
    (first,) = born(source, tmp_path)  # the gradients are not finite for the same reason
    assert first.why.startswith("All 2 targets are -100, which the loss ignores. A mean over no targets is 0 ÷ 0 = nan")
    assert first.fix == "Check how the targets are computed. Leave out a batch that has none."


def test_an_update_in_half_precision_that_divides_by_zero_says_so(tmp_path: Path) -> None:
    source = (
        "w = torch.tensor([1., 2.], dtype=torch.float16, requires_grad=True)\nopt = torch.optim.Adam([w])\n"
        "(w * torch.tensor([1e-5, 1.], dtype=torch.float16)).sum().backward()\nopt.step()"
    )
    first = born(source, tmp_path)[0]
    assert first.label == "first nan: addcdiv_" and "This op of Adam.step() produced it" in first.why
    assert first.fix.startswith("In float16 the squares of small gradients and a small eps become 0")


def test_a_product_that_overflows_on_the_way_back_says_so(tmp_path: Path) -> None:
    source = "x = torch.ones(2, 2, requires_grad=True)\ny = torch.full((2, 2), 1e10) @ x\ny.backward(y.detach() * 1e25)"
    (found,) = [one for one in born(source, tmp_path) if "gradient" in one.label]
    assert "A product exceeds the largest float32 number" in found.why
    assert found.fix.startswith("The largest float32 number is 3.4e38")


@pytest.mark.filterwarnings("ignore:std")
def test_the_deviation_of_one_value_has_a_remedy(tmp_path: Path) -> None:
    (found,) = born("x = torch.ones(1, 2)\ny = x.std(0)", tmp_path)
    assert found.label == "first nan: std" and found.fix.startswith("A single value has no deviation")


def test_the_slope_of_an_exponential_has_the_remedy_of_its_dtype(tmp_path: Path) -> None:
    found = born("x = torch.tensor([1000.], requires_grad=True)\nx.exp().backward()", tmp_path)
    assert [one.label for one in found] == ["first inf: exp", "first inf gradient: ExpBackward0"]
    assert all(one.fix.startswith("exp overflows float32 above 88.7:") for one in found)


LEAF = "x = torch.tensor([0., 1.], requires_grad=True)\n"
TWICE = (
    "(slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)\n(slope * torch.tensor([0., 1.])).sum().backward()"
)


def nan_gradient(source: str, folder: Path) -> Finding:
    return next(one for one in born(LEAF + source, folder) if one.kind == "nan-gradient")


@pytest.mark.parametrize(
    ("y", "derivative", "remedy"),
    [
        ("torch.linalg.vector_norm(x[:, None], dim=1)", "norm(x[:, None], dim=1)` (line 3)", "A norm is the root of"),
        ("torch.sqrt(x)", "of `torch.sqrt(x)` (line 3)", "as in `torch.sqrt(x + 1e-12)`"),
        ("x.log()", "of `x.log()` (line 3)", "Keep its input away from 0"),
    ],
)
def test_a_nan_of_a_second_derivative_leads_to_the_op_of_the_program(
    y: str, derivative: str, remedy: str, tmp_path: Path
) -> None:
    one = nan_gradient(f"y = {y}\n{TWICE}", tmp_path)
    assert one.label == "first nan gradient: DivBackward0"
    assert one.fix.startswith("The upstream gradient is 0 there, but the local derivative is infinite")
    assert "DivBackward0 belongs to the derivative of" in one.fix and derivative in one.fix and remedy in one.fix
    assert "mask" not in one.fix and "where()" not in one.fix


@pytest.mark.parametrize("op", ["x.log()", "1 / x", "x ** 0.5"])
def test_a_mask_is_blamed_only_where_the_program_has_one(op: str, tmp_path: Path) -> None:
    plain = nan_gradient(f"y = {op} * torch.tensor([0., 1.])\ny.sum().backward()", tmp_path)
    assert "the local derivative is infinite, and 0 · inf is nan" in plain.fix
    assert "mask" not in plain.fix and "where()" not in plain.fix
    masked = nan_gradient(f"y = torch.where(x > 0, 2 * ({op}), 0.)\ny.sum().backward()", tmp_path)
    assert "(a mask or where() discarded the value)" in masked.fix
