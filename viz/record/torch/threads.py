"""The thread of a program that is recorded: one at a time, as a trace has one order.

Threads that the program starts are watched too.  Another one takes over when it begins to use gradients, with a call
of a module that has parameters, an op on a tensor that requires grad, or a backward call, unless the recorded one is in
the middle of a module or of a backward call.  From the main thread it takes over while that one runs on, which may only
look after it; from another one only when that has ended or waits, so that of threads that train at the same time one is
recorded whole.  What runs meanwhile is not recorded, and the trace says so.
"""

from __future__ import annotations

import sys
import threading
from _thread import get_ident
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import torch
from torch._C import _push_on_torch_dispatch_stack

from engine.arrays.session import slot

from .backward import remove
from .tensors import requires_of

if TYPE_CHECKING:
    from .watch import Watch

WARNING = "BackstepWarning"
WAITING = frozenset({"threading", "queue", "selectors", "concurrent"})
"""The modules of Python in which a thread waits for another one, or for work."""


class Threads:
    """The threads of a recording by their numbers; `recorded` is the one that is recorded."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.home = self.recorded = get_ident()
        self.watched = {self.home}
        self.reported: set[int] = set()
        self._changing = threading.RLock()

    def begin(self) -> None:
        """A thread of the program begins."""
        if slot.active is self.watch.recorder:
            self.watched.add(get_ident())
            _push_on_torch_dispatch_stack(self.watch.mode)

    def end(self) -> None:
        """It ends."""
        number = get_ident()
        if number not in self.watched:
            return
        if self.recorded == number:
            self.watch.finish()
            self.recorded = self.home
        self.watched.discard(number)
        self.reported.discard(number)
        remove(self.watch.mode)

    def is_recorded(self) -> bool:
        """Return whether this thread is recorded: the program's, or one of torch's own that works for it."""
        number = get_ident()
        if number == self.recorded:
            return True
        threads: Any = threading
        is_at_work = self.watch.backward.call is not None and number not in self.watched
        return is_at_work and number not in threads._active  # `current_thread` would enter it there

    def caller(self) -> Any:
        """The innermost frame of the recorded thread, if this one is torch's own and works for it; None otherwise."""
        number = get_ident()
        return None if number == self.recorded else sys._current_frames().get(self.recorded)

    def may_begin(self, uses_gradients: Callable[[], bool] = lambda: True) -> bool:
        """Return whether this thread is recorded; if it begins to use gradients and no other is busy, it will be."""
        if self.is_recorded():
            return True
        watch = self.watch
        if slot.active is not watch.recorder or not torch.is_grad_enabled() or not uses_gradients():
            return False
        if get_ident() not in self.watched:
            self.tell("began before the recording")
            return False
        with self._changing:
            if watch.off or watch.modules.depth or watch.backward.call is not None or self.is_busy():
                self.tell()
                return False
            watch.off += 1
            watch.guarded(watch.forward.settle)
            watch.off -= 1
            self.recorded = get_ident()
        return True

    def claim(self) -> bool:
        """Return whether this thread's work is recorded; if so, count `off` up, so that no other thread takes over."""
        if not self.watch.is_looking():
            return False
        with self._changing:
            is_looking = self.watch.is_looking()
            self.watch.off += is_looking
        return is_looking

    def is_busy(self) -> bool:
        """Return whether the recorded thread is one that the program has started and that is not waiting."""
        frame = None if self.recorded == self.home else sys._current_frames().get(self.recorded)
        return frame is not None and str(frame.f_globals.get("__name__")).partition(".")[0] not in WAITING

    def may_run(self, arguments: Iterable[Any]) -> bool:
        """Return whether an op of this thread is recorded."""
        return get_ident() == self.recorded or self.may_begin(
            lambda: any(isinstance(one, torch.Tensor) and requires_of(one) for one in arguments)
        )

    def tell(self, why: str = "runs while another one is recorded") -> None:
        """Say once of a thread that it is not recorded, and in the trace where that begins."""
        number = get_ident()
        if number in self.reported:
            return
        self.reported.add(number)
        text = f"The thread {threading.current_thread().name} {why}: its computations are not recorded."
        self.watch.say(text)
        self.watch.log.append(("warning", self.watch.recorder.stacks.number(4), WARNING, text))
