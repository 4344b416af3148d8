"""Rows of engine/ops/resampling.py."""

from __future__ import annotations

from typing import Any

from .rows import INNER, Sample, begin, real

begin()

F = "torch.nn.functional"
LINE, PLANE, BLOCK = real(1, 2, 5), real(1, 2, 4, 5), real(1, 1, 3, 4, 2)
INPUTS = {1: LINE, 2: PLANE, 3: BLOCK}
SIZES = {1: (7,), 2: (6, 3), 3: (5, 2, 4)}
SIDES = {1: (1, 2), 2: (1, 2, 0, 3), 3: (1, 0, 1, 2, 2, 1)}


def sized(op: str, rank: int, mode: str, **more: Any) -> Sample:
    """An interpolation to a size."""
    said = "".join(f", {name}={value}" for name, value in more.items())
    statics: dict[str, Any] = {"output_size": SIZES[rank], "scales": (None,) * rank}
    if "nearest" not in mode:
        statics["align_corners"] = more.get("align_corners", False)
    return Sample(op, (INPUTS[rank],), statics, f"{F}.interpolate(x, {SIZES[rank]}, mode='{mode}'{said})")


ROWS = [
    *(sized(f"upsample_nearest{rank}d", rank, "nearest") for rank in (1, 2, 3)),
    *(sized(f"_upsample_nearest_exact{rank}d", rank, "nearest-exact") for rank in (1, 2, 3)),
    Sample("upsample_nearest2d", (PLANE,), {"output_size": (8, 7), "scales": (2.0, 1.5)},
           f"{F}.interpolate(x, scale_factor=(2, 1.5))"),
    *(sized(f"upsample_{mode}{rank}d", rank, mode, align_corners=corners)
      for rank, mode in ((1, "linear"), (2, "bilinear"), (3, "trilinear")) for corners in (False, True)),
    *(sized("upsample_bicubic2d", 2, "bicubic", align_corners=corners) for corners in (False, True)),
    Sample("upsample_bilinear2d", (PLANE,), {"output_size": (6, 12), "align_corners": False, "scales": (1.5, 2.5)},
           f"{F}.interpolate(x, scale_factor=(1.5, 2.5), mode='bilinear')"),
    sized("_upsample_bilinear2d_aa", 2, "bilinear", antialias=True),
    sized("_upsample_bicubic2d_aa", 2, "bicubic", antialias=True),
    sized("_upsample_lanczos2d_aa", 2, "lanczos", antialias=True),
    *(Sample(f"_adaptive_avg_pool{rank}d", (INPUTS[rank],), {"output_size": SIZES[rank]},
             f"{F}.adaptive_avg_pool{rank}d(x, {SIZES[rank]})") for rank in (2, 3)),
    *(Sample(f"{name}{rank}d", (INPUTS[rank],), {"padding": SIDES[rank]}, f"{F}.pad(x, {SIDES[rank]}, '{mode}')")
      for name, mode in (("reflection_pad", "reflect"), ("replication_pad", "replicate")) for rank in (1, 2, 3)),
    Sample("resample_backward", (real(1, 1, 2, 3),),
           {"name": "_adaptive_avg_pool2d", "sizes": (4, 5), "arguments": ((2, 3),)}, reason=INNER),
]  # fmt: skip
