"""Losses of probabilities: over the wrong dimension, twice, without a logarithm; and as they should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.wrong_loss import wrong_losses
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch; from engine.distributions import Categorical\nfrom engine.nn import functional as F\n"
    "x = torch.ones(3, 4, requires_grad=True)\ny = torch.tensor([0, 1, 2])\n"
)


@pytest.mark.parametrize(
    ("line", "label", "said"),
    [
        ("F.nll_loss(F.log_softmax(x, dim=0), y)", "log_softmax over dimension 0", "over 3 samples"),
        ("F.nll_loss(torch.log(F.softmax(x, dim=0)), y)", "softmax over dimension 0", "over 3 samples"),
        ("F.nll_loss(F.softmax(x, dim=1), y)", "no logarithm", "the probabilities themselves"),
        ("F.cross_entropy(F.softmax(x, dim=1), y)", "softmax taken twice", "applies softmax to them again"),
        ("F.nll_loss(F.log_softmax(x[:1], dim=0), y[:1])", "log_softmax over dimension 0", "over 1 sample of a class"),
        ("F.nll_loss(torch.log(F.softmax(x[:, :1], 1)), y * 0)", "softmax of one number", "always 1"),
        ("F.cross_entropy(x[:, :1], y * 0)", "softmax of one number", "always 1"),
        ("F.binary_cross_entropy(F.softmax(x[:, :1], 1), x.detach()[:, :1])", "softmax of one number", "always 1"),
        ("F.cross_entropy(x[:, :1], torch.ones(3, 1))", "softmax of one number", "all gradients are 0"),
        ("F.cross_entropy(x @ x[:1].t().view(4, 1), torch.zeros(3, 1))", "softmax of one number", "always 1"),
        ("F.cross_entropy((x @ x[:1].t()).squeeze(), torch.ones(3))", "softmax over the samples", "3 scores, one per"),
        ("F.nll_loss(x @ x.t(), y)", "no logarithm", "scores of up to 4"),
        ("F.nll_loss(F.linear(x, x), y)", "no logarithm", "falls without a limit"),
        ("F.mse_loss(F.softmax(x[:, :1], -1), torch.zeros(3, 1))", "softmax of one number", "always 1"),
        ("F.binary_cross_entropy(x.detach(), torch.sigmoid(x))", "prediction and target swapped", "target second"),
        ("F.binary_cross_entropy_with_logits(x.detach() * 0, x)", "prediction and target swapped", "target second"),
        ("F.binary_cross_entropy_with_logits(torch.sigmoid(x), x * 0)", "sigmoid taken twice", "exceed 0.5"),
        ("F.binary_cross_entropy_with_logits(torch.sigmoid(x).view(-1), x.view(-1) * 0)", "sigmoid taken twice", "0.5"),
        ("F.binary_cross_entropy_with_logits(torch.sigmoid(x).t().contiguous(), x.t() * 0)", "sigmoid taken twice", ""),
        ("F.mse_loss(F.softmax(x[:, :1], -1).squeeze(1), torch.zeros(3))", "softmax of one number", "always 1"),
        ("F.cross_entropy(F.softmax(x, dim=0).t(), y[[0, 1, 2, 0]])", "softmax taken twice", "to them again"),
        ("F.cross_entropy(F.softmax(x.view(1, 3, 4), -1).flatten(0, 1), y)", "softmax taken twice", "to them again"),
        ("F.cross_entropy(F.softmax(x[:1], -1).squeeze(0), y[0])", "softmax taken twice", "to them again"),
        ("F.nll_loss(F.softmax(x, 1).view(3, 1, 4).transpose(1, 2), y.view(3, 1))", "no logarithm", "probabilities"),
        ("F.nll_loss(F.softmax(x, 1).clone(), y)", "no logarithm", "`F.softmax(x, 1)` in line 5 gives"),
        (
            "F.nll_loss(F.log_softmax(x.view(1, 3, 4), dim=1).permute(0, 2, 1), y.view(1, 3))",
            "log_softmax over dimension 1",
            "the classes along dimension 1, which is dimension 2 of the 1×3×4 that",
        ),
        (
            "F.nll_loss(F.softmax(x.view(1, 3, 4), dim=1).view(3, 4).log(), y)",
            "softmax over dimension 1",
            "over 3 positions of a class, not over the classes of a position",
        ),
        ("F.nll_loss(F.log_softmax(x, dim=1).t(), y[[0, 1, 2, 0]])", "log_softmax over dimension 1", "dimension 0 of"),
        (
            "F.ctc_loss(F.log_softmax(x.view(1, 3, 4), 1).transpose(0, 1), y[1:2].view(1, 1), (3,), (1,))",
            "log_softmax over dimension 1",
            "ctc_loss expects the classes along dimension 2",
        ),
        ("F.ctc_loss(F.softmax(x, -1).view(3, 1, 4), y[1:2].view(1, 1), (3,), (1,))", "no logarithm", "probabilities"),
        ("F.nll_loss(F.log_softmax(x, 0)[y[1:]], y[1:])", "log_softmax over dimension 0", "over 3 samples of a class"),
        ("F.nll_loss(F.log_softmax(x, 0)[y > 0], y[1:])", "log_softmax over dimension 0", "of the 3×4 that `F.log"),
        ("F.nll_loss(F.log_softmax(x.view(3, 2, 2), 1)[:, 0], y // 2)", "log_softmax over dimension 1", "dimension 2"),
        (
            "F.nll_loss(F.log_softmax(x.view(1, 3, 4), 1)[y.view(1, 3) > 0], y[1:])",
            "log_softmax over dimension 1",
            "which is dimension 2",
        ),
        ("Categorical(logits=F.softmax(x, 1)).log_prob(y).sum()", "softmax taken twice", "`Categorical(logits=F.softm"),
        (
            "Categorical(F.softmax(x, 0)).log_prob(y).sum()",
            "softmax over dimension 0",
            "`Categorical(F.softmax(x, 0))`",
        ),
        ("Categorical(probs=F.softmax(x, 0)[1:]).log_prob(y[1:]).sum()", "softmax over dimension 0", "over 3 samples"),
        ("F.nll_loss(F.softmax(x, dim=1)[y[1:]], y[1:])", "no logarithm", "the probabilities themselves"),
        ("F.cross_entropy(F.softmax(x, dim=1)[1:], y[1:])", "softmax taken twice", "to them again"),
        ("F.cross_entropy(F.softmax(x.view(3, 2, 2), 2)[:, -1], y // 2)", "softmax taken twice", "to them again"),
        ("F.binary_cross_entropy_with_logits(torch.sigmoid(x)[:2], x.detach()[:2] * 0)", "sigmoid taken twice", ""),
        ("F.binary_cross_entropy_with_logits(x, x.detach() * 255)", "targets outside of 0 to 1", "between 255 and 255"),
        ("F.binary_cross_entropy_with_logits(x, -x.detach())", "targets outside of 0 to 1", "between -1 and -1"),
        (
            "F.binary_cross_entropy_with_logits(x, x.detach() * 2)",
            "targets outside of 0 to 1",
            "below 0",
        ),
    ],
)
def test_a_loss_of_the_wrong_thing_is_told(line: str, label: str, said: str, tmp_path: Path) -> None:
    (found,) = wrong_losses(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path)))
    assert found.label == label and said in found.why and found.line == 5 and found.fix


@pytest.mark.parametrize(
    "line",
    [
        "F.nll_loss(F.log_softmax(x, dim=1), y)",
        "F.nll_loss(F.log_softmax(x, dim=-1), y)",
        "F.ctc_loss(F.log_softmax(x.view(1, 3, 4), -1).transpose(0, 1), y[1:2].view(1, 1), (3,), (1,))",
        "F.nll_loss(F.log_softmax(x.reshape(1, 4, 3), dim=1), torch.tensor([[0, 1, 2]]))",
        "F.nll_loss(F.log_softmax(x[0], dim=0), torch.tensor(2))",
        "F.cross_entropy(x, y)",
        "F.cross_entropy(x, torch.ones(3, 4))",
        "F.cross_entropy((x @ x[:1].t()).squeeze(), torch.tensor([0.5, 0.5, 0.0]))",  # a softmax over candidates
        "F.cross_entropy(x[0], torch.tensor([1.0, 1.0, 0.0, 0.0]))",
        "F.nll_loss(F.linear(x, -x), y)",  # a module may compute logarithms in its own way
        "F.nll_loss(2 * x, y)",  # weighted by a return
        "F.nll_loss(F.softmax(x, dim=1).log(), y)",
        "F.binary_cross_entropy(torch.sigmoid(x), x.detach() * 0)",
        "F.binary_cross_entropy_with_logits(x, x.detach() * 0.9)",
        "F.binary_cross_entropy_with_logits(x, x.detach() * 1.0001)",  # rounding
        "F.binary_cross_entropy_with_logits(x, -x.detach(), weight=torch.zeros(3, 4))",  # -1 marks what does not count
        "F.binary_cross_entropy_with_logits(x, -x.detach(), reduction='none')[0].sum()",
        "(F.softmax(x, 0) * F.log_softmax(x, 0)).sum()",
        "(F.softmax(x[:, :1], 1) @ x[:1]).pow(2).sum()",  # attention to one position
        "F.binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(x))",
        "F.kl_div(F.log_softmax(x, -1), F.softmax(x.detach(), -1))",
        "F.nll_loss(F.log_softmax(x.view(1, 3, 4), dim=-1).transpose(1, 2), y.view(1, 3))",
        "F.nll_loss(F.log_softmax(x.view(1, 3, 4), dim=2).flatten(0, 1), y)",
        "F.nll_loss(F.log_softmax(x, dim=0).t(), y[[0, 1, 2, 0]])",
        "F.nll_loss(F.softmax(x.view(1, 3, 4), 2).view(3, 4).log(), y)",
        "F.nll_loss(F.log_softmax(x.view(2, 6), dim=1).view(3, 4), y)",  # no dimension of the one is one of the other
        "F.cross_entropy(F.softmax(x, dim=0).view(4, 3).t(), y)",
        "F.cross_entropy(F.softmax(x, dim=1).t(), y[[0, 1, 2, 0]])",
        "F.log_softmax(F.softmax(x[0, :1], 0).squeeze(), 0).sum()",
        "F.binary_cross_entropy(torch.sigmoid(x).view(-1), x.detach().view(-1) * 0)",
        "F.binary_cross_entropy_with_logits((2 * torch.sigmoid(x)).view(-1), x.detach().view(-1) * 0)",
        "F.nll_loss(F.log_softmax(x, dim=1)[y[1:]], y[1:])",
        "F.nll_loss(F.log_softmax(x.view(3, 2, 2), 2)[:, 0], y // 2)",
        "F.nll_loss(F.log_softmax(x.view(1, 3, 4), -1)[y.view(1, 3) > 0], y[1:])",
        "F.nll_loss(F.log_softmax(x, dim=0)[y, y].view(1, 3), y[:1])",  # of a picked element no dimension is certain
        "F.nll_loss(F.log_softmax(x, dim=0)[:, y], y)",
        "F.cross_entropy(F.softmax(x, dim=0)[y], y)",
        "Categorical(logits=x).log_prob(y).sum()",
        "Categorical(probs=F.softmax(x, 1)).log_prob(y).sum()",
        "Categorical(logits=F.log_softmax(x, 1)).log_prob(y).sum()",
        "(F.softmax(x, 1) - x.logsumexp(1, keepdim=True)).sum()",
        "Categorical(probs=torch.sigmoid(x)).log_prob(y).sum()",
        "Categorical(probs=F.softmax(x, 0).t()).log_prob(y[[0, 1, 2, 0]]).sum()",
        "(lambda p: p / p.sum(-1, keepdim=True))(F.softmax(x, 0)).square().sum()",  # as slot attention does
    ],
)
def test_a_loss_as_it_should_be_is_no_finding(line: str, tmp_path: Path) -> None:
    assert wrong_losses(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path))) == []


@pytest.mark.parametrize(
    ("line", "labels"),
    [
        ("F.nll_loss(F.softmax(x, dim=0), y)", ["softmax over dimension 0", "no logarithm"]),
        ("F.nll_loss(F.softmax(x, dim=0).clone(), y)", ["softmax over dimension 0", "no logarithm"]),
    ],
)
def test_two_mistakes_of_one_loss_are_both_said(line: str, labels: list[str], tmp_path: Path) -> None:
    findings = wrong_losses(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path)))
    assert [one.label for one in findings] == labels
    assert findings[0].fix == "Write dim=-1."


@pytest.mark.parametrize(
    ("target", "fix"),
    [
        ("x.detach() * 255", "Divide the targets by 255, or compare them: `(target > 0).float()`."),
        ("torch.tensor([1.0, -1, 1, -1]).expand(3, 4)", "Pass `(target + 1) / 2`, which turns -1 and 1 into 0 and 1."),
        ("x.detach() * -3", "Pass targets between 0 and 1."),
    ],
)
def test_targets_outside_have_a_fix_by_their_range(target: str, fix: str, tmp_path: Path) -> None:
    line = f"F.binary_cross_entropy_with_logits(x, {target}).backward()\n"
    (finding,) = wrong_losses(collect(recorded(f"{HEAD}{line}", tmp_path)))
    assert finding.fix == fix
