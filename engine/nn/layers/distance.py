"""Distances of vectors."""

from __future__ import annotations

from ...tensor.tensor import Tensor
from .. import functional as F
from ..module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """The norm of the difference of vectors.

    Shapes: (N, D), (N, D) -> (N); (N, 1) with `keepdim`.  Source: torch.nn.PairwiseDistance.

    >>> import engine as torch
    >>> torch.nn.PairwiseDistance()(torch.tensor([3.0, 4.0]), torch.zeros(2))
    tensor(5.0000)
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """From shape (..., size) to (...)."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """The cosine of the angle between vectors along `dim`.

    Shapes: (*, D, *), (*, D, *) -> (*, *).  Source: torch.nn.CosineSimilarity.

    >>> import engine as torch
    >>> torch.nn.CosineSimilarity(dim=0)(torch.tensor([1.0, 0.0]), torch.tensor([3.0, 4.0]))
    tensor(0.6000)
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Without the dimension `dim`."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
