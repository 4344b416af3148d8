"""The command `backstep export`: writes a file without opening the page."""

from __future__ import annotations

import os
import sys
import warnings
from difflib import get_close_matches
from pathlib import Path

from engine.trace.file.database import TraceFileError
from viz.record.runner import Script
from viz.run.prefix import MOST
from viz.server import programs
from viz.server.components.frame import frame
from viz.server.export.formats import FORMATS, format_of
from viz.server.export.painting import KINDS, Look, paint
from viz.server.lesson.packing import nobody
from viz.server.revisions import StoreComputation
from viz.server.scripts import add
from viz.server.store import Catalogue, Problem, Program, Store

SUFFIX = ".backstep"
WHOLE = FORMATS["html"], FORMATS["backstep"]
"""The files that hold a whole run."""


def export(
    source: str, output: Path, most: int | None, as_torch: bool, look: Look | None, iteration: int | None
) -> int:  # fmt: skip
    """Writes a file in the format of `output`'s suffix; the status is 0, or 2 with a line that says what to change.

    `look` says which part and which time of the program a picture or a film shows; `iteration` is one of its run.
    """
    kind, picture = format_of(output.name), output.suffix.removeprefix(".")
    if kind is None and picture not in KINDS:
        endings = ", ".join(f".{ending}" for ending in (*FORMATS, *KINDS))
        return _refuse(f"{output.name!r} must end in one of {endings}.")
    wrong = _unfit(output)
    if wrong:
        return _refuse(wrong)
    try:
        catalogue = Catalogue(programs.gallery_programs())
        program = _program(catalogue, source, most or MOST, as_torch)
        store = Store(catalogue, StoreComputation())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # they come from replays that nobody sees
            section = None if iteration is None else _section(store, program.id, iteration)
            revision = store.revision(program.id, None, section=section)
            if kind is None:
                body = paint(store, program.id, picture, look or Look(), section)
            else:
                body = kind.content(store, revision, {}, _tell if sys.stderr.isatty() else nobody)
        output.write_bytes(body)
    except Problem as problem:
        return _refuse(f"{problem.title}: {problem.text}")
    except (TraceFileError, OSError, ValueError) as error:
        return _refuse(str(error))
    what = KINDS[picture] if kind is None else kind.what
    run, number = store.whole(revision)
    part = f" of {run.sections[number].name}" if run.is_divided and (kind not in WHOLE or iteration is not None) else ""
    others = "; --iteration chooses another" if part and iteration is None else ""
    print(f"backstep: wrote {output}, {what} ({max(len(body) / 1024, 1):,.0f} kB){part}{others}")
    if kind is FORMATS["html"]:
        title = str(catalogue.find(program.id).about.get("title", program.id))
        print(f"backstep: to show it in a page in the same folder, write {frame(output.name, title)}")
    return 0


def _tell(replayed: int) -> None:
    """Prints the count on a line of the terminal that the next message replaces."""
    print(f"\rbackstep: replaying the most likely changes: {replayed} so far ", end="\r", file=sys.stderr, flush=True)


def _section(store: Store, program: str, iteration: int) -> int:
    """The section of an iteration.  Raises Problem if the run has no such iteration."""
    run, _ = store.whole(store.revision(program, None))
    iterations = [number for number, section in enumerate(run.sections) if section.kind == "iteration"]
    if iteration >= len(iterations):
        has = f"the iterations 0 to {len(iterations) - 1:,}" if run.is_divided else "no separate iterations"
        text = f"there is no iteration {iteration:,}: the recording has {has}"
        raise Problem("unknown-section", "Nothing to export", text)
    return iterations[iteration]


def _unfit(output: Path) -> str:
    """Why the file cannot be written, checked before anything is computed; "" if it can."""
    if output.is_dir():
        return f"{str(output)!r} is a folder. Give the name of a file in it."
    if not output.parent.is_dir():
        return f"There is no folder {str(output.parent)!r}. Make it first, or give another path for {output.name!r}."
    if not os.access(output if output.exists() else output.parent, os.W_OK):
        return f"You have no permission to write {str(output)!r}. Give another path."
    return ""


def _program(catalogue: Catalogue, source: str, most: int, as_torch: bool) -> Program:
    """A trace file, a script that is run, or a program of the gallery."""
    path = Path(source)
    if path.suffix == SUFFIX:
        return catalogue.add(programs.from_file(path, most))
    if path.suffix == ".py":
        return add(catalogue, Script(path), as_torch, False, most)
    try:
        return catalogue.find(source)
    except Problem as problem:
        near = get_close_matches(source, [program.id for program in catalogue.programs()], 1)
        hint = f"; the gallery has {near[0]!r}" if near else ""
        text = f"there is no trace file, no script and no program of the gallery called {source!r}{hint}"
        raise Problem("unknown-program", "Nothing to export", text) from problem


def _refuse(text: str) -> int:
    print(f"backstep: {text}", file=sys.stderr)
    return 2
