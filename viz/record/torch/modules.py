"""The names under which a program holds its modules, and those of their parameters and buffers."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from engine.trace.events import STEP
from engine.trace.module_names import WeakIdentityMap, held_as, held_modules, modules_in_lists, parts_of, rate_of

from . import entries

if TYPE_CHECKING:
    from .watch import Watch


class ModuleNames:
    """The names of the modules in a recording, and of their parameters."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch
        self.names = WeakIdentityMap[str]()
        self.holders = WeakIdentityMap[str]()  # of outermost modules: the prefix of the names in them
        self.parts = WeakIdentityMap[tuple[int, int]]()
        """Of outermost modules: the number of their parts at their last call, and of the pauses before it."""
        self.parameters: dict[int, tuple[int | None, ...]] = {}  # of optimisers: the last report
        self.stepping: set[int] = set()  # the optimisers whose step has begun
        self.depth = 0
        self._parameters = WeakIdentityMap[str]()  # the names of parameters
        self._searched = WeakIdentityMap[bool]()  # the modules that were searched for them

    def enter(self, module: Any) -> None:
        """A module is called."""
        watch = self.watch
        watch.forward.settle()
        stack = watch.stack(4)
        name = self.entered(module, stack)
        self.depth += 1
        watch.log.append(("made", stack, entries.enter, name, type(module).__name__, ()))

    def leave(self) -> None:
        """Its call ended."""
        if not self.depth:
            return
        self.watch.forward.settle()
        self.depth -= 1
        self.watch.log.append(("made", -1, entries.leave))

    def step(self, optimizer: Any) -> None:
        """A step of an optimiser begins."""
        watch = self.watch
        watch.forward.settle()
        name = type(optimizer).__name__ + STEP
        self.depth += 1
        self.stepping.add(id(optimizer))
        watch.log.append(
            ("made", watch.stack(4), entries.enter, name, name, self.held_by(optimizer), rate_of(optimizer))
        )

    def stepped(self, optimizer: Any) -> None:
        """It ended; it never began if its closure did not run."""
        if id(optimizer) in self.stepping:
            self.stepping.discard(id(optimizer))
            self.leave()

    def entered(self, module: Any, stack: int) -> str:
        """The name of a called module: for the outermost one in the program, for any other one within the outermost."""
        inner_name, outer_name = self.names.get(module), ""
        if inner_name is None or not self.depth:
            for name, inner in module.named_modules():
                self.names.note(inner, name)
            if not self.depth:
                outer_name = self.bring(module, stack).removesuffix(".")
            inner_name = self.names.get(module)
        return outer_name or inner_name or type(module).__name__

    def bring(self, module: Any, stack: int) -> str:
        """Record the parameters and buffers of a module under the names by which the program reaches them; returns the
        prefix of these."""
        before = self.holders.get(module)
        if before is None:
            module_name = held_as(module, sys._getframe(4)) or held_as(module, self.watch.threads.caller())
            before = f"{module_name}." if module_name else ""
            self.holders.note(module, before)
        parts = list(parts_of(module))
        tensors, names = self.watch.tensors, self.watch.recorder.names
        seen = len(parts), names.pauses
        if self.parts.get(module) == seen:
            return before
        self.parts.note(module, seen)
        for source, qualified, tensor in parts:
            name = before + qualified
            state = (
                tensors.leaf(tensor, stack, source, name)
                if tensors.find(tensor) is None
                else tensors.see(tensor, stack)
            )
            names.call(state.number, name)
        return before

    def reached(self, parameter: Any) -> tuple[str, str | None]:
        """(source, name) of a parameter that is used before a call of its module is seen, if the program holds that: an
        optimiser may meet it first, and a library has calls of its own, as GPyTorch."""
        if parameter not in self._parameters:
            for frame in (sys._getframe(1), self.watch.threads.caller()):
                for module_name, module in held_modules(frame):
                    self.look_into(module, module_name)
        name = self._parameters.get(parameter)
        return ("seen", None) if name is None else ("parameter", name)

    def look_into(self, module: Any, module_name: str) -> None:
        """Take note of the names of all parameters in a module, once."""
        if module in self._searched:
            return
        self._searched.note(module, True)
        with suppress(Exception):  # one that is only half made yet, or has parameters in a way of its own
            for qualified, part in module.named_parameters():
                if part not in self._parameters:
                    self._parameters.note(part, f"{module_name}.{qualified}")
            for place, inner in modules_in_lists(module_name, module):
                self.look_into(inner, place)

    def held_by(self, optimizer: Any) -> tuple[int | None, ...]:
        """The tensors that an optimiser updates, None for an unknown one; () if they are the same as in its last
        step."""
        params = [param for group in optimizer.param_groups for param in group["params"] if param.requires_grad]
        tensors = [self.watch.tensors.find(param) for param in params]
        numbers = tuple(None if one is None else one.number for one in tensors)
        before = self.parameters.get(id(optimizer))
        self.parameters[id(optimizer)] = numbers
        return () if numbers == before else numbers
