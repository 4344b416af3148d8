"""The shape of an op's result, derived from the shapes of its inputs and its static arguments, without computing it.

A rule for shapes is a function of (static arguments, *shapes of the inputs).  It may answer None: not worked out.
Where no op could have been called so it raises ValueError, IndexError, KeyError or TypeError.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

Sizes = tuple[int, ...]
Attrs = Mapping[str, Any]
ResultShape = Callable[..., Sizes | None]


def broadcast(attrs: Attrs, *shapes: Sizes) -> Sizes:
    """The shape to which all inputs are stretched."""
    return np.broadcast_shapes(*shapes)


def like_first(attrs: Attrs, first: Sizes, *_: Sizes) -> Sizes:
    """The shape of the first input."""
    return first


def number(attrs: Attrs, *_: Sizes) -> Sizes:
    """No dimensions."""
    return ()


def product_of_matrices(attrs: Attrs, a: Sizes, b: Sizes) -> Sizes:
    """Rows of the first, columns of the second; a batch is that of the first."""
    return (*a[:-1], *b[-1:])


def reduced(attrs: Attrs, first: Sizes) -> Sizes:
    """Without the dimensions `dim`, or with these of size 1 where `keepdim` says so."""
    dims = attrs["dim"] if isinstance(attrs["dim"], tuple) else (attrs["dim"],)
    return tuple(1 if d in dims else n for d, n in enumerate(first) if attrs["keepdim"] or d not in dims)


@dataclass(frozen=True, slots=True)
class ShapeArgument:
    """The shape that an argument names."""

    argument: str

    def __call__(self, attrs: Attrs, *_: Sizes) -> Sizes:
        return tuple(attrs[self.argument])


@dataclass(frozen=True, slots=True)
class Permutation:
    """The dimensions in another order: `order(attrs, rank)` says of each which one of the input it is."""

    order: Callable[[Attrs, int], Sizes]

    def __call__(self, attrs: Attrs, first: Sizes) -> Sizes:
        return tuple(first[d] for d in self.order(attrs, len(first)))


def shape_of_result(rule: ResultShape | None, shapes: Sequence[Sizes | None], attrs: Attrs) -> Sizes | None:
    """The shape by a rule where it follows from the `shapes` of the inputs; None where it is not worked out."""
    present_shapes = [s for s in shapes if s is not None]
    if rule is None or (len(present_shapes) < len(shapes) and not isinstance(rule, ShapeArgument)):
        return None
    try:
        return rule(attrs, *present_shapes)
    except (ValueError, IndexError, KeyError, TypeError):
        return None
