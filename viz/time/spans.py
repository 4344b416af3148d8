"""The levels of time: the steps of a trace as nested spans, phases outermost, then calls of modules and functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from engine.trace.events import OpCalled

from ..graph.graph import Drawing
from ..schema.scene import PhaseKind
from .phases import optimizer_steps
from .steps import Step, Timeline

MOST_SPANS = 2_000
"""The most spans before the innermost rows are left out: more could not be told apart, and the scene stays small."""

Path = tuple[Any, ...]
"""The spans around a step, outermost first: its phase, then groups."""


@dataclass(slots=True)
class Span:
    """Steps `start` to `end` (exclusive) that are one unit at a level; the spans of `row` 0 are phases, which cover all
    steps.

    `within` is the index of the span around it in the list, `group` the group whose call or backward it is.
    """

    start: int
    end: int
    row: int
    kind: PhaseKind
    label: str
    within: int | None
    group: str | None


def spans(drawing: Drawing, line: Timeline) -> list[Span]:
    """The spans of a trace, each after the one around it.  Cost: linear in the steps times the depth of the groups.

    An accumulation belongs to the rule before it, which sent the gradient, wherever its leaf is drawn.  An optimiser's
    step and a statement that only writes, such as `opt.zero_grad()`, are phases of their own.
    """
    result: list[Span] = []
    around: list[int] = []  # the places of the spans that are open, outermost first
    before: Path = ()
    for k, path in enumerate(_paths(drawing, line)):
        same = next((n for n, (one, other) in enumerate(zip(path, before, strict=False)) if one != other), None)
        del around[min(len(path), len(before)) if same is None else same :]
        for row in range(len(around), len(path)):
            result.append(_span(drawing, line, k, path, row, around[-1] if around else None))
            around.append(len(result) - 1)
        for place in around:
            result[place].end = k + 1
        before = path
    return _visible(result)


def _span(drawing: Drawing, line: Timeline, k: int, path: Path, row: int, within: int | None) -> Span:
    """The span that begins with step `k`."""
    step = line.steps[k]
    phase = line.phases[step.phase]
    section, groups = path[0], path[1:]
    if row > 0:
        kind: PhaseKind = "forward" if step.kind == "forward" else "backward" if step.call is not None else "write"
        kind = "write" if section[0] in ("update", "line") else kind
        return Span(k, k + 1, row, kind, drawing.grouping.labels[groups[row - 1]], within, groups[row - 1])
    match section:
        case ("update", group):
            return Span(k, k + 1, 0, "write", drawing.grouping.labels[group], None, group)
        case ("line", *_):
            places = range(k, len(line.steps))
            write = next(line.steps[n] for n in places if line.steps[n].kind == "write")
            return Span(k, k + 1, 0, "write", line.phases[write.phase].label, None, None)
        case ("call", _):
            return Span(k, k + 1, 0, "backward", phase.label, None, None)
    return Span(k, k + 1, 0, "forward", "forward", None, None)


def _paths(drawing: Drawing, line: Timeline) -> list[Path]:
    grouping = drawing.grouping
    updates = optimizer_steps(drawing)
    paths: dict[str | None, tuple[str, ...]] = {}
    sections: list[tuple[Any, ...]] = []
    groups: list[tuple[str, ...]] = []
    for k, step in enumerate(line.steps):
        last = line.steps[k - 1] if k else None
        if step.kind == "accumulate" and last is not None and last.phase == step.phase:
            sections.append(sections[-1])
            groups.append(groups[-1])
            continue
        group = None if step.kind == "error" or step.op is None else grouping.of.get(step.op)
        if group not in paths:
            paths[group] = tuple(reversed(grouping.paths[group]))
        sections.append(_section(drawing, step, paths[group], updates))
        groups.append(paths[group])
        if sections[-1][0] == "line":
            _join(drawing, line, sections)
    above = _above(sections, groups)
    inner: dict[tuple[Any, ...], Path] = {}
    for path in zip(sections, groups, strict=True):
        if path not in inner:
            inner[path] = (path[0], *_inner(drawing, *path, above))
    return [inner[path] for path in zip(sections, groups, strict=True)]


def _section(drawing: Drawing, step: Step, groups: tuple[str, ...], updates: frozenset[str]) -> tuple[Any, ...]:
    """The key of a step's phase: steps of one phase have equal keys."""
    if step.call is not None:
        return "call", step.call
    update = next((group for group in groups if group in updates), None)
    if update is not None:
        return "update", update
    statement = _statement(drawing, step)
    return ("line", *statement) if statement and writes(drawing, step) is not None else ("forward",)


