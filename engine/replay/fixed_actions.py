"""The fixed actions of a recorded program, repeated: leaves, forward ops, flags, grad modes, escapes."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from ..api.inplace.inplace import set_data
from ..api.shape.reshaping import GEOMETRY, becomes
from ..arrays.array import xp
from ..ops.normalization import moved_statistic
from ..ops.op import CUSTOM, REGISTRY
from ..tensor.dispatch import apply
from ..tensor.grad_mode import mode
from ..tensor.inplace import JOINT, apply_inplace, share_data
from ..tensor.tensor import Tensor, tensor_of
from ..tensor.views import RETAKE, refresh_view
from ..trace.events import (
    STEP,
    AnyEvent,
    DataSet,
    ErrorRaised,
    Escaped,
    FlagChanged,
    GroupEntered,
    GroupLeft,
    LeafCreated,
    ModeChanged,
    OpCalled,
    Output,
    Printed,
    Refreshed,
    Skipped,
    StatisticMoved,
    WarningGiven,
    WrittenOutside,
)
from ..trace.messages import WarningKind, warning_kind
from .doubts import ESCAPED, FORWARD, PASSED_OVER, SEEN, WROTE
from .program import Edits, given_numbers
from .run import ProgramError, Run, fitted, is_as_recorded, needed, same_bits
from .standins import StandIns

REPEATED: frozenset[WarningKind] = frozenset({"graph-in-grad", "expanded-write"})
"""Warnings of calls and writes that run again: these give them again."""


class SkippedParameter(Exception):
    """An optimiser met a parameter without a gradient, and goes on to the next one."""


class FixedActions:
    """Does again what the program did and no edit changes."""

    def __init__(self, run: Run, standins: StandIns) -> None:
        self.run, self.base, self.live, self.recorder = run, run.base, run.live, run.recorder
        self.standins = standins
        self.instead = {event.index: tensor for tensor, event in given_numbers(run.base, run.edits.leaves).items()}
        self.stored: dict[int, Tensor] = {}  # storage in the base -> a tensor that has it now
        self.inside: list[tuple[str, int]] = []  # groups that are open: name, and where each begins in the log
        self.passing: int | None = None  # how many stay open when the one that is passed over is left
        self.unknown: set[int] = set()  # tensors that have not been read since the recording paused
        self.first = min((group[0].index for group in run.groups.values()), default=len(run.base.events))

    def begin(self, event: AnyEvent) -> bool:
        """Look again at what the recording found changed before an event; False inside of what is passed over."""
        if self.passing is not None and not isinstance(event, (GroupEntered, GroupLeft)):
            return False
        self.refresh_before(event.index)
        return True

    def do(self, event: AnyEvent) -> None:
        """Do again what the program did."""
        if not self.begin(event):
            return
        if isinstance(event, LeafCreated):
            self.leaf(event)
        elif isinstance(event, OpCalled):
            self.call(event)
        elif isinstance(event, FlagChanged):
            tensor = self.run.tensor(event.tensor)
            if event.flag == "requires_grad":
                tensor.requires_grad = event.value
            else:
                tensor.retain_grad()
        elif isinstance(event, ModeChanged):
            if mode.enabled != event.grad_enabled:
                mode.turn(event.grad_enabled)
                self.recorder.event("mode", event.grad_enabled)
        elif isinstance(event, WrittenOutside):
            self.write_outside(event)
        elif isinstance(event, StatisticMoved):
            self.move_statistic(event)
        elif isinstance(event, DataSet):
            target, source = self.run.met(event.tensor, event.index), self.run.met(event.source, event.index)
            if target is None or source is None:
                raise self.run.nothing(event.tensor if target is None else event.source)
            set_data(target, source)
        elif isinstance(event, Escaped):
            self.escape(event)
        elif isinstance(event, WarningGiven):
            if warning_kind(event) not in REPEATED:
                self.recorder.event("warning", event.category, event.message)
        elif isinstance(event, Printed):
            self.recorder.event("print", event.stream, event.text, event.more)
        elif isinstance(event, Skipped):
            self.unknown = set(self.live)
            self.recorder.log.append(("skipped", -1, event.iterations, event.number))
        elif isinstance(event, GroupEntered):
            self.enter(event)
        elif isinstance(event, GroupLeft):
            self.leave()
        elif isinstance(event, ErrorRaised) and event.call is None:
            self.recorder.log.append(("raised", self.recorder.stacks.repeat(event.stack), event))

    def call(self, event: OpCalled) -> None:
        """Run an op again, but for the new history of a base: the write of its view brings that about.  Where its
        result is a leaf whose values are edited, they stand in its place."""
        if event.index in self.instead:
            self.edit(event.outputs[0])
        elif event.name == RETAKE.name:
            refresh_view(self.run.tensor(event.outputs[0].tensor))
        elif event.name == CUSTOM.name:
            self.custom(event)
        elif event.name != JOINT.name or "writer" not in event.attrs:
            with contextlib.suppress(SkippedParameter):
                self.op(event)

    def edit(self, out: Output) -> None:
        """A leaf of edited values where the program computes it from others."""
        name = self.run.name(out.tensor)
        tensor = tensor_of(fitted(self.run.edits.leaves[out.tensor], out.shape, out.dtype, name))
        tensor._storage.version = out.version
        self.live[out.tensor] = tensor
        self.stored.setdefault(out.storage, tensor)
        self.recorder.see(tensor, "edited")

    def enter(self, event: GroupEntered) -> None:
        """A group begins: what it holds are the tensors that stand for those of the recording."""
        self.inside.append((event.name, len(self.recorder.log)))
        live = [None if number is None else self.live.get(number) for number in event.tensors]
        tensors = tuple([None if t is None or t._id < self.recorder.first else t._id for t in live])
        self.recorder.enter(event.name, event.kind, tensors, event.rate)

    def leave(self) -> None:
        """The innermost group ends, and with it what was passed over in it."""
        if self.inside:
            self.inside.pop()
        self.recorder.leave()
        if len(self.inside) == self.passing:
            self.passing = None

    def write_outside(self, event: WrittenOutside) -> None:
        """The program's own write through numpy: the same numbers again; a doubt where it found others before."""
        tensor = self.run.met(event.tensor, event.index)
        if tensor is None:
            raise self.run.nothing(event.tensor)
        self.write(event, tensor, "outside")

    def write(self, event: Refreshed, tensor: Tensor, kind: str) -> None:
        """Write the numbers that a tensor had in the recording; a doubt where they replace others than there."""
        value = self.base.value(event.value)
        self.unknown.discard(event.tensor)
        if value.array is None:
            raise ValueError(f"{self.run.name(event.tensor)} was written without an op and {value.missing}")
        values, moment, writes = self.run.values_by_version, tensor._storage.moment, 1
        before = values.get((event.tensor, event.version - 1))
        if before is None:  # several writes between two looks
            before, writes = values.get((event.tensor, moment)), max(1, event.version - moment)
        if before is None or not is_as_recorded(tensor._array, self.base.value(before)):
            self.run.doubted(WROTE)
        self.recorder.before_write(tensor)
        tensor._array[...] = value.array
        tensor._storage.shared().writes += writes
        self.recorder.tensors.refresh(kind, tensor, event.version)

    def move_statistic(self, event: StatisticMoved) -> None:
        """A batch norm moves its running statistic once more."""
        tensor, source = self.run.tensor(event.tensor), self.run.tensor(event.source)
        how = event.momentum, event.eps, event.elements
        self.recorder.before_write(tensor)
        tensor._array[...] = moved_statistic(tensor._array, source._array, *how)
        tensor._storage.shared().writes += 1
        self.recorder.tensors.refresh("moved", tensor, event.version, source._id, *how)

    def refresh_before(self, index: int) -> None:
        """Look again at the tensors that the recording found changed right before an event, in its order."""
        first = index
        while first and type(self.base.events[first - 1]) is Refreshed:
            first -= 1
        for event in self.base.events[first:index]:
            assert isinstance(event, Refreshed)
            tensor = self.run.met(event.tensor, event.index)
            if tensor is not None and event.tensor in self.unknown:
                self.write(event, tensor, "refresh")
            elif tensor is not None:
                self.reshape_data(event, tensor)
                self.recorder.see(tensor)

    def reshape_data(self, event: Refreshed, tensor: Tensor) -> None:
        """`x.data = y` gave a tensor elements of another shape or dtype: those of the recording; a doubt where `x` held
        others before, for `y` may have been made of it."""
        value = self.base.value(event.value)
        if (value.shape, str(value.dtype)) == (tensor._array.shape, str(tensor._array.dtype)) or value.array is None:
            return
        before = self.run.values_by_version.get((event.tensor, tensor._storage.moment))
        if before is None or not is_as_recorded(tensor._array, self.base.value(before)):
            self.run.doubted(WROTE)
        self.recorder.before_write(tensor)
        tensor._array = xp.array(value.array)
        tensor._storage.unseen += event.version - tensor._storage.moment

    def leaf(self, event: LeafCreated) -> None:
        if event.tensor in self.live or event.source == "saved":  # the result of autograd.grad, seen again; or what a
            return  # node packs, which it says itself
        own, place = event.source.startswith("saved_tensors["), len("saved_tensors[")
        if own and int(event.source[place:-1]) in self.standins.tensors_by_place:
            self.live[event.tensor] = self.standins.tensors_by_place[int(event.source[place:-1])]
            self.recorder.see(self.live[event.tensor], event.source)
            return
        if (own or event.source == "seen") and event.index > self.first and self.run.edits != Edits():
            self.run.doubted(SEEN)
        tensor = tensor_of(self.value(event), requires_grad=event.requires_grad)
        tensor._storage.version = event.version
        source = self.stored.setdefault(event.storage, tensor)
        if source is not tensor and same_bits(source._array, tensor._array):  # another tensor of the same elements
            tensor._array, tensor._storage = source._array, source._storage
        if event.grad is not None and event.grad in self.live:
            tensor._grad = self.live[event.grad]
        self.live[event.tensor] = tensor
        self.recorder.see(tensor, event.source, event.name)

    def value(self, event: LeafCreated) -> Any:
        """The array of a leaf: edited, or as recorded."""
        numbers = self.run.edits.leaves.get(event.tensor)
        if numbers is not None:
            return fitted(numbers, event.shape, event.dtype, self.run.name(event.tensor))
        value = self.base.value(event.value)
        if value.array is None:
            raise ValueError(f"{self.run.name(event.tensor)} of shape {list(event.shape)} {value.missing}")
        return xp.array(value.array)

    def op(self, event: OpCalled) -> None:
        op = REGISTRY[event.name]
        args = self.arguments(op, event)
        try:
            if event.inplace is not None:
                results: Any = apply_inplace(op, args, dict(event.attrs))
            elif event.name in GEOMETRY and not (args[0].is_leaf and args[0].requires_grad and mode.enabled):
                results = self.become(event, args[0], lambda it: apply(op, (it, *args[1:]), dict(event.attrs)))
            else:
                results = apply(op, args, dict(event.attrs))
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            self.stop(error)
            raise
        if event.name == "data":
            share_data(args[0], results)
        for out, tensor in zip(event.outputs, results if isinstance(results, tuple) else (results,), strict=True):
            self.live[out.tensor] = tensor
            self.stored.setdefault(out.storage, tensor)
            self.note(event, tensor)

    def become(self, event: OpCalled, tensor: Tensor, view: Callable[[Tensor], Any]) -> Tensor:
        """A tensor goes on as a view of what it was: one object, and two tensors of the recording."""
        seeds, was = self.run.seeds, tensor._id
        result = becomes(tensor, view)
        assert event.inputs[0].tensor is not None
        seeds[was], seeds[result._id] = event.inputs[0].tensor, event.outputs[0].tensor
        return result

    def stop(self, error: Exception) -> None:
        """End the replay where an op raises; not inside of code of the user's, which may catch it."""
        if not self.run.nested:
            while self.recorder.depth:  # an error leaves what it passes through
                self.recorder.leave()
            self.recorder.error(error)
            raise ProgramError from error

    def custom(self, event: OpCalled) -> None:
        """A custom Function: what it did, on the inputs as they are now."""
        is_known = event.index in self.run.blocks.forwards
        tensors: list[Tensor] = []
        for item in event.inputs:
            number = needed(item.tensor, "tensor")
            tensor = self.run.met(number, event.index)
            if tensor is None:
                raise self.run.nothing(number)
            value = self.base.value(self.run.values_by_version[number, item.version])
            if not is_known and not is_as_recorded(tensor._array, value):
                self.run.doubted(FORWARD.format(event.attrs["function"]))
            tensors.append(tensor)
        try:
            results = self.standins.function(event).apply(*self.spread(event, tensors))
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            self.stop(error)
            raise
        for out, tensor in zip(event.outputs, results, strict=True):
            self.live[out.tensor] = tensor
            self.note(event, tensor)

    @staticmethod
    def spread(event: OpCalled, tensors: list[Tensor]) -> list[Tensor | None]:
        """The arguments of a custom Function: tensors, and None in the place of what was no tensor."""
        is_tensor = event.attrs.get("tensors")
        rest = iter(tensors)
        return list(tensors) if is_tensor is None else [next(rest) if one else None for one in is_tensor]

    def note(self, event: OpCalled, result: Tensor) -> None:
        """Remember the nodes that a recorded call has made again, by their number in the recording."""
        if event.node is not None and result._node is not None:  # not every output of an op has its node
            self.run.nodes[event.node.node] = result._node
        after = self.base.events[event.index + 1] if event.index + 1 < len(self.base.events) else None
        if (
            isinstance(after, OpCalled)
            and "writer" in after.attrs
            and after.node is not None
            and result._view is not None
        ):
            self.run.nodes[after.node.node] = result._view.base._node

    def is_passed_over(self, number: int, at: int) -> bool:
        """Return whether an optimiser's step is at a parameter without a gradient or without its earlier state; if so,
        raise a doubt and pass over the rest of the parameter's update."""
        if len(self.inside) < 2 or not self.inside[-2][0].endswith(STEP):
            return False
        missing = self.run.holders.holder(number, at) is None and number not in self.live
        if not missing and self.run.met(number, at) is not None:
            return False
        self.run.doubted(PASSED_OVER, self.inside[-1][1])
        self.passing = len(self.inside) - 1
        return True

    def arguments(self, op: Any, event: OpCalled) -> tuple[Any, ...]:
        """The inputs of an op as its function takes them."""
        arguments: dict[str, Any] = {}
        for item in event.inputs:
            if item.tensor is not None and self.is_passed_over(item.tensor, event.index):
                raise SkippedParameter
            value = item.scalar if item.tensor is None else self.run.met(item.tensor, event.index)
            if item.tensor is not None and value is None:
                raise self.run.nothing(item.tensor)
            name, _, element = item.name.partition("[")
            if element:  # "indices[1]": a place that no tensor was given for, x[:, i], is not recorded
                values = arguments.setdefault(name, [])
                values += [None] * (int(element.rstrip("]")) - len(values))
                values.append(value)
            else:
                arguments[name] = value
        return tuple(arguments.get(name) for name in op.inputs)

    def escape(self, event: Escaped) -> None:
        """A value leaves for Python once more: another one than before means that the program might do otherwise.

        Printing is no reason to doubt: what stands on the screen does not come back into the program.
        """
        tensor = self.run.met(event.tensor, event.index)
        is_printed = event.kind == "repr"
        if tensor is None:
            if not is_printed:
                raise self.run.nothing(event.tensor)
            return  # printed, None says nothing of a tensor
        if not is_printed and not is_as_recorded(tensor._array, self.base.value(event.value)):
            self.run.doubted(ESCAPED)
        number, _ = self.recorder.see(tensor)
        self.recorder.event("escape", number, event.kind, tensor._value)
