"""Losses of distances, probabilities, margins and sequences.  Source: torch.nn.functional.

Everywhere `reduction` is "none" (the loss of each place), "mean" or "sum"; `size_average` and `reduce` are its older
spelling, which warns.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

from ...api.calls.check import kind, need_tensor
from ...api.inplace import inplace as ip
from ...api.math import arithmetic as am
from ...api.math.choice import where
from ...api.reduce import reduction as rd
from ...api.shape.shape import unsqueeze
from ...arrays import errors
from ...arrays.array import xp
from ...arrays.promotion import result_dtype
from ...arrays.session import callers_level, warn
from ...ops import choice as ch
from ...ops import ctc
from ...ops import elementwise as eo
from ...ops import loss as lo
from ...ops import reduction as ro
from ...ops import scalar as sc
from ...ops import shape as so
from ...ops import special as sp
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor, tensor_of
from .activation import logsigmoid
from .arguments import broadcast, need_no_gradient, of_dtype
from .distance import pairwise_distance

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multilabel_soft_margin_loss",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]

CTC_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"
BROADCAST = (
    "Using a target size ({}) that is different to the input size ({}). This will likely lead to incorrect results due "
    "to broadcasting. Please ensure they have the same size."
)


def reduction_of(size_average: bool | None, reduce: bool | None, reduction: str) -> str:
    """The reduction, by its name or by the older flags; raises ValueError where it is none."""
    if size_average is not None or reduce is not None:
        average = size_average is None or size_average
        reduction = "none" if reduce is False else "mean" if average else "sum"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            UserWarning,
            stacklevel=callers_level(),
        )
    return reduction


def need_reduction(reduction: str, message: str = "{} is not a valid value for reduction") -> str:
    """The reduction, if it is one."""
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(message.format(reduction))
    return reduction


def reduced(losses: Any, reduction: str) -> Tensor:
    """Losses by place, their mean or their sum, as nodes of their own."""
    if reduction == "none":
        return losses
    return rd.mean(losses) if reduction == "mean" else rd.sum(losses)


# -- distances ----------------------------------------------------------------------------------------------------


def _pair(input: Tensor, target: Any) -> tuple[Tensor, Tensor]:
    """Input and target broadcast to one shape, with torch's warning where that was needed."""
    if target.size() != input.size():
        warn(BROADCAST.format(target.size(), input.size()))
    first, second = broadcast(input, target)
    return first, second


def _common(input: Tensor, target: Tensor, kernel: str) -> tuple[Tensor, Tensor]:
    """Both in their common dtype; raises torch's error where that is no float."""
    dtype = result_dtype([input._array, target._array])
    first, second = of_dtype(input, dtype), of_dtype(target, dtype)
    if dtype.kind != "f":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{kind(first)}'")
    return first, second


def _check_weight(weight: Tensor, input: Tensor) -> None:
    if weight.size() != input.size():
        raise ValueError("Weights and input must have the same size.")


def _weighted(losses: Any, weight: Tensor, reduction: str) -> Tensor:
    """Losses times weight; their mean is that by weight."""
    total = eo.mul(losses, weight)
    if reduction == "mean":
        return eo.div(rd.sum(total), rd.sum(weight))
    return reduced(total, reduction)


