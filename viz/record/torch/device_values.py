"""Values of large tensors on a GPU: a sample and statistics, computed there and fetched later.

Neither waits for the GPU: the numbers are copied into pinned memory after the ops that are in its queue, and read when
they are asked for, as a rule when the thread that writes the file comes to them.  This has not been run on a GPU.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from engine.trace.summary import SAMPLE, Summary

NAMES = ("min", "max", "mean", "norm", "nan", "inf", "zeros")


class Fetched:
    """Statistics and a sample on their way from a device; `wait` returns when they have arrived."""

    def __init__(self, statistics: Any, sample: Any, size: int, wait: Callable[[], object]) -> None:
        self.statistics, self._sample, self.size, self.wait = statistics, sample, size, wait
        self.data = None
        self._numbers: dict[str, float] | None = None

    def look(self) -> dict[str, float]:
        """The statistics."""
        if self._numbers is None:
            self.wait()
            numbers = dict(zip(NAMES, self.statistics.tolist(), strict=True))
            counts = {name: int(numbers[name]) for name in ("nan", "inf", "zeros")}
            self._numbers = {**numbers, **counts, "size": self.size}
        return self._numbers

    def sample(self) -> Any:
        """The sample, as an array."""
        self.wait()
        return self._sample.numpy()


class DeviceSummary(Summary):
    """A sample and statistics of a tensor over the limit that is on a device."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], dtype: Any, fetched: Fetched) -> None:
        self._elements: Any = fetched
        self.shape, self.dtype, self.size = shape, dtype, fetched.size

    @property
    def sample(self) -> Any:
        return self._elements.sample().view(self.dtype)


def statistics_of(tensor: Any) -> Any:
    """The statistics of the elements of a tensor, in the order of `NAMES`, as a vector of float64 on its device.

    >>> statistics_of(torch.tensor([3.0, -4.0, 0.0, float("inf")])).tolist()
    [-4.0, 3.0, -0.3333333333333333, 5.0, 0.0, 1.0, 1.0]
    """
    flat = tensor.reshape(-1)
    if not flat.dtype.is_floating_point:
        flat = flat.to(torch.float64)
    finite = torch.isfinite(flat)
    count, nan = finite.sum(), torch.isnan(flat).sum()
    numbers = torch.where(finite, flat, 0)
    none = count == 0
    low = torch.where(none, 0, torch.where(finite, flat, float("inf")).min())
    high = torch.where(none, 0, torch.where(finite, flat, float("-inf")).max())
    mean = numbers.sum(dtype=torch.float64) / count.clamp(min=1)
    norm = torch.linalg.vector_norm(numbers, dtype=torch.float64)
    statistics = (low, high, mean, norm, nan, flat.numel() - count - nan, (flat == 0).sum())
    return torch.stack([one.to(torch.float64) for one in statistics])


def summary(tensor: Any, dtype: Any, size: int) -> DeviceSummary:
    """Sample and statistics of a tensor on a GPU, which arrive later."""
    sample = tensor.reshape(-1)[:: max(1, -(-size // SAMPLE))]
    statistics, elements = fetch(statistics_of(tensor)), fetch(sample)
    event = torch.cuda.Event()
    event.record(torch.cuda.current_stream(tensor.device))
    return DeviceSummary(tuple(tensor.shape), dtype, Fetched(statistics, elements, size, event.synchronize))


def fetch(tensor: Any) -> Any:
    """A copy in pinned memory, complete once the GPU has come so far."""
    copy = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
    return copy.copy_(tensor, non_blocking=True)
