"""`backstep record`: a script is run as Python would run it, and its recording stays in a file."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from engine.trace.file.database import TraceFileError
from engine.trace.file.tracefile import SUFFIX, tally
from viz.record.limits import Limits, in_words
from viz.record.ranks import of_rank, of_ranks, rank
from viz.record.runner import RecordedRun, Script, ScriptError, Streams, run_script


def record(script: Script, as_torch: bool, output: Path | None = None) -> int:
    """Runs a script and writes its trace to `output`, by default its name with `.backstep` in the working folder.  The
    name has the number of this process if torchrun has started several.

    Our messages go to standard error.  The status is the script's, 128 plus the number of the signal that ended it, or
    2 if nothing was run.
    """
    name = script.module.removesuffix(".__main__") or script.path.stem
    target = of_rank(Path(f"{name}{SUFFIX}") if output is None else output, rank())
    wrong = unfit(target, " after -o")
    if wrong:
        say(wrong)
        return 2
    before = time.time() - 1
    try:
        recording = run_script(script, target.absolute(), as_torch=as_torch, streams=Streams(tells=True))
    except ScriptError as error:
        say(str(error))
        return 2
    processes = of_ranks(target, before)
    if processes:
        say(together(processes))
        if not tally(target).get("OpCalled"):  # this one only started them
            return status(recording)
    say(recording.unprinted)
    say(summary(target, recording))
    say(not_reached(script.limits, recording.iterations, "update" if recording.are_updates else "iteration"))
    return status(recording)


def status(recording: RecordedRun) -> int:
    """The exit status of a script as a shell has it."""
    return recording.returncode if recording.returncode >= 0 else 128 - recording.returncode


def unfit(target: Path, where: str = "") -> str:
    """Why a trace cannot be written to a path, which is given `where`; "" if it can. Another trace is replaced, any
    other file is not."""
    if not target.parent.is_dir():
        return f"There is no folder {str(target.parent)!r} to write {target.name!r} to."
    if target.exists():
        try:
            tally(target)
        except (OSError, TraceFileError):
            return f"{str(target)!r} exists and is not a trace: give the path of a new file or of a trace{where}."
    return ""


def summary(target: Path, recording: RecordedRun) -> str:
    """The size of the recording, and how to open it."""
    try:
        counts, size = tally(target), target.stat().st_size
    except (OSError, TraceFileError):
        return ""  # the explanation says what happened
    ops, runs = counts.get("OpCalled", 0), counts.get("VjpRun", 0)
    unit = "updates" if recording.are_updates else "iterations"
    some = f"{recording.iterations - recording.skipped:,} of " if recording.skipped else ""
    iterations = f" in {some}{recording.iterations:,} {unit}" if recording.iterations > 1 else ""
    time = f", {recording.seconds:,.0f} s" if recording.seconds >= 1 else ""
    outcome = f"recorded {ops:,} forward and {runs:,} backward ops{iterations} into {target} ({in_words(size)}{time})"
    return f"{outcome}. Open it with `backstep open {target}`."


def not_reached(limits: Limits, iterations: int, unit: str) -> str:
    """A word on `--steps` if the program ended before the first of them; else "". `unit`: what is counted.

    >>> not_reached(Limits(steps=((500, None),)), 48, "update")
    'the program has 48 updates, and --steps begins with number 500: all values are statistics.'
    >>> not_reached(Limits(steps=((500, None),), pauses=True), 48, "update")
    'the program has 48 updates, and --steps begins with number 500: only the first two are recorded.'
    >>> not_reached(Limits(steps=((500, None), (3, 4))), 48, "update")
    ''
    """
    first = min((begin for begin, _ in limits.steps), default=0)
    if limits.every is not None or first < max(1, iterations):
        return ""
    has = f"{iterations:,} {unit}s" if iterations != 1 else f"one {unit}"
    rest = "only the first two are recorded" if limits.pauses else "all values are statistics"
    return f"the program has {has}, and --steps begins with number {first:,}: {rest}."


def together(processes: Sequence[Path]) -> str:
    """The recordings of the processes that a program started, and how to open them.

    >>> together([Path("run.rank0.backstep"), Path("run.rank1.backstep")])
    'recorded 2 processes. Open them with `backstep open run.rank0.backstep run.rank1.backstep`.'
    """
    return f"recorded {len(processes)} processes. Open them with `backstep open {' '.join(map(str, processes))}`."


def say(text: str) -> None:
    """Print a text on the terminal, if there is one."""
    if text:
        print(f"backstep: {text}", file=sys.stderr, flush=True)
