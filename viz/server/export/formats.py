"""The files in which a revision is saved, by their endings."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from engine.trace.file.tracefile import save
from viz.server.export import graphs, tables
from viz.server.http.gzip_pieces import pack
from viz.server.lesson import page
from viz.server.lesson.packing import Tell, nobody
from viz.server.store import MIB, Revision, Store
from viz.tasks.lru import Lru
from viz.tasks.single_flight import SingleFlight

CACHE = 64, 32 * MIB
"""Costly files that are kept: their number, and their bytes."""


@dataclass(frozen=True)
class Format:
    """A kind of file: its name for people, its media type, and its content; `is_costly` if making it takes seconds."""

    what: str
    media: str
    content: Callable[[Store, Revision, Mapping[str, bool], Tell], bytes]
    is_costly: bool = False


def _of_scene(write: Callable[[Mapping[str, Any]], str | bytes]) -> Callable[..., bytes]:
    """Content that follows from the scene, with the groups folded that are folded on the screen."""

    def content(store: Store, revision: Revision, folds: Mapping[str, bool], _tell: Tell) -> bytes:
        text = write(store.scene(revision, None, folds, "").json())
        return text if isinstance(text, bytes) else text.encode()

    return content


def _lesson(store: Store, revision: Revision, _folds: Mapping[str, bool], tell: Tell) -> bytes:
    edits = [] if revision.is_base else [revision.edits]
    return page.lesson(store, revision.program, edits, revision.section, tell).encode()


def _trace(store: Store, revision: Revision, _folds: Mapping[str, bool], _tell: Tell) -> bytes:
    """The section that a revision is of; the whole recording if it names none and has no edits."""
    is_whole = revision.is_base and revision.section is None
    trace = store.recorded(revision.program) if is_whole else store.trace(revision)
    with tempfile.TemporaryDirectory(prefix="backstep-") as folder:
        path = Path(folder) / "trace.backstep"
        save(trace, str(path))
        return path.read_bytes()


FORMATS: Mapping[str, Format] = {
    "html": Format("a lesson that plays offline in any browser", "text/html", _lesson, is_costly=True),
    "backstep": Format("a trace file", "application/vnd.sqlite3", _trace),
    "scene.json": Format(
        "the scene (docs/scene-format.md)", "application/json", _of_scene(lambda scene: json.dumps(scene, indent=1))
    ),
    "dot": Format("the graph for Graphviz", "text/vnd.graphviz", _of_scene(graphs.dot)),
    "graphml": Format("the graph as GraphML", "application/graphml+xml", _of_scene(graphs.graphml)),
    "csv": Format("the steps as a table", "text/csv", _of_scene(tables.events)),
    "trace.json": Format("the steps for Perfetto and chrome://tracing", "application/json", _of_scene(tables.timeline)),
}


class Exports:
    """The files of a store. A costly file is made once for all who save the same, and kept while it is requested."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._files: Lru[tuple[str, str], bytes] = Lru(*CACHE, lambda _, body: len(body))
        self._flight = SingleFlight()
        self._replayed: dict[str, int] = {}

    def content(self, ending: str, revision: Revision, folds: Mapping[str, bool]) -> bytes:
        """The content of a file with this ending, one of FORMATS.  Raises Later if it is costly and has
        to be written in the background first."""
        kind = FORMATS[ending]
        if not kind.is_costly:
            return kind.content(self.store, revision, folds, nobody)
        request, shelf = json.dumps([ending, revision.id]), self.store.shelf

        def write() -> bytes:
            if shelf is not None:
                make = partial(kind.content, self.store, revision, folds, partial(shelf.tell, request))
                return shelf(request, lambda: pack(make())).text
            try:
                return kind.content(self.store, revision, folds, partial(self._replayed.__setitem__, request))
            finally:
                self._replayed.pop(request, None)

        return self._flight.cached(self._files, (ending, revision.id), write)

    def replayed(self, ending: str, revision: Revision) -> int:
        """The number of changes that have been replayed for a costly file that is being written."""
        request, shelf = json.dumps([ending, revision.id]), self.store.shelf
        return self._replayed.get(request, 0) if shelf is None else shelf.replayed(request)


def format_of(name: str) -> Format | None:
    """The format of a file name's suffix; None for any other suffix.

    >>> format_of("run.dot").what, format_of("run.pdf")
    ('the graph for Graphviz', None)
    """
    return next((one for ending, one in FORMATS.items() if name.endswith(f".{ending}")), None)
