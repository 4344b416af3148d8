"""The recorder's own frames, which neither the tracebacks of a program show nor its warnings name.

Nothing here imports torch.
"""

from __future__ import annotations

import functools
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, TypeVar

from engine.trace import module_names

T = TypeVar("T")
OURS = os.path.join(os.path.dirname(os.path.dirname(__file__)), ""), module_names.__file__
"""The beginnings of the names of our files."""
BEYOND = 1 << 30
"""A level of a warning that no stack has: Python names `sys` then."""
OPS = os.path.join("torch", "_ops.py")
HERE = ("always", None, Warning, re.compile(r"torch\._ops\Z|viz\.record\.torch\."), 0)
"""A filter of warnings: all that are given in frames that may be ours are seen, and given again where they belong."""


def of_program(entries: Iterable[T], frame_of: Callable[[T], FrameType]) -> Iterator[T]:
    """Those of some entries, one for each frame, outermost first, that are neither ours nor of torch where we run an
    op through it."""
    is_ours = False
    for entry in entries:
        file = frame_of(entry).f_code.co_filename
        is_ours = file.startswith(OURS) or (is_ours and file.endswith(OPS))
        if not is_ours:
            yield entry


def of_program_outwards(entries: Iterable[T], frame_of: Callable[[T], FrameType]) -> Iterator[T]:
    """The same for entries that are innermost first, in their order."""
    return reversed([*of_program(reversed([*entries]), frame_of)])


def without_ours(traceback: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of the recorder, and those of torch through which it runs an op."""
    whole = []
    while traceback is not None:
        whole.append(traceback)
        traceback = traceback.tb_next
    frames = [*of_program(whole, lambda entry: entry.tb_frame)]
    for outer, inner in zip(frames, [*frames[1:], None], strict=True):
        outer.tb_next = inner
    return frames[0] if frames else None


def place_of(warning: Any, frame: FrameType | None) -> FrameType | None:
    """The frame that a warning names, among the one in which it is given and those around it; for one of ours, and one
    of torch's in which we run an op, the frame of the program around those."""
    while frame is not None and (frame.f_code.co_filename, frame.f_lineno) != (warning.filename, warning.lineno):
        frame = frame.f_back
    around = []
    while frame is not None:
        around.append(frame)
        frame = frame.f_back
    return next(of_program_outwards(around, lambda one: one), None)


def warn_in_program(real: Any) -> Any:
    """Replaces `warnings.warn`: the frames that `stacklevel` counts are those of the program."""

    @functools.wraps(real)
    def warn(message: Any, category: Any = None, stacklevel: Any = 1, source: Any = None, **options: Any) -> None:
        if isinstance(stacklevel, int):
            stacklevel = level_of(sys._getframe(1), stacklevel, tuple(options.get("skip_file_prefixes", ())))
        real(message, category, stacklevel, source, **options)

    return warn


def level_of(frame: FrameType, level: int, skipped: tuple[str, ...]) -> int:
    """The level, in a function that `frame` calls, of the frame of the program that has this level in `frame`.

    Files whose names begin with those `skipped` are not counted, except for that of `frame`.
    """
    around: list[FrameType] = []
    outer: FrameType | None = frame
    while outer is not None:
        if outer is frame or not is_skipped(outer, skipped):
            around.append(outer)
        outer = outer.f_back
    places = [place for place, _ in of_program_outwards([*enumerate(around)], lambda one: one[1])]
    level = max(level, 2 if skipped else 1)
    if level > len(places):
        return BEYOND
    return places[level - 1] + (1 if is_skipped(frame, skipped) else 2)


def is_skipped(frame: FrameType, prefixes: tuple[str, ...]) -> bool:
    """Return whether Python does not count a frame when it looks for the one that a warning names."""
    name = frame.f_code.co_filename
    return ("importlib" in name and "_bootstrap" in name) or name.startswith(prefixes)


def show_in_program(real: Any) -> Any:
    """Replaces `warnings._showwarnmsg` while the filter `HERE` stands: a warning that this lets through is given
    again in the frame of the program, whose filters decide whether it is shown, and may make it an error."""
    again = False

    @functools.wraps(real)
    def _showwarnmsg(warning: Any) -> None:
        nonlocal again
        frame = None
        if not again and (warning.filename.startswith(OURS) or warning.filename.endswith(OPS)):
            frame = place_of(warning, sys._getframe(1))
        if frame is None or HERE not in warnings.filters:
            real(warning)
            return
        filters: Any = warnings.filters
        place = filters.index(HERE)
        del filters[place]
        again = True
        try:
            registry = frame.f_globals.setdefault("__warningregistry__", {})
            name = frame.f_globals.get("__name__") or "<string>"
            file, line = frame.f_code.co_filename, frame.f_lineno
            warnings.warn_explicit(warning.message, warning.category, file, line, name, registry, source=warning.source)
        finally:
            again = False
            filters.insert(place, HERE)

    return _showwarnmsg
