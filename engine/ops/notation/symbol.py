"""Symbols: the values on which a rule runs to say what it computes.

An op applied to a symbol is not computed but noted, so that running a rule once gives the expression of its result.
`engine/formula/simplify.py` then simplifies it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from ..op import HANDLERS, REGISTRY, Op
from ..result_shapes import Sizes, shape_of_result

Number = bool | int | float


class ValueNeeded(TypeError):
    """A rule asked a symbol for its value (a branch, a number): its formula depends on the values."""


class Symbol:
    """An expression: a named value (`op` None), or an op with its `inputs` and static arguments.

    Inputs are symbols, numbers, None, or lists of these.  Operators give expressions again; the truth of one, its
    length or its elements cannot be asked (ValueNeeded).
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
        raise ValueNeeded("the formula depends on values")

    def __iter__(self) -> Iterator[Any]:
        raise ValueNeeded("the formula depends on values")

    def __repr__(self) -> str:
        return self.name if self.op is None else f"{self.op.name}({', '.join(map(repr, self.inputs))})"


def noted(name: str, *inputs: Any, **attrs: Any) -> Symbol:
    """The expression of an op on inputs of which one is a symbol; `pow` is any of the three powers."""
    if name == "pow":
        return _power(*inputs)
    op = REGISTRY[name]
    return Symbol("", shape_of(op, inputs, attrs), op, tuple(inputs), attrs)


def _power(base: Any, exponent: Any) -> Symbol:
    if not isinstance(exponent, Symbol):
        return noted("pow.Tensor_Scalar", base, exponent=exponent)
    if not isinstance(base, Symbol):
        return noted("pow.Scalar", exponent, self=base)
    return noted("pow.Tensor_Tensor", base, exponent)


def _apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    inputs, attrs = op.bind(args, kwargs)
    return Symbol("", shape_of(op, inputs, attrs), op, tuple(inputs), attrs)


HANDLERS[Symbol] = _apply


def shape_of(op: Op, inputs: tuple[Any, ...], attrs: Mapping[str, Any]) -> Sizes | None:
    """The shape of an op's result where it follows from the shapes of its inputs; None where it is not worked out."""
    shapes = [x.shape if isinstance(x, Symbol) else () for x in inputs if not isinstance(x, (list, tuple))]
    return shape_of_result(op.presentation.shape, shapes, attrs)


# -- what is asked of expressions ------------------------------------------------------------------------------------


def is_call(x: Any, name: str) -> bool:
    """Return whether `x` is an expression of that op."""
    return isinstance(x, Symbol) and x.op is not None and x.op.name == name


def mentions(x: Any) -> Iterator[Op]:
    """All ops in an expression."""
    if isinstance(x, (list, tuple)):
        for item in x:
            yield from mentions(item)
    elif isinstance(x, Symbol) and x.op is not None:
        yield x.op
        for item in x.inputs:
            yield from mentions(item)


def wants_indices(x: Any) -> bool:
    """Return whether one of the ops of an expression is better written element by element."""
    return any(op.presentation.indexed is not None and not op.presentation.plain for op in mentions(x))


def is_number(x: Any) -> bool:
    """Return whether `x` is a Python number."""
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
