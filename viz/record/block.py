"""Recording a block of a program, in its own process: what `backstep.record` gives."""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from engine.arrays.session import slot
from engine.trace.events import Trace
from engine.trace.file.iterations import ALL, Selection
from engine.trace.file.streaming import Stream
from engine.trace.file.tracefile import open_trace
from engine.trace.record import recording, unfinished
from engine.trace.recorder import Recorder
from engine.trace.source import Places
from viz.record.ranks import of_rank, rank
from viz.record.record_command import unfit
from viz.record.runner import own_folder
from viz.record.torch.import_hook import watching


class Block:
    """`with Block(path) as trace:` records the program inside; a function that it decorates, at each call.

    Raises ValueError for a path that cannot be a trace, and for iterations that are not numbers from 0 on.
    """

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, record_every: int | None = None,
        steps: Iterable[int] | None = None, pause: bool = False,
    ) -> None:  # fmt: skip
        self.path = None if path is None else of_rank(Path(path), rank())
        self.selection, self.pauses = selection(record_every, steps), pause
        if pause and self.selection.is_all:
            raise ValueError(f"pause={pause!r} needs record_every or steps: the iterations that are recorded")
        wrong = "" if self.path is None else unfit(self.path)
        if wrong:
            raise ValueError(wrong)
        self._open: list[tuple[AbstractContextManager[Trace], Trace]] = []

    def __enter__(self) -> Trace:
        return self._begin(sys._getframe(1))

    def __exit__(self, *error: Any) -> None:
        block, _ = self._open.pop()
        block.__exit__(*error)

    def start(self) -> Trace:
        """Begin to record, as `with` does, for code that ends the recording in another function, such as a callback.

        If a recording has begun, it goes on: a Trainer that accumulates gradients has several batches for one step.
        """
        if self._open:
            return self._open[-1][1]
        frame = sys._getframe(1)
        while frame.f_back is not None:  # the function that calls this may have ended before the recording does
            frame = frame.f_back
        return self._begin(frame)

    def stop(self) -> None:
        """End the recording that `start` began, if it did."""
        if self._open:
            self.__exit__(None, None, None)

    def _begin(self, frame: FrameType) -> Trace:
        block = self._recording(frame)
        trace = block.__enter__()
        self._open.append((block, trace))
        return trace

    def __call__(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            with self._recording(sys._getframe(1)) as trace:
                vars(recorded)["trace"] = trace
                return function(*args, **kwargs)

        return recorded

    def _recording(self, frame: FrameType) -> AbstractContextManager[Trace]:
        return self._part(frame) if slot.active is not None else with_torch(self._part(frame))

    def _part(self, frame: FrameType) -> AbstractContextManager[Trace]:
        if slot.active is None and (self.path is not None or not self.selection.is_all):
            return streamed(self.path or own_folder() / "block.backstep", self.selection, frame, pauses=self.pauses)
        return recording(frame) if self.path is None else saved(self.path, frame)


def selection(every: Any, steps: Iterable[int] | None) -> Selection:
    """The iterations that keep their values.

    >>> selection(50, range(100, 103)).ranges, selection(None, [7, 3, 4]).ranges
    (((100, 103),), ((3, 5), (7, 8)))
    """
    if every is not None and not _are_counts([every], 1):
        raise ValueError(f"record_every={every!r} is not a count: give a whole number of at least 1")
    every = None if every is None else int(every)
    if isinstance(steps, range) and steps and steps.step == 1 and steps.start >= 0:
        return Selection(((steps.start, steps.stop),), every)
    counts = [] if steps is None else [*steps] if isinstance(steps, Iterable) else [None]
    if steps is not None and not (counts and _are_counts(counts, 0)):
        raise ValueError(f"steps={steps!r} are not iterations: give whole numbers from 0 on, such as range(100, 103)")
    numbers = sorted({int(one) for one in counts})
    starts = [one for place, one in enumerate(numbers) if not place or numbers[place - 1] != one - 1]
    ends = [one + 1 for place, one in enumerate(numbers) if numbers[place + 1 : place + 2] != [one + 1]]
    return Selection(tuple(zip(starts, ends, strict=True)), every) if numbers or every else ALL


def _are_counts(numbers: Iterable[Any], least: int) -> bool:
    """Return whether all are whole numbers, numpy's included, and none is below `least`."""
    return all(isinstance(one, (int, np.integer)) and not isinstance(one, bool) and one >= least for one in numbers)


@contextmanager
def with_torch(block: AbstractContextManager[Trace]) -> Iterator[Trace]:
    """A recording of the engine, and of torch if the program uses that."""
    with block as trace, watching(slot.active, _say):
        yield trace


@contextmanager
def streamed(
    path: Path, chosen: Selection, frame: FrameType, folder: str = "", *, pauses: bool = False
) -> Iterator[Trace]:
    """A recording that is written to a file while the block runs, like that of a script."""
    recorder = Recorder()
    recorder.stacks.begin(frame)
    name = frame.f_code.co_filename
    folder = folder or (os.getcwd() if name.startswith("<") else os.path.dirname(os.path.abspath(name)))
    place = str(path.absolute())
    stream = Stream(recorder, place, Places(folder), tuple(sys.argv), say=_say, selection=chosen, pauses=pauses)
    trace = Trace.pending(unfinished)
    stream.start()
    try:
        yield trace
    except BaseException as error:
        recorder.uncaught(error)
        raise
    finally:
        recorder.stacks.base = None
        try:
            stream.finish({})
        except Exception as fault:  # noqa: BLE001 ours: the program goes on as without us
            _say(f"the recording ends after {stream.event_count:,} events: {type(fault).__name__}: {fault}")
        trace.__dict__["_load"] = functools.partial(open_trace, path.absolute())


@contextmanager
def saved(path: Path, frame: FrameType) -> Iterator[Trace]:
    """The part of a running recording, written to a file at the end of the block."""
    with ExitStack() as after, recording(frame) as trace:
        after.callback(lambda: trace.save(str(path)))
        yield trace


class ProcessTarget:
    """The function of a process that a recorded program starts: each call of it has a trace beside that of the program.

    It returns and raises the same as the function does, without a frame of ours.
    """

    def __init__(self, function: Callable[..., Any], path: str, selection: Selection, pauses: bool) -> None:
        self.function, self.path, self.selection, self.pauses = function, Path(path), selection, pauses

    def __call__(self, number: int, *args: Any) -> Any:
        recording = self._begin(number)
        error: BaseException | None = None
        try:
            return self.function(number, *args)
        except BaseException as raised:
            error = raised
            raised.__traceback__ = raised.__traceback__ and raised.__traceback__.tb_next
            raise
        finally:
            _end(recording, error)

    def _begin(self, number: int) -> Any:
        try:
            code = getattr(self.function, "__code__", None)
            folder = os.path.dirname(os.path.abspath(code.co_filename)) if code is not None else os.getcwd()
            path, frame = of_rank(self.path, number), sys._getframe(1)
            recording = with_torch(streamed(path, self.selection, frame, folder, pauses=self.pauses))
            recording.__enter__()
            return recording
        except Exception as error:  # noqa: BLE001 ours: the process does its work as without us
            _say(unrecorded(error))
            return None


def _end(recording: Any, error: BaseException | None) -> None:
    try:
        if recording is not None:
            recording.__exit__(None if error is None else type(error), error, error and error.__traceback__)
    except BaseException as fault:  # noqa: BLE001 likewise; the error itself comes back
        if fault is not error:
            _say(unrecorded(fault))


def unrecorded(error: BaseException) -> str:
    """Why a process that the program started is not recorded, or not to its end."""
    return f"the recording of this process failed: {type(error).__name__}: {error}"


def _say(text: str) -> None:
    print(f"backstep: {text}", file=sys.stderr, flush=True)
