"""What is told first about a program that has no story of its own: what went wrong, where, and what helps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from engine.trace.events import Frame, Trace

from ..findings import nonfinite, silent
from ..findings.accumulated import forgotten
from ..findings.overflow import growth
from ..reading.facts import Facts
from ..reading.source_text import source
from .reading import reading

Json = dict[str, Any]

MEANT = frozenset({"sum", "choice"})
"""Kinds of findings that are meant as often as not: marked on the graph, and not told."""


def chapters(trace: Trace, scene: Mapping[str, Any]) -> list[Json]:
    """One chapter per finding and one for the error, in the order in which they happened; none where all is well."""
    read = reading(trace)
    told = []
    sure = [finding for finding in silent.findings(read.facts) if finding.kind not in MEANT]
    born = nonfinite.findings(read.facts)
    if all(finding.kind == "inf" and "gradient" not in finding.label for finding in born):
        born = [] if read.facts.roots and nonfinite.roots_are_finite(read.facts) else born  # an inf that did no harm
    for finding in [*growth(read.facts, born), *born, *forgotten(read.facts), *sure]:
        step = read.line.step_of.get(finding.event)
        if step is not None:
            place = scene["steps"][step]["at"]
            code = scene["steps"][step]["code"]
            of = _of(read.facts, code) if code is not None and code["line"] == finding.line else ""
            told.append(_found(finding, step + 1, [place] if place is not None else [], of))
    if scene["error"] is not None:
        told.append(stopped(scene["error"], scene["steps"], read.facts))
    return sorted(told, key=lambda chapter: chapter["step"])


def opens(trace: Trace, told: list[Json]) -> int | None:
    """The time at which the program is shown first: at its error, else where the first wrong value is born, else at
    the first thing that is told.

    Where what backward starts from is sound, wrong values of forward were thrown away: then the first wrong gradient.
    """
    stopped = [c for c in told if c["fix"]]
    wrong = [c for c in told if "gradient" in c["title"]] if nonfinite.roots_are_finite(reading(trace).facts) else []
    born = [c for c in told if "explode" in c["title"] or "is born" in c["title"]]
    return next((c["step"] for c in [*stopped, *wrong, *born, *told]), None)


def _of(facts: Facts, code: Json) -> str:
    """` of model.py` for a position in a file that is not the script itself."""
    file = list(facts.trace.files)[code["file"]]
    return f" of {file}" if file != facts.script else ""


def _written(facts: Facts, code: Json) -> str:
    """The program's text of a position."""
    file = list(facts.trace.files)[code["file"]]
    return source(facts.trace, Frame(file, "", code["line"], code["end"], code["col"], code["stop"]))


def _found(finding: nonfinite.Finding, step: int, select: list[str], of: str) -> Json:
    where = f" in line {finding.line}{of}" if finding.line is not None else ""
    title = finding.label
    if finding.kind in ("nan", "inf"):
        title = _birth(finding) + where
    elif finding.kind == "growth":
        title += where
    lines = [finding.line, finding.line] if finding.line is not None and not of else None  # those of the script
    told = "\n\n".join(part for part in (finding.why, finding.fix) if part)
    return {"title": title, "text": told, "lines": lines, "step": step, "select": select, "fix": False}


def _birth(finding: nonfinite.Finding) -> str:
    what = f"A {finding.kind}" if finding.kind == "nan" else "An inf"
    kind = " gradient" if "gradient" in finding.label else ""
    return f"{what}{kind} is born"


def stopped(error: Mapping[str, Any], steps: Sequence[Json], facts: Facts) -> Json:
    """The chapter of the error that ended the program: where it stopped.  Why, and what helps, the inspector says."""
    code = steps[error["step"]]["from"] or steps[error["step"]]["code"] if steps else None
    of = _of(facts, code) if code is not None else ""
    where = f" in line {code['line']}{of}" if code is not None else ""
    lines = [code["line"], code["line"]] if code is not None and not of else None
    at = f" at `{_written(facts, code)}`" if code is not None else ""
    told = f"The program stops{at}. The inspector shows why, and what helps."
    return {
        "title": f"{error['type']}{where}", "text": told, "lines": lines,
        "step": error["step"] + 1, "select": [error["node"]] if error["node"] is not None else [], "fix": True,
    }  # fmt: skip
