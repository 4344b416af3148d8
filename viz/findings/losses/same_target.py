"""Targets of a language model that are the tokens which it reads at the same positions.  Pure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from engine.trace.events import Input, OpCalled, Scalar

from ...reading import labels, text
from ...reading.facts import Facts
from ...reading.rearranged import origin
from ..finding import Finding
from .about_loss import about, elements, ops_behind, producer_of, written_at

FEWEST = 8
"""The fewest tokens that are not equal by chance."""
MASKED = -1e4
"""The score below which a position is masked."""


def same_targets(facts: Facts) -> list[Finding]:
    """The first loss whose targets are the indices of an embedding from which its scores were computed.

    An autoencoder, or a model that learns to copy, has such targets by intention.  So either the program wrote the same
    slice of the same tokens twice, or all tokens that the model reads are its targets and its attention is causal: a
    model that sees no later token predicts the next one.  Cost: linear in the ops and in their indices.
    """
    embeddings: list[tuple[OpCalled, np.ndarray]] = []
    for op in facts.ops:
        event, name = op.event, labels.written_name(op.event)
        if event.call is not None:
            continue
        if name == "embedding":
            tokens = elements(facts, event.inputs[1])
            if tokens is not None and tokens.size >= FEWEST and tokens.ndim:
                embeddings.append((event, tokens))
        elif embeddings and name in ("nll_loss", "nll_loss2d") and event.node is not None:
            finding = _looked_at(facts, event, embeddings)
            if finding is not None:
                return [finding]
    return []


def _looked_at(facts: Facts, loss: OpCalled, embeddings: Sequence[tuple[OpCalled, np.ndarray]]) -> Finding | None:
    targets = elements(facts, loss.inputs[1])
    if targets is None or targets.size < FEWEST or len(np.unique(targets)) < 3:
        return None
    if not any(_are_equal(tokens, targets) for _, tokens in embeddings):
        return None
    behind = {event.index: event for event in ops_behind(facts, loss.inputs[0])}
    read = [(event, tokens) for event, tokens in embeddings if event.index in behind and tokens.size == targets.size]
    same = [event for event, tokens in read if _are_equal(tokens, targets)]
    if not same:
        return None
    is_causal = len(same) == len(read) and any(_is_causal(facts, event) for event in behind.values())
    if not is_causal and not _is_written_twice(facts, same[0].inputs[1], loss.inputs[1]):
        return None
    why = (
        f"The {text.count(targets.size, 'target')} of {written_at(facts, loss)} are the tokens that "
        f"{written_at(facts, same[0])} reads, each at its own position. The model can copy its input, and the loss "
        "falls without anything being learnt."
    )
    fix = "To predict the next token, shift the targets by one: `x = tokens[:-1]; y = tokens[1:]`."
    return about("same-target", facts, loss, "the targets are the inputs", why, fix)


def _are_equal(tokens: np.ndarray, targets: np.ndarray) -> bool:
    return tokens.size == targets.size and bool((tokens.reshape(-1) == targets.reshape(-1)).all())


def _is_causal(facts: Facts, event: OpCalled) -> bool:
    """Return whether an op is an attention, or its softmax, in which no position sees a later one."""
    if event.attrs.get("is_causal"):
        return True
    if labels.written_name(event) != "softmax":
        return False
    scores = elements(facts, event.inputs[0])
    if scores is None or scores.ndim < 2 or scores.shape[-1] != scores.shape[-2] or scores.shape[-1] < 2:
        return False
    later = np.triu(np.ones(scores.shape[-2:], dtype=bool), 1)
    return bool((scores[..., later] < MASKED).all() and (scores[..., ~later] > MASKED).any())


def _is_written_twice(facts: Facts, one: Input, other: Input) -> bool:
    """Return whether two inputs were computed in the same way from the same tensors, by different expressions."""
    first, second = _origin(facts, one), _origin(facts, other)
    if first is None or second is None or first is second:
        return False
    todo, are_different = [(first, second)], False
    while todo:
        first, second = todo.pop()
        if (first.name, first.attrs, len(first.inputs)) != (second.name, second.attrs, len(second.inputs)):
            return False
        are_different = are_different or facts.frames.get(first.stack) != facts.frames.get(second.stack)
        for sides in zip(first.inputs, second.inputs, strict=True):
            before = [_origin(facts, side) for side in sides]
            if before[0] is not None and before[1] is not None:
                todo += [(before[0], before[1])] if before[0] is not before[1] else []
            elif before != [None, None] or _leaf(facts, sides[0]) != _leaf(facts, sides[1]):
                return False
    return are_different


def _origin(facts: Facts, argument: Input) -> OpCalled | None:
    """The op that computed the numbers of an input, before they were rearranged; None for those of a leaf."""
    before = origin(facts, argument)
    return None if before is None else before.op


def _leaf(facts: Facts, argument: Input) -> tuple[int | None, Scalar | None]:
    """The leaf whose numbers an input has, or its number."""
    while (event := producer_of(facts, argument)) is not None:
        argument = event.inputs[0]
    return argument.tensor, argument.scalar
