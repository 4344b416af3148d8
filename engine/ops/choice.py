"""Comparisons, masks, and the ops that choose between values."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from typing import Any

from ..arrays.array import Array, library_of, xp
from ..arrays.promotion import promote, result_dtype
from .notation import signs
from .op import PLAIN, SAME, Traits, op
from .presentation import Presentation, elementwise


def _compare(name: str, ufunc: Any, sign: str = "", relation: str = "") -> Any:
    def kernel(self: Array, other: Array) -> Array:
        return ufunc(self, other)

    relation = relation or sign
    return op(name, kernel, SAME, elementwise(sign=sign, notation=signs.relation(relation) if relation else None))


def _test(name: str, function: Any, word: str | None = None) -> Any:
    def kernel(self: Array) -> Array:
        return function(self)

    return op(name, kernel, PLAIN, elementwise(word=word))


def _in_place(name: str, ufunc: Any, sign: str) -> tuple[Any, Any]:
    """A comparison written into its first argument: 1 or 0 in that one's dtype, with a number and with a tensor."""

    def kernel(self: Array, other: Array) -> Array:
        return ufunc(self, other).astype(self.dtype)

    node, presentation = name.capitalize(), Presentation(sign=sign)
    return (
        op(f"{name}_.Scalar", kernel, Traits(node=f"{node}Backward0"), presentation, self=lambda grad: zero(grad)),
        op(
            f"{name}_.Tensor", kernel, Traits(node=f"{node}Backward1"), presentation,
            self=lambda grad: zero(grad), other=lambda grad: zero(grad),
        ),
    )  # fmt: skip


eq = _compare("eq", xp.equal, "==", "=")
ne = _compare("ne", xp.not_equal, "!=", "≠")
lt = _compare("lt", xp.less, "<")
le = _compare("le", xp.less_equal, "≤")
gt = _compare("gt", xp.greater, ">")
ge = _compare("ge", xp.greater_equal, "≥")
bitwise_and = _compare("bitwise_and", xp.bitwise_and)
bitwise_or = _compare("bitwise_or", xp.bitwise_or)
bitwise_xor = _compare("bitwise_xor", xp.bitwise_xor)
logical_and = _compare("logical_and", xp.logical_and, relation="and")
logical_or = _compare("logical_or", xp.logical_or, relation="or")
logical_xor = _compare("logical_xor", xp.logical_xor)
logical_not = _test("logical_not", xp.logical_not)
bitwise_not = _test("bitwise_not", xp.invert)
isnan = _test("isnan", xp.isnan, "whether it is nan")
isinf = _test("isinf", xp.isinf)
isfinite = _test("isfinite", xp.isfinite)


