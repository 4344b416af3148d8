"""A recording that is written to a file while the program runs, by a thread of its own.

What the recorder appends is read here a moment later.  A value may be written in place by then; the recorder replaces
the array it keeps by a copy *before* such a write, so a value that is still the same object after its bytes were taken
is the one that was recorded.

Writing takes longer than recording.  A program that is far ahead waits after an op until what it has done is written:
a kill then costs less than a second of it, and what waits to be written does not grow.
"""

from __future__ import annotations

import _thread
import os
import threading
import time
import weakref
from collections.abc import Callable
from dataclasses import asdict, dataclass
from shutil import disk_usage
from typing import Any

import numpy as np

from ...arrays.element_types import name_of
from ...arrays.session import slot
from ..events import OpCalled, Trace, Value, damaged_value, last_value
from ..log_reader import FACTS, ErrorBoundary, Reader, tensors_of, value_of, without_folders
from ..module_names import best_name
from ..recorder import Recorder
from ..source import Places, Sources
from ..summary import PendingArray, StoredArray
from ..variable_names import Naming
from .budget import WHOLE, Budget, WrittenValues, as_sample, sample_value
from .encoding import little
from .iterations import ALL, Selection
from .measures import Current, Meter
from .pausing import Pauses, Refusal
from .tracefile import MOST_ARRAY, TraceWriteError, Writer, open_trace

INTERVAL = 0.25
"""Seconds between two flushes, and the most that one of them takes while there is more to write."""
SOON = 0.005
"""Seconds until the first flush, and until the next one if the last flushes had a `BATCH` or more to write. Otherwise
the pauses double, up to `INTERVAL`."""
BATCH = 512
"""The most events that are written in one flush: the loss if the disk is full."""
PROGRESS_EVERY = 10.0
"""Seconds between two reports on the progress of a long recording."""
AHEAD = 2000
"""The number of events that a program may be ahead of the writer without having to wait."""
TELL_EVERY = 1.0
"""Seconds between two reports on the writing of the rest."""
EVENT_BYTES = 200
"""Memory that an event takes once it is written, in the tables of numbers by id here and in the recorder (measured: 130
to 180 in a loop of small ops whose result has a name)."""
WARN_AT = 0.8
"""The share of the memory limit at which the user is warned that the recording will end there."""
RESERVE = 2**30
"""The most bytes that a recording leaves free on its disk, where the program may save its own results."""


