"""Arithmetic of two operands: one of them may be a number."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.array import float64
from ...ops import arithmetic as ar
from ...ops import elementwise as el
from ...tensor.tensor import Tensor
from ..calls.check import as_operand, combination, need_alpha, need_divisor, need_numbers
from ..calls.out import result_in, takes_out
from ..creation.conversion import to

__all__ = [
    "add",
    "div",
    "divide",
    "float_power",
    "floor_divide",
    "fmod",
    "pow",
    "remainder",
    "rsub",
    "sub",
    "subtract",
    "true_divide",
]

Number = bool | int | float


def add(input: Any, other: Any, *, alpha: Number = 1, out: Any = None) -> Tensor:
    """input + alpha * other.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.add.

    >>> import engine as torch
    >>> torch.add(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0]), alpha=2)
    tensor([ 7., 10.])
    """
    if out is not None:
        return result_in(out, add, input, other, alpha=alpha)
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
        return result_in(out, sub, input, other, alpha=alpha)
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
        return result_in(out, div, input, other, rounding_mode=rounding_mode)
    if not isinstance(input, Tensor) and not isinstance(other, Tensor):
        input = as_operand("div", input)
    if rounding_mode is None:
        return el.div(input, other)
    if rounding_mode not in ("trunc", "floor"):
        raise errors.runtime(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'"
        )
    need_divisor(input, other)
    need_numbers(f"div_{rounding_mode}_cpu", input, other)
    return el.div_rounded(input, other, rounding_mode=rounding_mode)


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
    need_divisor(input, other)
    need_numbers("div_floor_cpu", input, other)
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
    need_divisor(input, other)
    need_numbers("remainder_cpu", input, other)
    if not isinstance(input, Tensor):
        return el.remainder_of_number(other, input)
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
    need_divisor(input, other)
    need_numbers("fmod_cpu", input, other)
    return el.fmod(input, other) if isinstance(other, Tensor) else el.fmod_scalar(input, other)


def pow(input: Any, exponent: Any, *, out: Any = None) -> Tensor:
    """input ** exponent; one of the two may be a number.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.pow.

    >>> import engine as torch
    >>> torch.pow(torch.tensor([1.0, 2.0, 3.0]), 2)
    tensor([1., 4., 9.])
    """
    if out is not None:
        return result_in(out, pow, input, exponent)
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
    need_numbers("pow", input, exponent)
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


divide = div
true_divide = div
subtract = sub

METHODS = (
    "add", "sub", "subtract", "div", "divide", "true_divide", "floor_divide", "remainder", "fmod", "pow", "float_power",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
