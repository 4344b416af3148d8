"""Ops that move, choose, repeat or add up places, written place by place: a sum over indices, with an indicator.

Each writer gets the printer, the expression and the indices of the place asked for (None along dimensions of size 1),
and gives what stands there.  It raises NoIndices where that has no short form; the op then stays a named function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..result_shapes import Permutation, Sizes
from .expression_text import ATOM, INDICATOR, MEMBER, PRODUCT, SERIES, NoIndices, Places, Printed
from .symbol import Symbol, is_number, noted

if TYPE_CHECKING:
    from ...formula.printer import Printer

Placed = Callable[["Printer", Symbol, Places], Printed]


def operand(x: Symbol, nr: int = 0) -> Symbol:
    """An input that is an expression of known shape."""
    item = x.inputs[nr]
    if not isinstance(item, Symbol) or item.shape is None or x.shape is None:
        raise NoIndices
    return item


def sizes_of(x: Symbol) -> Sizes:
    """The shape of an expression that has one."""
    assert x.shape is not None
    return x.shape


# -- views ------------------------------------------------------------------------------------------------------------


def repeated(p: Printer, x: Symbol, places: Places) -> Printed:
    """Print an element that is repeated along dimensions that the input lacks, or in which its size is 1."""
    return p.show(operand(x), p.under(operand(x), places))


def raised(p: Printer, x: Symbol, places: Places) -> Printed:
    """With a dimension of size 1 more."""
    return p.show(operand(x), [q for d, q in enumerate(places) if d != x.attrs["dim"]])


def respaced(p: Printer, x: Symbol, places: Places) -> Printed:
    """A reshape that only adds or drops dimensions of size 1."""
    item = operand(x)
    inner, outer = sizes_of(item), sizes_of(x)
    if [n for n in inner if n != 1] != [n for n in outer if n != 1]:
        raise NoIndices
    letters = iter([q for q, n in zip(places, outer, strict=True) if n != 1])
    return p.show(item, [None if n == 1 else next(letters) for n in inner])


def turned(p: Printer, x: Symbol, places: Places) -> Printed:
    """With the dimensions in another order."""
    item = operand(x)
    assert x.op is not None and isinstance(x.op.presentation.shape, Permutation)
    order = x.op.presentation.shape.order(x.attrs, len(sizes_of(item)))
    return p.show(item, [places[order.index(d)] for d in range(len(order))])


def row(p: Printer, x: Symbol, places: Places) -> Printed:
    """One slice along a dimension."""
    dim, item = x.attrs["dim"], operand(x)
    index = None if sizes_of(item)[dim] == 1 else str(x.attrs["index"] % sizes_of(item)[dim])
    return p.show(item, [*places[:dim], index, *places[dim:]])


def part(p: Printer, x: Symbol, places: Places) -> Printed:
    """A range along a dimension."""
    dim, start, step = x.attrs["dim"], x.attrs["start"], x.attrs["step"]
    moved = None if sizes_of(operand(x))[dim] == 1 else shifted(p, times(p, places[dim] or "0", step), start)
    return p.show(operand(x), [*places[:dim], moved, *places[dim + 1 :]])


def times(p: Printer, place: str, factor: int) -> str:
    """An index times a whole number."""
    return place if factor == 1 else f"{factor}{p.style.scaled}{place}"


def shifted(p: Printer, place: str, by: int) -> str:
    """An index and a number: `i+2`, `i−1`."""
    if by == 0:
        return place
    if place == "0":
        return str(by).replace("-", p.style.minus)
    return f"{place}+{by}" if by > 0 else f"{place}{p.style.minus}{-by}"


# -- the same backwards: at some places, 0 elsewhere ------------------------------------------------------------------


def _only(p: Printer, test: str, then: Printed, other: str = "0") -> Printed:
    return p.style.choice(test, then[0] if then[1] >= p.style.in_choice else p.style.brackets(then[0]), other)


def equal(p: Printer, a: str, b: str) -> str:
    """Write the condition that two indices are the same."""
    return f"{a} {p.style.signs['=']} {b}"


def viewed(x: Symbol) -> Symbol:
    """Write a path of views as these views of an expression."""
    symbol: Symbol = x.inputs[0]
    for name, statics, nr in x.attrs["path"]:
        if name == "unbind":
            name, statics = "select", {"dim": statics["dim"], "index": nr}
        elif nr is not None:
            raise NoIndices
        symbol = noted(name, symbol, **statics)
        if symbol.shape is None:
            raise NoIndices
    return symbol


def _unviewed(x: Symbol, places: Places) -> Symbol:
    """Write the gradient of a path of one view as the op that places elements: `select_backward`, `slice_backward`."""
    if len(x.attrs["path"]) != 1:
        raise NoIndices
    name, statics, nr = x.attrs["path"][0]
    if name == "unbind":
        name, statics = "select", {"dim": statics["dim"], "index": nr}
    if name not in ("select", "slice"):
        raise NoIndices
    return noted(f"{name}_backward", operand(x), sizes=sizes_of(x), **statics)


def view_placed(p: Printer, x: Symbol, places: Places) -> Printed:
    """Print an element of the gradient of a path of one view: 0 outside the view."""
    return p.show(_unviewed(x, places), places)


def view_cleared(p: Printer, x: Symbol, places: Places) -> Printed:
    """0 where the view is, else what it was."""
    test = _inside(p, _unviewed(x, places), places)
    return ("0", ATOM) if test is None else _only(p, test, ("0", ATOM), p.show(operand(x), places)[0])


def _inside(p: Printer, x: Symbol, places: Places) -> str | None:
    """Write the condition that an index is among those of a placed row or part; None if there is no index."""
    at, here, n = x.attrs, places[x.attrs["dim"]], sizes_of(x)[x.attrs["dim"]]
    least, below = f" {p.style.signs['≤']} ", f" {p.style.signs['<']} "
    if here is None:
        return None
    if "index" in at:
        return equal(p, here, str(at["index"] % n))
    start, end = at["start"], min(at["end"], n)
    if at["step"] != 1:
        raise NoIndices
    if end - start == 1:
        return equal(p, here, str(start))
    if start == 0:
        return None if end == n else f"{here}{below}{end}"
    return f"{start}{least}{here}{below}{end}" if end < n else f"{here} {p.style.signs['≥']} {start}"


def row_placed(p: Printer, x: Symbol, places: Places) -> Printed:
    """A slice at its place, 0 elsewhere."""
    body = p.show(operand(x), [q for d, q in enumerate(places) if d != x.attrs["dim"]])
    test = _inside(p, x, places)
    return body if test is None else _only(p, test, body)


def part_placed(p: Printer, x: Symbol, places: Places) -> Printed:
    """A range at its place, 0 elsewhere."""
    dim, here, long = x.attrs["dim"], places[x.attrs["dim"]], sizes_of(operand(x))[x.attrs["dim"]]
    test = _inside(p, x, places)
    moved = None if here is None or long == 1 else shifted(p, here, -x.attrs["start"])
    body = p.show(operand(x), [*places[:dim], moved, *places[dim + 1 :]])
    return body if test is None else _only(p, test, body)


def diagonal_placed(p: Printer, x: Symbol, places: Places) -> Printed:
    """Numbers on a diagonal, 0 elsewhere."""
    offset, size = x.attrs.get("offset", 0), sizes_of(x)
    if len(size) != 2 or None in places or (x.attrs.get("dim1", 0), x.attrs.get("dim2", 1)) != (0, 1):
        raise NoIndices
    row, column = (q or "" for q in places)
    inner = row if offset >= 0 else column
    item = operand(x)
    body = p.show(item, [None if n == 1 else inner for n in sizes_of(item)])
    return _only(p, equal(p, column, shifted(p, row, offset)), body)


def diagonal(p: Printer, x: Symbol, places: Places) -> Printed:
    """The numbers on a diagonal."""
    offset, size = x.attrs.get("offset", 0), sizes_of(operand(x))
    if len(size) != 2 or 1 in size or (x.attrs.get("dim1", 0), x.attrs.get("dim2", 1)) != (0, 1):
        raise NoIndices
    here = places[0] or "0"
    return p.show(operand(x), [shifted(p, here, max(0, -offset)), shifted(p, here, max(0, offset))])


def triangle(sign: str) -> Placed:
    """Make the notation of the elements on one side of a diagonal, 0 elsewhere; `sign` relates column to row."""

    def write(p: Printer, x: Symbol, places: Places) -> Printed:
        if len(places) < 2 or None in places[-2:]:
            raise NoIndices
        row, column = (q or "" for q in places[-2:])
        edge = shifted(p, row, x.attrs.get("diagonal", 0))
        return _only(p, f"{column} {p.style.signs[sign]} {edge}", p.show(operand(x), places))

    return write


# -- along an index ---------------------------------------------------------------------------------------------------


def picked(p: Printer, index: Any, places: Places) -> str:
    """The number that an index has at a place."""
    if not isinstance(index, Symbol) or index.shape is None:
        raise NoIndices
    return p.show(index, places)[0]


def added(p: Printer, body: Printed, tests: Sequence[str], letters: Sequence[str]) -> Printed:
    """Σ body · 1[tests]."""
    text = body[0] if body[1] >= PRODUCT else p.style.brackets(body[0])
    if tests:
        p.explain("1[…]", INDICATOR)
        text = f"{text}{p.style.times}{p.style.indicator(p.style.also.join(tests))}"
    return (p.summed(letters, text), SERIES) if letters else (text, PRODUCT if tests else body[1])


def _added_along(p: Printer, item: Symbol, index: Any, places: Places, dim: int) -> Printed:
    """Σ over the index's places of item · 1[index = place], where the index has dimensions of its own."""
    if not isinstance(index, Symbol) or index.shape is None or item.shape is None:
        raise NoIndices
    over = p.fresh(index.shape)
    if len(item.shape) != len(places) - 1 + len(over):
        raise NoIndices
    body = p.show(item, [*places[:dim], *over, *places[dim + 1 :]])
    here = places[dim]
    tests = [] if here is None else [equal(p, picked(p, index, over), here)]
    return added(p, body, tests, [q for q in over if q is not None])


