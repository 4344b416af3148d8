"""Writes docs/ops.md from the registry and the sample rows: `python -m docs.make_ops`.  A test holds it fresh."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from engine.formula import formulas
from engine.op import REGISTRY, Op, call_kernel
from tests.samples import SAMPLES, Sample

FILE = Path(__file__).parent / "ops.md"
LETTERS = ("x", "y", "z")
"""What the inputs are called in the formulas, in their order; the result is r."""
HEAD = """# The ops

Made by `python -m docs.make_ops` from the ops that are declared and the rows that test them; a test fails where this
page is older. Each row is one kernel with its rules: *node* is the name of its node in the graph, *saved* what the node
keeps for backward (freed unless `retain_graph`; shapes and static arguments are not counted), *formula* the cotangent
of each input in the call that the second column shows, of x, y and z to r, with a bar for cotangents. An op without a
formula carries no gradient. Functions that are composed of these (`matmul`, `reshape`, `x[...]`) are not listed: they
appear in a trace as the ops that they call, as in PyTorch.

| op | called as | node | saved | formula |
|---|---|---|---|---|
"""


def page() -> str:
    """The whole page.  Cost: one call of every op."""
    rows: dict[str, Sample] = {}
    for sample in SAMPLES:
        rows.setdefault(sample.op, sample)
    lines = [row(REGISTRY[name], rows[name]) for name in sorted(rows)]
    return HEAD + "\n".join(lines) + "\n"


def row(op: Op, sample: Sample) -> str:
    """The line of one op."""
    called = f"`{sample.spelled}`" if sample.spelled else sample.reason
    if not op.rules:
        return f"| `{op.name}` | {escaped(called)} | | | |"
    plan = op.plan(op.mask)
    saved = ", ".join(f"`{plan.names[place]}`" for place in plan.tensors) or "nothing"
    said = "<br>".join(formula_of(op, sample))
    return f"| `{op.name}` | {escaped(called)} | `{op.node_name}` | {saved} | {escaped(said)} |"


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


def escaped(text: str) -> str:
    """Text in a cell of a Markdown table."""
    return text.replace("|", "\\|").replace("\n", " ")


if __name__ == "__main__":
    FILE.write_text(page(), encoding="utf-8")
    print(FILE)
