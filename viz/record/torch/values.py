"""What a recording keeps of a tensor of torch: a copy of its elements, or a sample and statistics of many.

Nothing here touches the tensor: neither its memory, which stays resizable, nor the random streams, nor its graph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from engine.trace.summary import OnFile, Summary, sample_of, statistics

from . import device_values

PLAIN = (torch.Tensor, torch.nn.Parameter)
KEPT = frozenset({
    torch.float16, torch.float32, torch.float64, torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32,
    torch.int64,
})  # fmt: skip
"""Element types that a trace has.  Others are shown as the nearest one, or not at all."""
NAMES = {one: str(one).removeprefix("torch.") for one in (*KEPT, torch.complex64, torch.complex128)}
"""Those that a trace can name, also where it has no elements."""
WIDER = {torch.bfloat16: torch.float32}
NUMPY = {dtype: np.dtype(str(dtype).removeprefix("torch.").replace("bool", "bool_").rstrip("_")) for dtype in KEPT}


FEW = 16
"""Elements that are quicker read one by one."""
numel, listed, numpy_of = torch._C.TensorBase.numel, torch._C.TensorBase.tolist, torch._C.TensorBase.numpy
"""torch's own, which `patches` may have replaced on Tensor."""


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
    """What is kept of a tensor whose elements cannot be read: its shape and element type."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], size: int, dtype: Any = None) -> None:
        self.shape, self.dtype, self.size = shape, np.dtype(NAMES.get(dtype, "float32")), size


def kept_of(tensor: Any, limit: int) -> Any:
    """What a recording keeps of a tensor as it is now."""
    try:
        dtype = tensor.dtype
        size = numel(tensor)
        if type(tensor) not in PLAIN or tensor.layout is not torch.strided or tensor.is_meta:
            return unknown(tensor)
        if tensor.is_cuda and torch.cuda.is_current_stream_capturing():  # a CUDA graph is made: nothing runs yet
            return unknown(tensor)
        if dtype not in NUMPY:
            if dtype not in WIDER:
                return unknown(tensor)
            tensor, dtype = tensor.detach().to(WIDER[dtype]), WIDER[dtype]
        if 0 < size <= min(FEW, limit):
            return np.array(listed(tensor), NUMPY[dtype])
        if size <= limit:
            return numpy_of(tensor.detach().cpu() if tensor.is_cuda else tensor.detach().clone())
        return summary(tensor.detach(), size)
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):  # a wrapper without elements of its own
        return unknown(tensor)


def unknown(tensor: Any) -> Unknown:
    """The shape alone."""
    try:
        shape = tuple(int(n) for n in tensor.shape)
    except (RuntimeError, NotImplementedError, TypeError, ValueError):  # of a nested tensor
        shape = ()
    return Unknown(shape, int(np.prod(shape, dtype="int64")), tensor.dtype)


def summary(tensor: Any, size: int) -> Summary:
    """Sample and statistics, of the elements where they lie.  Linear in the size."""
    if tensor.is_cuda:
        return device_values.summary(tensor, NUMPY[tensor.dtype], size)
    array = np.from_dlpack(tensor if tensor.device.type == "cpu" else tensor.cpu())
    return TensorSummary(tuple(array.shape), NUMPY[tensor.dtype], size, sample_of(array).copy(), statistics(array))


def reshaped(known: Any, tensor: Any) -> TensorSummary | None:
    """The summary of a view of all elements of a tensor that has one: only its sample is taken anew."""
    if not isinstance(known, TensorSummary) or known.size != numel(tensor) or type(tensor) not in PLAIN:
        return None
    if tensor.dtype not in NUMPY or tensor.device.type != "cpu":
        return None
    array = np.from_dlpack(tensor.detach())
    return TensorSummary(tuple(array.shape), known.dtype, known.size, sample_of(array).copy(), known.stats)
