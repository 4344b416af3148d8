"""Inverses, determinants, and equations solved by factors.  Source: torch.linalg, and the older names in torch.

Matrices are the last two dimensions, all before them a batch.
"""

from __future__ import annotations

from typing import Any

from .. import errors
from ..array import xp
from ..errors import LinAlgError
from ..ops import decomposition as de
from ..ops.choice import eq, gt
from ..tensor import Tensor
from .check import kind, need_tensor, refused
from .choice import where
from .elementwise import clone
from .linalg import matmul, tril, triu
from .named import result
from .parts import narrow
from .shape import matrix_transposed, movedim, reshape

__all__ = [
    "cholesky_inverse",
    "cholesky_solve",
    "det",
    "inverse",
    "logdet",
    "lu",
    "lu_solve",
    "lu_unpack",
    "matrix_power",
    "slogdet",
    "triangular_solve",
]

InvEx = result("linalg_inv_ex", "inverse", "info")
Slogdet, OldSlogdet = result("linalg_slogdet", "sign", "logabsdet"), result("slogdet", "sign", "logabsdet")
SolveEx = result("linalg_solve_ex", "result", "info")
CholeskyEx = result("linalg_cholesky_ex", "L", "info")
Lu, LuFactor = result("linalg_lu", "P", "L", "U"), result("linalg_lu_factor", "LU", "pivots")
LuFactorEx = result("linalg_lu_factor_ex", "LU", "pivots", "info")
LuUnpack = result("lu_unpack", "P", "L", "U")
TriangularSolve = result("triangular_solve", "solution", "cloned_coefficient")

# -- arguments ----------------------------------------------------------------------------------------------------


def need_matrix(A: Any, function: str, name: str = "A", position: int = 1) -> None:
    """Raise torch's error where an argument is no batch of matrices."""
    need_tensor(A, function.replace(".", "_"), name, position)
    if A._array.ndim < 2:
        raise errors.runtime(f"{function}: The input tensor {name} must have at least 2 dimensions.")


def need_square(A: Any, function: str, name: str = "A") -> None:
    """Raise torch's error where an argument is no batch of square matrices."""
    need_matrix(A, function, name)
    rows, columns = A._array.shape[-2:]
    if rows != columns:
        raise errors.runtime(
            f"{function}: {name} must be batches of square matrices, but they are {rows} by {columns} matrices",
            tensors=(A,),
        )


def need_real(A: Tensor, function: str) -> None:
    """Raise torch's error where a matrix is of integers."""
    if A._array.dtype.kind != "f":
        raise errors.runtime(f"{function}: Expected a floating point or complex tensor as input. Got {kind(A)}")


def _need_same(A: Tensor, B: Tensor, function: str) -> None:
    if A._array.dtype != B._array.dtype:
        raise errors.runtime(
            f"{function}: Expected A and B to have the same dtype, but found A of type {kind(A)} and B of type "
            f"{kind(B)} instead"
        )


def _need_fitting(A: Tensor, B: Tensor, left: bool, function: str) -> None:
    """Raise torch's error where A and B are no two sides of equations."""
    a, b = A._array.shape, B._array.shape
    if a[-1] != b[-2 if left else -1]:
        equation = "AX = B" if left else "XA = B"
        raise errors.runtime(
            f"{function}: Incompatible shapes of A and B for the equation {equation} ({a[-2]}x{a[-1]} and "
            f"{b[-2]}x{b[-1]})",
            tensors=(A, B),
        )


def failed(info: Tensor) -> tuple[str, int] | None:
    """Which matrix of a batch failed, in torch's words, and with which number; None where none did."""
    found = info._array
    if not found.any():
        return None
    if not found.ndim:
        return "", int(found)
    place = int((found.reshape(-1) != 0).argmax())
    return f"(Batch element {place}): ", int(found.reshape(-1)[place])


# -- inverse and determinant --------------------------------------------------------------------------------------


