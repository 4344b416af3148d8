"""Of a recording that is too long for one picture, its beginning: any beginning of a trace is a trace itself."""

from __future__ import annotations

from dataclasses import replace

from engine.trace.events import ErrorRaised, Trace

from ..reading.text import one_line
from ..wording.sentences import first_of

MOST = 20_000
"""Events that are shown unless more are asked for: a scene of so many is made in about 3 s."""


def shortened(trace: Trace, most: int = MOST) -> Trace:
    """The first `most` events of a trace; `meta["of"]` says how many it had, `meta["failed"]` by which error it ends.

    >>> shortened(Trace((), (), {}, {}, ())).meta
    {}
    """
    if len(trace.events) <= most:
        return trace
    last = next((event for event in trace.events[-3:] if isinstance(event, ErrorRaised)), None)  # a call may end behind
    failed = {} if last is None or trace.meta.get("status") == 0 else {"failed": _told(last)}
    return replace(trace, events=tuple(trace.events[:most]), meta={**trace.meta, "of": len(trace.events), **failed})


def _told(error: ErrorRaised) -> str:
    """An error on one line: its type, and the first sentence of its message."""
    first = first_of(error.message.strip().partition("\n")[0])
    return one_line(f"{error.type}: {first}" if first else error.type, 160)


def left_out(trace: Trace, file: Trace | None = None) -> str:
    """What is to be said of a recording that was shortened, "" of all others.

    `file` is the trace file that was opened: one that was exported from a shortened recording has no more to show.
    """
    if "of" not in trace.meta:
        return ""
    shown, had, failed = len(trace.events), trace.meta["of"], trace.meta.get("failed")
    ended = f" It ends with an error, {failed.rstrip('.')}." if failed else ""
    if trace is file:
        return (
            f"This file has the first {shown:,} of {had:,} events of a long recording, of which no more was shown when "
            f"it was exported; its end is not in it.{ended} For all of it, record the program again."
        )
    more = had if failed else min(5 * shown, had)
    what = "that" if failed else "more"
    return (
        f"The recording is long: its first {shown:,} of {had:,} events are shown, and what came after them is left "
        f"out, its end too.{ended} To see {what}, start Backstep with `--events {more}`: it takes longer. Or let the "
        "loops make fewer rounds. What is exported from this page is what it shows."
    )
