"""Rows of engine/ops/arrange.py."""

from __future__ import annotations

from .rows import Sample, begin, real, real_number

begin()

ROWS = [
    Sample("repeat", (real(2, 3),), {"repeats": (2, 1, 2)}, "x.repeat(2, 1, 2)"),
    Sample("repeat", (real_number(),), {"repeats": (3,)}, "x.repeat(3)"),
    Sample("repeat", (real(3),), {"repeats": (2,)}, "torch.tile(x, (2,))"),
    Sample("roll", (real(2, 3),), {"shifts": (1,), "dims": ()}, "x.roll(1)"),
    Sample("roll", (real(2, 3),), {"shifts": (1, -1), "dims": (0, 1)}, "torch.roll(x, (1, -1), (0, 1))"),
    Sample("rot90", (real(2, 3),), {"k": 1, "dims": (0, 1)}, "torch.rot90(x)"),
    Sample("rot90", (real(2, 3, 2),), {"k": 3, "dims": (2, 0)}, "x.rot90(3, (2, 0))"),
    Sample("block_diag", ([real(2, 3), real(2), real_number()],), spelled="torch.block_diag(*x)"),
]  # fmt: skip
