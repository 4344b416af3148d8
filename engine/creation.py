"""Tensors out of nothing: from numbers, from memory, filled."""

from __future__ import annotations

import functools
import inspect
from typing import Any

from . import array as arrays
from . import errors
from .api.check import need_tensor, sizes_of
from .array import as_numpy_dtype, bool_, copied, device, dtype, dtype_of, int64, move, xp
from .mode import mode
from .numbers import array_of
from .ops.shape import clone, detach
from .slot import slot, warn
from .storage import InferenceStorage
from .tensor import Tensor, escape

__all__ = [
    "as_tensor",
    "asarray",
    "empty",
    "empty_like",
    "empty_strided",
    "from_numpy",
    "frombuffer",
    "full",
    "full_like",
    "get_default_dtype",
    "ones",
    "ones_like",
    "set_default_dtype",
    "tensor",
    "zeros",
    "zeros_like",
]

COPY_CONSTRUCT = (
    "To copy construct from a tensor, it is recommended to use sourceTensor.detach().clone() or "
    "sourceTensor.detach().clone().requires_grad_(True), rather than torch.tensor(sourceTensor)."
)


def new_leaf(data: Any, source: str, requires_grad: bool = False, where: Any = None, outside: bool = False) -> Tensor:
    """A new leaf, which a recording is told of; `outside`: the program holds its memory too."""
    if where is not None and str(where) != "cpu":
        data = move(data, device(where))
    if requires_grad and data.dtype.kind != "f":
        raise errors.runtime("Only Tensors of floating point and complex dtype can require gradients")
    made = Tensor(data, requires_grad=requires_grad)
    if mode.inference:
        made._storage = InferenceStorage()
    if outside:
        made._storage.outside = True
    if slot.active is not None:
        slot.active.see(made, source)
    return made


# -- from data ----------------------------------------------------------------------------------------------------


def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A leaf that holds a copy of `data`: numbers in nested lists, a number, or an array.

    Floats become float32, ints int64.

    Shapes: numbers -> (*), the lists' lengths.  Raises ValueError where the lists differ in length.
    Source: torch.tensor.

    >>> tensor([[1.0, 2], [3, 4]], requires_grad=True)
    tensor([[1., 2.],
            [3., 4.]], requires_grad=True)
    """
    if isinstance(data, Tensor):
        warn(COPY_CONSTRUCT)
        if slot.active is not None:
            escape(data, "tensor")
        made = copied(data._array, as_numpy_dtype(dtype))
    else:
        made = array_of(data, dtype)
    return new_leaf(made, "tensor", requires_grad, device)


def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """`data` as a tensor, sharing memory with a tensor or array where it can.

    Shapes: numbers -> (*), the lists' lengths.  Raises ValueError where the lists differ in length.
    Source: torch.as_tensor.

    >>> import numpy
    >>> array = numpy.zeros(2)
    >>> shared = as_tensor(array)
    >>> array[0] = 5
    >>> shared
    tensor([5., 0.], dtype=torch.float64)
    """
    if isinstance(data, Tensor):
        moved: Tensor = data.to(dtype=dtype, device=device)
        return moved
    if arrays.is_array(data):
        made = data if dtype is None else data.astype(as_numpy_dtype(dtype), copy=False)
        return new_leaf(made, "as_tensor", where=device, outside=made is data)
    return new_leaf(array_of(data, dtype), "as_tensor", where=device)


def from_numpy(data: Any) -> Tensor:
    """A tensor that shares memory with a numpy array.

    Shapes: (*) -> (*).  Raises TypeError for what is no array, or of a dtype that torch has not.
    Source: torch.from_numpy.

    >>> import numpy
    >>> from_numpy(numpy.ones(2, "float32"))
    tensor([1., 1.])
    """
    if not isinstance(data, xp.ndarray):
        kind = type(data)
        name = kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"
        raise TypeError(f"expected np.ndarray (got {name})")
    dtype_of(data)
    return new_leaf(data, "from_numpy", outside=True)


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """A tensor (as in torch since 0.4): of the same elements, a leaf.

    Shapes: (*) -> (*).  Source: torch.autograd.Variable.

    >>> import engine as torch
    >>> torch.autograd.Variable(torch.tensor([1.0]), requires_grad=True)
    tensor([1.], requires_grad=True)
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    made = detach(data)
    if requires_grad:
        made.requires_grad = True
    return made


