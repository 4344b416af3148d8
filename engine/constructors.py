"""torch's old constructors: `FloatTensor([1, 2])`, `LongTensor(2, 3)`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .api.check import sizes_of
from .array import bool_, dtype, float16, float32, float64, int8, int16, int32, int64, uint8, xp
from .creation import new_leaf
from .errors import C_NAMES
from .numbers import array_of
from .ops.shape import detach
from .size import Size
from .tensor import Tensor

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


class _Kind(type):
    """The type of `FloatTensor` and its kin: tensors of the dtype are its instances, whatever made them."""

    which: dtype

    @property
    def dtype(cls) -> dtype:
        """The dtype of its tensors."""
        return cls.which

    def __call__(cls, *args: Any) -> Tensor:
        return legacy_tensor(cls.__name__, cls.which, args)

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


def legacy_tensor(name: str, which: dtype, args: tuple[Any, ...]) -> Tensor:
    """FloatTensor([1, 2]) holds numbers, FloatTensor(2, 3) is of that shape."""
    if len(args) == 1 and isinstance(args[0], Tensor):
        if args[0].dtype is not which:
            wanted, found = (
                f"TensorOptions(dtype={C_NAMES[d.name]}, device=cpu, layout=Strided, requires_grad=false (default), "
                "pinned_memory=false (default), memory_format=(nullopt))"
                for d in (which, args[0].dtype)
            )
            raise TypeError(f"expected {wanted} (got {found})")
        return detach(args[0])
    return new_leaf(legacy_array(name, which, args), name)


def legacy_array(name: str, which: dtype, args: tuple[Any, ...]) -> Any:
    """The elements of a tensor made by one of the old constructors."""
    if not args:
        return xp.zeros(0, dtype=which.numpy)
    if isinstance(args[0], Tensor):
        return args[0]._array
    if isinstance(args[0], Size) or all(isinstance(a, int) and not isinstance(a, bool) for a in args):
        return xp.zeros(sizes_of(args), dtype=which.numpy)
    if isinstance(args[0], str):
        raise TypeError("new(): invalid data type 'str'")
    if not isinstance(args[0], (Sequence, xp.ndarray)):
        raise TypeError(f"new(): data must be a sequence (got {type(args[0]).__name__})")
    return array_of(args[0], which)


FloatTensor = _legacy("FloatTensor", float32)
DoubleTensor = _legacy("DoubleTensor", float64)
LongTensor = _legacy("LongTensor", int64)
IntTensor = _legacy("IntTensor", int32)
BoolTensor = _legacy("BoolTensor", bool_)
ByteTensor = _legacy("ByteTensor", uint8)
ShortTensor = _legacy("ShortTensor", int16)
CharTensor = _legacy("CharTensor", int8)
HalfTensor = _legacy("HalfTensor", float16)
