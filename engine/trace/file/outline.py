"""The outline of a recording: what must be known of all its events to read any part of it alone.

Of each event its kind and its stack; of each tensor the event that made it, and each later change of it; and the few
events that hold for all that follows: loops' variables, grad modes, what optimisers hold.  Some ten bytes an event, in
arrays, so that a run of a million ops is divided and entered without being read.

A file has it in a table of its own, and beside it the numbers by which a whole run is seen (`measures`).  It is written
in blocks while the program runs, so that a recording that was killed lacks the last one only, and the events after it
are read.  Both only say again what events and values say, so a file without them, or with some that do not fit, is read
all the same: they are then worked out again.
"""

from __future__ import annotations

import json
import zlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, pairwise, takewhile
from typing import Any, get_args

import numpy as np

from ..events import (
    Accumulated,
    AnyEvent,
    BackwardStarted,
    Damaged,
    FlagChanged,
    GradSet,
    GroupEntered,
    LeafCreated,
    LoopVariable,
    ModeChanged,
    OpCalled,
    Refreshed,
    Trace,
)
from . import measures
from .database import Rows, TraceFileError
from .measures import Measures

KINDS: tuple[type, ...] = get_args(AnyEvent)
CODES = {kind: code for code, kind in enumerate(KINDS)}
MAKERS = [CODES[kind] for kind in (LeafCreated, OpCalled, Accumulated)]
"""The kinds of events that make tensors."""
RECORDED = 64
"""Added to the code of an op that has a node."""
VALUE, REQUIRES, GRAD, BORN = range(4)
"""What a change of a tensor is about: its version and value, its `requires_grad`, its `.grad`; in a block, that it was
made after tensors of higher numbers that an earlier block has."""
NOBODY = -1


@dataclass(frozen=True, slots=True)
class Change:
    """The tables of the changes of tensors after they were made, in the order of the tensors, then of the events.

    By `what`: (version, value), (0 or 1, 0), (the tensor that is the `.grad`, or -1, and 0).
    """

    tensor: np.ndarray
    event: np.ndarray
    what: np.ndarray
    first: np.ndarray
    second: np.ndarray


@dataclass(frozen=True, slots=True)
class Outline:
    """`kinds` and `stacks` by event, `born` the event that made a tensor (-1: none).

    `loops` are the events at which loops' variables change, `calls` the backward calls with their roots, `parts` the
    parameters and buffers by the names that they have in their modules, `held` what an optimiser holds from an event
    on, `rates` its learning rate where that changes, `measures` the numbers of gradients, updates and losses, if they
    were noted: those of the first `measured` events.
    """

    kinds: np.ndarray
    stacks: np.ndarray
    born: np.ndarray
    changes: Change
    loops: tuple[tuple[int, tuple[LoopVariable, ...]], ...]
    calls: tuple[tuple[int, tuple[int, ...]], ...]
    modes: tuple[tuple[int, bool], ...]
    parts: tuple[tuple[int, str, int], ...]
    held: tuple[tuple[int, str, str, tuple[int | None, ...]], ...]
    rates: tuple[tuple[int, str, float], ...] = ()
    measures: Measures | None = None
    measured: int = 0

    def taught(self) -> frozenset[int]:
        """The leaves that receive a gradient somewhere.  Linear in the changes."""
        changes = self.changes
        return frozenset(changes.tensor[(changes.what == GRAD) & (changes.first != NOBODY)].tolist())

    def where(self, *kinds: type) -> np.ndarray:
        """The numbers of the events of some kinds."""
        return np.flatnonzero(np.isin(self.kinds & (RECORDED - 1), [CODES[kind] for kind in kinds]))

    def made_before(self, tensor: int, event: int) -> bool:
        """Return whether a tensor was made before an event."""
        return 0 <= tensor < len(self.born) and 0 <= self.born[tensor] < event

    def last_change(self, tensor: int, what: int, before: int) -> tuple[int, int] | None:
        """The last change of a kind of a tensor before an event; None if there is none."""
        place = self._last(tensor, what, before)
        return None if place < 0 else (int(self.changes.first[place]), int(self.changes.second[place]))

    def last_event(self, tensor: int, what: int, before: int) -> int:
        """The event of that change; -1 if there is none."""
        place = self._last(tensor, what, before)
        return NOBODY if place < 0 else int(self.changes.event[place])

    def changes_of(self, tensor: int, what: int, before: int) -> list[tuple[int, int]]:
        """The events of all changes of a kind of a tensor before an event, each with the second number of its row."""
        places = self._places(tensor, what, before)
        return list(zip(self.changes.event[places].tolist(), self.changes.second[places].tolist(), strict=True))

    def _last(self, tensor: int, what: int, before: int) -> int:
        places = self._places(tensor, what, before)
        return int(places[-1]) if len(places) else NOBODY

    def _places(self, tensor: int, what: int, before: int) -> np.ndarray:
        table = self.changes
        start, stop = np.searchsorted(table.tensor, [tensor, tensor + 1])
        stop = start + int(np.searchsorted(table.event[start:stop], before))
        return start + np.flatnonzero(table.what[start:stop] == what)


