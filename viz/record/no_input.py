"""Standard input of a program that is run again: nobody can type, and the earlier input was not recorded."""

from __future__ import annotations

import io
from typing import Any


class NoInput(io.RawIOBase):
    """A file that notes an attempt to read from it, and ends there."""

    def __init__(self) -> None:
        self.was_read = False

    def readable(self) -> bool:
        return True

    def readinto(self, _buffer: Any) -> int:
        self.was_read = True
        return 0

    def as_text(self) -> io.TextIOWrapper:
        """In the form of `sys.stdin`."""
        return io.TextIOWrapper(io.BufferedReader(self), encoding="utf-8")
