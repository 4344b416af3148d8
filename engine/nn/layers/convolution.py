"""Convolutions and their transposes."""

from __future__ import annotations

import math
from typing import Any

from ...arrays.session import unrecorded
from ...tensor.tensor import Tensor
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import fresh
from ..sizes import each, turned

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

MODES = {"zeros", "reflect", "replicate", "circular"}
STRINGS = {"same", "valid"}


class _Conv(Module):
    """The base of all convolutions: sizes, checks, parameters and the printed form."""

    dims: int
    transposed = False
    padding: Any
    output_padding: tuple[int, ...]

    def _begin(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        groups: int, bias: bool, padding_mode: str, output_padding: Any, device: Any, dtype: Any,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = each(kernel_size, self.dims)
        self.stride = each(stride, self.dims)
        self.padding = padding if isinstance(padding, str) else each(padding, self.dims)
        self.dilation = each(dilation, self.dims)
        self.output_padding = each(output_padding, self.dims)
        self.groups = groups
        self.padding_mode = padding_mode
        self._check()
        inner = (in_channels, out_channels // groups) if self.transposed else (out_channels, in_channels // groups)
        with unrecorded():
            self.weight = fresh(*inner, *self.kernel_size, dtype=dtype, device=device)
            self.register_parameter("bias", fresh(out_channels, dtype=dtype, device=device) if bias else None)
            self.reset_parameters()

    def _check(self) -> None:
        if self.groups <= 0:
            raise ValueError("groups must be a positive integer")
        for name, channels in (("in", self.in_channels), ("out", self.out_channels)):
            if channels % self.groups != 0:
                raise ValueError(f"{name}_channels must be divisible by groups")
        if isinstance(self.padding, str):
            if self.padding not in STRINGS:
                raise ValueError(f"Invalid padding string {self.padding!r}, should be one of {STRINGS}")
            if self.padding == "same" and any(s != 1 for s in self.stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if self.padding_mode not in MODES:
            raise ValueError(f"padding_mode must be one of {MODES}, but got padding_mode='{self.padding_mode}'")

    def reset_parameters(self) -> None:
        """Draw the parameters anew, evenly from ±1/sqrt(fan_in)."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        parts = [
            f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}",
            f"padding={self.padding}" if self.padding != (0,) * len(self.padding) else "",
            f"dilation={self.dilation}" if self.dilation != (1,) * self.dims else "",
            f"output_padding={self.output_padding}" if any(self.output_padding) else "",
            f"groups={self.groups}" if self.groups != 1 else "",
            "bias=False" if self.bias is None else "",
            f"padding_mode={self.padding_mode}" if self.padding_mode != "zeros" else "",
        ]
        return ", ".join(part for part in parts if part)


class _Forward(_Conv):
    """A convolution."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        self._begin(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode, 0, device,
            dtype,
        )  # fmt: skip

    def _sides(self) -> tuple[int, ...]:
        """Return the padding, as `F.pad` takes it, that is added before a convolution that adds none."""
        if not isinstance(self.padding, str):
            return turned(self.padding)
        if self.padding == "valid":
            return (0,) * (2 * self.dims)
        whole = [d * (k - 1) for d, k in zip(self.dilation, self.kernel_size, strict=True)]
        return tuple(side for n in reversed(whole) for side in (n // 2, n - n // 2))

    def forward(self, input: Tensor) -> Tensor:
        """From shape (batch, in_channels, ...) to (batch, out_channels, ...); the batch may be missing."""
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        function = (F.conv1d, F.conv2d, F.conv3d)[self.dims - 1]
        padding = self.padding
        if self.padding_mode != "zeros":
            input, padding = F.pad(input, self._sides(), mode=self.padding_mode), 0
        return function(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Forward):
    """A convolution over (batch, channels, length).

    Shapes: ([N,] in_channels, L) -> ([N,] out_channels, L').  Raises ValueError for channels that `groups` does not
    divide, an unknown padding, and 'same' with a stride.  Source: torch.nn.Conv1d.

    >>> import engine as torch
    >>> torch.nn.Conv1d(2, 4, 3)
    Conv1d(2, 4, kernel_size=(3,), stride=(1,))
    """

    dims = 1


class Conv2d(_Forward):
    """A convolution over (batch, channels, height, width).

    Shapes: ([N,] in_channels, H, W) -> ([N,] out_channels, H', W').  Raises ValueError for channels that `groups`
    does not divide, an unknown padding, and 'same' with a stride.  Source: torch.nn.Conv2d.

    >>> Conv2d(3, 8, 3, padding=1)
    Conv2d(3, 8, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))
    """

    dims = 2


class Conv3d(_Forward):
    """A convolution over (batch, channels, depth, height, width).

    Shapes: ([N,] in_channels, D, H, W) -> ([N,] out_channels, D', H', W').  Raises ValueError for channels that
    `groups` does not divide, an unknown padding, and 'same' with a stride.  Source: torch.nn.Conv3d.

    >>> import engine as torch
    >>> torch.nn.Conv3d(2, 4, 3, padding=1)
    Conv3d(2, 4, kernel_size=(3, 3, 3), stride=(1, 1, 1), padding=(1, 1, 1))
    """

    dims = 3


class _ConvTranspose(_Conv):
    """The transpose of a convolution."""

    transposed = True

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        self._begin(
            in_channels, out_channels, kernel_size, stride, padding, dilation, groups, bias, padding_mode,
            output_padding, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: list[int] | None = None) -> Tensor:
        """From shape (batch, in_channels, ...) to (batch, out_channels, ...); `output_size` chooses among several."""
        function = (F.conv_transpose1d, F.conv_transpose2d, F.conv_transpose3d)[self.dims - 1]
        extra = self.output_padding if output_size is None else self._extra(input, list(output_size))
        return function(input, self.weight, self.bias, self.stride, self.padding, extra, self.groups, self.dilation)

    def _extra(self, input: Tensor, output_size: list[int]) -> tuple[int, ...]:
        """The `output_padding` that gives a size."""
        before = 2 if input.dim() == self.dims + 2 else 1
        if len(output_size) == before + self.dims:
            output_size = output_size[before:]
        if len(output_size) != self.dims:
            raise ValueError(
                f"ConvTranspose{self.dims}D: for {input.dim()}D input, output_size must have {self.dims} or "
                f"{before + self.dims} elements (got {len(output_size)})"
            )
        least = [
            (input.size(d + before) - 1) * self.stride[d] - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1) + 1
            for d in range(self.dims)
        ]  # fmt: skip
        most = [n + s - 1 for n, s in zip(least, self.stride, strict=True)]
        if any(n < low or n > high for n, low, high in zip(output_size, least, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} (for an "
                f"input of {input.size()[2:]})"
            )
        return tuple(n - low for n, low in zip(output_size, least, strict=True))


class ConvTranspose1d(_ConvTranspose):
    """The transpose of Conv1d.

    Shapes: ([N,] in_channels, L) -> ([N,] out_channels, L').  Raises ValueError for channels that `groups` does not
    divide, another padding_mode than zeros, and an output_size that does not fit.  Source: torch.nn.ConvTranspose1d.

    >>> import engine as torch
    >>> torch.nn.ConvTranspose1d(2, 4, 3)(torch.zeros(1, 2, 5)).shape
    torch.Size([1, 4, 7])
    """

    dims = 1


class ConvTranspose2d(_ConvTranspose):
    """The transpose of Conv2d.

    Shapes: ([N,] in_channels, H, W) -> ([N,] out_channels, H', W').  Raises ValueError for channels that `groups`
    does not divide, another padding_mode than zeros, and an output_size that does not fit.
    Source: torch.nn.ConvTranspose2d.

    >>> import engine as torch
    >>> torch.nn.ConvTranspose2d(2, 4, 3, stride=2)(torch.zeros(1, 2, 5, 5)).shape
    torch.Size([1, 4, 11, 11])
    """

    dims = 2


class ConvTranspose3d(_ConvTranspose):
    """The transpose of Conv3d.

    Shapes: ([N,] in_channels, D, H, W) -> ([N,] out_channels, D', H', W').  Raises ValueError for channels that
    `groups` does not divide, another padding_mode than zeros, and an output_size that does not fit.
    Source: torch.nn.ConvTranspose3d.

    >>> import engine as torch
    >>> torch.nn.ConvTranspose3d(2, 4, 3)(torch.zeros(1, 2, 5, 5, 5)).shape
    torch.Size([1, 4, 7, 7, 7])
    """

    dims = 3
