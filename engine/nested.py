"""Backward calls that lie inside each other: every so many of them begin on a stack of their own.

PyTorch does the same, from the sixtieth on.  A thread has its own stack in Python, with room for a thousand calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .anomaly import running
from .array import home
from .mode import mode

DEEP = 60
"""How many backward calls share a stack."""
MOST = 50 * DEEP
"""How many may lie inside each other: beyond that a chain of calls is taken to have no end."""


def on_a_stack_of_its_own(work: Callable[[], Any], *states: threading.local) -> Any:
    """The result of `work`, which raises nothing, done by another thread in the state of this one, which waits."""
    kept = [(state, dict(vars(state))) for state in (mode, running, home, *states)]
    results: list[Any] = []

    def run() -> None:
        for state, values in kept:
            vars(state).update(values)
        results.append(work())

    thread = threading.Thread(target=run, name="backward")
    thread.start()
    thread.join()
    return results.pop()
