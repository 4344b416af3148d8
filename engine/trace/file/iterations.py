"""The iterations of a training, counted while it is recorded, and which of them keep their values."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

from ..events import AnyEvent, BackwardEnded, BackwardStarted, GroupEntered, GroupLeft, Skipped


class PassCounter:
    """The number of passes through a loop that have ended, counted at the position in the program that ends each.

    That is the last position of those seen in the first pass, such as the second step of a GAN.  Which one it is, is
    certain when the first one comes again; until then the first pass counts as over at its first position.  Another
    position that is seen twice without the one that counts has a loop of its own, which takes over: a second training
    is counted on.

    >>> passes = PassCounter()
    >>> for step in "DGDGDG":
    ...     passes.see(step)
    >>> passes.count
    3
    """

    def __init__(self) -> None:
        self.count = 0
        self.is_certain = False
        self._place: Hashable | None = None
        self._others: dict[Hashable, None] = {}  # since the place was last seen, in order

    def see(self, place: Hashable) -> None:
        """Take note of the place, such as a call stack, at which something has ended."""
        if self._place is None:
            self.count, self._place = 1, place
            return
        if place == self._place:
            if self._others and not self.is_certain:
                self._place = next(reversed(self._others))
            else:
                self.count += 1
        elif place in self._others:
            self.count, self._place = self.count + 2, place  # both of its passes
        else:
            self._others[place] = None
            return
        self.is_certain = True
        self._others.clear()


class Iterations:
    """The number of iterations that have ended, by a rule that does not need later events.

    An iteration ends with `optimizer.step()`; until an optimiser has made a step, with a backward call. `PassCounter`
    says at which positions.
    """

    def __init__(self) -> None:
        self.skipped = 0
        """How many of them are not recorded, because the recording paused."""
        self._steps, self._calls = PassCounter(), PassCounter()
        self._groups: list[int | None] = []  # of each group around the next event, where it made a step
        self._is_stepped = False
        self._open: dict[int, int] = {}  # the backward calls that run, with their call stacks

    @property
    def number(self) -> int:
        """The current iteration, counted from 0."""
        return self._passes.count

    @property
    def numbers(self) -> tuple[int, ...]:
        """The current iteration; the first and the second, as long as it is not certain which of them it is."""
        return (self.number,) if self.number != 1 or self._passes.is_certain else (0, 1)

    @property
    def _passes(self) -> PassCounter:
        return self._steps if self._is_stepped else self._calls

    @property
    def are_updates(self) -> bool:
        """Whether each ends with a step of an optimiser."""
        return self._is_stepped

    def see(self, event: AnyEvent) -> None:
        """Take note of the next event."""
        if isinstance(event, GroupEntered):
            is_step = bool(event.optimizer)
            self._is_stepped |= is_step
            self._groups.append(event.stack if is_step else None)
        elif isinstance(event, GroupLeft):
            if self._groups and (place := self._groups.pop()) is not None:
                self._steps.see(place)
        elif isinstance(event, BackwardStarted):
            self._open[event.call] = event.stack
        elif isinstance(event, BackwardEnded) and event.call in self._open:
            place = self._open.pop(event.call)
            if not self._open:  # one within another is a part of it
                self._calls.see(place)
        elif isinstance(event, Skipped):
            self._steps.count += event.iterations
            self.skipped += event.iterations


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
        """Return whether the values of an iteration are kept."""
        if self.is_all or (self.every is not None and iteration % self.every == 0):
            return True
        return any(first <= iteration and (end is None or iteration < end) for first, end in self.ranges)


ALL = Selection()
"""Every iteration."""
