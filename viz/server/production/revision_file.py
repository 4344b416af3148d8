"""The edits of revisions in a file that all worker processes share, so that any of them can answer any visitor.

An address holds the edits themselves as long as they fit; of longer ones it holds the id of the revision alone, which
another process must find too.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from viz.server.production.places import place
from viz.server.store import Revision

BYTES = 256 << 20
"""Edits that are kept, in bytes; those used longest ago go first."""
CHECKED = 100
"""Writes between two looks at the size."""


class RevisionFile:
    """Revisions by id, as a store keeps them: `get` and `put`, of which each costs one row of an SQLite file."""

    def __init__(self, path: Path, limit: int = BYTES) -> None:
        self.path, self.limit = path, limit
        self._own = threading.local()
        self._writes = 0
        # One after the other: if two processes make it a WAL file together, SQLite refuses one of them without waiting.
        with place(path.parent, path.name, 1), self._file() as file:
            file.execute(
                "CREATE TABLE IF NOT EXISTS revisions (id TEXT PRIMARY KEY, program TEXT NOT NULL, "
                "version INTEGER NOT NULL, edits TEXT NOT NULL, section INTEGER, used REAL NOT NULL) WITHOUT ROWID"
            )

    def get(self, key: str) -> Revision | None:
        with self._file() as file:
            row = file.execute("SELECT program, version, edits, section FROM revisions WHERE id = ?", (key,)).fetchone()
        return None if row is None else Revision(key, *row)

    def put(self, key: str, revision: Revision) -> Revision:
        """Keeps a revision with edits; for one without, the address is enough."""
        if not revision.is_base:
            row = (key, revision.program, revision.version, revision.text, revision.section, time.time())
            with self._file() as file:
                file.execute("INSERT OR REPLACE INTO revisions VALUES (?, ?, ?, ?, ?, ?)", row)
            self._writes += 1
            if self._writes % CHECKED == 0:
                self._forget()
        return revision

    def _forget(self) -> None:
        """Removes those used longest ago, beyond the limit."""
        with self._file() as file:
            file.execute(
                "DELETE FROM revisions WHERE id IN (SELECT id FROM (SELECT id, SUM(LENGTH(edits)) OVER "
                "(ORDER BY used DESC) AS so_far FROM revisions) WHERE so_far > ?)",
                (self.limit,),
            )

    @contextlib.contextmanager
    def _file(self) -> Iterator[sqlite3.Connection]:
        """The connection of this thread, in a transaction."""
        if not hasattr(self._own, "file"):
            self._own.file = sqlite3.connect(self.path, timeout=10, check_same_thread=False)
            weakref.finalize(self, self._own.file.close)
            self._own.file.execute("PRAGMA journal_mode = WAL")
            self._own.file.execute("PRAGMA synchronous = OFF")  # after a crash of the machine the visitors are gone too
        with self._own.file as file:
            yield file
