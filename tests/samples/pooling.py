"""Rows of engine/ops/pooling.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from .rows import INNER, Sample, begin, real

begin()


def largest(
    kernel_size: Any, stride: Any, padding: Any = (0, 0), dilation: Any = (1, 1), ceil_mode: bool = False
) -> dict[str, Any]:
    return {
        "kernel_size": kernel_size, "stride": stride, "padding": padding, "dilation": dilation, "ceil_mode": ceil_mode
    }  # fmt: skip


def mean(
    kernel_size: Any, stride: Any, padding: Any = (0, 0), ceil_mode: bool = False, count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    return {
        "kernel_size": kernel_size, "stride": stride, "padding": padding, "ceil_mode": ceil_mode,
        "count_include_pad": count_include_pad, "divisor_override": divisor_override,
    }  # fmt: skip


X, X3 = real(2, 2, 5, 4), real(1, 2, 3, 4, 2)
TIES = np.ones((1, 3, 3))
AT = np.array([[[0, 5], [7, 6]]])
F = "torch.nn.functional"
TWO, ONE, NONE = (2, 2), (1, 1), (0, 0)
ROWS = [
    Sample("max_pool2d_with_indices", (X,), largest(TWO, TWO), f"{F}.max_pool2d(x, 2, return_indices=True)"),
    Sample("max_pool2d_with_indices", (X,), largest((3, 2), ONE, ONE, (1, 2)),
           f"{F}.max_pool2d(x, (3, 2), 1, 1, (1, 2), return_indices=True)"),
    Sample("max_pool2d_with_indices", (X,), largest(TWO, TWO, NONE, ONE, True),
           f"{F}.max_pool2d(x, 2, ceil_mode=True, return_indices=True)"),
    Sample("max_pool2d_with_indices", (TIES,), largest(TWO, ONE), f"{F}.max_pool2d(x, 2, 1, return_indices=True)",
           kink=True),
    Sample("max_pool3d_with_indices", (X3,), largest((2, 3, 1), (*ONE, 2), (1, 1, 0), (1, 1, 1)),
           f"{F}.max_pool3d(x, (2, 3, 1), (1, 1, 2), (1, 1, 0), return_indices=True)"),
    Sample("adaptive_max_pool2d", (X,), {"output_size": (3, 2)},
           f"{F}.adaptive_max_pool2d(x, (3, 2), return_indices=True)"),
    Sample("adaptive_max_pool3d", (X3,), {"output_size": (3, 2, 1)},
           f"{F}.adaptive_max_pool3d(x, (3, 2, 1), return_indices=True)"),
    Sample("max_unpool2d", (real(1, 2, 2), AT), {"output_size": (4, 4)}, f"{F}.max_unpool2d(x, y, 2)"),
    Sample("max_unpool3d", (real(1, 2, 2)[:, None], AT[:, None]), {"output_size": (2, 4, 4)},
           f"{F}.max_unpool3d(x, y, 2)"),
    Sample("pool_pick", (X, AT[None].repeat(2, 0).repeat(2, 1)), {"rank": 2}, reason=INNER),
    Sample("pool_spread", (real(1, 2, 2), AT), {"sizes": (3, 3), "apart": True}, reason=INNER),
    Sample("pool_spread", (real(1, 2, 2), AT * 0 + 3), {"sizes": (3, 3), "apart": False}, reason=INNER),
    Sample("avg_pool2d", (X,), mean(TWO, TWO), f"{F}.avg_pool2d(x, 2)"),
    Sample("avg_pool2d", (X,), mean((3, 2), (2, 1), ONE, True, False),
           f"{F}.avg_pool2d(x, (3, 2), (2, 1), 1, True, False)"),
    Sample("avg_pool2d", (X,), mean(TWO, ONE, ONE, divisor_override=3),
           f"{F}.avg_pool2d(x, 2, 1, 1, divisor_override=3)"),
    Sample("avg_pool3d", (X3,), mean((2, 3, 1), (*ONE, 2), (1, 1, 0)),
           f"{F}.avg_pool3d(x, (2, 3, 1), (1, 1, 2), (1, 1, 0))"),
    Sample("avg_pool_backward", (real(2, 2, 2, 2),), {"sizes": (5, 4), **mean(TWO, TWO)}, reason=INNER),
    Sample("im2col", (X,), {"kernel_size": (3, 2), "dilation": ONE, "padding": ONE, "stride": (2, 1)},
           f"{F}.unfold(x, (3, 2), 1, 1, (2, 1))"),
    Sample("col2im", (real(2, 12, 15),),
           {"output_size": (5, 4), "kernel_size": (3, 2), "dilation": ONE, "padding": ONE, "stride": (2, 1)},
           f"{F}.fold(x, (5, 4), (3, 2), 1, 1, (2, 1))"),
]  # fmt: skip
