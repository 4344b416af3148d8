"""Claim: a run that is recorded, with values, takes at most twice the time of one that is not."""

from __future__ import annotations

from collections.abc import Callable

import engine
from benchmarks.engine_chain import SIZES, chain
from benchmarks.measure import ratio, settle, table


def recorded(run: Callable[[], None]) -> Callable[[], None]:
    """The same run inside a recording; what is recorded is not read."""

    def with_record() -> None:
        with engine.record():
            run()

    return with_record


def main() -> None:
    settle()
    rows = []
    for ops in SIZES:
        plain = chain(engine, ops)
        found = ratio(recorded(plain), plain)
        rows.append((f"{ops:,}", found, f"{found.ours / ops * 1e6:.2f}", f"{found.theirs / ops * 1e6:.2f}"))
    table(("ops", "recorded / untraced", "recorded, µs per op", "untraced, µs per op"), rows)


if __name__ == "__main__":
    main()
