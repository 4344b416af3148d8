"""Pooling by the largest, and back.  Source: torch.nn.functional."""

from __future__ import annotations

from typing import Any

from ...api.calls.check import need_tensor
from ...arrays import errors
from ...ops import pooling as po
from ...ops import shape as sh
from ...tensor.tensor import Tensor
from . import arguments as ar
from .arguments import Ints

__all__ = [
    "adaptive_max_pool1d",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d",
    "adaptive_max_pool3d_with_indices",
    "max_pool1d",
    "max_pool1d_with_indices",
    "max_pool2d",
    "max_pool2d_with_indices",
    "max_pool3d",
    "max_pool3d_with_indices",
    "max_unpool1d",
    "max_unpool2d",
    "max_unpool3d",
]

Pair = tuple[Tensor, Tensor]

# -- the largest --------------------------------------------------------------------------------------------------


def max_pool1d_with_indices(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Pair:  # fmt: skip
    """The largest of every window of (batch, channels, length), and its position; `return_indices` has no effect.

    Shapes: ([N,] C, L) -> ([N,] C, L'), ([N,] C, L') the places.  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.max_pool1d_with_indices.

    >>> import engine as torch
    >>> torch.nn.functional.max_pool1d_with_indices(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)[1]
    tensor([[1, 2]])
    """
    need_tensor(input, "max_pool1d")
    kernel = ar.one("max_pool1d", "kernel_size", kernel_size)
    step = kernel if stride is None or stride == () else ar.one("max_pool1d", "stride", stride)
    around, gap = ar.one("max_pool1d", "padding", padding), ar.one("max_pool1d", "dilation", dilation)
    wide = ar.flat(
        input, "max_pool1d",
        "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
        f"{list(input._array.shape)}",
    )  # fmt: skip
    sides = (1, kernel), (1, step), (0, around), (1, gap)
    ar.check_windows(wide, 2, *sides, ceil_mode)
    values, indices = po.max_pool2d(wide, *sides, ceil_mode)
    return ar.line(values), ar.line(indices)


def max_pool1d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """The largest of every window of (batch, channels, length); with `return_indices` also its position.

    Shapes: ([N,] C, L) -> ([N,] C, L'), ([N,] C, L') the places.  Raises RuntimeError where the result would be empty.
    Source: torch.nn.functional.max_pool1d.

    >>> import engine as torch
    >>> max_pool1d(torch.tensor([[1.0, 3.0, 2.0, 0.0]]), 2)
    tensor([[3., 2.]])
    """
    if return_indices:
        return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)
    _check_line(input, kernel_size, stride, padding, dilation, ceil_mode)
    return max_pool1d_with_indices(input, kernel_size, stride, padding, dilation, ceil_mode)[0]


