"""The numbers of a whole run: a few for each gradient, each update of a weight and each loss.

They are computed while a recording is written and the values are at hand: reading all of them again from the file of a
long run would take minutes. For a file without them, or a trace in memory, they are computed from its values by the
same rules (`Meter`).
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType
from typing import Any

import numpy as np

from ..columns import Column
from ..events import Accumulated, AnyEvent, BackwardStarted, GradSet, LeafCreated, OpCalled, Refreshed, Skipped, Value

MOST_HELD = 64 * 2**20
"""Bytes of weights that are held until their next update; beyond that, older ones are read from the file again."""


@dataclass(frozen=True, slots=True)
class Gradients:
    """The gradients of leaves, as a backward call leaves them; of a leaf that none has reached, those that the program
    assigns, but for zeros.  In the order of the events: the norm of the finite elements, the number of zeros and of
    non-finite elements, the largest magnitude, and the mean.

    Of a damaged value nothing is known: these are nan.
    """

    event: np.ndarray
    tensor: np.ndarray
    norm: np.ndarray
    zeros: np.ndarray
    nonfinite: np.ndarray
    largest: np.ndarray
    mean: np.ndarray


@dataclass(frozen=True, slots=True)
class Updates:
    """The changes of leaves between two gradients, in the order of the last event that changed them: the norm of the
    change divided by the norm before it.

    `sampled`: estimated from a sample of the elements.
    """

    event: np.ndarray
    tensor: np.ndarray
    ratio: np.ndarray
    sampled: np.ndarray


@dataclass(frozen=True, slots=True)
class Losses:
    """The mean of the first root of each backward call whose root is known, by the call's event."""

    event: np.ndarray
    loss: np.ndarray


@dataclass(frozen=True, slots=True)
class Measures:
    """The numbers of a run, each table in the order of its events."""

    gradients: Gradients
    updates: Updates
    losses: Losses


TABLES = {"gradients": Gradients, "updates": Updates, "losses": Losses}
COLUMNS = {name: tuple(column.name for column in fields(kind)) for name, kind in TABLES.items()}
EMPTY: Mapping[int, int | None] = MappingProxyType({})
WHOLE = ("event", "tensor", "sampled")
"""The columns of whole numbers; all others are floats."""
COUNTS = ("zeros", "nonfinite")
"""The floats that count elements, or are nan where nothing is known."""


class Current:
    """The number of each tensor's value, by the events so far."""

    def __init__(self) -> None:
        self._values = Column("q")

    def see(self, event: AnyEvent) -> None:
        """Take note of the next event."""
        values = self._values
        if isinstance(event, OpCalled):
            for out in event.outputs:
                values[out.tensor] = out.value
        elif isinstance(event, (LeafCreated, Refreshed)):
            values[event.tensor] = event.value
        elif isinstance(event, Accumulated):
            values[event.grad] = event.after

    def of(self, tensor: int) -> int | None:
        """The number of its value; None if unknown."""
        return self._values.get(tensor)


