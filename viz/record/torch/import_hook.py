"""Waiting for a program to import torch: it is watched from then on.  Nothing here imports torch."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
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


class Import(MetaPathFinder):
    """The import of a module, which happens inside a context; it may fail and be tried again."""

    def __init__(self, name: str, around: Callable[[], AbstractContextManager[None]]) -> None:
        self.name, self.around = name, around

    def wait(self) -> None:
        """Begin to wait for it."""
        sys.meta_path.insert(0, self)

    def leave(self) -> None:
        """Wait no longer."""
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec that the other finders have for it, with a loader of ours."""
        if fullname != self.name:
            return None
        self.leave()
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec: ModuleSpec | None = find(fullname, path, target) if find is not None else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Inside(spec.loader, self)
                return spec
        return None


class _Inside(Loader):
    """The loader of a module, which runs it inside a context, and leaves no trace of itself."""

    def __init__(self, real: Any, imported: Import) -> None:
        self.real, self.imported = real, imported

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """As the real one does."""
        spec.loader = self.real
        module: ModuleType | None = self.real.create_module(spec)
        spec.loader = self
        return module

    def exec_module(self, module: ModuleType) -> None:
        """As the real one does."""
        assert module.__spec__ is not None
        module.__spec__.loader = module.__loader__ = self.real
        try:
            with self.imported.around():
                self.real.exec_module(module)
        except BaseException:
            self.imported.wait()
            raise


class Arrival:
    """Watches torch for a recording once the program has imported it, and makes `changes` in it; `say` hears what goes
    wrong with that."""

    def __init__(self, recorder: Recorder, say: Callable[[str], None], changes: Changes | None = None) -> None:
        self.recorder, self.say, self.changes = recorder, say, changes
        self.watch: Watch | None = None
        self.imported = Import("torch", self.importing)

    def wait(self) -> None:
        """Begin; torch may be there already."""
        if "torch" in sys.modules:
            self.arrived()
        else:
            self.imported.wait()

    @contextmanager
    def importing(self) -> Iterator[None]:
        """The import of torch."""
        yield
        self.arrived()

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
        self.imported.leave()
        if self.watch is not None:
            self.watch.stop()
            self.watch = None


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
