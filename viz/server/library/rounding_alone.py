"""Numbers of a recording that are rounding alone, such as the gradient of a key's bias in attention.

Such a gradient is a sum whose terms cancel out. Another library rounds the terms differently and gets other numbers,
from which an optimiser such as Adam makes a step of full size.
"""

from __future__ import annotations

import numpy as np

from engine.trace.events import Accumulated, AnyEvent, OpCalled, Trace, VjpRun
from viz.reading.library import gap, rounding, scale


class RoundingSearch:
    """Finds these numbers while the events of a recording go by.

    Both tables are by value: `least` has the size of the terms of a sum, `elements` says which elements are rounding
    alone. `_tensors` has the same elements by the tensor that holds them now.
    """

    def __init__(self, trace: Trace) -> None:
        self.trace = trace
        self.least: dict[int, float] = {}
        self.elements: dict[int, np.ndarray] = {}
        self._tensors: dict[int, np.ndarray] = {}

    def see(self, event: AnyEvent) -> None:
        """Take in the next event of the recording."""
        if isinstance(event, VjpRun):
            self._note_cotangents(event)
        elif isinstance(event, Accumulated):
            self._note_accumulation(event)
        elif isinstance(event, OpCalled):
            self._note_op(event)

    def difference(self, value: int, computed: np.ndarray, worst: float) -> float:
        """The largest difference of a value from the same one computed again; `worst` is that of earlier values."""
        recorded, left_out = self.trace.value(value).array, self.elements.get(value)
        if recorded is None:
            return 0.0
        if left_out is not None and recorded.shape == computed.shape:
            recorded, computed = recorded[~left_out], computed[~left_out]
        largest, least = gap(recorded, computed), self.least.get(value)
        if least is None:
            return largest
        of_terms = gap(recorded, computed, least)
        return of_terms if of_terms <= max(rounding(str(recorded.dtype)), worst) else largest

    def _note_cotangents(self, event: VjpRun) -> None:
        """A gradient with fewer elements than the upstream gradient is a sum of its elements, as in the check of one
        call (`viz.reading.library`). A gradient computed from rounding alone is rounding alone."""
        arrays = {value: self.trace.value(value).array for value in event.upstream if value is not None}
        upstream = {value: array for value, array in arrays.items() if array is not None}
        if not upstream:
            return
        sizes = {value: scale(array) for value, array in upstream.items()}
        elements, largest = max(array.size for array in upstream.values()), max(sizes.values())
        share = max((self.least.get(value, 0.0) / size for value, size in sizes.items() if size), default=0.0)
        for value in event.cotangents:
            array = None if value is None or value in upstream else self.trace.value(value).array
            if value is not None and array is not None:
                least = max(share * scale(array), largest if array.size < elements else 0.0)
                if least:
                    self.least[value] = least

    def _note_accumulation(self, event: Accumulated) -> None:
        mask_before = None if event.before is None else self._tensors.get(event.grad)
        self._tensors.pop(event.grad, None)
        least = max(self.least.get(event.added, 0.0), self.least.get(-1 if event.before is None else event.before, 0.0))
        added = self.trace.value(event.added).array
        if not least or added is None or added.dtype.kind != "f":
            return
        self.least[event.after] = least
        alone = abs(added) <= rounding(str(added.dtype)) * least
        if event.before is not None:
            alone = alone & mask_before if mask_before is not None else np.zeros_like(alone)
        if (alone & (added != 0)).any():
            self._tensors[event.grad] = alone

    def _note_op(self, event: OpCalled) -> None:
        """An op without a graph, as in an optimiser, computes with such numbers element by element."""
        inputs = () if event.node is not None else event.inputs
        masks = [self._tensors[one.tensor] for one in inputs if one.tensor in self._tensors]
        for out in event.outputs:
            alone = None
            for one in masks:
                if one.shape == out.shape or one.all():
                    here = one if one.shape == out.shape else np.ones(out.shape, bool)
                    alone = here if alone is None else alone | here
            if alone is None:
                self._tensors.pop(out.tensor, None)
            else:
                self._tensors[out.tensor] = self.elements[out.value] = alone
