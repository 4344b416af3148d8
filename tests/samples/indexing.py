"""Rows of engine/ops/indexing.py and inplace.py."""

from __future__ import annotations

from .rows import INNER, Sample, begin, index, mask, real, real_number

begin()

SELECT_1 = (("select", {"dim": 0, "index": 1}, None),)

ROWS = [
    Sample("index", (real(3, 4), [index(0, 2, 2)]), spelled="x[torch.tensor([0, 2, 2])]"),
    Sample("index", (real(3, 4), [None, index(0, 2)]), spelled="x[:, [0, 2]]"),
    Sample("index", (real(3, 4), [mask(3, 4)]), spelled="x[torch.arange(12).view(3, 4) % 3 == 0]"),
    Sample(
        "index",
        (real(3, 4), [index([0], [2]), index(1, 1)]),
        spelled="x[torch.tensor([[0], [2]]), torch.tensor([1, 1])]",
    ),
    Sample("index_backward", (real(3, 4), [index(0, 2, 2)]), {"sizes": (4, 4)}, reason=INNER),
    Sample("index_cleared", (real(3, 4), [index(0, 2)]), reason=INNER),
    Sample(
        "index_put", (real(3, 4), real(2, 4), [index(0, 2)]), spelled="x.clone().index_put_((torch.tensor([0, 2]),), y)"
    ),
    Sample("index_select", (real(3, 4), index(2, 0, 2)), {"dim": 1}, "x.index_select(1, y)"),
    Sample("index_sum", (real(3, 3), index(2, 0, 2)), {"dim": 1, "sizes": (3, 4)}, reason=INNER),
    Sample("take_slice", (real(3, 4),), {"path": SELECT_1}, reason=INNER),
    Sample("spread_slice", (real(4),), {"path": SELECT_1, "sizes": (3, 4)}, reason=INNER),
    Sample("zero_slice", (real(3, 4),), {"path": SELECT_1}, reason=INNER),
    Sample("copy_slices", (real(3, 4), real(4)), {"path": SELECT_1}, reason="what writing a view means for its base"),
    Sample("as_strided.path", (real(3, 4),), {"path": SELECT_1}, reason=INNER),
    Sample("fill.Scalar", (real(2, 3),), {"value": 2.0}, "x.clone().fill_(2.0)"),
    Sample("fill.Tensor", (real(2, 3), real_number()), spelled="x.clone().fill_(y)"),
    Sample("copy", (real(2, 3), real(3)), spelled="x.clone().copy_(y)"),
    Sample("normal", (real(2, 3), real(2, 3)), reason="random"),
    Sample("uniform", (real(2, 3), real(2, 3)), reason="random"),
]
