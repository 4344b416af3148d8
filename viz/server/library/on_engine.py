"""Edits of a program that ran on another library: run again on the engine, which has to agree with the recording first.

A replay without edits is the recording as the engine computes it.  If it has the same events, and its numbers are those
of the recording up to rounding, edits are replays of *it*, bit for bit; how far the two agree is measured and said.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from engine.arrays.element_types import NARROW
from engine.replay.replay import replay
from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardStarted,
    ErrorRaised,
    Frame,
    GradSet,
    HookRan,
    LeafCreated,
    OpCalled,
    Refreshed,
    Trace,
    Value,
    VjpRun,
    WrittenOutside,
)
from engine.trace.summary import statistics
from viz.reading.library import is_missing, library
from viz.reading.text import rough

from .rounding_alone import RoundingSearch

FARTHEST = 1e-2
"""The difference, relative to the largest number of a value, up to which the engine counts as doing the same.  Adam's
first step makes a difference of a thousandth of gradients that are nothing but rounding, such as a key's bias."""


class UnlikeEngine(ValueError):
    """Raised if the engine cannot replay this recording; the text says why."""


@dataclass(frozen=True, slots=True)
class Recomputation:
    """A recording as the engine computes it, with the largest relative difference of a value.

    `unknown` are the values of tensors that no trace has, such as complex ones, and that no op of the engine uses: in
    `trace` they are zeros, so that it can be run again.  `unseen` are tensors that PyTorch wrote without an op, as in a
    recording without moves of a batch norm's statistics; `writers` the results of ops that may have written them, as
    (tensor, version).  `left_out`: numbers that are rounding alone were not compared.
    """

    trace: Trace
    worst: float
    unknown: Mapping[int, Value] = field(default_factory=dict)
    unseen: frozenset[int] = frozenset()
    writers: frozenset[tuple[int, int]] = frozenset()
    left_out: bool = False

    def page_trace(self, trace: Trace) -> Trace:
        """A replay as the page shows it: unknown values as in the recording instead of zeros, and the tensors that
        PyTorch wrote as changed, not as written by the program."""
        if not self.unknown and not self.unseen:
            return trace
        values, events = [*trace.values], [*trace.events]
        for at, event in enumerate(events):
            if isinstance(event, LeafCreated) and event.tensor in self.unknown:
                values[event.value] = self.unknown[event.tensor]
            elif isinstance(event, WrittenOutside) and event.tensor in self.unseen:
                events[at] = Refreshed(
                    event.index, event.stack, event.tensor, event.version, event.value, loops=event.loops
                )
        doubt = self._first_doubtful(trace)
        before = trace.meta.get("doubt")
        meta = trace.meta
        if doubt is not None and (before is None or doubt < before):
            meta = {**meta, "doubt": doubt, "why": UNSEEN}
        return replace(trace, values=tuple(values), events=tuple(events), meta=meta)

    def _first_doubtful(self, trace: Trace) -> int | None:
        """The first event that has recorded numbers although an op from which PyTorch made them has other results."""
        if not self.unseen:
            return None
        recorded = {(out.tensor, out.version): out.value for event in self.trace.events if isinstance(event, OpCalled)
                    for out in event.outputs}  # fmt: skip
        is_other = False
        for event in trace.events:
            if isinstance(event, OpCalled):
                for out in event.outputs:
                    before = recorded.get((out.tensor, out.version))
                    if before is not None and (out.tensor, out.version) in self.writers:
                        is_other |= not trace.value(out.value).is_like(self.trace.value(before))
            elif is_other and isinstance(event, WrittenOutside) and event.tensor in self.unseen:
                return event.index
        return None

    @property
    def text(self) -> str:
        """The note on an edited revision."""
        measured = "to the last bit" if not self.worst else f"to {rough(self.worst)}"
        without = ", apart from numbers that are only rounding" if self.left_out else ""
        return f"Recomputed by Backstep's engine, which agrees with the recording {measured}{without}."


_replays: weakref.WeakKeyDictionary[Trace, Recomputation | str] = weakref.WeakKeyDictionary()
"""The replays by recording, or why there is none; kept as long as the recording is in memory."""


def base_of(trace: Trace, revision: Trace) -> Trace:
    """The trace with which a revision of a recording is compared: for a replay, the recording as the engine computes
    it, if that was asked for before; for a run on the library itself, the recording."""
    outcome = _replays.get(trace) if library(trace) and not library(revision) else None
    return outcome.page_trace(outcome.trace) if isinstance(outcome, Recomputation) else trace


