"""Activations of nn.functional."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from typing import Any

from ..arrays import errors
from ..arrays.array import Array, as_array, by_rows, special_of, xp
from . import float32_special
from .choice import chosen, ge, gt, le, logical_and, logical_or, lt, where
from .elementwise import exp, sigmoid, softplus, tanh
from .op import PLAIN, Traits, op
from .presentation import elementwise
from .shape import cat, slice_

SQRT_HALF = math.sqrt(0.5)
DENSITY_AT_0 = 1 / math.sqrt(2 * math.pi)

# -- straight pieces ----------------------------------------------------------------------------------------------


def _hardtanh(self: Array, min_val: float = -1, max_val: float = 1) -> Array:
    return xp.minimum(xp.maximum(self, min_val), max_val)


def _leaky_relu(self: Array, negative_slope: float = 0.01) -> Array:
    if 0 < negative_slope <= 1:
        return xp.maximum(self, self * negative_slope)
    return chosen(self > 0, self, self * negative_slope)


def _prelu(self: Array, weight: Array) -> Array:
    return chosen(self > 0, self, self * weight)


def _rrelu(self: Array, noise: Array, lower: float = 1 / 8, upper: float = 1 / 3, training: bool = False) -> Array:
    return chosen(self > 0, self, self * noise) if training else _leaky_relu(self, (lower + upper) / 2)


def _rrelu_slope(grad: Any, self: Any, noise: Any, lower: float, upper: float, training: bool) -> Any:
    is_random = training and upper - lower > 1e-6
    return where(gt(self, 0), grad, grad * (noise if is_random else (lower + upper) / 2))


def _threshold(self: Array, threshold: float, value: float) -> Array:
    return chosen(self <= threshold, value, self).astype(self.dtype, copy=False)


def _hardsigmoid(self: Array) -> Array:
    out = as_array(self + 3)  # an array also where there is one number
    xp.minimum(xp.maximum(out, 0, out=out), 6, out=out)
    out /= 6
    return out


def _hardswish(self: Array) -> Array:
    out = _hardsigmoid(self)
    out *= self
    return out


def _hardshrink(self: Array, lambd: float = 0.5) -> Array:
    return chosen((self >= -lambd) & (self <= lambd), 0.0, self)


def _softshrink(self: Array, lambd: float = 0.5) -> Array:
    return self - xp.minimum(xp.maximum(self, -lambd), lambd)


SIXTH = 0.1666666716337204
"""1/6 in float32: torch multiplies by it in every dtype."""


def _within(self: Any, bound: float) -> Any:
    """Where a value is no further from 0 than `bound`."""
    return logical_and(ge(self, -bound), le(self, bound))


FUSED = Traits(fused="zeros")

hardtanh = op(
    "hardtanh", _hardtanh, FUSED,
    self=lambda grad, self, min_val, max_val: where(logical_or(le(self, min_val), ge(self, max_val)), 0, grad),
)  # fmt: skip
leaky_relu = op(
    "leaky_relu", _leaky_relu, FUSED,
    self=lambda grad, self, negative_slope: where(gt(self, 0), grad, grad * negative_slope),
)  # fmt: skip
prelu = op(
    "_prelu_kernel", _prelu, Traits(node="PreluKernelBackward0", fused="zeros"),
    self=lambda grad, self, weight: where(gt(self, 0), grad, grad * weight),
    weight=lambda grad, self: where(gt(self, 0), 0, grad * self),
)  # fmt: skip
rrelu = op("rrelu_with_noise", _rrelu, FUSED, self=_rrelu_slope)
threshold = op("threshold", _threshold, FUSED, self=lambda grad, self, threshold: where(le(self, threshold), 0, grad))
hardsigmoid = op(
    "hardsigmoid",
    _hardsigmoid,
    FUSED,
    self=lambda grad, self: where(logical_and(gt(self, -3), lt(self, 3)), grad * SIXTH, 0),
)
hardswish = op(
    "hardswish", _hardswish,
    self=lambda grad, self: where(le(self, -3), 0, where(lt(self, 3), grad * (self / 3 + 0.5), grad)),
)  # fmt: skip
hardshrink = op("hardshrink", _hardshrink, FUSED, self=lambda grad, self, lambd: where(_within(self, lambd), 0, grad))
softshrink = op("softshrink", _softshrink, FUSED, self=lambda grad, self, lambd: where(_within(self, lambd), 0, grad))

# -- exponential linear -------------------------------------------------------------------------------------------


def _elu(self: Array, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Array:
    low = xp.minimum(self, 0)
    if input_scale != 1:
        low *= input_scale
    low = float32_special.expm1(low)
    low *= alpha * scale
    low += xp.maximum(self, 0) * scale  # where one of the two is not 0, the other is
    return low


def _elu_slope(grad: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    # Above 0 the exponential is not taken: its overflow would be 0 * inf in the next derivative.
    low = exp(where(lt(self, 0), self, 0) * input_scale) * (alpha * scale * input_scale)
    return where(le(self, 0), grad * low, grad * scale)


def _celu(self: Array, alpha: float = 1) -> Array:
    return _elu(self, alpha, 1, 1 / alpha)


elu = op("elu", _elu, self=_elu_slope)
celu = op("celu", _celu, self=lambda grad, self, alpha: _elu_slope(grad, self, alpha, 1, 1 / alpha))

# -- written into their input: the result says which piece it was --------------------------------------------------


REFUSED = (
    "In-place {} backward calculation is triggered with a negative slope which is not supported. This is caused by "
    "calling in-place forward function with a negative slope, please call out-of-place version instead."
)
ISSUE = (
    " File an issue at https://github.com/pytorch/pytorch if you do require supporting in-place leakRelu backward "
    "calculation with negative slope"
)


def _told_apart(slope: float, name: str, more: str = "") -> None:
    """Raise torch's error where a negative slope makes both pieces positive: the sign of the result says nothing."""
    if slope < 0:
        note = (
            "Backstep: the input was overwritten, and the sign of the result does not tell on which side of 0 it was."
        )
        raise errors.runtime(REFUSED.format(name) + more, note)


