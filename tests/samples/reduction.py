"""Rows of engine/ops/reduction.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, TIED, Sample, begin, index, mask, real, real_number

begin()

ROWS = [
    Sample("sum", (real(2, 3),), spelled="x.sum()"),
    Sample("sum", (real_number(),), spelled="x.sum()"),
    Sample("sum.dim", (real(2, 3, 2),), {"dim": (0, 2), "keepdim": False}, "x.sum((0, -1))"),
    Sample("sum.dim", (real(2, 3),), {"dim": 1, "keepdim": True}, "torch.sum(x, 1, keepdim=True)"),
    Sample("mean", (real(2, 3),), spelled="x.mean()"),
    Sample("mean.dim", (real(2, 3),), {"dim": 0, "keepdim": False}, "x.mean(0)"),
    Sample("cumsum", (real(2, 3),), {"dim": 1}, "x.cumsum(1)"),
    Sample("var", (real(2, 3),), {"dim": None, "correction": 1}, "x.var()"),
    Sample(
        "var", (real(2, 3),), {"dim": 1, "correction": 0, "keepdim": True}, "x.var(1, unbiased=False, keepdim=True)"
    ),
    Sample("std", (real(2, 3),), {"dim": None, "correction": 1}, "x.std()"),
    Sample("std", (real(2, 3),), {"dim": 0, "correction": 1}, "x.std(0)"),
    Sample("prod", (real(2, 3),), spelled="x.prod()"),
    Sample("prod", (np.array([2.0, 0.0, 3.0]),), spelled="x.prod()"),
    Sample("prod.dim_int", (np.array([[2.0, 0.0, 3.0], [0.0, 0.0, 2.0]]),), {"dim": 1, "keepdim": False}, "x.prod(1)"),
    Sample("prod.dim_int", (real(2, 3),), {"dim": 0, "keepdim": True}, "x.prod(0, keepdim=True)"),
    Sample("max", (real(2, 3),), spelled="x.max()"),
    Sample("min", (real(2, 3),), spelled="x.min()"),
    Sample("max", (TIED,), spelled="x.max()", kink=True),
    Sample("max.dim", (real(2, 3),), {"dim": 1, "keepdim": False}, "x.max(1)"),
    Sample("max.dim", (TIED,), {"dim": 0, "keepdim": True}, "x.max(0, keepdim=True)", kink=True),
    Sample("min.dim", (real(2, 3),), {"dim": 0, "keepdim": False}, "x.min(0)"),
    Sample("amax", (TIED,), {"dim": (0, 1), "keepdim": False}, "x.amax()", kink=True),
    Sample("amax", (real(2, 3),), {"dim": 1, "keepdim": True}, "x.amax(1, keepdim=True)"),
    Sample("amin", (real(2, 3),), {"dim": (0, 1), "keepdim": False}, "x.amin((0, 1))"),
    Sample("argmax", (TIED,), {"dim": 1}, "x.argmax(1)"),
    Sample("argmin", (TIED,), spelled="x.argmin()"),
    Sample("all", (mask(2, 3),), {"dim": 1}, "x.all(1)"),
    Sample("any", (mask(2, 3),), spelled="x.any()"),
    Sample("logsumexp", (real(2, 3),), {"dim": 1}, "x.logsumexp(1)"),
    Sample("logsumexp", (real(2, 3),), {"dim": (0, 1), "keepdim": True}, "x.logsumexp((0, 1), keepdim=True)"),
    Sample("softmax", (real(2, 3),), {"dim": 1}, "torch.softmax(x, -1)"),
    Sample("log_softmax", (real(2, 3),), {"dim": 0}, "torch.log_softmax(x, 0)"),
    *(Sample("linalg_vector_norm", (real(2, 3),), {"ord": float(p)}, f"x.norm({p})") for p in (1, 2, 3, 1.5)),
    Sample("linalg_vector_norm", (real(2, 3),), {"ord": 2.0, "dim": 1, "keepdim": True}, "x.norm(2, 1, True)"),
    Sample("linalg_vector_norm", (real(2, 3),), {"ord": float("inf"), "dim": 0}, "x.norm(float('inf'), 0)"),
    Sample("linalg_vector_norm", (real(2, 3),), {"ord": 0.0}, "x.norm(0)"),
    Sample("linalg_vector_norm", (np.zeros((2, 2)),), {"ord": 2.0}, "x.norm()", kink=True),
    Sample("gather", (real(2, 3), index([0, 2], [1, 1])), {"dim": 1}, "x.gather(1, y)"),
    Sample("scatter_sum", (real(2, 2), index([0, 2], [1, 1])), {"dim": 1, "sizes": (2, 3)}, reason=INNER),
    Sample("even_share", (TIED, np.array(3.0)), reason=INNER),
    Sample("off_diagonal", (real(3, 3),), {"dim": 0, "value": 1}, reason=INNER),
    Sample("prod_of_others", (np.array([[2.0, 0.0, 3.0], [1.0, 1.5, 2.0]]),), {"dim": 1}, reason=INNER),
]
