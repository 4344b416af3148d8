"""Run a user's script in a process of its own, recorded into a trace file, once or on every save."""

from __future__ import annotations

import atexit
import json
import logging
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.machinery import BuiltinImporter, ModuleSpec, PathFinder, SourceFileLoader
from pathlib import Path
from typing import Any, Self

from engine.trace.file.database import TraceFileError
from engine.trace.file.tracefile import SUFFIX, tally
from viz.record import missing_recording
from viz.record.limits import NONE, Limits

log = logging.getLogger("backstep")

POLL = 0.2
"""Seconds between two looks at the watched files; a change counts when nothing changed for one more."""
LONG = 10.0
"""Seconds after which a message says how to end a script that still runs."""
MOST_TRACES = 3
"""The number of traces of a watched script that are kept: the app may still be reading an earlier one."""

GRACE = 5.0
"""Seconds that a script has to end after SIGTERM when this process has to end."""
REPORT_ROOM = 16_384
"""Bytes that are reserved for the report of a script's process at its end: the disk may be full by then."""

NOTEBOOK = ".ipynb"
"""The suffix of a notebook, which is no Python."""

ROOT = Path(__file__).resolve().parents[2]


class ScriptError(ValueError):
    """Raised if a script cannot be run or its recording cannot be written; the text says why."""


@dataclass(frozen=True, slots=True)
class Script:
    """The source of a recording: a file, its arguments, the name by which `python -m` would run it, and how much of a
    long run is kept."""

    path: Path
    args: tuple[str, ...] = ()
    module: str = ""
    limits: Limits = NONE


@dataclass(frozen=True, slots=True)
class Streams:
    """The part of our standard streams that a script has: it reads our input, it prints to our output, and the recorder
    `tells` now and then, on a terminal, how far the script is."""

    reads: bool = True
    prints: bool = True
    tells: bool = False


SHARED = Streams()
WITHOUT_INPUT = Streams(reads=False)
SILENT = Streams(reads=False, prints=False)


@dataclass(frozen=True, slots=True)
class RecordedRun:
    """A script that ran.

    `returncode` is that of a process. `unprinted` explains what the terminal does not show yet, `note` what stands
    below the script's own traceback there; both are "" if there is nothing to explain. `files` are the script and the
    user's own modules that it imported; `error` is the name of the exception that ended it. `are_updates`: each of the
    `iterations`, as `--steps` counts them, ended with a step of an optimiser.  `skipped` of them are not recorded.
    """

    trace_path: Path
    returncode: int
    unprinted: str
    note: str = ""
    error: str = ""
    files: tuple[Path, ...] = ()
    iterations: int = 0
    are_updates: bool = False
    skipped: int = 0
    seconds: float = 0.0
    changes: ChangeReport | None = None

    @property
    def explanation(self) -> str:
        """All that there is to explain, for a place where the script's traceback does not stand."""
        return " ".join(text for text in (self.unprinted, self.note) if text)


@dataclass(frozen=True, slots=True)
class ChangeReport:
    """The changes of a program that was run again: how many did not reach their place, why one could not be made, and
    whether the program asked for its standard input, which it does not have then."""

    missed: int
    fault: str
    reads_input: bool


def check_script(path: str | os.PathLike[str]) -> Path:
    """The path of a script that can be run. Raises ScriptError if there is none."""
    script = Path(path)
    if script.is_dir():
        inside = script / "__main__.py"
        hint = f"Give the script in it, such as {inside}." if inside.is_file() else "Give the path of a script in it."
        raise ScriptError(f"{os.fspath(path)!r} is a folder. {hint}")
    if not script.exists():
        beside = sorted(p.name for p in script.parent.glob("*.py"))[:4] if script.parent.is_dir() else []
        hint = f" That folder contains {', '.join(beside)}." if beside else ""
        raise ScriptError(f"There is no script {os.fspath(path)!r}.{hint}")
    if script.suffix == NOTEBOOK:
        convert = f"jupyter nbconvert --to script {shlex.quote(os.fspath(path))}"
        raise ScriptError(
            f"{os.fspath(path)!r} is a notebook. To record a cell, run `%load_ext backstep` and begin the cell with "
            f"`%%backstep`. To record all of it, make a script: `{convert}`."
        )
    if not os.access(script, os.R_OK):
        raise ScriptError(f"The script {os.fspath(path)!r} cannot be read: you have no permission to read it.")
    return script


