"""Edits that the engine cannot recompute: the program is run again in a process of its own, with the changes in place.

This runs the user's own code, so it happens only if they asked for it (`--rerun`), and only with the recorded files,
arguments, working folder and Python.  The new recording is the revision's trace.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import threading
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from engine.trace.events import Trace
from engine.trace.file.database import TraceFileError
from engine.trace.file.tracefile import open_trace
from viz.reading.library import library
from viz.record.limits import Limits
from viz.record.place import place_of
from viz.record.runner import (
    GRACE,
    SILENT,
    RecordedRun,
    Script,
    ScriptError,
    check_script,
    find_module,
    own_folder,
    run_script,
)
from viz.record.torch.changes import write
from viz.run.run import Run
from viz.server.library.run_changes import (
    RunEditError,
    by_call,
    by_number,
    call_arguments,
    difference_elsewhere,
    leaf_values,
)
from viz.server.revisions import to_edits
from viz.server.store import Problem, Program, ProgramRerun, Revision, Store
from viz.server.workers import TraceFile

SECONDS = 600.0
"""How long a program may run, unless `--rerun-seconds` says otherwise."""
MOST = 8
"""The number of runs that are kept; the oldest one goes."""
ROOM = 64_000_000
"""Bytes that the recording of a run may have in addition to twice those of the first one."""
TITLE = "The program could not be run again"
UNCHANGED = "Nothing was changed: the previous revision is still shown."


def script_of(trace: Trace) -> Script:
    """The source of a recording, if it can be run again here. Raises RunEditError, with the reason."""
    ran = trace.meta.get("ran")
    if not library(trace) or not isinstance(ran, Mapping) or not trace.argv:
        raise RunEditError(
            "Only a script that `backstep run` or `backstep record` has recorded on PyTorch can be run again."
        )
    if ran.get("processes") != "1":
        raise RunEditError("It is one of several processes; only the launcher of the program can run them again.")
    if ran.get("place") != place_of(os.getcwd()):
        raise RunEditError(
            "It was recorded in another folder or with another Python. Start `backstep open --rerun` in the same "
            "folder and environment as the recording."
        )
    try:
        module = str(ran.get("module") or "")
        script = find_module(module)[1] if module else check_script(trace.argv[0])
        limits = dict(ran.get("limits") or {})
        steps = tuple((int(first), None if end is None else int(end)) for first, end in limits.pop("steps", ()))
        source = Script(script, tuple(trace.argv[1:]), module, Limits(steps, **limits))
    except (ScriptError, OSError, TypeError, ValueError) as error:
        raise RunEditError(str(error)) from error
    check_unchanged(source, trace)
    return source


def check_unchanged(script: Script, trace: Trace) -> None:
    """Raises RunEditError if a file of the program has changed since it was recorded."""
    folder = script.path.absolute().parent
    if script.path.name not in trace.files:  # nobody has seen it run: the file may name any script
        raise RunEditError(f"The recording does not have the text of {script.path.name}.")
    for name, recorded in trace.files.items():
        path = folder / name
        try:
            now = path.read_text("utf-8", "replace")
        except OSError:
            if path.name == script.path.name:
                raise RunEditError(f"{name} is no longer there.") from None
            continue  # a recording has only the name of a file that is elsewhere
        if now.splitlines() != recorded.splitlines():
            raise RunEditError(f"{name} has changed since it was recorded: record it again.")


class Reruns:
    """Runs programs again for the revisions of a store, one at a time; a newer question ends the run before it."""

    def __init__(self, store: Store, seconds: float = SECONDS) -> None:
        self.store, self.seconds = store, seconds
        self._recordings: OrderedDict[str, Path] = OrderedDict()
        self._one, self._lock = threading.Lock(), threading.Lock()
        self._newest_turn = 0
        self._stopped = 0
        """The last question that came before the program was stopped: neither it nor an earlier one is run."""
        self._is_stopped = False
        self._process: subprocess.Popen[bytes] | None = None

    def turn(self) -> int:
        """The number of a new question, which ends the run of the one before."""
        with self._lock:
            self._newest_turn += 1
            turn = self._newest_turn
        self._end()
        return turn

    def run(self, revision: Revision, turn: int) -> None:
        """Run the program of a revision with its edits, unless that was done; the store has the recording then.

        `turn` was taken when the question came, so that a stop holds for it from then on. Raises Problem if the run is
        not possible, or stopped.
        """
        with self._one:
            if revision.id in self.store.again:
                return
            if turn != self._newest_turn:
                raise _problem("Another edit followed this one.")
            try:
                self._keep(revision, self._ran(revision, turn))
            except (RunEditError, ScriptError, OSError, TraceFileError, ValueError, KeyError) as error:
                raise _problem(str(error)) from error

    def stop(self) -> None:
        """End the run that goes on, also if its process has not been started yet."""
        with self._lock:
            self._stopped = self._newest_turn
        self._end()

    def _end(self) -> None:
        with self._lock:
            if self._process is not None:
                self._is_stopped = True
                end_process(self._process)

    def _ran(self, revision: Revision, turn: int) -> ProgramRerun:
        program = self.store.catalogue.find(revision.program)
        script = program.again
        if script is None:
            raise RunEditError("Backstep runs a program again only with `--rerun`.")
        run, section = self.store.whole(revision)
        check_unchanged(script, run.whole)
        base = self.store.base(revision)
        edits = to_edits(base, revision.edits)
        leaves, calls = leaf_values(run, section, base, edits), call_arguments(run, section, base, edits)
        if not leaves and not calls:
            raise RunEditError("These edits would not change a run of the program.")
        folder = own_folder()
        plan, target = folder / "changes.json", folder / f"{script.path.stem}.backstep"
        write(plan, by_number(run, leaves), by_call(run, calls))
        try:
            recording = self._process_of(program, plan, target, run, turn)
            whole = open_trace(str(target))
            name = library(whole).partition("+")[0]
            elsewhere = difference_elsewhere(run, whole, min([*leaves, *calls]), set(leaves))
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        whose = "The loss and the other rows of the run are those of the recording." if run.is_divided else ""
        parts = filter(None, (f"Run again by {name}.", whose, elsewhere, recording.explanation))
        return ProgramRerun(TraceFile.of(target, program.most), " ".join(parts))

    def _process_of(self, program: Program, plan: Path, target: Path, run: Run, turn: int) -> RecordedRun:
        """The recording of a run. Raises RunEditError if the run did not reach its end, or not all changes."""
        script = program.again
        assert script is not None
        is_late = threading.Event()
        size = 0 if program.file is None else program.file.stamp[2]
        most = script.limits.max_bytes or 2 * size + ROOM
        limits = Limits(script.limits.steps, script.limits.every, most, script.limits.max_ops)
        timers: list[threading.Timer] = []

        def late() -> None:
            is_late.set()
            self._end()

        def started(process: subprocess.Popen[bytes]) -> None:
            timer = threading.Timer(self.seconds, late)
            timer.daemon = True
            timer.start()
            timers.append(timer)
            with self._lock:
                self._process, self._is_stopped = process, turn != self._newest_turn or turn <= self._stopped
                if self._is_stopped:
                    end_process(process)

        name = script.path.name
        try:
            recording = run_script(
                replace(script, limits=limits), target, streams=SILENT, changes=plan, on_start=started,
                on_slow=_nothing,
            )  # fmt: skip
        finally:
            with self._lock:
                self._process = None
            for timer in timers:
                timer.cancel()
        if is_late.is_set():
            raise RunEditError(
                f"{name} ran for more than {self.seconds:,.0f} s and was stopped. --rerun-seconds sets this limit."
            )
        if self._is_stopped:
            raise RunEditError(f"{name} was stopped.")
        done = recording.changes
        if done is None:
            how = f"signal {-recording.returncode}" if recording.returncode < 0 else f"status {recording.returncode}"
            raise RunEditError(f"{name} ended in the middle of its run, with {how}.")
        if done.reads_input:
            raise RunEditError(f"{name} reads its standard input, which a recording does not have.")
        if done.fault:
            raise RunEditError(f"The edit does not fit {name} as it runs now: {done.fault}.")
        if done.missed:
            raise RunEditError(
                f"{name} did not reach the position of the edit when it ran again. {recording.explanation}".strip()
            )
        cut = open_trace(str(target)).meta.get("cut")
        if cut and not run.whole.meta.get("cut"):
            raise RunEditError(f"The recording of {name} became much longer than the first one, and was ended.")
        return recording

    def _keep(self, revision: Revision, again: ProgramRerun) -> None:
        self.store.again[revision.id] = again
        self._recordings[revision.id] = Path(again.file.path)
        while len(self._recordings) > MOST:
            oldest, path = self._recordings.popitem(last=False)
            self.store.again.pop(oldest, None)
            shutil.rmtree(path.parent, ignore_errors=True)


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started; one that does not react is killed."""

    def send(name: str) -> None:
        with contextlib.suppress(OSError):
            if os.name == "posix":
                os.killpg(process.pid, getattr(signal, name))
            else:
                process.kill()

    send("SIGTERM")
    last = threading.Timer(GRACE, send, ("SIGKILL",))
    last.daemon = True
    last.start()


def _nothing(_text: str) -> None:
    """Prints nothing: the page says that the program runs."""


def _problem(reason: str) -> Problem:
    return Problem("not-run-again", TITLE, f"{reason.rstrip('.')}. {UNCHANGED}")
