"""The command `backstep`: the gallery, a script of one's own, or a trace file, in the browser.

What parsing needs is imported at the top; the app itself, with Dash and the engine, only once something is served, so
that `--help` and a mistyped option answer at once.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
import os
import re
import shlex
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, TypeAlias
from urllib.parse import quote

from viz.record import limits
from viz.tasks.collection import unhurried

if TYPE_CHECKING:
    from engine.trace.events import Trace
    from viz.record.runner import Script
    from viz.server.store import Catalogue, Program, Store

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"
SUFFIX = ".backstep"
"""As in engine.trace.file.tracefile, which is not imported for --help."""

MOST_WORKERS = 64
LARGE = 8 << 20
"""Bytes of a trace file from which on the process that makes its scenes starts while the server is imported."""

EXAMPLES = """examples:
  backstep                          the gallery
  backstep run train.py --epochs 2  record a script and open it
  backstep run --as-torch train.py  the same, but `import torch` gives Backstep's engine
  backstep run --watch lesson.py    record again on every save
  backstep run -m my.training       record and open a module, as `python -m` would run it
  backstep record -o run.backstep train.py   record a script without opening it
  backstep record --steps 100:103 train.py   keep the values of three iterations, statistics of all others
  backstep open run.backstep        open a recorded trace
  backstep open a.rank0.backstep a.rank1.backstep   several together, such as the ranks of a distributed run
  backstep open --rerun run.backstep   open a trace; edits may run its script again
  backstep compare lesson.py        run a program on Backstep's engine and on PyTorch, and say where they differ
  backstep serve lessons --workers 4    the gallery and a course, for a class
  backstep new lesson.py            write a first lesson
  backstep course lessons           open a folder of lessons
  backstep export run.backstep -o lesson.html   one HTML file that plays offline in any browser
  backstep export weights -o slide.png --size 16:9 --step 3   a picture of one moment, for a slide
