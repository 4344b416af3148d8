"""The shape of an op's result, told from the shapes of its inputs and its static arguments, without computing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Sizes = tuple[int, ...]

SIZED = {
    "expand": "size", "sum_to_size": "size", "view": "size", "reshape": "size", "zero_of": "size",
    "scatter_sum": "sizes", "select_backward": "sizes", "slice_backward": "sizes", "index_backward": "sizes",
    "nll_loss_backward": "sizes", "is_chosen": "sizes", "label_counts": "sizes", "pair_sums": "sizes",
    "masked_spread": "sizes", "masked_taken": "sizes", "take_sum": "sizes", "diagonal_backward": "sizes",
    "unfold_backward": "sizes", "as_strided_backward": "sizes", "as_strided_from": "size",
    "convolution_weight": "sizes", "index_sum": "sizes", "on_diagonal": "sizes", "spread_slice": "sizes",
}  # fmt: skip
"""Ops whose result has the shape that an argument names."""
MATRICES = ("mm", "bmm", "matmul_pairs")
"""Products of matrices, of batches of them, of batches by head."""
LIKE_FIRST = frozenset({
    "zero", "flip", "cumsum", "prod_of_others", "off_diagonal", "even_share", "zero_slice", "index_cleared", "clone",
    "alias", "to", "tril", "triu", "to.device", "softmax", "log_softmax", "normalized",
    "normalized_backward", "softmax_slope",
    "shifted", "recurrence", "cumprod",
    "roll", "scatter", "scatter.value", "scatter_add", "scatter_reduce", "index_add", "index_copy", "index_fill",
    "index_fill.Tensor", "index_reduce", "put", "masked_scatter", "select_scatter", "slice_scatter", "diagonal_scatter",
    "as_strided_scatter",
})  # fmt: skip
ELEMENTWISE = frozenset({
    "add", "sub", "mul", "div", "neg", "reciprocal", "pow.Tensor_Scalar", "pow.Tensor_Tensor", "pow.Scalar", "where",
    "eq", "ne", "lt", "le", "gt", "ge", "logical_and", "logical_or", "logical_not", "maximum", "minimum", "exp", "log",
    "sqrt", "rsqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid", "abs", "sign", "floor", "trunc",
    "masked_fill", "erf", "erfc", "relu", "zero", "log2", "log10", "log1p", "expm1", "exp2",
    "softplus", "gelu_slope", "clamp", "clamp_min", "log_sigmoid",
    "isnan", "finite", "outside", "xlogy", "xlogy.Scalar_Other", "lgamma", "digamma", "polygamma", "erfinv",
    "special_erfcx", "i0", "special_i0e", "special_i1", "special_i1e", "special_zeta", "sgn",
})  # fmt: skip
"""Ops that look at one place of every (broadcast) input for one place of the result."""


def shape_of_result(name: str, shapes: Sequence[Sizes | None], attrs: Mapping[str, Any]) -> Sizes | None:
    """The shape of an op's result where it follows from the `shapes` of its inputs; None where it is not worked out."""
    known = [s for s in shapes if s is not None]
    if len(known) < len(shapes):
        return tuple(attrs[SIZED[name]]) if name in SIZED else None
    try:
        return result_shape(name, known, attrs)
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def result_shape(name: str, shapes: Sequence[Sizes], attrs: Mapping[str, Any]) -> Sizes | None:
    """As `shape_of_result`, of inputs whose shapes are all known.

    Raises ValueError, IndexError, KeyError or TypeError where no op could have been called so.
    """
    if name in SIZED:
        return tuple(attrs[SIZED[name]])
    if name in ELEMENTWISE:
        return np.broadcast_shapes(*shapes)
    if name in LIKE_FIRST:
        return shapes[0]
    order = dims_order(name, len(shapes[0]), attrs)
    if order is not None:
        return tuple(shapes[0][d] for d in order)
    rule = PARTICULAR.get(name)
    return None if rule is None else rule(attrs, *shapes)


