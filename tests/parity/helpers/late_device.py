"""A device of its own for PyTorch, written in Python, whose copies into main memory come late.

Its tensors lie in main memory under another name.  Like a GPU it makes autograd run the backward pass in a thread of
its own, and a copy that does not block has no elements until somebody waits for it.  Once registered it stays: tests
use it in a process of their own.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import torch
from torch.utils._pytree import tree_map

NAME = "late"
BEHIND: dict[int, Any] = {}
"""The tensors in main memory, by the storages of those on the device."""
QUEUE: list[Callable[[], object]] = []
"""Copies that are to come."""
WAITING = threading.Lock()
KEPT: list[Any] = []


class Event:
    """Everything that was in the queue when it was recorded, as of `torch.cuda.Event`."""

    def record(self, stream: Any) -> None:
        """Count what is in the queue of the stream."""
        self.count = len(QUEUE)

    def synchronize(self) -> None:
        """Wait for it."""
        with WAITING:
            while QUEUE:
                QUEUE.pop(0)()


class Library:
    """What `torch.cuda` is to CUDA."""

    Event = Event

    def current_stream(self, device: Any) -> str:
        """The only one."""
        return f"the stream of {device}"

    def is_initialized(self) -> bool:
        """As torch asks."""
        return True

    is_available = is_initialized

    def current_device(self) -> int:
        """The only one."""
        return 0

    def _is_in_bad_fork(self) -> bool:
        return False

    def manual_seed_all(self, seed: int) -> None:
        """It has no random numbers."""

    def device_count(self) -> int:
        """One."""
        return 1


def register() -> None:
    """Make the device known to PyTorch."""
    from torch.utils import backend_registration

    backend_registration._setup_privateuseone_for_python_backend(NAME, Library())
    KEPT.append(torch.library.Library("_", "IMPL"))
    KEPT[-1].fallback(kernel, "PrivateUse1")
    aten: Any = torch.library.Library("aten", "IMPL")
    KEPT.append(aten)
    for name, function in (
        ("_copy_from", copied), ("abs", lambda tensor: on_device(behind(tensor).abs())),
        ("_local_scalar_dense", lambda tensor: behind(tensor).item()),
        ("empty.memory_format", lambda size, dtype=None, **_: on_device(torch.empty(size, dtype=dtype))),
        ("empty_strided", lambda size, stride, dtype=None, **_: on_device(torch.empty(size, dtype=dtype))),
    ):  # fmt: skip
        aten.impl(name, function, "PrivateUse1")


def on_device(tensor: Any) -> Any:
    """A tensor of the device with the elements of one in main memory, one after the other: it has no strides."""
    other = torch._C._acc.create_empty_tensor(tensor.shape, tensor.dtype)
    BEHIND[other.untyped_storage()._cdata] = tensor.contiguous()
    KEPT.append(other)
    return other


def behind(value: Any) -> Any:
    """The tensor in main memory, of one on the device; anything else as it is."""
    is_there = isinstance(value, torch.Tensor) and value.device.type == NAME
    return BEHIND[value.untyped_storage()._cdata] if is_there else value


def kernel(op: Any, *args: Any, **kwargs: Any) -> Any:
    """Run an op in main memory."""
    own = {id(behind(one)): one for one in args if isinstance(one, torch.Tensor)}
    named = {name: "cpu" if name == "device" else behind(value) for name, value in kwargs.items()}

    def result(one: Any) -> Any:
        if not isinstance(one, torch.Tensor):
            return one
        return own[id(one)] if id(one) in own else on_device(one)

    return tree_map(result, op(*tree_map(behind, args), **named))


def copied(source: Any, target: Any, non_blocking: bool = False) -> Any:
    """Copy between the device and main memory."""
    elements, place = behind(source).clone(), behind(target)
    if not non_blocking or place is not target:
        place.copy_(elements)
        return target
    place.fill_(111)
    QUEUE.append(lambda: place.copy_(elements))
    return target
