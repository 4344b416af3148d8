"""Cholesky and LU factors of matrices, and equations solved with them.  Source: torch and torch.linalg."""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.array import xp
from ...arrays.errors import LinAlgError
from ...ops import decomposition as de
from ...ops.choice import gt
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import need_tensor, refused
from ..calls.named_results import result
from ..shape.parts import narrow
from .decomposition import failed, need_fitting, need_matrix, need_real, need_same, need_square
from .linalg import tril, triu

__all__ = [
    "cholesky_inverse",
    "cholesky_solve",
    "lu",
    "lu_solve",
    "lu_unpack",
]

Lu, LuFactor = result("linalg_lu", "P", "L", "U"), result("linalg_lu_factor", "LU", "pivots")
CholeskyEx = result("linalg_cholesky_ex", "L", "info")
LuFactorEx = result("linalg_lu_factor_ex", "LU", "pivots", "info")
LuUnpack = result("lu_unpack", "P", "L", "U")


def _choleskied(A: Tensor, upper: bool, function: str, check: bool) -> tuple[Tensor, Tensor]:
    need_matrix(A, function)
    need_real(A, function)
    need_square(A, function)
    result: tuple[Tensor, Tensor] = de.linalg_cholesky_ex(A, upper)
    wrong = failed(result[1]) if check else None
    if wrong:
        raise LinAlgError(
            f"{function}: {wrong[0]}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {wrong[1]} is not positive-definite)."
        )
    return result


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """L of A = L L^T, for symmetric positive definite matrices; with `upper` its transpose.

    Shapes: (*, N, N) -> (*, N, N).  Raises LinAlgError where a matrix is not positive definite, RuntimeError where it
    is not square.  Source: torch.linalg.cholesky.

    >>> import engine as torch
    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return _choleskied(A, upper, "linalg.cholesky", True)[0]


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """(L, info): info is 0, or the order of the first leading minor that is not positive.

    Shapes: (*, N, N) -> (*, N, N), (*).  Raises RuntimeError where a matrix is not square.
    Source: torch.linalg.cholesky_ex.

    >>> import engine as torch
    >>> torch.linalg.cholesky_ex(torch.tensor([[1.0, 2.0], [2.0, 1.0]])).info
    tensor(2, dtype=torch.int32)
    """
    return CholeskyEx(*_choleskied(A, upper, "linalg.cholesky_ex", check_errors))


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X of A X = B, from the factor L of A = L L^T.

    Shapes: (*, N, K), (*, N, N) -> (*, N, K), broadcast.  Raises RuntimeError where the sizes do not fit.
    Source: torch.cholesky_solve.

    >>> import engine as torch
    >>> torch.cholesky_solve(torch.tensor([[4.0], [3.0]]), torch.tensor([[2.0, 0.0], [0.0, 1.0]]))
    tensor([[1.],
            [3.]])
    """
    for name, x in (("b", B), ("u", L)):
        if x._array.ndim < 2:
            raise errors.runtime(
                f"{name} should have at least 2 dimensions, but has {x._array.ndim} dimensions instead"
            )
    a, b = L._array.shape, B._array.shape
    if a[-1] != a[-2]:
        raise errors.runtime(f"A must be batches of square matrices, but they are {a[-2]} by {a[-1]} matrices")
    if a[-2] != b[-2]:
        raise errors.runtime(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {a[-1]} by {a[-1]} but each b matrix is "
            f"{b[-2]} by {b[-1]}"
        )
    return de.cholesky_solve(B, L, upper)


