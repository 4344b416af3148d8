"""The programs of the gallery, each recorded and drawn once for all tests."""

from __future__ import annotations

import contextlib
import io
import warnings
from functools import cache
from typing import Any

import engine
from engine.trace.events import Accumulated, BackwardEnded, Trace
from viz.gallery import Program, find, fixed_programs, gallery
from viz.scene import scene as drawn

ALL = (*gallery(), *fixed_programs())
MISTAKES = [program for program in gallery() if program.confusion is not None]
SILENT = "Mistakes without an error message"
NETWORKS = [program for program in gallery() if program.group == "Networks"]


def named(program: Program) -> str:
    return program.id


def record(program: Program) -> tuple[Trace, dict[str, Any], str]:
    """Run a program as Python would; its trace (up to an error that nobody caught), its names, and what it printed."""
    space: dict[str, Any] = {"__name__": "__main__"}
    output = io.StringIO()
    with contextlib.redirect_stdout(output), warnings.catch_warnings(), contextlib.suppress(Exception):
        warnings.simplefilter("ignore")  # they are in the trace
        with engine.record() as trace:
            exec(compile(program.source, str(program.path), "exec"), space)
    return trace, space, output.getvalue()


_recorded: dict[str, tuple[Trace, dict[str, Any], str]] = {}


def recorded(name: str) -> tuple[Trace, dict[str, Any], str]:
    """The recording of a program; made once for all tests, which only read it."""
    if name not in _recorded:
        program = find(name)
        assert program is not None, name
        _recorded[name] = record(program)
    return _recorded[name]


@cache
def picture(name: str) -> Any:
    """The scene of a program; made once for all tests, which only read it and ask its trace for more."""
    return drawn.scene(recorded(name)[0])


def grads(trace: Trace, name: str) -> list[Any]:
    """What `.grad` of the tensor with this name holds at the end of each backward call that wrote it or None."""
    held: list[Any] = []
    now: Any = None
    for event in trace.events:
        if isinstance(event, Accumulated) and trace.names.get(event.tensor) == name:
            now = trace.value(event.after).array
        elif isinstance(event, BackwardEnded) and event.completed:
            held.append(now)
            now = None
    return held
