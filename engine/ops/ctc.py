"""The connectionist temporal classification loss.  Source: Graves et al., 2006.

The targets l1, l2 ... with a blank before, between and after them are a chain of 2 S + 1 states; a path stays in its
state or goes on to the next, or past a blank between two different labels.  All samples go through time together.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, library_of, xp, zeros_at
from .op import Traits, op
from .presentation import Presentation


def _chain(targets: Array, target_lengths: Array, blank: int) -> tuple[Array, Array, Array]:
    """The label of each state, (N, 2 S + 1); where a path may skip a blank; and which states there are."""
    samples, longest = targets.shape
    labels = library_of(targets).full((samples, 2 * longest + 1), blank, dtype="int64")
    labels[:, 1::2] = targets
    skips = xp.zeros(labels.shape, dtype=bool, like=targets)
    skips[:, 3::2] = targets[:, 1:] != targets[:, :-1]
    states = xp.arange(labels.shape[1], like=targets) <= 2 * target_lengths[:, None]
    return xp.where(states, labels, blank), skips, states


def _sum_of_ways(*ways: Array) -> Array:
    """log(exp(a) + exp(b) + ...), minus infinity where all are."""
    top = ways[0]
    for way in ways[1:]:
        top = xp.maximum(top, way)
    safe = xp.where(xp.isneginf(top), xp.zeros_like(top), top)
    total = sum(xp.exp(way - safe) for way in ways)
    return xp.log(total) + safe


def _later(alpha: Array, steps: int) -> Array:
    """The values `steps` states before each."""
    out = xp.full_like(alpha, -xp.inf)
    out[:, steps:] = alpha[:, : alpha.shape[1] - steps]
    return out


def _scores(log_probs: Array, labels: Array) -> Array:
    """The log-probability of each state's label at each time, (T, N, 2 S + 1)."""
    return log_probs[:, xp.arange(labels.shape[0], like=labels)[:, None], labels]


def _forward(
    log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank: int,
    zero_infinity: bool = False,
) -> tuple[Array, Array]:  # fmt: skip
    """Minus the log of the sum over all paths, and log α: (N, T, 2 S + 1)."""
    labels, skips, states = _chain(targets, target_lengths, blank)
    scores = _scores(log_probs, labels)
    alpha = xp.full_like(scores, -xp.inf)
    if scores.shape[0]:
        alpha[0, :, :2] = scores[0, :, :2]
        alpha[0] = xp.where(states, alpha[0], -xp.inf)
    for time in range(1, scores.shape[0]):
        before = alpha[time - 1]
        past = xp.where(skips, _later(before, 2), -xp.inf)
        alpha[time] = xp.where(states, _sum_of_ways(before, _later(before, 1), past) + scores[time], -xp.inf)
    rows = xp.arange(labels.shape[0], like=labels)
    end = 2 * target_lengths
    last = alpha[xp.maximum(input_lengths, 1) - 1, rows]
    final = last[rows, end]
    before_final = xp.where(target_lengths > 0, last[rows, xp.maximum(end - 1, 0)], -xp.inf)
    loss = -_sum_of_ways(final, before_final)
    empty = xp.where(target_lengths > 0, xp.full_like(loss, xp.inf), xp.zeros_like(loss))
    return xp.where(input_lengths > 0, loss, empty), alpha.transpose(1, 0, 2)


def _backward_states(scores: Array, skips: Array, states: Array, input_lengths: Array, target_lengths: Array) -> Array:
    """log β: the sum over all ways on from each state at each time, (T, N, 2 S + 1)."""
    times, samples, width = scores.shape
    beta = xp.full_like(scores, -xp.inf)
    places = xp.arange(width, like=skips)
    ends = (places == 2 * target_lengths[:, None]) | (places == 2 * target_lengths[:, None] - 1)
    following = library_of(scores).full((samples, width), -xp.inf, dtype=scores.dtype)
    for time in range(times - 1, -1, -1):
        ahead = xp.where(skips, following, -xp.inf)
        one, two = xp.full_like(following, -xp.inf), xp.full_like(following, -xp.inf)
        one[:, :-1], two[:, :-2] = following[:, 1:], ahead[:, 2:]
        onward = _sum_of_ways(following, one, two)
        starts = (input_lengths - 1 == time)[:, None]
        onward = xp.where(starts, xp.where(ends, xp.zeros_like(onward), xp.full_like(onward, -xp.inf)), onward)
        following = xp.where(states, onward + scores[time], -xp.inf)
        beta[time] = following
    return beta


def _ctc_backward(
    self: Array, log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, loss: Array,
    log_alpha: Array, blank: int, zero_infinity: bool,
) -> Array:  # fmt: skip
    """p - the share of paths through each label: the gradient of the scores that log_softmax was taken of."""
    labels, skips, states = _chain(targets, target_lengths, blank)
    scores = _scores(log_probs, labels)
    beta = _backward_states(scores, skips, states, input_lengths, target_lengths)
    through = xp.exp(log_alpha.transpose(1, 0, 2) + beta - scores + loss[:, None])
    shares = zeros_at(log_probs, log_probs.shape)
    samples = xp.arange(labels.shape[0], like=labels)[:, None]
    everywhere: Any = (slice(None), samples, labels)
    xp.add.at(shares, everywhere, xp.where(states, through, 0))
    there = (xp.arange(log_probs.shape[0], like=labels)[:, None] < input_lengths)[:, :, None]
    grad = xp.where(there, (xp.exp(log_probs) - shares) * self[:, None], xp.zeros_like(shares))
    if zero_infinity:
        grad = xp.where(xp.isinf(loss)[:, None], xp.zeros_like(grad), grad)
    return grad.astype(log_probs.dtype, copy=False)


def _no_more(name: str) -> Any:
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


def _slope(
    grad: Any, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, results: Any, blank: int,
    zero_infinity: bool,
) -> Any:  # fmt: skip
    loss, log_alpha = results
    return ctc_backward(grad, log_probs, targets, input_lengths, target_lengths, loss, log_alpha, blank, zero_infinity)


ctc_backward = op(
    "_ctc_loss_backward", _ctc_backward, Traits(node="NotImplemented"),
    Presentation(
        name="ctc_slope", word="the gradient of the CTC loss, by the forward and backward sums over all alignments",
    ),
    self=lambda grad: _no_more("_ctc_loss_backward"),
    log_probs=lambda grad: _no_more("_ctc_loss_backward"),
)  # fmt: skip
ctc_loss = op(
    "_ctc_loss", _forward, Traits(node="CtcLossBackward0", differentiable=(0,)),
    log_probs=_slope,
)  # fmt: skip
