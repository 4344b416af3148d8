"""A program run afresh with edits: the user's code runs, and is handed other values, gradients and calls on its way.

This is what a replay claims to equal.  Nothing here reads `engine.replay` but the form of the edits: leaves are changed
where they are made, commands where the program gives them.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from engine.arrays.session import slot
from engine.autograd import calls
from engine.replay.program import NONE_PASSED, Command, Edits, commands
from engine.tensor.tensor import Tensor, tensor_of
from engine.trace import record, recorder
from engine.trace.events import (
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    GradSet,
    LeafCreated,
    OpCalled,
    Trace,
    Value,
)
from engine.trace.recorder import Recorder
from engine.trace.tensor_states import TensorStates
from viz.gallery import Program
from viz.server.programs import record_source


@dataclass(frozen=True)
class Plan:
    """Edits as someone who sits in the program would carry them out.

    `changed` has what becomes of a command of the recording (None: it is left out); `before` and `behind` have new
    commands beside one of the recording.
    """

    leaves: Mapping[int, Any] = field(default_factory=dict)
    changed: Mapping[str, Command | None] = field(default_factory=dict)
    before: Mapping[str, tuple[Command, ...]] = field(default_factory=dict)
    behind: Mapping[str, tuple[Command, ...]] = field(default_factory=dict)

    def edits(self, base: Trace) -> Edits:
        """The same, as a replay takes it."""
        if not (self.changed or self.before or self.behind):
            return Edits(self.leaves)
        listed: list[Command] = []
        for command in commands(base):
            now = self.changed.get(command.id, command)
            listed += self.before.get(command.id, ())
            listed += [] if now is None else [now]
            listed += self.behind.get(command.id, ())
        return Edits(self.leaves, tuple(listed))


class Outside:
    """The events of a recording outside of its backward calls, in order."""

    def __init__(self, base: Trace) -> None:
        self.leaves: list[LeafCreated] = []
        self.ops: list[OpCalled] = []
        depth = 0
        for event in base.events:
            depth += isinstance(event, BackwardStarted)
            depth -= isinstance(event, BackwardEnded)
            if not depth and isinstance(event, LeafCreated):
                self.leaves.append(event)
            if not depth and isinstance(event, OpCalled):
                self.ops.append(event)
        at = {command.base: command for command in commands(base)}
        self.calls = [at[e.index] for e in base.events if isinstance(e, BackwardStarted) and e.index in at]
        self.sets = [at[e.index] for e in base.events if isinstance(e, GradSet) and e.index in at]
        self.writes = [at.get(e.index) for e in self.ops if e.inplace is not None]


class Fresh:
    """One run of a program with a plan."""

    def __init__(self, base: Trace, plan: Plan) -> None:
        self.plan = plan
        self.outside = Outside(base)
        self.live: dict[int, Tensor] = {}
        self.leaves = self.ops = self.calls = self.sets = self.writes = 0
        self.busy = False
        self.pinned: list[int | None] = []

    # -- what the program makes -----------------------------------------------------------------------------------

    def leaf(self, tensor: Tensor, source: str) -> None:
        """A leaf is about to be recorded: it gets the value that it should have."""
        if self.busy or self.leaves >= len(self.outside.leaves):
            return
        event = self.outside.leaves[self.leaves]
        self.leaves += 1
        assert (event.shape, event.source) == (tensor._array.shape, source), "the program makes other leaves"
        self.live[event.tensor] = tensor
        if event.tensor in self.plan.leaves:
            tensor._array[...] = np.array(self.plan.leaves[event.tensor], dtype=event.dtype)

    def made(self, outputs: Sequence[Tensor]) -> None:
        """An op of the program has run."""
        if self.busy or self.ops >= len(self.outside.ops):
            return
        event = self.outside.ops[self.ops]
        self.ops += 1
        for out, tensor in zip(event.outputs, outputs, strict=True):
            self.live[out.tensor] = tensor

    # -- what the program commands --------------------------------------------------------------------------------

    def command(self, known: Command | None, natural: Callable[[Command | None], Any], instead: Any) -> Any:
        """Carry out a command of the program as the plan has it; `natural` does it, changed or (None) as it stands."""
        if known is None:
            return natural(None)
        for new in self.plan.before.get(known.id, ()):
            self.new(new)
        wanted = self.plan.changed.get(known.id, known)
        made = instead if wanted is None else natural(None if wanted is known else wanted)
        for new in self.plan.behind.get(known.id, ()):
            self.new(new)
        return made

    def new(self, command: Command) -> None:
        """Carry out a command that the program does not have, at no place in it."""
        recorder = slot.active
        assert recorder is not None
        before, recorder.stacks.pinned = recorder.stacks.pinned, -1
        try:
            if command.kind == "backward":
                self.backward(command)
            elif (grad := self.live[command.leaf or 0]._grad) is not None:
                with self.alone():
                    grad.zero_()
        finally:
            recorder.stacks.pinned = before

    def backward(self, command: Command) -> None:
        roots = [self.live[number] for number in command.roots]
        given = None if command.gradient is None else [gradient_of(command.gradient, roots[0])]
        inputs = None if command.inputs is None else [self.live[number] for number in command.inputs]
        with self.alone():
            calls.call("backward", roots, given, command.retain_graph, command.create_graph, inputs, accumulate=True)

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """A block whose events are not the program's own."""
        before, self.busy = self.busy, True
        try:
            yield
        finally:
            self.busy = before

    # -- where the engine is tapped -------------------------------------------------------------------------------

    def tap(self, patch: pytest.MonkeyPatch) -> None:
        """Stand between the program and the engine."""
        patch.setattr(record, "Recorder", self.recorder())
        patch.setattr(recorder, "TensorStates", self.tensor_states())
        patch.setattr(calls, "call", self.call(calls.call))
        for name, module in list(sys.modules.items()):
            own = name in ("engine.replay.commands", "engine.replay.fixed_actions", "engine.tensor.inplace")
            if name.startswith("engine.") and hasattr(module, "apply_inplace") and not own:
                patch.setattr(module, "apply_inplace", self.write(module.apply_inplace))
        kept = vars(Tensor)["grad"]
        patch.setattr(Tensor, "grad", kept.setter(self.set(kept.fset)))

    def tensor_states(self) -> type[TensorStates]:
        fresh = self

        class WatchedStates(TensorStates):
            """Tells of every leaf."""

            def see(self, tensor: Any, source: str = "seen", name: str | None = None) -> tuple[int, int]:
                if tensor._id < self.first:
                    fresh.leaf(tensor, source)
                return super().see(tensor, source, name)

        return WatchedStates

    def recorder(self) -> type[Recorder]:
        fresh = self

        class WatchedRecorder(Recorder):
            """Tells of every op."""

            def plain(self, op: Any, first: Any, second: Any, out: Any, node: Any) -> None:
                before = fresh.ops
                super().plain(op, first, second, out, node)
                if fresh.ops == before:  # else it went the longer way
                    fresh.made((out,))

            def op(self, op: Any, inputs: Any, statics: Any, outputs: Any, node: Any, inplace: Any) -> None:
                super().op(op, inputs, statics, outputs, node, inplace)
                fresh.made(outputs)

            def again(self, op: Any, view: Any, base: Any, path: Any, node: Any) -> None:
                super().again(op, view, base, path, node)
                fresh.made((view,))

            def custom(
                self, name: str, seen: Any, outputs: Any, node: Any, target: Any, saved: Any, given: Any
            ) -> None:
                super().custom(name, seen, outputs, node, target, saved, given)
                fresh.made(outputs)

            def enter_code(self, *given: Any, **more: Any) -> None:
                super().enter_code(*given, **more)
                fresh.pinned.append(self.stacks.pinned)  # what a call of ours does, its code does
                self.stacks.pinned = None

            def leave_code(self, *given: Any) -> None:
                super().leave_code(*given)
                self.stacks.pinned = fresh.pinned.pop()

        return WatchedRecorder

    def call(self, real: Callable[..., list[Any]]) -> Callable[..., list[Any]]:
        def call(
            function: str, roots: Any, gradients: Any, keep: bool, graph: bool, inputs: Any, accumulate: bool
        ) -> Any:
            if self.busy:
                return real(function, roots, gradients, keep, graph, inputs, accumulate)
            known = self.outside.calls[self.calls] if self.calls < len(self.outside.calls) else None
            self.calls += 1

            def natural(wanted: Command | None) -> Any:
                given, at, asked, keeps, graphs = gradients, roots, inputs, keep, graph
                if wanted is not None:
                    assert known is not None
                    keeps, graphs = wanted.retain_graph, wanted.create_graph
                    if wanted.roots != known.roots:
                        at, given = [self.live[number] for number in wanted.roots], None
                    if wanted.gradient is not None:
                        given = [gradient_of(wanted.gradient, at[0])]
                    if wanted.inputs != known.inputs:
                        asked = None if wanted.inputs is None else [self.live[number] for number in wanted.inputs]
                with self.alone():
                    return real(function, at, given, keeps, graphs, asked, accumulate)

            return self.command(known, natural, [])

        return call

    def write(self, real: Callable[..., Tensor]) -> Callable[..., Tensor]:
        def apply_inplace(op: Any, args: Any, kwargs: Any) -> Any:
            if self.busy:
                return real(op, args, kwargs)
            known = self.outside.writes[self.writes] if self.writes < len(self.outside.writes) else None
            left_out = known is not None and self.plan.changed.get(known.id, known) is None
            made = self.command(known, lambda _: real(op, args, kwargs), args[0])
            self.writes += 1
            self.ops += left_out
            return made

        return apply_inplace

    def set(self, real: Callable[[Tensor, Any], None]) -> Callable[[Tensor, Any], None]:
        def grad(tensor: Tensor, value: Tensor | None) -> None:
            known = self.outside.sets[self.sets] if self.sets < len(self.outside.sets) else None
            self.sets += not self.busy
            self.command(None if self.busy else known, lambda _: real(tensor, value), None)

        return grad


