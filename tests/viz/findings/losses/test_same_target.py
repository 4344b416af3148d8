"""Language models whose targets are their inputs, and models for which that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.same_target import same_targets
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch\nfrom engine import nn\nfrom engine.nn import functional as F\ntorch.manual_seed(0)\n"
    "tokens = torch.randint(0, 9, (2, 9))\nembed, head = nn.Embedding(9, 4), nn.Linear(4, 9)\n"
    "def model(x, is_causal=False):\n    h = embed(x)\n    scores = h @ h.transpose(1, 2)\n"
    "    if is_causal:\n"
    "        later = torch.ones(scores.shape[1:]).triu(1)\n"
    "        scores = scores.masked_fill(later == 1, -float('inf'))\n"
    "    return head(scores.softmax(-1) @ h)\n"
    "def loss(scores, y):\n    return F.cross_entropy(scores.reshape(-1, 9), y.reshape(-1))\n"
)
TWICE = "x = tokens[:, :-1]\ny = tokens[:, :-1]\nloss(model(x), y).backward()"
PARTS = (
    "x = torch.stack([tokens.view(-1)[i:i + 4] for i in (0, 5)])\n"
    "y = torch.stack([tokens.view(-1)[i:i + 4] for i in (0, 5)])\nloss(model(x), y).backward()"
)
CAUSAL = "x = torch.tensor([[1, 2, 3, 4], [5, 6, 7, 8]])\ny = x.clone()\nloss(model(x, is_causal=True), y).backward()"


@pytest.mark.parametrize("lines", [TWICE, PARTS, CAUSAL])
def test_targets_that_are_the_inputs_are_found(tmp_path: Path, lines: str) -> None:
    """If the same slice is written twice, or the model is causal."""
    (finding,) = same_targets(collect(recorded(f"{HEAD}{lines}\n", tmp_path)))
    assert finding.kind == "same-target" and finding.at is not None
    assert "are the tokens that `embed(x)` in line 8 reads, each at its own position" in finding.why
    assert "shift the targets by one" in finding.fix


@pytest.mark.parametrize(
    "lines",
    [
        "x, y = tokens[:, :-1], tokens[:, 1:]\nloss(model(x, is_causal=True), y).backward()",
        "loss(model(tokens), tokens).backward()",  # an autoencoder
        "x = tokens.clone()\nloss(model(x), tokens).backward()",
        "x, y = [part[:, :8] for part in (tokens, tokens)]\nloss(model(x), y).backward()",  # of a data set of pairs
        "x, y = torch.zeros(2, 8).long(), torch.zeros(2, 8).long()\nloss(model(x, is_causal=True), y).backward()",
        "loss(model(tokens, is_causal=True) + head(embed(tokens.flip(1))), tokens).backward()",  # reads others too
        "x = tokens[:1, :4]\nloss(model(x, is_causal=True), x).backward()",  # by chance, as there are so few
        "model(tokens, is_causal=True)\nh = torch.randn(18, 9, requires_grad=True)\nloss(h, tokens).backward()",
    ],
)
def test_other_targets_are_not_reported(tmp_path: Path, lines: str) -> None:
    """Neither the next tokens, nor those of a model that learns to copy."""
    assert same_targets(collect(recorded(f"{HEAD}{lines}\n", tmp_path))) == []
