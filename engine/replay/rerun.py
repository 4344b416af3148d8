"""The fixed actions of a recorded program, done again: leaves, forward ops, flags, grad modes, what escapes.

Tensors of the recording are met by their number; where the program would have met another value than it did, the run
is doubted from there on.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Sequence
from typing import Any

from ..api.inplace.inplace import set_data
from ..api.shape.reshaping import GEOMETRY, becomes
from ..arrays.array import xp
from ..ops.op import CUSTOM, REGISTRY
from ..tensor.dispatch import apply
from ..tensor.grad_mode import mode
from ..tensor.inplace import JOINT, apply_inplace, share_data
from ..tensor.tensor import Tensor, tensor_of
from ..tensor.views import RETAKE, refresh_view
from ..trace.building import value_of
from ..trace.events import (
    AnyEvent,
    CodeEntered,
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
    Refreshed,
    Trace,
    Value,
    WarningGiven,
    WrittenOutside,
)
from ..trace.messages import WarningKind, warning_kind
from ..trace.recorder import Recorder
from ..trace.summary import Summary
from .blocks import Block
from .doubts import ESCAPED, FORWARD, MISSING, NOT_DONE, PASSED_OVER, SEEN, WROTE
from .gradient_names import Held
from .program import Edits, calls_of, given_numbers
from .standins import StandIns

GIVEN_AGAIN: frozenset[WarningKind] = frozenset({"graph-in-grad", "expanded-write"})
"""Warnings of calls and writes that run again: these give them again."""


class Stopped(Exception):
    """The replayed program raised, as the user's would."""


class PassedOver(Exception):
    """An optimiser met a parameter without a gradient, and goes on to the next one."""


