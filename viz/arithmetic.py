"""The arithmetic of a step in numbers, written out so that it can be checked by reading."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.trace import OpCalled, Trace, Value, VjpRun

from . import text
from .facts import Facts
from .formulas import called
from .graph import slots
from .wiring import jacobian

Line = dict[str, Any]
TERMS = 64
"""Products in one sum up to which it is written out."""


def line(label: str, cells: list[str], tone: str = "plain", total: str | None = None) -> Line:
    return {"label": label, "cells": cells, "total": total, "tone": tone}


def value_line(label: str, value: Value, tone: str = "plain") -> Line:
    """All elements of a small value, else its shape, norm and range, or how many are True."""
    if value.array is not None and value.array.size <= text.SMALL:
        made = line(label, [text.number(v) for v in value.array.reshape(-1)], tone)
        return {**made, "cols": value.array.shape[-1]} if value.array.ndim > 1 else made
    stats, named = value.stats, f"{label} ({text.shape(value.shape)})"
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
    """What went in and what came out."""
    trace, lines = facts.trace, []
    for argument in event.inputs:
        if argument.tensor is None:
            lines.append(line(argument.name, [text.scalar(argument.scalar)]))
            continue
        index = facts.value(argument.tensor, argument.version)
        if index is not None:
            lines.append(value_line(called(facts, event, argument.name), trace.value(index)))
    return lines + [
        value_line(f"gives {facts.name(out.tensor) or ''}".strip(), trace.value(out.value)) for out in event.outputs
    ]


def vjp_lines(facts: Facts, op: OpCalled, event: VjpRun, held: Mapping[int, int] | None = None) -> list[Line]:
    """Upstream gradient, local derivatives, and the cotangent of each input as sums of products.

    `held`: the values that the rule was given instead of those of forward.
    """
    trace = facts.trace
    lines = [value_line("upstream", trace.value(u), "upstream") for u in event.upstream if u is not None]
    for position, slot in sorted(slots(op).items()):
        if slot >= len(event.cotangents):
            continue
        index = event.cotangents[slot]
        if index is None:
            continue
        argument = op.inputs[position]
        name = called(facts, op, argument.name)
        matrix = jacobian(facts, op, argument.name, text.SMALL**2, held)
        upstream = _single(trace, event)
        if matrix is not None and upstream is not None and upstream.size == matrix.shape[0]:
            lines += _products(name, matrix, upstream.reshape(-1), trace.value(index))
        unsummed = event.unsummed[slot] if slot < len(event.unsummed) else None
        if unsummed is not None:
            lines += _summed(name, trace.value(unsummed), trace.value(index))
        lines.append(value_line(f"to {name}", trace.value(index), "cotangent"))
    return lines


def _single(trace: Trace, event: VjpRun) -> np.ndarray | None:
    given = [u for u in event.upstream if u is not None]
    return trace.value(given[0]).array if len(given) == 1 and len(event.upstream) == 1 else None


def _products(name: str, matrix: np.ndarray, upstream: np.ndarray, cotangent: Value) -> list[Line]:
    """One line of local derivatives where each output has one input, else one sum of products per element."""
    rows, columns = np.nonzero(matrix)
    if len(rows) == 0:
        return [line(f"local, for {name}", ["0"], "local")]
    if matrix.shape[0] == matrix.shape[1] and bool((rows == columns).all()):
        made = line("local", [text.number(v) for v in np.diagonal(matrix)], "local")
        return [{**made, "cols": cotangent.shape[-1]} if len(cotangent.shape) > 1 else made]
    lines = []
    for j in range(matrix.shape[1]):
        used = np.flatnonzero(matrix[:, j])
        if len(used) > TERMS:
            return []
        terms = [
            f"{text.number(upstream[i]) if k == 0 else _factor(upstream[i])}·{_factor(matrix[i, j])}"
            for k, i in enumerate(used)
        ]
        with np.errstate(all="ignore"):
            total = float(sum(float(upstream[i]) * float(matrix[i, j]) for i in used)) if len(used) else 0.0
        if not terms and len(upstream) <= TERMS:
            terms = [f"{text.number(value) if i == 0 else _factor(value)}·0" for i, value in enumerate(upstream)]
        cells = [term if k == 0 else f"+ {term}" for k, term in enumerate(terms)] or ["0"]
        lines.append(line(f"{name}{place(j, cotangent.shape)}", cells, "local", text.number(total)))
    return lines


def _factor(value: float) -> str:
    """In brackets where its sign would follow another one."""
    written = text.number(value)
    return f"({written})" if written.startswith("-") else written


def place(flat: int, shape: tuple[int, ...]) -> str:
    """The index of an element as it is written in Python.

    >>> place(4, (2, 3)), place(0, ())
    ('[1, 1]', '')
    """
    if not shape:
        return ""
    return "[" + ", ".join(str(int(i)) for i in np.unravel_index(flat, shape)) + "]"


def _summed(name: str, before: Value, after: Value) -> list[Line]:
    """What broadcasting repeated is summed."""
    extra = len(before.shape) - len(after.shape)
    dims = list(range(extra)) + [
        i + extra for i, n in enumerate(after.shape) if n == 1 and before.shape[i + extra] != 1
    ]
    said = text.join([f"dim {d}" for d in dims]) or "all"
    lines = [value_line(f"for {name}, before the sum ({text.shape(before.shape)})", before)]
    cells = [f"{text.shape(before.shape)} to {text.shape(after.shape)}", f"{name} was broadcast along {said}"]
    return [*lines, line(f"summed over {said}", cells)]
