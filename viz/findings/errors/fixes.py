"""Backward calls and writes in the browser's form, and the same calls with an edit that fixes an error.  Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.replay.program import Command, commands

from ...reading.facts import CallFact
from ...schema.edits import CommandSpec, Edits
from .case import Case


def edited(case: Case, call: CallFact | None, **changes: Any) -> Edits | None:
    """The edits so far, with one backward call changed; None if the call is not a command of its own."""
    if call is None:
        return None
    ran = list(commands(case.facts.trace))
    place = next((i for i, c in enumerate(ran) if c.base == call.event.index), None)
    if place is None:
        return None
    recorded = (case.edits or {}).get("commands")
    if recorded is None:
        specs: list[Any] = [command_spec(c) for c in ran]
    else:
        specs = [dict(spec) for spec in recorded]
        order = in_order(specs)
        if place >= len(order):
            return None
        place = order[place]
    specs[place] = {**specs[place], **changes}
    return {"leaves": dict((case.edits or {}).get("leaves") or {}), "commands": specs}


def in_order(specs: Sequence[Mapping[str, Any]]) -> list[int]:
    """The indices of edited commands in the order in which they run; a command without a place runs last."""
    after = [spec.get("after") for spec in specs]
    return sorted(range(len(specs)), key=lambda i: float("inf") if after[i] is None else float(after[i] or 0))


def command_spec(command: Command) -> CommandSpec:
    """A recorded command in the browser's form."""
    return {
        "id": command.id,
        "kind": command.kind,
        "after": command.after,
        "root": command.roots[0] if command.roots else None,
        "gradient": command.gradient,
        "retain_graph": command.retain_graph,
        "create_graph": command.create_graph,
        "inputs": list(command.inputs) if command.inputs is not None else None,
        "leaf": command.leaf,
    }
