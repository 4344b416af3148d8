"""A program that ran on another library, PyTorch: its recorded numbers compared with those of the engine's own ops."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.arrays.element_types import NARROW, eps, is_float, rounded
from engine.ops.op import CUSTOM, REGISTRY, call_kernel
from engine.trace.events import AnyEvent, OpCalled, Trace, Value, VjpRun

from . import text
from .facts import Facts
from .formulas import called
from .jacobian import arguments, pull

ROUNDINGS = 64
"""Roundings, each of half a unit in the last place of the largest number, that two ways to add up may differ by."""
NARROW_ROUNDINGS = 2
"""The same for a narrow float: PyTorch computes in float32, and rounds the result."""


@dataclass(frozen=True, slots=True)
class Agreement:
    """The worst difference between recorded and computed numbers, relative to the largest recorded one; in words."""

    worst: float
    agrees: bool
    text: str


def library(trace: Trace) -> str:
    """The library that computed the numbers of a trace, with its version: `PyTorch 2.13.0`; "" if that was the engine,
    as in a replay."""
    entry = _library(trace)
    return f"{entry['name']} {entry['version']}".strip() if entry and "edits" not in trace.meta else ""


def _library(trace: Trace) -> Mapping[str, Any]:
    """A recording's facts about the library that the program ran on: its name, version and documentation."""
    entry = trace.meta.get("library")
    if not isinstance(entry, Mapping):
        return {}
    documentation = entry.get("documentation")
    name, version = (str(entry.get(key, ""))[:80] for key in ("name", "version"))
    return {
        "name": name,
        "version": version,
        "documentation": documentation if isinstance(documentation, Mapping) else {},
    }


def is_missing(event: AnyEvent) -> bool:
    """Return whether an event is an op that the engine does not have."""
    return isinstance(event, OpCalled) and event.name not in REGISTRY and event.name != CUSTOM.name


def about(trace: Trace, event: OpCalled) -> str:
    """The text about an op that only the library has: the first sentence of its documentation there, and that there is
    no formula; "" for any other."""
    entry = _library(trace)
    if is_missing(event) and event.attrs.get("not_seen"):
        return f"Not seen: {event.attrs['not_seen']}."
    if not entry or not is_missing(event):
        return ""
    sentence = str(entry["documentation"].get(event.name, ""))[:400]
    own = f"An op of {entry['name']} that Backstep's engine does not have: its numbers are shown, without a formula."
    if event.outputs and trace.value(event.outputs[0].value).damaged:
        kind = event.outputs[0].dtype
        what = f"{kind} numbers" if kind.startswith("complex") else "numbers of such a tensor"
        own = f"An op of {entry['name']}. A trace cannot store {what}: only the shape is recorded."
    return f"{sentence}. {own}" if sentence else own


def agreement(
    facts: Facts, event: OpCalled, vjps: Sequence[VjpRun], rule_values: Sequence[Mapping[int, int]]
) -> Agreement | None:
    """Compare the library's numbers of a call, forward and in each VJP, with the engine's op on the same numbers.

    `rule_values` has for each VJP the values that changed since the forward pass. None if the engine does not have the
    op, if it draws random numbers, or if a value was not kept. Cost: one kernel call, and one call of the rule per VJP
    and input.
    """
    op = REGISTRY.get(event.name)
    if op is None or op.presentation.random or "writer" in event.attrs:  # a write is compared where it is made
        return None
    try:
        with np.errstate(all="ignore"):
            pairs = [*_results(facts, event), *_gradients(facts, event, vjps, rule_values)]
    except Exception:  # noqa: BLE001  a rule may need what a trace does not keep; then nothing is said
        return None
    gaps = [
        (gap(value.array, in_type(engine_value, value.dtype), least), rounding(value.dtype), name)
        for value, engine_value, name, least in pairs
        if value.array is not None
    ]
    if not gaps:
        return None
    worst, _, name = max(gaps, key=lambda one: one[0] / one[1] if one[1] else one[0])
    agrees = all(difference <= allowed for difference, allowed, _ in gaps)
    if not any(difference for difference, _, _ in gaps):
        sentence = "Backstep's op gives the recorded numbers to the last bit."
    elif agrees:
        sentence = f"Backstep's op gives the recorded numbers to within {text.rough(worst, 2)}, which is rounding."
    elif np.isfinite(worst):
        by = text.rough(worst, 2)
        sentence = f"{name} differs by {by} of its largest number from that of Backstep's op: more than rounding."
    else:
        sentence = f"{name} differs in its nan or inf elements from that of Backstep's op."
    return Agreement(worst, agrees, sentence[:1].upper() + sentence[1:])


