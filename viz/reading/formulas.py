"""The formula of one op call, from the rule itself, as the inspector shows it."""

from __future__ import annotations

from typing import Any

from engine.formula.formula import Formula, formulas_of
from engine.formula.formula import called as names_of
from engine.trace.events import OpCalled, VjpRun

from ..schema.values import Formula as Document
from .facts import Facts

LONGEST_NAME = 20
"""The most characters of a name in a formula; a longer one, as of a parameter deep in a model, has a letter."""


def formulas(facts: Facts, event: OpCalled) -> list[Document]:
    """One {input, tex, text, terms, words} per input whose gradient was requested; for the two equal ones of `x * x`,
    one.

    `calls` has the backward calls that requested it, if not all did.
    """
    if event.node is None:
        return []
    tensors = {i.tensor for i in event.inputs if i.tensor is not None} | {o.tensor for o in event.outputs}
    shapes = {t: facts.tensors[t].shape for t in tensors if t in facts.tensors}
    symbolic = formulas_of(event, shapes, _names(facts, event), facts.letters)
    calls = calls_by_input(facts, event)
    own = [f for key, f in symbolic.items() if key in calls]
    alike = {f.text: [one for one in own if one.text == f.text] for f in own}
    return [_document(each, [calls[f.input] for f in each]) for each in alike.values()]


def called(facts: Facts, event: OpCalled, key: str) -> str:
    """The name of an input of a call, or its letter in the formula."""
    return names_of(event, _names(facts, event), facts.letters).get(key, key)


def _names(facts: Facts, event: OpCalled) -> dict[int, str]:
    tensors = {i.tensor for i in event.inputs if i.tensor is not None} | {o.tensor for o in event.outputs}
    return {t: name for t in tensors if (name := facts.names.get(t)) is not None and len(name) <= LONGEST_NAME}


def _document(alike: list[Formula], calls: list[tuple[int, ...] | None]) -> Document:
    """One formula for all inputs for which it is the same."""
    first = alike[0]
    document: Document = {
        "input": first.input,
        "tex": first.tex + _times(len(alike), r"\quad\text{%s}"),
        "text": first.text + _times(len(alike), ", %s"),
        "terms": dict(first.terms),
        "words": dict(first.words),
    }
    numbers = sorted({call for one in calls for call in one or ()})
    if None not in calls:
        document["calls"] = numbers
    return document


def calls_by_input(facts: Facts, event: OpCalled) -> dict[str, tuple[int, ...] | None]:
    """The inputs of an op whose gradient was requested; with the backward calls, if not all of them that ran its
    rule."""
    assert event.node is not None
    op = facts.op_at.get(event.index)
    ran = [facts.trace.events[i] for i in facts.ops[op].vjps] if op is not None else []
    runs = [run for run in ran if isinstance(run, VjpRun)]
    shapes: dict[str, tuple[int, ...] | None] = {}
    for slot, (name, edge) in enumerate(zip(event.node.inputs, event.node.edges, strict=True)):
        if edge is None:
            continue
        sending = [run for run in runs if slot >= len(run.cotangents) or run.cotangents[slot] is not None]
        if sending or not runs:
            shapes[name] = None if len(sending) == len(runs) else tuple(run.call for run in sending)
    return shapes


def _times(count: int, form: str) -> str:
    return "" if count == 1 else form % ("twice" if count == 2 else f"{count} times")


def call_key(facts: Facts, event: OpCalled) -> tuple[Any, ...]:
    """A key that is equal for two calls with equal formulas: the same op, names, shapes, numbers and requested
    inputs."""
    names = _names(facts, event)
    operands = tuple(
        (i.name, names.get(i.tensor), facts.tensors[i.tensor].shape)
        if i.tensor is not None and i.tensor in facts.tensors
        else (i.name, i.scalar)
        for i in event.inputs
    )
    results = tuple((names.get(o.tensor), o.shape) for o in event.outputs)
    calls = tuple(calls_by_input(facts, event).items()) if event.node is not None else ()
    return event.name, repr(sorted(event.attrs.items())), operands, results, calls
