"""Run the same on PyTorch: a program that ran on the engine is run again in a process of its own, and compared."""

from __future__ import annotations

import threading
from typing import Any

from engine.trace.file.database import TraceFileError
from engine.trace.file.tracefile import open_trace
from viz.reading.comparison import compared
from viz.record.compare_command import ENGINE, NEEDED, has_torch, library
from viz.record.runner import SILENT, ScriptError, own_folder, run_script
from viz.run.run import Run
from viz.server.library.pair import Pair, steps_of
from viz.server.store import Json, Problem, Program, Store
from viz.server.workers import TraceFile

_one = threading.Lock()
"""One program runs at a time: a second click waits for the first."""


def on_torch(store: Store, name: str, pairs: dict[str, Pair]) -> Json:
    """`{program, text}`: the program as it ran on PyTorch, which the catalogue has from now on, and how it compares;
    `pairs` has both by its name.

    Raises Problem if PyTorch is missing, or if the program is not a script that was run on the engine.
    """
    program = store.catalogue.find(name)
    if program.script is None:
        raise _impossible("It is not a script that Backstep has run on its own engine: open the script instead.")
    if not has_torch():
        raise _impossible(NEEDED)
    with _one:
        target = own_folder() / f"{program.script.path.stem}-pytorch.backstep"
        try:
            run_script(program.script, target, on_torch=True, streams=SILENT, on_slow=_nothing)
            trace = open_trace(target)
        except (OSError, ScriptError, TraceFileError) as error:
            raise _impossible(str(error)) from error
    other, own = library(), store.recorded(name)
    comparison = compared(own, trace, (ENGINE, other))
    text = comparison.text
    title = f"{program.about['title']} on {other}"
    about: dict[str, Any] = {
        "title": title, "question": title, "crumbs": [*program.about["crumbs"][:-1], title], "legacy": False,
        "chapters": [],
    }  # fmt: skip
    twin = Program(
        f"{name}-on-pytorch", about, lambda: trace, file=TraceFile.of(target, program.most), most=program.most
    )
    twin = store.catalogue.add(twin)
    runs = Run(own, program.most, is_told=program.chapters is not None), Run(trace, program.most)
    steps = () if any(run.is_divided for run in runs) else steps_of(comparison, (own, trace))
    pairs[twin.id] = Pair(str(program.about["title"]), (name, twin.id), comparison, steps)
    return {"program": twin.id, "text": text}


def _nothing(_text: str) -> None:
    """Prints nothing: the page says that the program runs."""


def _impossible(reason: str) -> Problem:
    return Problem("not-on-torch", "This program cannot be run on PyTorch here", reason, [])
