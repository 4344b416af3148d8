"""Tensors out of nothing: from numbers, filled, counted, drawn."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

from . import array as arrays
from . import errors
from .api.check import sizes_of
from .api.random import generator
from .array import as_numpy_dtype, bool_, device, dtype, dtype_of, float32, float64, int64, move, xp
from .ops.shape import clone, detach
from .slot import slot
from .tensor import Size, Tensor, escape

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "arange",
    "as_tensor",
    "empty",
    "empty_like",
    "eye",
    "from_numpy",
    "full",
    "full_like",
    "get_default_dtype",
    "linspace",
    "normal",
    "ones",
    "ones_like",
    "rand",
    "rand_like",
    "randint",
    "randn",
    "randn_like",
    "randperm",
    "set_default_dtype",
    "tensor",
    "zeros",
    "zeros_like",
]

COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)


def _made(data: Any, source: str, requires_grad: bool = False, where: Any = None) -> Tensor:
    """A new leaf, which a recording is told of."""
    if where is not None and str(where) != "cpu":
        data = move(data, device(where))
    if requires_grad and data.dtype.kind != "f":
        raise errors.runtime("Only Tensors of floating point and complex dtype can require gradients")
    made = Tensor(data, requires_grad=requires_grad)
    if slot.active is not None:
        slot.active.see(made, source)
    return made


# -- from data ----------------------------------------------------------------------------------------------------


def _numbers(data: Any) -> Any:
    """Data as numpy reads it: tensors among nested lists become their numbers."""
    if isinstance(data, Tensor):
        return data.item() if data._array.size == 1 else data.tolist()
    if isinstance(data, (list, tuple)) and any(isinstance(d, (Tensor, list, tuple)) for d in data):
        return [_numbers(d) for d in data]
    return data


def _check_data(data: Any, depth: int = 0) -> tuple[int, ...]:
    """The shape of nested sequences, or torch's error where they are ragged or hold no numbers."""
    if data is None:
        raise errors.runtime("Could not infer dtype of NoneType")
    if isinstance(data, str):
        raise TypeError("new(): invalid data type 'str'")
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


def _array_of(data: Any, wanted: dtype | type | None) -> Any:
    """An array of Python data: floats become the default dtype, ints int64, as in torch."""
    target = as_numpy_dtype(wanted)
    if hasattr(data, "dtype") and not isinstance(data, (list, tuple)):
        found = xp.array(data, dtype=target)
        dtype_of(found)
        return found
    if isinstance(data, complex):
        raise errors.OutOfScope("complex tensors are out of scope in Backstep")
    _check_data(data)
    try:
        found = xp.array(_numbers(data), dtype=target)
    except OverflowError:
        raise errors.runtime("Overflow when unpacking long long") from None
    except (ValueError, TypeError) as error:
        raise TypeError(f"new(): data must be numbers ({error})") from None
    if target is None:
        if found.dtype.kind == "c":
            raise errors.OutOfScope("complex tensors are out of scope in Backstep")
        if found.dtype.kind == "f" or not found.size:
            found = found.astype(float64.numpy if _holds_doubles(data) else arrays.default_dtype.numpy)
    return found


def _holds_doubles(data: Any) -> bool:
    """Whether the first element is a numpy float64 or a double tensor: torch takes its dtype."""
    while isinstance(data, (list, tuple)) and data:
        data = data[0]
    found = getattr(data, "dtype", None)
    return found is not None and found in (float64, float64.numpy)


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A leaf that holds a copy of `data`: numbers in nested lists, a number, or an array.

    Floats become float32, ints int64.  Raises ValueError for ragged lists.  Source: torch.tensor.

    >>> tensor([[1.0, 2], [3, 4]], requires_grad=True)
    tensor([[1., 2.],
            [3., 4.]], requires_grad=True)
    """
    if isinstance(data, Tensor):
        warnings.warn(COPY_CONSTRUCT, UserWarning, stacklevel=2)
        if slot.active is not None:
            slot.active.event("warning", "UserWarning", COPY_CONSTRUCT)
            escape(data, "tensor")
        made = xp.array(data._array, dtype=as_numpy_dtype(dtype))
    else:
        made = _array_of(data, dtype)
    return _made(made, "tensor", requires_grad, device)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing memory with a tensor or array where it can."""
    if isinstance(data, Tensor):
        moved: Tensor = data.to(dtype=dtype, device=device)
        return moved
    if arrays.is_array(data):
        return _made(xp.asarray(data, dtype=as_numpy_dtype(dtype)), "as_tensor", where=device)
    return _made(_array_of(data, dtype), "as_tensor", where=device)


