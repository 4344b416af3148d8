"""A scene written by hand, after docs/scene-format.md, and a pure side that counts: for tests of the shell alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.trace.events import Trace
from viz.run.run import Run
from viz.server.store import Json, Program, SceneJob

SOURCE = """import engine as torch

x = torch.tensor([[1., 2, 3, 4]], requires_grad=True)
z = 2 * x

z.backward(torch.tensor([[1., 0, 0, 0]]))
"""


def value(*data: float) -> Json:
    stats = {"min": min(data), "max": max(data), "mean": sum(data) / len(data), "norm": sum(d * d for d in data) ** 0.5}
    counts = {"nan": 0, "inf": 0, "zeros": sum(d == 0 for d in data), "size": len(data)}
    return {
        "shape": [1, len(data)],
        "dtype": "float32",
        "data": list(data),
        "strip": None,
        "stats": {**stats, **counts},
    }


def code(line: int, col: int, stop: int) -> Json:
    return {"file": 0, "line": line, "end": line, "col": col, "stop": stop}


def row(key: str, label: str, track: list[list[int | None]]) -> Json:
    return {
        "key": key,
        "label": label,
        "rows": 1,
        "cols": 4,
        "track": track,
        "call": [[0, 0]] if key == "seed" else None,
    }


def node(id: str, kind: str, role: str, label: str, x: float, rows: list[Json], **more: Any) -> Json:
    tracks = {"state": [[0, "idle"]], "faint": [[0, False]], "saved": [[0, "none"]], "upstream": [[0, None]]}
    return {
        "id": id,
        "kind": kind,
        "role": role,
        "x": x,
        "y": 0,
        "w": 216,
        "h": 140,
        "label": label,
        "sub": "",
        "title": label,
        "group": None,
        "twin": None,
        "shape": [1, 4],
        "dtype": "float32",
        "rows": rows,
        "saved": [],
        "tracks": tracks,
        "code": None,
        **more,
    }


def edge(source: str, target: str, x0: float, x1: float) -> Json:
    tracks = {"state": [[0, "idle"]], "faint": [[0, False]], "cotangent": [[0, None]]}
    return {
        "id": f"e{source}>{target}:0",
        "source": source,
        "target": target,
        "input": None,
        "points": [[x0, 0], [x1, 0]],
        "back": [[x1, 20], [x0, 20]],
        "grad": True,
        "tracks": tracks,
        "wiring": None,
    }


def step(kind: str, phase: int, at: str, name: str, say: str, **more: Any) -> Json:
    return {
        "kind": kind,
        "phase": phase,
        "at": at,
        "name": name,
        "say": say,
        "code": code(4, 4, 9),
        "from": None,
        "flows": [],
        "order": 0 if kind == "forward" else 1,
        **more,
    }


def scene(
    program: str = "case", revision: str = "r0", label: str = "as recorded", weights: tuple[float, ...] = (1, 0, 0, 0)
) -> Json:
    call = code(6, 0, 41)
    values = [value(1, 2, 3, 4), value(2, 4, 6, 8), value(*weights), value(*(2 * w for w in weights))]
    nodes = [
        node(
            "t0",
            "tensor",
            "leaf",
            "x",
            -260,
            [row("value", "value", [[0, 0]]), row("grad", ".grad", [[0, None], [3, 3]])],
            code=code(3, 4, 53),
        ),
        node("n0", "op", "inner", "× 2", 0, [], sub="MulBackward0", code=code(4, 4, 9), w=128, h=60),
        node(
            "t1",
            "tensor",
            "root",
            "z",
            260,
            [row("value", "value", [[0, None], [1, 1]]), row("seed", "gradient", [[0, 2]])],
            code=code(4, 0, 1),
        ),
    ]
    steps = [
        step("forward", 0, "n0", "mul", "2 * x gives z = [2 4 6 8]."),
        step("vjp", 1, "n0", "MulBackward0", "MulBackward0 multiplies the upstream gradient by 2.", **{"from": call}),
        step("accumulate", 1, "t0", "AccumulateGrad", "x.grad becomes [2 0 0 0].", **{"from": call}),
    ]
    phases = [
        {"kind": "forward", "label": "forward", "start": 0, "end": 1, "call": None, "code": None, "failed": False},
        {
            "kind": "backward",
            "label": "z.backward([1 0 0 0])",
            "start": 1,
            "end": 3,
            "call": 0,
            "code": call,
            "failed": False,
        },
    ]
    command = {
        "id": "c0",
        "kind": "backward",
        "label": "z.backward([1 0 0 0])",
        "code": call,
        "after": 1,
        "start": 1,
        "end": 3,
        "root": "t1",
        "shape": [1, 4],
        "gradient": 2,
        "implicit": False,
        "retain_graph": False,
        "create_graph": False,
        "inputs": None,
        "changed": "edited" if label != "as recorded" else None,
        "error": None,
    }
    about = {
        "id": program,
        "title": "One-hot weights",
        "question": "What do the weights select?",
        "legacy": False,
        "crumbs": ["Gallery", "Founding cases", "What do the weights select?"],
        "chapters": [
            {"title": "Forward first", "text": "Four numbers are doubled.", "lines": [3, 4], "step": 1, "select": []},
            {
                "title": "A one-hot gradient",
                "text": "Only `z[0]` counts.",
                "lines": [6, 6],
                "step": 3,
                "select": ["t0"],
            },
        ],
        "files": [{"name": "case.py", "text": SOURCE}],
    }
    return {
        "format": 1,
        "revision": {"id": revision, "number": 1, "label": label, "base": None, "doubt": None},
        "program": about,
        "steps": steps,
        "phases": phases,
        "marks": [],
        "nodes": nodes,
        "edges": [edge("t0", "n0", -152, -64), edge("n0", "t1", 64, 152)],
        "groups": [],
        "values": values,
        "previous": None,
        "commands": [command],
        "changes": [],
        "error": None,
        "warnings": [],
        "bounds": [-370, -80, 370, 80],
        "layout": "layered",
        "folded": [],
    }


class Fake:
    """The pure side, which counts what it is asked."""

    def __init__(self) -> None:
        self.replays = 0
        self.scenes = 0
        self.asked = 0

    def replay(self, trace: Trace, edits: Mapping[str, Any]) -> Trace:
        self.replays += 1
        return trace

    def scene(self, job: SceneJob) -> Json:
        self.scenes += 1
        commands = job.revision.edits["commands"] or []
        weights = next((c["gradient"][0] for c in commands if c.get("gradient")), (1, 0, 0, 0))
        label = "as recorded" if job.revision.is_base else "gradient edited"
        return scene(job.program.id, job.revision.id, label, tuple(weights))

    def overview(self, run: Run, program: Program) -> Json:
        self.asked += 1
        return {"program": program.id, "version": program.version}

    def graphs(self, run: Run) -> Json:
        return {"findings": []}

    def details(self, trace: Trace, scene: Mapping[str, Any], element: str) -> Json:
        self.asked += 1
        if element == "t9":
            raise RuntimeError("no such element")
        kind = "op" if element.startswith("n") else "tensor"
        lines = [
            {"label": "upstream", "cells": ["[1", "0", "0", "0]"], "total": None, "tone": "upstream"},
            {"label": "local", "cells": ["[2", "2", "2", "2]"], "total": None, "tone": "local"},
            {"label": "to x", "cells": ["[2", "0", "0", "0]"], "total": None, "tone": "cotangent"},
        ]
        return {
            "revision": scene["revision"]["id"],
            "element": element,
            "kind": kind,
            "head": {
                "name": "MulBackward0",
                "label": element,
                "code": code(4, 4, 9),
                "shape": [1, 4],
                "dtype": "float32",
                "device": "cpu",
                "sequence_nr": 0,
            },
            "formula": [{"input": "x", "tex": r"\bar x = \bar z \odot 2", "text": "x̄ = z̄ ⊙ 2"}] if kind == "op" else [],
            "moments": [{"step": 1, "title": "", "lines": lines}] if kind == "op" else [],
            "ledger": []
            if kind == "op"
            else [{"step": 2, "call": 0, "label": "line 6", "before": None, "added": 0, "after": 0, "code": None}],
            "saved": [
                {
                    "name": "other",
                    "text": "2 · scalar",
                    "bytes": 8,
                    "track": [[0, "none"], [1, "saved"], [2, "freed"]],
                    "freed_by": code(6, 0, 41),
                    "label": "other",
                }
            ]
            if kind == "op"
            else [],
            "values": [value(2, 0, 0, 0)],
            "figures": [
                {"title": "gradient", "kind": "heatmap", "track": [[0, 0]]},
                {"title": "gradient, counted", "kind": "histogram", "track": [[0, 0]]},
            ],
            "check": {"text": "agrees to 1e-9", "worst": 1e-9, "agrees": True} if kind == "op" else None,
            "jacobian": None,
        }


def trace() -> Trace:
    return Trace((), (), {"case.py": SOURCE}, {}, ())


def program(name: str = "case", **more: Any) -> Program:
    about = {key: scene()["program"][key] for key in ("title", "question", "crumbs", "legacy", "chapters")}
    return Program(name, about, trace, **more)
