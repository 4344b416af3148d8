"""What a recording keeps of a tensor of torch: a copy of its elements, or a sample and statistics of many.

Nothing here touches the tensor: neither its memory, which stays resizable, nor the random streams, nor its graph.
"""

from __future__ import annotations

from math import isfinite, sqrt
from typing import Any

import numpy as np
import torch

from engine.trace.summary import SAMPLE, OnFile, Summary

PLAIN = (torch.Tensor, torch.nn.Parameter)
KEPT = frozenset({
    torch.float16, torch.float32, torch.float64, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
    torch.int64,
})  # fmt: skip
"""Element types that a trace has.  Others are shown as the nearest one, or not at all."""
WIDER = {torch.bfloat16: torch.float32}
NUMPY = {dtype: np.dtype(str(dtype).removeprefix("torch.").replace("bool", "bool_").rstrip("_")) for dtype in KEPT}


class TensorSummary(Summary):
    """A sample and statistics of a tensor over the limit, taken at once."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], dtype: Any, size: int, sample: Any, stats: dict[str, float]) -> None:
        self._elements: Any = _Looked(stats)
        self._sample = sample
        self.shape, self.dtype, self.size = shape, dtype, size


class _Looked:
    """Statistics that are known."""

    __slots__ = ("data", "stats")

    def __init__(self, stats: dict[str, float]) -> None:
        self.data, self.stats = None, stats

    def look(self) -> dict[str, float]:
        return self.stats


class Unknown(OnFile):
    """What is kept of a tensor whose elements cannot be read: its shape."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], size: int) -> None:
        self.shape, self.dtype, self.size = shape, np.dtype("float32"), size


def kept_of(tensor: Any, limit: int) -> Any:
    """What a recording keeps of a tensor as it is now."""
    try:
        dtype = tensor.dtype
        if dtype in WIDER:
            tensor, dtype = tensor.to(WIDER[dtype]), WIDER[dtype]
        if dtype not in KEPT or tensor.layout is not torch.strided or type(tensor) not in PLAIN or tensor.is_meta:
            return unknown(tensor)
        size = tensor.numel()
        if size <= limit:
            return tensor.detach().to("cpu", copy=True).numpy() if tensor.is_cuda else tensor.detach().clone().numpy()
        return summary(tensor.detach(), size)
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):  # a wrapper without elements of its own
        return unknown(tensor)


def unknown(tensor: Any) -> Unknown:
    """The shape alone."""
    try:
        shape = tuple(int(n) for n in tensor.shape)
    except (RuntimeError, NotImplementedError, TypeError, ValueError):  # of a nested tensor
        shape = ()
    return Unknown(shape, int(np.prod(shape, dtype="int64")))


def summary(tensor: Any, size: int) -> TensorSummary:
    """Sample and statistics.  Linear in the size."""
    flat = tensor.reshape(-1) if tensor.is_contiguous() else None
    step = max(1, -(-size // SAMPLE))
    sample = (flat if flat is not None else tensor.reshape(-1))[::step].to("cpu", copy=True).numpy()
    return TensorSummary(tuple(tensor.shape), NUMPY[tensor.dtype], size, sample, statistics(tensor, size))


def statistics(tensor: Any, size: int) -> dict[str, float]:
    """min, max, mean and norm of the finite elements, and how many are nan, infinite, zero."""
    if tensor.dtype is torch.bool:
        tensor = tensor.to(torch.uint8)
    low, high = (float(one) for one in torch.aminmax(tensor))
    nan = inf = 0
    if not isfinite(high - low):
        nan = int(torch.isnan(tensor).sum())
        inf = int(torch.isinf(tensor).sum())
        finite = tensor[torch.isfinite(tensor)]
        if not finite.numel():
            return dict(zip(NAMES, (0.0, 0.0, 0.0, 0.0, nan, inf, 0, size), strict=True))
        low, high = (float(one) for one in torch.aminmax(finite))
        zeros = int((finite == 0).sum())
    else:
        finite = tensor
        zeros = size - int(torch.count_nonzero(tensor)) if low <= 0 <= high else 0
    count = finite.numel()
    if tensor.dtype.is_floating_point:
        total = float(finite.sum(dtype=torch.float32 if tensor.dtype is not torch.float64 else torch.float64))
        norm = float(
            torch.linalg.vector_norm(finite, dtype=None if tensor.dtype is not torch.float16 else torch.float32)
        )
        if not isfinite(total) or not isfinite(norm) or (norm == 0.0 and max(-low, high) > 0):
            wide = finite.to(torch.float64)
            total, norm = float(wide.sum()), float(torch.linalg.vector_norm(wide))
    else:
        wide = finite.to(torch.float64)
        total, norm = float(wide.sum()), sqrt(float((wide * wide).sum()))
    return dict(zip(NAMES, (low, high, total / max(count, 1), norm, nan, inf, zeros, size), strict=True))


NAMES = ("min", "max", "mean", "norm", "nan", "inf", "zeros", "size")
