"""Rows of engine/ops/sampling.py."""

from __future__ import annotations

from typing import Any

from .rows import INNER, Sample, begin, real, unit

begin()

F = "torch.nn.functional"
MODES, PADDINGS = ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection")


def read(op: str, image: Any, grid: Any, mode: int, padding: int, corners: bool) -> Sample:
    """A row of a grid sampler."""
    statics = {"interpolation_mode": mode, "padding_mode": padding, "align_corners": corners}
    spelled = f"{F}.grid_sample(x, y, '{MODES[mode]}', '{PADDINGS[padding]}', {corners})"
    return Sample(op, (image, grid), statics, spelled, kink=mode == 1)


def inner(op: str, value: Any, grid: Any, order: Any, mode: int, **more: Any) -> Sample:
    """A row of a derivative of one."""
    statics = {**more, "interpolation_mode": mode, "padding_mode": 0, "align_corners": False, "order": order}
    return Sample(op, (value, grid), statics, reason=INNER)


IMAGES, GRIDS = real(2, 2, 4, 3), unit(2, 2, 3, 2) * 1.3
IMAGE, GRID = IMAGES[:1], GRIDS[:1]
SOLID, GRID3 = real(1, 2, 3, 2, 4), unit(1, 2, 1, 2, 3) * 1.3
ROWS = [
    read("grid_sampler_2d", IMAGES, GRIDS, 0, 0, False),
    *(read("grid_sampler_2d", IMAGE, GRID, *case) for case in (
        (0, 1, True), (0, 2, False), (0, 2, True), (1, 0, False), (2, 0, False), (2, 1, True),
        (2, 2, False),
    )),
    *(read("grid_sampler_3d", SOLID, GRID3, *case) for case in ((0, 0, False), (0, 2, True), (1, 1, False))),
    inner("grid_sample", IMAGES, GRIDS, (0, 1), 0),
    inner("grid_sample", IMAGE, GRID, (1, 1), 2),
    inner("grid_sample_back", real(2, 2, 2, 3), GRIDS, (1, 0), 0, sizes=(4, 3)),
    inner("grid_sample_back", real(1, 1, 2, 1, 2), GRID3, (0, 0, 0), 0, sizes=(3, 2, 4)),
]  # fmt: skip
