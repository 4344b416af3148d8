"""Pooling by the mean or a norm, and windows as columns.  Source: torch.nn.functional."""

from __future__ import annotations

from typing import Any

from ...api.calls.check import need_tensor
from ...api.calls.functions import relu, sign
from ...api.math.elementwise import abs
from ...api.reduce.reduction import mean
from ...arrays import errors
from ...ops import pooling as po
from ...ops import resampling as rs
from ...ops.convolution import places_of
from ...tensor.tensor import Tensor
from . import arguments as ar
from .arguments import Ints

__all__ = [
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool1d",
    "avg_pool2d",
    "avg_pool3d",
    "fold",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "unfold",
]


# -- the mean -----------------------------------------------------------------------------------------------------


def avg_pool1d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True,
) -> Tensor:  # fmt: skip
    """The mean of every window of (batch, channels, length); `count_include_pad` also counts the zeros of `padding`.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.avg_pool1d.

    >>> import engine as torch
    >>> avg_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[2., 1.]])
    """
    kernel = ar.one("avg_pool1d", "kernel_size", kernel_size)
    step = kernel if stride is None or stride == () else ar.one("avg_pool1d", "stride", stride)
    around = ar.one("avg_pool1d", "padding", padding)
    wide = ar.flat(input, "avg_pool1d", ar.checked_argument("avg_pool1d", input))
    return ar.line(_avg_pool(2, wide, (1, kernel), (1, step), (0, around), ceil_mode, count_include_pad, None))


def avg_pool2d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """As `avg_pool1d`, over (batch, channels, height, width); sums are divided by `divisor_override` if given.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.avg_pool2d.

    >>> import engine as torch
    >>> torch.nn.functional.avg_pool2d(torch.arange(4.0).reshape(1, 2, 2), 2)
    tensor([[[1.5000]]])
    """
    return _avg_pool(2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, ceil_mode: bool = False,
    count_include_pad: bool = True, divisor_override: int | None = None,
) -> Tensor:  # fmt: skip
    """As `avg_pool2d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.avg_pool3d.

    >>> import engine as torch
    >>> torch.nn.functional.avg_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[3.5000]]]])
    """
    return _avg_pool(3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def _avg_pool(
    rank: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, ceil_mode: bool, count_include_pad: bool,
    divisor: int | None,
) -> Tensor:  # fmt: skip
    name = f"avg_pool{rank}d"
    need_tensor(input, name)
    kernel = ar.numbers(name, "kernel_size", kernel_size, rank)
    step = ar.steps(name, stride, kernel, rank)
    around = ar.numbers(name, "padding", padding, rank)
    if divisor == 0:
        raise errors.runtime("divisor must be not zero")
    ar.check_windows(input, rank, kernel, step, around, (1,) * rank, ceil_mode, mean=True)
    return po.AVG_POOL[rank](input, kernel, step, around, ceil_mode, count_include_pad, divisor)


def adaptive_avg_pool1d(input: Tensor, output_size: Ints) -> Tensor:
    """`output_size` windows that cover (batch, channels, length): the mean of each.

    Shapes: ([N,] C, L) -> ([N,] C, L').  Raises RuntimeError for an input of other dimensions.
    Source: torch.nn.functional.adaptive_avg_pool1d.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_avg_pool1d(torch.arange(6.0).reshape(1, 6), 3)
    tensor([[0.5000, 2.5000, 4.5000]])
    """
    wide = ar.flat(input, "adaptive_avg_pool1d", ar.checked_argument("adaptive_avg_pool1d", input))
    size = ar.one("adaptive_avg_pool1d", "output_size", output_size)
    return ar.line(adaptive_avg_pool2d(wide, (1, size)))


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """As `adaptive_avg_pool1d`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Raises RuntimeError for an input of other dimensions.
    Source: torch.nn.functional.adaptive_avg_pool2d.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 4, 6), (2, 3)).shape
    torch.Size([1, 2, 3])
    """
    return _adaptive_avg(2, input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """As `adaptive_avg_pool1d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Raises RuntimeError for an input of other dimensions.
    Source: torch.nn.functional.adaptive_avg_pool3d.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_avg_pool3d(torch.ones(1, 4, 6, 8), (2, 3, 4)).shape
    torch.Size([1, 2, 3, 4])
    """
    return _adaptive_avg(3, input, output_size)


def _adaptive_avg(rank: int, input: Tensor, output_size: Any) -> Tensor:
    name = f"adaptive_avg_pool{rank}d"
    need_tensor(input, name)
    sizes = ar.output_sizes(input, output_size, rank)
    if len(sizes) != rank:
        raise errors.runtime(f"{name}: output_size must be {rank}")
    if min(sizes) < 0:
        text = ", ".join(map(str, sizes[:2])) + "".join(f",{n}" for n in sizes[2:])  # as torch prints it
        raise errors.runtime(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{text}}}"
        )
    if set(sizes) == {1}:  # as in torch: no pooling where there is one window, and no look at the input
        return mean(input, tuple(range(-rank, 0)), keepdim=True)
    ar.check_adaptive(name, input, rank, "", 1 if rank == 3 else input._array.ndim - rank)
    ar.need_floats(name, input)
    return (rs.adaptive_avg_pool2d if rank == 2 else rs.adaptive_avg_pool3d)(input, sizes)


# -- norms of windows ---------------------------------------------------------------------------------------------


