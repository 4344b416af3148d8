"""torch.nn.grad: the gradients of convolutions, as functions."""

from __future__ import annotations

from collections.abc import Sequence

from ..arrays.errors import runtime
from ..ops import convolution as cv
from ..tensor.tensor import Tensor
from .sizes import each

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]

Ints = int | Sequence[int]
Sizes = tuple[int, ...]


def _steps(
    rank: int, grad: Tensor, sizes: Sequence[int], kernel: Sequence[int], numbers: Sequence[Ints], groups: int
) -> tuple[Sizes, Sizes, Sizes]:
    """Stride, padding and dilation, a number for each dimension.  Raises RuntimeError for shapes that do not fit."""
    stride, padding, dilation = (each(one, rank) for one in numbers)
    sizes, kernel = tuple(sizes), tuple(kernel)
    if sizes[1] != kernel[1] * groups:
        raise runtime(
            f"Given groups={groups}, weight of size {list(kernel)}, expected input{list(sizes)} to have "
            f"{kernel[1] * groups} channels, but got {sizes[1]} channels instead"
        )
    smallest = list(cv.out_sizes(sizes, kernel, stride, padding, dilation, False, (0,) * rank, groups))
    have = list(grad.shape)
    if rank == 1:  # as images of one row, which torch makes of them
        smallest.insert(2, 1)
        have.insert(2, 1)
    for place, (want, size) in enumerate(zip(smallest, have, strict=True)):
        if want != size:
            raise runtime(
                f"Expected a tensor of dimension {len(smallest)} and tensor.size[{place}] == {want} but got: dimension "
                f"{len(smallest)} and tensor.size[{place}] = {size}"
            )
    return stride, padding, dilation


def _of_input(
    rank: int, sizes: Sequence[int], weight: Tensor, grad: Tensor, numbers: Sequence[Ints], groups: int
) -> Tensor:
    steps = _steps(rank, grad, sizes, weight.shape, numbers, groups)
    kernel = tuple(weight.shape)
    result: Tensor = cv.by_input(grad, weight, tuple(sizes), kernel, *steps, False, (0,) * rank, groups)
    return result


def _of_weight(
    rank: int, input: Tensor, kernel: Sequence[int], grad: Tensor, numbers: Sequence[Ints], groups: int
) -> Tensor:
    steps = _steps(rank, grad, input.shape, kernel, numbers, groups)
    result: Tensor = cv.by_weight(grad, input, tuple(kernel), *steps, False, groups)
    return result


def conv1d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of `conv1d`'s input, of shape `input_size`, from that of its result.

    Shapes: (K, C / groups, *), ([N,] K, L) -> (*input_size).  Source: torch.nn.grad.conv1d_input.

    >>> import engine as torch
    >>> torch.nn.grad.conv1d_input((1, 1, 4), torch.ones(1, 1, 2), torch.ones(1, 1, 3)).sum()
    tensor(6.)
    """
    return _of_input(1, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv1d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of `conv1d`'s filters, of shape `weight_size`, from that of its result.

    Shapes: ([N,] C, L), ([N,] K, L') -> (*weight_size).  Source: torch.nn.grad.conv1d_weight.

    >>> import engine as torch
    >>> torch.nn.grad.conv1d_weight(torch.ones(1, 1, 4), (1, 1, 2), torch.ones(1, 1, 3)).sum()
    tensor(6.)
    """
    return _of_weight(1, input, weight_size, grad_output, (stride, padding, dilation), groups)


def conv2d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of `conv2d`'s input, of shape `input_size`, from that of its result.

    Shapes: (K, C / groups, *), ([N,] K, H, W) -> (*input_size).  Source: torch.nn.grad.conv2d_input.

    >>> import engine as torch
    >>> torch.nn.grad.conv2d_input((1, 1, 4, 4), torch.ones(1, 1, 2, 2), torch.ones(1, 1, 3, 3)).sum()
    tensor(36.)
    """
    return _of_input(2, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv2d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of `conv2d`'s filters, of shape `weight_size`, from that of its result.

    Shapes: ([N,] C, H, W), ([N,] K, H', W') -> (*weight_size).  Source: torch.nn.grad.conv2d_weight.

    >>> import engine as torch
    >>> torch.nn.grad.conv2d_weight(torch.ones(1, 1, 4, 4), (1, 1, 2, 2), torch.ones(1, 1, 3, 3)).sum()
    tensor(36.)
    """
    return _of_weight(2, input, weight_size, grad_output, (stride, padding, dilation), groups)


def conv3d_input(
    input_size: Sequence[int], weight: Tensor, grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of `conv3d`'s input, of shape `input_size`, from that of its result.

    Shapes: (K, C / groups, *), ([N,] K, D, H, W) -> (*input_size).  Source: torch.nn.grad.conv3d_input.

    >>> import engine as torch
    >>> torch.nn.grad.conv3d_input((1, 1, 4, 4, 4), torch.ones(1, 1, 2, 2, 2), torch.ones(1, 1, 3, 3, 3)).sum()
    tensor(216.)
    """
    return _of_input(3, input_size, weight, grad_output, (stride, padding, dilation), groups)


def conv3d_weight(
    input: Tensor, weight_size: Sequence[int], grad_output: Tensor, stride: Ints = 1, padding: Ints = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """The gradient of `conv3d`'s filters, of shape `weight_size`, from that of its result.

    Shapes: ([N,] C, D, H, W), ([N,] K, D', H', W') -> (*weight_size).  Source: torch.nn.grad.conv3d_weight.

    >>> import engine as torch
    >>> torch.nn.grad.conv3d_weight(torch.ones(1, 1, 4, 4, 4), (1, 1, 2, 2, 2), torch.ones(1, 1, 3, 3, 3)).sum()
    tensor(216.)
    """
    return _of_weight(3, input, weight_size, grad_output, (stride, padding, dilation), groups)
