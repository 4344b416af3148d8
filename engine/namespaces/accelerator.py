"""torch.accelerator: the GPU, under a vendor-neutral name."""

from __future__ import annotations

from ..arrays import array

__all__ = ["current_accelerator", "device_count", "is_available"]

is_available = array.cuda_is_available
device_count = array.cuda_count


def current_accelerator(check_available: bool = False) -> array.device | None:
    """The device of the GPU, or None.

    Source: torch.accelerator.current_accelerator.

    >>> import engine as torch
    >>> torch.accelerator.current_accelerator() is None or torch.accelerator.is_available()
    True
    """
    return array.device("cuda") if is_available() else None
