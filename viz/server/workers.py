"""Processes that make the scenes of long recordings, so that other visitors are not held up.

Python runs one thread at a time: while one makes a scene of ten thousand events for a second and more, each answer to
another visitor waits again and again.  In a process of its own it takes what the machine has left.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import threading
from collections.abc import Hashable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from ..tasks.worker_process import end_process, start_process
from .http.gzip_pieces import DeflatedText

COUNT = max(2, min(3, (os.cpu_count() or 1) - 1))
"""The number of processes, at least two, so that nobody waits for a graph while a whole run is read.

Each keeps the recording that it was last asked about.
"""


@dataclass(frozen=True)
class TraceFile:
    """A trace file as it was when it was opened; `most` events of it are shown."""

    path: str
    most: int
    stamp: tuple[int, int, int]

    @classmethod
    def of(cls, path: str | os.PathLike[str], most: int) -> TraceFile:
        return cls(os.path.abspath(path), most, stamp(path))

    def is_as_it_was(self) -> bool:
        try:
            return stamp(self.path) == self.stamp
        except OSError:
            return False

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def stamp(path: str | os.PathLike[str]) -> tuple[int, int, int]:
    """The identity of a file, which differs from that of a file written in its place."""
    status = os.stat(path)
    return status.st_ino, status.st_mtime_ns, status.st_size


class WorkerEnd(Exception):
    """The process ended before it had answered; the text says how."""


class Worker:
    """One process; `program` is the one that it was asked about last, and `parts` are those that it has read of it."""

    def __init__(self) -> None:
        self.program = ""
        self.parts: set[Hashable] = set()
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, question: Mapping[str, Any]) -> tuple[dict[str, Any], bytes]:
        """The head of the answer and the packed data. Raises WorkerEnd."""
        process = self.start()
        assert process.stdin is not None and process.stdout is not None
        try:
            process.stdin.write(json.dumps(question).encode() + b"\n")
            process.stdin.flush()
            head = json.loads(process.stdout.readline())
            blocks = process.stdout.read(head["bytes"])
        except (OSError, ValueError) as error:
            raise WorkerEnd(f"status {self.stop()}") from error
        return head, blocks

    def start(self) -> subprocess.Popen[bytes]:
        """The process, started if there is none."""
        if self._process is None or self._process.poll() is not None:
            self._process = start_process("viz.server.scene_worker")
        return self._process

    def stop(self) -> int | None:
        """Ends the process; the next question starts another."""
        process, self._process = self._process, None
        self.program, self.parts = "", set()
        return None if process is None else end_process(process)


class Workers:
    """Up to COUNT processes, started when they are needed; a question waits until one is free."""

    def __init__(self, count: int = COUNT) -> None:
        self.count = count
        self._all: list[Worker] = []
        self._idle: list[Worker] = []
        self._freed = threading.Condition()
        atexit.register(self.stop)

    def packed(self, program: str, part: Hashable, question: Mapping[str, Any]) -> tuple[dict[str, Any], DeflatedText]:
        """The head of the answer, and its data; the question is about a part of a program. Raises WorkerEnd."""
        worker = self._free_worker(program, part)
        try:
            head, blocks = worker.ask(question)
        finally:
            with self._freed:
                self._idle.append(worker)
                self._freed.notify_all()
        return head, DeflatedText(blocks, head.get("crc", 0), head.get("size", 0))

    def rest(self, seconds: float) -> bool:
        """Waits until none of them works, for at most so long; whether it is so."""
        with self._freed:
            return self._freed.wait_for(lambda: len(self._idle) == len(self._all), seconds)

    def _free_worker(self, program: str, part: Hashable) -> Worker:
        """A process that is free: the one that has read this part, if possible; else a new one, as long as there may be
        more; else the one that has been free for longest, because somebody looks at what the others have read."""
        with self._freed:
            while not self._idle and len(self._all) == self.count:
                self._freed.wait()
            own = [worker for worker in self._idle if worker.program == program]
            free = next((worker for worker in own if part in worker.parts), None)
            free = free or next((worker for worker in self._idle if not worker.program), None)
            if free is None and len(self._all) < self.count:
                free = Worker()
                self._all.append(free)
                self._idle.append(free)
            free = free or (own or self._idle)[0]
            self._idle.remove(free)
            if free.program != program:
                free.program, free.parts = program, set()
            free.parts.add(part)
        return free

    def start(self) -> None:
        """Starts a process for the first question: its imports take a second."""
        with self._freed:
            worker = Worker()
            worker.start()
            self._all.append(worker)
            self._idle.append(worker)

    def stop(self) -> None:
        """Ends all processes."""
        for worker in self._all:
            worker.stop()
