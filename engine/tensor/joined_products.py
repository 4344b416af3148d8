"""Contributions to one gradient that are joined before they are computed.

A weight that a network uses at every step gets, from each, a product of a few rows by a few rows: as large as the
weight, though little is in it.  The rows are put below one another, and one product of all of them is their sum.
Likewise what a bias gets from each step is added up as it came, and summed over the batch once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arrays.array import xp
from ..arrays.deferred import Product
from ..ops.reduction import sum_to_size

sum_array = sum_to_size.op.kernel
add = xp.add  # looked up once: numpy has a `__getattr__`, past which Python takes no short cut
HELD = 8
"""How many times the size of the gradient the rows that wait for their product may take."""
WIDE = 65_536
"""Elements up to which a contribution is added up before it is summed over what was broadcast."""


def gathers(target: Any, cotangent: Any) -> bool:
    """Whether more contributions like `cotangent` are better put together: a product of fewer numbers than it has
    itself, or what is to be summed and is not large."""
    if type(cotangent) is not Product:
        return bool(cotangent.shape != target.shape and cotangent.size <= WIDE)
    rows = len(cotangent.right)
    height, width = target.shape
    return bool(rows * (height + width) < height * width)


def multiplied(cotangents: Sequence[Any]) -> Sequence[Any]:
    """The cotangents with no Product among them."""
    if Product in map(type, cotangents):
        return [c.multiplied() if type(c) is Product else c for c in cotangents]
    return cotangents


def secure(arrived: Mapping[Any, Any]) -> None:
    """Work out what waits, before code of the user's runs: it may write into what a gradient was gathered from."""
    for present in arrived.values():
        if type(present) is Gathered:
            present.settle()


class Gathered:
    """What waits for a target instead of an array: `total` of what was added, products that wait for others, and what
    is to be summed (`wide`).

    It is added to as the array would be: `gathered + array`.  `owned` and `owns_wide` say that nobody else has the
    array, so that it is written.
    """

    __slots__ = ("dtype", "owned", "owns_wide", "products", "room", "shape", "total", "wide")

    def __init__(self, target: Any, total: Any, owned: bool) -> None:
        self.shape = target.shape
        self.dtype = target.dtype
        self.total = total
        self.owned = owned
        self.products: list[Product] = []
        self.room = 0
        self.wide: Any = None
        self.owns_wide = False

    def takes(self, cotangent: Any) -> bool:
        """Add a contribution that is no array of the target's shape; False where it does not go with the others."""
        if type(cotangent) is Product:
            rows = len(cotangent.right)
            self.room -= rows
            if self.room < 0 and not self.makes_room(rows):
                return False
            self.products.append(cotangent)
            return True
        wide = self.wide
        if cotangent.dtype is not self.dtype:
            return False
        if wide is None:
            if cotangent.shape == self.shape or cotangent.size > WIDE:
                return False
            self.wide = cotangent
        elif wide.shape != cotangent.shape:
            return False
        elif self.owns_wide:
            add(wide, cotangent, wide)
        else:
            self.wide = wide + cotangent
            self.owns_wide = True
        return True

    def makes_room(self, rows: int) -> bool:
        """Multiply what waits, where that leaves room for so many rows."""
        self.multiply()
        height, width = self.shape
        self.room = HELD * height * width // (height + width) - rows
        return self.room >= 0

    def __add__(self, array: Any) -> Gathered:
        self.add(array)
        return self

    def add(self, array: Any) -> None:
        """Add an array of the target's shape."""
        if self.total is None:
            self.total = array
        elif self.owned:
            add(self.total, array, self.total)
        else:
            self.total = self.total + array
            self.owned = self.shape != ()  # numpy's sums of arrays without a dimension are no arrays

    def multiply(self) -> None:
        """The products that wait become one."""
        waiting = self.products
        if waiting:
            first = self.total is None
            left, right = ([p.kept._array for p in waiting], [p.right for p in waiting])
            self.add(xp.concatenate(left).T.dot(xp.concatenate(right)) if waiting[1:] else waiting[0].multiplied())
            self.products = []
            self.owned = self.owned or first

    def settle(self) -> Any:
        """Work out what waits; the array that all of it is."""
        self.multiply()
        wide, self.wide = self.wide, None
        if wide is not None:
            self.add(sum_array(wide, self.shape))
            self.owns_wide = False
        return self.total
