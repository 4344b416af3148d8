"""Writes docs/ops.md from the registry, the sample rows and PyTorch's names: `python -m docs.make_ops`.

A test holds it fresh.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from docs import left_out
from docs.tables import escaped
from engine.formula.formula import formulas
from engine.ops.op import REGISTRY, Op, call_kernel
from tests import samples
from tests.samples import Sample

FILE = Path(__file__).parent / "ops.md"
LETTERS = ("x", "y", "z")
"""What the inputs are called in the formulas, in their order; the result is r."""
HEAD = """# The ops

Made by `python -m docs.make_ops` from the ops that are declared, the rows that test them, and the names that PyTorch
has; a test fails where this page is older. It ends with [what is left out](#what-is-left-out), and why.

## What there is
{count} ops. Each row is one kernel with its rules: *node* is the name of its node in the graph, *saved* what the node
keeps for backward (freed unless `retain_graph`; shapes and static arguments are not counted), *formula* the cotangent
of each input in the call that the second column shows, of x, y and z to r, with a bar for cotangents, *tested* the
file with its rows: values, gradients and second gradients are compared with PyTorch's and with small steps. An op
without a formula carries no gradient. Functions that are composed of these (`matmul`, `reshape`, `x[...]`) are not
listed: they appear in a trace as the ops that they call, as in PyTorch; [reference.md](reference.md) has all functions.

| op | called as | node | saved | formula | tested |
|---|---|---|---|---|---|
"""
LEFT = """
## What is left out
Of the {all} names of PyTorch 2.13 that [torch-names.txt](torch-names.txt) lists by place, {missing} are not here. A
script that asks for one is told so, with the line.

"""


def page() -> str:
    """The whole page.  Cost: one call of every op."""
    rows: dict[str, list[tuple[str, Sample]]] = {}
    for name, found in rooms():
        for sample in found:
            rows.setdefault(sample.op, []).append((name, sample))
    lines = [row(REGISTRY[name], rows[name]) for name in sorted(rows)]
    every = sum(len(listed) for listed in left_out.names().values())
    left = LEFT.format(all=every, missing=len(list(left_out.missing()))) + left_out.table()
    return HEAD.format(count=len(rows)) + "\n".join(lines) + "\n" + left


def rooms() -> Iterator[tuple[str, list[Sample]]]:
    """The files of rows."""
    for room in pkgutil.iter_modules(samples.__path__):
        yield room.name, getattr(importlib.import_module(f"{samples.__name__}.{room.name}"), "ROWS", [])


def row(op: Op, tested: list[tuple[str, Sample]]) -> str:
    """The line of one op."""
    room, sample = tested[0]
    called = f"`{sample.spelled}`" if sample.spelled else sample.reason
    where = f"[{room}](../tests/samples/{room}.py), {len(tested)} row{'s' if len(tested) > 1 else ''}"
    if not op.rules:
        return f"| `{op.name}` | {escaped(called)} | | | | {where} |"
    plan = op.plan(op.mask)
    saved = ", ".join(f"`{plan.names[place]}`" for place in plan.tensors) or "nothing"
    said = escaped("<br>".join(formula_of(op, sample)))
    return f"| `{op.name}` | {escaped(called)} | `{op.node_name}` | {saved} | {said} | {where} |"


def formula_of(op: Op, sample: Sample) -> list[str]:
    """The formula per differentiable input."""
    inputs: dict[str, Any] = {}
    for name, value in zip(op.inputs, sample.inputs, strict=False):
        parts = {f"{name}[{i}]": part for i, part in enumerate(value)} if name in op.lists else {name: value}
        inputs.update({k: getattr(v, "shape", v) for k, v in parts.items()})
    defaults = {k: v for k, v in op.statics.items() if v is not inspect.Parameter.empty}
    statics = {**defaults, **sample.statics}
    made = call_kernel(op, sample.inputs, statics)
    outputs = [getattr(m, "shape", ()) for m in (made if isinstance(made, tuple) else (made,))]
    names = dict(zip(inputs, LETTERS, strict=False)) | {"result": "r"} | {f"result[{i}]": f"r{i}" for i in range(9)}
    return [found.text for found in formulas(op.name, statics, inputs, outputs, names).values()]


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    print(FILE)