class Meter:
    """Computes the numbers of a run event by event.

    `value(n)` is the recorded value of number n; `current(t, e)` the number of the value of tensor t before the current
    event e, None if unknown. `numbers` are the values that leaves had at their last gradients before the first event,
    `reached` those leaves to which a backward call has brought one.
    """

    def __init__(
        self, value: Callable[[int], Value], current: Callable[[int, int], int | None],
        numbers: Mapping[int, int | None] = EMPTY, reached: Iterable[int] = (),
    ) -> None:  # fmt: skip
        self._value, self._current = value, current
        self._rows = _no_rows()
        self._reached = set(reached)
        self._numbers = dict(numbers)  # by leaf that had a gradient: its value
        self._before: dict[int, Value] = {}  # what a leaf was before the update that goes on,
        self._now: dict[int, tuple[int, Value]] = {}  # and what it is since an event
        self._bytes_before = 0

    def see(self, event: AnyEvent) -> None:
        """Take note of the next event."""
        if isinstance(event, OpCalled):
            if event.inplace is not None and self._numbers:
                for out in event.outputs:
                    if out.tensor in self._numbers:
                        self._new_value(event.index, out.tensor, out.value)
        elif isinstance(event, Accumulated):
            if not event.retained:
                self._reached.add(event.tensor)
                self._gradient(event.index, event.tensor, self._value(event.after))
        elif isinstance(event, GradSet):
            if event.value is not None and event.tensor not in self._reached:
                value = self._value(event.value)
                if value.damaged or not value.is_zero:
                    self._gradient(event.index, event.tensor, value)
        elif isinstance(event, Refreshed):
            if event.tensor in self._numbers:
                self._new_value(event.index, event.tensor, event.value)
        elif isinstance(event, BackwardStarted) and event.roots:
            number = self._current(event.roots[0].tensor, event.index)
            root = None if number is None else self._value(number)
            if root is not None and not root.damaged:
                self._note("losses", event.index, mean_of(root))
        elif isinstance(event, Skipped):  # what has changed by the next gradient is not the change of one update
            self._end_updates()
            self._numbers.clear()
            self._before.clear()
            self._bytes_before = 0

    def take(self) -> Measures:
        """The numbers since they were last taken."""
        measures = Measures(*(kind(*map(np.array, self._rows[name])) for name, kind in TABLES.items()))
        self._rows = _no_rows()
        return measures

    def rest(self) -> Measures:
        """The last numbers, with the updates that no gradient has followed yet."""
        self._end_updates()
        return self.take()

    def _end_updates(self) -> None:
        for tensor, (event, now) in sorted(self._now.items(), key=lambda one: one[1][0]):
            self._note("updates", *self._update(tensor, event, now))
        self._now.clear()

    def _note(self, table: str, *row: float) -> None:
        for column, number in zip(self._rows[table], row, strict=True):
            column.append(number)

    def _gradient(self, event: int, tensor: int, value: Value) -> None:
        if tensor not in self._numbers:
            self._numbers[tensor] = self._current(tensor, event)
        elif tensor in self._now:
            at, now = self._now.pop(tensor)
            self._note("updates", *self._update(tensor, at, now))
            self._hold(tensor, now)
        stats = value.stats
        largest = max(abs(stats["min"]), abs(stats["max"]))
        wrong = float("nan") if value.damaged else stats["nan"] + stats["inf"]
        zeros = float("nan") if value.damaged else stats["zeros"]
        self._note("gradients", event, tensor, stats["norm"], zeros, wrong, largest, stats["mean"])

    def _new_value(self, event: int, tensor: int, number: int) -> None:
        """A leaf has a new value: part of the update that its next gradient ends.

        What writes the same again, as a trainer does when it moves a trained model, is not its last part.
        """
        before, now = self._numbers[tensor], self._value(number)
        self._numbers[tensor] = number
        if tensor in self._now and _is_same(now, self._now[tensor][1]):
            return
        if tensor not in self._before and before is not None:
            self._hold(tensor, self._value(before))
        self._now[tensor] = event, now

    def _update(self, tensor: int, event: int, now: Value) -> tuple[int, int, float, bool]:
        before = self._before.get(tensor)
        if before is None:
            return event, tensor, float("nan"), False
        return event, tensor, change(before, now), before.array is None or now.array is None

    def _hold(self, tensor: int, value: Value) -> None:
        """Keep the value of a leaf until its next update; the oldest ones are dropped."""
        old = self._before.pop(tensor, None)
        self._bytes_before += _bytes(value) - (0 if old is None else _bytes(old))
        self._before[tensor] = value
        while self._bytes_before > MOST_HELD:
            oldest = next((one for one in self._before if one not in self._now and one != tensor), None)
            if oldest is None:
                return
            self._bytes_before -= _bytes(self._before.pop(oldest))


