"""Rows of engine/ops/choice.py."""

from __future__ import annotations

import numpy as np

from .rows import TIED, Sample, begin, mask, positive, real, real_number, two, whole

begin()

ROWS = [
    *(Sample(n, (real(2, 3), real(3)), spelled=f"torch.{n}(x, y)") for n in ("eq", "ne", "lt", "le", "gt", "ge")),
    *(Sample(f"logical_{n}", (mask(2, 3), mask(3)), spelled=f"torch.logical_{n}(x, y)") for n in ("and", "or", "xor")),
    *(
        Sample(f"bitwise_{n}", (whole(2, 3), whole(3)), spelled=f"torch.bitwise_{n}(x, y)")
        for n in ("and", "or", "xor")
    ),
    Sample("logical_not", (mask(2, 3),), spelled="torch.logical_not(x)"),
    Sample("bitwise_not", (whole(2, 3),), spelled="~x"),
    *(
        Sample(n, (np.array([1.0, np.nan, np.inf, -np.inf]),), spelled=f"torch.{n}(x)")
        for n in ("isnan", "isinf", "isfinite")
    ),
    Sample("isclose", (np.array([1.0, 2.0]), np.array([1.0 + 1e-9, 2.1])), spelled="torch.isclose(x, y)"),
    *(
        Sample(f"{n}_.Tensor", (TIED, real(3)), spelled=f"x.clone().{n}_(y)", kink=True)
        for n in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    *(
        Sample(f"{n}_.Scalar", (TIED, 3.0), spelled=f"x.clone().{n}_(3.0)", kink=True)
        for n in ("eq", "ne", "lt", "le", "gt", "ge")
    ),
    Sample("zero", (real(2, 3),), reason="zero_ writes; as a function it is zeros_like, which makes a leaf"),
    Sample("where", (mask(2, 3), real(2, 3), real(3)), spelled="torch.where(x, y, z)"),
    Sample("where", (mask(2, 3), real(2, 1), 0.0), spelled="torch.where(x, y, 0.0)"),
    Sample("masked_fill", (real(2, 3), mask(2, 3)), {"value": 7.0}, "x.masked_fill(y, 7.0)"),
    Sample("masked_fill.Tensor", (real(2, 3), mask(2, 3), real_number()), spelled="x.masked_fill(y, z)"),
    Sample("clamp_min.Tensor", (real(2, 3), real(3)), spelled="torch.clamp_min(x, y)"),
    Sample("clamp_min.Tensor", (TIED, np.array([3.0, 2.0, 3.0])), spelled="x.clamp_min(y)", kink=True),
    Sample("clamp_max.Tensor", (real(2, 3), real(3)), spelled="torch.clamp_max(x, y)"),
    Sample("clamp_max.Tensor", (TIED, np.array([3.0, 2.0, 3.0])), spelled="x.clamp_max(y)", kink=True),
    *two("maximum", "torch.maximum(x, y)"),
    *two("minimum", "torch.minimum(x, y)"),
    Sample("maximum", (TIED, np.array([3.0, 2.0, 3.0])), spelled="torch.maximum(x, y)", kink=True),
    Sample("minimum", (TIED, np.array([3.0, 2.0, 3.0])), spelled="torch.minimum(x, y)", kink=True),
    Sample("clamp", (real(2, 3),), {"min": -0.5, "max": 1.1}, "torch.clamp(x, -0.5, 1.1)"),
    Sample("clamp", (TIED,), {"min": 1.0, "max": 3.0}, "x.clamp(1.0, 3.0)", kink=True),
    Sample("clamp", (real(2, 3),), {"min": 0.1, "max": None}, "x.clamp(min=0.1)"),
    Sample("clamp_min", (real(2, 3),), {"min": 0.1}, "x.clamp_min(0.1)"),
    Sample("clamp_max", (real(2, 3),), {"max": 0.1}, "x.clamp_max(0.1)"),
    Sample("clamp.Tensor", (real(2, 3), -positive(3), positive(3)), spelled="x.clamp(y, z)"),
    Sample("clamp.Tensor", (real(2, 3), real(3), None), spelled="x.clamp(min=y)"),
]