def _above(sections: Sequence[tuple[Any, ...]], groups: Sequence[tuple[str, ...]]) -> frozenset[str]:
    """The groups around several phases, such as the function that trains: they are in no phase."""
    first: dict[str, int] = {}
    above: set[str] = set()
    run, before = 0, None
    for section, path in zip(sections, groups, strict=True):
        run += section != before
        before = section
        if section[0] != "call":
            above.update(group for group in path if first.setdefault(group, run) != run)
    return frozenset(above)


def _inner(
    drawing: Drawing, section: tuple[Any, ...], groups: tuple[str, ...], above: frozenset[str]
) -> tuple[str, ...]:
    """The groups in a phase; in an update, without those that only collect parameters in the picture."""
    match section:
        case ("line", *_):
            return ()
        case ("update", update):
            inner = groups[groups.index(update) + 1 :]
            return tuple(group for group in inner if group not in drawing.grouping.parts)
    return tuple(group for group in groups if group not in above)


def _join(drawing: Drawing, line: Timeline, sections: list[tuple[Any, ...]]) -> None:
    """Join a statement that writes with the ops that it ran before: `p -= lr * p.grad` multiplies first."""
    section = sections[-1]
    k = len(sections) - 2
    while k >= 0 and sections[k] == ("forward",) and ("line", *_statement(drawing, line.steps[k])) == section:
        sections[k] = section
        k -= 1


def _statement(drawing: Drawing, step: Step) -> tuple[str, int] | tuple[()]:
    """The file and line of the program that a step comes from; empty if unknown."""
    facts = drawing.facts
    frame = facts.frames.get(facts.trace.events[step.event].stack)
    return (frame.file, frame.line) if frame is not None else ()


def writes(drawing: Drawing, step: Step) -> int | None:
    """The leaf whose gradient or values a step writes; None if it does not write, or writes a tensor that is not
    trained, such as the running mean of a batch norm."""
    if step.kind != "write":
        return None
    facts = drawing.facts
    event = facts.trace.events[step.event]
    if not isinstance(event, OpCalled):
        return int(getattr(event, "tensor", -1))
    if event.inplace is None:
        return None
    leaves = facts.holding(event.inplace, event.index)
    if leaves:
        return leaves[-1]
    tensor = facts.behind.get(event.inplace, facts.owner.get(event.inplace, event.inplace))
    return tensor if tensor in facts.tensors and facts.tensors[tensor].requires_grad else None


def _visible(spans: Sequence[Span]) -> list[Span]:
    """The phases, and in them the spans of more than one step, in as many rows as `MOST_SPANS` allows."""
    rows = Counter(span.row for span in spans if span.end - span.start > 1)
    most, count = 0, 0
    while rows[most + 1] and (most == 0 or count + rows[most + 1] <= MOST_SPANS):
        most += 1
        count += rows[most]
    return _renumbered(spans, [span.row == 0 or (span.end - span.start > 1 and span.row <= most) for span in spans])


def _renumbered(spans: Sequence[Span], keep: Iterable[bool]) -> list[Span]:
    """The spans to keep.  A span of one step never contains one of several, so no span loses the one around it."""
    places: dict[int, int] = {}
    result: list[Span] = []
    for place, (span, stays) in enumerate(zip(spans, keep, strict=True)):
        if not stays:
            continue
        places[place] = len(result)
        span.within = places[span.within] if span.within is not None else None
        result.append(span)
    return result
