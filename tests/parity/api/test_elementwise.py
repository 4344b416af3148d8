"""Elementwise and special functions, dtypes and what is known of them, beside torch."""

from __future__ import annotations

from tests.batches import batches
from tests.parity.helpers.saying import listed
from tests.parity.helpers.tables import assert_agreement

AGREE = """
x.add(other=w) | x.sub(w, alpha=2) | torch.add(input=x, other=w) | x.clamp(min=s) | torch.pow(x, torch.tensor(2))
torch.lerp(x, w, torch.tensor(.3)) | torch.lerp(x, w, 2) | torch.addcmul(i, i, i, value=2)
torch.addcmul(x, i[:1], w) | torch.addcdiv(x, i[:1], w) | torch.addcdiv(x, i[1:2], i[1:2])
torch.copysign(i, x[:, 0]) | torch.atan2(i, i) | torch.hypot(x, d) | torch.ldexp(d, i[:1]) | torch.logaddexp(x, d)
torch.fmin(i, c) | torch.heaviside(i, i) | torch.xlogy(d, x) | torch.float_power(h, 2) | torch.polygamma(3, d)
torch.mvlgamma(d + 2, 4) | torch.special.i1(d) | torch.special.i0e(-d) | torch.special.i1e(-d)
torch.special.ndtri(d / 4) | torch.special.log_ndtr(-d * 5) | torch.special.bessel_j1(d)
torch.special.bessel_y0(d) | torch.special.modified_bessel_k1(d) | torch.special.scaled_modified_bessel_k0(d)
torch.special.spherical_bessel_j0(d) | torch.special.zeta(d + 1, d) | torch.special.gammainc(d, d)
torch.lgamma(-d - .1) | torch.digamma(-d - .1) | torch.digamma(-i) | torch.digamma(s * 0) | torch.erfinv(d / 3)
torch.erfinv(f) | torch.sinc(d) | torch.logit(d / 4, 1e-6) | torch.nan_to_num(f, posinf=9) | torch.frexp(d)
torch.round(d, decimals=-1) | torch.round(-d * 10) | torch.bitwise_xor(b, True) | torch.bitwise_and(i, 1) | 1 & i
i.bitwise_or(1) | torch.bitwise_and(1, i) | i ^ b | torch.logical_or(b, b) | torch.isclose(x, w, atol=1.)
torch.isclose(x, d) | torch.isclose(i, i, rtol=0) | torch.allclose(f, f) | torch.allclose(f, f, equal_nan=True)
torch.equal(x, w) | torch.equal(x, v) | torch.maximum(c, i) | torch.clamp(c, 2) | torch.clamp(i, max=1)
torch.clamp(x, 3, 1) | torch.clamp(f, max=1.) | torch.where(b, x[:, 0], d[:, 0]) | torch.where(x > 1)
torch.sign(-x) | torch.angle(-x) | torch.rad2deg(d) | torch.square(c) | torch.rsub(c, 1) | torch.remainder(-x, .7)
torch.fmod(-x, .7) | torch.remainder(c, 2) | -7 % (i + 1) | torch.div(-x, .7, rounding_mode='trunc')
torch.div(i, i + 1, rounding_mode='floor') | torch.div(x, 2, rounding_mode='up') | torch.floor_divide(-i, 2)
torch.true_divide(i, 2) | torch.reciprocal(c) | torch.exp2(c)
torch.angle(x) | torch.copysign(x, w) | torch.copysign(x, -1) | torch.copysign(i, -1) | torch.copysign(1, x)
torch.deg2rad(x) | torch.rad2deg(i) | torch.digamma(x) | torch.erfinv(u) | torch.float_power(x, 2)
torch.float_power(i, 2) | torch.float_power(2, x) | torch.float_power(x, w) | torch.fmax(x, w)
torch.fmax(i, x[:, 0]) | torch.fmin(x, w) | torch.frac(x) | torch.frac(i) | torch.hypot(x, w) | torch.hypot(i, i)
torch.i0(x) | torch.i0(i) | torch.ldexp(x, i[:1]) | torch.ldexp(i, i) | torch.lgamma(x) | torch.logaddexp(x, w)
torch.logaddexp(i, i) | torch.logaddexp2(x, w) | torch.logit(u) | torch.logit(u, 0.2) | torch.logit(i)
torch.mvlgamma(x+3, 2) | torch.mvlgamma(x, 3) | torch.mvlgamma(i+3, 2) | torch.nan_to_num(n) | torch.nan_to_num(i)
torch.polygamma(1, x) | torch.polygamma(0, x) | torch.polygamma(-1, x) | torch.real(x) | torch.imag(x)
torch.sinc(x) | torch.sgn(x) | torch.sign(b) | torch.sgn(b) | torch.xlogy(x, w) | torch.xlogy(2, x)
torch.xlogy(x, 2) | torch.xlogy(x, 0) | torch.xlogy(i, i) | torch.heaviside(x, w) | torch.heaviside(i, i)
torch.igamma(x, w) | torch.nextafter(x, w) | torch.gcd(i, i) | torch.lcm(i, i) | torch.gcd(x, x) | torch.signbit(x)
torch.isposinf(x) | torch.isneginf(i) | torch.isreal(x) | torch.frexp(x) | torch.frexp(i)
torch.round(x, decimals=1) | torch.round(i, decimals=1) | torch.addcmul(x, w, u, value=2) | torch.addcdiv(x, w, u)
torch.addcdiv(i, i, i) | torch.addcmul(i, i, i) | torch.lerp(x, w, 0.3) | torch.lerp(x, w, u)
torch.lerp(x, w, torch.tensor(0.3)) | torch.lerp(x, w.double(), .3) | torch.lerp(i, i, .5)
torch.bitwise_left_shift(i, 2) | torch.bitwise_left_shift(x, 2) | i << 1 | 2 << i | i >> 1 | torch.fill(x, 2)
torch.fill(x, s) | torch.frac(b) | torch.logical_not(x) | torch.asin(b) | torch.neg(i) | torch.square(i)
torch.exp2(i) | torch.fix(x) | torch.isin(i, torch.tensor([1, 2])) | torch.isin(i, 1) | torch.clamp(x, w, 2.)
torch.clamp(i, 0.5, 2) | torch.clamp(x, min=w) | x.clamp(w) | torch.where(b, 1, 2) | torch.where(b, 1., 2.)
torch.where(b, s, i) | torch.nan_to_num(n, 1, 2, 3) | torch.signbit(i) | torch.positive(x) | torch.sigmoid(i)
torch.logical_and(x, w) | torch.rsub(x, w, alpha=2) | torch.rsub(x, 2, alpha=3) | torch.isclose(x, w)
torch.isclose(i, i) | torch.mul(i, b) | torch.special.entr(u) | torch.special.ndtr(x) | torch.special.ndtri(u)
torch.special.log_ndtr(x) | torch.special.erfcx(x) | torch.special.i0e(x) | torch.special.i1(x)
torch.special.i1e(x) | torch.special.zeta(x+2, w) | torch.special.xlog1py(x, w) | torch.special.expit(x)
torch.special.psi(x) | torch.special.gammaln(x) | torch.special.bessel_j0(x) | torch.special.gammainc(x, w)
torch.special.multigammaln(x+3, 2) | torch.special.exp2(x) | torch.special.round(x) | torch.special.sinc(x)
torch.special.logit(u) | torch.special.softmax(x, 0) | torch.special.scaled_modified_bessel_k0(x) | x.half().sum()
x.half().prod() | torch.logaddexp(h, h) | torch.lgamma(h) | torch.digamma(h) | torch.erfinv(h/4) | torch.i0(h)
torch.sinc(h) | torch.hypot(h, h) | torch.lerp(h, h, .3) | torch.addcmul(h, h, h) | torch.addcdiv(h, h, h)
torch.atan2(h, h) | torch.fmod(h, 0.5) | torch.remainder(h, -0.5) | torch.exp(h) | torch.log1p(h) | torch.sigmoid(h)
torch.round(h) | torch.round(d, decimals=2) | torch.pow(h, 2) | torch.pow(h, .5) | torch.pow(2, h)
torch.nan_to_num(f) | torch.nan_to_num(f.double()) | torch.nan_to_num(f.half())
torch.nan_to_num(f, nan=2., posinf=1.) | torch.copysign(c, -1.) | torch.angle(f) | torch.frexp(f) | torch.signbit(f)
torch.signbit(-s*0) | torch.sgn(f) | torch.sign(f) | torch.trunc(f) | torch.frac(f) | torch.logit(f)
torch.xlogy(0, f) | torch.xlogy(f, 0.) | torch.fmax(f, f.flip(0)) | torch.maximum(f, f.flip(0))
torch.logaddexp(f, f.flip(0)) | torch.hypot(f, f.flip(0)) | torch.isposinf(f) | torch.clamp(f, 0, 1)
torch.isclose(f, f, equal_nan=True) | torch.isclose(f, f) | torch.allclose(x, x+1e-9) | torch.equal(x, d)
torch.equal(x, x) | torch.logical_xor(f, s) | torch.isin(f, f) | torch.isin(x, torch.tensor([.5, .75]), invert=True)
torch.result_type(h, 1) | torch.result_type(i, 1.) | torch.result_type(s, d)
torch.promote_types(torch.float16, torch.int64) | torch.promote_types(torch.uint8, torch.int8)
torch.can_cast(torch.int64, torch.bool) | torch.can_cast(torch.bool, torch.uint8) | torch.is_signed(c)
x.is_complex() | torch.is_nonzero(s) | x.is_same_size(w) | torch.finfo(torch.float64).eps
torch.finfo(torch.float16) | torch.finfo(torch.float32) | torch.finfo(torch.float64) | torch.iinfo(torch.uint8)
torch.iinfo(torch.float32) | torch.finfo(torch.int8) | torch.iinfo(torch.bool) | x.real | x.imag | x.conj()
c.char() | x.char() | torch.square(b) | torch.abs(c) | torch.neg(c) | c-2 | torch.bitwise_not(c) | c << 2 | b & b
~b | torch.exp(b) | i.float_power(.5) | torch.float_power(i, -1.) | torch.ldexp(x, i.sum())
x.ldexp(torch.tensor(2)) | torch.rsub(i, 5) | torch.rsub(i, i, alpha=2) | torch.add(i, b, alpha=2) | torch.add(2, 3)
torch.mul(2, 3) | torch.sub(5, i) | torch.div(x, 0) | torch.div(i, 2, rounding_mode='floor')
torch.div(i, -2, rounding_mode='trunc') | torch.remainder(5, i+1) | torch.remainder(i, -2) | torch.fmod(-i, 2)
torch.gcd(i*4, torch.tensor(6)) | torch.lcm(c, c) | torch.heaviside(f, s) | torch.special.xlog1py(2, x)
torch.special.zeta(2, x+1) | torch.special.zeta(x+1, 2) | torch.special.gammaincc(x, w)
torch.special.log_softmax(x, 1) | torch.special.logsumexp(x, 1) | torch.special.polygamma(2, x)
torch.special.entr(f) | torch.special.ndtr(i) | torch.special.log_ndtr(f) | torch.special.round(x, decimals=1)
torch.special.multigammaln(x, 2) | torch.special.expit(2) | torch.special.erfcx(-x) | torch.greater(x, w)
x.less_equal(1) | x.not_equal(w) | torch.fix(f) | torch.absolute(x) | torch.arctanh(u) | torch.arccosh(x)
torch.arcsinh(i) | torch.arctan2(x, w) | torch.clip(x, max=1) | torch.clamp(x, min=w, max=None)
torch.clamp(i, min=1.5) | torch.clamp(x, 2, 1) | torch.clamp(e, 0, 1) | torch.clamp_max(x, w)
torch.where(b, i, 2.5) | torch.where(b, h[0, :3], 1.) | torch.masked_fill(x, x>1, s.detach())
torch.polygamma(2., x) | torch.mvlgamma(x, 0) | torch.lerp(x, d, .5) | torch.heaviside(x, i) | torch.hypot(x, 2)
torch.logical_and(x, 2) | torch.fmax(x, 2) | torch.nextafter(i, i) | torch.isin(i, [1]) | torch.copysign(x, 'a')
torch.float_power(2, 3) | torch.clamp(x, 'a') | torch.bitwise_left_shift(x, 1) | torch.xlogy(2, 3) | torch.sign(2)
torch.is_floating_point(2) | torch.real(2)
"""
OTHER_NODES = """
torch.floor_divide(x, -.7)
"""


@batches("expression", listed(AGREE))
def test_elementwise_function_is_torchs_in_value_dtype_error_and_node(expression: str) -> None:
    assert_agreement(expression)


@batches("expression", listed(OTHER_NODES))
def test_elementwise_function_is_torchs_in_value_dtype_and_error(expression: str) -> None:
    assert_agreement(expression, nodes=False)
