"""Norms of vectors and matrices, and condition numbers.  Source: torch and torch.linalg."""

from __future__ import annotations

import math
from typing import Any

from ...arrays import errors
from ...arrays.array import BY_NUMPY, as_numpy_dtype
from ...ops import decomposition as de
from ...ops import reduction as rd
from ...ops import shape as sh
from ...tensor.tensor import Tensor
from ..calls.check import LETTERS, combination, kind, need_tensor, one_dim, some_dims
from ..calls.out import takes_out
from ..math.choice import masked_fill
from ..math.elementwise import nan_to_num
from ..reduce.extremes import amax, amin
from ..reduce.reduction import sum
from ..shape.shape import squeeze, unsqueeze
from .decomposition import need_matrix, need_real, need_square
from .spectrum import svdvals

__all__ = [
    "norm",
]


def vector_norm(x: Tensor, ord: float = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord), also for ord 0 (how many are not zero) and inf (the largest)."""
    need_tensor(x, "linalg_vector_norm", "self")
    if not x.is_floating_point():
        raise errors.runtime(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind(x)}")
    which = as_numpy_dtype(dtype)
    if which is not None and which.kind != "f":
        raise errors.runtime(
            f"linalg.vector_norm: dtype should be floating point or complex, but got {LETTERS[BY_NUMPY[which].name]}"
        )
    dims = None if dim is None else some_dims(dim, x._array.ndim)
    if ord < 0 or math.isinf(ord):
        _need_elements(x, ord, dims)
    return rd.vector_norm(x, ord=float(ord), dim=dims, keepdim=keepdim, dtype=which)


def _need_elements(x: Tensor, ord: float, dims: Any) -> None:
    """Raise torch's error where a norm looks for an extreme of nothing."""
    reduced = range(x._array.ndim) if dims is None else dims if isinstance(dims, tuple) else (dims,)
    for d in reduced:
        if not x._array.shape[d]:
            where = (
                "an empty tensor because the"
                if len(reduced) == x._array.ndim
                else (f"the dimension {d}because this dimension is empty and the")
            )
            raise errors.runtime(
                f"linalg.vector_norm cannot compute the {ord:g} norm on {where} operation does not have an identity"
            )


