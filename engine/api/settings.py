"""Settings that scripts make at the start: threads, determinism, precision, the default device, compilation.

Kept so that it can be read again; results do not depend on it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..arrays import array as arrays
from ..arrays import errors
from .creation.types import LEGACY

__all__ = [
    "are_deterministic_algorithms_enabled",
    "compile",
    "get_default_device",
    "get_float32_matmul_precision",
    "get_num_interop_threads",
    "get_num_threads",
    "is_autocast_enabled",
    "set_default_device",
    "set_default_tensor_type",
    "set_deterministic_debug_mode",
    "set_float32_matmul_precision",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_num_threads",
    "set_warn_always",
    "use_deterministic_algorithms",
]

PRECISIONS = ("highest", "high", "medium")
OLD_DEFAULT = (
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
    "torch.set_default_device() as alternatives."
)
_settings: dict[str, Any] = {"threads": 1, "interop": 1, "deterministic": False, "precision": "highest"}


def _threads(name: str, count: Any) -> int:
    if isinstance(count, bool) or not isinstance(count, int):
        raise errors.runtime(f"{name} expects an int, but got {type(count).__name__}")
    if count <= 0:
        raise errors.runtime(f"{name} expects a positive integer")
    return count


def set_num_threads(int: int) -> None:
    """Stored only: numpy decides how many threads compute.

    Source: torch.set_num_threads.

    >>> import engine as torch
    >>> threads = torch.get_num_threads()
    >>> torch.set_num_threads(2)
    >>> torch.get_num_threads()
    2
    >>> torch.set_num_threads(threads)
    """
    _settings["threads"] = _threads("set_num_threads", int)


def get_num_threads() -> int:
    """The value passed to `set_num_threads`, else 1.

    Source: torch.get_num_threads.

    >>> import engine as torch
    >>> torch.get_num_threads() > 0
    True
    """
    return int(_settings["threads"])


def set_num_interop_threads(int: int) -> None:
    """Stored only.

    Source: torch.set_num_interop_threads.

    >>> import engine as torch
    >>> torch.get_num_interop_threads() > 0
    True
    """
    _settings["interop"] = _threads("set_num_interop_threads", int)


def get_num_interop_threads() -> int:
    """The value passed to `set_num_interop_threads`, else 1.

    Source: torch.get_num_interop_threads.

    >>> import engine as torch
    >>> torch.get_num_interop_threads() > 0
    True
    """
    return int(_settings["interop"])


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Stored only: everything here is deterministic.

    Source: torch.use_deterministic_algorithms.

    >>> import engine as torch
    >>> torch.use_deterministic_algorithms(False)
    """
    _settings["deterministic"] = bool(mode)


def are_deterministic_algorithms_enabled() -> bool:
    """The value passed to `use_deterministic_algorithms`, else False.

    Source: torch.are_deterministic_algorithms_enabled.

    >>> import engine as torch
    >>> torch.are_deterministic_algorithms_enabled()
    False
    """
    return bool(_settings["deterministic"])


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Stored only: everything here is deterministic.

    Source: torch.set_deterministic_debug_mode.

    >>> import engine as torch
    >>> torch.set_deterministic_debug_mode("default")
    """
    _settings["deterministic"] = debug_mode not in (0, "default")


def set_float32_matmul_precision(precision: str) -> None:
    """Stored only: products are always computed in full precision.

    Source: torch.set_float32_matmul_precision.

    >>> import engine as torch
    >>> torch.set_float32_matmul_precision("highest")
    """
    if precision in PRECISIONS:
        _settings["precision"] = precision
    else:
        warnings.warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the currentsetFloat32MatmulPrecision call has "
            "no effect.",
            UserWarning,
            stacklevel=2,
        )


def get_float32_matmul_precision() -> str:
    """The value passed to `set_float32_matmul_precision`, else "highest".

    Source: torch.get_float32_matmul_precision.

    >>> import engine as torch
    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return str(_settings["precision"])


def set_flush_denormal(mode: bool) -> bool:
    """False: the processor's treatment of tiny numbers is left as it is.

    Source: torch.set_flush_denormal.

    >>> import engine as torch
    >>> isinstance(torch.set_flush_denormal(False), bool)
    True
    """
    return False


def set_warn_always(b: bool) -> None:
    """Accepted; Python's warning filters decide.

    Source: torch.set_warn_always.

    >>> import engine as torch
    >>> torch.set_warn_always(False)
    """


def is_autocast_enabled(device_type: str | None = None) -> bool:
    """Never: nothing computes in lower precision by itself.

    Source: torch.is_autocast_enabled.

    >>> import engine as torch
    >>> torch.is_autocast_enabled()
    False
    """
    return False


def set_default_device(device: Any) -> None:
    """The CPU is the only default device.

    Source: torch.set_default_device.

    >>> import engine as torch
    >>> torch.set_default_device("cpu")
    >>> torch.set_default_device(None)
    """
    if device is not None and arrays.device(device).type != "cpu":
        raise errors.OutOfScope("set_default_device(): only 'cpu' is in scope; pass device= where tensors are made")


def get_default_device() -> arrays.device:
    """The CPU.

    Source: torch.get_default_device.

    >>> import engine as torch
    >>> torch.get_default_device()
    device(type='cpu')
    """
    return arrays.CPU


def set_default_tensor_type(t: Any) -> None:
    """The old way to set the default dtype: `torch.DoubleTensor` or its name.

    Source: torch.set_default_tensor_type.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.set_default_tensor_type(torch.FloatTensor)
    """
    name = t if isinstance(t, str) else getattr(t, "__name__", str(t))
    legacy = LEGACY.get(name.removeprefix("torch."))
    if legacy is None or not legacy.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    warnings.warn(OLD_DEFAULT, UserWarning, stacklevel=2)
    arrays.default_dtype = legacy


def compile(model: Callable[..., Any] | None = None, **options: Any) -> Any:
    """The function or module itself: it computes the same, op by op, so that each can be recorded.

    Source: torch.compile.

    >>> compile(abs)(-2)
    2
    """
    if model is None:
        return lambda function: function
    if not callable(model):
        raise AssertionError(f"A callable function is expected, but {type(model)} is provided.")
    return model
