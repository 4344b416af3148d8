"""The grad mode: one flag per thread for whether ops record gradients, and the context managers that switch it.

Each is also a decorator of functions and of generators (a generator runs in the mode, the code that asks it for values
does not).
"""

from __future__ import annotations

import functools
import inspect
import threading
import warnings
from collections.abc import Callable, Generator
from typing import Any

from ..arrays.session import slot

INFERENCE_INPLACE = (
    "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
    "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
)
CLASSES = (
    "Decorating classes is deprecated and will be disabled in future versions. You should only decorate functions or "
    "methods. To preserve the current behavior of class decoration, you can directly decorate the `__init__` method "
    "and nothing else."
)


_counting = threading.Lock()


class _Mode(threading.local):
    """Ops read `enabled`; `setting` is the user's, which has no effect in inference mode.  It is set by `turn`,
    which counts the threads in which it is off.  `packing` has the pairs of hooks for saved tensors, innermost last,
    and whether a recording leaves them out; `packing_refused` is the reason if there may be none.
    """

    enabled: bool = True
    setting: bool = False
    legacy_broadcasting: bool = False
    inference = False
    anomaly = False
    check_nan = True
    dual: object = None
    packing: tuple[tuple[Any, Any, bool], ...] = ()
    packing_refused: str | None = None

    def turn(self, enabled: bool) -> None:
        """Record gradients in this thread, or do not."""
        if enabled != self.enabled:
            with _counting:
                slot.off += -1 if enabled else 1
            self.enabled = enabled


mode = _Mode()


def is_grad_enabled() -> bool:
    """Return whether ops record gradients in this thread.

    Source: torch.is_grad_enabled.

    >>> is_grad_enabled()
    True
    """
    return mode.setting if mode.inference else mode.enabled


def is_inference_mode_enabled() -> bool:
    """Return whether this thread is in inference mode.

    Source: torch.is_inference_mode_enabled.

    >>> import engine as torch
    >>> torch.is_inference_mode_enabled()
    False
    """
    return mode.inference


def _switch(enabled: bool) -> None:
    mode.setting = enabled
    enabled = enabled and not mode.inference
    if mode.enabled != enabled:
        mode.turn(enabled)
        if slot.active is not None:
            slot.active.event("mode", enabled)


class _Decorator:
    """A context manager that is also a decorator: each call of the function then runs in its own context."""

    def clone(self) -> Any:
        """A fresh context."""
        return type(self)()

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isclass(function):
            warnings.warn(CLASSES, FutureWarning, stacklevel=2)
        elif inspect.isgeneratorfunction(function):
            return self.of_generator(function)

        @functools.wraps(function, updated=() if inspect.isclass(function) else ("__dict__",))
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return wrapped

    def of_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A generator function whose code runs in the mode, but not its callers."""

        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **kwargs)
            try:
                with self.clone():
                    item = generator.send(None)
                while True:
                    try:
                        sent = yield item
                    except GeneratorExit:
                        with self.clone():
                            generator.close()
                        raise
                    except BaseException as error:  # noqa: BLE001 whatever is thrown in is for the generator
                        with self.clone():
                            item = generator.throw(error)
                    else:
                        with self.clone():
                            item = generator.send(sent)
            except StopIteration as end:
                return end.value

        return wrapped


class set_grad_enabled(_Decorator):
    """Switch gradient recording, as a call, a context manager or a decorator.

    Source: torch.set_grad_enabled.

    >>> import engine as torch
    >>> with torch.set_grad_enabled(False):
    ...     torch.is_grad_enabled()
    False
    """

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}"
            )
        self.prev = is_grad_enabled()
        self.mode = mode
        _switch(mode)

    def clone(self) -> set_grad_enabled:
        """A fresh context."""
        return set_grad_enabled(self.mode)

    def __enter__(self) -> None:
        _switch(self.mode)

    def __exit__(self, *_: object) -> None:
        _switch(self.prev)

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        _switch(self.prev)
        return super().__call__(function)

    def __repr__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"


class _FixedMode(_Decorator):
    """no_grad and enable_grad: the mode is switched when the block is entered, not when the object is created."""

    setting = True

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        self = super().__new__(cls)
        return self if orig_func is None else self(orig_func)

    def __enter__(self) -> None:
        self.prev = is_grad_enabled()
        _switch(self.setting)

    def __exit__(self, *_: object) -> None:
        _switch(self.prev)


class no_grad(_FixedMode):
    """Ops inside record no gradients.

    Source: torch.no_grad.

    >>> import engine as torch
    >>> with torch.no_grad():
    ...     torch.is_grad_enabled()
    False
    """

    setting = False


class enable_grad(_FixedMode):
    """Ops inside record gradients again.

    Source: torch.enable_grad.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.no_grad(), torch.enable_grad():
    ...     (x * x).requires_grad
    True
    """

    setting = True


class inference_mode(_Decorator):
    """As no_grad, and tensors made inside can never become part of a graph.

    Source: torch.inference_mode.

    >>> import engine as torch
    >>> with torch.inference_mode():
    ...     x = torch.ones(1)
    >>> x.is_inference()
    True
    """

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> Any:
        """A fresh context."""
        return type(self)(self.mode)

    def __enter__(self) -> None:
        self.prev = (mode.inference, is_grad_enabled())
        self.turn(self.mode, not self.mode)

    def __exit__(self, *_: object) -> None:
        self.turn(*self.prev)

    @staticmethod
    def turn(inference: bool, enabled: bool) -> None:
        """Switch both flags."""
        if mode.inference != inference:
            mode.inference = inference
            slot.note(1 if inference else -1)
        _switch(enabled)


class set_multithreading_enabled(_Decorator):
    """Set whether backward may use threads, as a call, a context manager or a decorator; here it never uses any.

    Source: torch.autograd.set_multithreading_enabled.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.autograd.set_multithreading_enabled(False):
    ...     (x * x).backward()
    >>> x.grad
    tensor(4.)
    """

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> set_multithreading_enabled:
        """A fresh context."""
        return set_multithreading_enabled(self.mode)

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        return None


class legacy_broadcasting:
    """PyTorch 0.3's rule for `gradient`: it is expanded, or summed, to the shape of the root if the two broadcast.

    Source: PyTorch 0.3.

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
