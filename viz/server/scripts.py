"""A script of the user's own as a program of the app: recorded once, or again on every save."""

from __future__ import annotations

import atexit
import shutil
from pathlib import Path

from engine.trace.events import Trace
from engine.trace.file.tracefile import open_trace, tally
from viz.reading.library import library
from viz.record.compare_command import has_torch
from viz.record.ranks import of_ranks
from viz.record.record_command import say
from viz.record.runner import RecordedRun, Script, ScriptError, Watch, run_script, text_of
from viz.run.prefix import MOST
from viz.server.programs import about_script, from_file, slug, with_lesson
from viz.server.store import Catalogue, Problem, Program
from viz.server.workers import TraceFile


def add(
    catalogue: Catalogue, source: Script, as_torch: bool, watch: bool, most: int = MOST, rerun: bool = False
) -> Program:
    """Records the script and offers it; with `watch` each save replaces it by a newer version.
    Only the first `most` events of a longer recording are shown.  With `rerun` it is run again for edits that the
    engine cannot recompute.

    Explanations go to the terminal and, with the program, to the page.  Raises Problem if there is no script.
    """
    try:
        if watch:
            return _watched(catalogue, source, as_torch, most, rerun)
        recording = run_script(source, as_torch=as_torch)
    except ScriptError as error:
        raise Problem("no-script", "Nothing to run", str(error)) from error
    atexit.register(shutil.rmtree, recording.trace_path.parent, ignore_errors=True)
    processes = [from_file(path, most) for path in of_ranks(recording.trace_path)]
    if processes and not tally(recording.trace_path).get("OpCalled"):  # this one only started them
        return catalogue.add_together(processes)
    say(recording.unprinted)
    return catalogue.add_together([program_of(source, recording, most, rerun), *processes])


def _watched(catalogue: Catalogue, source: Script, as_torch: bool, most: int, rerun: bool) -> Program:
    name = slug(source.path.stem)
    generation = 0

    def changed(watch: Watch) -> None:
        nonlocal generation
        if watch.recording is not None and watch.generation != generation:
            generation = watch.generation
            say(watch.recording.unprinted)
            catalogue.add(program_of(source, watch.recording, most, rerun, watched=True))
        elif watch.recording is not None:
            say(watch.error)
            catalogue.annotate(name, watch.error)

    watching = Watch(source, as_torch, changed)
    atexit.register(watching.stop)
    watching.start()
    return catalogue.find(name)


def program_of(source: Script, recording: RecordedRun, most: int, rerun: bool, watched: bool = False) -> Program:
    """The program of a recording.  Its script can run on PyTorch, or again for edits (`rerun`) if it ran there."""
    trace = _opened(source.path, recording)
    is_foreign = bool(library(trace))
    title, path = source.path.name, recording.trace_path
    about = {**about_script(title), "note": recording.explanation, "on_torch": not is_foreign and has_torch()}
    program = Program(
        slug(source.path.stem), about, lambda: trace, watched=watched, most=most,
        file=TraceFile.of(path, most) if path.is_file() else None,
        script=None if is_foreign else source, again=source if rerun and is_foreign else None,
    )  # fmt: skip
    return with_lesson(program, trace)


def _opened(script: Path, recording: RecordedRun) -> Trace:
    """The recorded trace; a script that ended before anything was written has an empty one, with its text."""
    if recording.trace_path.is_file():
        return open_trace(str(recording.trace_path))
    return Trace((), (), {script.name: text_of(script)}, {}, ())
