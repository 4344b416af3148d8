"""Values of tensors of torch: a copy of the elements, or a sample and statistics of many.

Nothing here touches the tensor: neither its memory, which stays resizable, nor the random streams, nor its graph.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch._C import _DisableTorchDispatch, _len_torch_dispatch_stack
from torch.nn.parameter import UninitializedBuffer, UninitializedParameter
from torch.utils.dlpack import to_dlpack

from engine.arrays.element_types import ELEMENT_TYPES, NARROW, dtype_named
from engine.trace.summary import StoredArray, Summary, is_dense, sample_of, statistics

from .device_values import queue_of

PLAIN = (torch.Tensor, torch.nn.Parameter)


class Readable(dict[type, bool]):
    """By class, whether tensors of it have their elements in their memory: one with a dispatch of its own may have them
    elsewhere, and a lazy one has none yet."""

    def __missing__(self, kind: Any) -> bool:
        is_lazy = issubclass(kind, (UninitializedParameter, UninitializedBuffer))
        has_own_dispatch = kind.__torch_dispatch__ is not DISPATCH
        has_elements = self[kind] = not (is_lazy or has_own_dispatch)
        return has_elements


READABLE = Readable()
DISPATCH: Any = vars(torch.Tensor)["__torch_dispatch__"]
STRIDED = torch.strided
NUMPY = {getattr(torch, name): dtype for name, dtype in ELEMENT_TYPES.items() if hasattr(torch, name)}
"""The dtypes of what is kept, by torch's.  Of element types that are not here a trace has no elements."""
WIDER = frozenset(getattr(torch, name, None) for name in NARROW)
"""Dtypes that are kept as float32."""

FEW = 16
"""Elements that are quicker read one by one."""
MANY = 1 << 16
"""Elements that numpy copies faster than torch."""
numel, list_of, numpy_of = torch._C.TensorBase.numel, torch._C.TensorBase.tolist, torch._C.TensorBase.numpy
"""torch's own, which `patches` may have replaced on Tensor."""


class TensorSummary(Summary):
    """A sample and statistics of a tensor over the limit, taken at once."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], dtype: Any, size: int, sample: Any, stats: dict[str, float]) -> None:
        self._elements: Any = _KnownStatistics(stats)
        self._sample = sample
        self.shape, self.dtype, self.size = shape, dtype, size


class _KnownStatistics:
    """The known statistics."""

    __slots__ = ("data", "stats")

    def __init__(self, stats: dict[str, float]) -> None:
        self.data, self.stats = None, stats

    def look(self) -> dict[str, float]:
        return self.stats


class UnreadableValue(StoredArray):
    """The value of a tensor whose elements cannot be read: its shape and element type."""

    __slots__ = ()

    def __init__(self, shape: tuple[int, ...], size: int, dtype: Any = None) -> None:
        self.shape, self.size = shape, size
        self.dtype = dtype_named("float32" if dtype is None else str(dtype).removeprefix("torch."))


def value_of(tensor: Any, limit: int) -> Any:
    """The value that a recording keeps of a tensor as it is now."""
    return unheard(plain_value_of, tensor, limit) if _len_torch_dispatch_stack() else plain_value_of(tensor, limit)


def unheard(work: Callable[..., Any], *args: Any) -> Any:
    """Do work of ours; no dispatch mode hears of its ops, ours or the program's."""
    if _len_torch_dispatch_stack():
        with _DisableTorchDispatch():
            return work(*args)
    return work(*args)


def plain_value_of(tensor: Any, limit: int) -> Any:
    """`value_of`, if no mode listens."""
    try:
        dtype = tensor.dtype
        size = numel(tensor)
        kind = NUMPY.get(dtype)
        if kind is None or not READABLE[type(tensor)] or tensor.layout is not STRIDED:
            return unknown(tensor)
        if not tensor.is_cpu:
            return unknown(tensor) if tensor.is_meta else value_elsewhere(tensor, limit)
        if 0 < size <= FEW and size <= limit:
            return np.array(list_of(tensor), kind)
        if tensor.is_neg():  # its memory has the elements with the other sign
            tensor = tensor.detach().resolve_neg()
        if dtype in WIDER:
            tensor = tensor.detach().to(torch.float32)
        if size > limit:
            return summary(tensor.detach(), kind, size)
        array = copied(tensor.detach())
        return array.view(kind) if dtype in WIDER else array
    except (RuntimeError, NotImplementedError, TypeError, AttributeError):  # a wrapper without elements of its own
        return unknown(tensor)


