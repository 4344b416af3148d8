"""Claim: a chain of small elementwise ops, forward and backward, is no slower than PyTorch eager.  One thread each."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # read when the libraries are imported

import torch  # noqa: E402

import engine  # noqa: E402
from benchmarks.measure import ratio, settle, table  # noqa: E402

SIZES = (1_000, 20_000)


def chain(library: Any, ops: int) -> Callable[[], None]:
    """A run of `ops` ops on four numbers, one after the other, and backward from their sum."""

    def run() -> None:
        x = library.full((4,), 1.0001, requires_grad=True)
        y = x
        for _ in range(ops // 4):
            y = y * x
            y = y + x
            y = y - x
            y = -y
        y.sum().backward()

    return run


def main() -> None:
    torch.set_num_threads(1)
    settle()
    rows = []
    for ops in SIZES:
        found = ratio(chain(engine, ops), chain(torch, ops))
        rows.append((f"{ops:,}", found, f"{found.ours / ops * 1e6:.2f}", f"{found.theirs / ops * 1e6:.2f}"))
    table(("ops", "engine / torch", "engine, µs per op", "torch, µs per op"), rows)


if __name__ == "__main__":
    main()
