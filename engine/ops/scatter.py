"""Writing at the positions of index tensors: scatter, index_add; as functions and, by `write`, in place."""

# Rules name ops that are declared further down: mypy cannot know their type there.
# mypy: disable-error-code="has-type"

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arrays.array import Array, as_array, library_of, xp
from ..arrays.ufunc_folds import multiply_at
from .choice import eq, logical_and, masked_fill, where, zero
from .indexing import index_select
from .notation import index_notation
from .op import Traits, op
from .presentation import ADDED_AT, Presentation
from .reduction import gather, sum_all
from .result_shapes import like_first
from .shape import Sizes, along, count, reshape, scaled


def lines(data: Array) -> Array:
    """A tensor with one dimension at least, sharing memory: torch takes a number for a vector of one element."""
    return data if data.ndim else data.reshape(1)


def _corner(source: Array, index: Array) -> Array:
    """The part of `source` that an index of that shape uses."""
    return source[tuple(slice(n) for n in index.shape)]


def copying(write: Callable[..., None]) -> Callable[..., Array]:
    """The kernel that writes into a copy."""

    def kernel(self: Array, *args: Any, **named: Any) -> Array:
        out = as_array(self).copy()
        write(out, *args, **named)
        return out

    kernel.__wrapped__ = write  # type: ignore[attr-defined]  # its parameters are those of `write`
    return kernel


def _writing(write: Callable[..., None], node: str | None = None, repeats: tuple[str, ...] | None = None) -> Traits:
    return Traits(write=write, node=node, by_place=True, repeats=repeats)


# -- scatter ------------------------------------------------------------------------------------------------------


def _scatter(self: Array, index: Array, src: Array, dim: int) -> None:
    out, index = lines(self), lines(index)
    if not index.size:
        return
    out[along(out, index, dim)] = _corner(lines(src), index)


def _scatter_value(self: Array, index: Array, dim: int, value: Any) -> None:
    out, index = lines(self), lines(index)
    if not index.size:
        return
    out[along(out, index, dim)] = value


def _scatter_add(self: Array, index: Array, src: Array, dim: int) -> None:
    out, index = lines(self), lines(index)
    if not index.size:
        return
    xp.add.at(out, along(out, index, dim), _corner(lines(src), index))


def _read(node: str, read: Any, index: Sizes, src: Sizes) -> Any:
    """Return the gradient read for `src`; torch has none for a source of which the index used only a part."""
    if not node:
        return read
    if (index or (1,)) != (src or (1,)):
        raise RuntimeError(
            f"Function {node}Backward0 returned an invalid gradient at index 1 - got {list(index)} but expected shape "
            f"compatible with {list(src)}"
        )
    return read if index == src else reshape(read, src)


def _no_derivative(name: str) -> Any:
    raise RuntimeError(f"derivative for aten::{name} is not implemented")


def _scatter_old(self: Array, index: Array, src: Array, dim: int, reduce: str = "add") -> None:
    out, index = lines(self), lines(index)
    if not index.size:
        return
    key, values = along(out, index, dim), _corner(lines(src), index)
    if reduce == "add":
        xp.add.at(out, key, values)
    else:
        multiply_at(out, key, values)


def _scatter_old_value(self: Array, index: Array, dim: int, value: Any, reduce: str = "add") -> None:
    _scatter_old(self, index, library_of(self).full(index.shape, value, dtype=self.dtype), dim, reduce)


PUT_ALONG = "the elements at the index along the dimension become the value"
scatter = op(
    "scatter", copying(_scatter), _writing(_scatter),
    Presentation(shape=like_first, word=PUT_ALONG),
    self=lambda grad, index, dim: scatter_value(grad, index, dim, 0),
    src=lambda grad, index, dim, index_sizes, src_sizes: _read(
        "Scatter", gather(grad, index, dim), index_sizes, src_sizes
    ),
)  # fmt: skip
scatter_value = op(
    "scatter.value", copying(_scatter_value), _writing(_scatter_value, "ScatterBackward1"),
    Presentation(shape=like_first, word=PUT_ALONG),
    self=lambda grad, index, dim: scatter_value(grad, index, dim, 0),
)  # fmt: skip
scatter_add = op(
    "scatter_add", copying(_scatter_add), _writing(_scatter_add),
    Presentation(shape=like_first, name="add_at", word=ADDED_AT),
    self=lambda grad: grad,
    src=lambda grad, index, dim, index_sizes, src_sizes: _read(
        "ScatterAdd", gather(grad, index, dim), index_sizes, src_sizes
    ),
)  # fmt: skip
scatter_reduced = op(
    "scatter.reduce", copying(_scatter_old), _writing(_scatter_old, "NotImplemented"),
    Presentation(word=PUT_ALONG),
    self=lambda grad: _no_derivative("scatter"),
    src=lambda grad: _no_derivative("scatter"),
)  # fmt: skip
scatter_value_reduced = op(
    "scatter.value_reduce", copying(_scatter_old_value), _writing(_scatter_old_value, "NotImplemented"),
    Presentation(word=PUT_ALONG),
    self=lambda grad: _no_derivative("scatter"),
)  # fmt: skip

