"""What most of a recording is: ops that made one tensor of one or two, and nodes that ran; written in short.

These two are the hot path of the hot path: longer than other functions, they call as little as they can.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from ..arrays.deferred import Product
from .stacks import Stacks

next_id = itertools.count().__next__
NONE, SAME, OWN, SUM, OWN_SUM = "-=.s+"
"""What a run gave along an edge: nothing; the upstream gradient as it came; a value of its own; the sum of the upstream
gradient over what was broadcast; that of a value of its own, which stands before it."""


class Short(Stacks):
    """The short entries of a recorder."""

    limit: int
    first: int
    pace: Callable[[], object] | None
    """Called after an op, where what is recorded is written meanwhile and the writing cannot keep up."""
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
        if a < known or ((s := first._shared) is not None and (s.version or s.unseen or s.memory)):  # as `plain` says
            a = self.see(first)
        b: Any = None
        if second is not None:
            kind = type(second)
            if kind is float or kind is int:
                b = (None, second)
            else:
                b = second._id
                if b < known or ((s := second._shared) is not None and (s.version or s.unseen or s.memory)):
                    b = self.see(second)
        data = out._array
        number = out._id = next_id()
        value = out._value = len(values)
        values.append(data if data.size <= self.limit else self.summary(data))
        shared = out._shared
        if shared is not None:
            shared.number, shared.recorded = number, [value]
        sequence, needs = (-1, 0) if node is None else (node.sequence_nr, node.plan.needs)
        self.log.append(("plain", self.stack(3), op.name, a, b, number, value, sequence, needs, self.call))
        if self.pace is not None:
            self.pace()

    def plain_vjp(self, node: Any, gradient: Any, cotangents: Any, freed: bool) -> bool:
        """A node of one output ran.  What the loop has not worked out, a product or a sum over broadcast dimensions, is
        left for the reader; False where it had better be made now.
        """
        limit, values, shape = self.limit, self.values, node.shape
        start = len(values)
        made = [gradient if gradient.size <= limit else self.summary(gradient)]
        kinds = ""
        edge = -1
        for target in node.targets:
            edge += 1
            cotangent = cotangents[edge]
            if cotangent is None:
                kinds += NONE
            elif cotangent is gradient and shape == target.shape:
                kinds += SAME
            elif cotangent.shape == target.shape:
                kinds += OWN
                made.append(cotangent if cotangent.size <= limit else self.summary(cotangent))
            elif type(cotangent) is Product:
                kept, wanted = cotangent.kept, target.shape
                if (
                    kept._id < self.first
                    or ((s := kept._shared) is not None and (s.version or s.unseen or s.memory))
                    or wanted is None
                    or wanted[0] * wanted[1] > limit
                    or kept._array.size > limit
                    or gradient.size > limit
                ):
                    return False  # a factor is not recorded as it is now, or only a summary of something is
                kinds += OWN
                made.append((start, kept._value, wanted))
            elif target.metas is not None or cotangent.size > limit:
                return False
            elif cotangent is gradient:
                kinds += SUM
                made.append((start, None, target.shape))
            else:
                kinds += OWN_SUM
                made += cotangent, (start + len(made), None, target.shape)
        values += made
        self.log.append(("run", -1, self.call, node.sequence_nr, start, kinds, freed))
        return True


def in_full(entry: tuple[Any, ...]) -> tuple[Any, ...]:
    """An entry "plain" as the "op", and an entry "run" as the "vjp", that it is short for; any other as it is."""
    if entry[0] == "plain":
        _, stack, name, a, b, number, value, sequence, needs, call = entry
        refs, results = (a,) if b is None else (a, b), (number, value, sequence >= 0)
        return "op", stack, name, refs, None, results, sequence, needs, None, call
    if entry[0] == "run":
        _, stack, call, sequence, start, kinds, freed = entry
        return "vjp", stack, call, sequence, (start,), *places(start, kinds), freed
    return entry


def places(start: int, kinds: str) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """Where the values of a run are, the first of which is at `start`: of the cotangents, and before they were summed.

    >>> places(7, SAME + NONE + OWN + OWN_SUM + SUM)
    ((7, None, 8, 10, 11), (None, None, None, 9, 7))
    """
    last = start
    cotangents: list[int | None] = []
    unsummed: list[int | None] = []
    for kind in kinds:
        before = None
        if kind == OWN_SUM:
            before = last = last + 1
        elif kind == SUM:
            before = start
        if kind not in (NONE, SAME):
            last += 1
        cotangents.append(None if kind == NONE else start if kind == SAME else last)
        unsummed.append(before)
    return tuple(cotangents), tuple(unsummed)


def plain(shared: Any) -> bool:
    """Whether a storage is in its first version, and nobody can write it unseen."""
    return not (shared.version or shared.unseen or shared.memory)
