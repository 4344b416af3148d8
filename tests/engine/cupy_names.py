"""What cupy offers under numpy's names, so that it can be asked where there is no cupy.

`python -m tests.engine.cupy_names` writes the list anew, where cupy is installed (a GPU is not needed).
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
ROOMS = ("", "fft", "lib.stride_tricks", "linalg", "random")


def offered() -> list[str]:
    """The dotted names of cupy's functions, and of the methods of its ufuncs."""
    cupy = importlib.import_module("cupy")
    return sorted(name for room in ROOMS for name in _names(cupy, room))


def _names(cupy: ModuleType, room: str) -> Iterator[str]:
    holder: Any = cupy
    for part in filter(None, room.split(".")):
        holder = getattr(holder, part)
    for name in dir(holder):
        if name.startswith("_"):
            continue
        dotted = f"{room}.{name}" if room else name
        yield dotted
        value = getattr(holder, name)
        if isinstance(value, cupy.ufunc):
            yield from (f"{dotted}.{method}" for method in dir(value) if not method.startswith("_"))


if __name__ == "__main__":
    version = importlib.import_module("cupy").__version__
    FILE.write_text("\n".join([f"# cupy {version}", *offered()]) + "\n", encoding="utf-8")
    print(FILE)
