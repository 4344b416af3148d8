"""`with record() as trace:` records what runs inside; `trace` can be read afterwards."""

from __future__ import annotations

import functools
import gc
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from ..arrays.session import slot
from .events import Trace
from .log import Recording
from .log_reader import read
from .recorder import Recorder
from .value_store import LIMIT

SELDOM = 20_000
"""How many new objects let Python look for reference cycles while a recording runs: what it appends has none."""


@contextmanager
def record(*, limit: int = LIMIT) -> Iterator[Trace]:
    """Record every forward op and every VJP that runs inside.

    Values of more than `limit` elements are kept as statistics and a sample.  An exception passes through and is the
    last event of the trace.

    Where a recording runs already (another `record()`, or `backstep run`), it goes on as it is, with its own limit, and
    the trace is the part of it from its beginning to the end of the block: what a tensor is made of stays known.

    >>> import engine
    >>> with engine.record() as trace:
    ...     x = engine.tensor([1.0, 2.0], requires_grad=True)
    ...     (x * x).sum().backward()
    >>> [type(event).__name__ for event in trace.events[:3]]
    ['LeafCreated', 'OpCalled', 'OpCalled']
    """
    with recording(sys._getframe(2), limit) as trace:  # past contextlib, where the `with` stands
        yield trace


@contextmanager
def recording(frame: FrameType, limit: int = LIMIT) -> Iterator[Trace]:
    """The same for a block in `frame`, the program's outermost frame of which a recording has positions."""
    argv = tuple(sys.argv)
    outer = slot.active
    recorder = outer if outer is not None else Recorder(limit)
    trace = Trace.pending(unfinished)
    often = gc.get_threshold()
    if outer is None:
        recorder.stacks.begin(frame)
        slot.active = recorder
        gc.set_threshold(max(often[0], SELDOM) if often[0] else 0, *often[1:])
    try:
        yield trace
    except BaseException as error:
        recorder.error(error)
        raise
    finally:
        if recorder.settle is not None:
            recorder.settle()
        if outer is None:  # a part leaves the recording as it finds it: another thread may have ended it meanwhile
            if slot.active is recorder:
                slot.active = None
            recorder.stacks.base = None
            recorder.store.settle()
            gc.set_threshold(*often)
        whole = recorder.recording
        load = _reading(whole, argv, recorder.meta) if outer is None else _until_now(outer, argv)
        if recorder.errors:  # an exception holds frames: read it now and let them go
            load = functools.partial(_same, load())
        trace.__dict__["_load"] = load


def unfinished() -> Trace:
    """Refuses to read a trace too early."""
    raise RuntimeError("the recording still runs: its trace can be read after the `with` block")


def _reading(whole: Recording, argv: tuple[str, ...], meta: dict[str, Any]) -> Callable[[], Trace]:
    """Reads a recording that has ended."""
    return lambda: read(whole, argv, dict(meta))


def _until_now(recorder: Recorder, argv: tuple[str, ...]) -> Callable[[], Trace]:
    """Reads what a recording that goes on has by now; later, so that what is written meanwhile has been copied.  One
    that is written to a file is read from there: memory has only its end.
    """
    whole, from_file, meta = recorder.recording, recorder.until, recorder.meta
    entries, values, stacks = len(whole.log), len(whole.values), len(whole.stacks)
    if from_file is not None:
        return lambda: replace(from_file(entries, values, stacks), argv=argv, meta=dict(meta))
    return lambda: read(whole.part(entries, values, stacks), argv, dict(meta))


def _same(trace: Trace) -> Trace:
    return trace
