"""Arguments that cupy's functions refuse or treat differently from numpy's, read from cupy's own code, version 14."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any


def is_elsewhere(value: Any) -> bool:
    """Whether this is an array of the stand-in."""
    return hasattr(value, "_host")


def where_limits(condition: Any, x: Any = None, y: Any = None) -> None:
    """cupy calls a method of the condition."""
    if not hasattr(condition, "astype"):
        raise AttributeError(f"{type(condition).__name__!r} object has no attribute 'astype'")


def sort_limits(a: Any, axis: Any = -1, kind: Any = None) -> None:
    """One way to sort."""
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")


def searchsorted_limits(a: Any, v: Any, side: str = "left", sorter: Any = None) -> None:
    """Rows one by one only."""
    if not is_elsewhere(a) or not (is_elsewhere(v) or isinstance(v, (int, float))):
        raise NotImplementedError("Only python scalars or ndarrays are supported for v")
    if a.ndim != 1:
        raise ValueError("object too deep for desired array")


def joined_limits(tup: Sequence[Any], *more: Any, **named: Any) -> None:
    """Arrays alone."""
    if not all(is_elsewhere(v) for v in tup):
        raise TypeError("Only cupy arrays can be concatenated")


def first_limits(a: Any, *more: Any, **named: Any) -> None:
    """Raise the error of a method call on an argument that has no such method, because cupy makes this call."""
    if not is_elsewhere(a):
        raise AttributeError(f"{type(a).__name__!r} object has no such method")


LIMITS: dict[str, Callable[..., None]] = {
    "where": where_limits, "sort": sort_limits, "argsort": sort_limits, "searchsorted": searchsorted_limits,
    "concatenate": joined_limits, "stack": joined_limits,
    **dict.fromkeys(["sum", "max", "min", "amax", "amin", "prod", "mean", "cumsum", "reshape", "transpose", "take",
                     "broadcast_to", "moveaxis", "squeeze", "take_along_axis", "put_along_axis", "repeat"],
                    first_limits),
}  # fmt: skip
