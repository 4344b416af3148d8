"""Products of many matrices, in the order that takes the fewest multiplications.  Source: torch and torch.linalg."""

from __future__ import annotations

import itertools
from typing import Any

from ...arrays import errors
from ...arrays.session import warn
from ...tensor.tensor import Tensor
from ..shape.shape import unsqueeze, view
from .linalg import mm

__all__ = [
    "chain_matmul",
]


def chain_matmul(*matrices: Any) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications.

    Shapes: (N, K), (K, *), ... -> (N, M).  Raises RuntimeError where the sizes do not fit.  Source: torch.chain_matmul.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.chain_matmul(torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 1))
    tensor([[6.]])
    """
    factors = list(matrices[0]) if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else list(matrices)
    warn(
        "torch.chain_matmul is deprecated and will be removed in a future PyTorch release. Use torch.linalg.multi_dot "
        "instead, which accepts a list of two or more tensors rather than multiple parameters."
    )
    for x in factors:
        if x._array.ndim != 2:
            raise errors.runtime(f"Tensor dimension is {x._array.ndim}, expected 2 instead.")
    if not factors:
        raise errors.runtime("chain_matmul(): Expected one or more matrices")
    return factors[0] if len(factors) == 1 else multi_dot(factors)


def multi_dot(tensors: Any) -> Tensor:
    """The product of matrices, in the order that takes the fewest multiplications; the first and last may be vectors.

    Shapes: (N, K), (K, *), ... -> (N, M).  Raises RuntimeError where the sizes do not fit.
    Source: torch.linalg.multi_dot.

    >>> import engine as torch
    >>> torch.linalg.multi_dot([torch.ones(1, 2), torch.ones(2, 3), torch.ones(3, 1)])
    tensor([[6.]])
    """
    factors: list[Tensor] = list(tensors)
    if len(factors) < 2:
        raise errors.runtime(f"multi_dot(): expected at least 2 tensors but got {len(factors)}")
    sizes: list[int] = []
    for name, place in (("first", 0), ("last", -1)):
        if factors[place]._array.ndim not in (1, 2):
            raise errors.runtime(
                f"multi_dot(): the {name} tensor must be 1D or 2D but got {factors[place]._array.ndim}D"
            )
    if factors[0]._array.ndim == 1:
        factors[0] = unsqueeze(factors[0], 0)
    else:
        sizes.append(factors[0]._array.shape[0])
    if factors[-1]._array.ndim == 1:
        factors[-1] = unsqueeze(factors[-1], -1)
    else:
        sizes.append(factors[-1]._array.shape[1])
    _check_factors(factors)
    order = _best_order([factors[0]._array.shape[0], *(x._array.shape[1] for x in factors)])
    return view(_multiplied(factors, order, 0, len(factors) - 1), tuple(sizes))


def _check_factors(factors: list[Tensor]) -> None:
    first = factors[0]
    for place, x in enumerate(factors):
        if x._array.ndim != 2:
            raise errors.runtime(f"multi_dot(): tensor {place} must be 2D but got {x._array.ndim}D")
        if x._array.dtype != first._array.dtype:
            raise errors.runtime(
                "multi_dot(): all tensors must have be the same dtype but tensor 0 is "
                f"{errors.C_NAMES[first.dtype.name]} and tensor {place} {errors.C_NAMES[x.dtype.name]}"
            )
    for place, (x, y) in enumerate(itertools.pairwise(factors)):
        if x._array.shape[1] != y._array.shape[0]:
            raise errors.runtime(
                f"multi_dot(): tensors {place} and {place + 1} with shapes {list(x._array.shape)} and "
                f"{list(y._array.shape)} cannot be multiplied"
            )


def _best_order(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each run of factors; `sizes` are the rows of the first and the columns of each.

    The least cost of a run is that of its best split; of several the first, of three factors the last, as in torch.
    Source: Cormen et al., matrix-chain order.
    """
    n = len(sizes) - 1
    if n == 3 and sizes[0] * sizes[2] * (sizes[1] + sizes[3]) <= sizes[1] * sizes[3] * (sizes[0] + sizes[2]):
        return {(0, 2): 1, (0, 1): 0}
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            cost[i, j], split[i, j] = min(
                (cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k) for k in range(i, j)
            )
    return split


def _multiplied(factors: list[Tensor], split: dict[tuple[int, int], int], i: int, j: int) -> Tensor:
    if i == j:
        return factors[i]
    k = split[i, j]
    return mm(_multiplied(factors, split, i, k), _multiplied(factors, split, k + 1, j))


METHODS: tuple[str, ...] = ()
"""Functions that are methods of Tensor too."""
