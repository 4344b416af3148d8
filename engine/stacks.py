"""Where the program is: the user's call stacks, interned while it runs."""

from __future__ import annotations

import sys
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType
from typing import Any

from .slot import is_users

_getframe: Any = sys._getframe


class Stacks:
    """Every call stack that was met, by its number; which code is the user's is asked once for each.

    `met` is a tree of them: an instruction of the innermost frame leads to those that called it, and so on outwards, to
    the number.  An instruction is a number within its code object, whose id is its address, and which is kept: there is
    no other like it.
    """

    def __init__(self) -> None:
        self.met: dict[int | None, Any] = {}
        self.stacks: dict[tuple[Any, ...], int] = {}
        self.codes: dict[int, CodeType] = {}
        self.users: dict[int, bool] = {}
        self.pinned: int | None = None  # replay: the stack to record instead of the one that runs
        self.base: Any = None  # the frame in which the recording began, and what is called beyond it
        self.beyond: tuple[int, ...] = ()

    def stack(self, depth: int = 2) -> int:
        """The number of the user's call stack: pairs (code, last instruction), innermost first, interned."""
        if self.pinned is not None:
            return self.pinned
        frame, base, met = _getframe(depth), self.base, self.met
        try:
            while frame is not base:
                met = met[id(frame.f_code) + frame.f_lasti]
                frame = frame.f_back
            number: int = met[base and base.f_lasti]
            return number
        except (KeyError, AttributeError):  # a new one; or of a thread that `base` is not in
            return self.meet(_getframe(depth))

    def meet(self, frame: Any) -> int:
        """The number of the call stack of `frame`, found again in `met` from now on."""
        number = self.stacks.setdefault(self.frames(frame), len(self.stacks))
        base, met = self.base, self.met
        while frame is not base:
            if frame is None:
                return number
            met = met.setdefault(id(frame.f_code) + frame.f_lasti, {})
            frame = frame.f_back
        met[base and base.f_lasti] = number
        return number

    def frames(self, frame: Any) -> tuple[int, ...]:
        """The pairs (code, last instruction) of the user's frames from `frame` outwards."""
        users, base = self.users, self.base
        key: list[int] = []
        while frame is not None:
            code = frame.f_code
            mark = id(code)
            try:
                wanted = users[mark]
            except KeyError:
                self.codes[mark] = code
                wanted = users[mark] = is_users(code.co_filename)
            if wanted:
                key.append(mark)
                key.append(frame.f_lasti)
            if frame is base:
                return (*key, *self.beyond)
            frame = frame.f_back
        return tuple(key)

    def begin(self, frame: Any) -> None:
        """The recording begins in `frame`: what called it stays as it is while it lives, and is looked at once.

        A generator may be resumed by another caller; it is no such base.
        """
        if not frame.f_code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
            self.beyond = self.frames(frame.f_back)
            self.base = frame