"""


class Parser(argparse.ArgumentParser):
    """Says what to type if the command is missing."""

    def error(self, message: str) -> NoReturn:
        match = re.match(r"argument \{(run,[a-z,]+)\}: invalid choice: '(.+?)' \(", message)
        if match:
            message = f"{match[2]!r} is not a command. {_meant(match[2], match[1].split(','))}"
        super().error(message)


def _meant(word: str, commands: Sequence[str]) -> str:
    """What to type instead of a word that is not a command.

    >>> _meant("recrod", ["run", "record", "open"])
    'Did you mean `backstep record`?'
    >>> _meant("train.py", ["run", "record", "open"])
    'Put `run` or `open` first, as in `backstep run train.py`'
    """
    import difflib  # only where a command is mistyped

    similar = difflib.get_close_matches(word, commands, 1)
    if similar and word.isalpha():
        return f"Did you mean `backstep {similar[0]}`?"
    verb = "open" if word.endswith(SUFFIX) else "run"
    return f"Put `run` or `open` first, as in `backstep {verb} {word}`"


class Version(argparse.Action):
    """Prints the versions that a report of a fault should name, and ends the command."""

    def __call__(self, command: argparse.ArgumentParser, *_: object) -> NoReturn:
        import importlib.metadata

        from engine.namespaces.version import OF_TORCH, OWN
        from viz.record.compare_command import library

        try:
            beside = f"{library()} is installed"
        except importlib.metadata.PackageNotFoundError:
            beside = "PyTorch is not installed"
        print(f"backstep {OWN}: its engine follows PyTorch {OF_TORCH}; {beside}")
        command.exit()


def parser() -> argparse.ArgumentParser:
    """The options; those for serving may come before or after the subcommand."""
    top = Parser(
        prog="backstep",
        description="Step through backpropagation, forwards and backwards in time, in the browser.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _serving(top, suppress=False)
    top.add_argument("--version", action=Version, nargs=0, help="print the versions of Backstep and of PyTorch")
    commands = top.add_subparsers(dest="command", metavar="{run,record,open,compare,export,new,course,serve,worker}")
    _recording(commands)
    _opening(commands)
    both = commands.add_parser("compare", help="run a program on Backstep's engine and on PyTorch, and compare them")
    both.add_argument("program", help="a Python file, or a program of the gallery by its name")
    both.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")
    _exporting(commands)
    new = commands.add_parser("new", help="write a first lesson: a script whose comments are its chapters")
    new.add_argument("file", type=Path, help="the Python file to write")
    course = commands.add_parser("course", help="open a folder of lessons")
    _serving(course, suppress=True)
    course.add_argument("folder", type=Path, help="a folder of lessons: scripts with chapters, and trace files")
    serve = commands.add_parser("serve", help="serve the gallery and a course to many people")
    _serving(serve, suppress=True)
    _served(serve)
    _served(commands.add_parser("worker", help="compute large graphs and files for `serve --queue redis://...`"))
    return top


def _recording(commands: Commands) -> None:
    """The commands that run a script: `run` and `record`."""
    run = commands.add_parser("run", help="run a script as Python would, record it, and open it")
    _serving(run, suppress=True)
    run.add_argument("--watch", action="store_true", help="record again whenever the script is saved")
    _rerun(run)
    _events(run)
    _limits(run)
    _script(run)
    record = commands.add_parser("record", help="run a script as Python would and record it, without opening it")
    record.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="the trace file to write (default: the script's name with .backstep, in the working folder); `-o "
        "FILE.backstep` may also come directly after the script",
    )
    _limits(record)
    _script(record)


def _opening(commands: Commands) -> None:
    opened = commands.add_parser("open", help="open a trace file")
    _serving(opened, suppress=True)
    _rerun(opened)
    _events(opened)
    opened.add_argument(
        "files", type=Path, nargs="+", metavar="file",
        help="a file that `backstep record` or trace.save() wrote; several are opened together, each with links to the "
        "others",
    )  # fmt: skip


def _exporting(commands: Commands) -> None:
    export = commands.add_parser(
        "export", help="write a lesson that plays offline, or a graph or table for other programs"
    )
    export.add_argument(
        "-o",
        "--output",
        type=Path,
        required=True,
        metavar="FILE",
        help="the file to write; its extension chooses the format: .html a lesson, .dot or .graphml the graph, "
        ".csv the steps, .trace.json the steps for Perfetto, .scene.json the scene, .backstep a trace file, "
        ".svg or .png a picture, .gif or .webm a film",
    )
    _look(export)
    _events(export)
    export.add_argument(
        "--iteration", type=_moment, metavar="N",
        help="the iteration of a training run, 0 for the first (default: the one that the app opens with)",
    )  # fmt: skip
    export.add_argument("--as-torch", action="store_true", help="let `import torch` in a script give Backstep's engine")
    export.add_argument("file", help="a trace file, a Python file to run, or a program of the gallery by its name")


def _served(target: argparse.ArgumentParser) -> None:
    target.add_argument(
        "folder", type=Path, nargs="?", help="a folder of lessons and trace files (default: the gallery alone)"
    )
    target.add_argument(
        "--workers", type=_workers, default=None, metavar="N", help="worker processes (default: one per core)"
    )
    target.add_argument(
        "--queue",
        type=_queue,
        default=os.environ.get("BACKSTEP_QUEUE", "disk"),
        metavar="WHERE",
        help="where large jobs are queued and their results are stored: disk, or redis://HOST:PORT/N for several "
        "machines (default: BACKSTEP_QUEUE, or else disk)",
    )


def _queue(text: str) -> str:
    if text != "disk" and not text.startswith(("redis://", "rediss://")):
        raise argparse.ArgumentTypeError(f"{text!r} is not a queue: give disk, or an address redis://HOST:PORT/NUMBER")
    return text


def _workers(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of workers: give 1 to {MOST_WORKERS}")
    return int(text)


def _script(target: argparse.ArgumentParser) -> None:
    target.add_argument(
        "--as-torch", action="store_true", help="let `import torch` in the script give Backstep's engine"
    )
    target.add_argument(
        "-m",
        nargs=argparse.REMAINDER,
        dest="module",
        metavar="MODULE",
        help="run a module instead of a script, as `python -m` would; the rest are its arguments",
    )
    target.add_argument("script", type=Path, nargs="?", help="the Python file")
    target.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")


def _limits(target: argparse.ArgumentParser) -> None:
    group = target.add_argument_group(
        "long runs",
        "An iteration ends with an update, optimizer.step(), or with backward() in a program without an optimiser; the "
        "first one is 0. The page also counts passes of the loop without an update, and evaluations. All iterations "
        "that are not chosen keep statistics instead of values; they can still be replayed.",
    )
    group.add_argument(
        "--steps",
        type=limits.ranges,
        default=(),
        metavar="A:B",
        help="the iterations that keep values: 100:103 for 100, 101 and 102; 7, :10, 100:, or several with commas",
    )
    group.add_argument(
        "--every",
        type=limits.count,
        metavar="N",
        help="keep the values of every N-th iteration and of the second, in addition to --steps",
    )
    group.add_argument(
        "--pause",
        action="store_true",
        help="record nothing of the iterations that are not chosen, which then run as fast as without Backstep; the "
        "first two are always recorded. Each iteration has to end with optimizer.step()",
    )
    group.add_argument(
        "--max-bytes",
        type=limits.size,
        metavar="SIZE",
        help="end the recording at about this size of the file, such as 500M or 2G; the script goes on",
    )
    group.add_argument(
        "--max-ops",
        type=limits.count,
        metavar="N",
        help="end the recording after this many forward ops; the script goes on",
    )


def _rerun(target: argparse.ArgumentParser) -> None:
    target.add_argument(
        "--rerun", action="store_true",
        help="for edits of a PyTorch recording that Backstep's engine cannot recompute: run the script again, with the "
        "edit in its place",
    )  # fmt: skip
    target.add_argument(
        "--rerun-seconds", type=limits.count, default=600, metavar="N",
        help="seconds after which this run is stopped (default: %(default)s)",
    )  # fmt: skip


def _events(target: argparse.ArgumentParser) -> None:
    target.add_argument(
        "--events",
        type=_count,
        metavar="N",
        help="number of events to show of a long recording (default: the first 60000)",
    )


def _look(target: argparse.ArgumentParser) -> None:
    group = target.add_argument_group(
        "pictures and films", "A Chromium, Chrome or Edge on this machine paints them, without a window."
    )
    group.add_argument(
        "--size", default="", help="whole (the default for pictures), 16:9, or the size of a window, such as 1280x720"
    )
    group.add_argument(
        "--theme", choices=("light", "dark"), default="light", help="the colours of the picture (default: light)"
    )
    group.add_argument(
        "--step", type=_moment, metavar="N", help="the step after which the picture is taken (default: the last)"
    )
    group.add_argument("--from", type=_moment, metavar="N", dest="begin", help="the step after which a film begins")
    group.add_argument("--to", type=_moment, metavar="N", dest="end", help="the step after which it ends")


def _moment(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number: give a whole number, 0 for the beginning")
    return int(text)


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of events: give a whole number of at least 1")
    return int(text)


def _serving(target: argparse.ArgumentParser, suppress: bool) -> None:
    def default(value: object) -> object:
        return argparse.SUPPRESS if suppress else value

    target.add_argument(
        "--host",
        default=default("127.0.0.1"),
        help="the address to listen on (default: %(default)s)" if not suppress else argparse.SUPPRESS,
    )
    target.add_argument(
        "--port",
        type=_port,
        default=default(None),
        metavar="N",
        help="the port (default: 8050, or the next free one)" if not suppress else argparse.SUPPRESS,
    )
    target.add_argument(
        "--allow-host",
        action="append",
        default=default(None),
        metavar="NAME",
        help="a host name that requests may use besides the loopback names; may be repeated"
        if not suppress
        else argparse.SUPPRESS,
    )
    target.add_argument(
        "--no-browser",
        action="store_true",
        default=default(False),
        help="print the address and do not open a browser" if not suppress else argparse.SUPPRESS,
    )


def _port(text: str) -> int:
    try:
        number = int(text)
    except ValueError:
        number = 0
    if not 1 <= number <= 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: give a number from 1 to 65535")
    return number


def main(argv: Sequence[str] | None = None) -> int:
    """Runs the command; the exit status is 0, 2 if the user has to change something, 130 for an interrupted start.

    SIGTERM and SIGHUP end a script that runs, and leave with 128 plus their number; a server ends without a traceback.
    """
    _end_on_signals()
    _leave_a_core()
    try:
        return _main(parser().parse_args(argv))
    except KeyboardInterrupt:
        return 130


def _leave_a_core() -> None:
    """Let numpy multiply matrices on all cores but one, unless the user chose a number.

    A script is recorded by a thread that writes.  If it has to share a core with one of OpenBLAS's, they wait for each
    other: a product of 600x48 and 48x192 took 15 ms instead of 0.1.  The processes that we start use the same
    number, because another one changes the last bits of a replay.  Once numpy is loaded the number is fixed.
    """
    if "numpy" not in sys.modules and not any(name in os.environ for name in _CORES):
        os.environ[_CORES[0]] = str(max(1, (os.cpu_count() or 1) - 1))


_CORES = "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS", "OMP_NUM_THREADS"
"""The variables that OpenBLAS reads, in this order."""


def _end_on_signals() -> None:
    """SIGTERM, and SIGHUP of a terminal that was closed, end us as an exception does: a script that runs ends too."""

    def end(number: int, _frame: object) -> NoReturn:
        raise SystemExit(128 + number)

    with contextlib.suppress(ValueError):  # not in the main thread: the caller ends us
        for name in ("SIGTERM", "SIGHUP"):
            number = getattr(signal, name, None)
            if number is not None and signal.getsignal(number) is signal.SIG_DFL:  # nohup has SIGHUP ignored
                signal.signal(number, end)


def _main(options: argparse.Namespace) -> int:
    logging.basicConfig(format="backstep: %(message)s", level=logging.WARNING)
    wrong = _mistaken(options)
    if wrong:
        return _refuse(wrong)
    commands = {"record": _record, "compare": _compare, "export": _export, "new": _new, "serve": _serve_many,
                "worker": _work}  # fmt: skip
    return commands.get(options.command, _serve)(options)


def _mistaken(options: argparse.Namespace) -> str:
    """The problem with the path on the command line, before anything is started for it; "" if there is none."""
    if options.command in ("run", "record"):
        if options.pause and not (options.steps or options.every):
            return "--pause needs the iterations to record: add --every, as in --every 50 --pause, or --steps."
        if options.module is not None:
            return _mistaken_module(options)
        if options.script is None:
            return f"Give the Python file to run, as in `backstep {options.command} train.py`."
        if options.script.is_file() and options.script.suffix == SUFFIX:
            return f"{str(options.script)!r} is a recorded trace: open it with `backstep open {options.script}`."
        if options.script.suffix != ".py" or not options.script.is_file():
            from viz.record.runner import ScriptError, check_script  # only where there is something to explain

            try:
                check_script(options.script)
            except ScriptError as error:
                return str(error)
    if options.command == "open":
        if options.rerun and len(options.files) > 1:
            return "--rerun runs a program of one process again. Give one trace file."
        return next(filter(None, map(_mistaken_trace, options.files)), "")
    return ""


def _mistaken_trace(file: Path) -> str:
    if file.is_dir():
        return f"{str(file)!r} is a folder. Give the path of a trace file (*{SUFFIX}) in it."
    if not file.is_file():
        return f"There is no file {str(file)!r}. `backstep record` writes a trace file."
    if file.suffix == ".py":
        return f"{str(file)!r} is a script: record it with `backstep run {file}`."
    return ""


def _mistaken_module(options: argparse.Namespace) -> str:
    """The problem with `-m`; if it is "", `options` have the file, its arguments, and the module's whole name."""
    from viz.record.runner import ScriptError, find_module  # only where a module is to be run

    if not options.module:
        return f"Give a module after -m, as in `backstep {options.command} -m my.training`."
    name, *options.args = options.module
    try:
        options.module, options.script = find_module(name)
    except ScriptError as error:
        return str(error)
    return ""


