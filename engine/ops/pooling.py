"""Pooling: the largest or the mean of every window, one dimension after the other, a place of the window at a time.

A window is the product of its sides, so that a maximum of maxima and a sum of sums cost the sum of the sides, not
their product.  Spatial arguments are tuples, one number per spatial dimension; `indices` are places in the spatial
dimensions of a sample's channel, counted through.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import product
from typing import Any

from ..arrays import errors
from ..arrays.array import Array, xp, zeros_at
from .convolution import padded, places_of, windows
from .notation import sums
from .op import PLAIN, Traits, op
from .presentation import PICKED_IN_WINDOWS, Presentation
from .result_shapes import Attrs
from .shape import Sizes


def pooled_size(n: int, kernel: int, stride: int, padding: int, dilation: int = 1, ceil_mode: bool = False) -> int:
    """How many windows there are; with `ceil_mode` also one that sticks out, if it starts inside."""
    rest = n + 2 * padding - dilation * (kernel - 1) - 1
    places = (rest + (stride - 1 if ceil_mode else 0)) // stride + 1
    return places - 1 if ceil_mode and (places - 1) * stride >= n + padding else places


def _steps(dim: int, start: int, places: int, stride: int) -> tuple[Any, ...]:
    """The key of every `stride`-th place of a dimension counted from the back."""
    return (Ellipsis, slice(start, start + (places - 1) * stride + 1, stride), *(slice(None),) * (-dim - 1))


def _spread_along(values: Array, dim: int) -> Array:
    """A vector that runs along a dimension counted from the back."""
    return values.reshape(-1, *(1,) * (-dim - 1))


# -- the largest --------------------------------------------------------------------------------------------------


def _largest(parts: Sequence[tuple[Array, Array]], places: Sequence[Array], careful: bool) -> tuple[Array, Array]:
    """The largest of several arrays, the first among equals, and its place: that part's own plus `places`.

    `careful` is how torch takes nan: the last one wins.
    """
    best, chosen = parts[0][0].copy(), parts[0][1] + places[0]
    for (values, own), shift in zip(parts[1:], places[1:], strict=True):
        larger = values > best
        if careful:
            larger |= xp.isnan(values)
        xp.maximum(best, values, out=best)
        chosen = xp.where(larger, own + shift, chosen)
    return best, chosen if chosen.shape == best.shape else xp.broadcast_to(chosen, best.shape).copy()


def _windows_along(self: Array, chosen: Array, dim: int, places: Sequence[Any], careful: bool) -> Any:
    """One dimension pooled.  `places` are per element of the window (key, how far the places lie along, times step)."""
    parts = [(self[key], chosen if not chosen.ndim else chosen[key]) for key, _ in places]
    return _largest(parts, [_spread_along(shift, dim) for _, shift in places], careful)


def _pooled(self: Array, tables: Sequence[Sequence[Any]]) -> tuple[Array, Array]:
    """All spatial dimensions pooled, from the last, with the places of what was taken."""
    for careful in (False, True):
        best, chosen = self, xp.zeros((), dtype="int64", like=self)
        for dim, places in enumerate(reversed(tables), 1):
            best, chosen = _windows_along(best, chosen, -dim, places, careful)
        if self.dtype.kind != "f" or not xp.isnan(best).any():
            break
    return best, chosen


def _pooled_quickly(
    self: Array, places: Sizes, kernel_size: Sizes, stride: Sizes, dilation: Sizes
) -> tuple[Array, list[Array]]:
    """All spatial dimensions pooled, from the last; and which of its window's places was taken, per dimension.

    That is a number of 8 bits, chosen by masks of as many: choosing among places themselves would cost more than all
    the rest.  Right where nothing is nan.
    """
    best: Array = self
    offsets: list[Array] = []
    for dim in range(-1, -len(places) - 1, -1):
        keys = [_steps(dim, i * dilation[dim], places[dim], stride[dim]) for i in range(kernel_size[dim])]
        before, source = offsets, best
        best, offsets = source[keys[0]], [code[keys[0]] for code in before]
        code = None
        for i, key in enumerate(keys[1:], 1):
            values = source[key]
            larger = (values > best).view("int8")
            mask = -larger
            best = xp.maximum(best, values)
            offsets = [old ^ ((old ^ new[key]) & mask) for old, new in zip(offsets, before, strict=True)]
            code = larger if code is None else code ^ ((code ^ xp.int8(i)) & mask)
        offsets.append(xp.zeros(best.shape, dtype="int8", like=self) if code is None else code)
    return best, offsets[::-1]


def _max_pool(
    self: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, ceil_mode: bool
) -> tuple[Array, Array]:
    rank = len(kernel_size)
    sizes = self.shape[-rank:]
    places, after, starts = [], [], []
    for n, k, s, p, gap in zip(sizes, kernel_size, stride, padding, dilation, strict=True):
        places.append(pooled_size(n, k, s, p, gap, ceil_mode))
        after.append(max(0, (places[-1] - 1) * s + gap * (k - 1) + 1 - n - p))
        starts.append(xp.arange(places[-1], like=self) * s - p)
    lowest = -math.inf if self.dtype.kind == "f" else xp.iinfo(self.dtype).min
    wide = padded(self, padding, tuple(after), lowest)
    if max(kernel_size) < 128:
        best, offsets = _pooled_quickly(wide, tuple(places), kernel_size, stride, dilation)
        if not _doubtful(best, wide is not self, lowest):
            return best, _flat_places(offsets, starts, sizes, dilation)
    tables = []
    for d, (k, s, gap) in enumerate(zip(kernel_size, stride, dilation, strict=True)):
        first = starts[d] + (xp.maximum(-starts[d], 0) + gap - 1) // gap * gap  # all -inf: the first that is inside
        step = math.prod(sizes[d + 1 :])
        tables.append([
            (_steps(d - rank, i * gap, places[d], s), (starts[d] + i * gap if i else first) * step) for i in range(k)
        ])  # fmt: skip
    return _pooled(wide, tables)


def _doubtful(best: Array, wider: bool, lowest: float) -> bool:
    """Return whether a maximum may be wrong: there is nan, or a window may have taken its padding."""
    return bool(best.dtype.kind == "f" and xp.isnan(best).any()) or bool(wider and (best == lowest).any())


def _flat_places(offsets: list[Array], starts: list[Array], sizes: Sizes, dilation: Sizes) -> Array:
    """Places counted through, from the number of the window's place per dimension."""
    rank = len(sizes)
    base: Any = 0
    for d, start in enumerate(starts):
        base = base + _spread_along(start * math.prod(sizes[d + 1 :]), d - rank)
    places = offsets[0].astype("int64")
    for d, gap in enumerate(dilation):
        step = gap * math.prod(sizes[d + 1 :])
        if d:
            places += offsets[d] if step == 1 else offsets[d].astype("int64") * step
        elif step != 1:
            places *= step
    places += base
    return places


