"""In-place forms beside torch: what is written, its version, node and gradients, and errors."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import listed
from tests.parity.helpers.tables import first_line, scope

WRITES = """
z.atan2_(w) | z.copysign_(w) | z.copysign_(-1.) | z.deg2rad_() | z.rad2deg_() | z.digamma_() | z.div_(9).erfinv_()
z.fmod_(w) | z.fmod_(.7) | z.frac_() | z.hypot_(w) | z.i0_() | z.ldexp_(w) | z.lgamma_() | z.div_(9).logit_()
z.div_(9).logit_(.2) | z.mvlgamma_(1) | z.nan_to_num_() | z.round_() | z.round_(decimals=1) | z.sgn_() | z.sinc_()
z.xlogy_(w) | z.xlogy_(2.) | z.cumsum_(1) | z.cumprod_(0) | z.renorm_(2, 0, 1.) | z.lerp_(w, .3) | z.lerp_(w, w)
z.addcmul_(w, w, value=2) | z.addcdiv_(w, w) | z.abs_() | z.absolute_() | z.negative_() | z.multiply_(w)
z.divide_(w) | z.true_divide_(w) | z.subtract_(w) | z.fix_() | z.arctan_() | z.arctan2_(w) | z.eq_(w) | z.lt_(w)
z.ge_(1) | z.greater_(w) | z.not_equal_(w) | z.logical_and_(w) | z.logical_not_() | q.bitwise_and_(1)
q.bitwise_or_(q) | q.bitwise_not_() | q.__iand__(1) | q.__ilshift__(1) | q.bitwise_left_shift_(1) | q.gcd_(q)
q.eq_(1) | q.lt_(2) | q.float_power_(2) | z.float_power_(2) | o.float_power_(2) | z.clamp_min_(w) | z.clamp_max_(w)
z.clip_(1, 2) | z.masked_fill_(z.detach()>1, s) | z.masked_fill_(z.detach()>1, w) | z.nextafter_(w) | z.igamma_(w)
z.square_() | z.fill_(s) | z.exp2_() | z.erfc_() | z.expm1_() | z.sigmoid_() | z.tanh_() | z.floor_()
z.remainder_(w) | q.cumsum_(0) | q.exp_() | q.hypot_(q) | q.frac_() | q.lerp_(q, .5) | q.addcdiv_(q, q)
q.addcmul_(q, q) | q.atan2_(q) | q.add_(1.5) | q.mul_(2.5) | q.round_() | q.sgn_() | q.neg_() | q.clamp_(1, 2)
q.nan_to_num_() | q.xlogy_(q) | q.div_(2) | q.div_(2, rounding_mode='floor') | z.addcmul_(w[:2], w)
z.lerp_(w[:2], .5) | z.cumsum_(5) | v.lt_(w) | v.logical_or_(w)
"""


def written(expression: str, library: Any) -> Any:
    """The names after a write to z (a product), q (integers) or o (float64), and a backward of z; or the error."""
    found = scope(library, True)
    found |= {
        "z": found["x"] * 1.5,
        "q": library.arange(3),
        "o": library.tensor([1.0, 2.0, 3.0], dtype=library.float64),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            eval(expression, found)  # noqa: S307 - expressions of this file
            if found["z"].grad_fn is not None:
                (found["z"] * found["z"]).sum().backward()
        except Exception as error:  # noqa: BLE001 - which one is what the tests are about
            return error
    return found


@batches("expression", listed(WRITES))
def test_in_place_form_writes_what_torchs_writes(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = written(expression, engine), written(expression, torch)
    if isinstance(theirs, Exception) or isinstance(ours, Exception):
        assert first_line(ours) == first_line(theirs)
        return
    for name in "zqoxwvs":
        mine, yours = ours[name], theirs[name]
        assert str(mine.dtype) == str(yours.dtype)
        assert mine._version == yours._version
        np.testing.assert_allclose(mine.detach().numpy(), yours.detach().numpy(), rtol=2e-6, atol=1e-7)
    assert names(ours["z"].grad_fn) == names(theirs["z"].grad_fn)
    for name in "xwvs":
        mine, yours = (0 if t.grad is None else t.grad.numpy(force=True) for t in (ours[name], theirs[name]))
        np.testing.assert_allclose(mine, yours, rtol=1e-5, atol=1e-6)
