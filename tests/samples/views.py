"""Rows of engine/ops/views.py."""

from __future__ import annotations

from .rows import INNER, Sample, begin, real

begin()

COLUMN_MAJOR = {"size": (2, 2), "stride": (1, 2), "storage_offset": 1}
OVERLAPPING = {"size": (3, 2), "stride": (1, 1), "storage_offset": 0}
OWN = {"source_stride": (4, 1), "source_offset": 0}
BETWEEN = "geometry(size, stride, offset) of one tensor seen from that of another: " + INNER

ROWS = [
    Sample("diagonal", (real(3, 4),), {"offset": 1, "dim1": 0, "dim2": 1}, "x.diagonal(1)"),
    Sample("diagonal", (real(2, 3, 2),), {"offset": -1, "dim1": 2, "dim2": 0}, "torch.diagonal(x, -1, 2, 0)"),
    Sample("diagonal_backward", (real(2),), {"sizes": (3, 2), "offset": -1, "dim1": 0, "dim2": 1}, reason=INNER),
    Sample("diagonal_copy", (real(3, 4),), {"offset": 1}, "torch.diag(x, 1)"),
    Sample("diag_embed", (real(2, 3),), {"offset": -1, "dim1": 1, "dim2": 2}, "torch.diag_embed(x, -1)"),
    Sample("diag_embed", (real(3),), spelled="torch.diag(x)"),
    Sample("unfold", (real(2, 5),), {"dimension": 1, "size": 3, "step": 2}, "x.unfold(1, 3, 2)"),
    Sample("unfold", (real(4, 2),), {"dimension": 0, "size": 3, "step": 1}, "x.unfold(0, 3, 1)"),
    Sample("unfold_backward", (real(2, 2, 3),), {"sizes": (2, 4), "dimension": 1, "size": 3, "step": 1}, reason=INNER),
    Sample("unfold_backward", (real(4, 2, 2),), {"sizes": (5, 2), "dimension": 0, "size": 2, "step": 1}, reason=INNER),
    Sample("as_strided", (real(3, 4),), {**COLUMN_MAJOR, **OWN}, "x.as_strided((2, 2), (1, 2), 1)"),
    Sample("as_strided", (real(3, 4),), {**OVERLAPPING, **OWN}, "torch.as_strided(x, (3, 2), (1, 1))"),
    Sample("as_strided_", (real(3, 4),), {**COLUMN_MAJOR, **OWN}, "x.clone().as_strided_((2, 2), (1, 2), 1)"),
    Sample("as_strided_copy", (real(3, 4),), {**COLUMN_MAJOR, **OWN}, "torch.as_strided_copy(x, (2, 2), (1, 2), 1)"),
    Sample("as_strided_backward", (real(3, 2),), {"sizes": (3, 4), **OVERLAPPING, **OWN}, reason=BETWEEN),
    Sample("as_strided_from", (real(3, 4),), {**OVERLAPPING, **OWN}, reason=BETWEEN),
    Sample("split", (real(5, 2),), {"split_size": 2, "dim": 0}, "x.split(2)"),
    Sample("split", (real(2, 4),), {"split_size": 2, "dim": 1}, "torch.chunk(x, 2, 1)"),
    Sample("split_with_sizes", (real(2, 4),), {"split_sizes": (1, 3), "dim": 1}, "x.split([1, 3], -1)"),
    Sample("unsafe_split", (real(5, 2),), {"split_size": 2, "dim": 0}, "torch.unsafe_split(x, 2)"),
    Sample(
        "unsafe_split_with_sizes", (real(4),), {"split_sizes": (1, 3), "dim": 0}, "x.unsafe_split_with_sizes([1, 3])"
    ),
    Sample("narrow_copy", (real(2, 4),), {"dim": 1, "start": 1, "length": 2}, "torch.narrow_copy(x, 1, 1, 2)"),
    Sample("view_copy", (real(2, 3),), {"size": (3, 2)}, "torch.view_copy(x, (3, 2))"),
]
