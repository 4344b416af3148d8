"""Claim: recorded, with values, a chain takes at most twice its time, and the other workloads at most 1.5 times."""

from __future__ import annotations

from collections.abc import Callable

import engine
from benchmarks.engine_workloads import of_torch
from benchmarks.measure import ratio, settle, table
from benchmarks.workloads import WORKLOADS


def recorded(run: Callable[[], object]) -> Callable[[], None]:
    """The same run inside a recording; what is recorded is not read."""

    def with_record() -> None:
        with engine.record():
            run()

    return with_record


def main() -> None:
    settle()
    rows = []
    for workload in WORKLOADS:
        plain = of_torch(engine, workload)
        found = ratio(recorded(plain), plain)
        rows.append((workload.name, found, f"{found.ours * 1e3:.2f}", f"{found.theirs * 1e3:.2f}"))
    table(("workload", "recorded / untraced", "recorded, ms", "untraced, ms"), rows)


if __name__ == "__main__":
    main()
