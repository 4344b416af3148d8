"""Expressions without what a reader would strike out: the identities of a calculus book, applied inside out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..ops.elementwise import add, div, mul, neg, pow_number, reciprocal, rsqrt, sqrt, sub
from ..ops.linalg import mm
from ..ops.notation.symbol import Symbol
from ..ops.op import Op, OpFunction
from ..ops.result_shapes import Sizes
from ..ops.shape import expand, reshape, sum_to_size, t, transpose, view


def simplified(x: Any) -> Any:
    """The expression without what a reader would strike out: factors 1, terms 0, double signs, x * x, shapes kept.

    Values stay the same up to rounding.
    """
    if isinstance(x, (list, tuple)):
        return [simplified(item) for item in x]
    if not isinstance(x, Symbol) or x.op is None:
        return x
    inputs = tuple(simplified(item) for item in x.inputs)
    rule = _SIMPLER.get(x.op)
    result = rule(*inputs, **x.attrs) if rule is not None else None
    if result is not None and _shape_of_any(result) == x.shape:
        return result
    return Symbol(x.name, x.shape, x.op, inputs, x.attrs)


def _shape_of_any(x: Any) -> Sizes | None:
    return x.shape if isinstance(x, Symbol) else ()


def same(a: Any, b: Any) -> bool:
    """Return whether two expressions are built alike."""
    if not isinstance(a, Symbol) or not isinstance(b, Symbol):
        return type(a) is type(b) and (
            len(a) == len(b) and all(map(same, a, b)) if isinstance(a, (list, tuple)) else bool(a is b or a == b)
        )
    return (
        a.op is b.op and a.name == b.name and a.attrs == b.attrs and len(a.inputs) == len(b.inputs)
        and all(map(same, a.inputs, b.inputs))
    )  # fmt: skip


def _is_call(x: Any, function: OpFunction) -> bool:
    return isinstance(x, Symbol) and x.op is function.op


def _is(x: Any, number: float) -> bool:
    return not isinstance(x, (Symbol, bool)) and isinstance(x, (int, float)) and x == number


def _negative(x: Any) -> Any:
    """`y` where `x` is -y, else None."""
    if _is_call(x, neg):
        return x.inputs[0]
    return -x if isinstance(x, (int, float)) and not isinstance(x, bool) and x < 0 else None


def _minus(x: Any) -> Any:
    inner = _negative(x)
    return -x if inner is None else inner


def _add(a: Any, b: Any) -> Any:
    if _is(a, 0):
        return b
    if _is(b, 0):
        return a
    minus = _negative(b)
    return None if minus is None else _sub(a, minus) or a - minus


def _sub(a: Any, b: Any) -> Any:
    if _is(b, 0):
        return a
    if _is(a, 0):
        return _minus(b)
    minus = _negative(b)
    return None if minus is None else _add(a, minus) or a + minus


def product(a: Any, b: Any) -> Any:
    """a * b, simplified."""
    simpler = _mul(a, b)
    return a * b if simpler is None else simpler


def _mul(a: Any, b: Any) -> Any:
    if _is(a, 1):
        return b
    if _is(b, 1):
        return a
    for x, y, left in ((a, b, True), (b, a, False)):
        inner = _negative(x)
        if inner is not None:
            return _minus(product(inner, y) if left else product(y, inner))
    if _is_call(b, reciprocal):
        return _quotient(a, b.inputs[0])
    if _is_call(b, rsqrt):
        return _quotient(a, sqrt(b.inputs[0]))
    if isinstance(a, Symbol) and same(a, b):
        return a**2
    return None


def _quotient(a: Any, b: Any) -> Any:
    simpler = _div(a, b)
    return a / b if simpler is None else simpler


def _div(a: Any, b: Any) -> Any:
    if _is(b, 1):
        return a
    inner = _negative(a)
    if inner is not None:
        return _minus(_quotient(inner, b))
    inner = _negative(b)
    if inner is not None:
        return _minus(_quotient(a, inner))
    if _is_call(a, div):
        return _quotient(a.inputs[0], product(a.inputs[1], b))
    return None


def _neg(a: Any) -> Any:
    return _negative(a)


def _unless_same(a: Any, size: Sizes, **_: Any) -> Any:
    return a if isinstance(a, Symbol) and a.shape == tuple(size) else None


def _outside_sum(a: Any, size: Sizes) -> Any:
    """The sign of a sum stands before it."""
    if _is_call(a, neg) and a.shape != tuple(size):
        return -sum_to_size(a.inputs[0], size=size)
    return _unless_same(a, size)


def _turned(a: Any) -> Any:
    """(aᵀ)ᵀ is a, and (aᵀ b)ᵀ is bᵀ a."""
    if _is_call(a, t):
        return a.inputs[0]
    if _is_call(a, mm) and _is_call(a.inputs[0], t):
        left, right = a.inputs
        return mm(t(right), left.inputs[0])
    return None


def _transposed_back(a: Any, dim0: int, dim1: int) -> Any:
    return a.inputs[0] if _is_call(a, transpose) and {a.attrs["dim0"], a.attrs["dim1"]} == {dim0, dim1} else None


_SIMPLER: dict[Op, Callable[..., Any]] = {
    function.op: rule
    for function, rule in (
        (add, _add), (sub, _sub), (mul, _mul), (div, _div), (neg, _neg),
        (pow_number, lambda a, exponent: a if _is(exponent, 1) else None),
        (expand, _unless_same), (view, _unless_same), (reshape, _unless_same), (sum_to_size, _outside_sum),
        (t, _turned), (transpose, _transposed_back),
    )
}  # fmt: skip
"""A simpler form of an op, from its inputs and static arguments; None if it has none here."""