def mse_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """(input - target)².

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.mse_loss.

    >>> import engine as torch
    >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 2.0]))
    tensor(2.)
    """
    first, second = _pair(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is not None:
        _check_weight(weight, input)
        return _weighted(am.pow(eo.sub(first, second), 2), weight, need_reduction(reduction))
    first, second = _common(first, second, "mse_cpu")
    return lo.mse_loss(first, second, reduction=need_reduction(reduction))


def l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """|input - target|.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.l1_loss.

    >>> import engine as torch
    >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 2.0]))
    tensor(1.)
    """
    first, second = _pair(input, target)
    reduction = reduction_of(size_average, reduce, reduction)
    if weight is not None:
        _check_weight(weight, input)
        return _weighted(eo.absolute(eo.sub(first, second)), weight, need_reduction(reduction))
    return reduced(eo.absolute(eo.sub(first, second)), need_reduction(reduction))


def smooth_l1_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", beta: float = 1.0,
) -> Tensor:  # fmt: skip
    """(input - target)² / (2 beta) nearer than `beta`, |input - target| - beta / 2 further off.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.smooth_l1_loss; Girshick, 2015.

    >>> import engine as torch
    >>> torch.nn.functional.smooth_l1_loss(torch.tensor([0.5, 3.0]), torch.zeros(2), reduction="none")
    tensor([0.1250, 2.5000])
    """
    first, second = _pair(input, target)
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    if beta == 0:
        return reduced(eo.absolute(eo.sub(first, second)), reduction)
    if beta < 0:
        raise errors.runtime("smooth_l1_loss does not support negative values for beta.")
    first, second = _common(first, second, "smooth_l1_cpu")
    return lo.smooth_l1_loss(first, second, reduction=reduction, beta=beta)


def huber_loss(
    input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0, weight: Tensor | None = None
) -> Tensor:
    """(input - target)² / 2 up to the distance `delta`, the straight line that goes on from there beyond it.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.huber_loss; Huber, 1964.

    >>> import engine as torch
    >>> torch.nn.functional.huber_loss(torch.tensor([3.0]), torch.tensor([0.0]))
    tensor(2.5000)
    """
    first, second = _pair(input, target)
    need_reduction(reduction)
    if delta <= 0:
        raise errors.runtime("huber_loss does not support non-positive values for delta.")
    if weight is not None:
        _check_weight(weight, input)
    first, second = _common(first, second, "huber_cpu")
    if weight is None:
        return lo.huber_loss(first, second, reduction=reduction, delta=delta)
    losses = lo.huber_loss(first, second, reduction="none", delta=delta)
    return reduced(eo.mul(losses, weight), reduction)


# -- probabilities ------------------------------------------------------------------------------------------------