@dataclass(frozen=True)
class EarlyEnd:
    """A recording that ends before its program did: after `written` events `of` so many, where that is known.

    The kinds: "stopped" (by Ctrl-C, while the rest was written), "unwritable" (the file; `reason` says why),
    "memory" (`reason` says how much is held), "disk" (how little is free there), "limit" (as was asked for; `reason`
    says which), "gone" (somebody took the file away).
    """

    kind: str
    written: int
    of: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """The size of the recording so far: forward ops, completed iterations, those of them that pauses skipped, whether
    each ended with a step of an optimiser, seconds, bytes of the file."""

    ops: int
    iterations: int
    skipped: int
    are_updates: bool
    seconds: float
    bytes: int


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The forward ops and the bytes at which a recording ends while its program goes on; None for no limit."""

    ops: int | None = None
    bytes: int | None = None


UNLIMITED = SizeLimits()


class Stream:
    """Writes what `recorder` collects to `path` until `finish`; the recorder is active meanwhile.

    What a user should know at once goes to `say`: that the recording ends for want of room (the program goes on), and
    before that, at `memory` bytes, that it will.  `selection` are the iterations whose values are kept; with `pauses`
    nothing is recorded of the others.  Beyond `whole` bytes large values are written as samples
    (`engine.trace.file.budget`); what is written is let go.  A process that the program forks does not record.
    """

    def __init__(
        self, recorder: Recorder, path: str, places: Places, argv: tuple[str, ...] = (), *,
        say: Callable[[str], None] = lambda text: None, memory: int | None = None, whole: int = WHOLE,
        selection: Selection = ALL, pauses: bool = False, most: SizeLimits = UNLIMITED,
        tell: Callable[[Progress], None] | None = None,
    ) -> None:  # fmt: skip
        self.recorder, self.places, self.path = recorder, places, path
        self.say, self.memory = say, half_of_memory() if memory is None else memory
        self.cut: EarlyEnd | None = None
        self.failure: BaseException | None = None
        self.missing: list[str] = []  # sentences about what a fault of ours has cost
        self.event_count = 0
        self._reader = Reader(recorder.recording, ErrorBoundary(FACTS, self._lose, TraceWriteError))
        self._texts: dict[str, str] = {}
        parts = ("a name", "a value", "a number of the run view")
        self._names, self._values, self._numbers = (ErrorBoundary(part, self._lose, TraceWriteError) for part in parts)
        self._naming = Naming(Sources(self._texts), self._names)
        self._called: dict[int, str] = {}
        self._stacks: list[Any] = []
        self._done = self._valued = 0
        self.most, self.tell = most, tell
        self._ops = 0
        self._started_at = self._reported_at = time.monotonic()
        self._pauses = Pauses(recorder, selection, self._write_all) if pauses else None
        self._budget, self._holding = Budget(whole, ALL if pauses else selection), WrittenValues()
        self._contents: dict[tuple[int, bool], tuple[int, bytes]] = {}  # by the id of what is kept, and whether whole:
        # a value that it is, and where the file has it
        self._goal = 0
        self._closed = 0  # the entries of which no call goes on: a print may write more until then
        self._current = Current()
        self._meter = Meter(self._value, lambda tensor, _: self._current.of(tensor))
        self._warned = self._stopped = False
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._caught_up = threading.Event()
        self._writer = Writer(path, every=2**62, seconds=float("inf"))
        self._writer.meta("argv", list(argv))
        self._writer.flush()
        self._file = _identity(path)
        self._thread = 0  # the number of the thread that writes, while it runs
        self._thread_ended = threading.Event()
        recorder.until = self.until
        _live.add(self)

    @property
    def progress(self) -> Progress:
        """The size of what is written so far."""
        seconds = time.monotonic() - self._started_at
        iterations = self._budget.iterations
        size = self._writer.bytes
        return Progress(self._ops, iterations.number, iterations.skipped, iterations.are_updates, seconds, size)

    @property
    def refusal(self) -> Refusal | None:
        """Why a recording that should pause could not; None if it could, or had no reason to."""
        return None if self._pauses is None or self._budget.iterations.skipped else self._pauses.refusal

    def start(self) -> None:
        """Begin to record."""
        self._started_at = self._reported_at = time.monotonic()
        slot.active = self.recorder
        if self._pauses is not None:
            self._pauses.begin()
        # Not a Thread: `threading.enumerate()` has the program's only.
        self._thread = _thread.start_new_thread(self._run, ())

    def until(self, entries: int, values: int, stacks: int) -> Trace:
        """The recording up to an entry, a value and a stack of the recorder, as far as it could be written."""
        with self._lock:
            self._closed = entries
            while self._done < entries and not self._is_over():
                self._write(INTERVAL)
            if not self._stop.is_set() and not self._is_over():
                self._naming.settle()
                self._write_names()
                self._writer.flush()
            trace = open_trace(self.path)
            events = trace.events[:entries]
            tensors = 1 + max(tensors_of(events), default=-1)
            names = {tensor: name for tensor, name in trace.names.items() if tensor < tensors}
            return Trace(events, trace.stacks[:stacks], trace.files, names, trace.values[:values])

    def stop(self) -> None:
        """Let `finish` write only what it has already begun; may be called by a signal's handler."""
        self._stopped = True

    def finish(self, meta: dict[str, Any], progress: Callable[[int, int], None] = lambda count, of: None) -> None:
        """Stop recording and write the rest; `progress` hears about once a second how many events are written.

        Returns the missing part, if there is one. Raises an error of our own that came up on the way.
        """
        if self._pauses is not None:
            self._pauses.end()
        if slot.active is self.recorder:
            slot.active = None
        self._stop.set()
        if self._thread not in (0, _thread.get_ident()):
            self._thread_ended.wait()
        with self._lock:
            _live.discard(self)
            self._write_rest(progress)
            if self.cut is None and _identity(self.path) != self._file:
                self.cut = EarlyEnd("gone", 0)
            if not self._is_unwritable():
                self._complete(meta)
            if self._is_unwritable():
                self._writer.give_up(self._with_cut(meta))
        if self.failure is not None:
            raise self.failure

    def _complete(self, meta: dict[str, Any]) -> None:
        """Write the facts that are known only at the end, and close the file."""
        try:
            self._naming.settle()
            self._write_names()
            rest = None
            with self._numbers:
                rest = self._meter.rest()
            self._writer.meta("meta", self._with_cut(meta))
            is_whole = self.cut is None and self.failure is None
            self._writer.close(is_whole, self._meter.take() if rest is None else rest)
        except TraceWriteError as error:
            self.cut = self._unwritable(error)

    def _lose(self, text: str) -> None:
        """Go on without a part of the recording, as a text says."""
        self.missing.append(text)
        self.say(text)

    def _unwritable(self, error: TraceWriteError) -> EarlyEnd:
        if _identity(self.path) != self._file:
            return EarlyEnd("gone", 0)
        return EarlyEnd("unwritable", self.event_count, None, error.reason)

    def _is_unwritable(self) -> bool:
        return self.cut is not None and self.cut.kind in ("unwritable", "gone")

    def _with_cut(self, meta: dict[str, Any]) -> dict[str, Any]:
        facts = {**self.recorder.meta, **meta, **self._reader.unread_meta}
        if self.missing:
            facts["missing"] = self.missing
        return facts if self.cut is None else {**facts, "cut": asdict(self.cut)}

    def _write_rest(self, progress: Callable[[int, int], None]) -> None:
        reported = time.monotonic()
        while not (self._write(INTERVAL) and (self._is_over() or self._done == len(self.recorder.log))):
            # What `_write` was about may be less than all: it goes on where the thread stopped in the middle.
            if self._stopped:
                self.cut = EarlyEnd("stopped", self.event_count, len(self.recorder.log))
                return
            if time.monotonic() - reported >= TELL_EVERY:
                reported = time.monotonic()
                progress(self.event_count, len(self.recorder.log))

    def _run(self) -> None:
        try:
            self._follow()
        finally:
            self._thread_ended.set()

    def _follow(self) -> None:
        self._thread = _thread.get_ident()
        pause = SOON
        while not self._stop.wait(pause):
            pause = SOON if self._catch_up() >= BATCH else min(2 * pause, INTERVAL)
            if self.tell is not None and not self._is_over() and time.monotonic() - self._reported_at >= PROGRESS_EVERY:
                self._reported_at = time.monotonic()
                self.tell(self.progress)

    def _catch_up(self) -> int:
        """Write the recording so far, which has this many events; a program that is far ahead waits until it is
        written."""
        before = self._done
        try:
            while True:
                if self._is_far_ahead():
                    self._hold()
                is_all = self._write(INTERVAL)
                if (is_all and not self._is_far_ahead()) or self._stop.is_set():
                    return self._done - before
                time.sleep(0)  # a fork may wait for the lock
        finally:
            self._let_go()

    def _is_far_ahead(self) -> bool:
        return not self._is_over() and len(self.recorder.log) - self._done > AHEAD

    def _is_over(self) -> bool:
        return self.cut is not None or self.failure is not None

    def _may_hold(self) -> bool:
        """Return whether a running program may be made to wait: not if it has ended or waits already."""
        return self.recorder.pace is None and _thread.get_ident() == self._thread

    def _hold(self) -> None:
        """Let the program wait after its next op, until `_catch_up` has finished."""
        self._caught_up.clear()
        self.recorder.pace = self._caught_up.wait

    def _let_go(self) -> None:
        """Let the program go on: recorded, or unrecorded from its next op on."""
        self.recorder.pace = self._leave if self._is_over() else None
        self._caught_up.set()

    def _leave(self) -> None:
        self.recorder.pace = None
        if slot.active is self.recorder:
            slot.active = None

    def _write(self, seconds: float) -> bool:
        """Write for about this many seconds, and flush; returns whether nothing is left to write."""
        with self._lock:
            if self._is_over():
                return True
            try:
                is_all = self._drain(seconds)
                self._write_names()
                if self._writer.is_block_due:
                    self._writer.block(self._meter.take())
                self._writer.flush()
                self.event_count = self._done
                self._contents.clear()
                self.recorder.forget(self._done)
                self._holding.let_go(self.recorder.values, self.recorder.store.compared)
            except TraceWriteError as error:
                self._end(self._unwritable(error))
                self._writer.undo()
                return True
            for mind in (self._mind_limit, self._mind_memory, self._mind_disk):
                if not self._is_over():
                    mind()
            return is_all or self._is_over()

    def _write_all(self) -> bool:
        """Write what is recorded so far and let all of it go; returns whether the recording may go on."""
        with self._lock:
            while not self._write(INTERVAL):
                pass
            self._holding.let_all_go(self.recorder.values, self.recorder.store.compared)
            return not self._is_over()

    def _end(self, cut: EarlyEnd) -> None:
        self.cut = cut
        ends = f"ends after {cut.written:,} events: {cut.reason}" if cut.reason else "is lost: its file was deleted"
        self.say(f"the recording {ends}. The script goes on unrecorded.")

    def _reached_limit(self) -> str:
        """The requested limit that is reached; "" if there is none."""
        if self.most.ops is not None and self._ops >= self.most.ops:
            return f"it has {self._ops:,} ops, the most that --max-ops allows"
        if self.most.bytes is not None and self._writer.bytes >= self.most.bytes:
            return f"it has {self._writer.bytes:,} bytes, the most that --max-bytes allows"
        return ""

    def _mind_limit(self) -> None:
        if self._reached_limit():
            self._end(EarlyEnd("limit", self.event_count, None, self._reached_limit()))

    def _mind_memory(self) -> None:
        bytes_in_use = self._holding.bytes + self._done * EVENT_BYTES
        if bytes_in_use > self.memory:
            self._end(EarlyEnd("memory", self.event_count, None, f"it takes {_in_words(bytes_in_use)} of memory"))
        elif bytes_in_use > WARN_AT * self.memory and not self._warned:
            self._warned = True
            text = f"the recording takes {_in_words(bytes_in_use)} of memory. At {_in_words(self.memory)} it will stop"
            self.say(f"{text}, and the script will go on unrecorded. Use fewer iterations or smaller tensors.")

    def _mind_disk(self) -> None:
        """End a recording that takes more of its disk than it leaves there, up to `RESERVE`."""
        try:
            free = disk_usage(os.path.dirname(os.path.abspath(self.path))).free
        except OSError:  # its folder is gone: the next write says so
            return
        if free < min(RESERVE, self._writer.bytes):
            self._end(EarlyEnd("disk", self.event_count, None, f"its disk has only {_in_words(free)} left"))

    def _drain(self, seconds: float = float("inf")) -> bool:
        """Write the entries appended since the last call, for about this many seconds; returns whether they are all
        written."""
        recorder, writer = self.recorder, self._writer
        if self._is_over():
            return True
        until = time.monotonic() + seconds
        try:
            if self._goal <= self._done:
                self._set_goal()
            for _ in range(BATCH):
                if self._done == self._goal:
                    if self._stop.is_set() and self._done == len(recorder.log):  # what no event names is written too
                        self._write_values(len(recorder.values), False)
                    return True
                event = self._reader.read(recorder.log[self._done])
                self._write_values(last_value(event) + 1, self._budget.see(event))
                with self._numbers:
                    self._meter.see(event)
                    self._current.see(event)
                self._naming.see(event, self._stacks[event.stack] if event.stack >= 0 else ())
                writer.event(without_folders(event, self.places))
                self._done += 1
                self._ops += type(event) is OpCalled
                if self._reached_limit():
                    break
                if len(recorder.log) - self._done > AHEAD and self._may_hold():
                    self._hold()
                if time.monotonic() > until:
                    break
            return False
        except TraceWriteError:
            raise
        except Exception as error:  # noqa: BLE001 the program goes on, whatever it is; `finish` tells
            self.failure = error
        return True

    def _write_values(self, until: int, are_made_again: bool) -> None:
        for number in range(self._valued, until):
            self._write_value(number, are_made_again)
            self._holding.add(number, self.recorder.values[number])
            self._valued = number + 1

    def _write_value(self, number: int, is_made_again: bool) -> None:
        """Write the value kept at a number; one that is still the same object as an earlier one without a look at it.

        A write copies what is kept before: an object that is there before and after the look was not written.
        """
        values = self.recorder.values
        is_whole = self._budget.is_whole(values[number], is_made_again)
        while True:
            entry = values[number]
            earlier, content = self._contents.get((id(entry), is_whole), (number, b""))
            if content and values[earlier] is entry:
                self._writer.again(content)
                return
            form = self._take(entry, is_whole)
            if values[number] is entry:
                break
        content = self._writer.value(form) if isinstance(form, Value) else self._writer.elements(*form)
        self._contents[id(entry), is_whole] = number, content

    def _take(self, entry: Any, is_whole: bool) -> Value | tuple[bytes, str, tuple[int, ...]]:
        with self._values:
            return _form(entry, is_whole)
        return damaged_value(tuple(entry.shape), name_of(entry.dtype))

    def _value(self, number: int) -> Value:
        """A value as it was recorded: from memory, or from the file if it was released."""
        values = self.recorder.values
        while True:
            entry = values[number]
            if isinstance(entry, StoredArray):
                return self._writer.read(number)
            value = value_of(entry.copy() if isinstance(entry, np.ndarray) else entry)
            if values[number] is entry:
                return value

    def _set_goal(self) -> None:
        """Set what to write next: stacks and files, and then the events, each after the values it names.

        Values come with their event and not before: so what is written of them depends on the events alone.
        """
        recorder = self.recorder
        ready = len(recorder.log)
        if ready > self._closed and recorder.log[ready - 1][0] == "print" and not self._stop.is_set():
            ready -= 1  # its call may write more
        for key in list(recorder.stacks.numbers)[len(self._stacks) :]:
            self._stacks.append(self.places.stack(key, recorder.stacks.codes))
            self._writer.stack(self._stacks[-1])
        for name, text in self.places.files.items():
            if name not in self._texts:
                self._texts[name] = text
                self._writer.file(name, text)
        self._goal = ready

    def _write_names(self) -> None:
        noted, changed, called = self._naming.names, self._naming.changed, self._called
        names: dict[int, str | None] = {}
        with self._names:
            recent = self._reader.called_since()
            called.update(recent)
            for tensor in changed | recent.keys():
                name = noted.get(tensor)
                names[tensor] = best_name(name, called[tensor]) if tensor in called else name
        for tensor, name in names.items():
            self._writer.name(tensor, name)
        changed.clear()

    # -- fork -----------------------------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Close the file: SQLite forbids to carry an open one over."""
        self._lock.acquire()
        self._writer.pause()

    def after_fork(self) -> None:
        """Open it again, in the process that goes on recording."""
        self._writer.resume()
        self._lock.release()

    def in_fork(self) -> None:
        """Have no thread that writes, as in a process that was forked."""
        self._thread = 0


