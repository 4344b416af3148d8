"""`backstep serve`: the gallery and a course for many, from several worker processes behind one address.

gunicorn starts the processes, replaces those that end, and restarts them one after the other on SIGHUP.  Each process
has its own store; they share the edits of revisions, in a file.  The scripts of a folder of lessons run once, before
anyone is served; for a visitor none is run.
"""

from __future__ import annotations

import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from gunicorn.app.base import BaseApplication

from viz.server.app import build, guarded
from viz.server.callbacks.register import Background
from viz.server.front.share import Launch
from viz.server.http.security import Application
from viz.server.lesson.course import record_course
from viz.server.production.bounds import Admission, Bounds
from viz.server.production.classroom import DISK, Classroom, folder_programs, queue, shared_secret, store
from viz.server.production.json_log import JsonLogger, RequestLog
from viz.server.production.result_store import VisitorShelf
from viz.server.production.worker import WaitressWorker
from viz.server.server import ANY_ADDRESS
from viz.server.workers import Workers

GRACE = 30
"""Seconds that a worker process has for what it has begun, when it is replaced."""


def application(room: Classroom, allowed: Iterable[str], started: Launch) -> Application:
    """The app of one worker process."""
    jobs, results, revisions = queue(room)
    own = store(room, revisions, VisitorShelf(results, room.bounds.long), Workers(1))
    admission = Admission(room.bounds, room.shared)
    app = build(own, admission.turn, background=Background(jobs, room.secret), started=started)
    return RequestLog(guarded(app, allowed))


class Server(BaseApplication):  # type: ignore[misc]  # gunicorn has no types
    """gunicorn with these settings; `load` is called in each worker process."""

    def __init__(self, address: str, workers: int, room: Classroom, allowed: Iterable[str], started: Launch) -> None:
        self.arguments = room, tuple(allowed), started
        self.settings: dict[str, Any] = {
            "bind": address, "workers": workers, "worker_class": WaitressWorker, "graceful_timeout": GRACE,
            "timeout": 2 * GRACE, "proc_name": "backstep", "logger_class": JsonLogger, "control_socket_disable": True,
            "when_ready": lambda server: server.log.info("Backstep is open at http://%s", address),
            # Called in the first process alone; the others leave through the frames of whoever called it as well.
            "on_exit": lambda _server: shutil.rmtree(room.shared, ignore_errors=True),
        }  # fmt: skip
        super().__init__()

    def load_config(self) -> None:
        for name, value in self.settings.items():
            if name in self.cfg.settings:  # releases differ in a few
                self.cfg.set(name, value)

    def load(self) -> Application:
        return application(*self.arguments)


def serve(
    host: str, port: int, workers: int, folder: Path | None = None, allowed: Iterable[str] = (),
    bounds: Bounds | None = None, queue_at: str = DISK,
) -> None:  # fmt: skip
    """Serves until SIGTERM or Ctrl-C.

    Raises FolderError and QueueError, before anything starts, for a folder or a queue that cannot be used.
    """
    secret = shared_secret(queue_at, secrets.token_urlsafe(48))
    shared = Path(tempfile.mkdtemp(prefix="backstep-"))
    if folder and folder.is_dir():
        record_course(folder, shared)
    folder_programs(folder, shared)
    address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    room = Classroom(folder, shared, queue_at, secret, bounds or Bounds())
    Server(address, workers, room, allowed, Launch(sys.argv, host in ANY_ADDRESS)).run()
