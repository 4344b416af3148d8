"""What a tensor shares with its views."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING

from .slot import reserve

if TYPE_CHECKING:
    from .tensor import Tensor


class Storage:
    """What views share: the count of in-place writes, and the recorded values that a write must not change.

    `unseen` counts the writes through `.data`, which history does not see but a recording tells; `origin` is, for what
    `.data` gave, the storage that such a write changes, and `kin`, after `x.data = y`, those that have the same memory;
    `source`: the tensor that `.data` or `detach()` gave another of.
    `outside`: the memory is a numpy array of the program's too, who may write there past all of this; a recording looks
    whether it did.  `handed`: the array is a gradient's too, which a recording may have by itself among its values from
    this one on.
    """

    version = 0
    unseen = 0
    outside = False
    handed: int | None = None
    origin: Storage | None = None
    source: weakref.ref[Tensor] | None = None
    kin: list[weakref.ref[Storage]] | None = None
    recorded: Sequence[int] = ()
    number = -1
    inference = False
    views: list[weakref.ref[Tensor]] | None = None

    def touched(self) -> list[Storage]:
        """The other storages of the same memory, which a write to this one changes too."""
        found: list[Storage] = [self]
        for one in found:
            others = [one.origin, *(reference() for reference in one.kin or ())]
            found += [other for other in others if other is not None and other not in found]
        return found[1:]

    def join(self, other: Storage) -> None:
        """From now on this is the memory of `other`, and of no other than that.  What `.data` gave of a tensor may soon
        be gone: the tensor's own storage counts then."""
        other = other.origin or other
        if other is self:
            return
        self.origin = None
        self.kin = [weakref.ref(other)]
        other.kin = [reference for reference in other.kin or () if reference() is not None]
        other.kin.append(weakref.ref(self))

    def add(self, view: Tensor) -> None:
        """Note a view of a tensor that does not require grad: it will when the tensor does."""
        if self.views is None:
            self.views = []
        views = self.views
        if len(views) > 8 and len(views) & (len(views) - 1) == 0:
            views[:] = [reference for reference in views if reference() is not None]
        views.append(weakref.ref(view))


reserve(Storage, "version", "number", "recorded", "unseen", "views", "outside", "origin")


class InferenceStorage(Storage):
    """Of a tensor made in inference mode.  It has no version for history: what is truthy here only opens the way on
    which saving it is refused."""

    version = 1
    inference = True
