"""Run a trace again, with edits: other leaf values, other backward calls, never the user's code.

A trace is read as a program: what is fixed (leaves, forward ops, flags) in its order, and *commands* (backward calls,
zeroing and setting of gradients) that may be changed, removed, added and moved between the fixed actions.  The law,
tested on every program of the gallery: a replay equals a fresh run with the same changes, bit for bit.

All of it runs in the memory of the host, also what was recorded on a GPU.
Cost: that of the recorded ops, run once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from itertools import cycle, islice
from typing import Any

from ..arrays.array import home, xp
from ..arrays.session import slot
from ..autograd.calls import call
from ..ops.op import REGISTRY
from ..tensor.grad_mode import mode
from ..tensor.inplace import apply_inplace
from ..tensor.node import RemovableHandle, accumulator
from ..tensor.tensor import Tensor, tensor_of
from ..trace.building import read
from ..trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    ErrorRaised,
    GradSet,
    GroupLeft,
    LeafCreated,
    ModeChanged,
    OpCalled,
    Trace,
)
from ..trace.log import in_full, written_out
from ..trace.messages import gradients_passed
from ..trace.source import Sources
from .blocks import Block, end_of, outside
from .doubts import HOOK_GONE, NONE_GIVEN
from .program import NONE_PASSED, Command, Edits, backward_command, program
from .rerun import Rerun, Stopped, fitted, needed


def replay(trace: Trace, edits: Edits | None = None) -> Trace:
    """Run `trace` again with `edits`.  Tensors keep their ids; what is new gets ids above those of `trace`.

    `meta["doubt"]` of the result is the index of the event from which on the program itself might have done otherwise
    (None: none), and `meta["why"]` says so in words: a value left for Python that is another than in the recording
    (printing does not count), a hook did not run, and so on.  Raises ValueError
    where an edit does not fit (another shape, a command before what it needs).

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.record() as trace:
    ...     (x * x).backward()
    >>> len(torch.replay(trace).events) == len(trace.events)
    True
    """
    return _Replay(trace, edits or Edits()).run()


class _Replay(Rerun):
    """One run of an edited program: its schedule, and what it does with each command."""

    gone: list[int]
    places: dict[int, int]
    moved = False  # whether a command runs that stood elsewhere in the recording, or nowhere

    def run(self) -> Trace:
        """The new trace."""
        before, slot.active = slot.active, self.recorder
        enabled = mode.enabled
        mode.turn(True)
        away, home.only = home.only, True
        try:
            for action in self.schedule():
                self.left_out(action)
                stack, until = self.place_of(action)
                self.moved = until < 0
                self.pin(stack, until)
                if isinstance(action, Command):
                    if action.base is not None:
                        self.refresh_before(action.base)
                    self.command(action)
                else:
                    self.fixed(action)
            self.refresh_before(len(self.base.events))
        except Stopped:
            pass
        finally:
            slot.active, home.only = before, away
            mode.turn(enabled)
        for number, tensor in self.live.items():
            if tensor._id >= 0:
                self.seeds.setdefault(tensor._id, number)
        meta = {**self.base.meta, "doubt": self.doubt, "why": self.why, "edits": self.edits.as_json()}
        return read(self.recorder.recording, self.base.argv, meta, base=self.base, seeds=self.seeds)

    def schedule(self) -> Iterable[AnyEvent | Command]:
        """The fixed actions, with the commands where they stand now."""
        recorded = program(self.base)
        self.places = {a.base: a.after for _, a in recorded if isinstance(a, Command) and a.base is not None}
        wanted = self.edits.commands
        kept = {c.base for c in wanted or ()}
        self.gone = [
            group[0].index
            for call, group in self.groups.items()
            if wanted is not None and group[0].index not in kept
            and any(isinstance(a, Command) and a.base == group[0].index for _, a in recorded)
            and any(block.is_hook for block in self.standins.blocks.of_call.get(call, ()))
        ]  # fmt: skip
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
            raise ValueError(f"a command follows event {min(places)}, which is not a fixed action of this program")
        return order

    def left_out(self, action: AnyEvent | Command) -> None:
        """A doubt where a command is gone in whose course hooks ran: what else they did is not done."""
        at = action.index if not isinstance(action, Command) else action.base
        while self.gone and at is not None and self.gone[0] < at:
            self.gone.pop(0)
            self.doubted(HOOK_GONE)

    def place_of(self, action: AnyEvent | Command) -> tuple[int, int]:
        """The stack to record for an action, that of the recording, and the event up to which loops have come: with a
        command that was moved they stay where they were."""
        if not isinstance(action, Command):
            return action.stack, action.index
        if action.base is None:
            return -1, -1
        return self.base.events[action.base].stack, action.base if self.places[action.base] == action.after else -1

    # -- commands -------------------------------------------------------------------------------------------------

    def command(self, command: Command) -> None:
        """Do what a command says."""
        if command.kind == "backward":
            self.backward(command)
        elif command.base is not None and isinstance(event := self.base.events[command.base], OpCalled):
            self.write(event, command.leaf)
        elif command.kind == "zero":
            self.zero(command)
        else:
            self.set_gradient(command)

    def write(self, event: OpCalled, leaf: int | None) -> None:
        """What the program wrote into a gradient.  Where there is none now, Python raises, unless the program asked."""
        target = self.tensor(leaf)._grad if leaf is not None else None
        if target is not None and event.inplace is not None:
            self.live[event.inplace] = target
            self.op(event)
            return
        frames = self.base.stacks[event.stack] if event.stack >= 0 else ()
        used = Sources(self.base.files).met_unasked(frames[-1]) if frames else None
        if used is not None:
            error = AttributeError(f"'NoneType' object has no attribute '{event.name.partition('.')[0]}_'")
            error.add_note(f"Backstep: there is no {used} here, because no backward call has filled it.")
            self.recorder.error(error)
            raise Stopped from error

    def zero(self, command: Command) -> None:
        """What a command does that the program does not have: as `zero_grad()` it passes over what has no gradient."""
        leaf = self.tensor(needed(command.leaf, "leaf"))
        if leaf._grad is None:
            return
        try:
            apply_inplace(REGISTRY["zero"], (leaf._grad,), {})
        except RuntimeError as error:
            self.recorder.error(error)
            raise Stopped from error

    def set_gradient(self, command: Command) -> None:
        event = None if command.base is None else self.base.events[command.base]
        leaf = self.tensor(needed(command.leaf, "leaf"))
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
        standins = self.standins
        outer, standins.call = standins.call, recorded.call if recorded else None
        blocks = standins.hooks(standins.call, self.goes_elsewhere(command, recorded))
        hooks = [handle for block, borrowed in blocks if (handle := self.hook(block, borrowed)) is not None]
        start = len(self.recorder.log)
        before = mode.legacy_broadcasting, mode.anomaly
        mode.legacy_broadcasting, mode.anomaly = self.legacy(recorded), self.anomaly(recorded)
        try:
            found = call(
                function, roots, gradients, command.retain_graph, command.create_graph, inputs,
                accumulate=function == "backward",
            )  # fmt: skip
        except Exception as error:
            self.recorder.error(error)
            if not self.survived(recorded):
                if self.nested:
                    raise
                raise Stopped from error
            found = []
        finally:
            mode.legacy_broadcasting, mode.anomaly = before
            standins.call = outer
            for handle in hooks:
                handle.remove()
        if any(not borrowed and block not in standins.ran for block, borrowed in blocks):
            self.doubted(HOOK_GONE)
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
                None
                if g == NONE_PASSED
                else tensor_of(fitted(g, None if free else root._array.shape, str(root._array.dtype), "gradient"))
                for g, root in zip(listed, roots, strict=True)
            ]
        if recorded is None or tuple(r.tensor for r in recorded.roots) != command.roots:
            return None
        at = recorded.index
        given = [None if r.source is None else self.met(r.source, at) for r in recorded.roots]
        refused = next((e for e in self.groups[recorded.call] if isinstance(e, ErrorRaised)), None)
        passed = gradients_passed(refused)  # a trace has one place per root
        return given if passed is None else list(islice(cycle(given), passed))

    def survived(self, recorded: BackwardStarted | None) -> bool:
        """Whether the recorded program went on after this call raised (it caught the error)."""
        if recorded is None:
            return False
        group = self.groups[recorded.call]
        raised = any(isinstance(e, ErrorRaised) for e in outside(group))
        events, after = self.base.events, group[-1].index + 1
        if self.nested:  # code of the user's called it, and was left by the error, or not
            left = next((e for e in events[after:] if not isinstance(e, (GroupLeft, ModeChanged))), None)
            return raised and not (isinstance(left, CodeLeft) and not left.completed)
        return raised and after <= events[-1].index

    def goes_elsewhere(self, command: Command, recorded: BackwardStarted | None) -> bool:
        """Whether a call may come by other nodes than in the recording."""
        if recorded is None:
            return True
        ended = self.groups[recorded.call][-1]
        same = command.roots == tuple(root.tensor for root in recorded.roots) and command.inputs == recorded.inputs
        return not (same and isinstance(ended, BackwardEnded) and ended.completed)

    def hook(self, block: Block, borrowed: bool) -> RemovableHandle | None:
        """A stand-in for one hook of the user's, registered where that one was."""
        entered, made = block.entered, self.standins.hook(block, borrowed)
        leaf = None if entered.tensor is None else self.live.get(entered.tensor)
        node = None if entered.node is None else self.nodes.get(entered.node)
        if entered.place == "tensor" and node is not None:  # also where the tensor has another history by now
            hooks = node.extras().setdefault("tensor_hooks", {}).setdefault(entered.nr, ({}, _reference(leaf)))[0]
            return RemovableHandle(hooks, made)
        if leaf is not None and leaf._node is None and leaf._requires_grad and entered.node is None:
            if entered.place == "tensor":
                return leaf.register_hook(made)
            if entered.place == "accumulated":
                return leaf.register_post_accumulate_grad_hook(made)
            node = accumulator(leaf)
        if node is None or entered.place not in ("before", "after"):
            return None
        found: RemovableHandle = (node.register_prehook if entered.place == "before" else node.register_hook)(made)
        return found

    def block(self, block: Block, given: Sequence[Tensor | None]) -> None:
        """Do again what code of the user's did, with other tensors in the place of those that it was given."""
        for number, tensor in zip(block.entered.given, given, strict=False):
            if (number is None) != (tensor is None):
                self.doubted(NONE_GIVEN)
            if number is not None and tensor is None:
                tensor = tensor_of(xp.zeros_like(self.standins.array(self.standins.blocks.made.get(number))))
            if number is not None and tensor is not None:
                self.live[number] = tensor
        recorder, enabled, depth = self.recorder, mode.enabled, self.recorder.depth
        pinned = recorder.stacks.pinned
        self.nested += 1
        try:
            self.actions(block.events)
        except BaseException as error:
            if mode.enabled != enabled:
                mode.turn(enabled)
                recorder.event("mode", enabled)
            while recorder.depth > depth:
                recorder.leave()
            if isinstance(error, Stopped):
                raise error.__cause__ or error.args[0] from None
            raise
        finally:
            self.nested -= 1
            recorder.stacks.pinned = pinned

    def actions(self, events: Sequence[AnyEvent]) -> None:
        """Do again what code of the user's did, event for event."""
        place = 0
        while place < len(events):
            event = events[place]
            self.pin(event.stack, -1 if self.moved else event.index)
            if isinstance(event, BackwardStarted):
                self.backward(backward_command(event, -1, 0))
                place = end_of(events, place)
            elif isinstance(event, CodeEntered):  # a forward, which its op runs
                if event.index in self.standins.blocks.loose or event.index in self.standins.blocks.packs:
                    self.fixed(event)
                elif event.place == "unpack":
                    self.standins.unpack(event, self.nodes.get(event.node or 0))
                place = end_of(events, place)
            elif isinstance(event, GradSet):
                target = self.tensor(event.tensor)
                target.grad = None if event.source is None else self.tensor(event.source)
            else:
                self.fixed(event)
            place += 1

    def match(self, group: Sequence[AnyEvent], start: int, found: Sequence[Any]) -> None:
        """Tie what a backward call made (gradients, ops of create_graph, results) to the ids of the recording."""
        log = self.recorder.log[start:]
        begun = next((place for place, entry in enumerate(log) if entry[0] == "start"), len(log))
        log = own_entries(log[begun:])  # before it stands a gradient that an edit brought
        group = list(outside(group))
        ops = [in_full(entry) for entry in log if entry[0] in ("op", "plain")]
        recorded = [e for e in group if isinstance(e, OpCalled)]
        if [entry[2] for entry in ops] == [e.name for e in recorded]:
            for entry, called in zip(ops, recorded, strict=True):
                for result, out in zip(written_out(entry[5]), called.outputs, strict=True):
                    self.seeds[result[0]] = out.tensor
        leaves = [e for e in group if isinstance(e, LeafCreated) and e.source != "gradient"]
        seen = [entry for entry in log if entry[0] == "leaf" and entry[7] != "gradient"]
        if [entry[7] for entry in seen] == [e.source for e in leaves]:
            for entry, leaf in zip(seen, leaves, strict=True):
                self.seeds.setdefault(entry[2], leaf.tensor)
        sums = [entry for entry in log if entry[0] == "accumulate"]
        arrived = [e for e in group if isinstance(e, Accumulated)]
        told = {entry[4] for entry in sums}
        for entry, one in zip(sums, arrived, strict=False):
            holder = self.live.get(one.tensor)
            if holder is None or holder._id != entry[3]:
                continue
            if holder._grad is None or holder._grad._id != entry[4]:  # a hook has taken it away
                self.seeds.setdefault(entry[4], one.grad)
        for event in group:
            if isinstance(event, Accumulated) and event.tensor in self.live:
                grad = self.live[event.tensor]._grad
                added = event.before is not None and event.grad in self.live  # to a gradient that was there before
                if grad is not None and not added and grad._id in told:
                    self.live[event.grad] = grad
            if isinstance(event, BackwardEnded):
                for made, tensor in zip(event.results, found, strict=False):
                    if made is not None and tensor is not None:
                        self.live[made] = tensor


def _reference(tensor: Tensor | None) -> Callable[[], Tensor | None]:
    """A weak reference, also to nothing."""
    return (lambda: None) if tensor is None else weakref.ref(tensor)


def own_entries(log: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The entries of a log that no code of the user's made."""
    found, depth = [], 0
    for entry in log:
        depth += entry[0] == "code"
        if not depth:
            found.append(entry)
        depth -= entry[0] == "left"
    return found
