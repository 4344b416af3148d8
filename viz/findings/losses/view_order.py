"""A view that swaps the sizes of two dimensions without swapping the dimensions.  Pure."""

from __future__ import annotations

from collections.abc import Sequence

from engine.trace.events import OpCalled

from ...reading import labels, text
from ...reading.facts import Facts
from ..finding import Finding
from .about_loss import about, producer_of, written_at

VIEWS = ("view", "reshape")
"""Their names as they are written."""
PADDING = frozenset({"cat", "pad", "constant_pad_nd"})
"""Ops before a view that shifts rows on purpose, as relative positions in attention do."""


def view_orders(facts: Facts) -> list[Finding]:
    """The first view, on the path of a gradient, whose result has the sizes of its input in another order.

    A view keeps the elements in their order in memory: with other sizes, its rows are made of pieces of several rows.
    A view of a matrix that was padded shifts its rows, which is written on purpose; one of weights changes only how
    they are laid out.  Cost: linear in the ops.
    """
    for op in facts.ops:
        event = op.event
        if event.call is not None or labels.written_name(event) not in VIEWS or not event.outputs[0].requires_grad:
            continue
        source = facts.tensors.get(event.inputs[0].tensor) if event.inputs[0].tensor is not None else None
        if source is None or not is_reordered(source.shape, event.outputs[0].shape):
            continue
        before = producer_of(facts, event.inputs[0])
        if before is not None and labels.written_name(before) not in PADDING:
            return [_finding(facts, event, source.shape)]
    return []


def is_reordered(before: Sequence[int], after: Sequence[int]) -> bool:
    """Return whether two shapes of as many dimensions have the same sizes in another order, and not by chance.

    Dimensions of size 1 do not count.  If a size that moved is a multiple of another, one dimension may have been split
    and a part of it joined with its neighbour: attention views (positions, batch, features) as (positions, batch ×
    heads, features of a head), and the batch may be as large as a head.

    >>> is_reordered((16, 8, 10), (16, 10, 8)), is_reordered((4, 1, 5), (4, 5, 1)), is_reordered((6, 4), (2, 3, 4))
    (True, False, False)
    >>> is_reordered((7, 64, 512), (7, 512, 64))
    False
    """
    one, other = ([size for size in shape if size != 1] for shape in (before, after))
    if len(before) != len(after) or one == other or sorted(one) != sorted(other):
        return False
    moved = {size for size, new in zip(one, other, strict=True) if size != new}
    return not any(large != small and large % small == 0 for large in moved for small in moved if small)


def _finding(facts: Facts, event: OpCalled, shape: Sequence[int]) -> Finding:
    name = labels.written_name(event)
    result = event.outputs[0].shape
    why = (
        f"{written_at(facts, event)} turns {text.shape(shape)} into {text.shape(result)} without moving an element: "
        "it reads them in their old order and cuts them into rows of another length. So each row has elements of "
        "several old rows, and numbers of one sample, position or feature are taken for those of another."
    )
    fix = f"To swap dimensions, use {_order(shape, result)} instead of the {name}."
    return about("view-order", facts, event, f"{name} does not swap dimensions", why, fix)


def _order(before: Sequence[int], after: Sequence[int]) -> str:
    """The call that gives a shape by moving dimensions, if all sizes differ.

    >>> _order((16, 8, 10), (16, 10, 8)), _order((2, 3, 4), (4, 2, 3)), _order((2, 3, 3), (3, 2, 3))
    ('transpose(1, 2)', 'permute(2, 0, 1)', 'transpose() or permute()')
    """
    if len(before) != len(after) or len(set(before)) != len(before):
        return "transpose() or permute()"
    order = [list(before).index(size) for size in after]
    moved = [place for place, dim in enumerate(order) if place != dim]
    if len(moved) == 2:
        return f"transpose({moved[0]}, {moved[1]})"
    return f"permute({', '.join(map(str, order))})"
