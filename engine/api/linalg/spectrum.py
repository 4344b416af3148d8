"""QR, eigenvalues, singular values, norms of matrices, and functions of them.

Source: torch.linalg, and the older names in torch.  Matrices are the last two dimensions, all before them a batch.
"""

from __future__ import annotations

from typing import Any

from ...arrays import errors
from ...arrays.array import library_of, xp
from ...arrays.errors import LinAlgError
from ...ops import decomposition as de
from ...ops import shape as sh
from ...ops import spectrum as sp
from ...tensor.tensor import Tensor, tensor_of
from ..calls.check import kind, need_tensor, refused
from ..calls.named_results import result
from ..reduce.scan import cumprod
from ..shape.arrange import flip
from ..shape.shape import expand, unsqueeze
from ..shape.transposes import matrix_transposed
from .decomposition import need_matrix, need_real, need_square

__all__ = [
    "cholesky",
    "matrix_exp",
    "orgqr",
    "pinverse",
    "qr",
    "svd",
    "vander",
]

Qr, OldQr = result("linalg_qr", "Q", "R"), result("qr", "Q", "R")
Eigh = result("linalg_eigh", "eigenvalues", "eigenvectors")
Svd, OldSvd = result("linalg_svd", "U", "S", "Vh"), result("svd", "U", "S", "V")
Lstsq = result("linalg_lstsq", "solution", "residuals", "rank", "singular_values")

# -- factors ------------------------------------------------------------------------------------------------------


def cholesky(input: Tensor, upper: bool = False) -> Tensor:
    """L of A = L L^T, for symmetric positive definite matrices; with `upper` its transpose.

    Shapes: (*, N, N) -> (*, N, N).  Raises LinAlgError where a matrix is not positive definite, RuntimeError where it
    is not square.  Source: torch.cholesky.

    >>> import engine as torch
    >>> torch.cholesky(torch.tensor([[4.0, 0.0], [0.0, 9.0]]))
    tensor([[2., 0.],
            [0., 3.]])
    """
    from_linalg: Tensor = _cholesky(input, upper)
    return from_linalg


def _cholesky(A: Tensor, upper: bool) -> Tensor:
    need_square(A, "cholesky")
    factor, info = de.linalg_cholesky_ex(A, upper)
    if info._array.any():
        raise LinAlgError(
            "cholesky: The factorization could not be completed because the input is not positive-definite (the "
            f"leading minor of order {int(info._array.max())} is not positive-definite)."
        )
    return factor


