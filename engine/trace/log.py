"""The log of a recording: a plain tuple for each event, and the full form of the short ones.

The entries are tuples of numbers and names, which Python's cyclic collector stops tracking, so that a long recording
does not slow the program down.  Most are ops with one result and one or two inputs, and nodes that ran with one
upstream gradient; these have a short form.

The kinds of entries, and their fields:
leaf (tensor, storage, version, value, requires_grad, source, grad) · op (name, inputs, statics, outputs, sequence,
needs, inplace, call) · plain, an op in short (name, input, input or None, output, value, sequence, needs, call) ·
refresh · outside · data · flag · mode · grad_set · start · vjp (call, sequence, upstream, cotangents, unsummed,
freed) · run, a vjp in short (call, sequence, upstream, first value of its own, kinds,
freed) · accumulate · hook · code · left ·
escape · error · warning · end · enter · leave · print (stream, text, more), which may be replaced by one with more text
while it is the last entry.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import CodeType
from typing import Any

from .module_names import Names

Entry = tuple[Any, ...]
NONE, SAME, OWN, SUM, OWN_SUM = "-=.s+"
"""The cotangent of a run along an edge: none; the upstream gradient unchanged; a value of its own; the upstream
gradient summed over broadcast dimensions; a sum of a value of its own, which precedes it."""


@dataclass(frozen=True, slots=True)
class Recording:
    """The data of a recorder, from which the reader (`engine.trace.log_reader`) makes events.

    `stacks` numbers the call stacks, pairs of code and instruction by the ids in `codes`; `iterations` has, by entry
    of the log, the loop variables that changed before it.
    """

    log: list[Entry]
    values: list[Any]
    stacks: Mapping[tuple[Any, ...], int]
    codes: Mapping[int, CodeType]
    iterations: Mapping[int, tuple[Any, ...]]
    names: Names

    def part(self, entries: int, values: int, stacks: int) -> Recording:
        """Its beginning, with so many entries, values and stacks."""
        first = dict(list(self.stacks.items())[:stacks])
        return Recording(self.log[:entries], self.values[:values], first, self.codes, self.iterations, self.names)


def in_full(entry: Entry) -> Entry:
    """The full form of an entry: the "op" of a "plain", the "vjp" of a "run"; any other unchanged."""
    if entry[0] == "plain":
        _, stack, name, a, b, number, value, sequence, needs, call = entry
        refs, results = (a,) if b is None else (a, b), (number, value, sequence >= 0)
        return "op", stack, name, refs, None, results, sequence, needs, None, call
    if entry[0] == "run":
        _, stack, call, sequence, upstream, start, kinds, freed = entry
        return "vjp", stack, call, sequence, (upstream,), *places(upstream, start, kinds), freed
    return entry


def sequence_of(entry: Entry) -> int:
    """The sequence number of the node that an op made; -1 for one without, and for what is not an op."""
    kind = entry[0]
    return int(entry[7]) if kind == "plain" else int(entry[6]) if kind == "op" else -1


def places(upstream: int, start: int, kinds: str) -> tuple[tuple[int | None, ...], tuple[int | None, ...]]:
    """The positions of the values of a run: of the cotangents, and of the same before they were summed.

    `upstream` is the position of the gradient that arrived, `start` that of the first value of the run's own.

    >>> places(7, 8, SAME + NONE + OWN + OWN_SUM + SUM)
    ((7, None, 8, 10, 11), (None, None, None, 9, 7))
    """
    last = start - 1
    cotangents: list[int | None] = []
    unsummed: list[int | None] = []
    for kind in kinds:
        before = None
        if kind == OWN_SUM:
            before = last = last + 1
        elif kind == SUM:
            before = upstream
        if kind not in (NONE, SAME):
            last += 1
        cotangents.append(None if kind == NONE else upstream if kind == SAME else last)
        unsummed.append(before)
    return tuple(cotangents), tuple(unsummed)


def written_out(results: Entry) -> tuple[tuple[int, int, int, bool, int], ...]:
    """The results of an "op" entry as (number, version, value, requires_grad, storage) each."""
    if type(results[0]) is int:
        number, value, requires = results
        return ((number, 0, value, requires, number),)
    return results
