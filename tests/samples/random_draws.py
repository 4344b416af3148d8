"""Rows of engine/ops/random_draws.py."""

from __future__ import annotations

from engine.ops.random_draws import REDRAWN

from .rows import Sample, begin, positive, real

begin()

DRAWN = "random: tests/parity/random/test_drawing.py compares nodes and moments"

ROWS = [
    *(Sample(name, (positive(2, 3), real(2, 3)), reason=DRAWN) for name in ("bernoulli", "poisson")),
    *(Sample(name, (real(2, 3), real(2, 3)), reason=DRAWN) for name in ("normal.Tensor_float", "normal.float_Tensor")),
    Sample("normal.Tensor_Tensor", (real(2, 3), positive(3), real(2, 3)), reason=DRAWN),
    *(Sample(f"{name}_", (real(2, 3), real(2, 3)), reason=DRAWN) for name in REDRAWN),
    Sample("bernoulli_.Tensor", (real(2, 3), positive(3), real(2, 3)), reason=DRAWN),
]