class Rerun:
    """The state of a run, and what it does with each fixed action."""

    def __init__(self, base: Trace, edits: Edits) -> None:
        self.base = base
        self.edits = edits
        self.live: dict[int, Tensor] = {}  # tensor id in the base -> the tensor that runs now
        self.instead = {event.index: tensor for tensor, event in given_numbers(base, edits.leaves).items()}
        self.recorder = Recorder()
        self.recorder.stacks.numbers = {(frames, number): number for number, frames in enumerate(base.stacks)}
        self.held = Held(base)
        self.stored: dict[int, Tensor] = {}  # storage in the base -> a tensor that has it now
        self.doubt: int | None = None
        self.why: str | None = None
        self.nested = 0  # how much code of the user's runs, one inside of the other
        self.inside: list[tuple[str, int]] = []  # groups that are open: name, and where each begins in the log
        self.passing: int | None = None  # how many stay open when the one that is passed over is left
        self.turning = [event for event in base.events if event.loops]  # where loops go on
        self.turned = 0  # how many of those the run has passed
        self.groups = calls_of(base.events)
        self.first = min((group[0].index for group in self.groups.values()), default=len(base.events))
        self.seeds: dict[int, int] = {}
        self.nodes: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.standins = StandIns(weakref.proxy(self))  # not itself: a replay would stay until cycles are collected
        self.known: dict[tuple[int, int], int] = {}  # (tensor, version) -> the value that it had in the recording
        for event in base.events:
            if isinstance(event, (LeafCreated, Refreshed)):
                self.known[event.tensor, event.version] = event.value
            elif isinstance(event, OpCalled):
                self.known.update({(out.tensor, out.version): out.value for out in event.outputs})

    def pin(self, stack: int, until: int) -> None:
        """What runs next is recorded with a stack of the recording, and with what loops held up to event `until`."""
        turning, start = self.turning, self.turned
        while self.turned < len(turning) and turning[self.turned].index <= until:
            self.turned += 1
        stacks = self.recorder.stacks
        stacks.pinned = stack
        if start < self.turned:
            loops = (*stacks.repeated, *(one for event in turning[start : self.turned] for one in event.loops))
            stacks.repeated = tuple({(one.depth, one.line, one.name): one for one in loops}.values())

    def doubted(self, why: str, at: int | None = None) -> None:
        """From here (or from entry `at` of the log) on the program itself might have done otherwise."""
        if self.doubt is None:
            self.doubt = len(self.recorder.log) if at is None else at
            self.why = why

    def tensor(self, number: int) -> Tensor:
        """The live tensor of an id."""
        found = self.live.get(number)
        if found is None and number in self.standins.blocks.made:
            self.doubted(NOT_DONE)
            found = self.live[number] = tensor_of(self.standins.array(self.standins.blocks.made[number]))
        if found is None:
            name = self.base.names.get(number, f"tensor {number}")
            raise ValueError(f"a command uses {name} before the program makes it: move it further down")
        return found

    def met(self, number: int, at: int) -> Tensor | None:
        """What the program meets at event `at` where it met `number`: for a gradient, what its tensor holds by now."""
        leaf = self.held.holder(number, at)
        if leaf is not None and leaf in self.live:
            return self.live[leaf]._grad
        return self.live.get(number) if number in self.held.leaves else self.tensor(number)

    def nothing(self, number: int) -> Stopped:
        """The program meets None instead of a gradient and cannot go on with it, whatever it says then."""
        self.doubted(MISSING)
        name = self.base.names.get(self.held.leaves[number], f"tensor {self.held.leaves[number]}")
        error = TypeError(f"{name}.grad is None here ('NoneType'): no backward call has filled it")
        self.recorder.error(error)
        return Stopped(error)

    def is_passed_over(self, number: int, at: int) -> bool:
        """Whether an optimiser's step is at a parameter without a gradient, or without what it kept of it before."""
        if len(self.inside) < 2 or not self.inside[-2][0].endswith(".step"):
            return False
        missing = self.held.holder(number, at) is None and number not in self.live
        if not missing and self.met(number, at) is not None:
            return False
        self.doubted(PASSED_OVER, self.inside[-1][1])
        self.passing = len(self.inside) - 1
        return True

    def block(self, block: Block, given: Sequence[Tensor | None]) -> None:
        """Do again what code of the user's did, with other tensors in the place of those that it was given."""
        raise NotImplementedError

    # -- fixed actions --------------------------------------------------------------------------------------------

    def fixed(self, event: AnyEvent) -> None:
        """Do again what the program did."""
        if self.passing is not None and not isinstance(event, (GroupEntered, GroupLeft)):
            return
        self.refresh_before(event.index)
        if isinstance(event, LeafCreated):
            self.leaf(event)
        elif isinstance(event, OpCalled):
            self.called(event)
        elif isinstance(event, FlagChanged):
            target = self.tensor(event.tensor)
            if event.flag == "requires_grad":
                target.requires_grad = event.value
            else:
                target.retain_grad()
        elif isinstance(event, ModeChanged):
            if mode.enabled != event.grad_enabled:
                mode.turn(event.grad_enabled)
                self.recorder.event("mode", event.grad_enabled)
        elif isinstance(event, WrittenOutside):
            self.written(event)
        elif isinstance(event, DataSet):
            changed, given = self.met(event.tensor, event.index), self.met(event.source, event.index)
            if changed is None or given is None:
                raise self.nothing(event.tensor if changed is None else event.source)
            set_data(changed, given)
        elif isinstance(event, Escaped):
            self.escaped(event)
        elif isinstance(event, WarningGiven):
            if warning_kind(event) not in GIVEN_AGAIN:
                self.recorder.event("warning", event.category, event.message)
        elif isinstance(event, CodeEntered):
            if event.place == "pack":
                self.standins.pack(self.standins.blocks.packs[event.index], self.nodes.get(event.node or 0))
            else:
                self.refused(self.standins.blocks.loose[event.index])
        elif isinstance(event, GroupEntered):
            self.entered(event)
        elif isinstance(event, GroupLeft):
            self.left()
        elif isinstance(event, ErrorRaised) and event.call is None:
            self.recorder.log.append(("raised", self.recorder.stacks.repeat(event.stack), event))

    def called(self, event: OpCalled) -> None:
        """Run an op again, but for the new history of a base: the write of its view brings that about.  Where its
        result is a leaf whose values are edited, they stand in its place."""
        if event.index in self.instead:
            self.given(event.outputs[0])
        elif event.name == RETAKE.name:
            refresh_view(self.tensor(event.outputs[0].tensor))
        elif event.name == CUSTOM.name:
            self.custom(event)
        elif event.name != JOINT.name or "writer" not in event.attrs:
            with contextlib.suppress(PassedOver):
                self.op(event)

    def given(self, out: Output) -> None:
        """A leaf of edited values where the program computes it from others."""
        name = self.base.names.get(out.tensor, f"tensor {out.tensor}")
        tensor = tensor_of(fitted(self.edits.leaves[out.tensor], out.shape, out.dtype, name))
        tensor._storage.version = out.version
        self.live[out.tensor] = tensor
        self.stored.setdefault(out.storage, tensor)
        self.recorder.see(tensor, "edited")

    def entered(self, event: GroupEntered) -> None:
        """A group begins: what it holds are the tensors that stand for those of the recording."""
        self.inside.append((event.name, len(self.recorder.log)))
        live = [None if number is None else self.live.get(number) for number in event.tensors]
        tensors = tuple([None if t is None or t._id < self.recorder.first else t._id for t in live])
        self.recorder.enter(event.name, event.kind, tensors)

    def left(self) -> None:
        """The innermost group ends, and with it what was passed over in it."""
        if self.inside:
            self.inside.pop()
        self.recorder.leave()
        if len(self.inside) == self.passing:
            self.passing = None

    def refused(self, block: Block) -> None:
        """The forward of a custom Function that was refused afterwards: what it did is done."""
        given = [None if number is None else self.met(number, block.entered.index) for number in block.entered.given]
        self.recorder.enter_code("forward", given)
        enabled = mode.enabled
        mode.turn(False)
        completed = block.left is not None and block.left.completed
        try:
            self.block(block, given)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            self.recorder.error(error)
            raise Stopped from error
        finally:
            mode.turn(enabled)
            results = None if block.left is None or block.left.results is None else block.left.results
            self.recorder.leave_code(results and [None if r is None else self.tensor(r) for r in results], completed)
        after = 1 + (block.left.index if block.left is not None else block.entered.index)
        for event in self.base.events[after:]:  # what it marked as written has another version since
            if not isinstance(event, Refreshed) or event.tensor not in self.live:
                break
            storage = self.live[event.tensor]._storage
            storage.version += max(0, event.version - storage.moment)

    def written(self, event: WrittenOutside) -> None:
        """The program's own write through numpy: the same numbers again; a doubt where it found others before."""
        tensor, kept = self.tensor(event.tensor), self.base.value(event.value).array
        if kept is None:
            name = self.base.names.get(event.tensor, f"tensor {event.tensor}")
            raise ValueError(f"{name} was written through numpy and {self.base.value(event.value).missing}")
        before = self.base.value(self.known[event.tensor, event.version - 1])
        if not is_as_recorded(tensor._array, before):
            self.doubted(WROTE)
        self.recorder.before_write(tensor)
        tensor._array[...] = kept
        tensor._storage.shared().writes += 1
        self.recorder.tensors.refresh("outside", tensor, event.version)

    def refresh_before(self, index: int) -> None:
        """Look again at the tensors that the recording found changed right before an event, in its order."""
        first = index
        while first and type(self.base.events[first - 1]) is Refreshed:
            first -= 1
        for event in self.base.events[first:index]:
            assert isinstance(event, Refreshed)
            tensor = self.met(event.tensor, event.index)
            if tensor is not None:
                self.reshape_data(event, tensor)
                self.recorder.see(tensor)

    def reshape_data(self, event: Refreshed, tensor: Tensor) -> None:
        """`x.data = y` gave a tensor elements of another shape or dtype: those of the recording; a doubt where `x` held
        others before, for `y` may have been made of it."""
        kept = self.base.value(event.value)
        if (kept.shape, str(kept.dtype)) == (tensor._array.shape, str(tensor._array.dtype)) or kept.array is None:
            return
        before = self.known.get((event.tensor, tensor._storage.moment))
        if before is None or not is_as_recorded(tensor._array, self.base.value(before)):
            self.doubted(WROTE)
        self.recorder.before_write(tensor)
        tensor._array = xp.array(kept.array)
        tensor._storage.unseen += event.version - tensor._storage.moment

    def leaf(self, event: LeafCreated) -> None:
        if event.tensor in self.live or event.source == "saved":  # the result of autograd.grad, seen again; or what a
            return  # node packs, which it says itself
        own, place = event.source.startswith("saved_tensors["), len("saved_tensors[")
        if own and int(event.source[place:-1]) in self.standins.kept:
            self.live[event.tensor] = self.standins.kept[int(event.source[place:-1])]
            self.recorder.see(self.live[event.tensor], event.source)
            return
        if (own or event.source == "seen") and event.index > self.first and self.edits != Edits():
            self.doubted(SEEN)
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
        kept = self.base.value(event.value)
        wanted = self.edits.leaves.get(event.tensor)
        if wanted is not None:
            return fitted(wanted, event.shape, event.dtype, self.base.names.get(event.tensor, f"tensor {event.tensor}"))
        if kept.array is None:
            name = self.base.names.get(event.tensor, f"tensor {event.tensor}")
            raise ValueError(f"{name} of shape {list(event.shape)} {kept.missing}")
        return xp.array(kept.array)

    def op(self, event: OpCalled) -> None:
        op = REGISTRY[event.name]
        args = self.arguments(op, event)
        try:
            if event.inplace is not None:
                made: Any = apply_inplace(op, args, dict(event.attrs))
            elif event.name in GEOMETRY and not (args[0].is_leaf and args[0].requires_grad and mode.enabled):
                made = becomes(args[0], lambda first: apply(op, (first, *args[1:]), dict(event.attrs)))
            else:
                made = apply(op, args, dict(event.attrs))
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            if self.nested:
                raise
            self.recorder.log.extend([("leave", -1)] * self.recorder.depth)  # an error leaves what it passes through
            self.recorder.error(error)
            raise Stopped from error
        if event.name == "data":
            share_data(args[0], made)
        for out, tensor in zip(event.outputs, made if isinstance(made, tuple) else (made,), strict=True):
            self.live[out.tensor] = tensor
            self.stored.setdefault(out.storage, tensor)
            self.note(event, tensor)

    def custom(self, event: OpCalled) -> None:
        """A custom Function: what it did, on the inputs as they are now."""
        told = event.index in self.standins.blocks.forwards
        given: list[Tensor] = []
        for item in event.inputs:
            number = needed(item.tensor, "tensor")
            tensor = self.met(number, event.index)
            if tensor is None:
                raise self.nothing(number)
            if not told and not is_as_recorded(tensor._array, self.base.value(self.known[number, item.version])):
                self.doubted(FORWARD.format(event.attrs["function"]))
            given.append(tensor)
        try:
            made = self.standins.function(event).apply(*self.spread(event, given))
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            if self.nested:
                raise
            self.recorder.log.extend([("leave", -1)] * self.recorder.depth)
            self.recorder.error(error)
            raise Stopped from error
        for out, tensor in zip(event.outputs, made, strict=True):
            self.live[out.tensor] = tensor
            self.note(event, tensor)

    @staticmethod
    def spread(event: OpCalled, tensors: list[Tensor]) -> list[Tensor | None]:
        """The arguments of a custom Function: tensors, and None in the place of what was no tensor."""
        given = event.attrs.get("tensors")
        left = iter(tensors)
        return list(tensors) if given is None else [next(left) if there else None for there in given]

    def note(self, event: OpCalled, made: Tensor) -> None:
        """Remember the nodes that a recorded call has made again, by their number in the recording."""
        if event.node is not None and made._node is not None:  # not every output of an op has its node
            self.nodes[event.node.node] = made._node
        after = self.base.events[event.index + 1] if event.index + 1 < len(self.base.events) else None
        if (
            isinstance(after, OpCalled)
            and "writer" in after.attrs
            and after.node is not None
            and made._view is not None
        ):
            self.nodes[after.node.node] = made._view.base._node

    def arguments(self, op: Any, event: OpCalled) -> tuple[Any, ...]:
        """The inputs of an op as its function takes them."""
        given: dict[str, Any] = {}
        for item in event.inputs:
            if item.tensor is not None and self.is_passed_over(item.tensor, event.index):
                raise PassedOver
            value = item.scalar if item.tensor is None else self.met(item.tensor, event.index)
            if item.tensor is not None and value is None:
                raise self.nothing(item.tensor)
            name, _, listed = item.name.partition("[")
            if listed:  # "indices[1]": a place that no tensor was given for, x[:, i], is not recorded
                values = given.setdefault(name, [])
                values += [None] * (int(listed.rstrip("]")) - len(values))
                values.append(value)
            else:
                given[name] = value
        return tuple(given.get(name) for name in op.inputs)

    def escaped(self, event: Escaped) -> None:
        """A value leaves for Python once more: another one than before means that the program might do otherwise.

        Printing is no reason to doubt: what stands on the screen does not come back into the program.
        """
        tensor = self.met(event.tensor, event.index)
        printed = event.kind == "repr"
        if tensor is None:
            if not printed:
                raise self.nothing(event.tensor)
            return  # printed, None says nothing of a tensor
        if not printed and not is_as_recorded(tensor._array, self.base.value(event.value)):
            self.doubted(ESCAPED)
        number, _ = self.recorder.see(tensor)
        self.recorder.event("escape", number, event.kind, tensor._value)


