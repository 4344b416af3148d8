"""The difference between two texts of a program, line by line.  Pure."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher


@dataclass(frozen=True, slots=True)
class RemovedLines:
    """Lines that only the other text has: they would stand before the line `before` (from 1)."""

    before: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextDifference:
    """`added` are the numbers (from 1) of the lines that only this text has."""

    added: tuple[int, ...]
    gone: tuple[RemovedLines, ...]


def changed_lines(other: str, text: str) -> TextDifference:
    """The lines that only `text` has, and those that only `other` has.

    >>> changed_lines("a = 1\\nb = 2\\n", "a = 1\\nb = 3\\n")
    TextDifference(added=(2,), gone=(RemovedLines(before=2, lines=('b = 2',)),))
    """
    old, new = other.splitlines(), text.splitlines()
    added: list[int] = []
    gone: list[RemovedLines] = []
    for kind, first, last, start, stop in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        added += range(start + 1, stop + 1)
        if last > first:
            gone.append(RemovedLines(start + 1, tuple(old[first:last])))
    return TextDifference(tuple(added), tuple(gone))
