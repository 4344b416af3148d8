"""The recorder of the real torch: it watches the ops of a program and the nodes that run backwards.

Ops are seen by a dispatch mode, below autograd; nodes by a hook on each. Actions of torch's Python code that neither
sees are seen by replacing a few of its functions (`patches`). The results of the program do not change, and a fault of
ours ends the recording of torch, never the program.
"""

from __future__ import annotations

import functools
import sys
import traceback
import weakref
from _thread import get_ident
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import torch
from torch._C import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    _len_torch_function_stack,
    _pop_torch_dispatch_stack,
    _push_on_torch_dispatch_stack,
)
from torch.utils._python_dispatch import _get_current_dispatch_mode

from engine.arrays.session import slot
from engine.trace.recorder import Recorder

from ..imports import Import
from . import entries, patches
from .backward import Backward, remove
from .calls import PassThroughMode
from .changes import Changes
from .forward import Forward
from .graph import Graph
from .modules import ModuleNames
from .ops import library
from .tensors import Tensors, version_of
from .threads import Threads

FOREVER = 1 << 40
OF_THE_ENGINE = ("op", "plain", "custom", "see", "event", "start", "grad_set", "data_set", "enter", "error")
"""The recorder's methods for the engine's events.  In a program that uses both libraries the waiting ops of torch are
written first, so that the ops of both keep their order."""


class Mode(PassThroughMode):
    """The function that torch calls for each op."""

    supports_higher_order_operators = True

    def __init__(self, watch: Watch) -> None:
        self.watch = watch  # nothing of the mode's own: it is pushed and popped by us

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        watch = self.watch
        is_ours = get_ident() == watch.threads.recorded
        if watch.off or slot.active is not watch.recorder or not (is_ours or watch.threads.may_run(args)):
            return func(*args, **kwargs) if kwargs else func(*args)
        if _len_torch_function_stack():  # a mode of the program's hears nothing of our work
            with DisableTorchFunction():
                return watch.forward.run(func, args, kwargs or {})
        with DisableTorchFunctionSubclass():  # nor does a subclass of Tensor
            return watch.forward.run(func, args, kwargs or {})


