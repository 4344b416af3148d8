"""Storage: the memory that a tensor shares with its views, and with others by `.data` or `detach()`."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..arrays.session import reserve

if TYPE_CHECKING:
    from .tensor import Tensor


class Memory:
    """The common part of storages that have the same memory: those of `x` and `x.data`, or of `x` and `y` after `x.data
    = y`.  `writes` counts the writes through any of them, so that each knows about the others' writes.  `outside`: the
    memory is also a numpy array of the program, which may write to it unnoticed; a recording checks whether it did.
    `handed`: the recording may also have the array by itself, as a gradient that a node received, among its values from
    this one on.  `recorded` and `number` are as in `Storage`, for all of them.
    """

    __slots__ = ("handed", "number", "outside", "recorded", "writes")

    def __init__(self, number: int, recorded: Sequence[int]) -> None:
        self.number = number
        self.recorded = list(recorded)
        self.writes = 0
        self.outside = False
        self.handed: int | None = None


class Storage:
    """The common part of a tensor and its views: the count of in-place writes, and the recorded values that a write
    must not change.

    `unseen` counts the writes that the history misses but a recording reports; writes through other storages of the
    same `memory` are counted there, and `counted` of them are included in `version` or `unseen`.  `memory` is None
    while this is the only storage of its memory.  `source`: the tensor from which `.data` or `detach()` made this one.
    """

    version = 0
    unseen = 0
    memory: Memory | None = None
    counted = 0
    source: weakref.ref[Tensor] | None = None
    recorded: Sequence[int] = ()
    number = -1
    inference = False
    views: list[weakref.ref[Tensor]] | None = None

    @property
    def moment(self) -> int:
        """The version for a recording: how often the elements were written, through any storage."""
        memory = self.memory
        return self.version + self.unseen + (0 if memory is None else memory.writes - self.counted)

    def count_write(self) -> None:
        """The elements were written through this: one more version."""
        self.version += 1
        if self.memory is not None:
            self.memory.writes += 1
            self.counted += 1

    def shared(self) -> Memory:
        """The memory, which others may share from now on."""
        if self.memory is None:
            self.memory = Memory(self.number, self.recorded)
            self.counted = 0
        return self.memory

    def join(self, other: Storage) -> None:
        """From now on this storage has the memory of `other`, and no longer its own."""
        if self.memory is not None:
            self.unseen += self.memory.writes - self.counted
        self.memory = other.shared()
        self.counted = self.memory.writes

    def add(self, view: Tensor) -> None:
        """Note a view of a tensor that does not require grad: it will when the tensor does."""
        if self.views is None:
            self.views = []
        views = self.views
        if len(views) > 8 and len(views) & (len(views) - 1) == 0:
            views[:] = [reference for reference in views if reference() is not None]
        views.append(weakref.ref(view))


reserve(Storage, "version", "number", "recorded", "unseen", "views", "memory", "counted")


class InferenceStorage(Storage):
    """The storage of a tensor made in inference mode.  It has no version: its truthy value only leads to the code that
    refuses to save the tensor."""

    version = 1
    inference = True
