"""Rows of engine/ops/convolution.py."""

from __future__ import annotations

from typing import Any

from .rows import INNER, Sample, begin, real

begin()


def statics(
    stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), transposed: bool = False,
    output_padding: Any = (0, 0), groups: int = 1,
) -> dict[str, Any]:  # fmt: skip
    return {
        "stride": stride, "padding": padding, "dilation": dilation, "transposed": transposed,
        "output_padding": output_padding, "groups": groups,
    }  # fmt: skip


def weight(sizes: Any, stride: Any = (1, 1), padding: Any = (0, 0), dilation: Any = (1, 1), groups: int = 1) -> Any:
    return {"sizes": sizes, "stride": stride, "padding": padding, "dilation": dilation, "groups": groups}


X = real(2, 2, 5, 4)
F = "torch.nn.functional"
ROWS = [
    Sample("convolution", (X, real(3, 2, 3, 2), real(3)), statics(), f"{F}.conv2d(x, y, z)"),
    Sample("convolution", (X, real(2, 1, 3, 3), None), statics((2, 1), (1, 1), groups=2),
           f"{F}.conv2d(x, y, stride=(2, 1), padding=1, groups=2)"),
    Sample("convolution", (X, real(1, 2, 2, 2), None), statics(dilation=(2, 3)), f"{F}.conv2d(x, y, dilation=(2, 3))"),
    Sample("convolution", (real(2, 2, 7), real(2, 2, 3), real(2)), statics((3,), (2,), (1,), False, (0,)),
           f"{F}.conv1d(x, y, z, 3, 2)"),
    Sample("convolution", (real(1, 1, 3, 3, 3), real(2, 1, 2, 2, 2), None),
           statics((1, 2, 1), (1, 0, 0), (1, 1, 2), False, (0, 0, 0)),
           f"{F}.conv3d(x, y, stride=(1, 2, 1), padding=(1, 0, 0), dilation=(1, 1, 2))"),
    Sample("convolution", (real(1, 1, 7, 6), real(1, 1, 2, 2), None), statics(), f"{F}.conv2d(x, y)"),
    Sample("convolution", (real(2, 2, 3, 2), real(2, 2, 3, 2), real(2)), statics((2, 1), (1, 0), (1, 2), True, (1, 0)),
           f"{F}.conv_transpose2d(x, y, z, (2, 1), (1, 0), (1, 0), 1, (1, 2))"),
    Sample("convolution", (real(1, 2, 3, 2), real(2, 1, 2, 2), None), statics(transposed=True, groups=2),
           f"{F}.conv_transpose2d(x, y, groups=2)"),
    Sample("convolution", (real(1, 1, 3), real(1, 1, 2), None), statics((1,), (0,), (3,), True, (2,)),
           f"{F}.conv_transpose1d(x, y, output_padding=2, dilation=3)"),
    Sample("convolution_weight", (real(2, 3, 3, 3), X), weight((3, 2, 3, 2)), reason=INNER),
    Sample("convolution_weight", (real(2, 2, 3, 4), X), weight((2, 1, 3, 3), (2, 1), (1, 1), groups=2), reason=INNER),
    Sample("convolution_weight", (real(1, 2, 6, 6), real(1, 1, 7, 7)), weight((2, 1, 2, 2)), reason=INNER),
]  # fmt: skip