def _elu_slope_of_result(grad: Any, result: Any, alpha: float, scale: float, input_scale: float) -> Any:
    _told_apart(alpha, "elu")
    return where(gt(result, 0), grad * scale, grad * ((result + alpha * scale) * input_scale))


def _leaky_relu_slope_of_result(grad: Any, result: Any, negative_slope: float) -> Any:
    _told_apart(negative_slope, "leakyReLu", ISSUE)
    return where(gt(result, 0), grad, grad * negative_slope)


def _rrelu_slope_of_result(grad: Any, result: Any, noise: Any, lower: float, upper: float, training: bool) -> Any:
    """In training the noise is the slope of every element: 1 where the input was above 0."""
    return grad * noise if training else _leaky_relu_slope_of_result(grad, result, (lower + upper) / 2)


leaky_relu_ = op(
    "leaky_relu_", _leaky_relu, Traits(node="LeakyReluBackward1", fused="zeros"), self=_leaky_relu_slope_of_result
)
rrelu_ = op(
    "rrelu_with_noise_", _rrelu, Traits(node="RreluWithNoiseBackward1", fused="zeros"), self=_rrelu_slope_of_result
)
threshold_ = op(
    "threshold_", _threshold, Traits(node="ThresholdBackward1", fused="zeros"),
    self=lambda grad, self, threshold: where(le(self, threshold), 0, grad),
)  # fmt: skip
elu_ = op("elu_", _elu, Traits(node="EluBackward1"), self=_elu_slope_of_result)
celu_ = op(
    "celu_", _celu, Traits(node="CeluBackward1"),
    self=lambda grad, result, alpha: _elu_slope_of_result(grad, result, alpha, 1, 1 / alpha),
)  # fmt: skip

# -- smooth -------------------------------------------------------------------------------------------------------


