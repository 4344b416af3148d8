"""Dropout: in training, some elements or channels are drawn and set to zero."""

from __future__ import annotations

from ...tensor.tensor import Tensor
from .. import functional as F
from ..module import Module

__all__ = ["AlphaDropout", "Dropout", "Dropout1d", "Dropout2d", "Dropout3d", "FeatureAlphaDropout"]


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Elements are dropped with probability `p`; the others are scaled by 1 / (1 - p).

    Shapes: (*) -> (*).  Raises ValueError where p is no probability.  Source: torch.nn.Dropout.

    >>> Dropout(0.1).eval()
    Dropout(p=0.1, inplace=False)
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape; in evaluation the input itself."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Whole channels of (batch, channels, length) are dropped.

    Shapes: ([N,] C, L) -> ([N,] C, L).  Raises ValueError where p is no probability.  Source: torch.nn.Dropout1d.

    >>> import engine as torch
    >>> torch.nn.Dropout1d(1.0)(torch.ones(1, 2, 2)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Whole channels of (batch, channels, height, width) are dropped.

    Shapes: ([N,] C, H, W) -> ([N,] C, H, W).  Raises ValueError where p is no probability.
    Source: torch.nn.Dropout2d.

    >>> import engine as torch
    >>> torch.nn.Dropout2d(1.0)(torch.ones(1, 2, 2, 2)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Whole channels of (batch, channels, depth, height, width) are dropped.

    Shapes: ([N,] C, D, H, W) -> ([N,] C, D, H, W).  Raises ValueError where p is no probability.
    Source: torch.nn.Dropout3d.

    >>> import engine as torch
    >>> torch.nn.Dropout3d(1.0)(torch.ones(1, 2, 2, 2, 2)).sum()
    tensor(0.)
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Elements are set to the lower end of SELU, so that mean 0 and variance 1 are kept.

    Shapes: (*) -> (*).  Raises ValueError where p is no probability.  Source: torch.nn.AlphaDropout.

    >>> import engine as torch
    >>> torch.nn.AlphaDropout(0.5).eval()(torch.ones(2))
    tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """Whole channels are set to the lower end of SELU.

    Shapes: (N, C, *) -> (N, C, *).  Raises ValueError where p is no probability.
    Source: torch.nn.FeatureAlphaDropout.

    >>> import engine as torch
    >>> torch.nn.FeatureAlphaDropout(0.5).eval()(torch.ones(1, 2))
    tensor([[1., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """A tensor of the same shape."""
        return F.feature_alpha_dropout(input, self.p, self.training)
