"""Rows of engine/ops/arithmetic.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, TIED, Sample, begin, positive, real, real_number, two, unary, whole

begin()

NO_FORMULA = "torch has no formula for this gradient: its node raises"
SOME = np.array([[1.0, np.nan], [np.inf, -2.0]])

ROWS = [
    Sample("addcmul", (real(2, 3), real(3), real(2, 1)), {"value": 1}, "torch.addcmul(x, y, z)"),
    Sample("addcmul", (real(2, 3), real(2, 3), real(2, 3)), {"value": 2}, "x.addcmul(y, z, value=2)"),
    Sample("addcdiv", (real(2, 3), real(3), positive(2, 1)), {"value": 1}, "torch.addcdiv(x, y, z)"),
    Sample("addcdiv", (real(2, 3), real(2, 3), positive(2, 3)), {"value": 0.5}, "x.addcdiv(y, z, value=0.5)"),
    Sample("lerp.Scalar", (real(2, 3), real(3)), {"weight": 0.3}, "torch.lerp(x, y, 0.3)"),
    Sample("lerp.Scalar", (real(2, 3), real(2, 3)), {"weight": 0.75}, "x.lerp(y, 0.75)"),
    Sample("lerp.Tensor", (real(2, 3), real(3), positive(2, 1)), spelled="torch.lerp(x, y, z)"),
    Sample("rsub.Tensor", (real(2, 3), real(3)), {"alpha": 2}, "torch.rsub(x, y, alpha=2)"),
    Sample("rsub.Scalar", (real(2, 3),), {"other": 1.5, "alpha": 2}, "torch.rsub(x, 1.5, alpha=2)"),
    *two("hypot", "torch.hypot(x, y)"),
    *two("fmax", "torch.fmax(x, y)"),
    *two("fmin", "torch.fmin(x, y)"),
    *(Sample(n, (TIED, np.array([3.0, np.nan, 3.0])), spelled=f"torch.{n}(x, y)", kink=True) for n in ("fmax", "fmin")),
    *two("copysign", "torch.copysign(x, y)"),
    Sample("copysign", (np.array([0.0, 1.0]), real(2)), spelled="torch.copysign(x, y)", kink=True),
    Sample("copysign.Scalar", (real(2, 3), -1.0), spelled="torch.copysign(x, -1.0)"),
    *two("ldexp", "torch.ldexp(x, y)"),
    Sample("heaviside", (real(2, 3), real(3)), spelled="torch.heaviside(x, y)", opaque=NO_FORMULA),
    Sample("nextafter", (real(2, 3), real(3)), spelled="torch.nextafter(x, y)"),
    *(Sample(n, (whole(2, 3), whole(3)), spelled=f"torch.{n}(x, y)") for n in ("gcd", "lcm")),
    Sample("bitwise_left_shift", (whole(2, 3), whole(3)), spelled="x << y"),
    Sample("bitwise_right_shift", (whole(2, 3), whole(3)), spelled="x >> y"),
    unary("frac"),
    unary("angle"),
    unary("sgn"),
    unary("rad2deg"),
    unary("deg2rad"),
    Sample("round.decimals", (real(2, 3),), {"decimals": 1}, "torch.round(x, decimals=1)"),
    Sample("round.decimals", (100 * real(2, 3),), {"decimals": -1}, "torch.round(x, decimals=-1)"),
    Sample("nan_to_num", (real(2, 3),), {"nan": 0.0, "posinf": None, "neginf": None}, "torch.nan_to_num(x)"),
    Sample(
        "nan_to_num", (SOME,), {"nan": 1.0, "posinf": 5.0, "neginf": -5.0}, "x.nan_to_num(1.0, 5.0, -5.0)", kink=True
    ),
    Sample("finite", (SOME,), reason=INNER),
    Sample("frexp", (real(2, 3),), spelled="torch.frexp(x)"),
    unary("signbit"),
    *(
        Sample(n, (np.array([1.0, np.nan, np.inf, -np.inf]),), spelled=f"torch.{n}(x)")
        for n in ("isposinf", "isneginf")
    ),
    unary("isreal"),
    Sample("isin", (whole(2, 3), whole(2)), spelled="torch.isin(x, y)"),
    Sample("outside", (real(2, 3),), {"low": 0, "high": 1}, reason=INNER),
    Sample("fill", (real(2, 3),), {"value": 2.0}, "torch.fill(x, 2.0)"),
    Sample("fill.value", (real(2, 3), real_number()), spelled="torch.fill(x, y)"),
]
