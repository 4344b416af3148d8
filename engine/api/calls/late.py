"""Functions of other modules that also take `out=`: wrapped where they are offered, not where they are defined.

Methods and operators are the plain functions.
"""

from __future__ import annotations

from typing import Any

from .out import takes_out

FUNCTIONS = (
    "bernoulli", "empty", "full", "ones", "zeros",
    "addbmm", "addmm", "addmv", "addr", "baddbmm", "bitwise_and", "bitwise_left_shift", "bitwise_or",
    "bitwise_right_shift", "bitwise_xor", "bmm", "cholesky", "cholesky_inverse", "cholesky_solve", "dot", "ger",
    "index_copy", "inverse", "logit", "lu_solve", "matmul", "matrix_power", "mm", "mv", "mvlgamma", "narrow_copy",
    "outer", "polygamma", "qr", "svd", "tril", "triu", "where", "xlogy",
)  # fmt: skip
"""Of torch itself."""
LINALG = (
    "cholesky", "cond", "cross", "det", "eigh", "eigvalsh", "householder_product", "inv", "lu_factor", "lu_solve",
    "matmul", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm", "pinv", "qr", "slogdet", "solve",
    "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vecdot", "vector_norm",
)  # fmt: skip
"""Of torch.linalg."""


def offer(scope: dict[str, Any], names: tuple[str, ...]) -> None:
    """Give the functions of a module their `out=`."""
    for name in names:
        scope[name] = takes_out(scope[name])