def dims_order(name: str, rank: int, attrs: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Which dimension of its input each dimension of a transposed one is; None for other ops."""
    order = list(range(rank))
    if name == "t":
        return tuple(order[::-1])
    if name == "permute":
        return tuple(attrs["dims"])
    if name == "transpose":
        a, b = attrs["dim0"], attrs["dim1"]
        order[a], order[b] = order[b], order[a]
        return tuple(order)
    return None


# -- ops whose result has a shape of its own --------------------------------------------------------------------------


def _sliced(attrs: Mapping[str, Any], first: Sizes) -> Sizes:
    dim, steps = attrs["dim"], slice(attrs["start"], attrs["end"], attrs["step"])
    return (*first[:dim], len(range(first[dim])[steps]), *first[dim + 1 :])


def _diagonal(attrs: Mapping[str, Any], first: Sizes) -> Sizes | None:
    if len(first) != 2 or (attrs.get("dim1", 0), attrs.get("dim2", 1)) != (0, 1):
        return None
    offset = attrs.get("offset", 0)
    return (max(0, min(first[0] + min(0, offset), first[1] - max(0, offset))),)


def _reduced(attrs: Mapping[str, Any], first: Sizes) -> Sizes:
    dims = attrs["dim"] if isinstance(attrs["dim"], tuple) else (attrs["dim"],)
    return tuple(1 if d in dims else n for d, n in enumerate(first) if attrs["keepdim"] or d not in dims)


def _index_selected(attrs: Mapping[str, Any], first: Sizes, index: Sizes) -> Sizes | None:
    return (*first[: attrs["dim"]], *index, *first[attrs["dim"] + 1 :]) if len(index) == 1 else None


def _convolved(attrs: Mapping[str, Any], image: Sizes, weight: Sizes, *_: Sizes) -> Sizes:
    found = []
    steps = zip(*(attrs[k] for k in ("stride", "padding", "dilation", "output_padding")), strict=True)
    for n, k, (stride, padding, gap, more) in zip(image[2:], weight[2:], steps, strict=True):
        reach = gap * (k - 1) + 1
        if attrs["transposed"]:
            found.append((n - 1) * stride - 2 * padding + reach + more)
        else:
            found.append((n + 2 * padding - reach) // stride + 1)
    channels = weight[1] * attrs["groups"] if attrs["transposed"] else weight[0]
    return image[0], channels, *found


def _solved(attrs: Mapping[str, Any], first: Sizes, right: Sizes) -> Sizes:
    many = 1 if len(right) == 1 or right == first[:-1] else 2
    return (*np.broadcast_shapes(first[:-2], right[:-many]), *right[-many:])


def _beside(attrs: Mapping[str, Any], one: Sizes, given: Sizes) -> Sizes:
    """That of the right sides `given` of a system, in as many batches as both have."""
    return (*np.broadcast_shapes(one[:-2], given[:-2]), *given[-2:])


PARTICULAR: dict[str, Callable[..., Sizes | None]] = {
    "select": lambda attrs, first: tuple(n for d, n in enumerate(first) if d != attrs["dim"]),
    "slice": _sliced,
    "diagonal": _diagonal,
    "unsqueeze": lambda attrs, first: (*first[: attrs["dim"]], 1, *first[attrs["dim"] :]),
    "squeeze.dim": lambda attrs, first: tuple(n for d, n in enumerate(first) if d != attrs["dim"] or n != 1),
    **dict.fromkeys(("sum", "mean"), lambda attrs, first: ()),
    **dict.fromkeys(("sum.dim", "mean.dim"), _reduced),
    "gather": lambda attrs, first, index: index,
    **dict.fromkeys(
        ("pool_spread", "avg_pool_backward"),
        lambda attrs, first, *_: (*first[: -len(attrs["sizes"])], *attrs["sizes"]),
    ),
    "embedding_dense_backward": lambda attrs, first, index: (attrs["rows"], *first[len(index) :]),
    "index_select": _index_selected,
    "convolution": _convolved,
    "linalg_cross": lambda attrs, *shapes: np.broadcast_shapes(*shapes),
    "multiplied": lambda attrs, a, b: (*np.broadcast_shapes(a[:-2], b[:-2]), a[-2], b[-1]),
    **dict.fromkeys(MATRICES, lambda attrs, a, b: (*a[:-1], *b[-1:])),
    **dict.fromkeys(("mv", "dot"), lambda attrs, a, b: a[:-1]),
    "attention_weights": lambda attrs, a, b, *_: (*a[:-1], b[-2]),
    "matrix_solve": _solved,
    "linalg_solve_triangular": _beside,
    "cholesky_solve": lambda attrs, given, factor: _beside(attrs, factor, given),
}
"""The rest: a shape from the static arguments and the shapes of the inputs."""
