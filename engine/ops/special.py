"""Special functions: scipy's, or cupyx's on a GPU."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, special_of, xp
from ..arrays.promotion import promote_float
from .arithmetic import no_derivative, outside, sgn
from .choice import eq, le, logical_and, where
from .elementwise import cos, exp, exp2, log, log1p, sin
from .op import FLOAT, Traits, op
from .presentation import elementwise

ROOT_2 = math.sqrt(2)


def special(name: str) -> Any:
    """The kernel that calls scipy's function `name` of one array and keeps the dtype."""

    def kernel(self: Array) -> Array:
        result = getattr(special_of(self), name)(self)
        return result if isinstance(self, float) else result.astype(self.dtype, copy=False)

    return kernel


def special_of_two(name: str) -> Any:
    """The kernel that calls scipy's function `name` of two arrays and keeps the dtype."""

    def kernel(self: Array, other: Array) -> Array:
        place = other if isinstance(self, (bool, int, float)) else self
        return getattr(special_of(place), name)(self, other).astype(place.dtype, copy=False)

    return kernel


# -- gamma --------------------------------------------------------------------------------------------------------


def _polygamma(self: Array, n: int) -> Array:
    return special_of(self).polygamma(xp.full_like(self, n), self).astype(self.dtype, copy=False)


def _mvlgamma(self: Array, p: int) -> Array:
    """The logarithm of the multivariate gamma function: p(p-1)/4 log(pi) + the sum of lgamma(x - j/2), j < p."""
    total = special_of(self).gammaln(self)
    for j in range(1, p):
        total = total + special_of(self).gammaln(self - j / 2)
    return (total + p * (p - 1) / 4 * math.log(math.pi)).astype(self.dtype, copy=False)


def _mvlgamma_slope(grad: Any, self: Any, p: int) -> Any:
    total = digamma(self)
    for j in range(1, p):
        total = total + digamma(self - j / 2)
    return grad * total


def _digamma(self: Array) -> Array:
    """Left of 0 by reflection, digamma(1 - x) - pi / tan(pi x): scipy's way there is a hundred times slower."""
    negative = self < 0
    if not negative.any():
        return special_of(self).digamma(self).astype(self.dtype, copy=False)
    wide = self.astype("float64")
    part = wide - xp.trunc(wide)
    turned = xp.where(part == 0, xp.nan, math.pi / xp.tan(math.pi * part))
    values = special_of(self).digamma(xp.where(negative, 1 - wide, wide))
    return xp.where(negative, values - turned, values).astype(self.dtype)


lgamma = op(
    "lgamma", special("gammaln"), FLOAT, elementwise(word="log |Γ|"),
    self=lambda grad, self: grad * digamma(self),
)  # fmt: skip
digamma = op(
    "digamma", _digamma, FLOAT, elementwise(word="the derivative of log Γ"),
    self=lambda grad, self: grad * polygamma(self, n=1),
)  # fmt: skip
polygamma = op(
    "polygamma", _polygamma, FLOAT, elementwise(word="a derivative of digamma"),
    self=lambda grad, self, n: grad * polygamma(self, n=n + 1),
)  # fmt: skip
mvlgamma = op("mvlgamma", _mvlgamma, FLOAT, self=_mvlgamma_slope)
igamma = op(
    "igamma", special_of_two("gammainc"), FLOAT,
    self=lambda grad, self, other: no_derivative("igamma: input"),
    other=lambda grad, self, other: grad * exp((self - 1) * log(other) - other - lgamma(self)),
)  # fmt: skip
igammac = op(
    "igammac", special_of_two("gammaincc"), FLOAT,
    self=lambda grad, self, other: no_derivative("igammac: input"),
    other=lambda grad, self, other: -grad * exp((self - 1) * log(other) - other - lgamma(self)),
)  # fmt: skip
ZETA = "the Hurwitz zeta function"
zeta = op(
    "special_zeta", special_of_two("zeta"), FLOAT,
    elementwise(word=ZETA),
    self=lambda grad, self, other: no_derivative("zeta"),
    other=lambda grad, self, other: grad * -self * zeta(self + 1, other),
)  # fmt: skip


def _zeta(self: Any, other: Any) -> Array:
    array = other if isinstance(self, (bool, int, float)) else self
    return special_of(array).zeta(self, other).astype(array.dtype, copy=False)


