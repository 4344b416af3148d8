"""`backstep compare`: a program is run on Backstep's engine and on PyTorch, and both recordings are compared."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.trace.file.database import TraceFileError
from engine.trace.file.tracefile import SUFFIX, open_trace
from viz import gallery
from viz.reading.comparison import Comparison, compared
from viz.record.runner import RecordedRun, Script, ScriptError, run_script

ENGINE = "Backstep's engine"
NEEDED = "PyTorch is not installed in this environment, so there is nothing to compare with: `pip install torch`."
LEGACY = "This program shows the behaviour of PyTorch 0.3, which today's PyTorch does not have."


class ComparisonError(ValueError):
    """Raised if a program cannot be run on both; the text says why."""


@dataclass(frozen=True, slots=True)
class RecordingPair:
    """Both recordings of a program, the engine's first, and how far they agree."""

    recordings: tuple[RecordedRun, RecordedRun]
    comparison: Comparison


def has_torch() -> bool:
    """Return whether PyTorch is installed; it is not imported."""
    return importlib.util.find_spec("torch") is not None


def library() -> str:
    """PyTorch with the version that is installed, such as "PyTorch 2.13.0".

    Raises importlib.metadata.PackageNotFoundError without one.
    """
    return f"PyTorch {importlib.metadata.version('torch')}"


def on_both(script: Path, args: Sequence[str], folder: Path) -> RecordingPair:
    """Run a script on the engine and on PyTorch, each in a process of its own; the recordings are left in `folder`.

    Raises ComparisonError without PyTorch, ScriptError without a script.
    """
    if not has_torch():
        raise ComparisonError(NEEDED)
    names = ENGINE, library()
    recordings = tuple(
        run_script(
            Script(script, tuple(args)), folder / f"{script.stem}-{'torch' if on_torch else 'engine'}{SUFFIX}",
            as_torch=not on_torch, on_torch=on_torch,
        )
        for on_torch in (False, True)
    )  # fmt: skip
    try:
        one, other = (open_trace(recording.trace_path) for recording in recordings)
    except (OSError, TraceFileError) as error:
        raise ComparisonError(f"A recording cannot be read: {error}") from error
    if not any(trace.events for trace in (one, other)):
        raise ComparisonError("The program uses neither the engine nor PyTorch: nothing was recorded.")
    return RecordingPair((recordings[0], recordings[1]), compared(one, other, names))


def script_of(program: str) -> Path:
    """The script with a name: a file, or a program of the gallery. Raises ComparisonError for one of PyTorch 0.3."""
    named = gallery.find(program)
    if Path(program).exists() or named is None:
        return Path(program)
    if named.legacy:
        raise ComparisonError(LEGACY)
    return named.path


def compare(program: str, args: Sequence[str]) -> int:
    """Print how a program's recordings on the engine and on PyTorch compare.

    The status is 0 if they are the same, 1 if they differ, 2 if there is nothing to compare.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
            result = on_both(script_of(program), args, Path(folder))
    except (ScriptError, ComparisonError) as error:
        print(f"backstep: {error}", file=sys.stderr)
        return 2
    print(result.comparison.text)
    return 0 if result.comparison.first is None else 1
