"""What torch.linalg has of products and diagonals."""

from __future__ import annotations

from .api.linalg import matmul
from .api.parts import diagonal as _diagonal
from .api.products import linalg_cross as cross
from .api.products import multi_dot
from .tensor import Tensor

__all__ = ["cross", "diagonal", "matmul", "multi_dot", "vecdot"]


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, as a view.  Source: torch.linalg.diagonal."""
    return _diagonal(A, offset, dim1, dim2)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along `dim`, the other dimensions broadcast.  Source: torch.linalg.vecdot.

    >>> import engine as torch
    >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    made: Tensor = (x * y).sum(dim)
    return made
