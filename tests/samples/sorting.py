"""Rows of engine/ops/sorting.py."""

from __future__ import annotations

import numpy as np

from .arithmetic import NO_FORMULA
from .rows import INNER, TIED, Sample, begin, real, real_number

begin()

NUMBERS = np.array([[3.0, 1.0, 2.0, 0.5], [0.25, 2.5, 1.5, 4.0], [0.75, 7.0, 6.0, 5.0]])
GAPS = np.array([[3.0, np.nan, 2.0], [1.0, 4.0, np.nan]])

ROWS = [
    Sample("sort", (real(3, 4),), {"dim": 1}, "x.sort()"),
    Sample("sort", (real(3, 4),), {"dim": 0, "descending": True}, "torch.sort(x, 0, True)"),
    Sample("sort", (TIED,), {"dim": 1, "descending": True}, "torch.sort(x, descending=True)", kink=True),
    Sample("sort", (real_number(),), {"dim": 0}, "x.sort()"),
    Sample("sort.stable", (TIED,), {"dim": 1}, "torch.sort(x, stable=True)", kink=True),
    Sample("argsort", (TIED,), {"dim": 1}, "x.argsort()"),
    Sample("argsort", (real(3, 4),), {"dim": 0, "descending": True}, "torch.argsort(x, 0, True)"),
    Sample("topk", (real(3, 4),), {"k": 2, "dim": 1}, "x.topk(2)"),
    Sample("topk", (real(3, 4),), {"k": 2, "dim": 0, "largest": False}, "torch.topk(x, 2, dim=0, largest=False)"),
    Sample("topk", (real_number(),), {"k": 1, "dim": 0}, "x.topk(1)"),
    Sample("median", (NUMBERS,), spelled="x.median()"),
    Sample("median", (TIED,), spelled="torch.median(x)", kink=True),
    Sample("nanmedian", (GAPS,), spelled="x.nanmedian()", kink=True),
    Sample("median.dim", (NUMBERS,), {"dim": 1}, "x.median(1)"),
    Sample("median.dim", (NUMBERS,), {"dim": 0, "keepdim": True}, "torch.median(x, 0, True)"),
    Sample("nanmedian.dim", (GAPS,), {"dim": 1}, "x.nanmedian(1)", kink=True),
    Sample("mode", (np.array([[1.0, 2.0, 2.0, 1.0], [4.0, 3.0, 4.0, 4.0]]),), {"dim": 1}, "x.mode()", kink=True),
    Sample("mode", (real(3, 4),), {"dim": 0, "keepdim": True}, "torch.mode(x, 0, keepdim=True)"),
    Sample("kthvalue", (NUMBERS,), {"k": 2, "dim": 1}, "x.kthvalue(2)"),
    Sample("kthvalue", (NUMBERS,), {"k": 3, "dim": 0, "keepdim": True}, "torch.kthvalue(x, 3, 0, True)"),
    Sample(
        "quantile_places", (np.sort(NUMBERS), np.array([0.3, 0.6])),
        {"ignore_nan": False, "interpolation": "linear"}, reason=INNER,
    ),
    Sample(
        "_unique2", (TIED,), spelled="torch.unique(x, return_inverse=True, return_counts=True)", opaque=NO_FORMULA
    ),
    Sample(
        "unique_dim", (NUMBERS,), {"dim": 0}, "torch.unique(x, return_inverse=True, return_counts=True, dim=0)",
        opaque=NO_FORMULA,
    ),
    Sample(
        "unique_consecutive", (np.array([1.0, 1.0, 2.0, 1.0]),),
        spelled="torch.unique_consecutive(x, return_inverse=True, return_counts=True)", opaque=NO_FORMULA,
    ),
]  # fmt: skip