def _record(options: argparse.Namespace) -> int:
    """Records a script into a file; the status is the script's."""
    from viz.record.record_command import record

    output, args = _output(options.output, options.args)
    return record(_script_with(options, args), options.as_torch, output)


def _script_with(options: argparse.Namespace, args: Sequence[str]) -> Script:
    """The script that the options name, with its own arguments."""
    from viz.record.runner import Script

    return Script(options.script, tuple(args), options.module or "", _limits_of(options))


def _output(before: Path | None, args: list[str]) -> tuple[Path | None, list[str]]:
    """The trace file to write, and the arguments of the script.

    What is behind the script is the script's, as with `python`. Only the name of a trace directly after it is ours.

    >>> _output(None, ["-o", "run.backstep", "--epochs", "2"])[1], _output(None, ["-o", "model.pt"])[1]
    (['--epochs', '2'], ['-o', 'model.pt'])
    """
    match args:
        case ["-o" | "--output", name, *others] if before is None and Path(name).suffix == SUFFIX:
            return Path(name), others
    return before, args


def _new(options: argparse.Namespace) -> int:
    """Writes a lesson to begin with."""
    from viz.server.lesson import course

    file = options.file if options.file.suffix else options.file.with_suffix(".py")
    if file.suffix != ".py":
        return _refuse(f"A lesson is a Python file. Give it a name such as {str(file.with_suffix('.py'))!r}.")
    try:
        course.write(file)
    except FileExistsError:
        return _refuse(f"{str(file)!r} exists. Give the name of a new file.")
    except FileNotFoundError:
        return _refuse(f"The folder {str(file.parent)!r} does not exist. Make it first, or name another one.")
    except OSError as error:
        return _refuse(str(error))
    print(f"backstep: wrote {file}. Edit it, and see every save: backstep run --watch {shlex.quote(str(file))}")
    return 0