def cholesky_inverse(L: Tensor, upper: bool = False) -> Tensor:
    """The inverse of A, from the factor L of A = L L^T.

    Shapes: (*, N, N) -> (*, N, N).  Raises RuntimeError where a matrix is not square.  Source: torch.cholesky_inverse.

    >>> import engine as torch
    >>> torch.cholesky_inverse(torch.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    need_square(L, "cholesky_inverse")
    return de.cholesky_inverse(L, upper)


def _factored(A: Tensor, pivot: bool, function: str) -> None:
    need_tensor(A, function)
    if A._array.ndim < 2:
        raise errors.runtime(
            f"{function}: Expected tensor with 2 or more dimensions. Got size: {list(A._array.shape)} instead"
        )
    if not pivot:
        raise errors.runtime("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    if A._array.dtype.kind != "f":
        raise refused("lu_cpu", A)


def linalg_lu(A: Tensor, *, pivot: bool = True) -> Any:
    """(P, L, U): A = P L U, with rows exchanged by P, L a lower triangle with ones on its diagonal, U an upper one.

    Shapes: (*, M, N) -> (*, M, M), (*, M, K), (*, K, N), K = min of M and N.  Raises RuntimeError for fewer than two
    dimensions.  Source: torch.linalg.lu.

    >>> import engine as torch
    >>> torch.linalg.lu(torch.tensor([[1.0, 2.0], [4.0, 4.0]])).U
    tensor([[4., 4.],
            [0., 1.]])
    """
    _factored(A, pivot, "linalg.lu")
    return Lu(*de.linalg_lu(A, pivot))


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """(LU, pivots): both factors in one matrix, and the rows that were exchanged, counted from 1.

    Shapes: (*, M, N) -> (*, M, N), (*, K), K = min of M and N.  Raises RuntimeError for fewer than two dimensions.
    Source: torch.linalg.lu_factor.

    >>> import engine as torch
    >>> torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [4.0, 4.0]])).pivots
    tensor([2, 2], dtype=torch.int32)
    """
    _factored(A, pivot, "torch.lu_factor")
    factors, pivots, info = de.linalg_lu_factor_ex(A, pivot)
    wrong = failed(info)
    if wrong:
        raise errors.runtime(
            f"torch.linalg.lu_factor: {wrong[0]}U[{wrong[1]},{wrong[1]}] is zero and using it on lu_solve would result "
            "in a division by zero. If you still want to perform the factorization, consider calling linalg.lu(A, "
            "pivot) or linalg.lu_factor_ex(A, pivot)"
        )
    return LuFactor(factors, pivots)


def lu_factor_ex(A: Tensor, *, pivot: bool = True, check_errors: bool = False) -> Any:
    """(LU, pivots, info): info is 0, or the number of the pivot that was 0.

    Shapes: (*, M, N) -> (*, M, N), (*, K), (*), K = min of M and N.  Raises RuntimeError for fewer than two dimensions.
    Source: torch.linalg.lu_factor_ex.

    >>> import engine as torch
    >>> torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    _factored(A, pivot, "torch.lu_factor")
    return LuFactorEx(*de.linalg_lu_factor_ex(A, pivot))


def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of A X = B (A^T X = B for `adjoint`, X A = B for `left` False), from the result of `lu_factor` for A.

    Shapes: (*, N, N), (*, N), (*, N, K) -> (*, N, K), broadcast; with `left` False (*, N, N), (*, N), (*, K, N) ->
    (*, K, N), broadcast.  Raises RuntimeError where the sizes do not fit.  Source: torch.linalg.lu_solve.

    >>> import engine as torch
    >>> a = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> torch.linalg.lu_solve(*torch.linalg.lu_factor(a), torch.tensor([[2.0], [2.0]]))
    tensor([[1.0000],
            [0.5000]])
    """
    function = "linalg.lu_solve"
    need_real(LU, function)
    need_same(LU, B, function)
    if pivots._array.dtype != "int32":
        raise errors.runtime("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    need_square(LU, function)
    need_matrix(B, function, "B", 3)
    need_fitting(LU, B, left, function)
    if not gt(pivots, 0)._array.all():
        raise errors.runtime(
            "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of lu_factor?"
        )
    return de.linalg_lu_solve(LU, pivots, B, left, adjoint)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of A X = b, from the result of `torch.linalg.lu_factor` for A.

    Shapes: (*, N, K), (*, N, N), (*, N) -> (*, N, K), broadcast.  Raises RuntimeError where the sizes do not fit.
    Source: torch.lu_solve.

    >>> import engine as torch
    >>> a = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> torch.lu_solve(torch.tensor([[2.0], [2.0]]), *torch.linalg.lu_factor(a))
    tensor([[1.0000],
            [0.5000]])
    """
    return linalg_lu_solve(LU_data, LU_pivots, b)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """(LU, pivots), and info if requested: the older name of `torch.linalg.lu_factor`.

    Shapes: (*, M, N) -> (*, M, N), (*, K), K = min of M and N.  Raises RuntimeError for fewer than two dimensions.
    Source: torch.lu.

    >>> import engine as torch
    >>> torch.lu(torch.tensor([[1.0, 2.0], [4.0, 4.0]]))[1]
    tensor([2, 2], dtype=torch.int32)
    """
    if get_infos:
        return tuple(lu_factor_ex(A, pivot=pivot))
    return tuple(lu_factor(A, pivot=pivot))


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """(P, L, U) from the result of `torch.linalg.lu_factor`; unrequested parts are empty.

    Shapes: (*, M, N), (*, K) -> (*, M, M), (*, M, K), (*, K, N), K = min of M and N.  Source: torch.lu_unpack.

    >>> import engine as torch
    >>> torch.lu_unpack(*torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [4.0, 4.0]]))).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    none = tensor_of(xp.zeros(0, dtype=LU_data._array.dtype, like=LU_data._array))
    P = de.permutation_of(LU_pivots, LU_data) if unpack_pivots else none
    if not unpack_data:
        return LuUnpack(P, none, none)
    rows, columns = LU_data._array.shape[-2:]
    left, top = narrow(LU_data, -1, 0, min(rows, columns)), narrow(LU_data, -2, 0, min(rows, columns))
    return LuUnpack(P, tril(left, -1) + de.identity_of(left), triu(top))


METHODS = ("cholesky_inverse", "cholesky_solve", "lu", "lu_solve")
"""Functions that are methods of Tensor too."""