def rows_added(p: Printer, x: Symbol, places: Places) -> Printed:
    """Slices added up where an index says."""
    return _added_along(p, operand(x), x.inputs[1], places, x.attrs["dim"])


def embedded(p: Printer, x: Symbol, places: Places) -> Printed:
    """Rows added up where an index says."""
    if x.attrs.get("scale_grad_by_freq") or (x.attrs.get("padding_idx") or -1) >= 0 or x.attrs.get("padding_idx") == 0:
        raise NoIndices
    return _added_along(p, operand(x), x.inputs[1], places, 0)


def added_at(p: Printer, x: Symbol, places: Places) -> Printed:
    """The gradient of `x[a, b]`, of indices of one shape that stand side by side."""
    keys, item = list(x.inputs[1]), operand(x)
    dims = [d for d, key in enumerate(keys) if key is not None]
    first = dims[0]
    shapes = {key.shape for key in keys if isinstance(key, Symbol)}
    shape = shapes.pop()
    if dims != list(range(first, first + len(dims))) or shapes or shape is None:
        raise NoIndices
    over = p.fresh(shape)
    inner = [*places[:first], *over, *places[first + len(dims) :]]
    if len(inner) != len(sizes_of(item)):
        raise NoIndices
    tests = [equal(p, picked(p, keys[d], over), q) for d in dims if (q := places[d]) is not None]
    p.explain("indices", "a negative index counts from the end")
    return added(p, p.show(item, inner), tests, [q for q in over if q is not None])


