"""In-place writes to a part of a tensor: the history of the new values replaces that of the old ones."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.array import Array, xp, zeros_at
from .choice import zero
from .notation import index_notation, signs
from .op import PLAIN, REGISTRY, Traits, op
from .presentation import BACK_IN_PLACE, RANDOM, Presentation
from .result_shapes import ShapeArgument, like_first
from .shape import sum_to_size

SHARING = frozenset({"expand", "unfold", "as_strided"})
"""Views of which several elements may be one of what they view."""


def _part(self: Array, path: tuple[Any, ...]) -> Array:
    for step, statics, nr in path:
        self = REGISTRY[step].kernel(self, **statics)
        self = self if nr is None else self[nr]
    return self


def _zeroed(self: Array, path: tuple[Any, ...]) -> Array:
    out = self.copy()
    _part(out, path)[...] = 0
    return out


def _put(self: Array, source: Array, path: tuple[Any, ...], writer: str = "") -> Array:
    """`writer` names the op that wrote a view, where the base is what is asked for: the rules then are of that op."""
    out = self.copy()
    _part(out, path)[...] = source
    return out


def _spread(self: Array, path: tuple[Any, ...], sizes: tuple[int, ...]) -> Array:
    """Each element where it was taken; those that were taken from one place are added up."""
    out = zeros_at(self, sizes)
    if not any(step in SHARING for step, _, _ in path):
        _part(out, path)[...] = self
        return out
    places = xp.arange(out.size, like=self).reshape(sizes)
    xp.add.at(out.reshape(-1), _part(places, path).reshape(-1), self.reshape(-1))
    return out


take_slice = op(
    "take_slice", lambda self, path: _part(self, path).copy(), PLAIN,
    Presentation(name="take", word="the part that was written to", notation=signs.viewed_part),
    self=lambda grad, path, self_sizes: spread_slice(grad, path, self_sizes),
)  # fmt: skip
spread_slice = op(
    "spread_slice", _spread, PLAIN,
    Presentation(shape=ShapeArgument("sizes"), name="place", word=BACK_IN_PLACE, indexed=index_notation.view_placed),
    self=lambda grad, path: take_slice(grad, path),
)  # fmt: skip
zero_slice = op(
    "zero_slice", _zeroed, PLAIN,
    Presentation(
        shape=like_first, name="clear", word="the part that was written to becomes 0, the rest stays",
        indexed=index_notation.view_cleared,
    ),
    self=lambda grad, path: zero_slice(grad, path),
)  # fmt: skip
copy_slices = op(
    "copy_slices", _put, Traits(node="CopySlices"),
    self=lambda grad, path: zero_slice(grad, path),
    source=lambda grad, path: take_slice(grad, path),
)  # fmt: skip


retake = op(
    "as_strided.path", _part, Traits(node="AsStridedBackward0", view=True),
    Presentation(word="the numbers that size and stride select in memory"),
    self=lambda grad, path, self_sizes: spread_slice(grad, path, self_sizes),
)  # fmt: skip

# -- what is written ----------------------------------------------------------------------------------------------


def _filled(self: Array, value: Any) -> Array:
    return xp.full_like(self, value)


def _filled_with(self: Array, value: Array) -> Array:
    return xp.full_like(self, value)


def _write_fill(self: Array, value: Any) -> None:
    self[...] = value


def _copied(self: Array, source: Array) -> Array:
    return xp.broadcast_to(source, self.shape).astype(self.dtype)


def _redrawn(self: Array, values: Array) -> Array:
    return values.astype(self.dtype, copy=False)


fill_number = op(
    "fill.Scalar", _filled, Traits(node="FillBackward2", write=_write_fill, replaces=True, repeats=()),
    self=lambda grad: zero(grad),
)  # fmt: skip
fill_tensor = op(
    "fill.Tensor", _filled_with, Traits(node="FillBackward3", write=_write_fill, replaces=True, reads_first=True),
    self=lambda grad: zero(grad),
    value=lambda grad: sum_to_size(grad, ()),
)  # fmt: skip
copy = op(
    "copy", _copied, Traits(node="CopyBackwards", write=_write_fill, replaces=True),
    self=lambda grad: zero(grad),
    source=lambda grad: grad,
)  # fmt: skip
redraw_normal = op("normal", _redrawn, Traits(write=_write_fill), RANDOM, self=lambda grad: zero(grad))
redraw_uniform = op("uniform", _redrawn, Traits(write=_write_fill), RANDOM, self=lambda grad: zero(grad))


# -- what is computed where it is written -----------------------------------------------------------------------------
# The same numbers as the op's kernel gives, bit for bit, without an array for the result and often without one on the
# way.  Only for floats whose arguments are numbers or have the shape and dtype of what is written.


def _into_add_scaled(out: Array, other: Any, alpha: Any) -> None:
    out += alpha * other


def _into_sub_scaled(out: Array, other: Any, alpha: Any) -> None:
    out -= alpha * other


def _into_addcmul(out: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> None:
    if value == 1:
        out += tensor1 * tensor2
    else:
        step = value * tensor1
        step *= tensor2
        out += step


def _into_addcdiv(out: Array, tensor1: Array, tensor2: Array, value: Any = 1) -> None:
    if value == 1:
        out += tensor1 / tensor2
    else:
        step = value * tensor1
        step /= tensor2
        out += step


def _into_lerp(out: Array, end: Array, weight: float) -> None:
    step = end - out
    if abs(weight) < 0.5:
        step *= weight
        out += step
    else:
        step *= 1 - weight
        xp.subtract(end, step, out=out)


INTO: dict[str, Callable[..., Any]] = {
    "mul": lambda out, other: xp.multiply(out, other, out=out), "add": lambda out, other: xp.add(out, other, out=out),
    "sub": lambda out, other: xp.subtract(out, other, out=out),
    "div": lambda out, other: xp.true_divide(out, other, out=out), "add.alpha": _into_add_scaled,
    "sub.alpha": _into_sub_scaled, "addcmul": _into_addcmul, "addcdiv": _into_addcdiv, "lerp.Scalar": _into_lerp,
}  # fmt: skip
"""By name of op: how to write its result straight into its first argument."""


def fits_into(arrays: list[Any]) -> bool:
    """Return whether a result of these arguments can be computed in the memory of the first."""
    target = arrays[0]
    if target.dtype.kind != "f":
        return False
    for value in arrays[1:]:
        kind = type(value)
        if (
            kind is not float
            and kind is not int
            and (getattr(value, "shape", None) != target.shape or value.dtype != target.dtype)
        ):
            return False
    return True