# -- folding into places ------------------------------------------------------------------------------------------

EMPTY = {"sum": 0, "prod": 1, "mean": 0}
"""What a place holds before anything is folded into it, where its own value does not count."""


def _identity(reduce: str, dtype: Any) -> Any:
    if reduce in EMPTY:
        return EMPTY[reduce]
    if dtype.kind == "f":
        return -xp.inf if reduce == "amax" else xp.inf
    if dtype.kind == "b":
        return reduce == "amin"
    return xp.iinfo(dtype).min if reduce == "amax" else xp.iinfo(dtype).max


def _fold(out: Array, key: Any, values: Array, reduce: str, include_self: bool) -> None:
    """Fold `values` into out[key]; a place may be named several times."""
    if not include_self:
        out[key] = _identity(reduce, out.dtype)
    if reduce == "prod":
        multiply_at(out, key, values)
    elif reduce in ("amax", "amin"):
        (xp.maximum if reduce == "amax" else xp.minimum).at(out, key, values)
    else:
        xp.add.at(out, key, values)
    if reduce == "mean":
        number = library_of(out).full(out.shape, int(include_self), dtype="int64")
        xp.add.at(number, key, 1)
        number = xp.maximum(number, 1)
        out[...] = out / number.astype(out.dtype) if out.dtype.kind == "f" else out // number


def _scatter_reduce(self: Array, index: Array, src: Array, dim: int, reduce: str, include_self: bool = True) -> None:
    out, index = lines(self), lines(index)
    if not index.size:
        return
    _fold(out, along(out, index, dim), _corner(lines(src), index), reduce, include_self)


def _index_reduce(self: Array, index: Array, source: Array, dim: int, reduce: str, include_self: bool = True) -> None:
    out = lines(self)
    key: Any = (slice(None),) * dim + (lines(index),)
    _fold(out, key, lines(source), reduce, include_self)


def _ones(value: Any) -> Any:
    return zero(value) + 1


class ScatterGradients:
    """The derivatives of scatter_reduce and index_reduce, which differ in how places are read and added to.

    `add(self, index, src, dim)` adds, `take(self, index, dim)` reads, `clear(self, index, dim)` writes 0, and `fold` is
    the op itself.
    """

    def __init__(self, add: Any, take: Any, clear: Any, fold: Any) -> None:
        self.add, self.take, self.clear, self.fold = add, take, clear, fold

    def of_self(
        self, grad: Any, x: Any, index: Any, src: Any, result: Any, dim: int, reduce: str, include_self: bool
    ) -> Any:
        """Compute the gradient of each element's own value."""
        if reduce == "sum":
            cotangent = grad
        elif reduce == "prod":
            whole = masked_fill(x, eq(x, 0), 1)
            cotangent = grad * self.fold(whole, index, src, dim, reduce, include_self) / whole
        elif reduce == "mean":
            cotangent = grad / self.number(grad, index, src, dim, include_self)
        else:
            cotangent = where(eq(x, result), self.share(grad, x, index, src, result, dim), 0)
        return cotangent if include_self else self.clear(cotangent, index, dim)

    def of_src(
        self, grad: Any, x: Any, index: Any, src: Any, result: Any, dim: int, reduce: str, include_self: bool
    ) -> Any:
        """Compute the gradient of the values that were combined into each element."""
        if reduce == "sum":
            return self.take(grad, index, dim)
        if reduce == "prod":
            return self.of_factor(grad, x, index, src, result, dim, include_self)
        if reduce == "mean":
            return self.take(grad, index, dim) / self.take(self.number(grad, index, src, dim, include_self), index, dim)
        hit = eq(src, self.take(result, index, dim))
        return where(hit, self.take(self.share(grad, x, index, src, result, dim), index, dim), 0)

    def of_factor(self, grad: Any, x: Any, index: Any, src: Any, result: Any, dim: int, include_self: bool) -> Any:
        """The product of the others: where one factor alone is 0, the product that leaves it out."""
        is_zero = eq(src, 0)
        zeros = self.take(self.add(zero(x), index, where(is_zero, _ones(src), 0), dim), index, dim)
        only = logical_and(is_zero, eq(zeros, 1))
        without = self.fold(x, index, masked_fill(src, only, 1), dim, "prod", include_self)
        return where(
            only,
            self.take(grad * without, index, dim),
            self.take(grad * result, index, dim) / masked_fill(src, is_zero, 1),
        )

    def number(self, grad: Any, index: Any, src: Any, dim: int, include_self: bool) -> Any:
        """How many values each place is the mean of (1 where there is none)."""
        counts = self.add(_ones(grad) if include_self else zero(grad), index, self.take(_ones(grad), index, dim), dim)
        return masked_fill(counts, eq(counts, 0), 1)

    def share(self, grad: Any, x: Any, index: Any, src: Any, result: Any, dim: int) -> Any:
        """The gradient of each place, divided among all that equal the extreme."""
        hit = where(eq(src, self.take(result, index, dim)), self.take(_ones(grad), index, dim), 0)
        return grad / self.add(where(eq(x, result), _ones(grad), 0), index, hit, dim)


