"""A recording that is written to a file while the program runs, by a thread of its own.

What the recorder appends is read here a moment later.  A value may be written in place by then; the recorder replaces
the array it keeps by a copy *before* such a write, so a value that is still the same object after its bytes were taken
is the one that was recorded.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any

from .binding import Naming
from .later import Later
from .reading import _Reader, _without_folders, value_of, worked_out
from .recorder import Recorder
from .slot import slot
from .source import Places, Sources
from .trace import Value
from .tracefile import Writer

INTERVAL = 0.25
"""Seconds between two flushes."""


class Stream:
    """Writes what `recorder` collects to `path` until `finish`; the recorder is active meanwhile.

    A process that the program forks goes on without recording.
    """

    def __init__(self, recorder: Recorder, path: str, places: Places, argv: tuple[str, ...] = ()) -> None:
        self.recorder, self.places = recorder, places
        self._reader = _Reader(recorder)
        self._texts: dict[str, str] = {}
        self._naming = Naming(Sources(self._texts))
        self._stacks: list[Any] = []
        self._named: dict[int, str] = {}
        self._done = self._valued = 0
        self._lock = threading.RLock()
        self._stop = threading.Event()
        self._writer = Writer(path, every=2**62, seconds=float("inf"))
        self._writer.meta("argv", list(argv))
        self._writer.flush()
        self._thread = threading.Thread(target=self._run, name="backstep-recording", daemon=True)
        self.failure: BaseException | None = None
        _live.add(self)

    def start(self) -> None:
        """Begin to record."""
        slot.active = self.recorder
        self._thread.start()

    def finish(self, meta: dict[str, Any]) -> None:
        """Stop recording and write the rest.  Raises what went wrong on the way, if anything did."""
        if slot.active is self.recorder:
            slot.active = None
        self._stop.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join()
        with self._lock:
            _live.discard(self)
            self._drain()
            self._naming.settle()
            self._write_names()
            self._writer.meta("meta", meta)
            self._writer.close(complete=self.failure is None)
        if self.failure is not None:
            raise self.failure

    def _run(self) -> None:
        while not self._stop.wait(INTERVAL):
            with self._lock:
                self._drain()
                self._write_names()
                self._writer.flush()

    def _drain(self) -> None:
        """Write what was appended since the last time."""
        recorder, writer = self.recorder, self._writer
        if self.failure is not None:
            return
        try:
            ready = len(recorder.log)
            for key in list(recorder.stacks)[len(self._stacks) :]:
                self._stacks.append(self.places.stack(key, recorder.codes))
                writer.stack(self._stacks[-1])
            for name, text in self.places.files.items():
                if name not in self._texts:
                    self._texts[name] = text
                    writer.file(name, text)
            for place in range(self._valued, len(recorder.values)):
                writer.value(_steady(recorder.values, place))
                self._valued = place + 1
            for entry in recorder.log[self._done : ready]:
                event = self._reader.read(entry)
                self._naming.see(event, self._stacks[event.stack] if event.stack >= 0 else ())
                writer.event(_without_folders(event, self.places))
                self._done += 1
        except Exception as error:  # noqa: BLE001 the program goes on, whatever it is; `finish` tells
            self.failure = error

    def _write_names(self) -> None:
        names = self._naming.names
        for tensor in self._named.keys() - names.keys():
            self._writer.name(tensor, None)
        for tensor, name in names.items():
            if self._named.get(tensor) != name:
                self._writer.name(tensor, name)
        self._named = dict(names)

    # -- fork -----------------------------------------------------------------------------------------------------

    def before_fork(self) -> None:
        """Close the file: SQLite forbids to carry an open one over."""
        self._lock.acquire()
        self._writer.pause()

    def after_fork(self) -> None:
        """Open it again, in the process that goes on recording."""
        self._writer.resume()
        self._lock.release()


_live: weakref.WeakSet[Stream] = weakref.WeakSet()


def _steady(values: list[Any], place: int) -> Value:
    """The value kept at `place`, in bytes that no later write can reach."""
    while True:
        kept = values[place]
        later = Later(*kept) if type(kept) is tuple else None
        parts = [kept] if later is None else later.parts(values)
        value = value_of(worked_out(kept.copy() if hasattr(kept, "copy") else kept, values))
        now = [values[place]] if later is None else later.parts(values)
        if all(a is b for a, b in zip(parts, now, strict=True)):
            return value


def _before() -> None:
    for stream in tuple(_live):
        stream.before_fork()


def _after_in_parent() -> None:
    for stream in tuple(_live):
        stream.after_fork()


def _after_in_forked() -> None:
    if _live:
        slot.active = None
        _live.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_forked)
