"""Arrays of what Python gives (nested lists, numbers, other arrays), in torch's dtypes and with its refusals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import as_numpy_dtype, dtype, dtype_of, float64, xp
from ...arrays.promotion import promoted
from ...tensor.tensor import Tensor


def array_of(data: Any, which: dtype | type | None) -> Any:
    """An array of Python data: floats become the default dtype, ints int64, as in torch."""
    target = as_numpy_dtype(which)
    if hasattr(data, "dtype") and not isinstance(data, (list, tuple)):
        if data.dtype.kind not in REAL:
            dtype_of(data)
        array = xp.array(data, dtype=target)
        dtype_of(array)
        return array
    if isinstance(data, complex) and target is None:
        raise errors.OutOfScope("complex tensors are out of scope in Backstep")
    sizes = _sizes(data)
    try:
        _check_data(data, sizes, target)
    except (TypeError, ValueError, RuntimeError):
        data = _as_lists(data)
        sizes = _sizes(data)
        _check_data(data, sizes, target)
    if 0 in sizes:
        return xp.zeros(sizes, arrays.default_dtype.numpy if target is None else target)
    numbers = _numbers(data)
    if target is None and isinstance(data, (list, tuple)) and numbers is not data and _holds_tensor(data):
        target = reduce(promoted, _dtypes(data))
    try:
        array = _fitted(numbers, target) if target is not None and target.kind in "iu" else xp.array(numbers, target)
    except OverflowError:
        raise ValueError("Overflow when unpacking long long") from None
    except (ValueError, TypeError) as error:
        raise TypeError(f"new(): data must be numbers ({error})") from None
    if target is None:
        if array.dtype.kind == "c":
            raise errors.OutOfScope("complex tensors are out of scope in Backstep")
        if array.dtype.kind in "uO" and not _holds_array(data):
            raise ValueError("Overflow when unpacking long long")
        if array.dtype.kind == "f" or not array.size:
            array = array.astype(float64.numpy if _holds_doubles(data) else arrays.default_dtype.numpy)
    return array


REAL = "biuf"
"""numpy's letters of the kinds of real numbers."""
PLAIN = frozenset({bool, int, float})
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


def _as_lists(data: Any) -> Any:
    """Sequences of other types, a deque or one of the user's, as lists, at any depth."""
    if isinstance(data, (Tensor, str, bytes, Mapping)) or hasattr(data, "dtype"):
        return data
    return [_as_lists(d) for d in data] if hasattr(data, "__getitem__") and hasattr(data, "__len__") else data


def _check_data(data: Any, sizes: tuple[int, ...], target: Any) -> None:
    """Raise torch's error where nested sequences do not have these sizes throughout, or hold no numbers."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if 0 in sizes:  # what stands beside an empty sequence is not looked at
        return
    try:
        _check_inside(data, sizes, target)
    except (TypeError, ValueError):
        if target is None:  # first torch looks which dtype it is to be
            _check_inside(data, sizes, _inferred(data))
        raise


def _sizes(data: Any) -> tuple[int, ...]:
    """The lengths of the sequences that stand first, from the outermost to the innermost."""
    sizes: list[int] = []
    while _is_sequence(data):
        sizes.append(len(data))
        if len(sizes) > MOST_DIMENSIONS:
            raise ValueError(f"too many dimensions '{type(data).__name__}'")
        if not sizes[-1]:
            break
        data = data[0]
        if isinstance(data, str):
            raise ValueError("too many dimensions 'str'")
    return tuple(sizes)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, (list, tuple, range)) or (isinstance(value, xp.ndarray) and value.ndim > 0)


def _check_inside(data: Any, sizes: tuple[int, ...], target: Any, depth: int = 0) -> None:
    """Raise torch's error where a sequence is not of these sizes, or where its elements are not numbers."""
    if depth == len(sizes):
        if not (type(data) in PLAIN or isinstance(data, Tensor) or _is_number(data)):
            raise _no_number(data, target)
        if isinstance(data, Tensor) and data.is_floating_point() and target is not None and target.kind in "biu":
            raise TypeError("only integer tensors of a single element can be converted to an index")
        return
    if not _is_sequence(data):
        raise TypeError("not a sequence")
    if len(data) != sizes[depth]:
        raise ValueError(f"expected sequence of length {sizes[depth]} at dim {depth} (got {len(data)})")
    if isinstance(data, xp.ndarray) and data.shape == sizes[depth:]:
        return
    if depth + 1 < len(sizes) or not PLAIN.issuperset(map(type, data)):
        for item in data:
            _check_inside(item, sizes, target, depth + 1)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float)) or (hasattr(value, "dtype") and not getattr(value, "shape", ()))


def _no_number(value: Any, target: Any) -> TypeError:
    """Python's error for what is no number, or several."""
    whole = target is not None and target.kind in "biu"
    if isinstance(value, xp.ndarray):
        return TypeError(
            "only integer scalar arrays can be converted to a scalar index"
            if whole
            else "only 0-dimensional arrays can be converted to Python scalars"
        )
    name = type(value).__name__
    if whole:
        return TypeError(f"'{name}' object cannot be interpreted as an integer")
    return TypeError(f"must be real number, not {name}")


def _inferred(data: Any) -> Any:
    """The dtype that torch chooses for nested sequences, or its error for the first element that tells none."""
    if _is_sequence(data) and not isinstance(data, xp.ndarray):
        return reduce(promoted, [_inferred(item) for item in data] or [arrays.default_dtype.numpy])
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, complex):
        raise errors.OutOfScope("complex tensors are out of scope in Backstep")
    if isinstance(data, Tensor):
        return data._array.dtype
    if not isinstance(data, xp.ndarray) and not _is_number(data):
        raise errors.runtime(f"Could not infer dtype of {type(data).__name__}")
    return arrays.default_dtype.numpy if isinstance(data, float) else xp.asarray(data).dtype


def _fitted(numbers: Any, target: Any) -> Any:
    """An array of integers; a negative number wraps in an unsigned dtype, one that does not fit is torch's error."""
    wide = xp.array(numbers)
    limits = xp.iinfo(target)
    low = -int(limits.max) if target.kind == "u" else int(limits.min)
    if wide.size and wide.dtype.kind in "ifuO" and not (wide.min() >= low and wide.max() <= int(limits.max)):
        if wide.dtype.kind == "O" or (wide.dtype.kind == "u" and wide.dtype.itemsize == 8):  # more than an int64
            raise OverflowError
        raise errors.runtime(f"value cannot be converted to type {target.name} without overflow")
    return wide.astype(target)


def _holds_array(data: Any) -> bool:
    """Return whether the first of nested elements has a dtype of its own, as an array or a tensor has."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    return hasattr(data, "dtype")


def _holds_tensor(data: Any) -> bool:
    """Return whether nested sequences of numbers contain a tensor."""
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
    """Return whether the first element is a numpy float64 or a double tensor: torch takes its dtype."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    dtype = getattr(data, "dtype", None)
    return dtype is not None and dtype in (float64, float64.numpy)