def is_as_recorded(data: Any, kept: Value) -> bool:
    """Whether an array is what was recorded, as far as that is known: of a sample, with its statistics."""
    return value_of(Summary(data) if kept.array is None else data).is_like(kept)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays are equal, bit for bit."""
    return a.shape == b.shape and a.dtype == b.dtype and bool(xp.asarray(a).tobytes() == xp.asarray(b).tobytes())


def needed(value: int | None, what: str) -> int:
    if value is None:
        raise ValueError(f"the command names no {what}")
    return value


def fitted(wanted: Any, shape: tuple[int, ...] | None, dtype: str, name: str) -> Any:
    """Nested lists of numbers as an array of the shape (None: any) and dtype asked for.

    Raises ValueError where they do not fit.
    """
    try:
        data = xp.array(_numbers(wanted), dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        where = "" if shape is None else f" in shape {list(shape)}"
        raise ValueError(f"{name}: expected numbers{where}, found {wanted!r} ({error})") from None
    if shape is not None and data.shape != tuple(shape):
        raise ValueError(f"{name}: expected numbers in shape {list(shape)}, found shape {list(data.shape)}")
    return data


def _numbers(wanted: Any) -> Any:
    """Nested lists with the words that JSON has no numbers for ("nan", "inf", "-inf") made numbers."""
    if isinstance(wanted, (list, tuple)):
        return [_numbers(w) for w in wanted]
    return float(wanted) if isinstance(wanted, str) else wanted
