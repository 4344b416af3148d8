"""The process in which a user's script runs: as Python would run it, recorded into a trace file.

Started as a file by `viz.record.runner` (never forked, nor as `-m`: nothing in the user's folder can take our place):
    python viz/record/child.py REPORT ENDED TRACE FLAGS LIFE MODULE SCRIPT [ARGS ...]
The script's `__main__`, `sys.argv`, `sys.path[0]`, working folder, streams and exit status are those that Python gives.
FLAGS is JSON: `as_torch`, `on_torch`, the `limits` (viz.record.limits), whether it `tells` on a terminal how far it is,
and for a program that is run again with an edit the file of its `changes` (viz.record.torch.changes), else "".
REPORT is a JSON file about what happened, for the process that started this one; ENDED is an empty one, there from when
the script has ended.  LIFE is the number of a pipe that ends when that process does; on Windows it is the number of
that process.  MODULE is the name by which `python -m` would run the script, "" where it is run by its path.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import traceback
import types
from typing import Any

if __name__ == "__main__":  # our own folder stands first in sys.path; what we need is the one in which the package lies
    _here = os.path.dirname(os.path.abspath(__file__))
    if not sys.flags.safe_path:
        del sys.path[0]
    _root = os.path.dirname(os.path.dirname(_here))
    sys.path[:0] = [_root, os.path.join(_root, "viz", "public")]
    import backstep  # noqa: F401 a script may, also where nothing is installed
    from viz.record import child  # noqa: PLW0406 this file again, as the module that it is

    del sys.path[:2]
    sys.exit(child.main(sys.argv[1:]))

import _thread
import atexit
import builtins
import contextlib
import functools
import importlib.util
import itertools
import linecache
import threading
import time
from collections.abc import Iterator
from dataclasses import asdict
from importlib.machinery import SourceFileLoader
from pathlib import Path

import viz
from engine.arrays.session import is_users, slot
from engine.trace.events import ErrorRaised
from engine.trace.file.iterations import Selection
from engine.trace.file.streaming import Progress, SizeLimits, Stream
from engine.trace.file.tracefile import TraceWriteError
from engine.trace.log_reader import users_traceback
from engine.trace.messages import message_of
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from viz.record import import_rewrite, prints, torch_import
from viz.record.imports import NameClashes
from viz.record.limits import in_words
from viz.record.missing_recording import module_of, shadows
from viz.record.no_input import NoInput
from viz.record.place import place_of
from viz.record.torch.changes import Changes
from viz.record.torch.import_hook import TorchImport
from viz.record.torch.own_frames import without_ours

if sys.platform == "win32":
    import _winapi  # what Python's own subprocess and multiprocessing call

_ENGINE = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(viz.__file__))), "engine", "")
GRACE = 5.0
"""Seconds that a script has to end after SIGTERM, once the process that started it has ended."""


def main(argv: list[str]) -> int:
    """Run a script; the exit status that Python would give."""
    report, ended, path, flags, life, name, script, *args = argv
    _end_with_the_starting_process(int(life))
    options = json.loads(flags)
    as_torch, limits = options["as_torch"], options["limits"]
    filename = os.path.abspath(script)
    folder = os.getcwd() if name else os.path.dirname(os.path.realpath(script))
    places = Places(os.path.dirname(filename))
    place = place_of(os.getcwd())
    _prepare(script, args, folder)
    names = _same_names(folder)
    if as_torch:
        torch_import.install(functools.partial(names.side, is_ours=True))
    viz.show = _left_out
    recorder = Recorder()
    selection = Selection(tuple((first, end) for first, end in limits["steps"]), limits["every"])
    try:
        stream = Stream(
            recorder, path, places, (script, *args), say=_say, selection=selection, pauses=limits["pauses"],
            most=SizeLimits(limits["max_ops"], limits["max_bytes"]),
            tell=_tell if options["tells"] and _is_terminal() else None,
        )  # fmt: skip
    except TraceWriteError as error:  # nothing has run yet, and nothing will
        _write({"refused": str(error)}, report)
        return 2
    changes = Changes.read(options["changes"]) if options["changes"] else None
    typed = NoInput()
    if changes is not None:
        sys.stdin = typed.as_text()
    spawned = None if changes is not None else functools.partial(_spawned, path, selection, limits["pauses"])
    arrival = TorchImport(recorder, _say, changes, spawned)
    outcome = _Outcome(recorder, as_torch, arrival, has_own_engine="engine" in names.names and not as_torch)
    atexit.register(outcome.at_exit)  # the first to be registered is the last to run
    try:
        code = _read(filename, options["on_torch"])
    except Exception as error:  # noqa: BLE001 SyntaxError, what null bytes or a wrong encoding raise
        places.add(filename)
        outcome.unreadable(error)
    else:
        places.add(filename)
        module = _main_module(filename)
        prints.note_prints(recorder)
        names.separate()
        stream.start()
        if not as_torch:
            arrival.wait()
        outcome.run(code, module, name)
        arrival.stop()
    _mark(ended)
    seconds = stream.progress.seconds
    with _signals_stop(stream):
        failure = _finish(
            stream,
            outcome,
            {"place": place, "processes": os.environ.get("WORLD_SIZE") or "1", "module": name, "limits": limits},
        )
        rerun = None if changes is None else [changes.missed, changes.fault, typed.was_read]
        _report(report, outcome, stream, seconds, failure, rerun)
    return outcome.status


def _same_names(folder: str) -> NameClashes:
    """The modules in a script's folder that have names of ours."""
    root = Path(os.path.abspath(viz.__file__)).parent.parent
    return NameClashes(map(module_of, shadows(Path(folder), root)), str(root))


