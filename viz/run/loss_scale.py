"""The scale of a GradScaler, which multiplies losses and gradients so that float16 can hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from engine.trace.events import SCALER, Accumulated, AnyEvent, LeafCreated, OpCalled, Trace
from engine.trace.file.measures import Measures
from engine.trace.file.outline import NOBODY, Outline

from .state import number_before


def loss_scales(trace: Trace, outline: Outline) -> dict[int, float]:
    """By event of a backward call whose root a GradScaler has multiplied: the scale. Empty without one.

    Cost: two events are read for each place that calls, and one value for each call that is scaled.
    """
    scales: dict[int, int | None] = {}  # by the place of the call
    result: dict[int, float] = {}
    for event, roots in outline.calls:
        place = int(outline.stacks[event])
        if place not in scales:
            scales[place] = _scale_of(trace, outline, roots)
        scale = scales[place]
        if scale is None or not outline.made_before(scale, event):
            continue
        number = number_before(trace, outline, scale, event)
        factor = float("nan") if number is None else trace.value(number).stats["max"]
        if factor > 0:  # not where it is damaged
            result[event] = factor
    return result


def _scale_of(trace: Trace, outline: Outline, roots: Iterable[int]) -> int | None:
    """The tensor by which a GradScaler has multiplied one of these roots; None if it has not."""
    for root in roots:
        maker = _maker(trace, outline, root)
        if isinstance(maker, OpCalled):
            for one in maker.inputs:
                leaf = None if one.tensor is None else _maker(trace, outline, one.tensor)
                if isinstance(leaf, LeafCreated) and leaf.source == SCALER:
                    return one.tensor
    return None


def _maker(trace: Trace, outline: Outline, tensor: int) -> AnyEvent | None:
    """The event that made a tensor; None if it is not known."""
    place = int(outline.born[tensor]) if 0 <= tensor < len(outline.born) else NOBODY
    return None if place == NOBODY else trace.events[place]


def without_scales(measures: Measures, scales: Mapping[int, float], outline: Outline) -> Measures:
    """The numbers of a run as they are without the scales of some backward calls: losses, and gradients of leaves.

    Cost: linear in the numbers.
    """
    if not scales:
        return measures
    calls = np.array([event for event, _ in outline.calls])
    factors = np.array([scales.get(event, 1.0) for event, _ in outline.calls])

    def factor(events: np.ndarray) -> np.ndarray:
        return factors[np.searchsorted(calls, events, side="right") - 1]

    gradients, losses = measures.gradients, measures.losses
    arrived = np.isin(gradients.event, outline.where(Accumulated))  # the others are assigned by the program
    by = np.where(arrived, factor(gradients.event), 1.0)
    return replace(
        measures,
        gradients=replace(
            gradients, norm=gradients.norm / by, largest=gradients.largest / by, mean=gradients.mean / by
        ),
        losses=replace(losses, loss=losses.loss / factor(losses.event)),
    )
