"""The local derivatives of one op call, cell by cell: the op's own rule, run on one-hot upstream gradients."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.formula.formula import is_whole
from engine.ops.op import REGISTRY
from engine.trace.events import OpCalled

from ..schema.values import Num, Wire
from . import text
from .facts import Facts


def arguments(facts: Facts, event: OpCalled, rule_values: Mapping[int, int] | None = None) -> dict[str, Any] | None:
    """All arguments that a rule of this call may take, by name, as arrays; None if a value was too large to be kept.

    `rule_values` has the values of tensors that changed since the forward pass.
    """
    rule_values = rule_values or {}
    op, trace = REGISTRY.get(event.name), facts.trace
    if op is None:
        return None
    values: dict[str, Any] = dict.fromkeys(op.inputs)
    for argument in event.inputs:
        name, _, bracket = argument.name.partition("[")
        value: Any = argument.scalar
        if argument.tensor is not None:
            index = rule_values.get(argument.tensor, facts.value(argument.tensor, argument.version))
            value = trace.value(index).array if index is not None else None
            if value is None:
                return None
        if bracket:
            values[name] = [*(values[name] or ()), value]
        else:
            values[name] = value
    for name in op.inputs:
        value = values[name]
        values[f"{name}_sizes"] = [v.shape for v in value] if isinstance(value, list) else getattr(value, "shape", ())
    results = [trace.value(rule_values.get(out.tensor, out.value)).array for out in event.outputs]
    values |= dict(event.attrs)
    values |= {"result": results[0] if results else None, "results": tuple(results)}
    values |= {f"result{nr}": result for nr, result in enumerate(results)}
    return values


def pull(event: OpCalled, name: str, arguments: dict[str, Any], upstream: np.ndarray) -> np.ndarray | None:
    """The cotangent of input `name` for one upstream gradient of the (only) output, summed to the input's shape."""
    op = REGISTRY.get(event.name)
    if op is None or not is_whole(event.attrs.get("writer")):
        return None  # the user's own code, or a write whose own rule is run on a part
    plain, _, bracket = name.partition("[")
    rule = op.rules.get(plain)
    if rule is None:
        return None
    parameters = inspect.signature(rule).parameters
    if "grads" in parameters:
        return None
    values = {**arguments, "grad": upstream}
    shape = arguments[f"{plain}_sizes"]
    with np.errstate(all="ignore"):
        cotangents = rule(*(values[key] for key in parameters))
        if bracket:
            position = int(bracket[:-1])
            cotangents, shape = cotangents[position], shape[position]
        return summed(np.asarray(cotangents), tuple(shape))


def summed(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """`array` summed over the dimensions that broadcasting added to `shape`."""
    if array.shape == shape:
        return array
    extra = array.ndim - len(shape)
    if extra < 0:
        return np.broadcast_to(array, shape)
    array = array.sum(axis=tuple(range(extra)))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and array.shape[i] != 1)
    array = array.sum(axis=axes, keepdims=True) if axes else array
    return np.broadcast_to(array, shape)


def jacobian(
    facts: Facts, event: OpCalled, name: str, limit: int, rule_values: Mapping[int, int] | None = None
) -> np.ndarray | None:
    """The local Jacobian (output cells, input cells) of a call by one input, or None: several outputs that have
    gradients, no rule, over `limit` entries, or values not kept.  `rule_values` as in `arguments`.

    Cost: one run of the rule per output cell.
    """
    op = REGISTRY.get(event.name)
    if len(event.outputs) != 1 and (op is None or op.traits.differentiable != (0,)):
        return None
    source = next((i for i in event.inputs if i.name == name and i.tensor is not None), None)
    if source is None:
        return None
    out = event.outputs[0]
    rows = text.size(out.shape)
    if rows == 0 or rows > limit:
        return None
    values = arguments(facts, event, rule_values)
    if values is None or any(v is None for v in values["results"]):
        return None
    plain, _, bracket = name.partition("[")
    sizes = values[f"{plain}_sizes"]
    columns = text.size(sizes[int(bracket[:-1])] if bracket else sizes)
    if rows * columns > limit:
        return None
    matrix = np.zeros((rows, columns))
    kind = values["result"].dtype
    for row in range(rows):
        one_hot = np.zeros(rows, dtype=kind)
        one_hot[row] = 1
        try:
            pulled = pull(event, name, values, one_hot.reshape(out.shape))
        except Exception:  # noqa: BLE001  a rule may need what a trace does not keep; then there is no wiring
            return None
        if pulled is None:
            return None
        matrix[row] = pulled.reshape(-1)
    if op is not None and op.presentation.elementwise and not np.isfinite(matrix).all():
        return np.where(_own(values[f"{plain}_sizes"], out.shape), matrix, 0.0)
    return matrix


def _own(shape: tuple[int, ...], result: tuple[int, ...]) -> np.ndarray:
    """The pairs (output cell, input cell) that belong together in an elementwise op.

    A rule that runs on one-hot gradients multiplies their zeros too, and 0 · inf is nan for cells without a path.
    """
    places = np.broadcast_to(np.arange(text.size(shape)).reshape(shape), result).reshape(-1)
    own: np.ndarray = places[:, None] == np.arange(text.size(shape))
    return own


def wires(matrix: np.ndarray) -> list[Wire]:
    """The nonzero entries of a local Jacobian as (source cell, target cell, derivative)."""
    rows, columns = np.nonzero(matrix)
    return [(int(j), int(i), value(matrix[i, j])) for i, j in zip(rows, columns, strict=True)]


def value(number: Any) -> Num:
    """A number as JSON has it: nan and inf as text."""
    number = float(number)
    if number != number:
        return "nan"
    if number in (float("inf"), float("-inf")):
        return "inf" if number > 0 else "-inf"
    return int(number) if number == int(number) and abs(number) < 1e15 else number
