"""What several processes of one run of the tests need, computed by the first of them that asks."""

from __future__ import annotations

import fcntl
import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.conftest import SHARED


def shared(kind: str, name: str, make: Callable[[], Any]) -> Any:
    """What `make` gives: read from the folder of this run if another process has made it.

    A process that asks for what is just being made waits for it.
    """
    folder = os.environ.get(SHARED)
    if folder is None:
        return make()
    with (Path(folder) / f"{kind} {name}").open("a+b") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        text = file.read()
        if text:
            return pickle.loads(text)  # noqa: S301  a file of our own, of this run
        found = make()
        file.write(pickle.dumps(found))
        return found
