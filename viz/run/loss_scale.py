"""The scale of a GradScaler, which multiplies losses and gradients so that float16 can hold them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from engine.trace.events import SCALER, Accumulated, AnyEvent, LeafCreated, OpCalled, Trace
from engine.trace.file.measures import Measures
from engine.trace.file.outline import NOBODY, Outline

from .state import number_before


@dataclass(frozen=True, slots=True)
class LossScales:
    """What a GradScaler does to the roots of backward calls: by event of a call, the factor; by place of a call, the
    name of the loss that is multiplied, "" if it has none."""

    factors: Mapping[int, float]
    names: Mapping[int, str]


def loss_scales(trace: Trace, outline: Outline) -> LossScales:
    """The backward calls whose root a GradScaler has multiplied.

    Cost: two events are read for each place that calls, and one value for each call that is scaled.
    """
    scales: dict[int, tuple[int, int] | None] = {}  # by the place of the call
    factors: dict[int, float] = {}
    for event, roots in outline.calls:
        place = int(outline.stacks[event])
        if place not in scales:
            scales[place] = _scale_and_loss(trace, outline, roots)
        pair = scales[place]
        if pair is None or not outline.made_before(pair[0], event):
            continue
        number = number_before(trace, outline, pair[0], event)
        factor = float("nan") if number is None else trace.value(number).stats["max"]
        if factor > 0:  # not where it is damaged
            factors[event] = factor
    names = {place: trace.names.get(pair[1], "") for place, pair in scales.items() if pair is not None}
    return LossScales(factors, names)


def _scale_and_loss(trace: Trace, outline: Outline, roots: Iterable[int]) -> tuple[int, int] | None:
    """The tensor by which a GradScaler has multiplied one of these roots, and what it has multiplied; None if it has
    not."""
    for root in roots:
        maker = _maker(trace, outline, root)
        if isinstance(maker, OpCalled):
            tensors = [one.tensor for one in maker.inputs if one.tensor is not None]
            scales = [tensor for tensor in tensors if _is_scale(_maker(trace, outline, tensor))]
            if scales:
                return scales[0], next((tensor for tensor in tensors if tensor not in scales), root)
    return None


def _is_scale(maker: AnyEvent | None) -> bool:
    return isinstance(maker, LeafCreated) and maker.source == SCALER


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
