"""A recording as it is shown: section by section if it is a training run, else as one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

import numpy as np

from engine.trace.events import BackwardStarted, ErrorRaised, Skipped, Trace
from engine.trace.file.consistency import checked
from engine.trace.file.database import Rows, TraceFileError
from engine.trace.file.outline import Outline, outline, outline_in_file

from .iterations import Section, backward_calls, sections
from .overview import Overview, by_call, overview
from .pauses import ends_of_steps, within
from .picked_values import PickedValues
from .prefix import CHECKED, MOST, shortened
from .window import Windows

SHORT = 400
"""The number of events below which a program is shown as a whole: it can be understood at once."""
SMALL = 40
"""The same for a program with several iterations that make an update: in a larger one they would be folded, and one
at a time shows more."""
SEVERAL = 8
"""The number of sections from which on a run opens with its overview."""
LONG = 20_000
"""The number of events from which on the graph of a section takes so long that the overview is shown first."""


@dataclass(frozen=True)
class Run:
    """The sections of a trace, and each of them as a trace.

    A trace that is short, that has no training loop, or that has a story is a single section: short is one of fewer
    than `SMALL` events if several of its iterations make an update, else of fewer than `SHORT`. A section of more than
    `most` events shows the first ones.
    """

    whole: Trace
    most: int = MOST
    is_told: bool = False

    @cached_property
    def outline(self) -> Outline:
        with _contradictions_refused(self.whole):
            return outline_in_file(self.whole) or outline(self.whole.events)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        count = len(self.whole.events)
        whole = (Section("iteration", "", 0, count),)
        is_paused = len(self.outline.where(Skipped)) > 0
        if self.is_told or (count < SMALL and not is_paused):
            return whole
        with _contradictions_refused(self.whole):
            parts = sections(self.whole, self.outline)
            return parts if is_paused or count >= SHORT or self._updates(parts) > 1 else whole

    def _updates(self, parts: Sequence[Section]) -> int:
        """The number of iterations in which an optimiser takes a step."""
        ends = np.sort(list(chain.from_iterable(ends_of_steps(self.whole, self.outline).values())))
        return sum(part.kind == "iteration" and within(ends, part.start + 1, part.end + 1) for part in parts)

    @property
    def is_measured(self) -> bool:
        """Whether the numbers of its overview were written during the recording and need not be computed."""
        return self.outline.measures is not None

    @property
    def is_divided(self) -> bool:
        return len(self.sections) > 1

    @cached_property
    def overview(self) -> Overview:
        with _contradictions_refused(self.whole):
            return overview(self.whole, self.outline, self.sections)

    @cached_property
    def flow(self) -> Overview:
        """The overview; for a program without iterations, one column per backward call."""
        with _contradictions_refused(self.whole):
            calls = () if self.is_divided else backward_calls(self.whole, self.outline)
            run = by_call(self.whole, self.outline, calls) if len(calls) > 1 else self.overview
        return run if len(run.calls) > 1 else self.overview

    @cached_property
    def _windows(self) -> Windows:
        return Windows(self.whole, self.outline, self.sections)

    def trace(self, number: int) -> Trace:
        """One section.

        Raises IndexError if there is none of this number, TraceFileError if the file contradicts itself there.
        """
        if not 0 <= number < len(self.sections):
            raise IndexError(f"section {number} of {len(self.sections)}")
        return self._windows.trace(number, self.most) if self.is_divided else self._beginning

    def tensors(self, number: int) -> Mapping[int, int]:
        """The tensors of a section: their numbers in the whole by their numbers in the section. Linear in its
        events."""
        if self.is_divided:
            with _contradictions_refused(self.whole):
                return self._windows.tensors(number)
        return {tensor: tensor for tensor in range(len(self.outline.born))}

    @cached_property
    def _beginning(self) -> Trace:
        """The whole recording as it is shown: the same trace each time, because it is read once."""
        return shortened(self._sound, self.most)

    @cached_property
    def _sound(self) -> Trace:
        """The whole recording, after the part that is shown was read and checked."""
        sound = self.whole if len(self.whole.events) <= CHECKED else checked(self.whole, self.most)
        if not isinstance(sound.values, Rows):
            return sound
        return replace(sound, values=PickedValues(sound.values, range(len(sound.values))))

    @cached_property
    def opens(self) -> int:
        """The section that is shown first: the one with the error that ends the run, else the first iteration with a
        backward call, as an agent's first ones have none, else the first."""
        if self._has_failed:
            return len(self.sections) - 1
        iterations = [k for k, section in enumerate(self.sections) if section.kind == "iteration"]
        calls = self.outline.where(BackwardStarted)
        return next((k for k in iterations if _any_within(calls, self.sections[k])), iterations[0])

    @property
    def opens_whole(self) -> bool:
        """Whether the run view is shown first: if there are several iterations, or long ones, and the run does not end
        with an error."""
        first = self.sections[self.opens]
        is_large = len(self.sections) >= SEVERAL or (self.is_divided and first.end - first.start >= LONG)
        return is_large and not self._has_failed

    @property
    def _has_failed(self) -> bool:
        events = self.whole.events
        return any(isinstance(events[k], ErrorRaised) for k in range(max(0, len(events) - 3), len(events)))


def _any_within(events: np.ndarray, section: Section) -> bool:
    start, end = np.searchsorted(events, (section.start, section.end))
    return bool(start < end)


@contextmanager
def _contradictions_refused(whole: Trace) -> Iterator[None]:
    """Refuses a file whose outline does not fit its events, as one that is damaged.

    The outline is used before the events are read; these are checked section by section, when each is shown.
    """
    try:
        yield
    except (KeyError, IndexError, StopIteration, ValueError, OverflowError, RecursionError) as error:
        if isinstance(error, TraceFileError) or not isinstance(whole.events, Rows):
            raise
        raise whole.events.source.damage_error(f"its events contradict each other ({error})") from error
