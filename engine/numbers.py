"""Arrays of what Python gives (nested lists, numbers, other arrays), in torch's dtypes and with its refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from . import array as arrays
from . import errors
from .array import as_numpy_dtype, dtype, dtype_of, float64, xp
from .promotion import promoted
from .tensor import Tensor


def array_of(data: Any, wanted: dtype | type | None) -> Any:
    """An array of Python data: floats become the default dtype, ints int64, as in torch."""
    target = as_numpy_dtype(wanted)
    if hasattr(data, "dtype") and not isinstance(data, (list, tuple)):
        found = xp.array(data, dtype=target)
        dtype_of(found)
        return found
    if isinstance(data, complex):
        raise errors.OutOfScope("complex tensors are out of scope in Backstep")
    try:
        _check_data(data)
    except RuntimeError:
        _check_data(data := _listed(data))
    numbers = _numbers(data)
    if target is None and isinstance(data, (list, tuple)) and numbers is not data and _holds_tensor(data):
        target = reduce(promoted, _dtypes(data))
    try:
        found = _fitted(numbers, target) if target is not None and target.kind in "iu" else xp.array(numbers, target)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    except (ValueError, TypeError) as error:
        raise TypeError(f"new(): data must be numbers ({error})") from None
    if target is None:
        if found.dtype.kind == "c":
            raise errors.OutOfScope("complex tensors are out of scope in Backstep")
        if found.dtype.kind in "uO" and not _holds_array(data):
            raise ValueError("Overflow when unpacking long long")
        if found.dtype.kind == "f" or not found.size:
            found = found.astype(float64.numpy if _holds_doubles(data) else arrays.default_dtype.numpy)
    return found


MOST_DIMENSIONS = 128  # torch's limit for nested sequences; one that holds itself has no end


def _numbers(data: Any) -> Any:
    """Data as numpy reads it: tensors among nested lists become their numbers."""
    if isinstance(data, Tensor):
        if data._array.size != 1:
            raise ValueError("only one element tensors can be converted to Python scalars")
        return data.item()
    if isinstance(data, (list, tuple)) and any(isinstance(d, (Tensor, list, tuple)) for d in data):
        return [_numbers(d) for d in data]
    return data


def _listed(data: Any) -> Any:
    """Sequences of other types, a deque or one of the user's, as lists, at any depth."""
    if isinstance(data, (Tensor, str, bytes, Mapping)) or hasattr(data, "dtype"):
        return data
    return [_listed(d) for d in data] if hasattr(data, "__getitem__") and hasattr(data, "__len__") else data


def _check_data(data: Any, depth: int = 0) -> tuple[int, ...]:
    """The shape of nested sequences, or torch's error where they are ragged or hold no numbers."""
    if depth > MOST_DIMENSIONS:
        raise ValueError(f"too many dimensions '{type(data).__name__}'")
    if data is None:
        raise errors.runtime("Could not infer dtype of NoneType")
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, Tensor) and depth:
        return ()  # as torch: one number among others, whatever its dimensions of size 1
    if not isinstance(data, (list, tuple, range)):
        if isinstance(data, (bool, int, float)) or hasattr(data, "dtype"):
            return tuple(getattr(data, "shape", ()))
        raise errors.runtime(f"Could not infer dtype of {type(data).__name__}")
    if not data:
        return (0,)
    if isinstance(data[0], (bool, int, float)) and not any(
        isinstance(d, (list, tuple, str)) or d is None for d in data
    ):
        return (len(data),)
    inner = [_check_data(d, depth + 1) for d in data]
    for shape in inner:
        if len(shape) != len(inner[0]):
            raise TypeError(f"expected sequence at dim {depth + 1}")
        for place, (want, have) in enumerate(zip(inner[0], shape, strict=True)):
            if want != have:
                raise ValueError(f"expected sequence of length {want} at dim {depth + 1 + place} (got {have})")
    return (len(data), *inner[0])


def _fitted(numbers: Any, target: Any) -> Any:
    """An array of integers; a negative number wraps in an unsigned dtype, one that does not fit is torch's error."""
    wide = xp.array(numbers)
    limits = xp.iinfo(target)
    low = -int(limits.max) if target.kind == "u" else int(limits.min)
    if wide.size and wide.dtype.kind in "ifuO" and not (wide.min() >= low and wide.max() <= int(limits.max)):
        if wide.dtype.kind == "O" or (target.itemsize == 8 and wide.dtype.kind == "u"):
            raise OverflowError
        raise errors.runtime(f"value cannot be converted to type {target.name} without overflow")
    return wide.astype(target)


def _holds_array(data: Any) -> bool:
    """Whether numbers come from an array, which has a dtype of its own."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return hasattr(data, "dtype")


def _holds_tensor(data: Any) -> bool:
    """Whether a tensor is among nested sequences of numbers."""
    return any(isinstance(d, Tensor) or (isinstance(d, (list, tuple)) and _holds_tensor(d)) for d in data)


def _dtypes(data: Any) -> Iterator[Any]:
    """The dtype of each number as torch reads it: a tensor's own, int64, the default one for floats."""
    for item in data:
        if isinstance(item, (list, tuple, range)):
            yield from _dtypes(item)
        elif isinstance(item, Tensor):
            yield item._array.dtype
        elif isinstance(item, float) and not hasattr(item, "dtype"):
            yield arrays.default_dtype.numpy
        else:
            yield xp.asarray(item).dtype


def _holds_doubles(data: Any) -> bool:
    """Whether the first element is a numpy float64 or a double tensor: torch takes its dtype."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    found = getattr(data, "dtype", None)
    return found is not None and found in (float64, float64.numpy)