def binary_cross_entropy(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """-(t log(x) + (1 - t) log(1 - x)), no logarithm below -100; x and t lie between 0 and 1.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises ValueError where the shapes differ, RuntimeError for an
    input outside 0 … 1.  Source: torch.nn.functional.binary_cross_entropy.

    >>> import engine as torch
    >>> torch.nn.functional.binary_cross_entropy(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size ({input.size()}) is "
            "deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = _spread(weight, input)
    need_no_gradient("binary_cross_entropy", weight=weight)
    for other in (target, weight):
        if other is not None and other._array.dtype != input._array.dtype:
            raise errors.runtime(f"Found dtype {kind(other)} but expected {kind(input)}")
    for name, data in (("input", input._array), ("target", target._array)):
        if not ((data >= 0) & (data <= 1)).all():
            raise errors.runtime(f"all elements of {name} should be between 0 and 1")
    return lo.binary_cross_entropy(input, target, weight, reduction=reduction)


def _spread(weight: Tensor, input: Tensor) -> Tensor:
    """The weights in the shape of the input."""
    shape, input_shape = weight._array.shape, input._array.shape
    for back in range(1, len(shape) + 1):
        if back > len(input_shape) or shape[-back] not in (1, input_shape[-back]):
            raise errors.runtime(
                f"Attempting to broadcast a dimension of length {shape[-back]} at {-back}! Mismatching argument at "
                f"index 1 had {weight.size()}; but expected shape should be broadcastable to {list(input_shape)}"
            )
    return weight if shape == input_shape else so.expand(weight, input_shape)


def binary_cross_entropy_with_logits(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean", pos_weight: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """The binary cross entropy of sigmoid(input), without overflow; `pos_weight` weighs the targets that are 1.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises ValueError where the shapes differ.
    Source: torch.nn.functional.binary_cross_entropy_with_logits.

    >>> import engine as torch
    >>> torch.nn.functional.binary_cross_entropy_with_logits(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    if target.size() != input.size():
        raise ValueError(f"Target size ({target.size()}) must be the same as input size ({input.size()})")
    need_no_gradient("binary_cross_entropy_with_logits", weight=weight, pos_weight=pos_weight)
    if target._array.dtype.kind != "f":
        raise errors.runtime(f"result type {kind(input)} can't be cast to the desired output type {kind(target)}")
    return lo.bce_with_logits(input, target, weight, pos_weight, reduction=reduction)


KL_MEAN = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by "
    "the batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as "
    "'batchmean' in the next major release."
)


def kl_div(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", log_target: bool = False,
) -> Tensor:  # fmt: skip
    """t (log(t) - input): the divergence of a distribution whose logarithm is `input` from `target`.

    `reduction` may be "batchmean" too, the sum divided by the size of the first dimension.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.kl_div; Kullback and Leibler, 1951.

    >>> import engine as torch
    >>> torch.nn.functional.kl_div(torch.tensor([0.0]), torch.tensor([1.0]), reduction="sum")
    tensor(0.)
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(size_average, reduce, reduction)
    elif reduction == "mean":
        warnings.warn(KL_MEAN, UserWarning, stacklevel=callers_level())
    by_batch = reduction == "batchmean"
    need_reduction("sum" if by_batch else reduction)
    if input._array.dtype.kind != "f" and target._array.dtype.kind != "f":
        raise errors.runtime("kl_div: Integral inputs not supported.")
    losses: Any
    if log_target:
        losses = eo.mul(eo.exp(target), eo.sub(target, input))
    else:
        losses = eo.sub(sp.xlogy(target, target), eo.mul(target, input))
    if by_batch and input._array.ndim:
        return eo.div(rd.sum(losses), input._array.shape[0])
    return reduced(losses, "sum" if by_batch else reduction)


def gaussian_nll_loss(
    input: Tensor, target: Tensor, var: Tensor | float, full: bool = False, eps: float = 1e-6, reduction: str = "mean"
) -> Tensor:
    """(log(var) + (input - target)² / var) / 2, var at least `eps`; `full` adds log(2π) / 2.

    Shapes: (*), (*), (*') -> (), with reduction "none" (*).  Raises ValueError for a negative variance, or a `var` of a
    shape that does not fit.  Source: torch.nn.functional.gaussian_nll_loss.

    >>> import engine as torch
    >>> torch.nn.functional.gaussian_nll_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    spread = _variance(input, var)
    need_reduction(reduction, "{} is not valid")
    spread = so.clone(spread)
    with no_grad():
        ip.clamp_(spread, min=eps)
    losses: Any = eo.mul(eo.add(eo.log(spread), eo.div(am.pow(eo.sub(input, target), 2), spread)), 0.5)
    if full:
        losses = eo.add(losses, 0.5 * math.log(2 * math.pi))
    return reduced(losses, reduction)


def _variance(input: Tensor, var: Tensor | float) -> Tensor:
    """The variance as a tensor that broadcasts to the input."""
    if isinstance(var, float):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        return tensor_of(xp.full_like(input._array, var))
    if not isinstance(var, Tensor):
        raise TypeError(f"gaussian_nll_loss(): var must be a Tensor or a float, found {type(var).__name__}")
    if (var._array < 0).any():
        raise ValueError("var has negative entry/entries")
    shape, input_shape = var._array.shape, input._array.shape
    if shape == input_shape:
        return var
    if shape == input_shape[:-1]:
        return unsqueeze(var, -1)
    if len(shape) == len(input_shape) and sum(n for m, n in zip(input_shape, shape, strict=True) if m != n) == 1:
        return var
    raise ValueError("var is of incorrect size")


def poisson_nll_loss(
    input: Tensor, target: Tensor, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """exp(x) - t x, or x - t log(x + eps) without `log_input`; `full` adds Stirling's t log(t) - t + log(2πt) / 2.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.poisson_nll_loss.

    >>> import engine as torch
    >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0.0]), torch.tensor([2.0]))
    tensor(1.)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    losses: Any
    if log_input:
        losses = eo.sub(eo.exp(input), eo.mul(target, input))
    else:
        losses = eo.sub(input, eo.mul(target, eo.log(sc.add_number(input, eps))))
    if full:
        root = sc.mul_number(eo.log(sc.mul_number(target, 2 * math.pi)), 0.5)
        stirling = eo.add(eo.sub(eo.mul(target, eo.log(target)), target), root)
        losses = eo.add(losses, ch.masked_fill(stirling, ch.le(target, 1), 0))
    return reduced(losses, reduction)


def soft_margin_loss(
    input: Tensor, target: Tensor, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
) -> Tensor:
    """log(1 + exp(-t x)), with targets 1 and -1.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.soft_margin_loss.

    >>> import engine as torch
    >>> torch.nn.functional.soft_margin_loss(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    need_tensor(input, "soft_margin_loss")
    need_no_gradient("soft_margin_loss", target=target)
    if input._array.dtype.kind != "f":
        raise errors.runtime(f"result type Float can't be cast to the desired output type {kind(input)}")
    first, second = broadcast(input, target)
    return lo.soft_margin_loss(first, second, reduction=reduction)


def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """The mean over classes of -(t logσ(x) + (1 - t) logσ(-x)).

    Shapes: (*, C), (*, C) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.multilabel_soft_margin_loss.

    >>> import engine as torch
    >>> torch.nn.functional.multilabel_soft_margin_loss(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """
    reduction = reduction_of(size_average, reduce, reduction)
    yes = eo.mul(target, logsigmoid(input))
    losses: Any = eo.neg(eo.add(yes, eo.mul(am.rsub(target, 1), logsigmoid(eo.neg(input)))))
    if weight is not None:
        losses = eo.mul(losses, weight)
    last = input._array.ndim - 1
    losses = eo.div(ro.sum_dim(losses, last, False), input._array.shape[last])
    return reduced(losses, need_reduction(reduction, "{} is not valid"))


def hinge_embedding_loss(
    input: Tensor, target: Tensor, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """x where the target is 1, max(0, margin - x) where it is -1.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.hinge_embedding_loss.

    >>> import engine as torch
    >>> torch.nn.functional.hinge_embedding_loss(torch.tensor([0.5, 0.5]), torch.tensor([1, -1]))
    tensor(0.5000)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    nothing = ch.zero(input.detach())
    apart = ch.where(ch.ne(target, 1), ch.clamp_min(eo.sub(margin, input), 0), nothing)
    together = ch.where(ch.ne(target, -1), input, nothing)
    return reduced(eo.add(apart, together), reduction)


def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin - t (x1 - x2)): the target 1 wants x1 to be the larger, -1 the smaller.

    Shapes: (*), (*), (*) -> (), with reduction "none" (*).  Raises RuntimeError where the numbers of dimensions differ.
    Source: torch.nn.functional.margin_ranking_loss.

    >>> import engine as torch
    >>> torch.nn.functional.margin_ranking_loss(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    if not input1.dim() == input2.dim() == target.dim():
        raise errors.runtime(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: input1: "
            f"{input1.size()}, input2: {input2.size()}, target: {target.size()} "
        )
    product = eo.mul(eo.neg(target), eo.sub(input1, input2))
    return reduced(ch.clamp_min(sc.add_number(product, margin), 0), reduction)


def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """1 - cos(x1, x2) where the target is 1, max(0, cos(x1, x2) - margin) where it is -1.

    Shapes: ([N,] D), ([N,] D), ([N]) -> (), with reduction "none" ([N]).  Raises RuntimeError for inputs or a target of
    other dimensions.  Source: torch.nn.functional.cosine_embedding_loss.

    >>> import engine as torch
    >>> x = torch.tensor([[1.0, 0.0]])
    >>> torch.nn.functional.cosine_embedding_loss(x, x, torch.tensor([-1]))
    tensor(1.)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    rank = target.dim()
    if rank > 1:
        raise errors.runtime("0D or 1D target tensor expected, multi-target not supported")
    if input1.dim() != rank + 1 or input2.dim() != rank + 1:
        raise errors.runtime(
            f"{rank}D target tensor expects {rank + 1}D input tensors, but found inputs with sizes "
            f"{list(input1.size())} and {list(input2.size())}."
        )

    def dots(a: Tensor, b: Tensor) -> Any:
        return ro.sum_dim(eo.mul(a, b), rank, False)

    product = dots(input1, input2)
    squares = [sc.add_number(dots(x, x), 1e-12) for x in (input1, input2)]
    cosine = eo.div(product, eo.sqrt(eo.mul(*squares)))
    nothing = ch.zero(cosine.detach())
    together = ch.where(ch.eq(target, 1), am.sub(1, cosine), nothing)
    apart = ch.where(ch.eq(target, -1), ch.clamp_min(sc.sub_number(cosine, margin), 0), nothing)
    return reduced(eo.add(together, apart), reduction)


def _distances(
    distance: Callable[[Tensor, Tensor], Any], anchor: Tensor, positive: Tensor, negative: Tensor, margin: float,
    swap: bool,
) -> tuple[Any, Any]:  # fmt: skip
    """How far the positive and the negative are from the anchor; raises torch's errors."""
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    ranks = (anchor.dim(), positive.dim(), negative.dim())
    if len(set(ranks)) > 1:
        raise errors.runtime(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {ranks[0]}D, positive {ranks[1]}D, and negative {ranks[2]}D inputs"
        )
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = ch.minimum(far, distance(positive, negative))
    return near, far


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, p: float = 2, eps: float = 1e-6,
    swap: bool = False, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """max(0, margin + |anchor - positive| - |anchor - negative|).

    `swap` takes the distance of positive and negative where that is the smaller.

    Shapes: ([N,] D), ([N,] D), ([N,] D) -> (), with reduction "none" ([N]).  Raises RuntimeError where the numbers of
    dimensions differ.  Source: torch.nn.functional.triplet_margin_loss; Balntas et al., 2016.

    >>> import engine as torch
    >>> near, far = torch.zeros(1, 2), torch.full((1, 2), 3.0)
    >>> torch.nn.functional.triplet_margin_loss(near, near, far)
    tensor(0.)
    """
    reduction = need_reduction(reduction_of(size_average, reduce, reduction))
    near, far = _distances(partial(pairwise_distance, p=p, eps=eps), anchor, positive, negative, margin, swap)
    return reduced(ch.clamp_min(eo.sub(sc.add_number(near, margin), far), 0), reduction)


def triplet_margin_with_distance_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0, swap: bool = False,
    reduction: str = "mean",
) -> Tensor:  # fmt: skip
    """triplet_margin_loss with a distance other than `pairwise_distance`.

    Shapes: ([N,] D), ([N,] D), ([N,] D) -> (), with reduction "none" ([N]).  Raises RuntimeError where the numbers of
    dimensions differ.  Source: torch.nn.functional.triplet_margin_with_distance_loss; Balntas et al., 2016.

    >>> import engine as torch
    >>> near, far = torch.zeros(1, 2), torch.full((1, 2), 3.0)
    >>> torch.nn.functional.triplet_margin_with_distance_loss(near, near, far)
    tensor(0.)
    """
    reduction = need_reduction(reduction)
    near, far = _distances(distance_function or pairwise_distance, anchor, positive, negative, margin, swap)
    return reduced(ch.clamp_min(eo.sub(eo.add(near, margin), far), 0), reduction)


def ctc_loss(
    log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: str = "mean", zero_infinity: bool = False,
) -> Tensor:  # fmt: skip
    """Minus the log of the probability of the targets, summed over all alignments; the mean is by target length.

    The targets may stand in one row, all of them one after the other.  With `zero_infinity` a target longer than its
    input counts 0.  The gradient is that of the scores of log_softmax.

    Shapes: (T, N, C), (N, S), (N), (N) -> (), with reduction "none" (N); without N (T, C), (S), (), () -> ().  Raises
    RuntimeError where a length is too large, or `blank` no class.  Source: torch.nn.functional.ctc_loss; Graves et al.,
    2006.

    >>> import engine as torch
    >>> scores = torch.zeros(2, 1, 2).log_softmax(2)
    >>> torch.nn.functional.ctc_loss(scores, torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """
    need_reduction(reduction)
    need_tensor(log_probs, "ctc_loss", "log_probs")
    need_tensor(targets, "ctc_loss", "targets", 2)
    batched = log_probs._array.ndim == 3
    scores = log_probs if batched else so.unsqueeze(log_probs, 1)
    inputs, sizes = _lengths(input_lengths, "input_lengths"), _lengths(target_lengths, "target_lengths")
    _check_ctc(scores, inputs, sizes, blank)
    labels = tensor_of(_padded_labels(targets, sizes))
    # torch's own kernel takes double precision where the arguments are checked by Python
    losses: Any = ctc.ctc_loss(scores, labels, tensor_of(inputs), tensor_of(sizes), blank, zero_infinity)[0]
    if zero_infinity:
        losses = where(ch.isinf(losses), tensor_of(xp.zeros((), dtype=losses._array.dtype, like=losses._array)), losses)
    if not batched:
        losses = so.squeeze_dim(losses, 0) if reduction == "none" else losses
    if reduction == "mean":
        share = of_dtype(tensor_of(xp.maximum(sizes, 1)), losses._array.dtype)
        losses = eo.div(losses, share)
    return reduced(losses, reduction)


def _lengths(lengths: Any, name: str) -> Any:
    """Lengths as an array of integers, given as a tensor or a sequence."""
    data = lengths._array if isinstance(lengths, Tensor) else xp.asarray(lengths)
    if data.dtype.kind not in "iu":
        raise errors.runtime(f"{name} must be integral")
    return data.astype("int64", copy=False).reshape(-1)


def _check_ctc(scores: Tensor, inputs: Any, sizes: Any, blank: int) -> None:
    """Raise torch's errors for lengths and labels out of range."""
    times, samples, classes = scores._array.shape
    if scores._array.dtype.kind != "f":
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{kind(scores)}'")
    if not 0 <= blank < classes:
        raise errors.runtime("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", sizes)):
        if lengths.size != samples:
            raise errors.runtime(f"{name} must be of size batch_size")
    if samples and inputs.max() > times:
        raise errors.runtime(
            f"Expected input_lengths to have value at most {times}, but got value {int(inputs.max())} {CTC_CHECKING}"
        )


def _padded_labels(targets: Tensor, sizes: Any) -> Any:
    """The labels as (N, the longest target)."""
    data = targets._array.astype("int64", copy=False)
    longest = int(sizes.max()) if sizes.size else 0
    if data.ndim == 2 or sizes.size == 1:
        data = data.reshape(sizes.size, -1)
        if data.shape[1] < longest:
            raise errors.runtime(
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {data.shape[1]} for "
                f"argument #2 'targets' {CTC_CHECKING}"
            )
        return data[:, :longest] if longest else data[:, :0]
    total = int(sizes.sum())
    if data.shape[0] != total:
        raise errors.runtime(
            f"Expected tensor to have size {total} at dimension 0, but got size {data.shape[0]} for argument #2 "
            f"'targets' {CTC_CHECKING}"
        )
    out = xp.zeros((sizes.size, longest), dtype="int64", like=data)
    out[xp.arange(longest, like=data) < sizes[:, None]] = data
    return out
