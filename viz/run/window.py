"""One section of a run as a trace of its own, which is read, drawn, edited and run again as any other.

It is what a recording would have that began there: what the section uses from before stands as leaves, each before the
first event that uses it, with the value and the gradient that it had; ids and versions are counted anew from zero, so
that two iterations that do the same have the same ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    DataSet,
    ErrorRaised,
    Escaped,
    FlagChanged,
    GradSet,
    GroupEntered,
    GroupLeft,
    HookRan,
    LeafCreated,
    LoopVariable,
    ModeChanged,
    OpCalled,
    Refreshed,
    Trace,
    Value,
    VjpRun,
    WrittenOutside,
)
from engine.trace.file.coherence import check_part
from engine.trace.file.database import TraceFileError
from engine.trace.file.outline import CODES, GRAD, NOBODY, REQUIRES, VALUE, Outline
from engine.trace.log_reader import Numbers

from ..reading.facts import MET
from .iterations import Section

Loops = dict[tuple[int, int, str], LoopVariable]


@dataclass(frozen=True, slots=True)
class Leaf:
    """What a tensor from before a section was when the section first used it.

    `born` is the event that made it, `grad` the tensor that its `.grad` was.
    """

    born: int
    version: int
    value: int
    requires_grad: bool
    grad: int | None


@dataclass(slots=True)
class Beginning:
    """What holds where a section begins: the open groups, the loops' variables, the grad mode, what optimisers hold,
    and (found while the section is read) the tensors from before that it uses."""

    groups: tuple[GroupEntered, ...]
    loops: tuple[LoopVariable, ...]
    grad_enabled: bool
    held: dict[tuple[str, str], tuple[int | None, ...]]
    leaves: dict[int, Leaf] = field(default_factory=dict)
    updated: set[int] = field(default_factory=set)
    """Of the leaves those that were changed since their gradient arrived, and have it still."""
    brought: dict[int, tuple[int, ...]] = field(default_factory=dict)
    """By event: the parameters and buffers that a module brings along where it is first called."""


class Windows:
    """The sections of a trace, each as a trace: `windows.trace(3)`.

    A window costs what it has, however long the run is.
    """

    def __init__(self, trace: Trace, outline: Outline, sections: Sequence[Section]) -> None:
        self.whole, self.outline, self.sections = trace, outline, sections

    def trace(self, number: int) -> Trace:
        """The window of one section.

        Raises IndexError where there is none of this number, TraceFileError where a file contradicts itself there.
        """
        whole, section = self.whole, self.sections[number]
        try:
            cut = _Cut(whole, beginning(whole, self.outline, section), section)
            events = tuple(cut.events())
        except (KeyError, IndexError, StopIteration, RecursionError) as error:
            raise TraceFileError(
                f"the events of {section.label or 'the run'} contradict each other: {error}"
            ) from error
        names = {new: name for old, new in cut.tensors.items() if (name := whole.names.get(old)) is not None}
        values = Picked(whole.values, tuple(cut.values))
        meta = {**whole.meta, "section": self._as_meta(section, cut)}
        window = Trace(events, whole.stacks, whole.files, names, values, whole.argv, meta)
        check_part(whole, window, values.numbers)
        return window

    def _as_meta(self, section: Section, cut: _Cut) -> dict[str, Any]:
        """What a trace says of the section that it is: its name, and of a round of a loop where that is; how many nodes
        of earlier sections its backward calls went through; and of its leaves what the other sections do with them."""
        depth, _, line = section.loop or (0, "", 0)
        updated = sorted(cut.tensors[one] for one in cut.begin.updated)
        taught = [number for tensor, number in cut.tensors.items() if tensor in self._taught]
        return {
            "label": section.label, "depth": depth, "line": line, "passed": cut.passed, "updated": updated,
            "taught": taught,
        }  # fmt: skip

    @cached_property
    def _taught(self) -> frozenset[int]:
        """The leaves that receive a gradient in some section."""
        changes = self.outline.changes
        return frozenset(changes.tensor[(changes.what == GRAD) & (changes.first != NOBODY)].tolist())


class Picked(Sequence[Value]):
    """Some values of a trace, by numbers of their own."""

    def __init__(self, values: Sequence[Value], picked: Sequence[int]) -> None:
        self._values, self.numbers = values, picked

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self._values[one] for one in self.numbers[index]]
        return self._values[self.numbers[index]]

    def __len__(self) -> int:
        return len(self.numbers)


def beginning(trace: Trace, outline: Outline, section: Section) -> Beginning:
    """What holds where a section begins, with what it uses from before.  Linear in the events of the section."""
    start = section.start
    entered = _open_groups(outline, start)
    loops: Loops = {(one.depth, one.line, one.name): one for at, told in outline.loops if at < start for one in told}
    mode = next((enabled for at, enabled in reversed(outline.modes) if at < start), True)
    held = {(name, kind): tensors for at, name, kind, tensors in outline.held if at < start}
    groups = tuple(event for at in entered if isinstance(event := trace.events[at], GroupEntered))
    begin = Beginning(groups, tuple(loops.values()), mode, held)
    _import(trace, outline, section, begin)
    return begin


def _open_groups(outline: Outline, start: int) -> list[int]:
    """The events that entered the groups that are open at an event."""
    places = outline.where(GroupEntered, GroupLeft)
    places = places[: np.searchsorted(places, start)]
    steps = np.where(outline.kinds[places] == CODES[GroupEntered], 1, -1)
    depth = np.cumsum(steps)
    levels = range(1, 1 + int(depth[-1]) if len(depth) else 1)
    return [int(places[np.flatnonzero((steps > 0) & (depth == level))[-1]]) for level in levels]  # each one's last


def _import(trace: Trace, outline: Outline, section: Section, begin: Beginning) -> None:
    """Find the tensors from before that a section uses."""
    depth = len(begin.groups)
    called: set[str] = set()
    for event in trace.events[section.start : section.end]:
        tensors = list(used(event))
        if isinstance(event, GroupEntered):
            if not depth and event.name not in called:
                called.add(event.name)
                begin.brought[event.index] = _parts_of(outline, event)
                tensors += begin.brought[event.index]
            depth += 1
        elif isinstance(event, GroupLeft):
            depth -= 1
        for tensor in tensors:
            if tensor not in begin.leaves and outline.made_before(tensor, section.start):
                _bring(trace, outline, section.start, begin, tensor)


def _parts_of(outline: Outline, event: GroupEntered) -> tuple[int, ...]:
    """The parameters and buffers of a module, as far as they were known when it was called."""
    return tuple(tensor for at, name, tensor in outline.parts if at < event.index and name.startswith(f"{event.name}."))


def _bring(trace: Trace, outline: Outline, start: int, begin: Beginning, tensor: int) -> None:
    """Note what a tensor is at the start, and first what its gradient is."""
    grad = outline.last_change(tensor, GRAD, start)
    held = grad[0] if grad is not None and grad[0] != NOBODY and grad[0] != tensor else None
    if held is not None and held not in begin.leaves:
        _bring(trace, outline, start, begin, held)
    begin.leaves[tensor] = _leaf(trace, outline, start, tensor, held)
    if held is not None and outline.last_event(tensor, VALUE, start) > outline.last_event(tensor, GRAD, start):
        begin.updated.add(tensor)


def _leaf(trace: Trace, outline: Outline, start: int, tensor: int, grad: int | None) -> Leaf:
    """What a tensor is at the start."""
    born = int(outline.born[tensor])
    event = trace.events[born]
    version, value, requires = 0, -1, False
    if isinstance(event, LeafCreated):
        version, value, requires = event.version, event.value, event.requires_grad
    elif isinstance(event, OpCalled):
        out = next(out for out in event.outputs if out.tensor == tensor)
        version, value, requires = out.version, out.value, out.requires_grad
    elif isinstance(event, Accumulated):
        value = event.after
    changed = outline.last_change(tensor, VALUE, start)
    if changed is not None:
        version, value = version if changed[0] == NOBODY else changed[0], changed[1]
    asked = outline.last_change(tensor, REQUIRES, start)
    return Leaf(born, version, value, requires if asked is None else bool(asked[0]), grad)


def used(event: AnyEvent) -> Iterator[int]:
    """The tensors that an event uses, in the order in which a recording sees them."""
    match event:
        case OpCalled():
            yield from (given.tensor for given in event.inputs if given.tensor is not None)
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


class _Cut:
    """The events of one section, with ids of their own."""

    def __init__(self, whole: Trace, begin: Beginning, section: Section) -> None:
        self.whole, self.begin, self.section = whole, begin, section
        self.tensors, self.storages, self.nodes = Numbers(), Numbers(), Numbers()
        self.values, self.calls = Numbers(), Numbers()
        self.storage_of: dict[int, int] = {}
        self.first = self._first_versions()
        self.waiting = dict(begin.leaves)
        self.told = set[tuple[str, str]]()
        self.index = 0
        self.passed = 0

    def _first_versions(self) -> dict[int, int]:
        """By storage the lowest version in which a tensor from before is used."""
        found: dict[int, int] = {}
        for tensor, leaf in self.begin.leaves.items():
            storage = self.storage_of[tensor] = self._storage(tensor, self.whole.events[leaf.born])
            found[storage] = min(leaf.version, found.get(storage, leaf.version))
        return found

    def _storage(self, tensor: int, made: AnyEvent) -> int:
        """The storage of a tensor; that of a gradient, whose event names none, has a number of its own."""
        if isinstance(made, OpCalled):
            return next(out.storage for out in made.outputs if out.tensor == tensor)
        return made.storage if isinstance(made, LeafCreated) else -1 - tensor

    def _version(self, tensor: int | None, version: int) -> int:
        storage = None if tensor is None else self.storage_of.get(tensor)
        return version if storage is None else max(0, version - self.first.get(storage, 0))

    def events(self) -> Iterator[AnyEvent]:
        begin = self.begin
        first: tuple[LoopVariable, ...] = begin.loops
        for event in self._opening():
            yield self._placed(event)
        for event in self.whole.events[self.section.start : self.section.end]:
            if isinstance(event, (VjpRun, HookRan)) and event.node is not None and event.node not in self.nodes:
                self.passed += isinstance(event, VjpRun)  # of an op that an earlier section has
                continue
            for tensor in (*used(event), *begin.brought.get(event.index, ())):
                yield from self._leaves(tensor, event)
            made = self._placed(self._renumbered(event))
            if first:
                now = {(one.depth, one.line, one.name): one for one in (*first, *event.loops)}
                made, first = replace(made, loops=tuple(now.values())), ()
            yield made

    def _placed(self, event: AnyEvent) -> AnyEvent:
        placed = replace(event, index=self.index)
        self.index += 1
        return placed

    def _opening(self) -> Iterator[AnyEvent]:
        """What was begun before the section and goes on in it."""
        if not self.begin.grad_enabled:
            yield ModeChanged(0, -1, grad_enabled=False)
        yield from (replace(group, tensors=(), loops=()) for group in self.begin.groups)

    def _leaves(self, tensor: int, event: AnyEvent) -> Iterator[AnyEvent]:
        """A tensor from before that is used now, and before it its gradient."""
        leaf = self.waiting.pop(tensor, None)
        if leaf is None:
            return
        made, value, held = self.whole.events[leaf.born], self.values[leaf.value], self.whole.value(leaf.value)
        if leaf.grad is not None:
            yield from self._leaves(leaf.grad, event)
        source, name, device, stack = "seen", None, "cpu", event.stack
        if isinstance(made, LeafCreated):
            source, name, device = made.source, made.name, made.device
            stack = stack if source in MET else made.stack
        yield self._placed(LeafCreated(
            0, stack, self.tensors[tensor], self.storages[self.storage_of[tensor]], value, held.shape, held.dtype,
            device, leaf.requires_grad, source, self._tensor(leaf.grad), self._version(tensor, leaf.version), name,
        ))  # fmt: skip

    # -- numbers ----------------------------------------------------------------------------------------------------

    def _tensor(self, tensor: int | None) -> int | None:
        return None if tensor is None else self.tensors[tensor]

    def _several(self, tensors: Sequence[int | None]) -> tuple[int | None, ...]:
        return tuple(None if one is None else self.tensors[one] for one in tensors)

    def _value(self, value: int | None) -> int | None:
        return None if value is None else self.values[value]

    def _worth(self, values: Sequence[int | None]) -> tuple[int | None, ...]:
        return tuple(None if one is None else self.values[one] for one in values)

    def _renumbered(self, event: AnyEvent) -> AnyEvent:
        known = _RENUMBERED.get(type(event))
        return event if known is None else known(self, event)

    def leaf(self, event: LeafCreated) -> AnyEvent:
        self.storage_of[event.tensor] = event.storage
        return replace(
            event, tensor=self.tensors[event.tensor], storage=self.storages[event.storage],
            value=self.values[event.value], grad=self._tensor(event.grad),
            version=self._version(event.tensor, event.version),
        )  # fmt: skip

    def op(self, event: OpCalled) -> AnyEvent:
        self._place(event)
        inputs = tuple(
            one
            if one.tensor is None
            else replace(one, tensor=self.tensors[one.tensor], version=self._version(one.tensor, one.version))
            for one in event.inputs
        )
        outputs = tuple(
            replace(
                out, tensor=self.tensors[out.tensor], value=self.values[out.value], storage=self.storages[out.storage],
                view_of=self._tensor(out.view_of), version=self._version(out.tensor, out.version),
            )
            for out in event.outputs
        )  # fmt: skip
        node = event.node
        if node is not None:
            saved = tuple(
                replace(one, value=self._value(one.value), tensor=self._tensor(one.tensor)) for one in node.saved
            )
            number = self.nodes[node.node]
            edges = tuple(self._edge(edge, one) for edge, one in zip(node.edges, self._behind(event), strict=True))
            node = replace(node, node=number, sequence_nr=len(self.nodes) - 1, edges=edges, saved=saved)
        inplace, call = self._tensor(event.inplace), self._call(event.call)
        return replace(event, inputs=inputs, outputs=outputs, node=node, inplace=inplace, call=call)

    def _place(self, event: OpCalled) -> None:
        """The storages of an op's results.  A gradient from before has one that only a write to it tells."""
        for out in event.outputs:
            known = self.storage_of.setdefault(out.tensor, out.storage)
            if known < 0 and out.storage not in self.storages:
                self.storages[out.storage] = self.storages[known]

    def _behind(self, event: OpCalled) -> list[int | None]:
        """The tensor behind each edge of an op's node."""
        tensors = {one.name: one.tensor for one in event.inputs}
        return [tensors.get(name) for name in event.node.inputs] if event.node is not None else []

    def _edge(self, edge: Any, tensor: int | None) -> Any:
        """An edge; one to a node from before the section ends at the leaf that stands for its tensor."""
        if edge is None or edge.leaf is not None:
            return edge and replace(edge, leaf=self.tensors[edge.leaf])
        if edge.node not in self.nodes and tensor in self.begin.leaves:
            return replace(edge, node=None, leaf=self.tensors[tensor], output_nr=0)
        return replace(edge, node=self.nodes[edge.node])

    def _call(self, call: int | None) -> int | None:
        return None if call is None else self.calls[call]

    def refreshed(self, event: Refreshed) -> AnyEvent:
        number, value = self.tensors[event.tensor], self.values[event.value]
        made = replace(event, tensor=number, value=value, version=self._version(event.tensor, event.version))
        return replace(made, source=self.tensors[made.source]) if isinstance(made, DataSet) else made

    def flag(self, event: FlagChanged) -> AnyEvent:
        return replace(event, tensor=self.tensors[event.tensor])

    def grad_set(self, event: GradSet) -> AnyEvent:
        tensor, value, source = self.tensors[event.tensor], self._value(event.value), self._tensor(event.source)
        return replace(event, tensor=tensor, value=value, source=source)

    def start(self, event: BackwardStarted) -> AnyEvent:
        roots = tuple(
            replace(
                root, tensor=self.tensors[root.tensor], gradient=self.values[root.gradient],
                source=self._tensor(root.source),
            )
            for root in event.roots
        )  # fmt: skip
        inputs = None if event.inputs is None else tuple(self.tensors[one] for one in event.inputs)
        return replace(event, call=self.calls[event.call], roots=roots, inputs=inputs)

    def vjp(self, event: VjpRun) -> AnyEvent:
        return replace(
            event, call=self.calls[event.call], node=self.nodes[event.node], upstream=self._worth(event.upstream),
            cotangents=self._worth(event.cotangents), unsummed=self._worth(event.unsummed),
        )  # fmt: skip

    def accumulate(self, event: Accumulated) -> AnyEvent:
        before, after = self._value(event.before), self.values[event.after]  # in the order in which these are recorded
        return replace(
            event, call=self.calls[event.call], tensor=self.tensors[event.tensor], grad=self.tensors[event.grad],
            before=before, added=self.values[event.added], after=after,
        )  # fmt: skip

    def hook(self, event: HookRan) -> AnyEvent:
        return replace(
            event, call=self.calls[event.call], tensor=self._tensor(event.tensor), before=self._value(event.before),
            after=self._value(event.after), node=None if event.node is None else self.nodes[event.node],
        )  # fmt: skip

    def code(self, event: CodeEntered) -> AnyEvent:
        node = None if event.node is None else self.nodes[event.node]
        given = self._several(event.given)
        return replace(event, call=self._call(event.call), tensor=self._tensor(event.tensor), node=node, given=given)

    def left(self, event: CodeLeft) -> AnyEvent:
        return event if event.results is None else replace(event, results=self._several(event.results))

    def escape(self, event: Escaped) -> AnyEvent:
        return replace(event, tensor=self.tensors[event.tensor], value=self.values[event.value])

    def error(self, event: ErrorRaised) -> AnyEvent:
        known = tuple(self.tensors[one] for one in event.tensors if one in self.tensors)
        node = None if event.node is None else self.nodes[event.node]
        return replace(event, call=self._call(event.call), node=node, tensors=known)

    def end(self, event: BackwardEnded) -> AnyEvent:
        return replace(event, call=self.calls[event.call], results=self._several(event.results))

    def group(self, event: GroupEntered) -> AnyEvent:
        key = event.name, event.kind
        held = event.tensors if event.tensors or key in self.told else self.begin.held.get(key, ())
        self.told.add(key)
        return replace(event, tensors=tuple(None if one is None else self.tensors.get(one) for one in held))


_RENUMBERED: dict[type, Callable[..., AnyEvent]] = {
    LeafCreated: _Cut.leaf, OpCalled: _Cut.op, FlagChanged: _Cut.flag, GradSet: _Cut.grad_set,
    BackwardStarted: _Cut.start, VjpRun: _Cut.vjp, Accumulated: _Cut.accumulate, HookRan: _Cut.hook,
    CodeEntered: _Cut.code, CodeLeft: _Cut.left, Escaped: _Cut.escape, ErrorRaised: _Cut.error,
    BackwardEnded: _Cut.end, GroupEntered: _Cut.group,
}  # fmt: skip
_RENUMBERED.update(dict.fromkeys((Refreshed, DataSet, WrittenOutside), _Cut.refreshed))
