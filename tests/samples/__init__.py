"""One row per op: inputs to call it on, and how a torch user spells the same call.

The tests run every row: forward, gradient and second derivative against torch, against small steps, and on arrays
against Tensors.  An op without a row fails, and so does a row without an op.  Every file here that has ROWS counts.
"""

from __future__ import annotations

import importlib
import pkgutil

from .rows import Sample

SAMPLES: list[Sample] = [
    row
    for room in pkgutil.iter_modules(__path__)
    for row in getattr(importlib.import_module(f"{__name__}.{room.name}"), "ROWS", ())
]
RAISES = "torch gives it a node that raises in backward"
NOT_DIFFERENTIABLE = dict.fromkeys(
    (
        "_ctc_loss_backward",
        "floor_divide",
        "heaviside",
        "remainder.Scalar_Tensor",
        "_unique2",
        "unique_dim",
        "unique_consecutive",
        "bincount.weights",
        "scatter.reduce",
        "scatter.value_reduce",
        "special_zeta.other_scalar",
    ),
    RAISES,
)

__all__ = ["NOT_DIFFERENTIABLE", "SAMPLES", "Sample"]
