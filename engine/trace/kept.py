"""What tensors hold, as a recording keeps it: by reference while nobody writes it, copied just before somebody does."""

from __future__ import annotations

import itertools
from collections import deque
from typing import Any

from ..arrays import array
from .arena import Arena
from .module_names import Names
from .short import Short, next_id, plain
from .summary import Summary

LIMIT = 65_536
"""Elements up to which a value is kept whole; beyond it, a sample and statistics."""
WAITING = 256 * 2**20
"""Bytes of large arrays that may wait for their statistics."""


class Kept(Short):
    """The values of a recording, and which tensor had which of them in which version.

    A tensor that was seen carries its number (`_id`, at or above `first`), the version it was seen in and the value it
    had then (`_seen`, `_value`).
    """

    def __init__(self, limit: int) -> None:
        super().__init__()
        self.limit = limit
        self.values: list[Any] = []
        self.first = next_id()
        self.large: deque[Summary] = deque()
        self.summaries: dict[int, Summary] = {}  # by the id of the array that each is of, as long as nobody wrote it
        self.copies = Arena()
        self.waiting = 0
        self.having: dict[int, list[int]] = {}  # by the id of an array: the values that have its memory,
        self.noted = range(0)  # of those in here
        self.begun = 0  # how many values there were when the backward call began, the outermost of those that run
        self.names = Names(self.first)
        self.grads: set[int] = set()  # the tensors that are, or were, the `.grad` of one

    # -- values ---------------------------------------------------------------------------------------------------

    def keep(self, data: Any) -> int:
        """Keep an array that nobody will write (a gradient on its way, a fresh result); its value number."""
        values = self.values
        values.append(data if data.size <= self.limit else self.summary(data))
        return len(values) - 1

    def summary(self, data: Any) -> Summary:
        """What is kept of a large array, one for all values that it is: a gradient is sent by one node and received by
        the next.  Where more than `WAITING` bytes wait to be looked at, the oldest are."""
        summary = self.summaries.get(id(data))
        if summary is not None and summary.held is data:
            return summary
        summary = self.summaries[id(data)] = Summary(data)
        self.large.append(summary)
        self.waiting += data.nbytes
        while self.waiting > WAITING:
            oldest = self.large.popleft()
            self.waiting -= oldest.size * oldest.dtype.itemsize
            self.summaries.pop(id(oldest.held), None)
            oldest.settle()
        return summary

    def keep_copy(self, data: Any) -> int:
        """Keep what an array holds now, though it may be written later."""
        if data.size <= self.limit:
            return self.keep(self.copies.copy(data))
        value = self.keep(data)
        self.copy(value)
        return value

    def keep_now(self, tensor: Any) -> int:
        """Keep what a tensor that is registered next holds now: by reference, as the next write is announced, unless
        the program can write past us."""
        memory = tensor._storage.memory
        outside = memory is not None and memory.outside
        return self.keep_copy(tensor._array) if outside else self.keep(tensor._array)

    def register(self, tensor: Any, value: int) -> int:
        """Give `tensor` a number and note its value for the version it has; writes must go through `before_write`."""
        number: int = tensor._id
        if number < self.first:
            number = tensor._id = next_id()
            shared = tensor._shared
        else:
            shared = tensor._storage  # which knows the value that it was recorded with: it may be the same array
        tensor._value = value
        if shared is not None:
            tensor._seen = shared.moment
            if shared.number < self.first:
                shared.number, shared.recorded = number, []
            memory = shared.memory
            if memory is None:
                shared.recorded.append(value)
            else:
                if memory.number < self.first:
                    memory.number, memory.recorded = number, []
                memory.recorded.append(value)
        return number

    def result(self, out: Any, inplace: Any) -> tuple[int, int, int, bool, int]:
        """(number, version, value, requires_grad, storage) of an output."""
        value = self.keep_now(out) if out is inplace else self.keep(out._array)
        number = self.register(out, value)
        shared = out._shared
        version, storage = (0, number) if shared is None else (out._seen, shared.number)
        return number, version, value, out._requires_grad, storage

    # -- tensors that are used --------------------------------------------------------------------------------------

    def see(self, tensor: Any, source: str = "seen", name: str | None = None) -> tuple[int, int]:
        """(number, version) of a tensor that is used now, recorded as a leaf where the trace does not know it."""
        shared = tensor._shared
        version = 0 if shared is None else shared.moment
        memory = None if shared is None else shared.memory
        number: int = tensor._id
        if number >= self.first:
            if tensor._seen != version:  # a view whose base was written since, or the other way round
                self.refresh("refresh", tensor, version)
            elif memory is not None and memory.outside and self.differs(tensor):
                memory.writes += 1
                version += 1
                self.refresh("outside", tensor, version)
            return number, version
        if source == "seen" and name is None:
            source, name = self.names.reached(tensor)
        outside = memory is not None and memory.outside
        value = self.keep_copy(tensor._array) if outside else self.keep(tensor._array)
        number = self.register(tensor, value)
        grad = tensor._grad
        held = self.held(grad)
        storage = number if shared is None else shared.number
        requires = tensor._requires_grad
        self.log.append(("leaf", self.stack(2), number, storage, version, value, requires, source, held, name))
        return number, version

    def see_base(self, base: Any, joins: bool) -> None:
        """See the base of a view that is about to be written; `joins`: it gets a history by that.

        A large one that gets none is not looked at again until it is used: a buffer that is filled row by row would be
        copied for each row.
        """
        if joins or base._id < self.first or base._array.size <= self.limit:
            self.see(base)

    def knows(self, tensor: Any) -> bool:
        """Whether what a tensor holds now is recorded."""
        shared = tensor._shared
        version = 0 if shared is None else shared.moment
        return bool(tensor._id >= self.first and tensor._seen == version)

    def refresh(self, kind: str, tensor: Any, version: int) -> None:
        """A tensor has become another since it was seen: through another name of its storage, or from outside."""
        value = self.keep_now(tensor)
        self.register(tensor, value)
        self.log.append((kind, -1, tensor._id, version, value))

    def held(self, grad: Any) -> int | None:
        """The number of a tensor that is the `.grad` of one; None for None."""
        if grad is None:
            return None
        number = self.see(grad)[0]
        self.grads.add(number)
        return number

    def differs(self, tensor: Any) -> bool:
        """Whether a tensor holds something else than it did when it was seen.  Linear in its size."""
        kept, found = self.values[tensor._value], tensor._array
        if isinstance(kept, Summary):
            now = Summary(found)
            return repr((now.stats, now.sample.tolist())) != repr((kept.stats, kept.sample.tolist()))
        return bool(kept.tobytes() != found.tobytes())

    def recognise(self, out: Any) -> None:
        """`out` is an output that its node kept, taken out again: the same tensor to a trace, where nobody wrote it."""
        shared = out._shared
        if shared is not None and shared.number >= self.first and shared.recorded and plain(shared):
            kept = self.values[shared.recorded[0]]
            if kept is out._array or (isinstance(kept, Summary) and kept.shape == out._array.shape):
                out._id, out._value = shared.number, shared.recorded[0]

    # -- writes ---------------------------------------------------------------------------------------------------

    def before_write(self, tensor: Any) -> None:
        """Copy what is recorded of the memory of `tensor`, about to be written, be it through `.data`."""
        shared = tensor._storage
        memory = shared.memory
        if memory is not None and memory.handed is not None:
            self.secure(tensor._array, memory.handed)
        one = shared if memory is None else memory
        if one.number >= self.first:
            for value in one.recorded:
                self.copy(value)
        one.recorded = []

    def after_write(self, target: Any) -> None:
        """Tell at once what a leaf, or the `.grad` of one, holds that was written through another name of it.

        Of other tensors it is told when they are used: a long buffer that is filled place by place costs no copies.
        """
        source = target._storage.source
        for one in (None if target._view is None else target._view.base, None if source is None else source()):
            if one is None or one is target or one._id < self.first:
                continue
            if one._id in self.grads or (one._requires_grad and one._node is None):
                self.see(one)

    def copy(self, value: int) -> None:
        """Let the array that is kept as a value be written."""
        kept = self.values[value]
        if isinstance(kept, Summary):
            kept.settle()
        elif array.is_array(kept):
            self.values[value] = self.copies.copy(kept)

    def secure(self, data: Any, since: int) -> None:
        """Copy what is kept of an array that is about to be written, among the values from `since` on.

        Which values have an array is noted of each value once.
        """
        self.note(since)
        mine = owner(data)
        for value in self.having.pop(id(mine), ()):
            kept = self.values[value]
            if owner(kept.held if isinstance(kept, Summary) else kept) is mine:
                self.copy(value)

    def note(self, since: int) -> None:
        """Note of the values from `since` on whose memory they have."""
        values, having = self.values, self.having
        noted = self.noted or range(since, since)
        for value in itertools.chain(range(since, noted.start), range(noted.stop, len(values))):
            kept = values[value]
            mine = owner(kept.held if isinstance(kept, Summary) else kept)
            if mine is not None:
                having.setdefault(id(mine), []).append(value)
        self.noted = range(min(noted.start, since), len(values))

    def hand_out(self, gradients: Any) -> None:
        """The user has gradients of whose arrays this backward call has values of its own."""
        for gradient in gradients:
            if gradient is not None:
                memory = gradient._storage.shared()
                memory.handed = self.begun if memory.handed is None else min(memory.handed, self.begun)


def owner(kept: Any) -> Any:
    """The array that has the memory of an array, perhaps itself; None for what is no array."""
    base = getattr(kept, "base", None)
    return base if base is not None else kept if array.is_array(kept) else None
