"""The formula of one op call, from the rule itself, as the inspector shows it."""

from __future__ import annotations

from typing import Any

from engine.trace import OpCalled

from .facts import Facts


def formulas(facts: Facts, event: OpCalled) -> list[dict[str, Any]]:
    """One {input, tex, text} per input with a rule."""
    return []