def recomputed(trace: Trace, leaves: Mapping[int, object]) -> Recomputation:
    """A recording of another library as the engine computes it, for edits that change these leaves.

    Raises UnlikeEngine, with the reason, if the engine lacks an op that takes part in backward or that an edited leaf
    reaches, if it does something else, or if its numbers differ by more than rounding explains.  Runs the engine.
    """
    outcome = _replays.get(trace)
    if outcome is None:
        try:
            outcome = _measured(trace)
        except UnlikeEngine as error:
            outcome = str(error)
        except ValueError as error:  # a value that was not kept
            outcome = f"{str(error).rstrip('.')}."
        _replays[trace] = outcome
    if isinstance(outcome, str):
        raise UnlikeEngine(outcome)
    reached = _reached(trace, set(leaves))
    if reached is not None:
        raise UnlikeEngine(
            f"The edited leaf reaches {_name_in_line(trace, reached)}, which Backstep's engine does not have."
        )
    return outcome


def _measured(trace: Trace) -> Recomputation:
    """Run a recording again and compare every value."""
    narrow = next((one for one in map(_narrow, trace.events) if one), None)
    if narrow is not None:
        raise UnlikeEngine(f"The program computes in {narrow}, which Backstep's engine does not have.")
    unknown = _unknown(trace)
    places = {tensor: len(trace.values) + nr for nr, tensor in enumerate(unknown)}
    zeros = [_zeros(value) for value in unknown.values()]
    program = replace(trace, events=tuple(_with_fixed(trace, places)), values=(*trace.values, *zeros))
    again = replay(program)
    lost = _lost(trace, again)
    if lost:
        again = replay(replace(program, events=tuple(_as_write(one, lost) for one in program.events)))
    _same_events(trace, again)
    worst, rounding = 0.0, RoundingSearch(trace)
    for before, after in zip(trace.events, again.events, strict=True):
        rounding.see(before)
        for mine, its in zip(_values(before), _values(after), strict=False):
            worst = max(worst, _difference(rounding, again, mine, its, worst))
    if worst > FARTHEST:
        raise UnlikeEngine(
            f"Backstep's engine computes different numbers from the recording: they differ by {rough(worst)}."
        )
    meta = {key: value for key, value in again.meta.items() if key not in ("doubt", "why", "edits")}
    unseen = frozenset(lost.values())
    own = replace(again, meta=meta)
    return Recomputation(own, worst, unknown, unseen, _writers(trace, unseen), bool(rounding.elements))


def _difference(rounding: RoundingSearch, again: Trace, mine: int | None, its: int | None, worst: float) -> float:
    if mine is None or its is None:
        return 0.0 if mine is its else float("inf")
    computed = again.value(its).array
    return 0.0 if computed is None else rounding.difference(mine, computed, worst)


def _values(event: AnyEvent) -> Iterator[int | None]:
    """The numbers of the values that an event is about, without those that only one of the two recorders notes."""
    if isinstance(event, OpCalled):
        yield from (out.value for out in event.outputs)
    elif isinstance(event, BackwardStarted):
        yield from (root.gradient for root in event.roots)
    elif isinstance(event, VjpRun):
        yield from event.upstream
        yield from event.cotangents
    elif isinstance(event, Accumulated):
        yield from (event.added, event.after)
    elif isinstance(event, HookRan):
        yield event.after
    elif isinstance(event, (GradSet, LeafCreated, Refreshed)):
        yield event.value


# -- ops that only the library has -------------------------------------------------------------------------------------


def _unknown(trace: Trace) -> dict[int, Value]:
    """The results of such ops of which a trace has no elements, by tensor, if only such ops use them."""
    unknown = {
        out.tensor: trace.value(out.value)
        for event in trace.events
        if isinstance(event, OpCalled) and is_missing(event)
        for out in event.outputs
        if trace.value(out.value).array is None
    }
    for event in trace.events if unknown else ():
        if isinstance(event, OpCalled) and not is_missing(event):
            for one in event.inputs:
                unknown.pop(-1 if one.tensor is None else one.tensor, None)
    return unknown


def _narrow(event: AnyEvent) -> str:
    """The element type of a tensor that an event makes, if the engine lacks it."""
    outputs = event.outputs if isinstance(event, OpCalled) else [event] if isinstance(event, LeafCreated) else ()
    return next((one.dtype for one in outputs if one.dtype in NARROW), "")


def _zeros(value: Value) -> Value:
    """A stand-in for elements that are not known."""
    array = np.zeros(value.shape, "float32")
    return Value(value.shape, "float32", array, array.reshape(-1)[:1], statistics(array))


