"""Losses that torch computes in one step.  `reduction` is "none", "mean" or "sum".

Inputs and targets have one shape here: the functions of nn.functional broadcast them before.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, xp, zeros_at
from ..arrays.ufunc_folds import folded
from .activation import log_sigmoid
from .choice import clamp_min, ge, gt, where
from .elementwise import absolute, log, sigmoid, sign
from .notation import sums
from .op import PLAIN, SAME, Traits, op
from .presentation import Presentation
from .reduction import gather, sum_dim
from .result_shapes import ShapeArgument
from .shape import Sizes, count, reshape, unsqueeze

# -- what all of them share ---------------------------------------------------------------------------------------


def _reduced(values: Array, reduction: str) -> Array:
    """The losses of all places, their mean or their sum."""
    if reduction == "none":
        return values
    total = folded(xp.add, values)
    return total / values.dtype.type(values.size) if reduction == "mean" else total


def _shared(grad: Any, reduction: str, sizes: Sizes, factor: float = 1) -> Any:
    """`factor` times the gradient that each place gets of the reduced loss's."""
    if reduction == "mean":
        factor = factor / max(1, count(sizes))
    return grad if factor == 1 else grad * factor


# -- distances ----------------------------------------------------------------------------------------------------


def _mse(self: Array, target: Array, reduction: str = "mean") -> Array:
    off = self - target
    off *= off
    return _reduced(off, reduction)


def _smooth_l1(self: Array, target: Array, reduction: str = "mean", beta: float = 1.0) -> Array:
    return _reduced(_bent(self, target, beta) / beta, reduction)


def _bent(self: Array, target: Array, reach: float) -> Array:
    """m (|d| - m / 2), where m is the distance |d| up to `reach`: half its square, and a straight line from there."""
    off = abs(self - target)
    near = xp.minimum(off, reach)
    off -= near * 0.5
    off *= near
    return off


def _smooth_l1_slope(off: Any, beta: float) -> Any:
    return where(ge(absolute(off), beta), sign(off), off / beta)


def _huber(self: Array, target: Array, reduction: str = "mean", delta: float = 1.0) -> Array:
    return _reduced(_bent(self, target, delta), reduction)


def _huber_slope(off: Any, delta: float) -> Any:
    return where(ge(absolute(off), delta), sign(off) * delta, off)


mse_loss = op(
    "mse_loss", _mse, SAME,
    self=lambda grad, self, target, reduction, self_sizes: _shared(grad, reduction, self_sizes, 2) * (self - target),
    target=lambda grad, self, target, reduction, self_sizes: _shared(grad, reduction, self_sizes, 2) * (target - self),
)  # fmt: skip
smooth_l1_loss = op(
    "smooth_l1_loss", _smooth_l1, Traits(promote=SAME.promote, node="SmoothL1LossBackward0"),
    self=lambda grad, self, target, reduction, beta, self_sizes: _shared(grad, reduction, self_sizes)
    * _smooth_l1_slope(self - target, beta),
    target=lambda grad, self, target, reduction, beta, self_sizes: _shared(grad, reduction, self_sizes)
    * _smooth_l1_slope(target - self, beta),
)  # fmt: skip
huber_loss = op(
    "huber_loss", _huber, SAME,
    self=lambda grad, self, target, reduction, delta, self_sizes: _shared(grad, reduction, self_sizes)
    * _huber_slope(self - target, delta),
    target=lambda grad, self, target, reduction, delta, self_sizes: _shared(grad, reduction, self_sizes)
    * _huber_slope(target - self, delta),
)  # fmt: skip

# -- of probabilities ---------------------------------------------------------------------------------------------

LEAST_LOG = -100
"""No logarithm in the binary cross entropy is taken as less."""


def _weighted(values: Any, weight: Any) -> Any:
    return values if weight is None else values * weight


