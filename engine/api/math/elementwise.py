"""Elementwise functions."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...ops import arithmetic as ar
from ...ops import elementwise as el
from ...ops import shape as sh
from ...tensor.tensor import Tensor
from ..calls.check import combination, need_tensor, refused
from ..calls.named_results import frexp_pair
from ..calls.out import takes_out

__all__ = [
    "abs",
    "clone",
    "conj",
    "conj_physical",
    "copysign",
    "fill",
    "frexp",
    "heaviside",
    "imag",
    "nan_to_num",
    "positive",
    "real",
    "round",
    "square",
]


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
    """The nearest number with `decimals` decimals, halves to even.

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
    """nan, inf and -inf replaced: by default with 0, the largest and the smallest number.

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
    """The complex conjugate: real numbers stay as they are.

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


def clone(input: Tensor, *, memory_format: Any = "preserve") -> Tensor:
    """A copy that gradients pass through.

    Shapes: (*) -> (*).  Source: torch.clone.

    >>> import engine as torch
    >>> x = torch.tensor([1.0], requires_grad=True)
    >>> torch.clone(x)
    tensor([1.], grad_fn=<CloneBackward0>)
    """
    return sh.clone(input) if memory_format == "preserve" else sh.clone(input, memory_format=str(memory_format))


conj_physical = conj

METHODS = (
    "abs", "square", "round", "clone", "positive", "copysign", "heaviside", "nan_to_num", "conj", "conj_physical",
    "frexp",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
