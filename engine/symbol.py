"""Symbols: the values on which a rule runs to say what it computes.

An op applied to a symbol is not computed but noted, so that running a rule once gives the expression of its result.
`shape_of` and `simplified` look at such expressions, `evaluate` computes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from .array import as_array
from .op import HANDLERS, REGISTRY, Op, call_kernel

Sizes = tuple[int, ...]
Number = bool | int | float


class Undecided(TypeError):
    """A rule asked a symbol for its value (a branch, a number): its formula depends on the values."""


class Symbol:
    """An expression: a named value (`op` None), or an op with its `inputs` and static arguments.

    Inputs are symbols, numbers, None, or lists of these.  Operators give expressions again; the truth of one, its
    length or its elements cannot be asked (Undecided).
    """

    __slots__ = ("attrs", "inputs", "name", "op", "shape")

    def __init__(
        self, name: str, shape: Sizes | None, op: Op | None = None, inputs: tuple[Any, ...] = (),
        attrs: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self.name, self.shape, self.op, self.inputs, self.attrs = name, shape, op, inputs, dict(attrs or {})

    def __add__(self, other: Any) -> Symbol:
        return noted("add", self, other)

    def __radd__(self, other: Any) -> Symbol:
        return noted("add", other, self)

    def __sub__(self, other: Any) -> Symbol:
        return noted("sub", self, other)

    def __rsub__(self, other: Any) -> Symbol:
        return noted("sub", other, self)

    def __mul__(self, other: Any) -> Symbol:
        return noted("mul", self, other)

    def __rmul__(self, other: Any) -> Symbol:
        return noted("mul", other, self)

    def __truediv__(self, other: Any) -> Symbol:
        return noted("div", self, other)

    def __rtruediv__(self, other: Any) -> Symbol:
        return noted("div", other, self)

    def __pow__(self, other: Any) -> Symbol:
        return noted("pow", self, other)

    def __rpow__(self, other: Any) -> Symbol:
        return noted("pow", other, self)

    def __neg__(self) -> Symbol:
        return noted("neg", self)

    def __matmul__(self, other: Any) -> Symbol:
        return noted("mm", self, other)

    def __bool__(self) -> bool:
        raise Undecided("the formula depends on values")

    def __iter__(self) -> Iterator[Any]:
        raise Undecided("the formula depends on values")

    def __repr__(self) -> str:
        return self.name if self.op is None else f"{self.op.name}({', '.join(map(repr, self.inputs))})"


def noted(name: str, *inputs: Any, **attrs: Any) -> Symbol:
    """The expression of an op on inputs of which one is a symbol; `pow` is any of the three powers."""
    if name == "pow":
        return _power(*inputs)
    op = REGISTRY[name]
    return Symbol("", shape_of(op.name, inputs, attrs), op, tuple(inputs), attrs)


def _power(base: Any, exponent: Any) -> Symbol:
    if not isinstance(exponent, Symbol):
        return noted("pow.Tensor_Scalar", base, exponent=exponent)
    if not isinstance(base, Symbol):
        return noted("pow.Scalar", exponent, self=base)
    return noted("pow.Tensor_Tensor", base, exponent)


def _apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    inputs, attrs = op.bind(args, kwargs)
    return Symbol("", shape_of(op.name, inputs, attrs), op, tuple(inputs), attrs)


HANDLERS[Symbol] = _apply


# -- shapes -----------------------------------------------------------------------------------------------------------

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


def shape_of(name: str, inputs: tuple[Any, ...], attrs: Mapping[str, Any]) -> Sizes | None:
    """The shape of an op's result where it follows from the shapes of its inputs; None where it is not worked out."""
    shapes = [x.shape if isinstance(x, Symbol) else () for x in inputs if not isinstance(x, (list, tuple))]
    if any(s is None for s in shapes):
        return tuple(attrs[SIZED[name]]) if name in SIZED else None
    try:
        return _shape(name, [s for s in shapes if s is not None], attrs)
    except (ValueError, IndexError, KeyError, TypeError):
        return None


