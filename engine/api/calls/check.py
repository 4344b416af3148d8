"""Arguments as torch takes them: dimensions counted from the back, sizes given as several numbers or one tuple."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import BY_NUMPY, as_numpy_dtype, xp
from ...arrays.promotion import result_dtype
from ...tensor.grad_mode import mode
from ...tensor.tensor import Tensor, tensor_of

LETTERS = {
    "float16": "Half", "float32": "Float", "float64": "Double", "uint8": "Byte", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "bool": "Bool",
}  # fmt: skip
"""torch's one word for a dtype in messages."""


def need_tensor(value: Any, function: str, name: str = "input", position: int = 1) -> None:
    """Raise torch's TypeError where an argument is no Tensor."""
    if not isinstance(value, Tensor):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be Tensor, not {type(value).__name__}"
        )


def one_dim(dim: Any, rank: int, extra: int = 0) -> int:
    """A dimension counted from the front.  `extra` is 1 where the result has one more (unsqueeze, stack)."""
    if type(dim) is not int:
        dim = whole(dim)
    reach = max(rank + extra, 1)
    if not -reach <= dim < reach:
        raise IndexError(f"Dimension out of range (expected to be in range of [-{reach}, {reach - 1}], but got {dim})")
    return int(dim + reach if dim < 0 else dim)


def some_dims(dim: Any, rank: int) -> Any:
    """One dimension, or a tuple of several, counted from the front; all of them for an empty tuple."""
    if isinstance(dim, (int, str)) or not isinstance(dim, Sequence):
        axes = one_dim(dim, rank)
        return axes if rank else ()
    dims = [one_dim(d, rank) for d in dim]
    for d in dims:
        if dims.count(d) > 1:
            raise errors.runtime(f"dim {d} appears multiple times in the list of dims")
    if not rank:
        return ()
    return tuple(sorted(dims)) if dims else tuple(range(rank))


def whole(dim: Any) -> int:
    """A dimension that is no plain int: a number of numpy's or of a tensor; torch takes no bool and no float."""
    counts = dim._array.dtype.kind in "iu" if isinstance(dim, Tensor) else hasattr(dim, "__index__")
    if counts and not isinstance(dim, bool):
        return int(dim.__index__())
    if isinstance(dim, bool):
        return int(dim)  # one of several dimensions, which torch does not look at
    raise TypeError(f"dim must be an int, not {type(dim).__name__}")


def sizes_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """Sizes given as several numbers, or as one sequence of them."""
    if len(sizes) == 1 and isinstance(sizes[0], Sequence):
        sizes = tuple(sizes[0])
    return tuple(_size(n) for n in sizes)


def _size(number: Any) -> Any:
    """A size as an int, where it is one: of a tensor of integers, or of numpy's own integers."""
    if isinstance(number, bool):
        return int(number)
    if isinstance(number, (Tensor, xp.integer)) and (not isinstance(number, Tensor) or number.dtype.name != "bool"):
        return int(number) if not isinstance(number, Tensor) or not number.is_floating_point() else number
    return number


def kind(tensor: Tensor) -> str:
    """torch's one word for a dtype in messages: `Long`."""
    return LETTERS[tensor.dtype.name]


def typename(thing: object) -> str:
    """The name of the type of `thing` in torch's messages: `torch.FloatTensor`, `int`, `list`.

    Source: torch.typename.

    >>> import engine as torch
    >>> torch.typename(1), torch.typename(torch.tensor([1.0]))
    ('int', 'torch.FloatTensor')
    """
    if isinstance(thing, Tensor):
        name: str = thing.type()
        return name
    kind = thing if isinstance(thing, type) else type(thing)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def summed_dtype(input: Tensor, dtype: Any) -> Any:
    """The numpy dtype of a sum or product, where one is named: no integers where a gradient is recorded."""
    which = as_numpy_dtype(dtype)
    if which is not None and which.kind != "f" and input._requires_grad and mode.enabled:
        raise errors.runtime(f"Autograd not support dtype: {LETTERS[BY_NUMPY[which].name]}")
    return which


def as_operand(function: str, value: Any) -> Tensor:
    """The tensor for a number where a function is called with numbers alone."""
    if not isinstance(value, (bool, int, float)):
        need_tensor(value, function)
    return tensor_of(xp.asarray(value, dtype=result_dtype([value])))


