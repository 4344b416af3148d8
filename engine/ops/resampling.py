"""Linear maps along the last dimensions, each given by a table: which places a result is made of, with which weights.

Interpolation, mean pooling over adaptive windows, and padding that repeats what is there are all of this kind.  The
transpose of a table is a table again, so that one op is the gradient of them all.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..arrays.array import Array, xp, zeros_at
from .notation import signs
from .op import PLAIN, Traits, op
from .pooling import need_elements
from .presentation import Presentation
from .shape import Sizes

DENSE = 1 << 14
"""Tables of fewer places than this are applied as a product of matrices."""
SPARSE = 8
"""And so are those where a result is made of more than one in so many places."""


@dataclass(frozen=True, eq=False, slots=True)
class Taps:
    """Row by row of the result: the places (out, taps) among `size`, and their weights (None: one place, as it is)."""

    places: Any
    weights: Any
    size: int


def applied(self: Array, dim: int, taps: Taps) -> Array:
    """One dimension, counted from the back, mapped by a table."""
    out, many = taps.places.shape
    if not taps.size:
        return zeros_at(self, (*self.shape[:dim], out, *self.shape[dim:][1:]))
    if taps.weights is None:
        return self.take(xp.asarray(taps.places[:, 0], like=self), axis=dim)
    if out * taps.size <= DENSE or many * SPARSE >= taps.size:
        return _product(xp.asarray(_matrix(taps), dtype=self.dtype, like=self), self, dim)
    places = xp.asarray(taps.places, like=self)
    weights = xp.asarray(taps.weights, dtype=self.dtype, like=self).reshape(out, many, *(1,) * (-dim - 1))
    total = self.take(places[:, 0], axis=dim)
    total *= weights[:, 0]
    for tap in range(1, many):
        part = self.take(places[:, tap], axis=dim)
        part *= weights[:, tap]
        total += part
    return total


def _product(matrix: Array, self: Array, dim: int) -> Array:
    """A matrix times one dimension."""
    if dim == -1:
        return xp.matmul(self, matrix.T)
    lead, rest = self.shape[:dim], self.shape[dim:][1:]
    flat = self.reshape(*lead, matrix.shape[1], -1) if self.size else self.reshape(*lead, matrix.shape[1], 0)
    return xp.matmul(matrix, flat).reshape(*lead, matrix.shape[0], *rest)


@lru_cache(maxsize=256)
def _matrix(taps: Taps) -> Any:
    """A table as a matrix (out, size)."""
    out, many = taps.places.shape
    matrix = xp.zeros((out, taps.size))
    weights = xp.ones((out, many)) if taps.weights is None else taps.weights
    xp.add.at(matrix, (xp.arange(out)[:, None], taps.places), weights)
    return matrix


@lru_cache(maxsize=256)
def transposed(taps: Taps) -> Taps:
    """The table of the transposed map: for each place the results that it is part of."""
    out, many = taps.places.shape
    places = taps.places.reshape(-1)
    weights = xp.ones(places.size) if taps.weights is None else taps.weights.reshape(-1)
    order = xp.argsort(places, kind="stable")
    counts = xp.bincount(places, minlength=taps.size)
    column = xp.arange(places.size) - xp.repeat(xp.cumsum(counts) - counts, counts)
    shape = (taps.size, max(1, int(counts.max(initial=0))))
    columns, share = xp.zeros(shape, dtype="int64"), xp.zeros(shape)
    columns[places[order], column] = order // many
    share[places[order], column] = weights[order]
    return Taps(columns, share, out)


def resampled(self: Array, tables: list[Taps]) -> Array:
    """The last dimensions mapped, one after the other."""
    result = self.astype("float32") if self.dtype == "float16" else self
    for dim, taps in enumerate(reversed(tables), 1):
        result = applied(result, -dim, taps)
    return result.astype(self.dtype, copy=False)


# -- tables -------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def averaging(n: int, out: int) -> Taps:
    """Means over the windows that share `n` places among `out`: from floor(i n / out) to ceil((i + 1) n / out)."""
    at = xp.arange(out)
    start, end = at * n // out, -((at + 1) * n // -out)
    places = start[:, None] + xp.arange(int((end - start).max(initial=1)))
    inside = places < end[:, None]
    return Taps(xp.where(inside, places, 0), inside / (end - start)[:, None], n)


@lru_cache(maxsize=256)
def nearest(n: int, out: int, scale: float | None, exact: bool) -> Taps:
    """The nearest place, whose position is reckoned in single precision whatever the values, as in torch."""
    at = xp.arange(out)
    if n == out:
        places = at
    elif 2 * n == out:
        places = at // 2
    else:
        step = xp.float32(1 / scale) if scale else xp.float32(n) / xp.float32(out)
        places = xp.minimum(xp.floor((at.astype("float32") + xp.float32(0.5 * exact)) * step).astype("int64"), n - 1)
    return Taps(places[:, None], None, n)


def _positions(n: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Any:
    """Where the results lie among `n` places, in the precision of the values."""
    number = xp.dtype(kind).type
    at = xp.arange(out, dtype=kind)
    if align_corners:
        return at * (number(n - 1) / number(out - 1) if out > 1 else number(0))
    return (at + number(0.5)) * _step(n, out, scale, number) - number(0.5)


def _step(n: int, out: int, scale: float | None, number: Any) -> Any:
    return number(1 / scale) if scale else number(n) / number(out)


@lru_cache(maxsize=256)
def linear(n: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Taps:
    """Between the two places at both sides; outside, the outermost."""
    at = xp.maximum(_positions(n, out, scale, align_corners, kind), 0) if n != out else xp.arange(out, dtype=kind)
    left = xp.minimum(at.astype("int64"), n - 1)
    right = xp.minimum(left + 1, n - 1)
    share = xp.clip(at - left.astype(kind), 0, 1)
    return Taps(xp.stack([left, right], 1), xp.stack([1 - share, share], 1), n)


def _cubic(x: Any, a: float) -> Any:
    """Keys' cubic: the weight of a place at distance `x`."""
    x = abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return xp.where(x <= 1, near, xp.where(x < 2, far, 0))


