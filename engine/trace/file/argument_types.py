"""The types of static arguments: the annotations of an op's kernel, checked on a file of unknown origin.

An op is declared once, and its kernel's annotations say what a static argument is. Here they become checks; if an
annotation leaves something open (`Any`, or none in a lambda), the name of the argument decides.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...arrays import array
from ...arrays.element_types import ELEMENT_TYPES
from ...ops.op import REGISTRY, Op
from .encoding import MOST_LISTED, MOST_NAME, MalformedJson

Check = Callable[[Any], bool]
LARGEST = 2**63
"""Whole numbers of static arguments are below this in magnitude."""


def _whole(value: Any) -> bool:
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    return is_whole and -LARGEST <= int(value) < LARGEST


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_))


def _sequence(item: Check, length: int | None = None) -> Check:
    def check(value: Any) -> bool:
        fits = isinstance(value, (tuple, list)) and len(value) <= MOST_LISTED and length in (None, len(value))
        return fits and all(map(item, value))

    return check


def _either(*checks: Check) -> Check:
    return lambda value: any(check(value) for check in checks)


def _is_none(value: Any) -> bool:
    return value is None


def _is_step(value: Any) -> bool:
    """A step of a path of views: an op, its static arguments, and which of its outputs."""
    match value:
        case (str(name), dict() as attrs, nr) if name in REGISTRY and (nr is None or (_whole(nr) and nr >= 0)):
            return first_misfit(name, attrs) is None
    return False


def _is_numpys(value: Any) -> bool:
    return isinstance(value, np.dtype) and value.name in ELEMENT_TYPES


_sizes = _sequence(_whole)
_TYPES: dict[str, Check] = {
    "int": _whole, "float": _number, "bool": lambda value: isinstance(value, bool), "None": _is_none,
    "str": lambda value: isinstance(value, str) and len(value) <= MOST_NAME,
    "Sizes": _sizes, "tuple[int, ...]": _sizes, "tuple[int, int]": _sequence(_whole, 2),
    "tuple[float | None, ...]": _sequence(_either(_number, _is_none)),
    "dtype": lambda value: isinstance(value, array.dtype) or _is_numpys(value),
    "path": _sequence(_is_step),
    "arguments": _sequence(_either(_number, _is_none, _sequence(_either(_number, _is_none)))),
}  # fmt: skip
_BY_NAME = {
    "alpha": "float", "arguments": "arguments",
    "dim": "int | tuple[int, ...] | None", "dtype": "dtype | None", "left": "bool", "mode": "str",
    "other": "float", "path": "path", "self": "float", "UPLO": "str", "value": "float", "zeros": "bool",
}  # fmt: skip
"""The types of arguments whose annotations leave them open."""
_OPEN = ("Any", "tuple[Any, ...]")
_CUSTOM: dict[str, Check] = {"function": _TYPES["str"], "tensors": _sequence(_TYPES["bool"])}
"""The arguments of a call of a custom Function."""


def first_misfit(name: str, attrs: Mapping[str, Any]) -> str | None:
    """The first static argument of an op that is not what its kernel declares; None where all are.

    >>> first_misfit("slice", {"dim": 0, "start": 0, "end": 2, "step": 1})
    >>> first_misfit("slice", {"dim": 0, "start": 0, "end": "", "step": 1})
    "end: int is expected, found ''"
    """
    op = REGISTRY.get(name)
    checks = _CUSTOM if op is None else _checks(op)
    for key in attrs.keys() - checks.keys():
        return f"{str(key)[:80]}: {name[:80]} has no such argument"
    for key, check in checks.items():
        if key not in attrs:
            if op is not None and op.statics[key] is inspect.Parameter.empty:
                return f"{key}: {name} needs it"
        elif not check(attrs[key]):
            expected = "names and flags are" if op is None else f"{declared(op, key)} is"
            return f"{key}: {expected} expected, found {str(attrs[key])[:80]!r}"
    return None


def check_arguments(name: str, attrs: Mapping[str, Any]) -> None:
    """Raises MalformedJson, with the field, where static arguments are not what an op declares."""
    if misfit := first_misfit(name, attrs):
        raise MalformedJson(f"attrs: {misfit}")


def declared(op: Op, name: str) -> str:
    """The type of a static argument, as its kernel's annotation says it."""
    annotation = op.signature.parameters[name].annotation
    is_open = annotation is inspect.Parameter.empty or annotation in _OPEN
    return _BY_NAME[name] if is_open else str(annotation)


@functools.cache
def _checks(op: Op) -> Mapping[str, Check]:
    return {name: _check(declared(op, name)) for name in op.statics}


def _check(kind: str) -> Check:
    if kind in _TYPES:
        return _TYPES[kind]
    return _either(*(_TYPES[part] for part in kind.split(" | ")))
