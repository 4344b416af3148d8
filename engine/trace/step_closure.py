"""The closure of an optimiser's step, `optimizer.step(closure)`, which computes the loss again."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

Arguments = tuple[tuple[Any, ...], dict[str, Any]]


def begun_after_closure(args: tuple[Any, ...], kwargs: dict[str, Any], begin: Callable[[], object]) -> Arguments:
    """The arguments of `step`, the optimiser first, so that `begin` is called once the closure has run for the first
    time; without a closure, it is called now.

    What the closure computes is the forward and the backward pass, no part of the update, also where a trainer hides it
    from the program, as Lightning does.

    >>> order = []
    >>> loss, update = (lambda: order.append("loss")), (lambda: order.append("update"))
    >>> args, kwargs = begun_after_closure(("optimizer", loss), {}, update)
    >>> args[1](), args[1](), order
    (None, None, ['loss', 'update', 'loss'])
    """
    closure = kwargs.get("closure") or next(iter(args[1:2]), None)
    if not callable(closure):
        begin()
        return args, kwargs
    waiting = [begin]

    @functools.wraps(closure)
    def first(*given: Any, **named: Any) -> Any:
        out = closure(*given, **named)
        if waiting:
            waiting.pop()()
        return out

    return ((args[0], first, *args[2:]), kwargs) if args[1:] else (args, {**kwargs, "closure": first})
