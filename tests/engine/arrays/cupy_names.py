"""The names that cupy shares with numpy and scipy, with their parameters, for machines without cupy.

`python -m tests.engine.arrays.cupy_names` writes the list anew, where cupy is installed (a GPU is not needed).
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

FILE = Path(__file__).with_suffix(".txt")
ROOMS = {
    **{room: f"cupy.{room}".rstrip(".") for room in ("", "fft", "lib.stride_tricks", "linalg", "random")},
    "scipy.linalg": "cupyx.scipy.linalg",
    "scipy.special": "cupyx.scipy.special",
}
"""Rooms of numpy (and scipy), and where cupy has them."""
LIBRARIES = ("cublas", "cusolver", "cusparse")
"""Named at import by cupy's linear algebra; they come with CUDA and are not asked anything here."""


def offered() -> list[str]:
    """The names of cupy's functions with what they take, `sum(a, axis=, dtype=, out=, keepdims=)`, and its ufuncs'.

    A ufunc (and what does not tell what it takes) stands without parentheses.
    """
    cupy = importlib.import_module("cupy")
    for library in LIBRARIES:
        if not _has(cupy.cuda, library):
            setattr(cupy.cuda, library, SimpleNamespace())
    ufuncs = (cupy.ufunc, type(cupy.matmul))
    return sorted(
        line for room, where in ROOMS.items() for line in _names(importlib.import_module(where), room, ufuncs)
    )


def _has(holder: Any, name: str) -> bool:
    try:
        return hasattr(holder, name)
    except ImportError:
        return False


def _names(holder: Any, room: str, ufuncs: tuple[type, ...]) -> Iterator[str]:
    for name in dir(holder):
        if name.startswith("_"):
            continue
        dotted = f"{room}.{name}" if room else name
        value = getattr(holder, name)
        if isinstance(value, ufuncs):
            yield dotted
            yield from (f"{dotted}.{method}" for method in dir(value) if not method.startswith("_"))
        else:
            yield dotted + _taken(value)


def _taken(value: Any) -> str:
    """The parameters of a function, without types and defaults' values."""
    if isinstance(value, type) or not callable(value):
        return ""
    try:
        found = inspect.signature(value)
    except ValueError:
        return ""
    bare = [p.replace(annotation=p.empty, default=p.empty) for p in found.parameters.values()]
    shown = str(found.replace(parameters=bare, return_annotation=found.empty))
    for p in found.parameters.values():
        if p.default is not p.empty:
            shown = shown.replace(f" {p.name},", f" {p.name}=,").replace(f"({p.name},", f"({p.name}=,")
            shown = shown.replace(f" {p.name})", f" {p.name}=)").replace(f"({p.name})", f"({p.name}=)")
    return shown


def listed() -> dict[str, inspect.Signature | None]:
    """The stored names; with each, what it takes, where that is known."""
    found: dict[str, inspect.Signature | None] = {}
    for line in FILE.read_text(encoding="utf-8").splitlines():
        name, opened, taken = line.partition("(")
        if not line.startswith("#"):
            found[name] = signature_of(taken.removesuffix(")")) if opened else None
    return found


def signature_of(taken: str) -> inspect.Signature:
    parameters: list[inspect.Parameter] = []
    kind: Any = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for part in filter(None, taken.split(", ")):
        if part == "/":
            parameters = [p.replace(kind=p.POSITIONAL_ONLY) for p in parameters]
        elif part == "*":
            kind = inspect.Parameter.KEYWORD_ONLY
        elif part.startswith("**"):
            parameters.append(inspect.Parameter(part[2:], inspect.Parameter.VAR_KEYWORD))
        elif part.startswith("*"):
            parameters.append(inspect.Parameter(part[1:], inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
        else:
            default = None if part.endswith("=") else inspect.Parameter.empty
            parameters.append(inspect.Parameter(part.removesuffix("="), kind, default=default))
    return inspect.Signature(parameters)


if __name__ == "__main__":
    version = importlib.import_module("cupy").__version__
    FILE.write_text("\n".join([f"# cupy {version}", *offered()]) + "\n", encoding="utf-8")
    print(FILE)
