"""The steps of a scene as a table, and as a timeline for Perfetto and chrome://tracing."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping
from typing import Any

COLUMNS = ("step", "kind", "phase", "name", "at", "file", "line", "sentence")
STEP = 1000
"""Microseconds of a step on the timeline: a recording has an order, but no times."""


def events(scene: Mapping[str, Any]) -> str:
    """A row per step, as CSV with a heading."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    table.writerow(COLUMNS)
    table.writerows(_rows(scene))
    return text.getvalue()


def _rows(scene: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    labels = {node["id"]: node["label"] for node in scene["nodes"]}
    files = [file["name"] for file in scene["program"]["files"]]
    for number, step in enumerate(scene["steps"], 1):
        code = step.get("from") or step["code"]
        place = (files[code["file"]], code["line"]) if code else ("", "")
        phase = scene["phases"][step["phase"]]["label"]
        yield number, step["kind"], phase, step["name"], labels.get(step["at"], ""), *place, step["say"]


def timeline(scene: Mapping[str, Any]) -> str:
    """Chrome's trace events: spans from the outermost to the steps, one millisecond per step."""
    spans = [
        _slice(one["label"], one["kind"], one["start"], one["end"], {"sentence": one["say"]}) for one in scene["spans"]
    ]
    steps = [
        _slice(step["name"], step["kind"], k, k + 1, {"step": k + 1, "sentence": step["say"]})
        for k, step in enumerate(scene["steps"])
    ]
    head = {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": scene["program"]["title"]}}
    document = {
        "traceEvents": [head, *spans, *steps],
        "displayTimeUnit": "ms",
        "otherData": {"unit": "1 ms is one step"},
    }
    return json.dumps(document, ensure_ascii=False)


def _slice(name: str, kind: str, start: int, end: int, facts: Mapping[str, Any]) -> dict[str, Any]:
    span = {"ts": start * STEP, "dur": (end - start) * STEP}
    return {"name": name, "cat": kind, "ph": "X", "pid": 1, "tid": 1, **span, "args": facts}
