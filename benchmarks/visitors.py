"""Claim: three hundred people can look at once; nobody times out, also while one of them asks for something heavy.

On the loopback address, bounded: so many visitors, rounds and seconds, then it ends.
"""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import json
import re
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import engine as torch
from benchmarks.measure import percentile, table
from tests.browser.conftest import App
from viz.server.http.static import Assets, assets_folder

VISITORS = 300
ROUNDS = 5
THINK = 2.0
"""Seconds between two questions of a visitor."""
CONNECTIONS = 6
"""What a browser keeps open: one that asks, and the others idle."""
LIMIT = 60.0
"""Seconds after which all ends, done or not."""
ARRIVING = (1, 20, 100, 300)
"""First visits that begin at the same moment; the very first one finds nothing compressed."""
LAYERS = 900
"""Of the heavy program: some 5,400 events, of which a scene takes a second and more."""
PROGRAM = "weights"
SCENE = "/scene"


def heavy(folder: Path) -> Path:
    """A trace whose scene takes a second and more."""
    with torch.record() as trace:
        x = torch.ones(2, requires_grad=True)
        w = torch.ones(2, requires_grad=True)
        y = x
        for _ in range(LAYERS):
            y = torch.tanh(y * w) + x
        y.sum().backward()
    path = folder / "heavy.backstep"
    trace.save(str(path))
    return path


def scene_ask(program: str, number: int = 1, leaf: list[float] | None = None) -> bytes:
    edits = None if leaf is None else {"leaves": {"0": leaf}, "commands": None}
    ask = {"request": number, "program": program, "edits": edits, "revision": None, "previous": None, "layout": "",
           "folds": {}}  # fmt: skip
    return json.dumps(ask).encode()


