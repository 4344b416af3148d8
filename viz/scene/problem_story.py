"""The chapters of a program without its own story: each problem with its place and fix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.trace.events import Frame, Trace
from engine.trace.messages import read_error

from ..findings import nonfinite
from ..findings.finding import EXPLODING, NONFINITE, NONFINITE_GRADIENT, OFTEN_MEANT, Finding, Kind
from ..reading.facts import Facts, distance_from_loss
from ..reading.source_text import source
from ..schema.scene import Chapter, Error, Scene
from ..schema.scene import Step as StepOfScene
from ..schema.values import Code
from .reading import Reading, reading_of

_TITLES: Mapping[Kind, str] = {
    "nan": "A nan appears", "inf": "An inf appears",
    "nan-gradient": "A nan gradient appears", "inf-gradient": "An inf gradient appears",
}  # fmt: skip


def chapters(trace: Trace, scene: Scene) -> list[Chapter]:
    """One chapter per finding and one for the error, in the order in which they happened; none without problems.

    The `kind` of a chapter is that of its finding, or "error".
    """
    reading = reading_of(trace)
    result = []
    for finding in reading.once(("sure",), lambda: _sure(reading)):
        step = reading.line.step_of.get(finding.event)
        if step is not None:
            place = scene["steps"][step]["at"]
            code = scene["steps"][step]["code"]
            of = _of(reading.facts, code) if code is not None and code["line"] == finding.line else ""
            result.append(_chapter(finding, step + 1, [place] if place is not None else [], of))
            itself = reading.line.steps[step].at
            if place != itself is not None and (folded := _folded_around(scene, step)):
                result[-1] |= {"select": [itself, *result[-1]["select"]], "unfold": folded}
    if scene["error"] is not None:
        result.append(error_chapter(scene["error"], scene["steps"], reading.facts))
    return sorted(result, key=lambda chapter: chapter["step"] or 0)


def _folded_around(scene: Scene, step: int) -> list[str]:
    """The folded groups in which a step happens, from the outermost on."""
    folded = {group["id"] for group in scene["groups"] if group["folded"]}
    return [one["group"] for one in scene["spans"] if one["start"] <= step < one["end"] and one["group"] in folded]


def _sure(reading: Reading) -> list[Finding]:
    """The findings that are rarely intended, without an inf of the forward pass that did no harm."""
    sure = [finding for finding in reading.findings if finding.kind not in OFTEN_MEANT]
    harmless = {finding.kind for finding in sure} & NONFINITE == {"inf"} and reading.facts.roots
    if harmless and _is_sound(reading):
        return [finding for finding in sure if finding.kind != "inf"]
    return sure


def _is_sound(reading: Reading) -> bool:
    """Return whether all roots of backward calls are finite."""
    return reading.once(("sound",), lambda: nonfinite.roots_are_finite(reading.facts))


def opens(trace: Trace, scene: Scene, chapters: list[Chapter]) -> int | None:
    """The time at which the program is shown first: its error, else the first wrong value, else the first chapter; in a
    graph whose boxes are coloured by their gradients, the time when those of the last loss have arrived.

    If the roots of backward are finite, wrong values of the forward pass were discarded, and the first wrong gradient
    counts.
    """
    sound = _is_sound(reading_of(trace))
    stopped = [c for c in chapters if c["kind"] == "error"]
    wrong = [c for c in chapters if sound and c["kind"] in NONFINITE_GRADIENT]
    origins = [c for c in chapters if c["kind"] in EXPLODING | NONFINITE]
    calls = reading_of(trace).facts.calls
    passed = [
        (-distance_from_loss(calls[phase["call"]].event), phase["end"])
        for phase in scene["phases"]
        if phase["kind"] == "backward" and phase["call"] is not None and scene["norms"] is not None
    ]
    return next((c["step"] for c in [*stopped, *wrong, *origins, *chapters]), max(passed, default=(0, None))[1])


def _of(facts: Facts, code: Code) -> str:
    """` of model.py` for a position in a file that is not the script itself."""
    file = list(facts.trace.files)[code["file"]]
    return f" of {file}" if file != facts.script else ""


def _source_text(facts: Facts, code: Code) -> str:
    """The program's text of a position."""
    file = list(facts.trace.files)[code["file"]]
    return source(facts.trace, Frame(file, "", code["line"], code["end"], code["col"], code["stop"]))


def _chapter(finding: Finding, step: int, select: list[str], of: str) -> Chapter:
    where = f" in line {finding.line}{of}" if finding.line is not None else ""
    title = _TITLES.get(finding.kind, finding.label)
    if finding.kind in EXPLODING | NONFINITE:
        title += where
    lines = (finding.line, finding.line) if finding.line is not None and not of else None  # those of the script
    text = "\n\n".join(part for part in (finding.why, finding.fix) if part)
    return {
        "kind": finding.kind, "title": title, "text": text, "lines": lines, "step": step, "select": select,
        "fix": False,
    }  # fmt: skip


def error_chapter(error: Error, steps: Sequence[StepOfScene], facts: Facts) -> Chapter:
    """The chapter of the error that ended the program: where it stopped.  The inspector has the reason and the fix."""
    code = steps[error["step"]]["from"] or steps[error["step"]]["code"] if steps else None
    of = _of(facts, code) if code is not None else ""
    where = f" in line {code['line']}{of}" if code is not None else ""
    lines = (code["line"], code["line"]) if code is not None and not of else None
    at = f" at `{_source_text(facts, code)}`" if code is not None else ""
    is_unreadable = bool(facts.errors) and read_error(facts.errors[-1]).kind == "syntax"
    stops = f"The file is not valid Python{at}" if is_unreadable else f"The program stops{at}"
    text = f"{stops}. The inspector shows the cause and a fix."
    return {
        "kind": "error", "title": f"{error['type']}{where}", "text": text, "lines": lines,
        "step": error["step"] + 1, "select": [error["node"]] if error["node"] is not None else [], "fix": True,
    }  # fmt: skip
