"""Pooling."""

from __future__ import annotations

from typing import Any

from ...tensor.tensor import Tensor
from .. import functional as F
from ..module import Module
from ..sizes import each

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPool(Module):
    """The largest of every window; with `return_indices` also its position."""

    function: Any

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1, return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Any:
        """From shape (batch, channels, ...) to fewer places."""
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )  # fmt: skip

    def extra_repr(self) -> str:
        return (
            f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, dilation={self.dilation}, "
            f"ceil_mode={self.ceil_mode}"
        )


class MaxPool1d(_MaxPool):
    """The largest of every window of (batch, channels, length).

    Shapes: ([N,] C, L) -> ([N,] C, L'); with `return_indices` the places too.  Source: torch.nn.MaxPool1d.

    >>> import engine as torch
    >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[3., 2.]])
    """

    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPool):
    """The largest of every window of (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W'); with `return_indices` the places too.  Source: torch.nn.MaxPool2d.

    >>> MaxPool2d(2)
    MaxPool2d(kernel_size=2, stride=2, padding=0, dilation=1, ceil_mode=False)
    """

    function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPool):
    """The largest of every window of (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W'); with `return_indices` the places too.
    Source: torch.nn.MaxPool3d.

    >>> import engine as torch
    >>> torch.nn.MaxPool3d(2)(torch.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[7.]]]])
    """

    function = staticmethod(F.max_pool3d)


class _MaxUnpool(Module):
    """Values put back where a max pooling found them, zeros elsewhere."""

    dims: int
    function: Any

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = each(kernel_size, self.dims)
        self.stride = each(stride if stride is not None else kernel_size, self.dims)
        self.padding = each(padding, self.dims)

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """The inverse of the pooling, `output_size` where several are possible."""
        out: Tensor = type(self).function(input, indices, self.kernel_size, self.stride, self.padding, output_size)
        return out

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpool):
    """The values of MaxPool1d at their original positions.

    Shapes: ([N,] C, L), ([N,] C, L) -> ([N,] C, L').  Raises ValueError for an output_size that pooling would not
    bring to this one.  Source: torch.nn.MaxUnpool1d.

    >>> import engine as torch
    >>> values, places = torch.nn.MaxPool1d(2, return_indices=True)(torch.tensor([[1.0, 3.0]]))
    >>> torch.nn.MaxUnpool1d(2)(values, places)
    tensor([[0., 3.]])
    """

    dims = 1
    function = staticmethod(F.max_unpool1d)


class MaxUnpool2d(_MaxUnpool):
    """The values of MaxPool2d at their original positions.

    Shapes: ([N,] C, H, W), ([N,] C, H, W) -> ([N,] C, H', W').  Raises ValueError for an output_size that pooling
    would not bring to this one.  Source: torch.nn.MaxUnpool2d.

    >>> import engine as torch
    >>> torch.nn.MaxUnpool2d(2)(torch.tensor([[[3.0]]]), torch.tensor([[[3]]]))
    tensor([[[0., 0.],
             [0., 3.]]])
    """

    dims = 2
    function = staticmethod(F.max_unpool2d)


class MaxUnpool3d(_MaxUnpool):
    """The values of MaxPool3d at their original positions.

    Shapes: ([N,] C, D, H, W), ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Raises ValueError for an output_size that
    pooling would not bring to this one.  Source: torch.nn.MaxUnpool3d.

    >>> import engine as torch
    >>> torch.nn.MaxUnpool3d(2)(torch.tensor([[[[3.0]]]]), torch.tensor([[[[7]]]])).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 3.])
    """

    dims = 3
    function = staticmethod(F.max_unpool3d)


