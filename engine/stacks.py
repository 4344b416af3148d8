"""Where the program is: the user's call stacks, interned while it runs."""

from __future__ import annotations

import sys
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType
from typing import Any

from .slot import is_users

_getframe: Any = sys._getframe


class Stacks:
    """Every call stack that was met, by its number; which code is the user's is asked once for each."""

    def __init__(self) -> None:
        self.stacks: dict[tuple[Any, ...], int] = {}
        self.seen: dict[tuple[int, ...], int] = {}  # the same with the frames that are not the user's
        self.codes: dict[int, CodeType] = {}
        self.users: dict[int, bool] = {}
        self.pinned: int | None = None  # replay: the stack to record instead of the one that runs
        self.base: Any = None  # the frame in which the recording began, and what is called beyond it
        self.beyond: tuple[int, ...] = ()

    def stack(self, depth: int = 2) -> int:
        """The number of the user's call stack: pairs (code, last instruction), innermost first, interned."""
        if self.pinned is not None:
            return self.pinned
        frame, base, users = _getframe(depth), self.base, self.users
        mark = id(frame.f_code)  # the code of what was seen is kept: no other has its number
        while not users.get(mark, True) and frame is not base and frame.f_back is not None:
            frame = frame.f_back
            mark = id(frame.f_code)
        key: list[int] = [mark, frame.f_lasti]
        add = key.append
        while frame is not base:
            frame = frame.f_back
            if frame is None:
                break
            add(id(frame.f_code))
            add(frame.f_lasti)
        seen = tuple(key)
        try:
            return self.seen[seen]
        except KeyError:
            place = self.frames(_getframe(depth))
            number = self.seen[seen] = self.stacks.setdefault(place, len(self.stacks))
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
