"""Errors and silent bugs explained: the place, why in plain words, and the smallest fix, as edits where one mends it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from engine.trace import ErrorRaised

from .facts import Facts
from .graph import Drawing


@dataclass(frozen=True, slots=True)
class Explained:
    """An error event with its place, reason and remedy; `edits` in the browser's form where an edit mends it."""

    event: ErrorRaised
    at: str | None
    why: str
    fix: str
    edits: dict[str, Any] | None = None


def errors(facts: Facts) -> list[ErrorRaised]:
    return [e for e in facts.trace.events if isinstance(e, ErrorRaised)]


def explain(facts: Facts, drawing: Drawing) -> Explained | None:
    found = errors(facts)
    if not found:
        return None
    return Explained(found[-1], None, "", "")
