"""Convolution: one op, whose rules are itself (transposed or not) and the gradient of the weight.

The kernels copy the windows that the kernel sees into the columns of a matrix, a block of samples at a time, and take
one product of matrices per sample: the copy costs a tenth of the product, and nothing else touches single elements.
Spatial arguments are tuples, one number per spatial dimension.
"""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

import math
from itertools import product
from typing import Any

from ..arrays.array import Array, strided, xp, zeros_at
from .notation import sums
from .op import PLAIN, Traits, op
from .presentation import Presentation
from .reduction import sum_dim
from .result_shapes import Attrs, ShapeArgument
from .shape import Sizes, clone, slice_

BLOCK = 1 << 21
"""Elements of the columns that are in memory at once."""
NARROW = 32
"""With fewer output places per sample than this, the samples of a block share one product."""


def padded(self: Array, before: Sizes, after: Sizes, value: float = 0) -> Array:
    """`self` with `value` around its last dimensions; itself where nothing is added."""
    if not any(before) and not any(after):
        return self
    lead = self.ndim - len(before)
    inner = self.shape[lead:]
    sizes = (*self.shape[:lead], *(a + n + b for a, n, b in zip(before, inner, after, strict=True)))
    out = zeros_at(self, sizes)
    if value:
        out.fill(value)
    out[(..., *(slice(a, a + n) for a, n in zip(before, inner, strict=True)))] = self
    return out


def windows(self: Array, kernel: Sizes, stride: Sizes, dilation: Sizes, places: Sizes) -> Array:
    """View an array as the windows that a kernel covers, with shape (*lead, *kernel, *places)."""
    rank = len(kernel)
    lead, steps = self.strides[:-rank], self.strides[-rank:]
    return strided(
        self,
        (*self.shape[:-rank], *kernel, *places),
        (
            *lead,
            *(s * d for s, d in zip(steps, dilation, strict=True)),
            *(s * n for s, n in zip(steps, stride, strict=True)),
        ),
    )


