"""The context for the innermost layers: the active recording, and which code is the user's."""

from __future__ import annotations

import functools
import linecache
import os
import re
import sys
import sysconfig
import warnings
from typing import Any

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY = tuple({sysconfig.get_paths()[k] for k in ("stdlib", "platstdlib", "purelib", "platlib")})
_INSTALLED = re.compile(r"[/\\](site|dist)-packages[/\\]")
"""Installed elsewhere than in this environment: with `pip install --user`, or in one that this one is built on."""
_OURS = (_HERE + os.sep, os.path.join(os.path.dirname(_HERE), "viz") + os.sep)


_GALLERY = os.path.join(_OURS[1], "gallery") + os.sep


class Slot:
    """Where op dispatch and the backward loop look for the recording that runs, if any.

    `noted` counts the threads that want to know of every op (to detect anomalies, to pack what is saved, in inference
    mode, in forward mode): ops then take the way on which they are told.  `swap` opens that way and closes it.
    `off` counts the threads that record no gradients: while there are none, nobody need look which one it is in.
    `stepped` is called with each optimiser that has made a step, recorded or not.
    """

    __slots__ = ("active", "noted", "off", "stepped", "swap")
    active: Any

    def __init__(self) -> None:
        self.active = None
        self.stepped: Any = None
        self.noted = 0
        self.off = 0
        self.swap: Any = None

    def note(self, step: int) -> None:
        """One more (1) or one less (-1) wants to know of every op."""
        self.noted += step
        self.swap(self.noted > 0)


slot = Slot()


def reserve(kind: type, *names: str) -> None:
    """Have all instances of a class share one table of these attributes.

    Python gives such a table to a class, and its instances keep their values alone; a name that none of the first
    thirty instances has does not get into it, and whatever has that attribute then needs a dict of its own.
    """
    first: Any = object.__new__(kind)
    for name in names:
        setattr(first, name, None)


class unrecorded:
    """Code inside is not part of a recording: the making of a layer's parameters, the counting of steps.

    What is made inside becomes part of it when it is used outside, with the values that it has then.
    """

    def __enter__(self) -> None:
        self.before, slot.active = slot.active, None

    def __exit__(self, *_: object) -> None:
        slot.active = self.before


@functools.cache
def is_users(filename: str) -> bool:
    """Return whether a file of code is the user's: neither ours, nor the library's, nor synthetic (`<frozen ...>`)."""
    if filename.startswith("<"):
        return filename.startswith(("<stdin>", "<ipython", "<backstep"))
    if filename.startswith(_GALLERY):
        return True
    return not filename.startswith(_OURS) and not filename.startswith(_LIBRARY) and not _INSTALLED.search(filename)


def users_line() -> str | None:
    """The innermost line of the user that runs now: file, number and text; None where there is none."""
    frame: Any = sys._getframe(1)
    while frame is not None and not is_users(frame.f_code.co_filename):
        frame = frame.f_back
    if frame is None:
        return None
    file, number = frame.f_code.co_filename, frame.f_lineno
    text = linecache.getline(file, number, frame.f_globals).strip()
    return f"{os.path.basename(file)}, line {number}" + (f": {text}" if text else "")


def callers_level() -> int:
    """The `stacklevel` of a warning that the function which asks gives about the line that called the engine."""
    frame: Any = sys._getframe(1)
    level = 1
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_OURS[0]):
        frame, level = frame.f_back, level + 1
    return level


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """torch's warning, about the line that called the engine; a recording tells of it too."""
    warnings.warn(message, category, stacklevel=callers_level())
    if slot.active is not None:
        slot.active.event("warning", category.__name__, message)