def find_module(name: str) -> tuple[str, Path]:
    """The module that `python -m name` would run, and its file: of a package its `__main__`.  Nothing is imported.

    Modules are looked for in the working folder, then where Python looks.  Raises ScriptError if there is none.
    """
    places: Sequence[str] | None = [os.getcwd(), *sys.path]
    whole = ""
    spec: ModuleSpec | None = None
    for part in [*name.split("."), "__main__"]:
        if part == "__main__" and places is None:
            break
        whole = f"{whole}.{part}" if whole else part
        spec = BuiltinImporter.find_spec(whole)  # comes before every folder; which modules these are differs
        if spec is None and places is not None:
            spec = PathFinder.find_spec(whole, list(places))
        if spec is None:
            is_package = part == "__main__" and whole != part
            reason = f"{name!r} is a package without a __main__.py" if is_package else f"There is no module {whole!r}"
            raise ScriptError(f"{reason}. Give the name of a module, with dots, as for `python -m`.")
        places = spec.submodule_search_locations
    if spec is None or not isinstance(spec.loader, SourceFileLoader):
        raise ScriptError(f"The module {name!r} is not a Python file: only source code can be recorded.")
    return whole, Path(spec.loader.path)


def run_script(
    script: Script, trace_path: str | os.PathLike[str] | None = None, *, as_torch: bool = False, on_torch: bool = False,
    streams: Streams = SHARED, changes: Path | None = None,
    on_start: Callable[[subprocess.Popen[bytes]], None] | None = None, on_slow: Callable[[str], None] | None = None,
) -> RecordedRun:  # fmt: skip
    """Run a script as Python would, as a module if it has the name of one, and record it.

    The trace goes to `trace_path`, by default a new file in a temporary folder.  With `as_torch` its imports of PyTorch
    are imports of the engine, with `on_torch` the reverse.  `changes` is a file of changes to make in it
    (viz.record.torch.changes); with them it leads a process group.  `on_start` gets the process, `on_slow` the sentence
    that it is still running, if it does not end: by default that is printed, with the key that stops it.  Raises
    ScriptError if there is no script, or if its recording cannot be written.
    """
    path = check_script(script.path)
    target = Path(trace_path) if trace_path is not None else new_folder() / f"{path.stem}{SUFFIX}"
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        report, ended = Path(folder) / "report.json", Path(folder) / "ended"
        _reserve(report, path)
        flags = json.dumps({
            "as_torch": as_torch, "limits": asdict(script.limits), "tells": streams.tells, "on_torch": on_torch,
            "changes": os.fspath(changes or ""),
        })  # fmt: skip
        runs_it = str(Path(__file__).with_name("child.py"))
        command = [sys.executable, runs_it, str(report), str(ended), str(target), flags]
        life = _Lifeline()
        process = subprocess.Popen(
            [*command, life.argument, script.module, os.fspath(path), *script.args],
            stdin=None if streams.reads else subprocess.DEVNULL, stdout=None if streams.prints else subprocess.DEVNULL,
            stderr=None if streams.prints else subprocess.DEVNULL, pass_fds=life.passed,
            start_new_session=changes is not None,
        )  # fmt: skip
        if on_start is not None:
            on_start(process)
        say = on_slow or _print_how_to_stop

        def tell() -> None:
            if not ended.exists():  # else only its recording is being written
                say(f"{path.name} is still running.")

        slow = threading.Timer(LONG, tell)
        slow.daemon = True
        slow.start()
        try:
            returncode = _wait(process)
        except BaseException:  # this process has to end, and the script with it
            _end(process)
            raise
        finally:
            slow.cancel()
            life.close()
        outcome = _reported(report)
    if "refused" in outcome:
        raise ScriptError(f"{path.name} was not run: Backstep {outcome['refused']}")
    return _recording(path, target, returncode, outcome, as_torch)


class _Lifeline:
    """Tells the script's process that this one has ended, even if this one is killed: a pipe whose other end belongs to
    that process; on Windows, where a process can wait for another one, the number of this one."""

    def __init__(self) -> None:
        self._ends = os.pipe() if os.name == "posix" else ()
        self.passed = self._ends[:1]

    @property
    def argument(self) -> str:
        """As the child has it among its arguments."""
        return str(self.passed[0] if self.passed else os.getpid())

    def close(self) -> None:
        for end in self._ends:
            os.close(end)


def new_folder() -> Path:
    """A temporary folder for traces, which the system clears."""
    return Path(tempfile.mkdtemp(prefix="backstep-"))


def own_folder() -> Path:
    """A temporary folder that is removed when this process ends, but not when a forked copy of it ends."""
    folder, owner = new_folder(), os.getpid()

    def remove() -> None:
        if os.getpid() == owner:
            shutil.rmtree(folder, ignore_errors=True)

    atexit.register(remove)
    return folder


