"""Rows of engine/ops/attention.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, real

begin()

ONE = "torch has no second derivative of it; the surface tests compare the first"
SHAPE = (2, 1, 3, 2)
WEIGHTS = np.exp(real(2, 1, 3, 4))
WEIGHTS /= WEIGHTS.sum(-1, keepdims=True)
HIDDEN = np.array([[True, False, True], [True, True, False], [False, False, False]])

ROWS = [
    Sample("matmul_pairs", (real(2, 1, 3, 2), real(2, 1, 2, 4)), reason=INNER),
    Sample("softmax_slope", (real(2, 1, 3, 4), WEIGHTS), reason=INNER),
    Sample("_safe_softmax", (real(2, 3),), {"dim": 1}, reason="a step of attention"),
    Sample(
        "attention_weights", (real(*SHAPE), real(*SHAPE), None, None), {"is_causal": False, "scale": 0.7}, reason=INNER
    ),
    Sample("mask_scores", (HIDDEN,), {"dtype": np.dtype("float64")}, reason=INNER),
    *(
        Sample(
            "_scaled_dot_product_flash_attention_for_cpu",
            (real(*SHAPE), real(*SHAPE), real(*SHAPE), mask),
            {"is_causal": causal, "scale": 0.7},
            reason=ONE,
        )
        for mask, causal in ((None, False), (None, True), (HIDDEN, False), (np.zeros((3, 3)), False))
    ),
]
