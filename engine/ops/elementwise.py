"""Elementwise arithmetic and functions of one or two tensors."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..arrays.array import Array, special_of, xp
from ..arrays.promotion import result_dtype
from . import float32_special
from .choice import eq, ge, gt, le, logical_and, where, zero
from .notation import signs
from .op import DIFFERENCE, FLOAT, PLAIN, SAME, Traits, by_hand, op
from .presentation import elementwise

ONE = {kind: xp.ones((), dtype=kind) for kind in "efd"}
subtract, multiply = xp.subtract, xp.multiply  # found at once; `xp.subtract` is searched for at each call
"""1 in each floating dtype: numpy takes longer over a number of Python's than over a small array."""
TWO_BY_SQRT_PI = 2 / math.sqrt(math.pi)

# -- arithmetic ---------------------------------------------------------------------------------------------------

add = op(
    "add", xp.add, SAME, elementwise(sign="+", operands="commuting", notation=signs.plus),
    self=lambda grad: grad,
    other=lambda grad: grad,
)  # fmt: skip
sub = op(
    "sub", xp.subtract, DIFFERENCE, elementwise(sign="−", notation=signs.minus),
    self=lambda grad: grad,
    other=lambda grad: -grad,
)  # fmt: skip
mul = op(
    "mul", xp.multiply, SAME, elementwise(sign="×", operands="commuting", notation=signs.times),
    self=lambda grad, other: grad * other,
    other=lambda grad, self: grad * self,
)  # fmt: skip
div = op(
    "div", xp.true_divide, FLOAT,
    elementwise(nonfinite="division", sign="÷", notation=signs.quotient),
    self=lambda grad, other: grad / other,
    other=lambda grad, self, other: -grad * (self / other / other),
)  # fmt: skip
neg = op(
    "neg", xp.negative, PLAIN, elementwise(sign="−", operands="prefix", notation=signs.negative),
    self=lambda grad: -grad,
)  # fmt: skip


def _rsub(self: Array, other: Array) -> Array:
    return xp.subtract(other, self)


def _add_scaled(self: Array, other: Array, alpha: Any) -> Array:
    return self + alpha * other


def _sub_scaled(self: Array, other: Array, alpha: Any) -> Array:
    return self - alpha * other


rsub = op(
    "rsub", _rsub, Traits(promote=DIFFERENCE.promote, node="RsubBackward1"),
    elementwise(sign="−", operands="reversed"),
    self=lambda grad: -grad,
)  # fmt: skip
add_scaled = op(
    "add.alpha", _add_scaled, Traits(promote=SAME.promote, node="AddBackward0"),
    elementwise(sign="+", operands="commuting"),
    self=lambda grad: grad,
    other=lambda grad, alpha: grad * alpha,
)  # fmt: skip
sub_scaled = op(
    "sub.alpha", _sub_scaled, Traits(promote=DIFFERENCE.promote, node="SubBackward0"),
    elementwise(sign="−"),
    self=lambda grad: grad,
    other=lambda grad, alpha: -grad * alpha,
)  # fmt: skip
reciprocal = op(
    "reciprocal", xp.reciprocal, FLOAT, elementwise(nonfinite="division", notation=signs.reciprocal),
    self=lambda grad, result: -grad * (result * result),
)  # fmt: skip


def unknown_derivative(name: str) -> Any:
    """Raise what torch says of a function that it never differentiates."""
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


floor_divide = op(
    "floor_divide", xp.floor_divide, Traits(promote=SAME.promote, node="NotImplemented"),
    elementwise(sign="//"),
    self=lambda grad: unknown_derivative("floor_divide"),
    other=lambda grad: unknown_derivative("floor_divide"),
)  # fmt: skip


