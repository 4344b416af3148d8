"""Claim: a class of three hundred steps and edits on one address, and no one loses a page when a process is killed.

`backstep serve` with two worker processes on the loopback address.  Each visitor keeps six connections open, opens the
page and a program, and then steps, which asks the server nothing; all together edit values so many times a second, each
edit another one, so that no answer comes from a cache.  Twice a worker process is killed.  As the page does, a visitor
asks once more where a connection breaks off.  `python -m benchmarks.classroom [SECONDS] [EDITS PER SECOND]`.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.measure import percentile, table
from benchmarks.visitors import CONNECTIONS, SCENE, Connection, scene_ask
from tests.browser.conftest import App

VISITORS = 300
WORKERS = 2
SECONDS = 60.0
EDITS = 30.0
KILLED_AT = 0.4, 0.7
"""Shares of the time after which a worker process is killed."""
PROGRAMS = (
    "weights",
    "two_layers",
    "rnn_twenty",
    "diamond",
    "layer_norm",
    "attention_block",
    "loss_mixture",
    "training_loop",
)
BROKEN = OSError, asyncio.IncompleteReadError, ValueError, IndexError
PATIENCE = 30.0
"""Seconds after which an answer counts as lost."""


class Visitor:
    """One browser: six connections, of which one asks."""

    def __init__(self, app: App) -> None:
        host, _, port = app.origin.removeprefix("http://").partition(":")
        self.connections = [Connection(host, int(port)) for _ in range(CONNECTIONS)]
        self.again = 0

    async def enter(self) -> None:
        for one in self.connections:
            await one.open()

    async def ask(self, path: str, body: bytes | None = None) -> bytes:
        """The answer; asked once more on a new connection where the first broke off."""
        one = self.connections[0]
        if one.is_closed:
            await one.open()
        try:
            return await asyncio.wait_for(one.ask(path, body), PATIENCE)
        except BROKEN:
            self.again += 1
            one.close()
            await one.open()
            return await asyncio.wait_for(one.ask(path, body), PATIENCE)

    def leave(self) -> None:
        for one in self.connections:
            with contextlib.suppress(AttributeError):
                one.close()


def editable(scene: dict[str, Any]) -> tuple[str, list[int]] | None:
    """A leaf of a few numbers that asks for a gradient: its number and shape."""
    for node in scene["nodes"]:
        shape = node["shape"]
        if node["role"] == "leaf" and "requires grad" in node["title"] and shape and "@" not in node["id"]:
            return node["id"].removeprefix("t"), shape
    return None


def numbers(shape: Sequence[int]) -> Any:
    """Random elements of a shape, as lists."""
    return [numbers(shape[1:]) for _ in range(shape[0])] if shape else round(random.uniform(-1, 1), 6)  # noqa: S311


def edit_ask(program: str, leaf: str, shape: Sequence[int]) -> bytes:
    ask = json.loads(scene_ask(program))
    ask["edits"] = {"leaves": {leaf: numbers(shape)}, "commands": None}
    return json.dumps(ask).encode()


async def opened(visitor: Visitor, program: str) -> tuple[str, str, list[int]] | None:
    """A program that can be edited, as a visitor opened it."""
    await visitor.ask("/")
    answer = json.loads(await visitor.ask(SCENE, scene_ask(program)))
    found = editable(answer["scene"]) if "scene" in answer else None
    return None if found is None else (program, *found)


async def lesson(app: App, seconds: float, rate: float) -> list[tuple[Any, ...]]:
    """What the class sees: a row of figures."""
    visitors = [Visitor(app) for _ in range(VISITORS)]
    times: list[float] = []
    lost: list[str] = []
    memory: list[float] = []
    try:
        for one in visitors:
            await one.enter()
        start = time.perf_counter()
        found = await asyncio.gather(*(opened(one, PROGRAMS[n % len(PROGRAMS)]) for n, one in enumerate(visitors)))
        arrived = time.perf_counter() - start

        async def edit(one: Visitor, what: tuple[str, str, list[int]]) -> None:
            begun = time.perf_counter()
            try:
                answer = json.loads(await one.ask(SCENE, edit_ask(*what)))
                if "scene" not in answer:
                    lost.append(str(answer["problem"]))
            except (*BROKEN, RuntimeError, TimeoutError) as error:
                lost.append(repr(error))
            times.append(time.perf_counter() - begun)

        editors = [(one, what) for one, what in zip(visitors, found, strict=True) if what]
        tasks: list[asyncio.Task[None]] = []
        kills = [seconds * share for share in KILLED_AT]
        start = time.perf_counter()
        while (passed := time.perf_counter() - start) < seconds:
            place = len(tasks)
            tasks.append(asyncio.create_task(edit(*editors[place % len(editors)])))
            if kills and passed > kills[0]:
                kills.pop(0)
                os.kill(children(app.process.pid)[0], signal.SIGKILL)
            if place % int(rate * max(1.0, seconds / 20)) == 0:
                memory.append(resident(app.process.pid))
            await asyncio.sleep(max(0.0, start + (place + 1) / rate - time.perf_counter()))
        await asyncio.gather(*tasks)
        memory.append(resident(app.process.pid))
    finally:
        for one in visitors:
            one.leave()
    if lost:
        print(f"first loss: {lost[0]}", file=sys.stderr)
    shares = [f"{1e3 * percentile(times, share):.0f}" for share in (0.5, 0.95, 1.0)]
    return [(
        VISITORS, f"{arrived:.1f}", len(times), f"{len(times) / seconds:.1f}", *shares, len(lost),
        sum(one.again for one in visitors), f"{memory[0]:.0f}", f"{max(memory):.0f}", f"{memory[-1]:.0f}",
    )]  # fmt: skip


def children(pid: int) -> list[int]:
    """The processes that one has started."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def resident(pid: int) -> float:
    """MiB of a process and all below it; what they share is counted once."""
    with contextlib.suppress(OSError):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        own = next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024
        return own + sum(map(resident, children(pid)))
    return 0.0


@contextlib.contextmanager
def served() -> Iterator[App]:
    app = App("serve", "--workers", str(WORKERS))
    drain = subprocess.Popen(["cat"], stdin=app.process.stdout, stdout=subprocess.DEVNULL)  # its log
    try:
        yield app
    finally:
        app.close()
        drain.kill()


def main() -> None:
    seconds = float(sys.argv[1]) if sys.argv[1:] else SECONDS
    rate = float(sys.argv[2]) if sys.argv[2:] else EDITS
    with served() as app:
        rows = asyncio.run(lesson(app, seconds, rate))
    print(f"{WORKERS} worker processes, {seconds:g} s, two of them killed in between\n")
    head = ("visitors", "all in, s", "edits", "per s", "edit ms: median", "p95", "most", "lost", "asked twice",
            "memory MiB: first", "most", "last")  # fmt: skip
    table(head, rows)


if __name__ == "__main__":
    main()
