"""The older names of torch.amp, for the GPU."""

from __future__ import annotations

import warnings
from typing import Any

from ...arrays.array import float16
from .. import amp

__all__ = ["GradScaler", "autocast"]


def _deprecated(name: str) -> None:
    warnings.warn(
        f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{name}('cuda', args...)` instead.",
        FutureWarning,
        stacklevel=3,
    )


class autocast(amp.autocast):
    """`torch.amp.autocast("cuda")`.

    Source: torch.cuda.amp.autocast.
    """

    def __init__(self, enabled: bool = True, dtype: Any = float16, cache_enabled: bool = True) -> None:
        _deprecated("autocast")
        super().__init__("cuda", dtype, enabled, cache_enabled)


class GradScaler(amp.GradScaler):
    """`torch.amp.GradScaler("cuda")`.

    Source: torch.cuda.amp.GradScaler.

    >>> import engine as torch
    >>> torch.amp.GradScaler("cuda", enabled=False).scale(torch.tensor(2.0))
    tensor(2.)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _deprecated("GradScaler")
        super().__init__("cuda", *args, **kwargs)
