"""Attention whose weights sum to 1 over the samples or the heads, and attention as it should be."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.attention import attention_over_batch
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = (
    "import engine as torch\nfrom engine.nn import functional as F\ntorch.manual_seed(0)\n"
    "q = torch.randn(4, 2, 3, 5, requires_grad=True)\nk, v = torch.randn(4, 2, 3, 5), torch.randn(4, 2, 3, 5)\n"
    "scores = q @ k.transpose(-2, -1) / 5 ** 0.5\n"
)


@pytest.mark.parametrize(
    ("line", "label", "said"),
    [
        ("(scores.softmax(0) @ v).sum()", "softmax over dimension 0", "over 4 matrices of the stack. So each of the"),
        ("(F.dropout(F.softmax(scores, dim=1), 0.1) @ v).sum()", "softmax over dimension 1", "the heads changes"),
        ("(scores.masked_fill(scores > 1, -1e9).softmax(0) @ v).sum()", "softmax over dimension 0", "its 3 keys"),
        ("torch.bmm(torch.bmm(q[:, 0], k[:, 0].mT).softmax(0), v[:, 0]).sum()", "softmax over dimension 0", "4×3×3"),
    ],
)
def test_a_softmax_over_the_stack_of_matrices_is_found(tmp_path: Path, line: str, label: str, said: str) -> None:
    """Of queries times keys, scaled, masked, or before a dropout."""
    (finding,) = attention_over_batch(collect(recorded(f"{HEAD}({line}).backward()\n", tmp_path)))
    assert finding.kind == "attention-dimension" and finding.label == label and finding.line == 7
    assert said in finding.why and finding.fix.startswith("Write dim=-1")


@pytest.mark.parametrize(
    "line",
    [
        "(scores.softmax(-1) @ v).sum()",
        "(scores.softmax(3) @ v).sum()",
        "(scores.softmax(-2) @ v).sum()",  # over the queries, as in slot attention
        "scores.softmax(0).sum()",  # not of attention
        "(scores.softmax(0) * v[..., :3]).sum()",
        "(torch.sin(q).softmax(0) @ v.mT).sum()",  # not of products
        "((q[0, 0] @ k[0, 0].T).softmax(0) @ v[0, 0]).sum()",  # one matrix, as of a graph
    ],
)
def test_attention_over_keys_or_queries_is_not_reported(tmp_path: Path, line: str) -> None:
    """Neither is a softmax over other things than attention."""
    assert attention_over_batch(collect(recorded(f"{HEAD}({line}).backward()\n", tmp_path))) == []
