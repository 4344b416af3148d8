"""One JSON document per revision: everything that the browser needs to play it (docs/scene-format.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, cast

import networkx as nx
import numpy as np
from typing_extensions import TypedDict

from engine.trace.events import Trace

from ..findings.errors.explain import explain
from ..findings.finding import ADDING_UP
from ..graph.folds import FOLD_ABOVE_TOLD
from ..graph.graph import Link
from ..layout import cards, choice
from ..layout.layered.ports import from_height
from ..layout.sheet import Size
from ..reading import jacobian, stale_values, text
from ..reading.values import Table
from ..schema import scene as schema
from ..schema.scene import (
    Change,
    Command,
    Doubt,
    Edge,
    Error,
    Finding,
    Mark,
    Node,
    NodeTracks,
    PreviousRevision,
    Program,
    Revision,
    Row,
    Scene,
)
from ..schema.values import Box, Chip, Code, Formula, Point, RowSize, Track
from ..tasks.collection import unhurried
from ..time.steps import Flow, Phase, Step
from ..time.tracks import differ, joint_state, together
from ..wording import sentences
from .command_positions import places
from .commands import commands
from .hidden_elements import hidden
from .hidden_gradients import HiddenGradients
from .initial_view import opening
from .norms import Norms
from .program_lines import lines, prints
from .reading import reading_of
from .visible_graph import VisibleGraph, rounded

MOST_FAR = 2
"""The most names of tensors elsewhere on the card of a folded group."""

Sign = Literal[-1, 0, 1] | None
MOST_IN_CHAPTERS = 1000
"""The number of elements up to which chapters of a graph speak of single ones."""
WIRE_ABOVE = 220
"""Visible nodes above which cell-by-cell wiring is left to the details of an op."""


class Element(TypedDict):
    """An element of the program, by the place where it is shown."""

    id: str
    kind: str
    label: str
    code: Code | None
    unfold: list[str]


class StoryTable(TypedDict):
    """The table in which a story finds its elements: also those in folded groups, in the order of the program."""

    nodes: list[Element]
    at: list[str | None]
    """The label of the active element in each step."""


class SceneForStory(Scene):
    """A scene for which a story can still be written: with the contents of its folded groups."""

    inside: NotRequired[StoryTable]
    """For a graph in which something is folded; not for the browser."""


def scene(
    trace: Trace, *, revision: Mapping[str, Any] | None = None, program: Mapping[str, Any] | None = None,
    edits: Mapping[str, Any] | None = None, folds: Mapping[str, bool] | None = None, layout: str = "layered",
    previous: Trace | None = None, fold_above: int = FOLD_ABOVE_TOLD, changes: Sequence[Change] = (),
    base: Trace | None = None,
) -> SceneForStory:  # fmt: skip
    """The scene of a trace: deterministic, and ready to be written as JSON.

    `revision` and `program` fill those parts of the document; `edits`, in the browser's form, are those with which the
    recording `base` was replayed to this trace, and `changes` their effects (`changes.changes`); `folds` has groups
    that the user folded or opened (`initial_view.opening` decides about the others); `previous` is the trace whose
    values are shown as ghosts.  Cost: linear in events and visible nodes.
    """
    with unhurried():
        builder = _Scene(trace, folds or {}, fold_above, layout, edits, changes)
        return builder.document(revision or {}, program or {}, previous, places(base or trace))


class _Scene:
    def __init__(
        self, trace: Trace, folds: Mapping[str, bool], above: int, layout_name: str, edits: Mapping[str, Any] | None,
        changes: Sequence[Change],
    ) -> None:  # fmt: skip
        self.trace, self.layout_name, self.edits, self.changes = trace, layout_name, edits, changes
        reading = self.reading = reading_of(trace)
        self.facts, self.line = reading.facts, reading.line
        self.values = Table(of=trace, entries=reading.entries)
        begin = opening(reading, above)
        folded = {group for group in reading.drawing.grouping.labels if folds.get(group, group in begin.folded)}
        begin_lines = begin.lines if folded == begin.folded or not reading.drawing.grouping.model else {}
        self.visible = VisibleGraph(
            reading.facts, reading.drawing, folded, begin_lines, begin.limit, begin.folded, begin.zoom
        )
        self.drawing = self.visible.drawing
        self.matrices: dict[str, np.ndarray | None] = {}
        self.norms = Norms(reading, self.visible)
        self.scale = reading.once(("scale",), self.norms.range) if begin.folded else None
        self.within = HiddenGradients(reading, self.visible, self.values)

    def document(
        self, revision: Mapping[str, Any], program: Mapping[str, Any], previous: Trace | None, room: list[schema.Place]
    ) -> SceneForStory:
        graph = self.visible.graph()
        picture, note = choice.picture_of(graph, self.layout_name)
        nodes = [self.node(ident, graph, picture) for ident in graph]
        self.wire(len(graph))
        edges = [self.edge(key, graph, picture) for *_, key in graph.edges(keys=True)]
        line = self.line
        self.findings = self.problems()
        changed = {change["command"]: change["kind"] for change in self.changes if change["command"] is not None}
        command_documents = commands(self.reading, self.values, self.shown_place, self.edits, changed)
        edited = [command for command in command_documents if command["changed"] and command["start"] < len(line.steps)]
        document: SceneForStory = {
            "format": 1,
            "revision": self.revision(revision),
            "program": self.program(program),
            "steps": list(map(self.step, line.steps, self.reading.step_sentences, self.reading.step_places)),
            "phases": [self.phase(phase, edited) for phase in line.phases],
            "spans": self.reading.spans,
            "lines": self.reading.once(("lines",), lambda: lines(self.reading)),
            "prints": prints(self.reading),
            "marks": self.marks(edited),
            "formulas": self.within.formulas,
            "nodes": nodes, "edges": edges, "groups": self.visible.groups(picture),
            "commands": command_documents, "changes": list(self.changes), "places": room,
            "error": self.error(), "findings": self.findings,
            "warnings": [{"step": k, "message": message} for k, message in line.warnings],
            "previous": self.previous(previous),
            "values": self.values.rows,
            "norms": self.scale, "model": self.drawing.grouping.model or None,
            "bounds": bounds(nodes, picture),
            "layout": picture.name, "layout_note": note,
            "folded": sorted(self.visible.folded),
            "hidden": hidden(self.reading, self.visible),
        }  # fmt: skip
        if self.visible.folded and len(self.drawing.items) <= MOST_IN_CHAPTERS:
            document["inside"] = self.inside()
        return document

    # -- graph ----------------------------------------------------------------------------------------------------

    def node(self, ident: str, graph: nx.MultiDiGraph, picture: choice.Picture) -> Node:
        x, y = picture.positions[ident]
        size: Size = graph.nodes[ident]["size"]
        if ident in self.drawing.grouping.labels:
            return self.folded_group(ident, (x, y), size)
        item = self.drawing.items[ident]
        label, sub, title = self.reading.head(item)
        fact = self.facts.tensors[item.tensor] if item.tensor is not None else None
        tracks: NodeTracks = {"state": self.track(ident, "state", "future"), "faint": self.track(ident, "faint", False)}
        saved: list[Chip] = []
        formula: list[Formula] = []
        stack = self.facts.begun_at(item.tensor) if fact is not None and fact.leaf is not None else -1
        if item.op is not None:
            tracks["saved"] = self.track(ident, "saved", "none")
            tracks["upstream"] = self.value_track(ident, "upstream")
            saved, formula = cards.saved_chips(item.op, self.facts), self.reading.formula(self.facts.ops[item.op].event)
            stack = self.facts.ops[item.op].event.stack
        elif fact is not None and fact.producers.get(item.version) is not None:
            stack = self.facts.ops[fact.producers[item.version]].event.stack  # type: ignore[index]  # asked above
        node: Node = {
            "id": ident, "x": round(x, 2), "y": round(y, 2), "w": size[0], "h": size[1],
            "kind": item.kind, "role": item.role, "label": label, "sub": sub, "title": title,
            "group": item.group, "twin": self.visible.place_of[item.twin] if item.twin is not None else None,
            "shape": list(fact.shape) if fact is not None else None, "dtype": fact.dtype if fact is not None else None,
            "rows": [self.row(ident, row) for row in self.visible.rows.get(ident, [])], "saved": saved,
            "tracks": tracks, "code": self.reading.code(stack), "formula": formula,
        }  # fmt: skip
        if item.tensor in self.facts.retained:
            node["retains"] = self.retains(ident, item.tensor)
        return node

    def row(self, ident: str, size: RowSize) -> Row:
        track = self.value_track(ident, f"row:{size['key']}")
        row: Row = {
            "key": size["key"],
            "label": size["label"],
            "rows": size["rows"],
            "cols": size["cols"],
            "track": track,
        }
        if row["key"] == "seed":
            row["call"] = self.track(ident, "row:call", None)
            derived = self.track(ident, "row:derived", None)
            if any(how for _, how in derived):
                row["derived"] = derived
        if row["key"] == "grad" and ident in self.line.until:
            row["until"] = self.line.until[ident]
        return row

    def retains(self, ident: str, tensor: int) -> Literal["kept", "unheld", "unreached"]:
        """The outcome of a `retain_grad()`: the gradient is "kept"; no call reaches the tensor ("unreached"); or one
        does when nobody holds it any more ("unheld")."""
        if any(value is not None for _, value in self.line.tracks.get((ident, "row:grad"), ())):
            return "kept"
        producer, since = self.facts.made_by(tensor, len(self.trace.events)), self.facts.retained[tensor]
        passed = producer is not None and any(vjp > since for vjp in self.facts.ops[producer].vjps)
        return "unheld" if passed else "unreached"

    def folded_group(self, group: str, at: Point, size: Size) -> Node:
        grouping = self.drawing.grouping
        inside = self.visible.members[group]
        ops, quiet, cells = self.visible.ops(group), grouping.quiet.get(group), self.norms.cells(group)
        dots = [] if cells else self.norms.dots(group)
        first = next(iter(ops), None)
        shapes, back = self.visible.borders.shapes(group, max(ops, default=None)), self.visible.borders.gradient(group)
        shapes = "" if quiet in ("start", "update") else shapes
        count = f"{len(cells)} × {text.count(len(ops) // len(cells), 'op')}" if cells else text.count(len(ops), "op")
        sub = ", ".join([count, *self.far(group, inside)]) + (f" · {shapes}" if shapes else "")
        node: Node = {
            "id": group, "x": round(at[0], 2), "y": round(at[1], 2), "w": size[0], "h": size[1],
            "kind": "group", "role": "inner", "label": grouping.labels[group], "sub": sub,
            "title": f"{grouping.labels[group]}: {text.count(len(ops), 'op')}, folded",
            "group": grouping.within[group], "twin": None, "shape": None, "dtype": None, "rows": [], "saved": [],
            "formula": [],
            "tracks": {
                "state": self.reading.once(
                    ("state", *inside), lambda: together([self.computed(m, bool(ops)) for m in inside], joint_state)
                ),
                "faint": self.reading.once(
                    ("faint", *inside), lambda: together([self.track(m, "faint", False) for m in inside], all)
                ),
                "upstream": self.value_track(back.id, "cotangent") if back is not None else [(0, None)],
                "norm": self.norms.group(group),
            },
            "code": self.reading.code(self.facts.ops[first].event.stack) if first is not None else None,
        }  # fmt: skip
        if dots:
            node["dots"] = dots
        if cells:
            node["cells"] = cells
        if quiet in ("start", "data", "update", "aside"):
            node["quiet"] = quiet
        return node

    def far(self, group: str, inside: Sequence[str]) -> list[str]:
        """Cards that are used in a folded group and have no edge to it, by the name of their stubs in it."""
        items, place_of = self.drawing.items, self.visible.place_of
        led = {place_of[link.source] for link in self.visible.borders.coming[group].values()}
        twins = [items[m].twin for m in inside if items[m].kind == "stub"]
        others = dict.fromkeys(twin for twin in twins if twin and place_of[twin] == twin and twin not in led)
        names = [f"{self.reading.head(items[twin])[0]} ↗" for twin in others]
        return names if len(names) <= MOST_FAR else [*names[:MOST_FAR], "…"]

    def computed(self, member: str, with_ops: bool) -> Track[Any]:
        """The states of a member of a folded group; a leaf that is used there does not count, it may exist earlier."""
        track = self.track(member, "state", "future")
        item = self.drawing.items[member]
        if not with_ops or item.op is not None or item.role not in ("leaf", "constant"):
            return track
        return [(k, "future" if state == "idle" else state) for k, state in track]

    def edge(self, key: str, graph: nx.MultiDiGraph, picture: choice.Picture) -> Edge:
        links = self.visible.merged[key]
        link = links[0]
        single = len(links) == 1
        value = any(member.value for member in links)
        back = _rounded(picture.back[key])
        matrix = self.matrices.get(link.id)
        edge: Edge = {
            "id": key,
            "source": self.visible.place_of[link.source],
            "target": self.visible.place_of[link.target],
            "input": link.input if single else None,
            "hands": self.hands(link) if single else None,
            "points": _rounded(picture.routes[key]) if value else back[::-1],
            "back": back,
            "grad": any(member.grad for member in links),
            "value": value,
            "tracks": {
                "state": together([self.track(m.id, "state", "future") for m in links], joint_state),
                "faint": together([self.track(m.id, "faint", False) for m in links], all),
                "cotangent": self.value_track(link.id, "cotangent"),
            },
            "wiring": jacobian.wires(matrix) if matrix is not None and single else None,
        }
        if self.scale is not None and not single and edge["grad"]:
            edge["tracks"]["norm"] = self.norms.edge(links)
        through = self.through(link, graph, picture, picture.back[key])
        if through is not None:
            edge["through"] = through
        return edge

    def through(
        self, link: Link, graph: nx.MultiDiGraph, picture: choice.Picture, back: Sequence[Point]
    ) -> list[Point] | None:
        """The route of a gradient that passes through a root: it does not begin at the row of the root's own one."""
        place = self.visible.place_of[link.target]
        rows, (w, h), (x, y) = self.visible.rows.get(place, []), graph.nodes[place]["size"], picture.positions[place]
        on = (m.grad for *_, key in graph.out_edges(place, keys=True) for m in self.visible.merged[key])
        if (
            not link.grad
            or not any(row["key"] == "seed" for row in rows)
            or not any(on)
            or abs(back[0][0] - x + w / 2) > 1
        ):
            return None
        return _rounded(from_height(back, y + cards.passing_height((w, h), rows)))

    def hands(self, link: Link) -> str | None:
        """The name of the tensor on an edge that does not begin at its card: `w.grad`, or a result of a folded
        group."""
        name, tensor = self.facts.names.get(link.tensor), self.drawing.items[link.source].tensor
        if self.visible.place_of[link.source] in self.drawing.grouping.labels:
            return name and name + self.facts.mark(link.tensor, link.version)
        return None if tensor is None or tensor == link.tensor else name

    def wire(self, nodes: int) -> None:
        """Local Jacobians of the small op calls, unless more `nodes` are visible than can be wired."""
        if nodes > WIRE_ABOVE:
            return
        for link in self.drawing.links.values():
            key = self.visible.edge_of.get(link.id)
            if link.op is None or not link.grad or link.input is None or key is None:
                continue
            if self.visible.place_of[link.target] != link.target or len(self.visible.merged[key]) > 1:
                continue  # a folded group around the op, or one from which more than this goes to it
            event = self.facts.ops[link.op].event
            fact = self.facts.tensors[link.tensor]
            if text.size(fact.shape) <= text.SMALL and all(text.size(o.shape) <= text.SMALL for o in event.outputs):
                self.matrices[link.id] = jacobian.jacobian(self.facts, event, link.input, text.SMALL**2)

    def inside(self) -> StoryTable:
        """All elements in the order of the program, also those in folded groups, by the place where each is shown; and
        the label of the active element in each step.

        A story finds its elements here; not for the browser.
        """
        elements: list[Element] = []
        at = [step.at for step in self.line.steps]
        for ident in self.drawing.graph:
            item = self.drawing.items[ident]
            stack = self.facts.ops[item.op].event.stack if item.op is not None else -1
            elements.append({
                "id": self.visible.place_of[ident], "kind": item.kind, "label": self.reading.head(item)[0],
                "code": self.reading.code(stack) if stack >= 0 else None,
                "unfold": [group for group in self.drawing.grouping.paths[item.group] if group in self.visible.folded],
            })  # fmt: skip
        items = self.drawing.items
        return {
            "nodes": elements,
            "at": [self.reading.head(items[one])[0] if one in items else None for one in at],
        }

    # -- time -----------------------------------------------------------------------------------------------------

    def track(self, element: str, key: str, default: Any) -> Track[Any]:
        return self.line.tracks.get((element, key)) or [(0, default)]

    def value_track(self, element: str, key: str) -> Track[int | None]:
        track = self.track(element, key, None)
        is_drawn = key.startswith("row:")
        return [(k, self.values.add(self.trace, value, is_drawn)) for k, value in track]

    def phase(self, phase: Phase, edited: Sequence[Command]) -> schema.Phase:
        code = self.reading.code(phase.stack) if phase.kind != "forward" else None
        own = (c for c in edited if c["code"] == code and c["start"] <= phase.start < c["end"])
        label = phase.label if phase.call is None else next((c["label"] for c in own), phase.label)
        return {
            "kind": phase.kind, "label": label, "start": phase.start, "end": phase.end, "call": phase.call,
            "code": code, "failed": phase.failed,
        }  # fmt: skip

    def step(self, step: Step, sentence: str, origin: schema.Origin) -> schema.Step:
        place = self.visible.place_of.get(step.at) if step.at is not None else None
        writes: schema.WriteEffect = {"writes": "value"} if step.writes_value else {}
        return {
            "kind": step.kind,
            "phase": step.phase,
            "at": place,
            "name": step.name,
            "say": sentence,
            **origin,
            "flows": self.flows(step),
            "order": step.order,
            **self.within.step(step),
            **writes,
        }

    def problems(self) -> list[Finding]:
        """The problems that raised no error, each at a node and from the end of a step on."""
        steps = self.line.steps
        findings: list[Finding] = []
        for finding in self.reading.findings:
            own_step = self.line.step_of.get(finding.event)
            later = (k for k, step in enumerate(steps) if step.event > finding.event)
            step = own_step if own_step is not None else next(later, len(steps) - 1)
            at = finding.at or (steps[step].at if steps else None)
            findings.append({
                "kind": finding.kind, "step": step, "at": self.place_of(at),
                "label": finding.label, "why": finding.why, "fix": finding.fix,
            })  # fmt: skip
        return sorted(findings, key=lambda one: one["step"])

    def place_of(self, at: str | None) -> str | None:
        """The place where an element is visible; for a tensor without a card, the op that computed it."""
        if at is not None and at not in self.visible.place_of and at.removeprefix("t").isdigit():
            at = self.drawing.place(int(at.removeprefix("t")))
        return self.visible.place_of.get(at) if at is not None else None

    def marks(self, edited: Sequence[Command]) -> list[Mark]:
        """The marks on the timeline, also for the first inf or nan and for the commands that edits changed."""
        result: list[Mark] = [
            {"step": c["start"], "kind": "edit", "label": f"{c['changed']}: {c['label']}"} for c in edited
        ]
        result += [{"step": k, "kind": kind, "label": label} for k, kind, label in self.line.marks]
        shown_findings = [finding for finding in self.findings if finding["kind"] not in ADDING_UP]  # often intended
        result += [
            {"step": finding["step"], "kind": "warning", "label": finding["label"]} for finding in shown_findings
        ]
        return sorted(result, key=lambda mark: mark["step"])

    def flows(self, step: Step) -> list[schema.Flow]:
        result: list[schema.Flow] = []
        edges: set[str] = set()
        for flow in step.flows:
            key = self.visible.edge_of.get(flow.link.id)
            if key is None or key in edges:
                continue
            edges.add(key)
            vid = self.values.add(self.trace, flow.value)
            sign: Sign = None
            size = 0.0
            if vid is not None and flow.back:
                stats = self.values.rows[vid]["stats"]
                sign, size = _sign(stats), _size(stats)
            own_jacobian = self.own_jacobian(step, flow)
            matrix = self.matrices.get(flow.link.id) if own_jacobian is None else own_jacobian
            flow_text, path = sentences.flow_text(flow, matrix, self.trace) if flow.back else (None, None)
            result.append({"edge": key, "back": flow.back, "value": vid, "text": flow_text, "sign": sign, "size": size})
            if path is not None:
                result[-1]["path"] = path
            if own_jacobian is not None:
                result[-1]["wiring"] = jacobian.wires(own_jacobian)
        return result

    def own_jacobian(self, step: Step, flow: Flow) -> np.ndarray | None:
        """The local Jacobian that a VJP used, if it is not that of the forward pass; else None."""
        link, stale = flow.link, self.reading.unseen.get(step.event)
        if not flow.back or stale is None or link.op is None or link.input is None or link.id not in self.matrices:
            return None
        event = self.facts.ops[link.op].event
        matrix = jacobian.jacobian(self.facts, event, link.input, text.SMALL**2, stale_values.rule_values(stale))
        same = matrix is None or np.array_equal(matrix, self.matrices[link.id], equal_nan=True)  # type: ignore[arg-type]
        return None if same else matrix

    # -- around the graph -----------------------------------------------------------------------------------------

    def program(self, fields: Mapping[str, Any]) -> Program:
        program: Program = {
            "id": "", "title": "", "question": "", "crumbs": [], "legacy": False, "chapters": [],
            "files": [{"name": name, "text": code} for name, code in self.trace.files.items()],
        }  # fmt: skip
        return cast("Program", {**program, **fields})

    def revision(self, fields: Mapping[str, Any]) -> Revision:
        revision: Revision = {
            "id": "", "number": 0, "label": "as recorded", "base": None, "doubt": self.doubt(),
            "recomputed": str(self.trace.meta.get("recomputed", "")),
        }  # fmt: skip
        if self.trace.meta.get("rerun"):
            revision["ran"] = True
        return cast("Revision", {**revision, **fields})

    def doubt(self) -> Doubt | None:
        at = self.trace.meta.get("doubt")
        if at is None:
            return None
        step = next((k for k, s in enumerate(self.line.steps) if s.event >= at), len(self.line.steps))
        return {
            "step": step,
            "text": self.trace.meta.get("why") or "From this step on the program itself might take another path.",
        }

    def shown_place(self, tensor: int) -> str | None:
        place = self.drawing.place(tensor)
        return self.visible.place_of[place] if place is not None else None

    def error(self) -> Error | None:
        explained = explain(self.facts, self.drawing, self.edits)
        if explained is None:
            return None
        event = explained.event
        node = self.visible.place_of.get(explained.at) if explained.at is not None else None
        return {
            "step": self.line.step_of.get(event.index, 0),
            "node": node,
            "type": event.type,
            "message": event.message,
            "note": event.note,
            "why": explained.why,
            "fix": {"text": explained.fix, "edits": explained.edits},
            "traceback": event.traceback,
        }

    def previous(self, before: Trace | None) -> PreviousRevision | None:
        """Rows whose values differ from those of the revision before, with its tracks."""
        if before is None:
            return None
        old = reading_of(before)
        tracks: dict[str, Track[int | None]] = {}
        for (element, key), track in old.line.tracks.items():
            if key not in ("row:value", "row:grad", "row:seed") or self.visible.place_of.get(element) != element:
                continue
            now = self.line.tracks.get((element, key)) or [(0, None)]
            if differ(before, track, self.trace, now):
                tracks[f"{element}|{key[4:]}"] = [(k, self.values.add(before, v)) for k, v in track]
        return {"values": tracks}


