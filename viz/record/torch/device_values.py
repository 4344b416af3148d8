"""Values of tensors on a GPU: their elements, or a sample and statistics that are computed there, which arrive later.

Nothing waits for the GPU: what is kept is copied into pinned memory after the ops that are in its queue, and read when
it is asked for, as a rule when the thread that writes the file comes to it.  This has been run on a device made of main
memory whose copies come late, and not yet on a GPU.
"""

from __future__ import annotations

import functools
from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from engine.trace.summary import SAMPLE, PendingArray, Summary

NAMES = ("min", "max", "mean", "norm", "nan", "inf", "zeros")
PART = 2**24
"""Elements of which statistics are computed together: what this takes of the GPU's memory is bounded."""
BLOCK = 2**22
"""Bytes of pinned memory that are asked for together, which is slow."""
ALIGNED = 64
numpy_of = torch._C.TensorBase.numpy
"""torch's own, which `patches` may have replaced on Tensor: the elements do not leave the program here."""
WAITING = 64 * 2**20
"""Bytes of arrays that may wait in pinned memory, which the system cannot use otherwise."""


@functools.cache
def queue_of(kind: str) -> Queue | None:
    """The queue of the devices of a kind; None if what they compute cannot be fetched later."""
    library = getattr(torch, kind, None)
    if not hasattr(library, "Event") or not hasattr(library, "current_stream"):
        return None
    try:
        return Queue(library)
    except RuntimeError:  # it has no pinned memory
        return None


class Queue:
    """Copies from devices of a kind into pinned memory, each after the ops that are in its device's queue.

    `coming` are those that nobody has read, oldest first; those beyond `WAITING` bytes are read.
    """

    def __init__(self, library: Any) -> None:
        self.library = library
        self.block, self._free = pinned(BLOCK), 0
        self.coming: deque[PendingArray] = deque()
        self.bytes = 0

    def elements(self, tensor: Any, kind: Any) -> PendingArray:
        """All elements of a tensor, as an array."""
        elements, wait = self._copy(tensor), self._event(tensor.device)

        def arrive() -> Any:
            wait()
            return elements.view(kind).copy()

        array = PendingArray(tuple(tensor.shape), kind, arrive)
        self.coming.append(array)
        self.bytes += max(array.nbytes, ALIGNED)
        while self.coming and (self.bytes > WAITING or self.coming[0].is_there):
            oldest = self.coming.popleft()
            self.bytes -= max(oldest.nbytes, ALIGNED)
            oldest.read()
        return array

    def summary(self, tensor: Any, kind: Any) -> DeviceSummary:
        """Sample and statistics of a tensor with many elements."""
        size = tensor.numel()
        sample = tensor.reshape(-1)[:: max(1, -(-size // SAMPLE))]
        statistics = self.elements(statistics_of(tensor), np.dtype("float64"))
        return DeviceSummary(tuple(tensor.shape), size, self.elements(sample, kind), statistics)

    def _copy(self, tensor: Any) -> Any:
        """A copy in pinned memory, as an array, complete once the device has come so far."""
        size = tensor.numel() * tensor.element_size()
        if size > BLOCK:
            copy = pinned(size)
        else:
            if self._free + size > BLOCK:
                self.block, self._free = pinned(BLOCK), 0
            copy = self.block[self._free : self._free + size]
            self._free = -(-(self._free + size) // ALIGNED) * ALIGNED
        return numpy_of(copy.view(tensor.dtype).view(tensor.shape).copy_(tensor, non_blocking=True))

    def _event(self, device: Any) -> Callable[[], object]:
        """What waits until the device has done all that is in its queue now."""
        event = self.library.Event()
        event.record(self.library.current_stream(device))
        wait: Callable[[], object] = event.synchronize
        return wait


def pinned(size: int) -> Any:
    """Memory that a device can write by itself."""
    return torch.empty(size, dtype=torch.uint8, pin_memory=True)


class DeviceSummary(Summary):
    """A sample and statistics of a tensor over the limit that is on a device, which arrive later."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], size: int, sample: PendingArray, statistics: PendingArray) -> None:
        self._elements: Any = _Statistics(statistics, size)
        self._sample = sample
        self.shape, self.dtype, self.size = shape, sample.dtype, size

    @property
    def sample(self) -> Any:
        return self._sample.read()


class _Statistics:
    """The statistics of an array that is not in main memory."""

    __slots__ = ("data", "size", "statistics")

    def __init__(self, statistics: PendingArray, size: int) -> None:
        self.data, self.statistics, self.size = None, statistics, size

    def look(self) -> dict[str, float]:
        numbers = dict(zip(NAMES, self.statistics.read().tolist(), strict=True))
        counts = {name: int(numbers[name]) for name in ("nan", "inf", "zeros")}
        return {**numbers, **counts, "size": self.size}


def statistics_of(tensor: Any) -> Any:
    """The statistics of the elements of a tensor, in the order of `NAMES`, as a vector of float64 on its device.

    >>> statistics_of(torch.tensor([3.0, -4.0, 0.0, float("inf")])).tolist()
    [-4.0, 3.0, -0.3333333333333333, 5.0, 0.0, 1.0, 1.0]
    """
    parts = torch.stack([_statistics_of_part(part) for part in tensor.reshape(-1).split(PART)])
    low, high, (total, count, nan, inf, zeros) = parts[:, 0].min(), parts[:, 1].max(), parts[:, 3:].sum(0)
    norm = torch.linalg.vector_norm(parts[:, 2])
    low, high = (torch.where(count == 0, 0, one) for one in (low, high))
    return torch.stack([low, high, total / count.clamp(min=1), norm, nan, inf, zeros])


def _statistics_of_part(flat: Any) -> Any:
    """Of some of the elements: those that are finite by least, largest, norm, sum and count, and how many are nan,
    infinite and zero."""
    flat = flat if flat.dtype.is_floating_point else flat.to(torch.float64)
    finite = torch.isfinite(flat)
    numbers = torch.where(finite, flat, 0)
    low = torch.where(finite, flat, float("inf")).min()
    high = torch.where(finite, flat, float("-inf")).max()
    norm = torch.linalg.vector_norm(numbers, dtype=torch.float64)
    total, count, nan = numbers.sum(dtype=torch.float64), finite.sum(), torch.isnan(flat).sum()
    numbers_of = (low, high, norm, total, count, nan, flat.numel() - count - nan, (flat == 0).sum())
    return torch.stack([one.to(torch.float64) for one in numbers_of])