def _print_how_to_stop(still_running: str) -> None:
    print(
        f"backstep: {still_running} Press Ctrl-C to stop it and keep the recording up to there.",
        file=sys.stderr, flush=True,
    )  # fmt: skip


def _wait(process: subprocess.Popen[bytes]) -> int:
    """The exit status.

    Ctrl-C reaches the script by itself. A second one is passed on as SIGTERM, which keeps the part of the recording
    that is written; a third one kills the script.
    """
    presses = 0
    while True:
        try:
            return process.wait()
        except KeyboardInterrupt:
            presses += 1
            if presses == 2:
                process.terminate()
            elif presses > 2:
                process.kill()


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _reserve(report: Path, script: Path) -> None:
    """Make the file for the report of a script's process large enough for a short one."""
    try:
        report.write_text(" " * REPORT_ROOM)
    except OSError as error:
        where = tempfile.gettempdir()
        raise ScriptError(
            f"{script.name} was not run: Backstep cannot write to the temporary folder {where!r}: {error.strerror}. "
            "Free some space there, or set TMPDIR to another folder."
        ) from error


def _reported(path: Path) -> dict[str, Any]:
    try:
        return dict(json.loads(path.read_text("utf-8")))
    except (OSError, ValueError):  # the script ended without coming back: os._exit, a kill, a crash
        return {}


def _recording(script: Path, target: Path, returncode: int, report: dict[str, Any], as_torch: bool) -> RecordedRun:
    counts, unreadable = _counts(target)
    error = report.get("error", "")
    went_well = counts.ops and not error
    files = [] if went_well else missing_recording.shadows(script.resolve().parent, ROOT)
    notes = [missing_recording.shadowed(script.name, files)]
    cut = report.get("cut")
    if report.get("failure"):
        log.error("the recording failed:\n%s", report["failure"])
        notes.append("Backstep itself failed during the recording; the traceback is in the terminal. Please report it.")
    elif cut:
        notes.append(missing_recording.cut(**cut))
    elif not report:
        notes.append(missing_recording.killed(script.name, _ending(returncode)))
    if unreadable and not cut:
        notes.append(f"The recording is lost: {unreadable}")
    if report.get("refusal"):
        notes.append(missing_recording.unpaused(report["refusal"]))
    if report.get("exit"):
        notes.append(missing_recording.exited(script.name, **report["exit"]))
    note = _sentence(report.get("note", ""))
    if report and not cut and not unreadable and not note:
        notes.append(missing_recording.nothing_recorded(script.name, text_of(script), counts, as_torch, error))
    imported = tuple(dict.fromkeys([script.resolve(), *(Path(f) for f in report.get("files", ()))]))
    unprinted = " ".join(n for n in notes if n)
    applied = ChangeReport(*report["changes"]) if report.get("changes") else None
    return RecordedRun(
        target, returncode, unprinted, note, error, imported, report.get("iterations", 0),
        report.get("are_updates", False), report.get("skipped", 0), report.get("seconds", 0.0), applied,
    )  # fmt: skip


def text_of(script: Path) -> str:
    """The text of a script; "" if it removed its own file while it ran, which loses no recording."""
    try:
        return script.read_text("utf-8", "replace")
    except OSError:
        return ""


def _sentence(note: str) -> str:
    """The note of an exception without our name in front, as a sentence of its own.

    >>> _sentence("Backstep: the engine has no torch.nn.Module.")
    'The engine has no torch.nn.Module.'
    """
    text = note.removeprefix("Backstep: ")
    return text[:1].upper() + text[1:]


def _ending(returncode: int) -> str:
    return f"signal {-returncode}" if returncode < 0 else f"status {returncode}"


def _counts(path: Path) -> tuple[missing_recording.Counts, str]:
    """The contents of a trace; and why it cannot be read, "" if it can."""
    try:
        numbers = tally(path)
    except (OSError, TraceFileError) as error:
        return missing_recording.Counts(0, 0, 0), str(error)
    counted = ("OpCalled", "nodes", "BackwardStarted", "LeafCreated")
    return missing_recording.Counts(*(numbers.get(kind, 0) for kind in counted)), ""


