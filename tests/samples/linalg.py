"""Rows of engine/ops/linalg.py."""

from __future__ import annotations

from .rows import Sample, begin, real

begin()

ROWS = [
    Sample("mm", (real(2, 3), real(3, 4)), spelled="x @ y"),
    Sample("bmm", (real(2, 2, 3), real(2, 3, 2)), spelled="torch.bmm(x, y)"),
    Sample("mv", (real(2, 3), real(3)), spelled="x @ y"),
    Sample("addmm", (real(4), real(2, 3), real(3, 4)), spelled="torch.addmm(x, y, z)"),
    Sample(
        "addmm", (real(2, 4), real(2, 3), real(3, 4)), {"beta": 2, "alpha": 3}, "torch.addmm(x, y, z, beta=2, alpha=3)"
    ),
    Sample("dot", (real(3), real(3)), spelled="x @ y"),
]
