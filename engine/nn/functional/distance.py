"""Distances and similarities.  Source: torch.nn.functional."""

from __future__ import annotations

from typing import Any

from ...api.calls.check import kind, need_tensor, one_dim
from ...api.inplace import inplace as ip
from ...api.linalg.norms import vector_norm
from ...arrays import errors
from ...arrays.promotion import result_dtype
from ...ops import distance as di
from ...ops import elementwise as eo
from ...ops import reduction as ro
from ...ops import scalar as sc
from ...ops import shape as so
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor
from .arguments import broadcast, of_dtype

__all__ = [
    "cosine_similarity",
    "pairwise_distance",
    "pdist",
]


def cosine_similarity(x1: Tensor, x2: Tensor, dim: int = 1, eps: float = 1e-8) -> Tensor:
    """x1 · x2 / (max(|x1|, eps) max(|x2|, eps)) along `dim`.

    Shapes: (*, D, *), (*, D, *) -> (*, *), broadcast.  Raises RuntimeError where the shapes do not broadcast.
    Source: torch.nn.functional.cosine_similarity.

    >>> import engine as torch
    >>> torch.nn.functional.cosine_similarity(torch.tensor([[1.0, 1.0]]), torch.tensor([[2.0, 2.0]]))
    tensor([1.0000])
    """
    need_tensor(x1, "cosine_similarity", "x1")
    need_tensor(x2, "cosine_similarity", "x2", 2)
    common = result_dtype([x1._array, x2._array])
    if common.kind != "f":
        raise errors.runtime(f"expected common dtype to be floating point, yet common dtype is {kind(x1)}")
    first, second = of_dtype(x1, common), of_dtype(x2, common)
    if first._array.shape != second._array.shape:
        shape = broadcast(first, second)[0]._array.shape
        first, second = so.expand(first, shape), so.expand(second, shape)
    place = one_dim(dim, first._array.ndim)
    units = []
    for x in (first, second):
        size = so.clone(vector_norm(x, 2, place, True))
        with no_grad():
            ip.clamp_min_(size, eps)
        units.append(eo.div(x, size))
    return ro.sum_dim(eo.mul(*units), place, False)


def pairwise_distance(x1: Tensor, x2: Tensor, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Tensor:
    """The p-norm of x1 - x2 + eps over the last dimension.

    Shapes: ([N,] D), ([N,] D) -> ([N]), broadcast; with `keepdim` ([N,] D), ([N,] D) -> ([N,] 1).  Raises RuntimeError
    where the shapes do not broadcast.  Source: torch.nn.functional.pairwise_distance.

    >>> import engine as torch
    >>> torch.nn.functional.pairwise_distance(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """
    need_tensor(x1, "pairwise_distance", "x1")
    need_tensor(x2, "pairwise_distance", "x2", 2)
    off: Any = sc.add_number(eo.sub(x1, x2), eps)
    if off._array.dtype.kind != "f":
        raise errors.runtime("linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long")
    return di.norm_dim(off, float(p), max(0, off._array.ndim - 1), keepdim)


def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """The distances of all pairs of rows: (0, 1), (0, 2), ..., (n - 2, n - 1).

    Shapes: (N, D) -> (P), P pairs.  Raises RuntimeError for an input of other dimensions.
    Source: torch.nn.functional.pdist.

    >>> import engine as torch
    >>> torch.nn.functional.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0], [0.0, 1.0]]))
    tensor([5.0000, 1.0000, 4.2426])
    """
    need_tensor(input, "pdist")
    if input._array.ndim != 2:
        raise errors.runtime(f"pdist only supports 2D tensors, got: {input._array.ndim}D")
    if input._array.dtype.kind != "f":
        raise errors.runtime("pdist only supports floating-point dtypes")
    if p < 0:
        raise errors.runtime("pdist only supports non-negative p values")
    return di.pdist(input, float(p))
