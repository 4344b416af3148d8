"""The seed gradients of a backward call: how each was made from the gradient that the program passed."""

from __future__ import annotations

import re

from engine.trace.events import BackwardStarted, Root

from ..reading import text
from ..reading.facts import Facts
from ..reading.source_text import source
from ..schema.scene import DerivedKind, SeedOrigin
from .phases import CALLS

_CALLED = re.compile(r"(?:\w+\.)*(\w+)\(")
"""The function that a text calls."""


def derived(facts: Facts, event: BackwardStarted, root: Root) -> SeedOrigin | None:
    """How the gradient from which backward starts was made from the one that was passed; None if it is the same."""
    if root.implicit and is_refused(facts, event):
        return _derived("missing", "none passed", "none")
    if root.implicit:
        return {"kind": "implicit", "text": "implicit 1", "labels": ["gradient, implicit 1", "implicit 1", "gradient"]}
    fact = facts.tensors.get(root.source) if root.source is not None else None
    version = next(fact.before(event.index), None) if fact is not None else None
    if fact is None or version is None:
        return None
    own, gradient = facts.trace.value(fact.values[version]), facts.trace.value(root.gradient)
    ways = []
    if own.shape != gradient.shape:
        fewer = text.size(gradient.shape) < text.size(own.shape)
        ways.append(("summed" if fewer else "stretched", f"from shape {text.shape(own.shape)}"))
    if own.dtype != gradient.dtype:
        ways.append(("cast", f"from {own.dtype}"))
    if not ways:
        return None
    how = text.join([f"{way} {origin}" for way, origin in ways])
    return _derived("converted", how, how.removeprefix(f"{ways[0][0]} "), ways[0][0])


def _derived(kind: DerivedKind, how: str, *shorter: str) -> SeedOrigin:
    labels = [f"gradient, {how}", *(f"gradient {short}" for short in shorter[:-1]), f"gradient, {shorter[-1]}"]
    return {"kind": kind, "text": how, "labels": [*labels, "gradient"]}


def is_refused(facts: Facts, event: BackwardStarted) -> bool:
    """Return whether a backward call was refused before it ran anything."""
    call = facts.calls.get(event.call)
    return call is not None and not call.completed and not call.vjps


def passed_by(facts: Facts, call: BackwardStarted) -> SeedOrigin | None:
    """The caller that passes a call's gradients if the program does not, such as gradcheck, which invents them."""
    frame = facts.frames.get(call.stack)
    text = "" if frame is None else source(facts.trace, frame)
    match = None if CALLS.search(text) else _CALLED.match(text)
    if not match:
        return None
    return {"kind": "caller", "text": f"by {match[1]}", "labels": [f"gradient by {match[1]}", "gradient"]}
