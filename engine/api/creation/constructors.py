"""torch's old constructors: `FloatTensor([1, 2])`, `LongTensor(2, 3)`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import (  # fmt: skip
    bool_,
    device,
    dtype,
    dtype_of,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    xp,
)
from ...arrays.errors import C_NAMES
from ...arrays.size import Size
from ...ops.shape import alias
from ...tensor.tensor import Tensor
from ..calls.check import sizes_of
from ..calls.signature import Reader, type_name
from .creation import new_leaf
from .numbers import array_of

__all__ = [
    "BoolTensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
]


FORMS = Reader("new", "* device:dev?= | other:T | size:is * device:dev?= | data:any * device:dev?=")
"""What all of them take: nothing, a tensor, sizes, numbers."""


class _Kind(type):
    """The type of `FloatTensor` and its kin: tensors of the dtype are its instances, whatever made them."""

    which: dtype

    @property
    def dtype(cls) -> dtype:
        """The dtype of its tensors."""
        return cls.which

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return legacy_tensor(cls.__name__, cls.which, args, kwargs)

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.which and not instance.is_cuda


def _legacy(name: str, which: dtype) -> Any:
    constructor = _Kind(name, (), {"which": which, "__module__": "torch"})
    constructor.__doc__ = (
        f"A tensor of dtype {which}, of a sequence's numbers or of a shape.\n\n"
        f"    Shapes: numbers -> (*).  Source: torch.{name}.\n\n    >>> import engine as torch\n"
        f"    >>> torch.{name}([0, 1]).dtype\n    {which}\n    "
    )
    return constructor


def legacy_tensor(name: str, which: dtype | None, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """FloatTensor([1, 2]) holds numbers, FloatTensor(2, 3) is of that shape.

    Without a dtype, numbers and shapes are of the default one, and a tensor keeps its own: that is torch.Tensor.
    """
    lone = len(args) == 1 and isinstance(args[0], (list, tuple)) and not isinstance(args[0], Size)
    refusal = FORMS.refusal(([],) if lone else args, kwargs)  # a list of numbers is looked through as such
    if refusal is not None:
        raise errors.explained(refusal)
    values, where = args, kwargs.get("device")
    if not values:
        values = next(((kwargs[key],) for key in ("other", "size", "data") if key in kwargs), ())
    if len(values) == 1 and isinstance(values[0], Tensor) and "data" not in kwargs:
        return _of_tensor(name, which, values[0], "device" in kwargs)
    if where is not None and device(where).type != "cpu":
        raise errors.runtime(
            f"legacy constructor expects device type: cpu but device type: {device(where).type} was passed"
        )
    if which is None:
        which = arrays.default_dtype
    if "size" in kwargs or (values and "data" not in kwargs and _are_sizes(values)):
        return new_leaf(xp.zeros(_sizes(values), dtype=which.numpy), name)
    array = _numbers(which, *values)
    return new_leaf(array, name, outside=bool(values) and array is values[0])


def _of_tensor(name: str, which: dtype | None, other: Tensor, has_device: bool) -> Tensor:
    """The same elements once more: a view."""
    if has_device:
        form = "new of the form tensor.new" if name == "new" else "constructor of the form torch.Tensor"
        ours = "torch.tensor(...) or " if name != "new" else ""
        raise errors.runtime(
            f"Legacy tensor {form}(tensor, device=device) is not supported.  Use {ours}torch.as_tensor(...) instead."
        )
    if which is not None and other.dtype is not which:
        own_options, other_options = (
            f"TensorOptions(dtype={C_NAMES[d.name]}, device=cpu, layout=Strided, requires_grad=false (default), "
            "pinned_memory=false (default), memory_format=(nullopt))"
            for d in (which, other.dtype)
        )
        raise TypeError(f"expected {own_options} (got {other_options})")
    result: Tensor = alias(other)
    return result


def _are_sizes(arguments: tuple[Any, ...]) -> bool:
    """Several numbers, a Size, or a lone int, be it numpy's."""
    data = arguments[0]
    if len(arguments) > 1 or isinstance(data, Size):
        return True
    whole = hasattr(data, "__index__") and not isinstance(data, (bool, Tensor))
    return whole and getattr(data, "shape", ()) == () and getattr(data, "dtype", int64.numpy).kind in "iu"


def _sizes(arguments: tuple[Any, ...]) -> tuple[int, ...]:
    sizes = sizes_of(arguments)
    if any(size < 0 for size in sizes):
        raise errors.runtime(f"Trying to create tensor with negative dimension {min(sizes)}: {list(sizes)}")
    return sizes


def _numbers(which: dtype, data: Any = ()) -> Any:
    """The elements of a sequence or array; an array of this dtype is taken as it is, and its memory shared."""
    if isinstance(data, (str, bytes)):
        raise TypeError(f"new(): invalid data type '{type(data).__name__}'")
    if isinstance(data, (Tensor, Mapping, xp.generic, type)) or not hasattr(data, "__getitem__"):
        raise TypeError(f"new(): data must be a sequence (got {type_name(data)})")
    if isinstance(data, xp.ndarray):
        dtype_of(data)
        return data.astype(which.numpy, copy=False)
    return array_of(list(data) if isinstance(data, (range, bytearray, memoryview)) else data, which)


def construct(cls: type[Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """torch.Tensor(...), or a class of the user's own that is made of it."""
    tensor = legacy_tensor("Tensor", None, args, kwargs)
    if cls is not Tensor:
        tensor.__class__ = cls
    return tensor


FloatTensor = _legacy("FloatTensor", float32)
DoubleTensor = _legacy("DoubleTensor", float64)
LongTensor = _legacy("LongTensor", int64)
IntTensor = _legacy("IntTensor", int32)
BoolTensor = _legacy("BoolTensor", bool_)
ByteTensor = _legacy("ByteTensor", uint8)
ShortTensor = _legacy("ShortTensor", int16)
CharTensor = _legacy("CharTensor", int8)
HalfTensor = _legacy("HalfTensor", float16)
