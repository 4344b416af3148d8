"""Products of a column and a row of the same length that were meant to be taken element by element.  Pure.

An outer product is meant as often as not, so this is concluded only where it is of no use: where all its elements are
averaged or summed into the loss, with nothing in between that needs them as a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from engine.trace.events import Input, OpCalled

from ...reading import labels
from ...reading.facts import Facts

LINEAR = frozenset("+−×÷")
"""The signs of ops after which the mean of all products is still made of means of columns and rows: nobody needs a
matrix for it."""
BOUNDS = ("relu", "clamp")
CHOICES = frozenset({"minimum", "maximum"})
COPIES = frozenset({"detach", "data", "to"})

TensorVersion = tuple[int, int]
"""A tensor and its version."""


@dataclass(frozen=True, slots=True)
class _Product:
    """A product of a column and a row."""

    column: Input
    row: Input
    n: int


def is_accidental(facts: Facts, event: OpCalled) -> bool:
    """Return whether an op computes an outer product by accident.  Cost: linear in the ops on the way to its operands
    and to the loss."""
    product = _product(facts, event)
    if product is None or not facts.ops[facts.op_at[event.index]].vjps:
        return False
    columns, rows = _sources(facts, product.column), _sources(facts, product.row)
    if _sources(facts, product.column, is_followed=True) & _sources(facts, product.row, is_followed=True):
        return False  # of one vector, with itself
    if any(_is_of_the_model(facts, one) for one in columns | rows):
        return False
    if all(_is_raised(facts, one) for one in columns):
        return False
    computed = any(_op(facts, one) is not None for one in rows)
    return _is_averaged(facts, event, product, computed)


def _product(facts: Facts, event: OpCalled) -> _Product | None:
    sides = [one for one in event.inputs if one.tensor in facts.tensors]
    if event.name != "mul" or event.inplace is not None or len(sides) != 2:
        return None
    row, column = sorted(sides, key=lambda side: len(_shape(facts, side)))
    n = max(event.outputs[0].shape, default=0)
    matches = n > 1 and _shape(facts, row) == (n,) and _shape(facts, column) == (n, 1)
    return _Product(column, row, n) if matches else None


def _shape(facts: Facts, argument: Input) -> tuple[int, ...]:
    """The shape of an input; that of a single number is ()."""
    value = facts.read(argument)
    return () if value is None else tuple(value.shape)


def _op(facts: Facts, tensor_version: TensorVersion) -> OpCalled | None:
    producer = facts.producer(*tensor_version)
    return facts.ops[producer].event if producer is not None else None


def _sources(facts: Facts, argument: Input, is_followed: bool = False) -> set[TensorVersion]:
    """The tensors from which an operand was computed element by element, up to other ops or leaves: those of its shape,
    or if `is_followed`, through ops that give its numbers another shape."""
    size = prod(_shape(facts, argument))
    result, seen, todo = set[TensorVersion](), set[TensorVersion](), [argument]
    while todo:
        one = todo.pop()
        if one.tensor is None or one.tensor not in facts.tensors or prod(_shape(facts, one)) != size:
            continue
        tensor_version = one.tensor, one.version
        if tensor_version in seen:
            continue
        seen.add(tensor_version)
        event = _op(facts, tensor_version)
        if event is not None and _is_passed(facts, event, is_followed):
            todo += event.inputs
        else:
            result.add(tensor_version)
    return result


def _is_passed(facts: Facts, event: OpCalled, is_followed: bool) -> bool:
    """Return whether each element of an op's result comes from the same element of an input."""
    shapes = [_shape(facts, side) for side in event.inputs]
    form = labels.presentation(event)
    if form.rearranges and is_followed:
        return True
    through = form.elementwise or form.rearranges or labels.written_name(event) in COPIES
    return through and event.outputs[0].shape in shapes


def _is_of_the_model(facts: Facts, tensor_version: TensorVersion) -> bool:
    """Return whether a tensor is a parameter or a buffer, and so has no element for each sample."""
    leaf = facts.tensors[tensor_version[0]].leaf
    return leaf is not None and _op(facts, tensor_version) is None and (leaf.requires_grad or leaf.name is not None)


def _is_raised(facts: Facts, tensor_version: TensorVersion) -> bool:
    """Return whether a column was made of a row, by indexing with None, unsqueeze or view: then the matrix is meant."""
    event = _op(facts, tensor_version)
    if event is None:
        return False
    before = [_shape(facts, side) for side in event.inputs if side.tensor is not None]
    return len(before) == 1 and (labels.presentation(event).rearranges or len(before[0]) < len(event.outputs[0].shape))


def _is_averaged(facts: Facts, event: OpCalled, product: _Product, computed: bool) -> bool:
    """Return whether all that becomes of a product is the mean or sum of all its elements.

    `computed`: the row was computed.  A row that was not may be a list of constants, such as quantiles, with as many
    elements as there are samples by coincidence.  Then the way must be linear, or lead through the minimum of PPO.
    """
    matrix = product.n, product.n
    while True:
        result = event.outputs[0]
        uses = {op for op, _ in facts.uses.get((result.tensor, result.version), ()) if facts.ops[op].event.call is None}
        if len(uses) != 1:
            return False
        event = facts.ops[uses.pop()].event
        name = labels.written_name(event)
        if name in ("mean", "sum") and event.outputs[0].shape == ():
            return True
        others = [side for side in event.inputs if side.tensor not in (None, result.tensor)]
        is_squared = [side.tensor for side in event.inputs].count(result.tensor) > 1
        if is_squared or event.inplace is not None or event.outputs[0].shape != matrix:
            return False
        if name in CHOICES:
            other = _op(facts, (others[0].tensor or 0, others[0].version)) if len(others) == 1 else None
            second = _product(facts, other) if other is not None else None
            if second is None or not (computed or _are_clipped(facts, product, second)):
                return False
        else:
            is_passed = labels.presentation(event).sign in LINEAR or (computed and name.startswith(BOUNDS))
            if not is_passed or any(_shape(facts, side) == matrix for side in others):
                return False


def _are_clipped(facts: Facts, first: _Product, second: _Product) -> bool:
    """Return whether two products have the same row, and one of the columns is clamped."""
    if _sources(facts, first.row) != _sources(facts, second.row):
        return False
    ops = [_op(facts, (one.column.tensor or 0, one.column.version)) for one in (first, second)]
    return any(op is not None and labels.written_name(op) == "clamp" for op in ops)
