"""The numbers of a run that has them not noted: worked out from the values of its trace, as a recording does it."""

from __future__ import annotations

import numpy as np

from engine.trace.events import Accumulated, BackwardStarted, Trace
from engine.trace.file.measures import Measures, Meter
from engine.trace.file.outline import GRAD, VALUE, Outline

from .state import number_before


def measured(trace: Trace, outline: Outline) -> Measures:
    """The numbers of a run.

    Linear in the gradients, and in the elements of what is read: gradients, roots, and the leaves that they change.
    Other events are not read.
    """
    meter = Meter(trace.value, lambda tensor, event: number_before(trace, outline, tensor, event))
    changes = outline.changes
    taught = changes.tensor[changes.what == GRAD]
    written = changes.event[(changes.what == VALUE) & np.isin(changes.tensor, taught)]
    for event in np.union1d(outline.where(Accumulated, BackwardStarted), written).tolist():
        meter.see(trace.events[event])
    return meter.measures()
