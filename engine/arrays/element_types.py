"""Element types by their names in a trace: numpy's, and PyTorch's narrow floats, which numpy does not have.

A narrow float is kept as float32, in which each of its numbers is exact; the dtype of such an array carries the name in
its metadata, which views, copies and samples of the array keep.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np

KEY = "element type"


@dataclass(frozen=True, slots=True)
class Narrow:
    """A float of `bits` significant bits, whose smallest normal number is 2**`least`, and whose largest is `most`."""

    bits: int
    least: int
    most: float


NARROW = {
    "bfloat16": Narrow(8, -126, float.fromhex("0x1.fep+127")),
    "float8_e4m3fn": Narrow(4, -6, 448.0),
    "float8_e4m3fnuz": Narrow(4, -7, 240.0),
    "float8_e5m2": Narrow(3, -14, 57344.0),
    "float8_e5m2fnuz": Narrow(3, -15, 57344.0),
    "float8_e8m0fnu": Narrow(1, -127, 2.0**127),
}
"""PyTorch's floats that numpy lacks.  Source: torch.finfo."""
ELEMENT_TYPES = {
    **{name: np.dtype(name) for name in (
        "bool", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64", "float16", "float32",
        "float64",
    )},
    **{name: np.dtype("float32", metadata={KEY: name}) for name in NARROW},
}  # fmt: skip
"""The dtype of an array with elements of each type: none of them can hold an object."""
NAMED = frozenset({
    "complex32", "complex64", "complex128", "qint8", "quint8", "qint32", "quint4x2", "quint2x4", "float4_e2m1fn_x2",
    "other",
})  # fmt: skip
"""Element types of values that a trace names without their elements."""
_numpys_name = functools.cache(str)  # numpy assembles it each time


def name_of(dtype: Any) -> str:
    """The name of an element type.

    >>> name_of(np.zeros(4, ELEMENT_TYPES["bfloat16"])[::2].dtype), name_of(np.dtype("float32"))
    ('bfloat16', 'float32')
    """
    metadata = dtype.metadata
    return _numpys_name(dtype) if metadata is None else str(metadata.get(KEY, dtype.name))


def dtype_named(name: str) -> np.dtype:
    """The dtype that carries the name of an element type; that of others has "other".

    >>> [name_of(dtype_named(name)) for name in ("int64", "bfloat16", "complex64", "qint8", "bits16")]
    ['int64', 'bfloat16', 'complex64', 'qint8', 'other']
    """
    if name in ELEMENT_TYPES:
        return ELEMENT_TYPES[name]
    return np.dtype("uint8", metadata={KEY: name if name in NAMED else "other"})


def is_float(name: str) -> bool:
    """Return whether an element type is a float."""
    return name.startswith("float") or name in NARROW


def eps(name: str) -> float:
    """The distance from 1 to the next number of a type of floats.

    >>> eps("float32") == 2**-23, eps("bfloat16"), eps("float8_e5m2")
    (True, 0.0078125, 0.25)
    """
    return 2.0 ** (1 - NARROW[name].bits) if name in NARROW else float(np.finfo(name).eps)


def largest(name: str) -> float:
    """The largest number of a type of floats.

    >>> largest("float16"), f"{largest('bfloat16'):.4g}"
    (65504.0, '3.39e+38')
    """
    return NARROW[name].most if name in NARROW else float(np.finfo(name).max)


def rounded(numbers: Any, name: str) -> np.ndarray:
    """Numbers as float64, each the nearest one of a type of floats, of two the even one; infinite beyond the largest.

    >>> rounded([0.1, 1e-50, 257.0, 1e39], "bfloat16").tolist()
    [0.10009765625, 0.0, 256.0, inf]
    """
    with np.errstate(all="ignore"):
        if name not in NARROW:
            return np.asarray(numbers, np.float64).astype(name).astype(np.float64)
        kind, values = NARROW[name], np.asarray(numbers, np.float64)
        step = np.ldexp(1.0, np.maximum(np.frexp(values)[1] - 1, kind.least) - (kind.bits - 1))
        near = np.rint(values / step) * step
        return np.where(abs(near) > kind.most, np.copysign(np.inf, values), near)


def shortest(array: np.ndarray) -> list[Any]:
    """The elements of an array, flat, each with the fewest digits that read back as the same number of its type.

    A float32 that is widened to a number of Python's, or of JavaScript's, has digits that it never had.

    >>> shortest(np.array([0.1, 1e-4, np.inf], np.float32)), np.array([0.1], np.float32).tolist()
    ([0.1, 0.0001, inf], [0.10000000149011612])
    >>> shortest(np.array([0.10009765625, -258.0], ELEMENT_TYPES["bfloat16"]))
    [0.1, -258.0]
    """
    flat, name = array.reshape(-1), name_of(array.dtype)
    if flat.dtype.kind != "f" or flat.dtype == np.float64:
        return flat.tolist()
    back = flat.astype(np.str_).astype(np.float64)
    if name not in NARROW:
        return back.tolist()
    exact, left = flat.astype(np.float64), np.isfinite(flat)
    for digits in range(1, 5):  # four tell any two numbers of eight bits apart
        places = np.flatnonzero(left)
        short = np.char.mod(f"%.{digits - 1}e", exact[places]).astype(np.float64)
        fits = rounded(short, name) == exact[places]
        back[places[fits]] = short[fits]
        left[places[fits]] = False
    return back.tolist()
