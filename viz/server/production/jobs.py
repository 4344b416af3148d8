"""Jobs in the background: Dash's managers of background callbacks, made fit for many who ask the same.

Dash starts a job for each who asks, ends it with the first who leaves or has an answer, and lets two who ask the same
take each other's result away.  Here they wait for one job, which ends early only if nobody else waits for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from viz.server.store import Problem

LIMIT = 120
"""Seconds that a job may take."""


class SharedJobs(ABC):
    """One job for all who ask the same; the other base of its classes is a manager of Dash.

    `notes` is shared by all processes: it has the job by its question, and by the job whether others joined.
    """

    notes: Any
    """Results."""

    def call_job_fn(self, key: str, job_fn: Any, args: Any, context: Any) -> str:
        """The job that answers: the one that runs already, or a new one."""
        note = self.notes.get(f"backstep:job:{key}")
        if note is not None and not self.result_ready(key) and self.job_running(note.decode()):  # type: ignore[attr-defined]
            self.notes.put(f"backstep:joined:{note.decode()}", b"1", LIMIT)
            return str(note.decode())
        self.clear_cache_entry(key)  # type: ignore[attr-defined]
        job: str = self.begin(key, job_fn, args)
        self.notes.put(f"backstep:job:{key}", job.encode(), 2 * LIMIT)
        self.notes.put(f"backstep:asked:{job}", key.encode(), 2 * LIMIT)
        return job

    def terminate_job(self, job: str | None) -> None:
        """Ends a job whose only visitor has left.

        Dash calls this after each answer too; a job that is done is left alone.
        """
        if job is None or self.notes.get(f"backstep:joined:{job}") is not None:
            return
        key = self.notes.get(f"backstep:asked:{job}")
        if key is not None and not self.result_ready(key.decode()):  # type: ignore[attr-defined]
            self.end(job)

    @abstractmethod
    def begin(self, key: str, job_fn: Any, args: Any) -> str:
        """Starts a job with arguments that are JSON, and gives its name.  Raises Problem if too many wait."""

    @abstractmethod
    def end(self, job: str) -> None:
        """Ends a job, wherever it runs."""


def crowding_problem() -> Problem:
    """The problem of a job for which there is no place."""
    text = "Many large graphs and files are being computed. The previous view is still there; try again in a moment."
    return Problem("busy", "The server is busy", text)