@lru_cache(maxsize=256)
def cubic(n: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Taps:
    """Keys' cubic over four places (a = -0.75); outside stand the outermost."""
    at = _positions(n, out, scale, align_corners, kind)
    left = xp.floor(at)
    near = left[:, None] + xp.arange(-1, 3, dtype=kind)
    weights = _cubic((at - left)[:, None] - xp.arange(-1, 3, dtype=kind), -0.75)
    return Taps(xp.clip(near.astype("int64"), 0, n - 1), weights, n)


def _lanczos(x: Any) -> Any:
    """A sine over its angle in a window of three places at both sides."""
    return xp.where(abs(x) < 3, xp.sinc(x) * xp.sinc(x / 3), 0)


@lru_cache(maxsize=256)
def smoothed(n: int, out: int, scale: float | None, align_corners: bool, kind: str, reach: int) -> Taps:
    """Anti-aliased, as wide as the step where above 1: triangle (`reach` 1), Keys' cubic (2, a = -0.5), Lanczos (3)."""
    number = xp.dtype(kind).type
    if align_corners:
        step = number(n - 1) / number(out - 1) if out > 1 else number(0)
    else:
        step = _step(n, out, scale, number)
    wide = max(step, number(1))
    support = reach * wide
    at = step * (xp.arange(out, dtype=kind) + number(0.5))
    start = xp.maximum((at - support + number(0.5)).astype("int64"), 0)
    end = xp.minimum((at + support + number(0.5)).astype("int64"), n)
    places = start[:, None] + xp.arange(max(1, int((end - start).max(initial=1))))
    far = (places.astype(kind) - at[:, None] + number(0.5)) / wide
    weights = xp.maximum(1 - abs(far), 0) if reach == 1 else _cubic(far, -0.5) if reach == 2 else _lanczos(far)
    weights = xp.where(places < end[:, None], weights, 0)
    return Taps(xp.minimum(places, n - 1), weights / weights.sum(axis=1, keepdims=True), n)


@lru_cache(maxsize=256)
def repeating(n: int, before: int, after: int, mode: str) -> Taps:
    """The places that stand where padding is asked for: mirrored, the outermost, or from the other side."""
    at = xp.arange(-before, n + after)
    if mode == "reflect":
        at = abs(at)
        at = n - 1 - abs(n - 1 - at)
    elif mode == "replicate":
        at = xp.clip(at, 0, n - 1)
    else:
        at = at % n
    return Taps(at[:, None], None, n)


# -- ops ----------------------------------------------------------------------------------------------------------

TABLES: dict[str, Callable[..., list[Taps]]] = {}
"""By op: its tables for (kind of number, spatial sizes of the input, *static arguments)."""
FORWARD: dict[str, Callable[..., Any]] = {}


def _declared(
    name: str, kernel: Callable[..., Any], node: str, tables: Any, rule: Callable[..., Any], word: str | None = None
) -> Any:
    TABLES[name] = tables
    FORWARD[name] = op(name, kernel, Traits(node=node, fused="zeros"), Presentation(word=word), self=rule)
    return FORWARD[name]


def _resample_backward(self: Array, name: str, sizes: Sizes, arguments: tuple[Any, ...]) -> Array:
    """The transpose of the op `name`, called with `arguments` on spatial `sizes`."""
    return resampled(self, [transposed(taps) for taps in TABLES[name](_kind(self), sizes, *arguments)])


resample_backward = op(
    "resample_backward", _resample_backward, PLAIN,
    Presentation(
        name="resampleᵀ",
        word="the transpose of the resampling: each number is added to the elements it came from, times their weights",
        notation=signs.resampled_back,
    ),
    self=lambda grad, name, arguments: FORWARD[name](grad, *arguments),
)  # fmt: skip


def _kind(self: Array) -> str:
    return "float64" if self.dtype == "float64" else "float32"


def _upsampling(name: str, rank: int, node: str, table: Any, aligned: bool) -> Any:
    """An op that interpolates: `table(n, out, scale, align_corners, kind)` per dimension."""

    def tables(kind: str, sizes: Sizes, output_size: Sizes, *rest: Any) -> list[Taps]:
        scales = rest[-1]
        return [
            table(n, out, scale, *rest[:-1], kind) if aligned else table(n, out, scale)
            for n, out, scale in zip(sizes, output_size, scales, strict=True)
        ]

    def kernel(self: Array, output_size: Sizes, align_corners: bool, scales: tuple[float | None, ...]) -> Array:
        return resampled(self, tables(_kind(self), self.shape[-rank:], output_size, align_corners, scales))

    def kernel_plain(self: Array, output_size: Sizes, scales: tuple[float | None, ...]) -> Array:
        return resampled(self, tables(_kind(self), self.shape[-rank:], output_size, scales))

    def rule(grad: Any, self_sizes: Sizes, output_size: Sizes, align_corners: bool, scales: Any) -> Any:
        return resample_backward(grad, name, self_sizes[-rank:], (output_size, align_corners, scales))

    def rule_plain(grad: Any, self_sizes: Sizes, output_size: Sizes, scales: Any) -> Any:
        return resample_backward(grad, name, self_sizes[-rank:], (output_size, scales))

    if aligned:
        return _declared(name, kernel, node, tables, rule)
    return _declared(name, kernel_plain, node, tables, rule_plain)


def _nearest(n: int, out: int, scale: float | None) -> Taps:
    return nearest(n, out, scale, False)


def _nearest_exact(n: int, out: int, scale: float | None) -> Taps:
    return nearest(n, out, scale, True)


def _triangle(n: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Taps:
    return smoothed(n, out, scale, align_corners, kind, 1)


def _wide_cubic(n: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Taps:
    return smoothed(n, out, scale, align_corners, kind, 2)


def _windowed(n: int, out: int, scale: float | None, align_corners: bool, kind: str) -> Taps:
    return smoothed(n, out, scale, align_corners, kind, 3)


upsample_nearest = {
    rank: _upsampling(f"upsample_nearest{rank}d", rank, f"UpsampleNearest{rank}DBackward0", _nearest, False)
    for rank in (1, 2, 3)
}
upsample_nearest_exact = {
    rank: _upsampling(
        f"_upsample_nearest_exact{rank}d", rank, f"UpsampleNearestExact{rank}DBackward0", _nearest_exact, False
    )
    for rank in (1, 2, 3)
}
upsample_linear = {
    rank: _upsampling(f"upsample_{word}{rank}d", rank, f"Upsample{word.capitalize()}{rank}DBackward0", linear, True)
    for rank, word in ((1, "linear"), (2, "bilinear"), (3, "trilinear"))
}
upsample_bicubic = _upsampling("upsample_bicubic2d", 2, "UpsampleBicubic2DBackward0", cubic, True)
upsample_bilinear_aa = _upsampling("_upsample_bilinear2d_aa", 2, "UpsampleBilinear2DAaBackward0", _triangle, True)
upsample_bicubic_aa = _upsampling("_upsample_bicubic2d_aa", 2, "UpsampleBicubic2DAaBackward0", _wide_cubic, True)
upsample_lanczos_aa = _upsampling("_upsample_lanczos2d_aa", 2, "UpsampleLanczos2DAaBackward0", _windowed, True)


def _adaptive(rank: int) -> Any:
    name = f"_adaptive_avg_pool{rank}d"

    def tables(kind: str, sizes: Sizes, output_size: Sizes) -> list[Taps]:
        return [averaging(n, out) for n, out in zip(sizes, output_size, strict=True)]

    def kernel(self: Array, output_size: Sizes) -> Array:
        return resampled(self, tables("", self.shape[-rank:], output_size))

    def rule(grad: Any, self: Any, self_sizes: Sizes, output_size: Sizes) -> Any:
        need_elements(f"{name[1:]}_backward", grad.shape)
        return resample_backward(grad, name, self_sizes[-rank:], (output_size,))

    return _declared(name, kernel, f"AdaptiveAvgPool{rank}DBackward0", tables, rule, "the mean of each window")


adaptive_avg_pool2d, adaptive_avg_pool3d = _adaptive(2), _adaptive(3)


def _padding(name: str, rank: int, node: str, mode: str) -> Any:
    """An op that pads by what is there; `padding` has (before, after) per dimension, from the last."""

    def tables(kind: str, sizes: Sizes, padding: Sizes) -> list[Taps]:
        return [
            repeating(n, padding[2 * (rank - 1 - d)], padding[2 * (rank - 1 - d) + 1], mode)
            for d, n in enumerate(sizes)
        ]

    def kernel(self: Array, padding: Sizes) -> Array:
        return resampled(self, tables("", self.shape[-rank:], padding))

    def rule(grad: Any, self: Any, self_sizes: Sizes, padding: Sizes) -> Any:
        return resample_backward(grad, name, self_sizes[-rank:], (padding,))

    return _declared(name, kernel, node, tables, rule)


reflection_pad = {
    rank: _padding(f"reflection_pad{rank}d", rank, f"ReflectionPad{rank}DBackward0", "reflect") for rank in (1, 2, 3)
}
replication_pad = {
    rank: _padding(f"replication_pad{rank}d", rank, f"ReplicationPad{rank}DBackward0", "replicate")
    for rank in (1, 2, 3)
}
