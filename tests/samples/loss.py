"""Rows of engine/ops/loss.py."""

from __future__ import annotations

import numpy as np

from .rows import INNER, Sample, begin, index, positive, real, real_number

begin()

F = "torch.nn.functional."
REDUCTIONS = ("none", "mean", "sum")


def _chance(*shape: int) -> np.ndarray:
    """Numbers between 0.2 and 0.8."""
    return positive(*shape) % 1


LABELS = index(2, 0)
SCORES = np.array([[-1.2, -0.4, -2.3], [-0.7, -1.9, -1.1]])
LISTS = index([1, 0, -1, 2], [3, -1, 0, 0], [-1, 0, 1, 2])
TOTAL = np.array(2.0)


def _of(function: str, statics: dict[str, object], *inputs: object, arguments: str = "x, y") -> list[Sample]:
    """A loss with each reduction."""
    given = "".join(f", {k}={v!r}" for k, v in statics.items())
    return [
        Sample(function, inputs, {"reduction": r, **statics}, f"{F}{function}({arguments}, reduction={r!r}{given})")
        for r in REDUCTIONS
    ]


ROWS = [
    *_of("mse_loss", {}, real(2, 3), real(2, 3)),
    *_of("smooth_l1_loss", {"beta": 0.9}, real(2, 3), real(2, 3)),
    *_of("huber_loss", {"delta": 0.9}, real(2, 3), real(2, 3)),
    Sample(
        "huber_loss", (np.array([2.0, 0.0, -1.0, 3.0]), np.array([0.0, 0.0, 0.0, 2.0])), {"reduction": "sum"},
        f"{F}huber_loss(x, y, 'sum')", kink=True,
    ),
    *(
        Sample(
            "binary_cross_entropy", (_chance(2, 3), _chance(2, 3), None), {"reduction": r},
            reason="torch's second derivative adds 1e-12 to what it divides by",
        )
        for r in REDUCTIONS
    ),
    *_of("binary_cross_entropy_with_logits", {}, real(2, 3), _chance(2, 3), None, None),
    *(
        Sample(name, inputs, {"reduction": "mean"}, reason="torch has the weights elsewhere, and without gradient")
        for name, inputs in (
            ("binary_cross_entropy", (_chance(2, 3), _chance(2, 3), positive(2, 3))),
            ("binary_cross_entropy_with_logits", (real(2, 3), _chance(2, 3), positive(2, 3), positive(3))),
        )
    ),
    *_of("soft_margin_loss", {}, real(2, 3), np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, 1.0]])),
    *(
        Sample(
            "nll_loss_forward", (real(2, 3), LABELS, None), {"reduction": r, "ignore_index": 0},
            f"{F}nll_loss(x, y, reduction={r!r}, ignore_index=0)",
        )
        for r in REDUCTIONS
    ),
    Sample("nll_loss_forward", (real(3), np.asarray(1), None), {"reduction": "mean"}, f"{F}nll_loss(x, y)"),
    Sample(
        "nll_loss_forward", (real(2, 3), LABELS, np.array([0.5, 1.5, 2.0])), {"reduction": "mean"},
        f"{F}nll_loss(x, y, z)",
    ),
    Sample(
        "nll_loss2d_forward", (real(2, 3, 2, 1), index([[0], [2]], [[1], [1]]), np.array([0.5, 1.5, 2.0])),
        {"reduction": "mean", "ignore_index": 1}, f"{F}nll_loss(x, y, z, ignore_index=1)",
    ),
    Sample(
        "nll_loss2d_forward", (real(2, 3, 2, 1), index([[0], [2]], [[1], [1]]), None), {"reduction": "none"},
        f"{F}nll_loss(x, y, reduction='none')",
    ),
    *(
        Sample(
            "nll_loss_backward", (real(2) if r == "none" else real_number(), LABELS, None, TOTAL),
            {"sizes": (2, 3), "reduction": r, "ignore_index": -100}, reason=INNER,
        )
        for r in REDUCTIONS
    ),
    Sample("nll_loss_again", (SCORES, LABELS, None, TOTAL), {"reduction": "mean", "ignore_index": -100}, reason=INNER),
    Sample("is_chosen", (LABELS,), {"sizes": (2, 3)}, reason=INNER),
    Sample("label_counts", (LISTS,), {"sizes": (3, 4)}, reason=INNER),
    *(
        Sample(
            "multi_margin_loss", (SCORES, LABELS, weight), {"reduction": r, "p": p, "margin": 0.9},
            reason="torch has no second derivative of it",
        )
        for r, p, weight in (("none", 1, None), ("mean", 2, np.array([0.5, 1.5, 2.0])), ("sum", 2, None))
    ),
    *(
        Sample("multilabel_margin_loss", (real(3, 4), LISTS), {"reduction": r}, reason="torch has no second derivative")
        for r in REDUCTIONS
    ),
]  # fmt: skip
