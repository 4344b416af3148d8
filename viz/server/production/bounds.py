"""Limits for the visitors of an open server: replays of a bounded length, and only so many at a time.

A replay is bounded in time, in what it records and in its edits' commands; those that wait are bounded for each client
and in all, over all processes of the server, so that nobody's edits keep the others from theirs.
"""

from __future__ import annotations

import contextlib
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from engine.trace.events import Trace
from viz.server.production.places import free_place
from viz.server.revisions import StoreComputation
from viz.server.store import Problem

CLIENTS = 4096
"""Clients that are told apart, by a hash of their address: so the files of their places stay few."""
BUSY = "Many edits are being computed right now. The previous view is still there; try again in a moment."


@dataclass(frozen=True)
class Bounds:
    """The bounds of one replay, of those that wait at the same time on one machine, and of what is made at once."""

    seconds: float = 5.0
    entries: int = 100_000
    """The most entries that a replay may record: some 100 MB of events."""
    commands: int = 200
    in_all: int = 128
    per_client: int = 64
    """A hall full of people often has one address, so this is far more than one person needs."""
    long: int = 10_000
    """The number of events of a section from which on its scene is made in the background: it takes 3 s and more."""


class BoundedReplays(StoreComputation):
    """The pure side of the app, with replays that are stopped at their bounds."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds

    def replay(self, trace: Trace, edits: Mapping[str, Any], watch: Callable[[int], None] | None = None) -> Trace:
        """The trace run again.  Raises Problem if the edits do not fit the program, or exceed the bounds.

        `watch` is asked as well, in the way of `engine.replay`.
        """
        bounds, ends = self.bounds, time.monotonic() + self.bounds.seconds
        if len(edits.get("commands") or ()) > bounds.commands:
            raise _too_much(f"has more than {bounds.commands} commands")

        def check(entries: int) -> None:
            if entries > bounds.entries:
                raise _too_much(f"records more than {bounds.entries:,} entries")
            if time.monotonic() > ends:
                raise _too_much(f"takes longer than {bounds.seconds:g} s")
            if watch is not None:
                watch(entries)

        return super().replay(trace, edits, check)


class Admission:
    """Who may wait for a computation: limited in all, and per client, for all processes that share `folder`."""

    def __init__(self, bounds: Bounds, folder: Path) -> None:
        self.bounds, self.folder = bounds, folder

    @contextlib.contextmanager
    def turn(self, client: str) -> Iterator[None]:
        """A place among those that wait. Raises Problem if there is none."""
        own = f"client-{zlib.crc32(client.encode()) % CLIENTS}"
        with contextlib.ExitStack() as places:
            for name, count in ((own, self.bounds.per_client), ("replay", self.bounds.in_all)):
                place = free_place(self.folder, name, count)
                if place is None:
                    raise Problem("busy", "The server is busy", BUSY)
                places.enter_context(place)
            yield


def _too_much(why: str) -> Problem:
    text = (
        f"This edit {why}, which is more than this server computes for one visitor. The previous view is still "
        "there. Install Backstep to compute it on your own machine."
    )
    return Problem("too-much", "This edit is too large for this server", text)