def adaptive_bounds(n: int, out: int) -> list[tuple[int, int]]:
    """The windows that share `n` places among `out`: the i-th goes from floor(i n / out) to ceil((i + 1) n / out)."""
    return [(i * n // out, -((i + 1) * n // -out)) for i in range(out)]


def _adaptive_max_pool(self: Array, output_size: Sizes) -> tuple[Array, Array]:
    rank = len(output_size)
    sizes = self.shape[-rank:]
    if 0 in output_size or not self.size:
        shape = (*self.shape[:-rank], *output_size)
        return zeros_at(self, shape), xp.zeros(shape, dtype="int64", like=self)
    if all(n % out == 0 for n, out in zip(sizes, output_size, strict=True)):
        sides = tuple(n // out for n, out in zip(sizes, output_size, strict=True))
        values, places = _max_pool(self, sides, sides, (0,) * rank, (1,) * rank, False)
        return in_rows(values), places
    tables = []
    for d, (n, out) in enumerate(zip(sizes, output_size, strict=True)):
        bounds = adaptive_bounds(n, out)
        step = math.prod(sizes[d + 1 :])
        table = []
        for i in range(max(end - start for start, end in bounds)):
            at = xp.asarray([min(start + i, end - 1) for start, end in bounds], like=self)
            table.append(((Ellipsis, at, *(slice(None),) * (rank - d - 1)), at * step))
        tables.append(table)
    values, places = _pooled(self, tables)
    return in_rows(values), in_rows(places)


def need_elements(name: str, sizes: Sizes) -> None:
    """Raise torch's error for the gradient of adaptive windows that has nothing in a dimension but the first."""
    if 0 in sizes[1:]:
        raise errors.runtime(
            f"{name}(): Expected grad_output to have non-zero size for non-batch dimensions, but grad_output has sizes "
            f"{list(sizes)} with dimension {sizes.index(0, 1)} being empty"
        )


def in_rows(data: Array) -> Array:
    """The array, its last dimension innermost in memory."""
    return data if data.flags.c_contiguous else data.copy()


def _pick(self: Array, indices: Array, rank: int) -> Array:
    """The elements at `indices`."""
    lead = self.shape[: self.ndim - rank]
    flat = self.reshape(*lead, math.prod(self.shape[len(lead) :]))
    at = indices.reshape(*lead, math.prod(indices.shape[len(lead) :]))
    return xp.take_along_axis(flat, at, -1).reshape(indices.shape)


def _spread(self: Array, indices: Array, sizes: Sizes, apart: bool) -> Array:
    """The elements put to `indices` of zeros with spatial `sizes`; added up, unless all lie `apart`."""
    rank, many = len(sizes), math.prod(sizes)
    lead = self.shape[: self.ndim - rank]
    planes = math.prod(lead)
    out = zeros_at(self, (planes * many,))
    at = indices.reshape(planes, self.size // planes if planes else 0) + (xp.arange(planes, like=self) * many)[:, None]
    if apart:
        out[at.reshape(-1)] = self.reshape(-1)
    else:
        xp.add.at(out, at.reshape(-1), self.reshape(-1))
    return out.reshape(*lead, *sizes)


def _apart(kernel_size: Sizes, stride: Sizes, dilation: Sizes) -> bool:
    """Return whether no two windows share an element."""
    return all(s > d * (k - 1) for k, s, d in zip(kernel_size, stride, dilation, strict=True))


def _as_before(attrs: Attrs, first: Sizes, *_: Sizes) -> Sizes:
    """The shape before the pooling: planes of `sizes`."""
    return (*first[: -len(attrs["sizes"])], *attrs["sizes"])


pool_pick = op(
    "pool_pick", _pick, PLAIN,
    Presentation(name="of_largest", word="the number at the position of each window's largest"),
    self=lambda grad, indices, self_sizes, rank: pool_spread(grad, indices, self_sizes[-rank:], False),
)  # fmt: skip
pool_spread = op(
    "pool_spread", _spread, PLAIN,
    Presentation(
        shape=_as_before, name="to_largest",
        word="each window's gradient at the position of its largest, added where windows overlap, 0 elsewhere",
        indexed=sums.to_largest,
    ),
    self=lambda grad, indices, sizes: pool_pick(grad, indices, len(sizes)),
)  # fmt: skip


def _max_pool_slope(
    grad: Any, self: Any, result1: Any, self_sizes: Sizes, kernel_size: Sizes, stride: Sizes, dilation: Sizes
) -> Any:
    """The gradient goes to the places that were taken."""
    return pool_spread(grad, result1, self_sizes[-len(stride) :], _apart(kernel_size, stride, dilation))


def _adaptive_max_slope(grad: Any, self: Any, result1: Any, self_sizes: Sizes, output_size: Sizes) -> Any:
    rank = len(output_size)
    need_elements(f"adaptive_max_pool{rank}d_backward", grad.shape)
    apart = all(n % out == 0 for n, out in zip(self_sizes[-rank:], output_size, strict=True) if out)
    return pool_spread(grad, result1, self_sizes[-rank:], apart)


max_pool2d, max_pool3d = (
    op(
        f"max_pool{rank}d_with_indices", _max_pool,
        Traits(node=f"MaxPool{rank}DWithIndicesBackward0", differentiable=(0,), fused="zeros"), PICKED_IN_WINDOWS,
        self=_max_pool_slope,
    )
    for rank in (2, 3)
)  # fmt: skip
adaptive_max_pool2d, adaptive_max_pool3d = (
    op(
        f"adaptive_max_pool{rank}d", _adaptive_max_pool,
        Traits(node=f"AdaptiveMaxPool{rank}DBackward0", differentiable=(0,), fused="zeros"), PICKED_IN_WINDOWS,
        self=_adaptive_max_slope,
    )
    for rank in (2, 3)
)  # fmt: skip


def _max_unpool(self: Array, indices: Array, output_size: Sizes) -> Array:
    return _spread(self, indices, output_size, True)


max_unpool2d, max_unpool3d = (
    op(
        f"max_unpool{rank}d", _max_unpool, Traits(node=f"MaxUnpool{rank}DBackward0"),
        self=lambda grad, indices, output_size: pool_pick(grad, indices, len(output_size)),
    )
    for rank in (2, 3)
)  # fmt: skip

# -- the mean -----------------------------------------------------------------------------------------------------


def _counts(
    self: Array, sizes: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, with_padding: bool
) -> Any:
    """How many places of each window count; those past the padding, which `ceil_mode` reaches, never do."""
    if not any(padding) and not ceil_mode:
        return math.prod(kernel_size)
    counts: Any = 1
    for dim, (n, k, s, p) in enumerate(zip(sizes, kernel_size, stride, padding, strict=True), -len(sizes)):
        starts = xp.arange(pooled_size(n, k, s, p, 1, ceil_mode), like=self) * s - p
        ends = xp.minimum(starts + k, n + p)
        if not with_padding:
            starts, ends = xp.maximum(starts, 0), xp.minimum(ends, n)
        counts = counts * _spread_along(ends - starts, dim)
    return counts.astype(self.dtype, copy=False)


def _divided(total: Array, counts: Any) -> Array:
    """Integers are divided as C does: towards 0."""
    if total.dtype.kind == "f":
        return total / counts
    return xp.trunc(total / counts).astype(total.dtype)


def _avg_pool(
    self: Array, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool, count_include_pad: bool,
    divisor_override: int | None,
) -> Array:  # fmt: skip
    rank = len(kernel_size)
    sizes = self.shape[-rank:]
    places = _places(sizes, kernel_size, stride, padding, ceil_mode)
    total = padded(self, padding, _after(sizes, places, kernel_size, stride, padding))
    for dim in range(-1, -rank - 1, -1):
        parts = [total[_steps(dim, i, places[dim], stride[dim])] for i in range(kernel_size[dim])]
        total = parts[0] if len(parts) == 1 else parts[0] + parts[1]
        for part in parts[2:]:
            total += part
    return _divided(
        total, divisor_override or _counts(self, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad)
    )


def _avg_pool_backward(
    self: Array, sizes: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Array:  # fmt: skip
    """Every window's share added to its places; the transpose of the mean over windows of spatial `sizes`."""
    rank = len(sizes)
    places = _places(sizes, kernel_size, stride, padding, ceil_mode)
    after = _after(sizes, places, kernel_size, stride, padding)
    share = self / (
        divisor_override or _counts(self, sizes, kernel_size, stride, padding, ceil_mode, count_include_pad)
    )
    for dim in range(-rank, 0):
        wide = sizes[dim] + padding[dim] + after[dim]
        out = zeros_at(share, (*share.shape[:dim], wide, *share.shape[dim:][1:]))
        for i in range(kernel_size[dim]):
            out[_steps(dim, i, places[dim], stride[dim])] += share
        share = out
    inner = share[(..., *(slice(p, p + n) for p, n in zip(padding, sizes, strict=True)))]
    return inner if inner.shape == share.shape else inner.copy()


def _places(sizes: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool) -> Sizes:
    return tuple(
        pooled_size(n, k, s, p, 1, ceil_mode) for n, k, s, p in zip(sizes, kernel_size, stride, padding, strict=True)
    )


def _after(sizes: Sizes, places: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes) -> Sizes:
    """The places that the last windows reach behind the input."""
    return tuple(
        max(0, (m - 1) * s + k - n - p)
        for n, m, k, s, p in zip(sizes, places, kernel_size, stride, padding, strict=True)
    )


def _avg_pool_slope(
    grad: Any, self: Any, self_sizes: Sizes, kernel_size: Sizes, stride: Sizes, padding: Sizes, ceil_mode: bool,
    count_include_pad: bool, divisor_override: int | None,
) -> Any:  # fmt: skip
    return avg_pool_backward(
        grad, self_sizes[-len(stride) :], kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override
    )


AVG_POOL: dict[int, Any] = {
    rank: op(
        f"avg_pool{rank}d",
        _avg_pool,
        Traits(node=f"AvgPool{rank}DBackward0", fused="zeros"),
        Presentation(name="avg_pool", word="the mean of each window"),
        self=_avg_pool_slope,
    )
    for rank in (2, 3)
}
avg_pool2d, avg_pool3d = AVG_POOL[2], AVG_POOL[3]
avg_pool_backward = op(
    "avg_pool_backward", _avg_pool_backward, PLAIN,
    Presentation(
        shape=_as_before, name="spread",
        word="each window's gradient in equal parts to its elements, added where windows overlap", indexed=sums.spread,
    ),
    self=lambda grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override: AVG_POOL[
        len(stride)
    ](grad, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override),
)  # fmt: skip

# -- windows as columns -------------------------------------------------------------------------------------------


def _im2col(self: Array, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Array:
    places = places_of(self.shape[-2:], kernel_size, stride, padding, dilation)
    seen = windows(padded(self, padding, padding), kernel_size, stride, dilation, places)
    return seen.reshape(*self.shape[:-3], self.shape[-3] * math.prod(kernel_size), math.prod(places))


def _col2im(
    self: Array, output_size: Sizes, kernel_size: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes
) -> Array:
    places = places_of(output_size, kernel_size, stride, padding, dilation)
    channels = self.shape[-2] // math.prod(kernel_size)
    parts = self.reshape(*self.shape[:-2], channels, *kernel_size, *places)
    out = zeros_at(self, (*self.shape[:-2], channels, *(n + 2 * p for n, p in zip(output_size, padding, strict=True))))
    for i, j in product(*map(range, kernel_size)):
        key = tuple(
            slice(o * d, o * d + (n - 1) * s + 1, s)
            for o, d, n, s in zip((i, j), dilation, places, stride, strict=True)
        )
        out[(..., *key)] += parts[..., i, j, :, :]
    inner = out[(..., *(slice(p, p + n) for p, n in zip(padding, output_size, strict=True)))]
    return inner if inner.shape == out.shape else inner.copy()


im2col = op(
    "im2col", _im2col, Traits(node="Im2ColBackward0"),
    Presentation(word="each window as a column"),
    self=lambda grad, self_sizes, kernel_size, dilation, padding, stride: col2im(
        grad, self_sizes[-2:], kernel_size, dilation, padding, stride
    ),
)  # fmt: skip
col2im = op(
    "col2im", _col2im, Traits(node="Col2ImBackward0"),
    Presentation(word="each column is added to its window of the image"),
    self=lambda grad, kernel_size, dilation, padding, stride: im2col(grad, kernel_size, dilation, padding, stride),
)  # fmt: skip
