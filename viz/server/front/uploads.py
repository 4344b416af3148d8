"""Trace files that are dropped on the front door, by whoever sits at this machine."""

from __future__ import annotations

import re
import shutil
import tempfile
import weakref
from pathlib import Path

from engine.trace.file.database import TraceFileError
from viz.server.programs import from_file
from viz.server.store import Catalogue, Json, unreadable

MOST = 32
"""Files that are kept until the app ends; the next one is refused."""


class DroppedFiles:
    """The dropped files, in a folder that is removed with the app, and their programs."""

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._folder: Path | None = None
        self._count = 0

    def open(self, name: str, content: bytes) -> Json:
        """`{program}`, the id under which the file is open now; or `{problem}`, which says why it is not."""
        if self._count >= MOST:
            return refusal(f"This app has opened {MOST} files. Open further ones with `backstep open FILE`.")
        path = self._new_folder() / file_name(name)
        path.write_bytes(content)
        try:
            program = self._catalogue.add(from_file(path))
        except (TraceFileError, OSError) as error:
            path.unlink(missing_ok=True)
            problem = unreadable(error).as_json()
            # The sender knows the file by its name, not by our folder.
            return {"problem": {**problem, "text": problem["text"].replace(str(path), path.name)}}
        self._count += 1
        return {"program": program.id}

    def _new_folder(self) -> Path:
        """A new folder for one file, which therefore cannot overwrite a file that is open."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="backstep-"))
            weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        return Path(tempfile.mkdtemp(dir=self._folder))


def refusal(text: str) -> Json:
    return {"problem": {"kind": "bad-trace", "title": "This file cannot be opened", "text": text, "ways": []}}


def file_name(name: str) -> str:
    """A name of a file that stays in its folder.

    >>> file_name("../my run.backstep"), file_name("..")
    ('my run.backstep', 'trace.backstep')
    """
    return re.sub(r"[^\w .-]", "_", re.split(r"[\\/]", name)[-1]).strip(". ")[:100] or "trace.backstep"
