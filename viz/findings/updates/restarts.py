"""A training that begins again in each iteration, because the loop creates its model or its optimiser, or overwrites
the parameters.  Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TypeVar

import numpy as np

from engine.trace.events import LeafCreated, OpCalled, Skipped
from engine.trace.file.database import TraceFileError
from engine.trace.file.outline import VALUE

from ...reading import text
from ...reading.source_text import source
from ...run.pauses import ends_of_steps
from ...run.run import Run
from ...run.state import number_before
from ...schema.run import RunFindingKind
from ..finding import SectionFinding

FEWEST = 5
"""The fewest steps: a few models that take one step each are compared, not trained."""
APART = 0.5
"""How far the values of a weight matrix are from those before, in parts of their norm, if they do not come from them:
independent random ones are 1.4 apart."""
KEEPING = frozenset({"zeros_like", "clone"})
"""How an optimiser creates what it keeps from one step to the next."""
RANDOM = frozenset({"uniform", "normal"})
MOST_NAMED = 3
UNUSED = -1
EFFECTS: tuple[RunFindingKind, ...] = ("large-updates", "small-updates", "stalled-loss", "flips")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Steps:
    """The steps that one line of the program takes: their ends, and each report of the tensors of an optimiser (-1 for
    one that nothing has used), with its event.  An optimiser reports them in its first step, and later if they are
    others."""

    kind: str
    ends: tuple[int, ...]
    reports: tuple[tuple[int, tuple[int, ...]], ...]


def restart(run: Run) -> SectionFinding | None:
    """The first reason for which nothing is kept from one iteration to the next; None in a run that learns.

    A model that is copied from the one before goes on with its training, as in federated learning, and so does one
    whose parameters a program sets to values that differ, as Reptile does.  Cost: linear in the steps; a few values
    are read.
    """
    if not run.is_divided or len(run.outline.where(Skipped)):
        return None
    try:
        for steps in _steps(run):
            if len(steps.ends) >= FEWEST:
                reason = _created(run, steps) or _overwritten(run, steps)
                if reason is not None:
                    return reason
    except TraceFileError:  # the file is damaged there
        return None
    return None


def _steps(run: Run) -> Iterator[_Steps]:
    reports: dict[int, list[tuple[int, str, tuple[int, ...]]]] = {}
    for event, _, kind, tensors in run.outline.held:
        reports.setdefault(int(run.outline.stacks[event]), []).append(
            (event, kind, tuple(UNUSED if one is None else one for one in tensors))
        )
    for stack, ends in ends_of_steps(run.whole, run.outline).items():
        if stack in reports:
            kind = reports[stack][0][1].removesuffix(".step")
            yield _Steps(kind, tuple(ends), tuple((event, tensors) for event, _, tensors in reports[stack]))


def _created(run: Run, steps: _Steps) -> SectionFinding | None:
    """Each step is the first one of its optimiser."""
    if len(steps.reports) < len(steps.ends):
        return None
    tensors = [tensors for _, tensors in steps.reports]
    section = _section(run, steps.reports[1][0])
    if all(one == other and UNUSED not in one for one, other in pairwise(tensors)):
        return _optimizer_created(run, steps, section) if _keeps_something(run, steps) else None
    if any(not set(one).isdisjoint(other) for one, other in pairwise(tensors)) or not _starts_again(run, steps):
        return None
    count, loop = len(steps.ends), _loop(run, section)
    why = (
        f"In each of {count:,} iterations {steps.kind} updates {text.count(len(tensors[1]), 'parameter')} that "
        f"{'are' if tensors[1][1:] else 'is'} new: {_names(run, tensors[1])}. The values do not come from those of the "
        "iteration before, so what an iteration learns is lost in the next one."
    )
    fix = f"Create the model and its optimiser once, before the loop{loop}."
    return SectionFinding(section, "The model is created again in each iteration", why, fix, EFFECTS)


def _optimizer_created(run: Run, steps: _Steps, section: int) -> SectionFinding:
    why = (
        f"Each of {len(steps.ends):,} steps is the first step of a new {steps.kind}: the averages of gradients that it "
        "keeps for the next step begin at 0 each time."
    )
    if steps.kind.startswith("Adam"):
        why += " So each update changes every element by about the learning rate, however small its gradient is."
    fix = f"Create the optimiser once, before the loop{_loop(run, section)}."
    return SectionFinding(section, f"{steps.kind} is created again in each iteration", why, fix)


def _keeps_something(run: Run, steps: _Steps) -> bool:
    """Whether the second step creates what an optimiser keeps: for each parameter, as the first step of any does."""
    start, tensors = steps.reports[1]
    events = (run.whole.events[index] for index in range(start, steps.ends[1]))
    states = sum(
        (isinstance(event, LeafCreated) and event.source in KEEPING)
        or (isinstance(event, OpCalled) and event.name in KEEPING)
        for event in events
    )
    return states >= len(tensors)


def _starts_again(run: Run, steps: _Steps) -> bool:
    """Whether the values of some new weight matrices are independent of those before, or the very first ones again."""
    first_event, first = steps.reports[0]
    for before, after in _some(list(pairwise(steps.reports))):
        triples = list(zip(first, before[1], after[1], strict=False))
        matrices = [one for one in triples if UNUSED not in one and _is_matrix(run, one[2])]
        again = [
            _is_apart(run, (old, after[0]), (new, after[0])) or _is_same(run, (begin, first_event), (new, after[0]))
            for begin, old, new in matrices
        ]
        if len(first) != len(after[1]) or not again or not all(again):
            return False
    return True


_Moment = tuple[int, int]
"""A tensor before an event."""


def _is_apart(run: Run, one: _Moment, other: _Moment) -> bool:
    a, b = _array(run, one), _array(run, other)
    if a is None or b is None or a.shape != b.shape:
        return False
    return bool(np.linalg.norm(a - b) > APART * np.linalg.norm(a) > 0)


def _is_same(run: Run, one: _Moment, other: _Moment) -> bool:
    a, b = _array(run, one), _array(run, other)
    return a is not None and b is not None and np.array_equal(a, b)


def _array(run: Run, moment: _Moment) -> np.ndarray | None:
    number = number_before(run.whole, run.outline, *moment)
    return None if number is None else run.whole.value(number).array


def _is_matrix(run: Run, tensor: int) -> bool:
    array = _array(run, (tensor, len(run.outline.kinds)))
    return array is not None and array.ndim > 1 and array.size > 1


def _overwritten(run: Run, steps: _Steps) -> SectionFinding | None:
    """Between the steps, the same line writes values into parameters that do not come from the ones they had."""
    tensors = [one for one in steps.reports[0][1] if one != UNUSED]
    writes: dict[int, OpCalled] = {}
    for tensor in tensors:
        op = _write_between(run, tensor, steps.ends)
        if op is not None and _is_matrix(run, tensor):
            writes[tensor] = op
    if not writes:
        return None
    op = min(writes.values(), key=lambda one: one.index)
    frames = run.whole.stacks[op.stack] if 0 <= op.stack < len(run.whole.stacks) else ()
    place = f"`{source(run.whole, frames[-1], 48)}` in line {frames[-1].line}" if frames else op.name
    section = _section(run, op.index)
    values = "new random values" if _is_random(op) else "the same values"
    why = (
        f"{place} writes {values} into {_names(run, list(writes))} between any two of {len(steps.ends):,} updates, so "
        "what an update changes is lost in the next one."
    )
    fix = f"Write the first values once, before the loop{_loop(run, section)}."
    return SectionFinding(section, "Parameters are overwritten in each iteration", why, fix, EFFECTS)


def _write_between(run: Run, tensor: int, ends: Sequence[int]) -> OpCalled | None:
    """The op that overwrites a tensor after the second step and before the third; None unless one does so between some
    other two steps too.  (The first iteration may be the one that keeps the values.)"""
    changes = [event for event, _ in run.outline.changes_of(tensor, VALUE, ends[-1])]
    writes: list[tuple[object, OpCalled]] = []
    for start, end in _some(list(pairwise(ends))[1:]):
        there = changes[bisect_right(changes, start - 1) : bisect_right(changes, end - 1)]
        ops = (run.whole.events[event] for event in there)
        keys = [(key, op) for op in ops if isinstance(op, OpCalled) and (key := _origin(run, op)) is not None]
        if not keys or (writes and keys[0][0] != writes[0][0]):
            return None
        writes.append(keys[0])
    return writes[0][1] if writes else None


def _origin(run: Run, op: OpCalled) -> object:
    """What an op writes into a tensor, if that does not come from its value: the same each time; else None."""
    if _is_random(op):
        return "random", op.stack
    if op.name == "copy" and len(op.inputs) > 1 and op.inputs[1].tensor is not None:
        return op.inputs[1].tensor, op.inputs[1].version
    return None


def _is_random(op: OpCalled) -> bool:
    return op.name.removeprefix("aten::").rstrip("_") in RANDOM


def _some(pairs: list[T]) -> list[T]:
    """The first, the middle and the last of some pairs."""
    return [pairs[place] for place in sorted({0, len(pairs) // 2, len(pairs) - 1})]


def _section(run: Run, event: int) -> int:
    return bisect_right(run.sections, event, key=lambda one: one.start) - 1


def _loop(run: Run, section: int) -> str:
    loop = run.sections[section].loop
    return f" in line {loop[2]}" if loop is not None and loop[2] else ""


def _names(run: Run, tensors: Sequence[int]) -> str:
    names = [run.whole.names.get(tensor) or "a parameter" for tensor in tensors]
    more = len(names) - MOST_NAMED
    return text.join([*names[:MOST_NAMED], *([f"{more} more"] if more > 0 else [])])