def from_numpy(data: Any) -> Tensor:
    """A tensor that shares memory with a numpy array."""
    if not isinstance(data, xp.ndarray):
        kind = type(data)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"expected np.ndarray (got {name})")
    dtype_of(data)
    return _made(data, "from_numpy")


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """A tensor (as in torch since 0.4): of the same elements, a leaf.

    >>> Variable(tensor([1.0]), requires_grad=True)
    tensor([1.], requires_grad=True)
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    made = detach(data)
    if requires_grad:
        made.requires_grad = True
    return made  # type: ignore[no-any-return]


# -- filled -------------------------------------------------------------------------------------------------------


def _sizes(function: str, given: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    if size is not None:
        given = (size,)
    if not given:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    found = sizes_of(given)
    for n in found:
        if not isinstance(n, int):
            raise TypeError(
                f"{function}(): argument 'size' must be tuple of ints, but found element of type {type(n).__name__}"
            )
        if n < 0:
            raise errors.runtime(f"{function}: Dimension size must be non-negative.")
    return found


def _floating(wanted: Any) -> Any:
    return as_numpy_dtype(wanted) or arrays.default_dtype.numpy


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Zeros of a shape."""
    shape = _sizes("zeros", size, named.get("size"))
    return _made(xp.zeros(shape, dtype=_floating(dtype)), "zeros", requires_grad, device)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Ones of a shape."""
    shape = _sizes("ones", size, named.get("size"))
    return _made(xp.ones(shape, dtype=_floating(dtype)), "ones", requires_grad, device)


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """A tensor of a shape whose elements nobody has set: zeros here, so that a recording can be run again."""
    shape = _sizes("empty", size, named.get("size"))
    return _made(xp.zeros(shape, dtype=_floating(dtype)), "empty", requires_grad, device)


def full(size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """`fill_value` in a shape; its dtype is the value's."""
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    wanted = as_numpy_dtype(dtype) or _of_number(number)
    return _made(xp.full(_sizes("full", (size,)), number, dtype=wanted), "full", requires_grad, device)


def _of_number(number: Any) -> Any:
    kind = bool_ if isinstance(number, bool) else int64 if isinstance(number, int) else arrays.default_dtype
    return kind.numpy


def _like(input: Tensor, dtype: Any, device: Any) -> tuple[Any, Any]:
    return as_numpy_dtype(dtype) or input._array.dtype, device or input.device


def zeros_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """Zeros in the shape and dtype of `input`."""
    wanted, where = _like(input, dtype, device)
    return _made(xp.zeros(input._array.shape, dtype=wanted), "zeros_like", requires_grad, where)


def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Ones in the shape and dtype of `input`."""
    wanted, where = _like(input, dtype, device)
    return _made(xp.ones(input._array.shape, dtype=wanted), "ones_like", requires_grad, where)


def empty_like(
    input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """As `empty`, in the shape and dtype of `input`."""
    wanted, where = _like(input, dtype, device)
    return _made(xp.zeros(input._array.shape, dtype=wanted), "empty_like", requires_grad, where)


def full_like(
    input: Tensor, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`fill_value` in the shape and dtype of `input`."""
    wanted, where = _like(input, dtype, device)
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return _made(xp.full(input._array.shape, number, dtype=wanted), "full_like", requires_grad, where)


