"""Values as sent to the browser: numbered, each once, with all elements if they are few."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.arrays.element_types import shortest
from engine.trace.events import Trace, Value

from ..schema.values import Num
from ..schema.values import Value as Document
from . import text
from .jacobian import value as number

STRIP = 64
Bits = tuple[str, tuple[int, ...], bytes]
"""Element type, shape and elements."""


@dataclass(slots=True)
class Entry:
    """A value in the browser's form, and its key, if it is small; its JSON once it has been sent; the same value with
    its strip once a card has shown it."""

    key: Bits | None
    document: Document
    text: str | None = None
    with_strip: Entry | None = None

    def json(self) -> str:
        if self.text is None:
            self.text = json.dumps(self.document, separators=(",", ":"), allow_nan=False)
        return self.text


class Rows(list[Document]):
    """The values of a scene in the order of their numbers. Most have been in an earlier one: their JSON is there."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []

    def put(self, entry: Entry) -> None:
        self.append(entry.document)
        self.entries.append(entry)

    def draw(self, number: int, value: Value) -> None:
        """Add the strip of a value that has too many elements for cells."""
        entry = self.entries[number]
        if entry.document["strip"] is not None or not _has_strip(value):
            return
        if entry.with_strip is None:
            entry.with_strip = Entry(entry.key, {**entry.document, "strip": _strip(value)})
        self[number], self.entries[number] = entry.with_strip.document, entry.with_strip

    def json(self) -> str:
        return f"[{','.join(entry.json() for entry in self.entries)}]"


class Table:
    """The values of a scene, numbered as they are requested. Small values with equal bits are one entry. Only values
    that a card shows have a strip: a long iteration has some 100,000 that are a sentence at most.

    `entries` are those of the trace `of` that another table has made; this one adds its own.
    """

    def __init__(
        self, limit: int = text.SMALL, of: Trace | None = None, entries: dict[int, Entry] | None = None
    ) -> None:
        self.limit, self.of = limit, of
        self.entries: dict[int, Entry] = {} if entries is None else entries
        self.rows = Rows()
        self._numbers: dict[tuple[int, int], int] = {}
        self._equal: dict[Bits, int] = {}

    def add(self, trace: Trace, index: int | None, is_drawn: bool = False) -> int | None:
        """The number of a trace value in this table; `is_drawn` if a card shows it."""
        if index is None:
            return None
        key = (id(trace), index)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = self._number(self._entry(trace, index))
        if is_drawn:
            self.rows.draw(number, trace.value(index))
        return number

    def _entry(self, trace: Trace, index: int) -> Entry:
        if trace is not self.of:
            return self._entry_of(trace.value(index))
        if index not in self.entries:
            self.entries[index] = self._entry_of(trace.value(index))
        return self.entries[index]

    def _entry_of(self, value: Value) -> Entry:
        bits = _bits(value)
        equal = self._equal.get(bits) if bits is not None else None
        return Entry(bits, as_json(value, self.limit, with_strip=False) if equal is None else self.rows[equal])

    def _number(self, entry: Entry) -> int:
        number = self._equal.get(entry.key) if entry.key is not None else None
        if number is None:
            number = len(self.rows)
            self.rows.put(entry)
            if entry.key is not None:
                self._equal[entry.key] = number
        return number


def _bits(value: Value) -> Bits | None:
    array = value.array_up_to(text.SMALL)
    return None if array is None else (value.dtype, tuple(value.shape), array.tobytes())


def as_json(value: Value, limit: int = text.SMALL, with_strip: bool = True) -> Document:
    """A value as in docs/scene-format.md: all elements up to `limit`, else at most 64 samples."""
    size = text.size(value.shape)
    if value.damaged:
        return {
            "shape": list(value.shape), "dtype": value.dtype, "data": None, "strip": [], "damaged": True,
            "stats": {
                "min": None, "max": None, "mean": None, "norm": None, "nan": None, "inf": None, "zeros": None,
                "size": size,
            },
        }  # fmt: skip
    data = None
    array = value.array_up_to(limit)
    if array is not None:
        data = [number(v) for v in shortest(array)]
    strip = _strip(value) if with_strip and _has_strip(value) else None
    stats = _small(array.reshape(-1).tolist()) if array is not None and size <= text.SMALL else value.stats
    return {
        "shape": list(value.shape), "dtype": value.dtype, "data": data, "strip": strip,
        "stats": {
            "min": number(stats["min"]), "max": number(stats["max"]), "mean": number(stats["mean"]),
            "norm": number(text.norm(stats)), "nan": int(stats["nan"]), "inf": int(stats["inf"]),
            "zeros": int(stats["zeros"]), "size": size,
        },
    }  # fmt: skip


def _has_strip(value: Value) -> bool:
    return not value.is_whole or text.size(value.shape) > text.SMALL


def _strip(value: Value) -> list[Num]:
    """At most 64 samples of a value, evenly from its first to its last element."""
    return [number(v) for v in shortest(np.asarray(value.sample).reshape(-1)[:STRIP])]


def _small(numbers: list[Any]) -> Mapping[str, float]:
    """Statistics of few elements: ten times quicker than with numpy."""
    floats = [float(v) for v in numbers]
    finite = [v for v in floats if math.isfinite(v)]
    nan = sum(v != v for v in floats)
    return {
        "min": min(finite, default=0.0), "max": max(finite, default=0.0),
        "mean": sum(finite) / len(finite) if finite else 0.0, "norm": math.hypot(*finite) if finite else 0.0,
        "nan": nan, "inf": len(floats) - len(finite) - nan, "zeros": sum(v == 0 for v in floats),
    }  # fmt: skip