def _compare(options: argparse.Namespace) -> int:
    """Runs a program on both libraries; 0 if they do the same, 1 if they differ."""
    from viz.record.compare_command import compare

    return compare(options.program, options.args)


def _export(options: argparse.Namespace) -> int:
    from viz.server.export.command import export
    from viz.server.export.painting import Look

    look = Look(options.size, options.theme, options.step, options.begin, options.end)
    return export(options.file, options.output, options.events, options.as_torch, look, options.iteration)


def _limits_of(options: argparse.Namespace) -> limits.Limits:
    return limits.Limits(options.steps, options.every, options.max_bytes, options.max_ops, options.pause)


def _refuse(text: str) -> int:
    print(f"backstep: {text}", file=sys.stderr)
    return 2


def _serve_many(options: argparse.Namespace) -> int:
    try:
        from viz.server.production import serve
        from viz.server.production.classroom import FolderError, QueueError
    except ImportError as error:
        if error.name not in ("gunicorn", "fcntl"):
            raise
        return _refuse(
            "`backstep serve` needs gunicorn, which runs on Linux and macOS: pip install 'backstep[serve]'. For a few "
            "people, `backstep --host ADDRESS` serves from one process, anywhere."
        )
    from viz.server import server
    from viz.server.http.security import trusted_hosts

    allowed = _allowed(options)
    try:
        trusted_hosts(allowed)
        listening = server.bind(options.host, options.port)  # the next free one, or an error in plain words
        port = listening.getsockname()[1]
        listening.close()
        workers = options.workers or os.cpu_count() or 1
        serve.serve(options.host, port, workers, options.folder, allowed, queue_at=options.queue)
    except (ValueError, server.PortInUse, FolderError, QueueError) as error:
        return _refuse(str(error))
    return 0