def _spawned(path: str, selection: Selection, pauses: bool, function: Any) -> Any:
    """The function that another process runs instead of the one that the script starts it with."""
    from viz.record.block import ProcessTarget  # only a script that starts processes needs it

    return ProcessTarget(function, path, selection, pauses)


def _say(text: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # the script may have closed it, or set it to None
        print(f"backstep: {text}", file=sys.stderr, flush=True)


def _tell(so_far: Progress) -> None:
    much = f"{so_far.ops:,} ops, {so_far.iterations:,} {'updates' if so_far.are_updates else 'iterations'}"
    _say(f"recording: {much}, {so_far.seconds:,.0f} s, {in_words(so_far.bytes)}")


def _is_terminal() -> bool:
    return sys.stderr is not None and sys.stderr.isatty()


def _progress(count: int, of: int) -> None:
    _say(f"writing the recording: {count:,} of {of:,} events; press Ctrl-C to stop here.")


def _end_with_the_starting_process(life: int) -> None:
    """End as if by SIGTERM when the process that started this one ends, however it ends."""

    def wait() -> None:
        if sys.platform == "win32":
            try:
                starting = _winapi.OpenProcess(_winapi.SYNCHRONIZE, False, life)
            except OSError:  # not allowed: the script goes on without it
                return
            _winapi.WaitForSingleObject(starting, _winapi.INFINITE)
        else:
            os.read(life, 1)  # the other end is closed when that process ends
        os.kill(os.getpid(), signal.SIGTERM)
        if sys.platform != "win32":  # there it is the end at once
            time.sleep(GRACE)
            os.kill(os.getpid(), signal.SIGKILL)

    if sys.platform != "win32":
        os.set_inheritable(life, False)
    _thread.start_new_thread(wait, ())  # not a Thread: the script's own threading.enumerate() is as without us


@contextlib.contextmanager
def _signals_stop(stream: Stream) -> Iterator[None]:
    """Ctrl-C (or SIGTERM) while the rest is written keeps the part that is already written."""

    def stop(*_: object) -> None:
        stream.stop()

    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)


def _prepare(script: str, args: list[str], folder: str) -> None:
    """The state that a script finds when Python starts it."""
    sys.argv = [script, *args]
    if not sys.flags.safe_path:
        sys.path.insert(0, folder)


