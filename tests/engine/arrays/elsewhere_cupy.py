"""Stand-ins for the modules cupy and cupyx: the few names that the engine uses, for arrays of the class `Elsewhere`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

from engine.arrays import array
from tests.engine.arrays.cupy_limits import where_limits
from tests.engine.arrays.elsewhere import (
    NAMES,
    CUDARuntimeError,
    Device,
    Elsewhere,
    computed,
    errstate,
    host,
    refuse_numpy,
)


class Room:
    """Functions of scipy's under cupyx's names, with cupyx's parameters."""

    def __init__(self, name: str, holder: Any) -> None:
        self.name, self.holder = name, holder

    def __getattr__(self, name: str) -> Callable[..., Any]:
        dotted = f"{self.name}.{name}".lstrip(".")
        if dotted not in NAMES:
            raise AttributeError(f"module 'cupyx.{self.name}' has no attribute {name!r}")
        signature = NAMES[dotted]

        @functools.wraps(getattr(self.holder, name))
        def call(*args: Any, **kwargs: Any) -> Any:
            if signature is not None:
                signature.bind(*args, **kwargs)
            refuse_numpy(*args, *kwargs.values())
            if name == "polygamma" and not isinstance(args[0], Elsewhere):
                where_limits(args[0] == 0)
            try:
                return computed(getattr(self.holder, name), args, kwargs)
            except np.linalg.LinAlgError:  # cuBLAS divides by what is there
                return Elsewhere(np.full(args[-1].shape, np.nan, args[-1].dtype))

        return call


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> Elsewhere:
    """From the host by a copy; an array elsewhere is itself."""
    if isinstance(a, Elsewhere):
        return a if dtype is None else a.astype(dtype, copy=False)
    return Elsewhere(np.array(host(a), dtype=dtype, order=order or "K"))


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> np.ndarray:
    """To the host."""
    return a.get(order=order) if isinstance(a, Elsewhere) else np.asarray(a, order=order)  # type: ignore[call-overload]  # any string


def as_strided(x: Elsewhere, shape: Any = None, strides: Any = None) -> Elsewhere:
    """Another geometry on the same memory."""
    return Elsewhere(np.lib.stride_tricks.as_strided(x._host, shape, strides))


cupy = SimpleNamespace(
    ndarray=Elsewhere,
    asarray=asarray,
    asnumpy=asnumpy,
    **{name: getattr(Room("", np), name) for name in ("eye", "full", "ones")},
    lib=SimpleNamespace(stride_tricks=SimpleNamespace(as_strided=as_strided)),
    cuda=SimpleNamespace(
        Device=Device, runtime=SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=CUDARuntimeError)
    ),
)
cupyx = SimpleNamespace(
    errstate=errstate,
    scipy=SimpleNamespace(special=Room("scipy.special", scipy.special), linalg=Room("scipy.linalg", scipy.linalg)),
)


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the engine find the stand-in where it looks for cupy: a GPU is there, `device="cuda"` works."""
    monkeypatch.setattr(array, "cupy", cupy)
    monkeypatch.setattr(array, "cupyx", cupyx, raising=False)
