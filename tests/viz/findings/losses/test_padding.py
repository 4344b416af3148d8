"""Padding that a loss counts, shown by the embedding that reads it; and losses that leave it out."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.padding import counted_padding
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch\nfrom engine import nn\nfrom engine.nn import functional as F\ntorch.manual_seed(0)\n"
    "rows = torch.tensor([[3, 1, 2, 4, 0, 0], [2, 2, 1, 0, 0, 0]])\n"
    "emb, plain, out = nn.Embedding(5, 3, padding_idx=0), nn.Embedding(5, 3), nn.Linear(3, 5)\n"
    "x, y = rows[:, :-1], rows[:, 1:]\n"
    "z = out(emb(x))\n"
)
COUNTED = "F.cross_entropy(z.view(-1, 5), y.reshape(-1))"


@pytest.mark.parametrize(
    "line",
    [
        COUNTED,
        "F.cross_entropy(z.transpose(1, 2), y)",
        "F.cross_entropy(z.view(-1, 5), y.reshape(-1), reduction='sum')",
        "F.cross_entropy(out(emb(x.t())).view(-1, 5), y.t().reshape(-1))",
        "F.cross_entropy(z.transpose(0, 1).reshape(-1, 5), y.t().reshape(-1))",
        "F.cross_entropy(z.view(-1, 5), (y - 1).reshape(-1) + 1, ignore_index=4)",
    ],
)
def test_padding_that_counts_is_a_finding(line: str, tmp_path: Path) -> None:
    (finding,) = counted_padding(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path)))
    assert finding.kind == "padding" and finding.line == 9 and finding.at is not None
    assert finding.label == "30% of the loss is padding" and finding.fix == "Pass ignore_index=0 to the loss."
    assert finding.why.startswith("`emb(x") or "padding_idx=0, and 3 of 10 positions" in finding.why


def test_loss_without_padding_is_told_in_numbers(tmp_path: Path) -> None:
    lines = f"print(F.cross_entropy(z.view(-1, 5), y.reshape(-1), ignore_index=0).item())\n{COUNTED}.backward()\n"
    facts = collect(recorded(f"{HEAD}{lines}", tmp_path))
    (finding,) = counted_padding(facts)
    losses = (op.event for op in facts.ops if op.event.name == "nll_loss_forward")
    without, whole = (facts.trace.value(loss.outputs[0].value).stats["mean"] for loss in losses)
    assert f"is {whole:.3g} over all positions, and {without:.3g} over those with a target other than 0." in finding.why


@pytest.mark.parametrize(
    "line",
    [
        "F.cross_entropy(z.view(-1, 5), y.reshape(-1), ignore_index=0)",
        "(F.cross_entropy(z.view(-1, 5), y.reshape(-1), reduction='none') * (y.reshape(-1) != 0)).mean()",
        "F.cross_entropy(z.view(-1, 5), y.reshape(-1), weight=(torch.arange(5) > 0).float())",
        "F.cross_entropy(z.view(-1, 5), y.masked_fill(y == 0, -100).reshape(-1))",
        "F.cross_entropy(out(plain(x)).view(-1, 5), y.reshape(-1))",  # 0 is a word like others
        "F.cross_entropy(out(emb(x + 1)).view(-1, 5), y.reshape(-1))",  # nothing is padding
        "F.cross_entropy(z.view(-1, 5), (x % 2).reshape(-1) + (x == 0).long().reshape(-1))",  # tags
        "F.cross_entropy(z.mean(1), torch.tensor([0, 1]))",  # a class of each sentence
        "F.cross_entropy(z[x != 0], y[x != 0])",
    ],
)
def test_padding_that_is_left_out_is_not_a_finding(line: str, tmp_path: Path) -> None:
    line = line.replace("x + 1", "(x + 1).clamp(max=4)")
    assert counted_padding(collect(recorded(f"{HEAD}{line}.backward()\n", tmp_path))) == []