# -- filled -------------------------------------------------------------------------------------------------------


def shape_given(function: str, given: tuple[Any, ...], size: Any = None) -> tuple[int, ...]:
    """The shape that a user gives as several numbers, as one sequence, or as `size=`."""
    if size is not None:
        given = (size,)
    if not given:
        raise TypeError(f'{function}() missing 1 required positional arguments: "size"')
    found = sizes_of(given)
    listed: tuple[Any, ...] = found
    for n in listed:
        if not isinstance(n, int):
            if len(given) == 1 and not isinstance(given[0], (list, tuple)):
                raise TypeError(
                    f"{function}(): argument 'size' (position 1) must be tuple of ints, not {type(n).__name__}"
                )
            raise TypeError(
                f"{function}(): argument 'size' must be tuple of ints, but found element of type {type(n).__name__}"
            )
        if n < 0 and function == "zeros":
            raise errors.runtime("zeros: Dimension size must be non-negative.")
        if n < 0:
            raise errors.runtime(f"Trying to create tensor with negative dimension {n}: {list(found)}")
    return tuple(map(int, found))  # True is a size too, behind another one


def floating(wanted: Any) -> Any:
    """The numpy dtype asked for; the default one where none is."""
    return as_numpy_dtype(wanted) or arrays.default_dtype.numpy