def linalg_qr(A: Tensor, mode: str = "reduced") -> Any:
    """(Q, R): A = Q R, Q with orthonormal columns, R an upper triangle; `mode` "complete": a square Q, "r": none.

    Shapes: (*, M, N) -> (*, M, K), (*, K, N), K = min of M and N, or M where complete; with "r" (*, M, N) -> (0),
    (*, K, N).  Raises RuntimeError for fewer than two dimensions.  Source: torch.linalg.qr.

    >>> import engine as torch
    >>> torch.linalg.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]])).R.abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    need_matrix(A, "linalg.qr")
    need_real(A, "linalg.qr")
    if mode not in ("reduced", "r", "complete"):
        raise errors.runtime(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'"
        )
    return Qr(*sp.linalg_qr(A, mode))


def qr(input: Tensor, some: bool = True) -> Any:
    """(Q, R) of input = Q R; Q is square for `some` False.

    Shapes: (*, M, N) -> (*, M, K), (*, K, N), K = min of M and N, or M where complete.  Raises RuntimeError for fewer
    than two dimensions.  Source: torch.qr.

    >>> import engine as torch
    >>> torch.qr(torch.tensor([[3.0, 1.0], [4.0, 2.0]]))[1].abs()
    tensor([[5.0000, 2.2000],
            [0.0000, 0.4000]])
    """
    return OldQr(*linalg_qr(input, "reduced" if some else "complete"))


def _eigh(A: Tensor, UPLO: str) -> tuple[Tensor, Tensor]:
    need_matrix(A, "linalg.eigh")
    need_square(A, "linalg.eigh")
    if UPLO.upper() not in ("L", "U"):
        raise errors.runtime(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    if A._array.dtype.kind != "f":
        raise refused("linalg_eigh_cpu", A)
    result: tuple[Tensor, Tensor] = sp.linalg_eigh(A, UPLO.upper())
    if not xp.isfinite(result[0]._array).all():
        raise LinAlgError(
            "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
            f"repeated eigenvalues (error code: {A._array.shape[-1] - 1})."
        )
    return result


def eigh(A: Tensor, UPLO: str = "L") -> Any:
    """(eigenvalues, eigenvectors) of symmetric matrices, in ascending order; one triangle (`UPLO`) is read.

    Shapes: (*, N, N) -> (*, N), (*, N, N).  Raises RuntimeError where a matrix is not square.
    Source: torch.linalg.eigh.

    >>> import engine as torch
    >>> torch.linalg.eigh(torch.tensor([[2.0, 0.0], [0.0, 1.0]])).eigenvalues
    tensor([1., 2.])
    """
    return Eigh(*_eigh(A, UPLO))


def eigvalsh(A: Tensor, UPLO: str = "L") -> Tensor:
    """The eigenvalues of symmetric matrices, in ascending order.

    Shapes: (*, N, N) -> (*, N).  Raises RuntimeError where a matrix is not square.  Source: torch.linalg.eigvalsh.

    >>> import engine as torch
    >>> torch.linalg.eigvalsh(torch.tensor([[2.0, 1.0], [1.0, 2.0]]))
    tensor([1., 3.])
    """
    return _eigh(A, UPLO)[0]


def _svd(A: Tensor, full_matrices: bool) -> tuple[Tensor, Tensor, Tensor]:
    need_matrix(A, "linalg.svd")
    need_real(A, "linalg.svd")
    result: tuple[Tensor, Tensor, Tensor] = sp.linalg_svd(A, full_matrices)
    if not xp.isfinite(result[1]._array).all():
        raise LinAlgError(
            "linalg.svd: The algorithm failed to converge because the input matrix contained non-finite values."
        )
    return result


def linalg_svd(A: Tensor, full_matrices: bool = True, *, driver: str | None = None) -> Any:
    """(U, S, Vh): A = U diag(S) Vh, S in descending order; `full_matrices` False gives only the parts that belong to S.

    Shapes: (*, M, N) -> (*, M, P), (*, K), (*, Q, N), K = min of M and N; P and Q are M and N, or K without
    `full_matrices`.  Raises RuntimeError for fewer than two dimensions.  Source: torch.linalg.svd.

    >>> import engine as torch
    >>> torch.linalg.svd(torch.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    return Svd(*_svd(A, full_matrices))


def svd(input: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    """(U, S, V): input = U diag(S) V^T.

    Shapes: (*, M, N) -> (*, M, P), (*, K), (*, N, Q), K = min of M and N; P and Q are K, or M and N without `some`.
    Raises RuntimeError for fewer than two dimensions.  Source: torch.svd.

    >>> import engine as torch
    >>> torch.svd(torch.tensor([[3.0, 0.0], [0.0, 4.0]])).S
    tensor([4., 3.])
    """
    U, S, Vh = _svd(input, not some)
    if compute_uv:
        return OldSvd(U, S, matrix_transposed(Vh))
    return OldSvd(sh.detach(U) * 0, S, matrix_transposed(sh.detach(Vh) * 0))


def svdvals(A: Tensor, *, driver: str | None = None) -> Tensor:
    """The singular values, in descending order.

    Shapes: (*, M, N) -> (*, K), K = min of M and N.  Raises RuntimeError for fewer than two dimensions.
    Source: torch.linalg.svdvals.

    >>> import engine as torch
    >>> torch.linalg.svdvals(torch.tensor([[3.0, 0.0], [0.0, 4.0]]))
    tensor([4., 3.])
    """
    return _svd(A, False)[1]


def householder_product(A: Tensor, tau: Tensor) -> Tensor:
    """The first columns of the product of reflections 1 - tau_i v_i v_i^T, v_i column i of `A` below a 1.

    Shapes: (*, M, N), (*, K) -> (*, M, N).  Raises RuntimeError where M < N or N < K.
    Source: torch.linalg.householder_product.

    >>> import engine as torch
    >>> torch.linalg.householder_product(torch.tensor([[1.0]]), torch.tensor([2.0]))
    tensor([[-1.]])
    """
    function = "torch.linalg.householder_product"
    a, t = A._array.shape, tau._array.shape
    if len(a) < 2:
        raise errors.runtime(f"{function}: input must have at least 2 dimensions.")
    if a[-2] < a[-1]:
        raise errors.runtime(f"{function}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if len(t) != len(a) - 1:
        raise errors.runtime(
            f"{function}: Expected tau to have one dimension less than input, but got tau.ndim equal to {len(t)} and "
            f"input.ndim is equal to {len(a)}"
        )
    if a[-1] < t[-1]:
        raise errors.runtime(f"{function}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    return sp.linalg_householder_product(A, tau)


def orgqr(input: Tensor, tau: Tensor) -> Tensor:
    """The older name of `torch.linalg.householder_product`.

    Shapes: (*, M, N), (*, K) -> (*, M, N).  Raises RuntimeError where M < N or N < K.  Source: torch.orgqr.

    >>> import engine as torch
    >>> torch.orgqr(torch.tensor([[1.0]]), torch.tensor([2.0]))
    tensor([[-1.]])
    """
    return householder_product(input, tau)


# -- what is made of them -----------------------------------------------------------------------------------------


def _per_matrix(limit: Any) -> Any:
    """A tolerance as a number, or as one per matrix beside its singular values."""
    if not isinstance(limit, Tensor):
        return limit
    return limit._array[..., None] if limit._array.ndim else limit._array.item()


def _bounds(A: Tensor, atol: Any, rtol: Any) -> tuple[Any, Any]:
    """Below which size, and below which share of the largest, a singular value counts as 0."""
    low = 0.0 if atol is None else atol
    if rtol is not None:
        return low, rtol
    return low, (low <= 0) * float(xp.finfo(A._array.dtype).eps) * max(A._array.shape[-2:])


def pinv(A: Tensor, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """The pseudoinverse: singular values up to max(atol, rtol * the largest) count as 0.

    Shapes: (*, M, N) -> (*, N, M).  Raises RuntimeError for fewer than two dimensions.  Source: torch.linalg.pinv.

    >>> import engine as torch
    >>> torch.linalg.pinv(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    need_tensor(A, "linalg_pinv", "A")
    if A._array.ndim < 2 or A._array.dtype.kind != "f":
        raise errors.runtime(
            f"linalg.pinv({kind(A)}{{{list(A._array.shape)}}}): expected a tensor with 2 or more dimensions of float, "
            "double, cfloat or cdouble types"
        )
    if hermitian:
        need_square(A, "linalg.eigh")
    low, share = _bounds(A, *(None if n is None else float(n) for n in (atol, rcond if rtol is None else rtol)))
    return sp.linalg_pinv(A, low, share, hermitian)


def pinverse(input: Tensor, rcond: float = 1e-15) -> Tensor:
    """The pseudoinverse: singular values up to `rcond` times the largest count as 0.

    Shapes: (*, M, N) -> (*, N, M).  Raises RuntimeError for fewer than two dimensions.  Source: torch.pinverse.

    >>> import engine as torch
    >>> torch.pinverse(torch.tensor([[2.0, 0.0], [0.0, 0.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.0000]])
    """
    return pinv(input, rcond)


def matrix_rank(A: Tensor, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None) -> Tensor:
    """How many singular values lie above max(atol, rtol * the largest); `tol` is `atol` alone.

    Shapes: (*, M, N) -> (*).  Raises RuntimeError for fewer than two dimensions.  Source: torch.linalg.matrix_rank.

    >>> import engine as torch
    >>> torch.linalg.matrix_rank(torch.ones(2, 2))
    tensor(1)
    """
    need_matrix(A, "torch.linalg.matrix_rank", "input")
    if A._array.dtype.kind != "f":
        raise errors.runtime("This function doesn't handle types other than float and double")
    if tol is not None:
        atol, rtol = tol, 0.0
    data = A._array
    if not data.size:
        return tensor_of(xp.zeros(data.shape[:-2], dtype="int64", like=data))
    low, share = _bounds(A, *(_per_matrix(limit) for limit in (atol, rtol)))
    values = abs(xp.linalg.eigvalsh(data)) if hermitian else xp.linalg.svd(data, compute_uv=False)
    least = xp.maximum(share * values.max(axis=-1, keepdims=True), low)
    return tensor_of((values > least).sum(axis=-1))


def lstsq(A: Tensor, B: Tensor, rcond: Any = None, *, driver: str | None = None) -> Any:
    """(solution, residuals, rank, singular_values): the X for which |A X - B| is least, the shortest of several.

    Shapes: (*, M, N), (*, M, K) -> (*, N, K).  Raises RuntimeError where the sizes do not fit.
    Source: torch.linalg.lstsq.

    >>> import engine as torch
    >>> torch.linalg.lstsq(torch.tensor([[1.0], [1.0]]), torch.tensor([[1.0], [3.0]])).solution.round()
    tensor([[2.]])
    """
    function = "torch.linalg.lstsq"
    a, b = A._array.shape, B._array.shape
    if len(a) < 2:
        raise errors.runtime(f"{function}: input must have at least 2 dimensions.")
    if not b:
        raise errors.runtime(f"{function}: other must have at least 1 dimension.")
    if A._array.dtype != B._array.dtype:
        raise errors.runtime(
            f"{function}: Expected input and other to have the same dtype, but got input's dtype {kind(A)} and other's "
            f"dtype {kind(B)}"
        )
    vector = len(a) - 1 == len(b) and b == a[:-1]
    if not vector and (len(b) < 2 or b[-2] != a[-2]):
        place = -1 if len(b) == len(a) - 1 else -2
        raise errors.runtime(f"{function}: input.size(-2) should match other.size({place})")
    if driver not in (None, "gels", "gelsy", "gelsd", "gelss"):
        raise errors.runtime(f"{function}: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    share = float(xp.finfo(A._array.dtype).eps) * max(a[-2:]) if rcond is None else float(rcond)
    return Lstsq(*sp.linalg_lstsq(A, B, share, driver or "gelsy"))


def matrix_exp(A: Tensor) -> Tensor:
    """The sum of the powers of a matrix over their factorials.

    Shapes: (*, N, N) -> (*, N, N).  Raises RuntimeError where a matrix is not square.  Source: torch.matrix_exp.

    >>> import engine as torch
    >>> torch.matrix_exp(torch.zeros(2, 2))
    tensor([[1., 0.],
            [0., 1.]])
    """
    need_matrix(A, "linalg.matrix_exp")
    need_real(A, "linalg.matrix_exp")
    need_square(A, "linalg.matrix_exp")
    return sp.linalg_matrix_exp(A)


def linalg_vander(x: Tensor, *, N: int | None = None) -> Tensor:
    """The powers 0 ... N - 1 of every element, in a last dimension.

    Shapes: (*, D) -> (*, D, N).  Raises RuntimeError for no dimension, or N not above 1.  Source: torch.linalg.vander.

    >>> import engine as torch
    >>> torch.linalg.vander(torch.tensor([2.0, 3.0]))
    tensor([[1., 2.],
            [1., 3.]])
    """
    x = x if x._array.ndim else unsqueeze(x, -1)
    shape = x._array.shape
    count = shape[-1] if N is None else N
    if count <= 1:
        raise errors.runtime("N must be greater than 1.")
    ones = tensor_of(library_of(x._array).ones((*shape, 1), dtype=x._array.dtype))
    powers = cumprod(expand(unsqueeze(x, -1), *shape, count - 1), -1)
    return sh.cat([ones, powers], len(shape))


def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """The powers N - 1 ... 0 of every element of a vector, one row each; with `increasing` 0 ... N - 1.

    Shapes: (D) -> (D, N).  Raises RuntimeError for an input of other dimensions.  Source: torch.vander.

    >>> import engine as torch
    >>> torch.vander(torch.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if x._array.ndim != 1:
        raise errors.runtime("x must be a one-dimensional tensor.")
    count = x._array.size if N is None else N
    if count < 0:
        raise errors.runtime("N must be non-negative.")
    if count < 2:
        powers = tensor_of(library_of(x._array).ones((x._array.size, count), dtype=x._array.dtype))
    else:
        powers = linalg_vander(x, N=count)
    return powers if increasing else flip(powers, 1)


METHODS = ("cholesky", "matrix_exp", "orgqr", "pinverse", "qr", "svd")
"""Functions that are methods of Tensor too."""
