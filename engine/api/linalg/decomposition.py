"""Inverses, determinants, and equations solved by factors.  Source: torch.linalg, and the older names in torch.

Matrices are the last two dimensions, all before them a batch.
"""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.errors import LinAlgError
from ...ops import decomposition as de
from ...ops.choice import eq
from ...tensor.tensor import Tensor
from ..calls.check import kind, need_tensor
from ..calls.named_results import result
from ..math.choice import where
from ..math.elementwise import clone
from ..shape.shape import reshape
from ..shape.transposes import matrix_transposed, movedim
from .linalg import matmul

__all__ = [
    "det",
    "inverse",
    "logdet",
    "matrix_power",
    "slogdet",
    "triangular_solve",
]

InvEx = result("linalg_inv_ex", "inverse", "info")
Slogdet, OldSlogdet = result("linalg_slogdet", "sign", "logabsdet"), result("slogdet", "sign", "logabsdet")
SolveEx = result("linalg_solve_ex", "result", "info")
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


def need_same(A: Tensor, B: Tensor, function: str) -> None:
    if A._array.dtype != B._array.dtype:
        raise errors.runtime(
            f"{function}: Expected A and B to have the same dtype, but found A of type {kind(A)} and B of type "
            f"{kind(B)} instead"
        )


def need_fitting(A: Tensor, B: Tensor, left: bool, function: str) -> None:
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
    codes = info._array
    if not codes.any():
        return None
    if not codes.ndim:
        return "", int(codes)
    place = int((codes.reshape(-1) != 0).argmax())
    return f"(Batch element {place}): ", int(codes.reshape(-1)[place])


# -- inverse and determinant --------------------------------------------------------------------------------------


def _inverted(A: Tensor, function: str, check: bool) -> tuple[Tensor, Tensor]:
    need_matrix(A, function)
    need_real(A, function)
    need_square(A, function)
    result: tuple[Tensor, Tensor] = de.linalg_inv_ex(A)
    wrong = failed(result[1]) if check else None
    if wrong:
        raise LinAlgError(
            f"{function}: {wrong[0]}The diagonal element {wrong[1]} is zero, the inversion could not be completed "
            "because the input matrix is singular."
        )
    return result


def inv(A: Tensor) -> Tensor:
    """The inverse of every matrix.

    Shapes: (*, N, N) -> (*, N, N).  Raises LinAlgError where there is none, RuntimeError where a matrix is not square.
    Source: torch.linalg.inv.

    >>> import engine as torch
    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return _inverted(A, "linalg.inv", True)[0]


def inv_ex(A: Tensor, *, check_errors: bool = False) -> Any:
    """(inverse, info): info is 0, or the number of the pivot that was 0.

    Shapes: (*, N, N) -> (*, N, N), (*).  Raises RuntimeError where a matrix is not square.
    Source: torch.linalg.inv_ex.

    >>> import engine as torch
    >>> torch.linalg.inv_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    return InvEx(*_inverted(A, "linalg.inv_ex", check_errors))


