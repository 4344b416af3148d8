"""Rows of engine/ops/special.py."""

from __future__ import annotations

import numpy as np

from engine.ops.special import BESSEL

from .arithmetic import NO_FORMULA
from .rows import Sample, begin, positive, two, unary, unit

begin()

PART = 0.05 + 0.9 * np.abs(unit(2, 3))

TRIGAMMA = "torch computes trigamma by a short series, scipy by the zeta function"

ROWS = [
    Sample("lgamma", (positive(2, 3),), spelled="torch.lgamma(x)", loose=TRIGAMMA),
    Sample("digamma", (positive(2, 3),), spelled="torch.digamma(x)", loose=TRIGAMMA),
    *(Sample("polygamma", (positive(2, 3),), {"n": n}, f"torch.polygamma({n}, x)", loose=TRIGAMMA) for n in (0, 1, 2)),
    Sample("mvlgamma", (positive(2, 3) + 1,), {"p": 3}, "torch.mvlgamma(x, 3)", loose=TRIGAMMA),
    Sample("igamma", (2.0, positive(2, 3)), spelled="torch.igamma(torch.tensor(x).to(y.dtype), y)"),
    Sample("igammac", (2.0, positive(2, 3)), spelled="torch.igammac(torch.tensor(x).to(y.dtype), y)"),
    Sample("special_zeta", (2.5, positive(2, 3)), spelled="torch.special.zeta(torch.tensor(x).to(y.dtype), y)"),
    unary("erfinv", unit),
    unary("special_erfcx", spelled="torch.special.erfcx(x)"),
    Sample("special_ndtri", (PART,), spelled="torch.special.ndtri(x)"),
    unary("special_log_ndtr", spelled="torch.special.log_ndtr(x)"),
    unary("i0"),
    unary("special_i0e", spelled="torch.special.i0e(x)"),
    unary("special_i1", spelled="torch.special.i1(x)"),
    unary("special_i1e", spelled="torch.special.i1e(x)"),
    *(unary(f"special_{n}", positive, spelled=f"torch.special.{n}(x)") for n in BESSEL),
    unary("special_spherical_bessel_j0", spelled="torch.special.spherical_bessel_j0(x)"),
    Sample("logit", (PART,), {"eps": None}, "torch.logit(x)"),
    Sample("logit", (PART,), {"eps": 0.2}, "torch.logit(x, 0.2)"),
    Sample("special_entr", (PART,), spelled="torch.special.entr(x)"),
    *two("logaddexp", "torch.logaddexp(x, y)"),
    *two("logaddexp2", "torch.logaddexp2(x, y)"),
    *two("xlogy", "torch.xlogy(x, y)", positive),
    Sample("xlogy", (np.array([0.0, 0.0, 1.0]), np.array([0.0, 2.0, 2.0])), spelled="torch.xlogy(x, y)", kink=True),
    Sample("xlogy.Scalar_Self", (positive(2, 3),), {"self": 2.0}, "torch.xlogy(2.0, x)"),
    Sample("xlogy.Scalar_Other", (positive(2, 3),), {"other": 2.0}, "torch.xlogy(x, 2.0)"),
    Sample("xlogy.Scalar_Other", (np.array([0.0, 1.5]),), {"other": 0.0}, "torch.xlogy(x, 0.0)", kink=True),
    *two("special_xlog1py", "torch.special.xlog1py(x, y)", positive),
    Sample("special_xlog1py.self_scalar", (positive(2, 3),), {"self": 2.0}, "torch.special.xlog1py(2.0, x)"),
    Sample("special_xlog1py.other_scalar", (positive(2, 3),), {"other": 2.0}, "torch.special.xlog1py(x, 2.0)"),
    Sample(
        "special_xlog1py.other_scalar",
        (np.array([0.0, 1.0]),),
        {"other": -1.0},
        "torch.special.xlog1py(x, -1.0)",
        kink=True,
    ),
    Sample("special_zeta.self_scalar", (positive(2, 3),), {"self": 2.5}, "torch.special.zeta(2.5, x)"),
    Sample(
        "special_zeta.other_scalar",
        (positive(2, 3) + 1,),
        {"other": 0.5},
        "torch.special.zeta(x, 0.5)",
        opaque=NO_FORMULA,
    ),
    unary("sinc"),
    Sample("sinc", (np.array([0.0, 0.5]),), spelled="torch.sinc(x)", kink=True),
]
