"""A loss that counts the positions of a batch that are only padding.  Pure."""

from __future__ import annotations

import numpy as np

from engine.trace.events import OpCalled

from ...reading import labels, text
from ...reading.facts import Facts
from ..finding import Finding
from .about_loss import about, elements, ops_behind, written_at

FEWEST = 0.05
"""The share of padding from which on it matters to a loss."""


def counted_padding(facts: Facts) -> list[Finding]:
    """The first loss of classes that counts positions at which an embedding with `padding_idx` read padding.

    Both are known: the index of padding from the embedding, the positions from its indices.  The targets at these
    positions must be padding too, which also shows that indices and targets stand in the same order.  A loss with
    weights, or of each element, may leave padding out in another way.  Cost: linear in the ops, and in the indices of
    such embeddings.
    """
    embeddings: list[OpCalled] = []
    for op in facts.ops:
        event, name = op.event, labels.written_name(op.event)
        if event.call is not None:
            continue
        if name == "embedding" and event.attrs.get("padding_idx", -1) >= 0:
            embeddings.append(event)
        elif embeddings and name in ("nll_loss", "nll_loss2d") and event.node is not None and len(event.inputs) == 2:
            for embedding in embeddings if event.attrs.get("reduction") != "none" else ():
                counted = _counted(facts, embedding, event)
                if counted is not None and any(
                    one is embedding for one in ops_behind(facts, event.inputs[0], embedding.index)
                ):
                    return [_finding(facts, embedding, event, counted)]
    return []


def _counted(facts: Facts, embedding: OpCalled, loss: OpCalled) -> np.ndarray | None:
    """Which targets of a loss are padding, in their shape; None if none is, or the loss leaves them out."""
    index = embedding.attrs["padding_idx"]
    numbers, targets = elements(facts, embedding.inputs[1]), elements(facts, loss.inputs[1])
    if numbers is None or targets is None or numbers.ndim < 2 or numbers.size != targets.size:
        return None
    if index == loss.attrs.get("ignore_index"):
        return None
    for order in (numbers, numbers.T):
        padding: np.ndarray = (order == index).reshape(targets.shape)
        if FEWEST <= padding.mean() < 1 and (targets[padding] == index).all():
            return padding
    return None


def _finding(facts: Facts, embedding: OpCalled, loss: OpCalled, padding: np.ndarray) -> Finding:
    index, many = embedding.attrs["padding_idx"], int(padding.sum())
    why = (
        f"{written_at(facts, embedding)} has padding_idx={index}, and {many:,} of {padding.size:,} positions that it "
        f"reads are padding. The targets at these positions are {index} too, and {written_at(facts, loss)} counts "
        f"them.{_without(facts, loss, index)}"
    )
    fix = f"Pass ignore_index={index} to the loss."
    return about("padding", facts, loss, f"{many / padding.size:.0%} of the loss is padding", why, fix)


def _without(facts: Facts, loss: OpCalled, index: int) -> str:
    """A sentence with the mean over all positions and over those that `ignore_index` leaves."""
    scores, targets = elements(facts, loss.inputs[0]), elements(facts, loss.inputs[1])
    if scores is None or targets is None or targets.min() < 0 or (targets == index).all():
        return ""
    each = -np.take_along_axis(scores, np.expand_dims(targets, 1), 1).squeeze(1).astype(np.float64)
    whole, rest = (text.number(float(f"{value:.3g}")) for value in (each.mean(), each[targets != index].mean()))
    return f" The mean is {whole} over all positions, and {rest} over those with a target other than {index}."
