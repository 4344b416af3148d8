"""A graph that grows with each iteration, because each loss depends on all iterations before.  Pure."""

from __future__ import annotations

import numpy as np

from engine.trace.events import BackwardStarted, Skipped, VjpRun
from engine.trace.file.database import TraceFileError

from ..reading.source_text import source
from ..run.run import Run
from .finding import SectionFinding

FEWEST = 8
"""The fewest iterations."""
LONGER = 3
"""How many times longer the last backward pass is than the first."""
UNEVEN = 2
"""The factor between the largest and the smallest growth from one iteration to the next: each adds its own ops."""


def growing_graph(run: Run) -> SectionFinding | None:
    """The growth of a run in which every backward call runs through more ops than the one before, and keeps its graph.

    A program that feeds longer and longer sequences does not need `retain_graph=True`.  Cost: linear in the VJPs, of
    which none is read.
    """
    numbers = np.array(run.overview.first, dtype=np.int64)
    if len(numbers) < FEWEST or not run.is_divided or len(run.outline.where(Skipped)):
        return None
    edges = np.array([(run.sections[number].start, run.sections[number].end) for number in numbers.tolist()])
    counts = np.diff(np.searchsorted(run.outline.where(VjpRun), edges), axis=1)[:, 0]
    more = np.diff(counts)
    if more.min() <= 0 or more.max() > UNEVEN * more.min() or counts[-1] < LONGER * counts[0]:
        return None
    calls = run.outline.where(BackwardStarted)
    try:
        call = run.whole.events[int(calls[np.searchsorted(calls, edges[-1, 0])])]
    except TraceFileError:  # the file is damaged there
        return None
    if not isinstance(call, BackwardStarted) or not call.retain_graph or call.create_graph:
        return None
    frames = run.whole.stacks[call.stack] if 0 <= call.stack < len(run.whole.stacks) else ()
    place = f"`{source(run.whole, frames[-1], 48)}` in line {frames[-1].line}" if frames else "backward()"
    first, last = (run.sections[int(numbers[place])].name for place in (0, -1))
    why = (
        f"{place} goes back through {counts[0]:,} ops in {first} and through {counts[-1]:,} in {last}: it keeps the "
        "graph with retain_graph=True, and each loss depends on all iterations before. So every iteration takes more "
        "time and memory."
    )
    fix = (
        "Detach what one iteration hands to the next, as in `h = h.detach()`, or `total += loss.detach()` for a sum "
        "that is only printed, and empty a list of losses after each update. Then leave out retain_graph=True."
    )
    return SectionFinding(int(numbers[-1]), "The graph grows with each iteration", why, fix)
