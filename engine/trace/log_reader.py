"""From the recorder's tuples to the events of a Trace: names, positions, nodes and edges are derived on reading.

Linear in the length of the log.  Ids become dense and ordered by first appearance, so that equal programs give equal
traces.
"""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import TracebackType
from typing import Any

from ..arrays.array import to_numpy
from ..arrays.element_types import name_of
from ..arrays.session import is_users
from ..ops.op import CUSTOM, NUMBERED, REGISTRY
from .columns import Column, Ids, Pairs
from .events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    DataSet,
    Edge,
    ErrorRaised,
    Escaped,
    FlagChanged,
    GradSet,
    GroupEntered,
    GroupLeft,
    HookRan,
    Input,
    LeafCreated,
    LoopVariable,
    ModeChanged,
    NodeRecord,
    OpCalled,
    Output,
    Printed,
    Refreshed,
    Root,
    Saved,
    Skipped,
    StatisticMoved,
    Trace,
    Value,
    VjpRun,
    WarningGiven,
    WrittenOutside,
    damaged_value,
)
from .log import Recording, in_full, written_out
from .loops import literal
from .messages import message_of, notes_of
from .module_names import best_name
from .source import Places
from .summary import PendingArray, StoredArray, Summary, sample_of, statistics
from .variable_names import tensor_names

JOINT = "copy_slices"
FACTS = "facts about an event"
"""The part of a recording that is lost if an entry of its log cannot be read."""


class ErrorBoundary:
    """A `with` block whose exceptions cost `part` of a recording, not the recording: `say` hears of the first one, and
    `fault` describes the last one.

    Those of the kind `fatal` are raised all the same.

    >>> with ErrorBoundary("a name", lambda text: print(text[:37])):
    ...     raise KeyError
    The recording goes on without a name
    """

    def __init__(self, part: str, say: Callable[[str], None], fatal: type[Exception] | None = None) -> None:
        self.part, self.say, self.fatal = part, say, fatal
        self.fault = ""
        self._is_said = False

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if not isinstance(error, Exception) or (self.fatal is not None and isinstance(error, self.fatal)):
            return False
        self.fault = _described(error)
        if not self._is_said:
            self._is_said = True
            self.say(
                f"The recording goes on without {self.part} that Backstep could not find ({self.fault}). "
                "Please report it."
            )
        return True


def _described(error: Exception) -> str:
    """An error of ours, and where it is in our code."""
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = f", {os.path.basename(place[0].filename)} line {place[0].lineno}" if place else ""
    return f"{type(error).__name__}: {str(error)[:200]}{where}"


def read(
    recording: Recording,
    argv: tuple[str, ...] = (),
    meta: dict[str, Any] | None = None,
    *,
    base: Trace | None = None,
    seeds: dict[int, int] | None = None,
    root: str | None = None,
) -> Trace:
    """The Trace of a finished recording.

    For a replay, `base` is the trace that was run again, and `seeds` map the new tensors to those of `base`.
    """
    missing: list[str] = []
    reader = Reader(recording, ErrorBoundary(FACTS, missing.append, None if base is None else Exception))
    if base is not None:
        reader.tensors = _PresetNumbers(seeds or {}, 1 + max(tensors_of(base.events), default=-1))
    events = tuple(reader.read(entry) for entry in recording.log)
    if base is not None:
        stacks, files, names = base.stacks, base.files, base.names
        events = _in_the_same_iterations(events, base)
    else:
        places = Places(root)
        stacks = tuple(places.stack(key, recording.codes) for key in recording.stacks)
        files = places.files
        events = tuple(without_folders(event, places) for event in events)
        names = reader.named(tensor_names(events, stacks, files, ErrorBoundary("a name", missing.append)))
        if missing:
            meta = {**(meta or {}), **reader.unread_meta, "missing": missing}
            warnings.warn(f"backstep: {missing[0]}", RuntimeWarning, stacklevel=2)
    return Trace(
        events,
        stacks,
        files,
        names,
        tuple(value_of(value) for value in recording.values),
        argv,
        meta or {},
    )