def outline(events: Iterable[AnyEvent]) -> Outline:
    """The outline of some events, from the first to the last, or to one that is damaged.  Linear in their number.

    >>> import engine
    >>> with engine.record() as trace:
    ...     x = engine.ones(2, requires_grad=True)
    ...     (x * 2).sum().backward()
    >>> found = outline(trace.events)
    >>> len(found.kinds) == len(trace.events), found.where(BackwardStarted).tolist(), found.calls[0][1]
    (True, [3], (2,))
    """
    return _joined([_block_of(events, None)])


def _block_of(events: Iterable[AnyEvent], before: Outline | None) -> Outline:
    """The block of some events that follow those of an outline, up to the first that is damaged: what holds behind
    that one is not known."""
    sketch = Sketch(before)
    for event in events:
        sketch.add(event)
        if isinstance(event, Damaged):
            break
    return sketch.take()


class Sketch:
    """An outline that is built during a recording: event by event, and taken block by block."""

    def __init__(self, before: Outline | None = None) -> None:
        self._makers = array("q", [] if before is None else before.born.tolist())
        self._rates = {} if before is None else {kind: rate for _, kind, rate in before.rates}
        self._clear()

    def _clear(self) -> None:
        self._first_new = len(self._makers)
        self.kinds, self.stacks = array("B"), array("i")
        self.changed: tuple[array[int], ...] = (array("q"), array("q"), array("B"), array("q"), array("q"))
        self.loops: list[tuple[int, tuple[LoopVariable, ...]]] = []
        self.calls: list[tuple[int, tuple[int, ...]]] = []
        self.modes: list[tuple[int, bool]] = []
        self.parts: list[tuple[int, str, int]] = []
        self.held: list[tuple[int, str, str, tuple[int | None, ...]]] = []
        self.rates: list[tuple[int, str, float]] = []

    def __len__(self) -> int:
        """The number of events since the last block was taken."""
        return len(self.kinds)

    def add(self, event: AnyEvent) -> None:
        """Take note of the next event."""
        kind, index = type(event), event.index
        code = CODES[kind]
        self.stacks.append(event.stack)
        if event.loops:
            self.loops.append((index, event.loops))
        if isinstance(event, OpCalled):
            code += RECORDED if event.node is not None else 0
            for out in event.outputs:
                if not self._bear(out.tensor, index):
                    self._change(out.tensor, index, VALUE, out.version, out.value)
                    self._change(out.tensor, index, REQUIRES, int(out.requires_grad))
        elif isinstance(event, LeafCreated):
            self._bear(event.tensor, index)
            if event.name is not None and event.source in ("parameter", "buffer"):
                self.parts.append((index, event.name, event.tensor))
            if event.grad is not None:
                self._change(event.tensor, index, GRAD, event.grad)
        elif isinstance(event, Accumulated):
            self._change(event.tensor, index, GRAD, event.grad)
            if not self._bear(event.grad, index):
                self._change(event.grad, index, VALUE, NOBODY, event.after)
        elif isinstance(event, Refreshed):
            self._change(event.tensor, index, VALUE, event.version, event.value)
        elif isinstance(event, GradSet):
            self._change(event.tensor, index, GRAD, NOBODY if event.source is None else event.source)
        elif isinstance(event, FlagChanged):
            if event.flag == "requires_grad":
                self._change(event.tensor, index, REQUIRES, int(event.value))
        elif isinstance(event, BackwardStarted):
            self.calls.append((index, tuple(root.tensor for root in event.roots)))
        elif isinstance(event, ModeChanged):
            self.modes.append((index, event.grad_enabled))
        elif isinstance(event, GroupEntered):
            if event.tensors:
                self.held.append((index, event.name, event.kind, event.tensors))
            if event.rate is not None and self._rates.get(event.kind) != event.rate:
                self._rates[event.kind] = event.rate
                self.rates.append((index, event.kind, event.rate))
        self.kinds.append(code)

    def _bear(self, tensor: int, event: int) -> bool:
        """Note the event that makes a tensor; False if it is already known."""
        makers = self._makers
        if tensor == len(makers):  # as nearly always: they are numbered in this order
            makers.append(event)
            return True
        if tensor > len(makers) + MOST_UNMADE:
            raise ValueError(f"tensor {tensor} is made before the {tensor - len(makers):,} tensors with lower numbers")
        if tensor > len(makers):
            makers.extend([NOBODY] * (tensor + 1 - len(makers)))
        if makers[tensor] != NOBODY:
            return False
        makers[tensor] = event
        if tensor < self._first_new:
            self._change(tensor, event, BORN, 0)
        return True

    def _change(self, *row: int) -> None:
        for column, one in zip(self.changed, (*row, 0), strict=False):
            column.append(one)

    def take(self) -> Outline:
        """The block of the events since the last one; its `born` has the tensors made since then."""
        block = Outline(
            np.array(self.kinds), np.array(self.stacks), np.array(self._makers[self._first_new :]),
            _in_order(Change(*map(np.array, self.changed))),
            tuple(self.loops), tuple(self.calls), tuple(self.modes), tuple(self.parts), tuple(self.held),
            tuple(self.rates),
        )  # fmt: skip
        self._clear()
        return block


