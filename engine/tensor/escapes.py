"""Values that leave the graph for Python, as numbers, truth values, lists and arrays: a recording notes each."""

from __future__ import annotations

from typing import Any

from numpy import ndarray

from ..arrays import errors
from ..arrays.session import slot, warn
from .grad_mode import mode
from .tensor import Tensor

CONVERTED = (
    "Converting a tensor with requires_grad=True to a scalar may lead to unexpected behavior.\n"
    "Consider using tensor.detach() first."
)


def escape(tensor: Tensor, kind: str) -> None:
    """Note that a value left for Python."""
    if slot.active is not None:
        number, _ = slot.active.see(tensor)
        slot.active.event("escape", number, kind, tensor._value)


def item(self: Tensor) -> Any:
    """The only element, as a Python number.

    >>> import engine as torch
    >>> torch.tensor(1.5).item()
    1.5
    """
    if self._array.size != 1:
        raise errors.runtime(f"a Tensor with {self._array.size} elements cannot be converted to Scalar")
    escape(self, "item")
    return self._array.item()


def tolist(self: Tensor) -> Any:
    """The elements as nested lists.

    >>> import engine as torch
    >>> torch.tensor([[1, 2]]).tolist()
    [[1, 2]]
    """
    escape(self, "tolist")
    return self._array.tolist()


def numpy(self: Tensor, *, force: bool = False) -> ndarray:
    """The array itself, sharing memory.

    >>> import engine as torch
    >>> torch.tensor([1.5]).numpy()
    array([1.5], dtype=float32)
    """
    if self._requires_grad and mode.enabled and not force:
        raise errors.runtime(
            "Can't call numpy() on Tensor that requires grad. Use tensor.detach().numpy() instead.",
            tensors=(self,),
        )
    if self.is_cuda and not force:
        raise TypeError(
            f"can't convert {self.device} device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )
    escape(self, "numpy")
    self._storage.shared().outside = True
    if slot.active is not None:
        slot.active.before_write(self)
    return self._array if isinstance(self._array, ndarray) else self._array.get()


def _array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> ndarray:
    array: ndarray = self.numpy()
    return array if dtype is None else array.astype(dtype, copy=False)


def _truth(self: Tensor) -> bool:
    if self._array.size != 1:
        kind = "no values" if self._array.size == 0 else "more than one value"
        raise errors.runtime(f"Boolean value of Tensor with {kind} is ambiguous")
    escape(self, "bool")
    return bool(self._array.item())


def _float(self: Tensor) -> float:
    return float(_only(self))


def _int(self: Tensor) -> int:
    return int(_only(self))


def _complex(self: Tensor) -> complex:
    return complex(_only(self))


def _only(self: Tensor) -> Any:
    if self._requires_grad:
        warn(CONVERTED)
    if self._array.size != 1:
        raise ValueError("only one element tensors can be converted to Python scalars")
    return self.item()


def _index(self: Tensor) -> int:
    if self._array.dtype.kind not in "iub" or self._array.size != 1:
        raise TypeError("only integer tensors of a single element can be converted to an index")
    return int(self.item())


def _formatted(self: Tensor, spec: str) -> str:
    """A tensor without dimensions is formatted as its number, also without `spec`, as in torch."""
    return format(self.item(), spec) if self._array.ndim == 0 else object.__format__(self, spec)


METHODS = {
    "item": item, "tolist": tolist, "numpy": numpy, "__array__": _array, "__bool__": _truth, "__float__": _float,
    "__int__": _int, "__complex__": _complex, "__index__": _index, "__format__": _formatted,
}  # fmt: skip
"""All of them, by the names that they have on Tensor."""