def _check_line(input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> None:
    """Raise the errors of max_pool1d without indices, which has texts of its own."""
    need_tensor(input, "max_pool1d")
    name = "max_pool1d()"
    k = ar.one("max_pool1d", "kernel_size", kernel_size)
    s = k if stride is None or stride == () else ar.one("max_pool1d", "stride", stride)
    p, d = ar.one("max_pool1d", "padding", padding), ar.one("max_pool1d", "dilation", dilation)
    shape = list(input._array.shape)
    if len(shape) not in (2, 3) or 0 in shape[-2:]:
        raise errors.runtime(
            "max_pool1d: Expected 2D or 3D (batch mode) tensor with optional 0 dim batch size for input, but got:"
            f"{shape}"
        )
    for what, n in (("kernel_size", k), ("stride", s)):
        if n <= 0:
            raise errors.runtime(f"{name} {what} must be greater than zero, but got {n}")
    if p < 0:
        raise errors.runtime(f"{name} padding must be non-negative, but got {p}")
    if p > k // 2:
        raise errors.runtime(
            f"{name} padding should be at most half of kernel size, but got padding={p} and kernel_size={k}"
        )
    if d <= 0:
        raise errors.runtime(f"{name} dilation must be greater than zero, but got {d}")
    out = po.pooled_size(input._array.shape[-1], k, s, p, d, ceil_mode)
    if out <= 0:
        raise errors.runtime(f"{name} Invalid computed output size: {out}")


def _max_pool(rank: int, input: Tensor, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil: bool) -> Pair:
    name = f"max_pool{rank}d"
    need_tensor(input, name)
    kernel = ar.numbers(name, "kernel_size", kernel_size, rank)
    step = ar.steps(name, stride, kernel, rank)
    around, gap = ar.numbers(name, "padding", padding, rank), ar.numbers(name, "dilation", dilation, rank)
    if rank == 2 and input._array.ndim not in (3, 4):
        raise errors.runtime("non-empty 3D or 4D (batch mode) tensor expected for input")
    ar.check_windows(input, rank, kernel, step, around, gap, ceil)
    if input._array.dtype.kind == "b":
        raise NotImplementedError(f"\"{name}\" not implemented for 'Bool'")
    result: Pair = (po.max_pool2d if rank == 2 else po.max_pool3d)(input, kernel, step, around, gap, ceil)
    return result


def max_pool2d_with_indices(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Pair:  # fmt: skip
    """As `max_pool1d_with_indices`, over (batch, channels, height, width), with flat positions.

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W'), ([N,] C, H', W') the places.  Raises RuntimeError where the result would
    be empty.  Source: torch.nn.functional.max_pool2d_with_indices.

    >>> import engine as torch
    >>> torch.nn.functional.max_pool2d_with_indices(torch.arange(4.0).reshape(1, 2, 2), 2)[1]
    tensor([[[3]]])
    """
    return _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """As `max_pool1d`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W'), ([N,] C, H', W') the places.  Raises RuntimeError where the result would
    be empty.  Source: torch.nn.functional.max_pool2d.

    >>> import engine as torch
    >>> torch.nn.functional.max_pool2d(torch.arange(4.0).reshape(1, 2, 2), 2)
    tensor([[[3.]]])
    """
    result = _max_pool(2, input, kernel_size, stride, padding, dilation, ceil_mode)
    return result if return_indices else result[0]


def max_pool3d_with_indices(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Pair:  # fmt: skip
    """As `max_pool1d_with_indices`, over (batch, channels, depth, height, width), with flat positions.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W'), ([N,] C, D', H', W') the places.  Raises RuntimeError where the
    result would be empty.  Source: torch.nn.functional.max_pool3d_with_indices.

    >>> import engine as torch
    >>> torch.nn.functional.max_pool3d_with_indices(torch.arange(8.0).reshape(1, 2, 2, 2), 2)[1]
    tensor([[[[7]]]])
    """
    return _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0, dilation: Ints = 1,
    ceil_mode: bool = False, return_indices: bool = False,
) -> Any:  # fmt: skip
    """As `max_pool1d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W'), ([N,] C, D', H', W') the places.  Raises RuntimeError where the
    result would be empty.  Source: torch.nn.functional.max_pool3d.

    >>> import engine as torch
    >>> torch.nn.functional.max_pool3d(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    tensor([[[[7.]]]])
    """
    result = _max_pool(3, input, kernel_size, stride, padding, dilation, ceil_mode)
    return result if return_indices else result[0]


# -- the largest of adaptive windows ------------------------------------------------------------------------------


NO_SIZE = "adaptive_max_pool1d(): argument 'output_size' (position 2) must be tuple of ints, not NoneType"


def _adaptive_max(rank: int, input: Tensor, output_size: Any) -> Pair:
    name = f"adaptive_max_pool{rank}d"
    need_tensor(input, name)
    sizes = ar.output_sizes(input, output_size, rank)
    ar.check_adaptive(name, input, rank, ":")
    if len(sizes) != rank:
        raise errors.runtime(f"{name}(): internal error: output_size.size() must be {rank}")
    if min(sizes) < 0:
        shape = [*input._array.shape[:-rank], *sizes]
        raise errors.runtime(f"Trying to create tensor with negative dimension {min(sizes)}: {shape}")
    ar.need_floats(name, input)
    result: Pair = (po.adaptive_max_pool2d if rank == 2 else po.adaptive_max_pool3d)(input, sizes)
    return result


def adaptive_max_pool1d_with_indices(input: Tensor, output_size: Ints, return_indices: bool = False) -> Pair:
    """`output_size` windows that cover (batch, channels, length): the largest of each, and its position.

    Shapes: ([N,] C, L) -> ([N,] C, L'), ([N,] C, L') the places.  Raises RuntimeError for an input of other dimensions.
    Source: torch.nn.functional.adaptive_max_pool1d_with_indices.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_max_pool1d_with_indices(torch.arange(6.0).reshape(1, 6), 3)[1]
    tensor([[1, 3, 5]])
    """
    if output_size is None:
        raise TypeError(NO_SIZE)
    wide = ar.flat(input, "adaptive_max_pool1d", ar.checked_argument("adaptive_max_pool1d", input))
    size = ar.one("adaptive_max_pool1d", "output_size", output_size)
    ar.check_adaptive("adaptive_max_pool1d", input, 1, ":")
    values, indices = _adaptive_max(2, wide, (1, size))
    return ar.line(values), ar.line(indices)


def adaptive_max_pool1d(input: Tensor, output_size: Ints, return_indices: bool = False) -> Any:
    """`output_size` windows that cover (batch, channels, length): the largest of each.

    Shapes: ([N,] C, L) -> ([N,] C, L'), ([N,] C, L') the places.  Raises RuntimeError for an input of other dimensions.
    Source: torch.nn.functional.adaptive_max_pool1d.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_max_pool1d(torch.arange(6.0).reshape(1, 6), 3)
    tensor([[1., 3., 5.]])
    """
    result = adaptive_max_pool1d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool2d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Pair:
    """As `adaptive_max_pool1d_with_indices`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W'), ([N,] C, H', W') the places.  Raises RuntimeError for an input of other
    dimensions.  Source: torch.nn.functional.adaptive_max_pool2d_with_indices.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_max_pool2d_with_indices(torch.arange(4.0).reshape(1, 2, 2), 1)[1]
    tensor([[[3]]])
    """
    return _adaptive_max(2, input, output_size)


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """As `adaptive_max_pool1d`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W) -> ([N,] C, H', W'), ([N,] C, H', W') the places.  Raises RuntimeError for an input of other
    dimensions.  Source: torch.nn.functional.adaptive_max_pool2d.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_max_pool2d(torch.ones(1, 4, 6), (2, 3)).shape
    torch.Size([1, 2, 3])
    """
    result = _adaptive_max(2, input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool3d_with_indices(input: Tensor, output_size: Any, return_indices: bool = False) -> Pair:
    """As `adaptive_max_pool1d_with_indices`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W'), ([N,] C, D', H', W') the places.  Raises RuntimeError for an
    input of other dimensions.  Source: torch.nn.functional.adaptive_max_pool3d_with_indices.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_max_pool3d_with_indices(torch.arange(8.0).reshape(1, 2, 2, 2), 1)[1]
    tensor([[[[7]]]])
    """
    return _adaptive_max(3, input, output_size)


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """As `adaptive_max_pool1d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D', H', W'), ([N,] C, D', H', W') the places.  Raises RuntimeError for an
    input of other dimensions.  Source: torch.nn.functional.adaptive_max_pool3d.

    >>> import engine as torch
    >>> torch.nn.functional.adaptive_max_pool3d(torch.ones(1, 4, 6, 8), (2, 3, 4)).shape
    torch.Size([1, 2, 3, 4])
    """
    result = _adaptive_max(3, input, output_size)
    return result if return_indices else result[0]


# -- back from the largest ----------------------------------------------------------------------------------------


def _unpooled_size(
    input: Tensor, kernel: tuple[int, ...], stride: tuple[int, ...], padding: tuple[int, ...], output_size: Any
) -> tuple[int, ...]:
    """The spatial sizes of what was pooled; a given one may differ by less than a step."""
    rank = len(kernel)
    default = tuple(
        (n - 1) * s + k - 2 * p for n, k, s, p in zip(input._array.shape[-rank:], kernel, stride, padding, strict=True)
    )
    if output_size is None:
        return default
    sizes = tuple(output_size)
    if len(sizes) == rank + 2:
        sizes = sizes[2:]
    if len(sizes) != rank:
        raise ValueError(
            f"output_size should be a sequence containing {rank} or {rank + 2} elements, but it has a length of "
            f"'{len(sizes)}'"
        )
    for d, (n, least, s) in enumerate(zip(sizes, default, stride, strict=True)):
        if not least - s < n < least + s:
            raise ValueError(f'invalid output_size "{sizes}" (dim {d} must be between {least - s} and {least + s})')
    return sizes


def _need_same_shape(shape: list[int], other: list[int]) -> None:
    if shape != other:
        raise errors.runtime(
            f"Expected shape of indices to be same as that of the input tensor ({shape}) but got indices tensor with "
            f"shape: {other}"
        )


def _need_elements(rank: int, shape: list[int]) -> None:
    """Raise torch's error for an input with nothing in it, but for an empty batch."""
    if 0 in shape[1:]:
        raise errors.runtime(
            f"max_unpooling{rank}d_forward_out_cpu(): Expected input to have non-zero size for non-batch dimensions, "
            f"but got {shape} with dimension {shape.index(0, 1)} being empty."
        )


def _unpooled(input: Tensor, indices: Tensor, sizes: tuple[int, ...]) -> Tensor:
    rank = len(sizes)
    if indices._array.dtype != "int64":
        word = indices.dtype.legacy.removesuffix("Tensor")
        raise errors.runtime(f"elements in indices should be type int64 but got: {word}")
    shape = list(input._array.shape)
    if len(shape) not in (rank + 1, rank + 2):
        raise errors.runtime(
            f"Input to max_unpooling{rank}d should be a {rank + 1}d or {rank + 2}d Tensor, but got a tensor with "
            f"{len(shape)} dimensions."
        )
    _need_same_shape(shape, list(indices._array.shape))
    _need_elements(rank, shape)
    many = 1
    for n in sizes:
        many *= n
    outside = (indices._array < 0) | (indices._array >= many)
    if outside.any():
        wrong = int(indices._array[outside][-1])  # torch tells the last
        volume = "x".join(map(str, sizes))
        raise errors.runtime(f"Found an invalid max index: {wrong} (output volumes are of size {volume})")
    return (po.max_unpool2d if rank == 2 else po.max_unpool3d)(input, indices, sizes)


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """Each value at the position from which `max_pool1d` took it, zeros elsewhere.

    Shapes: ([N,] C, L), ([N,] C, L) -> ([N,] C, L').  Raises ValueError for an output_size that pooling would not bring
    to this one.  Source: torch.nn.functional.max_unpool1d.

    >>> import engine as torch
    >>> values, places = torch.nn.functional.max_pool1d(torch.tensor([[1.0, 3.0]]), 2, return_indices=True)
    >>> torch.nn.functional.max_unpool1d(values, places, 2)
    tensor([[0., 3.]])
    """
    kernel = (ar.one("max_unpool1d", "kernel_size", kernel_size),)
    step = kernel if stride is None else (ar.one("max_unpool1d", "stride", stride),)
    sizes = _unpooled_size(input, kernel, step, (ar.one("max_unpool1d", "padding", padding),), output_size)
    last = input._array.ndim - 1
    _need_same_shape([*input._array.shape, 1], [*indices._array.shape, 1])  # torch's place of it
    _need_elements(2, [*input._array.shape, 1])
    return ar.line(_unpooled(sh.unsqueeze(input, last), sh.unsqueeze(indices, last), (1, *sizes)))


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """As `max_unpool1d`, for `max_pool2d`.

    Shapes: ([N,] C, H, W), ([N,] C, H, W) -> ([N,] C, H', W').  Raises ValueError for an output_size that pooling would
    not bring to this one.  Source: torch.nn.functional.max_unpool2d.

    >>> import engine as torch
    >>> torch.nn.functional.max_unpool2d(torch.tensor([[[3.0]]]), torch.tensor([[[3]]]), 2)
    tensor([[[0., 0.],
             [0., 3.]]])
    """
    return _unpool(2, input, indices, kernel_size, stride, padding, output_size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Ints, stride: Ints | None = None, padding: Ints = 0,
    output_size: Any = None,
) -> Tensor:  # fmt: skip
    """As `max_unpool1d`, for `max_pool3d`.

    Shapes: ([N,] C, D, H, W), ([N,] C, D, H, W) -> ([N,] C, D', H', W').  Raises ValueError for an output_size that
    pooling would not bring to this one.  Source: torch.nn.functional.max_unpool3d.

    >>> import engine as torch
    >>> torch.nn.functional.max_unpool3d(torch.tensor([[[[3.0]]]]), torch.tensor([[[[7]]]]), 2).flatten()
    tensor([0., 0., 0., 0., 0., 0., 0., 3.])
    """
    return _unpool(3, input, indices, kernel_size, stride, padding, output_size)


def _unpool(
    rank: int, input: Tensor, indices: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any
) -> Tensor:
    name = f"max_unpool{rank}d"
    need_tensor(input, name)
    need_tensor(indices, name, "indices", 2)
    kernel = ar.numbers(name, "kernel_size", kernel_size, rank)
    step = ar.steps(name, stride, kernel, rank)
    around = ar.numbers(name, "padding", padding, rank)
    if input._array.ndim not in (rank + 1, rank + 2):
        return _unpooled(input, indices, (0,) * rank)
    return _unpooled(input, indices, _unpooled_size(input, kernel, step, around, output_size))
