"""`with record() as trace:` records what runs inside; `trace` can be read afterwards."""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from .reading import read
from .recorder import LIMIT, Recorder, slot
from .trace import Trace


@contextmanager
def record(*, limit: int = LIMIT) -> Iterator[Trace]:
    """Record every forward op and every VJP that runs inside.

    Values of more than `limit` elements are kept as statistics and a sample.  An exception passes through and is the
    last event of the trace.  Raises RuntimeError where a recording already runs.

    >>> import engine
    >>> with engine.record() as trace:
    ...     x = engine.tensor([1.0, 2.0], requires_grad=True)
    ...     (x * x).sum().backward()
    >>> [type(event).__name__ for event in trace.events[:3]]
    ['LeafCreated', 'OpCalled', 'OpCalled']
    """
    if slot.active is not None:
        raise RuntimeError("a recording is running already: record() does not nest; leave the first one before")
    recorder = Recorder(limit)
    argv = tuple(sys.argv)

    def unfinished() -> Trace:
        raise RuntimeError("the recording still runs: its trace can be read after the `with` block")

    trace = Trace.pending(unfinished)
    slot.active = recorder
    try:
        yield trace
    except BaseException as error:
        recorder.error(error)
        raise
    finally:
        slot.active = None
        load = functools.partial(read, recorder, argv)
        if recorder.errors:  # an exception holds frames: read it now and let them go
            load = functools.partial(_same, load())
        trace.__dict__["_load"] = load


def _same(trace: Trace) -> Trace:
    return trace
