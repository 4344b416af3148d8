"""Shared constructors that have torch's class names in error messages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import FunctionType
from typing import Any

TORCHS = {
    "_AdaptiveAvgPool": "_AdaptiveAvgPoolNd", "_AdaptiveMaxPool": "_AdaptiveMaxPoolNd", "_Dropout": "_DropoutNd",
    "_LPPool": "_LPPoolNd", "_LazyNorm": "_LazyNormBase", "_MaxPool": "_MaxPoolNd",
}  # fmt: skip
"""Bases with a constructor -> what torch calls them; there too it is one for all classes."""
SHARED = frozenset({
    "ByLambda", "PlainActivation", "_AlongDim", "_AvgPool", "_ConstantPad", "_ConvTranspose", "_Forward",
    "_LazyForward", "_LazyTransposed", "_MaxUnpool", "_Pad", "_WithAlpha", "_WithMargin", "_ZeroPad",
})  # fmt: skip
"""Bases whose constructor is written once here, and once for each class in torch: Python names the class there."""


def name_constructors(scope: Mapping[str, Any], names: Iterable[str]) -> None:
    """Give the classes of a module the constructors that Python names as in torch.

    >>> import engine as torch
    >>> torch.nn.Conv1d(1, 2)
    Traceback (most recent call last):
    TypeError: Conv1d.__init__() missing 1 required positional argument: 'kernel_size'
    """
    for name in names:
        kind = scope[name]
        if not isinstance(kind, type):
            continue
        init: Any = vars(kind).get("__init__") or kind.__init__  # type: ignore[misc]  # of the class, not of an object
        owner = getattr(init, "__qualname__", "").partition(".")[0]
        if owner in TORCHS:
            init.__qualname__ = f"{TORCHS[owner]}.__init__"
        elif owner in SHARED:
            kind.__init__ = _copy(init, name)  # type: ignore[misc]  # likewise


def _copy(init: Any, name: str) -> FunctionType:
    copy = FunctionType(init.__code__, init.__globals__, "__init__", init.__defaults__, init.__closure__)
    copy.__kwdefaults__, copy.__annotations__ = init.__kwdefaults__, init.__annotations__
    copy.__qualname__, copy.__doc__, copy.__module__ = f"{name}.__init__", init.__doc__, init.__module__
    return copy
