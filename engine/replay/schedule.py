"""The order in which an edited program runs: the fixed actions, and the commands at their current positions."""

from __future__ import annotations

from collections.abc import Iterator

from ..trace.events import AnyEvent
from .doubts import HOOK_GONE
from .program import Command, program
from .run import Run


class Schedule:
    """The actions of an edited program, in their order, and where each of them stood in the recording.

    Raises ValueError where a command follows what is no fixed action.
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.recorded = program(run.base)
        recorded = [action for _, action in self.recorded if isinstance(action, Command)]
        self.places = {command.base: command.after for command in recorded if command.base is not None}
        self.commands = tuple(recorded) if run.edits.commands is None else run.edits.commands
        self.hooks = self._hooks_of_absent_calls()

    def __iter__(self) -> Iterator[AnyEvent | Command]:
        after: dict[int, list[Command]] = {}
        for command in self.commands:
            after.setdefault(command.after, []).append(command)
        order: list[AnyEvent | Command] = list(after.pop(-1, []))
        for index, action in self.recorded:
            if not isinstance(action, Command):
                order.append(action)
                order.extend(after.pop(index, []))
        if after:
            raise ValueError(f"a command follows event {min(after)}, which is not a fixed action of this program")
        return iter(order)

    def _hooks_of_absent_calls(self) -> list[int]:
        """The backward calls of the recording that are edited away and in whose course hooks ran, by their events."""
        present = {command.base for command in self.commands}
        return [
            group[0].index
            for call, group in self.run.groups.items()
            if group[0].index not in present
            and group[0].index in self.places
            and any(block.is_hook for block in self.run.blocks.of_call.get(call, ()))
        ]

    def reach(self, action: AnyEvent | Command) -> None:
        """A doubt where a command is gone in whose course hooks ran: what else they did is not done."""
        at = action.index if not isinstance(action, Command) else action.base
        while self.hooks and at is not None and self.hooks[0] < at:
            self.hooks.pop(0)
            self.run.doubted(HOOK_GONE)

    def place_of(self, action: AnyEvent | Command) -> tuple[int, int]:
        """The stack to record for an action, that of the recording, and the event up to which loops have come: with a
        command that was moved they stay where they were."""
        if not isinstance(action, Command):
            return action.stack, action.index
        if action.base is None:
            return -1, -1
        stack = self.run.base.events[action.base].stack
        return stack, action.base if self.places[action.base] == action.after else -1
