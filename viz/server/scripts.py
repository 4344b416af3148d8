"""A script of the user's own as a program of the app: recorded once, or again on every save."""

from __future__ import annotations

import atexit
import shutil
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from engine.trace.events import Trace
from engine.trace.file.tracefile import open_trace, tally
from viz.reading.library import library
from viz.record.compare_command import Script, has_torch
from viz.record.limits import NONE, Limits
from viz.record.ranks import of_ranks
from viz.record.runner import Recording, ScriptError, Watch, run_script, text_of
from viz.run.prefix import MOST
from viz.server.programs import about_script, from_file, slug, with_lesson
from viz.server.store import Catalogue, Problem, Program
from viz.server.workers import TraceFile


def add(
    catalogue: Catalogue, script: Path, args: Sequence[str], as_torch: bool, watch: bool, most: int = MOST, *,
    module: str = "", limits: Limits = NONE, rerun: bool = False,
) -> Program:  # fmt: skip
    """Records the script and offers it; with `watch` each save replaces it by a newer version.
    Only the first `most` events of a longer recording are shown.  With `rerun` it is run again for edits that the
    engine cannot recompute.

    Explanations go to the terminal and, with the program, to the page.  Raises Problem if there is no script.
    """
    try:
        if watch:
            return _watched(catalogue, script, args, as_torch, most, module, limits, rerun)
        recording = run_script(script, args, as_torch, module=module, limits=limits)
    except ScriptError as error:
        raise Problem("no-script", "Nothing to run", str(error)) from error
    atexit.register(shutil.rmtree, recording.trace_path.parent, ignore_errors=True)
    processes = [from_file(path, most) for path in of_ranks(recording.trace_path)]
    if processes and not tally(recording.trace_path).get("OpCalled"):  # this one only started them
        return catalogue.add_together(processes)
    say(recording.unprinted)
    source = Script(script, tuple(args), module, limits)
    return catalogue.add_together([program_of(script, recording, most=most, source=source, rerun=rerun), *processes])


def _watched(
    catalogue: Catalogue, script: Path, args: Sequence[str], as_torch: bool, most: int, module: str,
    limits: Limits, rerun: bool,
) -> Program:  # fmt: skip
    name = slug(script.stem)
    generation = 0

    def changed(watch: Watch) -> None:
        nonlocal generation
        if watch.recording is not None and watch.generation != generation:
            generation = watch.generation
            say(watch.recording.unprinted)
            source = Script(script, tuple(args), module, limits)
            program = program_of(script, watch.recording, watched=True, most=most, source=source, rerun=rerun)
            catalogue.add(program)
        elif watch.recording is not None:
            say(watch.error)
            catalogue.annotate(name, watch.error)

    watching = Watch(script, args, as_torch, changed, module=module, limits=limits)
    atexit.register(watching.stop)
    watching.start()
    return catalogue.find(name)


def program_of(
    script: Path, recording: Recording, watched: bool = False, most: int = MOST, source: Script | None = None,
    rerun: bool = False,
) -> Program:  # fmt: skip
    """The program of a recording.  `source` can run it on PyTorch, or again for edits (`rerun`) if it ran there."""
    trace = _opened(script, recording)
    again = source if rerun and library(trace) else None
    source = None if library(trace) else source
    about = {**about_script(script.name), "note": recording.explanation, "on_torch": source is not None and has_torch()}
    path = recording.trace_path
    file = TraceFile.of(path, most) if path.is_file() else None
    program = Program(slug(script.stem), about, lambda: trace, watched=watched, file=file, most=most, script=source)
    program = replace(program, again=again)
    return with_lesson(program, trace)


def _opened(script: Path, recording: Recording) -> Trace:
    """The recorded trace; a script that ended before anything was written has an empty one, with its text."""
    if recording.trace_path.is_file():
        return open_trace(str(recording.trace_path))
    return Trace((), (), {script.name: text_of(script)}, {}, ())


def say(text: str) -> None:
    """Print it on the terminal, if there is something to say."""
    if text:
        print(f"backstep: {text}", file=sys.stderr, flush=True)
