"""Tensors from existing data: numbers, memory, another tensor."""

from __future__ import annotations

from typing import Any

from ...arrays import array as arrays
from ...arrays import errors
from ...arrays.array import as_numpy_dtype, copied, device, dtype_of, move, xp
from ...arrays.session import slot, warn
from ...ops.shape import clone, detach
from ...tensor.escapes import escape
from ...tensor.grad_mode import mode
from ...tensor.storage import InferenceStorage
from ...tensor.tensor import Tensor, tensor_of
from .numbers import array_of

__all__ = [
    "as_tensor",
    "asarray",
    "from_numpy",
    "frombuffer",
    "tensor",
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
    leaf = tensor_of(data, requires_grad=requires_grad)
    if mode.inference:
        leaf._storage = InferenceStorage()
    if outside:
        leaf._storage.shared().outside = True
    if slot.active is not None:
        slot.active.see(leaf, source)
    return leaf


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
        array = copied(data._array, as_numpy_dtype(dtype))
    else:
        array = array_of(data, dtype)
    return new_leaf(array, "tensor", requires_grad, device)


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
        array = data if dtype is None else data.astype(as_numpy_dtype(dtype), copy=False)
        return new_leaf(array, "as_tensor", where=device, outside=array is data)
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


def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """`obj` as a tensor: itself, sharing memory with an array, or from numbers; with `copy` always a copy.

    Shapes: numbers -> (*), the lists' lengths.  Raises ValueError where the lists differ in length.
    Source: torch.asarray.

    >>> import engine as torch
    >>> torch.asarray([1, 2])
    tensor([1, 2])
    """
    tensor = as_tensor(obj, dtype=dtype, device=device)
    if copy and isinstance(obj, (Tensor, xp.ndarray)):
        tensor = clone(tensor)
    if requires_grad and not tensor.requires_grad:
        tensor.requires_grad = True
    return tensor


def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """The bytes of a Python buffer as a vector that shares memory with it.

    Shapes: bytes -> (N) of N elements.  Raises ValueError for a buffer that is too short, or empty.
    Source: torch.frombuffer.

    >>> import engine as torch
    >>> torch.frombuffer(bytearray(b"abc"), dtype=torch.uint8)
    tensor([97, 98, 99], dtype=torch.uint8)
    """
    numpy_dtype, length = as_numpy_dtype(dtype), len(memoryview(buffer).cast("B"))
    assert numpy_dtype is not None
    if not length or not count:
        raise ValueError(f"both buffer length ({length}) and count ({count}) must not be 0")
    if not 0 <= offset < length:
        raise ValueError(
            f"offset ({offset} bytes) must be non-negative and no greater than buffer length ({length} bytes) minus 1"
        )
    if count < 0 and (length - offset) % numpy_dtype.itemsize:
        raise ValueError(
            f"buffer length ({length - offset} bytes) after offset ({offset} bytes) must be a multiple of element size "
            f"({numpy_dtype.itemsize})"
        )
    if count > 0 and offset + count * numpy_dtype.itemsize > length:
        raise ValueError(
            f"requested buffer length ({count} * {numpy_dtype.itemsize} bytes) after offset ({offset} bytes) must not "
            f"be greater than actual buffer length ({length} bytes)"
        )
    return new_leaf(xp.frombuffer(buffer, dtype=numpy_dtype, count=count, offset=offset), "frombuffer", requires_grad)


# -- from another tensor --------------------------------------------------------------------------------------------


def Variable(data: Any, requires_grad: bool = False, volatile: bool = False) -> Tensor:
    """A tensor (as in torch since 0.4) with the same elements, as a leaf.

    Shapes: (*) -> (*).  Source: torch.autograd.Variable.

    >>> import engine as torch
    >>> torch.autograd.Variable(torch.tensor([1.0]), requires_grad=True)
    tensor([1.], requires_grad=True)
    """
    if not isinstance(data, Tensor):
        raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
    leaf = detach(data)
    if requires_grad:
        leaf.requires_grad = True
    return leaf


def shallow(self: Tensor) -> Tensor:
    """copy.copy: another tensor of the same elements, without history."""
    copy: Tensor = detach(self)
    copy.requires_grad = self.requires_grad
    return copy


def deepcopy(self: Tensor, memo: Any) -> Tensor:
    """copy.deepcopy of a leaf."""
    if self._node is not None:
        raise errors.runtime(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the "
            "moment.  If you "
            "were attempting to deepcopy a module, this may be because of a torch.nn.utils.weight_norm usage, see "
            "https://github.com/pytorch/pytorch/pull/103001"
        )
    copy = clone(detach(self))
    copy.requires_grad = self.requires_grad
    if self._grad is not None:
        copy._grad = deepcopy(self._grad, memo)
    memo[id(self)] = copy
    return copy
