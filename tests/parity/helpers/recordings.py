"""Scripts that are recorded into a file as by `backstep run`, in the process of the tests, which has imported torch."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

from engine.trace.events import Accumulated, Trace
from engine.trace.file.consistency import open_checked
from engine.trace.file.iterations import ALL
from viz.record.block import streamed, with_torch


def recorded_here(source: str, folder: Path, name: str = "train.py") -> Trace:
    """The recording of a program's text as a script in a folder.  An error of it passes through, and is recorded."""
    script = folder / name
    script.write_text(source, "utf-8")
    code = compile(source, str(script), "exec")
    file = script.with_suffix(".backstep")
    with warnings.catch_warnings(), with_torch(streamed(file, ALL, sys._getframe(), str(folder))):
        warnings.simplefilter("ignore")  # what a script warns of is no error there
        exec(code, {"__name__": "__main__", "__file__": str(script)})
    return open_checked(file, 10_000)


def arrived(trace: Trace) -> list[Any]:
    """The elements of each gradient that a leaf received."""
    values = [trace.value(event.added).array for event in trace.events if isinstance(event, Accumulated)]
    return [value.tolist() for value in values if value is not None]
