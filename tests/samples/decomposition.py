"""Rows of engine/ops/decomposition.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, real

begin()


def regular(*shape: int) -> np.ndarray:
    """Matrices whose singular values lie far from 0."""
    return real(*shape) + 3 * np.eye(shape[-2], shape[-1])


def positive_definite(*shape: int) -> np.ndarray:
    """Symmetric matrices with eigenvalues above 1, the same to the last bit whatever makes the products of matrices."""
    some = real(*shape)
    return np.asarray((some[..., :, None, :] * some[..., None, :, :]).sum(-1) + 2 * np.eye(shape[-1]))


A, B, V = regular(2, 3, 3), real(2, 3, 2), real(3)
ONE = regular(3, 3)
LOW = np.tril(regular(3, 3))
PIVOTS = np.array([[3, 2, 3], [1, 3, 3]], dtype=np.int32)
L = "torch.linalg"
# Of Cholesky factors one triangle is read, and gradients are given for a symmetric whole, as in torch: small steps of
# one element say nothing (kink).
ROWS = [
    Sample("identity_of", (real(2, 3),), reason=INNER),
    Sample("permutation_of", (PIVOTS, real(2, 3, 3)), reason=INNER),
    Sample("matrix_inverse", (A,), reason=INNER),
    Sample("matrix_solve", (A, B), {"left": True}, reason=INNER),
    Sample("matrix_solve", (A, real(2, 3)), {"left": True}, reason="vectors"),
    Sample("matrix_solve", (ONE, real(2, 3)), {"left": False}, reason="from the right"),
    Sample("near_inverse", (A,), reason=INNER),
    Sample("linalg_inv_ex", (A,), spelled=f"{L}.inv_ex(x)"),
    Sample("_linalg_det", (A,), reason="torch.linalg.det gives the first of three results"),
    Sample("_linalg_slogdet", (A,), reason="torch.linalg.slogdet gives the first two of four results"),
    Sample("_linalg_solve_ex", (A, B), {"left": True}, reason="torch.linalg.solve gives the first of four results"),
    Sample("_linalg_solve_ex", (A, real(2, 3)), {"left": True}, reason="vectors"),
    Sample("_linalg_solve_ex", (A, V), {"left": True}, reason="one vector for all"),
    Sample("_linalg_solve_ex", (ONE, real(2, 2, 3)), {"left": False}, reason="from the right, broadcast"),
    Sample("linalg_solve_triangular", (A, B), {"upper": True, "left": True, "unitriangular": False},
           f"{L}.solve_triangular(x, y, upper=True)"),
    Sample("linalg_solve_triangular", (ONE, real(2, 2, 3)), {"upper": False, "left": False, "unitriangular": True},
           f"{L}.solve_triangular(x, y, upper=False, left=False, unitriangular=True)"),
    Sample("linalg_cholesky_ex", (positive_definite(2, 3, 3),), {"upper": False}, f"{L}.cholesky_ex(x)", kink=True),
    Sample("linalg_cholesky_ex", (positive_definite(3, 3),), {"upper": True}, f"{L}.cholesky_ex(x, upper=True)",
           kink=True),
    Sample("cholesky_solve", (B[0], LOW), {"upper": False}, "torch.cholesky_solve(x, y)", kink=True),
    Sample("cholesky_solve", (B, LOW.T), {"upper": True}, "torch.cholesky_solve(x, y, upper=True)", kink=True),
    Sample("cholesky_inverse", (LOW,), {"upper": False}, "torch.cholesky_inverse(x)", kink=True),
    Sample("cholesky_inverse", (np.stack([LOW.T, LOW.T + 1]),), {"upper": True}, "torch.cholesky_inverse(x, True)",
           kink=True),
    Sample("linalg_lu", (A,), spelled=f"{L}.lu(x)"),
    Sample("linalg_lu", (regular(4, 3),), reason="tall"),
    Sample("linalg_lu", (regular(2, 2, 3),), reason="wide"),
    Sample("linalg_lu_factor_ex", (A,), spelled=f"{L}.lu_factor_ex(x)"),
    Sample("linalg_lu_factor_ex", (regular(4, 3),), spelled=f"{L}.lu_factor_ex(x)"),
    Sample("linalg_lu_factor_ex", (regular(3, 4),), spelled=f"{L}.lu_factor_ex(x)"),
    *(Sample("linalg_lu_solve", (A, PIVOTS, B if left else B.swapaxes(1, 2)), {"left": left, "adjoint": adjoint},
             f"{L}.lu_solve(x, y, z, left={left}, adjoint={adjoint})")
      for left in (True, False) for adjoint in (True, False)),
]  # fmt: skip
