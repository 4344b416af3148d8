"""New tensors of the dtype and on the device of one that is there: `new_zeros` and its kin."""

from __future__ import annotations

from typing import Any

from ...arrays.array import xp
from ...tensor.tensor import Tensor
from . import constructors, creation, fills
from .creation import new_leaf
from .fills import like, shape_given


def _filled(name: str, make: Any) -> Any:
    def method(
        self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **named: Any
    ) -> Tensor:
        shape = shape_given(name, size, named.get("size"))
        numpy_dtype, where = like(self, dtype, device)
        return new_leaf(make(shape, dtype=numpy_dtype), name, requires_grad, where)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As torch.{name[4:]}, in the dtype and on the device of this tensor."
    return method


new_zeros = _filled("new_zeros", xp.zeros)
new_ones = _filled("new_ones", xp.ones)
new_empty = _filled("new_empty", xp.zeros)


def new_full(
    self: Tensor, size: Any, fill_value: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False,
    **_: Any,
) -> Tensor:  # fmt: skip
    """`fill_value` in a shape, in the dtype and on the device of this tensor.

    >>> import engine as torch
    >>> torch.zeros(1).new_full((2,), 3)
    tensor([3., 3.])
    """
    numpy_dtype, where = like(self, dtype, device)
    number = fill_value.item() if isinstance(fill_value, Tensor) else fill_value
    shape = shape_given("new_full", (size,))
    return new_leaf(xp.full(shape, number).astype(numpy_dtype), "new_full", requires_grad, where)


def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """A copy of `data`, in the dtype and on the device of this tensor.

    >>> import engine as torch
    >>> torch.zeros(1, dtype=torch.float64).new_tensor([1, 2])
    tensor([1., 2.], dtype=torch.float64)
    """
    which = self.dtype if dtype is None else dtype
    return creation.tensor(data, dtype=which, device=device or self.device, requires_grad=requires_grad)


def new_empty_strided(
    self: Tensor, size: Any, stride: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, **_: Any
) -> Tensor:
    """As torch.empty_strided, in the dtype and on the device of this tensor.

    >>> import engine as torch
    >>> torch.zeros(1).new_empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    which, where = self.dtype if dtype is None else dtype, device or self.device
    return fills.empty_strided(size, stride, dtype=which, device=where, requires_grad=requires_grad)


def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """torch's old spelling: of a sequence's numbers, or of a shape, in the dtype of this tensor.

    >>> import engine as torch
    >>> torch.tensor([1.0]).new([2, 3])
    tensor([2., 3.])
    """
    return constructors.legacy_tensor("new", self.dtype, args, kwargs)


METHODS = ("new", "new_empty", "new_empty_strided", "new_full", "new_ones", "new_tensor", "new_zeros")
"""Methods of Tensor; torch has no functions of these names."""
