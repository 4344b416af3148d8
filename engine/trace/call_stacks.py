"""Where the program is: the user's call stacks, interned while it runs, and the iterations of the loops around them."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from _thread import get_ident
from inspect import CO_ASYNC_GENERATOR, CO_COROUTINE, CO_GENERATOR
from types import CodeType
from typing import Any

from ..arrays.session import is_users
from .log import Entry
from .loops import NamedLoop, comes_for_sure, loops_around, variable_value
from .source import Places

_getframe: Any = sys._getframe
_threads: Any = threading


class CallStacks:
    """All call stacks of a recording, by number; whether code is the user's is determined once per code object.  `tree`
    leads to the numbers: from an instruction of the innermost frame to those that called it, and so on outwards.  An
    instruction is a number within its code object, which is identified by its id and kept alive, so that no other
    object gets the same id.  `log` says which entry comes next.
    """

    def __init__(self, log: list[Entry]) -> None:
        self.log = log
        self.tree: dict[int | None, Any] = {}
        self.numbers: dict[tuple[Any, ...], int] = {}
        self.codes: dict[int, CodeType] = {}
        self.users: dict[int, bool] = {}
        self.files: set[str] = set()  # of the user's code
        self.pinned: int | None = None  # replay: the stack to record instead of the current one
        self.base: Any = None  # the frame in which the recording began, and its callers
        self.beyond: tuple[int, ...] = ()
        self.caller = -1  # the stack of the backward call that runs: autograd has threads of its own for GPUs
        self._called: tuple[int, tuple[Any, ...]] = -1, ()
        self.last = -1
        self.after: list[int] = [-1]  # by stack, one that came next in the same iterations of all loops
        self.plans: dict[int, tuple[Any, ...]] = {}  # by stack, where the variables of the loops around it are
        self.variables: dict[tuple[int, int, str], Any] = {}  # their values at the last check
        self.iterations: dict[int, tuple[Any, ...]] = {}  # by entry of the log: changed variables, their values
        self.repeated: tuple[Any, ...] = ()  # replay: those for the next entry

    def number(self, depth: int = 2) -> int:
        """The number of the user's call stack: pairs (code, last instruction), innermost first, interned."""
        if self.pinned is not None:
            return self.repeat(self.pinned)
        base, branch = self.base, self.tree
        try:
            frame = _getframe(depth)
            while frame is not base:
                branch = branch[id(frame.f_code) + frame.f_lasti]
                frame = frame.f_back
            number: int = branch[base and base.f_lasti]
        except ValueError:  # no such frame: autograd runs this op in a thread of its own
            return self.caller
        except (KeyError, AttributeError):  # a new one; or of a thread that `base` is not in
            number = self.enter(_getframe(depth))
            self.after += [-1] * (number + 1 - len(self.after))
        if self.after[self.last] != number:
            self.look(_getframe(depth), number)
        self.last = number
        return number

    def repeat(self, number: int) -> int:
        """The stack of the recording that is run again; the values of its loop variables belong to the next entry."""
        if self.repeated:
            self.iterations[len(self.log)], self.repeated = self.repeated, ()
        return number

    def look(self, frame: Any, number: int) -> None:
        """Note, for the next entry, which variables of the loops around `frame` have changed.

        Stacks are numbered in order of appearance, so that within an iteration the numbers rise, and the next iteration
        starts again lower.  A step forward within an iteration is checked once and not again if it can never leave its
        iteration: every iteration of the innermost loop reaches the place, and the step began in that loop.  Each
        iteration begins with a check.
        """
        if number not in self.plans:
            self.plans[number] = self.plan(frame)
        plan, surely_in, _ = self.plans[number]
        changed = []
        inner, variables = frame, self.variables
        for before, code, key in plan:
            while inner is not None and (before or inner.f_code is not code):
                before -= inner.f_code is code
                inner = inner.f_back
            if inner is None:  # the stack says which of the user's frames there are, so it is found
                return
            value = variable_value(inner, key[2])
            was = variables.get(key)
            if value is not was and (value != was or type(value) is not type(was)):
                variables[key] = value
                changed.append((*key, value))
        if changed:
            self.iterations[len(self.log)] = tuple(changed)
            self.after[self.last] = -1
            return
        stays = surely_in is not None and self.last in self.plans and surely_in in self.plans[self.last][2]
        self.after[self.last] = number if not plan or (stays and number > self.last) else -1

    def plan(self, frame: Any) -> tuple[tuple[tuple[int, CodeType, tuple[int, int, str]], ...], Any, frozenset[Any]]:
        """The path from `frame` to the variables of the loops around it: the code of the frame of each, and how many
        frames of the same code lie before it, counted from the frame of the loop before; for the variable the position
        of its frame in the user's stack, counted inwards, the line of its loop, and its name.  Frames of other code,
        as those of an optimiser, may be fewer or more another time.

        Then the innermost of the loops, if each of its iterations comes here, and all of them, each with its line and
        the stack that runs it.
        """
        users, base = self.users, self.base
        loops: list[tuple[int, CodeType, int, NamedLoop]] = []
        around: list[tuple[int, int, tuple[int, ...]]] = []
        passed: list[CodeType] = []
        sure = True
        place = 0
        while frame is not None:
            if users.get(id(frame.f_code)):
                own = loops_around(frame.f_code, frame.f_lineno)
                if not loops:
                    sure = sure and comes_for_sure(frame.f_code, frame.f_lineno)
                if own:
                    outside = () if frame is base else self.frames(frame.f_back)
                    around += [(id(frame.f_code), loop.line, outside) for loop in reversed(own)]
                for loop in own:
                    loops.append((passed.count(frame.f_code), frame.f_code, place, loop))
                    passed = []
                passed.append(frame.f_code)
                place += 1
            if frame is base:
                place += len(self.beyond) // 2
                break
            frame = frame.f_back
        else:
            place += len(self.outside()) // 2
        plan = tuple((before, code, (place - 1 - at, loop.line, loop.name)) for before, code, at, loop in loops)
        return plan, around[0] if around and sure else None, frozenset(around)

    def enter(self, frame: Any) -> int:
        """The number of the call stack of `frame`, found again in `tree` from now on."""
        number = self.numbers.setdefault(self.frames(frame), len(self.numbers))
        base, branch = self.base, self.tree
        while frame is not base:
            if frame is None:
                return number
            branch = branch.setdefault(id(frame.f_code) + frame.f_lasti, {})
            frame = frame.f_back
        branch[base and base.f_lasti] = number
        return number

    def frames(self, frame: Any) -> tuple[int, ...]:
        """The pairs (code, last instruction) of the user's frames from `frame` outwards."""
        users, base = self.users, self.base
        key: list[int] = []
        while frame is not None:
            code = frame.f_code
            mark = id(code)
            try:
                is_user_code = users[mark]
            except KeyError:
                self.codes[mark] = code
                is_user_code = users[mark] = is_users(code.co_filename)
                if is_user_code and code.co_filename not in self.files:
                    self.files.add(code.co_filename)
                    linecache.checkcache(code.co_filename)  # it may have been edited since an earlier recording
            if is_user_code:
                key.append(mark)
                key.append(frame.f_lasti)
            if frame is base:
                return (*key, *self.beyond)
            frame = frame.f_back
        return (*key, *self.outside())

    def outside(self) -> tuple[Any, ...]:
        """The frames around those of a thread of autograd's own: of the call that it works for."""
        if self.caller < 0 or get_ident() in _threads._active:
            return ()
        if self._called[0] != self.caller:
            self._called = self.caller, self.key(self.caller)
        return self._called[1]

    def begin(self, frame: Any) -> None:
        """The recording begins in `frame`: its callers stay the same while it lives, and are read once.  A generator
        may be resumed by another caller, so it cannot serve as this base.
        """
        if not frame.f_code.co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR):
            self.beyond = self.frames(frame.f_back)
            self.base = frame

    def key(self, number: int) -> tuple[Any, ...]:
        """The call stack with a number; () if there is none."""
        return next((key for key, other in self.numbers.items() if other == number), ())

    def line(self, number: int) -> str | None:
        """File and line of the innermost user frame in a stack; None if there is none."""
        key = self.key(number)
        if not key:
            return None
        frames = key[0] if isinstance(key[0], tuple) else (Places().frame(self.codes[key[0]], key[1]),)
        return f"{os.path.basename(frames[-1].file)}, line {frames[-1].line}" if frames else None

    def encloses(self, frame: Any, number: int) -> bool:
        """Return whether stack `number` was recorded inside the parentheses of the call that runs in `frame`, perhaps
        in a helper function that is called there."""
        outer, inner = self.frames(frame), self.key(number)
        inner = inner[len(inner) - len(outer) :]  # a helper has more frames
        if not outer or outer[:1] + outer[2:] != inner[:1] + inner[2:]:
            return False
        spans = list(self.codes[outer[0]].co_positions())
        (line, end, col, stop), (first, last_line, begin, close) = spans[outer[1] // 2], spans[inner[1] // 2]
        has_columns = None not in (line, end, col, stop, first, last_line, begin, close)  # unless compiled without
        return has_columns and (line, col) <= (first, begin) and (last_line, close) <= (end, stop)
