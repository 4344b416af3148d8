"""Run a trace again, with edits: other leaf values, other backward calls, never the user's code.

A trace is read as a program: what is fixed (leaves, forward ops, flags) in its order, and *commands* (backward calls,
zeroing and setting of gradients) that may be changed, removed, added and moved between the fixed actions.  The law,
tested on every program of the gallery: a replay equals a fresh run with the same changes, bit for bit.

All of it runs in the memory of the host, also what was recorded on a GPU.
Cost: that of the recorded ops, run once.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence

from ..arrays.array import home, xp
from ..arrays.session import slot
from ..tensor.grad_mode import mode
from ..tensor.tensor import Tensor, tensor_of
from ..trace.events import AnyEvent, BackwardStarted, CodeEntered, GradSet, Refreshed, Trace
from .commands import Commands
from .doubts import NONE_GIVEN
from .fixed_actions import FixedActions
from .program import Command, Edits, backward_command
from .run import ProgramError, Run
from .schedule import Schedule
from .standins import StandIns
from .user_code import Block, end_of


def replay(trace: Trace, edits: Edits | None = None, watch: Callable[[int], None] | None = None) -> Trace:
    """Run `trace` again with `edits`.  Tensors keep their ids; new ones get ids above those of `trace`.

    `meta["doubt"]` of the result is the index of the event from which on the program itself might have done otherwise
    (None: none), and `meta["why"]` says so in words: a value left for Python that is another than in the recording
    (printing does not count), a hook did not run, and so on.  `watch` is called before each action with the number of
    entries recorded so far; what it raises ends the replay, so that a server can bound it.  Raises ValueError where an
    edit does not fit (another shape, a command before what it needs), and for a recording with events that were not
    seen.

    >>> import engine as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.record() as trace:
    ...     (x * x).backward()
    >>> len(torch.replay(trace).events) == len(trace.events)
    True
    """
    if trace.meta.get("unread"):
        raise ValueError(
            "Backstep itself has failed in reading an event of this recording, so it cannot be run again: "
            "record the program again, and please report it"
        )
    return Interpreter(Run(trace, edits or Edits())).trace(watch)


class Interpreter:
    """Goes through an edited program, and through what code of the user's did that its actions call."""

    def __init__(self, run: Run) -> None:
        self.run = run
        # Not themselves: tensors have nodes, which hold stand-ins; all would stay until cycles are collected.
        self.standins = StandIns(weakref.proxy(run), weakref.proxy(self))
        self.fixed = FixedActions(run, self.standins)
        self.commands = Commands(run, self.standins, self.fixed)
        self.is_moved = False  # whether a command runs that stood elsewhere in the recording, or nowhere

    def trace(self, watch: Callable[[int], None] | None = None) -> Trace:
        """Run the program; the new trace.  `watch` is as in `replay`."""
        run = self.run
        before, slot.active = slot.active, run.recorder
        enabled = mode.enabled
        mode.turn(True)
        away, home.only = home.only, True
        try:
            schedule = Schedule(run)
            for action in schedule:
                if watch is not None:
                    watch(len(run.recorder.log))
                schedule.reach(action)
                stack, until = schedule.place_of(action)
                self.is_moved = until < 0
                run.pin(stack, until)
                if isinstance(action, Command):
                    if action.base is not None:
                        self.fixed.refresh_before(action.base)
                    self.commands.do(action)
                else:
                    self.do(action)
            self.fixed.refresh_before(len(run.base.events))
        except ProgramError:
            pass
        finally:
            slot.active, home.only = before, away
            mode.turn(enabled)
        return run.trace()

    def do(self, event: AnyEvent) -> None:
        """Do a fixed action again."""
        if not isinstance(event, CodeEntered):
            self.fixed.do(event)
        elif self.fixed.begin(event):
            if event.place == "pack":
                self.standins.pack(self.run.blocks.packs[event.index], self.run.nodes.get(event.node or 0))
            else:
                self.forward(self.run.blocks.loose[event.index])

    # -- code of the user's -----------------------------------------------------------------------------------------

    def forward(self, block: Block) -> None:
        """The forward of a custom Function that was refused afterwards: what it did is done."""
        run, recorder, entered, left = self.run, self.run.recorder, block.entered, block.left
        inputs = [None if number is None else run.met(number, entered.index) for number in entered.given]
        recorder.enter_code("forward", inputs)
        enabled = mode.enabled
        mode.turn(False)
        try:
            self.block(block, inputs)
        except (RuntimeError, ValueError, IndexError, TypeError) as error:
            recorder.error(error)
            raise ProgramError from error
        finally:
            mode.turn(enabled)
            results = left.results if left is not None else None
            tensors = results and [None if number is None else run.tensor(number) for number in results]
            recorder.leave_code(tensors, left is not None and left.completed)
        after = 1 + (left.index if left is not None else entered.index)
        for event in run.base.events[after:]:  # what it marked as written has another version since
            if not isinstance(event, Refreshed) or event.tensor not in run.live:
                break
            storage = run.live[event.tensor]._storage
            storage.version += max(0, event.version - storage.moment)

    def block(self, block: Block, tensors: Sequence[Tensor | None]) -> None:
        """Do again what code of the user's did, with `tensors` in the place of those that it was given."""
        run = self.run
        for number, tensor in zip(block.entered.given, tensors, strict=False):
            if (number is None) != (tensor is None):
                run.doubted(NONE_GIVEN)
            if number is not None and tensor is None:
                tensor = tensor_of(xp.zeros_like(run.array(run.blocks.values.get(number))))
            if number is not None and tensor is not None:
                run.live[number] = tensor
        recorder, enabled, depth = run.recorder, mode.enabled, run.recorder.depth
        pinned = recorder.stacks.pinned
        run.nested += 1
        try:
            self.actions(block.events)
        except BaseException as error:
            if mode.enabled != enabled:
                mode.turn(enabled)
                recorder.event("mode", enabled)
            while recorder.depth > depth:
                recorder.leave()
            if isinstance(error, ProgramError):
                raise error.__cause__ or error.args[0] from None
            raise
        finally:
            run.nested -= 1
            recorder.stacks.pinned = pinned

    def actions(self, events: Sequence[AnyEvent]) -> None:
        """Do again what code of the user's did, event for event."""
        run = self.run
        place = 0
        while place < len(events):
            event = events[place]
            run.pin(event.stack, -1 if self.is_moved else event.index)
            if isinstance(event, BackwardStarted):
                self.commands.backward(backward_command(event, -1, 0))
                place = end_of(events, place)
            elif isinstance(event, CodeEntered):  # a forward, which its op runs
                if event.index in run.blocks.loose or event.index in run.blocks.packs:
                    self.do(event)
                elif event.place == "unpack":
                    self.standins.unpack(event, run.nodes.get(event.node or 0))
                place = end_of(events, place)
            elif isinstance(event, GradSet):
                target = run.tensor(event.tensor)
                target.grad = None if event.source is None else run.tensor(event.source)
            else:
                self.do(event)
            place += 1