def rounding(dtype: str) -> float:
    """The relative difference that is rounding in a dtype.

    >>> rounding("float32") == 64 * 2**-23, rounding("bfloat16"), rounding("int64")
    (True, 0.015625, 0.0)
    """
    return (NARROW_ROUNDINGS if dtype in NARROW else ROUNDINGS) * unit(dtype)


def unit(dtype: str) -> float:
    """The distance from 1 to the next number of a dtype; 0 for integers, which are exact."""
    return eps(dtype) if is_float(dtype) else 0.0


def in_type(numbers: np.ndarray, dtype: str) -> np.ndarray:
    """The engine's result in the numbers of a type that it does not have."""
    return rounded(numbers, dtype) if dtype in NARROW else numbers


def _results(facts: Facts, event: OpCalled) -> Iterator[tuple[Value, np.ndarray, str, float]]:
    """(recorded, computed, its name, the least scale of a difference) for each result of the call."""
    op, values = REGISTRY[event.name], arguments(facts, event)
    if values is None:
        return
    results = call_kernel(op, tuple(values[name] for name in op.inputs), event.attrs)
    for out, result in zip(event.outputs, results if isinstance(results, tuple) else (results,), strict=False):
        yield facts.trace.value(out.value), np.asarray(result), "the result", 0.0


def _gradients(
    facts: Facts, event: OpCalled, vjps: Sequence[VjpRun], rule_values: Sequence[Mapping[int, int]]
) -> Iterator[tuple[Value, np.ndarray, str, float]]:
    """The same for each gradient that a VJP sent.

    One that is smaller than the upstream gradient is a sum of its elements, and rounded as these are: they may cancel
    out, as those of the bias of a key in attention do.
    """
    if event.node is None:
        return
    for vjp, instead in zip(vjps, rule_values, strict=True):
        values = arguments(facts, event, instead)
        sources = [number for number in vjp.upstream if number is not None]
        upstream = facts.trace.value(sources[0]).array if len(sources) == 1 else None
        if values is None or upstream is None or vjp.upstream[0] is None:
            continue
        for slot, name in enumerate(event.node.inputs):
            sent = vjp.cotangents[slot] if slot < len(vjp.cotangents) else None
            computed = None if sent is None else pull(event, name, values, upstream)
            if sent is not None and computed is not None:
                least = scale(upstream) if computed.size < upstream.size else 0.0
                yield facts.trace.value(sent), computed, f"the gradient of {called(facts, event, name)}", least


def scale(numbers: np.ndarray) -> float:
    """The largest finite number, without its sign; 0 if there is none."""
    finite = abs(numbers[np.isfinite(numbers)].astype(np.float64))
    return float(finite.max()) if finite.size else 0.0


def gap(recorded: np.ndarray, computed: np.ndarray, least: float = 0.0) -> float:
    """The largest difference relative to the largest recorded number, or to `least` if that is larger; infinite if a
    non-finite element differs.

    >>> gap(np.array([4.0, np.nan]), np.array([4.0, np.nan])), gap(np.array([4.0, 0.0]), np.array([4.0, 1.0]))
    (0.0, 0.25)
    >>> gap(np.array([1e-9]), np.array([-1e-9])), gap(np.array([1e-9]), np.array([-1e-9]), 1.0)
    (2.0, 2e-09)
    """
    if recorded.shape != computed.shape:
        return float("inf")
    first, second = recorded.astype(np.float64), computed.astype(np.float64)
    odd = ~(np.isfinite(first) & np.isfinite(second))
    if not np.array_equal(first[odd], second[odd], equal_nan=True):
        return float("inf")
    if odd.all():
        return 0.0
    largest = max(scale(first[~odd]), least)
    difference = float(abs(first[~odd] - second[~odd]).max())
    return difference / largest if largest else difference
