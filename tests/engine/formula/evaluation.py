"""The value of an expression of symbols, computed by the kernels of its ops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.arrays.array import as_array
from engine.ops.notation.symbol import Symbol
from engine.ops.op import call_kernel


def evaluate(x: Any, values: Mapping[str, Any]) -> Any:
    """The value of an expression, from the values of its names."""
    if isinstance(x, (list, tuple)):
        return [evaluate(item, values) for item in x]
    if not isinstance(x, Symbol):
        return x
    if x.op is None:
        return values[x.name]
    inputs = tuple(evaluate(item, values) for item in x.inputs)
    if not x.op.lists and all(isinstance(v, (int, float)) for v in inputs):
        inputs = tuple(np.asarray(v, dtype="float64") for v in inputs)
    return as_array(call_kernel(x.op, inputs, x.attrs))
