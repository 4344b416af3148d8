"""Images read at positions between their places: grids, and how far a derivative goes along each dimension.

`order` says how often the result is derived by the position along each dimension of the image (from the first); the
function and all its derivatives are one op, and so are their transposes, so that every rule is one of the two.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from itertools import product
from typing import Any

from ..arrays.array import Array, xp, zeros_at
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .reduction import sum_dim
from .shape import Sizes, stack

BILINEAR, NEAREST, BICUBIC = 0, 1, 2
ZEROS, BORDER, REFLECTION = 0, 1, 2
Tap = tuple[Array, Array, Array]
"""A place along one dimension, its weight, and whether it lies inside."""


def _unnormalised(at: Array, n: int, align_corners: bool) -> tuple[Array, float]:
    """Positions from -1 ... 1 to 0 ... n - 1 (to the places' outer edges without `align_corners`), and the slope."""
    if align_corners:
        return (at + 1) / 2 * (n - 1), (n - 1) / 2
    return ((at + 1) * n - 1) / 2, n / 2


def _bounded(at: Array, n: int, padding_mode: int, align_corners: bool) -> tuple[Array, Any]:
    """Positions brought inside as the padding says, and the sign of the slope (0 where they are stopped)."""
    slope: Any = 1
    if padding_mode == REFLECTION:
        low, span = (0.0, n - 1.0) if align_corners else (-0.5, float(n))
        if not span:
            return xp.zeros_like(at), xp.zeros_like(at)
        off = at - low
        slope = xp.where(off < 0, -1, 1)
        off = abs(off)
        flips = xp.floor(off / span)
        rest = off - flips * span
        odd = flips % 2 == 1
        at = xp.where(odd, span - rest, rest) + low
        slope = xp.where(odd, -slope, slope)
    if padding_mode != ZEROS:
        slope = xp.where((at > 0) & (at < n - 1), slope, 0)
        at = xp.clip(at, 0, n - 1)
    return at, slope


def _cubic(t: Array, order: int) -> list[Array]:
    """The weights of the four places around a position `t` behind the second, derived `order` times (a = -0.75)."""
    a = -0.75
    near, far = (a + 2, -(a + 3), 0.0, 1.0), (a, -5 * a, 8 * a, -4 * a)
    taps = []
    for shift, numbers, sign in ((1, far, 1), (0, near, 1), (1, near, -1), (2, far, -1)):
        x = shift + sign * t
        total = xp.zeros_like(t)
        for power, number in zip((3, 2, 1, 0), numbers, strict=True):
            if power >= order:
                total = total + number * math.perm(power, order) * x ** (power - order)
        taps.append(total * sign**order)
    return taps


def _taps(at: Array, n: int, mode: int, padding_mode: int, align_corners: bool, order: int) -> list[Tap]:
    """List the contributions of one dimension, differentiated `order` times by the position in the grid."""
    at, scale = _unnormalised(at, n, align_corners)
    if mode == BICUBIC:
        left = xp.floor(at)
        weights = _cubic(at - left, order)
        taps = []
        for step, weight in zip((-1, 0, 1, 2), weights, strict=True):
            place = _bounded(left + step, n, padding_mode, align_corners)[0]
            taps.append(_tap(place, weight * scale**order, n))
        return taps
    at, slope = _bounded(at, n, padding_mode, align_corners)
    if mode == NEAREST:
        return [_tap(xp.rint(at), xp.ones_like(at) if not order else xp.zeros_like(at), n)]
    left = xp.floor(at)
    if order == 0:
        weights = [left + 1 - at, at - left]
    elif order == 1:
        steep = slope * scale * xp.ones_like(at)
        weights = [-steep, steep]
    else:
        weights = [xp.zeros_like(at), xp.zeros_like(at)]
    return [_tap(left, weights[0], n), _tap(left + 1, weights[1], n)]


def _tap(place: Array, weight: Array, n: int) -> Tap:
    inside = (place >= 0) & (place < n)
    return xp.where(inside, place, 0).astype("int64"), weight, inside


def _combined(grid: Array, sizes: Sizes, statics: tuple[int, int, bool], order: Sizes) -> list[tuple[Array, Array]]:
    """Per product of taps: the places in the flat image and their weights, both (batch, 1, positions)."""
    batch, rank = grid.shape[0], len(sizes)
    flat = grid.reshape(batch, 1, math.prod(grid.shape[1:-1]), rank)
    lines = [
        _taps(flat[..., rank - 1 - d], n, *statics, order[d]) for d, n in enumerate(sizes)
    ]  # the grid has x first, the image has it last
    result = []
    for taps in product(*lines):
        place, weight, inside = taps[0]
        for (next_place, next_weight, next_inside), n in zip(taps[1:], sizes[1:], strict=True):
            place, weight, inside = place * n + next_place, weight * next_weight, inside & next_inside
        result.append((place, xp.where(inside, weight, 0).astype(grid.dtype, copy=False)))
    return result


def _sample(
    input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool, order: Sizes
) -> Array:
    batch, channels = input.shape[:2]
    flat = input.reshape(batch, channels, math.prod(input.shape[2:]))
    statics = (interpolation_mode, padding_mode, align_corners)
    many = math.prod(grid.shape[1:-1])
    total = xp.zeros((batch, channels, many), dtype=input.dtype, like=input)
    for place, weight in _combined(grid, input.shape[2:], statics, order):
        for out, image, at, share in zip(total, flat, place[:, 0], weight, strict=True):  # a row of an image at a time
            part = image.take(at, axis=1)
            part *= share
            out += part
    return total.reshape(batch, channels, *grid.shape[1:-1])


def _sample_back(
    self: Array, grid: Array, sizes: Sizes, interpolation_mode: int, padding_mode: int, align_corners: bool,
    order: Sizes,
) -> Array:  # fmt: skip
    """The transpose: every element added to the places that it was made of; `sizes` are spatial."""
    batch, channels = self.shape[:2]
    many = math.prod(sizes)
    flat = self.reshape(batch, channels, math.prod(self.shape[2:]))
    out = zeros_at(self, (batch * channels * many,))
    plane = (xp.arange(batch * channels, like=self) * many).reshape(batch, channels, 1)
    statics = (interpolation_mode, padding_mode, align_corners)
    for place, weight in _combined(grid, sizes, statics, order):
        xp.add.at(out, (place + plane).reshape(-1), (flat * weight).reshape(-1))
    return out.reshape(batch, channels, *sizes)


def _by_grid(grad: Any, input: Any, grid: Any, order: Sizes, statics: Any) -> Any:
    """Per position: the upstream gradient times the slope along each dimension, summed over channels."""
    steps = [tuple(k + (d == e) for e, k in enumerate(order)) for d in range(len(order))]
    slopes = [sum_dim(grad * grid_sample(input, grid, *statics, step), 1) for step in reversed(steps)]
    return stack(slopes, len(order) + 1)


def _grid_sampler(input: Array, grid: Array, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Array:
    order = (0,) * (input.ndim - 2)
    return _sample(input, grid, interpolation_mode, padding_mode, align_corners, order)


def _by_input_of_sampler(
    grad: Any, grid: Any, input_sizes: Sizes, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    order = (0,) * (len(input_sizes) - 2)
    return grid_sample_back(grad, grid, input_sizes[2:], interpolation_mode, padding_mode, align_corners, order)


def _by_grid_of_sampler(
    grad: Any, input: Any, grid: Any, input_sizes: Sizes, interpolation_mode: int, padding_mode: int,
    align_corners: bool,
) -> Any:  # fmt: skip
    order = (0,) * (len(input_sizes) - 2)
    return _by_grid(grad, input, grid, order, (interpolation_mode, padding_mode, align_corners))


grid_sampler = {
    rank: op(
        f"grid_sampler_{rank}d", _grid_sampler, Traits(node=f"GridSampler{rank}DBackward0", fused="none"),
        input=_by_input_of_sampler, grid=_by_grid_of_sampler,
    )
    for rank in (2, 3)
}  # fmt: skip
grid_sample = op(
    "grid_sample", _sample, PLAIN,
    Presentation(
        word="the image read at the grid's points, between its pixels (or how that changes with a coordinate)",
    ),
    input=lambda grad, grid, input_sizes, interpolation_mode, padding_mode, align_corners, order: grid_sample_back(
        grad, grid, input_sizes[2:], interpolation_mode, padding_mode, align_corners, order
    ),
    grid=lambda grad, input, grid, interpolation_mode, padding_mode, align_corners, order: _by_grid(
        grad, input, grid, order, (interpolation_mode, padding_mode, align_corners)
    ),
)  # fmt: skip
grid_sample_back = op(
    "grid_sample_back", _sample_back, PLAIN,
    Presentation(
        name="grid_sampleᵀ",
        word="the transpose of grid_sample: each number is added to the pixels that its grid point lies between",
    ),
    self=lambda grad, grid, interpolation_mode, padding_mode, align_corners, order: grid_sample(
        grad, grid, interpolation_mode, padding_mode, align_corners, order
    ),
    grid=lambda grad, self, grid, interpolation_mode, padding_mode, align_corners, order: _by_grid(
        self, grad, grid, order, (interpolation_mode, padding_mode, align_corners)
    ),
)  # fmt: skip
