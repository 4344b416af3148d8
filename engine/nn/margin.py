"""Margin losses."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..tensor.tensor import Tensor
from . import functional as F
from .distance import PairwiseDistance
from .loss import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


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
        """Of distances and targets 1 or -1."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_WithMargin):
    """1 - cosine where the target is 1, the cosine above the margin where it is -1.

    Shapes: (N, D), (N, D), (N) -> (), with reduction "none" (N).  Source: torch.nn.CosineEmbeddingLoss.

    >>> import engine as torch
    >>> torch.nn.CosineEmbeddingLoss()(torch.ones(1, 2), torch.ones(1, 2), torch.tensor([-1]))
    tensor(1.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Of vectors (batch, size) and targets 1 or -1."""
        return F.cosine_embedding_loss(input1, input2, target, margin=self.margin, reduction=self.reduction)


class MarginRankingLoss(_WithMargin):
    """The amount by which the first falls short of being above the second (target 1), or below it (-1), by the margin.

    Shapes: (*), (*), (*) -> (), with reduction "none" (*).  Source: torch.nn.MarginRankingLoss.

    >>> import engine as torch
    >>> torch.nn.MarginRankingLoss()(torch.tensor([1.0]), torch.tensor([3.0]), torch.tensor([1.0]))
    tensor(2.)
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Of two tensors of scores and targets 1 or -1."""
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
        """Of scores (batch, classes) and classes (batch)."""
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
        """Of scores (batch, classes) and classes (batch, classes), which end with -1."""
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
        """Of three tensors of vectors (batch, size)."""
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
        """Of three tensors of vectors (batch, size)."""
        return F.triplet_margin_with_distance_loss(
            anchor, positive, negative, distance_function=self.distance_function, margin=self.margin, swap=self.swap,
            reduction=self.reduction,
        )  # fmt: skip


def _positive(margin: float, name: str) -> None:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
