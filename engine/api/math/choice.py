"""Choices, comparisons, and bitwise functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...ops import arithmetic as ar
from ...ops import choice as ch
from ...tensor.escapes import escape
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import bounds, combination, kind, need_filling, need_tensor, need_whole, refused
from ..calls.examples import TWO, with_example
from ..calls.out import takes_out

__all__ = [
    "allclose",
    "bitwise_and",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "clamp",
    "clamp_max",
    "clamp_min",
    "clip",
    "equal",
    "isclose",
    "isin",
    "masked_fill",
    "where",
]

# -- choices ------------------------------------------------------------------------------------------------------


@takes_out
def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """`input` kept between `min` and `max`; at a bound the gradient passes.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.clamp.

    >>> import engine as torch
    >>> torch.clamp(torch.tensor([-2.0, 0.5, 3.0]), 0, 1)
    tensor([0.0000, 0.5000, 1.0000])
    """
    if min is None and max is None:
        raise errors.runtime("torch.clamp: At least one of 'min' or 'max' must not be None")
    need_tensor(input, "clamp")
    min, max = bounds(min, max)
    if isinstance(min, Tensor) or isinstance(max, Tensor):
        if not all(bound is None or isinstance(bound, Tensor) for bound in (min, max)):
            raise combination("clamp", input, min, max)
        return ch.clamp_tensor(input, min, max)
    if not all(bound is None or isinstance(bound, (int, float)) for bound in (min, max)):
        raise combination("clamp", input, *(bound for bound in (min, max) if bound is not None))
    return ch.clamp(input, min=min, max=max)


@takes_out
def clamp_min(input: Tensor, min: Any) -> Tensor:
    """The larger of `input` and `min`.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.clamp_min.

    >>> import engine as torch
    >>> torch.clamp_min(torch.tensor([-2.0, 3.0]), 0)
    tensor([0., 3.])
    """
    if not isinstance(input, Tensor) or not isinstance(min, (Tensor, int, float)):
        raise combination("clamp_min", input, min)
    return ch.clamp_min_tensor(input, min) if isinstance(min, Tensor) else ch.clamp_min(input, min=min)


@takes_out
def clamp_max(input: Tensor, max: Any) -> Tensor:
    """The smaller of `input` and `max`.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.clamp_max.

    >>> import engine as torch
    >>> torch.clamp_max(torch.tensor([-2.0, 3.0]), 0)
    tensor([-2.,  0.])
    """
    if not isinstance(input, Tensor) or not isinstance(max, (Tensor, int, float)):
        raise combination("clamp_max", input, max)
    return ch.clamp_max_tensor(input, max) if isinstance(max, Tensor) else ch.clamp_max(input, max=max)


def where(condition: Tensor, input: Any = None, other: Any = None) -> Any:
    """`input` where `condition`, else `other`; with the condition alone, the indices where it holds.

    Shapes: (*), (*), (*) -> (*), broadcast; the condition alone (*) -> (N), ...  Raises RuntimeError where the shapes
    do not broadcast, or the condition is not bool.  Source: torch.where.

    >>> import engine as torch
    >>> torch.where(torch.tensor([True, False]), torch.tensor([1.0, 2.0]), 0.0)
    tensor([1., 0.])
    """
    need_tensor(condition, "where", "condition")
    if input is None and other is None:
        return tuple(tensor_of(a) for a in condition._array.nonzero())
    if condition._array.dtype.kind != "b" and condition.dtype.name != "uint8":
        raise errors.runtime(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind(condition)}"
        )
    return ch.where(condition, input, other)


def where_method(input: Tensor, condition: Tensor, other: Any) -> Tensor:
    """`input` where `condition`, else `other`.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).where(torch.tensor([True, False]), 0)
    tensor([1, 0])
    """
    return where(condition, input, other)


def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """`value` where `mask`, else `input`.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where the mask is not bool, or the shapes do not broadcast.
    Source: torch.masked_fill.

    >>> import engine as torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.masked_fill(x, x > 1, 0.0)
    tensor([1., 0.])
    """
    need_filling(mask, value)
    if isinstance(value, Tensor):
        return ch.masked_fill_tensor(input, mask, value)
    return ch.masked_fill(input, mask, value=value)


# -- comparisons --------------------------------------------------------------------------------------------------


def equals(self: Tensor, other: Any) -> Any:
    """self == other, elementwise; False for what is neither a tensor nor a number."""
    return ch.eq(self, other) if isinstance(other, (Tensor, bool, int, float)) else NotImplemented


def differs(self: Tensor, other: Any) -> Any:
    """self != other, elementwise; True for what is neither a tensor nor a number."""
    return ch.ne(self, other) if isinstance(other, (Tensor, bool, int, float)) else NotImplemented


WHOLE = TWO.format(", NotImplementedError for floats")


def _integral(op: Callable[..., Any], name: str, kernel: str = "") -> Callable[..., Tensor]:
    def function(input: Any, other: Any) -> Tensor:
        need_whole(kernel or f"{name}_cpu", input, other)
        if not isinstance(input, Tensor) and not isinstance(other, Tensor):
            raise combination(name, input, other)
        return op(input, other)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = with_example(f"torch.{name}, on integers and booleans.", name, shapes=WHOLE)
    return function


bitwise_and = _integral(ch.bitwise_and, "bitwise_and")
bitwise_or = _integral(ch.bitwise_or, "bitwise_or")
bitwise_xor = _integral(ch.bitwise_xor, "bitwise_xor")
bitwise_left_shift = _integral(ar.left_shift, "bitwise_left_shift", "lshift_cpu")
bitwise_right_shift = _integral(ar.right_shift, "bitwise_right_shift", "rshift_cpu")


def shifted_by(input: Tensor, other: Any) -> Tensor:
    """other << input."""
    return bitwise_left_shift(other, input)


def shifted_back_by(input: Tensor, other: Any) -> Tensor:
    """other >> input."""
    return bitwise_right_shift(other, input)


@takes_out
def bitwise_not(input: Tensor) -> Tensor:
    """~input, on integers and booleans.

    Shapes: (*) -> (*).  Raises NotImplementedError for floats.  Source: torch.bitwise_not.

    >>> import engine as torch
    >>> torch.bitwise_not(torch.tensor([0, 5]))
    tensor([-1, -6])
    """
    if input.is_floating_point():
        raise refused("bitwise_not_cpu", input)
    return ch.bitwise_not(input)


def inverted(input: Tensor) -> Tensor:
    """The operator ~, which has a sentence of its own about floats."""
    if input.is_floating_point():
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return ch.bitwise_not(input)


def isclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Tensor:
    """Where |input - other| <= atol + rtol * |other|.

    Shapes: (*), (*) -> (*), broadcast.  Raises RuntimeError where they do not.  Source: torch.isclose.

    >>> import engine as torch
    >>> torch.isclose(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 2.1]))
    tensor([ True, False])
    """
    need_tensor(input, "isclose")
    need_tensor(other, "isclose", "other", 2)
    if input.dtype is not other.dtype:
        raise errors.runtime(f"{kind(input)} did not match {kind(other)}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if value < 0:
            raise errors.runtime(f"{name} must be greater than or equal to zero, but got {value:g}")
    return ch.isclose(input, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(input: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Return whether all elements are close; see isclose.

    Raises RuntimeError where the shapes do not broadcast, or the dtypes differ.  Source: torch.allclose.

    >>> import engine as torch
    >>> torch.allclose(torch.tensor([1.0]), torch.tensor([1.0 + 1e-7]))
    True
    """
    return bool(isclose(input, other, rtol, atol, equal_nan)._array.all()) and _left(input, other)


