"""Losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...tensor.tensor import Tensor
from .. import functional as F
from ..functional.loss import reduction_of
from ..module import Module
from .distance import PairwiseDistance

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    """A loss per sample, or by `reduction` their "mean" or "sum"."""

    def __init__(self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean") -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)


class _WeightedLoss(_Loss):
    """A loss with a weight per class or element, which is a buffer."""

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class CTCLoss(_Loss):
    """Minus the logarithm of the probability of a sequence, over all ways to stretch it.

    Shapes: (T, N, C), (N, S), (N), (N) -> (), with reduction "none" (N).  Source: torch.nn.CTCLoss.

    >>> import engine as torch
    >>> torch.nn.CTCLoss()(torch.zeros(2, 1, 2).log_softmax(2), torch.tensor([[1]]), (2,), (1,))
    tensor(0.2877)
    """

    def __init__(self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any) -> Tensor:
        """The loss of log-probabilities (steps, batch, classes), the sequences, and how long each is."""
        return F.ctc_loss(
            log_probs, targets, input_lengths, target_lengths, self.blank, self.reduction, self.zero_infinity
        )


class L1Loss(_Loss):
    """|input - target|.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.L1Loss.

    >>> import engine as torch
    >>> torch.nn.L1Loss()(torch.tensor([1.0, 4.0]), torch.tensor([1.0, 2.0]))
    tensor(1.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of two tensors of one shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """(input - target)².

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.MSELoss.

    >>> MSELoss()
    MSELoss()
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of two tensors of one shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """A square where |input - target| < beta, straight beyond.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.SmoothL1Loss.

    >>> import engine as torch
    >>> torch.nn.SmoothL1Loss()(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
    tensor(1.3125)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean", beta: float = 1.0
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of two tensors of one shape."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """A square where |input - target| < delta, straight beyond.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Raises TypeError where delta is no number, RuntimeError where
    it is not positive.  Source: torch.nn.HuberLoss.

    >>> import engine as torch
    >>> torch.nn.HuberLoss()(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
    tensor(1.3125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, (float, int)):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of two tensors of one shape."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Minus the logarithm of the probability of the target class.

    Shapes: (N, C, *), (N, *) -> (), with reduction "none" (N, *).  Raises IndexError for a class outside 0 … C - 1.
    Source: torch.nn.NLLLoss.

    >>> import engine as torch
    >>> torch.nn.NLLLoss()(torch.tensor([[-1.0, -2.0]]), torch.tensor([1]))
    tensor(2.)
    """

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of log-probabilities (batch, classes, ...) and classes (batch, ...)."""
        return F.nll_loss(input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction)


class CrossEntropyLoss(_WeightedLoss):
    """NLLLoss of log_softmax; targets are classes or probabilities.

    Shapes: (N, C, *), (N, *) -> (), with reduction "none" (N, *); probabilities are (N, C, *) too.  Raises IndexError
    for a class outside 0 … C - 1.  Source: torch.nn.CrossEntropyLoss.

    >>> import engine as torch
    >>> torch.nn.CrossEntropyLoss()(torch.tensor([[0.0, 0.0]]), torch.tensor([1]))
    tensor(0.6931)
    """

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, ignore_index: int = -100,
        reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of scores (batch, classes, ...) and classes (batch, ...)."""
        return F.cross_entropy(
            input, target, weight=self.weight, ignore_index=self.ignore_index, reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )  # fmt: skip


class PoissonNLLLoss(_Loss):
    """Minus the logarithm of the probability of a count.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.PoissonNLLLoss.

    >>> import engine as torch
    >>> torch.nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]))
    tensor(1.)
    """

    def __init__(
        self, log_input: bool = True, full: bool = False, size_average: bool | None = None, eps: float = 1e-8,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """The loss of (the logarithms of) rates and counts."""
        return F.poisson_nll_loss(
            log_input, target, log_input=self.log_input, full=self.full, eps=self.eps, reduction=self.reduction
        )


class GaussianNLLLoss(_Loss):
    """Minus the logarithm of the density of a normal distribution.

    Shapes: (N, *), (N, *), (N, *) -> (), with reduction "none" (N, *); the third may be broadcast.  Raises ValueError
    for a negative variance.  Source: torch.nn.GaussianNLLLoss.

    >>> import engine as torch
    >>> torch.nn.GaussianNLLLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(None, None, reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Any) -> Tensor:
        """The loss of means, targets and variances."""
        return F.gaussian_nll_loss(input, target, var, full=self.full, eps=self.eps, reduction=self.reduction)


