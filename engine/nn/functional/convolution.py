"""Convolutions.  Source: torch.nn.functional."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any

from ...api.calls.check import kind
from ...arrays import errors
from ...arrays.array import float32
from ...ops import convolution as cv
from ...ops import image as im
from ...ops import shape as sh
from ...tensor.tensor import Tensor

__all__ = [
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
]

Ints = int | Sequence[int]


def conv1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """Every window of `input` (batch, channels, length) times every filter of `weight`, plus `bias`.

    `weight` is (filters, channels / groups, kernel); without a batch the result has none.  `padding` zeros stand on
    both sides; "valid" is none, "same" keeps the length.

    Shapes: ([N,] C, L), (K, C / groups, *), (K) -> ([N,] K, L').  Raises RuntimeError where the channels, the bias or
    the dimensions do not fit.  Source: torch.nn.functional.conv1d.

    >>> import engine as torch
    >>> conv1d(torch.tensor([[[1.0, 2.0, 4.0]]]), torch.tensor([[[1.0, -1.0]]]))
    tensor([[[-1., -2.]]])
    """
    return _convolution("conv1d", 1, input, weight, bias, stride, padding, dilation, groups)


def conv2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """As `conv1d`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W), (K, C / groups, *), (K) -> ([N,] K, H', W').  Raises RuntimeError where the channels, the
    bias or the dimensions do not fit.  Source: torch.nn.functional.conv2d.

    >>> import engine as torch
    >>> torch.nn.functional.conv2d(torch.ones(1, 3, 8, 8), torch.ones(6, 3, 3, 3), padding=1).shape
    torch.Size([1, 6, 8, 8])
    """
    return _convolution("conv2d", 2, input, weight, bias, stride, padding, dilation, groups)


def conv3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints | str = 0,
    dilation: Ints = 1, groups: int = 1,
) -> Tensor:  # fmt: skip
    """As `conv1d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W), (K, C / groups, *), (K) -> ([N,] K, D', H', W').  Raises RuntimeError where the channels,
    the bias or the dimensions do not fit.  Source: torch.nn.functional.conv3d.

    >>> import engine as torch
    >>> torch.nn.functional.conv3d(torch.ones(1, 1, 4, 4, 4), torch.ones(2, 1, 3, 3, 3)).shape
    torch.Size([1, 2, 2, 2, 2])
    """
    return _convolution("conv3d", 3, input, weight, bias, stride, padding, dilation, groups)


def conv_transpose1d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """The transpose of `conv1d`: every element times every filter, added where the filter's window lies.

    `weight` is (channels, filters / groups, kernel); `output_padding` places are added at the end.

    Shapes: ([N,] C, L), (C, K / groups, *), (K) -> ([N,] K, L').  Raises RuntimeError where the channels, the bias or
    the dimensions do not fit.  Source: torch.nn.functional.conv_transpose1d.

    >>> import engine as torch
    >>> torch.nn.functional.conv_transpose1d(torch.ones(1, 1, 3), torch.ones(1, 1, 2), stride=2)
    tensor([[[1., 1., 1., 1., 1., 1.]]])
    """
    return _transposed("conv_transpose1d", 1, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose2d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """As `conv_transpose1d`, over (batch, channels, height, width).

    Shapes: ([N,] C, H, W), (C, K / groups, *), (K) -> ([N,] K, H', W').  Raises RuntimeError where the channels, the
    bias or the dimensions do not fit.  Source: torch.nn.functional.conv_transpose2d.

    >>> import engine as torch
    >>> torch.nn.functional.conv_transpose2d(torch.ones(1, 3, 4, 4), torch.ones(3, 6, 2, 2), stride=2).shape
    torch.Size([1, 6, 8, 8])
    """
    return _transposed("conv_transpose2d", 2, input, weight, bias, stride, padding, output_padding, groups, dilation)


def conv_transpose3d(
    input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Ints = 1, padding: Ints = 0,
    output_padding: Ints = 0, groups: int = 1, dilation: Ints = 1,
) -> Tensor:  # fmt: skip
    """As `conv_transpose1d`, over (batch, channels, depth, height, width).

    Shapes: ([N,] C, D, H, W), (C, K / groups, *), (K) -> ([N,] K, D', H', W').  Raises RuntimeError where the channels,
    the bias or the dimensions do not fit.  Source: torch.nn.functional.conv_transpose3d.

    >>> import engine as torch
    >>> torch.nn.functional.conv_transpose3d(torch.ones(1, 1, 2, 2, 2), torch.ones(1, 2, 3, 3, 3)).shape
    torch.Size([1, 2, 4, 4, 4])
    """
    return _transposed("conv_transpose3d", 3, input, weight, bias, stride, padding, output_padding, groups, dilation)


# -- one way for all ----------------------------------------------------------------------------------------------


def _convolution(
    name: str, rank: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Tensor:
    _need_tensors(name, input, weight, bias)
    batched, batch = _batch(name, rank, input)
    _need_kernel(weight)
    if padding == "same" and weight._array.ndim != rank + 2:
        raise errors.runtime(
            f"Expected {weight._array.ndim}-dimensional input for {weight._array.ndim}-dimensional weight"
            f"{list(weight._array.shape)}, but got {rank + 2}-dimensional input of size {list(batched._array.shape)} "
            "instead"
        )
    steps, gaps = _numbers(name, "stride", stride, rank, weight), _numbers(name, "dilation", dilation, rank, weight)
    if isinstance(padding, str):
        batched, around = _named_padding(padding, batched, weight, steps, gaps)
    else:
        around = _numbers(name, "padding", padding, rank, weight)
    _check(batched, weight, bias, steps, around, gaps, False, (0,) * rank, groups)
    result = cv.convolution(batched, weight, bias, steps, around, gaps, False, (0,) * rank, groups)
    return result if batch else sh.squeeze_dim(result, 0)


def _transposed(
    name: str, rank: int, input: Any, weight: Any, bias: Any, stride: Any, padding: Any, output_padding: Any,
    groups: int, dilation: Any,
) -> Tensor:  # fmt: skip
    _need_tensors(name, input, weight, bias)
    batched, batch = _batch(name, rank, input)
    _need_kernel(weight)
    steps, gaps = _numbers(name, "stride", stride, rank, weight), _numbers(name, "dilation", dilation, rank, weight)
    around = _numbers(name, "padding", padding, rank, weight)
    more = _numbers(name, "output_padding", output_padding, rank, weight)
    _check(batched, weight, bias, steps, around, gaps, True, more, groups)
    result = cv.convolution(batched, weight, bias, steps, around, gaps, True, more, groups)
    return result if batch else sh.squeeze_dim(result, 0)


def _need_tensors(name: str, input: Any, weight: Any, bias: Any) -> None:
    tensors = (input, weight) if bias is None else (input, weight, bias)
    if not all(isinstance(value, Tensor) for value in tensors):
        kinds = ", ".join(type(value).__name__ for value in tensors)
        raise TypeError(f"{name}() received an invalid combination of arguments - got ({kinds}), but expected one of:")


def _need_kernel(weight: Tensor) -> None:
    if weight._array.ndim < 3:
        raise errors.runtime("weight should have at least three dimensions")


def _batch(name: str, rank: int, input: Tensor) -> tuple[Tensor, bool]:
    """The input with a batch dimension, and whether it had one."""
    have = input._array.ndim
    if have == rank + 2:
        return input, True
    if have == rank + 1:
        return sh.unsqueeze(input, 0), False
    raise errors.runtime(
        f"Expected {rank + 1}D (unbatched) or {rank + 2}D (batched) input to {name}, but got input of size: "
        f"{list(input._array.shape)}"
    )


def _numbers(function: str, name: str, value: Any, rank: int, weight: Tensor) -> tuple[int, ...]:
    """One number per spatial dimension."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not all(hasattr(n, "__index__") for n in values):
        raise TypeError(f"{function}(): argument '{name}' must be tuple of ints, not {type(value).__name__}")
    values = tuple(index(n) for n in values)
    values = values * rank if len(values) == 1 else values
    dims = weight._array.ndim - 2
    if len(values) != dims:
        raise errors.runtime(
            f"expected {name} to be a single integer value or a list of {dims} values to match the convolution "
            f"dimensions, but got {name}={list(values)}"
        )
    return values


def _named_padding(
    padding: str, input: Tensor, weight: Tensor, stride: tuple[int, ...], dilation: tuple[int, ...]
) -> tuple[Tensor, tuple[int, ...]]:
    """The input and the padding on both sides for "same" and "valid"; the odd zero of "same" stands at the end."""
    if padding == "valid":
        return input, (0,) * len(stride)
    if padding != "same":
        raise errors.runtime(f"Invalid padding string: '{padding}'")
    if set(stride) != {1}:
        raise errors.runtime("padding='same' is not supported for strided convolutions")
    totals = [d * (k - 1) for d, k in zip(dilation, weight._array.shape[2:], strict=True)]
    if any(total % 2 for total in totals):
        ends = [end for total in reversed(totals) for end in (0, total % 2)]
        input = im.constant_pad_nd(input, tuple(ends), 0)
    return input, tuple(total // 2 for total in totals)


def _check(
    input: Tensor, weight: Tensor, bias: Tensor | None, stride: tuple[int, ...], padding: tuple[int, ...],
    dilation: tuple[int, ...], transposed: bool, output_padding: tuple[int, ...], groups: int,
) -> None:  # fmt: skip
    """Raise torch's errors, in torch's order."""
    _check_dtypes(input, weight, bias)
    named = {"padding": padding, "output_padding": output_padding}
    for name, values in named.items():
        if min(values) < 0:
            raise errors.runtime(f"negative {name} is not supported")
    for name, values in {"stride": stride, "groups": (groups,)}.items():
        if min(values) <= 0:
            raise errors.runtime(f"non-positive {name} is not supported")
    if min(dilation) <= 0:
        raise errors.runtime(_no_gaps(dilation, transposed, input._array.shape[0] == 1 or input.dtype is not float32))
    _check_channels(input, weight, bias, transposed, groups)
    kernel, sizes = weight._array.shape[2:], input._array.shape[2:]
    if transposed:
        if any(m >= s and m >= d for m, s, d in zip(output_padding, stride, dilation, strict=True)):
            raise errors.runtime(_too_much_output_padding(output_padding, stride, dilation))
        return
    wide = [n + 2 * p for n, p in zip(sizes, padding, strict=True)]
    reach = [d * (k - 1) + 1 for d, k in zip(dilation, kernel, strict=True)]
    if any(n < r for n, r in zip(wide, reach, strict=True)):
        raise errors.runtime(
            f"Calculated padded input size per channel: ({' x '.join(map(str, wide))}). Kernel size: "
            f"({' x '.join(map(str, reach))}). Kernel size can't be greater than actual input size"
        )
    if 0 in sizes:
        raise errors.runtime(
            "Only zero batch or zero channel inputs are supported, but got input shape: " + str(list(input.shape))
        )


def _no_gaps(dilation: tuple[int, ...], transposed: bool, plain: bool) -> str:
    """Write torch's error about a dilation of 0 or less; for 0, its library for batches in float32 has another text."""
    message = "dilation should be greater than zero"
    if min(dilation) < 0:
        return message
    if not plain:
        return "non-positive dilation is not supported"
    gaps = dilation if len(dilation) > 1 else (1, *dilation)
    names = ("depth", "height", "width")[-len(gaps) :]
    named = ", ".join(f"dilation_{name}: {n}" for name, n in zip(names, gaps, strict=True))
    return f"{message}, but got {named if transposed else list(gaps)}"


def _too_much_output_padding(
    output_padding: tuple[int, ...], stride: tuple[int, ...], dilation: tuple[int, ...]
) -> str:
    names = ("depth", "height", "width")[-max(len(stride), 2) :]
    pairs = [
        f"{kind}_{name}: {n}"
        for kind, values, single in (
            ("output_padding", output_padding, 0), ("stride", stride, 1), ("dilation", dilation, 1)
        )
        for name, n in zip(names, values if len(values) > 1 else (single, *values), strict=True)
    ]  # fmt: skip
    return "output padding must be smaller than either stride or dilation, but got " + " ".join(pairs)


def _check_dtypes(input: Tensor, weight: Tensor, bias: Tensor | None) -> None:
    dtype, other = input.dtype, weight.dtype
    if bias is not None and bias.dtype is not dtype:
        names = [errors.C_NAMES[d.name] for d in (dtype, bias.dtype)]
        raise errors.runtime(f"Input type ({names[0]}) and bias type ({names[1]}) should be the same")
    if dtype is other:
        return
    if dtype is float32:
        raise errors.runtime(
            f"Input type (torch.{dtype.legacy}) and weight type (torch.{other.legacy}) should be the same or input "
            "should be a MKLDNN tensor and weight is a dense tensor"
        )
    raise errors.runtime(f"expected scalar type {kind(input)} but found {kind(weight)}")


def _check_channels(input: Tensor, weight: Tensor, bias: Tensor | None, transposed: bool, groups: int) -> None:
    sizes, have = list(weight._array.shape), list(input._array.shape)
    if sizes[0] < groups:
        raise errors.runtime(
            f"Given groups={groups}, expected weight to be at least {groups} at dimension 0, but got weight of size "
            f"{sizes} instead"
        )
    if sizes[0] % groups:
        raise errors.runtime(
            f"Given groups={groups}, expected weight to be divisible by {groups} at dimension 0, but got weight of "
            f"size [{sizes}] instead"
        )
    channels = sizes[0] if transposed else sizes[1] * groups
    if have[1] != channels:
        raise errors.runtime(
            f"Given {'transposed=1' if transposed else f'groups={groups}'}, weight of size {sizes}, expected "
            f"input{have} to have {channels} channels, but got {have[1]} channels instead",
            tensors=(input, weight),
        )
    filters = sizes[1] * groups if transposed else sizes[0]
    if bias is not None and bias._array.shape != (filters,):
        raise errors.runtime(
            f"Given {'transposed=1, ' if transposed else ''}weight of size {sizes}, expected bias to be 1-dimensional "
            f"with {filters} elements, but got bias of size {list(bias._array.shape)} instead",
            tensors=(weight, bias),
        )