def equal(input: Tensor, other: Tensor) -> bool:
    """Return whether shapes and all elements are equal.

    Source: torch.equal.

    >>> import engine as torch
    >>> torch.equal(torch.tensor([1, 2]), torch.tensor([1, 2]))
    True
    """
    need_tensor(other, "equal", "other", 2)
    return _left(input, other) and bool(xp.array_equal(input._array, other._array))


def _left(*tensors: Tensor) -> bool:
    for tensor in tensors:
        escape(tensor, "bool")
    return True


@takes_out
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Tensor:
    """Return whether each element is one of `test_elements`.

    Shapes: (*), (*') -> (*).  Source: torch.isin.

    >>> import engine as torch
    >>> torch.isin(torch.tensor([1, 2, 3]), torch.tensor([2, 5]))
    tensor([False,  True, False])
    """
    if not isinstance(elements, Tensor) and not isinstance(test_elements, Tensor):
        raise combination("isin", elements, test_elements)
    for value in (elements, test_elements):
        if not isinstance(value, (Tensor, int, float)):
            raise combination("isin", elements, test_elements)
    return ar.isin(elements, test_elements, invert=invert)


clip = clamp

METHODS = (
    "clamp", "clamp_min", "clamp_max", "clip", "masked_fill", "bitwise_and", "bitwise_or", "bitwise_xor",
    "bitwise_left_shift", "bitwise_right_shift", "bitwise_not", "isclose", "allclose", "equal",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
