"""The numbers of a run that were not written during its recording, computed from the values of the trace by the same
rules."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from engine.trace.events import Accumulated, BackwardStarted, Damaged, GradSet, Skipped, Trace
from engine.trace.file.measures import Measures, Meter, joined
from engine.trace.file.outline import CODES, GRAD, VALUE, Change, Outline

from .pauses import Pauses
from .state import number_before


def measured(trace: Trace, outline: Outline) -> Measures:
    """The numbers of a run: those that were written, and those of the events after them.

    Cost: linear in the number of gradients, and in the elements of the values that are read: gradients, roots, and the
    leaves that they change. No other events are read. The numbers end before the first of these that is damaged,
    because an update that it hides would be counted as part of the next one.
    """
    noted, changes = outline.measures, outline.changes
    if noted is not None and outline.measured == len(outline.kinds):
        return noted
    paused = Pauses(trace, outline).place(outline.measured)  # what changed before it and after is not one update
    rows = (
        [] if noted is None else list(zip(noted.gradients.tensor.tolist(), noted.gradients.event.tolist(), strict=True))
    )
    last = {tensor: event for tensor, event in rows if event > paused}
    reached = {tensor for tensor, event in rows if outline.kinds[event] == CODES[Accumulated]}
    numbers = {tensor: number_before(trace, outline, tensor, event) for tensor, event in last.items()}
    meter = Meter(trace.value, lambda tensor, event: number_before(trace, outline, tensor, event), numbers, reached)
    taught = changes.tensor[changes.what == GRAD]
    is_written = (changes.what == VALUE) & np.isin(changes.tensor, taught)
    events = np.union1d(outline.where(Accumulated, BackwardStarted, GradSet, Skipped), changes.event[is_written])
    for at in np.union1d(events[events >= outline.measured], _since(changes, is_written, last)).tolist():
        event = trace.events[at]
        if isinstance(event, Damaged):
            break
        meter.see(event)
    rest = meter.rest()
    return joined([rest] if noted is None else [noted, rest])


def _since(changes: Change, is_written: np.ndarray, last: Mapping[int, int]) -> np.ndarray:
    """The events that wrote tensors after their last gradients: parts of updates that have no numbers yet."""
    tensors, events = changes.tensor[is_written], changes.event[is_written]
    ends = np.full(int(changes.tensor.max(initial=-1)) + 1, np.iinfo("i8").max)
    for tensor, event in last.items():
        ends[tensor] = event
    later: np.ndarray = events[events > ends[tensors]]
    return later
