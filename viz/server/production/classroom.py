"""The setup that the processes of `backstep serve` and `backstep worker` share: programs, bounds, and a queue."""

from __future__ import annotations

import importlib.util
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from engine.trace.file.database import TraceFileError
from viz.server import programs
from viz.server.app import build
from viz.server.callbacks.register import Background
from viz.server.lesson.course import course
from viz.server.production.bounds import BoundedReplays, Bounds
from viz.server.production.result_store import BackgroundShelf, Results
from viz.server.production.revision_file import RevisionFile
from viz.server.store import Catalogue, Program, Revisions, Shelf, Store
from viz.server.workers import Workers

DISK = "disk"
"""The queue of one machine; the queue of several machines is the address of a Redis."""


class FolderError(Exception):
    """A folder that cannot be offered; the text says why."""


class QueueError(Exception):
    """A queue that cannot be used; the text says why."""


@dataclass(frozen=True)
class Classroom:
    """The folder of lessons, the folder that the processes of this machine share, the queue, and the bounds."""

    folder: Path | None
    shared: Path
    queue: str = DISK
    secret: str = ""
    """Shared by all processes, which sign with it the information about a job that a page receives."""
    bounds: Bounds = field(default_factory=Bounds)

    def as_json(self) -> dict[str, Any]:
        paths = {"folder": self.folder and str(self.folder.resolve()), "shared": str(self.shared)}
        return {**asdict(self), **paths, "secret": ""}

    @classmethod
    def from_json(cls, fields: dict[str, Any]) -> Classroom:
        folder = fields["folder"] and Path(fields["folder"])
        return cls(folder, Path(fields["shared"]), fields["queue"], fields["secret"], Bounds(**fields["bounds"]))


def folder_programs(folder: Path | None, recordings: Path, only: str | None = None) -> list[Program]:
    """The lessons and trace files of a folder, or `only` one of them. Raises FolderError if it has none, or one that
    cannot be opened."""
    try:
        return course(folder, recordings, only) if folder else []
    except (TraceFileError, OSError) as error:
        raise FolderError(f"The folder {str(folder)!r} cannot be offered: {error}") from error


def queue(room: Classroom) -> tuple[Any, Results, Revisions]:
    """Dash's manager of jobs, the store of their results, and the edits that all processes know."""
    if room.queue == DISK:
        from viz.server.production.on_disk import DiskJobs

        jobs = DiskJobs(room.shared / "results", room.as_json())
        return jobs, jobs.notes, RevisionFile(room.shared / "revisions.sqlite")
    from viz.server.production.on_redis import RedisJobs, RedisRevisions

    tasks = RedisJobs(room.queue)
    return tasks, tasks.notes, RedisRevisions(tasks.notes)


def shared_secret(queue_at: str, own: str) -> str:
    """The secret of all processes at a queue: `own` for the first one.  Raises QueueError."""
    if queue_at == DISK:
        if importlib.util.find_spec("diskcache") is None:
            raise QueueError("`backstep serve` needs diskcache: pip install 'backstep[serve]'.")
        return own
    try:
        from viz.server.production.on_redis import FAILURES, secret
    except ImportError as error:
        raise QueueError("A queue in Redis needs celery and redis: pip install 'backstep[redis]'.") from error
    try:
        return secret(queue_at, own)
    except FAILURES as error:
        raise QueueError(f"The Redis at {without_password(queue_at)} does not answer: {error}") from error


def without_password(address: str) -> str:
    """An address without its password.

    >>> without_password("redis://:secret@queue.example:6379/0")
    'redis://queue.example:6379/0'
    """
    scheme, _, rest = address.partition("://")
    return f"{scheme}://{rest.rpartition('@')[2]}"


def store(
    room: Classroom, revisions: Revisions, shelf: Shelf, workers: Workers | None = None, only: str | None = None
) -> Store:
    """The store of one process; it has all programs of the folder, or `only` one."""
    catalogue = Catalogue(programs.gallery_programs())
    for program in folder_programs(room.folder, room.shared, only):
        catalogue.add(program)
    return Store(catalogue, BoundedReplays(room.bounds), workers, revisions, shelf)


def background(room: Classroom, only: str | None = None) -> tuple[Any, Store]:
    """The jobs of a process in the background, and the store that they ask; nothing of its app is served."""
    jobs, results, revisions = queue(room)
    own = store(room, revisions, BackgroundShelf(results), None, only)
    build(own, background=Background(jobs, "nothing is served"))
    return jobs, own
