"""Gradients that are computed later: by the loop, which joins several products, or when a recording is read."""

from __future__ import annotations

from typing import Any, NamedTuple

from .array import Array


class Product:
    """A cotangent on its way that is not multiplied: `left.T @ right`, where `left` is the array that `kept` holds."""

    __slots__ = ("kept", "right")
    shape = (-1,)  # that of no target, so that the loop looks closer

    def __init__(self, kept: Any, right: Array) -> None:
        self.kept = kept
        self.right = right

    def multiplied(self) -> Array:
        """The cotangent itself."""
        return self.kept._array.T.dot(self.right)


class Later(NamedTuple):
    """A recorded value that is made of others when it is read; a recording keeps its fields as a plain tuple.

    Of two, that at `place` and that at `left`, it is the product `left.T @ right`; of one the sum over the dimensions
    that broadcasting added to `shape`.
    """

    place: int
    left: int | None
    shape: tuple[int, ...]

    def parts(self, values: list[Any]) -> list[Any]:
        """The arrays that it is made of, of all that are recorded."""
        return [values[self.place]] if self.left is None else [values[self.left], values[self.place]]
