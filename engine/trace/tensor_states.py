"""The tensors that a recording knows: their ids, and the value of each at its recorded versions."""

from __future__ import annotations

import itertools
from typing import Any

from .call_stacks import CallStacks
from .log import Entry
from .module_names import Names
from .summary import StoredArray, Summary
from .value_store import ValueStore

next_id = itertools.count().__next__


class TensorStates:
    """The tensors of a recording, each with the recording's data as attributes.  A known tensor has its number (`_id`,
    at or above `first`), its last recorded version and the value of that version (`_seen`, `_value`).  Storages have
    the number of their first recorded tensor and the values that refer to their array, so that a write copies these.
    """

    def __init__(self, log: list[Entry], stacks: CallStacks, store: ValueStore) -> None:
        self.log, self.store = log, store
        self.stack = stacks.number
        self.first = next_id()
        self.names = Names(self.first)
        self.gradients: set[int] = set()  # the tensors that are, or were, the `.grad` of one
        self.begin = 0  # the number of values when the outermost running backward call began

    # -- numbers and values -----------------------------------------------------------------------------------------

    def register(self, tensor: Any, value: int) -> int:
        """Give `tensor` a number and note its value for the version it has; writes must go through `before_write`."""
        number: int = tensor._id
        if number < self.first:
            number = tensor._id = next_id()
            shared = tensor._shared
        else:
            shared = tensor._storage  # the storage knows its recorded value, which may be the same array
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

    def value_now(self, tensor: Any) -> int:
        """Keep the present value of a tensor that is registered next: by reference, since the next write is announced,
        unless the program can write unnoticed."""
        memory = tensor._storage.memory
        outside = memory is not None and memory.outside
        return self.add_compared(tensor) if outside else self.store.add(tensor._array)

    def add_compared(self, tensor: Any) -> int:
        """Keep a copy of what a tensor holds that the program can write past us."""
        self.store.compared.add(len(self.store.values))
        return self.store.add_copy(tensor._array)

    def result(self, out: Any, inplace: Any) -> tuple[int, int, int, bool, int]:
        """(number, version, value, requires_grad, storage) of an output."""
        value = self.value_now(out) if out is inplace else self.store.add(out._array)
        number = self.register(out, value)
        shared = out._shared
        version, storage = (0, number) if shared is None else (out._seen, shared.number)
        return number, version, value, out._requires_grad, storage

    def knows(self, tensor: Any) -> bool:
        """Return whether the present value of a tensor is recorded."""
        shared = tensor._shared
        version = 0 if shared is None else shared.moment
        return bool(tensor._id >= self.first and tensor._seen == version)

    # -- tensors that are used --------------------------------------------------------------------------------------

    def see(self, tensor: Any, source: str = "seen", name: str | None = None) -> tuple[int, int]:
        """(number, version) of a tensor that is used now, recorded as a leaf where the trace does not know it."""
        shared = tensor._shared
        version = 0 if shared is None else shared.moment
        memory = None if shared is None else shared.memory
        number: int = tensor._id
        if number >= self.first:
            if tensor._seen != version:  # a view whose base was written since, or a base with a written view
                self.refresh("refresh", tensor, version)
            elif memory is not None and memory.outside and not self.store.is_equal(tensor._value, tensor._array):
                memory.writes += 1
                version += 1
                self.refresh("outside", tensor, version)
            return number, version
        if source == "seen" and name is None:
            source, name = self.names.reached(tensor)
        outside = memory is not None and memory.outside
        value = self.add_compared(tensor) if outside else self.store.add(tensor._array)
        number = self.register(tensor, value)
        gradient = self.gradient(tensor._grad)
        storage = number if shared is None else shared.number
        requires = tensor._requires_grad
        self.log.append(("leaf", self.stack(2), number, storage, version, value, requires, source, gradient, name))
        return number, version

    def see_base(self, base: Any, joins: bool) -> None:
        """Record the base of a view that is about to be written; `joins`: the write gives it a history.  A large base
        that gets none is not checked again until it is used: a buffer that is filled row by row would otherwise be
        copied for each row.
        """
        if joins or base._id < self.first or base._array.size <= self.store.limit:
            self.see(base)

    def refresh(self, kind: str, tensor: Any, version: int, *how: Any) -> None:
        """A tensor has changed since it was recorded: through another name of its storage, or from outside."""
        self.store.compared.discard(tensor._value)
        value = self.value_now(tensor)
        self.register(tensor, value)
        self.log.append((kind, -1, tensor._id, version, value, *how))

    def gradient(self, grad: Any) -> int | None:
        """The number of a tensor that is the `.grad` of one; None for None."""
        if grad is None:
            return None
        number = self.see(grad)[0]
        self.gradients.add(number)
        return number

    def recognise(self, out: Any) -> None:
        """`out` is a saved output that was unpacked again: the same tensor in a trace, unless it was written."""
        shared = out._shared
        if shared is not None and shared.number >= self.first and shared.recorded and is_unwritten(shared):
            value = self.store.values[shared.recorded[0]]
            if value is out._array or (isinstance(value, (Summary, StoredArray)) and value.shape == out._array.shape):
                out._id, out._value = shared.number, shared.recorded[0]

    # -- writes ---------------------------------------------------------------------------------------------------

    def before_write(self, tensor: Any) -> None:
        """Copy the recorded values of the memory of `tensor`, which is about to be written, perhaps through `.data`."""
        shared = tensor._storage
        memory = shared.memory
        if memory is not None and memory.handed is not None:
            self.store.preserve_sharing(tensor._array, memory.handed)
        owner = shared if memory is None else memory
        if owner.number >= self.first:
            if memory is not None and memory.outside:
                self.store.compared.update(owner.recorded)
            for value in owner.recorded:
                self.store.preserve(value)
        owner.recorded = []

    def after_write(self, target: Any) -> None:
        """Record at once the value of a leaf, or of the `.grad` of one, that was written through another name.  Other
        tensors are recorded when they are used, so that a long buffer that is filled element by element costs no
        copies.
        """
        source = target._storage.source
        for other in (None if target._view is None else target._view.base, None if source is None else source()):
            if other is None or other is target or other._id < self.first:
                continue
            if other._id in self.gradients or (other._requires_grad and other._node is None):
                self.see(other)

    # -- gradients of a backward call -------------------------------------------------------------------------------

    def begin_backward(self, gradients: Any) -> None:
        """The outermost backward call begins, with these gradients of the user's."""
        self.begin = min((g._value for g in gradients if self.knows(g)), default=len(self.store.values))

    def hand_out(self, gradients: Any) -> None:
        """The user has access to gradients whose arrays are among the values of this backward call."""
        for gradient in gradients:
            if gradient is not None:
                memory = gradient._storage.shared()
                memory.handed = self.begin if memory.handed is None else min(memory.handed, self.begin)


def is_unwritten(shared: Any) -> bool:
    """Return whether a storage is in its first version, and cannot be written unnoticed."""
    return not (shared.version or shared.unseen or shared.memory)


def is_fresh(shared: Any, first: int) -> bool:
    """Return whether a storage is not part of a recording yet and was never written: that of a new result."""
    return shared.number < first and is_unwritten(shared)
