"""A process that makes scenes, details and overviews of a trace file: `python -m viz.server.scene_worker`.

It reads one JSON object per line, `{program, revision, text, section, previous, folds, layout, element, part, calls,
again}`, and writes `{bytes, crc, size}` on a line and then so many bytes, or `{bytes: 0}` with `problem`, `failed` (a
traceback) or `stale` (the file has changed).  It is a store like the server's, with one program.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import signal
import sys
import traceback
from typing import Any

from engine.trace.file.consistency import open_checked
from engine.trace.file.database import TraceFileError
from viz.run.prefix import CHECKED
from viz.server.http.gzip_pieces import DeflatedText
from viz.server.revisions import StoreComputation
from viz.server.store import Catalogue, Problem, Program, ProgramRerun, Revision, Store, unreadable
from viz.server.workers import TraceFile

NICE = 5
"""Its niceness: if there are fewer cores than work, it leaves them to the server."""


class OpenProgram:
    """The store of the program that was asked about last."""

    def __init__(self) -> None:
        self.spec: Any = None
        self.store: Store | None = None

    def store_of(self, spec: dict[str, Any]) -> Store | None:
        """The store of a program; None if its file has changed."""
        if self.store is None or spec != self.spec:
            file = TraceFile(spec["file"]["path"], spec["file"]["most"], tuple(spec["file"]["stamp"]))
            if not file.is_as_it_was():
                return None
            trace = open_checked(file.path, min(file.most, CHECKED))
            program = Program(
                spec["id"], spec["about"], lambda: trace, version=spec["version"], file=file, most=file.most
            )
            self.spec, self.store = spec, Store(Catalogue([program]), StoreComputation())
        return self.store

    def answer(self, ask: dict[str, Any]) -> DeflatedText | None:
        """The answer to a request; None if the file has changed."""
        store = self.store_of(ask["program"])
        if store is None:
            return None
        store.again = {
            revision: ProgramRerun(TraceFile(**{**one["file"], "stamp": tuple(one["file"]["stamp"])}), one["text"])
            for revision, one in ask["again"].items()
        }
        name, version = ask["program"]["id"], ask["program"]["version"]
        section = ask["section"]
        revision = Revision(ask["revision"], name, version, ask["text"], section)
        if ask["part"] is not None:
            return store.overview(name) if ask["part"] == "overview" else store.graphs(name)
        if ask["element"] is not None:
            if ask["calls"] is not None:
                store.know(revision, ask["calls"])
            return store.details(revision, ask["element"])
        before = ask["previous"] and Revision(ask["previous"]["id"], name, version, ask["previous"]["text"], section)
        return store.scene(revision, before, ask["folds"], ask["layout"])


def main() -> None:
    with contextlib.suppress(ValueError, AttributeError, OSError):
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the server, which then ends this
        os.nice(NICE)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    sys.stdout = sys.stderr  # anything that a layout prints must stay out of the answers
    opened = OpenProgram()
    gc.freeze()  # what was imported stays: the collector need not look at it while somebody waits
    for line in sys.stdin.buffer:
        head: dict[str, Any] = {"bytes": 0}
        answer = None
        try:
            answer = opened.answer(json.loads(line))
            head["stale"] = answer is None
        except Problem as problem:
            head["problem"] = problem.as_json()
        except TraceFileError as error:
            head["problem"] = unreadable(error).as_json()
        except Exception:  # noqa: BLE001  # the server says so, and logs it
            head["failed"] = traceback.format_exc()
        if answer is not None:
            head.update(bytes=len(answer.blocks), crc=answer.crc, size=answer.size)
        out.write(json.dumps(head).encode() + b"\n" + (answer.blocks if answer is not None else b""))
        out.flush()


if __name__ == "__main__":
    main()
