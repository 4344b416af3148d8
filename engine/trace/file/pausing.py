"""Pausing a recording: of the iterations that are not chosen nothing is recorded, and they run as without us.

Where the recording pauses and goes on is known only after a step of an optimiser.  Everything recorded so far is
written then and let go, because nobody announces what the program writes during the pause.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Literal

from ...arrays.session import slot
from ..recorder import Recorder
from .iterations import PassCounter, Selection

Refusal = Literal["no-update", "inside"]
"""Why a recording does not pause: no optimiser makes a step, or each one is inside what has to be recorded whole."""


class Pauses:
    """The pauses of a recording: it goes on for each iteration that `selection` keeps.

    An iteration is counted by the steps of optimisers.  That the first is over is certain in the second, so the second
    is the first that the recording can pause after.

    `write` writes all that has been recorded and lets it go, and returns whether the recording may still go on.
    """

    def __init__(self, recorder: Recorder, selection: Selection, write: Callable[[], bool]) -> None:
        self.recorder, self.selection, self._write = recorder, selection, write
        self.updates = PassCounter()
        self.refusal: Refusal | None = "no-update"
        """Why the recording did not pause when it was last to."""
        self._since: int | None = None

    def begin(self) -> None:
        """The recording begins."""
        self.recorder.go_on = self.go_on
        slot.stepped = self.stepped

    def end(self) -> None:
        """The recording ends, also within a pause."""
        slot.stepped = self.recorder.go_on = None
        if self._since is not None:
            self._note(self._since)
            if self.recorder.library is not None:
                self.recorder.library.go_on()
        self._since = None

    def stepped(self, optimizer: Any) -> None:
        """An optimiser has made a step, called by our caller."""
        self.refusal = None
        updates, before = self.updates, self.updates.count
        updates.see((self.recorder.stacks.frames(sys._getframe(2)), _first_parameter(optimizer)))
        if updates.count == before or not updates.is_certain:
            return
        if self.selection.keeps(updates.count):
            self.go_on()
        elif self._since is None and slot.active is self.recorder:
            self._pause()

    def _pause(self) -> None:
        """Record nothing from here on, unless a group or a backward call is open: these are recorded to their end."""
        recorder, library = self.recorder, self.recorder.library
        if recorder.depth or recorder.call is not None or not (library is None or library.may_pause):
            self.refusal = "inside"
            return
        if recorder.settle is not None:
            recorder.settle()
        slot.active = None
        if library is not None:
            library.pause()
        self._since = self.updates.count
        self._write()

    def go_on(self) -> None:
        """Record again, if the recording has paused: the iterations in between are counted."""
        since, recorder = self._since, self.recorder
        if since is None or not self._write():
            return
        self._since = None
        self._note(since)
        recorder.names.pauses += 1
        slot.active = recorder
        if recorder.library is not None:
            recorder.library.go_on()

    def _note(self, since: int) -> None:
        count = self.updates.count
        self.recorder.log.append(("skipped", -1, count - since, count))


def _first_parameter(optimizer: Any) -> int:
    """What tells an optimiser from the others that make a step at the same place of the program, and not from one that
    is made anew in each iteration: the id of the first tensor that it holds."""
    return next((id(tensor) for group in optimizer.param_groups for tensor in group["params"]), 0)
