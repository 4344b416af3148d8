"""Elementwise functions."""

from __future__ import annotations

from typing import Any

from .. import errors
from ..array import float64, xp
from ..ops import arithmetic as ar
from ..ops import elementwise as el
from ..ops import shape as sh
from ..promotion import result_dtype
from ..tensor import Tensor
from .check import as_operand, combination, need_alpha, need_tensor, refused
from .moving import to
from .named import frexp_pair
from .out import takes_out, written

__all__ = [
    "abs",
    "add",
    "clone",
    "conj",
    "conj_physical",
    "copysign",
    "div",
    "divide",
    "fill",
    "float_power",
    "floor_divide",
    "fmod",
    "frexp",
    "heaviside",
    "imag",
    "nan_to_num",
    "positive",
    "pow",
    "real",
    "remainder",
    "round",
    "rsub",
    "square",
    "sub",
    "subtract",
    "true_divide",
]

Number = bool | int | float


# -- arithmetic ---------------------------------------------------------------------------------------------------


def add(input: Any, other: Any, *, alpha: Number = 1, out: Any = None) -> Tensor:
    """input + alpha * other.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.add.

    >>> import engine as torch
    >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), alpha=2)
    tensor([ 7., 10.])
    """
    if out is not None:
        return written(out, add, input, other, alpha=alpha)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = as_operand("add", input)
    if type(alpha) is not int:
        need_alpha(input, other, alpha)
    return el.add(input, other) if alpha == 1 else el.add_scaled(input, other, alpha)


def sub(input: Any, other: Any, *, alpha: Number = 1, out: Any = None) -> Tensor:
    """input - alpha * other.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.sub.

    >>> import engine as torch
    >>> torch.sub(torch.tensor([3.0]), torch.tensor([1.0]))
    tensor([2.])
    """
    if out is not None:
        return written(out, sub, input, other, alpha=alpha)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = as_operand("sub", input)
    if type(alpha) is not int:
        need_alpha(input, other, alpha)
    return el.sub(input, other) if alpha == 1 else el.sub_scaled(input, other, alpha)


@takes_out
def rsub(input: Tensor, other: Any, *, alpha: Number = 1) -> Tensor:
    """other - alpha * input.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.rsub.

    >>> import engine as torch
    >>> torch.rsub(torch.tensor([1.0, 2.0]), 3)
    tensor([2., 1.])
    """
    if not isinstance(input, Tensor):
        raise combination("rsub", input, other)
    need_alpha(input, other, alpha)
    if isinstance(other, Tensor):
        return ar.rsub_tensor(input, other, alpha=alpha)
    if alpha == 1:
        return el.rsub(input, other)
    return ar.rsub_number(input, other=other, alpha=alpha)


