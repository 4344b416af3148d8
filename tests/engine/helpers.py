"""Helpers of several test files of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import engine
from engine.ops.op import REGISTRY
from engine.tensor.dispatch import apply
from tests.samples import Sample


def leaves(sample: Sample, library: Any = engine, dtype: Any = None, device: str = "cpu") -> tuple[Any, ...]:
    """The inputs of a row as tensors: floats require grad, where the op has a rule for them or none at all."""
    op = REGISTRY[sample.op]
    return tuple(
        _leaf(value, library, dtype, device, not op.rules or name in op.rules)
        for name, value in zip(op.inputs, sample.inputs, strict=True)
    )


def _leaf(value: Any, library: Any, dtype: Any, device: str, differentiable: bool) -> Any:
    if isinstance(value, list):
        return [_leaf(v, library, dtype, device, differentiable) for v in value]
    if not isinstance(value, np.ndarray):
        return value
    made = library.tensor(value.astype(dtype) if dtype is not None and value.dtype.kind == "f" else value)
    made = made if device == "cpu" else made.to(device)
    return made.requires_grad_() if differentiable and value.dtype.kind == "f" else made


def flat(values: Any) -> list[Any]:
    """The tensors among (nested) inputs that require grad, in order."""
    found = []
    for value in values:
        if isinstance(value, (list, tuple)):
            found.extend(flat(value))
        elif getattr(value, "requires_grad", False):
            found.append(value)
    return found


def call(sample: Sample, inputs: tuple[Any, ...]) -> Any:
    """Call the op of a row."""
    return apply(REGISTRY[sample.op], inputs, dict(sample.statics))


def floats(made: Any) -> list[Any]:
    """The outputs that carry gradients."""
    listed = made if isinstance(made, (tuple, list)) else [made]
    return [m for m in listed if getattr(m, "requires_grad", False)]


def function_of(sample: Sample) -> tuple[Callable[..., Any], list[Any]]:
    """The op of a row as a function of its differentiable inputs alone, with those inputs in float64."""
    inputs = leaves(sample)

    def function(*given: Any) -> Any:
        rest = iter(given)

        def swapped(value: Any) -> Any:
            if isinstance(value, list):
                return [swapped(v) for v in value]
            return next(rest) if getattr(value, "requires_grad", False) else value

        made = call(sample, tuple(swapped(v) for v in inputs))
        if not isinstance(made, tuple):
            return made
        carriers = REGISTRY[sample.op].traits.differentiable or range(len(made))
        return tuple(made[nr] for nr in carriers if made[nr].is_floating_point())

    return function, flat(inputs)


def spelled_outputs(sample: Sample, library: Any, inputs: tuple[Any, ...]) -> tuple[list[Any], list[Any]]:
    """The result of a row as a user of torch would call it, and its inputs that require grad."""
    names = {"torch": library, "float": float, **dict(zip("xyz", inputs, strict=False))}
    made = eval(sample.spelled, names)  # noqa: S307 - the row's own expression
    return (list(made) if isinstance(made, (tuple, list)) else [made]), flat(inputs)
