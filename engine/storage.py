"""What a tensor shares with its views."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .tensor import Tensor


class Storage:
    """What views share: the count of in-place writes, and the recorded values that a write must not change.

    `unseen` counts the writes through `.data`, which history does not see but a recording tells; `origin` is, for what
    `.data` gave, the storage that such a write changes.  `outside`: the memory is a numpy array of the program's
    too, who may write there past all of this; a recording looks whether it did.  `handed`: the array of a gradient
    on its way, of which a recording has values of its own.
    """

    version = 0
    unseen = 0
    outside = False
    handed = False
    origin: Storage | None = None
    recorded: tuple[int, ...] = ()
    number = -1
    inference = False
    views: list[weakref.ref[Tensor]] | None = None

    def add(self, view: Tensor) -> None:
        """Note a view of a tensor that does not require grad: it will when the tensor does."""
        if self.views is None:
            self.views = []
        views = self.views
        if len(views) > 8 and len(views) & (len(views) - 1) == 0:
            views[:] = [reference for reference in views if reference() is not None]
        views.append(weakref.ref(view))


class InferenceStorage(Storage):
    """Of a tensor made in inference mode.  It has no version for history: what is truthy here only opens the way on
    which saving it is refused."""

    version = 1
    inference = True