def inverse(input: Tensor) -> Tensor:
    """The inverse of every matrix.

    Shapes: (*, N, N) -> (*, N, N).  Raises LinAlgError where there is none, RuntimeError where a matrix is not square.
    Source: torch.inverse.

    >>> import engine as torch
    >>> torch.inverse(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return inv(input)


def det(A: Tensor) -> Tensor:
    """The determinant of every matrix.

    Shapes: (*, N, N) -> (*).  Raises RuntimeError where a matrix is not square.  Source: torch.linalg.det.

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

    Shapes: (*, N, N) -> (*), (*).  Raises RuntimeError where a matrix is not square.  Source: torch.linalg.slogdet.

    >>> import engine as torch
    >>> torch.linalg.slogdet(torch.tensor([[-1.0, 0.0], [0.0, 1.0]])).sign
    tensor(-1.)
    """
    return Slogdet(*_slogdet(A, "linalg.slogdet"))


def slogdet(input: Tensor) -> Any:
    """(sign, logabsdet): the determinant is sign * exp(logabsdet).

    Shapes: (*, N, N) -> (*), (*).  Raises RuntimeError where a matrix is not square.  Source: torch.slogdet.

    >>> import engine as torch
    >>> torch.slogdet(torch.tensor([[-1.0, 0.0], [0.0, 1.0]])).logabsdet
    tensor(0.)
    """
    return OldSlogdet(*_slogdet(input, "linalg.slogdet"))


def logdet(input: Tensor) -> Tensor:
    """The logarithm of the determinant: nan where that is negative, -inf where it is 0.

    Shapes: (*, N, N) -> (*).  Raises RuntimeError where a matrix is not square.  Source: torch.logdet.

    >>> import engine as torch
    >>> torch.logdet(torch.eye(2))
    tensor(0.)
    """
    need_square(input, "logdet")
    sign, size = _slogdet(input, "linalg.slogdet")
    return where(eq(sign, -1.0), float("nan"), size)


def matrix_power(input: Tensor, n: int) -> Tensor:
    """A matrix times itself, n factors; of negative n the inverse.

    Shapes: (*, N, N) -> (*, N, N).  Raises RuntimeError where a matrix is not square, LinAlgError where it has no
    inverse and n is negative.  Source: torch.matrix_power.

    >>> import engine as torch
    >>> torch.matrix_power(torch.tensor([[1.0, 1.0], [0.0, 1.0]]), 3)
    tensor([[1., 3.],
            [0., 1.]])
    """
    if not isinstance(n, int):
        raise TypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    need_square(input, "linalg.matrix_power")
    if n == 0:
        result = clone(input)
        result.copy_(de.identity_of(input))
        return result
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
    need_same(A, B, function)
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
        need_fitting(A, B, left, function)
    solution, _, _, info = de.linalg_solve_ex(A, B, left)
    wrong = failed(info) if check else None
    if wrong:
        raise LinAlgError(f"torch.linalg.solve: {wrong[0]}The solver failed because the input matrix is singular.")
    return solution, info


def solve(A: Tensor, B: Tensor, *, left: bool = True) -> Tensor:
    """X of A X = B (X A = B for `left` False), where B is matrices, or vectors.

    Shapes: (*, N, N), (*, N, K) -> (*, N, K), broadcast; vectors (*, N, N), (*, N) -> (*, N).  Raises LinAlgError where
    A has no inverse, RuntimeError where the sizes do not fit.  Source: torch.linalg.solve.

    >>> import engine as torch
    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    return _solved(A, B, left, True)[0]


def solve_ex(A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False) -> Any:
    """(result, info): info is 0, or the number of the pivot that was 0.

    Shapes: (*, N, N), (*, N, K) -> (*, N, K), (*), broadcast; vectors (*, N, N), (*, N) -> (*, N), (*).  Raises
    RuntimeError where the sizes do not fit.  Source: torch.linalg.solve_ex.

    >>> import engine as torch
    >>> torch.linalg.solve_ex(2 * torch.eye(2), torch.ones(2)).result
    tensor([0.5000, 0.5000])
    """
    return SolveEx(*_solved(A, B, left, check_errors))


def solve_triangular(A: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False) -> Tensor:
    """X of A X = B for a triangular A; the other triangle is not read, nor with `unitriangular` the diagonal.

    Shapes: (*, N, N), (*, N, K) -> (*, N, K), broadcast; with `left` False (*, N, N), (*, K, N) -> (*, K, N),
    broadcast.  Raises RuntimeError where the sizes do not fit.  Source: torch.linalg.solve_triangular.

    >>> import engine as torch
    >>> torch.linalg.solve_triangular(torch.tensor([[2.0, 1.0], [0.0, 1.0]]), torch.ones(2, 1), upper=True)
    tensor([[0.],
            [1.]])
    """
    function = "linalg.solve_triangular"
    need_square(A, function)
    need_matrix(B, function, "B", 2)
    need_fitting(A, B, left, function)
    return de.linalg_solve_triangular(A, B, upper, left, unitriangular)


def triangular_solve(
    input: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> Any:
    """(solution, cloned_coefficient) of A X = input for a triangular A; with `transpose`, of its transpose.

    Shapes: (*, N, K), (*, N, N) -> (*, N, K), (*, N, N), broadcast.  Raises RuntimeError where the sizes do not fit.
    Source: torch.triangular_solve.

    >>> import engine as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.triangular_solve(torch.ones(2, 1), torch.tensor([[2.0, 1.0], [0.0, 1.0]])).solution
    tensor([[0.],
            [1.]])
    """
    matrix = matrix_transposed(A) if transpose else A
    solution = solve_triangular(matrix, input, upper=upper != transpose, unitriangular=unitriangular)
    return TriangularSolve(solution, clone(A))


def tensorinv(A: Tensor, ind: int = 2) -> Tensor:
    """The inverse of the map from the last dimensions to the first `ind`.

    Shapes: (*) -> (*'), the first `ind` sizes behind the others.  Raises RuntimeError where the two parts have other
    numbers of elements.  Source: torch.linalg.tensorinv.

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

    Shapes: (*B, *X), (*B) -> (*X).  Raises RuntimeError where the two parts have other numbers of elements.
    Source: torch.linalg.tensorsolve.

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


METHODS = ("det", "inverse", "logdet", "matrix_power", "slogdet", "triangular_solve")
"""Functions that are methods of Tensor too."""