def _left_out(*_: Any, **__: Any) -> None:
    """Instead of viz.show, which would wait here for Ctrl-C: the page is opened when the script has ended."""
    text = "backstep: viz.show() does nothing here: the whole script is recorded, up to its end."
    print(text, file=sys.stderr)


def _read(filename: str, on_torch: bool) -> types.CodeType:
    """The script, compiled; its text is kept as it is now, because the file may change while it runs.

    With `on_torch` its imports of the engine are imports of PyTorch.
    """
    with open(filename, "rb") as stream:
        raw = stream.read()
    lines = linecache.updatecache(filename)
    if lines:
        linecache.cache[filename] = (len(raw), None, lines, filename)  # None: never looked at again
    return compile(import_rewrite.on_torch(raw, filename) if on_torch else raw, filename, "exec", dont_inherit=True)


def _main_module(filename: str) -> types.ModuleType:
    module = types.ModuleType("__main__")
    module.__dict__.update(
        __file__=filename, __builtins__=builtins, __cached__=None, __annotations__={}, __spec__=None,
        __loader__=SourceFileLoader("__main__", filename),
    )  # fmt: skip
    sys.modules["__main__"] = module
    return module


def _as_module(main: types.ModuleType, name: str) -> None:
    """Give `__main__` what it has under `python -m name`; the packages around it are imported first."""
    spec = importlib.util.find_spec(name)
    if spec is None:
        raise ImportError(f"No module named {name}", name=name)
    main.__dict__.update(__spec__=spec, __package__=spec.parent, __loader__=spec.loader, __cached__=spec.cached)


class _Outcome:
    """How a script ended."""

    def __init__(self, recorder: Recorder, as_torch: bool, arrival: TorchImport, has_own_engine: bool) -> None:
        self.recorder, self.as_torch, self.arrival, self.has_own_engine = recorder, as_torch, arrival, has_own_engine
        self.status = 0
        self.interrupted = False
        self.error = ""
        self.note = ""
        self.exit: dict[str, Any] | None = None

    def run(self, code: types.CodeType, module: types.ModuleType, name: str) -> None:
        """Execute the script to its end, and its threads to theirs: their ops are recorded too."""
        try:
            if name:
                _as_module(module, name)
            exec(code, module.__dict__)  # noqa: S102 the user asked for this script to be run
        except SystemExit as error:
            self.exited(error)
        except BaseException as error:  # noqa: BLE001 printed and recorded, as Python would print it
            self.raised(error)
        try:
            threading._shutdown()  # type: ignore[attr-defined]  # what Python itself calls when a script has ended
        except KeyboardInterrupt as error:  # a thread may never end
            if not self.interrupted:
                self.raised(error)

    def exited(self, error: SystemExit) -> None:
        """sys.exit(...): a number is the status, None is 0, anything else is printed."""
        status = error.code
        words = ""
        if status is None or isinstance(status, int):
            self.status = (status or 0) & 0xFF if os.name == "posix" else status or 0
        else:
            words = status if isinstance(status, str) else _text(status)
            with contextlib.suppress(OSError, ValueError, AttributeError):  # closed by the script: Python says nothing
                print(words, file=sys.stderr or sys.__stderr__)
            self.status = 1
        places = [(f.f_code.co_filename, line) for f, line in traceback.walk_tb(error.__traceback__)]
        file, line = next(((os.path.basename(f), line) for f, line in reversed(places) if is_users(f)), ("", 0))
        self.exit = {"status": self.status, "said": words, "file": file, "line": line}

    def raised(self, error: BaseException) -> None:
        """Recorded as the last event, and printed as Python prints it, without our own frames."""
        note = None if self.has_own_engine else torch_import.explain_missing(error, self.as_torch)
        if note:
            error.add_note(note)
            self.note = note
        self.arrival.finish()
        self.recorder.uncaught(error)
        if slot.active is self.recorder:
            slot.active = None  # a recording ends with the error that ended its program, whatever threads do then
        self.error = type(error).__name__
        self.interrupted = isinstance(error, KeyboardInterrupt)
        self.status = 130 if self.interrupted else 1
        tail = error.__traceback__
        while tail is not None and not is_users(tail.tb_frame.f_code.co_filename):
            tail = tail.tb_next
        error.__traceback__ = tail = _without_engine(without_ours(tail), self.interrupted)
        sys.excepthook(type(error), error, tail)

    def unreadable(self, error: Exception) -> None:
        """The file is not a Python program."""
        self.error, self.status = type(error).__name__, 1
        error.__traceback__ = None
        sys.excepthook(type(error), error, None)
        raised = ErrorRaised(0, -1, type(error).__name__, message_of(error), "", None, None, (), users_traceback(error))
        self.recorder.log.append(("raised", -1, raised))

    def at_exit(self) -> None:
        """After Ctrl-C a process ends by the signal, as Python's own does."""
        if self.interrupted and os.name == "posix":
            with contextlib.suppress(OSError, ValueError, AttributeError):  # the script may have closed it
                sys.stdout.flush()
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            os.kill(os.getpid(), signal.SIGINT)


