"""Nested backward passes: which one runs, how deep they are, and when the next one needs a new stack.

PyTorch continues on another thread's stack from the sixtieth nested pass on; so does this.  A thread has its own stack
in Python, with room for a thousand calls.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from ..arrays import errors
from ..arrays.array import home
from ..tensor.grad_mode import mode
from .anomaly import running

DEEP = 60
"""How many backward calls share a stack."""
MOST = 50 * DEEP
"""The limit of nesting: a longer chain of calls is assumed to be endless."""


NESTED = (
    "Backstep: {} calls of backward were nested, each made by a backward or a hook of the previous one. If the "
    "chain of calls has an end, raise sys.setrecursionlimit, or write it as a loop."
)


class _CurrentRun(threading.local):
    run: Any = None
    depth: int = 0
    """The depth of nesting: how many backward passes run, each called by a node of the one before."""
    deepest: int = 0


current = _CurrentRun()
"""The backward pass that runs in this thread, innermost."""


def enter(run: Any) -> Any:
    """Begin a backward pass; returns the one that it is nested in, or None."""
    outer, current.run = current.run, run
    current.depth += 1
    return outer


def leave(outer: Any) -> None:
    """End a backward pass: the one that it was nested in continues."""
    current.run = outer
    current.depth -= 1


def inside(work: Callable[[], Any]) -> Any:
    """The result of `work`, a backward pass: run on the current stack, or on a new one if that is deep."""
    depth = current.depth
    if not depth or depth % DEEP:
        return work()
    if depth >= MOST:
        raise RecursionError("maximum recursion depth exceeded")
    result, current.deepest = on_a_stack_of_its_own(lambda: _and_depth(work))
    if isinstance(result, BaseException):
        raise result
    return result


def tell_depth(error: RecursionError) -> None:
    """Once the outermost pass is reached, where the stack has room again, report how many passes were nested."""
    current.deepest = max(current.deepest, current.depth)
    if current.depth == 1:
        deepest, current.deepest = current.deepest, 0
        if deepest > 1:
            errors.explained(error, NESTED.format(deepest))


def on_a_stack_of_its_own(work: Callable[[], Any]) -> Any:
    """The result of `work`, which raises nothing, run by another thread in the state of this one, while this one
    waits."""
    snapshots = [(state, dict(vars(state))) for state in (mode, running, home, current)]
    results: list[Any] = []

    def run() -> None:
        for state, values in snapshots:
            vars(state).update(values)
        results.append(work())

    thread = threading.Thread(target=run, name="backward")
    thread.start()
    thread.join()
    return results.pop()


def _and_depth(work: Callable[[], Any]) -> tuple[Any, int]:
    """The result or the error of `work`, and the depth that it reached."""
    try:
        return work(), current.deepest
    except BaseException as error:  # noqa: BLE001 - raised again, in the thread that waits
        return error, current.deepest
