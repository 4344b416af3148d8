"""Tensors nested in tuples, lists and dicts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Shape = Any
"""How values are nested: None for a leaf, else (type, keys, shapes)."""


def flatten(value: Any) -> tuple[list[Any], Shape]:
    """The leaves in order, and how they are nested.

    >>> flatten((1, {"a": [2, 3]}))[0]
    [1, 2, 3]
    """
    if isinstance(value, dict):
        keys: tuple[Any, ...] | None = tuple(value)
        parts = [flatten(v) for v in value.values()]
    elif isinstance(value, (tuple, list)):
        keys, parts = None, [flatten(v) for v in value]
    else:
        return [value], None
    return [leaf for leaves, _ in parts for leaf in leaves], (type(value), keys, tuple(shape for _, shape in parts))


def unflatten(leaves: Sequence[Any], shape: Shape) -> Any:
    """The leaves nested again.

    >>> unflatten([4, 5], flatten({"a": 1, "b": (2,)})[1])
    {'a': 4, 'b': (5,)}
    """
    return _built(iter(leaves), shape)


def _built(leaves: Any, shape: Shape) -> Any:
    if shape is None:
        return next(leaves)
    kind, keys, inner = shape
    parts = [_built(leaves, s) for s in inner]
    if keys is not None:
        return kind(zip(keys, parts, strict=True))
    return kind(*parts) if hasattr(kind, "_fields") else kind(parts)


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same nesting with `function` of each leaf."""
    leaves, shape = flatten(value)
    return unflatten([function(leaf) for leaf in leaves], shape)