def _erf_scaled(self: Array) -> Array:
    """erf(x / √2)."""
    return special_of(self).erf(self * SQRT_HALF).astype(self.dtype, copy=False)


def _gelu(self: Array, approximate: str = "none") -> Array:
    out = xp.tanh(_gelu_inner(self)) if approximate == "tanh" else _erf_scaled(self)
    out += 1
    out *= self
    out *= 0.5
    return out


TANH_SCALE = math.sqrt(2 / math.pi)
CUBE = 0.044715


def _gelu_inner(self: Any) -> Any:
    """The argument of tanh in the approximate form: sqrt(2/pi) (x + 0.044715 x³)."""
    return (self + self * self * self * CUBE) * TANH_SCALE


def _normal_slope(self: Array) -> Array:
    """Φ(x) + x φ(x): the derivative of x Φ(x)."""
    density = as_array(self * self)  # an array also where there is one number
    density *= -0.5
    xp.exp(density, out=density)
    density *= self
    density *= 2 * DENSITY_AT_0
    density += _erf_scaled(self)
    density += 1
    density *= 0.5
    return density


def _gelu_slope(grad: Any, self: Any, approximate: str) -> Any:
    if approximate != "tanh":
        return grad * gelu_slope(self)
    bend = tanh(_gelu_inner(self))
    steep = (1 - bend * bend) * ((1 + self * self * (3 * CUBE)) * TANH_SCALE)
    return grad * ((1 + bend) * 0.5 + self * steep * 0.5)


gelu = op("gelu", _gelu, self=_gelu_slope)
gelu_slope = op(
    "gelu_slope", _normal_slope, PLAIN,
    elementwise(
        name="gelu_derivative",
        word="the derivative of gelu: Φ(x) + x·φ(x), with the normal distribution Φ and its density φ",
    ),
    self=lambda grad, self: grad * (exp(self * self * -0.5) * (2 - self * self)) * DENSITY_AT_0,
)  # fmt: skip


def _silu(self: Array) -> Array:
    out = float32_special.expit(self)
    out *= self
    return out


def _silu_slope(grad: Any, self: Any) -> Any:
    rise = sigmoid(self)
    return grad * (rise * (1 + self * (1 - rise)))


def _mish(self: Array) -> Array:
    return self * xp.tanh(_soft(self))


def _soft(self: Array) -> Array:
    """log(1 + exp(x)) without overflow."""
    return xp.maximum(self, 0) + xp.log1p(xp.exp(-abs(self)))


def _mish_slope(grad: Any, self: Any) -> Any:
    bend = tanh(softplus(self))
    return grad * (bend + self * sigmoid(self) * (1 - bend * bend))


def _log_sigmoid(self: Array) -> Array:
    return by_rows(as_array(xp.minimum(self, 0) - xp.log1p(xp.exp(-abs(self)))))


silu = op("silu", _silu, PLAIN, elementwise(), self=_silu_slope)
mish = op("mish", _mish, PLAIN, elementwise(), self=_mish_slope)
log_sigmoid = op(
    "log_sigmoid", _log_sigmoid, PLAIN, elementwise(word="log σ(x)"),
    self=lambda grad, self: grad * sigmoid(-self),
)  # fmt: skip


def _halves(self: Any, size: int, dim: int) -> tuple[Any, Any]:
    """The first and the second half along `dim`, of `size` elements together."""
    return slice_(self, dim, 0, size // 2), slice_(self, dim, size // 2, size)


def _glu(self: Array, dim: int = -1) -> Array:
    half = self.shape[dim] // 2
    before = (slice(None),) * dim
    return self[(*before, slice(half))] * float32_special.expit(self[(*before, slice(half, None))])


def _glu_slope(grad: Any, self: Any, self_sizes: tuple[int, ...], dim: int) -> Any:
    value, gate = _halves(self, self_sizes[dim], dim)
    rise = sigmoid(gate)
    return cat([grad * rise, grad * value * rise * (1 - rise)], dim)


glu = op("glu", _glu, self=_glu_slope)
