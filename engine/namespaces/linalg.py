"""torch.linalg for real matrices: norms, decompositions, inverses, equations, products."""

from __future__ import annotations

from ..api.linalg.chains import multi_dot
from ..api.linalg.decomposition import (
    det,
    inv,
    inv_ex,
    matrix_power,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
)
from ..api.linalg.decomposition import linalg_slogdet as slogdet
from ..api.linalg.factors import cholesky, cholesky_ex, lu_factor, lu_factor_ex
from ..api.linalg.factors import linalg_lu as lu
from ..api.linalg.factors import linalg_lu_solve as lu_solve
from ..api.linalg.linalg import matmul
from ..api.linalg.norms import cond, matrix_norm
from ..api.linalg.norms import linalg_norm as norm
from ..api.linalg.norms import linalg_vector_norm as vector_norm
from ..api.linalg.products import linalg_cross as cross
from ..api.linalg.spectrum import eigh, eigvalsh, householder_product, lstsq, matrix_exp, matrix_rank, pinv, svdvals
from ..api.linalg.spectrum import linalg_qr as qr
from ..api.linalg.spectrum import linalg_svd as svd
from ..api.linalg.spectrum import linalg_vander as vander
from ..api.shape.parts import diagonal as _diagonal
from ..arrays.errors import LinAlgError, runtime
from ..tensor.tensor import Tensor

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]


def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor:
    """The diagonals of matrices, as a view.

    Shapes: (*, M, N) -> (*, D).  Raises IndexError where there is no such dimension.  Source: torch.linalg.diagonal.

    >>> import engine as torch
    >>> torch.linalg.diagonal(torch.tensor([[1, 2], [3, 4]]))
    tensor([1, 4])
    """
    return _diagonal(A, offset, dim1, dim2)


def vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Tensor:
    """The sums of products along `dim`, the other dimensions broadcast.

    Shapes: (*, D, *), (*, D, *) -> (*, *), broadcast.  Raises RuntimeError where the dtypes differ, or the shapes do
    not broadcast.  Source: torch.linalg.vecdot.

    >>> import engine as torch
    >>> torch.linalg.vecdot(torch.ones(2, 3), torch.ones(3))
    tensor([3., 3.])
    """
    if x._array.dtype != y._array.dtype:
        names = [v.dtype.legacy.removesuffix("Tensor") for v in (x, y)]
        raise runtime(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type {names[0]} and y of type "
            f"{names[1]} instead"
        )
    result: Tensor = (x * y).sum(dim)
    return result
