"""Elementwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import errors
from ..array import result_dtype, xp
from ..dispatch import quick
from ..ops import choice as ch
from ..ops import elementwise as el
from ..ops import shape as sh
from ..tensor import Tensor, escape
from .check import kind, need_tensor

__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "addcdiv",
    "addcmul",
    "allclose",
    "arccos",
    "arcsin",
    "arctan",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "ceil",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "clone",
    "cos",
    "cosh",
    "div",
    "divide",
    "eq",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "floor",
    "floor_divide",
    "fmod",
    "ge",
    "gt",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "le",
    "lerp",
    "log",
    "log1p",
    "log2",
    "log10",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "lt",
    "masked_fill",
    "maximum",
    "minimum",
    "mul",
    "multiply",
    "ne",
    "neg",
    "negative",
    "positive",
    "pow",
    "reciprocal",
    "relu",
    "remainder",
    "round",
    "rsqrt",
    "rsub",
    "sgn",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "sub",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "where",
]

Number = bool | int | float


def unary(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """An op of one tensor as torch's function: the argument must be a Tensor."""
    run = quick(op)

    def function(input: Any) -> Tensor:
        if not isinstance(input, Tensor):
            need_tensor(input, name)
        return run(input)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"torch.{name}, elementwise."
    return function


def binary(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """An op of a tensor and a tensor or number as torch's function."""

    def function(input: Any, other: Any) -> Tensor:
        if not isinstance(input, Tensor) and not isinstance(other, Tensor):
            need_tensor(input, name)
        return op(input, other)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"torch.{name}, elementwise."
    return function


def two_tensors(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    """An op of two tensors as torch's function."""

    def function(input: Tensor, other: Tensor) -> Tensor:
        need_tensor(input, name)
        need_tensor(other, name, "other", 2)
        return op(input, other)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"torch.{name}, elementwise."
    return function


# -- arithmetic ---------------------------------------------------------------------------------------------------


def add(input: Any, other: Any, *, alpha: Number = 1) -> Tensor:
    """input + alpha * other."""
    return el.add(input, other) if alpha == 1 else el.add_scaled(input, other, alpha)  # type: ignore[no-any-return]


def sub(input: Any, other: Any, *, alpha: Number = 1) -> Tensor:
    """input - alpha * other."""
    return el.sub(input, other) if alpha == 1 else el.sub_scaled(input, other, alpha)  # type: ignore[no-any-return]


def rsub(input: Tensor, other: Any, *, alpha: Number = 1) -> Tensor:
    """other - alpha * input."""
    if isinstance(other, Tensor):
        return sub(other, input, alpha=alpha)
    return el.rsub(input if alpha == 1 else el.mul(input, alpha), other)  # type: ignore[no-any-return]


def div(input: Any, other: Any, *, rounding_mode: str | None = None) -> Tensor:
    """input / other; with `rounding_mode` "trunc" or "floor" rounded, which passes no gradient."""
    if rounding_mode is None:
        return el.div(input, other)  # type: ignore[no-any-return]
    if rounding_mode not in ("trunc", "floor"):
        raise errors.runtime(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    _check_divisor(input, other)
    return el.div_rounded(input, other, rounding_mode=rounding_mode)  # type: ignore[no-any-return]


def _check_divisor(input: Any, other: Any) -> None:
    """Integers are not divided by zero."""
    values = [v._array if isinstance(v, Tensor) else v for v in (input, other)]
    known = all(isinstance(v, (bool, int, float)) or hasattr(v, "dtype") for v in values)
    if known and result_dtype(values).kind != "f" and not xp.all(values[1]):
        raise errors.runtime("ZeroDivisionError")


def floor_divide(input: Any, other: Any) -> Tensor:
    """input // other."""
    _check_divisor(input, other)
    return el.floor_divide(input, other)  # type: ignore[no-any-return]


def remainder(input: Any, other: Any) -> Tensor:
    """input % other, of the divisor's sign."""
    _check_divisor(input, other)
    if isinstance(other, Tensor):
        return el.remainder(input, other)  # type: ignore[no-any-return]
    return el.remainder_scalar(input, other)  # type: ignore[no-any-return]


def fmod(input: Any, other: Any) -> Tensor:
    """The remainder of input / other, of the dividend's sign."""
    _check_divisor(input, other)
    return el.fmod(input, other) if isinstance(other, Tensor) else el.fmod_scalar(input, other)  # type: ignore[no-any-return]


def pow(input: Any, exponent: Any) -> Tensor:
    """input ** exponent; one of the two may be a number."""
    if not isinstance(exponent, Tensor):
        if not isinstance(exponent, (bool, int, float)):
            raise errors.strange_operand("pow.Tensor_Tensor", exponent)
        return el.pow_number(input, exponent)  # type: ignore[no-any-return]
    if not isinstance(input, Tensor):
        if not isinstance(input, (bool, int, float)):
            raise errors.strange_operand("pow.Tensor_Tensor", input)
        return el.pow_of_number(exponent, input)  # type: ignore[no-any-return]
    return el.pow_tensor(input, exponent)  # type: ignore[no-any-return]


def rpow(input: Tensor, base: Any) -> Tensor:
    """base ** input."""
    return pow(base, input)


def rdiv(input: Tensor, other: Any) -> Tensor:
    """other / input, as torch computes it: the reciprocal times other."""
    return el.mul(el.reciprocal(input), other)  # type: ignore[no-any-return]


def rfloordiv(input: Tensor, other: Any) -> Tensor:
    """other // input."""
    return floor_divide(other, input)


def rmod(input: Tensor, other: Any) -> Tensor:
    """other % input."""
    return remainder(other, input)


def positive(input: Tensor) -> Tensor:
    """+input: itself."""
    if input.dtype.name == "bool":
        raise errors.runtime("The `+` operator, on a bool tensor is not supported.")
    return input


def abs(input: Any) -> Tensor:
    """|input|; its derivative at 0 is 0."""
    if not isinstance(input, Tensor):
        need_tensor(input, "abs")
    if input._array.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return el.absolute(input)  # type: ignore[no-any-return]


def square(input: Tensor) -> Tensor:
    """input ** 2."""
    return el.pow_number(input, 2)  # type: ignore[no-any-return]


def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest whole number, halves to even."""
    if decimals:
        scale = 10.0**decimals
        return el.div(el.round_half_even(el.mul(input, scale)), scale)  # type: ignore[no-any-return]
    return el.round_half_even(input)  # type: ignore[no-any-return]


# -- choices ------------------------------------------------------------------------------------------------------


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`input` kept between `min` and `max`; at a bound the gradient passes."""
    if min is None and max is None:
        raise errors.runtime("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        return ch.clamp_tensor(input, min, max)  # type: ignore[no-any-return]
    return ch.clamp(input, min=min, max=max)  # type: ignore[no-any-return]


def clamp_min(input: Tensor, min: Any) -> Tensor:
    """The larger of `input` and `min`."""
    return ch.clamp_tensor(input, min, None) if isinstance(min, Tensor) else ch.clamp_min(input, min=min)  # type: ignore[no-any-return]


def clamp_max(input: Tensor, max: Any) -> Tensor:
    """The smaller of `input` and `max`."""
    return ch.clamp_tensor(input, None, max) if isinstance(max, Tensor) else ch.clamp_max(input, max=max)  # type: ignore[no-any-return]


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition`, else `other`; with the condition alone the places where it holds.

    >>> import engine as torch
    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    need_tensor(condition, "where", "condition")
    if input is None and other is None:
        return tuple(Tensor(a) for a in condition._array.nonzero())
    if condition._array.dtype.kind != "b" and condition.dtype.name != "uint8":
        raise errors.runtime(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind(condition)}"
        )
    return ch.where(condition, input, other)


def where_method(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """`input` where `condition`, else `other`."""
    return where(condition, input, other)  # type: ignore[no-any-return]


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`value` where `mask`, else `input`."""
    if mask._array.dtype.kind != "b":
        raise errors.runtime(f"masked_fill only supports boolean masks, but got mask with dtype {mask.dtype.name}")
    if isinstance(value, Tensor):
        if value._array.ndim:
            raise errors.runtime(
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
                f"{value._array.ndim} dimension(s)."
            )
        if value.requires_grad:
            return ch.where(mask, value, input)  # type: ignore[no-any-return]
        value = value.item()
    return ch.masked_fill(input, mask, value=value)  # type: ignore[no-any-return]


# -- comparisons --------------------------------------------------------------------------------------------------


def equals(self: Tensor, other: Any) -> Any:
    """self == other, elementwise; False for what is neither a tensor nor a number."""
    return ch.eq(self, other) if isinstance(other, (Tensor, bool, int, float)) else NotImplemented


def differs(self: Tensor, other: Any) -> Any:
    """self != other, elementwise; True for what is neither a tensor nor a number."""
    return ch.ne(self, other) if isinstance(other, (Tensor, bool, int, float)) else NotImplemented


def _integral(op: Callable[..., Any], name: str) -> Callable[..., Tensor]:
    def function(input: Tensor, other: Any) -> Tensor:
        for value in (input, other):
            if isinstance(value, Tensor) and value.is_floating_point():
                raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{kind(value)}'")
        return op(input, other)  # type: ignore[no-any-return]

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"torch.{name}, on integers and booleans."
    return function


bitwise_and = _integral(ch.bitwise_and, "bitwise_and")
bitwise_or = _integral(ch.bitwise_or, "bitwise_or")
bitwise_xor = _integral(ch.bitwise_xor, "bitwise_xor")


def bitwise_not(input: Tensor) -> Tensor:
    """~input, on integers and booleans."""
    if input.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return ch.bitwise_not(input)  # type: ignore[no-any-return]


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where |input - other| <= atol + rtol * |other|."""
    if input.dtype is not other.dtype:
        raise errors.runtime(f"{kind(input)} did not match {kind(other)}")
    return ch.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)  # type: ignore[no-any-return]


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether all elements are close; see isclose."""
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all()) and _left(input, other)


def equal(input: Tensor, other: Tensor) -> bool:
    """Whether shapes and all elements are equal."""
    need_tensor(other, "equal", "other", 2)
    return _left(input, other) and bool(xp.array_equal(input._array, other._array))


def _left(*tensors: Tensor) -> bool:
    for tensor in tensors:
        escape(tensor, "bool")
    return True


def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input)."""
    return el.add(input, el.mul(el.sub(end, input), weight))  # type: ignore[no-any-return]


def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 * tensor2."""
    return add(input, el.mul(tensor1, tensor2), alpha=value)


def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 / tensor2."""
    return add(input, el.div(tensor1, tensor2), alpha=value)


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold."""
    return el.softplus(input, beta=beta, threshold=threshold)  # type: ignore[no-any-return]


def clone(input: Tensor, *, memory_format: Any = "preserve") -> Tensor:
    """A copy that gradients pass through."""
    return sh.clone(input) if memory_format == "preserve" else sh.clone(input, memory_format="contiguous")  # type: ignore[no-any-return]


# -- functions of one tensor --------------------------------------------------------------------------------------

exp = unary(el.exp, "exp")
expm1 = unary(el.expm1, "expm1")
exp2 = unary(el.exp2, "exp2")
log = unary(el.log, "log")
log2 = unary(el.log2, "log2")
log10 = unary(el.log10, "log10")
log1p = unary(el.log1p, "log1p")
sqrt = unary(el.sqrt, "sqrt")
rsqrt = unary(el.rsqrt, "rsqrt")
reciprocal = unary(el.reciprocal, "reciprocal")
sin = unary(el.sin, "sin")
cos = unary(el.cos, "cos")
tan = unary(el.tan, "tan")
asin = unary(el.asin, "asin")
acos = unary(el.acos, "acos")
atan = unary(el.atan, "atan")
sinh = unary(el.sinh, "sinh")
cosh = unary(el.cosh, "cosh")
tanh = unary(el.tanh, "tanh")
asinh = unary(el.asinh, "asinh")
acosh = unary(el.acosh, "acosh")
atanh = unary(el.atanh, "atanh")
erf = unary(el.erf, "erf")
erfc = unary(el.erfc, "erfc")
sigmoid = unary(el.sigmoid, "sigmoid")
relu = unary(el.relu, "relu")
sign = unary(el.sign, "sign")
sgn = unary(el.sign, "sgn")
floor = unary(el.floor, "floor")
ceil = unary(el.ceil, "ceil")
trunc = unary(el.trunc, "trunc")
neg = unary(el.neg, "neg")
negative = unary(el.neg, "negative")
absolute = unary(el.absolute, "absolute")
arcsin = unary(el.asin, "arcsin")
arccos = unary(el.acos, "arccos")
arctan = unary(el.atan, "arctan")
isnan = unary(ch.isnan, "isnan")
isinf = unary(ch.isinf, "isinf")
isfinite = unary(ch.isfinite, "isfinite")
logical_not = unary(ch.logical_not, "logical_not")

# -- functions of two ---------------------------------------------------------------------------------------------

mul = binary(el.mul, "mul")
multiply = binary(el.mul, "multiply")
eq = binary(ch.eq, "eq")
ne = binary(ch.ne, "ne")
lt = binary(ch.lt, "lt")
le = binary(ch.le, "le")
gt = binary(ch.gt, "gt")
ge = binary(ch.ge, "ge")
logical_and = binary(ch.logical_and, "logical_and")
logical_or = binary(ch.logical_or, "logical_or")
logical_xor = binary(ch.logical_xor, "logical_xor")
maximum = two_tensors(ch.maximum, "maximum")
minimum = two_tensors(ch.minimum, "minimum")
atan2 = two_tensors(el.atan2, "atan2")


clip = clamp
divide = div
true_divide = div
subtract = sub

METHODS = (
    "add", "sub", "subtract", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod", "pow", "abs",
    "square", "round", "clamp", "clip", "clamp_min", "clamp_max", "masked_fill", "bitwise_and", "bitwise_or",
    "bitwise_xor", "bitwise_not", "isclose", "allclose", "equal", "lerp", "addcmul", "addcdiv", "clone", "positive",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
