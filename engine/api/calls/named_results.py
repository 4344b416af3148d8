"""Results with names: several tensors, shown as torch.return_types shows them."""

from __future__ import annotations

from collections import namedtuple
from typing import Any, NamedTuple

from ...tensor.tensor import Tensor


def text_of(result: Any) -> str:
    """torch.return_types.max(values=..., indices=...), one line each."""
    parts = ",\n".join(f"{name}={value!r}" for name, value in zip(result._fields, result, strict=True))
    return f"torch.return_types.{type(result).__name__}(\n{parts})"


class _ValuesAndIndices(NamedTuple):
    values: Tensor
    indices: Tensor


class _Bounds(NamedTuple):
    min: Tensor
    max: Tensor


class _MantissaAndExponent(NamedTuple):
    mantissa: Tensor
    exponent: Tensor


def pair(name: str, base: type = _ValuesAndIndices) -> Any:
    """The type of (values, indices) that the function `name` returns."""
    return type(name, (base,), {"__slots__": (), "__repr__": text_of, "__doc__": f"What {name} returns."})


aminmax_pair, frexp_pair = pair("aminmax", _Bounds), pair("frexp", _MantissaAndExponent)


def result(name: str, *fields: str) -> Any:
    """The type of the several results of the function `name`."""
    return type(
        name, (namedtuple(name, fields),), {"__slots__": (), "__repr__": text_of, "__doc__": f"What {name} returns."}
    )