def places_of(sizes: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    """How many places a kernel takes per dimension."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(sizes, kernel, stride, padding, dilation, strict=True)
    )


def spread_of(places: Sizes, kernel: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes) -> Sizes:
    """The smallest input per dimension on which a kernel takes that many places."""
    return tuple(
        (n - 1) * s - 2 * p + d * (k - 1) + 1
        for n, k, s, p, d in zip(places, kernel, stride, padding, dilation, strict=True)
    )


def _blocks(samples: int, elements: int) -> list[slice]:
    """The samples in blocks of which the columns (`elements` each) fit into BLOCK."""
    step = max(1, BLOCK // max(1, elements))
    return [slice(i, min(samples, i + step)) for i in range(0, samples, step)]


def _grouped(self: Array, groups: int) -> Array:
    """The channels (dimension 1) as (groups, channels of one)."""
    return self.reshape(self.shape[0], groups, self.shape[1] // groups, *self.shape[2:])


def _columns(view: Array, rank: int, narrow: bool) -> Array:
    """Windows (samples, groups, channels, *kernel, *places) as matrices with one column per place.

    The shape is (samples, groups, rows, places), or (groups, rows, samples * places) where they are few.
    """
    samples, groups = view.shape[:2]
    rows, places = math.prod(view.shape[2 : 3 + rank]), math.prod(view.shape[3 + rank :])
    if narrow:
        return xp.moveaxis(view, 0, -rank - 1).reshape(groups, rows, samples * places)
    return view.reshape(samples, groups, rows, places)


def _correlate(
    self: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, places: Sizes
) -> Array:
    """Every window times every filter: (samples, filters, *places)."""
    rank, samples, filters, many = len(stride), self.shape[0], weight.shape[0], math.prod(places)
    seen = _grouped(padded(self, padding, padding), groups)
    view = windows(seen, weight.shape[2:], stride, dilation, places)
    table = weight.reshape(groups, filters // groups, math.prod(weight.shape[1:]))
    narrow = many < NARROW
    out = xp.empty((samples, groups, filters // groups, many), dtype=self.dtype, like=self)
    for block in _blocks(samples, table.shape[2] * groups * many):
        columns = _columns(view[block], rank, narrow)
        if narrow:
            product = xp.matmul(table, columns)
            out[block] = xp.moveaxis(product.reshape(*product.shape[:2], len(out[block]), many), 2, 0)
        else:
            xp.matmul(table, columns, out=out[block])
    return out.reshape(samples, filters, *places)


def _spread(
    self: Array, weight: Array, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int, sizes: Sizes
) -> Array:
    """The transpose of `_correlate`: every element times every filter, added where the filter's window lies."""
    samples, filters, kernel = self.shape[0], weight.shape[0], weight.shape[2:]
    places, channels = self.shape[2:], weight.shape[1] * groups
    around = tuple(d * (k - 1) - p for k, p, d in zip(kernel, padding, dilation, strict=True))
    simple = spread_of(places, kernel, stride, padding, dilation) == sizes and min(around) >= 0
    few = filters * math.prod(sizes) <= 2 * channels * math.prod(places)  # the result's windows are no more to copy
    if simple and set(stride) == {1} and few:
        return _correlate(self, _turned(weight, groups), stride, around, dilation, groups, sizes)
    table = weight.reshape(groups, filters // groups, math.prod(weight.shape[1:])).swapaxes(1, 2)
    seen = self.reshape(samples, groups, filters // groups, math.prod(places))
    wide = tuple(
        max(n + 2 * p, (m - 1) * s + d * (k - 1) + 1)
        for n, p, m, s, d, k in zip(sizes, padding, places, stride, dilation, kernel, strict=True)
    )
    out = zeros_at(self, (samples, channels, *wide))
    for block in _blocks(samples, table.shape[1] * seen.shape[3]):
        target = out[block]
        parts = xp.matmul(table, seen[block]).reshape(len(target), channels, *kernel, *places)
        for offset in product(*map(range, kernel)):
            target[(..., *_steps(offset, stride, dilation, places))] += parts[(slice(None), slice(None), *offset)]
    inner = out[(..., *(slice(p, p + n) for p, n in zip(padding, sizes, strict=True)))]
    return inner.copy() if inner.shape != out.shape else inner


def _steps(offset: Sizes, stride: Sizes, dilation: Sizes, places: Sizes) -> tuple[slice, ...]:
    """The places of a padded input that one element of the kernel meets."""
    return tuple(
        slice(o * d, o * d + (n - 1) * s + 1, s) for o, s, d, n in zip(offset, stride, dilation, places, strict=True)
    )


def _turned(weight: Array, groups: int) -> Array:
    """The filters that undo a step of 1: turned by half a turn, with channels in and out exchanged."""
    grouped = weight.reshape(groups, weight.shape[0] // groups, *weight.shape[1:]).swapaxes(1, 2)
    turned = xp.flip(grouped, tuple(range(3, grouped.ndim)))
    return turned.reshape(weight.shape[1] * groups, weight.shape[0] // groups, *weight.shape[2:])


def _convolution(
    input: Array, weight: Array, bias: Array, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Array:  # fmt: skip
    single = _single(input), _single(weight)
    kernel = weight.shape[2:]
    if transposed:
        least = spread_of(input.shape[2:], kernel, stride, padding, dilation)
        sizes = tuple(n + more for n, more in zip(least, output_padding, strict=True))
        result = _spread(*single, stride, padding, dilation, groups, sizes)
    else:
        sizes = places_of(input.shape[2:], kernel, stride, padding, dilation)
        result = _correlate(*single, stride, padding, dilation, groups, sizes)
    if bias is not None:
        result += bias.reshape(-1, *(1,) * len(kernel))
    return result.astype(input.dtype, copy=False)


def _single(self: Array) -> Array:
    """Half precision as single, in which products of matrices run; sums keep their digits, as in torch."""
    return self.astype("float32") if self.dtype == "float16" else self


def _convolution_weight(
    self: Array, input: Array, sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, groups: int
) -> Array:
    """The sum over samples and places of `self` times the window of `input` there: the gradient of the filters."""
    grad, seen = _single(self), _single(input)
    rank, kernel, places, many = len(stride), sizes[2:], self.shape[2:], math.prod(self.shape[2:])
    view = windows(_grouped(padded(seen, padding, padding), groups), kernel, stride, dilation, places)
    upstream = _grouped(grad.reshape(*self.shape[:2], many), groups)
    narrow = many < NARROW
    total = zeros_at(grad, (groups, sizes[0] // groups, math.prod(sizes[1:])))
    for block in _blocks(len(self), total.shape[2] * groups * many):
        columns = _columns(view[block], rank, narrow)
        if narrow:
            flat = xp.moveaxis(upstream[block], 0, 2).reshape(*total.shape[:2], columns.shape[2])
            total += xp.matmul(flat, columns.swapaxes(1, 2))
        else:
            total += xp.matmul(upstream[block], columns.swapaxes(2, 3)).sum(axis=0)
    return total.reshape(sizes).astype(self.dtype, copy=False)


def _forward(
    input: Any, weight: Any, input_sizes: Sizes, weight_sizes: Sizes, places: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, groups: int,
) -> Any:  # fmt: skip
    """A convolution's first `places`: there are more where `output_padding` was larger than the step."""
    result = convolution(input, weight, None, stride, padding, dilation, False, (0,) * len(stride), groups)
    there = places_of(input_sizes[2:], weight_sizes[2:], stride, padding, dilation)
    if there == tuple(places):
        return result
    for dim, (have, want) in enumerate(zip(there, places, strict=True), 2):
        if have != want:
            result = slice_(result, dim, 0, want)
    return clone(result, memory_format="contiguous")


def _input_gradient(
    grad: Any, grad_sizes: Sizes, weight: Any, weight_sizes: Sizes, sizes: Sizes, stride: Sizes, padding: Sizes,
    dilation: Sizes, transposed: bool, groups: int,
) -> Any:  # fmt: skip
    """The gradient of the input of a convolution: the opposite convolution of the upstream gradient."""
    if transposed:
        return _forward(grad, weight, grad_sizes, weight_sizes, sizes[2:], stride, padding, dilation, groups)
    least = spread_of(grad_sizes[2:], weight_sizes[2:], stride, padding, dilation)
    rest = tuple(n - m for n, m in zip(sizes[2:], least, strict=True))
    return convolution(grad, weight, None, stride, padding, dilation, True, rest, groups)


def out_sizes(
    input_sizes: Sizes, weight_sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    output_padding: Sizes, groups: int,
) -> Sizes:  # fmt: skip
    """The shape of the result of a convolution."""
    kernel = weight_sizes[2:]
    if not transposed:
        return (input_sizes[0], weight_sizes[0], *places_of(input_sizes[2:], kernel, stride, padding, dilation))
    least = spread_of(input_sizes[2:], kernel, stride, padding, dilation)
    return (
        input_sizes[0], weight_sizes[1] * groups, *(n + m for n, m in zip(least, output_padding, strict=True))
    )  # fmt: skip


def by_input(
    grad: Any, weight: Any, input_sizes: Sizes, weight_sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes,
    transposed: bool, output_padding: Sizes, groups: int,
) -> Any:  # fmt: skip
    """The gradient of the input, for that of the result."""
    out = out_sizes(input_sizes, weight_sizes, stride, padding, dilation, transposed, output_padding, groups)
    return _input_gradient(
        grad, out, weight, weight_sizes, input_sizes, stride, padding, dilation, transposed, groups
    )  # fmt: skip


def by_weight(
    grad: Any, input: Any, weight_sizes: Sizes, stride: Sizes, padding: Sizes, dilation: Sizes, transposed: bool,
    groups: int,
) -> Any:  # fmt: skip
    """The gradient of the filters; transposed, the upstream gradient and the input change places."""
    left, right = (input, grad) if transposed else (grad, input)
    return convolution_weight(left, right, weight_sizes, stride, padding, dilation, groups)


def _places(attrs: Attrs, image: Sizes, weight: Sizes, *_: Sizes) -> Sizes:
    """The shape of the result: samples, channels, and where the filter fits."""
    places = []
    steps = zip(*(attrs[k] for k in ("stride", "padding", "dilation", "output_padding")), strict=True)
    for n, k, (stride, padding, gap, more) in zip(image[2:], weight[2:], steps, strict=True):
        reach = gap * (k - 1) + 1
        if attrs["transposed"]:
            places.append((n - 1) * stride - 2 * padding + reach + more)
        else:
            places.append((n + 2 * padding - reach) // stride + 1)
    channels = weight[1] * attrs["groups"] if attrs["transposed"] else weight[0]
    return image[0], channels, *places


convolution = op(
    "convolution", _convolution, Traits(node="ConvolutionBackward0", fused="none"),
    Presentation(called=lambda attrs, rank: f"conv{'_transpose' * bool(attrs.get('transposed'))}{rank - 2}d",
        shape=_places,
        word="slides the filters over the image: a weighted sum of each window (transposed: each number times the "
        "filter, added to its window)",
        indexed=sums.convolved,
    ),
    input=by_input,
    weight=by_weight,
    bias=lambda grad, input_sizes: sum_dim(grad, (0, *range(2, len(input_sizes)))),
)  # fmt: skip
convolution_weight = op(
    "convolution_weight", _convolution_weight, PLAIN,
    Presentation(
        shape=ShapeArgument("sizes"), name="correlate",
        word="the image that each weight of a filter saw, times the upstream gradient, added up over positions",
        indexed=sums.filters,
    ),
    self=lambda grad, input, self_sizes, input_sizes, sizes, stride, padding, dilation, groups: _forward(
        input, grad, input_sizes, sizes, self_sizes[2:], stride, padding, dilation, groups
    ),
    input=lambda grad, self, self_sizes, input_sizes, sizes, stride, padding, dilation, groups: _input_gradient(
        self, self_sizes, grad, sizes, input_sizes, stride, padding, dilation, False, groups
    ),
)  # fmt: skip
"""The gradient of the filters, of shape `sizes`; linear in the upstream gradient and in the input."""
