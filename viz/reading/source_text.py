"""The program's text at a position."""

from __future__ import annotations

from engine.trace.events import Frame, Trace

from . import text


def source(trace: Trace, frame: Frame, limit: int = 60) -> str:
    """The program's text of one position, on one line."""
    lines = trace.files.get(frame.file, "").splitlines()[frame.line - 1 : frame.end_line]
    if not lines:
        return f"line {frame.line}"
    lines[-1] = lines[-1][: frame.end_col]
    lines[0] = lines[0][frame.col :]
    return text.one_line("\n".join(lines), limit)