def _rounded(points: Sequence[Point]) -> list[Point]:
    return [(round(x, 2), round(y, 2)) for x, y in points]


def _sign(stats: Mapping[str, Any]) -> Sign:
    """The sign of a gradient whose elements agree; 0 if they do not, or are zero."""
    if stats["nan"] or stats["size"] == 0 or stats["norm"] is None:
        return None
    return 1 if stats["min"] >= 0 < stats["max"] else -1 if stats["max"] <= 0 > stats["min"] else 0


def _size(stats: Mapping[str, Any]) -> float:
    """How large a gradient is drawn, 0 to 1: by the logarithm of its norm, so that 1e-4 and 1e4 are both visible."""
    norm = stats["norm"]
    if not isinstance(norm, (int, float)):  # inf and nan arrive too
        return 1.0
    if norm <= 0:
        return 0.0
    return round(float(min(1.0, max(0.08, (np.log10(norm) + 5) / 8))), 3)


def bounds(nodes: Sequence[Node], picture: choice.Picture) -> Box:
    """The box around everything."""
    boxes = [(n["x"] - n["w"] / 2, n["y"] - n["h"] / 2, n["x"] + n["w"] / 2, n["y"] + n["h"] / 2) for n in nodes]
    boxes += list(picture.boxes.values())
    if not boxes:
        return 0.0, 0.0, 0.0, 0.0
    low, high = np.min(boxes, axis=0), np.max(boxes, axis=0)
    return rounded((float(low[0]), float(low[1]), float(high[2]), float(high[3])))
