"""The formula of one op call, from the rule itself, as the inspector shows it."""

from __future__ import annotations

from typing import Any

from engine.formula import formulas_of
from engine.trace import OpCalled

from .facts import Facts


def formulas(facts: Facts, event: OpCalled) -> list[dict[str, Any]]:
    """One {input, tex, text} per input that the node has an edge for."""
    if event.node is None:
        return []
    tensors = {i.tensor for i in event.inputs if i.tensor is not None} | {o.tensor for o in event.outputs}
    shapes = {t: facts.tensors[t].shape for t in tensors if t in facts.tensors}
    names = {t: name for t in tensors if (name := facts.trace.names.get(t)) is not None}
    found = formulas_of(event, shapes, names)
    wanted = {name for name, edge in zip(event.node.inputs, event.node.edges, strict=True) if edge is not None}
    return [{"input": f.input, "tex": f.tex, "text": f.text} for key, f in found.items() if key in wanted]
