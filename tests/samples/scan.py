"""Rows of engine/ops/scan.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, TIED, Sample, begin, positive, real, real_number

begin()

WITH_ZEROS = np.array([[2.0, 0.0, 3.0, 0.5], [0.0, 1.5, 0.0, 2.0]])

ROWS = [
    Sample("cumprod", (real(2, 5),), {"dim": 1}, "x.cumprod(1)"),
    Sample("cumprod", (WITH_ZEROS,), {"dim": 1}, "torch.cumprod(x, -1)"),
    Sample("cumprod", (real(3, 2),), {"dim": 0}, "x.cumprod(0)"),
    Sample("cumprod", (real_number(),), {"dim": 0}, "x.cumprod(0)"),
    Sample("cumsum", (real_number(),), {"dim": 0}, "x.cumsum(0)"),
    Sample("cummax", (real(2, 5),), {"dim": 1}, "x.cummax(1)"),
    Sample("cummax", (TIED,), {"dim": 1}, "torch.cummax(x, 1)", kink=True),
    Sample("cummin", (real(3, 2),), {"dim": 0}, "x.cummin(0)"),
    Sample("cummin", (real_number(),), {"dim": 0}, "x.cummin(0)"),
    Sample("logcumsumexp", (5 * real(2, 5),), {"dim": 1}, "x.logcumsumexp(1)"),
    Sample("logcumsumexp", (real(3, 2),), {"dim": 0}, "torch.logcumsumexp(x, 0)"),
    Sample("logcumsumexp", (real_number(),), {"dim": 0}, "torch.logcumsumexp(x, 0)"),
    Sample("shifted", (real(2, 3),), {"dim": 1, "step": 1, "fill": 2.0}, reason=INNER),
    Sample("shifted", (real(2, 3),), {"dim": 0, "step": -1, "fill": 0}, reason=INNER),
    Sample("recurrence", (real(2, 5), positive(2, 5)), {"dim": 1, "reverse": False}, reason=INNER),
    Sample("recurrence", (real(3, 2), positive(3, 2)), {"dim": 0, "reverse": True}, reason=INNER),
]
