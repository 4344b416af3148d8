"""Ops that only rearrange the numbers of a tensor, such as view and permute, or pick some of them by their index, and
the op before them.  Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod

from engine.trace.events import Input, OpCalled

from . import labels
from .facts import Facts


@dataclass(frozen=True, slots=True)
class Origin:
    """The op that computed the numbers of an input, and the ops that rearranged or picked them since, the last one
    first."""

    op: OpCalled
    since: tuple[OpCalled, ...] = ()

    def dimension(self, dim: int) -> int | None:
        """The dimension of the op's result that became dimension `dim` of the input; None if that is not certain."""
        results = [*self.since, self.op]
        for after, before in pairwise(results):
            dim_before = _before(after, before.outputs[0].shape, dim)
            if dim_before is None:
                return None
            dim = dim_before
        return dim


def origin(facts: Facts, argument: Input, picks: bool = False) -> Origin | None:
    """Where the numbers of an input come from; None for a leaf.

    `picks`: looks through `x[...]` too, after which the input has some of the numbers.  Cost: linear in the ops since.
    """
    since: list[OpCalled] = []
    last = len(facts.ops)
    while argument.tensor in facts.tensors and argument.tensor is not None:
        producer = facts.producer(argument.tensor, argument.version)
        if producer is None or producer >= last:
            return None
        event, last = facts.ops[producer].event, producer
        form = labels.presentation(event)
        is_order = form.rearranges or _is_of_same_shape(facts, event)
        if not (is_order or (picks and form.indexing)) or "writer" in event.attrs:
            return Origin(event, tuple(since))
        since.append(event)
        argument = event.inputs[0]
    return None


def _is_of_same_shape(facts: Facts, event: OpCalled) -> bool:
    """Return whether an op expands a tensor to the shape that it has, as matmul does before it stacks matrices."""
    if event.name != "expand" or event.inputs[0].tensor is None:
        return False
    fact = facts.tensors.get(event.inputs[0].tensor)
    return fact is not None and fact.shape == event.outputs[0].shape


def _before(event: OpCalled, before: Sequence[int], dim: int) -> int | None:
    """The dimension of the input of a rearranging or picking op that became dimension `dim` of its result."""
    after, attrs, rank = event.outputs[0].shape, event.attrs, len(before)
    if dim >= len(after):  # a single number, which softmax takes to have one dimension
        return None
    match event.name:
        case "permute":
            return int(attrs["dims"][dim]) % rank
        case "transpose" | "transpose_" if rank:
            one, other = int(attrs["dim0"]) % rank, int(attrs["dim1"]) % rank
            return {one: other, other: one}.get(dim, dim)
        case "t" | "t_":
            return rank - 1 - dim
        case "clone" | "alias" | "slice":
            return dim
        case "select":
            return dim + (dim >= int(attrs["dim"]) % rank)
        case "index":
            return _before_index(event, rank, dim)
    if after[dim] < 2:  # dimensions of size 1 come and go
        return None
    outer = prod(after[:dim])  # the order stays, so the dimension is the one with as many elements before it
    return next((d for d, n in enumerate(before) if n == after[dim] and prod(before[:d]) == outer), None)


def _before_index(event: OpCalled, rank: int, dim: int) -> int | None:
    """The same for `x[indices]`, if the indices stand for the first dimensions: those after them stay."""
    names = [one.name for one in event.inputs[1:]]
    if names != [f"indices[{k}]" for k in range(len(names))]:
        return None
    behind = len(event.outputs[0].shape) - dim
    stay = rank - len(names)  # at most: a mask stands for as many dimensions as it has
    return rank - behind if behind <= stay and dim else None