def zeros(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Zeros of a shape.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.zeros.

    >>> zeros(2)
    tensor([0., 0.])
    """
    shape = shape_given("zeros", size, named.get("size"))
    return new_leaf(xp.zeros(shape, dtype=floating(dtype)), "zeros", requires_grad, device)


def ones(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """Ones of a shape.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.ones.

    >>> ones(2, 3)
    tensor([[1., 1., 1.],
            [1., 1., 1.]])
    """
    shape = shape_given("ones", size, named.get("size"))
    return new_leaf(xp.ones(shape, dtype=floating(dtype)), "ones", requires_grad, device)


def empty(*size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any) -> Tensor:
    """A tensor of a shape whose elements nobody has set: zeros here, so that a recording can be run again.

    Shapes: sizes -> (*size).  Raises RuntimeError for a negative size.  Source: torch.empty.

    >>> empty(2, 3).shape
    torch.Size([2, 3])
    """
    shape = shape_given("empty", size, named.get("size"))
    return new_leaf(xp.zeros(shape, dtype=floating(dtype)), "empty", requires_grad, device)


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
    wanted = as_numpy_dtype(dtype) or _of_number(number)
    shape = shape_given("full", (size,))
    try:
        made = xp.full(shape, number, dtype=wanted)
    except OverflowError:
        if wanted.kind == "u" and -(1 << 8 * wanted.itemsize) < number < 0:
            return full(
                size, number + (1 << 8 * wanted.itemsize), dtype=dtype, device=device, requires_grad=requires_grad
            )
        word = "int" if wanted.name == "int32" else f"{wanted.name}_t"
        raise errors.runtime(f"value cannot be converted to type {word} without overflow") from None
    return new_leaf(made, "full", requires_grad, device)


def _of_number(number: Any) -> Any:
    kind = bool_ if isinstance(number, bool) else int64 if isinstance(number, int) else arrays.default_dtype
    return kind.numpy


def like(input: Tensor, dtype: Any, device: Any) -> tuple[Any, Any]:
    """The numpy dtype and the device of a tensor that is made like `input`."""
    return as_numpy_dtype(dtype) or input._array.dtype, device or input.device


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
    wanted, where = like(input, dtype, device)
    return new_leaf(xp.zeros(input._array.shape, dtype=wanted), "zeros_like", requires_grad, where)


def ones_like(input: Tensor, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any) -> Tensor:
    """Ones in the shape and dtype of `input`.

    Shapes: (*) -> (*).  Source: torch.ones_like.

    >>> import engine as torch
    >>> torch.ones_like(torch.zeros(2))
    tensor([1., 1.])
    """
    need_tensor(input, "ones_like")
    wanted, where = like(input, dtype, device)
    return new_leaf(xp.ones(input._array.shape, dtype=wanted), "ones_like", requires_grad, where)


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
    wanted, where = like(input, dtype, device)
    return new_leaf(xp.zeros(input._array.shape, dtype=wanted), "empty_like", requires_grad, where)


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
    wanted, where = like(input, dtype, device)
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    return new_leaf(xp.full(input._array.shape, number, dtype=wanted), "full_like", requires_grad, where)


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
    wanted = floating(dtype)
    held = 0 if 0 in shape else 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True))
    memory = xp.zeros(held, dtype=wanted)
    data = arrays.strided(memory, shape, [s * wanted.itemsize for s in steps])
    return new_leaf(data, "empty_strided", requires_grad, device)


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """`obj` as a tensor: itself, sharing memory with an array, or of numbers; a copy of its own with `copy`.

    Shapes: numbers -> (*), the lists' lengths.  Raises ValueError where the lists differ in length.
    Source: torch.asarray.

    >>> import engine as torch
    >>> torch.asarray([1, 2])
    tensor([1, 2])
    """
    made = as_tensor(obj, dtype=dtype, device=device)
    if copy and isinstance(obj, (Tensor, xp.ndarray)):
        made = clone(made)
    if requires_grad and not made.requires_grad:
        made.requires_grad = True
    return made


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """The bytes of a Python buffer as a vector that shares memory with it.

    Shapes: bytes -> (N) of N elements.  Raises ValueError for a buffer that is too short, or empty.
    Source: torch.frombuffer.

    >>> import engine as torch
    >>> torch.frombuffer(bytearray(b"abc"), dtype=torch.uint8)
    tensor([97, 98, 99], dtype=torch.uint8)
    """
    wanted, held = as_numpy_dtype(dtype), len(memoryview(buffer).cast("B"))
    assert wanted is not None
    if not held or not count:
        raise ValueError(f"both buffer length ({held}) and count ({count}) must not be 0")
    if not 0 <= offset < held:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({held} bytes) minus 1"
        )
    if count < 0 and (held - offset) % wanted.itemsize:
        raise ValueError(
            f"buffer length ({held - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({wanted.itemsize})"
        )
    if count > 0 and offset + count * wanted.itemsize > held:
        raise ValueError(
            f"requested buffer length ({count} * {wanted.itemsize} bytes) after offset ({offset} bytes) must not be "
            f"greater than actual buffer length ({held} bytes)"
        )
    return new_leaf(xp.frombuffer(buffer, dtype=wanted, count=count, offset=offset), "frombuffer", requires_grad)


def _known_keywords(function: Any) -> Any:
    """The function, which refuses keywords that torch's does not have; those of no effect here are taken."""

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in known:
                raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'")
        return function(*args, **kwargs)

    known = {"layout", "memory_format", "names", "pin_memory", "size", *inspect.signature(function).parameters}
    return checked


for _name in ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like"):
    globals()[_name] = _known_keywords(globals()[_name])


# -- the default dtype ----------------------------------------------------------------------------------------------


def set_default_dtype(which: dtype) -> None:
    """The dtype that Python floats become.

    Raises TypeError for a dtype that is not floating.  Source: torch.set_default_dtype.

    >>> import engine as torch
    >>> torch.set_default_dtype(torch.float64)
    >>> torch.tensor(1.5).dtype
    torch.float64
    >>> torch.set_default_dtype(torch.float32)
    """
    if not which.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    as_numpy_dtype(which)  # says so where numpy has no such numbers
    arrays.default_dtype = which


def get_default_dtype() -> dtype:
    """The dtype that Python floats become.

    Source: torch.get_default_dtype.

    >>> get_default_dtype()
    torch.float32
    """
    return arrays.default_dtype


def shallow(self: Tensor) -> Tensor:
    """copy.copy: another tensor of the same elements, without history."""
    made: Tensor = detach(self)
    made.requires_grad = self.requires_grad
    return made


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
    return made