def linalg_vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """(sum |x|^ord)^(1/ord) over `dim` or all elements; for ord 0 how many are not zero, for inf the largest.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of several (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.linalg.vector_norm.

    >>> import engine as torch
    >>> torch.linalg.vector_norm(torch.tensor([3.0, -4.0]), 1)
    tensor(7.)
    """
    need_tensor(x, "linalg_vector_norm", "self")
    if isinstance(ord, str):
        raise TypeError(f"linalg_vector_norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    need_real(x, "linalg.vector_norm")
    if dtype is not None:
        if not dtype.is_floating_point:
            word = dtype.legacy.removesuffix("Tensor")
            raise errors.runtime(f"linalg.vector_norm: dtype should be floating point or complex, but got {word}")
        if dtype.itemsize < x._array.itemsize:
            word = dtype.legacy.removesuffix("Tensor")
            raise errors.runtime(
                f"linalg.vector_norm: the dtype of the input ({kind(x)}) should be convertible without narrowing to "
                f"the specified dtype ({word})"
            )
    if not x._array.size and (ord == math.inf or ord < 0) and dim is None:
        raise errors.runtime(
            f"linalg.vector_norm cannot compute the {'inf' if ord == math.inf else ord} norm on an empty tensor "
            "because the operation does not have an identity"
        )
    return vector_norm(x, ord, None if dim == () else dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Tensor, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None
) -> Tensor:
    """The norm of matrices: "fro", "nuc", 1 and inf (the largest sum of a column, a row), 2 (the largest singular
    value), and the negative ones (the smallest).

    Shapes: (*, M, N) -> (*); with `keepdim` (*, M, N) -> (*, 1, 1).  Raises RuntimeError for fewer than two dimensions.
    Source: torch.linalg.matrix_norm.

    >>> import engine as torch
    >>> torch.linalg.matrix_norm(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor(5.)
    """
    need_matrix(A, "linalg.matrix_norm")
    need_real(A, "linalg.matrix_norm")
    if not isinstance(dim, (tuple, list)):
        raise combination("linalg_matrix_norm", A, dim=dim)
    orders = ("fro", "nuc") if isinstance(ord, str) else (1, -1, 2, -2, math.inf, -math.inf)
    if ord not in orders:
        raise errors.runtime(f"linalg.matrix_norm: Order {ord} not supported.")
    if len(dim) != 2:
        raise errors.runtime(f"linalg.matrix_norm: dim must be a 2-tuple. Got {', '.join(map(str, dim))}")
    rank = A._array.ndim
    down, along = one_dim(dim[0], rank), one_dim(dim[1], rank)
    if down == along:
        raise errors.runtime(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    if ord == "fro":
        return linalg_vector_norm(A, 2, (down, along), keepdim, dtype=dtype)
    if dtype is not None:
        A = A.to(dtype)
    pick = amax if ord == "nuc" or ord > 0 else amin
    if ord != "nuc" and abs(ord) != 2:
        if not math.isfinite(ord):
            down, along = along, down
        sums = linalg_vector_norm(A, 1, down, keepdim)
        return pick(sums, along - (0 if keepdim or along < down else 1), keepdim)
    order = [d for d in range(rank) if d not in (down, along)] + [down, along]
    values = svdvals(sh.permute(A, tuple(order)))
    norm = sum(values, -1, keepdim) if ord == "nuc" else pick(values, -1, keepdim)
    if not keepdim:
        return norm
    back = tuple(sorted(range(rank), key=order.__getitem__))
    return sh.permute(unsqueeze(norm, -1), back)


def linalg_norm(A: Tensor, ord: Any = None, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Tensor:
    """The norm of vectors (one `dim`, or all elements where neither `ord` nor `dim` is given) or of matrices (two).

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of two (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.linalg.norm.

    >>> import engine as torch
    >>> torch.linalg.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    need_tensor(A, "linalg_norm", "A")
    rank = A._array.ndim
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if dims is not None and len(dims) not in (1, 2):
        raise errors.runtime(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if dims is None and ord is not None and rank not in (1, 2):
        raise errors.runtime(
            f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D."
        )
    matrices = ord is not None and (rank if dims is None else len(dims)) == 2
    if matrices or isinstance(ord, str):
        return matrix_norm(A, ord, (-2, -1) if dims is None else dims, keepdim, dtype=dtype)
    return linalg_vector_norm(A, 2 if ord is None else ord, dims, keepdim, dtype=dtype)


@takes_out
def norm(input: Tensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of all elements as one vector, or over `dim`; `p` "fro" is 2, "nuc" the sum of singular values.

    Shapes: (*) -> (); over `dim` (*, D, *) -> (*, *); of two (*) -> (*'); with `keepdim` (*, D, *) -> (*, 1, *).
    Raises IndexError where there is no dimension `dim`.  Source: torch.norm.

    >>> import engine as torch
    >>> torch.norm(torch.tensor([3.0, 4.0]))
    tensor(5.)
    """
    if p == "nuc":
        return matrix_norm(input, "nuc", (-2, -1) if dim is None else dim, keepdim, dtype=dtype)
    if isinstance(p, str) and p != "fro":
        raise errors.runtime(f"linalg.matrix_norm: Order {p} not supported.")
    return vector_norm(input, 2 if p in ("fro", None) else p, dim, keepdim, dtype=dtype)


def cond(A: Tensor, p: Any = None) -> Tensor:
    """The norm of a matrix times that of its inverse: for `p` None, 2 the largest over the smallest singular value.

    Shapes: (*, M, N) -> (*).  Raises RuntimeError where a matrix is not square and p is neither None, 2 nor -2.
    Source: torch.linalg.cond.

    >>> import engine as torch
    >>> torch.linalg.cond(torch.tensor([[4.0, 0.0], [0.0, 2.0]]))
    tensor(2.)
    """
    if A._array.ndim < 2:
        raise errors.runtime("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p in (None, 2, -2):
        values = svdvals(A)
        n = values._array.ndim - 1
        ends = [sh.slice_(values, n, i, i + 1) for i in (0, values._array.shape[-1] - 1)]
        large, small = ends if p != -2 else ends[::-1]
        return squeeze(large / small, -1)
    if p not in ("fro", "nuc", 1, -1, math.inf, -math.inf):
        raise errors.runtime(f"linalg.cond got an invalid norm type: {p}")
    need_square(A, f"linalg.cond(ord={p})")
    inverse, info = de.linalg_inv_ex(A)
    wrong = info > 0
    inverse = masked_fill(inverse, unsqueeze(unsqueeze(wrong, -1), -1), math.inf)
    if p == "nuc" and wrong.any():
        return matrix_norm(A, p) * math.inf
    number: Any = matrix_norm(A, p) * matrix_norm(inverse, p)
    return nan_to_num(number, math.inf, math.inf, -math.inf)


METHODS = ("norm",)
"""Functions that are methods of Tensor too."""
