"""torch.random: the random stream, and a block that restores it afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..api.random.random import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)

__all__ = [
    "Generator",
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, *_: Any, **__: Any) -> Iterator[None]:
    """Inside, draws use the same random stream; afterwards its previous state is restored.

    Source: torch.random.fork_rng.

    >>> import engine as torch
    >>> _ = torch.manual_seed(0)
    >>> with torch.random.fork_rng(devices=[]):
    ...     inside = torch.rand(1)
    >>> torch.equal(inside, torch.rand(1))
    True
    """
    state = get_rng_state()
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
