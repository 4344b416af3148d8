"""A scene as text that a person can judge in a diff: what is shown, in the words and numbers that the user sees.

Where things stand is not in it: tests/viz/scene/test_picture_laws.py and tests/viz/layout hold that by laws.  What
each card shows at each step is in it for the programs in `IN_FULL`; of the others, what their cards show at the end.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any

from viz.reading import text

Json = Mapping[str, Any]
Track = Sequence[tuple[float, Any]]

IN_FULL = {
    "weights": "weights, and a graph that is retained",
    "accumulation": "accumulation",
    "second_backward": "retain_graph: the second call raises an error",
    "no_grad": "no_grad",
    "slice_written": "in place: a slice is written, and versions follow each other",
    "saved_in_place": "in place: a saved tensor is overwritten",
    "rnn": "an RNN, its rounds folded",
    "training_loop": "a module, an optimizer and three rounds of training",
    "second_derivative": "double backward",
    "poisoned_where": "NaN",
}
"""The programs whose cards are written step by step, and the feature that each stands for."""


def scene_text(scene: Json) -> str:
    """The scene as lines of text."""
    return "\n".join(_Text(scene).lines()) + "\n"


class _Text:
    """Writes one scene; nodes are called by their labels, and by their ids where two share one."""

    def __init__(self, scene: Json) -> None:
        self.scene = scene
        labels = Counter(node["label"] for node in scene["nodes"])
        self.names: dict[str | None, str] = {
            node["id"]: node["label"] if labels[node["label"]] == 1 else f"{node['label']} {node['id']}"
            for node in scene["nodes"]
        }

    def lines(self) -> Iterator[str]:
        program, steps = self.scene["program"], self.scene["steps"]
        yield program["title"]
        yield program["question"]
        note = self.scene["layout_note"]
        yield f"{len(steps)} steps, laid out by {self.scene['layout']}{f' ({note})' if note else ''}"
        yield from self.section("Program", self.program())
        yield from self.section("Chapters", map(self.chapter, program["chapters"]))
        yield from self.section("Commands", self.commands())
        yield from self.section("Graph", self.graph())
        yield from self.section("Groups", map(self.group, self.scene["groups"]))
        yield from self.section("Error", self.error())
        yield from self.section("Findings", self.findings())
        yield from self.section("Steps", self.steps())

    @staticmethod
    def section(title: str, lines: Iterator[str]) -> Iterator[str]:
        found = [f"  {line}" for line in lines]
        if found:
            yield from ("", title, *found)

    def program(self) -> Iterator[str]:
        program = self.scene["program"]
        yield " › ".join(program["crumbs"][:-1])
        names = [file["name"] for file in program["files"]]
        if names != [f"{program['id']}.py"]:
            yield f"files {', '.join(names)}"
        if program["legacy"]:
            yield "as in PyTorch 0.3"
        if program.get("says"):
            yield f"says {_beginning(program['says'])}"
        if program.get("silence"):
            yield f"says nothing: {_beginning(program['silence'])}"
        if program["opens"] is not None:
            yield f"opens after step {program['opens']}"
        if other := program.get("other"):
            yield f"{'fixed' if other['is_fixed'] else 'with the mistake'}: {other['id']}"
            if other["added"]:
                yield "  only here: line " + ", ".join(map(str, other["added"]))
            for gone in other["gone"]:
                yield from (f"  only there, before line {gone['before']}: {line}" for line in gone["lines"])

    def chapter(self, chapter: Json) -> str:
        lines, marks = chapter["lines"], [name for name in ("fix", "inspect") if chapter.get(name)]
        where = ["no line" if lines is None else _lines(*lines)]
        where += [] if chapter["step"] is None else [f"after step {chapter['step']}"]
        where += [f"at {self.listed(chapter['select'])}"] if chapter["select"] else []
        where += [f"unfolds {self.listed(chapter['unfold'])}"] if chapter.get("unfold") else []
        return f"{chapter['title']}: {', '.join(where + marks)}"

    def commands(self) -> Iterator[str]:
        for command in self.scene["commands"]:
            yield f"{self.at(command['code'])}: {command['label']}"
            yield "  " + ", ".join(self.about(command))
        yield f"more may be added {'; '.join(map(self.place, self.scene['places']))}"

    def place(self, place: Json) -> str:
        """Where a command may stand: behind which action and line, and the tensors that are made there."""
        made = [f"t{number}" for number in place["makes"]]
        made = made if len(made) < 4 else [made[0], "…", made[-1]]
        where = "at the start" if place["code"] is None else f"after {place['after']} in {self.at(place['code'])}"
        return f"{where} ({' '.join(made)})" if made else where

    def about(self, command: Json) -> Iterator[str]:
        yield f"{command['kind']} after action {command['after']}"
        first, last = command["start"] + 1, command["end"]
        yield "no step" if last < first else f"step {first}" if first == last else f"steps {first} to {last}"
        if roots := command["roots"] or [root for root in [command["root"]] if root]:
            yield f"from {self.listed(roots)}"
        if command["gradient"] is not None:
            yield f"{'implicit ' if command['implicit'] else ''}gradient {self.value(command['gradient'])}"
        yield from (name for name in ("retain_graph", "create_graph") if command[name])
        if command["inputs"] is not None:
            yield f"inputs {self.listed(command['inputs'])}"
        if command["error"]:
            yield f"error: {_beginning(command['error'])}"

    def graph(self) -> Iterator[str]:
        sources = defaultdict(list)
        for edge in self.scene["edges"]:
            sources[edge["target"]].append(self.edge(edge))
        for node in self.scene["nodes"]:
            role = "" if node["role"] == "inner" else f"{node['role']} "
            comes = f", from {'; '.join(sources[node['id']])}" if sources[node["id"]] else ""
            yield f"{node['id']} {self.names[node['id']]}: {role}{node['kind']}, {node['sub']}{comes}"
            yield from (f"  {line}" for line in self.parts(node))

    def parts(self, node: Json) -> Iterator[str]:
        if node["twin"]:
            yield f"stands for {self.names[node['twin']]}"
        if node.get("retains"):
            yield f"retains its gradient: {node['retains']}"
        for row in node["rows"]:
            cells = f"{row['rows']}×{row['cols']}" if row["cols"] else "heat strip"
            until = f" until step {row['until']}" if "until" in row else ""
            yield f"{row['label']} {cells}{until}: {self.value(row['track'][-1][1])}"
        for saved in node["saved"]:
            yield f"saves {saved['name']}: {saved['text']}, {saved['bytes']} bytes"
        for formula in node["formula"]:
            calls = f", in calls {formula['calls']}" if "calls" in formula else ""
            yield f"gradient for {formula['input']}{calls}: {formula['text']}"

    def edge(self, edge: Json) -> str:
        says = [f"as {edge['input']}"] if edge["input"] else []
        says += [f"hands on {edge['hands']}"] if edge["hands"] else []
        says += [] if edge["grad"] else ["no gradient"]
        says += [] if edge["value"] else ["no value"]
        return f"{self.names[edge['source']]} ({', '.join(says)})" if says else self.names[edge["source"]]

    def group(self, group: Json) -> str:
        says = [f"{len(group['members'])} nodes"]
        says += ["folded"] if group["folded"] else []
        says += [f"inside {group['within']}"] if group["within"] else []
        says += ["round of a loop"] if group.get("round") else []
        return f"{group['id']} {group['label']}: {', '.join(says)}"

    def error(self) -> Iterator[str]:
        error = self.scene["error"]
        if error is None:
            return
        where = f" at {self.names[error['node']]}" if error["node"] else ""
        yield f"step {error['step'] + 1}{where}"
        lines = [line for line in error["traceback"].splitlines() if "^" not in line or set(line) - set(" ~^")]
        yield from _paragraph("traceback", "\n".join(lines))  # Python 3.13 marks more parts of lines
        yield from _paragraph("why", error["why"])
        yield from _paragraph("fix", error["fix"]["text"])
        if error["fix"]["edits"]:
            yield f"offers {_plain(error['fix']['edits'])}"

    def findings(self) -> Iterator[str]:
        for finding in self.scene["findings"]:
            where = f", at {self.names[finding['at']]}" if finding["at"] in self.names else ""
            yield f"{finding['kind']}, after step {finding['step'] + 1}{where}: {finding['label']}"
            yield f"  why: {finding['why']}"
            yield f"  fix: {finding['fix']}"
        for warning in self.scene["warnings"]:
            yield f"warning, step {warning['step'] + 1}: {warning['message']}"

    def steps(self) -> Iterator[str]:
        in_full = self.scene["program"]["id"] in IN_FULL
        changes = self.changes() if in_full else {}
        phases = {phase["start"]: phase for phase in self.scene["phases"]}
        marks = defaultdict(list)
        for mark in self.scene["marks"]:
            marks[mark["step"]].append(f"mark {mark['kind']}: {mark['label']}")
        yield from (f"at the start {line}" for line in changes.get((0, False), ()))
        for number, step in enumerate(self.scene["steps"], 1):
            if phase := phases.get(number - 1):
                yield f"{phase['label']}{', which fails' if phase['failed'] else ''}"
            yield f"{number}. {self.head(step, in_full)}: {step['say']}"
            yield from (f"  {line}" for line in marks[number - 1])
            if in_full:
                yield from (f"  {line}" for line in self.moves(step))
            yield from (f"  it begins with {line}" for line in changes.get((number, True), ()))
            yield from (f"  then {line}" for line in changes.get((number, False), ()))
        yield from marks[len(self.scene["steps"])]

    def head(self, step: Json, quoted: bool) -> str:
        where = f" at {self.names[step['at']]}" if step["at"] in self.names else ""
        order = f", derivative of order {step['order']}" if step["order"] > 1 else ""
        return f"{step['kind']}{where}, {self.at(step['code'], quoted)}{order}"

    def moves(self, step: Json) -> Iterator[str]:
        """What travels in a step, and what is told of a rule in a folded group."""
        edges = {edge["id"]: edge for edge in self.scene["edges"]}
        for flow in step["flows"]:
            ends = [self.names[edges[flow["edge"]][end]] for end in ("source", "target")]
            way = " → ".join(reversed(ends) if flow["back"] else ends)
            path = f", on a wire {flow['path']}" if "path" in flow else ""
            size = f", sign {flow['sign']}, size {flow['size']:g}" if flow["back"] else ""
            yield f"travels {way}: {flow['text'] or self.value(flow['value'])}{path}{size}"
        if within := step.get("within"):
            yield f"inside: gets {within['gets']}, gives {within['gives']}"
        for sent in step.get("sends", ()):
            where = f", in {self.names[sent['in']]}" if "in" in sent else ""
            yield f"sends to {sent['name']} {self.value(sent['value'])}{where}"

    def changes(self) -> Mapping[tuple[int, bool], list[str]]:
        """What each card and edge shows anew, by the number of the step (0: before all) and whether it begins with."""
        found: dict[tuple[int, bool], dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for name, track in self.tracks():
            for time, said in track:
                begins = time != int(time)
                found[int(time) + begins, begins][name].append(said)
        return {
            when: [f"{name}: {', '.join(said)}" for name, said in changed.items()] for when, changed in found.items()
        }

    def tracks(self) -> Iterator[tuple[str, list[tuple[float, str]]]]:
        for node in self.scene["nodes"]:
            name, tracks = self.names[node["id"]], node["tracks"]
            yield name, tracks["state"]
            yield name, _faint(tracks["faint"])
            if node["saved"]:
                yield name, [(t, f"chips {state}") for t, state in tracks["saved"]]
            yield name, [(t, f"upstream gradient {self.value(v)}") for t, v in tracks.get("upstream", [])]
            for row in node["rows"]:
                label = row["label"]
                yield name, [(t, f"{label} {self.value(v)}") for t, v in row["track"]]
                yield name, [(t, f"{label} of call {call}") for t, call in row.get("call") or []]
                yield name, [(t, f"{label} as {made and made['text']}") for t, made in row.get("derived") or []]
        for edge in self.scene["edges"]:
            name, tracks = f"{self.names[edge['source']]} → {self.names[edge['target']]}", edge["tracks"]
            yield name, tracks["state"]
            yield name, _faint(tracks["faint"])
            yield name, [(t, f"gradient {self.value(v)}") for t, v in tracks["cotangent"]]
            if edge["wiring"]:
                wires = " ".join(
                    f"{source}→{target}:{text.number(factor)}" for source, target, factor in edge["wiring"]
                )
                yield name, [(0, f"local derivatives {wires}")]

    def at(self, code: Json | None, quoted: bool = False) -> str:
        """The lines of an expression, and its text."""
        if code is None:
            return "no line"
        found = _lines(code["line"], code["end"])
        if not quoted or code["line"] != code["end"]:
            return found
        line = self.scene["program"]["files"][code["file"]]["text"].splitlines()[code["line"] - 1]
        return f"{found} `{line[code['col'] : code['stop']]}`"

    def value(self, number: int | None) -> str:
        """A value as sentences write it."""
        if number is None:
            return "none"
        value = self.scene["values"][number]
        if value["data"] is not None:
            return _listing(value["data"], value["shape"])
        least, most, norm = (_number(value["stats"][name]) for name in ("min", "max", "norm"))
        return f"{text.shape(value['shape'])}, from {least} to {most}, norm {norm}"

    def listed(self, nodes: Sequence[str]) -> str:
        return ", ".join(self.names[node] for node in nodes)


def _listing(data: Sequence[Any], shape: Sequence[int]) -> str:
    if not shape:
        return _number(data[0])
    width = len(data) // shape[0] if shape[0] else 0
    return "[" + " ".join(_listing(data[i * width : (i + 1) * width], shape[1:]) for i in range(shape[0])) + "]"


def _number(value: Any) -> str:
    return value if isinstance(value, str) else text.number(value)


def _plain(part: Any) -> str:
    """Data of JSON, with its numbers as sentences write them.

    >>> _plain({"leaves": {"0": [1.0, 0.25]}, "commands": None})
    '{leaves: {0: [1, 0.25]}, commands: None}'
    """
    if isinstance(part, Mapping):
        return "{" + ", ".join(f"{key}: {_plain(value)}" for key, value in part.items()) + "}"
    if isinstance(part, list):
        return "[" + ", ".join(map(_plain, part)) + "]"
    return text.number(part) if isinstance(part, (int, float)) else str(part)


def _faint(track: Track) -> list[tuple[float, str]]:
    return [(time, "faint" if faint else "not faint") for time, faint in track if time or faint]


def _paragraph(title: str, said: str) -> Iterator[str]:
    first, *others = said.splitlines() or [""]
    yield f"{title}: {first}"
    yield from (f"  {line}" for line in others)


def _beginning(said: str) -> str:
    return shorten(said, 80, placeholder=" …")


def _lines(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first} to {last}"
