"""Views that swap sizes instead of dimensions, and those that are meant."""

from __future__ import annotations

from pathlib import Path

import pytest

from viz.findings.losses.view_order import view_orders
from viz.reading.facts import collect

from ...helpers.traces import recorded

HEAD = """import engine as torch
from engine.nn import functional as F
torch.manual_seed(0)
w = torch.randn(4, 6, requires_grad=True)
h = torch.randn(7, 5, 4) @ w
"""


@pytest.mark.parametrize(
    ("line", "name", "fix"),
    [
        ("h.view(7, 6, 5)", "view", "transpose(1, 2)"),
        ("h.reshape(h.shape[0], h.shape[2], -1)", "view", "transpose(1, 2)"),
        ("h.view(6, 7, 5)", "view", "permute(2, 0, 1)"),
        ("h[:5].view(5, 6, 5)", "view", "transpose() or permute()"),
    ],
)
def test_view_with_swapped_sizes_is_a_finding(line: str, name: str, fix: str, tmp_path: Path) -> None:
    (finding,) = view_orders(collect(recorded(f"{HEAD}{line}.square().sum().backward()\n", tmp_path)))
    assert finding.kind == "view-order" and finding.line == 6 and finding.at is not None
    assert finding.label == f"{name} does not swap dimensions" and f"use {fix} instead" in finding.fix
    assert finding.why.startswith(f"`{line}` in line 6 turns ")


@pytest.mark.parametrize(
    "line",
    [
        "h.transpose(1, 2).reshape(7, 30)",
        "h.view(35, 6)",
        "h.view(7, 5, 2, 3).transpose(1, 2).reshape(7, 2, 15)",
        "h[:, :, :1].view(7, 1, 5)",
        "w.view(6, 4)",  # the weights themselves
        "F.pad(h[0] @ torch.ones(6, 5), (1, 0)).view(6, 5)[1:]",  # relative positions
        "torch.cat([torch.zeros(5, 1), h[0] @ torch.ones(6, 5)], 1).view(6, 5)[1:]",
        "h[:, :3].reshape(7, 6, 3)",  # may be batch × heads and the features of a head
    ],
)
def test_view_that_is_meant_is_no_finding(line: str, tmp_path: Path) -> None:
    assert view_orders(collect(recorded(f"{HEAD}{line}.square().sum().backward()\n", tmp_path))) == []
