"""torch.amp: scaling of a loss, and the block that would lower precision.

Nothing here computes in lower precision by itself: an `autocast` that torch would switch off is accepted, one that
would take effect says that it is out of scope.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from ..arrays import array, errors
from ..arrays.array import dtype, xp
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

NO_CUDA = "CUDA is not available or torch_xla is imported. Disabling autocast."
NO_SCALING = "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
LOW = "out of scope in Backstep: it would compute in lower precision; pass enabled=False, or leave the block out"


class autocast:
    """A block (or decorator) that torch runs in lower precision; here it must be switched off.

    Raises OutOfScope where torch would lower the precision.  Source: torch.autocast.

    >>> with autocast("cpu", enabled=False):
    ...     pass
    """

    def __init__(
        self, device_type: str, dtype: dtype | None = None, enabled: bool = True, cache_enabled: bool | None = None
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = array.device(device_type).type
        if enabled and self.device == "cuda" and not array.cuda_is_available():
            warnings.warn(NO_CUDA, UserWarning, stacklevel=2)
            enabled = False
        elif enabled and dtype is array.float32:
            warnings.warn(
                f"In {self.device.upper()} autocast, but the target dtype is not supported. Disabling autocast.",
                UserWarning,
                stacklevel=2,
            )
            enabled = False
        if enabled:
            raise errors.OutOfScope(f"autocast(): {LOW}")

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing was changed."""

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return decorated


class GradScaler:
    """Multiplies a loss so that small gradients survive, and skips the steps that would write inf or nan.

    On a machine without CUDA it is switched off, with torch's warning, unless made for the "cpu".

    Source: torch.amp.GradScaler.

    >>> import engine as torch
    >>> torch.amp.GradScaler("cpu", init_scale=8.0).scale(torch.tensor(2.0))
    tensor(16.)
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 65536.0, growth_factor: float = 2.0,
        backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        if enabled and device == "cuda" and not array.cuda_is_available():
            warnings.warn(NO_SCALING, UserWarning, stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._scale, self._growth_tracker = float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._has_scaled = False
        self._overflows: dict[int, bool] = {}
        self._stepped: set[int] = set()

    def is_enabled(self) -> bool:
        """Return whether the scaler does anything."""
        return self._enabled

    def get_scale(self) -> float:
        """Return the factor that losses are multiplied by."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """Return the factor by which the scale grows after enough steps without an inf."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Multiply the scale by this from now on."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return the factor by which the scale shrinks after a skipped step."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Multiply the scale by this after a step that was left out."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """After how many steps in a row the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Let the scale grow after so many steps in a row."""
        self._growth_interval = new_interval

    def scale(self, outputs: Any) -> Any:
        """A loss, or a list of them, times the scale."""
        if not self._enabled:
            return outputs
        self._has_scaled = True
        if isinstance(outputs, Tensor):
            return outputs * self._scale
        return type(outputs)(self.scale(one) for one in outputs)

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimiser by the scale, for clipping; at most once between two updates."""
        if not self._enabled:
            return
        if id(optimizer) in self._overflows:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        has_nonfinite = False
        with no_grad():
            for group in optimizer.param_groups:
                for gradient in (p.grad for p in group["params"] if p.grad is not None):
                    gradient.mul_(1.0 / self._scale)
                    has_nonfinite = has_nonfinite or not bool(xp.isfinite(gradient._array).all())
        self._overflows[id(optimizer)] = has_nonfinite

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimiser's step, with gradients divided by the scale; left out where one of them is inf or nan."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._overflows:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return None if self._overflows[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """A smaller scale after a step that was left out, a larger one after many that were not."""
        if not self._enabled:
            return
        if not self._has_scaled:
            raise AssertionError(
                "Attempted update but _scale is None.  This may indicate your script did not use scaler.scale(loss or "
                "outputs) earlier in the iteration."
            )
        if new_scale is not None:
            self._scale = float(new_scale)
        elif any(self._overflows.values()):
            self._scale, self._growth_tracker = self._scale * self._backoff_factor, 0
        elif not self._overflows:
            raise AssertionError("No inf checks were recorded prior to update.")
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._scale, self._growth_tracker = self._scale * self._growth_factor, 0
        self._overflows, self._stepped = {}, set()

    def state_dict(self) -> dict[str, Any]:
        """Return the state for `load_state_dict`; it is empty if the scaler is disabled."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale,
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled instance of GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: dtype | None = None) -> Any:
    """A Function's `forward`, unchanged: there is no lower precision to switch off.

    Shapes: (*) -> (*).  Raises ValueError for a device that is no text.  Source: torch.amp.custom_fwd.

    >>> import engine as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return 2 * x
    >>> Double.apply(torch.tensor(1.0))
    tensor(2.)
    """
    return _as_it_is(fwd, device_type)


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """A Function's `backward`, unchanged.

    Shapes: (*) -> (*).  Raises ValueError for a device that is no text.  Source: torch.amp.custom_bwd.

    >>> import engine as torch
    >>> class Double(torch.autograd.Function):
    ...     @staticmethod
    ...     @torch.amp.custom_fwd(device_type="cpu")
    ...     def forward(ctx, x):
    ...         return 2 * x
    ...     @staticmethod
    ...     @torch.amp.custom_bwd(device_type="cpu")
    ...     def backward(ctx, grad):
    ...         return 2 * grad
    >>> x = torch.tensor(1.0, requires_grad=True)
    >>> Double.apply(x).backward()
    >>> x.grad
    tensor(2.)
    """
    return _as_it_is(bwd, device_type)


def _as_it_is(function: Any, device_type: Any) -> Any:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    return (lambda function: function) if function is None else function
