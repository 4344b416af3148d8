"""A recording as it is shown: section by section where it is a training run, else as one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from engine.trace.events import ErrorRaised, Trace
from engine.trace.file.consistency import checked
from engine.trace.file.outline import Outline, outline, outline_in_file

from .iterations import Section, backward_calls, sections
from .overview import Overview, by_call, overview
from .prefix import CHECKED, MOST, shortened
from .window import Windows

SHORT = 400
"""Events below which iterations are not shown one at a time: the whole is seen, and understood, at once."""
SEVERAL = 8
"""Sections from which on a run opens as a whole."""


@dataclass(frozen=True)
class Run:
    """The sections of a trace, and each of them as a trace.

    A trace that is short, that has no training loop, or of which a story is told, is its own only section.  Of a
    section that is longer than `most` events, these are shown.
    """

    whole: Trace
    most: int = MOST
    is_told: bool = False

    @cached_property
    def outline(self) -> Outline:
        return outline_in_file(self.whole) or outline(self.whole.events)

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        if self.is_told or len(self.whole.events) < SHORT:
            return (Section("iteration", "", 0, len(self.whole.events)),)
        return sections(self.whole, self.outline)

    @property
    def is_measured(self) -> bool:
        """Whether the numbers of its overview were noted when it was recorded, so that they need not be worked out."""
        return self.outline.measures is not None

    @property
    def is_divided(self) -> bool:
        return len(self.sections) > 1

    @cached_property
    def overview(self) -> Overview:
        return overview(self.whole, self.outline, self.sections)

    @cached_property
    def flow(self) -> Overview:
        """The overview; of a program without iterations with a column for each of its backward calls."""
        calls = () if self.is_divided else backward_calls(self.whole, self.outline)
        found = by_call(self.whole, self.outline, calls) if len(calls) > 1 else self.overview
        return found if len(found.calls) > 1 else self.overview

    @cached_property
    def _windows(self) -> Windows:
        return Windows(self.whole, self.outline, self.sections)

    def trace(self, number: int) -> Trace:
        """One section.  Raises IndexError where there is none of this number, TraceFileError where a file contradicts
        itself there."""
        if not 0 <= number < len(self.sections):
            raise IndexError(f"section {number} of {len(self.sections)}")
        return shortened(self._windows.trace(number) if self.is_divided else self._sound, self.most)

    def tensors(self, number: int) -> Mapping[int, int]:
        """The tensors of a section by their numbers in it: their numbers in the whole.  Linear in its events."""
        if self.is_divided:
            return self._windows.tensors(number)
        return {tensor: tensor for tensor in range(len(self.outline.born))}

    @cached_property
    def _sound(self) -> Trace:
        """The whole, of which what is shown was read and fits together."""
        return self.whole if len(self.whole.events) <= CHECKED else checked(self.whole, self.most)

    @cached_property
    def opens(self) -> int:
        """The section that is shown first: that of the error with which the run ends, else the first iteration."""
        if self._has_failed:
            return len(self.sections) - 1
        return next(k for k, section in enumerate(self.sections) if section.kind == "iteration")

    @property
    def opens_whole(self) -> bool:
        """Whether the run view is shown first: of several iterations, unless the run ends with an error."""
        return len(self.sections) >= SEVERAL and not self._has_failed

    @property
    def _has_failed(self) -> bool:
        events = self.whole.events
        return any(isinstance(events[k], ErrorRaised) for k in range(max(0, len(events) - 3), len(events)))
