"""`backstep worker`: processes for the long computations of the servers that use the same Redis."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path

from celery.signals import worker_process_init

from viz.server.lesson.course import record_course
from viz.server.production.classroom import Classroom, background, folder_programs, shared_secret


def work(queue_at: str, workers: int, folder: Path | None = None) -> None:
    """Works until SIGTERM or Ctrl-C.

    Raises FolderError and QueueError, before anything starts, for a folder or a queue that cannot be used.
    """
    shared_secret(queue_at, secrets.token_urlsafe(48))
    shared = Path(tempfile.mkdtemp(prefix="backstep-"))
    try:
        if folder and folder.is_dir():
            record_course(folder, shared)
        folder_programs(folder, shared)
        room = Classroom(folder, shared, queue_at)
        jobs, store = background(replace(room, folder=None))

        def begin(**_: object) -> None:
            """Opens the files in the process that reads them: SQLite's connections must not be carried into it."""
            for program in folder_programs(room.folder, room.shared):
                store.catalogue.add(program)

        worker_process_init.connect(begin, weak=False)
        jobs.handle.worker_main([
            "worker", "--concurrency", str(workers), "--loglevel", "INFO",
            "--without-gossip", "--without-mingle", "--without-heartbeat",
        ])  # fmt: skip
    finally:
        shutil.rmtree(shared, ignore_errors=True)
