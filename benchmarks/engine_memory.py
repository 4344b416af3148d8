"""Claim: a graph takes at most 1.5 kB per op; the tensors here have four numbers, whose 16 bytes are counted too."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import engine
from benchmarks.measure import table

OPS = 20_000
STEPS: dict[str, Callable[[engine.Tensor, engine.Tensor], engine.Tensor]] = {
    "y + x, nothing saved": lambda y, x: y + x,
    "y * x, both saved": lambda y, x: y * x,
    "tanh(y), the result saved": lambda y, x: y.tanh(),
}


def bytes_per_op(step: Callable[[engine.Tensor, engine.Tensor], engine.Tensor]) -> float:
    """What a chain of one op holds when its end is all that the program keeps."""
    x = y = engine.full((4,), 0.5, requires_grad=True)
    tracemalloc.start()
    for _ in range(OPS):
        y = step(y, x)
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert y.requires_grad
    return held / OPS


def main() -> None:
    table(("op", "bytes per op"), [(name, f"{bytes_per_op(step):.0f}") for name, step in STEPS.items()])


if __name__ == "__main__":
    main()
