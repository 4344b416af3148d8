"""Rows of engine/ops/products.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, real, real_number

begin()

FACTORS = {"beta": 0.5, "alpha": 2.0}
SPELLED = "beta=0.5, alpha=2.0"
ONCE = (
    "torch's cdist has no second derivative; values and gradients are compared in tests/parity/expressions/products.py"
)


def batches() -> tuple[np.ndarray, np.ndarray]:
    return real(2, 2, 3), real(2, 3, 2)


ROWS = [
    Sample("addmv", (real(2), real(2, 3), real(3)), FACTORS, f"torch.addmv(x, y, z, {SPELLED})"),
    Sample("addmv", (real_number(), real(2, 3), real(3)), spelled="x.addmv(y, z)"),
    Sample("addr", (real(2, 3), real(2), real(3)), FACTORS, f"torch.addr(x, y, z, {SPELLED})"),
    Sample("addbmm", (real(2, 2), *batches()), FACTORS, f"torch.addbmm(x, y, z, {SPELLED})"),
    Sample("addbmm", (real(2), *batches()), {"beta": 0}, "x.addbmm(y, z, beta=0)"),
    Sample("baddbmm", (real(2, 2), *batches()), FACTORS, f"torch.baddbmm(x, y, z, {SPELLED})"),
    Sample("vdot", (real(3), real(3)), spelled="torch.vdot(x, y)"),
    Sample("linalg_cross", (real(2, 3), real(2, 3)), {"dim": 1}, "torch.cross(x, y, dim=1)"),
    Sample("linalg_cross", (real(3, 2), real(3, 1)), {"dim": 0}, "torch.linalg.cross(x, y, dim=0)"),
    Sample("multiplied", batches(), reason=INNER),
    Sample("_euclidean_dist", (real(2, 3), real(4, 3)), reason="what torch.cdist is for more than 25 rows"),
    *(Sample("cdist", (real(2, 3), real(4, 3)), {"p": float(p)}, reason=ONCE) for p in (0, 1, 1.5, 2, 3, np.inf)),
    Sample("cdist", (real(2, 2, 3), real(4, 3)), {"p": 2.0}, reason=ONCE),
]
