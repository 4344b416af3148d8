"""The program's text at a position."""

from __future__ import annotations

from functools import lru_cache

from engine.trace.events import Frame, Trace

from . import text


@lru_cache(maxsize=64)
def lines_of(code: str) -> tuple[str, ...]:
    """The lines of a file, split once: a scene asks for a few of them at each step."""
    return tuple(code.splitlines())


def source(trace: Trace, frame: Frame, limit: int = 60) -> str:
    """The program's text of one position, on one line."""
    lines = [*lines_of(trace.files.get(frame.file, ""))[frame.line - 1 : frame.end_line]]
    if not lines:
        return f"line {frame.line}"
    lines[-1] = lines[-1][: frame.end_col]
    lines[0] = lines[0][frame.col :]
    return text.one_line("\n".join(lines), limit)
