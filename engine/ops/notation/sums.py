"""Ops that add up, written place by place: sums and products over indices, normalisation, losses, windows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING

from .expression_text import (
    ATOM,
    INDICATOR,
    INSIDE,
    PRODUCT,
    ROUNDED_DOWN,
    SCALED,
    SERIES,
    SUM,
    NoIndices,
    Places,
    Printed,
)
from .index_notation import added, equal, operand, picked, shifted, sizes_of, times
from .symbol import Symbol, is_call

if TYPE_CHECKING:
    from ...formula.printer import Printer

# -- sums -------------------------------------------------------------------------------------------------------------


def series(p: Printer, x: Symbol, places: Places) -> Printed:
    """A sum over the dimensions that `dim` names, or all."""
    return _added_up(p, x, places, _dims(x))


def mean(p: Printer, x: Symbol, places: Places) -> Printed:
    """A share of the sum over the dimensions that `dim` names, or all."""
    summed = _dims(x)
    return _added_up(p, x, places, summed, math.prod(n for d, n in enumerate(sizes_of(operand(x))) if d in summed))


def sum_of_copies(p: Printer, x: Symbol, places: Places) -> Printed:
    """A sum over the dimensions that the result does not have, or with size 1."""
    size, result_size = sizes_of(operand(x)), sizes_of(x)
    extra = len(size) - len(result_size)
    return _added_up(p, x, places, {d for d, n in enumerate(size) if d < extra or result_size[d - extra] == 1 != n})


def _dims(x: Symbol) -> set[int]:
    dims = x.attrs.get("dim")
    return set(range(len(sizes_of(operand(x)))) if dims is None else dims if isinstance(dims, tuple) else (dims,))


def _added_up(p: Printer, x: Symbol, places: Places, summed: Set[int], count: int = 0) -> Printed:
    """A sum over some dimensions; with a `count` as the mean of so many."""
    item = operand(x)
    letters = iter(q for q, n in zip(places, sizes_of(x), strict=True) if n != 1)
    inner = [None if n == 1 else p.letter(n) if d in summed else next(letters) for d, n in enumerate(sizes_of(item))]
    over = [q for d, q in enumerate(inner) if d in summed and q is not None]
    if not over:
        return p.show(item, inner)
    text = p.summed(over, p.part(item, inner, PRODUCT))
    return (f"{p.style.share(count)} {text}" if count else text), SERIES


def matrices(p: Printer, x: Symbol, places: Places) -> Printed:
    """A product of matrices as the sum that it is."""
    return _product(p, x, places[:-1], lambda shared: [*places[:-2], shared, places[-1]])


def vectors(p: Printer, x: Symbol, places: Places) -> Printed:
    """A product with a vector as the sum that it is."""
    return _product(p, x, places, lambda shared: [shared])


def _product(p: Printer, x: Symbol, rows: Places, right: Callable[[str | None], Places]) -> Printed:
    a, b = operand(x, 0), operand(x, 1)
    if not (sizes_of(a) and sizes_of(b)):
        raise NoIndices
    shared = None if sizes_of(a)[-1] == 1 else p.letter(sizes_of(a)[-1])
    text = f"{p.part(a, [*rows, shared], PRODUCT)}{p.style.times}{p.part(b, right(shared), PRODUCT)}"
    return (p.summed([shared], text), SERIES) if shared else (text, PRODUCT)


def running_sum(p: Printer, x: Symbol, places: Places) -> Printed:
    """The sum of all up to a place."""
    return _running(p, operand(x), places, x.attrs["dim"], "≤")


def _running(p: Printer, item: Symbol, places: Places, dim: int, sign: str) -> Printed:
    here = places[dim] if places else None
    if here is None:
        return p.show(item, places)
    letter = p.letter(sizes_of(item)[dim])
    body = p.part(item, [*places[:dim], letter, *places[dim + 1 :]], PRODUCT)
    return p.summed([letter], body, f"{p.style.signs[sign]} {here}"), SERIES


def others(p: Printer, x: Symbol, places: Places) -> Printed:
    """The product of all others along a dimension."""
    item, dim = operand(x), x.attrs["dim"]
    here = places[dim] if places else None
    if here is None:
        raise NoIndices
    letter = p.letter(sizes_of(item)[dim])
    body = p.part(item, [*places[:dim], letter, *places[dim + 1 :]], SCALED)
    return p.summed([letter], body, f"{p.style.signs['≠']} {here}", p.style.product), SERIES


def evenly(p: Printer, x: Symbol, places: Places) -> Printed:
    """1[x = extreme] / Σ 1[x = extreme]."""
    item, extreme, dims = operand(x), operand(x, 1), x.attrs.get("dim")
    size = sizes_of(item)
    shared = range(len(size)) if dims is None else dims if isinstance(dims, tuple) else (dims,)
    others = [p.letter(n) if d in shared and n != 1 else q for d, (n, q) in enumerate(zip(size, places, strict=True))]
    p.explain("1[…]", INDICATOR)

    def test(at: Places) -> str:
        top = p.show(extreme, p.under(extreme, at))[0]
        return p.style.indicator(equal(p, p.show(item, at)[0], top))

    over = [q for d, q in enumerate(others) if d in shared and q is not None]
    if not over:
        return test(places), ATOM
    return p.style.fraction((test(places), ATOM), (p.summed(over, test(others)), SERIES))


def in_reverse(p: Printer, x: Symbol, places: Places) -> Printed:
    """From the end; of a running sum of what was turned round, the sum from a place on."""
    item, dims = operand(x), x.attrs["dims"]
    if (
        is_call(item, "cumsum")
        and is_call(item.inputs[0], "flip")
        and item.inputs[0].attrs["dims"] == dims == (item.attrs["dim"],)
    ):  # a sum from the end
        return _running(p, operand(item.inputs[0]), places, dims[0], "≥")
    turned = [
        q if q is None or d not in dims else f"{n - 1}{p.style.minus}{q}"
        for d, (q, n) in enumerate(zip(places, sizes_of(x), strict=True))
    ]
    return p.show(item, turned)


# -- normalisation, losses ---------------------------------------------------------------------------------------------


def _unit(p: Printer, item: Symbol, places: Places) -> Printed:
    """`x̂`: a name under a hat."""
    if item.op is not None:
        raise NoIndices
    return p.at(p.normalised(item.name), places), ATOM


def normalized(p: Printer, x: Symbol, places: Places) -> Printed:
    """`x̂`: a name under a hat."""
    if x.inputs[1] is None:
        raise NoIndices
    return _unit(p, operand(x), places)


def through_normalized(p: Printer, x: Symbol, places: Places) -> Printed:
    """ρ · (h − mean(h) − x̂ · mean(h · x̂))."""
    upstream, item, rstd, dims = operand(x), operand(x, 1), x.inputs[3], x.attrs["dims"]
    if not isinstance(rstd, Symbol):
        raise NoIndices
    sizes = sizes_of(item)
    count = 1
    for d in dims:
        count *= sizes[d]

    def mean(factor: bool) -> str:
        at = [p.letter(n) if d in dims and n != 1 else q for d, (n, q) in enumerate(zip(sizes, places, strict=True))]
        body = p.part(upstream, at, PRODUCT)
        if factor:
            body += f"{p.style.times}{_unit(p, item, at)[0]}"
        over = [q for d, q in enumerate(at) if d in dims and q is not None]
        return f"{p.style.share(count)} {p.summed(over, body)}" if over else body

    steep = p.part(rstd, p.under(rstd, places), PRODUCT)
    inner = p.part(upstream, places, SUM)
    minus = f" {p.style.minus} "
    less = f"{inner}{minus}{mean(False)}{minus}{_unit(p, item, places)[0]}{p.style.times}{mean(True)}"
    return f"{steep}{p.style.times}{p.style.brackets(less)}", PRODUCT


def to_target(p: Printer, x: Symbol, places: Places) -> Printed:
    """−ḡ / N · 1[target = class]."""
    upstream, target, weight, total = operand(x), x.inputs[1], x.inputs[2], x.inputs[3]
    classes = min(1, len(places) - 1)
    reduction, here = x.attrs["reduction"], places[classes]
    if here is None or 0 <= x.attrs["ignore_index"] < sizes_of(x)[classes]:
        raise NoIndices
    at = [q for d, q in enumerate(places) if d != classes]
    body = p.show(upstream, at if reduction == "none" else [])
    if reduction == "mean":
        body = p.style.fraction(body, p.show(total, []))
    text = body[0] if body[1] >= PRODUCT else p.style.brackets(body[0])
    if isinstance(weight, Symbol):
        text += f"{p.style.times}{p.show(weight, [here])[0]}"
    p.explain("1[…]", INDICATOR)
    test = p.style.indicator(equal(p, picked(p, target, at), here))
    return f"{p.style.minus}{text}{p.style.times}{test}", SUM


# -- windows ----------------------------------------------------------------------------------------------------------


def to_largest(p: Printer, x: Symbol, places: Places) -> Printed:
    """Σ over windows of upstream · 1[where its largest was = this place, counted through]."""
    upstream, index, sizes = operand(x), x.inputs[1], x.attrs["sizes"]
    lead = len(places) - len(sizes)
    if lead != len(sizes_of(upstream)) - len(sizes):
        raise NoIndices
    over = [*places[:lead], *p.fresh(sizes_of(upstream)[lead:])]
    steps = [1]
    for n in reversed(sizes[1:]):
        steps.insert(0, steps[0] * n)
    flat = "+".join(times(p, q, step) for q, step in zip(places[lead:], steps, strict=True) if q is not None)
    tests = [equal(p, picked(p, index, over), flat)] if flat else []
    return added(p, p.show(upstream, over), tests, [q for q in over[lead:] if q is not None])


def spread(p: Printer, x: Symbol, places: Places) -> Printed:
    """Each window's share, of windows that lie side by side and cover all."""
    upstream, sizes, sides = operand(x), x.attrs["sizes"], x.attrs["kernel_size"]
    lead = len(places) - len(sizes)
    windows = sizes_of(upstream)[lead:]
    whole = all(n == k * many for n, k, many in zip(sizes, sides, windows, strict=True))
    if not whole or x.attrs["stride"] != sides or any(x.attrs["padding"]):
        raise NoIndices
    p.explain("⌊…⌋", ROUNDED_DOWN)
    inner = [
        None if many == 1 else q if k == 1 else p.style.floor(f"{q}/{k}")
        for q, k, many in zip(places[lead:], sides, windows, strict=True)
    ]
    count = x.attrs.get("divisor_override") or 1
    if not x.attrs.get("divisor_override"):
        for k in sides:
            count *= k
    return p.style.fraction(p.show(upstream, [*places[:lead], *inner]), (str(count), ATOM))