def _normed(total: Tensor, many: int, norm_type: float) -> Tensor:
    signed: Any = sign(total) * relu(abs(total))
    return (signed * many) ** (1.0 / norm_type)


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """The p-norm of every window of (batch, channels, length).

    Shapes: ([N,] C, L) -> ([N,] C, L').  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.lp_pool1d.

    >>> import engine as torch
    >>> torch.nn.functional.lp_pool1d(torch.tensor([[3.0, 4.0]]), 2, 2)
    tensor([[5.]])
    """
    powers: Any = input**norm_type
    total = avg_pool1d(powers, kernel_size, stride, 0, ceil_mode)
    return _normed(total, kernel_size, norm_type)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """As `lp_pool1d`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W').  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.lp_pool2d.

    >>> import engine as torch
    >>> torch.nn.functional.lp_pool2d(torch.tensor([[[3.0, 4.0]]]), 2, (1, 2))
    tensor([[[5.]]])
    """
    sides = ar.numbers("lp_pool2d", "kernel_size", kernel_size, 2)
    powers: Any = input**norm_type
    return _normed(avg_pool2d(powers, sides, stride, 0, ceil_mode), sides[0] * sides[1], norm_type)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Ints, stride: Ints | None = None, ceil_mode: bool = False
) -> Tensor:
    """As `lp_pool1d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.lp_pool3d.

    >>> import engine as torch
    >>> torch.nn.functional.lp_pool3d(torch.tensor([[[[3.0, 4.0]]]]), 2, (1, 1, 2))
    tensor([[[[5.]]]])
    """
    sides = ar.numbers("lp_pool3d", "kernel_size", kernel_size, 3)
    powers: Any = input**norm_type
    return _normed(avg_pool3d(powers, sides, stride, 0, ceil_mode), sides[0] * sides[1] * sides[2], norm_type)


# -- windows as columns -------------------------------------------------------------------------------------------


def _pair(value: Any, name: str) -> tuple[int, int]:
    sides = tuple(value) if isinstance(value, (tuple, list)) else (value, value)
    if len(sides) != 2:
        raise errors.runtime(f"It is expected {name} equals to 2, but got size {len(sides)}")
    return sides[0], sides[1]


def _sides(kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> list[tuple[int, int]]:
    """The four pairs of `unfold` and `fold`, checked."""
    names = ("kernel_size", "dilation", "padding", "stride")
    pairs = [_pair(v, name) for v, name in zip((kernel_size, dilation, padding, stride), names, strict=True)]
    words = (("kernel size", "kernel"), ("dilation", "dilation"), ("padding", "pad"), ("stride", "stride"))
    for place in (0, 3, 1, 2):
        name, short = words[place]
        height, width = pairs[place]
        if min(height, width) < (name != "padding"):
            kind = "non-negative" if name == "padding" else "greater than zero"
            raise errors.runtime(f"{name} should be {kind}, but got {short}_height: {height} {short}_width: {width}")
    return pairs


def unfold(input: Tensor, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1) -> Tensor:
    """Every window of (batch, channels, height, width) as a column: (batch, channels * kernel, windows).

    Shapes: ([N,] C, H, W) -> ([N,] D, L), D = C times the places of a window, L windows.  Raises RuntimeError for an
    input of other dimensions.  Source: torch.nn.functional.unfold.

    >>> import engine as torch
    >>> torch.nn.functional.unfold(torch.ones(1, 3, 4, 4), 2).shape
    torch.Size([1, 12, 9])
    """
    need_tensor(input, "im2col")
    kernel, gap, around, step = _sides(kernel_size, dilation, padding, stride)
    sizes = list(input._array.shape)
    if len(sizes) not in (3, 4) or 0 in sizes[-3:]:
        raise errors.runtime(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, "
            f"but got: {sizes}"
        )
    places = places_of(tuple(sizes[-2:]), kernel, step, around, gap)
    if min(places) < 1:
        raise errors.runtime(
            f"Given input with spatial size ({sizes[-2]}, {sizes[-1]}), kernel_size={kernel}, dilation={gap}, "
            f"padding={around}, calculated shape of the array of sliding blocks as {places}, but its components must "
            "be at least one."
        )
    if input._array.size:  # torch asks for the kernel only where there is something to do
        ar.need_floats("im2col_out_cpu", input)
    return po.im2col(input, kernel, gap, around, step)


def fold(
    input: Tensor, output_size: Ints, kernel_size: Ints, dilation: Ints = 1, padding: Ints = 0, stride: Ints = 1
) -> Tensor:
    """The transpose of `unfold`: every column added to the elements of its window.

    Shapes: ([N,] D, L) -> ([N,] C, *output_size), D = C times the places of a window.  Raises RuntimeError where D or L
    does not fit.  Source: torch.nn.functional.fold.

    >>> import engine as torch
    >>> torch.nn.functional.fold(torch.ones(1, 4, 4), (3, 3), 2)
    tensor([[[[1., 2., 1.],
              [2., 4., 2.],
              [1., 2., 1.]]]])
    """
    need_tensor(input, "col2im")
    size = _pair(output_size, "output_size")
    kernel, gap, around, step = _sides(kernel_size, dilation, padding, stride)
    sizes = list(input._array.shape)
    if len(sizes) not in (2, 3) or 0 in sizes[-2:]:
        raise errors.runtime(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for "
            f"input, but got: {sizes}"
        )
    if sizes[-2] % (kernel[0] * kernel[1]):
        raise errors.runtime(
            "Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got "
            f"input.size(1)={sizes[-2]} and kernel_size={kernel}."
        )
    rows, columns = places_of(size, kernel, step, around, gap)
    if rows * columns != sizes[-1] or min(rows, columns) < 1:
        raise errors.runtime(
            f"Given output_size={size}, kernel_size={kernel}, dilation={gap}, padding={around}, stride={step}, "
            f"expected size of input's dimension 2 to match the calculated number of sliding blocks {rows} * {columns} "
            f"= {rows * columns}, but got input.size(2)={sizes[-1]}."
        )
    ar.need_floats("col2im_out_cpu", input)
    return po.col2im(input, size, kernel, gap, around, step)
