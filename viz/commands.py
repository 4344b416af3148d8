"""What the user told autograd to do, as the commands panel lists it: backward calls, zeroing, setting."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engine.program import commands as recorded_commands
from engine.trace import BackwardStarted

from .labels import written_call
from .quoted import source
from .reading import Json, Reading
from .specs import in_order
from .values import Table

Place = Callable[[int], str | None]
"""Where a tensor is to be seen."""


def commands(
    read: Reading, values: Table, place: Place, edits: Mapping[str, Any] | None, changed: Mapping[str, str]
) -> list[Json]:
    """What the user told autograd to do, with the ids and places that edits know; `changed` says how which differ.

    One that is another than in the program is labelled as it would have to stand there.
    """
    specs: Sequence[Mapping[str, Any]] | None = (edits or {}).get("commands")
    ran = list(recorded_commands(read.facts.trace))
    if specs is None:
        listed: list[tuple[str, Any, Any]] = [(c.id, c.after, c) for c in ran]
    else:
        named = [specs[i] for i in in_order(specs)]
        listed = [(str(s["id"]), s.get("after"), c) for s, c in zip(named, ran, strict=False)]
    return [_command(read, values, place, (ident, after, changed.get(ident)), c) for ident, after, c in listed]


def _command(read: Reading, values: Table, place: Place, spec: tuple[str, Any, str | None], found: Any) -> Json:
    ident, after, changed = spec
    event = read.facts.trace.events[found.base] if found.base is not None else None
    start = end = len(read.line.steps)
    result: Json = {
        "id": ident, "kind": found.kind, "label": found.kind, "code": None, "after": after, "start": start, "end": end,
        "root": None, "roots": [], "shape": None, "gradient": None, "implicit": False,
        "retain_graph": found.retain_graph, "create_graph": found.create_graph, "inputs": None, "changed": changed,
        "error": None,
    }  # fmt: skip
    if event is None:
        return result
    frame = read.facts.frame(event.stack)
    if frame is not None:
        result |= {"label": source(read.facts.trace, frame), "code": read.code(event.stack)}
    if isinstance(event, BackwardStarted):
        if changed is not None:
            result["label"] = written_call(event, read.facts.trace, read.facts.name)
        start, end = read.line.spans.get(event.call, (start, end))
        if event.roots:
            root = event.roots[0]
            result |= {
                "root": place(root.tensor), "roots": [p for r in event.roots if (p := place(r.tensor)) is not None],
                "implicit": root.implicit,
                "shape": list(read.facts.trace.value(root.gradient).shape),
                "gradient": values.add(read.facts.trace, root.gradient),
            }  # fmt: skip
        if event.inputs is not None:
            result["inputs"] = [place(t) or f"t{t}" for t in event.inputs]  # what has no card is an input all the same
        failed = next((e for e in read.facts.errors if e.call == event.call), None)
        result["error"] = failed.message if failed is not None else None
    else:
        start = read.line.step_of.get(event.index, start)
        end = start + 1
        leaf = found.leaf
        result["root"] = place(leaf) if leaf is not None else None
    return result | {"start": start, "end": end}