def _with_fixed(trace: Trace, places: Mapping[int, int]) -> Iterator[AnyEvent]:
    """The events of a recording; an op that the engine lacks, and through which no gradient goes, gives its recorded
    result, or the value that `places` has for its tensor.

    Raises UnlikeEngine if the engine lacks any other op.
    """
    for event in trace.events:
        if not is_missing(event):
            yield event
            continue
        assert isinstance(event, OpCalled)
        (out, *more) = event.outputs or (None,)
        if event.node is not None or out is None or more or out.view_of is not None:
            raise UnlikeEngine(
                f"The program uses {_name_in_line(trace, event)}, which Backstep's engine does not have."
            )
        if event.inplace is not None:
            yield WrittenOutside(event.index, event.stack, out.tensor, out.version, out.value, loops=event.loops)
        else:
            yield LeafCreated(
                event.index, event.stack, out.tensor, out.storage, places.get(out.tensor, out.value), out.shape,
                "float32" if out.tensor in places else out.dtype, "cpu", False, "recorded", None, out.version,
                loops=event.loops,
            )  # fmt: skip


# -- writes that no op of a recording explains ------------------------------------------------------------------------

UNSEEN = (
    "PyTorch wrote this tensor without an op, as it does the running statistics of BatchNorm: the replay uses the "
    "recorded numbers, which might be different now."
)


def _lost(trace: Trace, again: Trace) -> dict[int, int]:
    """The events that find a tensor changed in the recording alone, with the tensor."""
    lost, place = dict[int, int](), 0
    for event in trace.events:
        after = again.events[place] if place < len(again.events) else None
        if type(event) is Refreshed and (type(after) is not Refreshed or after.tensor != event.tensor):
            lost[event.index] = event.tensor
        else:
            place += 1
    return lost


def _as_write(event: AnyEvent, lost: Mapping[int, int]) -> AnyEvent:
    """Such an event as a write of the recorded numbers."""
    if event.index not in lost or not isinstance(event, Refreshed):
        return event
    return WrittenOutside(event.index, event.stack, event.tensor, event.version, event.value, loops=event.loops)


def _writers(trace: Trace, tensors: frozenset[int]) -> frozenset[tuple[int, int]]:
    """The results (tensor, version) of batch norms, and of writes to the memory of some tensors."""
    memory = dict[int, int]()
    for event in trace.events if tensors else ():
        if isinstance(event, LeafCreated):
            memory[event.tensor] = event.storage
        elif isinstance(event, OpCalled):
            memory.update({out.tensor: out.storage for out in event.outputs})
    storages = {memory[one] for one in tensors if one in memory}
    return frozenset(
        (out.tensor, out.version)
        for event in (trace.events if tensors else ())
        if isinstance(event, OpCalled)
        for out in event.outputs
        if event.name == "native_batch_norm" or (event.inplace is not None and out.storage in storages)
    )


def _name_in_line(trace: Trace, event: OpCalled) -> str:
    """An op with its line."""
    frames: tuple[Frame, ...] = trace.stacks[event.stack] if event.stack >= 0 else ()
    where = f" in line {frames[-1].line} of {frames[-1].file}" if frames else ""
    return f"{event.name}{where}"


def _reached(trace: Trace, tensors: set[int]) -> OpCalled | None:
    """The first op that the engine lacks on the way from some tensors."""
    for event in trace.events if tensors else ():
        if isinstance(event, OpCalled) and any(one.tensor in tensors for one in event.inputs):
            if is_missing(event):
                return event
            tensors.update(out.tensor for out in event.outputs)
    return None


def _same_events(trace: Trace, again: Trace) -> None:
    """Raises UnlikeEngine if the replay does something that the recording does not."""
    for before, after in zip(trace.events, again.events, strict=False):
        if isinstance(after, ErrorRaised) and not isinstance(before, ErrorRaised):
            raise UnlikeEngine(f"Backstep's engine stops where PyTorch goes on: {after.message}")
        if not is_missing(before) and _outline(before) != _outline(after):
            what = _name_in_line(trace, before) if isinstance(before, OpCalled) else type(before).__name__
            raise UnlikeEngine(f"Backstep's engine does something else from event {before.index:,} on ({what}).")
    if len(trace.events) != len(again.events):
        raise UnlikeEngine("Backstep's engine does something else at the end of the program.")


def _outline(event: AnyEvent) -> tuple[object, ...]:
    """The parts that have to be the same in both, besides the numbers."""
    if isinstance(event, OpCalled):
        edges = None if event.node is None else event.node.edges
        return OpCalled, event.name, event.inputs, tuple(out.tensor for out in event.outputs), edges
    if isinstance(event, VjpRun):
        return VjpRun, event.node, tuple(one is None for one in event.cotangents)
    kind = Refreshed if isinstance(event, WrittenOutside) else type(event)
    return kind, getattr(event, "tensor", None)
