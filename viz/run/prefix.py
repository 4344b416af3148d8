"""The beginning of a recording that is too long for one picture: any beginning of a trace is itself a trace."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from engine.trace.events import ErrorRaised, Trace

from ..reading.text import one_line
from ..wording.sentences import first_of

MOST = 60_000
"""Events that are shown by default, as many as an iteration of 30,000 ops has: their scene takes 10 to 20 s to make,
1.2 MB to send and 70 MB in the browser."""
CHECKED = 2_000
"""Events of a file that are read and checked when it is opened; the others are read when they are shown."""


def shortened(trace: Trace, most: int = MOST) -> Trace:
    """The first `most` events of a trace; `meta["of"]` is the number of all, `meta["failed"]` the error at the end.

    >>> shortened(Trace((), (), {}, {}, ())).meta
    {}
    """
    if not is_long(len(trace.events), most):
        return trace
    meta = {**trace.meta, **note(trace, 0, len(trace.events))}
    return replace(trace, events=tuple(trace.events[:most]), meta=meta)


def is_long(events: int, most: int) -> bool:
    """Return whether only the first `most` events are shown; a few more are shown too, without a note."""
    return events > most + most // 100


def note(trace: Trace, start: int, end: int) -> dict[str, Any]:
    """The facts for `meta` on a part of a trace of which only the first events are shown."""
    ends = (trace.events[k] for k in range(max(start, end - 3), end))  # a call may end after the error
    last = next((event for event in ends if isinstance(event, ErrorRaised)), None)
    failed = {} if last is None or trace.meta.get("status") == 0 else {"failed": _in_words(last)}
    return {"of": end - start, **failed}


def _in_words(error: ErrorRaised) -> str:
    """An error on one line: its type, and the first sentence of its message."""
    first = first_of(error.message.strip().partition("\n")[0])
    return one_line(f"{error.type}: {first}" if first else error.type, 160)


def left_out(trace: Trace, file: Trace | None = None) -> str:
    """The note on a recording that was shortened; "" for any other.

    `file` is the trace file that was opened: one that was exported from a shortened recording has no more events to
    show.
    """
    if "of" not in trace.meta:
        return ""
    count, had, failed = len(trace.events), trace.meta["of"], trace.meta.get("failed")
    ended = f" It ends with an error, {failed.rstrip('.')}." if failed else ""
    if file is not None and count == len(file.events):
        return (
            f"This file has only the first {count:,} of the {had:,} events of a long recording: it was exported from a "
            f"page that showed no more.{ended} To see the rest, record the program again."
        )
    more = had if failed else min(5 * count, had)
    what = "the error" if failed else "more"
    return (
        f"This is a long recording: only the first {count:,} of its {had:,} events are shown.{ended} To see {what}, "
        f"start Backstep with `--events {more}`, which takes longer, or run fewer iterations. An export from this page "
        "contains only the events shown."
    )
