"""Rows of engine/ops/image.py."""

from __future__ import annotations

from .rows import INNER, Sample, begin, real

begin()

F = "torch.nn.functional"
ROWS = [
    Sample("constant_pad_nd", (real(2, 3),), {"pad": (1, 0, 0, 2), "value": 2.5},
           f"{F}.pad(x, (1, 0, 0, 2), value=2.5)"),
    Sample("constant_pad_nd", (real(3, 4),), {"pad": (-1, 2), "value": 0}, f"{F}.pad(x, (-1, 2))"),
    Sample("pixel_shuffle", (real(1, 8, 2, 3),), {"upscale_factor": 2}, f"{F}.pixel_shuffle(x, 2)"),
    Sample("pixel_unshuffle", (real(1, 2, 4, 2),), {"downscale_factor": 2}, f"{F}.pixel_unshuffle(x, 2)"),
    Sample("channel_shuffle", (real(1, 6, 2),), {"groups": 2}, f"{F}.channel_shuffle(x, 2)"),
    Sample("affine_grid_generator", (real(2, 2, 3),), {"size": (2, 1, 3, 2), "align_corners": False},
           f"{F}.affine_grid(x, (2, 1, 3, 2), False)"),
    Sample("affine_grid_generator", (real(1, 3, 4),), {"size": (1, 1, 2, 3, 2), "align_corners": True},
           f"{F}.affine_grid(x, (1, 1, 2, 3, 2), True)"),
    Sample("affine_grid_generator_backward", (real(2, 3, 2, 2),), {"size": (2, 1, 3, 2), "align_corners": True},
           reason=INNER),
]  # fmt: skip
