"""Rows of engine/ops/ctc.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, index, real

begin()

SCORES = real(4, 2, 3)
PROBS = SCORES - np.log(np.exp(SCORES).sum(2, keepdims=True))
LABELS, TIMES, SIZES = index([1, 2], [2, 2]), index(4, 3), index(2, 1)
OF_SCORES = "its gradient is that of the scores which log_softmax was taken of: the surface tests compare it"

ROWS = [
    Sample("_ctc_loss", (PROBS, LABELS, TIMES, SIZES), {"blank": 0}, reason=OF_SCORES, kink=True),
    Sample(
        "_ctc_loss_backward", (real(2), PROBS, LABELS, TIMES, SIZES, np.zeros(2), np.zeros((2, 4, 5))),
        {"blank": 0, "zero_infinity": False}, reason=INNER, opaque="it raises, as in torch",
    ),
]  # fmt: skip
