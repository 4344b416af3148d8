"""Padding, resampling and reordering of images: linear maps along the last dimensions, given by tables of taps."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from ..arrays.array import Array, library_of, xp
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .shape import Sizes


def _constant_pad_nd(self: Array, pad: Sizes, value: float = 0) -> Array:
    """`pad` has (before, after) per dimension, from the last; negative numbers cut off."""
    rank = self.ndim
    ends = [(0, 0)] * (rank - len(pad) // 2) + [(pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2)]
    out = library_of(self).full(
        tuple(a + n + b for (a, b), n in zip(ends, self.shape, strict=True)), value, dtype=self.dtype
    )
    target = tuple(slice(max(a, 0), n - max(b, 0)) for (a, b), n in zip(ends, out.shape, strict=True))
    source = tuple(slice(max(-a, 0), n - max(-b, 0)) for (a, b), n in zip(ends, self.shape, strict=True))
    out[target] = self[source]
    return out


def _opposite(pad: Sizes) -> Sizes:
    return tuple(-n for n in pad)


constant_pad_nd = op(
    "constant_pad_nd", _constant_pad_nd, Traits(node="ConstantPadNdBackward0"),
    Presentation(word="zeros at the borders, or borders cut off where negative"),
    self=lambda grad, pad: constant_pad_nd(grad, _opposite(pad), 0),
)  # fmt: skip

# -- channels and places exchanged --------------------------------------------------------------------------------


def _pixel_shuffle(self: Array, upscale_factor: int) -> Array:
    *lead, channels, height, width = self.shape
    r = upscale_factor
    parts = self.reshape(*lead, channels // (r * r), r, r, height, width)
    count = len(lead)
    order = (*range(count + 1), count + 3, count + 1, count + 4, count + 2)
    return parts.transpose(order).reshape(*lead, channels // (r * r), height * r, width * r)


def _pixel_unshuffle(self: Array, downscale_factor: int) -> Array:
    *lead, channels, height, width = self.shape
    r = downscale_factor
    parts = self.reshape(*lead, channels, height // r, r, width // r, r)
    count = len(lead)
    order = (*range(count + 1), count + 2, count + 4, count + 1, count + 3)
    return parts.transpose(order).reshape(*lead, channels * r * r, height // r, width // r)


def _channel_shuffle(self: Array, groups: int) -> Array:
    batch, channels = self.shape[:2]
    return self.reshape(batch, groups, channels // groups, *self.shape[2:]).swapaxes(1, 2).reshape(self.shape)


pixel_shuffle = op(
    "pixel_shuffle", _pixel_shuffle, PLAIN, Presentation(word="channels moved between pixels"),
    self=lambda grad, upscale_factor: pixel_unshuffle(grad, upscale_factor),
)  # fmt: skip
pixel_unshuffle = op(
    "pixel_unshuffle", _pixel_unshuffle, PLAIN, Presentation(word="pixels moved into channels"),
    self=lambda grad, downscale_factor: pixel_shuffle(grad, downscale_factor),
)  # fmt: skip
channel_shuffle = op(
    "channel_shuffle", _channel_shuffle, PLAIN,
    Presentation(word="the channels in another order"),
    self=lambda grad, groups, self_sizes: channel_shuffle(grad, self_sizes[1] // groups),
)  # fmt: skip

# -- grids --------------------------------------------------------------------------------------------------------


def _base(like: Array, sizes: Sizes, align_corners: bool) -> Array:
    """The positions of an image's places, from -1 to 1, with a 1 behind each: (places, rank + 1), x first."""
    rank = len(sizes)
    base = library_of(like).ones((*sizes, rank + 1), dtype=like.dtype)
    for d, n in enumerate(sizes):
        at = (xp.arange(n, like=like) * 2 - (n - 1)) / (max(n - 1, 1) if align_corners else n)
        base[..., rank - 1 - d] = at.reshape(-1, *(1,) * (rank - 1 - d))
    return base.reshape(-1, rank + 1)


def _affine_grid(theta: Array, size: Sizes, align_corners: bool) -> Array:
    grid = xp.matmul(_base(theta, size[2:], align_corners), theta.swapaxes(1, 2))
    return grid.reshape(theta.shape[0], *size[2:], theta.shape[1])


def _affine_grid_backward(self: Array, size: Sizes, align_corners: bool) -> Array:
    flat = self.reshape(self.shape[0], -1, self.shape[-1])
    return xp.matmul(flat.swapaxes(1, 2), _base(self, size[2:], align_corners))


affine_grid_generator = op(
    "affine_grid_generator", _affine_grid, PLAIN,
    Presentation(name="affine_grid", word="the sampling grid of each affine map"),
    theta=lambda grad, size, align_corners: affine_grid_backward(grad, size, align_corners),
)  # fmt: skip
affine_grid_backward = op(
    "affine_grid_generator_backward", _affine_grid_backward, PLAIN,
    Presentation(
        name="affine_gridᵀ",
        word="the transpose of affine_grid: each grid point's gradient times its coordinates, added up per map",
    ),
    self=lambda grad, size, align_corners: affine_grid_generator(grad, size, align_corners),
)  # fmt: skip
