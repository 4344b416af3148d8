"""Padding."""

from __future__ import annotations

from typing import Any

from ...tensor.tensor import Tensor
from .. import functional as F
from ..module import Module
from ..sizes import each

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """More places around the last dimensions: one number for all sides, or (before, after) from the last on."""

    dims: int
    mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = each(padding, 2 * self.dims)

    def forward(self, input: Tensor) -> Tensor:
        """Larger by the sum of both sides in each dimension."""
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return str(self.padding)


class _ConstantPad(_Pad):
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Larger by the sum of both sides in each dimension."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPad):
    """Padding by a constant before and after the last dimension.

    Shapes: (*, L) -> (*, L').  Source: torch.nn.ConstantPad1d.

    >>> import engine as torch
    >>> torch.nn.ConstantPad1d((1, 2), 9)(torch.tensor([[1, 2]]))
    tensor([[9, 1, 2, 9, 9]])
    """

    dims = 1


class ConstantPad2d(_ConstantPad):
    """Padding by a constant around the last two dimensions.

    Shapes: (*, H, W) -> (*, H', W').  Source: torch.nn.ConstantPad2d.

    >>> import engine as torch
    >>> torch.nn.ConstantPad2d((1, 0, 0, 0), 9)(torch.tensor([[[1, 2]]]))
    tensor([[[9, 1, 2]]])
    """

    dims = 2


class ConstantPad3d(_ConstantPad):
    """Padding by a constant around the last three dimensions.

    Shapes: (*, D, H, W) -> (*, D', H', W').  Source: torch.nn.ConstantPad3d.

    >>> import engine as torch
    >>> torch.nn.ConstantPad3d(1, 9)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dims = 3


class _ZeroPad(_ConstantPad):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return str(self.padding)


class ZeroPad1d(_ZeroPad, ConstantPad1d):
    """Zeros before and after the last dimension.

    Shapes: (*, L) -> (*, L').  Source: torch.nn.ZeroPad1d.

    >>> import engine as torch
    >>> torch.nn.ZeroPad1d((1, 2))(torch.tensor([[1, 2]]))
    tensor([[0, 1, 2, 0, 0]])
    """


class ZeroPad2d(_ZeroPad, ConstantPad2d):
    """Zeros around the last two dimensions.

    Shapes: (*, H, W) -> (*, H', W').  Source: torch.nn.ZeroPad2d.

    >>> import engine as torch
    >>> torch.nn.ZeroPad2d((1, 0, 0, 0))(torch.tensor([[[1, 2]]]))
    tensor([[[0, 1, 2]]])
    """


class ZeroPad3d(_ZeroPad, ConstantPad3d):
    """Zeros around the last three dimensions.

    Shapes: (*, D, H, W) -> (*, D', H', W').  Source: torch.nn.ZeroPad3d.

    >>> import engine as torch
    >>> torch.nn.ZeroPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """


class ReflectionPad1d(_Pad):
    """Padding of the last dimension by reflection at its ends.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Source: torch.nn.ReflectionPad1d.

    >>> import engine as torch
    >>> torch.nn.ReflectionPad1d(1)(torch.tensor([[1, 2, 3]]))
    tensor([[2, 1, 2, 3, 2]])
    """

    dims, mode = 1, "reflect"


class ReflectionPad2d(_Pad):
    """Padding of the last two dimensions by reflection at their ends.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Source: torch.nn.ReflectionPad2d.

    >>> import engine as torch
    >>> torch.nn.ReflectionPad2d((1, 1, 0, 0))(torch.tensor([[[1, 2, 3]]]))
    tensor([[[2, 1, 2, 3, 2]]])
    """

    dims, mode = 2, "reflect"


class ReflectionPad3d(_Pad):
    """Padding of the last three dimensions by reflection at their ends.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Source: torch.nn.ReflectionPad3d.

    >>> import engine as torch
    >>> torch.nn.ReflectionPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dims, mode = 3, "reflect"


class ReplicationPad1d(_Pad):
    """Padding of the last dimension by repeating its ends.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Source: torch.nn.ReplicationPad1d.

    >>> import engine as torch
    >>> torch.nn.ReplicationPad1d(1)(torch.tensor([[1.0, 2.0]]))
    tensor([[1., 1., 2., 2.]])
    """

    dims, mode = 1, "replicate"


class ReplicationPad2d(_Pad):
    """Padding of the last two dimensions by repeating their ends.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Source: torch.nn.ReplicationPad2d.

    >>> import engine as torch
    >>> torch.nn.ReplicationPad2d((1, 1, 0, 0))(torch.tensor([[[1.0, 2.0]]]))
    tensor([[[1., 1., 2., 2.]]])
    """

    dims, mode = 2, "replicate"


class ReplicationPad3d(_Pad):
    """Padding of the last three dimensions by repeating their ends.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Source: torch.nn.ReplicationPad3d.

    >>> import engine as torch
    >>> torch.nn.ReplicationPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dims, mode = 3, "replicate"


class _CircularPad(_Pad):
    mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Larger by the sum of both sides in each dimension; raises ValueError for another number of dimensions."""
        least = self.dims + 1
        if input.dim() not in (least, least + 1):
            raise ValueError(f"expected {least}D or {least + 1}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPad):
    """Circular padding of the last dimension.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Raises ValueError for an input of other dimensions.
    Source: torch.nn.CircularPad1d.

    >>> import engine as torch
    >>> torch.nn.CircularPad1d(1)(torch.tensor([[1, 2, 3]]))
    tensor([[3, 1, 2, 3, 1]])
    """

    dims = 1


class CircularPad2d(_CircularPad):
    """Circular padding of the last two dimensions.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Raises ValueError for an input of other dimensions.
    Source: torch.nn.CircularPad2d.

    >>> import engine as torch
    >>> torch.nn.CircularPad2d((1, 1, 0, 0))(torch.tensor([[[1, 2, 3]]]))
    tensor([[[3, 1, 2, 3, 1]]])
    """

    dims = 2


class CircularPad3d(_CircularPad):
    """Circular padding of the last three dimensions.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Raises ValueError for an input of other dimensions.
    Source: torch.nn.CircularPad3d.

    >>> import engine as torch
    >>> torch.nn.CircularPad3d(1)(torch.zeros(1, 2, 2, 2)).shape
    torch.Size([1, 4, 4, 4])
    """

    dims = 3