def _text(status: object) -> str:
    """The text that Python prints for `sys.exit(status)`; none if the text of the user's own object raises."""
    try:
        return str(status)
    except Exception:  # noqa: BLE001 code of the user's, which may raise anything
        return ""


def _without_engine(entry: types.TracebackType | None, interrupted: bool) -> types.TracebackType | None:
    """A traceback that ends where the engine is called, as torch's does; a failure inside the engine keeps all frames.

    If it was `interrupted` by Ctrl-C, it ends in the user's code: the place in ours has no meaning.
    """
    frames = []
    while entry is not None:
        frames.append(entry)
        entry = entry.tb_next
    while frames and _is_ours(frames[-1].tb_frame.f_code.co_filename, interrupted):
        frames.pop()
    for outer, inner in itertools.zip_longest(frames, frames[1:]):
        outer.tb_next = inner
    return frames[0] if frames else None


def _is_ours(filename: str, interrupted: bool) -> bool:
    return not is_users(filename) if interrupted else filename.startswith(_ENGINE) or filename == prints.__file__


def _mark(ended: str) -> None:
    """Tell the starting process that the script has ended."""
    with contextlib.suppress(OSError):  # the folder went with the process that started this one
        open(ended, "w").close()


def _finish(stream: Stream, outcome: _Outcome, ran: dict[str, Any]) -> str:
    """Complete the trace file, which says how the script `ran`; returns "" or why that failed."""
    try:
        ended = {"exit": outcome.exit} if outcome.exit else {}
        script = os.path.basename(sys.argv[0])
        meta = {"script": script, "status": outcome.status, "as_torch": outcome.as_torch, "ran": ran, **ended}
        stream.finish(meta, _progress)
    except Exception:  # noqa: BLE001 a fault of ours: the script's own outcome stands, and the fault is told
        return traceback.format_exc()
    return ""


def _report(path: str, outcome: _Outcome, stream: Stream, seconds: float, failure: str, changes: Any) -> None:
    """Tell the starting process what it cannot see.

    That process made the file large enough for a short report, which is written if the disk has no room for a longer
    one.
    """
    files: dict[str, Any] = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and is_users(file) and file.endswith(".py"):
            files[os.path.abspath(file)] = name
    report = {
        "status": outcome.status, "error": outcome.error, "note": outcome.note, "failure": failure,
        "files": list(files), "exit": outcome.exit, "cut": None if stream.cut is None else asdict(stream.cut),
        "iterations": stream.progress.iterations, "skipped": stream.progress.skipped, "refusal": stream.refusal,
        "are_updates": stream.progress.are_updates, "seconds": seconds,
        "changes": changes,
    }  # fmt: skip
    if not _write(report, path):
        _write({**report, "files": [], "failure": failure[-1000:]}, path)


def _write(report: dict[str, Any], path: str) -> bool:
    """Write the report, and return whether that was possible."""
    with contextlib.suppress(OSError), open(path, "r+", encoding="utf-8") as file:
        json.dump(report, file)
        file.truncate()
        return True
    return False
