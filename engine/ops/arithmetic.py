"""Arithmetic of several terms, and of the parts that a floating point number is made of."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays.array import Array, xp
from .choice import eq, ge, isnan, le, logical_or, where, zero
from .elementwise import exp2, sign_of, unknown_derivative
from .op import DIFFERENCE, FLOAT, PLAIN, SAME, Traits, op
from .presentation import Presentation, elementwise
from .shape import sum_to_size


def no_derivative(what: str) -> Any:
    """Raise what torch says where it has no formula for a gradient."""
    raise NotImplementedError(f"the derivative for '{what}' is not implemented.")


# -- several terms ------------------------------------------------------------------------------------------------


def _addcmul(self: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> Array:
    return self + (tensor1 * tensor2 if value == 1 else value * tensor1 * tensor2)


def _addcdiv(self: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> Array:
    return self + (tensor1 / tensor2 if value == 1 else value * tensor1 / tensor2)


addcmul = op(
    "addcmul", _addcmul, SAME, elementwise(),
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * (tensor1 * value),
)  # fmt: skip
addcdiv = op(
    "addcdiv", _addcdiv, SAME, elementwise(nonfinite="division"),
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * (value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * (value * tensor1 / (tensor2 * tensor2)),
)  # fmt: skip


def _lerp_number(self: Array, end: Array, weight: float) -> Array:
    """From the nearer end, so that weights 0 and 1 give the ends themselves."""
    return self + weight * (end - self) if abs(weight) < 0.5 else end - (end - self) * (1 - weight)


def _lerp(self: Array, end: Array, weight: Array) -> Array:
    step = end - self
    return xp.where(abs(weight) < 0.5, self + weight * step, end - step * (1 - weight))


lerp_number = op(
    "lerp.Scalar", _lerp_number, Traits(node="LerpBackward0"), elementwise(),
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
)  # fmt: skip
lerp = op(
    "lerp.Tensor", _lerp, Traits(promote=SAME.promote, node="LerpBackward1"), elementwise(),
    self=lambda grad, weight: grad * (1 - weight),
    end=lambda grad, weight: grad * weight,
    weight=lambda grad, self, end: grad * (end - self),
)  # fmt: skip

rsub_tensor = op(
    "rsub.Tensor", lambda self, other, alpha: other - alpha * self,
    Traits(promote=DIFFERENCE.promote, node="RsubBackward0"),
    elementwise(sign="−", operands="reversed"),
    self=lambda grad, alpha: -grad * alpha,
    other=lambda grad: grad,
)  # fmt: skip
rsub_number = op(
    "rsub.Scalar", lambda self, other, alpha: other - alpha * self,
    Traits(promote=DIFFERENCE.promote, node="RsubBackward1"),
    elementwise(sign="−", operands="reversed"),
    self=lambda grad, alpha: -grad * alpha,
)  # fmt: skip

# -- of two -------------------------------------------------------------------------------------------------------

hypot = op(
    "hypot", xp.hypot, SAME, elementwise(),
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)  # fmt: skip


def _fmax(self: Array, other: Array) -> Array:
    return xp.fmax(self, other)


def _fmin(self: Array, other: Array) -> Array:
    return xp.fmin(self, other)


fmax = op(
    "fmax", _fmax, SAME, elementwise(),
    self=lambda grad, self, other: where(logical_or(ge(self, other), isnan(other)), grad, 0),
    other=lambda grad, self, other: where(logical_or(ge(self, other), isnan(other)), 0, grad),
)  # fmt: skip
fmin = op(
    "fmin", _fmin, SAME, elementwise(),
    self=lambda grad, self, other: where(logical_or(le(self, other), isnan(other)), grad, 0),
    other=lambda grad, self, other: where(logical_or(le(self, other), isnan(other)), 0, grad),
)  # fmt: skip


def _copysign(self: Array, other: Array) -> Array:
    return xp.copysign(self, other)


def _sign_turned(grad: Any, self: Any, result: Any) -> Any:
    """grad * result / self, which is grad or -grad; 0 at 0."""
    return grad * where(eq(self, 0), 0, result / self)


copysign = op("copysign", _copysign, FLOAT, elementwise(), self=_sign_turned, other=lambda grad: zero(grad))
copysign_number = op(
    "copysign.Scalar", _copysign, Traits(promote=FLOAT.promote, node="CopysignBackward1"), elementwise(),
    self=_sign_turned,
)  # fmt: skip


def _ldexp(self: Array, other: Array) -> Array:
    return self * xp.exp2(other)


ldexp = op(
    "ldexp", _ldexp, FLOAT, elementwise(),
    self=lambda grad, other: grad * exp2(other),
    other=lambda grad, result: grad * result * math.log(2),
)  # fmt: skip


def _heaviside(self: Array, values: Array) -> Array:
    return xp.where(self == 0, values, (self > 0).astype(self.dtype))


heaviside = op(
    "heaviside", _heaviside, Traits(node="NotImplemented"), elementwise(),
    self=lambda grad: unknown_derivative("heaviside"),
    values=lambda grad: unknown_derivative("heaviside"),
)  # fmt: skip
nextafter = op(
    "nextafter", xp.nextafter, SAME, elementwise(),
    self=lambda grad, self, other: where(eq(self, other), 0, grad),
    other=lambda grad, self, other: zero(grad),
)  # fmt: skip


def _gcd(self: Array, other: Array) -> Array:
    return xp.gcd(self, other)


def _lcm(self: Array, other: Array) -> Array:
    return xp.lcm(self, other)


def _left_shift(self: Array, other: Array) -> Array:
    return xp.left_shift(self, other)


def _right_shift(self: Array, other: Array) -> Array:
    return xp.right_shift(self, other)


gcd, lcm = op("gcd", _gcd, SAME, elementwise()), op("lcm", _lcm, SAME, elementwise())
left_shift = op("bitwise_left_shift", _left_shift, SAME, elementwise())
right_shift = op("bitwise_right_shift", _right_shift, SAME, elementwise())

# -- parts of a number --------------------------------------------------------------------------------------------


def _frac(self: Array) -> Array:
    return self - xp.trunc(self)


def _angle(self: Array) -> Array:
    """0, pi for negative numbers; nan stays."""
    turned = xp.where(self < 0, self.dtype.type(math.pi), self.dtype.type(0))
    return xp.where(xp.isnan(self), self, turned)


def _rounded(self: Array, decimals: int) -> Array:
    scale = 10.0 ** abs(decimals)
    return xp.rint(self * scale) / scale if decimals >= 0 else xp.rint(self / scale) * scale


def _turned(factor: float) -> Any:
    def kernel(self: Array) -> Array:
        return self * factor

    return kernel


TO_DEGREES, TO_RADIANS = 180 / math.pi, math.pi / 180

frac = op("frac", _frac, PLAIN, elementwise(), self=lambda grad: grad)
angle = op("angle", _angle, FLOAT, elementwise(), self=lambda grad, self: zero(grad))  # torch keeps self
sgn = op(
    "sgn", sign_of, PLAIN, elementwise(jumps=True, word="−1, 0 or 1 by the sign"),
    self=lambda grad, self, result: zero(grad),
)  # fmt: skip  # torch keeps both
round_decimals = op(
    "round.decimals",
    _rounded,
    Traits(node="RoundBackward1"),
    elementwise(jumps=True),
    self=lambda grad, decimals: zero(grad),
)
rad2deg = op(
    "rad2deg", _turned(TO_DEGREES), Traits(promote=FLOAT.promote, node="Rad2DegBackward0"), elementwise(),
    self=lambda grad: grad * TO_DEGREES,
)  # fmt: skip
deg2rad = op(
    "deg2rad", _turned(TO_RADIANS), Traits(promote=FLOAT.promote, node="Deg2RadBackward0"), elementwise(),
    self=lambda grad: grad * TO_RADIANS,
)  # fmt: skip


def _nan_to_num(self: Array, nan: float = 0, posinf: float | None = None, neginf: float | None = None) -> Array:
    if self.dtype.kind != "f":
        return self.copy()
    return xp.nan_to_num(self, nan=nan, posinf=posinf, neginf=neginf)


def _finite(self: Array) -> Array:
    return xp.isfinite(self).astype(self.dtype)


nan_to_num = op("nan_to_num", _nan_to_num, PLAIN, elementwise(), self=lambda grad, self: grad * finite(self))
finite = op(
    "finite", _finite, PLAIN, elementwise(name="is_finite", word="whether it is a number, neither infinite nor nan"),
)  # fmt: skip
"""1 where a number is finite, else 0."""


def _frexp(self: Array) -> tuple[Array, Array]:
    mantissa, exponent = xp.frexp(self)
    return mantissa, exponent.astype("int32", copy=False)


frexp = op(
    "frexp", _frexp, Traits(differentiable=(0,)), Presentation(letters="me"),
    self=lambda grad, result1: grad / exp2(result1),
)  # fmt: skip


def _signbit(self: Array) -> Array:
    return xp.signbit(self) if self.dtype.kind == "f" else self < 0


def _infinite(sign: int) -> Any:
    def kernel(self: Array) -> Array:
        return self == sign * xp.inf if self.dtype.kind == "f" else xp.zeros_like(self, dtype=bool)

    return kernel


def _every(self: Array) -> Array:
    return xp.ones_like(self, dtype=bool)


def _isin(elements: Array, test_elements: Array, invert: bool = False) -> Array:
    return xp.isin(elements, test_elements, invert=invert)


def _outside(self: Array, low: float, high: float) -> Array:
    return (self < low) | (self > high)


signbit = op("signbit", _signbit, PLAIN, elementwise())
isposinf, isneginf = (
    op("isposinf", _infinite(1), PLAIN, elementwise()),
    op("isneginf", _infinite(-1), PLAIN, elementwise()),
)
isreal = op("isreal", _every, PLAIN, elementwise())
isin = op("isin", _isin)
outside = op("outside", _outside, PLAIN, elementwise(word="whether it is outside the bounds"))
"""Where a number lies outside two bounds."""


def _filled(self: Array, value: Any) -> Array:
    return xp.full_like(self, value)


def _filled_with(self: Array, value: Array) -> Array:
    return xp.full_like(self, value)


filled = op("fill", _filled, Traits(node="FillBackward0"), self=lambda grad: zero(grad))
filled_with = op(
    "fill.value", _filled_with, Traits(node="FillBackward1"),
    self=lambda grad: zero(grad),
    value=lambda grad: sum_to_size(grad, ()),
)  # fmt: skip