_live: weakref.WeakSet[Stream] = weakref.WeakSet()


def half_of_memory() -> int:
    """Bytes: half of this machine's memory; 4 GiB if that is unknown."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    except (AttributeError, OSError, ValueError):
        return 4 * 2**30


def _in_words(size: int) -> str:
    """
    >>> _in_words(3 * 2**30), _in_words(640 * 2**20)
    ('3.0 GiB', '640 MiB')
    """
    return f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.0f} MiB"


def _identity(path: str) -> tuple[int, int] | None:
    """The identity of the file at a path; None if there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _form(entry: Any, is_whole: bool) -> Value | tuple[bytes, str, tuple[int, ...]]:
    """The form in which a value of the recorder is written: the bytes of an array with its element type and shape, or a
    Value."""
    if type(entry) is PendingArray:
        entry = entry.read()
    if type(entry) is not np.ndarray:
        return value_of(entry) if is_whole else as_sample(value_of(entry))
    if is_whole and entry.nbytes <= MOST_ARRAY:
        return little(entry).tobytes(), name_of(entry.dtype), entry.shape
    return sample_value(entry)


def _before() -> None:
    for stream in tuple(_live):
        stream.before_fork()


def _after_in_parent() -> None:
    for stream in tuple(_live):
        stream.after_fork()


def _after_in_forked() -> None:
    slot.active = slot.stepped = None
    for stream in tuple(_live):
        stream.in_fork()
    _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_forked)