def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Tensor:
    """input / other; with `rounding_mode` "trunc" or "floor" rounded, which passes no gradient.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.div.

    >>> import engine as torch
    >>> torch.div(torch.tensor([7, -7]), 2, rounding_mode="floor")
    tensor([ 3, -4])
    """
    if out is not None:
        return written(out, div, input, other, rounding_mode=rounding_mode)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = as_operand("div", input)
    if rounding_mode is None:
        return el.div(input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise errors.runtime(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    _check_divisor(input, other)
    return el.div_rounded(input, other, rounding_mode=rounding_mode)


def _check_divisor(input: Any, other: Any) -> None:
    """Integers are not divided by zero."""
    values = [v._array if isinstance(v, Tensor) else v for v in (input, other)]
    known = all(isinstance(v, (bool, int, float)) or hasattr(v, "dtype") for v in values)
    if known and result_dtype(values).kind != "f" and not xp.all(values[1]):
        raise errors.runtime("ZeroDivisionError")


@takes_out
def floor_divide(input: Any, other: Any) -> Tensor:
    """input // other.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.floor_divide.

    >>> import engine as torch
    >>> torch.floor_divide(torch.tensor([7, -7]), 2)
    tensor([ 3, -4])
    """
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = as_operand("floor_divide", input)
    _check_divisor(input, other)
    return el.floor_divide(input, other)


@takes_out
def remainder(input: Any, other: Any) -> Tensor:
    """input % other, of the divisor's sign.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.remainder.

    >>> import engine as torch
    >>> torch.remainder(torch.tensor([-3.0, 3.0]), 2)
    tensor([1., 1.])
    """
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        raise combination("remainder", input, other)
    _check_divisor(input, other)
    if isinstance(other, Tensor):
        return el.remainder(input, other)
    return el.remainder_scalar(input, other)


@takes_out
def fmod(input: Any, other: Any) -> Tensor:
    """The remainder of input / other, of the dividend's sign.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.fmod.

    >>> import engine as torch
    >>> torch.fmod(torch.tensor([-3.0, 3.0]), 2)
    tensor([-1.,  1.])
    """
    if not isinstance(input, Tensor):
        raise combination("fmod", input, other)
    _check_divisor(input, other)
    return el.fmod(input, other) if isinstance(other, Tensor) else el.fmod_scalar(input, other)


def pow(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input ** exponent; one of the two may be a number.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.pow.

    >>> import engine as torch
    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    if out is not None:
        return written(out, pow, input, exponent)
    if not isinstance(exponent, Tensor):
        if not isinstance(exponent, (bool, int, float)):
            raise errors.strange_operand("pow.Tensor_Tensor", exponent)
        if not isinstance(input, Tensor):
            raise combination("pow", input, exponent)
        return el.pow_number(input, exponent)
    if not isinstance(input, Tensor):
        if not isinstance(input, (bool, int, float)):
            raise errors.strange_operand("pow.Tensor_Tensor", input)
        return el.pow_of_number(exponent, input)
    return el.pow_tensor(input, exponent)


def rpow(input: Tensor, base: Any) -> Tensor:
    """base ** input."""
    return pow(base, input)


def rdiv(input: Tensor, other: Any) -> Tensor:
    """other / input, as torch computes it: the reciprocal times other."""
    return el.mul(el.reciprocal(input), other)


def rfloordiv(input: Tensor, other: Any) -> Tensor:
    """other // input."""
    return floor_divide(other, input)


def rmod(input: Tensor, other: Any) -> Tensor:
    """other % input."""
    return remainder(other, input)


def positive(input: Tensor) -> Tensor:
    """+input: itself.

    Shapes: (*) -> (*).  Source: torch.positive.

    >>> import engine as torch
    >>> torch.positive(torch.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    if input.dtype.name == "bool":
        raise errors.runtime("The `+` operator, on a bool tensor is not supported.")
    return input


@takes_out
def abs(input: Any) -> Tensor:
    """|input|; its derivative at 0 is 0.

    Shapes: (*) -> (*).  Source: torch.abs.

    >>> import engine as torch
    >>> torch.abs(torch.tensor([-1.0, 2.0]))
    tensor([1., 2.])
    """
    if not isinstance(input, Tensor):
        need_tensor(input, "abs")
    if input._array.dtype.kind == "b":
        raise NotImplementedError("\"abs_cpu\" not implemented for 'Bool'")
    return el.absolute(input)


@takes_out
def square(input: Tensor) -> Tensor:
    """input ** 2.

    Shapes: (*) -> (*).  Source: torch.square.

    >>> import engine as torch
    >>> torch.square(torch.tensor([1.0, -3.0]))
    tensor([1., 9.])
    """
    return el.pow_number(input, 2)


@takes_out
def round(input: Tensor, *, decimals: int = 0) -> Tensor:
    """The nearest number of so many decimals, halves to even.

    Shapes: (*) -> (*).  Source: torch.round.

    >>> import engine as torch
    >>> torch.round(torch.tensor([0.5, 1.5, 2.5]))
    tensor([0., 2., 2.])
    """
    need_tensor(input, "round")
    if not isinstance(decimals, int):
        raise combination("round", input, decimals=decimals)
    if not decimals:
        return el.round_half_even(input)
    if not input.is_floating_point():
        raise refused("round_cpu", input)
    return ar.round_decimals(input, decimals=decimals)


@takes_out
def float_power(input: Any, exponent: Any) -> Tensor:
    """input ** exponent in float64.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.float_power.

    >>> import engine as torch
    >>> torch.float_power(torch.tensor([1, 2]), 3)
    tensor([1., 8.], dtype=torch.float64)
    """
    if not isinstance(input, Tensor) and not isinstance(exponent, Tensor):
        raise combination("float_power", input, exponent)
    for value in (input, exponent):
        if not isinstance(value, (Tensor, int, float)):
            raise combination("float_power", input, exponent)
    wide = [to(v, float64) if isinstance(v, Tensor) else float(v) for v in (input, exponent)]
    return pow(*wide)


@takes_out
def copysign(input: Tensor, other: Any) -> Tensor:
    """|input| with the sign of `other`.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.copysign.

    >>> import engine as torch
    >>> torch.copysign(torch.tensor([1.0, 2.0]), torch.tensor([-1.0, 1.0]))
    tensor([-1.,  2.])
    """
    if not isinstance(input, Tensor) or not isinstance(other, (Tensor, int, float)):
        raise combination("copysign", input, other)
    return (ar.copysign if isinstance(other, Tensor) else ar.copysign_number)(input, other)


@takes_out
def heaviside(input: Tensor, values: Tensor) -> Tensor:
    """0 below 0, 1 above, `values` at 0.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.heaviside.

    >>> import engine as torch
    >>> torch.heaviside(torch.tensor([-1.0, 0.0, 2.0]), torch.tensor(0.5))
    tensor([0.0000, 0.5000, 1.0000])
    """
    need_tensor(input, "heaviside")
    need_tensor(values, "heaviside", "values", 2)
    if input.dtype is not values.dtype:
        raise errors.runtime("heaviside is not yet implemented for tensors with different dtypes.")
    return ar.heaviside(input, values)


@takes_out
def fill(input: Tensor, value: Any) -> Tensor:
    """A tensor of the shape of `input`, full of `value`.

    Shapes: (*) -> (*).  Source: torch.fill.

    >>> import engine as torch
    >>> torch.fill(torch.zeros(2), 3)
    tensor([3., 3.])
    """
    need_tensor(input, "fill")
    return ar.filled_with(input, value) if isinstance(value, Tensor) else ar.filled(input, value=value)


@takes_out
def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """nan, inf and -inf replaced: by 0, the largest and the smallest number where nothing else is said.

    Shapes: (*) -> (*).  Source: torch.nan_to_num.

    >>> import engine as torch
    >>> torch.nan_to_num(torch.tensor([1.0, float("nan")]), nan=0.0)
    tensor([1., 0.])
    """
    need_tensor(input, "nan_to_num")
    return ar.nan_to_num(input, nan=0.0 if nan is None else nan, posinf=posinf, neginf=neginf)


def real(input: Tensor) -> Tensor:
    """The real part: of real numbers themselves.

    Shapes: (*) -> (*).  Source: torch.real.

    >>> import engine as torch
    >>> torch.real(torch.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    need_tensor(input, "real")
    return input


def imag(input: Tensor) -> Tensor:
    """The imaginary part, which real numbers do not have.

    Shapes: (*) -> (*).  Source: torch.imag.

    >>> import engine as torch
    >>> try:
    ...     torch.imag(torch.ones(1))
    ... except RuntimeError as error:
    ...     print(error)
    imag is not implemented for tensors with non-complex dtypes.
    """
    need_tensor(input, "imag")
    raise errors.runtime("imag is not implemented for tensors with non-complex dtypes.")


def conj(input: Tensor) -> Tensor:
    """The complex conjugate: of real numbers themselves.

    Shapes: (*) -> (*).  Source: torch.conj.

    >>> import engine as torch
    >>> torch.conj(torch.tensor([1.0, -2.0]))
    tensor([ 1., -2.])
    """
    need_tensor(input, "conj")
    return input


@takes_out
def frexp(input: Tensor) -> Any:
    """(mantissa, exponent): input = mantissa * 2 ** exponent, the mantissa between 1/2 and 1.

    Shapes: (*) -> (*), (*).  Raises RuntimeError for integers.  Source: torch.frexp.

    >>> import engine as torch
    >>> torch.frexp(torch.tensor([1.0, 6.0])).mantissa
    tensor([0.5000, 0.7500])
    """
    need_tensor(input, "frexp")
    if not input.is_floating_point():
        raise errors.runtime("torch.frexp() only supports floating-point dtypes")
    return frexp_pair(*ar.frexp(input))


def softplus(input: Tensor, beta: float = 1, threshold: float = 20) -> Tensor:
    """log(1 + exp(beta x)) / beta, and x itself where beta x > threshold."""
    return el.softplus(input, beta=beta, threshold=threshold)


def clone(input: Tensor, *, memory_format: Any = "preserve") -> Tensor:
    """A copy that gradients pass through.

    Shapes: (*) -> (*).  Source: torch.clone.

    >>> import engine as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> torch.clone(x)
    tensor([1.], grad_fn=<CloneBackward0>)
    """
    return sh.clone(input) if memory_format == "preserve" else sh.clone(input, memory_format=str(memory_format))


divide = div
true_divide = div
subtract = sub

conj_physical = conj

METHODS = (
    "add", "sub", "subtract", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod", "pow", "abs",
    "square", "round", "clone", "positive", "float_power", "copysign", "heaviside", "nan_to_num", "conj",
    "conj_physical", "frexp",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
