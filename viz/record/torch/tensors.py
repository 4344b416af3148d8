"""The tensors that a recording knows, and what it knows of each: by identity, as long as they live.

Nothing is written on a tensor.  An entry is a weak reference that goes when its tensor does, so no tensor lives longer
for being recorded, and the id of one that is gone may belong to another.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

import torch

from engine.trace.recorder import Recorder
from engine.trace.tensor_states import next_id

from . import entries
from .values import kept_of, reshaped


class Known(weakref.ref):  # type: ignore[type-arg]
    """A tensor: its number, and the version, value and flag that the trace has of it.

    `storage` is the number of the memory, `sink` the watch on the node that accumulates its gradient.  Versions count
    from `offset`: torch adds up gradients in place before anybody has them.  `steps` say how a view was
    taken: (the steps to its source, the number of that, operator, arguments, shape, which of several results).  `moved`
    says how a batch norm changed a running statistic: the fields of the event.
    """

    __slots__ = ("key", "moved", "number", "offset", "requires", "sink", "steps", "storage", "value", "version")
    key: int
    number: int
    version: int
    value: int
    storage: int
    requires: bool
    offset: int
    sink: Any
    steps: Any
    moved: tuple[Any, ...] | None

    def path_from(self, base: int) -> list[Any] | None:
        """The steps from a tensor to this view of it; None if some are unknown. Linear in their number."""
        path, steps = [], self.steps
        while steps is not None:
            steps, source, *step = steps
            path.append(step)
            if source == base:
                return path[::-1]
        return None


GRADIENTS = ("grad", "gradient")
"""Sources of tensors that torch made in a backward call."""


grad_of: Any = torch._C.TensorBase.grad.__get__
requires_of: Any = torch._C.TensorBase.requires_grad.__get__
"""`grad` and `requires_grad`, without the replacements of `patches`."""


def version_of(tensor: Any) -> int:
    """How often a tensor was written; 0 if it does not count, as in inference mode."""
    try:
        version: int = tensor._version
        return version
    except RuntimeError:
        return 0


class Tensors:
    """The known tensors of a recording.  `change` is called with each leaf before it is noted."""

    def __init__(
        self, recorder: Recorder, reached: Callable[[Any], tuple[str, str | None]],
        change: Callable[[Any], None] | None = None,
    ) -> None:  # fmt: skip
        self.recorder, self.reached, self.change = recorder, reached, change
        self.log, self.values, self.limit = recorder.log, recorder.store.values, recorder.limit
        self.known: dict[int, Known] = {}
        self.unwritten: dict[int, Any] = {}  # tensors without elements yet, by id
        self.fresh: dict[int, Any] = {}  # tensors that a loader has handed out, by id

        self.behind: dict[int, Known] = {}  # by the number of what `x.data` gave: x

        known = self.known

        def gone(entry: Known) -> None:
            if known.get(entry.key) is entry:
                del known[entry.key]

        self._gone = gone

    def keep(self, tensor: Any) -> int:
        """Keep the elements of a tensor as they are now; the number of the value."""
        values = self.values
        values.append(kept_of(tensor, self.limit))
        return len(values) - 1

    def keep_as(self, tensor: Any, known: int) -> int:
        """Keep a tensor that has all elements of the value `known`, if it has as many, in another shape perhaps."""
        values = self.values
        same = reshaped(values[known], tensor)
        values.append(kept_of(tensor, self.limit) if same is None else same)
        return len(values) - 1

    def enter(self, tensor: Any, value: int, version: int, requires: bool, storage: int | None = None) -> Known:
        """Make a tensor known, with a new number."""
        known = Known(tensor, self._gone)
        known.key = id(tensor)
        known.number = number = next_id()
        known.version, known.value, known.requires = version, value, requires
        known.storage = number if storage is None else storage
        known.sink, known.offset, known.steps, known.moved = None, 0, None, None
        self.known[known.key] = known
        return known

    def without_elements(self, tensor: Any) -> None:
        """Note that nothing has been written to a new tensor so far."""
        self.note(self.unwritten, tensor)

    @staticmethod
    def note(table: dict[int, Any], tensor: Any) -> None:
        """Enter a tensor in a table by its id, as long as it exists."""
        key = id(tensor)
        table[key] = weakref.ref(tensor, lambda _: table.pop(key, None))

    def loaded(self, batch: Any) -> None:
        """Note that the tensors of a batch come from a loader."""
        for one in (
            batch.values() if isinstance(batch, dict) else batch if isinstance(batch, (list, tuple)) else [batch]
        ):
            if isinstance(one, torch.Tensor):
                self.note(self.fresh, one)
            elif isinstance(one, (list, tuple, dict)):
                self.loaded(one)

    def find(self, tensor: Any) -> Known | None:
        """The facts about a tensor; None if the recording has not met it."""
        return self.known.get(id(tensor))

    def see(self, tensor: Any, stack: int, source: str | None = None, name: str | None = None) -> Known:
        """A tensor that is used now, in its current version: recorded if the trace does not know it."""
        known = self.known.get(id(tensor))
        if known is not None:
            version = version_of(tensor) - known.offset
            if version != known.version:
                self.refresh(known, tensor, version)
            if requires_of(tensor) is not known.requires:
                self.flag(known, tensor, stack)
            return known
        if source is None and type(tensor) is torch.nn.Parameter:
            source, name = self.reached(tensor)
        elif source is None:
            source = "DataLoader" if id(tensor) in self.fresh else "seen"
        return self.leaf(tensor, stack, source, name)

    def leaf(self, tensor: Any, stack: int, source: str, name: str | None = None) -> Known:
        """Record a tensor that no recorded op made."""
        version, requires = version_of(tensor), requires_of(tensor)
        base = tensor._base if tensor._is_view() else None
        shared = None if base is None else self.find(base)
        grad = grad_of(tensor) if requires and tensor.is_leaf else None
        held = None if grad is None else self.see(grad, stack)
        if self.change is not None:
            self.change(tensor)
        value = self.keep(tensor)
        known = self.enter(tensor, value, version, requires, None if shared is None else shared.storage)
        if source in GRADIENTS:
            known.offset, known.version, version = version, 0, 0
        self.log.append(
            (
                "made", stack, entries.leaf, known.number, known.storage, version, value, requires, source,
                None if held is None else held.number, name, str(tensor.device),
            )
        )  # fmt: skip
        return known

    def refresh(self, known: Known, tensor: Any, version: int) -> None:
        """A tensor has changed since it was recorded: through another name of its memory, or while nobody looked."""
        moved = known.moved if version == known.version + 1 else None
        known.version, known.value, known.moved = version, self.keep(tensor), None
        if moved is None:
            self.log.append(("made", -1, entries.refresh, known.number, version, known.value))
        else:
            self.log.append(("moved", -1, known.number, version, known.value, *moved))

    def flag(self, known: Known, tensor: Any, stack: int) -> None:
        """`requires_grad` was set."""
        known.requires = requires_of(tensor)
        self.log.append(("made", stack, entries.flag, known.number, "requires_grad", known.requires))