def _work(options: argparse.Namespace) -> int:
    """Works for the servers at a queue."""
    if options.queue == "disk":
        return _refuse("`backstep worker` needs the queue that the servers use: --queue redis://HOST:PORT/NUMBER.")
    try:
        from viz.server.production.celery_worker import work
        from viz.server.production.classroom import FolderError, QueueError
    except ImportError as error:
        if error.name not in ("celery", "redis"):
            raise
        return _refuse("`backstep worker` needs celery and redis: pip install 'backstep[redis]'.")
    try:
        work(options.queue, options.workers or os.cpu_count() or 1, options.folder)
    except (FolderError, QueueError) as error:
        return _refuse(str(error))
    return 0


def _serve(options: argparse.Namespace) -> int:
    from viz.server.workers import Workers

    workers = Workers()
    if options.command == "open" and max(file.stat().st_size for file in options.files) >= LARGE:
        workers.start()
    with unhurried():  # Dash and the engine take a second to import, and a quarter more with looks for garbage
        from viz.server import server
        from viz.server.http.security import LOOPBACK, trusted_hosts
        from viz.server.store import Problem

    allowed = _allowed(options)
    try:
        trusted_hosts(allowed)
        listening = server.bind(options.host, options.port)
    except (ValueError, server.PortInUse, OSError) as error:
        return _refuse(str(error))
    if options.host not in (*LOOPBACK, "::1"):
        url = server.url_of(allowed[-1] if allowed else options.host, listening.getsockname()[1])
        how = "" if options.allow_host else " To let them use another name for it, add --allow-host NAME."
        print(f"backstep: other machines on this network can open {url}.{how}", file=sys.stderr)
    try:
        catalogue, program = _catalogue(options)
    except Problem as problem:
        listening.close()
        return _refuse(f"{problem.title}: {problem.text}")
    from viz.server.revisions import StoreComputation
    from viz.server.store import Store

    store = Store(catalogue, StoreComputation(), workers)
    store.prepare()
    seconds = getattr(options, "rerun_seconds", 0)
    path = "/" if program is None else page(program, _opens_whole(store, program))
    server.serve(store, listening, path, allowed, not options.no_browser, seconds)
    return 0