def value_elsewhere(tensor: Any, limit: int) -> Any:
    """The value of a tensor that is not in main memory: it arrives later if its device has a queue, and is fetched now
    otherwise."""
    queue = queue_of(tensor.device.type)
    if queue is None:
        return plain_value_of(tensor.detach().cpu(), limit)
    if tensor.is_cuda and torch.cuda.is_current_stream_capturing():  # a CUDA graph is made: nothing runs yet
        return unknown(tensor)
    kind = NUMPY[tensor.dtype]
    tensor = tensor.detach().resolve_neg()
    tensor = tensor.to(torch.float32) if tensor.dtype in WIDER else tensor
    return queue.summary(tensor, kind) if numel(tensor) > limit else queue.elements(tensor, kind)


def copied(tensor: Any) -> Any:
    """The elements of a tensor without a graph in memory of their own.

    Many are copied by numpy, which asks for large pages from 4 MiB on: a copy of 50 MB then takes a third of the time.
    """
    if numel(tensor) >= MANY and not tensor.is_conj():
        return array_of(tensor).copy("K")
    return numpy_of(tensor.clone())


def shape_of(tensor: Any) -> tuple[int, ...]:
    """The shape of a tensor; empty if it is not known, as that of a nested tensor, or not yet, while torch traces for
    sizes that it does not know: to ask for a number would fix the size."""
    try:
        shape: tuple[int, ...] = tensor.shape
    except (RuntimeError, NotImplementedError):
        return ()
    return shape if type(tensor) in PLAIN or all(type(n) is int for n in shape) else ()


def unknown(tensor: Any) -> UnreadableValue:
    """The shape alone."""
    shape = tuple(shape_of(tensor))
    return UnreadableValue(shape, int(np.prod(shape, dtype="int64")), tensor.dtype)


def summary(tensor: Any, kind: Any, size: int) -> Summary:
    """Sample and statistics, of the elements where they lie.  Linear in the size."""
    array = array_of(tensor)
    return TensorSummary(tuple(array.shape), kind, size, sample_of(array).view(kind).copy(), statistics(array))


class _Capsule:
    """The memory of a tensor as numpy takes it: `Tensor.__dlpack__` checks what is known here, in twice the time."""

    __slots__ = ("_capsule",)

    def __init__(self, tensor: Any) -> None:
        self._capsule = to_dlpack(tensor)

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


def array_of(tensor: Any) -> Any:
    """The elements of a tensor in main memory that requires no gradient, where they lie.  Unlike `numpy()`, this leaves
    the memory resizable."""
    return np.from_dlpack(_Capsule(tensor))


def reshaped(source: Any, tensor: Any) -> TensorSummary | None:
    """The summary of a tensor that has the elements of one that has a summary, in another shape: only its sample is
    taken again."""
    if not isinstance(source, TensorSummary) or source.size != numel(tensor) or not is_plain(tensor):
        return None
    if NUMPY[tensor.dtype] != source.dtype:  # the same memory, read as another type
        return None
    array = array_of(tensor.detach())
    return TensorSummary(tuple(array.shape), source.dtype, source.size, sample_of(array).copy(), source.stats)


def is_plain(tensor: Any) -> bool:
    """Return whether a tensor's memory has its elements as a recording keeps them."""
    return (
        READABLE[type(tensor)] and tensor.layout is torch.strided and tensor.device.type == "cpu"
        and tensor.dtype in NUMPY and tensor.dtype not in WIDER and not tensor.is_neg()
    )  # fmt: skip


def whole_of(tensor: Any) -> Any:
    """The tensor all of whose elements another one has, each once: itself, or that of which it is another view; None if
    it has others, or if they cannot be read."""
    if not is_plain(tensor):
        return None
    if not tensor._is_view():
        return tensor
    base = tensor._base
    is_all = numel(base) == numel(tensor) and base.data_ptr() == tensor.data_ptr()
    return base if is_all and base.dtype is tensor.dtype and is_dense(array_of(tensor.detach())) else None