def _folds(name: str, write: Callable[..., None], source: str, folding: Callable[[], ScatterGradients]) -> Any:
    """Declare one of the two ops, whose last input has another name."""
    rules: dict[str, Any] = {
        "self": lambda grad, self, index, src, result, dim, reduce, include_self: folding().of_self(
            grad, self, index, src, result, dim, reduce, include_self
        ),
        "src": lambda grad, self, index, src, result, index_sizes, src_sizes, dim, reduce, include_self: _read(
            "ScatterReduce" if reduce in ("sum", "mean") else "",
            folding().of_src(grad, self, index, src, result, dim, reduce, include_self), index_sizes, src_sizes,
        ),
    }  # fmt: skip
    if source == "source":
        rules = {
            "self": lambda grad, self, index, source, result, dim, reduce, include_self: folding().of_self(
                grad, self, index, source, result, dim, reduce, include_self
            ),
            "source": lambda grad, self, index, source, result, dim, reduce, include_self: folding().of_src(
                grad, self, index, source, result, dim, reduce, include_self
            ),
        }
    presentation = Presentation(shape=like_first, word="the numbers with the same index, reduced to one")
    return op(name, copying(write), _writing(write), presentation, **rules)


scatter_reduce = _folds("scatter_reduce", _scatter_reduce, "src", lambda: SCATTERED)
index_reduce = _folds("index_reduce", _index_reduce, "source", lambda: INDEXED)

# -- along one dimension ------------------------------------------------------------------------------------------


def _index_add(self: Array, index: Array, source: Array, dim: int, alpha: float = 1) -> None:
    out = lines(self)
    key: Any = (slice(None),) * dim + (lines(index),)
    source = lines(source)
    xp.add.at(out, key, source if alpha == 1 else source * xp.asarray(alpha).astype(self.dtype)[()])


def _index_copy(self: Array, index: Array, source: Array, dim: int) -> None:
    lines(self)[(slice(None),) * dim + (lines(index),)] = lines(source)


def _index_fill(self: Array, index: Array, dim: int, value: Any) -> None:
    lines(self)[(slice(None),) * dim + (lines(index),)] = value


def _index_fill_with(self: Array, index: Array, value: Array, dim: int) -> None:
    lines(self)[(slice(None),) * dim + (lines(index),)] = value


def _where_filled(grad: Any, index: Any, dim: int) -> Any:
    """The gradient at the places that `index` names, each once, and 0 elsewhere."""
    return where(eq(index_fill(zero(grad), index, dim, 1), 1), grad, 0)


def _picked(grad: Any, index: Any, dim: int, index_sizes: Sizes, source_sizes: Sizes) -> Any:
    """The gradient where `source` went, in its shape."""
    if not source_sizes:
        return reshape(index_select(grad, index, dim), ()) if count(index_sizes) else grad
    return index_select(grad, index, dim)


index_add = op(
    "index_add", copying(_index_add), _writing(_index_add),
    Presentation(shape=like_first, name="add_at", word=ADDED_AT),
    self=lambda grad: grad,
    source=lambda grad, index, dim, alpha, index_sizes, source_sizes: scaled(
        _picked(grad, index, dim, index_sizes, source_sizes), alpha
    ),
)  # fmt: skip
index_copy = op(
    "index_copy", copying(_index_copy), _writing(_index_copy),
    Presentation(shape=like_first),
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
    source=lambda grad, index, dim, index_sizes, source_sizes: _picked(grad, index, dim, index_sizes, source_sizes),
)  # fmt: skip
FILLED = "index_fill", "mask", "scalar"
FILLED_AT = "the elements at the index become the value"
index_fill = op(
    "index_fill", copying(_index_fill), _writing(_index_fill, repeats=FILLED),
    Presentation(shape=like_first, word=FILLED_AT, indexed=index_notation.filled),
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
)  # fmt: skip
index_fill_tensor = op(
    "index_fill.Tensor", copying(_index_fill_with), _writing(_index_fill_with, "IndexFillBackward1", FILLED),
    Presentation(shape=like_first, word=FILLED_AT),
    self=lambda grad, index, dim: index_fill(grad, index, dim, 0),
    value=lambda grad, index, dim: sum_all(_where_filled(grad, index, dim)),
)  # fmt: skip
SCATTERED = ScatterGradients(scatter_add, gather, lambda x, index, dim: scatter_value(x, index, dim, 0), scatter_reduce)
INDEXED = ScatterGradients(index_add, index_select, lambda x, index, dim: index_fill(x, index, dim, 0), index_reduce)