def _isclose(self: Array, other: Array, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Array:
    return xp.isclose(self, other, rtol=rtol, atol=atol, equal_nan=equal_nan)


isclose = op("isclose", _isclose, SAME, elementwise())


def _zeroed(self: Array) -> Array:
    return xp.zeros_like(self)


def _write_zero(self: Array) -> None:
    self[...] = 0


zero = op(
    "zero", _zeroed, Traits(write=_write_zero, replaces=True, repeats=()), elementwise(notation=signs.nothing),
    self=lambda grad: zero(grad),
)  # fmt: skip
"""The zero of a tensor's shape: what gradient a constant step passes on; in place it is `zero_`."""


def _promote_choices(values: list[Any]) -> list[Any]:
    """The condition as it is, the choices in one dtype."""
    return [values[0], *promote(values[1:])]


def _where(condition: Array, self: Array, other: Array) -> Array:
    if type(other) is int and not other and _maskable(condition, self):
        return masked(self, condition)
    if type(self) is int and not self and _maskable(condition, other):
        return masked(other, ~condition)
    return chosen(condition, self, other)


MANY = 4096
"""Elements from which on choosing by bits is quicker than `where`, which stumbles over masks without pattern."""


def chosen(mask: Array, self: Any, other: Any) -> Array:
    """`self` where `mask`, else `other`; numbers count in the dtype of the other choice."""
    size = getattr(mask, "size", 0)
    if size >= MANY and isinstance(mask, xp.ndarray):
        like = other if isinstance(self, (int, float)) else self
        if _maskable(mask, like) and all(_fits(like, value) for value in (self, other)):
            return _by_bits(mask, self, other, like.dtype)
    return xp.where(mask, self, other)


def _fits(like: Array, value: Any) -> bool:
    """Return whether a choice is a number, or an array of the same shape and dtype as `like`."""
    return isinstance(value, (int, float)) or (value.shape == like.shape and value.dtype == like.dtype)


def _by_bits(mask: Array, self: Any, other: Any, dtype: Any) -> Array:
    """other ^ ((self ^ other) & mask): a tenth of the time of `where`."""
    whole = f"int{8 * dtype.itemsize}"
    bits = mask.view("int8").astype(whole)
    xp.negative(bits, out=bits)
    a, b = (xp.asarray(value, dtype=dtype).view(whole) for value in (self, other))
    bits &= a ^ b
    bits ^= b
    return bits.view(dtype)


def _maskable(condition: Any, self: Any) -> bool:
    kind = getattr(self, "dtype", None)
    return kind is not None and kind.kind == "f" and condition.dtype.kind == "b" and self.shape == condition.shape != ()


def masked(self: Array, mask: Array) -> Array:
    """`self` where `mask`, else 0: by bits, a twentieth of the time of `where` on a mask without pattern."""
    bits = mask.view("int8").astype(f"int{8 * self.itemsize}")
    xp.negative(bits, out=bits)
    bits &= self.view(bits.dtype)
    return bits.view(self.dtype)


where = op(
    "where", _where, Traits(promote=_promote_choices),
    elementwise(chooses=True, notation=signs.choice),
    self=lambda grad, condition: where(condition, grad, 0),
    other=lambda grad, condition: where(condition, 0, grad),
)  # fmt: skip


def _masked_fill(self: Array, mask: Array, value: Any) -> Array:
    return xp.where(mask, library_of(self).asarray(value, dtype=self.dtype), self)


def _write_masked_fill(self: Array, mask: Array, value: Any) -> None:
    self[xp.broadcast_to(mask, self.shape)] = value


MASKED = "masked_fill", "mask", "scalar"
masked_fill = op(
    "masked_fill", _masked_fill, Traits(write=_write_masked_fill, repeats=MASKED),
    elementwise(chooses=True, notation=signs.masked),
    self=lambda grad, mask: masked_fill(grad, mask, 0),
)  # fmt: skip


def _masked_fill_tensor(self: Array, mask: Array, value: Array) -> Array:
    return xp.where(mask, value.astype(self.dtype, copy=False), self)


masked_fill_tensor = op(
    "masked_fill.Tensor", _masked_fill_tensor,
    Traits(node="MaskedFillBackward1", write=_write_masked_fill, repeats=MASKED), elementwise(chooses=True),
    self=lambda grad, mask: masked_fill(grad, mask, 0),
    value=lambda grad, mask: where(mask, grad, 0),
)  # fmt: skip
maximum = op(
    "maximum", xp.maximum, SAME,
    elementwise(),
    self=lambda grad, self, other: where(lt(self, other), 0, where(eq(self, other), grad / 2, grad)),
    other=lambda grad, self, other: where(gt(self, other), 0, where(eq(self, other), grad / 2, grad)),
)  # fmt: skip
minimum = op(
    "minimum", xp.minimum, SAME,
    elementwise(),
    self=lambda grad, self, other: where(gt(self, other), 0, where(eq(self, other), grad / 2, grad)),
    other=lambda grad, self, other: where(lt(self, other), 0, where(eq(self, other), grad / 2, grad)),
)  # fmt: skip


def _bounded(self: Array, *bounds: Any) -> Array:
    """`self` in the dtype that it has together with the bounds (numbers or None)."""
    if self.dtype.kind == "f":
        return self
    return self.astype(result_dtype([self, *(b for b in bounds if b is not None)]), copy=False)


def _clamp(self: Array, min: float | None = None, max: float | None = None) -> Array:
    self = _bounded(self, min, max)
    if min is not None:
        self = xp.maximum(self, min)
    return self if max is None else xp.minimum(self, max)


def _clamp_min(self: Array, min: float) -> Array:
    return xp.maximum(_bounded(self, min), min)


def _clamp_max(self: Array, max: float) -> Array:
    return xp.minimum(_bounded(self, max), max)


def _inside(self: Any, min: Any, max: Any) -> Any:
    """Return whether each value lies between two bounds, bounds included; None is no bound."""
    if min is None:
        return le(self, max)
    return ge(self, min) if max is None else logical_and(ge(self, min), le(self, max))


clamp = op(
    "clamp", _clamp, Traits(node="ClampBackward1"),
    elementwise(),
    self=lambda grad, self, min, max: where(_inside(self, min, max), grad, 0),
)  # fmt: skip
BOUND = "at least the bound: smaller values become the bound"
clamp_min = op(
    "clamp_min", _clamp_min, PLAIN, elementwise(word=BOUND),
    self=lambda grad, self, min: where(ge(self, min), grad, 0),
)  # fmt: skip
clamp_max = op(
    "clamp_max", _clamp_max, PLAIN, elementwise(), self=lambda grad, self, max: where(le(self, max), grad, 0)
)


clamp_min_tensor = op(
    "clamp_min.Tensor", lambda self, min: xp.maximum(self, min), Traits(promote=promote, node="ClampMinBackward1"),
    elementwise(word=BOUND),
    self=lambda grad, self, min: where(ge(self, min), grad, 0),
    min=lambda grad, self, min: where(lt(self, min), grad, 0),
)  # fmt: skip
clamp_max_tensor = op(
    "clamp_max.Tensor", lambda self, max: xp.minimum(self, max), Traits(promote=promote, node="ClampMaxBackward1"),
    elementwise(),
    self=lambda grad, self, max: where(le(self, max), grad, 0),
    max=lambda grad, self, max: where(gt(self, max), grad, 0),
)  # fmt: skip


def _promote_given(values: list[Any]) -> list[Any]:
    """Promotion that leaves None alone."""
    promoted = iter(promote([v for v in values if v is not None]))
    return [None if v is None else next(promoted) for v in values]


clamp_tensor = op(
    "clamp.Tensor", lambda self, min, max: _between(self, min, max),
    Traits(promote=_promote_given, node="ClampBackward0"), elementwise(),
    self=lambda grad, self, min, max: where(_inside(self, min, max), grad, 0),
    min=lambda grad, self, min, max: where(_below(self, min, max), grad, 0),
    max=lambda grad, self, min, max: where(_above(self, min, max), grad, 0),
)  # fmt: skip


def _between(self: Array, min: Any, max: Any) -> Array:
    if min is not None:
        self = xp.maximum(self, min)
    return self if max is None else xp.minimum(self, max)


def _below(self: Any, min: Any, max: Any) -> Any:
    """Where the lower bound is the result."""
    return lt(self, min) if max is None else logical_and(lt(self, min), lt(min, max))


def _above(self: Any, min: Any, max: Any) -> Any:
    """Where the upper bound is the result."""
    return gt(self, max) if min is None else logical_or(gt(self, max), gt(min, max))


COMPARISONS = {
    "eq": _in_place("eq", xp.equal, "=="),
    "ne": _in_place("ne", xp.not_equal, "!="),
    "lt": _in_place("lt", xp.less, "<"),
    "le": _in_place("le", xp.less_equal, "≤"),
    "gt": _in_place("gt", xp.greater, ">"),
    "ge": _in_place("ge", xp.greater_equal, "≥"),
}
"""In-place comparisons by name: (with a number, with a tensor)."""
