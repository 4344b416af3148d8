"""What most of a recording is: ops that made one tensor of one or two, and nodes that ran; written in short.

These two are the hot path of the hot path: longer than other functions, they call as little as they can.
"""

from __future__ import annotations

import itertools
from typing import Any

from .later import Later, Product
from .stacks import Stacks

next_id = itertools.count().__next__


class Short(Stacks):
    """The short entries of a recorder."""

    limit: int
    first: int
    call: int | None
    log: list[tuple[Any, ...]]
    values: list[Any]

    def summary(self, data: Any) -> Any:
        """What is kept of a large array."""
        raise NotImplementedError

    def see(self, tensor: Any, source: str = "seen", name: str | None = None) -> tuple[int, int]:
        """(number, version) of a tensor that is used now."""
        raise NotImplementedError

    def plain(self, op: Any, first: Any, second: Any, out: Any, node: Any) -> None:
        """An op of one or two inputs (`second` is None, a tensor or a number) ran and made a tensor, as most do."""
        values, known = self.values, self.first
        a = first._id
        if a < known or ((shared := first._shared) is not None and not plain(shared)):
            a = self.see(first)
        b: Any = None
        if second is not None:
            kind = type(second)
            if kind is float or kind is int:
                b = (None, second)
            else:
                b = second._id
                if b < known or ((shared := second._shared) is not None and not plain(shared)):
                    b = self.see(second)
        data = out._array
        number = out._id = next_id()
        value = out._value = len(values)
        values.append(data if data.size <= self.limit else self.summary(data))
        shared = out._shared
        if shared is not None:
            shared.number, shared.recorded = number, (value,)
        sequence, needs = (-1, 0) if node is None else (node.sequence_nr, node.plan.needs)
        self.log.append(("plain", self.stack(3), op.name, a, b, number, value, sequence, needs, self.call))

    def plain_vjp(self, node: Any, gradient: Any, cotangents: Any, freed: bool) -> bool:
        """A node of one output ran.  What the loop has not worked out, a product or a sum over broadcast dimensions, is
        left for the reader; False where it had better be made now.
        """
        limit, values = self.limit, self.values
        start = place = len(values)
        made: list[Any] = [gradient if gradient.size <= limit else self.summary(gradient)]
        numbers: list[int | None] = []
        unsummed: Any = None
        edge = -1
        for target in node.targets:
            edge += 1
            cotangent = cotangents[edge]
            if cotangent is None:
                numbers.append(None)
                continue
            if cotangent is gradient and node.shape == target.shape:  # it goes on as it came
                numbers.append(start)
                continue
            if cotangent.shape != target.shape:
                later = self.later(target, cotangent, start)
                if later is None:
                    return False
                if later.left is None:
                    made.append(cotangent)
                    place += 1
                    unsummed = unsummed or [None] * len(node.targets)
                    unsummed[edge] = later.place = place
                cotangent = later
            elif cotangent.size > limit:
                cotangent = self.summary(cotangent)
            made.append(cotangent)
            place += 1
            numbers.append(place)
        values += made
        whole = None if unsummed is None else tuple(unsummed)
        self.log.append(("vjp", -1, self.call, node.sequence_nr, start, tuple(numbers), whole, freed))
        return True

    def later(self, target: Any, cotangent: Any, upstream: int) -> Later | None:
        """What a reader makes a cotangent of that is no array of the target's shape; None where it had better be made
        now.  `upstream` is the place of the upstream gradient."""
        limit = self.limit
        if type(cotangent) is not Product:
            return Later(-1, None, target.shape) if target.metas is None and cotangent.size <= limit else None
        kept, shape = cotangent.kept, target.shape
        shared = kept._shared
        if kept._id < self.first or (shared is not None and not plain(shared)):  # not recorded as it is now
            return None
        if shape is None or max(kept._array.size, cotangent.right.size, shape[0] * shape[1]) > limit:
            return None
        return Later(upstream, kept._value, shape)


def as_op(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    """An entry "plain" as the "op" that it is short for; any other as it is."""
    if entry[0] != "plain":
        return entry
    _, stack, name, a, b, number, value, sequence, needs, call = entry
    refs, results = (a,) if b is None else (a, b), (number, value, sequence >= 0)
    return "op", stack, name, refs, None, results, sequence, needs, None, call


def plain(shared: Any) -> bool:
    """Whether a storage is in its first version, and nobody can write it unseen."""
    return not (shared.version or shared.unseen or shared.outside)