class KLDivLoss(_Loss):
    """target * (log target - input).

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.KLDivLoss.

    >>> import engine as torch
    >>> torch.nn.KLDivLoss(reduction="sum")(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.)
    """

    def __init__(
        self, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
        log_target: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of log-probabilities and probabilities."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """Cross entropy of probabilities of one class.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.BCELoss.

    >>> import engine as torch
    >>> torch.nn.BCELoss()(torch.tensor([0.5]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of two tensors of numbers between 0 and 1."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """BCELoss of a sigmoid.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.BCEWithLogitsLoss.

    >>> import engine as torch
    >>> torch.nn.BCEWithLogitsLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def __init__(
        self, weight: Tensor | None = None, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean", pos_weight: Tensor | None = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of scores and numbers between 0 and 1."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """log(1 + exp(-target * input)).

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.SoftMarginLoss.

    >>> import engine as torch
    >>> torch.nn.SoftMarginLoss()(torch.tensor([0.0]), torch.tensor([1.0]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of scores and targets 1 or -1."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """The mean over the classes of BCEWithLogitsLoss.

    Shapes: (N, C), (N, C) -> (), with reduction "none" (N).  Source: torch.nn.MultiLabelSoftMarginLoss.

    >>> import engine as torch
    >>> torch.nn.MultiLabelSoftMarginLoss()(torch.zeros(1, 2), torch.tensor([[1.0, 0.0]]))
    tensor(0.6931)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of scores (batch, classes) and numbers 0 or 1."""
        return F.multilabel_soft_margin_loss(input, target, weight=self.weight, reduction=self.reduction)


class _WithMargin(_Loss):
    def __init__(
        self, margin: float = 0.0, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean"
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_WithMargin):
    """The distance if the target is 1, and the amount by which it falls short of the margin if it is -1.

    Shapes: (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.HingeEmbeddingLoss.

    >>> import engine as torch
    >>> torch.nn.HingeEmbeddingLoss()(torch.tensor([0.5, 0.5]), torch.tensor([1, -1]))
    tensor(0.5000)
    """

    def __init__(
        self, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of distances and targets 1 or -1."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_WithMargin):
    """1 - cosine where the target is 1, the cosine above the margin where it is -1.

    Shapes: (N, D), (N, D), (N) -> (), with reduction "none" (N).  Source: torch.nn.CosineEmbeddingLoss.

    >>> import engine as torch
    >>> torch.nn.CosineEmbeddingLoss()(torch.ones(1, 2), torch.ones(1, 2), torch.tensor([-1]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss of vectors (batch, size) and targets 1 or -1."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_WithMargin):
    """The amount by which the first misses being above the second (target 1), or below it (-1), by the margin.

    Shapes: (*), (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.MarginRankingLoss.

    >>> import engine as torch
    >>> torch.nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """The loss of two tensors of scores and targets 1 or -1."""
        return F.margin_ranking_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MultiMarginLoss(_WeightedLoss):
    """The amounts by which the target's score falls short of exceeding each other score by the margin.

    Shapes: (N, C), (N) -> (), with reduction "none" (N).  Raises ValueError where p is not 1 or 2, or the weight not
    (C).  Source: torch.nn.MultiMarginLoss.

    >>> import engine as torch
    >>> torch.nn.MultiMarginLoss()(torch.tensor([[1.0, 0.5]]), torch.tensor([0]))
    tensor(0.2500)
    """

    def __init__(
        self, p: int = 1, margin: float = 1.0, weight: Tensor | None = None, size_average: bool | None = None,
        reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead")
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of scores (batch, classes) and classes (batch)."""
        return F.multi_margin_loss(
            input, target, p=self.p, margin=self.margin, weight=self.weight, reduction=self.reduction
        )


class MultiLabelMarginLoss(_Loss):
    """The amounts by which the scores of the targets fall short of exceeding each other score by 1.

    Shapes: (N, C), (N, C) -> (), with reduction "none" (N).  Source: torch.nn.MultiLabelMarginLoss.

    >>> import engine as torch
    >>> torch.nn.MultiLabelMarginLoss()(torch.tensor([[1.0, 0.5]]), torch.tensor([[0, -1]]))
    tensor(0.2500)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of scores (batch, classes) and classes (batch, classes), which end with -1."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class TripletMarginLoss(_WithMargin):
    """The amount by which the negative falls short of being farther from the anchor than the positive by the margin.

    Shapes: (N, D), (N, D), (N, D) -> (), with reduction "none" (N).  Raises ValueError where the margin is not
    positive.  Source: torch.nn.TripletMarginLoss.

    >>> import engine as torch
    >>> torch.nn.TripletMarginLoss()(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2))
    tensor(0.)
    """

    def __init__(
        self, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
        size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(margin, size_average, reduce, reduction)
        _positive(margin, "TripletMarginLoss")
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of three tensors of vectors (batch, size)."""
        return F.triplet_margin_loss(
            anchor, positive, negative, margin=self.margin, p=self.p, eps=self.eps, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


class TripletMarginWithDistanceLoss(_WithMargin):
    """TripletMarginLoss with a user-defined distance.

    Shapes: (N, D), (N, D), (N, D) -> (), with reduction "none" (N).  Raises ValueError where the margin is not
    positive.  Source: torch.nn.TripletMarginWithDistanceLoss.

    >>> import engine as torch
    >>> torch.nn.TripletMarginWithDistanceLoss()(torch.zeros(1, 2), torch.zeros(1, 2), torch.ones(1, 2))
    tensor(0.)
    """

    def __init__(
        self, *, distance_function: Callable[[Tensor, Tensor], Tensor] | None = None, margin: float = 1.0,
        swap: bool = False, reduction: str = "mean",
    ) -> None:  # fmt: skip
        super().__init__(margin, reduction=reduction)
        _positive(margin, "TripletMarginWithDistanceLoss")
        self.distance_function: Any = PairwiseDistance() if distance_function is None else distance_function
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """The loss of three tensors of vectors (batch, size)."""
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


def _positive(margin: float, name: str) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
