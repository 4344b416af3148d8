"""Waiting for a program to import torch: it is watched from then on.  Nothing here imports torch."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

from engine.trace.recorder import Recorder

if TYPE_CHECKING:
    from .changes import Changes
    from .watch import Watch

OLDEST = 2, 4
"""The first version of torch that can be recorded."""
FOLDER = os.path.join(os.path.dirname(__file__), "")


class Arrival(MetaPathFinder):
    """Watches torch for a recording once the program has imported it, and makes `changes` in it; `say` hears what goes
    wrong with that."""

    def __init__(self, recorder: Recorder, say: Callable[[str], None], changes: Changes | None = None) -> None:
        self.recorder, self.say, self.changes = recorder, say, changes
        self.watch: Watch | None = None

    def wait(self) -> None:
        """Begin; torch may be there already."""
        if "torch" in sys.modules:
            self.arrived()
        else:
            sys.meta_path.insert(0, self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the other finders have for torch, with a loader that tells us."""
        if fullname != "torch":
            return None
        self.leave()
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find is not None else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Told(spec.loader, self)
                return spec
        return None

    def arrived(self) -> None:
        """torch is imported: from now on it is watched."""
        version = str(getattr(sys.modules["torch"], "__version__", ""))
        if is_too_old(version):
            self.say(f"PyTorch {version} is too old to be recorded: {OLDEST[0]}.{OLDEST[1]} or newer is needed.")
            return
        try:
            from .watch import Watch

            watch = Watch(self.recorder, self.say, self.changes)
            watch.start()
            self.watch = watch
        except Exception as error:  # noqa: BLE001 the program goes on as without us, whatever this torch is like
            self.say(f"this torch cannot be recorded: {type(error).__name__}: {error}")

    def finish(self) -> None:
        """Write down what waits: an error comes next."""
        if self.watch is not None:
            self.watch.finish()

    def stop(self) -> None:
        """Leave torch as it was."""
        self.leave()
        if self.watch is not None:
            self.watch.stop()
            self.watch = None

    def leave(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)


def is_too_old(version: str) -> bool:
    """Whether the recorder cannot work with a version of torch; of a version without numbers, nobody knows.

    >>> is_too_old("2.3.1+cu121"), is_too_old("2.10.0a0+git"), is_too_old("custom")
    (True, False, False)
    """
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST


@contextmanager
def watching(recorder: Recorder, say: Callable[[str], None]) -> Iterator[None]:
    """Watch torch for a recording inside a block, from when it is imported."""
    arrival = Arrival(recorder, say)
    arrival.wait()
    try:
        yield
    finally:
        arrival.stop()


class _Told(Loader):
    """The loader of torch, which says when the module is there, and leaves no trace of itself."""

    def __init__(self, real: Any, arrival: Arrival) -> None:
        self.real, self.arrival = real, arrival

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the real one does."""
        spec.loader = self.real
        module: ModuleType | None = self.real.create_module(spec)
        spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        """As the real one does; then torch is watched.  An import that fails may be tried again."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.real
        try:
            self.real.exec_module(module)
        except BaseException:
            sys.meta_path.insert(0, self.arrival)
            raise
        self.arrival.arrived()


def without_ours(kept: TracebackType | None) -> TracebackType | None:
    """A traceback without the frames of the recorder."""
    frames = []
    while kept is not None:
        if not kept.tb_frame.f_code.co_filename.startswith(FOLDER):
            frames.append(kept)
        kept = kept.tb_next
    for outer, inner in zip(frames, [*frames[1:], None], strict=True):
        outer.tb_next = inner
    return frames[0] if frames else None