class Watch:
    """The torch side of a recording; it writes into the log of `recorder` while that one is active.

    `off` counts the reasons not to look: we are at work ourselves, or torch does something that is not part of the
    program.  `say` hears of a fault of ours; `changes` are made if the program is run again with an edit; `spawned`
    gives the function that another process runs instead of its own.
    """

    def __init__(
        self, recorder: Recorder, say: Callable[[str], None] = lambda text: None, changes: Changes | None = None,
        spawned: Callable[[Any], Any] | None = None,
    ) -> None:  # fmt: skip
        self.recorder, self.say, self.changes, self.spawned = recorder, say, changes, spawned
        self.log, self.stack = recorder.log, recorder.stacks.number
        self.off = 0
        self.fault = ""
        self.telling = False  # a fault of ours: its traceback has our frames
        self.modules = ModuleNames(self)
        change = None if changes is None else functools.partial(changes.leaf, self)
        self.tensors = Tensors(recorder, self.modules.reached, change)
        self.graph = Graph(self)
        self.forward = Forward(self)
        self.backward = Backward(self)
        self.threads = Threads(self)
        self.mode = Mode(self)
        self.undo: list[Any] = []
        self.steps: list[Any] = []
        self.followed: list[Any] = []
        self.own: dict[str, Any] = {}
        self.paused: AbstractContextManager[None] | None = None
        self.compiler = Import("torch._dynamo", self.unwatched)  # it makes tables of torch's own functions

    # -- beginning and end ---------------------------------------------------------------------------------------

    def start(self) -> None:
        """Watch from now on, in this thread and in those that it starts."""
        self.forward.grad_enabled = torch.is_grad_enabled()
        self.undo, self.steps = patches.install(self), patches.follow_steps(self)
        self.followed = patches.follow(self)
        if self.compiler.name not in sys.modules:
            self.compiler.wait()
        self.recorder.settle, self.recorder.library = self.finish, self
        self.own = {name: own for name in OF_THE_ENGINE if (own := vars(self.recorder).get(name))}
        for name in OF_THE_ENGINE:
            setattr(self.recorder, name, self.after_torchs(getattr(self.recorder, name)))
        _push_on_torch_dispatch_stack(self.mode)

    def stop(self) -> None:
        """Restore everything; the recording says which PyTorch it was, with its documentation of its own ops."""
        self.threads.recorded = get_ident()
        self.finish()
        self.go_on()
        self.recorder.settle = self.recorder.library = None
        for name in OF_THE_ENGINE:
            delattr(self.recorder, name)
        vars(self.recorder).update(self.own)
        if self.forward.calls:
            self.recorder.meta["library"] = library(call.full_name for call in self.forward.calls.values())
        remove(self.mode)
        self.compiler.leave()
        patches.remove(self.undo + self.steps + self.followed)
        self.undo, self.steps, self.followed = [], [], []

    def finish(self) -> None:
        """Write down the ops that wait for their nodes."""
        if self.forward.pending and self.is_looking():
            with self.aside():
                self.guarded(self.forward.settle)

    def after_torchs(self, record: Callable[..., Any]) -> Callable[..., Any]:
        """A method of the recorder for the engine's events, which come after those of torch that wait."""

        @functools.wraps(record)
        def recorded(*args: Any, **kwargs: Any) -> Any:
            if self.forward.pending:
                self.finish()
            return record(*args, **kwargs)

        return recorded

    def is_looking(self) -> bool:
        """Return whether events are recorded now."""
        if self.off or slot.active is not self.recorder:
            return False
        return get_ident() == self.threads.recorded or self.threads.is_recorded()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Ops inside are not part of the recording. Without our mode, they cost nothing."""
        self.off += 1
        popped = self.pop()
        try:
            yield
        finally:
            self.push(popped)
            self.off -= 1

    @contextmanager
    def unwatched(self) -> Iterator[None]:
        """Code inside finds torch as it is without us."""
        self.finish()
        with self.aside():
            patches.remove(self.undo + self.steps)
            try:
                yield
            finally:
                self.undo, self.steps = patches.install(self) if self.paused is None else [], patches.follow_steps(self)

    # -- pauses ----------------------------------------------------------------------------------------------------

    @property
    def may_pause(self) -> bool:
        """Whether no module, backward call or other code runs whose end belongs to the recording."""
        return not (self.off or self.modules.depth) and self.backward.call is None and self.threads.is_recorded()

    def pause(self) -> None:
        """Leave torch as it is without us, but for the note of each optimiser's step."""
        self.paused = self.aside()
        self.paused.__enter__()
        patches.remove(self.undo)
        self.undo = []

    def go_on(self) -> None:
        """Watch torch again.  Some of what was written meanwhile torch may not have counted, as writes to `.data`."""
        if self.paused is None:
            return
        paused, self.paused = self.paused, None
        self.undo = patches.install(self)
        paused.__exit__(None, None, None)
        self.tensors.may_have_changed()
        self.forward.grad_enabled = torch.is_grad_enabled()

    # -- what several parts do -------------------------------------------------------------------------------------

    def pop(self) -> bool:
        """Remove our mode if it is the innermost one; returns whether it was."""
        is_innermost = _get_current_dispatch_mode() is self.mode
        if is_innermost:
            _pop_torch_dispatch_stack(None)
        return is_innermost

    def push(self, popped: bool = True) -> None:
        """Put it back."""
        if popped:
            _push_on_torch_dispatch_stack(self.mode)

    def failed(self) -> None:
        """A fault of ours: nothing of torch is recorded from here on, and the program goes on."""
        self.off += FOREVER
        if not self.fault:
            self.telling = True
            self.fault = traceback.format_exc()
            self.telling = False
            self.say("the recording of PyTorch ends here: Backstep itself has failed. Please report it:\n" + self.fault)

    def guarded(self, work: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        """Do work of ours, which must not raise an error in the program and of which no mode or subclass of it hears;
        None if it fails."""
        try:
            with DisableTorchFunction():
                return work(*args, **kwargs)
        except Exception:  # noqa: BLE001 whatever it is, it is ours
            self.failed()
            return None

    def while_off(self, work: Callable[..., Any], *args: Any) -> Any:
        """Do guarded work of ours, if we are recording: none of its ops is recorded."""
        if not self.is_looking():
            return None
        self.off += 1
        try:
            with DisableTorchFunction():
                return work(*args)
        except Exception:  # noqa: BLE001 likewise
            self.failed()
            return None
        finally:
            self.off -= 1

    def place(self, depth: int) -> int:
        """The number of the program's call stack, for an event that is no op.  Ops before it are recorded first: what
        the loops around it have come to is noted with the next entry."""
        self.while_off(self.forward.settle)
        return self.stack(depth + 1)

    # -- what several parts record -------------------------------------------------------------------------------

    def gradients(self, gradients: Sequence[Any]) -> tuple[int | None, ...]:
        """The numbers of the gradients that the user's code receives or returns."""
        return tuple(
            self.tensors.see(g, self.backward.stack, "gradient").number if isinstance(g, torch.Tensor) else None
            for g in gradients
        )

    def leaves(self, kind: str, tensor: Any, stack: int) -> None:
        """The elements of a tensor are read into Python or numpy."""
        self.forward.settle()
        state = self.tensors.see(tensor, stack)
        self.log.append(("made", stack, entries.escape, state.number, kind, state.value))

    def data_set(self, tensor: Any, source: Any, stack: int) -> None:
        """`x.data = y`."""
        state = self.tensors.find(tensor)
        if state is None:
            self.tensors.see(tensor, stack)
            return
        other = self.tensors.see(source, stack)
        state.offset -= 1  # torch does not count it; other elements are another version nevertheless
        state.version, state.value, state.storage = (
            version_of(tensor) - state.offset,
            self.tensors.keep(tensor),
            other.storage,
        )
        self.log.append(("made", stack, entries.data, state.number, state.version, state.value, other.number))

    def grad_set(self, tensor: Any, value: Any, stack: int) -> None:
        """`x.grad = y`."""
        state = self.tensors.see(tensor, stack)
        grad = None if value is None else self.tensors.see(value, stack)
        fields = (None, None) if grad is None else (grad.value, grad.number)
        if grad is None:
            self.backward.retained_gradients.pop(state.number, None)
        elif not tensor.is_leaf:
            self.backward.retained_gradients[state.number] = grad
        self.log.append(("made", stack, entries.grad_set, state.number, *fields))

    def hooked(self, hook: Any, tensor: Any) -> Any:
        """A hook on the gradient of a tensor, recorded when it runs."""
        ref = weakref.ref(tensor)

        @functools.wraps(hook, updated=())
        def run(gradient: Any) -> Any:
            target = ref()
            if target is None or not self.is_looking() or self.backward.call is None:
                return hook(gradient)
            return self.backward.hook(hook, target, gradient)

        return run

    def warned(self, category: str, message: str) -> None:
        """A warning was shown."""
        self.forward.settle()
        stack = self.recorder.stacks.number(3)
        self.log.append(("warning", stack, category, message))