class Watch:
    """Records a script again whenever it, or a module of the user's own that it imports, is saved.

    `generation` counts the recordings; `trace_path` and `recording` belong to the last good one; `error`
    says what is wrong with the file now ("" if nothing is): one that does not parse leaves the last good trace there.
    `on_change` is called, in the watching thread, after each change of these.
    """

    def __init__(
        self, script: Script, as_torch: bool = False, on_change: Callable[[Watch], None] | None = None
    ) -> None:
        self.script, self.path, self.as_torch, self.on_change = script, script.path, as_torch, on_change
        self.generation = 0
        self.recording: RecordedRun | None = None
        self.error = ""
        self._folder = new_folder()
        self._seen: dict[Path, tuple[int, int]] = {}
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._thread = threading.Thread(target=self._watch, name="backstep-watch", daemon=True)

    @property
    def trace_path(self) -> Path | None:
        """The trace of the last good recording."""
        return None if self.recording is None else self.recording.trace_path

    def start(self) -> Self:
        """Record once, here and now, then watch.  Raises ScriptError if there is no script."""
        self._look([check_script(self.path).resolve()])
        self._record(is_again=False)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop watching, end a script that still runs, and remove the traces."""
        self._stop.set()
        with self._lock:
            if self._process is not None:
                self._process.kill()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _look(self, files: Sequence[Path]) -> bool:
        """Note the state of the files; returns whether one has changed since it was noted last."""
        now = {file: _signature(file) for file in files}
        changed = any(self._seen.get(file, state) != state for file, state in now.items())
        self._seen = now
        return changed

    def _files(self) -> list[Path]:
        return list(self._seen)

    def _watch(self) -> None:
        while not self._stop.wait(POLL):
            if not self._look(self._files()):
                continue
            while self._stop.wait(POLL) is False and self._look(self._files()):
                pass  # an editor writes in several steps: wait until the file is still
            if not self._stop.is_set():
                self._again()

    def _again(self) -> None:
        """Record the changed script again, unless a file has a syntax error; kill the run if a file changes."""
        problem = _unparsable([file for file in self._files() if file.suffix == ".py" or file == self.path.resolve()])
        if problem:
            self.error = problem
            self._tell()
            return
        runner = threading.Thread(target=self._record, kwargs={"is_again": True}, name="backstep-record", daemon=True)
        runner.start()
        while runner.is_alive():
            runner.join(POLL)
            if runner.is_alive() and self._changed():
                with self._lock:
                    if self._process is not None:
                        self._process.kill()  # saved again while it runs: its recording is out of date

    def _changed(self) -> bool:
        return any(_signature(file) != state for file, state in list(self._seen.items()))

    def _record(self, is_again: bool) -> None:
        number = self.generation + 1
        target = self._folder / f"{self.path.stem}-{number}{SUFFIX}"
        try:
            recording = run_script(
                self.script, target, as_torch=self.as_torch, streams=WITHOUT_INPUT if is_again else SHARED,
                on_start=self._started, on_slow=self._slow if is_again else None,
            )  # fmt: skip
        except (ScriptError, OSError) as error:
            self.error = str(error)
            self._tell()
            return
        finally:
            with self._lock:
                self._process = None
        if self._stop.is_set():
            return
        if self._changed() and self.recording is not None:
            self._ended()
            return
        for file in recording.files:
            self._seen.setdefault(file, _signature(file))
        self.recording, self.error, self.generation = recording, "", number
        old = self._folder / f"{self.path.stem}-{number - MOST_TRACES}{SUFFIX}"
        old.unlink(missing_ok=True)
        self._tell()

    def _started(self, process: subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._process = process

    def _slow(self, still_running: str) -> None:
        """The script does not end; the page goes on showing the recording before it."""
        with self._lock:
            if self._process is None:
                return
            self.error = f"{still_running} Save it again to stop it."
        self._tell()

    def _ended(self) -> None:
        """A run that is out of date has ended: the note about it no longer applies."""
        if self.error:
            self.error = ""
            self._tell()

    def _tell(self) -> None:
        if self.on_change is not None:
            try:
                self.on_change(self)
            except Exception:  # the watch outlives a listener's fault
                log.exception("a listener of the watch failed")


def _signature(path: Path) -> tuple[int, int]:
    """Modification time and size; zeros while the file is not there (an editor may replace it)."""
    try:
        status = path.stat()
    except OSError:
        return (0, 0)
    return (status.st_mtime_ns, status.st_size)


def _unparsable(files: Sequence[Path]) -> str:
    """The fault of the first file that is not Python, "" if all are."""
    for file in files:
        try:
            compile(file.read_bytes(), str(file), "exec", dont_inherit=True)
        except OSError:
            return f"{file.name} no longer exists."
        except (SyntaxError, ValueError) as error:
            line = getattr(error, "lineno", None)
            where = f" line {line}" if line else ""
            return f"{file.name}{where}: {getattr(error, 'msg', None) or error}. The last good recording is shown."
    return ""
