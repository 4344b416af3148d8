"""Type promotion: the dtype in which the arguments of an op meet, by torch's rules and not by numpy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import array
from .array import bool_, float32, int64, xp

_SINGLE = float32.numpy  # asked for first: comparing identities is several times cheaper than reading a dtype's kind
RANK = {"b": 0, "u": 1, "i": 1, "f": 2}
"""The category of a numpy kind: bool, whole numbers, floats."""


def result_dtype(values: Sequence[Any]) -> xp.dtype:
    """torch's type promotion: category first; a number or 0-d array counts only where its category is higher.

    Source: torch.result_type.
    """
    dimensioned: xp.dtype | None = None
    zero_dim: xp.dtype | None = None
    number: xp.dtype | None = None
    for value in values:
        if isinstance(value, (bool, int, float)):
            kind = bool_ if isinstance(value, bool) else int64 if isinstance(value, int) else array.default_dtype
            number = kind.numpy if number is None else promoted(number, kind.numpy)
        elif value.ndim:
            dimensioned = value.dtype if dimensioned is None else promoted(dimensioned, value.dtype)
        else:
            zero_dim = value.dtype if zero_dim is None else promoted(zero_dim, value.dtype)
    best = dimensioned
    for weaker in (zero_dim, number):
        if weaker is None:
            continue
        if best is None or RANK[weaker.kind] > RANK[best.kind]:
            best = weaker
    assert best is not None
    return best


def promoted(a: xp.dtype, b: xp.dtype) -> xp.dtype:
    """The dtype of two arrays: a float is never widened by what is no float, as numpy would have it."""
    if a == b:
        return a
    if a.kind == "f" and b.kind != "f":
        return a
    if b.kind == "f" and a.kind != "f":
        return b
    return xp.promote_types(a, b)


def promote(values: list[Any]) -> list[Any]:
    """Arguments of an arithmetic op in their common dtype; numbers stay numbers where numpy would agree."""
    first = None
    for value in values:
        kind = type(value)
        if kind is float or kind is int or kind is bool:
            if first is _SINGLE or (first is not None and first.kind == "f"):
                continue
            return _converted(values, result_dtype(values))
        if first is None:
            first = value.dtype
        elif value.dtype is not first:
            return _converted(values, result_dtype(values))
    return values


def promote_difference(values: list[Any]) -> list[Any]:
    """As `promote`; a bool in a difference is refused as numpy refuses two: `errors` has torch's words for both."""
    bools = sum(type(v) is bool or (hasattr(v, "dtype") and v.dtype.kind == "b") for v in values)
    if bools:
        raise TypeError("numpy boolean subtract" if bools == len(values) else "boolean subtract of another dtype")
    return promote(values)


def promote_float(values: list[Any]) -> list[Any]:
    """As `promote`, and integers become the default float dtype (exp, division, mean ...)."""
    first = None
    for value in values:
        kind = type(value)
        if kind is float or kind is int or kind is bool:
            if first is None:
                break
            continue
        dtype = value.dtype
        if (dtype is not _SINGLE and dtype.kind != "f") or (first is not None and dtype is not first):
            break
        first = dtype
    else:
        return values
    target = result_dtype(values)
    return _converted(values, target if target.kind == "f" else array.default_dtype.numpy)


def _converted(values: list[Any], target: xp.dtype) -> list[Any]:
    arrays = [v for v in values if not isinstance(v, (bool, int, float))]
    like = arrays[0] if arrays else None
    return [
        xp.asarray(v, dtype=target, like=like) if isinstance(v, (bool, int, float)) else v.astype(target, copy=False)
        for v in values
    ]
