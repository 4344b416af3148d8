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


def call_key(facts: Facts, event: OpCalled) -> tuple[Any, ...]:
    """Equal for two calls whose formulas read the same: one op with the same names, shapes, numbers and edges."""
    names = facts.trace.names
    shown = tuple(
        (i.name, names.get(i.tensor), facts.tensors[i.tensor].shape)
        if i.tensor is not None and i.tensor in facts.tensors
        else (i.name, i.scalar)
        for i in event.inputs
    )
    results = tuple((names.get(o.tensor), o.shape) for o in event.outputs)
    edges = tuple(edge is not None for edge in event.node.edges) if event.node is not None else ()
    return event.name, repr(sorted(event.attrs.items())), shown, results, edges
