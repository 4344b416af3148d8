"""The pauses of a recording: what it has up to each of them, and how many iterations ran in each."""

from __future__ import annotations

from bisect import bisect_right
from functools import cached_property
from itertools import accumulate

import numpy as np

from engine.trace.events import BackwardStarted, ErrorRaised, GroupEntered, GroupLeft, Skipped, Trace
from engine.trace.file.outline import CODES, RECORDED, Outline


class Pauses:
    """The pauses of a recording, in order, as far as its outline goes."""

    def __init__(self, trace: Trace, outline: Outline) -> None:
        self._trace, self._outline = trace, outline
        self.places = outline.where(Skipped)

    @cached_property
    def events(self) -> list[Skipped]:
        """The events of the pauses."""
        return [event for at in self.places.tolist() if isinstance(event := self._trace.events[at], Skipped)]

    @cached_property
    def _sums(self) -> list[int]:
        return [0, *accumulate(event.iterations for event in self.events)]

    @cached_property
    def calls(self) -> np.ndarray:
        """The events at which backward calls begin."""
        return self._outline.where(BackwardStarted)

    @cached_property
    def errors(self) -> np.ndarray:
        """The errors."""
        return self._outline.where(ErrorRaised)

    def __bool__(self) -> bool:
        return len(self.places) > 0

    def _count(self, before: int) -> int:
        return int(np.searchsorted(self.places, before))

    def place(self, before: int) -> int:
        """The last event before this one at which the recording had paused; -1 for none."""
        count = self._count(before)
        return int(self.places[count - 1]) if count else -1

    def skipped(self, before: int) -> int:
        """How many iterations were skipped before an event."""
        return self._sums[self._count(before)]

    def last(self, before: int) -> Skipped | None:
        """The last pause before an event."""
        count = self._count(before)
        return self.events[count - 1] if count else None

    def cut(self, start: int, end: int) -> int:
        """The end of a part of a run, or of the last pause in it if no backward call follows."""
        last = self.place(end)
        return last + 1 if last >= start and not within(self.calls, last, end) else end

    def is_rest(self, start: int, end: int) -> bool:
        """Return whether a part has neither a backward call nor an error."""
        return not within(self.calls, start, end) and not within(self.errors, start, end)

    @cached_property
    def _updates(self) -> list[int]:
        """The ends of the updates that are recorded, at the place of the program that makes most of them."""
        return max(ends_of_steps(self._trace, self._outline).values(), key=len, default=[])

    def update(self, event: int) -> str:
        """The name of the update that an event belongs to, by its number among all, recorded or not."""
        last = self.last(event)
        number, since = (0, 0) if last is None else (last.number, last.index)
        return f"update {number + bisect_right(self._updates, event) - bisect_right(self._updates, since):,}"


def within(events: np.ndarray, start: int, end: int) -> bool:
    """Return whether some of the events, which are in order, are from `start` on and before `end`."""
    return bool(np.searchsorted(events, start) < np.searchsorted(events, end))


def ends_of_steps(trace: Trace, outline: Outline) -> dict[int, list[int]]:
    """The ends of the steps of optimisers, by the call stack that makes them; one inside another is a part of it."""
    ends: dict[int, list[int]] = {}
    around: list[int] = []  # of each group around the next event, the stack of a step; -1 if it is not one
    entered = CODES[GroupEntered]
    for event in outline.where(GroupEntered, GroupLeft).tolist():
        if outline.kinds[event] & (RECORDED - 1) == entered:
            group = trace.events[event]
            is_step = isinstance(group, GroupEntered) and bool(group.optimizer) and max(around, default=-1) < 0
            around.append(int(outline.stacks[event]) if is_step else -1)
        elif around and (stack := around.pop()) >= 0:
            ends.setdefault(stack, []).append(event + 1)
    return ends