class Connection:
    """One keep-alive connection."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port

    async def open(self) -> None:
        self.reader, self.writer = await asyncio.open_connection(self.host, self.port)

    @property
    def is_closed(self) -> bool:
        """Whether the other side has closed it, which a browser notices before it asks."""
        return self.reader.at_eof() or self.reader.exception() is not None

    async def ask(self, path: str, body: bytes | None = None) -> bytes:
        """The body of the answer; raises RuntimeError where the status is no 200."""
        method = "GET" if body is None else "POST"
        head = [f"{method} {path} HTTP/1.1", f"Host: {self.host}:{self.port}", "Accept-Encoding: gzip",
                "Content-Type: application/json", f"Content-Length: {len(body or b'')}"]  # fmt: skip
        self.writer.write("\r\n".join([*head, "", ""]).encode() + (body or b""))
        status = await self.reader.readline()
        if not status:
            raise ConnectionResetError(f"{path}: the connection was closed")
        size, packed = 0, False
        while (line := await self.reader.readline()) not in (b"\r\n", b""):
            name, _, value = line.decode().partition(":")
            size = int(value) if name.lower() == "content-length" else size
            packed |= name.lower() == "content-encoding"
        answer = await self.reader.readexactly(size)
        if b" 200 " not in status:
            raise RuntimeError(f"{path}: {status!r}")
        return gzip.decompress(answer) if packed else answer

    def close(self) -> None:
        self.writer.close()


@contextlib.asynccontextmanager
async def connected(app: App, count: int) -> AsyncIterator[list[Connection]]:
    host, _, port = app.origin.removeprefix("http://").partition(":")
    made = [Connection(host, int(port)) for _ in range(count)]
    try:
        for one in made:
            await one.open()
        yield made
    finally:
        for one in made:
            with contextlib.suppress(AttributeError):
                one.close()


async def visitor(app: App, place: int, times: list[float], opened: list[float]) -> None:
    """Opens the page, then asks for a scene that is known, again and again."""
    await asyncio.sleep(THINK * place / VISITORS)
    start = time.perf_counter()
    async with connected(app, CONNECTIONS) as connections:
        await connections[0].ask("/")
        opened.append(time.perf_counter() - start)
        for _ in range(ROUNDS):
            start = time.perf_counter()
            await connections[0].ask(SCENE, scene_ask(PROGRAM))
            times.append(time.perf_counter() - start)
            await asyncio.sleep(THINK)


async def burden(app: App, times: list[float]) -> None:
    """One visitor who edits the heavy program, again and again, until it is stopped."""
    async with connected(app, 1) as (one,):
        for number in range(1000):
            start = time.perf_counter()
            await one.ask(SCENE, scene_ask("my-heavy", number, [time.perf_counter(), 1.0]))
            times.append(time.perf_counter() - start)


async def measured(app: App, burdens: int) -> tuple[Any, ...]:
    times: list[float] = []
    opened: list[float] = []
    heavy_times: list[float] = []
    async with connected(app, 1) as (one,):
        await one.ask(SCENE, scene_ask(PROGRAM))
        await one.ask(SCENE, scene_ask("my-heavy"))
    beside = [asyncio.create_task(burden(app, heavy_times)) for _ in range(burdens)]
    visits = [asyncio.create_task(visitor(app, place, times, opened)) for place in range(VISITORS)]
    done, late = await asyncio.wait(visits, timeout=LIMIT)
    for task in (*late, *beside):
        task.cancel()
    failed = [error for task in done if (error := task.exception()) is not None]
    if failed:
        print(f"first failure: {failed[0]!r}", file=sys.stderr)
    shares = [f"{1e3 * percentile(found, share):.0f}" if found else "-"
              for found in (times, opened) for share in (0.5, 0.95, 1.0)]  # fmt: skip
    return (burdens, len(times), len(late), len(failed), *shares, len(heavy_times))


async def loaded(app: App, paths: list[str], times: list[float]) -> None:
    """A first visit: all files of the page over the connections of a browser, then a scene."""
    start = time.perf_counter()
    async with connected(app, CONNECTIONS) as connections:
        await connections[0].ask("/")
        left = list(paths)

        async def fetch(one: Connection) -> None:
            while left:
                await one.ask(left.pop())

        await asyncio.gather(*map(fetch, connections))
        await connections[0].ask(SCENE, scene_ask(PROGRAM))
    times.append(time.perf_counter() - start)


async def arrivals(app: App) -> list[tuple[Any, ...]]:
    """How long a first visit takes where so many begin at the same moment."""
    async with connected(app, 1) as (one,):
        page = (await one.ask("/")).decode()
    assets = Assets(assets_folder())
    paths = [f"/{assets.address}/{name}" for name in assets.names()]
    paths += [*re.findall(r'src="(/_dash-component-suites[^"]+)"', page), "/_dash-layout", "/_dash-dependencies"]
    rows = []
    for count in ARRIVING:
        times: list[float] = []
        visits = [asyncio.create_task(loaded(app, paths, times)) for _ in range(count)]
        _, late = await asyncio.wait(visits, timeout=LIMIT)
        for task in late:
            task.cancel()
        rows.append((count, len(paths), len(late), f"{percentile(times, 0.5):.2f}", f"{percentile(times, 1.0):.2f}"))
    return rows


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, started("open", str(heavy(Path(folder)))) as app:
        first = asyncio.run(arrivals(app))
        rows = [asyncio.run(measured(app, burdens)) for burdens in (0, 1, 4)]
    table(("first visits at once", "files each", "unfinished", "median, s", "most, s"), first)
    print(f"\n{VISITORS} visitors, {CONNECTIONS} connections each, {ROUNDS} scenes each with {THINK} s between\n")
    head = ("heavy visitors", "scenes", "unfinished", "failed", "scene ms: median", "p95", "most",
            "page ms: median", "p95", "most", "heavy scenes made")  # fmt: skip
    table(head, rows)


@contextlib.contextmanager
def started(*argv: str) -> Iterator[App]:
    app = App(*argv)
    try:
        yield app
    finally:
        app.close()


if __name__ == "__main__":
    main()