def _in_the_same_iterations(events: tuple[AnyEvent, ...], base: Trace) -> tuple[AnyEvent, ...]:
    """The events of a replay; if they equal the recorded ones, event by event, each keeps its iterations of loops.  A
    replay runs a block of user code at once, and knows its iterations only afterwards.
    """
    is_same = len(events) == len(base.events) and all(
        type(event) is type(was) and event.stack == was.stack for event, was in zip(events, base.events, strict=True)
    )
    if not is_same:
        return events
    return tuple(
        event if event.loops == was.loops else replace(event, loops=was.loops)
        for event, was in zip(events, base.events, strict=True)
    )


def _loop_variable(entry: Any) -> LoopVariable:
    """A loop's variable as the recorder noted it; a replay takes it from the recording."""
    if isinstance(entry, LoopVariable):
        return entry
    depth, line, name, value = entry
    return LoopVariable(depth, line, name, literal(value))


def without_folders(event: AnyEvent, places: Places) -> AnyEvent:
    """An error without the folders of this machine, which its texts name and a trace must not."""
    if not isinstance(event, ErrorRaised):
        return event
    return replace(event, message=places.stripped(event.message), traceback=places.stripped(event.traceback))


def tensors_of(events: Iterable[AnyEvent]) -> Iterator[int]:
    """The tensors that events make (some twice)."""
    for event in events:
        if isinstance(event, LeafCreated):
            yield event.tensor
        elif isinstance(event, OpCalled):
            yield from (out.tensor for out in event.outputs)
        elif isinstance(event, Accumulated):
            yield event.grad


def value_of(entry: Any) -> Value:
    """The Value of a recorded array, which may be on its way, or of the Summary of one over the limit."""
    if isinstance(entry, Summary):
        return Value(tuple(entry.shape), name_of(entry.dtype), None, entry.sample, entry.stats)
    if isinstance(entry, StoredArray):  # of a recording in memory too: only the file has its elements
        return damaged_value(tuple(entry.shape), name_of(entry.dtype))
    data = to_numpy(entry.read() if isinstance(entry, PendingArray) else entry)
    return Value(data.shape, name_of(data.dtype), data, sample_of(data), LazyStats(data))


class LazyStats(dict[str, float]):
    """Statistics of an array, computed when one is requested."""

    def __init__(self, data: Any) -> None:
        super().__init__()
        self._data = data

    def __missing__(self, key: str) -> float:
        self.update(statistics(self._data))
        return dict.__getitem__(self, key)

    def full(self) -> LazyStats:
        """The same, filled in."""
        if not len(self):
            self.update(statistics(self._data))
        return self


class Numbers(dict[Any, int]):
    """Dense numbers in the order of the first request."""

    def __missing__(self, key: Any) -> int:
        self[key] = number = len(self)
        return number


class _PresetNumbers(Numbers):
    """Numbers that are fixed for some keys; the others get higher ones."""

    def __init__(self, seeds: dict[int, int], free: int) -> None:
        super().__init__(seeds)
        self.free = free

    def __missing__(self, key: Any) -> int:
        self[key] = number = self.free
        self.free += 1
        return number