def _in_order(changes: Change) -> Change:
    """The same rows ordered by tensor, those of a tensor in their given order."""
    order = np.argsort(changes.tensor, kind="stable")
    return Change(*(getattr(changes, name)[order] for name in Change.__slots__))


def _joined(blocks: Sequence[Outline]) -> Outline:
    """The outline that consists of these blocks, in their order."""
    columns = {name: [getattr(block.changes, name) for block in blocks] for name in Change.__slots__}
    changes = _in_order(Change(*map(np.concatenate, columns.values())))
    makers = np.concatenate([block.born for block in blocks])
    late = changes.what == BORN
    if late.any():
        makers[changes.tensor[late]] = changes.event[late]
        changes = Change(*(getattr(changes, name)[~late] for name in Change.__slots__))
    lists: dict[str, Any] = {
        name: tuple(chain.from_iterable(getattr(block, name) for block in blocks)) for name in LISTS
    }
    noted = [block.measures for block in takewhile(lambda block: block.measures is not None, blocks)]
    return Outline(
        np.concatenate([block.kinds for block in blocks]),
        np.concatenate([block.stacks for block in blocks]),
        makers,
        changes,
        **lists,
        measures=measures.joined([one for one in noted if one is not None]) if noted else None,
        measured=sum(len(block.kinds) for block in blocks[: len(noted)]),
    )


MOST_UNMADE = 10_000
"""How far the number of a tensor may be ahead of those that were made: in a replay with other commands this happens."""


# -- in a file ---------------------------------------------------------------------------------------------------------

ARRAYS = {
    "kinds": "<u1", "stacks": "<i4", "born": "<i8",
    "tensor": "<i8", "event": "<i8", "what": "<u1", "first": "<i8", "second": "<i8",
}  # fmt: skip
"""The arrays, with their element types; from `tensor` on they are the columns of the changes."""
LISTS = ("loops", "calls", "modes", "parts", "held", "rates")
LEVEL = 1
"""zlib's level: neighbouring numbers are alike, and the program waits."""
MOST = 128
"""Bytes of one array per event: more than any recording needs."""
ROOM = 1 << 20


BLOCK = 10_000
"""Events after which a block is written while the program runs: at most this many are read if a recording was
killed."""


def rows_of(block: Outline, number: int) -> Iterator[tuple[str, bytes]]:
    """The rows of the table for a block; the keys of all but the first begin with its number."""
    changes = block.changes
    arrays = {"kinds": block.kinds, "stacks": block.stacks, "born": block.born}
    arrays.update({name: getattr(changes, name) for name in changes.__slots__})
    packed = {name: column.astype(ARRAYS[name]) for name, column in arrays.items()}
    if block.measures is not None:
        packed |= measures.columns_of(block.measures)
    prefix = f"{number}/" if number else ""
    for name, column in packed.items():
        yield prefix + name, zlib.compress(column.tobytes(), LEVEL)
    loops = [[at, [[one.depth, one.line, one.name, one.text] for one in variables]] for at, variables in block.loops]
    lists = {name: getattr(block, name) for name in LISTS} | {"loops": loops}
    for name, entries in lists.items():
        yield prefix + name, zlib.compress(json.dumps(entries, separators=(",", ":")).encode(), LEVEL)


def outline_in_file(trace: Trace) -> Outline | None:
    """The outline in the file of a trace, extended by the events after its last block; None if there is none, or if it
    does not fit the events.

    Cost: linear in the number of blocks and of the events after them, as far as reading is concerned.
    """
    rows = trace.events
    if not isinstance(rows, Rows):
        return None
    try:
        blocks = list(_blocks(rows))
        if not blocks:
            return None
        noted = _joined(blocks)
        if len(noted.kinds) > len(rows) or not _fits(noted, len(trace.stacks), len(trace.values)):
            return None
        if len(noted.kinds) < len(rows):
            rest = _block_of((rows[number] for number in range(len(noted.kinds), len(rows))), noted)
            noted = _joined([*blocks, rest])
        return noted if _are_sound(noted) else replace(noted, measures=None, measured=0)
    except (TraceFileError, ValueError, TypeError, KeyError, IndexError, RecursionError, zlib.error):
        return None