def _bce(self: Array, target: Array, weight: Array | None, reduction: str = "mean") -> Array:
    yes = xp.maximum(xp.log(self), LEAST_LOG)
    no = xp.maximum(xp.log1p(-self), LEAST_LOG)
    return _reduced(_weighted((target - 1) * no - target * yes, weight), reduction)


def _bce_slope(grad: Any, self: Any, target: Any, weight: Any, reduction: str, self_sizes: Sizes) -> Any:
    steep = (self - target) / clamp_min((1 - self) * self, 1e-12)
    return _weighted(_shared(grad, reduction, self_sizes) * steep, weight)


def _bce_target_slope(grad: Any, self: Any, weight: Any, reduction: str, self_sizes: Sizes) -> Any:
    return _weighted(_shared(grad, reduction, self_sizes) * (log(1 - self) - log(self)), weight)


def _bce_logits(
    self: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction: str = "mean"
) -> Array:
    low = xp.log1p(xp.exp(-abs(self))) - xp.minimum(self, 0)  # -log(sigmoid(x))
    if pos_weight is not None:
        low *= (pos_weight - 1) * target + 1
    return _reduced(_weighted((1 - target) * self + low, weight), reduction)


def _bce_logits_slope(
    grad: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: str, self_sizes: Sizes
) -> Any:
    if pos_weight is None:
        steep = sigmoid(self) - target
    else:
        yes = pos_weight * target
        steep = (yes + 1 - target) * sigmoid(self) - yes
    return _weighted(_shared(grad, reduction, self_sizes) * steep, weight)


def _bce_logits_target_slope(
    grad: Any, self: Any, weight: Any, pos_weight: Any, reduction: str, self_sizes: Sizes
) -> Any:
    steep = -self if pos_weight is None else log_sigmoid(-self) - pos_weight * log_sigmoid(self)
    return _weighted(_shared(grad, reduction, self_sizes) * steep, weight)


binary_cross_entropy = op("binary_cross_entropy", _bce, self=_bce_slope, target=_bce_target_slope)
bce_with_logits = op(
    "binary_cross_entropy_with_logits", _bce_logits, self=_bce_logits_slope, target=_bce_logits_target_slope
)


def _soft_margin(self: Array, target: Array, reduction: str = "mean") -> Array:
    return _reduced(xp.log1p(xp.exp(-target * self)), reduction)


soft_margin_loss = op(
    "soft_margin_loss", _soft_margin,
    self=lambda grad, self, target, reduction, self_sizes: _shared(grad, reduction, self_sizes)
    * (-target * sigmoid(-target * self)),
)  # fmt: skip

# -- of classes ---------------------------------------------------------------------------------------------------


def _classes(sizes: Sizes) -> tuple[int, int, int]:
    """(samples, classes, places): a batch of class scores per place, as torch reads the shape."""
    if len(sizes) == 1:
        return 1, sizes[0], 1
    return sizes[0], sizes[1], count(sizes[2:])


def _chosen(sizes: Sizes, target: Array, ignore_index: int) -> tuple[Any, Array | None]:
    """The key of each place's target in (samples, classes, places), and which places count (None: all of them)."""
    n, c, places = _classes(sizes)
    target = target.reshape(n, places)
    counts = None
    if target.size:
        least, most = target.min(), target.max()
        if least <= ignore_index <= most:
            counts = target != ignore_index
            target = xp.where(counts, target, 0)
            least, most = target.min(), target.max()
        if least < 0 or most >= c:
            wrong = target[(target < 0) | (target >= c)]
            raise IndexError(f"Target {int(wrong[0])} is out of bounds.")
    return (xp.arange(n, like=target)[:, None], target, xp.arange(places, like=target)), counts


