"""Rows of engine/ops/embedding.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, index, positive, real

begin()

F = "torch.nn.functional."
PLACES = index([2, 0], [2, 3])
FLAT = index(2, 0, 2, 3)
STARTS = index(0, 1, 1)
TWICE = "torch has no second derivative of it, and takes the indices first"

NOT_TRUE = True
"""What torch calls the gradient is not the derivative: small steps say another thing."""

ROWS = [
    Sample("embedding", (real(4, 3), PLACES), spelled=f"{F}embedding(y, x)"),
    Sample("embedding", (real(4, 3), PLACES), {"padding_idx": 2}, f"{F}embedding(y, x, padding_idx=2)", kink=NOT_TRUE),
    Sample(
        "embedding",
        (real(4, 3), PLACES),
        {"scale_grad_by_freq": True},
        f"{F}embedding(y, x, scale_grad_by_freq=True)",
        kink=NOT_TRUE,
    ),
    Sample("embedding", (real(4, 3), index(2, 1)), spelled=f"{F}embedding(y, x)"),
    Sample("embedding_dense_backward", (real(2, 2, 3), PLACES), {"rows": 4, "padding_idx": 0}, reason=INNER),
    Sample("embedding_again", (real(4, 3), PLACES), {"rows": 4, "scale_grad_by_freq": True}, reason=INNER),
    *(
        Sample("_embedding_bag", (real(4, 3), FLAT, STARTS, None), {"mode": mode, "padding_idx": padding}, reason=TWICE)
        for mode in (0, 1, 2)
        for padding in (-1, 3)
    ),
    Sample("_embedding_bag", (real(4, 3), FLAT, STARTS, positive(4)), {"mode": 0}, reason=TWICE),
    Sample("spread_chosen", (real(2, 3), index([1, 1, 0], [-1, 2, 2])), {"rows": 4}, reason=INNER),
    Sample("take_chosen", (real(4, 3), index([1, 1, 0], [-1, 2, 2])), {"rows": 4}, reason=INNER),
    Sample("one_over_sizes", (index(2, 0), np.zeros(2)), reason=INNER),
    Sample(
        "embedding_renorm",
        (real(4, 3), PLACES),
        {"max_norm": 1.0, "norm_type": 2.0},
        reason="written in place by embedding",
    ),
    Sample("one_hot", (PLACES,), {"num_classes": 4}, f"{F}one_hot(x)"),
]
