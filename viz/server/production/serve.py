"""`backstep serve`: the gallery and a course for many, from several worker processes behind one address.

gunicorn starts the processes, replaces those that end, and restarts them one after the other on SIGHUP.  Each process
has its own store; they share the edits of revisions, in a file.  The scripts of a folder of lessons run once, before
anyone is served; for a visitor none is run.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication

from engine.trace.file.database import TraceFileError
from viz.server import programs
from viz.server.app import build, guarded
from viz.server.http.security import Application
from viz.server.lesson.course import course, record_course
from viz.server.production.bounds import Admission, BoundedReplays, Bounds
from viz.server.production.json_log import JsonLogger, Logged
from viz.server.production.revision_file import RevisionFile
from viz.server.production.worker import WaitressWorker
from viz.server.store import Catalogue, Program, Store
from viz.server.workers import Workers

GRACE = 30
"""Seconds that a worker process has for what it has begun, when it is replaced."""


class FolderError(Exception):
    """A folder that cannot be offered; the text says why."""


def folder_programs(folder: Path | None, recordings: Path) -> list[Program]:
    """The lessons and trace files of a folder.  Raises FolderError where it has none, or one that cannot be opened."""
    try:
        return course(folder, recordings) if folder else []
    except (TraceFileError, OSError) as error:
        raise FolderError(f"The folder {str(folder)!r} cannot be offered: {error}") from error


def application(folder: Path | None, shared: Path, allowed: Iterable[str], bounds: Bounds) -> Application:
    """The app of one worker process."""
    catalogue = Catalogue(programs.gallery_programs())
    for program in folder_programs(folder, shared):
        catalogue.add(program)
    store = Store(catalogue, BoundedReplays(bounds), Workers(1), RevisionFile(shared / "revisions.sqlite"))
    return Logged(guarded(build(store, Admission(bounds).turn), allowed))


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with these settings; `load` is called in each worker process."""

    def __init__(
        self, address: str, workers: int, folder: Path | None, shared: Path, allowed: Iterable[str], bounds: Bounds
    ) -> None:
        self.given = folder, shared, tuple(allowed), bounds
        self.settings: dict[str, Any] = {
            "bind": address, "workers": workers, "worker_class": WaitressWorker, "graceful_timeout": GRACE,
            "timeout": 2 * GRACE, "proc_name": "backstep", "logger_class": JsonLogger, "control_socket_disable": True,
            "when_ready": lambda server: server.log.info("Backstep is open at http://%s", address),
            # Called in the first process alone; the others leave through the frames of whoever called it as well.
            "on_exit": lambda _server: shutil.rmtree(shared, ignore_errors=True),
        }  # fmt: skip
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.settings.items():
            if name in self.cfg.settings:  # releases differ in a few
                self.cfg.set(name, value)

    def load(self) -> Application:
        return application(*self.given)


def serve(
    host: str, port: int, workers: int, folder: Path | None = None, allowed: Iterable[str] = (),
    bounds: Bounds | None = None,
) -> None:  # fmt: skip
    """Serves until SIGTERM or Ctrl-C.  Raises FolderError, before anything starts, for a folder that is none."""
    shared = Path(tempfile.mkdtemp(prefix="backstep-"))
    if folder and folder.is_dir():
        record_course(folder, shared)
    folder_programs(folder, shared)
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    Server(address, workers, folder, shared, allowed, bounds or Bounds()).run()
