"""Lessons of one's own: a script to begin with, and a folder of them as a course."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

from engine.trace.events import Trace
from engine.trace.file.database import TraceFileError
from engine.trace.file.tracefile import SUFFIX, open_trace
from viz.gallery import comments
from viz.record.runner import WITHOUT_INPUT, Script, run_script
from viz.server import programs
from viz.server.store import Program

SKELETON = '''\
"""What the seed gradient chooses."""

import engine as torch

# ## Two numbers, doubled
# **x** is a leaf: it keeps its gradient. **y** is twice **x**.
# > Ask who has called backward() on a tensor of two elements.
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = 2 * x

# ## Only the first counts
# The gradient that is passed says how much each element of **y** counts.
# ? What does x.grad hold then?
# - 1 0
# + 2 0
# - 2 4
# = The slope is 2, and the second element does not count.
# ! gradient = [0.0, 1.0]
y.backward(torch.tensor([1.0, 0.0]))
print(x.grad)
'''
"""Plain Python that runs as it is; viz/gallery/comments.py describes the comments."""


def write(path: Path) -> None:
    """Writes a lesson to begin with.  Raises FileExistsError rather than replace a file."""
    with path.open("x", encoding="utf-8") as file:
        file.write(SKELETON)


def course(folder: Path, recordings: Path | None = None, only: str | None = None) -> list[Program]:
    """The lessons of a folder by their names: scripts with chapters, and trace files; or `only` the one with this id.

    A script runs when it is opened; with `recordings` (`record_course`) its trace is taken from there, and nothing
    runs. Nor does a script whose recording, as it is now, is beside it: that is the lesson. Raises
    NotADirectoryError, FileNotFoundError if the folder has no lesson, and TraceFileError.
    """
    if not folder.is_dir():
        raise NotADirectoryError(f"{str(folder)!r} is not a folder.")
    title = folder.resolve().name.replace("-", " ").replace("_", " ").capitalize()
    paths = _paths(folder)
    names = programs.ids([path.stem for path in paths])
    named = [(path, name) for path, name in zip(paths, names, strict=True) if only in (None, name)]
    pairs = [(_lesson(path, title, recordings), name) for path, name in named]
    lessons = [replace(one, id=name) for one, name in pairs if one is not None]
    if not lessons and only is None:
        raise FileNotFoundError(
            f"{str(folder)!r} has no lessons. A lesson is a script with a comment `# ## Title`, or a trace file."
        )
    return lessons


def record_course(folder: Path, recordings: Path) -> None:
    """Runs the scripts with chapters of a folder, once each, and writes their traces into another one."""
    for path in _paths(folder):
        if path.suffix == ".py" and _chapters(path) is not None:
            _run(path, recordings / f"{path.stem}{SUFFIX}")


def _run(path: Path, trace_path: Path | None = None) -> Path:
    return run_script(Script(path), trace_path, streams=WITHOUT_INPUT, on_slow=_print_slow).trace_path


def _print_slow(still_running: str) -> None:
    print(f"backstep: {still_running} Its lesson can be opened when it has ended.", file=sys.stderr, flush=True)


def _paths(folder: Path) -> list[Path]:
    """The scripts and trace files of a folder by their names; of a lesson and its recording beside it only one."""
    paths = sorted(path for path in folder.iterdir() if path.suffix in (".py", SUFFIX))
    both = [path for path in paths if path.suffix == ".py" and path.with_suffix(SUFFIX) in paths]
    hidden = {path if _is_recorded(path) else path.with_suffix(SUFFIX) for path in both if _chapters(path) is not None}
    return [path for path in paths if path not in hidden]


def _is_recorded(script: Path) -> bool:
    """Return whether the trace file beside a script is a recording of the script as it is now."""
    try:
        return script.read_text("utf-8", "replace") in open_trace(str(script.with_suffix(SUFFIX))).files.values()
    except TraceFileError:
        return False


def _chapters(script: Path) -> comments.Lesson | None:
    """The lesson in the comments of a script; None if it has no chapters."""
    return comments.read(script.read_text("utf-8", "replace"))


def _lesson(path: Path, course: str, recordings: Path | None) -> Program | None:
    if path.suffix == SUFFIX:
        return _in_course(programs.from_file(path), course)
    lesson = _chapters(path)
    if lesson is None:
        return None

    def record() -> Trace:
        ready = recordings and recordings / f"{path.stem}{SUFFIX}"
        return open_trace(str(ready or _run(path)))

    program = Program(programs.slug(path.stem), programs.about_script(path.name), record)
    return _in_course(programs.as_lesson(program, lesson), course)


def _in_course(program: Program, course: str) -> Program:
    return replace(program, about={**program.about, "crumbs": [programs.GALLERY, course, program.about["title"]]})