def bounds(*values: Any) -> list[Any]:
    """Two bounds: beside a number, a tensor of one number without history counts as that number, as in torch."""
    if not any(isinstance(v, (int, float)) for v in values):
        return list(values)
    return [v.item() if isinstance(v, Tensor) and not (v._array.ndim or v._requires_grad) else v for v in values]


def combination(function: str, *args: Any, **named: Any) -> TypeError:
    """torch's TypeError for arguments that fit none of a function's signatures."""
    types = [type(v).__name__ for v in args] + [f"{k}={type(v).__name__}" for k, v in named.items()]
    return TypeError(
        f"{function}() received an invalid combination of arguments - got ({', '.join(types)}), but expected one of:"
    )


def refused(kernel: str, value: Tensor) -> NotImplementedError:
    """torch's error for a dtype that a kernel does not have."""
    return NotImplementedError(f"\"{kernel}\" not implemented for '{kind(value)}'")


def need_float(kernel: str, *values: Any) -> None:
    """Raise torch's error where a function takes floats and is given integers or bools alone."""
    tensors = [v for v in values if isinstance(v, Tensor)]
    if not any(t._array.dtype.kind == "f" for t in tensors):
        raise refused(kernel, next((t for t in tensors if t._array.ndim), tensors[0]))


def need_numbers(kernel: str, *values: Any) -> None:
    """Raise torch's error where a function takes numbers and is given bools alone."""
    for value in values:
        if not (value._array.dtype.kind == "b" if isinstance(value, Tensor) else isinstance(value, bool)):
            return
    raise refused(kernel, next(v for v in values if isinstance(v, Tensor)))


def need_whole(kernel: str, *values: Any) -> None:
    """Raise torch's error where a function takes integers and is given floats."""
    for value in values:
        if isinstance(value, Tensor) and value._array.dtype.kind == "f":
            raise refused(kernel, value)
    if any(isinstance(value, float) for value in values):
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{LETTERS[arrays.default_dtype.name]}'")


def need_alpha(input: Any, other: Any, alpha: Any) -> None:
    """Raise torch's errors for a factor that the result's dtype has no place for."""
    kinds = [v.dtype.name if isinstance(v, Tensor) else type(v).__name__ for v in (input, other)]
    if isinstance(alpha, bool):
        if any(k != "bool" for k in kinds):
            raise errors.runtime("Boolean alpha only supported for Boolean results.")
    elif isinstance(alpha, float) and not any("float" in k for k in kinds):
        raise errors.runtime("For integral input tensors, argument alpha must not be a floating point number.")


def need_divisor(input: Any, other: Any) -> None:
    """Raise torch's error where integers are divided by zero."""
    values = [v._array if isinstance(v, Tensor) else v for v in (input, other)]
    are_numeric = all(isinstance(v, (bool, int, float)) or hasattr(v, "dtype") for v in values)
    if are_numeric and result_dtype(values).kind != "f" and not xp.all(values[1]):
        raise errors.runtime("ZeroDivisionError")


def overflow(numpy_dtype: Any) -> BaseException:
    """torch's error for a number that an integer dtype cannot hold."""
    word = "int" if numpy_dtype.name == "int32" else f"{numpy_dtype.name}_t"
    return errors.runtime(f"value cannot be converted to type {word} without overflow")


def fitted(value: Any, numpy_dtype: Any) -> Any:
    """A number as a dtype holds it: integers below 0 wrap in an unsigned one; torch's error for one that does not
    fit."""
    if numpy_dtype.kind not in "iu":
        return value
    low, high = int(xp.iinfo(numpy_dtype).min), int(xp.iinfo(numpy_dtype).max)
    whole = int(value) if -math.inf < value < math.inf else high + 1
    if not (low if low or isinstance(value, float) else -high) <= whole <= high:
        raise overflow(numpy_dtype)
    return whole if low else whole % (high + 1)


def need_filling(mask: Tensor, value: Any) -> None:
    """Raise torch's errors about a mask that is none, and about a tensor of several values."""
    if mask._array.dtype.kind != "b":
        word = errors.C_NAMES[mask.dtype.name]
        raise errors.runtime(f"masked_fill_ only supports boolean masks, but got mask with dtype {word}")
    if isinstance(value, Tensor) and value._array.ndim:
        raise errors.runtime(
            "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with "
            f"{value._array.ndim} dimension(s)."
        )