def _nll(
    self: Array, target: Array, weight: Array | None, reduction: str = "mean", ignore_index: int = -100
) -> tuple[Array, Array]:
    key, counts = _chosen(self.shape, target, ignore_index)
    losses = -self.reshape(_classes(self.shape))[key]
    weights = None if weight is None else weight[key[1]]
    if counts is not None:
        losses = xp.where(counts, losses, xp.zeros_like(losses))
        weights = counts.astype(self.dtype) if weights is None else weights * counts
    if weights is not None:
        losses *= weights
    dtype = self.dtype.type
    total = xp.asarray(dtype(losses.size), like=self) if weights is None else folded(xp.add, weights)
    if reduction == "none":
        return losses.reshape(target.shape if self.ndim > 1 else ()), xp.asarray(dtype(0), like=self)
    result = folded(xp.add, losses)
    return (result / total if reduction == "mean" else result), total


def _nll_backward(
    self: Array, target: Array, weight: Array | None, total: Array, sizes: Sizes, reduction: str, ignore_index: int
) -> Array:
    """Minus the gradient (times weight) at each target's place, 0 elsewhere."""
    key, counts = _chosen(sizes, target, ignore_index)
    values = -self.reshape(key[1].shape) if reduction == "none" else -self
    if reduction == "mean":
        values = values / total
    if weight is not None:
        values = values * weight[key[1]]
    if counts is not None:
        values = xp.where(counts, values, xp.zeros_like(values))
    out = zeros_at(self, _classes(sizes))
    out[key] = values
    return out.reshape(sizes)


def _nll_slope(
    grad: Any, self: Any, target: Any, weight: Any, result1: Any, self_sizes: Sizes, reduction: str, ignore_index: int
) -> Any:
    return nll_backward(grad, target, weight, result1, self_sizes, reduction, ignore_index)


def _scaled_nll(
    self: Array, target: Array, weight: Array | None, total: Array, reduction: str, ignore_index: int
) -> Array:
    return _nll(self, target, weight, reduction, ignore_index)[0]


COUNTED = Presentation(letters="yN", roles=("", "how many targets counted, or the sum of their weights"))
nll_loss = op(
    "nll_loss_forward", _nll, Traits(node="NllLossBackward0", differentiable=(0,), fused="zeros"), COUNTED,
    self=_nll_slope,
)  # fmt: skip
nll_loss2d = op(
    "nll_loss2d_forward", _nll, Traits(node="NllLoss2DBackward0", differentiable=(0,), fused="zeros"), COUNTED,
    self=_nll_slope,
)  # fmt: skip
nll_backward = op(
    "nll_loss_backward", _nll_backward, PLAIN,
    Presentation(
        shape=ShapeArgument("sizes"), name="to_target",
        word="minus the upstream gradient at each target's position (times its weight, over the total where that is a "
        "mean), 0 elsewhere",
        indexed=sums.to_target,
    ),
    self=lambda grad, target, weight, total, reduction, ignore_index: nll_again(
        grad, target, weight, total, reduction, ignore_index
    ),
)  # fmt: skip
nll_again = op(
    "nll_loss_again", _scaled_nll, PLAIN,
    Presentation(
        name="at_target",
        word="minus the number at each target's position (times its weight, over the total where that is a mean)",
    ),
    self=lambda grad, target, weight, total, self_sizes, reduction, ignore_index: nll_backward(
        grad, target, weight, total, self_sizes, reduction, ignore_index
    ),
)  # fmt: skip
"""The loss is linear: the derivative of its backward is the loss of what is sent back."""


def _is_chosen(self: Array, sizes: Sizes) -> Array:
    """1 at each sample's target class, 0 elsewhere, for one target per sample."""
    return self.reshape(-1, 1) == xp.arange(_score_count(sizes), like=self)


is_chosen = op("is_chosen", _is_chosen, PLAIN, Presentation(shape=ShapeArgument("sizes")))


def _score_count(sizes: Sizes) -> int:
    """How many scores a sample has; a number is a sample of one."""
    return sizes[-1] if sizes else 1


