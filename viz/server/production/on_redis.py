"""Jobs for several machines: Celery runs them in the processes of `backstep worker`, and Redis has their results.

Tasks and results are JSON and plain bytes; nothing is pickled.
"""

from __future__ import annotations

import json
import logging
from typing import Any

import redis
from celery import Celery
from dash import CeleryManager

from viz.server.production.jobs import LIMIT, SharedJobs, crowding_problem
from viz.server.production.result_store import LIFETIME
from viz.server.store import Problem, Revision

log = logging.getLogger("backstep")

WAITING = 256
"""Jobs that may wait in the queue; the others are refused."""
QUEUE = "backstep"
SETTINGS = {
    "accept_content": ["json"],
    "result_accept_content": ["json"],
    "task_serializer": "json",
    "result_serializer": "json",
    "result_expires": LIFETIME,
    "task_default_queue": QUEUE,
    "task_track_started": True,
    "task_time_limit": LIMIT,
    "task_publish_retry": False,
    "broker_connection_timeout": 2,
    "broker_connection_retry_on_startup": True,
    "redis_socket_timeout": 10,
    "redis_socket_connect_timeout": 2,
    "worker_prefetch_multiplier": 1,
    "worker_hijack_root_logger": False,
    "worker_proc_alive_timeout": LIMIT,
}
"""Celery's settings."""
FAILURES = redis.RedisError, ValueError
"""The exceptions of a Redis that does not answer, and of an address that is not one."""
EDITS_KEPT = 7 * 24 * 3600
"""Seconds for which edits that are too long for an address are kept after their last use."""


class RedisResults:
    """Bytes by key in Redis. A result that cannot be kept is computed again; one that cannot be looked up is a
    Problem."""

    def __init__(self, client: redis.Redis) -> None:
        self.client = client

    def get(self, key: str) -> bytes | None:
        try:
            content: Any = self.client.get(key)
        except redis.RedisError as error:
            log.warning("the queue does not answer: %s", error)
            raise _away() from error
        return None if content is None else bytes(content)

    def put(self, key: str, value: bytes, seconds: int) -> None:
        try:
            self.client.set(key, value, ex=seconds)
        except redis.RedisError as error:
            log.warning("the queue does not answer: %s", error)


class RedisRevisions:
    """Revisions by id, as RevisionFile has them, for the processes of several machines."""

    def __init__(self, results: RedisResults) -> None:
        self.results = results

    def get(self, key: str) -> Revision | None:
        content = self.results.get(f"backstep:edits:{key}")
        return None if content is None else Revision(key, *json.loads(content))

    def put(self, key: str, revision: Revision) -> Revision:
        """Keeps a revision with edits; for one without, the address is enough."""
        if not revision.is_base:
            row = [revision.program, revision.version, revision.text, revision.section]
            self.results.put(f"backstep:edits:{key}", json.dumps(row).encode(), EDITS_KEPT)
        return revision


class RedisJobs(SharedJobs, CeleryManager):
    """Jobs as tasks of Celery."""

    def __init__(self, url: str) -> None:
        app = Celery("backstep", broker=url, backend=url, set_as_current=False)
        app.conf.update(SETTINGS)
        self.client = client(url)
        self.notes = RedisResults(self.client)
        super().__init__(app, cache_by=[lambda: None])  # type: ignore[no-untyped-call]  # kept for all who wait

    def begin(self, key: str, job_fn: Any, args: Any) -> str:
        waiting: Any = self.client.llen(QUEUE)
        if waiting >= WAITING:
            raise crowding_problem()
        progress = self._make_progress_key(key)  # type: ignore[no-untyped-call]
        task: str = job_fn.delay(key, progress, args, {}).task_id
        return task

    def end(self, job: str) -> None:
        CeleryManager.terminate_job(self, job)  # type: ignore[no-untyped-call]


def secret(url: str, own: str) -> str:
    """The secret of all machines at a Redis: that of the first one. Raises one of FAILURES."""
    connection = client(url)
    connection.set("backstep:secret", own, nx=True)
    shared: Any = connection.get("backstep:secret")
    return str(shared.decode())


def client(url: str) -> redis.Redis:
    return redis.Redis.from_url(url, socket_timeout=5, socket_connect_timeout=2)


def _away() -> Problem:
    text = "Its queue does not answer. The previous view is still there; try again in a moment."
    return Problem("queue-away", "The server cannot do this now", text)
