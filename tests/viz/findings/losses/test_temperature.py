"""Similarities that are multiplied by a temperature, and contrastive losses as they should be."""

from __future__ import annotations

from math import exp, log
from pathlib import Path

import pytest

from viz.findings.losses.temperature import flat_scores
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch\nfrom engine.nn import functional as F\ntorch.manual_seed(0)\n"
    "x, y = torch.randn(6, 4, requires_grad=True), torch.randn(6, 4)\n"
    "a, b, to, t = F.normalize(x, dim=-1), F.normalize(y, dim=-1), torch.arange(6), 0.07\n"
    "own = torch.eye(6, dtype=torch.bool)\n"
)
FLAT = "F.cross_entropy(a @ b.t() * t, to)"


@pytest.mark.parametrize(
    ("line", "classes"),
    [
        (FLAT, 6),
        ("F.cross_entropy(t * (a @ b.t()), to)", 6),
        ("F.cross_entropy((a @ b.t() * t).t(), to)", 6),
        ("F.cross_entropy((a @ b.t()).t() / (1 / t), to)", 6),
        ("F.cross_entropy(a @ b.t() * torch.tensor(t), to)", 6),
        ("F.cross_entropy((a @ b.t() * t).masked_fill(own, -torch.inf), (to + 1) % 6)", 5),
        ("F.cross_entropy((a @ b.t() * t).masked_fill(own, -1e9), (to + 1) % 6)", 5),
        ("F.cross_entropy(F.cosine_similarity(x[:, None], y[None], dim=-1) * t, to)", 6),
        ("F.cross_entropy(a @ b.t() * t * (1 - own.float()), to)", 6),
        ("F.nll_loss(F.log_softmax(a @ b.t() * 0.7 * 0.1, dim=1), to)", 6),
    ],
)
def test_scores_that_cannot_differ_are_a_finding(line: str, classes: int, tmp_path: Path) -> None:
    (finding,) = flat_scores(collect(recorded(f"{HEAD}({line}).backward()\n", tmp_path)))
    assert finding.kind == "flat-scores" and finding.line == 7 and finding.at is not None
    assert finding.label == "scores only between ±0.07" and f"over {classes} classes" in finding.why
    bound = log(1 + (classes - 1) * exp(-0.14))
    assert f"cannot fall below {bound:.4f}"[:-1] in finding.why
    assert finding.fix.endswith("the scores then lie between −14.3 and 14.3.")


def test_bound_is_below_the_loss_of_pairs_that_are_equal(tmp_path: Path) -> None:
    facts = collect(recorded(f"{HEAD}a = F.normalize(y + 0 * x)\n{FLAT}.backward()\n", tmp_path))
    (finding,) = flat_scores(facts)
    bound = float(finding.why.partition("cannot fall below ")[2].partition(",")[0])
    loss = next(op.event for op in facts.ops if op.event.name == "nll_loss_forward")
    assert 0.9 * log(6) < bound < facts.trace.value(loss.outputs[0].value).stats["mean"] < log(6)


@pytest.mark.parametrize(
    "line",
    [
        "F.cross_entropy(a @ b.t() / t, to)",
        "F.cross_entropy((a @ b.t() / 0.5).masked_fill(own, -torch.inf), (to + 1) % 6)",
        "F.cross_entropy(a @ b.t(), to)",  # a temperature of 1
        "F.cross_entropy(a @ b.t() * 30, to)",
        "F.cross_entropy(a @ b.t() * torch.tensor(-2.6).requires_grad_().exp(), to)",  # learnt
        "F.cross_entropy(a @ b.t() * torch.tensor(0.07, requires_grad=True), to)",
        "F.cross_entropy(x @ y.t() * t, to)",  # not of length 1, such as the logits of any network
        "F.cross_entropy(x @ y.t() / 4**0.5, to)",
        "(F.softmax(a @ b.t() * t, dim=-1) @ y).pow(2).sum()",  # attention
        "F.cross_entropy((a @ b.t() - 0.2 * own) * 16, to)",  # a margin
    ],
)
def test_contrastive_loss_as_it_should_be_is_not_a_finding(line: str, tmp_path: Path) -> None:
    assert flat_scores(collect(recorded(f"{HEAD}({line}).backward()\n", tmp_path))) == []
