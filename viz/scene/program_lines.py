"""The lines of the program: how often each ran, its largest gradient, and its printed text."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from typing import Literal

from engine.trace.events import Accumulated, VjpRun

from ..reading.jacobian import value as number
from ..schema.scene import Line, Print
from ..schema.values import Code
from .reading import Reading

Place = tuple[int, int]
"""A file, by its index, and a line of it."""
MOST_PRINTED = 100_000
"""The most characters of all prints of a scene; for later ones only the number of lines is kept."""
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f]")


def lines(reading: Reading) -> list[Line]:
    """The lines at which something was recorded, in the order of the files.  Cost: linear in the steps."""
    files = {name: index for index, name in enumerate(reading.facts.trace.files)}
    # Statements that only write, such as `opt.zero_grad()`, call nothing that is recorded: each is a span of its own.
    writes = Counter(
        _place(span["code"]) for span in reading.spans if span["row"] == 0 and span["kind"] == "write" and span["code"]
    )
    called = {(files[file], line): n for (file, line), n in reading.drawing.grouping.runs.items() if file in files}
    runs = {**writes, **called}
    norms: dict[Place, float] = {}
    for place, norm in _gradients(reading):
        norms[place] = max(norms.get(place, 0.0), norm, key=_order)
    return [
        {
            "file": file, "line": line, "runs": runs.get((file, line)),
            "norm": number(f"{norms[file, line]:.4g}") if (file, line) in norms else None,
        }
        for file, line in sorted(runs.keys() | norms.keys())
    ]  # fmt: skip


def _gradients(reading: Reading) -> Iterator[tuple[Place, float]]:
    """The norm of each gradient that reaches an op, a leaf, or a call, with its line."""
    trace = reading.facts.trace
    for step in reading.line.steps:
        event, code = trace.events[step.event], reading.places(step)["code"]
        if code is None:
            continue
        if isinstance(event, VjpRun):
            values = [value for value in event.upstream if value is not None]
        elif isinstance(event, Accumulated):
            values = [event.after]
        else:
            continue
        for value in values:
            norm = reading.norm(value)
            if norm is not None:
                yield _place(code), norm
    for span in reading.spans:
        if span["code"] is not None and span["group"] is not None and span["norm"] is not None:
            yield _place(span["code"]), float(span["norm"])


def _place(code: Code) -> Place:
    return code["file"], code["line"]


def _order(norm: float) -> tuple[bool, float]:
    """The norm that is shown: nan before infinities, and those before all numbers."""
    return (True, 0.0) if math.isnan(norm) else (False, norm)


def prints(reading: Reading) -> list[Print]:
    """The program's prints, with the time and the line of each.  Cost: linear in the text."""
    room = MOST_PRINTED
    result: list[Print] = []
    for step, event in reading.line.prints:
        text, more = as_shown(event.text), event.more
        room -= len(text)
        if room < 0:
            text, more = "", more + len(text.splitlines())
        stream: Literal["stdout", "stderr"] = "stderr" if event.stream == "stderr" else "stdout"
        result.append({"step": step, "code": reading.code(event.stack), "stream": stream, "text": text, "more": more})
    return result


def as_shown(text: str) -> str:
    """A text as a terminal shows it, without colours: an overwritten line, such as a progress bar, has its last form.

    >>> as_shown("\\r 10%\\r 20%\\ndone\\r\\n")
    ' 20%\\ndone\\n'
    """
    lines = (line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROL.sub("", "\n".join(lines))
