"""The printed text of a script, noted in its recording: `sys.stdout` and `sys.stderr` remain the same objects.

Only their `write` is replaced, by one that calls it first: the text arrives as without us.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable
from typing import Any

from engine.arrays.session import is_users, slot
from engine.trace.recorder import Recorder

MOST_LINES = 20
"""The most lines of one call, or of a loop around it in which nothing else is recorded; of the others only the number
is kept."""
MOST_TEXT = 2_000
"""Characters of them."""
MOST_OF_ALL = 4_000_000
"""The most characters of all texts of a recording; after that only the number of lines is kept."""
WARNINGS = ("warnings", "_py_warnings")
"""Python's modules that print warnings, which are events of their own."""


def note_prints(recorder: Recorder) -> None:
    """Note the text that the program prints from now on, while `recorder` records.

    This is text that the program's own code causes to be written: by `print`, `logging`, a progress bar.
    """
    prints = Prints(recorder)
    for name in ("stdout", "stderr"):
        stream: Any = getattr(sys, name)
        with contextlib.suppress(AttributeError, TypeError):  # there is none, or its `write` cannot be replaced
            stream.write = _noting(stream.write, name, prints)


def _noting(write: Callable[[str], Any], name: str, prints: Prints) -> Callable[[str], Any]:
    def noting(text: str) -> Any:
        result = write(text)
        prints.wrote(name, text, sys._getframe().f_back)  # None in what Python calls at its exit
        return result

    return noting


class Prints:
    """The prints of a recording.

    A `print` writes its parts and the end of the line one by one, and a loop may print a million lines. The text that
    the same call writes while nothing else is recorded is one entry of the log, which is replaced by a longer one.
    """

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.room = MOST_OF_ALL
        self._lock = threading.RLock()  # a signal's handler may print too
        self._entry: tuple[Any, ...] | None = None
        self._call: tuple[str, int, tuple[int, ...]] = "", 0, ()
        self._within = False  # whether what is left out ends within a line

    def wrote(self, stream: str, text: str, frame: Any) -> None:
        """The program wrote a text, in this frame."""
        recorder = self.recorder
        if slot.active is not recorder or not text or (frame and frame.f_globals.get("__name__") in WARNINGS):
            return
        while frame is not None and not is_users(frame.f_code.co_filename):
            frame = frame.f_back
        if frame is None:
            return
        if recorder.settle is not None:
            recorder.settle()
        with self._lock:
            log = recorder.log
            # Not by the instructions: Python may put others in the place of those that run often.
            call = (stream, frame.f_lineno, recorder.stacks.frames(frame)[::2])
            last, entry = len(log) - 1, self._entry
            if entry is not None and log[last] is entry and call == self._call:
                log[last] = self._entry = self._longer(entry, text)
                return
            self._call, self._within = call, False
            number = recorder.stacks.number(2)
            self._entry = self._longer(("print", number, stream, "", 0), text)
            log.append(self._entry)

    def _longer(self, entry: tuple[Any, ...], text: str) -> tuple[Any, ...]:
        """The entry with a text appended, as far as it has room."""
        kind, number, stream, before, more = entry
        rest = text
        if not more and not self._within and self.room > 0:
            head, rest = cut(before + text)
            self.room -= len(head) - len(before)
            self._within = bool(rest) and not head.endswith("\n")
            before = f"{head}…" if self._within else head
        if rest:
            more += rest.count("\n") + (not rest.endswith("\n")) - self._within
            self._within = not rest.endswith("\n")
        return kind, number, stream, before, more


def cut(text: str) -> tuple[str, str]:
    """A text in two parts, of which the first is kept: whole lines, or the beginning of a single long one.

    >>> cut("a\\nb\\n")
    ('a\\nb\\n', '')
    """
    lines = text.split("\n", MOST_LINES)
    head = text if len(lines) <= MOST_LINES else text[: len(text) - len(lines[-1])]
    if len(head) > MOST_TEXT:
        end = head.rfind("\n", 0, MOST_TEXT) + 1
        head = head[: end or MOST_TEXT]
    return head, text[len(head) :]
