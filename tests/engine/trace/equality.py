"""When two events, values or traces are the same: bit for bit, in the form of a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from engine.trace.events import Event, Trace, Value
from engine.trace.file.encoding import encode, event_text


def event_fields(event: Event) -> dict[str, Any]:
    """The fields of an event in the form of a file."""
    fields: dict[str, Any] = json.loads(event_text(event))
    return fields


def values_equal(a: Value, b: Value) -> bool:
    """Whether two values are the same, bit for bit (nan equals nan of the same bits)."""
    if (a.shape, a.dtype, a.array is None, a.damaged) != (b.shape, b.dtype, b.array is None, b.damaged):
        return False
    first, second = (a.sample, b.sample) if a.array is None or b.array is None else (a.array, b.array)
    return np.asarray(first).tobytes() == np.asarray(second).tobytes()


def traces_equal(a: Trace, b: Trace) -> bool:
    """Whether two traces are equal: events, stacks, files, names, and values bit for bit.

    Static arguments are compared in their written form, so that arrays and nan among them compare too.
    """
    if len(a.events) != len(b.events) or len(a.values) != len(b.values):
        return False
    plain: Mapping[str, tuple[Any, Any]] = {
        "stacks": (tuple(a.stacks), tuple(b.stacks)), "files": (dict(a.files), dict(b.files)),
        "names": (dict(a.names), dict(b.names)), "argv": (tuple(a.argv), tuple(b.argv)),
        "meta": (encode(dict(a.meta)), encode(dict(b.meta))),
    }  # fmt: skip
    return (
        all(first == second for first, second in plain.values())
        and all(type(x) is type(y) and (x.index, x.stack) == (y.index, y.stack) and event_text(x) == event_text(y)
                for x, y in zip(a.events, b.events, strict=True))
        and all(values_equal(x, y) for x, y in zip(a.values, b.values, strict=True))
    )  # fmt: skip