def rand_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Even draws from [0, 1) in the shape and dtype of `input`."""
    wanted, where = _like(input, dtype, None)
    return _made(generator().random(input._array.shape).astype(wanted), "rand_like", requires_grad, where)


def randn_like(input: Tensor, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
    """Standard normal draws in the shape and dtype of `input`."""
    wanted, where = _like(input, dtype, None)
    return _made(generator().standard_normal(input._array.shape).astype(wanted), "randn_like", requires_grad, where)


# -- counted ------------------------------------------------------------------------------------------------------


def _plain(number: Any) -> Any:
    return number.item() if isinstance(number, Tensor) else number


def arange(
    start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """start, start + step, ... up to but without `end`.

    >>> arange(3)
    tensor([0, 1, 2])
    """
    start, end, step = _plain(start), _plain(end), _plain(step)
    if end is None:
        start, end = 0, start
    if not step:
        raise errors.runtime("step must be nonzero")
    if (end - start) * step < 0:
        raise errors.runtime("upper bound and lower bound inconsistent with step sign")
    whole = all(isinstance(n, int) for n in (start, end, step))
    wanted = as_numpy_dtype(dtype) or (int64.numpy if whole else arrays.default_dtype.numpy)
    count = math.ceil((end - start) / step)
    data = (xp.arange(count, dtype="int64" if whole else "float64") * step + start).astype(wanted)
    return _made(data, "arange", requires_grad, device)


def linspace(
    start: Any, end: Any, steps: int, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """`steps` numbers from `start` to `end`, evenly apart."""
    if steps < 0:
        raise errors.runtime("number of steps must be non-negative")
    return _made(
        xp.linspace(_plain(start), _plain(end), steps).astype(_floating(dtype)), "linspace", requires_grad, device
    )


def eye(n: int, m: int | None = None, *, dtype: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:
    """Ones on the diagonal of an n x m matrix."""
    return _made(xp.eye(n, m, dtype=_floating(dtype)), "eye", requires_grad, device)


# -- drawn --------------------------------------------------------------------------------------------------------


def rand(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None, **named: Any
) -> Tensor:
    """Even draws from [0, 1)."""
    shape = _sizes("rand", size, named.get("size"))
    return _made(_drawn().random(shape).astype(_floating(dtype)), "rand", requires_grad, device)


def randn(
    *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, generator: Any = None, **named: Any
) -> Tensor:
    """Standard normal draws."""
    shape = _sizes("randn", size, named.get("size"))
    return _made(_drawn().standard_normal(shape).astype(_floating(dtype)), "randn", requires_grad, device)


def _drawn() -> Any:
    return generator()


def randint(low: int, high: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None, **_: Any) -> Tensor:
    """Even draws from the integers low, ..., high - 1 (from 0 where one bound is given)."""
    if size is None and high is not None and not isinstance(high, int):
        low, high, size = 0, low, high
    elif high is None:
        low, high = 0, low
    if high <= low:
        raise errors.runtime(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
    data = generator().integers(low, high, size=_sizes("randint", (size,)))
    return _made(data.astype(as_numpy_dtype(dtype) or int64.numpy), "randint", where=device)


def randperm(n: int, *, dtype: Any = None, **_: Any) -> Tensor:
    """The integers 0, ..., n - 1 in a random order."""
    return _made(generator().permutation(n).astype(as_numpy_dtype(dtype) or int64.numpy), "randperm")


def normal(mean: Any, std: Any, size: Any = None) -> Tensor:
    """Normal draws of a mean and a standard deviation (numbers, or tensors of one shape)."""
    plain = [v._array if isinstance(v, Tensor) else v for v in (mean, std)]
    data = generator().normal(plain[0], plain[1], None if size is None else _sizes("normal", (size,)))
    return _made(xp.asarray(data).astype(arrays.default_dtype.numpy), "normal")


# -- torch's old constructors -------------------------------------------------------------------------------------


def _legacy(name: str, which: dtype) -> Any:
    def constructor(*args: Any) -> Tensor:
        return legacy_tensor(name, which, args)

    constructor.__name__ = constructor.__qualname__ = name
    constructor.__doc__ = f"A tensor of dtype {which}, of a sequence's numbers or of a shape."
    return constructor


def legacy_tensor(name: str, which: dtype, args: tuple[Any, ...]) -> Tensor:
    """FloatTensor([1, 2]) holds numbers, FloatTensor(2, 3) is of that shape."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        return detach(args[0])  # type: ignore[no-any-return]
    return _made(legacy_array(name, which, args), name)


def legacy_array(name: str, which: dtype, args: tuple[Any, ...]) -> Any:
    """The elements of a tensor made by one of the old constructors."""
    if not args:
        return xp.zeros(0, dtype=which.numpy)
    if isinstance(args[0], Tensor):
        return args[0]._array
    if isinstance(args[0], Size) or all(isinstance(a, int) and not isinstance(a, bool) for a in args):
        return xp.zeros(sizes_of(args), dtype=which.numpy)
    if not isinstance(args[0], (Sequence, xp.ndarray)) or isinstance(args[0], str):
        raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
    return _array_of(args[0], which)


FloatTensor = _legacy("FloatTensor", float32)
DoubleTensor = _legacy("DoubleTensor", float64)
LongTensor = _legacy("LongTensor", int64)
IntTensor = _legacy("IntTensor", arrays.int32)
BoolTensor = _legacy("BoolTensor", bool_)
ByteTensor = _legacy("ByteTensor", arrays.uint8)
HalfTensor = _legacy("HalfTensor", arrays.float16)


def set_default_dtype(which: dtype) -> None:
    """The dtype that Python floats become."""
    if not which.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    arrays.default_dtype = which


def get_default_dtype() -> dtype:
    """The dtype that Python floats become.

    >>> get_default_dtype()
    torch.float32
    """
    return arrays.default_dtype


def deepcopy(self: Tensor, memo: Any) -> Tensor:
    """copy.deepcopy of a leaf."""
    if self._node is not None:
        raise errors.runtime(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment.  If you "
            "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    made = clone(detach(self))
    made.requires_grad = self.requires_grad
    if self._grad is not None:
        made._grad = deepcopy(self._grad, memo)
    memo[id(self)] = made
    return made  # type: ignore[no-any-return]
