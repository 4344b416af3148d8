"""Tensors of a shape, filled with one number."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import as_numpy_dtype, bool_, int64, xp
from ...tensor.tensor import Tensor
from ..calls.check import fitted, need_tensor, sizes_of
from .creation import new_leaf

__all__ = [
    "empty",
    "empty_like",
    "empty_strided",
    "full",
    "full_like",
    "ones",
    "ones_like",
    "zeros",
    "zeros_like",
]


def shape_given(function: str, sizes: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The shape that a user gives as several numbers, as one sequence, or as `size=`."""
    if size is not None:
        sizes = (size,)
    if not sizes:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    shape = sizes_of(sizes)
    entries: tuple[Any, ...] = shape
    for n in entries:
        if not isinstance(n, int):
            if len(sizes) == 1 and not isinstance(sizes[0], (list, tuple)):
                raise TypeError(
                    f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}"
                )
            raise TypeError(
                f"{function}(): argument 'size' must be tuple of ints, but found element of type {type(n).__name__}"
            )
        if n < 0 and function == "zeros":
            raise errors.runtime("zeros: Dimension size must be non-negative.")
        if n < 0:
            raise errors.runtime(f"Trying to create tensor with negative dimension {n}: {list(shape)}")
    return tuple(map(int, shape))  # True is a size too, behind another one


def floating(dtype: Any) -> Any:
    """The numpy dtype asked for; the default one where none is."""
    return as_numpy_dtype(dtype) or arrays.default_dtype.numpy


def _known_keywords(function: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The function, which refuses keywords that torch's does not have; those of no effect here are taken."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Tensor:
        for name in kwargs:
            if name not in keywords:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'")
        return function(*args, **kwargs)

    keywords = {"layout", "memory_format", "names", "pin_memory", "size", *inspect.signature(function).parameters}
    return checked


@_known_keywords
def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Zeros of a shape.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.zeros.

    >>> zeros(2)
    tensor([0., 0.])
    """
    shape = shape_given("zeros", size, named.get("size"))
    return new_leaf(xp.zeros(shape, dtype=floating(dtype)), "zeros", requires_grad, device)


@_known_keywords
def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Ones of a shape.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.ones.

    >>> ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    shape = shape_given("ones", size, named.get("size"))
    return new_leaf(xp.ones(shape, dtype=floating(dtype)), "ones", requires_grad, device)


@_known_keywords
def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """A tensor of a shape with uninitialised elements: zeros here, so that a recording can be replayed.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.empty.

    >>> empty(2, 3).shape
    torch.Size([2, 3])
    """
    shape = shape_given("empty", size, named.get("size"))
    return new_leaf(xp.zeros(shape, dtype=floating(dtype)), "empty", requires_grad, device)


@_known_keywords
def full(
    size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """`fill_value` in a shape; its dtype is the value's.

    Shapes: numbers -> (*size).  Raises RuntimeError for a negative size.  Source: torch.full.

    >>> full((2, 2), 7)
    tensor([[7, 7],
            [7, 7]])
    """
    if isinstance(size, int):
        raise TypeError("full(): argument 'size' (position 1) must be tuple of ints, not int")
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    numpy_dtype = as_numpy_dtype(dtype) or _of_number(number)
    shape = shape_given("full", (size,))
    array = xp.full(shape, fitted(number, numpy_dtype), dtype=numpy_dtype)
    return new_leaf(array, "full", requires_grad, device)


def _of_number(number: Any) -> Any:
    kind = bool_ if isinstance(number, bool) else int64 if isinstance(number, int) else arrays.default_dtype
    return kind.numpy


def like(input: Tensor, dtype: Any, device: Any) -> tuple[Any, Any]:
    """The numpy dtype and the device of a tensor that is made like `input`."""
    return as_numpy_dtype(dtype) or input._array.dtype, device or input.device


@_known_keywords
def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Zeros in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Source: torch.zeros_like.

    >>> import engine as torch
    >>> torch.zeros_like(torch.ones(2))
    tensor([0., 0.])
    """
    need_tensor(input, "zeros_like")
    numpy_dtype, where = like(input, dtype, device)
    return new_leaf(xp.zeros(input._array.shape, dtype=numpy_dtype), "zeros_like", requires_grad, where)


@_known_keywords
def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Ones in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Source: torch.ones_like.

    >>> import engine as torch
    >>> torch.ones_like(torch.zeros(2))
    tensor([1., 1.])
    """
    need_tensor(input, "ones_like")
    numpy_dtype, where = like(input, dtype, device)
    return new_leaf(xp.ones(input._array.shape, dtype=numpy_dtype), "ones_like", requires_grad, where)


@_known_keywords
def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """As `empty`, in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Source: torch.empty_like.

    >>> import engine as torch
    >>> torch.empty_like(torch.ones(2, 3)).shape
    torch.Size([2, 3])
    """
    need_tensor(input, "empty_like")
    numpy_dtype, where = like(input, dtype, device)
    return new_leaf(xp.zeros(input._array.shape, dtype=numpy_dtype), "empty_like", requires_grad, where)


@_known_keywords
def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """`fill_value` in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Source: torch.full_like.

    >>> import engine as torch
    >>> torch.full_like(torch.ones(2), 7)
    tensor([7., 7.])
    """
    need_tensor(input, "full_like")
    numpy_dtype, where = like(input, dtype, device)
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return new_leaf(xp.full(input._array.shape, number, dtype=numpy_dtype), "full_like", requires_grad, where)


def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """As `empty`, with given strides (in elements).

    Shapes: sizes -> (*size).  Raises RuntimeError where sizes and strides differ in number.
    Source: torch.empty_strided.

    >>> import engine as torch
    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    shape, steps = shape_given("empty_strided", (size,)), tuple(int(s) for s in stride)
    if len(shape) != len(steps):
        raise errors.runtime(
            f"dimensionality of sizes ({len(shape)}) must match dimensionality of strides ({len(steps)})"
        )
    numpy_dtype = floating(dtype)
    memory_size = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    memory = xp.zeros(memory_size, dtype=numpy_dtype)
    data = arrays.strided(memory, shape, [s * numpy_dtype.itemsize for s in steps])
    return new_leaf(data, "empty_strided", requires_grad, device)