def gradient_of(numbers: Any, root: Tensor) -> Tensor | None:
    return None if numbers == NONE_PASSED else tensor_of(np.array(numbers, dtype=root._array.dtype))


def run_fresh(program: Program, base: Trace, plan: Plan) -> Trace:
    """The trace of `program`, run with `plan`."""
    fresh = Fresh(base, plan)
    with pytest.MonkeyPatch.context() as patch:
        fresh.tap(patch)
        return record_source(program.source, program.path)


# -- two traces, the same -------------------------------------------------------------------------------------------

TENSORS = frozenset({"tensor", "grad", "inplace", "view_of", "leaf", "tensors", "results", "source", "given"})
VALUES = frozenset({"value", "gradient", "upstream", "cotangents", "unsummed", "before", "added", "after"})
LEFT_OUT = frozenset({"index", "traceback"})  # the place in the list; a replay has no Python frames to print


@functools.cache
def form_of(kind: type) -> Any:
    """How things of a kind are compared: by these fields, as a `tuple`, as a `Mapping`, or (None) by their repr."""
    if dataclasses.is_dataclass(kind):
        return [f.name for f in dataclasses.fields(kind) if f.name not in LEFT_OUT]
    return tuple if issubclass(kind, (tuple, list)) else Mapping if issubclass(kind, Mapping) else None


