"""The command `backstep export`: a file for elsewhere, written without a page."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from engine.trace.file.database import TraceFileError
from viz.run.prefix import MOST
from viz.server import programs
from viz.server.export.formats import FORMATS, format_of
from viz.server.export.painting import KINDS, Look, painted
from viz.server.revisions import Computed
from viz.server.scripts import add
from viz.server.store import Catalogue, Problem, Program, Store

SUFFIX = ".backstep"


def export(source: str, output: Path, most: int | None = None, as_torch: bool = False, look: Look | None = None) -> int:
    """Writes a file in the format of `output`'s suffix; the status is 0, or 2 with a line that says what to change.

    `look` says which part and which time of the program a picture or a film shows.
    """
    kind, picture = format_of(output.name), output.suffix.removeprefix(".")
    if kind is None and picture not in KINDS:
        endings = ", ".join(f".{ending}" for ending in (*FORMATS, *KINDS))
        return _refuse(f"{output.name!r} must end in one of {endings}.")
    try:
        catalogue = Catalogue(programs.gallery_programs())
        program = _program(catalogue, source, most or MOST, as_torch)
        store = Store(catalogue, Computed())
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of replays that nobody sees
            if kind is None:
                body = painted(store, program.id, picture, look or Look())
            else:
                body = kind.content(store, store.revision(program.id, None), {})
        output.write_bytes(body)
    except Problem as problem:
        return _refuse(f"{problem.title}: {problem.text}")
    except (TraceFileError, OSError, ValueError) as error:
        return _refuse(str(error))
    what = KINDS[picture] if kind is None else kind.what
    print(f"backstep: wrote {output}, {what} ({len(body) / 1024:,.0f} kB)")
    return 0


def _program(catalogue: Catalogue, source: str, most: int, as_torch: bool) -> Program:
    """A trace file, a script that is run, or a program of the gallery."""
    path = Path(source)
    if path.suffix == SUFFIX:
        return catalogue.add(programs.from_file(path, most))
    if path.suffix == ".py":
        return add(catalogue, path, (), as_torch, False, most)
    try:
        return catalogue.find(source)
    except Problem as problem:
        text = f"there is no trace file, no script and no program of the gallery called {source!r}"
        raise Problem("unknown-program", "Nothing to export", text) from problem


def _refuse(text: str) -> int:
    print(f"backstep: {text}", file=sys.stderr)
    return 2