def _inverted(A: Tensor, function: str, check: bool) -> tuple[Tensor, Tensor]:
    need_matrix(A, function)
    need_real(A, function)
    need_square(A, function)
    made: tuple[Tensor, Tensor] = de.linalg_inv_ex(A)
    wrong = failed(made[1]) if check else None
    if wrong:
        raise LinAlgError(
            f"{function}: {wrong[0]}The diagonal element {wrong[1]} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )
    return made


def inv(A: Tensor) -> Tensor:
    """The inverse of every matrix; raises LinAlgError where there is none.

    >>> import engine as torch
    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _inverted(A, "linalg.inv", True)[0]


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """(inverse, info): info is 0, or which pivot was 0.

    >>> import engine as torch
    >>> torch.linalg.inv_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    return InvEx(*_inverted(A, "linalg.inv_ex", check_errors))


def inverse(input: Tensor) -> Tensor:
    """The inverse of every matrix.

    >>> import engine as torch
    >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv(input)


def det(A: Tensor) -> Tensor:
    """The determinant of every matrix.

    >>> import engine as torch
    >>> torch.det(torch.tensor([[2.0, 1.0], [0.0, 3.0]]))
    tensor(6.)
    """
    need_matrix(A, "linalg.det")
    need_real(A, "linalg.det")
    need_square(A, "linalg.det")
    return de.linalg_det(A)[0]


def _slogdet(A: Tensor, function: str) -> tuple[Tensor, Tensor]:
    need_matrix(A, function)
    need_real(A, function)
    need_square(A, function)
    sign, size, _, _ = de.linalg_slogdet(A)
    return sign, size


def linalg_slogdet(A: Tensor) -> Any:
    """(sign, logabsdet): the determinant is sign * exp(logabsdet).

    >>> import engine as torch
    >>> torch.linalg.slogdet(torch.tensor([[-1.0, 0.0], [0.0, 1.0]])).sign
    tensor(-1.)
    """
    return Slogdet(*_slogdet(A, "linalg.slogdet"))


def slogdet(input: Tensor) -> Any:
    """(sign, logabsdet): the determinant is sign * exp(logabsdet).

    >>> import engine as torch
    >>> torch.slogdet(torch.tensor([[-1.0, 0.0], [0.0, 1.0]])).logabsdet
    tensor(0.)
    """
    return OldSlogdet(*_slogdet(input, "linalg.slogdet"))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant: nan where that is negative, -inf where it is 0.

    >>> import engine as torch
    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    need_square(input, "logdet")
    sign, size = _slogdet(input, "linalg.slogdet")
    return where(eq(sign, -1.0), float("nan"), size)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """A matrix times itself, n factors; of negative n the inverse.

    >>> import engine as torch
    >>> torch.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    if not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    need_square(input, "linalg.matrix_power")
    if n == 0:
        made = clone(input)
        made.copy_(de.identity_of(input))
        return made
    if n == 1:
        return clone(input)
    base = input if n > 0 else inv(input)
    n = n if n > 0 else -n
    if n == 1:
        return base
    if n in (2, 3):
        square = matmul(base, base)
        return square if n == 2 else matmul(square, base)
    total: Tensor | None = None
    power = base
    while True:
        if n % 2:
            total = power if total is None else matmul(total, power)
        n //= 2
        if not n:
            assert total is not None
            return total
        power = matmul(power, power)


# -- equations ----------------------------------------------------------------------------------------------------


def _solved(A: Tensor, B: Tensor, left: bool, check: bool) -> tuple[Tensor, Tensor]:
    need_tensor(A, "linalg_solve", "A")
    need_tensor(B, "linalg_solve", "B", 2)
    function = "linalg.solve"
    need_real(A, function)
    _need_same(A, B, function)
    need_square(A, function)
    if not B._array.ndim:
        raise errors.runtime(f"{function}: The input tensor B must have at least 2 dimensions.")
    if de.is_vector(A._array.shape, B._array.shape):
        if not left:
            raise errors.runtime(
                "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case "
                "linalg.solve is equivalent to B / A.squeeze(-1)"
            )
        if A._array.shape[-1] != B._array.shape[-1]:
            raise errors.runtime(
                f"{function}: Incompatible shapes of A and B for the equation AX = B "
                f"({A._array.shape[-2]}x{A._array.shape[-1]} and {B._array.shape[-1]}x1)"
            )
    else:
        need_matrix(B, function, "B", 2)
        _need_fitting(A, B, left, function)
    made, _, _, info = de.linalg_solve_ex(A, B, left)
    wrong = failed(info) if check else None
    if wrong:
        raise LinAlgError(f"torch.linalg.solve: {wrong[0]}The solver failed because the input matrix is singular.")
    return made, info


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of A X = B (X A = B for `left` False), where B is matrices, or vectors.

    >>> import engine as torch
    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    return _solved(A, B, left, True)[0]


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """(result, info): info is 0, or which pivot was 0.

    >>> import engine as torch
    >>> torch.linalg.solve_ex(2 * torch.eye(2), torch.ones(2)).result
    tensor([0.5000, 0.5000])
    """
    return SolveEx(*_solved(A, B, left, check_errors))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X of A X = B for a triangle A, of which the other half is not read; with `unitriangular` nor the diagonal.

    >>> import engine as torch
    >>> torch.linalg.solve_triangular(torch.tensor([[2.0, 1.0], [0.0, 1.0]]), torch.ones(2, 1), upper=True)
    tensor([[0.],
            [1.]])
    """
    function = "linalg.solve_triangular"
    need_square(A, function)
    need_matrix(B, function, "B", 2)
    _need_fitting(A, B, left, function)
    return de.linalg_solve_triangular(A, B, upper, left, unitriangular)


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """(solution, cloned_coefficient) of A X = input for a triangle A, which `transpose` turns.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.triangular_solve(torch.ones(2, 1), torch.tensor([[2.0, 1.0], [0.0, 1.0]])).solution
    tensor([[0.],
            [1.]])
    """
    matrix = matrix_transposed(A) if transpose else A
    made = solve_triangular(matrix, input, upper=upper != transpose, unitriangular=unitriangular)
    return TriangularSolve(made, clone(A))


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of the map from the last dimensions to the first `ind`.

    >>> import engine as torch
    >>> torch.linalg.tensorinv(2 * torch.eye(4).reshape(2, 2, 4)).shape
    torch.Size([4, 2, 2])
    """
    shape = A._array.shape
    if ind <= 0:
        raise errors.runtime(f"Expected a strictly positive integer for 'ind', but got {ind}")
    rows, columns = 1, 1
    for d, n in enumerate(shape):
        rows, columns = (rows * n, columns) if d < ind else (rows, columns * n)
    if rows != columns:
        raise errors.runtime(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{columns} != {rows}"
        )
    return reshape(inv(reshape(A, rows, columns)), *shape[ind:], *shape[:ind])


def tensorsolve(A: Tensor, B: Tensor, dims: Any = None) -> Tensor:
    """X of A X = B, where A maps its last dimensions (`dims` moved there) to those of B.

    >>> import engine as torch
    >>> torch.linalg.tensorsolve(2 * torch.eye(4).reshape(2, 2, 2, 2), torch.ones(2, 2))
    tensor([[0.5000, 0.5000],
            [0.5000, 0.5000]])
    """
    if dims is not None:
        A = movedim(A, tuple(dims), tuple(range(A._array.ndim - len(dims), A._array.ndim)))
    shape = A._array.shape[B._array.ndim :]
    many = B._array.size
    return reshape(solve(reshape(A, many, many), reshape(B, many)), *shape)


# -- Cholesky -----------------------------------------------------------------------------------------------------


def _choleskied(A: Tensor, upper: bool, function: str, check: bool) -> tuple[Tensor, Tensor]:
    need_matrix(A, function)
    need_real(A, function)
    need_square(A, function)
    made: tuple[Tensor, Tensor] = de.linalg_cholesky_ex(A, upper)
    wrong = failed(made[1]) if check else None
    if wrong:
        raise LinAlgError(
            f"{function}: {wrong[0]}The factorization could not be completed because the input is not "
            f"positive-definite (the leading minor of order {wrong[1]} is not positive-definite)."
        )
    return made


def cholesky(A: Tensor, *, upper: bool = False) -> Tensor:
    """L of A = L L^T, for symmetric positive definite matrices; with `upper` its transpose.

    >>> import engine as torch
    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 5.0]]))
    tensor([[2., 0.],
            [1., 2.]])
    """
    return _choleskied(A, upper, "linalg.cholesky", True)[0]


def cholesky_ex(A: Tensor, *, upper: bool = False, check_errors: bool = False) -> Any:
    """(L, info): info is 0, or the order of the first leading minor that is not positive.

    >>> import engine as torch
    >>> torch.linalg.cholesky_ex(torch.tensor([[1.0, 2.0], [2.0, 1.0]])).info
    tensor(2, dtype=torch.int32)
    """
    return CholeskyEx(*_choleskied(A, upper, "linalg.cholesky_ex", check_errors))


def cholesky_solve(B: Tensor, L: Tensor, upper: bool = False) -> Tensor:
    """X of A X = B, from the factor L of A = L L^T.

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

    >>> import engine as torch
    >>> torch.cholesky_inverse(torch.tensor([[2.0]]))
    tensor([[0.2500]])
    """
    need_square(L, "cholesky_inverse")
    return de.cholesky_inverse(L, upper)


# -- LU -----------------------------------------------------------------------------------------------------------


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

    >>> import engine as torch
    >>> torch.linalg.lu(torch.tensor([[1.0, 2.0], [4.0, 4.0]])).U
    tensor([[4., 4.],
            [0., 1.]])
    """
    _factored(A, pivot, "linalg.lu")
    return Lu(*de.linalg_lu(A, pivot))


def lu_factor(A: Tensor, *, pivot: bool = True) -> Any:
    """(LU, pivots): both factors in one matrix, and the rows that were exchanged, counted from 1.

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
    """(LU, pivots, info): info is 0, or which pivot was 0.

    >>> import engine as torch
    >>> torch.linalg.lu_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    _factored(A, pivot, "torch.lu_factor")
    return LuFactorEx(*de.linalg_lu_factor_ex(A, pivot))


def linalg_lu_solve(LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False) -> Tensor:
    """X of A X = B (A^T X = B for `adjoint`, X A = B for `left` False), from what `lu_factor` gave for A.

    >>> import engine as torch
    >>> a = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> torch.linalg.lu_solve(*torch.linalg.lu_factor(a), torch.tensor([[2.0], [2.0]]))
    tensor([[1.0000],
            [0.5000]])
    """
    function = "linalg.lu_solve"
    need_real(LU, function)
    _need_same(LU, B, function)
    if pivots._array.dtype != "int32":
        raise errors.runtime("linalg.lu_solve: pivots should be a Tensor of scalar type torch.int32")
    need_square(LU, function)
    need_matrix(B, function, "B", 3)
    _need_fitting(LU, B, left, function)
    if not gt(pivots, 0)._array.all():
        raise errors.runtime(
            "Pivots given to lu_solve must all be greater or equal to 1. Did you properly pass the result of lu_factor?"
        )
    return de.linalg_lu_solve(LU, pivots, B, left, adjoint)


def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """X of A X = b, from what `torch.linalg.lu_factor` gave for A.

    >>> import engine as torch
    >>> a = torch.tensor([[2.0, 0.0], [0.0, 4.0]])
    >>> torch.lu_solve(torch.tensor([[2.0], [2.0]]), *torch.linalg.lu_factor(a))
    tensor([[1.0000],
            [0.5000]])
    """
    return linalg_lu_solve(LU_data, LU_pivots, b)


def lu(A: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """(LU, pivots), and info where it is asked for: `torch.linalg.lu_factor` by its older name.

    >>> import engine as torch
    >>> torch.lu(torch.tensor([[1.0, 2.0], [4.0, 4.0]]))[1]
    tensor([2, 2], dtype=torch.int32)
    """
    if get_infos:
        return tuple(lu_factor_ex(A, pivot=pivot))
    return tuple(lu_factor(A, pivot=pivot))


def lu_unpack(LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True) -> Any:
    """(P, L, U) from what `torch.linalg.lu_factor` gave; what is not asked for is empty.

    >>> import engine as torch
    >>> torch.lu_unpack(*torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [4.0, 4.0]]))).P
    tensor([[0., 1.],
            [1., 0.]])
    """
    none = Tensor(xp.zeros(0, dtype=LU_data._array.dtype, like=LU_data._array))
    P = de.permutation_of(LU_pivots, LU_data) if unpack_pivots else none
    if not unpack_data:
        return LuUnpack(P, none, none)
    rows, columns = LU_data._array.shape[-2:]
    left, top = narrow(LU_data, -1, 0, min(rows, columns)), narrow(LU_data, -2, 0, min(rows, columns))
    return LuUnpack(P, tril(left, -1) + de.identity_of(left), triu(top))


METHODS = (
    "cholesky_inverse", "cholesky_solve", "det", "inverse", "logdet", "lu", "lu_solve", "matrix_power", "slogdet",
    "triangular_solve",
)  # fmt: skip
"""Functions that are methods of Tensor too."""
