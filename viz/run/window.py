"""One section of a run as a trace of its own, which is read, drawn, edited and replayed like any other.

It equals a recording that began there. Earlier tensors that the section uses are leaves, each created before the first
event that uses it, with the value and the gradient that it had. Ids and versions are counted from zero, so two
iterations that do the same have the same ones.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    Damaged,
    DataSet,
    ErrorRaised,
    Escaped,
    FlagChanged,
    GradSet,
    GroupEntered,
    HookRan,
    LeafCreated,
    LoopVariable,
    ModeChanged,
    OpCalled,
    Printed,
    Refreshed,
    Skipped,
    StatisticMoved,
    Trace,
    VjpRun,
    WrittenOutside,
)
from engine.trace.file.consistency import check_part
from engine.trace.file.database import TraceFileError
from engine.trace.file.outline import VALUE, Outline
from engine.trace.log_reader import Numbers

from ..reading.facts import MET
from ..tasks.collection import unhurried
from .iterations import Section
from .picked_values import PickedValues
from .prefix import is_long, note
from .state import SectionState, state_at, tensors_of, tensors_of_step


class Windows:
    """The sections of a trace, each as a trace: `windows.trace(3)`.

    A window costs as much as its own events, however long the run is.
    """

    def __init__(self, trace: Trace, outline: Outline, sections: Sequence[Section]) -> None:
        self.whole, self.outline, self.sections = trace, outline, sections

    def trace(self, number: int, most: int = sys.maxsize) -> Trace:
        """The window of one section; of a section that is longer, the first `most` events, and no later one is read.

        Raises IndexError if there is none of this number, TraceFileError if the file contradicts itself there.
        """
        with unhurried():
            return self._cut(number, most)

    def _cut(self, number: int, most: int) -> Trace:
        whole, full = self.whole, self.sections[number]
        is_cut = is_long(full.end - full.start, most)
        section = replace(full, end=full.start + most) if is_cut else full
        try:
            cut = _Cut(whole, state_at(whole, self.outline, section), section, [] if number else self._printed_before())
            events = tuple(cut.events())
        except (KeyError, IndexError, StopIteration, RecursionError) as error:
            raise TraceFileError(
                f"the events of {section.label or 'the run'} contradict each other: {error}"
            ) from error
        names = {new: name for old, new in cut.tensors.items() if (name := whole.names.get(old)) is not None}
        values = PickedValues(whole.values, tuple(cut.values))
        meta = {**whole.meta, "section": self._as_meta(section, cut)}
        if is_cut:  # what stands in for earlier sections is shown, and counts with the others
            meta |= note(whole, full.start, full.end)
            meta["of"] += len(events) - most
        if cut.lost is not None:
            behind = f"the events from number {cut.lost + 1:,} to {full.end:,}"
            meta["damaged"] = [*whole.meta.get("damaged", ()), behind]
        window = Trace(events, whole.stacks, whole.files, names, values, whole.argv, meta)
        check_part(whole, window, values.numbers)
        return window

    def tensors(self, number: int) -> Mapping[int, int]:
        """The tensors of a section: their numbers in the whole by their numbers in the section."""
        section = self.sections[number]
        cut = _Cut(self.whole, state_at(self.whole, self.outline, section), section, ())
        deque(cut.events(), maxlen=0)
        return {new: old for old, new in cut.tensors.items()}

    def _printed_before(self) -> list[AnyEvent]:
        """The text that was printed before the first section, which is shown at its beginning."""
        where = self.outline.where(Printed)
        events = (self.whole.events[index] for index in where[where < self.sections[0].start].tolist())
        return [replace(event, loops=()) for event in events]

    def _as_meta(self, section: Section, cut: _Cut) -> dict[str, Any]:
        """The facts about the section for the trace's `meta`: its name; for an iteration, its loop; how many nodes of
        earlier sections its backward calls ran through; the tensors through which its graph goes on into them, each
        with the call stack of the op that made it; the iteration in which a pause before it ended; and what the other
        sections do with its leaves."""
        depth, _, line = section.loop or (0, "", 0)
        updated = sorted(cut.tensors[one] for one in cut.state.updated)
        taught = [number for tensor, number in cut.tensors.items() if tensor in self._taught]
        return {
            "label": section.label, "depth": depth, "line": line, "passed": cut.passed, "updated": updated,
            "taught": taught, "carried": sorted(cut.carried.items()), "changed": self._changed_leaves(section, cut),
            "resumed": self._resumed(section),
        }  # fmt: skip

    def _resumed(self, section: Section) -> int | None:
        """The number of the iteration in which a section begins right after a pause of the recording; None without."""
        pause = self.whole.events[section.start - 1] if section.start else None
        return pause.number if isinstance(pause, Skipped) else None

    def _changed_leaves(self, section: Section, cut: _Cut) -> dict[str, list[int]]:
        """The leaves that require a gradient, by the name of the earlier section that last changed their values."""
        result: dict[str, list[int]] = {}
        for tensor, leaf in cut.state.leaves.items():
            event = self.outline.last_event(tensor, VALUE, section.start) if leaf.requires_grad else -1
            place = bisect_right(self.sections, event, key=lambda one: one.start) - 1
            is_known = place >= 0 and cut.state.paused < event < self.sections[place].end
            if is_known and tensor in cut.tensors:
                result.setdefault(self.sections[place].name, []).append(cut.tensors[tensor])
        return result

    @cached_property
    def _taught(self) -> frozenset[int]:
        return self.outline.taught()


class _Cut:
    """The events of one section, with ids of their own."""

    def __init__(self, whole: Trace, state: SectionState, section: Section, before: Sequence[AnyEvent]) -> None:
        self.whole, self.state, self.section, self.before = whole, state, section, before
        self.tensors, self.storages, self.nodes = Numbers(), Numbers(), Numbers()
        self.values, self.calls = Numbers(), Numbers()
        self.storage_of: dict[int, int] = {}
        self.own_storage: dict[int, int] = {}
        """For a write that names the storage of an earlier gradient: the storage that stood for it until then."""
        self.first = self._first_versions()
        self.waiting = dict(state.leaves)
        self.first_steps = set[tuple[str, str, int]]()
        self.index = 0
        self.passed = 0
        self.carried: dict[int, int] = {}
        """By tensor whose node an earlier section has, and to which an edge leads: the call stack of its op."""
        self.lost: int | None = None
        """The event that is damaged in the file: the window ends with it, since what it did is not known."""

    def _first_versions(self) -> dict[int, int]:
        """By storage, the lowest version in which an earlier tensor is used."""
        versions: dict[int, int] = {}
        for tensor, leaf in self.state.leaves.items():
            storage = self.storage_of[tensor] = self._storage(tensor, self.whole.events[leaf.creation])
            versions[storage] = min(leaf.version, versions.get(storage, leaf.version))
        return versions

    def _storage(self, tensor: int, maker: AnyEvent) -> int:
        """The storage of a tensor; a gradient, whose event names no storage, has a number of its own."""
        if isinstance(maker, OpCalled):
            return next(out.storage for out in maker.outputs if out.tensor == tensor)
        return maker.storage if isinstance(maker, LeafCreated) else -1 - tensor

    def _storage_number(self, storage: int) -> int:
        return self.storages[self.own_storage.get(storage, storage)]

    def _version(self, tensor: int | None, version: int) -> int:
        storage = None if tensor is None else self.storage_of.get(tensor)
        return version if storage is None else max(0, version - self.first.get(storage, 0))

    def events(self) -> Iterator[AnyEvent]:
        state = self.state
        first: tuple[LoopVariable, ...] = state.loops
        for event in self._opening():
            yield self._with_index(event)
        for event in self.whole.events[self.section.start : self.section.end]:
            if isinstance(event, (VjpRun, HookRan)) and event.node is not None and event.node not in self.nodes:
                self.passed += isinstance(event, VjpRun)  # of an op that an earlier section has
                continue
            for tensor in (*tensors_of(event), *state.brought.get(event.index, ())):
                yield from self._leaves(tensor, event)
            if event.index in state.refreshed:
                first = (*first, *event.loops)
                continue
            result = self._with_index(self._renumbered(event))
            if first:
                now = {(one.depth, one.line, one.name): one for one in (*first, *event.loops)}
                result, first = replace(result, loops=tuple(now.values())), ()
            yield result
            if isinstance(event, Damaged):
                self.lost = event.index
                return

    def _with_index(self, event: AnyEvent) -> AnyEvent:
        result = replace(event, index=self.index)
        self.index += 1
        return result

    def _opening(self) -> Iterator[AnyEvent]:
        """The groups and modes that began before the section and continue in it."""
        if not self.state.grad_enabled:
            yield ModeChanged(0, -1, grad_enabled=False)
        yield from (replace(group, tensors=(), loops=()) for group in self.state.groups)
        yield from self.before

    def _leaves(self, tensor: int, event: AnyEvent) -> Iterator[AnyEvent]:
        """An earlier tensor that is used now, after its gradient."""
        leaf = self.waiting.pop(tensor, None)
        if leaf is None:
            return
        maker, value, content = self.whole.events[leaf.creation], self.values[leaf.value], self.whole.value(leaf.value)
        if leaf.grad is not None:
            yield from self._leaves(leaf.grad, event)
        source, name, device, stack = "seen", None, "cpu", event.stack
        if isinstance(maker, LeafCreated):
            source, name, device = maker.source, maker.name, maker.device
            stack = stack if source in MET else maker.stack
        yield self._with_index(LeafCreated(
            0, stack, self.tensors[tensor], self.storages[self.storage_of[tensor]], value, content.shape, content.dtype,
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
        rewrite = _RENUMBERED.get(type(event))
        return event if rewrite is None else rewrite(self, event)

    def leaf(self, event: LeafCreated) -> AnyEvent:
        self.storage_of[event.tensor] = event.storage
        return replace(
            event, tensor=self.tensors[event.tensor], storage=self._storage_number(event.storage),
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
                out, tensor=self.tensors[out.tensor], value=self.values[out.value],
                storage=self._storage_number(out.storage), view_of=self._tensor(out.view_of),
                version=self._version(out.tensor, out.version),
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
        """Note the storages of an op's results.

        Only a write to an earlier gradient tells which storage it has.
        """
        for out in event.outputs:
            storage = self.storage_of.setdefault(out.tensor, out.storage)
            if storage < 0 and out.storage not in self.storages:
                self.own_storage[out.storage] = storage

    def _behind(self, event: OpCalled) -> list[int | None]:
        """The tensor behind each edge of an op's node."""
        tensors = {one.name: one.tensor for one in event.inputs}
        return [tensors.get(name) for name in event.node.inputs] if event.node is not None else []

    def _edge(self, edge: Any, tensor: int | None) -> Any:
        """An edge; if it leads to a node of an earlier section, it ends at the leaf that stands for its tensor."""
        if edge is None or edge.leaf is not None:
            return edge and replace(edge, leaf=self.tensors[edge.leaf])
        if edge.node not in self.nodes and tensor in self.state.leaves:
            self.carried[self.tensors[tensor]] = self.whole.events[self.state.leaves[tensor].creation].stack
            return replace(edge, node=None, leaf=self.tensors[tensor], output_nr=0)
        return replace(edge, node=self.nodes[edge.node])

    def _call(self, call: int | None) -> int | None:
        return None if call is None else self.calls[call]

    def refreshed(self, event: Refreshed) -> AnyEvent:
        number, value = self.tensors[event.tensor], self.values[event.value]
        result = replace(event, tensor=number, value=value, version=self._version(event.tensor, event.version))
        if isinstance(result, StatisticMoved) and result.source not in self.tensors:  # of an earlier section
            return Refreshed(result.index, result.stack, number, result.version, value, loops=result.loops)
        if isinstance(result, (DataSet, StatisticMoved)):
            return replace(result, source=self.tensors[result.source])
        return result

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
        before, after = self._value(event.before), self.values[event.after]  # in the order of a recording
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
        arguments = self._several(event.given)
        return replace(
            event, call=self._call(event.call), tensor=self._tensor(event.tensor), node=node, given=arguments
        )

    def left(self, event: CodeLeft) -> AnyEvent:
        return event if event.results is None else replace(event, results=self._several(event.results))

    def escape(self, event: Escaped) -> AnyEvent:
        return replace(event, tensor=self.tensors[event.tensor], value=self.values[event.value])

    def error(self, event: ErrorRaised) -> AnyEvent:
        tensors = tuple(self.tensors[one] for one in event.tensors if one in self.tensors)
        node = None if event.node is None else self.nodes[event.node]
        return replace(event, call=self._call(event.call), node=node, tensors=tensors)

    def end(self, event: BackwardEnded) -> AnyEvent:
        return replace(event, call=self.calls[event.call], results=self._several(event.results))

    def group(self, event: GroupEntered) -> AnyEvent:
        key = event.name, event.kind, event.stack
        tensors = event.tensors if event.tensors or key in self.first_steps else tensors_of_step(self.state, event)
        self.first_steps.add(key)
        return replace(event, tensors=tuple(None if one is None else self.tensors.get(one) for one in tensors))


_RENUMBERED: dict[type, Callable[..., AnyEvent]] = {
    LeafCreated: _Cut.leaf, OpCalled: _Cut.op, FlagChanged: _Cut.flag, GradSet: _Cut.grad_set,
    BackwardStarted: _Cut.start, VjpRun: _Cut.vjp, Accumulated: _Cut.accumulate, HookRan: _Cut.hook,
    CodeEntered: _Cut.code, CodeLeft: _Cut.left, Escaped: _Cut.escape, ErrorRaised: _Cut.error,
    BackwardEnded: _Cut.end, GroupEntered: _Cut.group,
}  # fmt: skip
_RENUMBERED.update(dict.fromkeys((Refreshed, DataSet, StatisticMoved, WrittenOutside), _Cut.refreshed))
