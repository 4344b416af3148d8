"""Whether ops record gradients: one flag per thread, and the context managers that switch it."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

from .slot import slot

INFERENCE_INPLACE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
    "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)


class _Mode(threading.local):
    enabled: bool = True
    legacy_broadcasting: bool = False
    inference = False
    anomaly = False
    check_nan = True


mode = _Mode()


def is_grad_enabled() -> bool:
    """Whether ops record gradients in this thread.

    >>> is_grad_enabled()
    True
    """
    return mode.enabled


def _switch(enabled: bool) -> None:
    if mode.enabled != enabled:
        mode.enabled = enabled
        if slot.active is not None:
            slot.active.event("mode", enabled)


class set_grad_enabled:
    """Switch gradient recording, as a call, a context manager or a decorator.

    Source: torch.autograd.set_grad_enabled.

    >>> with set_grad_enabled(False):
    ...     is_grad_enabled()
    False
    """

    def __init__(self, enabled: bool) -> None:
        self.before = mode.enabled
        self.wanted = bool(enabled)
        _switch(self.wanted)

    def __enter__(self) -> None:
        _switch(self.wanted)

    def __exit__(self, *_: object) -> None:
        _switch(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _switch(self.before)
        wanted = self.wanted

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with set_grad_enabled(wanted):
                return function(*args, **kwargs)

        return wrapped


class _Fixed:
    """no_grad and enable_grad: the mode is switched on entering, not on making the object."""

    wanted = True

    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self.before = mode.enabled
        _switch(self.wanted)

    def __exit__(self, *_: object) -> None:
        _switch(self.before)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        kind = type(self)

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with kind():
                return function(*args, **kwargs)

        return wrapped


class no_grad(_Fixed):
    """Ops inside record no gradients.  Source: torch.no_grad.

    >>> with no_grad():
    ...     is_grad_enabled()
    False
    """

    wanted = False


class enable_grad(_Fixed):
    """Ops inside record gradients again.  Source: torch.enable_grad."""

    wanted = True


class legacy_broadcasting:
    """PyTorch 0.3's rule for `gradient`: one that broadcasts with the root is expanded to its shape, or summed down.

    >>> with legacy_broadcasting():
    ...     mode.legacy_broadcasting
    True
    """

    def __init__(self, enabled: bool = True) -> None:
        self.before = mode.legacy_broadcasting
        mode.legacy_broadcasting = enabled

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        mode.legacy_broadcasting = self.before
