"""The same numbers in another dtype or on another device."""

from __future__ import annotations

from typing import Any

from ...arrays.array import CPU, as_numpy_dtype, device, move
from ...ops import shape as sh
from ...tensor.tensor import Tensor
from ..shape.shape import is_contiguous


def to(
    input: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool = False,
    memory_format: Any = None,
    **_: Any,
) -> Tensor:
    """The tensor in another dtype, on another device or in another memory layout; itself if nothing changes.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).to(torch.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    switches = []
    for value in args:
        if isinstance(value, Tensor):
            dtype, device = value.dtype, value.device
        elif _is_device(value):
            device = value
        elif isinstance(value, bool):
            switches.append(value)
        else:
            dtype = value
    copy = copy or switches[1:] == [True]  # non_blocking, copy
    numpy_dtype = as_numpy_dtype(dtype)
    moved = input if device is None else on_device(input, device)
    changes = numpy_dtype is not None and numpy_dtype != moved._array.dtype
    if memory_format not in (None, "preserve") and (changes or copy or _other_format(moved, memory_format)):
        return sh.cast(moved, numpy_dtype if changes else moved._array.dtype, memory_format=str(memory_format))
    if changes:
        return sh.cast(moved, numpy_dtype)
    return sh.cast(moved, moved._array.dtype) if copy and moved is input else moved


def _other_format(input: Tensor, memory_format: Any) -> bool:
    """Return whether only one of the two is channels_last: the memory format asked for, or the layout."""
    last = input._array.ndim == 4 and not is_contiguous(input) and is_contiguous(input, "channels_last")
    return bool((memory_format == "channels_last") is not last)


def _is_device(value: Any) -> bool:
    return isinstance(value, (str, device))


def on_device(input: Tensor, where: Any) -> Tensor:
    """The tensor on another device; gradients come back to this one."""
    place = device(where)
    if place.type == "cuda" and place.index is None:
        place = device("cuda", 0)
    if place == input.device:
        return input
    if place.type == "cpu" and input.device == CPU:
        return input
    move(input._array[:0] if input._array.ndim else input._array, place)  # says at once where there is no GPU
    return sh.transfer(input, str(place), str(input.device))