zeta_of_number = op(
    "special_zeta.self_scalar", lambda other, self: _zeta(self, other),
    Traits(promote=promote_float, node="SpecialZetaBackward1"),
    elementwise(word=ZETA),
    other=lambda grad, other, self: grad * -self * zeta_of_number(other, self=self + 1),
)  # fmt: skip
zeta_number = op(
    "special_zeta.other_scalar", lambda self, other: _zeta(self, other),
    Traits(promote=promote_float, node="SpecialZetaBackward2"),
    elementwise(word=ZETA),
    self=lambda grad, self: no_derivative("zeta"),
)  # fmt: skip

# -- error function and normal distribution -----------------------------------------------------------------------


def _erfinv(self: Array) -> Array:
    """nan outside [-1, 1], which scipy would take a hundred times longer to find out."""
    inside = abs(self) <= 1
    values = special_of(self).erfinv(xp.where(inside, self, self.dtype.type(0)))
    return xp.where(inside, values, xp.nan).astype(self.dtype, copy=False)


erfinv = op(
    "erfinv", _erfinv, FLOAT,
    elementwise(word="the inverse of erf"),
    self=lambda grad, self: 0.5 * math.sqrt(math.pi) * exp(erfinv(self) ** 2) * grad,
)  # fmt: skip
erfcx = op(
    "special_erfcx", special("erfcx"), FLOAT,
    elementwise(word="exp(x²)·erfc(x)"),
    self=lambda grad, self, result: (2 * self * result - 2 / math.sqrt(math.pi)) * grad,
)  # fmt: skip
ndtri = op(
    "special_ndtri", special("ndtri"), FLOAT,
    self=lambda grad, result: grad * math.sqrt(2 * math.pi) * exp(result * result / 2),
)  # fmt: skip
log_ndtr = op(
    "special_log_ndtr", special("log_ndtr"), FLOAT,
    elementwise(word="the logarithm of the normal distribution Φ"),
    self=lambda grad, self, result: grad / erfcx(self * (-1 / ROOT_2)) * (ROOT_2 / math.sqrt(math.pi)),
)  # fmt: skip

# -- Bessel -------------------------------------------------------------------------------------------------------


def _by(grad: Any, slope: Any, self: Any) -> Any:
    """grad * slope(self), and grad / 2 at 0, where the slope divides by 0."""
    return grad * where(eq(self, 0), 0.5, slope(where(eq(self, 0), 1, self)))


i0 = op(
    "i0", special("i0"), FLOAT, elementwise(word="the modified Bessel function I₀"),
    self=lambda grad, self: grad * i1(self),
)  # fmt: skip
i0e = op(
    "special_i0e", special("i0e"), Traits(promote=promote_float, node="SpecialI0EBackward0"),
    elementwise(word="exp(−|x|)·I₀(x)"),
    self=lambda grad, self, result: grad * (i1e(self) - sgn(self) * result),
)  # fmt: skip
i1 = op(
    "special_i1", special("i1"), FLOAT,
    elementwise(word="the modified Bessel function I₁"),
    self=lambda grad, self, result: _by(grad, lambda x: i0(x) - result / x, self),
)  # fmt: skip
i1e = op(
    "special_i1e", special("i1e"), Traits(promote=promote_float, node="SpecialI1EBackward0"),
    elementwise(word="exp(−|x|)·I₁(x)"),
    self=lambda grad, self, result: _by(grad, lambda x: i0e(x) - result * (sgn(x) + 1 / x), self),
)  # fmt: skip
BESSEL = {
    "bessel_j0": "j0", "bessel_j1": "j1", "bessel_y0": "y0", "bessel_y1": "y1", "modified_bessel_i0": "i0",
    "modified_bessel_i1": "i1", "modified_bessel_k0": "k0", "modified_bessel_k1": "k1",
    "scaled_modified_bessel_k0": "k0e", "scaled_modified_bessel_k1": "k1e",
}  # fmt: skip
"""Functions that torch has without a derivative, by scipy's names."""
bessel = {name: op(f"special_{name}", special(theirs), FLOAT) for name, theirs in BESSEL.items()}


def _spherical(self: Array) -> Array:
    return xp.sinc(self / self.dtype.type(math.pi))


spherical_bessel_j0 = op("special_spherical_bessel_j0", _spherical, FLOAT)

# -- logarithms and entropy ---------------------------------------------------------------------------------------


def _logit(self: Array, eps: float | None = None) -> Array:
    if eps is not None:
        self = xp.clip(self, self.dtype.type(eps), self.dtype.type(1 - eps))
    return xp.log(self / (1 - self))