def _allowed(options: argparse.Namespace) -> list[str]:
    """The hosts by which requests may ask: those of --allow-host, then the address in the network."""
    from viz.server.front.share import network
    from viz.server.server import ANY_ADDRESS

    address = network() if options.host in ANY_ADDRESS else options.host
    return [*(options.allow_host or []), *([address] if address else [])]


def _opens_whole(store: Store, program: Program) -> bool:
    from engine.trace.file.database import TraceFileError

    try:
        return store.opens_whole(program.id)
    except TraceFileError:  # the page says what is wrong with it
        return False


def _catalogue(options: argparse.Namespace) -> tuple[Catalogue, Program | None]:
    """The programs to offer, and the one to open; None for the gallery."""
    from engine.trace.file.database import TraceFileError
    from viz.run.prefix import MOST
    from viz.server import programs
    from viz.server.store import Catalogue, Problem

    most = getattr(options, "events", None) or MOST
    try:
        if options.command == "course":
            from viz.server.lesson import course

            return Catalogue(course.course(options.folder)), None
        catalogue = Catalogue(programs.gallery_programs())
        if options.command == "open":
            again = _script_of if options.rerun else None
            return catalogue, catalogue.add_together(programs.from_files(options.files, most, again))
        if options.command == "run":
            from viz.server.scripts import add  # the child process and the watcher

            script = _script_with(options, options.args)
            return catalogue, add(catalogue, script, options.as_torch, options.watch, most, options.rerun)
    except (TraceFileError, OSError) as error:  # what is no trace is refused here, not in the browser
        raise Problem("bad-trace", "This file cannot be opened", str(error)) from error
    return catalogue, None


def _script_of(trace: Trace) -> Script:
    """The script of a recording that may be run again.  Raises Problem if it cannot be run again."""
    from viz.server.library.rerun import script_of
    from viz.server.library.run_changes import RunEditError
    from viz.server.store import Problem

    try:
        script = script_of(trace)
    except RunEditError as error:
        raise Problem("no-script", "Nothing to run again", str(error)) from error
    what = ["-m", script.module] if script.module else [str(script.path)]
    print(f"backstep: edits may run this again: {shlex.join(['python', *what, *script.args])}", file=sys.stderr)
    return script


def page(program: Program, whole: bool = False) -> str:
    """The address of a program, or of its whole run.

    >>> page(type("P", (), {"id": "my-net"})(), whole=True)
    '/?program=my-net&view=run'
    """
    return f"/?program={quote(program.id)}{'&view=run' * whole}"