def _sum_of(p: Printer, parts: Sequence[tuple[str | None, int]], by: int) -> str:
    """Indices times whole numbers, and a number: `2·i+k−1`."""
    text = ""
    for place, factor in parts:
        if place is not None:
            sign = p.style.minus if factor < 0 else "+" if text else ""
            text += sign + times(p, place, abs(factor))
    return shifted(p, text or "0", by)


def _windowed(p: Printer, image: Symbol, first: Places, seen: Sequence[str]) -> tuple[str, list[str]]:
    """An image at places that may lie past its edges; where it has one place only, with the test for that one."""
    sizes = sizes_of(image)[2:]
    at = [None if n == 1 else q for n, q in zip(sizes, seen, strict=True)]
    tests = [equal(p, q, "0") for n, q in zip(sizes, seen, strict=True) if n == 1 and q != "0"]
    p.explain("[…]", INSIDE)
    return p.part(image, [*first, *at], PRODUCT), tests


def filters(p: Printer, x: Symbol, places: Places) -> Printed:
    """w̄[o, c, k] = Σ ȳ[n, o, i] · x[n, c, i + k − padding], over samples and windows."""
    upstream, image, at = operand(x), operand(x, 1), x.attrs
    if at["groups"] != 1:
        raise NoIndices
    sample, *windows = p.fresh((sizes_of(upstream)[0], *sizes_of(upstream)[2:]))
    steps = zip(windows, places[2:], at["stride"], at["dilation"], at["padding"], strict=True)
    seen = [_sum_of(p, [(i, stride), (k, gap)], -padding) for i, k, stride, gap, padding in steps]
    right, tests = _windowed(p, image, [sample, places[1]], seen)
    left = p.part(upstream, [sample, places[0], *windows], PRODUCT)
    over = [q for q in (sample, *windows) if q is not None]
    return added(p, (f"{left}{p.style.times}{right}", PRODUCT), tests, over)


def convolved(p: Printer, x: Symbol, places: Places) -> Printed:
    """Σ over channels and the filter's places; transposed (the gradient of the image) with a stride of 1 only."""
    item, weight, at = operand(x), operand(x, 1), x.attrs
    back = at["transposed"]
    if at["groups"] != 1 or x.inputs[2] is not None or (back and any(n != 1 for n in at["stride"])):
        raise NoIndices
    if any(at["output_padding"]):
        raise NoIndices
    channel, *window = p.fresh((sizes_of(item)[1], *sizes_of(weight)[2:]))
    steps = zip(places[2:], window, at["stride"], at["dilation"], at["padding"], strict=True)
    seen = [
        _sum_of(p, [(i, 1 if back else stride), (k, -gap if back else gap)], padding if back else -padding)
        for i, k, stride, gap, padding in steps
    ]
    left, tests = _windowed(p, item, [places[0], channel], seen)
    right = p.part(weight, [channel, places[1], *window] if back else [places[1], channel, *window], PRODUCT)
    over = [q for q in (channel, *window) if q is not None]
    return added(p, (f"{left}{p.style.times}{right}", PRODUCT), tests, over)