class _AvgPool(Module):
    """The mean of every window."""

    function: Any

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Tensor) -> Tensor:
        """From shape (batch, channels, ...) to fewer places."""
        out: Tensor = type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override,
        )  # fmt: skip
        return out

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPool):
    """The mean of every window of (batch, channels, length).

    Shapes: ([N,] C, L) -> ([N,] C, L').  Source: torch.nn.AvgPool1d.

    >>> import engine as torch
    >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
    tensor([[2., 1.]])
    """

    def __init__(
        self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:  # fmt: skip
        stride = kernel_size if stride is None else stride
        super().__init__(each(kernel_size, 1), each(stride, 1), each(padding, 1), ceil_mode, count_include_pad)

    def forward(self, input: Tensor) -> Tensor:
        """From shape (batch, channels, length) to a shorter one."""
        return F.avg_pool1d(input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPool):
    """The mean of every window of (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Source: torch.nn.AvgPool2d.

    >>> import engine as torch
    >>> torch.nn.AvgPool2d(2)(torch.arange(4.0).reshape(1, 2, 2))
    tensor([[[1.5000]]])
    """

    function = staticmethod(F.avg_pool2d)


class AvgPool3d(_AvgPool):
    """The mean of every window of (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Source: torch.nn.AvgPool3d.

    >>> import engine as torch
    >>> torch.nn.AvgPool3d(2)(torch.arange(8.0).reshape(1, 2, 2, 2))
    tensor([[[[3.5000]]]])
    """

    function = staticmethod(F.avg_pool3d)


class _LPPool(Module):
    """The norm of every window."""

    function: Any

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Tensor) -> Tensor:
        """From shape (batch, channels, ...) to fewer places."""
        out: Tensor = type(self).function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)
        return out

    def extra_repr(self) -> str:
        return (
            f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
            f"ceil_mode={self.ceil_mode}"
        )


class LPPool1d(_LPPool):
    """The norm of every window of (batch, channels, length).

    Shapes: ([N,] C, L) -> ([N,] C, L').  Source: torch.nn.LPPool1d.

    >>> import engine as torch
    >>> torch.nn.LPPool1d(2, 2)(torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPool):
    """The norm of every window of (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Source: torch.nn.LPPool2d.

    >>> import engine as torch
    >>> torch.nn.LPPool2d(2, (1, 2))(torch.tensor([[[3.0, 4.0]]]))
    tensor([[[5.]]])
    """

    function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPool):
    """The norm of every window of (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Source: torch.nn.LPPool3d.

    >>> import engine as torch
    >>> torch.nn.LPPool3d(2, (1, 1, 2))(torch.tensor([[[[3.0, 4.0]]]]))
    tensor([[[[5.]]]])
    """

    function = staticmethod(F.lp_pool3d)


class _AdaptiveMaxPool(Module):
    """The largest of windows that give a size."""

    function: Any

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Tensor) -> Any:
        """From shape (batch, channels, ...) to (batch, channels, *output_size)."""
        return type(self).function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPool):
    """The largest of `output_size` windows.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Source: torch.nn.AdaptiveMaxPool1d.

    >>> import engine as torch
    >>> torch.nn.AdaptiveMaxPool1d(3)(torch.arange(6.0).reshape(1, 6))
    tensor([[1., 3., 5.]])
    """

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPool):
    """The largest of windows that give `output_size`.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Source: torch.nn.AdaptiveMaxPool2d.

    >>> import engine as torch
    >>> torch.nn.AdaptiveMaxPool2d((2, 3))(torch.zeros(1, 4, 6)).shape
    torch.Size([1, 2, 3])
    """

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPool):
    """The largest of windows that give `output_size`.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Source: torch.nn.AdaptiveMaxPool3d.

    >>> import engine as torch
    >>> torch.nn.AdaptiveMaxPool3d(2)(torch.zeros(1, 4, 6, 8)).shape
    torch.Size([1, 2, 2, 2])
    """

    function = staticmethod(F.adaptive_max_pool3d)


class _AdaptiveAvgPool(Module):
    """The mean of windows that give a size."""

    function: Any

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Tensor) -> Tensor:
        """From shape (batch, channels, ...) to (batch, channels, *output_size)."""
        out: Tensor = type(self).function(input, self.output_size)
        return out

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPool):
    """The mean of `output_size` windows.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Source: torch.nn.AdaptiveAvgPool1d.

    >>> import engine as torch
    >>> torch.nn.AdaptiveAvgPool1d(3)(torch.arange(6.0).reshape(1, 6))
    tensor([[0.5000, 2.5000, 4.5000]])
    """

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPool):
    """The mean of windows that give `output_size`.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Source: torch.nn.AdaptiveAvgPool2d.

    >>> import engine as torch
    >>> torch.nn.AdaptiveAvgPool2d((2, 3))(torch.zeros(1, 4, 6)).shape
    torch.Size([1, 2, 3])
    """

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPool):
    """The mean of windows that give `output_size`.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Source: torch.nn.AdaptiveAvgPool3d.

    >>> import engine as torch
    >>> torch.nn.AdaptiveAvgPool3d(2)(torch.zeros(1, 4, 6, 8)).shape
    torch.Size([1, 2, 2, 2])
    """

    function = staticmethod(F.adaptive_avg_pool3d)
