"""Times measured side by side: what is compared takes turns in one run, and only ratios are claimed."""

from __future__ import annotations

import gc
import math
import statistics
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

ROUNDS = 9


@dataclass(frozen=True)
class Ratio:
    """How long one thing took against another: the median of the rounds' ratios, their range, and both medians in s."""

    median: float
    least: float
    most: float
    ours: float
    theirs: float

    def __str__(self) -> str:
        return f"{self.median:.2f} ({self.least:.2f} to {self.most:.2f})"


def seconds(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def ratio(ours: Callable[[], object], theirs: Callable[[], object], rounds: int = ROUNDS) -> Ratio:
    """Run both in turns; the first round warms up and does not count."""
    pairs = []
    for turn in range(rounds + 1):
        pair = (seconds(ours), seconds(theirs)) if turn % 2 else (seconds(theirs), seconds(ours))[::-1]
        if turn:
            pairs.append(pair)
    ratios = [a / b for a, b in pairs]
    middle = [statistics.median(column) for column in zip(*pairs, strict=True)]
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), middle[0], middle[1])


def settle() -> None:
    """Take what was imported out of the collector's sight.

    torch's import leaves some hundred thousand objects behind; every full collection that our objects cause would walk
    them, and their cost would be counted as ours.
    """
    gc.collect()
    gc.freeze()


def percentile(times: Sequence[float], share: float) -> float:
    """The value below which `share` of the times lie.

    >>> percentile([1.0, 2.0, 3.0, 4.0], 0.5), percentile([1.0, 2.0, 3.0, 4.0], 0.95)
    (2.0, 4.0)
    """
    ordered = sorted(times)
    return ordered[max(0, math.ceil(len(ordered) * share) - 1)]


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """Print a Markdown table."""
    print("| " + " | ".join(head) + " |")
    print("|" + "---|" * len(head))
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
