"""The memory of a tensor: its storage, its offset there, the base of a view."""

from __future__ import annotations

from typing import Any

from ...arrays.array import memory_of, pointer
from ...tensor.tensor import Tensor
from .parts import strides_of

__all__ = [
    "channels_last",
    "contiguous_format",
    "get_device",
    "is_inference",
    "is_neg",
    "is_storage",
    "layout",
    "legacy_contiguous_format",
    "memory_format",
    "preserve_format",
    "resolve_conj",
    "resolve_neg",
]

# -- memory -------------------------------------------------------------------------------------------------------


def data_ptr(self: Tensor) -> int:
    """The address of the first element.

    >>> import engine as torch
    >>> x = torch.zeros(2)
    >>> x[1:].data_ptr() - x.data_ptr()
    4
    """
    return pointer(self._array)


class UntypedStorage:
    """The memory behind a tensor and its views, in bytes.  Source: torch.UntypedStorage."""

    def __init__(self, data: Any) -> None:
        self._memory = memory_of(data)[0]

    def nbytes(self) -> int:
        """How many bytes there are."""
        return int(self._memory.nbytes)

    size = __len__ = nbytes

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return pointer(self._memory)


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The memory that this tensor and its views share.

    >>> import engine as torch
    >>> x = torch.zeros(4)
    >>> x[1:].untyped_storage().nbytes()
    16
    """
    return UntypedStorage(self._array)


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Return whether both are the same elements with the same shape and strides.

    >>> import engine as torch
    >>> x = torch.zeros(2)
    >>> x.is_set_to(x.view(2)), x.is_set_to(x.clone())
    (True, False)
    """
    a, b = self._array, tensor._array
    return bool(pointer(a) == pointer(b) and a.shape == b.shape and a.strides == b.strides)


def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions in the order of their strides, largest first.

    >>> import engine as torch
    >>> torch.zeros(2, 3).t().dim_order()
    (1, 0)
    """
    steps = strides_of(self)
    return tuple(sorted(range(len(steps)), key=lambda d: -steps[d]))


def is_view(self: Tensor) -> bool:
    """Return whether this is a view of another tensor."""
    return self._view is not None


def base(self: Tensor) -> Tensor | None:
    """The tensor that this one is a view of; None for one that is none."""
    return None if self._view is None else self._view.base


class memory_format(str):
    """The order of the elements in memory.

    Source: torch.memory_format.

    >>> import engine as torch
    >>> torch.channels_last
    torch.channels_last
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.{str.__str__(self)}" + ("" if self.startswith("channels") else "_format")


contiguous_format = memory_format("contiguous")
legacy_contiguous_format = contiguous_format
preserve_format = memory_format("preserve")
channels_last = memory_format("channels_last")


class layout:
    """How a tensor keeps its elements: here all of them, by strides.

    Source: torch.layout.

    >>> import engine as torch
    >>> torch.zeros(1).layout
    torch.strided
    """

    def __repr__(self) -> str:
        return "torch.strided"


strided_layout = layout()


def layout_of(self: Tensor) -> layout:
    """torch.strided, for every tensor here."""
    return strided_layout


# -- what real, dense tensors on one device are -------------------------------------------------------------------


def get_device(input: Tensor) -> int:
    """The index of the GPU; -1 on the CPU.

    Source: torch.get_device.

    >>> import engine as torch
    >>> torch.zeros(1).get_device()
    -1
    """
    return -1 if input.device.index is None else input.device.index


def is_neg(input: Tensor) -> bool:
    """False: no tensor here negates its elements on reading.

    Source: torch.is_neg.

    >>> import engine as torch
    >>> torch.is_neg(torch.zeros(1))
    False
    """
    return False


def is_inference(input: Tensor) -> bool:
    """Return whether the tensor was made in inference mode.

    Source: torch.is_inference.

    >>> import engine as torch
    >>> with torch.inference_mode():
    ...     torch.is_inference(torch.zeros(1))
    True
    """
    return Tensor.is_inference(input)


def is_storage(obj: object) -> bool:
    """Return whether `obj` is memory as `untyped_storage` gives it.

    Source: torch.is_storage.

    >>> import engine as torch
    >>> torch.is_storage(torch.zeros(1).untyped_storage())
    True
    """
    return isinstance(obj, UntypedStorage)


def itself(input: Tensor) -> Tensor:
    """The tensor itself: real numbers have nothing to conjugate or to resolve.

    Shapes: (*) -> (*).  Source: torch.resolve_conj, torch.resolve_neg.

    >>> import engine as torch
    >>> torch.resolve_conj(torch.tensor([1.0]))
    tensor([1.])
    """
    return input


resolve_conj = resolve_neg = itself


def no(self: Tensor) -> bool:
    """False, for every tensor here."""
    return False


METHODS = (
    "get_device",
    "is_neg",
    "resolve_conj",
    "resolve_neg",
    "data_ptr",
    "untyped_storage",
    "is_set_to",
    "dim_order",
)
"""Functions that are methods of Tensor too."""
