"""Sums of two terms, element by element.  Source: torch."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...ops import arithmetic as ar
from ...tensor.tensor import Tensor
from ..calls.check import need_numbers, need_tensor, refused
from ..calls.out import takes_out
from .arithmetic import Number

__all__ = [
    "addcdiv",
    "addcmul",
    "lerp",
]


@takes_out
def lerp(input: Tensor, end: Tensor, weight: Any) -> Tensor:
    """input + weight * (end - input).

    Shapes: (*), (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.lerp.

    >>> import engine as torch
    >>> torch.lerp(torch.tensor([0.0, 2.0]), torch.tensor([10.0, 4.0]), 0.25)
    tensor([2.5000, 2.5000])
    """
    need_lerp(input, end, weight)
    if isinstance(weight, Tensor):
        return ar.lerp(input, end, weight)
    return ar.lerp_number(input, end, weight=weight)


def need_lerp(input: Tensor, end: Tensor, weight: Any) -> None:
    """Raise torch's error where the dtypes of a lerp differ, or are no floats."""
    need_tensor(input, "lerp")
    need_tensor(end, "lerp", "end", 2)
    for name, value in (("end", end), ("weight", weight)):
        if isinstance(value, Tensor) and value.dtype is not input.dtype:
            input_dtype, value_dtype = (errors.C_NAMES[one.dtype.name] for one in (input, value))
            raise errors.runtime(f"expected dtype {input_dtype} for `{name}` but got dtype {value_dtype}")
    if not input.is_floating_point():
        raise refused("lerp_kernel_tensor" if isinstance(weight, Tensor) else "lerp_kernel_scalar", input)


@takes_out
def addcmul(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 * tensor2.

    Shapes: (*), (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.addcmul.

    >>> import engine as torch
    >>> torch.addcmul(torch.tensor([1.0]), torch.tensor([2.0]), torch.tensor([3.0]))
    tensor([7.])
    """
    need_numbers("addcmul_cpu_out", input, tensor1, tensor2)
    return ar.addcmul(input, tensor1, tensor2, value=value)


@takes_out
def addcdiv(input: Tensor, tensor1: Tensor, tensor2: Tensor, *, value: Number = 1) -> Tensor:
    """input + value * tensor1 / tensor2.

    Shapes: (*), (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.addcdiv.

    >>> import engine as torch
    >>> torch.addcdiv(torch.tensor([1.0]), torch.tensor([6.0]), torch.tensor([3.0]), value=2)
    tensor([5.])
    """
    need_quotient(tensor1, tensor2)
    return ar.addcdiv(input, tensor1, tensor2, value=value)


def need_quotient(*values: Tensor) -> None:
    """Raise torch's error where addcdiv is to divide integers."""
    if not any(v.is_floating_point() for v in values):
        raise errors.runtime(
            "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a "
            "true division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value "
            "* torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / "
            "tensor2) for float inputs. The future addcdiv behavior is just the latter implementation: (input + value "
            "* tensor1 / tensor2), for all dtypes."
        )


METHODS = ("lerp", "addcmul", "addcdiv")
"""Functions that are methods of Tensor too."""