def _no_rows() -> dict[str, list[array[Any]]]:
    return {name: [array("q" if column in WHOLE else "d") for column in columns] for name, columns in COLUMNS.items()}


def joined(parts: Sequence[Measures]) -> Measures:
    """Joins the numbers of consecutive parts of a run. An update that begins in one of them may end in the next."""
    tables = []
    for name, kind in TABLES.items():
        columns = [np.concatenate([getattr(getattr(part, name), column) for part in parts]) for column in COLUMNS[name]]
        order = np.argsort(columns[0], kind="stable")
        tables.append(kind(*(column[order] for column in columns)))
    return Measures(*tables)


def _bytes(value: Value) -> int:
    return int(value.sample.nbytes if value.array is None else value.array.nbytes)


def _is_same(one: Value, other: Value) -> bool:
    return one.stats == other.stats and one.is_like(other)  # the statistics tell at once of nearly all that differ


def change(old: Value, new: Value) -> float:
    """The norm of a change divided by the norm before it, over the elements that are known of both; nan if there are
    none."""
    are_whole = old.array is not None and new.array is not None
    was, now = (old.array, new.array) if are_whole else (old.sample, new.sample)
    if was is None or now is None or old.shape != new.shape or was.size != now.size or not was.size:
        return float("nan")
    with np.errstate(all="ignore"):
        wide = np.result_type(was.dtype, np.float64)  # float32 weights and their differences lose nothing
        before = np.linalg.norm(was.ravel().astype(wide))
        step = np.linalg.norm(np.subtract(now, was, dtype=wide).ravel())
        return float(step / before) if before else float("nan")


def mean_of(value: Value) -> float:
    """The mean of all elements, including non-finite ones."""
    if value.stats["inf"] or value.stats["nan"]:
        signs = np.asarray(value.sample if value.array is None else value.array)
        if value.stats["nan"] or not signs.size or np.isnan(mean := float(np.real(signs).mean())):
            return float("nan")
        return mean
    return float(value.stats["mean"])


# -- in a file ---------------------------------------------------------------------------------------------------------


def columns_of(measures: Measures) -> dict[str, np.ndarray]:
    """The columns of all tables, by names such as `gradients.norm`; little-endian, 8 bytes each."""
    return {
        f"{table}.{name}": getattr(getattr(measures, table), name).astype(_dtype(name))
        for table, columns in COLUMNS.items()
        for name in columns
    }


def from_columns(texts: Mapping[str, bytes]) -> Measures:
    """The tables of the bytes of their columns.  Raises KeyError or ValueError where they are not of one."""
    columns = {
        table: [np.frombuffer(texts[f"{table}.{name}"], _dtype(name)) for name in names]
        for table, names in COLUMNS.items()
    }
    if any(len({len(column) for column in table}) > 1 for table in columns.values()):
        raise ValueError("the columns of a table are not equally long")
    return Measures(Gradients(*columns["gradients"]), Updates(*columns["updates"]), Losses(*columns["losses"]))


def _dtype(column: str) -> str:
    return "<i8" if column in WHOLE else "<f8"


def fit(measures: Measures, events: int, tensors: int) -> bool:
    """Return whether the tables are of so many events and tensors, in their order, with counts that are possible."""
    for name, columns in COLUMNS.items():
        table = {column: getattr(getattr(measures, name), column) for column in columns}
        if len({len(column) for column in table.values()}) != 1 or (np.diff(table["event"]) < 0).any():
            return False
        if not (_are_below(table["event"], events) and _are_below(table.get("tensor", table["event"][:0]), tensors)):
            return False
    counts = np.concatenate([getattr(measures.gradients, name) for name in COUNTS])
    return not np.isinf(counts).any() and not (counts < 0).any()


def _are_below(numbers: np.ndarray, end: int) -> bool:
    return not len(numbers) or bool(numbers.min() >= 0 and numbers.max() < end)