def _shape(name: str, shapes: list[Sizes], attrs: Mapping[str, Any]) -> Sizes | None:
    if name in SIZED:
        return tuple(attrs[SIZED[name]])
    if name in ELEMENTWISE:
        return np.broadcast_shapes(*shapes)
    first = shapes[0]
    if name in LIKE_FIRST:
        return first
    if name == "select":
        return tuple(n for d, n in enumerate(first) if d != attrs["dim"])
    if name == "slice":
        dim = attrs["dim"]
        return (*first[:dim], len(range(first[dim])[attrs["start"] : attrs["end"] : attrs["step"]]), *first[dim + 1 :])
    if name == "diagonal" and len(first) == 2 and (attrs.get("dim1", 0), attrs.get("dim2", 1)) == (0, 1):
        offset = attrs.get("offset", 0)
        return (max(0, min(first[0] + min(0, offset), first[1] - max(0, offset))),)
    if name == "unsqueeze":
        return (*first[: attrs["dim"]], 1, *first[attrs["dim"] :])
    if name == "squeeze.dim":
        return tuple(n for d, n in enumerate(first) if d != attrs["dim"] or n != 1)
    if name in ("sum", "mean"):
        return ()
    if name in ("sum.dim", "mean.dim"):
        dims = attrs["dim"] if isinstance(attrs["dim"], tuple) else (attrs["dim"],)
        return tuple(1 if d in dims else n for d, n in enumerate(first) if attrs["keepdim"] or d not in dims)
    if (order := dims_order(name, len(first), attrs)) is not None:
        return tuple(first[d] for d in order)
    if name == "gather":
        return shapes[1]
    if name in ("pool_spread", "avg_pool_backward"):
        return (*first[: -len(attrs["sizes"])], *attrs["sizes"])
    if name == "embedding_dense_backward":
        return (attrs["rows"], *first[len(shapes[1]) :])
    if name == "index_select":
        return (*first[: attrs["dim"]], *shapes[1], *first[attrs["dim"] + 1 :]) if len(shapes[1]) == 1 else None
    if name == "convolution":
        return _convolved(first, shapes[1], attrs)
    if name == "linalg_cross":
        return np.broadcast_shapes(*shapes)
    if name == "multiplied":
        return (*np.broadcast_shapes(first[:-2], shapes[1][:-2]), first[-2], shapes[1][-1])
    if name in (*MATRICES, "mv", "dot"):
        return (*first[:-1], *(shapes[1][-1:] if name in MATRICES else ()))
    if name == "attention_weights":
        return (*first[:-1], shapes[1][-2])
    if name == "matrix_solve":
        many = 1 if len(shapes[1]) == 1 or shapes[1] == first[:-1] else 2
        return (*np.broadcast_shapes(first[:-2], shapes[1][:-many]), *shapes[1][-many:])
    if name in ("linalg_solve_triangular", "cholesky_solve"):
        given = shapes[name != "cholesky_solve"]
        return (*np.broadcast_shapes(first[:-2], shapes[1][:-2]), *given[-2:])
    return None


def _convolved(image: Sizes, weight: Sizes, attrs: Mapping[str, Any]) -> Sizes:
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


# -- the obvious ------------------------------------------------------------------------------------------------------


def simplified(x: Any) -> Any:
    """The expression without what a reader would strike out: factors 1, terms 0, double signs, x * x, shapes kept.

    Values stay the same up to rounding.
    """
    if isinstance(x, (list, tuple)):
        return [simplified(item) for item in x]
    if not isinstance(x, Symbol) or x.op is None:
        return x
    inputs = tuple(simplified(item) for item in x.inputs)
    rule = _SIMPLER.get(x.op.name)
    found = rule(*inputs, **x.attrs) if rule is not None else None
    if found is not None and _shape_of_any(found) == x.shape:
        return found
    return Symbol(x.name, x.shape, x.op, inputs, x.attrs)


def _shape_of_any(x: Any) -> Sizes | None:
    return x.shape if isinstance(x, Symbol) else ()


def is_call(x: Any, name: str) -> bool:
    """Whether `x` is an expression of that op."""
    return isinstance(x, Symbol) and x.op is not None and x.op.name == name


def same(a: Any, b: Any) -> bool:
    """Whether two expressions read the same."""
    if not isinstance(a, Symbol) or not isinstance(b, Symbol):
        return type(a) is type(b) and (
            len(a) == len(b) and all(map(same, a, b)) if isinstance(a, (list, tuple)) else bool(a is b or a == b)
        )
    return (
        a.op is b.op and a.name == b.name and a.attrs == b.attrs and len(a.inputs) == len(b.inputs)
        and all(map(same, a.inputs, b.inputs))
    )  # fmt: skip


def _is(x: Any, number: float) -> bool:
    return not isinstance(x, (Symbol, bool)) and isinstance(x, (int, float)) and x == number


def _negative(x: Any) -> Any:
    """`y` where `x` is -y, else None."""
    if is_call(x, "neg"):
        return x.inputs[0]
    return -x if isinstance(x, (int, float)) and not isinstance(x, bool) and x < 0 else None


def _minus(x: Any) -> Any:
    inner = _negative(x)
    return inner if inner is not None else noted("neg", x) if isinstance(x, Symbol) else -x


def _add(a: Any, b: Any) -> Any:
    if _is(a, 0):
        return b
    if _is(b, 0):
        return a
    minus = _negative(b)
    return None if minus is None else _sub(a, minus) or noted("sub", a, minus)


