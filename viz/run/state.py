"""The state of a program at the beginning of a section: open groups, modes, and the tensors that the section uses."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    Damaged,
    DataSet,
    Escaped,
    FlagChanged,
    GradSet,
    GroupEntered,
    GroupLeft,
    HookRan,
    LeafCreated,
    LoopVariable,
    OpCalled,
    Refreshed,
    StatisticMoved,
    Trace,
)
from engine.trace.file.database import TraceFileError
from engine.trace.file.outline import CODES, GRAD, NOBODY, REQUIRES, VALUE, Outline

from .iterations import Section
from .pauses import Pauses

Loops = dict[tuple[int, int, str], LoopVariable]


@dataclass(frozen=True, slots=True)
class Leaf:
    """A tensor from before a section, as it was when the section first used it.

    `creation` is the event that made it, `grad` the tensor that was its `.grad`.
    """

    creation: int
    version: int
    value: int
    requires_grad: bool
    grad: int | None


@dataclass(slots=True)
class SectionState:
    """The state at the beginning of a section: the open groups, the loops' variables, the grad mode, the tensors of
    optimisers, and (found while the section is read) the earlier tensors that it uses."""

    groups: tuple[GroupEntered, ...]
    loops: tuple[LoopVariable, ...]
    grad_enabled: bool
    optimizer_tensors: dict[tuple[str, str, int], tuple[int | None, ...]]
    """By name, class and call stack: two optimisers of the same class take their steps in different places."""
    leaves: dict[int, Leaf] = field(default_factory=dict)
    updated: set[int] = field(default_factory=set)
    """The leaves that were changed after their gradient arrived and still have that gradient."""
    brought: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By event: the parameters and buffers of a module that is called there for the first time."""
    paused: int = NOBODY
    """The last event before the section at which the recording paused: what has happened to `.grad` is not known."""
    refreshed: set[int] = field(default_factory=set)
    """The events that find a tensor changed since before the section: it has these numbers from the beginning."""


def tensors_of_step(state: SectionState, event: GroupEntered) -> tuple[int | None, ...]:
    """The tensors of the optimiser whose step is entered; of one that took its first step elsewhere those of the last
    optimiser of its class."""
    optimizers = state.optimizer_tensors
    alike = (tensors for (name, kind, _), tensors in optimizers.items() if (name, kind) == (event.name, event.kind))
    return optimizers.get((event.name, event.kind, event.stack)) or next(reversed(list(alike)), ())


def state_at(trace: Trace, outline: Outline, section: Section) -> SectionState:
    """The state at the beginning of a section, and the earlier tensors that it uses. Linear in the events of the
    section."""
    start = section.start
    entered = _open_groups(outline, start)
    loops: Loops = {
        (one.depth, one.line, one.name): one for at, variables in outline.loops if at < start for one in variables
    }
    mode = next((enabled for at, enabled in reversed(outline.modes) if at < start), True)
    optimizer_tensors = {
        (name, kind, int(outline.stacks[at])): tensors for at, name, kind, tensors in outline.held if at < start
    }
    groups = tuple(event for at in entered if isinstance(event := trace.events[at], GroupEntered))
    state = SectionState(
        groups, tuple(loops.values()), mode, optimizer_tensors, paused=Pauses(trace, outline).place(start)
    )
    _import(trace, outline, section, state)
    return state


def _open_groups(outline: Outline, start: int) -> list[int]:
    """The events that entered the groups that are open at an event."""
    places = outline.where(GroupEntered, GroupLeft)
    places = places[: np.searchsorted(places, start)]
    steps = np.where(outline.kinds[places] == CODES[GroupEntered], 1, -1)
    depth = np.cumsum(steps)
    later = np.minimum.accumulate(depth[::-1])[::-1]  # the least depth from there on
    entered: list[int] = places[(steps > 0) & (depth == later)].tolist()
    return entered


def _import(trace: Trace, outline: Outline, section: Section, state: SectionState) -> None:
    """Find the earlier tensors that a section uses."""
    depth = len(state.groups)
    called: set[str] = set()
    for event in trace.events[section.start : section.end]:
        if isinstance(event, Damaged):
            return
        tensors = list(tensors_of(event))
        if isinstance(event, GroupEntered):
            if not depth and event.name not in called:
                called.add(event.name)
                state.brought[event.index] = _parts_of(outline, event)
                tensors += state.brought[event.index]
            depth += 1
        elif isinstance(event, GroupLeft):
            depth -= 1
        for tensor in tensors:
            if tensor not in state.leaves and outline.made_before(tensor, section.start):
                _bring(trace, outline, section.start, state, tensor)
                if type(event) is Refreshed or type(event) is StatisticMoved:
                    leaf = state.leaves[tensor]
                    state.leaves[tensor] = replace(leaf, version=event.version, value=event.value)
                    state.refreshed.add(event.index)


