"""Services for the person at this machine: their own trace files, and running a program again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from viz.server.front.uploads import DroppedFiles
from viz.server.http.security import LOOPBACK, host_name
from viz.server.library.rerun import SECONDS


@dataclass(frozen=True)
class LocalServer:
    """A server of one person: it takes files. A program that it runs again for an edit may take so many `seconds`."""

    dropped: DroppedFiles
    seconds: float = SECONDS


def is_local(environ: Mapping[str, Any]) -> bool:
    """Return whether a request comes from this machine, to a loopback name, and so not through a reverse proxy."""
    sender = str(environ.get("REMOTE_ADDR", ""))
    return host_name(environ.get("HTTP_HOST", "")) in LOOPBACK and (sender == "::1" or sender.startswith("127."))
