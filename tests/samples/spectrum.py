"""Rows of engine/ops/spectrum.py."""

from __future__ import annotations

import numpy as np

from .decomposition import positive_definite, regular
from .rows import Sample, begin, real

begin()

TALL, WIDE = regular(2, 4, 3), regular(2, 4)
SYMMETRIC = positive_definite(2, 3, 3)
REFLECTIONS = real(4, 3) / 2
L = "torch.linalg"
ROWS = [
    Sample("linalg_qr", (TALL,), {"mode": "reduced"}, f"{L}.qr(x)"),
    Sample("linalg_qr", (WIDE,), {"mode": "complete"}, f"{L}.qr(x, 'complete')"),
    Sample("linalg_qr", (regular(3, 3),), {"mode": "reduced"}, f"{L}.qr(x)"),
    Sample("_linalg_eigh", (SYMMETRIC,), {"UPLO": "L"}, reason="torch symmetrises nothing; see the surface tests",
           kink=True),
    Sample("_linalg_svd", (TALL,), {"full_matrices": False}, reason="torch.linalg.svd has the op without compute_uv"),
    Sample("_linalg_svd", (WIDE,), {"full_matrices": False}, reason="wide"),
    Sample("linalg_pinv", (TALL,), {"rtol": 1e-12}, f"{L}.pinv(x)"),
    Sample("linalg_pinv", (WIDE,), {"rtol": 1e-12}, f"{L}.pinv(x)"),
    Sample("linalg_lstsq", (TALL, real(2, 4, 2)), {"rcond": 1e-12}, f"{L}.lstsq(x, y)"),
    Sample("linalg_lstsq", (TALL[0], real(4, 2)), {"rcond": 1e-12, "driver": "gelsd"},
           f"{L}.lstsq(x, y, driver='gelsd')"),
    Sample("linalg_lstsq", (WIDE, real(2)), {"rcond": 1e-12}, reason="one vector"),
    Sample("linalg_matrix_exp", (real(2, 3, 3),), spelled=f"{L}.matrix_exp(x)"),
    Sample("linalg_householder_product", (REFLECTIONS, real(3) / 2), spelled=f"{L}.householder_product(x, y)"),
    Sample("linalg_householder_product", (np.stack([REFLECTIONS] * 2), real(2, 2) / 2),
           spelled=f"{L}.householder_product(x, y)"),
]  # fmt: skip
