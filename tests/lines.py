"""How much work a call is, counted in lines of Python that run: the same on every machine."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines_of(run: Callable[[], object]) -> int:
    """How many lines of Python a call executes.

    >>> lines_of(lambda: 1)
    1
    """
    count = 0

    def counted(frame: FrameType, event: str, argument: object) -> Any:
        nonlocal count
        count += event == "line"
        return counted

    before = sys.gettrace()
    sys.settrace(counted)
    try:
        run()
    finally:
        sys.settrace(before)
    return count
