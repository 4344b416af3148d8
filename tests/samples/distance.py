"""Rows of engine/ops/distance.py."""

from __future__ import annotations

from .rows import INNER, Sample, begin, real

begin()

POWERS = (0.0, 1.0, 1.5, 2.0, 3.0, float("inf"))

ROWS = [
    *(
        Sample("norm.ScalarOpt_dim", (real(2, 3),), {"p": p, "dim": 1, "keepdim": k}, reason="the end of a distance")
        for p, k in zip(POWERS, (True, False) * 3, strict=True)
    ),
    *(Sample("_pdist_forward", (real(3, 2),), {"p": p}, reason="torch has no second derivative of it") for p in POWERS),
    Sample("pair_differences", (real(3, 2),), reason=INNER),
    Sample("pair_sums", (real(3, 2),), {"sizes": (3, 2)}, reason=INNER),
]