def _logit_slope(grad: Any, self: Any, eps: float | None) -> Any:
    """grad / (x (1 - x)); outside [eps, 1 - eps] 0, without eps outside [0, 1] nan."""
    low, beyond = (0, math.nan) if eps is None else (eps, 0)
    return where(outside(self, low=low, high=1 - low), beyond, grad / (self * (1 - self)))


def _entr_slope(grad: Any, self: Any) -> Any:
    return grad * (-1 - log(self))


logit = op("logit", _logit, FLOAT, self=_logit_slope)
entr = op("special_entr", special("entr"), FLOAT, self=_entr_slope)
logaddexp = op(
    "logaddexp", xp.logaddexp, FLOAT,
    self=lambda grad, self, other: grad / (1 + exp(other - self)),
    other=lambda grad, self, other: grad / (1 + exp(self - other)),
)  # fmt: skip
logaddexp2 = op(
    "logaddexp2", xp.logaddexp2, FLOAT,
    self=lambda grad, self, other: grad / (1 + exp2(other - self)),
    other=lambda grad, self, other: grad / (1 + exp2(self - other)),
)  # fmt: skip


def _by_log(grad: Any, self: Any, other: Any) -> Any:
    """grad * log(other), and 0 where x log(y) is cut off: at x = 0 for y <= 0."""
    return where(logical_and(eq(self, 0), le(other, 0)), 0, xlogy(grad, other))


XLOGY = "x·log(y), 0 where x is 0"
xlogy = op(
    "xlogy", special_of_two("xlogy"), FLOAT,
    elementwise(word=XLOGY),
    self=lambda grad, self, other: _by_log(grad, self, other),
    other=lambda grad, self, other: grad * self / other,
)  # fmt: skip
xlogy_of_number = op(
    "xlogy.Scalar_Self", lambda other, self: _xlogy(self, other), Traits(promote=promote_float, node="XlogyBackward1"),
    elementwise(word=XLOGY),
    other=lambda grad, other, self: grad * self / other,
)  # fmt: skip
xlogy_number = op(
    "xlogy.Scalar_Other", lambda self, other: _xlogy(self, other), Traits(promote=promote_float, node="XlogyBackward2"),
    elementwise(word=XLOGY),
    self=lambda grad, self, other: xlogy_number(grad, other=other) if other > 0
    else where(eq(self, 0), 0, xlogy_number(grad, other=other)),
)  # fmt: skip
XLOG1PY = "x·log(1 + y), 0 where x is 0"
xlog1py = op(
    "special_xlog1py", special_of_two("xlog1py"), Traits(promote=promote_float, node="SpecialXlog1PyBackward0"),
    elementwise(word=XLOG1PY),
    self=lambda grad, self, other: where(logical_and(eq(self, 0), le(other, -1)), 0, grad * log1p(other)),
    other=lambda grad, self, other: grad * self / (other + 1),
)  # fmt: skip


def _xlog1py(self: Any, other: Any) -> Array:
    array = other if isinstance(self, (bool, int, float)) else self
    return special_of(array).xlog1py(self, other).astype(array.dtype, copy=False)


xlog1py_of_number = op(
    "special_xlog1py.self_scalar", lambda other, self: _xlog1py(self, other),
    Traits(promote=promote_float, node="SpecialXlog1PyBackward1"),
    elementwise(word=XLOG1PY),
    other=lambda grad, other, self: grad * self / (other + 1),
)  # fmt: skip
xlog1py_number = op(
    "special_xlog1py.other_scalar", lambda self, other: _xlog1py(self, other),
    Traits(promote=promote_float, node="SpecialXlog1PyBackward2"),
    elementwise(word=XLOG1PY),
    self=lambda grad, self, other: xlog1py_number(grad, other=other) if other > -1
    else where(eq(self, 0), 0, xlog1py_number(grad, other=other)),
)  # fmt: skip


def _xlogy(self: Any, other: Any) -> Array:
    array = other if isinstance(self, (bool, int, float)) else self
    return special_of(array).xlogy(self, other).astype(array.dtype, copy=False)


def _sinc_slope(grad: Any, self: Any) -> Any:
    """(x cos(x) - sin(x)) pi / x^2 at x = pi * self; 0 at 0."""
    x = self * math.pi
    return grad * where(eq(self, 0), 0, (x * cos(x) - sin(x)) / (x * x) * math.pi)


def _sinc(self: Array) -> Array:
    return xp.sinc(self.astype("float32")).astype("float16") if self.dtype == "float16" else xp.sinc(self)


sinc = op("sinc", _sinc, FLOAT, elementwise(word="sin(πx) / πx"), self=_sinc_slope)
