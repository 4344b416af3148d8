"""Convolution, pooling, padding, resampling and their like: values, gradients, nodes and errors beside torch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import engine
from tests.batches import batches
from tests.parity.helpers.nodes import names
from tests.parity.helpers.saying import evaluated, listed
from tests.parity.helpers.surface import derived_twice, same, same_or_nothing

RNG = np.random.default_rng(3)


def drawn(*shape: int) -> np.ndarray:
    """Numbers apart from each other, of both signs."""
    size = int(np.prod(shape))
    return (RNG.permutation(size).reshape(shape) - size / 2 + 0.25) / max(1, size)


ARRAYS = {
    "x1": drawn(2, 4, 8), "x2": drawn(2, 4, 8, 7), "x3": drawn(2, 4, 5, 6, 4), "u1": drawn(4, 8), "u2": drawn(4, 8, 7),
    "u3": drawn(4, 5, 6, 4), "w1": drawn(6, 4, 3), "w2": drawn(6, 4, 3, 2), "w3": drawn(6, 4, 2, 3, 2),
    "b": drawn(6), "v2": drawn(4, 3, 3, 2), "d2": drawn(4, 1, 3, 3), "z2": drawn(2, 4, 8, 7), "k2": drawn(1, 4, 4, 4),
    "g2": drawn(2, 5, 3, 2) * 2.4, "g3": drawn(2, 2, 3, 2, 3) * 2.4, "t2": drawn(2, 2, 3), "t3": drawn(2, 3, 4),
}  # fmt: skip
INDICES = np.arange(2 * 4 * 8 * 7).reshape(2, 4, 8, 7) % 56


def scope(library: Any, grads: bool, dtype: str) -> dict[str, Any]:
    """Names that the expressions below use."""
    found = {k: library.tensor(v.astype(dtype), requires_grad=grads) for k, v in ARRAYS.items()}
    found |= {
        "torch": library,
        "F": library.nn.functional,
        "i2": library.tensor(INDICES),
        "nan": float("nan"),
        "np": np,
    }
    return found


VALUES = """
F.conv1d(x1, w1) | F.conv1d(u1, w1, b, 2, 1) | F.conv1d(x1, w1, padding="same", dilation=2) | F.conv2d(x2, w2, b)
F.conv2d(x2, w2, padding="same") | F.conv2d(x2, w2, stride=(2, 1), padding=(1, 0), dilation=(1, 2)) | F.conv2d(u2, w2)
F.conv2d(x2, d2, groups=4) | F.conv2d(x2, w2, padding="valid") | F.conv3d(x3, w3, padding=1) | F.conv3d(u3, w3, b)
F.conv2d(x2, w2, stride=[2], padding=(1,)) | F.conv2d(input=x2, weight=w2, bias=b) | F.conv2d(x2[:0], w2)
F.conv2d(x2, x2) | F.conv2d(x2[:, :2], w2[:, :1], groups=2) | F.conv1d(x1.transpose(0, 1)[:, :, ::2], w1[:, :2])
F.conv_transpose1d(x1, w1[:4], stride=2, output_padding=1) | F.conv_transpose2d(x2, v2, b[:3], 2, 1, 1, 1, 2)
F.conv_transpose2d(u2, v2) | F.conv_transpose3d(x3, w3[:4], stride=(1, 2, 3), padding=1)
F.conv_transpose2d(x2[:0], v2) | F.conv_transpose2d(x2, v2, groups=2, dilation=2, padding=2)
F.conv_transpose2d(x2, v2, dilation=3, output_padding=2) | F.conv2d(i2, i2[:1, :, :3, :3])
F.conv2d(x2, w2[:, :, :1, :1], stride=2) | F.unfold(x2, 2) | F.unfold(u2, (3, 2), 2, 1, (1, 2))
F.fold(F.unfold(x2, 3, 1, 1, 2), (8, 7), 3, 1, 1, 2) | F.fold(x1[:, :, :4], (3, 3), 2) | F.fold(x1[0, :, :4], 3, 2)
F.unfold(x2[:0], 2) | F.max_pool1d(x1, 2) | F.max_pool1d(u1, 3, 1, 1) | F.max_pool1d(x1, 3, 2, 1, 2, True)
F.max_pool1d(x1, 2, return_indices=True) | F.max_pool2d(x2, 2) | F.max_pool2d(x2, 3, 2, 1)
F.max_pool2d(x2, 3, 1, 1, 2) | F.max_pool2d(x2, 3, 2, ceil_mode=True) | F.max_pool2d(u2, (2, 3), return_indices=True)
F.max_pool2d(x2, 3, 2, 1, 1, True, True) | F.max_pool2d(x2, 2, []) | F.max_pool2d(i2, 2) | F.max_pool2d(i2, 3, 1, 1)
F.max_pool2d(x2[:0], 2) | F.max_pool2d(x2 * 0, 3, 2, 1, return_indices=True)
F.max_pool2d(x2.clone().masked_fill(x2 > 0.3, nan), 3, 2, 1, return_indices=True)[1]
F.max_pool2d(x2.masked_fill(x2 > -9, -float("inf")), 3, 2, 1, return_indices=True)[1]
F.max_pool2d(x2.masked_fill(x2 > -9, -float("inf")), 3, 1, 1, 2, return_indices=True)[1] | F.max_pool3d(x3, 2)
F.max_pool3d(u3, 2, 1, 1, return_indices=True) | F.max_pool3d(x3, (2, 3, 1), ceil_mode=True) | F.avg_pool1d(x1, 2)
F.avg_pool1d(u1, 3, 2, 1) | F.avg_pool1d(x1, 3, 2, 1, True, False) | F.avg_pool2d(x2, 2) | F.avg_pool2d(x2, 3, 2, 1)
F.avg_pool2d(x2, 3, 2, 1, True) | F.avg_pool2d(x2, 3, 2, 1, True, False)
F.avg_pool2d(x2, 3, 2, 1, divisor_override=5) | F.avg_pool2d(u2, (2, 3), (1, 2)) | F.avg_pool3d(x3, 2)
F.avg_pool3d(u3, (2, 3, 1), 2, (1, 1, 0), True, False) | F.avg_pool2d(i2, 2) | F.avg_pool2d(i2 - 50, 3, 1, 1)
F.avg_pool2d(x2, 3, 4, 1, True) | F.avg_pool2d(x2[:0], 2) | F.avg_pool3d(x3, 2, divisor_override=3)
F.adaptive_avg_pool1d(x1, 3) | F.adaptive_avg_pool1d(u1, 1) | F.adaptive_avg_pool2d(x2, 3)
F.adaptive_avg_pool2d(x2, 1) | F.adaptive_avg_pool2d(x2, (None, 3)) | F.adaptive_avg_pool2d(x2, (9, 11))
F.adaptive_avg_pool3d(x3, (2, 1, 3)) | F.adaptive_avg_pool3d(u3, 1) | F.adaptive_avg_pool2d(x2[:0], 3)
F.adaptive_avg_pool2d(x2, 0) | F.adaptive_max_pool1d(x1, 3) | F.adaptive_max_pool1d(u1, 5, True)
F.adaptive_max_pool2d(x2, (3, None)) | F.adaptive_max_pool2d(x2, (9, 11), return_indices=True)
F.adaptive_max_pool3d(x3, (2, 3, 1)) | F.adaptive_max_pool2d(x2, (2, 8))
F.max_unpool2d(*F.max_pool2d(x2[:, :, :, :6], 2, return_indices=True), 2)
F.max_unpool1d(*F.max_pool1d(x1, 2, return_indices=True), 2)
F.max_unpool2d(*F.max_pool2d(x2, 2, return_indices=True), 2, output_size=(8, 7))
F.max_unpool3d(*F.max_pool3d(x3, 2, return_indices=True), 2, output_size=[2, 4, 5, 6, 4]) | F.lp_pool1d(x1, 2, 2)
F.lp_pool2d(x2, 2.0, (2, 3)) | F.lp_pool3d(x3, 2, 2) | F.lp_pool2d(x2 + 1, 3, 2, ceil_mode=True)
"""

IMAGES = """
F.pad(x2, (1, 1), value=2) | F.pad(x2, (1, -1, -2, 3)) | F.pad(i2, (1, 1), value=1.5) | F.pad(x2 > 0, (1, 1))
F.pad(x2, ()) | F.pad(x2, (1, 1, 2, 0), "reflect") | F.pad(u1, (3, 2), "reflect") | F.pad(x1, (-1, 2), "reflect")
F.pad(x2, (-1, 2, 0, 0), "replicate") | F.pad(x3, (1, 1, 2, 1, 0, 1), "reflect")
F.pad(x3, (1, 1, 2, 9, 0, 1), "replicate") | F.pad(u2, (1, 2, 3, 4), "replicate")
F.pad(x2, (1, 1, 2, 1), "circular") | F.pad(x1, (1, 2), "circular") | F.pad(u1, (0, 3), "circular")
F.pad(x2, (-1, 2, 0, -2), "circular") | F.pad(i2, (1, 1, 1, 1), "reflect") | F.pad(x2[:0], (1, 1, 1, 1), "reflect")
F.pad(x3, (1, 0, 2, 1, 0, 1), "circular") | F.interpolate(x1, scale_factor=2) | F.interpolate(x2, scale_factor=2)
F.interpolate(x2, (5, 9)) | F.interpolate(x3, 3) | F.interpolate(x2, scale_factor=(1.5, 0.7))
F.interpolate(x2, scale_factor=1.7, mode="nearest-exact") | F.interpolate(i2.byte(), 5)
F.interpolate(x1, 3, mode="nearest-exact") | F.interpolate(x3, scale_factor=2, mode="nearest-exact")
F.interpolate(x1, scale_factor=2.3, mode="linear") | F.interpolate(x1, 5, mode="linear", align_corners=True)
F.interpolate(x2, (5, 12), mode="bilinear") | F.interpolate(x2, 1, mode="bilinear", align_corners=True)
F.interpolate(x2, (8, 7), mode="bilinear") | F.interpolate(x2, scale_factor=1.6, mode="bilinear")
F.interpolate(x2, scale_factor=1.6, mode="bilinear", recompute_scale_factor=True)
F.interpolate(x2, (5, 12), mode="bicubic") | F.interpolate(x2, (5, 12), mode="bicubic", align_corners=True)
F.interpolate(x2, scale_factor=(0.6, 1.9), mode="bicubic") | F.interpolate(x3, (3, 7, 9), mode="trilinear")
F.interpolate(x3, scale_factor=1.4, mode="trilinear") | F.interpolate(x3, 3, mode="trilinear", align_corners=True)
F.interpolate(x2, (3, 12), mode="bilinear", antialias=True)
F.interpolate(x2, (3, 12), mode="bicubic", antialias=True)
F.interpolate(x2, (3, 12), mode="lanczos", antialias=True)
F.interpolate(x2, scale_factor=0.4, mode="bicubic", antialias=True)
F.interpolate(x2, (3, 4), mode="bilinear", antialias=True, align_corners=True) | F.interpolate(x1, 3, mode="area")
F.interpolate(x2, scale_factor=0.5, mode="area") | F.interpolate(x3, 2, mode="area") | F.interpolate(x2[:0], 3)
F.upsample(x2, scale_factor=2, mode="bilinear") | F.interpolate(x1.expand(40, 2, 4, 8)[0], 700, mode="linear")
F.grid_sample(x2, g2) | F.grid_sample(x2, g2, padding_mode="border", align_corners=True)
F.grid_sample(x2, g2, "nearest") | F.grid_sample(x2, g2, padding_mode="reflection", align_corners=False)
F.grid_sample(x2, g2, "bilinear", "reflection", True) | F.grid_sample(x2, g2, "bicubic", align_corners=False)
F.grid_sample(x2, g2, "bicubic", "border", True) | F.grid_sample(x2, g2, "bicubic", "reflection", False)
F.grid_sample(x2, g2, "nearest", "reflection", True) | F.grid_sample(x3, g3)
F.grid_sample(x3, g3, "bilinear", "border", True) | F.grid_sample(x3, g3, "nearest", "reflection")
F.grid_sample(x3, g3, "bilinear", "reflection", True) | F.grid_sample(x2[:0], g2[:0])
F.grid_sample(x2, g2, "nearest", "border", True) | F.affine_grid(t2, (2, 4, 5, 3), align_corners=False)
F.affine_grid(t2, (2, 4, 5, 1), align_corners=True) | F.affine_grid(t3, (2, 4, 2, 3, 4), align_corners=False)
F.affine_grid(t3, torch.Size((2, 4, 2, 3, 4)), align_corners=True) | F.pixel_shuffle(x2, 2) | F.pixel_shuffle(u2, 2)
F.pixel_shuffle(i2, 2) | F.pixel_unshuffle(k2, 2) | F.pixel_unshuffle(k2[0], 4) | F.channel_shuffle(x2, 2)
F.channel_shuffle(x1, 4) | F.channel_shuffle(x3, 1)
"""

ERRORS = """
F.conv2d(x1, w2) | F.conv1d(x2, w1) | F.conv3d(x2, w3) | F.conv2d(x2[:, :3], w2) | F.conv2d(x2, w2, b[:5])
F.conv2d(x2, w1) | F.conv2d(x2[:, :, :2, :2], w2) | F.conv2d(x2, w2, b.double()) | F.conv2d(x2, w2, stride=0)
F.conv2d(x2, w2.double()) | F.conv2d(x2, w2, padding=-1) | F.conv2d(x2, w2, dilation=0)
F.conv2d(x2, w2, stride=(1, 1, 1)) | F.conv2d(x2, w2, padding="same", stride=2) | F.conv2d(x2, w2, padding="foo")
F.conv2d(x2, w2, groups=2) | F.conv2d(x2, w2, groups=0) | F.conv2d(x2, w2[:5, :2], groups=2)
F.conv2d(x2, w2[:1, :2], groups=2) | F.conv2d(2, w2) | F.conv2d(x2, 2) | F.conv_transpose2d(x2, w2)
F.conv_transpose2d(x1, w2) | F.conv_transpose2d(x2, v2, output_padding=1)
F.conv_transpose2d(x2, v2, stride=2, output_padding=2) | F.conv_transpose2d(x2, v2, b)
F.conv_transpose2d(x2, v2, groups=3) | F.conv_transpose1d(x1, w1[:4], output_padding=1)
F.conv_transpose3d(x3, w3[:4], output_padding=1) | F.conv2d(x2, w2[:0]) | F.conv2d(x2, i2[:1, :, :3, :3])
F.conv2d(x2, w2, b[None]) | F.conv2d(x2[:, :, :0], w2) | F.conv2d(x2[:, :, :0], w2, padding=2) | F.conv2d(u2[:3], w2)
F.conv_transpose2d(x2, v2, output_padding=-1) | F.conv2d(u1, w2) | F.max_pool2d(x2, 2, padding=2)
F.max_pool2d(x2, 0) | F.max_pool2d(x2, 2, stride=0) | F.max_pool2d(x2, 2, dilation=0) | F.max_pool2d(x1, 9)
F.max_pool2d(u1, 2) | F.max_pool2d(x2, (2, 2, 2)) | F.max_pool2d(x2, 2, (1, 1, 1)) | F.max_pool2d(x2, 9)
F.max_pool2d(x2, 2, 2, (1, 1, 1)) | F.max_pool2d(x2[:, :0], 2) | F.max_pool2d(x2[:, :, :0], 2) | F.max_pool1d(x2, 2)
F.max_pool1d(x1, 9) | F.max_pool1d(x1, 2, padding=2) | F.max_pool1d(x1, 2, 0) | F.max_pool1d(x1, 0)
F.max_pool1d(x1, 2, padding=2, return_indices=True) | F.max_pool1d(x1, 9, return_indices=True) | F.max_pool3d(u2, 2)
F.max_pool3d(x1, 2) | F.max_pool3d(x3, 7) | F.max_pool3d(x3, 2, padding=2) | F.max_pool2d(x2, 2, padding=-1)
F.max_pool2d(x2 > 0, 2) | F.max_pool2d(x2, ()) | F.avg_pool2d(x2, 2, padding=2) | F.avg_pool2d(x2, 0)
F.avg_pool2d(x2, 2, 0) | F.avg_pool2d(x2, 2, divisor_override=0) | F.avg_pool2d(u1, 2) | F.avg_pool2d(x2, 9)
F.avg_pool2d(x2, (2, 2, 2)) | F.avg_pool1d(x1, 9) | F.avg_pool1d(x2, 2) | F.avg_pool1d(x1, 2, padding=2)
F.avg_pool1d(x1, (2, 2)) | F.avg_pool3d(x3, 7) | F.avg_pool3d(x1, 2) | F.avg_pool2d(x2[:, :0], 2)
F.avg_pool3d(x3, 2, padding=2) | F.adaptive_avg_pool2d(x2, (3, 3, 3)) | F.adaptive_avg_pool2d(u1, 3)
F.adaptive_avg_pool2d(x2, -1) | F.adaptive_avg_pool2d(x2[:, :, :0], 3) | F.adaptive_avg_pool1d(x2, 3)
F.adaptive_avg_pool1d(x1, (3, 3)) | F.adaptive_avg_pool3d(u2, 2) | F.adaptive_avg_pool2d(i2, 3)
F.adaptive_avg_pool3d(x1, 2) | F.adaptive_max_pool2d(x2, (3,)) | F.adaptive_max_pool2d(u1, 3)
F.adaptive_max_pool2d(x2[:, :, :0], 3) | F.adaptive_max_pool1d(x2, 3) | F.adaptive_max_pool3d(x1, 3)
F.adaptive_max_pool2d(i2, 3) | F.adaptive_max_pool2d(x2, -1) | F.max_unpool2d(x2, i2.int(), 2)
F.max_unpool2d(x2, i2[:1], 2) | F.max_unpool2d(x2, i2 * 1000, 2) | F.max_unpool2d(x2, i2, 2, output_size=(40, 40))
F.max_unpool2d(u1, i2, 2) | F.max_unpool2d(x2, i2, 2, output_size=(2, 4, 16)) | F.max_unpool2d(x2, i2 - 2, 2)
F.unfold(x2, 9) | F.unfold(x2, 2, 0) | F.unfold(x2, 2, padding=-1) | F.unfold(x2, 2, stride=0) | F.unfold(x2, 0)
F.unfold(x3, 2) | F.fold(x1, (3, 3), 2) | F.fold(x2, (3, 3), 2) | F.fold(x1, (5, 3), 3) | F.fold(x1, 8, (2,))
F.unfold(x2, (2, 2, 2)) | F.fold(x1, (0, 3), 2) | F.unfold(i2, 2) | F.lp_pool2d(x2, 2, 9) | F.lp_pool1d(x1, 2, 9)
"""


IMAGE_ERRORS = """
F.conv2d(x2.double(), w2) | F.conv2d(i2, w2) | F.conv2d(x2.double(), w2, b) | F.conv2d(x2, w2.half(), b)
F.max_pool2d(x2, 2.0) | F.avg_pool2d(x2, "a") | F.max_pool2d(3, 2) | F.avg_pool2d(None, 2) | F.pad(3, (1, 1))
F.pixel_shuffle(3, 2) | F.max_pool1d(3, 2) | F.avg_pool1d(3, 2) | F.unfold(3, 2) | F.max_unpool2d(x2, 3, 2)
F.conv_transpose2d(x2, v2, stride=1.5) | F.pad(x2, (1,)) | F.pad(x2, (1, 1, 1), "reflect") | F.pad(x2, (1,) * 10)
F.pad(x2, (9, 9), "reflect") | F.pad(x2, (8, 0, 0, 0), "reflect") | F.pad(x2, (0, 0, 8, 0), "reflect")
F.pad(x2, (1, 1), "foo") | F.pad(x2, (1, 1), "reflect", 1) | F.pad(x2, (-9, 0)) | F.pad(x1[0, 0], (1, 1), "reflect")
F.pad(x3, (1, 1), "replicate") | F.pad(x2, (9, 9, 0, 0), "circular") | F.pad(x1, (9, 0), "circular")
F.pad(x2[:, :, :0], (1, 1, 1, 1), "reflect") | F.pad(x2[:, :, :0], (1, 1, 1, 1), "replicate")
F.pad(x3, (9, 0, 0, 0, 0, 0), "reflect") | F.pad(x1, (8, 0), "reflect") | F.pad(x2, 1)
F.pad(x2, (-9, 0, 0, 0), "replicate") | F.interpolate(x2) | F.interpolate(x2, 3, 2) | F.interpolate(x2, (3, 3, 3))
F.interpolate(x2, scale_factor=(1, 2, 3)) | F.interpolate(x2, 0) | F.interpolate(x2, -1) | F.interpolate(x1[0], 3)
F.interpolate(x1, 3, mode="bilinear") | F.interpolate(x2, 3, mode="linear") | F.interpolate(x2, 3, mode="foo")
F.interpolate(x2, 3, align_corners=True) | F.interpolate(x3, 3, mode="bicubic")
F.interpolate(x3, 3, mode="bilinear", antialias=True) | F.interpolate(x2, 3.5) | F.interpolate(x2, (3, 3.5))
F.interpolate(i2, 3) | F.interpolate(i2, 3, mode="bilinear") | F.interpolate(x2, scale_factor=0.1)
F.interpolate(x2, 3, recompute_scale_factor=True) | F.interpolate(x2[:, :0], 3) | F.interpolate(x2[:, :, :0], 3)
F.interpolate(i2, 3, mode="area") | F.interpolate(u2, 3, mode="bicubic") | F.interpolate(x2, 3, mode="lanczos")
F.pixel_shuffle(x2, 3) | F.pixel_shuffle(x2, 0) | F.pixel_shuffle(x1[0], 2) | F.pixel_unshuffle(x2, 3)
F.pixel_unshuffle(x2, 0) | F.pixel_unshuffle(x1[0], 2) | F.channel_shuffle(x2, 3) | F.channel_shuffle(x2, 0)
F.channel_shuffle(x1[0], 2) | F.affine_grid(t2, (2, 4, 3)) | F.affine_grid(t3, (2, 4, 3, 3))
F.affine_grid(t2[:1], (2, 4, 3, 3)) | F.affine_grid(t2, (2, 4, 0, 3)) | F.affine_grid(i2[:, :2, :3, 0], (2, 4, 3, 3))
F.grid_sample(x2, x2) | F.grid_sample(x2, x2[:1, :, :, :2]) | F.grid_sample(x1, x1)
F.grid_sample(x3, x3[..., :3], mode="bicubic") | F.grid_sample(x2, g2, mode="foo")
F.grid_sample(x2, g2, padding_mode="foo") | F.grid_sample(x2, g2.double()) | F.grid_sample(i2, i2[..., :2])
F.grid_sample(x2[:, :, :0], g2) | F.grid_sample(x2, g3)
"""


def outcome(expression: str, library: Any, grads: bool, dtype: str = "float64") -> tuple[Any, dict[str, Any]]:
    known = scope(library, grads, dtype)
    return evaluated(expression, known), known


@batches("expression", listed(ERRORS) + listed(IMAGE_ERRORS))
def test_error_is_torchs_word_for_word(expression: str) -> None:
    torch = pytest.importorskip("torch")
    ours, theirs = outcome(expression, engine, False, "float32")[0], outcome(expression, torch, False, "float32")[0]
    assert isinstance(theirs, Exception), theirs
    assert (type(ours), str(ours).split("\n")[0]) == (type(theirs), str(theirs).split("\n")[0])


WITHOUT = ("i2", "x2 > 0", "_indices=True)[1]", "F.adaptive_avg_pool2d(x2, 0)")
"""What has no gradient; torch refuses that of a mean over no window."""
DIFFERENTIABLE = [e for e in listed(VALUES) + listed(IMAGES) if not any(part in e for part in WITHOUT)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@batches("expression", listed(VALUES) + listed(IMAGES))
def test_value_is_torchs(expression: str, dtype: str) -> None:
    torch = pytest.importorskip("torch")
    found = [outcome(expression, library, False, dtype)[0] for library in (engine, torch)]
    ours, theirs = ([*made] if isinstance(made, tuple) else [made] for made in found)
    assert not isinstance(theirs[0], Exception), theirs
    for mine, yours in zip(ours, theirs, strict=True):
        same(mine, yours, 2e-6 if dtype == "float32" else 1e-12)


@batches("expression", DIFFERENTIABLE)
def test_nodes_and_two_derivatives_are_torchs(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (engine, torch):
        made, known = outcome(expression, library, True)
        assert not isinstance(made, Exception), made
        out = made[0] if isinstance(made, tuple) else made
        found.append((derived_twice(out, [known[k] for k in ARRAYS], library), names(out.grad_fn)))
    same_or_nothing(found[0][0], found[1][0], 1e-9)
    if "circular" not in expression:  # what CopySlices applies is a node of its own here
        assert found[0][1] == found[1][1]


WRITTEN = """
F.max_pool2d(x2 * 1, 2) | F.adaptive_max_pool2d(x2 * 1, 3) | (x1 * 1).max(1)[0] | (x1 * 1).sort(1)[0]
(x1 * 1).cummax(1)[0] | (x1 * 1).kthvalue(2)[0] | F.conv2d(x2, w2) | F.avg_pool2d(x2 * 1, 2)
F.layer_norm(x1 * 1, (8,)) | F.group_norm(x2 * 1, 2) | F.batch_norm(x2 * 1, None, None, training=True)
F.interpolate(x2 * 1, 3) | F.pad(x2 * 1, (1, 1, 1, 1), "reflect") | torch.linalg.inv_ex(k2[..., :2, :2] * 1)[0]
torch.linalg.cholesky_ex(k2 @ k2.mT + 4 * torch.eye(4))[0]
"""


@batches("expression", listed(WRITTEN))
def test_result_may_be_written_where_torch_does_not_save_it(expression: str) -> None:
    torch = pytest.importorskip("torch")
    found = []
    for library in (engine, torch):
        made, known = outcome(expression, library, True)
        made.mul_(2)
        try:
            made.sum().backward()
        except RuntimeError as error:
            found.append(str(error)[:60])
        else:
            found.append([known[k].grad for k in ARRAYS])
    for mine, yours in zip(*found, strict=True):
        assert type(mine).__name__ == type(yours).__name__
        if mine is None or isinstance(mine, str):
            assert mine == yours
        else:
            same(mine, yours, 1e-9)