class Reader:
    """Reads a log once, in order, by one method per kind of entry."""

    ops = REGISTRY  # for the entries of other recorders

    def __init__(self, recording: Recording, facts: ErrorBoundary) -> None:
        self.recording, self.facts = recording, facts
        self.tensors: Ids | _PresetNumbers = Ids()
        self.storages, self.nodes = Ids(), Ids()
        self.makers = Pairs()  # of the tensors that a node made: the node, and which of its outputs
        self.requires, self.current = Column("b"), Column("q")
        self.renamed: set[int] = set()  # named tensors that were not read yet
        self.index = 0
        self.here: tuple[int, int] = (0, -1)  # the number and the stack of the event that is being read
        self.storage_of = Column("q")
        self.latest: OpCalled | None = None
        self.inner: NodeRecord | None = None
        self.within: dict[int, int] = {}  # sequence of a write's own node -> the CopySlices that runs it
        self.sequence = -1

    def read(self, entry: tuple[Any, ...]) -> AnyEvent:
        kind, stack, *fields = in_full(entry)
        self.here = self.index, stack
        event = None
        with self.facts:
            event = HANDLERS[kind](self, *fields)
        if event is None:
            event = self.unread(kind, fields)
        loops = self.recording.iterations.get(self.index)
        if loops:
            event = replace(event, loops=tuple(map(_loop_variable, loops)))
        self.index += 1
        return event

    def named(self, noted: Mapping[int, str]) -> dict[int, str]:
        """The recorded names, and the program's names of parameters and buffers."""
        return {**noted, **{tensor: best_name(noted.get(tensor), name) for tensor, name in self.called().items()}}

    def called(self) -> dict[int, str]:
        """The program's names of parameters and buffers that were found after they were recorded."""
        calls = list(self.recording.names.called.items())  # at once: the program may go on meanwhile
        return {self.tensors[tensor]: name for tensor, name in calls if tensor in self.tensors}

    def called_since(self) -> dict[int, str]:
        """The entries of `called` that are new since the last call of this method."""
        names = self.recording.names
        while names.renamed:
            self.renamed.add(names.renamed.popleft())
        numbers = [tensor for tensor in self.renamed if tensor in self.tensors]
        self.renamed.difference_update(numbers)
        return {self.tensors[tensor]: names.called[tensor] for tensor in numbers}

    def leaf(self, tensor: int, storage: int, version: int, value: int, requires: bool,
             origin: str, grad: int | None, name: str | None) -> AnyEvent:  # fmt: skip
        number = self.tensors[tensor]
        self.requires[number] = requires
        self.current[number] = value
        shape, dtype = self.shape(value)
        gradient = None if grad is None else self.tensors[grad]
        self.storage_of[number] = storage
        return LeafCreated(
            *self.here, number, self.storages[storage], value, shape, dtype, "cpu", requires, origin, gradient, version,
            name,
        )  # fmt: skip

    def op(self, name: str, refs: Any, statics: Any, results: Any, sequence: int, needs: int,
           inplace: int | None, call: int | None) -> AnyEvent:  # fmt: skip
        if name == JOINT and "writer" in (statics or {}):
            return self.joint(refs, statics, results, sequence, call)
        op = REGISTRY.get(name, CUSTOM)
        inputs = tuple(self.inputs(op, refs))
        if op is CUSTOM:
            statics = dict(statics)
            pairs = statics.pop("saved")
            name_of_node = statics.pop("node", f"{statics['function']}Backward")
        edges_of = {i.name: self.edge(i) for i in inputs}
        outputs = []
        for tensor, version, value, requires, storage in written_out(results):
            number = self.tensors[tensor]
            shape, dtype = self.shape(value)
            view_of = inputs[0].tensor if op.traits.view and inplace is None else None
            if op is CUSTOM and number != (None if inplace is None else self.tensors[inplace]):
                view_of = self.shared(storage, inputs)
            outputs.append(Output(number, version, value, shape, dtype, requires, self.storages[storage], view_of))
            self.requires[number] = requires
            self.storage_of[number] = storage
        record = None
        if sequence >= 0 and op is CUSTOM:
            record = NodeRecord(
                self.nodes[sequence], name_of_node, len(self.nodes) - 1,
                tuple(i.name for i in inputs), tuple(edges_of[i.name] for i in inputs), self.saved_tensors(pairs),
            )  # fmt: skip
        elif sequence >= 0:
            record = self.node(op, sequence, needs, inputs, edges_of, outputs)
        if inplace is not None and record is not None and self.writes_base():
            self.inner, record = record, None  # the base's node will run, CopySlices, which comes next
            self.nodes.take_back(sequence)
            self.sequence = sequence
        for nr, out in enumerate(outputs):
            self.current[out.tensor] = out.value
            if record is not None and out.requires_grad:
                self.makers[out.tensor] = (record.node, nr)
            elif (
                inplace is None and op.view and out.requires_grad
            ):  # a view made under no_grad: no gradient leads back from it
                self.requires[out.tensor] = False
            elif inplace is None:
                self.makers.drop(out.tensor)
        target = None if inplace is None else self.tensors[inplace]
        self.latest = OpCalled(*self.here, name, inputs, dict(statics or {}), tuple(outputs), record, target, call)
        return self.latest

    def shared(self, storage: int, inputs: Any) -> int | None:
        """The input whose storage an output of a custom Function shares."""
        tensors = (i.tensor for i in inputs if i.tensor is not None)
        return next((tensor for tensor in tensors if self.storage_of.get(tensor) == storage), None)

    def writes_base(self) -> bool:
        """Return whether the write of this entry is to a view, so that the next entry updates its base."""
        log, at = self.recording.log, self.index
        return at + 1 < len(log) and log[at + 1][0] == "op" and log[at + 1][2] == JOINT and "writer" in log[at + 1][4]

    def joint(self, refs: Any, statics: Any, results: Any, sequence: int, call: Any) -> AnyEvent:
        """A base was written through a view: its new history runs the write's own node on the view's part."""
        write, inner = self.latest, self.inner
        if write is None or inner is None:
            raise ValueError("a base is written by the write of a view, which comes before")
        tensor, version = refs[0]
        base = Input("self", self.tensors[tensor], version)
        source = write.inputs[0]
        others = write.inputs[1:]
        inputs = (base, Input("source", source.tensor, source.version), *others)
        before = self.edge(base)
        ((tensor, version, value, requires, storage),) = written_out(results)
        number = self.tensors[tensor]
        shape, dtype = self.shape(value)
        out = Output(number, version, value, shape, dtype, requires, self.storages[storage])
        self.requires[number] = requires
        self.current[number] = value
        record = NodeRecord(
            self.nodes[sequence], "CopySlices", len(self.nodes) - 1, ("self", *inner.inputs[1:]),
            (before, *inner.edges[1:]), inner.saved,
        )  # fmt: skip
        self.makers[number] = (record.node, 0)
        self.within[self.sequence] = record.node
        return OpCalled(*self.here, JOINT, inputs, dict(statics), (out,), record, number, call)

    def inputs(self, op: Any, refs: Any) -> Any:
        for name, ref in zip(op.inputs, refs, strict=True):
            if type(ref) is int:
                yield Input(name, self.tensors[ref], 0)
                continue
            several = ref[:1] == (("list",),)
            for position, (tensor, extra) in enumerate(ref[1:] if several else (ref,)):
                label = f"{name}[{position}]" if several else name
                if tensor is None:
                    if extra is not None:
                        yield Input(label, None, 0, extra)
                else:
                    yield Input(label, self.tensors[tensor], extra)

    def edge(self, argument: Input) -> Edge | None:
        if argument.tensor is None or not self.requires.get(argument.tensor):
            return None
        maker = self.makers.get(argument.tensor)
        return Edge(None, argument.tensor) if maker is None else Edge(maker[0], None, maker[1])

    def node(self, op: Any, sequence: int, needs: int, inputs: Any, edges: Any, outputs: Any) -> NodeRecord:
        plan = op.plan(needs)
        own = [i for i in inputs if i.name.partition("[")[0] in op.rules]
        saved: list[Saved] = []
        for place in plan.tensors:
            name = plan.names[place]
            if name in NUMBERED:
                out = outputs[NUMBERED[name]]
                saved.append(self.saved(name, out.value, None, out.tensor))
            elif name in ("result", "results"):
                saved.extend(self.saved(name, out.value, None, out.tensor) for out in outputs)
            else:
                saved.extend(
                    self.saved(i.name, None if i.tensor is None else self.current[i.tensor], i.scalar, i.tensor)
                    for i in inputs
                    if i.name.partition("[")[0] == name
                )
        return NodeRecord(
            self.nodes[sequence], op.node_name, len(self.nodes) - 1, tuple(i.name for i in own),
            tuple(edges[i.name] for i in own), tuple(saved),
        )  # fmt: skip

    def saved_tensors(self, pairs: Any) -> tuple[Saved, ...]:
        """The saved tensors of a custom Function."""
        return tuple(
            self.saved(f"saved_tensors[{place}]", value, None, None if tensor is None else self.tensors[tensor])
            for place, (tensor, value) in enumerate(pairs)
        )

    def saved(self, name: str, value: int | None, scalar: Any, tensor: int | None) -> Saved:
        if value is None:
            return Saved(name, None, scalar, None, 8)
        entry = self.recording.values[value]
        return Saved(name, value, None, tensor, int(entry.size * entry.dtype.itemsize))

    def shape(self, value: int) -> tuple[tuple[int, ...], str]:
        entry = self.recording.values[value]
        return tuple(entry.shape), name_of(entry.dtype)

    def refresh(self, tensor: int, version: int, value: int) -> AnyEvent:
        number = self.tensors[tensor]
        self.current[number] = value
        return Refreshed(*self.here, number, version, value)

    def outside(self, tensor: int, version: int, value: int) -> AnyEvent:
        number = self.tensors[tensor]
        self.current[number] = value
        return WrittenOutside(*self.here, number, version, value)

    def data(self, tensor: int, version: int, value: int, source: int) -> AnyEvent:
        number = self.tensors[tensor]
        self.current[number] = value
        return DataSet(*self.here, number, version, value, self.tensors[source])

    def moved(self, tensor: int, version: int, value: int, source: int, *how: Any) -> AnyEvent:
        number = self.tensors[tensor]
        self.current[number] = value
        return StatisticMoved(*self.here, number, version, value, self.tensors[source], *how)

    def flag(self, tensor: int, flag: str, value: bool) -> AnyEvent:
        number = self.tensors[tensor]
        if flag == "requires_grad":
            self.requires[number] = value
        return FlagChanged(*self.here, number, flag, value)

    def mode(self, enabled: bool) -> AnyEvent:
        return ModeChanged(*self.here, enabled)

    def grad_set(self, tensor: int, value: int | None, source: int | None) -> AnyEvent:
        return GradSet(*self.here, self.tensors[tensor], value, None if source is None else self.tensors[source])

    def start(self, call: int, function: str, roots: Any, inputs: Any, keep: bool,
              graph: bool, legacy: bool, anomaly: bool) -> AnyEvent:  # fmt: skip
        starts = tuple(Root(self.tensors[t], v, g is None, None if g is None else self.tensors[g]) for t, v, g in roots)
        targets = None if inputs is None else tuple(self.tensors[t] for t in inputs)
        return BackwardStarted(*self.here, call, function, starts, targets, bool(keep), bool(graph), legacy, anomaly)

    def vjp(self, call: int, sequence: int, upstream: Any, cotangents: Any, unsummed: Any, freed: bool) -> AnyEvent:
        return VjpRun(*self.here, call, self.nodes[sequence], upstream, cotangents, unsummed, freed)

    def accumulate(self, call: int, tensor: int, grad: int, before: int | None,
                   added: int, after: int, retained: bool) -> AnyEvent:  # fmt: skip
        gradient = self.tensors[grad]
        self.current[gradient] = after
        return Accumulated(*self.here, call, self.tensors[tensor], gradient, before, added, after, retained)

    def hook(self, call: int, tensor: int | None, before: int | None, after: int | None,
             sequence: int | None, place: str, nr: int) -> AnyEvent:  # fmt: skip
        number = None if tensor is None else self.tensors[tensor]
        node = None if sequence is None else self.nodes[sequence]
        return HookRan(*self.here, call, number, before, after, node, place, nr)

    def code(self, call: int | None, place: str, tensor: int | None, sequence: int | None, nr: int,
             values: Any, split: int) -> AnyEvent:  # fmt: skip
        number = None if tensor is None else self.tensors[tensor]
        node = None if sequence is None else self.within.get(sequence)
        if node is None and sequence is not None:
            node = self.nodes[sequence]
        return CodeEntered(*self.here, call, place, number, node, nr, self.several(values), split)

    def left(self, results: Any, completed: bool) -> AnyEvent:
        return CodeLeft(*self.here, None if results is None else self.several(results), completed)

    def several(self, tensors: Any) -> tuple[int | None, ...]:
        """Tensors, or None in their place."""
        return tuple(None if t is None else self.tensors[t] for t in tensors)

    def escape(self, tensor: int, kind: str, value: int) -> AnyEvent:
        return Escaped(*self.here, self.tensors[tensor], kind, value)

    def error(self, error: BaseException, call: int | None, tensors: tuple[int, ...] = ()) -> AnyEvent:
        place = getattr(error, "place", None)
        own = None if place is None or place.node is None else place.node.sequence_nr
        node = None if own is None else self.within.get(own, self.nodes.get(own))
        ids = tensors if place is None else [getattr(t, "_id", -1) for t in place.tensors]
        return ErrorRaised(
            *self.here, type(error).__name__, message_of(error), notes_of(error), call, node,
            tuple(self.tensors[i] for i in ids if i in self.tensors), users_traceback(error),
        )  # fmt: skip

    def raised(self, event: ErrorRaised) -> AnyEvent:
        return replace(event, index=self.index, loops=())

    def warning(self, category: str, message: str) -> AnyEvent:
        return WarningGiven(*self.here, category, message)

    def printed(self, stream: str, text: str, more: int) -> AnyEvent:
        return Printed(*self.here, stream, text, more)

    def skipped(self, iterations: int, number: int) -> AnyEvent:
        return Skipped(*self.here, iterations, number)

    def enter(self, name: str, kind: str, tensors: Any, rate: float | None = None) -> AnyEvent:
        return GroupEntered(*self.here, name, kind, self.several(tensors), rate)

    def leave(self) -> AnyEvent:
        return GroupLeft(*self.here)

    def of_library(self, make: Callable[..., AnyEvent], *fields: Any) -> AnyEvent:
        """The event of a recorder of another library, which says how its entries are read."""
        return make(self, *fields)

    def end(self, call: int, completed: bool, results: Any) -> AnyEvent:
        return BackwardEnded(*self.here, call, completed, self.several(results))

    # -- in place of what cannot be read -------------------------------------------------------------------------------

    def unread(self, kind: str, fields: Sequence[Any]) -> AnyEvent:
        """The event for an entry that cannot be read: it has what later entries build on, and says that it was not
        seen."""
        handler, rest = (fields[0], fields[1:]) if kind == "made" else (HANDLERS[kind], fields)
        instead = INSTEAD.get(handler)
        if instead is not None:
            return instead(self, *rest)
        return WarningGiven(*self.here, "BackstepWarning", f"An event was not seen: {self.unseen['not_seen']}.")

    @property
    def unread_meta(self) -> dict[str, Any]:
        """The `meta` of a trace if one of its events could not be read."""
        return {"unread": True} if self.facts.fault else {}

    @property
    def unseen(self) -> dict[str, Any]:
        """The static arguments of an op whose arguments could not be read."""
        return {"not_seen": f"Backstep itself has failed in reading it ({self.facts.fault})"}

    def unread_op(self, name: str, refs: Any, statics: Any, results: Any, sequence: int,
                  needs: int, inplace: int | None, call: int | None) -> AnyEvent:  # fmt: skip
        op = REGISTRY.get(name, CUSTOM)
        is_joint = name == JOINT and "writer" in (statics or {})
        inputs = (Input("self", self.tensors[refs[0][0]], refs[0][1]),) if is_joint else tuple(self.inputs(op, refs))
        own = [i for i in inputs if op is CUSTOM or i.name.partition("[")[0] in op.rules]
        edges = tuple(self.edge(i) for i in own)
        outputs = tuple(self.made_anyhow(*result) for result in written_out(results))
        record = None
        if sequence >= 0:
            names = tuple(i.name for i in own)
            record = NodeRecord(self.nodes[sequence], op.node_name, len(self.nodes) - 1, names, edges, ())
            self.makers_of(outputs, record.node)
        self.latest = self.inner = None  # the write of a base that comes next cannot be read either
        target = None if inplace is None else self.tensors[inplace]
        return OpCalled(*self.here, f"torch::{name}", inputs, self.unseen, outputs, record, target, call)

    def made_anyhow(self, tensor: int, version: int, value: int, requires: bool, storage: int) -> Output:
        """A tensor that an event makes."""
        number = self.tensors[tensor]
        self.requires[number], self.current[number], self.storage_of[number] = requires, value, storage
        shape, dtype = self.shape(value)
        return Output(number, version, value, shape, dtype, requires, self.storages[storage], None)

    def makers_of(self, outputs: Sequence[Output], node: int) -> None:
        """A node has made tensors."""
        for nr, out in enumerate(outputs):
            if out.requires_grad:
                self.makers[out.tensor] = (node, nr)

    def unread_leaf(self, tensor: int, storage: int, version: int, value: int, requires: bool, *_: Any) -> AnyEvent:
        out = self.made_anyhow(tensor, version, value, requires, storage)
        return OpCalled(*self.here, "torch::leaf", (), self.unseen, (out,), None, None, None)

    def unread_accumulate(self, call: int, tensor: int, grad: int, before: int | None,
                          added: int, after: int, retained: bool) -> AnyEvent:  # fmt: skip
        out = self.made_anyhow(grad, 0, after, False, grad)
        return OpCalled(*self.here, "torch::accumulate", (), self.unseen, (out,), None, None, call)

    def unread_start(self, call: int, function: str, *_: Any) -> AnyEvent:
        return BackwardStarted(*self.here, call, function, (), None, False, False)

    def unread_end(self, call: int, completed: bool, *_: Any) -> AnyEvent:
        return BackwardEnded(*self.here, call, completed, ())

    def unread_enter(self, name: str, kind: str, *_: Any) -> AnyEvent:
        return GroupEntered(*self.here, name, kind, ())

    def unread_code(self, call: int | None, place: str, *_: Any) -> AnyEvent:
        return CodeEntered(*self.here, call, place, None, None, 0, (), 0)

    def unread_left(self, results: Any, completed: bool) -> AnyEvent:
        return CodeLeft(*self.here, None, completed)

    def unread_leave(self) -> AnyEvent:
        return GroupLeft(*self.here)


