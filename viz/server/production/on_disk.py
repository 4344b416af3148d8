"""Jobs on one machine: each is a process, and stores its result with diskcache in a folder of the server.

Dash's manager would fork the server, whose threads hold locks, and pass pickles; here a job is a new process that reads
its question as JSON (job.py).  The cache stores JSON and plain bytes, never pickles.
"""

from __future__ import annotations

import contextlib
import io
import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import psutil
from dash import DiskcacheManager
from diskcache import Cache, JSONDisk

from viz.server.production.jobs import SharedJobs, crowding_problem
from viz.tasks.worker_process import start_process

BYTES = 512 << 20
"""Results that are kept, in bytes; those used longest ago go first."""
WAITING = 16
"""Jobs that one process of the server may have started and not seen the end of; the others are refused."""


class DiskResults:
    """Bytes by key in the files of a diskcache."""

    def __init__(self, cache: Cache) -> None:
        self.cache = cache

    def get(self, key: str) -> bytes | None:
        file = self.cache.get(key, read=True)
        if file is None:
            return None
        with file:
            data: bytes = file.read()
        return data

    def put(self, key: str, value: bytes, seconds: int) -> None:
        self.cache.set(key, io.BytesIO(value), read=True, expire=seconds)


class DiskJobs(SharedJobs, DiskcacheManager):
    """Jobs as processes; a job's name is its process and its start time, because process numbers come again."""

    def __init__(self, folder: Path, room: Mapping[str, Any]) -> None:
        cache = Cache(str(folder), disk=JSONDisk, size_limit=BYTES, eviction_policy="least-recently-used", timeout=10)
        self.notes = DiskResults(cache)
        self.room = room
        self.processes: list[subprocess.Popen[bytes]] = []
        super().__init__(cache, cache_by=[lambda: None])  # type: ignore[no-untyped-call]  # kept for all who wait

    def begin(self, key: str, job_fn: Any, args: Any) -> str:
        self.processes = [process for process in self.processes if process.poll() is None]
        if len(self.processes) >= WAITING:
            raise crowding_problem()
        name = next(name for name, function in self.func_registry.items() if function is job_fn)
        process = start_process("viz.server.production.job")
        self.processes.append(process)
        assert process.stdin is not None and process.stdout is not None
        process.stdout.close()
        with process.stdin as pipe:
            pipe.write(json.dumps({"room": self.room, "function": name, "key": key, "args": args}).encode())
        return f"{process.pid}@{psutil.Process(process.pid).create_time()}"

    def end(self, job: str) -> None:
        with contextlib.suppress(psutil.Error):
            process = _process(job)
            for one in (*process.children(recursive=True), process):
                one.kill()

    def job_running(self, job: str) -> bool:
        try:
            return bool(_process(job).status() != psutil.STATUS_ZOMBIE)
        except psutil.Error:
            return False


def _process(job: str) -> psutil.Process:
    """The process of a job. Raises psutil.NoSuchProcess if it has ended."""
    number, _, began = job.partition("@")
    process = psutil.Process(int(number))
    if process.create_time() != float(began):
        raise psutil.NoSuchProcess(process.pid)
    return process
