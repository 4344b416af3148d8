"""torch.cuda as scripts use it: whether there is a GPU, seeds, memory and synchronisation."""

from __future__ import annotations

from typing import Any

from ...api.random.random import default_generator
from ...arrays import array
from . import amp

__all__ = [
    "amp",
    "current_device",
    "device_count",
    "empty_cache",
    "get_device_name",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_reserved",
    "synchronize",
]

is_available = array.cuda_is_available
NONE = "Torch not compiled with CUDA enabled"


def device_count() -> int:
    """How many GPUs there are.

    Source: torch.cuda.device_count.

    >>> import engine as torch
    >>> torch.cuda.device_count() >= 0
    True
    """
    return array.cuda_count()


def is_initialized() -> bool:
    """Return whether a GPU is in use: here, whether there is one.

    Source: torch.cuda.is_initialized.

    >>> import engine as torch
    >>> torch.cuda.is_initialized() <= torch.cuda.is_available()
    True
    """
    return is_available()


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Never: there are no bfloat16 tensors here.

    Source: torch.cuda.is_bf16_supported.

    >>> import engine as torch
    >>> isinstance(torch.cuda.is_bf16_supported(), bool)
    True
    """
    return False


def manual_seed(seed: int) -> None:
    """Start the random stream over from `seed`: draws are made on the processor, from one stream.

    Source: torch.cuda.manual_seed.

    >>> import engine as torch
    >>> torch.cuda.manual_seed(0)
    """
    if is_available():
        default_generator.manual_seed(int(seed))
    else:
        int(seed)


manual_seed_all = manual_seed


def empty_cache() -> None:
    """Do nothing: the engine caches no GPU memory.

    Source: torch.cuda.empty_cache.

    >>> import engine as torch
    >>> torch.cuda.empty_cache()
    """


def memory_allocated(device: Any = None) -> int:
    """Not counted: 0.

    Source: torch.cuda.max_memory_allocated.

    >>> import engine as torch
    >>> torch.cuda.memory_allocated() >= 0
    True
    """
    return 0


max_memory_allocated = memory_reserved = memory_allocated


def _need() -> None:
    if not is_available():
        raise AssertionError(NONE)


def current_device() -> int:
    """The index of the GPU in use.

    Source: torch.cuda.current_device.
    """
    _need()
    return 0


def synchronize(device: Any = None) -> None:
    """Wait for the GPU.

    Source: torch.cuda.synchronize.
    """
    _need()
    array.cuda_wait()


def get_device_name(device: Any = None) -> str:
    """The name of the GPU.

    Source: torch.cuda.get_device_name.
    """
    _need()
    return array.cuda_name()