def _sub(a: Any, b: Any) -> Any:
    if _is(b, 0):
        return a
    if _is(a, 0):
        return _minus(b)
    minus = _negative(b)
    return None if minus is None else _add(a, minus) or noted("add", a, minus)


def product(a: Any, b: Any) -> Any:
    """a * b, simplified."""
    found = _mul(a, b)
    if found is not None:
        return found
    return noted("mul", a, b) if isinstance(a, Symbol) or isinstance(b, Symbol) else a * b


def _mul(a: Any, b: Any) -> Any:
    if _is(a, 1):
        return b
    if _is(b, 1):
        return a
    for x, y, left in ((a, b, True), (b, a, False)):
        inner = _negative(x)
        if inner is not None:
            return _minus(product(inner, y) if left else product(y, inner))
    if is_call(b, "reciprocal"):
        return _quotient(a, b.inputs[0])
    if is_call(b, "rsqrt"):
        return _quotient(a, noted("sqrt", b.inputs[0]))
    if isinstance(a, Symbol) and same(a, b):
        return noted("pow", a, 2)
    return None


def _quotient(a: Any, b: Any) -> Any:
    found = _div(a, b)
    return noted("div", a, b) if found is None else found


def _div(a: Any, b: Any) -> Any:
    if _is(b, 1):
        return a
    inner = _negative(a)
    if inner is not None:
        return _minus(_quotient(inner, b))
    inner = _negative(b)
    if inner is not None:
        return _minus(_quotient(a, inner))
    if is_call(a, "div"):
        return _quotient(a.inputs[0], product(a.inputs[1], b))
    return None


def _neg(a: Any) -> Any:
    return _negative(a)


def _unless_same(a: Any, size: Sizes = (), **_: Any) -> Any:
    return a if isinstance(a, Symbol) and a.shape == tuple(size) else None


def _outside_sum(a: Any, size: Sizes) -> Any:
    """The sign of a sum stands before it."""
    if is_call(a, "neg") and a.shape != tuple(size):
        return noted("neg", noted("sum_to_size", a.inputs[0], size=size))
    return _unless_same(a, size)


def _turned(a: Any) -> Any:
    """(aᵀ)ᵀ is a, and (aᵀ b)ᵀ is bᵀ a."""
    if is_call(a, "t"):
        return a.inputs[0]
    if is_call(a, "mm") and is_call(a.inputs[0], "t"):
        left, right = a.inputs
        return noted("mm", noted("t", right), left.inputs[0])
    return None


def _transposed_back(a: Any, dim0: int, dim1: int) -> Any:
    return a.inputs[0] if is_call(a, "transpose") and {a.attrs["dim0"], a.attrs["dim1"]} == {dim0, dim1} else None


_SIMPLER: dict[str, Callable[..., Any]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow.Tensor_Scalar": lambda a, exponent: a if _is(exponent, 1) else None,
    "expand": _unless_same,
    "sum_to_size": _outside_sum,
    "view": _unless_same,
    "reshape": _unless_same,
    "t": _turned,
    "transpose": _transposed_back,
}


# -- values -----------------------------------------------------------------------------------------------------------


def evaluate(x: Any, values: Mapping[str, Any]) -> Any:
    """What an expression is for given values of its names."""
    if isinstance(x, (list, tuple)):
        return [evaluate(item, values) for item in x]
    if not isinstance(x, Symbol):
        return x
    if x.op is None:
        return values[x.name]
    inputs = tuple(evaluate(item, values) for item in x.inputs)
    if not x.op.lists and all(isinstance(v, (int, float)) for v in inputs):
        inputs = tuple(np.asarray(v, dtype="float64") for v in inputs)
    return as_array(call_kernel(x.op, inputs, x.attrs))


def mentions(x: Any) -> Iterator[str]:
    """The names of all ops in an expression."""
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from mentions(item)
    elif isinstance(x, Symbol) and x.op is not None:
        yield x.op.name
        for item in x.inputs:
            yield from mentions(item)


def is_number(x: Any) -> bool:
    """Whether `x` is a Python number."""
    return isinstance(x, (bool, int, float)) and not isinstance(x, Symbol)


def shown_number(x: Number) -> str:
    """A number as it is read: six digits, no trailing zeros.

    >>> shown_number(2.0), shown_number(2 / math.sqrt(math.pi)), shown_number(math.inf)
    ('2', '1.12838', '∞')
    """
    if isinstance(x, bool) or math.isnan(x):
        return str(x)
    if math.isinf(x):
        return "∞" if x > 0 else "−∞"
    return f"{x:.6g}".replace("-", "−")