def _parts_of(outline: Outline, event: GroupEntered) -> tuple[int, ...]:
    """The parameters and buffers of a module that were known when it was called."""
    return tuple(tensor for at, name, tensor in outline.parts if at < event.index and name.startswith(f"{event.name}."))


def _bring(trace: Trace, outline: Outline, start: int, state: SectionState, tensor: int) -> None:
    """Note the state of a tensor at the beginning, after that of its gradient."""
    is_known = outline.last_event(tensor, GRAD, start) > state.paused
    grad = outline.last_change(tensor, GRAD, start) if is_known else None
    grad_tensor = grad[0] if grad is not None and grad[0] != NOBODY and grad[0] != tensor else None
    if grad_tensor is not None and grad_tensor not in state.leaves:
        _bring(trace, outline, start, state, grad_tensor)
    state.leaves[tensor] = _leaf(trace, outline, start, tensor, grad_tensor)
    if grad_tensor is not None and outline.last_event(tensor, VALUE, start) > outline.last_event(tensor, GRAD, start):
        state.updated.add(tensor)


def _leaf(trace: Trace, outline: Outline, start: int, tensor: int, grad: int | None) -> Leaf:
    """The state of a tensor at the beginning. Raises TraceFileError if the event that made it is damaged."""
    event = int(outline.born[tensor])
    maker = trace.events[event]
    if isinstance(maker, Damaged):
        raise TraceFileError(
            f"Event number {event + 1:,} is damaged in the file; it created a tensor that this iteration uses. Look at "
            "another iteration, copy the file again, or record the program again."
        )
    version, value, requires = _at_birth(maker, tensor)
    changed = outline.last_change(tensor, VALUE, start)
    if changed is not None:
        version, value = version if changed[0] == NOBODY else changed[0], changed[1]
    switch = outline.last_change(tensor, REQUIRES, start)
    return Leaf(event, version, value, requires if switch is None else bool(switch[0]), grad)


def number_before(trace: Trace, outline: Outline, tensor: int, event: int) -> int | None:
    """The number of the value of a tensor before an event, at least the value that it began with; None if unknown."""
    changed = outline.last_change(tensor, VALUE, event)
    number = changed[1] if changed is not None else _at_birth(trace.events[int(outline.born[tensor])], tensor)[1]
    return None if number == NOBODY else number


def _at_birth(event: AnyEvent, tensor: int) -> tuple[int, int, bool]:
    """Version, value and `requires_grad` of a tensor after the event that makes it."""
    match event:
        case LeafCreated():
            return event.version, event.value, event.requires_grad
        case OpCalled():
            out = next(out for out in event.outputs if out.tensor == tensor)
            return out.version, out.value, out.requires_grad
        case Accumulated():
            return 0, event.after, False
    return 0, NOBODY, False


def tensors_of(event: AnyEvent) -> Iterator[int]:
    """The tensors that an event uses, in the order in which a recording meets them."""
    match event:
        case OpCalled():
            yield from (argument.tensor for argument in event.inputs if argument.tensor is not None)
            if event.inplace is not None:
                yield event.inplace
        case Refreshed():
            yield event.tensor
            if isinstance(event, DataSet):
                yield event.source
        case GradSet():
            yield event.tensor
            if event.source is not None:
                yield event.source
        case BackwardStarted():
            yield from (root.tensor for root in event.roots)
            yield from (root.source for root in event.roots if root.source is not None)
            yield from event.inputs or ()
        case BackwardEnded():
            yield from (tensor for tensor in event.results if tensor is not None)
        case HookRan() | CodeEntered() if event.tensor is not None:
            yield event.tensor
        case FlagChanged() | Accumulated() | Escaped():
            yield event.tensor
    if isinstance(event, CodeEntered):
        yield from (tensor for tensor in event.given if tensor is not None)
    elif isinstance(event, CodeLeft):
        yield from (tensor for tensor in event.results or () if tensor is not None)
