"""The same numbers in another dtype or on another device."""

from __future__ import annotations

from typing import Any

from ..array import CPU, as_numpy_dtype, device, move
from ..ops import shape as sh
from ..tensor import Tensor
from .shape import is_contiguous


def to(
    input: Tensor,
    *args: Any,
    dtype: Any = None,
    device: Any = None,
    copy: bool = False,
    memory_format: Any = None,
    **_: Any,
) -> Tensor:
    """The tensor in another dtype, on another device or laid out otherwise; itself where nothing changes.

    >>> import engine as torch
    >>> torch.tensor([1, 2]).to(torch.float64)
    tensor([1., 2.], dtype=torch.float64)
    """
    for value in args:
        if isinstance(value, Tensor):
            dtype, device = value.dtype, value.device
        elif _is_device(value):
            device = value
        elif not isinstance(value, bool):
            dtype = value
    wanted = as_numpy_dtype(dtype)
    moved = input if device is None else on_device(input, device)
    if memory_format not in (None, "preserve") and not is_contiguous(moved, memory_format):
        return sh.cast(moved, moved._array.dtype if wanted is None else wanted, memory_format=str(memory_format))
    if wanted is not None and wanted != moved._array.dtype:
        return sh.cast(moved, wanted)
    return sh.clone(moved) if copy and moved is input else moved


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
