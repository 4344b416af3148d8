"""Waiting for a program to import torch: it is watched from then on.  Nothing here imports torch."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from engine.trace.recorder import Recorder

from ..imports import Import

if TYPE_CHECKING:
    from .changes import Changes
    from .watch import Watch

OLDEST, NEWEST = (2, 4), (2, 14)
"""The first version of torch that can be recorded, and the last with which this was tried."""


class TorchImport:
    """Watches torch for a recording once the program has imported it, and makes `changes` in it; `say` hears what goes
    wrong with that.  `spawned` gives what runs in another process in place of a function."""

    def __init__(
        self, recorder: Recorder, say: Callable[[str], None], changes: Changes | None = None,
        spawned: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.recorder, self.say, self.changes, self.spawned = recorder, say, changes, spawned
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
            self.say(f"PyTorch {version} is too old to be recorded: {dotted(OLDEST)} or newer is needed.")
            return
        try:
            from .watch import Watch

            watch = Watch(self.recorder, self.say, self.changes, self.spawned)
            watch.start()
            self.watch = watch
        except Exception as error:  # noqa: BLE001 the program goes on as without us, whatever this torch is like
            self.say(
                f"PyTorch {version} cannot be recorded, and the script runs as it would without Backstep: "
                f"{type(error).__name__}: {error}. Versions {dotted(OLDEST)} to {dotted(NEWEST)} can be recorded."
            )

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


def dotted(version: tuple[int, int]) -> str:
    """A version as people write it."""
    return ".".join(map(str, version))


def is_too_old(version: str) -> bool:
    """Return whether a version of torch is too old for the recorder; False for a version without numbers.

    >>> is_too_old("2.3.1+cu121"), is_too_old("2.10.0a0+git"), is_too_old("custom")
    (True, False, False)
    """
    numbers = re.match(r"(\d+)\.(\d+)", version)
    return numbers is not None and (int(numbers[1]), int(numbers[2])) < OLDEST


@contextmanager
def watching(recorder: Recorder, say: Callable[[str], None]) -> Iterator[None]:
    """Watch torch for a recording inside a block, from when it is imported."""
    arrival = TorchImport(recorder, say)
    arrival.wait()
    try:
        yield
    finally:
        arrival.stop()