def _divided(self: Array, other: Array, rounding_mode: str) -> Array:
    if rounding_mode == "floor":
        return xp.floor_divide(self, other)
    if self.dtype.kind == "f":
        return xp.trunc(self / other)
    signs = xp.sign(self) * xp.sign(other)
    return signs * (abs(self) // abs(other))


div_rounded = op(
    "div.mode", _divided, Traits(promote=SAME.promote, node="DivBackward2"),
    elementwise(nonfinite="division", sign="÷"),
    self=lambda grad, other: zero(grad),  # kept though unused, as torch keeps it: a second backward raises
    other=lambda grad, self, other: zero(grad),
)  # fmt: skip


def _remainder(self: Array, other: Array) -> Array:
    result = xp.remainder(self, other)
    if result.dtype.kind != "f":
        return result
    return xp.where(result == 0, xp.copysign(result, self), result)  # numpy gives a zero the divisor's sign


def _fmod(self: Array, other: Array) -> Array:
    return xp.fmod(self, other)


remainder_scalar = op(
    "remainder.Scalar", _remainder, Traits(promote=SAME.promote, node="RemainderBackward0"), elementwise(sign="%"),
    self=lambda grad: grad,
)  # fmt: skip
remainder = op(
    "remainder", _remainder, Traits(promote=SAME.promote, node="RemainderBackward1"),
    elementwise(sign="%"),
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * floor(self / other),
)  # fmt: skip


def _remainder_of_number(other: Array, self: float) -> Array:
    return _remainder(xp.asarray(self, dtype=result_dtype([self, other]), like=other), other)


remainder_of_number = op(
    "remainder.Scalar_Tensor", _remainder_of_number,
    Traits(node="NotImplemented"), elementwise(sign="%", operands="reversed"),
    other=lambda grad: unknown_derivative("remainder"),
)  # fmt: skip
fmod_scalar = op(
    "fmod.Scalar", _fmod, Traits(promote=SAME.promote, node="FmodBackward0"), elementwise(), self=lambda grad: grad
)
fmod = op(
    "fmod", _fmod, Traits(promote=SAME.promote, node="FmodBackward1"), elementwise(),
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * trunc(self / other),
)  # fmt: skip

# -- powers -------------------------------------------------------------------------------------------------------


def _pow_number(self: Array, exponent: float) -> Array:
    if self.dtype.kind != "f":
        self = self.astype("float32" if isinstance(exponent, float) else xp.promote_types(self.dtype, _least(self)))
    if self.dtype == "float16":  # for which neither torch nor xp.power knows shorter ways, but `**` does
        return xp.power(self, exponent)
    plain = POWERS.get(exponent) if self.dtype.kind == "f" else None
    return self**exponent if plain is None else plain(self)


POWERS: dict[float, Callable[[Array], Array]] = {
    -0.5: lambda x: 1 / xp.sqrt(x), -1: lambda x: 1 / x, -2: lambda x: 1 / (x * x),
    2: lambda x: x * x, 3: lambda x: x * x * x,
}  # fmt: skip
"""Powers that torch computes without `pow`, in single and double precision; numpy's `**` knows 0.5, -1 and 2."""


def _least(self: Array) -> str:
    """The integer dtype in which a bool is raised to a power."""
    return "int64" if self.dtype.kind == "b" else "uint8" if self.dtype.kind == "u" else "int8"


def _pow_tensor(self: Array, exponent: Array) -> Array:
    try:
        return xp.power(self, exponent)
    except ValueError:  # numpy has no whole powers below 0; torch rounds them towards 0, as a division would
        power, sign = xp.power(self, xp.maximum(exponent, 0)), 1 - 2 * (exponent & 1)
        below = xp.where(self == 1, 1, xp.where(self == -1, sign, 0)).astype(power.dtype)
        return xp.where(exponent < 0, below, power)


def _pow_of_number(exponent: Array, self: float) -> Array:
    if exponent.dtype.kind != "f" and isinstance(self, float):
        exponent = exponent.astype("float32")
    return _pow_tensor(self, exponent)


def _pow_slope(grad: Any, self: Any, exponent: Any) -> Any:
    """The gradient of a power by its base: e * x^(e-1), 0 for e = 0 also where x is 0."""
    return grad * (exponent * pow_number(self, exponent - 1)) if exponent else zero(grad)


def _log_of(number: float) -> float:
    return math.log(number) if number > 0 else -math.inf if number == 0 else math.nan


pow_number = op(
    "pow.Tensor_Scalar", _pow_number, Traits(node="PowBackward0"),
    elementwise(nonfinite="power", sign="**", notation=signs.power),
    self=_pow_slope,
)  # fmt: skip
pow_tensor = op(
    "pow.Tensor_Tensor", _pow_tensor, Traits(promote=SAME.promote, node="PowBackward1"),
    elementwise(nonfinite="power", sign="**", notation=signs.power),
    self=lambda grad, self, exponent: where(eq(exponent, 0), 0, grad * (exponent * self ** (exponent - 1))),
    exponent=lambda grad, self, exponent, result: grad
    * where(logical_and(eq(self, 0), ge(exponent, 0)), 0, result * log(self)),
)  # fmt: skip
pow_of_number = op(
    "pow.Scalar", _pow_of_number, Traits(node="PowBackward2"),
    elementwise(nonfinite="power", sign="**", notation=signs.power),
    exponent=lambda grad, exponent, result, self: grad * (result * _log_of(self))
    if self
    else grad * where(ge(exponent, 0), 0, result * _log_of(self)),
)  # fmt: skip

# -- functions of one tensor --------------------------------------------------------------------------------------

exp = op(
    "exp", xp.exp, FLOAT, elementwise(nonfinite="overflow", largest=math.log, word=""),
    self=lambda grad, result: grad * result,
)  # fmt: skip
expm1 = op(
    "expm1", xp.expm1, FLOAT, elementwise(nonfinite="overflow", largest=math.log, word="exp(x) − 1"),
    self=lambda grad, result: grad * (result + 1),
)  # fmt: skip
exp2 = op(
    "exp2", xp.exp2, FLOAT, elementwise(nonfinite="overflow", largest=math.log2, word="2 to the power"),
    self=lambda grad, result: grad * result * math.log(2),
)  # fmt: skip
log = op("log", xp.log, FLOAT, elementwise(nonfinite="logarithm", word=""), self=lambda grad, self: grad / self)
log2 = op(
    "log2", xp.log2, FLOAT, elementwise(nonfinite="logarithm"),
    self=lambda grad, self: grad / (self * math.log(2)),
)  # fmt: skip
log10 = op(
    "log10", xp.log10, FLOAT, elementwise(nonfinite="logarithm"),
    self=lambda grad, self: grad / (self * math.log(10)),
)  # fmt: skip
log1p = op(
    "log1p", xp.log1p, Traits(promote=FLOAT.promote, node="Log1PBackward0"),
    elementwise(nonfinite="logarithm", word="log(1 + x)"),
    self=lambda grad, self: grad / (self + 1),
)  # fmt: skip
sqrt = op(
    "sqrt", xp.sqrt, FLOAT, elementwise(nonfinite="root", notation=signs.root),
    self=lambda grad, result: grad / (2 * result),
)  # fmt: skip


def _rsqrt(self: Array) -> Array:
    return xp.reciprocal(xp.sqrt(self))


rsqrt = op(
    "rsqrt", _rsqrt, FLOAT, elementwise(nonfinite="root", notation=signs.inverse_root),
    self=lambda grad, result: -0.5 * grad * pow_number(result, 3),
)  # fmt: skip
sin = op("sin", xp.sin, FLOAT, elementwise(word=""), self=lambda grad, self: grad * cos(self))
cos = op("cos", xp.cos, FLOAT, elementwise(word=""), self=lambda grad, self: -grad * sin(self))
tan = op("tan", xp.tan, FLOAT, elementwise(word=""), self=lambda grad, result: grad * (1 + result * result))
asin = op(
    "asin", xp.arcsin, FLOAT, elementwise(nonfinite="ends"), self=lambda grad, self: grad * rsqrt(1 - self * self)
)
acos = op(
    "acos", xp.arccos, FLOAT, elementwise(nonfinite="ends"), self=lambda grad, self: -grad * rsqrt(1 - self * self)
)
atan = op("atan", xp.arctan, FLOAT, elementwise(), self=lambda grad, self: grad / (self * self + 1))
sinh = op("sinh", xp.sinh, FLOAT, elementwise(word=""), self=lambda grad, self: grad * cosh(self))
cosh = op("cosh", xp.cosh, FLOAT, elementwise(word=""), self=lambda grad, self: grad * sinh(self))


def _tanh_slope(grad: Array, result: Array) -> Array:
    slope = result * result
    subtract(ONE[slope.dtype.char], slope, slope)
    return multiply(grad, slope, slope)


@by_hand(_tanh_slope)
def tanh_slope(grad: Any, result: Any) -> Any:
    """Multiply a gradient by the derivative of tanh."""
    return grad * (1 - result * result)


tanh = op("tanh", xp.tanh, FLOAT, elementwise(word=""), self=tanh_slope)
asinh = op("asinh", xp.arcsinh, FLOAT, elementwise(), self=lambda grad, self: grad * rsqrt(self * self + 1))
acosh = op("acosh", xp.arccosh, FLOAT, elementwise(), self=lambda grad, self: grad * rsqrt(self * self - 1))
atanh = op("atanh", xp.arctanh, FLOAT, elementwise(nonfinite="ends"), self=lambda grad, self: grad / (1 - self * self))


def _erf(self: Array) -> Array:
    return special_of(self).erf(self).astype(self.dtype, copy=False)


def _erfc(self: Array) -> Array:
    return special_of(self).erfc(self).astype(self.dtype, copy=False)


def _sigmoid(self: Array) -> Array:
    return float32_special.expit(self)


erf = op(
    "erf", _erf, FLOAT, elementwise(word="2/√π times the integral of exp(−t²) from 0"),
    self=lambda grad, self: TWO_BY_SQRT_PI * exp(-(self * self)) * grad,
)  # fmt: skip
erfc = op("erfc", _erfc, FLOAT, elementwise(), self=lambda grad, self: -TWO_BY_SQRT_PI * exp(-(self * self)) * grad)


def _sigmoid_slope(grad: Array, result: Array) -> Array:
    slope = ONE[result.dtype.char] - result
    xp.multiply(grad, slope, slope)
    return xp.multiply(slope, result, slope)


@by_hand(_sigmoid_slope)
def sigmoid_slope(grad: Any, result: Any) -> Any:
    """Multiply a gradient by the derivative of the logistic function."""
    return grad * (1 - result) * result


sigmoid = op("sigmoid", _sigmoid, FLOAT, elementwise(name="σ", word="1 / (1 + exp(−x))"), self=sigmoid_slope)
absolute = op(
    "abs", xp.absolute, PLAIN, elementwise(notation=signs.magnitude),
    self=lambda grad, self: grad * sign(self),
)  # fmt: skip


def sign_of(self: Array) -> Array:
    """-1, 0 or 1; 0 for nan too, as in torch."""
    if self.dtype.kind == "f":
        return xp.subtract((self > 0).astype(self.dtype), self < 0)
    return self.copy() if self.dtype.kind == "b" else xp.sign(self)


def _same_if_whole(name: str, function: Any) -> Any:
    def kernel(self: Array) -> Array:
        if self.dtype.kind == "b":
            raise NotImplementedError(f"\"{name}_vml_cpu\" not implemented for 'Bool'")
        return function(self) if self.dtype.kind == "f" else self.copy()

    return kernel


sign = op("sign", sign_of, PLAIN, elementwise(jumps=True, word="−1, 0 or 1 by the sign"), self=lambda grad: zero(grad))
floor = op(
    "floor",
    _same_if_whole("floor", xp.floor),
    PLAIN,
    elementwise(jumps=True, word="rounded down"),
    self=lambda grad: zero(grad),
)
ceil = op("ceil", _same_if_whole("ceil", xp.ceil), PLAIN, elementwise(jumps=True), self=lambda grad: zero(grad))
trunc = op(
    "trunc", _same_if_whole("trunc", xp.trunc), PLAIN, elementwise(jumps=True, word="rounded towards zero"),
    self=lambda grad: zero(grad),
)  # fmt: skip
round_half_even = op(
    "round", _same_if_whole("round", xp.rint), PLAIN, elementwise(jumps=True), self=lambda grad: zero(grad)
)


def _relu(self: Array) -> Array:
    return xp.maximum(self, 0)


def _softplus(self: Array, beta: float = 1, threshold: float = 20) -> Array:
    scaled = self * beta
    return xp.where(scaled > threshold, self, xp.log1p(xp.exp(xp.minimum(scaled, threshold))) / beta)


def _across(grad: Any, leg: Any, square: Any) -> Any:
    """How an angle changes with the other leg: leg / radius², which torch takes as 0 in the corner itself."""
    return where(eq(square, 0), 0, grad * (leg / square))


relu = op(
    "relu", _relu, Traits(fused="zeros"), elementwise(), self=lambda grad, result: where(le(result, 0), 0, grad)
)  # nan passes on
softplus = op(
    "softplus", _softplus, PLAIN,
    elementwise(word="log(1 + exp(x))"),
    self=lambda grad, self, beta, threshold: where(gt(self * beta, threshold), grad, grad * sigmoid(self * beta)),
)  # fmt: skip
atan2 = op(
    "atan2", xp.arctan2, FLOAT, elementwise(),
    self=lambda grad, self, other: _across(grad, other, self * self + other * other),
    other=lambda grad, self, other: _across(-grad, self, self * self + other * other),
)  # fmt: skip
