"""One VJP checked by finite differences: central differences on the op's kernel, in float64."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.ops.op import REGISTRY, call_kernel
from engine.trace.events import OpCalled

from . import text
from .facts import Facts
from .jacobian import arguments, pull

CHECKED = 48
"""The most elements of one input that are moved, evenly spread."""
STEP = 6e-6
TOLERANCE = 1e-5


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The worst relative difference over all moved inputs, and one derivative as an example."""

    worst: float
    agrees: bool
    text: str


def check(
    facts: Facts, event: OpCalled, upstream: np.ndarray, rule_values: Mapping[int, int] | None = None
) -> CheckResult | None:
    """Compare the rule with differences of the kernel, for this upstream gradient; None if that is impossible
    (several outputs, a random op, values that are not finite).  `rule_values`: the values that the rule was given
    instead of those of forward; the differences are taken there too, and the text names a result that its inputs no
    longer give.

    Cost: two kernel calls per moved element, at most 96 per input.
    """
    op = REGISTRY.get(event.name)
    arrays = arguments(facts, event, rule_values)
    if op is None or arrays is None or event.node is None or len(event.outputs) != 1 or op.presentation.random:
        return None
    wide = {name: _wide(arrays[name]) for name in op.inputs}
    upstream = upstream.astype(np.float64)
    worst, example, moved = 0.0, "", 0
    try:
        with np.errstate(all="ignore"):
            result = np.asarray(call_kernel(op, tuple(wide[n] for n in op.inputs), event.attrs))
            # Where it is among them, the rule received this result, whatever the inputs give.
            stale = event.outputs[0].tensor in (rule_values or {})
            values = {**arrays, **wide} | ({} if stale else {"result": result, "results": (result,)})
            for name, edge in zip(event.node.inputs, event.node.edges, strict=True):
                if edge is None or "[" in name or not isinstance(wide[name], np.ndarray):
                    continue
                by_rule = pull(event, name, values, upstream)
                if by_rule is None:
                    return None
                for at, difference in _differences(op, event, wide, name, upstream):
                    expected = float(by_rule.reshape(-1)[at])
                    if not np.isfinite(expected) or not np.isfinite(difference):
                        continue  # at an infinity there is no difference to take
                    gap = _gap(expected, difference)
                    worst, moved = max(worst, gap), moved + 1
                    if not example or (expected and example.startswith("0 ")):
                        example = f"{text.number(expected)} by the rule, {difference:.6g} by differences"
    except Exception:  # noqa: BLE001  a check that cannot be run is not shown
        return None
    if not moved:
        return None
    agrees = worst <= TOLERANCE
    why = (
        "a value was changed after forward, unseen by the graph"
        if rule_values
        else "a kink, or the step is too large here"
    )
    sentence = (
        f"they agree to within {text.rough(max(worst, 1e-12))}"
        if agrees
        else f"differs by {text.rough(worst, 2)}: {why}"
    )
    return CheckResult(worst, agrees, f"{example}; {sentence}{_changed(facts, rule_values) if agrees else ''}")


def _changed(facts: Facts, rule_values: Mapping[int, int] | None) -> str:
    """Whose values were no longer those of the forward pass."""
    names = sorted({facts.names.get(tensor) or "the saved value" for tensor in rule_values or ()})
    return f"; both use {text.join(names)} as changed after forward" if names else ""


def _wide(value: Any) -> Any:
    if isinstance(value, list):
        return [_wide(v) for v in value]
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value


def _differences(
    op: Any, event: OpCalled, wide: dict[str, Any], name: str, upstream: np.ndarray
) -> list[tuple[int, float]]:
    """(element, derivative of <upstream, result>) for the moved elements of one input."""
    base = wide[name]
    differences = []
    for at in np.unique(np.linspace(0, base.size - 1, min(base.size, CHECKED)).astype(int)) if base.size else ():
        step = STEP * max(1.0, abs(float(base.reshape(-1)[at])))
        sides = []
        for sign in (1.0, -1.0):
            moved = base.copy()
            moved.reshape(-1)[at] += sign * step
            result = np.asarray(call_kernel(op, tuple(moved if n == name else wide[n] for n in op.inputs), event.attrs))
            sides.append(result)
        differences.append((int(at), float((upstream * ((sides[0] - sides[1]) / (2 * step))).sum())))
    return differences


def _gap(expected: float, computed: float) -> float:
    return abs(expected - computed) / max(1.0, abs(expected))
