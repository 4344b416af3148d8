"""Run a trace again, with edits: other leaf values, other backward calls, never the user's code.

A trace is read as a program: what is fixed (leaves, forward ops, flags) in its order, and *commands* (backward calls,
zeroing and setting of gradients) that may be changed, removed, added and moved between the fixed actions.  The law,
tested on every program of the gallery: a replay equals a fresh run with the same changes, bit for bit.

Cost: that of the recorded ops, run once.
"""

from __future__ import annotations

import contextlib
import re
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

from .array import xp
from .autograd.calls import CREATE_GRAPH, call
from .dispatch import apply
from .held import Held
from .inplace import JOINT, apply_inplace, share_data
from .mode import mode
from .node import accumulator
from .op import CUSTOM, REGISTRY
from .program import Command, Edits, calls_of, program
from .reading import read
from .recorder import Recorder, written_out
from .slot import slot
from .standins import StandIns, block_after, same_bits
from .tensor import Tensor
from .trace import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    ErrorRaised,
    Escaped,
    FlagChanged,
    GradSet,
    GroupEntered,
    GroupLeft,
    HookRan,
    LeafCreated,
    ModeChanged,
    OpCalled,
    Refreshed,
    Trace,
    WarningGiven,
    WrittenOutside,
)
from .views import RETAKE, refresh_view


def replay(trace: Trace, edits: Edits | None = None) -> Trace:
    """Run `trace` again with `edits`.  Tensors keep their ids; what is new gets ids above those of `trace`.

    `meta["doubt"]` of the result is the index of the first event whose value left for Python and is another than in the
    recording: from there on the program itself might have done otherwise (printing does not count).  Raises ValueError
    where an edit does not fit (another shape, a command before what it needs).
    """
    return _Replay(trace, edits or Edits()).run()


_MISCOUNTED = re.compile(r"got \d+ tensors and (\d+) gradients")
"""How a call was refused that had another number of gradients than roots: a trace has one place per root."""


class Stopped(Exception):
    """The replayed program raised, as the user's would."""


class PassedOver(Exception):
    """An optimiser met a parameter without a gradient, and goes on to the next one."""


