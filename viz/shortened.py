"""Of a recording that is too long for one picture, its beginning: any beginning of a trace is a trace itself."""

from __future__ import annotations

from dataclasses import replace

from engine.trace import Trace

MOST = 20_000
"""Events that are shown unless more are asked for: a scene of so many is made in about 3 s."""


def shortened(trace: Trace, most: int = MOST) -> Trace:
    """The first `most` events of a trace; `meta["of"]` says how many it had.

    >>> shortened(Trace((), (), {}, {}, ())).meta
    {}
    """
    if len(trace.events) <= most:
        return trace
    return replace(trace, events=tuple(trace.events[:most]), meta={**trace.meta, "of": len(trace.events)})


def left_out(trace: Trace, file: Trace | None = None) -> str:
    """What is to be said of a recording that was shortened, "" of all others.

    `file` is the trace file that was opened: one that was exported from a shortened recording has no more to show.
    """
    if "of" not in trace.meta:
        return ""
    shown, had = len(trace.events), trace.meta["of"]
    if trace is file:
        return (
            f"This file has the first {shown:,} of {had:,} events of a long recording, of which no more was shown when "
            "it was exported; its end is not in it. For all of it, record the program again."
        )
    return (
        f"The recording is long: its first {shown:,} of {had:,} events are shown, and what came after them is left "
        f"out, its end too. To see more, start Backstep with `--events {min(5 * shown, had)}`: it takes "
        "longer. Or let the loops make fewer rounds."
    )