def bytes_of(value: Value) -> tuple[Any, ...]:
    kept = value.sample if value.array is None else value.array
    return (value.shape, value.dtype, kept.tobytes())


class Canonical:
    """Events as plain tuples that two recordings of one behaviour share.

    Ids become dense numbers in the order of their appearance, values their bytes, stacks the frames in `file`.
    """

    def __init__(self, trace: Trace, file: str) -> None:
        self.trace = trace
        self.file = file
        self.numbers: dict[str, dict[int, int]] = {}
        self.values: dict[int, tuple[Any, ...]] = {}
        self.stacks: dict[int, tuple[Any, ...]] = {}
        self.inside = 0

    def events(self) -> list[Any]:
        found = []
        for event in self.trace.events:
            self.inside += isinstance(event, CodeEntered) - isinstance(event, CodeLeft)
            found.append(self.plain(event, "", type(event)))
        return found

    def plain(self, thing: Any, name: str, owner: type) -> Any:
        kind: Any = type(thing)
        if kind is int:
            return self.number(thing, name, owner)
        form = form_of(kind)
        if form is Mapping:
            return tuple(sorted((str(key), repr(item)) for key, item in thing.items()))
        if form is tuple:
            return tuple([self.plain(item, name, owner) for item in thing])
        if form is not None:
            return (kind.__name__, *[(f, self.plain(getattr(thing, f), f, kind)) for f in form])
        return repr(thing) if name != "note" else re.sub(r"in \S+, line \d+", "", repr(thing))

    def number(self, thing: int, name: str, owner: type) -> Any:
        if name in VALUES:
            if thing not in self.values:
                self.values[thing] = bytes_of(self.trace.value(thing))
            return self.values[thing]
        if name == "stack":
            if thing not in self.stacks:
                frames = () if thing < 0 else self.trace.stacks[thing]
                self.stacks[thing] = tuple(
                    (f.function, f.line, f.col, f.end_line, f.end_col) for f in frames if f.file.endswith(self.file)
                )
            own = self.stacks[thing]
            return own[-1:] if self.inside else own  # code of the program's may be called from elsewhere now
        if name in TENSORS or (name == "inputs" and owner is BackwardStarted):
            return self.dense("tensor", thing)
        return self.dense(name, thing) if name in ("node", "storage", "sequence_nr") else thing

    def dense(self, kind: str, thing: int) -> int:
        known = self.numbers.setdefault(kind, {})
        return known.setdefault(thing, len(known))


def canonical(trace: Trace, file: str) -> list[Any]:
    """The events of `trace` in the form in which two traces are compared."""
    return Canonical(trace, file).events()
