"""Rows of engine/ops/trilinear.py."""

from __future__ import annotations

from .rows import Sample, begin, real

begin()

ROWS = [Sample("_trilinear", (real(3, 2), real(2, 2, 4), real(3, 4)), reason="a step of bilinear")]
