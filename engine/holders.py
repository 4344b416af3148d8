"""Under which name a program holds a module: what a reader calls it, and its parameters by."""

from __future__ import annotations

from collections.abc import Iterator
from inspect import CO_OPTIMIZED
from types import FrameType
from typing import Any

from .slot import is_users

BUFFERS: set[str] = set()
"""Names of the buffers that modules have; while there are none, nothing but a parameter is looked for in them."""
MOST = 1_000
"""Entries of a list or a dict that are looked through."""


def held_as(module: Any, frame: FrameType | None) -> str:
    """`model`, `model.encoder`, `layers[0]`, `net` where that is `self.net`; "" where no name is found.

    The outermost of the user's frames counts, where `model` still is `model` and not the `m` of a helper; of several
    names the first.
    """
    held = list(_names(frame))
    for look in (_directly, _in_objects):
        for name, value in held:
            found = next(look(name, value, module), None)
            if found is not None:
                return found
    return ""


def held_modules(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """The modules that the user's frames have by a name, or in a list, a tuple or a dict: (`model`, the module).

    The outermost frame comes first.  `self` says nothing of who holds the module, and is left out.
    """
    for name, value in _names(frame):
        if type(value) in (list, tuple):
            yield from ((f"{name}[{place}]", item) for place, item in enumerate(value[:MOST]) if _is_module(item))
        elif type(value) is dict and len(value) <= MOST:
            yield from ((f"{name}[{key!r}]", item) for key, item in value.items() if _is_module(item))
        elif name != "self" and _is_module(value):
            yield name, value


def _names(frame: FrameType | None) -> Iterator[tuple[str, Any]]:
    """What the user's frames have by a name, the outermost frame first."""
    frames = []
    while frame is not None:
        if is_users(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    spaces = {id(outer.f_globals) for outer in frames}  # who runs a program by exec() holds its names in a dict
    for outer in reversed(frames):
        held = outer.f_locals
        found = [(name, value) for name, value in held.items() if id(value) not in spaces]
        if outer.f_code.co_flags & CO_OPTIMIZED and type(held) is dict:
            held.clear()  # up to Python 3.12 a copy, which would keep all of this until the function ends
        yield from found


def _is_module(value: Any) -> bool:
    return isinstance(getattr(type(value), "named_modules", None), type(_directly))


def _directly(name: str, value: Any, module: Any) -> Iterator[str]:
    """The name itself, or that of a list, a dict or another module that has it."""
    if value is module:
        yield name
    elif type(value) in (list, tuple):
        yield from (f"{name}[{place}]" for place, item in enumerate(value[:MOST]) if item is module)
    elif type(value) is dict and len(value) <= MOST:
        yield from (f"{name}[{key!r}]" for key, item in value.items() if item is module)
    elif _is_module(value) and name != "self":
        yield from (f"{name}.{path}" for path, inner in value.named_modules() if inner is module)


def _in_objects(name: str, value: Any, module: Any) -> Iterator[str]:
    """An attribute of an object of the user's: `agent.actor`; inside of its methods `actor`."""
    if type(value).__module__ != "builtins" and not isinstance(value, type):
        held = getattr(value, "__dict__", None)
        if type(held) is dict and len(held) <= MOST:
            before = "" if name == "self" else f"{name}."
            yield from (f"{before}{key}" for key, item in held.items() if item is module)
