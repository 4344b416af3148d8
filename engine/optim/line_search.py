"""A line search: how far to go along a direction so that the strong Wolfe conditions hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ..arrays.array import xp
from ..tensor.tensor import Tensor

__all__ = ["strong_wolfe"]


@dataclass(frozen=True, slots=True)
class Point:
    """A place along the direction: the loss there, the gradient, and its part along the direction."""

    t: float
    loss: float
    gradient: Tensor
    slope: float


def _between(a: Point, b: Point, bounds: tuple[float, float] | None = None) -> float:
    """The least place of the cubic through two points with their slopes; the middle where it has none."""
    low, high = bounds or (min(a.t, b.t), max(a.t, b.t))
    d1 = a.slope + b.slope - 3 * (a.loss - b.loss) / (a.t - b.t)
    square = d1**2 - a.slope * b.slope
    if square < 0:
        return (low + high) / 2.0
    d2 = math.sqrt(square)
    if a.t <= b.t:
        step = b.t - (b.t - a.t) * ((b.slope + d2 - d1) / (b.slope - a.slope + 2 * d2))
    else:
        step = a.t - (a.t - b.t) * ((a.slope + d2 - d1) / (a.slope - b.slope + 2 * d2))
    return min(max(step, low), high)


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Tensor]], t: float, direction: Tensor, loss: float, gradient: Tensor,
    slope: float, *, most: int, c1: float = 1e-4, c2: float = 0.9, tolerance: float = 1e-9,
) -> tuple[float, Tensor, float, int]:  # fmt: skip
    """(loss, gradient, length, evaluations) of a step that goes down enough and ends where it is flat enough."""

    def at(t: float) -> Point:
        value, grad = evaluate(t)
        return Point(t, value, grad.clone(), grad.dot(direction).item())

    size = float(xp.abs(direction._array).max())
    start = before = Point(0, loss, gradient.clone(), slope)
    here, calls, iterations = at(t), 1, 0
    bracket: list[Point] = []
    done = False
    while iterations < most:  # go on until a least place lies in between
        too_high = here.loss > loss + c1 * here.t * slope
        if too_high or (iterations > 1 and here.loss >= before.loss):
            bracket = [before, here]
            break
        if abs(here.slope) <= -c2 * slope:
            bracket, done = [here], True
            break
        if here.slope >= 0:
            bracket = [before, here]
            break
        bounds = (here.t + 0.01 * (here.t - before.t), here.t * 10)
        before, here = here, at(_between(before, here, bounds))
        calls += 1
        iterations += 1
    if iterations == most:
        bracket = [start, here]
    stuck = False
    low = 0 if bracket[0].loss <= bracket[-1].loss else 1
    while not done and iterations < most:  # make it narrower
        ends = [point.t for point in bracket]
        if abs(ends[1] - ends[0]) * size < tolerance:
            break
        t, stuck = _inside(_between(bracket[0], bracket[1]), min(ends), max(ends), stuck)
        here = at(t)
        calls += 1
        iterations += 1
        high = 1 - low
        if here.loss > loss + c1 * here.t * slope or here.loss >= bracket[low].loss:
            bracket[high] = here
            low = 0 if bracket[0].loss <= bracket[1].loss else 1
            continue
        if abs(here.slope) <= -c2 * slope:
            done = True
        elif here.slope * (bracket[high].t - bracket[low].t) >= 0:
            bracket[high] = bracket[low]
        bracket[low] = here
    best: Any = bracket[low if len(bracket) > 1 else 0]
    return best.loss, best.gradient, best.t, calls


def _inside(t: float, low: float, high: float, stuck: bool) -> tuple[float, bool]:
    """A place that is not too near to an end twice in a row: then it is moved inwards."""
    margin = 0.1 * (high - low)
    if min(high - t, t - low) >= margin:
        return t, False
    if stuck or t >= high or t <= low:
        return (high - margin if abs(t - high) < abs(t - low) else low + margin), False
    return t, True
