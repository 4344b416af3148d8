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
from .values import reshaped, value_of


class TensorState(weakref.ref):  # type: ignore[type-arg]
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
        change: Callable[[Any], None] | None,
    ) -> None:  # fmt: skip
        self.recorder, self.reached, self.change = recorder, reached, change
        self.log, self.values, self.limit = recorder.log, recorder.store.values, recorder.limit
        self.states: dict[int, TensorState] = {}
        self.unwritten: dict[int, Any] = {}  # tensors without elements yet, by id
        self.fresh: dict[int, Any] = {}  # tensors that a loader has handed out, by id

        self.behind: dict[int, TensorState] = {}  # by the memory of what `x.data` gave: x

        states = self.states

        def gone(entry: TensorState) -> None:
            if states.get(entry.key) is entry:
                del states[entry.key]

        self._gone = gone

    def keep(self, tensor: Any) -> int:
        """Keep the elements of a tensor as they are now; the number of the value."""
        values = self.values
        values.append(value_of(tensor, self.limit))
        return len(values) - 1

    def keep_as(self, tensor: Any, value: int) -> int:
        """Keep a tensor that has all elements of this value, if it has as many, in another shape perhaps."""
        values = self.values
        same = reshaped(values[value], tensor)
        values.append(value_of(tensor, self.limit) if same is None else same)
        return len(values) - 1

    def enter(self, tensor: Any, value: int, version: int, requires: bool, storage: int | None = None) -> TensorState:
        """Make a tensor known, with a new number."""
        state = TensorState(tensor, self._gone)
        state.key = id(tensor)
        state.number = number = next_id()
        state.version, state.value, state.requires = version, value, requires
        state.storage = number if storage is None else storage
        state.sink, state.offset, state.steps, state.moved = None, 0, None, None
        self.states[state.key] = state
        return state

    def forget(self, tensor: Any) -> None:
        """Make a tensor unknown: it has become another one."""
        self.states.pop(id(tensor), None)

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

    def find(self, tensor: Any) -> TensorState | None:
        """The facts about a tensor; None if the recording has not met it."""
        return self.states.get(id(tensor))

    def see(self, tensor: Any, stack: int, source: str | None = None) -> TensorState:
        """A tensor that is used now, in its current version: recorded if the trace does not know it."""
        state = self.states.get(id(tensor))
        if state is not None:
            version = version_of(tensor) - state.offset
            if version != state.version:
                self.refresh(state, tensor, version)
            if requires_of(tensor) is not state.requires:
                self.flag(state, tensor, stack)
            return state
        name = None
        if source is None and type(tensor) is torch.nn.Parameter:
            source, name = self.reached(tensor)
        elif source is None:
            source = "DataLoader" if id(tensor) in self.fresh else "seen"
        return self.leaf(tensor, stack, source, name)

    def leaf(self, tensor: Any, stack: int, source: str, name: str | None = None) -> TensorState:
        """Record a tensor that no recorded op made."""
        grad = grad_of(tensor) if requires_of(tensor) and tensor.is_leaf else None
        grad_state = None if grad is None else self.see(grad, stack)
        if self.change is not None:
            self.change(tensor)
        state = self.enter_whole(tensor)
        if source in GRADIENTS:
            state.offset, state.version = state.version, 0
        result = state.number, state.version, state.value, state.requires, state.storage, None
        grad_number = None if grad_state is None else grad_state.number
        self.log.append(("made", stack, entries.leaf, result, source, grad_number, name, str(tensor.device)))
        return state

    def enter_whole(self, tensor: Any) -> TensorState:
        """Make a tensor known as it is now: its elements, version and flag, and whose memory it has."""
        base = tensor._base if tensor._is_view() else None
        shared = None if base is None else self.find(base)
        storage = None if shared is None else shared.storage
        return self.enter(tensor, self.keep(tensor), version_of(tensor), requires_of(tensor), storage)

    def refresh(self, state: TensorState, tensor: Any, version: int) -> None:
        """A tensor has changed since it was recorded: through another name of its memory, or while nobody looked."""
        moved = state.moved if version == state.version + 1 else None
        state.version, state.value, state.moved = version, self.keep(tensor), None
        if moved is None:
            self.log.append(("made", -1, entries.refresh, state.number, version, state.value))
        else:
            self.log.append(("moved", -1, state.number, version, state.value, *moved))

    def may_have_changed(self) -> None:
        """Read each known tensor again when it is used next.  Linear in those that live."""
        for state in self.states.values():
            state.version = -1

    def flag(self, state: TensorState, tensor: Any, stack: int) -> None:
        """`requires_grad` was set."""
        state.requires = requires_of(tensor)
        self.log.append(("made", stack, entries.flag, state.number, "requires_grad", state.requires))