def _multi_margin(
    self: Array, target: Array, weight: Array | None, reduction: str = "mean", p: int = 1, margin: float = 1.0
) -> Array:
    classes = _score_count(self.shape)
    scores = self.reshape(-1, classes)
    rows, labels = xp.arange(scores.shape[0], like=target), target.reshape(-1)
    over = xp.maximum(scores - scores[rows, labels][:, None] + margin, 0)
    over[rows, labels] = 0
    losses = folded(xp.add, over if p == 1 else over * over, 1) / self.dtype.type(classes)
    losses = losses if weight is None else losses * weight[labels]
    return _reduced(losses.reshape(target.shape), reduction)


def _multi_margin_slope(
    grad: Any, self: Any, target: Any, weight: Any, reduction: str, p: int, margin: float, self_sizes: Sizes,
    target_sizes: Sizes,
) -> Any:  # fmt: skip
    classes, samples = _score_count(self_sizes), count(target_sizes)
    scores, places = reshape(self, (samples, classes)), reshape(target, (samples, 1))
    over = scores - gather(scores, places, 1) + margin
    steep = where(gt(over, 0), 1 if p == 1 else 2 * over, 0)
    if weight is not None:
        steep = steep * gather(unsqueeze(weight, 1), places, 0)
    share = _shared(grad, reduction, target_sizes, 1 / classes)
    share = (reshape(share, (samples, 1)) if reduction == "none" else share) * steep
    chosen = is_chosen(target, self_sizes)
    others = where(chosen, 0, share)
    return reshape(others - where(chosen, sum_dim(others, 1, True), 0), self_sizes)


multi_margin_loss = op("multi_margin_loss", _multi_margin, Traits(fused="zeros"), self=_multi_margin_slope)


def _label_counts(self: Array, sizes: Sizes) -> Array:
    """How often each class stands in a sample's list of labels, which ends at its first -1."""
    labels = self.reshape(-1, _score_count(sizes))
    mask = (labels >= 0).cumprod(axis=1).astype(bool)
    rows = xp.broadcast_to(xp.arange(labels.shape[0], like=self)[:, None], labels.shape)
    counts = xp.zeros(labels.shape, dtype="float64", like=self)
    xp.add.at(counts, (rows[mask], labels[mask]), 1.0)
    return counts


label_counts = op("label_counts", _label_counts, PLAIN, Presentation(shape=ShapeArgument("sizes")))


def _multilabel_margin(self: Array, target: Array, reduction: str = "mean") -> Array:
    classes = _score_count(self.shape)
    scores = self.reshape(-1, classes)
    counts = _label_counts(target, self.shape).astype(self.dtype)
    over = xp.maximum(1 - scores[:, :, None] + scores[:, None, :], 0)
    over *= counts[:, :, None]
    over *= (counts == 0)[:, None, :]
    losses = folded(xp.add, over, (1, 2)) / self.dtype.type(classes)
    return _reduced(losses.reshape(self.shape[:-1]), reduction)


def _multilabel_margin_slope(grad: Any, self: Any, target: Any, reduction: str, self_sizes: Sizes) -> Any:
    classes, samples = _score_count(self_sizes), count(self_sizes[:-1])
    scores, counts = reshape(self, (samples, classes)), label_counts(target, self_sizes)
    over = 1 - unsqueeze(scores, 2) + unsqueeze(scores, 1)
    share = _shared(grad, reduction, self_sizes[:-1], 1 / classes)
    share = reshape(share, (samples, 1, 1)) if reduction == "none" else share
    pairs = where(gt(over, 0), share * (unsqueeze(counts, 2) * where(gt(unsqueeze(counts, 1), 0), 0, 1)), 0)
    return reshape(sum_dim(pairs, 1, False) - sum_dim(pairs, 2, False), self_sizes)


multilabel_margin_loss = op(
    "multilabel_margin_loss", _multilabel_margin, Traits(fused="zeros"), self=_multilabel_margin_slope
)
