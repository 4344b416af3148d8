"""The formula of one op call, from the rule itself, as the inspector shows it."""

from __future__ import annotations

from collections import Counter
from typing import Any

from engine.formula import formulas_of
from engine.trace import OpCalled

from .facts import Facts


def formulas(facts: Facts, event: OpCalled) -> list[dict[str, Any]]:
    """One {input, tex, text} per input that the node has an edge for; of `x * x`, whose two read the same, one."""
    if event.node is None:
        return []
    tensors = {i.tensor for i in event.inputs if i.tensor is not None} | {o.tensor for o in event.outputs}
    shapes = {t: facts.tensors[t].shape for t in tensors if t in facts.tensors}
    names = {t: name for t in tensors if (name := facts.trace.names.get(t)) is not None}
    found = formulas_of(event, shapes, names)
    wanted = {name for name, edge in zip(event.node.inputs, event.node.edges, strict=True) if edge is not None}
    read = [f for key, f in found.items() if key in wanted]
    times = Counter(f.text for f in read)
    first = {f.text: f for f in reversed(read)}
    return [
        {
            "input": f.input,
            "tex": f.tex + _times(times[f.text], r"\quad\text{%s}"),
            "text": f.text + _times(times[f.text], ", %s"),
        }
        for f in read
        if f is first[f.text]
    ]


def _times(count: int, form: str) -> str:
    return "" if count == 1 else form % ("twice" if count == 2 else f"{count} times")


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
