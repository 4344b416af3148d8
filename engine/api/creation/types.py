"""Properties of dtypes: the default, their limits, promotion, casting."""

from __future__ import annotations

from typing import Any

from ...arrays import array as arrays
from ...arrays.array import BY_NUMPY, as_numpy_dtype, dtype, xp
from ...arrays.promotion import RANK, result_dtype
from ...tensor.tensor import Tensor
from ..calls.check import combination, need_tensor, typename
from .conversion import to

__all__ = [
    "can_cast",
    "finfo",
    "get_default_dtype",
    "iinfo",
    "is_complex",
    "is_conj",
    "is_floating_point",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "promote_types",
    "result_type",
    "set_default_dtype",
    "typename",
]


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

    >>> import engine as torch
    >>> torch.get_default_dtype()
    torch.float32
    """
    return arrays.default_dtype


class finfo:
    """The limits of a floating dtype; of the default one if none is given.

    Source: torch.finfo.

    >>> import engine as torch
    >>> torch.finfo(torch.float32).eps
    1.1920928955078125e-07
    """

    def __init__(self, type: dtype | None = None) -> None:
        which = arrays.default_dtype if type is None else type
        _need_dtype(which, "finfo")
        if not which.is_floating_point:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        limits = xp.finfo(which.numpy)
        self.bits = int(limits.bits)
        self.dtype = which.name
        self.eps, self.min, self.max = float(limits.eps), float(limits.min), float(limits.max)
        self.tiny = self.smallest_normal = float(limits.smallest_normal)
        self.resolution = float(f"1e-{limits.precision}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


class iinfo:
    """The limits of an integer dtype.

    Source: torch.iinfo.

    >>> import engine as torch
    >>> torch.iinfo(torch.int8)
    iinfo(min=-128, max=127, dtype=int8)
    """

    def __init__(self, type: dtype) -> None:
        _need_dtype(type, "iinfo")
        if type.is_floating_point:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        if type.name == "bool":
            raise TypeError("torch.bool is not supported by torch.iinfo")
        limits = xp.iinfo(type.numpy)
        self.bits, self.min, self.max, self.dtype = int(limits.bits), int(limits.min), int(limits.max), type.name

    def __repr__(self) -> str:
        return f"iinfo(min={self.min}, max={self.max}, dtype={self.dtype})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.dtype)


LEGACY = {which.legacy: which for which in arrays.DTYPES}


def type_(input: Tensor, dtype: Any = None, non_blocking: bool = False) -> Any:
    """torch's name of the tensor type, or the tensor in another dtype, which may be given by such a name.

    >>> import engine as torch
    >>> torch.zeros(1).type()
    'torch.FloatTensor'
    """
    if dtype is None:
        return f"torch.{'cuda.' if input.is_cuda else ''}{input.dtype.legacy}"
    if not isinstance(dtype, (str, arrays.dtype)):
        dtype = getattr(dtype, "__name__", dtype)  # torch.DoubleTensor itself
        if not isinstance(dtype, str):
            raise TypeError("dtype must be a type, str, or dtype object")
    if isinstance(dtype, str):
        legacy = LEGACY.get(dtype.removeprefix("torch."))
        if legacy is None:
            raise ValueError(f"invalid type: '{dtype}'")
        dtype = legacy
    return to(input, dtype)


def is_cpu(input: Tensor) -> bool:
    """Return whether the elements lie in the processor's memory."""
    return not input.is_cuda


def _need_dtype(value: Any, function: str, name: str = "type", position: int = 1) -> None:
    if not isinstance(value, dtype):
        raise TypeError(
            f"{function}(): argument '{name}' (position {position}) must be torch.dtype, not {type(value).__name__}"
        )


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """The dtype of an arithmetic result of two tensors or numbers.

    Source: torch.result_type.

    >>> import engine as torch
    >>> torch.result_type(torch.tensor([1]), 2.5)
    torch.float32
    """
    for value in (tensor1, tensor2):
        if not isinstance(value, (Tensor, int, float)):
            raise combination("result_type", tensor1, tensor2)
    return BY_NUMPY[result_dtype([v._array if isinstance(v, Tensor) else v for v in (tensor1, tensor2)])]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype to which both dtypes can be promoted.

    Source: torch.promote_types.

    >>> import engine as torch
    >>> torch.promote_types(torch.int64, torch.float32)
    torch.float32
    """
    _need_dtype(type1, "promote_types", "type1")
    _need_dtype(type2, "promote_types", "type2", 2)
    return BY_NUMPY[result_dtype([xp.zeros(1, type1.numpy), xp.zeros(1, type2.numpy)])]


def can_cast(from_: dtype, to: dtype) -> bool:
    """Return whether torch would write a result of the one dtype into a tensor of the other, which it does unless the
    category becomes lower.

    Source: torch.can_cast.

    >>> import engine as torch
    >>> torch.can_cast(torch.float32, torch.int64)
    False
    """
    return RANK[from_.numpy.kind] <= RANK[to.numpy.kind]


def is_floating_point(input: Tensor) -> bool:
    """Return whether the dtype is a float.

    Source: torch.is_floating_point.

    >>> import engine as torch
    >>> torch.is_floating_point(torch.tensor(1))
    False
    """
    need_tensor(input, "is_floating_point")
    return input.is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Return whether the dtype is complex: always False, because complex tensors are out of scope.

    Source: torch.is_complex.

    >>> import engine as torch
    >>> torch.is_complex(torch.zeros(1))
    False
    """
    need_tensor(input, "is_complex")
    return False


def is_conj(input: Tensor) -> bool:
    """Return whether the tensor is a conjugated view: always False.

    Source: torch.is_conj.

    >>> import engine as torch
    >>> torch.is_conj(torch.zeros(1))
    False
    """
    need_tensor(input, "is_conj")
    return False


def is_signed(input: Tensor) -> bool:
    """Return whether the dtype has negative numbers.

    Source: torch.is_signed.

    >>> import engine as torch
    >>> torch.is_signed(torch.zeros(1, dtype=torch.uint8))
    False
    """
    need_tensor(input, "is_signed")
    return input._array.dtype.kind in "if"


def is_nonzero(input: Tensor) -> bool:
    """Return whether the only element is not zero.

    Raises RuntimeError for several elements, or none.  Source: torch.is_nonzero.

    >>> import engine as torch
    >>> torch.is_nonzero(torch.tensor([0.0]))
    False
    """
    need_tensor(input, "is_nonzero")
    return bool(input)


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Return whether the shapes are equal.

    Source: torch.is_same_size.

    >>> import engine as torch
    >>> torch.is_same_size(torch.ones(2), torch.ones(3))
    False
    """
    return bool(input._array.shape == other._array.shape)


METHODS = ("is_complex", "is_conj", "is_nonzero", "is_same_size", "is_signed")
"""Functions that are methods of Tensor too."""