def _blocks(rows: Rows[AnyEvent]) -> Iterator[Outline]:
    """The blocks of a file, up to the first one that is missing or damaged."""
    blocks: dict[str, dict[str, tuple[Any, Any, Any]]] = {}
    for key, data, digest in rows.source.all("SELECT key, data, sum FROM outline"):
        number, _, name = str(key).rpartition("/")
        blocks.setdefault(number, {})[name] = key, data, digest
    for number in ["", *map(str, range(1, len(blocks)))]:
        try:
            texts = {name: _whole(*row, MOST * len(rows) + ROOM) for name, row in blocks[number].items()}
            yield _read(texts)
        except (ValueError, TypeError, KeyError, IndexError, RecursionError, zlib.error):
            return


def row_sum(key: str, data: bytes) -> int:
    """The checksum of a row."""
    return zlib.crc32(data, zlib.crc32(key.encode()))


def _whole(key: Any, data: Any, expected: Any, most: int) -> bytes:
    """The bytes of a row.  Raises ValueError where they do not fit their checksum, or are more than that."""
    if not isinstance(data, bytes) or row_sum(str(key), data) != expected:
        raise ValueError("the row is damaged")
    opened = zlib.decompressobj()
    content = opened.decompress(data, most)
    if opened.unconsumed_tail or not opened.eof:
        raise ValueError("the row is cut, or larger than its events allow")
    return content


def _read(texts: Mapping[str, bytes]) -> Outline:
    arrays = {name: np.frombuffer(texts[name], dtype) for name, dtype in ARRAYS.items()}
    lists = {name: json.loads(texts[name]) for name in LISTS}
    loops = ((int(at), tuple(LoopVariable(*map(_plain, one)) for one in variables)) for at, variables in lists["loops"])
    return Outline(
        arrays["kinds"], arrays["stacks"], arrays["born"],
        Change(*(arrays[name] for name in ("tensor", "event", "what", "first", "second"))),
        tuple(loops),
        tuple((int(at), tuple(map(int, roots))) for at, roots in lists["calls"]),
        tuple((int(at), bool(enabled)) for at, enabled in lists["modes"]),
        tuple((int(at), str(name), int(tensor)) for at, name, tensor in lists["parts"]),
        tuple((int(at), str(name), str(kind), _tensors(numbers)) for at, name, kind, numbers in lists["held"]),
        tuple((int(at), str(kind), float(rate)) for at, kind, rate in lists["rates"]),
        _measures(texts),
    )  # fmt: skip


def _measures(texts: Mapping[str, bytes]) -> Measures | None:
    """The numbers of a block; None if there are none."""
    try:
        return measures.from_columns(texts)
    except (KeyError, ValueError):
        return None


def _are_sound(outline: Outline) -> bool:
    """Return whether the numbers of the run, if there are some, fit its events and tensors."""
    noted = outline.measures
    return noted is None or measures.fit(noted, outline.measured, len(outline.born))


def _plain(value: Any) -> Any:
    if value is not None and type(value) not in (int, str):
        raise ValueError("a loop's variable is numbers and texts")
    return value


def _tensors(numbers: Any) -> tuple[int | None, ...]:
    return tuple(None if one is None else int(one) for one in numbers)


def _fits(outline: Outline, stacks: int, values: int) -> bool:
    """Return whether all parts of an outline agree, for a file with this many stacks and values."""
    events, tensors, changes = len(outline.kinds), len(outline.born), outline.changes
    columns = [getattr(changes, name) for name in changes.__slots__]
    places = [at for name in LISTS for at, *_ in getattr(outline, name)]
    kinds = outline.kinds & (RECORDED - 1)
    return (
        len(outline.stacks) == events
        and len({len(column) for column in columns}) == 1
        and _within(kinds, 0, len(KINDS))
        and _within(outline.stacks, -1, stacks)
        and _within(outline.born, NOBODY, events)
        and bool(np.isin(kinds[outline.born[outline.born >= 0]], MAKERS).all())
        and _within(changes.tensor, 0, tensors)
        and _within(changes.event, 0, events)
        and _within(changes.second[changes.what == VALUE], 0, values)
        and _within(changes.first[changes.what == GRAD], NOBODY, tensors)
        and bool((np.diff(changes.tensor) >= 0).all())
        and all(0 <= at < events for at in places)
        and all(_is_in_order(getattr(outline, name)) for name in LISTS)
    )


def _is_in_order(rows: tuple[tuple[Any, ...], ...]) -> bool:
    return all(one[0] <= following[0] for one, following in pairwise(rows))


def _within(array: np.ndarray, low: int, high: int) -> bool:
    return not len(array) or bool(low <= array.min() and array.max() < high)
