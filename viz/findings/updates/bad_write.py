"""The write that brings a nan or an infinity into a parameter, in whichever iteration of a run.  Pure."""

from __future__ import annotations

from bisect import bisect_right

from engine.trace.file.outline import VALUE

from ...run.run import Run
from ...run.state import number_before


def section_of_bad_write(run: Run, number: int, leaf: int) -> int | None:
    """The section in which a leaf of a section, not finite at its beginning, was first written so; None if it never was
    finite before.

    A parameter that is nan stays so in later updates, so the write is searched for by halving: few values are read.
    """
    tensors = run.tensors(number)
    if leaf not in tensors:
        return None
    writes = run.outline.changes_of(tensors[leaf], VALUE, run.sections[number].start)
    place = bisect_right(writes, False, key=lambda write: not _is_finite(run, write[1]))
    if place == len(writes):
        return None
    before = number_before(run.whole, run.outline, tensors[leaf], writes[place][0])
    if before is None or not _is_finite(run, before):
        return None
    section = bisect_right(run.sections, writes[place][0], key=lambda one: one.start) - 1
    return section if 0 <= section < number else None


def _is_finite(run: Run, value: int) -> bool:
    stats = run.whole.value(value).stats
    return not stats["nan"] and not stats["inf"]
