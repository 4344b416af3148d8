"""The commands of the user, as the panel lists them: backward calls, zeroing and setting gradients."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.replay.program import Command
from engine.replay.program import commands as recorded_commands
from engine.trace.events import BackwardStarted

from ..findings.errors.fixes import in_order
from ..reading.labels import written_call
from ..reading.source_text import source
from ..reading.values import Table
from ..schema.scene import ChangeKind
from ..schema.scene import Command as Document
from .reading import Reading

Place = Callable[[int], str | None]
"""The place where a tensor is visible."""


def commands(
    reading: Reading, values: Table, place: Place, edits: Mapping[str, Any] | None, changed: Mapping[str, ChangeKind]
) -> list[Document]:
    """The user's instructions to autograd, with the ids and places of edits; `changed` says how a command differs.

    A changed command is labelled in the form that it would have in the program.
    """
    return [
        _command(reading, values, place, (ident, after, changed.get(ident)), c)
        for ident, after, c in ran(reading, edits)
    ]


def ran(reading: Reading, edits: Mapping[str, Any] | None) -> list[tuple[str, Any, Command]]:
    """The commands that ran, with their ids and places in `edits` (None: in the recording)."""
    specs: Sequence[Mapping[str, Any]] | None = (edits or {}).get("commands")
    commands = reading.once(("commands",), lambda: recorded_commands(reading.facts.trace))
    if specs is None:
        return [(c.id, c.after, c) for c in commands]
    candidates = iter([specs[i] for i in in_order(specs)])
    named = ((next((spec for spec in candidates if _is(spec, command)), None), command) for command in commands)
    return [(str(spec["id"]), spec.get("after"), command) for spec, command in named if spec is not None]


def _is(spec: Mapping[str, Any], command: Command) -> bool:
    """Return whether a command may be the next one that ran: zeroing skips leaves without a gradient."""
    return spec["kind"] == command.kind and (command.kind != "zero" or spec.get("leaf") in (None, command.leaf))


def span(reading: Reading, command: Command) -> tuple[int, int]:
    """The steps of a command: from its first one up to the next command's; after all steps if it has none."""
    behind = len(reading.line.steps)
    event = reading.facts.trace.events[command.base] if command.base is not None else None
    if isinstance(event, BackwardStarted):
        return reading.line.spans.get(event.call, (behind, behind))
    start = behind if event is None else reading.line.step_of.get(event.index, behind)
    return start, behind if event is None else start + 1


def _command(
    reading: Reading, values: Table, place: Place, spec: tuple[str, Any, ChangeKind | None], command: Command
) -> Document:
    ident, after, changed = spec
    event = reading.facts.trace.events[command.base] if command.base is not None else None
    start, end = span(reading, command)
    result: Document = {
        "id": ident, "kind": command.kind, "label": command.kind, "code": None, "after": after,
        "start": start, "end": end, "root": None, "roots": [], "shape": None, "gradient": None, "implicit": False,
        "retain_graph": command.retain_graph, "create_graph": command.create_graph, "inputs": None, "changed": changed,
        "error": None,
    }  # fmt: skip
    if event is None:
        return result
    frame = reading.facts.frames.get(event.stack)
    if frame is not None:
        result |= {"label": source(reading.facts.trace, frame), "code": reading.code(event.stack)}
    if isinstance(event, BackwardStarted):
        if changed is not None:
            result["label"] = written_call(event, reading.facts.trace, reading.facts.names.get)
        if event.roots:
            root = event.roots[0]
            result |= {
                "root": place(root.tensor), "roots": [p for r in event.roots if (p := place(r.tensor)) is not None],
                "implicit": root.implicit,
                "shape": list(reading.facts.trace.value(root.gradient).shape),
                "gradient": values.add(reading.facts.trace, root.gradient),
            }  # fmt: skip
        if event.inputs is not None:
            result["inputs"] = [place(t) or f"t{t}" for t in event.inputs]  # an input needs no card
        failed = next((e for e in reading.facts.errors if e.call == event.call), None)
        result["error"] = failed.message if failed is not None else None
    else:
        leaf = command.leaf
        result["root"] = place(leaf) if leaf is not None else None
    return result