class _Replay:
    """One run of an edited program."""

    def __init__(self, base: Trace, edits: Edits) -> None:
        self.base = base
        self.edits = edits
        self.live: dict[int, Tensor] = {}  # tensor id in the base -> the tensor that runs now
        self.recorder = Recorder()
        self.recorder.stacks = {(frames, number): number for number, frames in enumerate(base.stacks)}
        self.held = Held(base)
        self.doubt: int | None = None
        self.inside: list[tuple[str, int]] = []  # groups that are open: name, and where each begins in the log
        self.passing: int | None = None  # how many stay open when the one that is passed over is left
        self.waiting = 0  # hooks that ran in the recorded call and not yet in this one
        self.groups = calls_of(base.events)
        self.first = min((group[0].index for group in self.groups.values()), default=len(base.events))
        self.seeds: dict[int, int] = {}
        self.nodes: weakref.WeakValueDictionary[int, Any] = weakref.WeakValueDictionary()
        self.standins = StandIns(base, self.doubted)
        self.known: dict[tuple[int, int], int] = {}  # (tensor, version) -> the value that it had in the recording
        for event in base.events:
            if isinstance(event, (LeafCreated, Refreshed)):
                self.known[event.tensor, event.version] = event.value
            elif isinstance(event, OpCalled):
                self.known.update({(out.tensor, out.version): out.value for out in event.outputs})

    def doubted(self) -> None:
        """From here on the program itself might have done otherwise."""
        if self.doubt is None:
            self.doubt = len(self.recorder.log)

    def run(self) -> Trace:
        """The new trace."""
        before, slot.active = slot.active, self.recorder
        enabled, mode.enabled = mode.enabled, True
        try:
            for action in self.schedule():
                self.recorder.pinned = self.stack_of(action)
                if isinstance(action, Command):
                    self.command(action)
                else:
                    self.fixed(action)
        except Stopped:
            pass
        finally:
            slot.active, mode.enabled = before, enabled
        for number, tensor in self.live.items():
            if tensor._id >= 0:
                self.seeds.setdefault(tensor._id, number)
        meta = {**self.base.meta, "doubt": self.doubt, "edits": self.edits.as_json()}
        return read(self.recorder, self.base.argv, meta, base=self.base, seeds=self.seeds)

    def schedule(self) -> Iterable[AnyEvent | Command]:
        """The fixed actions, with the commands where they stand now."""
        recorded = program(self.base)
        wanted = self.edits.commands
        if wanted is None:
            wanted = tuple(a for _, a in recorded if isinstance(a, Command))
        places: dict[int, list[Command]] = {}
        for command in wanted:
            places.setdefault(command.after, []).append(command)
        order: list[AnyEvent | Command] = list(places.pop(-1, []))
        for index, action in recorded:
            if not isinstance(action, Command):
                order.append(action)
                order.extend(places.pop(index, []))
        if places:
            raise ValueError(f"a command follows event {min(places)}, which is no fixed action of this program")
        return order

    def stack_of(self, action: AnyEvent | Command) -> int:
        """The stack to record for an action: that of the recording."""
        if isinstance(action, Command):
            return -1 if action.base is None else self.base.events[action.base].stack
        return action.stack

    def tensor(self, number: int) -> Tensor:
        """The live tensor of an id."""
        found = self.live.get(number)
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
        self.doubted()
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
        if self.doubt is None:
            self.doubt = self.inside[-1][1]
        self.passing = len(self.inside) - 1
        return True

    # -- fixed actions --------------------------------------------------------------------------------------------

    def fixed(self, event: AnyEvent) -> None:
        """Do again what the program did."""
        if self.passing is not None and not isinstance(event, (GroupEntered, GroupLeft)):
            return
        if isinstance(event, LeafCreated):
            self.leaf(event)
        elif isinstance(event, OpCalled):
            if event.name == RETAKE.name:
                refresh_view(self.tensor(event.outputs[0].tensor))
            elif event.name == CUSTOM.name:
                self.custom(event)
            elif event.name != JOINT.name or "writer" not in event.attrs:  # the write of a view brings that about again
                with contextlib.suppress(PassedOver):
                    self.op(event)
        elif isinstance(event, FlagChanged):
            target = self.tensor(event.tensor)
            if event.flag == "requires_grad":
                target.requires_grad = event.value
            else:
                target.retain_grad()
        elif isinstance(event, ModeChanged):
            mode.enabled = event.grad_enabled
            self.recorder.event("mode", event.grad_enabled)
        elif isinstance(event, WrittenOutside):
            self.written(event)
        elif isinstance(event, Escaped):
            self.escaped(event)
        elif isinstance(event, WarningGiven):
            if event.message != CREATE_GRAPH:
                self.recorder.event("warning", event.category, event.message)
        elif isinstance(event, GroupEntered):
            self.inside.append((event.name, len(self.recorder.log)))
            self.recorder.depth += 1
            self.recorder.log.append(("enter", event.stack, event.name, event.kind))
        elif isinstance(event, GroupLeft):
            if self.inside:
                self.inside.pop()
            self.recorder.depth -= 1
            self.recorder.log.append(("leave", -1))
            if len(self.inside) == self.passing:
                self.passing = None
        elif isinstance(event, ErrorRaised) and event.call is None:
            self.recorder.log.append(("raised", event.stack, event))

    def written(self, event: WrittenOutside) -> None:
        """The program's own write through numpy: the same numbers again; a doubt where it found others before."""
        tensor, kept = self.tensor(event.tensor), self.base.value(event.value).array
        if kept is None:
            name = self.base.names.get(event.tensor, f"tensor {event.tensor}")
            raise ValueError(
                f"{name} was written through numpy and recorded as a sample only: record with a higher limit"
            )
        before = self.base.value(self.known[event.tensor, event.version - 1]).array
        if before is None or not same_bits(tensor._array, before):
            self.doubted()
        self.recorder.before_write(tensor)
        tensor._array[...] = kept
        tensor._storage.unseen += 1
        self.recorder.refresh("outside", tensor, event.version)

    def leaf(self, event: LeafCreated) -> None:
        if event.tensor in self.live:  # the result of autograd.grad, seen again
            return
        kept = event.source == "seen" and event.index > self.first  # perhaps by a hook: a gradient that is another now
        if kept and self.doubt is None and self.edits != Edits():
            self.doubt = len(self.recorder.log)
        data = self.value(event)
        tensor = Tensor(data, requires_grad=event.requires_grad)
        tensor._storage.version = event.version
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
            raise ValueError(
                f"{name} of shape {list(event.shape)} was recorded as a sample only: record with a higher limit"
            )
        return xp.array(kept.array)

    def op(self, event: OpCalled) -> None:
        op = REGISTRY[event.name]
        args = self.arguments(op, event)
        try:
            if event.inplace is not None:
                made: Any = apply_inplace(op, args, dict(event.attrs))
            else:
                made = apply(op, args, dict(event.attrs))
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            self.recorder.log.extend([("leave", -1)] * self.recorder.depth)  # an error leaves what it passes through
            self.recorder.error(error)
            raise Stopped from error
        if event.name == "data":
            share_data(args[0], made)
        for out, tensor in zip(event.outputs, made if isinstance(made, tuple) else (made,), strict=True):
            self.live[out.tensor] = tensor
            self.note(event, tensor)

    def custom(self, event: OpCalled) -> None:
        """A custom Function: what it returned, for the same inputs; a doubt where they are others."""
        given: list[Tensor] = []
        for item in event.inputs:
            number = _needed(item.tensor, "tensor")
            tensor = self.met(number, event.index)
            if tensor is None:
                raise self.nothing(number)
            kept = self.base.value(self.known[number, item.version]).array
            if kept is None or not same_bits(tensor._array, kept):
                self.doubted()
            given.append(tensor)
        try:
            made = self.standins.function(event, given, self.live).apply(*given)
        except (RuntimeError, TypeError) as error:
            self.recorder.error(error)
            raise Stopped from error
        for out, tensor in zip(event.outputs, made, strict=True):
            self.live[out.tensor] = tensor
            self.note(event, tensor)

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
        kept = self.base.value(event.value).array
        if not printed and (kept is None or not same_bits(tensor._array, kept)):
            self.doubted()
        number, _ = self.recorder.see(tensor)
        self.recorder.event("escape", number, event.kind, tensor._value)

    # -- commands -------------------------------------------------------------------------------------------------

    def command(self, command: Command) -> None:
        """Do what a command says."""
        if command.kind == "backward":
            self.backward(command)
        elif command.base is not None and isinstance(event := self.base.events[command.base], OpCalled):
            target = self.tensor(command.leaf)._grad if command.leaf is not None else None
            if target is not None and event.inplace is not None:
                self.live[event.inplace] = target
                self.op(event)
        elif command.kind == "zero":
            self.zero(command)
        else:
            self.set_gradient(command)

    def zero(self, command: Command) -> None:
        leaf = self.tensor(_needed(command.leaf, "leaf"))
        if leaf._grad is None:
            return
        try:
            apply_inplace(REGISTRY["zero"], (leaf._grad,), {})
        except RuntimeError as error:
            self.recorder.error(error)
            raise Stopped from error

    def set_gradient(self, command: Command) -> None:
        event = None if command.base is None else self.base.events[command.base]
        leaf = self.tensor(_needed(command.leaf, "leaf"))
        source = event.source if isinstance(event, GradSet) else None
        leaf.grad = None if source is None else self.tensor(source)

    def backward(self, command: Command) -> None:
        event = None if command.base is None else self.base.events[command.base]
        recorded = event if isinstance(event, BackwardStarted) else None
        roots = [self.root(number, recorded) for number in command.roots]
        gradients = self.gradients(command, recorded, roots)
        inputs = None if command.inputs is None else [self.tensor(i) for i in command.inputs]
        function = recorded.function if recorded else "backward"
        group = self.groups.get(recorded.call) if recorded else None
        hooks = self.hooks(group)
        self.standins.group = group or ()
        start = len(self.recorder.log)
        before = mode.legacy_broadcasting, mode.anomaly
        mode.legacy_broadcasting, mode.anomaly = self.legacy(recorded), self.anomaly(recorded)
        try:
            found = call(
                function, roots, gradients, command.retain_graph, command.create_graph, inputs,
                accumulate=function == "backward",
            )  # fmt: skip
        except (RuntimeError, TypeError, ValueError) as error:
            self.recorder.error(error)
            if not self.survived(recorded):
                raise Stopped from error
            found = []
        finally:
            mode.legacy_broadcasting, mode.anomaly = before
            for handle in hooks:
                handle.remove()
            if self.waiting > 0 and self.doubt is None:  # a hook of the program had something to do, and has not now
                self.doubt = start
        if group is not None:
            self.match(group, start, found)

    def root(self, number: int, recorded: BackwardStarted | None) -> Tensor:
        """Where a call starts: for `x.grad.backward()` the gradient that x has by now."""
        if recorded is None or all(root.tensor != number for root in recorded.roots):
            return self.tensor(number)
        found = self.met(number, recorded.index)
        if found is None:
            raise self.nothing(number)
        return found

    def legacy(self, recorded: BackwardStarted | None) -> bool:
        """Whether a call runs under PyTorch 0.3's rule: as recorded; a new one, as the program's other calls."""
        if recorded is not None:
            return recorded.legacy
        return any(group[0].legacy for group in self.groups.values() if isinstance(group[0], BackwardStarted))

    def anomaly(self, recorded: BackwardStarted | None) -> bool:
        """Whether a call looks for nan: as recorded; a new one, as the program's other calls."""
        if recorded is not None:
            return recorded.anomaly
        return any(group[0].anomaly for group in self.groups.values() if isinstance(group[0], BackwardStarted))

    def gradients(self, command: Command, recorded: BackwardStarted | None, roots: list[Tensor]) -> Any:
        """The `gradient` argument: edited, the tensor that the program passed, or None for the implicit 1."""
        if command.gradient is not None:
            listed = [command.gradient] if len(roots) == 1 else command.gradient
            free = self.legacy(recorded)
            return [
                Tensor(fitted(g, None if free else root._array.shape, str(root._array.dtype), "gradient"))
                for g, root in zip(listed, roots, strict=True)
            ]
        if recorded is None or tuple(r.tensor for r in recorded.roots) != command.roots:
            return None
        at = recorded.index
        given = [None if r.source is None else self.met(r.source, at) for r in recorded.roots]
        refused = next((e.message for e in self.groups[recorded.call] if isinstance(e, ErrorRaised)), "")
        wrong = _MISCOUNTED.match(refused)
        return given if wrong is None else [*given, *given][: int(wrong[1])]

    def survived(self, recorded: BackwardStarted | None) -> bool:
        """Whether the recorded program went on after this call raised (it caught the error)."""
        if recorded is None:
            return False
        group = self.groups[recorded.call]
        raised = any(isinstance(e, ErrorRaised) for e in group)
        return raised and group[-1].index < self.base.events[-1].index

    def hooks(self, group: Sequence[AnyEvent] | None) -> list[Any]:
        """Stand-ins for the user's hooks: they return what was recorded for the gradient that was recorded."""
        handles = []
        for event in group or ():
            if isinstance(event, HookRan):
                node = None if event.node is None else self.nodes.get(event.node)
                leaf = None if event.tensor is None else self.live.get(event.tensor)
                if event.place == "accumulated":
                    if leaf is not None:
                        block = block_after(self.base.events, event.index)
                        handles.append(leaf.register_post_accumulate_grad_hook(self.program_of_hook(block)))
                elif event.place == "tensor":
                    if leaf is not None:
                        handles.append(leaf.register_hook(self.standins.tensor_hook(event)))
                else:
                    where: Any = node if leaf is None else accumulator(leaf)
                    if where is not None:
                        before = event.place == "before"
                        register = where.register_prehook if before else where.register_hook
                        handles.append(register(self.standins.node_hook(event)))
        return handles

    def program_of_hook(self, block: Sequence[AnyEvent]) -> Any:
        """What a hook did that ran after the accumulation in a leaf, done again."""
        left = [block]

        def hook(leaf: Tensor) -> None:
            pinned = self.recorder.pinned
            for event in left.pop() if left else ():
                self.recorder.pinned = event.stack
                if isinstance(event, GradSet):
                    target = self.tensor(event.tensor)
                    target.grad = None if event.source is None else self.tensor(event.source)
                else:
                    self.fixed(event)
            self.recorder.pinned = pinned

        return hook

    def match(self, group: Sequence[AnyEvent], start: int, found: Sequence[Any]) -> None:
        """Tie what a backward call made (gradients, ops of create_graph, results) to the ids of the recording."""
        log = self.recorder.log[start:]
        begun = next((place for place, entry in enumerate(log) if entry[0] == "start"), len(log))
        log = log[begun:]  # before it stands a gradient that an edit brought
        ops = [entry for entry in log if entry[0] == "op"]
        recorded = [e for e in group if isinstance(e, OpCalled)]
        if [entry[2] for entry in ops] == [e.name for e in recorded]:
            for entry, called in zip(ops, recorded, strict=True):
                for result, out in zip(written_out(entry[5]), called.outputs, strict=True):
                    self.seeds[result[0]] = out.tensor
        leaves = [e for e in group if isinstance(e, LeafCreated)]
        seen = [entry for entry in log if entry[0] == "leaf"]
        if [entry[7] for entry in seen] == [e.source for e in leaves]:
            for entry, leaf in zip(seen, leaves, strict=True):
                self.seeds.setdefault(entry[2], leaf.tensor)
        sums = [entry for entry in log if entry[0] == "accumulate"]
        arrived = [e for e in group if isinstance(e, Accumulated)]
        for entry, one in zip(sums, arrived, strict=False):
            holder = self.live.get(one.tensor)
            if holder is not None and holder._id == entry[3] and holder._grad is None:  # a hook has taken it away
                self.seeds.setdefault(entry[4], one.grad)
        for event in group:
            if isinstance(event, Accumulated) and event.tensor in self.live:
                grad = self.live[event.tensor]._grad
                added = event.before is not None and event.grad in self.live  # to a gradient that was there before
                if grad is not None and not added:
                    self.live[event.grad] = grad
            if isinstance(event, BackwardEnded):
                for made, tensor in zip(event.results, found, strict=False):
                    if made is not None and tensor is not None:
                        self.live[made] = tensor


def _needed(value: int | None, what: str) -> int:
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