HANDLERS: dict[str, Callable[..., AnyEvent]] = {
    "leaf": Reader.leaf, "op": Reader.op, "flag": Reader.flag, "mode": Reader.mode, "grad_set": Reader.grad_set,
    "start": Reader.start, "vjp": Reader.vjp, "accumulate": Reader.accumulate, "hook": Reader.hook,
    "escape": Reader.escape, "error": Reader.error, "warning": Reader.warning, "end": Reader.end,
    "refresh": Reader.refresh, "outside": Reader.outside, "data": Reader.data, "moved": Reader.moved,
    "raised": Reader.raised,
    "enter": Reader.enter, "leave": Reader.leave, "code": Reader.code, "left": Reader.left,
    "print": Reader.printed, "skipped": Reader.skipped, "made": Reader.of_library,
}  # fmt: skip
"""The method that reads an entry, by its kind; outside of the reader, which would otherwise refer to itself and keep
the whole recording alive."""
INSTEAD: dict[Callable[..., AnyEvent], Callable[..., AnyEvent]] = {
    Reader.op: Reader.unread_op, Reader.leaf: Reader.unread_leaf, Reader.accumulate: Reader.unread_accumulate,
    Reader.start: Reader.unread_start, Reader.end: Reader.unread_end, Reader.enter: Reader.unread_enter,
    Reader.code: Reader.unread_code, Reader.left: Reader.unread_left,
    Reader.leave: Reader.unread_leave,
}  # fmt: skip
"""For methods that read entries, and functions of other recorders: what gives the event if they fail.  Of any other,
the trace has a warning."""


def users_traceback(error: BaseException) -> str:
    """The traceback that Python prints for `error`, with the user's frames only."""
    try:
        report = traceback.TracebackException.from_exception(error)
    except Exception:  # noqa: BLE001 the user's own notes, which may raise
        return f"{type(error).__name__}: {message_of(error)}\n"
    users_frames = [frame for frame in report.stack if is_users(frame.filename)]
    report.stack = traceback.StackSummary.from_list(users_frames)
    return "".join(report.format())
