"""How a replay runs each command: backward calls, and the zeroing and setting of gradients."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from itertools import cycle, islice
from typing import Any

from ..autograd.calls import call
from ..ops.op import REGISTRY
from ..tensor.grad_mode import mode
from ..tensor.inplace import apply_inplace
from ..tensor.node import RemovableHandle, accumulator
from ..tensor.tensor import Tensor, tensor_of
from ..trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeLeft,
    ErrorRaised,
    GradSet,
    GroupLeft,
    LeafCreated,
    ModeChanged,
    OpCalled,
)
from ..trace.log import in_full, written_out
from ..trace.messages import gradients_passed
from ..trace.source import Sources
from .doubts import HOOK_GONE
from .fixed_actions import FixedActions
from .program import NONE_PASSED, Command
from .run import ProgramError, Run, fitted, needed
from .standins import StandIns
from .user_code import Block, outside


class Commands:
    """Carries out commands, with stand-ins for the hooks of the user's that they run."""

    def __init__(self, run: Run, standins: StandIns, fixed: FixedActions) -> None:
        self.run, self.base, self.live, self.recorder = run, run.base, run.live, run.recorder
        self.standins, self.fixed = standins, fixed

    def do(self, command: Command) -> None:
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
        """Write into a gradient as the program did.  Python raises if there is none, unless the program checks."""
        target = self.run.tensor(leaf)._grad if leaf is not None else None
        if target is not None and event.inplace is not None:
            self.live[event.inplace] = target
            self.fixed.op(event)
            return
        frames = self.base.stacks[event.stack] if event.stack >= 0 else ()
        gradient = Sources(self.base.files).met_unasked(frames[-1]) if frames else None
        if gradient is not None:
            error = AttributeError(f"'NoneType' object has no attribute '{event.name.partition('.')[0]}_'")
            error.add_note(f"Backstep: there is no {gradient} here, because no backward call has filled it.")
            self.recorder.error(error)
            raise ProgramError from error

    def zero(self, command: Command) -> None:
        """Zero a gradient for a command that an edit added; like `zero_grad()`, without one it does nothing."""
        leaf = self.run.tensor(needed(command.leaf, "leaf"))
        if leaf._grad is None:
            return
        try:
            apply_inplace(REGISTRY["zero"], (leaf._grad,), {})
        except RuntimeError as error:
            self.recorder.error(error)
            raise ProgramError from error

    def set_gradient(self, command: Command) -> None:
        event = None if command.base is None else self.base.events[command.base]
        leaf = self.run.tensor(needed(command.leaf, "leaf"))
        source = event.source if isinstance(event, GradSet) else None
        leaf.grad = None if source is None else self.run.tensor(source)

    def backward(self, command: Command) -> None:
        event = None if command.base is None else self.base.events[command.base]
        recorded = event if isinstance(event, BackwardStarted) else None
        roots = [self.root(number, recorded) for number in command.roots]
        gradients = self.gradients(command, recorded, roots)
        inputs = None if command.inputs is None else [self.run.tensor(i) for i in command.inputs]
        function = recorded.function if recorded else "backward"
        group = self.run.groups.get(recorded.call) if recorded else None
        standins = self.standins
        outer, standins.call = standins.call, recorded.call if recorded else None
        blocks = standins.hooks(standins.call, self.goes_elsewhere(command, recorded))
        hooks = [handle for block, borrowed in blocks if (handle := self.hook(block, borrowed)) is not None]
        start = len(self.recorder.log)
        before = mode.legacy_broadcasting, mode.anomaly
        mode.legacy_broadcasting, mode.anomaly = self.legacy(recorded), self.anomaly(recorded)
        try:
            results = call(
                function, roots, gradients, command.retain_graph, command.create_graph, inputs,
                accumulate=function == "backward",
            )  # fmt: skip
        except Exception as error:
            self.recorder.error(error)
            if not self.survived(recorded):
                if self.run.nested:
                    raise
                raise ProgramError from error
            results = []
        finally:
            mode.legacy_broadcasting, mode.anomaly = before
            standins.call = outer
            for handle in hooks:
                handle.remove()
        if any(not borrowed and block not in standins.ran for block, borrowed in blocks):
            self.run.doubted(HOOK_GONE)
        if group is not None:
            self.match(group, start, results)

    def root(self, number: int, recorded: BackwardStarted | None) -> Tensor:
        """Where a call starts: for `x.grad.backward()` the gradient that x has by now."""
        if recorded is None or all(root.tensor != number for root in recorded.roots):
            return self.run.tensor(number)
        gradient = self.run.met(number, recorded.index)
        if gradient is None:
            raise self.run.nothing(number)
        return gradient

    def legacy(self, recorded: BackwardStarted | None) -> bool:
        """Return whether a call runs under PyTorch 0.3's rule: as recorded, or, if new, as the program's calls do."""
        if recorded is not None:
            return recorded.legacy
        return any(group[0].legacy for group in self.run.groups.values() if isinstance(group[0], BackwardStarted))

    def anomaly(self, recorded: BackwardStarted | None) -> bool:
        """Return whether a call looks for nan: as recorded, or, if it is new, as one of the program's calls does."""
        if recorded is not None:
            return recorded.anomaly
        return any(group[0].anomaly for group in self.run.groups.values() if isinstance(group[0], BackwardStarted))

    def gradients(self, command: Command, recorded: BackwardStarted | None, roots: list[Tensor]) -> Any:
        """The `gradient` argument: edited, the tensor that the program passed, or None for the implicit 1."""
        if command.gradient is not None:
            numbers = [command.gradient] if len(roots) == 1 else command.gradient
            free = self.legacy(recorded)
            return [
                None
                if g == NONE_PASSED
                else tensor_of(fitted(g, None if free else root._array.shape, str(root._array.dtype), "gradient"))
                for g, root in zip(numbers, roots, strict=True)
            ]
        if recorded is None or tuple(r.tensor for r in recorded.roots) != command.roots:
            return None
        at = recorded.index
        sources = [None if r.source is None else self.run.met(r.source, at) for r in recorded.roots]
        error = next((e for e in self.run.groups[recorded.call] if isinstance(e, ErrorRaised)), None)
        count = gradients_passed(error)  # a trace has one place per root
        return sources if count is None else list(islice(cycle(sources), count))

    def survived(self, recorded: BackwardStarted | None) -> bool:
        """Return whether the recorded program went on after this call raised (it caught the error)."""
        if recorded is None:
            return False
        group = self.run.groups[recorded.call]
        raised = any(isinstance(e, ErrorRaised) for e in outside(group))
        events, after = self.base.events, group[-1].index + 1
        if self.run.nested:  # code of the user's called it, and was left by the error, or not
            left = next((e for e in events[after:] if not isinstance(e, (GroupLeft, ModeChanged))), None)
            return raised and not (isinstance(left, CodeLeft) and not left.completed)
        return raised and after <= events[-1].index

    def goes_elsewhere(self, command: Command, recorded: BackwardStarted | None) -> bool:
        """Return whether a call may take another path through the graph than in the recording."""
        if recorded is None:
            return True
        ended = self.run.groups[recorded.call][-1]
        same = command.roots == tuple(root.tensor for root in recorded.roots) and command.inputs == recorded.inputs
        return not (same and isinstance(ended, BackwardEnded) and ended.completed)

    def hook(self, block: Block, borrowed: bool) -> RemovableHandle | None:
        """A stand-in for one hook of the user's, registered where that one was."""
        entered, standin = block.entered, self.standins.hook(block, borrowed)
        leaf = None if entered.tensor is None else self.live.get(entered.tensor)
        node = None if entered.node is None else self.run.nodes.get(entered.node)
        if entered.place == "tensor" and node is not None:  # also where the tensor has another history by now
            hooks = node.extras().setdefault("tensor_hooks", {}).setdefault(entered.nr, ({}, _reference(leaf)))[0]
            return RemovableHandle(hooks, standin)
        if leaf is not None and leaf._node is None and leaf._requires_grad and entered.node is None:
            if entered.place == "tensor":
                return leaf.register_hook(standin)
            if entered.place == "accumulated":
                return leaf.register_post_accumulate_grad_hook(standin)
            node = accumulator(leaf)
        if node is None or entered.place not in ("before", "after"):
            return None
        register = node.register_prehook if entered.place == "before" else node.register_hook
        handle: RemovableHandle = register(standin)
        return handle

    def match(self, group: Sequence[AnyEvent], start: int, results: Sequence[Any]) -> None:
        """Tie what a backward call made (gradients, ops of create_graph, results) to the ids of the recording."""
        log = self.recorder.log[start:]
        first = next((place for place, entry in enumerate(log) if entry[0] == "start"), len(log))
        log = own_entries(log[first:])  # before it stands a gradient that an edit brought
        group = list(outside(group))
        ops = [in_full(entry) for entry in log if entry[0] in ("op", "plain")]
        recorded = [e for e in group if isinstance(e, OpCalled)]
        if [entry[2] for entry in ops] == [e.name for e in recorded]:
            for entry, called in zip(ops, recorded, strict=True):
                for result, out in zip(written_out(entry[5]), called.outputs, strict=True):
                    self.run.seeds[result[0]] = out.tensor
        leaves = [e for e in group if isinstance(e, LeafCreated) and e.source != "gradient"]
        sources = [entry for entry in log if entry[0] == "leaf" and entry[7] != "gradient"]
        if [entry[7] for entry in sources] == [e.source for e in leaves]:
            for entry, leaf in zip(sources, leaves, strict=True):
                self.run.seeds.setdefault(entry[2], leaf.tensor)
        sums = [entry for entry in log if entry[0] == "accumulate"]
        gradients = {entry[4] for entry in sums}
        for entry, one in zip(sums, (e for e in group if isinstance(e, Accumulated)), strict=False):
            holder = self.live.get(one.tensor)
            if holder is None or holder._id != entry[3]:
                continue
            if holder._grad is None or holder._grad._id != entry[4]:  # a hook has taken it away
                self.run.seeds.setdefault(entry[4], one.grad)
        for event in group:
            if isinstance(event, Accumulated) and event.tensor in self.live:
                grad = self.live[event.tensor]._grad
                is_added = event.before is not None and event.grad in self.live  # to a gradient that was there before
                if grad is not None and not is_added and grad._id in gradients:
                    self.live[event.grad] = grad
            if isinstance(event, BackwardEnded):
                for number, tensor in zip(event.results, results, strict=False):
                    if number is not None and tensor is not None:
                        self.live[number] = tensor


def _reference(tensor: Tensor | None) -> Callable[[], Tensor | None]:
    """A weak reference, also to nothing."""
    return (lambda: None) if tensor is None else weakref.ref(tensor)


def own_entries(log: Sequence[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The entries of a log that no code of the user's made."""
    entries, depth = [], 0
    for entry in log:
        depth += entry[0] == "code"
        if not depth:
            entries.append(entry)
        depth -= entry[0] == "left"
    return entries
