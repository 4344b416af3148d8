"""A worker process of gunicorn that serves as `backstep` itself does: with waitress.

gunicorn's own threaded worker lends a thread to each new connection for seconds, until something comes on it; of the
six connections that a browser opens most stay silent.  waitress waits for any number of them in one loop.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from typing import Any

from gunicorn.workers.base import Worker

from viz.server.server import SWITCH, http_server, turn

BEAT = 1.0
"""Seconds between two signs of life for gunicorn, which replaces a process that gives none."""
PROXY = "127.0.0.1"
"""A reverse proxy on this machine is believed what it says of the client, and of TLS; nobody else is."""


class WaitressWorker(Worker):  # type: ignore[misc]  # gunicorn has no types
    """Serves `self.wsgi` on `self.sockets` until gunicorn says to end, or its own process is gone."""

    def run(self) -> None:
        sys.setswitchinterval(SWITCH)
        gc.freeze()  # what was imported stays: the collector need not look at it while others wait
        sockets: dict[int, Any] = {}
        server = http_server(
            self.wsgi, [one.sock for one in self.sockets], map=sockets, trusted_proxy=PROXY,
            trusted_proxy_headers={"x-forwarded-for", "x-forwarded-proto", "x-forwarded-host"},
            clear_untrusted_proxy_headers=True, log_untrusted_proxy_headers=False,
        )  # fmt: skip
        listening = list(sockets)
        while self.alive and self.ppid == os.getppid():
            self.notify()
            turn(sockets, BEAT)
        for number in listening:  # what comes now is for the other processes
            sockets.pop(number, None)
        ends = time.monotonic() + self.cfg.graceful_timeout
        while _is_busy(sockets) and time.monotonic() < ends:
            self.notify()
            turn(sockets, BEAT)
        server.task_dispatcher.shutdown(cancel_pending=True, timeout=1)

    def handle_exit(self, sig: int, frame: object) -> None:
        """SIGTERM: end once what was begun is answered."""
        self.alive = False


def _is_busy(sockets: dict[int, Any]) -> bool:
    """Return whether an answer is being made or sent."""
    return any(getattr(one, "requests", None) or getattr(one, "total_outbufs_len", 0) for one in [*sockets.values()])
