"""The place where a program was recorded, in a form that recognises it and says nothing about the machine."""

from __future__ import annotations

import hashlib
import os
import sys


def place_of(folder: str | os.PathLike[str]) -> str:
    """A name for a working folder and the Python that runs there."""
    return hashlib.sha256(f"{os.path.realpath(folder)}\0{sys.executable}".encode()).hexdigest()[:16]
