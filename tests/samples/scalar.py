"""Rows of engine/ops/scalar.py."""

from __future__ import annotations

from .rows import Sample, begin, real

begin()

PART = "a step of torch's composites"
ROWS = [Sample(f"{name}.Scalar", (real(2, 3),), {"other": 2.5}, reason=PART) for name in ("add", "sub", "mul", "div")]
