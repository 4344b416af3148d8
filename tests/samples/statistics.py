"""Rows of engine/ops/statistics.py."""

from __future__ import annotations

import numpy as np

from .arithmetic import NO_FORMULA
from .rows import INNER, TIED, Sample, begin, real, real_number

begin()

GAPS = np.array([[3.0, np.nan, 2.0], [1.0, 4.0, np.nan]])
COUNTED = np.array([0, 2, 1, 2])

ROWS = [
    Sample("var_mean", (real(2, 3),), {"dim": None, "correction": 1, "keepdim": False}, "torch.var_mean(x)"),
    Sample(
        "var_mean", (real(2, 3),), {"dim": 1, "correction": 0, "keepdim": True}, "torch.var_mean(x, 1, False, True)"
    ),
    Sample("std_mean", (real(2, 3),), {"dim": None, "correction": 1, "keepdim": False}, "torch.std_mean(x)"),
    Sample(
        "std_mean", (real(4, 3),), {"dim": 0, "correction": 2, "keepdim": False}, "torch.std_mean(x, 0, correction=2)"
    ),
    Sample("aminmax", (real(2, 3),), {"dim": None, "keepdim": False}, "x.aminmax()"),
    Sample("aminmax", (TIED,), {"dim": 1, "keepdim": True}, "torch.aminmax(x, dim=1, keepdim=True)", kink=True),
    Sample("aminmax", (real_number(),), {"dim": 0}, "torch.aminmax(x, dim=0)"),
    Sample("nansum", (GAPS,), {"dim": (0, 1)}, "x.nansum()", kink=True),
    Sample("nansum", (GAPS,), {"dim": 1, "keepdim": True}, "torch.nansum(x, 1, True)", kink=True),
    *(Sample("dist", (real(2, 3), real(3)), {"p": p}, f"torch.dist(x, y, {p!r})") for p in (0.5, 1.0, 1.5, 2.0, 3.0)),
    *(Sample("dist", (real(2, 3), real(2, 3)), {"p": p}, f"torch.dist(x, y, float('{p}'))") for p in (np.inf,)),
    Sample("renorm", (real(3, 4),), {"p": 2.0, "dim": 0, "maxnorm": 1.7}, "torch.renorm(x, 2, 0, 1.7)"),
    Sample("renorm", (real(3, 4),), {"p": 1.0, "dim": 1, "maxnorm": 0.5}, "x.renorm(1, 1, 0.5)"),
    Sample("trace", (real(3, 4),), spelled="x.trace()"),
    Sample("on_diagonal", (real_number(),), {"sizes": (3, 2)}, reason=INNER),
    Sample("count_nonzero", (np.array([[0.0, 1.0], [2.0, 0.0]]),), {"dim": 1}, "x.count_nonzero(1)"),
    Sample("bincount", (COUNTED,), spelled="torch.bincount(x)"),
    Sample("bincount.weights", (COUNTED, real(4)), {"minlength": 5}, "torch.bincount(x, y, 5)", opaque=NO_FORMULA),
    Sample("histc", (real(3, 4),), {"bins": 3, "min": -1.0, "max": 1.0}, "torch.histc(x, 3, -1, 1)"),
]
