"""The arithmetic of a step in numbers, written out so that it can be checked by reading."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.trace.events import OpCalled, Trace, Value, VjpRun

from ..graph.graph import slots
from ..reading import text
from ..reading.facts import Facts
from ..reading.formulas import called
from ..reading.jacobian import jacobian
from ..schema.values import Line, Tone

TERMS = 64
"""The most products of a sum that is written out."""


def line(label: str, cells: list[str], tone: Tone = "plain", total: str | None = None) -> Line:
    return {"label": label, "cells": cells, "total": total, "tone": tone}


def value_line(label: str, value: Value, tone: Tone = "plain") -> Line:
    """All elements of a small value; of a larger one its shape, norm and range, or how many elements are True."""
    array = value.array_up_to(text.SMALL)
    if array is not None:
        result = line(label, [text.number(v) for v in array.reshape(-1)], tone)
        return {**result, "cols": array.shape[-1]} if array.ndim > 1 else result
    stats, named = value.stats, f"{label} ({text.shape(value.shape)})"
    if value.damaged:
        return line(named, [text.DAMAGED], tone)
    if value.dtype == "bool":
        return line(named, [text.truths(value)], tone)
    cells = [
        f"norm {text.number(text.norm(stats))}",
        f"from {text.number(stats['min'])} to {text.number(stats['max'])}",
    ]
    if stats["nan"] or stats["inf"]:
        cells.append(f"{text.count(int(stats['nan']), 'nan')}, {int(stats['inf'])} inf")
    return line(named, cells, tone)


def forward_lines(facts: Facts, event: OpCalled) -> list[Line]:
    """The inputs and the results of an op."""
    trace, lines = facts.trace, []
    for argument in event.inputs:
        if argument.tensor is None:
            lines.append(line(argument.name, [text.scalar(argument.scalar)]))
            continue
        index = facts.value(argument.tensor, argument.version)
        if index is not None:
            lines.append(value_line(called(facts, event, argument.name), trace.value(index)))
    return lines + [
        value_line(f"gives {facts.names.get(out.tensor) or ''}".strip(), trace.value(out.value))
        for out in event.outputs
    ]


def vjp_lines(facts: Facts, op: OpCalled, event: VjpRun, rule_values: Mapping[int, int] | None) -> list[Line]:
    """Upstream gradient, local derivatives, and the cotangent of each input as sums of products.

    `rule_values` has the values that the rule received instead of those of the forward pass.
    """
    trace = facts.trace
    lines = [value_line("upstream", trace.value(u), "upstream") for u in event.upstream if u is not None]
    sent = [
        (slot, index, op.inputs[position])
        for position, slot in sorted(slots(op).items())
        if slot < len(event.cotangents) and (index := event.cotangents[slot]) is not None
    ]
    several = len({called(facts, op, argument.name) for _, _, argument in sent}) > 1
    for slot, index, argument in sent:
        name = called(facts, op, argument.name)
        is_lost = trace.value(index).damaged
        matrix = None if is_lost else jacobian(facts, op, argument.name, text.SMALL**2, rule_values)
        upstream = _single(trace, event)
        if matrix is not None and upstream is not None and upstream.size == matrix.shape[0]:
            whose = f"local for {name}" if several else "local"
            lines += _products(name, whose, matrix, upstream.reshape(-1), trace.value(index))
        unsummed = event.unsummed[slot] if slot < len(event.unsummed) else None
        if unsummed is not None:
            lines += _summed(name, trace.value(unsummed), trace.value(index))
        lines.append(value_line(f"to {name}", trace.value(index), "cotangent"))
    return lines


def _single(trace: Trace, event: VjpRun) -> np.ndarray | None:
    arriving = [u for u in event.upstream if u is not None]
    return trace.value(arriving[0]).array if len(arriving) == 1 and len(event.upstream) == 1 else None


def _products(name: str, whose: str, matrix: np.ndarray, upstream: np.ndarray, cotangent: Value) -> list[Line]:
    """One line of local derivatives if each element has at most one path and its derivative is its factor; else a sum
    of products for each element that has a path.
    """
    ways = [np.flatnonzero(column) for column in matrix.T]
    if _is_factor(matrix) and all(len(paths) <= 1 for paths in ways):
        factors = matrix.sum(axis=0).reshape(cotangent.shape)
        result = line(whose, [text.number(v) for v in factors.reshape(-1)], "local")
        return [{**result, "cols": factors.shape[-1]} if factors.ndim > 1 else result]
    if any(len(paths) > TERMS for paths in ways):
        return []
    lines = []
    for j, paths in enumerate(ways):
        label = f"{name}{place(j, cotangent.shape)}"
        terms = [(float(upstream[i]), float(matrix[i, j])) for i in paths]
        if not terms:
            number = cotangent.array.reshape(-1)[j] if cotangent.array is not None else 0.0
            lines.append(line(label, [text.number(number)], "local"))
            continue
        with np.errstate(all="ignore"):
            total = sum(slope * by for slope, by in terms)
        cells = [
            f"{text.number(slope) if k == 0 else f'+ {_factor(slope)}'}·{_factor(by)}"
            for k, (slope, by) in enumerate(terms)
        ]
        lines.append(line(label, cells, "local", text.result(terms, total)))
    return lines


def _is_factor(matrix: np.ndarray) -> bool:
    """Return whether it is clear which upstream gradient a derivative multiplies: the one at the same index, the only
    one, or, if the derivative is 1, any."""
    rows, columns = np.nonzero(matrix)
    ones = bool((matrix[rows, columns] == 1).all())
    return len(matrix) == 1 or ones or (matrix.shape[0] == matrix.shape[1] and bool((rows == columns).all()))


def _factor(value: float) -> str:
    """The number, in brackets if its sign would follow another sign."""
    numeral = text.number(value)
    return f"({numeral})" if numeral.startswith("-") else numeral


def place(flat: int, shape: tuple[int, ...]) -> str:
    """The index of an element as it is written in Python.

    >>> place(4, (2, 3)), place(0, ())
    ('[1, 1]', '')
    """
    if not shape:
        return ""
    return "[" + ", ".join(str(int(i)) for i in np.unravel_index(flat, shape)) + "]"


def _summed(name: str, before: Value, after: Value) -> list[Line]:
    """The line for the sum over the dimensions that were broadcast."""
    extra = len(before.shape) - len(after.shape)
    dims = list(range(extra)) + [
        i + extra for i, n in enumerate(after.shape) if n == 1 and before.shape[i + extra] != 1
    ]
    where = text.join([f"dim {d}" for d in dims]) or "all"
    lines = [value_line(f"for {name}, before the sum ({text.shape(before.shape)})", before)]
    cells = [f"{text.shape(before.shape)} to {text.shape(after.shape)}", f"{name} was broadcast along {where}"]
    return [*lines, line(f"summed over {where}", cells)]
