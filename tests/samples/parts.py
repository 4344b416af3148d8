"""Rows of engine/ops/parts.py."""

from __future__ import annotations

from .rows import INNER, Sample, begin, index, mask, real

begin()

STRIDED = {"size": (2, 2), "stride": (1, 2), "storage_offset": 1, "source_stride": (4, 1), "source_offset": 0}

REVERSED = "torch's derivative for x keeps what was replaced and drops the rest, against its own small steps"

ROWS = [
    Sample("take", (real(3, 4), index([0, -1], [5, 5])), spelled="x.take(y)"),
    Sample("take_sum", (real(2, 2), index([0, -1], [5, 5])), {"sizes": (3, 4)}, reason=INNER),
    Sample("put", (real(3, 4), index(1, 7), real(2)), {"accumulate": False}, "x.put(y, z)"),
    Sample("put", (real(3, 4), index(1, 1), real(2, 1)), {"accumulate": True}, "x.put(y, z, True)"),
    Sample("masked_select", (real(3, 4), mask(3, 4)), spelled="x.masked_select(y)"),
    Sample("masked_select", (real(4), mask(3, 1)), spelled="torch.masked_select(x, y)"),
    Sample("masked_spread", (real(4), mask(3, 4)), {"sizes": (3, 4)}, reason=INNER),
    Sample("masked_taken", (real(3, 4), mask(3, 4)), {"sizes": (5, 1)}, reason=INNER),
    Sample("masked_scatter", (real(3, 4), mask(3, 4), real(2, 3)), spelled="x.masked_scatter(y, z)"),
    Sample("masked_scatter", (real(2, 3), mask(3), real(3)), spelled="x.masked_scatter(y, z)"),
    Sample("select_scatter", (real(3, 4), real(3)), {"dim": 1, "index": 3}, "x.select_scatter(y, 1, -1)"),
    Sample(
        "slice_scatter", (real(4, 2), real(2, 2)), {"dim": 0, "start": 0, "end": 4, "step": 2},
        "x.slice_scatter(y, step=2)",
    ),
    Sample(
        "diagonal_scatter", (real(3, 4), real(3)), {"offset": 1, "dim1": 0, "dim2": 1}, "x.diagonal_scatter(y, 1)"
    ),
    Sample("as_strided_scatter", (real(3, 4), real(2, 2)), STRIDED, reason=REVERSED),
]  # fmt: skip
