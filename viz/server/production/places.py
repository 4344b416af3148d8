"""Places of which the processes of a machine hold only so many at a time, as locks on files of a folder they share.

A lock ends with the process that holds it, however that ends, so no place is lost with a process that is killed.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from pathlib import Path
from typing import IO


def free_place(folder: Path, name: str, count: int) -> IO[bytes] | None:
    """One of `count` places of this name that nobody holds, until it is closed; None if all are held."""
    for number in range(count):
        file = (folder / f"{name}-{number}").open("ab")
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return file
        file.close()
    return None


def place(folder: Path, name: str, count: int) -> IO[bytes]:
    """As `free_place`, but if all are held it waits until one of them is free."""
    file = free_place(folder, name, count)
    if file is None:
        file = (folder / f"{name}-{os.getpid() % count}").open("ab")
        fcntl.flock(file, fcntl.LOCK_EX)
    return file
