"""The iterations of a training, counted while it is recorded, and which of them keep their values."""

from __future__ import annotations

from dataclasses import dataclass

from ..events import AnyEvent, BackwardEnded, BackwardStarted, GroupEntered, GroupLeft


class Iterations:
    """The number of iterations that have ended, by a rule that does not need later events.

    An iteration ends with `optimizer.step()`; until an optimiser has made a step, with a backward call. If there are
    several, those at the position in the program that came first count: a loop that trains two networks in each pass
    has one iteration per pass.
    """

    def __init__(self) -> None:
        self.steps = self.calls = 0
        self._groups: list[bool] = []  # of each group around the next event, whether its end ends an iteration
        self._stepped: int | None = None  # the call stack of the first step,
        self._called: int | None = None  # and of the first backward call
        self._call: int | None = None

    @property
    def number(self) -> int:
        """The current iteration, counted from 0."""
        return self.steps if self._stepped is not None else self.calls

    def see(self, event: AnyEvent) -> None:
        """Take note of the next event."""
        if isinstance(event, GroupEntered):
            is_step = event.kind.endswith(".step")
            if is_step and self._stepped is None:
                self._stepped = event.stack
            self._groups.append(is_step and event.stack == self._stepped)
        elif isinstance(event, GroupLeft):
            self.steps += bool(self._groups and self._groups.pop())
        elif isinstance(event, BackwardStarted):
            if self._called is None:
                self._called = event.stack
            if self._call is None and event.stack == self._called:
                self._call = event.call
        elif isinstance(event, BackwardEnded) and event.call == self._call:
            self.calls, self._call = self.calls + 1, None


@dataclass(frozen=True, slots=True)
class Selection:
    """The iterations whose values are kept: those in `ranges`, [first, end) with None for no end, and every `every`-th;
    all of them if neither is given.

    >>> [i for i in range(120) if Selection(((3, 5), (118, None)), every=50).keeps(i)]
    [0, 3, 4, 50, 100, 118, 119]
    """

    ranges: tuple[tuple[int, int | None], ...] = ()
    every: int | None = None

    @property
    def is_all(self) -> bool:
        return not self.ranges and self.every is None

    def keeps(self, iteration: int) -> bool:
        """Whether the values of an iteration are kept."""
        if self.is_all or (self.every is not None and iteration % self.every == 0):
            return True
        return any(first <= iteration and (end is None or iteration < end) for first, end in self.ranges)


ALL = Selection()
"""Every iteration."""
