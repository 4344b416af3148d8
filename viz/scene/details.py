"""The inspector's data for one element, for all its moments at once (docs/scene-format.md, Details)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from engine.trace.events import Accumulated, GradSet, OpCalled, VjpRun

from ..graph.graph import Item
from ..reading import labels, text
from ..reading.facts import Facts
from ..reading.finite_differences import check
from ..reading.formulas import called, formulas
from ..reading.jacobian import jacobian, value
from ..reading.library import about, agreement, library
from ..reading.source_text import source
from ..reading.stale_values import rule_values
from ..reading.values import Table
from ..schema import details as schema
from ..schema.details import FigureOf
from ..schema.scene import Saved
from ..schema.values import Line, Track
from ..wording import arithmetic, names
from .reading import Reading, reading_of
from .series import through, through_group

DATA = 4096
"""The number of elements up to which the details of an element have whole values and Jacobians."""


def details(trace: Any, scene: Mapping[str, Any], element: str) -> schema.Details:
    """The details of one node or edge end of a scene.

    Raises KeyError for an element that the trace does not have.  Cost: linear in the events that concern the element,
    two kernel calls per checked derivative, one rule call per row of the Jacobian.
    """
    return _Details(reading_of(trace), scene).of(element)


class _Details:
    def __init__(self, reading: Reading, scene: Mapping[str, Any]) -> None:
        self.reading = reading
        self.facts: Facts = reading.facts
        self.trace = reading.facts.trace
        self.revision = scene.get("revision", {}).get("id", "")
        self.calls = {phase["call"]: phase["label"] for phase in scene.get("phases", ()) if phase["call"] is not None}
        self.table = Table(DATA)

    def of(self, element: str) -> schema.Details:
        if element in self.reading.drawing.grouping.labels:
            return self.group(element)
        item = self.reading.drawing.items[element]
        if item.twin is not None:
            item = self.reading.drawing.items[item.twin]
        details = self.op(item) if item.op is not None else self.tensor(item)
        return {**details, "element": element}

    def source_text(self, stack: int) -> str:
        frame = self.facts.frames.get(stack)
        return "" if frame is None else source(self.trace, frame, 48)

    def called(self, call: int) -> str:
        """A backward call as it is written, or was changed to, with its line."""
        fact = self.facts.calls.get(call)
        frame = self.facts.frames.get(fact.event.stack) if fact is not None else None
        if frame is None:
            return f"backward call {call + 1}"
        return f"{text.one_line(self.calls.get(call) or source(self.trace, frame), 40)}, line {frame.line}"

    # -- ops ------------------------------------------------------------------------------------------------------

    def op(self, item: Item) -> schema.Details:
        assert item.op is not None
        fact = self.facts.ops[item.op]
        event, out = fact.event, fact.event.outputs[0]
        vjps = [e for i in fact.vjps if isinstance(e := self.trace.events[i], VjpRun)]
        steps = self.reading.line.step_of
        moments: list[schema.Moment] = [{
            "step": steps.get(event.index, 0),
            "title": f"forward: {self.source_text(event.stack) or labels.label(event)}",
            "lines": arithmetic.forward_lines(self.facts, event),
        }]  # fmt: skip
        moments += [
            {
                "step": steps.get(e.index, 0),
                "title": self.called(e.call),
                "lines": arithmetic.vjp_lines(self.facts, event, e, rule_values(self.reading.unseen.get(e.index, []))),
            }
            for e in vjps
        ]
        node = event.node
        return {
            "kind": "op",
            "head": {
                "name": node.name if node is not None else labels.written_name(event),
                "label": labels.label(event),
                "code": self.reading.code(event.stack),
                "shape": list(out.shape),
                "dtype": out.dtype,
                "device": "cpu",
                "sequence_nr": node.sequence_nr if node is not None else None,
                "about": about(self.trace, event),
            },
            "formula": formulas(self.facts, event),
            "moments": moments,
            "ledger": [],
            "saved": self.saved(item.id, event, vjps),
            "figures": self.op_figures(event, vjps),
            "check": self.check(event, vjps),
            "compared": self.compared(event, vjps),
            "jacobian": self.jacobian(event),
            "through": through(self.reading, item),
            "revision": self.revision,
            "element": item.id,
            "values": self.table.rows,
        }

    def saved(self, element: str, event: OpCalled, vjps: list[VjpRun]) -> list[schema.SavedValue]:
        if event.node is None:
            return []
        track: Track[Saved] = [(k, v) for k, v in self.reading.line.tracks.get((element, "saved"), []) if v != "none"]
        freeing = next((e for e in vjps if e.freed), None)
        call = self.facts.calls.get(freeing.call) if freeing is not None else None
        label = (
            "saved"
            if not vjps
            else f"freed by {self.called(freeing.call)}"
            if freeing is not None
            else "kept: retain_graph"
        )
        values: list[schema.SavedValue] = []
        for saved in event.node.saved:
            caption = names.saved_name(saved, event, self.facts)
            content = text.brief(self.trace.value(saved.value)) if saved.value is not None else caption
            if content != caption:
                caption += f" = {content}"
            values.append({
                "name": saved.name, "text": caption, "bytes": saved.bytes, "track": track,
                "freed_by": self.reading.code(call.event.stack) if call is not None else None, "label": label,
            })  # fmt: skip
        return values

    def op_figures(self, event: OpCalled, vjps: list[VjpRun]) -> list[schema.Figure]:
        upstream: Track[int | None] = [(0, None)]
        for e in vjps:
            gradient = next((u for u in e.upstream if u is not None), None)
            upstream.append((self.reading.line.step_of.get(e.index, 0), self.table.add(self.trace, gradient)))
        result: Track[int | None] = [
            (0, None),
            (self.reading.line.step_of.get(event.index, 0) + 1, self.table.add(self.trace, event.outputs[0].value)),
        ]
        figures = self.pair("result", "result", result)
        return figures + (self.pair("upstream", "upstream gradient", upstream) if vjps else [])

    def pair(self, of: FigureOf, title: str, track: Track[int | None]) -> list[schema.Figure]:
        """Heat map and histogram of a track that has more than one number to show."""
        rows = [self.table.rows[v] for _, v in track if v is not None]
        if max((row["stats"]["size"] for row in rows), default=0) < 2 or any("damaged" in row for row in rows):
            return []
        return [
            {"of": of, "title": title, "kind": "heatmap", "track": track},
            {"of": of, "title": title, "kind": "histogram", "track": track},
        ]

    def check(self, event: OpCalled, vjps: list[VjpRun]) -> schema.Check | None:
        """The last VJP against finite differences; before any ran, that of ones."""
        upstream = next((u for e in reversed(vjps) for u in e.upstream if u is not None), None)
        array = self.trace.value(upstream).array if upstream is not None else np.ones(event.outputs[0].shape)
        if array is None or array.shape != event.outputs[0].shape:
            return None
        given_then = rule_values(self.reading.unseen.get(vjps[-1].index, [])) if vjps else {}
        result = check(self.facts, event, array, given_then)
        if result is not None and len(vjps) > 1:
            result = replace(result, text=f"{result.text}; with the gradient of {self.called(vjps[-1].call)}")
        return None if result is None else {"text": result.text, "worst": value(result.worst), "agrees": result.agrees}

    def compared(self, event: OpCalled, vjps: list[VjpRun]) -> schema.Comparison | None:
        """The numbers of the library on which the program ran, against the engine's op."""
        name = library(self.trace)
        unseen = [rule_values(self.reading.unseen.get(vjp.index, [])) for vjp in vjps]
        verdict = agreement(self.facts, event, vjps, unseen) if name else None
        if verdict is None:
            return None
        return {"library": name, "text": verdict.text, "worst": value(verdict.worst), "agrees": verdict.agrees}

    def jacobian(self, event: OpCalled) -> schema.Matrix | None:
        if event.node is None:
            return None
        for name, edge in zip(event.node.inputs, event.node.edges, strict=True):
            matrix = jacobian(self.facts, event, name, DATA) if edge is not None else None
            if matrix is not None:
                rows, columns = matrix.shape
                return {
                    "input": called(self.facts, event, name),
                    "rows": rows,
                    "cols": columns,
                    "data": [value(v) for v in matrix.reshape(-1)],
                }
        return None

    # -- tensors --------------------------------------------------------------------------------------------------

    def tensor(self, item: Item) -> schema.Details:
        assert item.tensor is not None
        fact = self.facts.tensors[item.tensor]
        producer = fact.producers.get(item.version)
        stack = self.facts.begun_at(item.tensor) if producer is None else self.facts.ops[producer].event.stack
        node = self.facts.node(producer) if producer is not None else None
        name = self.facts.names.get(item.tensor)
        line = self.reading.line
        figures: list[schema.Figure] = []
        derived = any(how for _, how in line.tracks.get((item.id, "row:derived"), ()))
        passed = "gradient that backward starts with" if derived else "gradient passed"
        rows: tuple[tuple[FigureOf, str], ...] = (("value", "value"), ("seed", passed), ("grad", ".grad"))
        for row, title in rows:
            track = line.tracks.get((item.id, f"row:{row}"))
            if track is not None:
                figures += self.pair(row, title, [(k, self.table.add(self.trace, v)) for k, v in track])
        start = next((k for k, v in line.tracks.get((item.id, "state"), [(0, "idle")]) if v != "future"), 0)
        step = max(0, int(start) - 1)
        moments: list[schema.Moment] = [{"step": step, "title": "value", "lines": self.values(item)}]
        return {
            "kind": "tensor",
            "head": {
                "name": name or "tensor without a name",
                "label": {"leaf": "leaf", "root": "root", "constant": "constant"}.get(item.role, "intermediate result"),
                "code": self.reading.code(stack), "shape": list(fact.shape), "dtype": fact.dtype,
                "device": fact.leaf.device if fact.leaf is not None else "cpu",
                "sequence_nr": node.sequence_nr if node is not None else None, "about": "",
            },
            "formula": [], "moments": moments, "ledger": self.ledger(item.tensor, name or "the tensor"), "saved": [],
            "figures": figures, "check": None, "compared": None, "jacobian": None,
            "through": through(self.reading, item), "revision": self.revision, "element": item.id,
            "values": self.table.rows,
        }  # fmt: skip

    def values(self, item: Item) -> list[Line]:
        assert item.tensor is not None
        index = self.facts.value(item.tensor, item.version)
        return [arithmetic.value_line("value", self.trace.value(index))] if index is not None else []

    def ledger(self, tensor: int, name: str) -> list[schema.Entry]:
        """The ledger of `.grad`: contributions per edge, the sum per backward call, and the program's own writes."""
        entries: list[schema.Entry] = []
        coming: list[tuple[VjpRun, int, str]] = []
        for event in self.trace.events:
            if isinstance(event, VjpRun):
                coming += self.contributions(event, tensor)
            elif isinstance(event, Accumulated) and event.tensor == tensor:
                here = [one for one in coming if one[0].call == event.call]  # others went elsewhere, through grad()
                if len(here) > 1:
                    entries += [self.entry(vjp, vjp.call, label, None, added, None) for vjp, added, label in here]
                coming = []
                label = f"{name}.grad after {self.called(event.call)}"
                entries.append(self.entry(event, event.call, label, event.before, event.added, event.after))
            elif isinstance(event, Accumulated) and tensor in self.facts.holding(event.grad, event.index):
                label = f"{self.facts.names.get(event.tensor) or 'another leaf'}.grad, the same tensor"
                entries.append(
                    self.entry(event, None, f"{label}, after {self.called(event.call)}", None, None, event.after)
                )
            elif isinstance(event, GradSet) and event.tensor == tensor:
                entries.append(self.entry(event, None, self.source_text(event.stack) or "set", None, None, event.value))
            elif (
                isinstance(event, OpCalled)
                and event.inplace is not None
                and tensor in self.facts.holding(event.inplace, event.index)
            ):
                label = self.source_text(event.stack) or labels.written_name(event)
                entries.append(self.entry(event, None, label, None, None, event.outputs[0].value))
        return entries

    def contributions(self, event: VjpRun, tensor: int) -> list[tuple[VjpRun, int, str]]:
        op = self.facts.op_of_node.get(event.node)
        record = self.facts.node(op) if op is not None else None
        if op is None or record is None:
            return []
        slots = [slot for slot, edge in enumerate(record.edges) if edge is not None and edge.leaf == tensor]
        expression = self.source_text(self.facts.ops[op].event.stack)
        label = f"by {record.name} of {expression}" if expression else f"by {record.name}"
        result = []
        for slot in slots:
            added = event.cotangents[slot] if slot < len(event.cotangents) else None
            if added is not None:
                which = f", to input {slot + 1}" if len(slots) > 1 else ""
                result.append((event, added, label + which))
        return result

    def entry(
        self, event: Any, call: int | None, label: str, before: int | None, added: int | None, after: int | None
    ) -> schema.Entry:
        add = self.table.add
        stack = self.facts.calls[call].event.stack if call is not None and call in self.facts.calls else event.stack
        return {
            "step": self.reading.line.step_of.get(event.index, 0),
            "call": call,
            "label": label,
            "before": add(self.trace, before),
            "added": add(self.trace, added),
            "after": add(self.trace, after),
            "code": self.reading.code(stack),
        }

    def group(self, group: str) -> schema.Details:
        """A folded group: its contents, and the VJPs inside."""
        grouping, drawing = self.reading.drawing.grouping, self.reading.drawing
        inside = [i for i in drawing.items.values() if group in grouping.paths[i.group]]
        ops = [i.op for i in inside if i.op is not None]
        lines = [
            arithmetic.line(labels.label(self.facts.ops[op].event), [labels.node_name(self.facts.ops[op].event)])
            for op in ops[:40]
        ]
        first = self.facts.ops[ops[0]].event if ops else None
        return {
            "revision": self.revision,
            "element": group,
            "kind": "group",
            "head": {
                "name": grouping.labels[group],
                "label": text.count(len(ops), "op"),
                "code": self.reading.code(first.stack) if first is not None else None,
                "shape": None,
                "dtype": None,
                "device": "cpu",
                "sequence_nr": None,
                "about": "",
            },
            "formula": [],
            "ledger": [],
            "saved": [],
            "values": [],
            "figures": [],
            "check": None,
            "compared": None,
            "jacobian": None,
            "through": through_group(self.reading, group),
            "moments": [
                {
                    "step": self.reading.line.step_of.get(first.index, 0) if first is not None else 0,
                    "title": "inside",
                    "lines": lines,
                }
            ],
        }