def scattered(p: Printer, x: Symbol, places: Places) -> Printed:
    """Σₖ item · 1[index = place] along one dimension; the index has the shape of the item."""
    item, index, dim = operand(x), x.inputs[1], x.attrs["dim"]
    if not isinstance(index, Symbol) or index.shape != item.shape or not places or len(sizes_of(item)) != len(places):
        raise NoIndices
    others = [(n, m) for d, (n, m) in enumerate(zip(sizes_of(item), sizes_of(x), strict=True)) if d != dim]
    if any(n != m for n, m in others):
        raise NoIndices
    along = p.fresh(sizes_of(item)[dim : dim + 1])
    inner = [*places[:dim], *along, *places[dim + 1 :]]
    here = places[dim]
    tests = [] if here is None else [equal(p, picked(p, index, inner), here)]
    return added(p, p.show(item, inner), tests, [q for q in along if q is not None])


def gathered(p: Printer, x: Symbol, places: Places) -> Printed:
    """The number that an index says, along a dimension."""
    item, index, dim = operand(x), x.inputs[1], x.attrs["dim"]
    if (
        not places
        or len(sizes_of(item)) != len(places)
        or any(n == 1 != m for d, (n, m) in enumerate(zip(sizes_of(item), sizes_of(x), strict=True)) if d != dim)
    ):
        raise NoIndices
    moved = None if sizes_of(item)[dim] == 1 else picked(p, index, places)
    inner = [
        None if n == 1 else q for n, q in zip(sizes_of(item), [*places[:dim], moved, *places[dim + 1 :]], strict=True)
    ]
    if any(n > 1 and q is None for n, q in zip(sizes_of(item), inner, strict=True)):
        raise NoIndices
    return p.show(item, inner)


def rows_picked(p: Printer, x: Symbol, places: Places) -> Printed:
    """The slice that an index says."""
    item, index, dim = operand(x), x.inputs[1], x.attrs["dim"]
    if not isinstance(index, Symbol) or not places:
        raise NoIndices
    moved = None if sizes_of(item)[dim] == 1 else picked(p, index, [places[dim]] * len(index.shape or ()))
    return p.show(item, [*places[:dim], moved, *places[dim + 1 :]])


def cleared(p: Printer, x: Symbol, places: Places) -> Printed:
    """0 at the places of an index, else what was there."""
    keys = list(x.inputs[1])
    dims = [d for d, key in enumerate(keys) if key is not None]
    key = keys[dims[0]]
    if len(dims) != 1 or not isinstance(key, Symbol) or len(key.shape or ()) != 1:
        raise NoIndices
    return _unless_in(p, operand(x), key, places, dims[0], "0")


def filled(p: Printer, x: Symbol, places: Places) -> Printed:
    """A value at the places of an index, else what was there."""
    value = x.attrs["value"]
    if not is_number(value) or not isinstance(x.inputs[1], Symbol):
        raise NoIndices
    return _unless_in(p, operand(x), x.inputs[1], places, x.attrs["dim"], p.style.number(value)[0])


def _unless_in(p: Printer, item: Symbol, key: Symbol, places: Places, dim: int, value: str) -> Printed:
    here = places[dim] if places else None
    if here is None:
        raise NoIndices
    p.explain("∈", MEMBER)
    return _only(p, f"{here} {p.style.signs['∈']} {p.leaf(key.name)}", (value, ATOM), p.show(item, places)[0])
