"""Rows of engine/ops/normalization.py."""

from __future__ import annotations

from .rows import INNER, Sample, begin, positive, real

begin()

F = "torch.nn.functional."
BATCH = {"N": 2, "C": 4, "HxW": 3, "group": 2}
OVER = {"dims": (1,), "eps": 0.1}
ROWS = [
    Sample("normalized", (real(2, 3), None, None), OVER, reason=INNER),
    Sample("normalized_backward", (real(2, 3), real(2, 3), None, None), OVER, reason=INNER),
    Sample(
        "native_layer_norm", (real(2, 3), real(3), real(3)), {"normalized_shape": (3,), "eps": 0.1},
        f"{F}layer_norm(x, (3,), y, z, 0.1)",
    ),
    Sample(
        "native_layer_norm", (real(2, 2, 3), real(2, 3), None), {"normalized_shape": (2, 3)},
        f"{F}layer_norm(x, (2, 3), y)",
    ),
    Sample("native_layer_norm", (real(2, 3), None, None), {"normalized_shape": (3,)}, f"{F}layer_norm(x, (3,))"),
    Sample("native_group_norm", (real(2, 4, 3), real(4), real(4)), BATCH, f"{F}group_norm(x, 2, y, z)"),
    Sample("native_group_norm", (real(2, 4, 3), None, None), BATCH, f"{F}group_norm(x, 2)"),
    Sample(
        "native_batch_norm", (real(3, 2, 2), real(2), real(2), None, None), {"training": True},
        f"{F}batch_norm(x, None, None, y, z, True)",
    ),
    Sample(
        "native_batch_norm", (real(4, 2), None, None, None, None), {"training": True},
        f"{F}batch_norm(x, None, None, training=True)",
    ),
    Sample(
        "native_batch_norm", (real(3, 2, 2), real(2), real(2), real(2), positive(2)), {"training": False, "eps": 0.1},
        reason="the running statistics stand elsewhere among the arguments",
    ),
]  # fmt: skip
