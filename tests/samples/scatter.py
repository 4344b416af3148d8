"""Rows of engine/ops/scatter.py."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .rows import Sample, begin, index, positive, real, real_number

begin()

PLACES = index([0, 2, 1], [2, 2, 0])
APART = index([0, 2, 1], [2, 1, 0])
TWICE = index(1, 1, 0)
WITH_ZEROS = np.array([[2.0, 0.0, 3.0], [0.5, 0.0, 1.5]])
MULTIPLY, ADD = {"dim": 0, "reduce": "multiply"}, {"dim": 0, "value": 2.5, "reduce": "add"}
NEVER = "torch has no derivative for it: its node raises in backward"


def folds() -> Iterator[Sample]:
    """Every way of folding, with and without what is there."""
    for reduce in ("sum", "prod", "mean", "amax", "amin"):
        for include in (True, False):
            statics = {"dim": 0, "reduce": reduce, "include_self": include}
            yield Sample(
                "scatter_reduce", (positive(3, 4), PLACES, positive(2, 3)), statics,
                f"x.scatter_reduce(0, y, z, {reduce!r}, include_self={include})", kink=reduce[:2] == "am",
            )  # fmt: skip
            if reduce != "sum":
                yield Sample(
                    "index_reduce", (positive(3, 2), TWICE, positive(3, 2)), statics,
                    f"x.index_reduce(0, y, z, {reduce!r}, include_self={include})", kink=reduce[:2] == "am",
                )  # fmt: skip


ROWS = [
    Sample("scatter", (real(3, 4), APART, real(2, 3)), {"dim": 0}, "x.scatter(0, y, z)"),
    Sample("scatter", (real_number(), index(0), real(1)), {"dim": 0}, "x.scatter(0, y, z)"),
    Sample("scatter.value", (real(3, 4), PLACES), {"dim": 1, "value": 2.5}, "x.scatter(1, y, 2.5)"),
    Sample("scatter_add", (real(3, 4), PLACES, real(2, 3)), {"dim": 0}, "torch.scatter_add(x, 0, y, z)"),
    Sample("scatter.reduce", (real(3, 4), PLACES, real(2, 3)), MULTIPLY, reason=NEVER, opaque=NEVER),
    Sample("scatter.value_reduce", (real(3, 4), PLACES), ADD, reason=NEVER, opaque=NEVER),
    *folds(),
    Sample(
        "scatter_reduce", (positive(3, 3), index([0, 0, 1], [0, 1, 1]), WITH_ZEROS),
        {"dim": 0, "reduce": "prod", "include_self": True}, "x.scatter_reduce(0, y, z, 'prod')", kink=True,
    ),
    Sample(
        "scatter_reduce", (np.ones((2, 3)), index([0, 0, 1], [0, 1, 1]), np.ones((2, 3))),
        {"dim": 0, "reduce": "amax", "include_self": True}, "x.scatter_reduce(0, y, z, 'amax')", kink=True,
    ),
    Sample("index_add", (real(3, 2), TWICE, real(3, 2)), {"dim": 0, "alpha": 1}, "x.index_add(0, y, z)"),
    Sample("index_add", (real(2, 3), TWICE, real(2, 3)), {"dim": 1, "alpha": 2.5}, "x.index_add(1, y, z, alpha=2.5)"),
    Sample("index_copy", (real(3, 2), index(2, 0), real(2, 2)), {"dim": 0}, "x.index_copy(0, y, z)"),
    Sample("index_copy", (real(3), index(2), real_number()), {"dim": 0}, "x.index_copy(0, y, z)"),
    Sample("index_fill", (real(3, 2), index(2, 0)), {"dim": 0, "value": 1.5}, "x.index_fill(0, y, 1.5)"),
    Sample("index_fill.Tensor", (real(3, 2), index(2, 0), real_number()), {"dim": 0}, "x.index_fill(0, y, z)"),
]  # fmt: skip
