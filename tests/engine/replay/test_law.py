"""The law of replay: a trace run again with edits equals a fresh run of the program with them, bit for bit."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from engine.replay.program import NONE_PASSED, Command, commands
from engine.replay.replay import replay
from engine.tensor.tensor import NON_LEAF_GRAD
from engine.trace.events import BackwardEnded, ErrorRaised, FlagChanged, LeafCreated, OpCalled, Trace, WarningGiven
from tests.fresh import Outside, Plan, canonical, run_fresh
from viz.gallery import Program, gallery
from viz.server.programs import record_source

PROGRAMS = [pytest.param(program, id=program.id) for program in gallery()]
EDITS = 9
"""Random edits per program."""
UNTIL_DOUBT = frozenset(
    {"copied_tensor", "engine_order", "gradcheck", "gradcheck_float", "hooks", "once", "training_loop", "two_layers"}
)
"""Programs in which values go through Python and come back, whose optimiser passes over what has no gradient, whose
backward does otherwise where a graph is made of it, or whose hooks run in a new call: from the doubt on, a replay
promises nothing."""
OWN_CALLS = frozenset({"gradcheck", "gradcheck_float"})
"""Programs whose backward calls are gradcheck's, which sees to it that each gets its gradient: they are not edited."""
NUMBERS = (-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 1.0, 2.0, 3.0, 1e-4, 7.0)

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning")


@cache
def recorded(program: Program) -> Trace:
    return record_source(program.source, program.path)


class Draw:
    """Random plans for one recording."""

    def __init__(self, base: Trace, program: str, series: str = "") -> None:
        self.base = base
        self.random = random.Random(program + series)  # noqa: S311 (a test's)
        self.commands = () if program in OWN_CALLS else commands(base)
        events = base.events
        # A leaf that is seen only when an op meets it is no line of the program: gradcheck makes some.
        own = [e for e in Outside(base).leaves if e.source != "seen"]
        self.leaves = [e for e in own if e.dtype.startswith("float")]
        self.shapes: dict[int, tuple[int, ...]] = {e.tensor: e.shape for e in events if isinstance(e, LeafCreated)}
        self.born = {e.tensor: e.index for e in events if isinstance(e, LeafCreated)}
        self.differentiable = {e.tensor for e in events if isinstance(e, LeafCreated) and e.requires_grad}
        self.switched = {e.tensor for e in events if isinstance(e, FlagChanged)}
        for event in events:
            if isinstance(event, OpCalled):
                self.shapes.update((out.tensor, out.shape) for out in event.outputs)
            if isinstance(event, OpCalled) and event.call is None:
                for out in event.outputs:
                    self.born.setdefault(out.tensor, event.index)
                    if out.requires_grad and event.inplace is None:
                        self.differentiable.add(out.tensor)
        # A program that reads `.grad` of an inner tensor found None there, which a trace does not hold: it would go on
        # otherwise if a call were to fill it, and a replay cannot know.
        reads = any(isinstance(e, WarningGiven) and e.message == NON_LEAF_GRAD for e in events)
        made = {e.tensor for e in events if isinstance(e, LeafCreated)}
        self.receivers = self.differentiable & made if reads else self.differentiable
        ended = [e for e in events if isinstance(e, BackwardEnded)]
        self.failed = {e.call for e in ended if not e.completed}

    def numbers(self, shape: Sequence[int]) -> Any:
        if not shape:
            return self.random.choice((*NUMBERS, round(self.random.uniform(-3, 3), 3)))
        return [self.numbers(shape[1:]) for _ in range(shape[0])]

    def plan(self) -> Plan:
        """One to three edits together."""
        plan = Plan()
        wanted: list[Callable[[Plan], Plan]] = [self.leaf, self.leaf] if self.leaves else [lambda plan: plan]
        if self.commands:
            wanted += [
                self.gradient,
                self.gradient,
                self.flags,
                self.inputs,
                self.root,
                self.without,
                self.more,
                self.zero,
            ]
        for _ in range(self.random.randint(1, 3)):
            plan = self.random.choice(wanted)(plan)
        return plan

    def leaf(self, plan: Plan) -> Plan:
        event = self.random.choice(self.leaves)
        return replace(plan, leaves={**plan.leaves, event.tensor: self.numbers(event.shape)})

    def change(self, plan: Plan, kinds: Sequence[str], alter: Callable[[Command], Command | None]) -> Plan:
        found = [c for c in self.commands if c.kind in kinds and plan.changed.get(c.id, c) is not None]
        if not found:
            return plan
        command = self.random.choice(found)
        now = plan.changed.get(command.id) or command
        return replace(plan, changed={**plan.changed, command.id: alter(now)})

    def gradient(self, plan: Plan) -> Plan:
        def alter(command: Command) -> Command:
            if len(command.roots) != 1:
                return command
            none = self.random.random() < 0.2
            return replace(command, gradient=NONE_PASSED if none else self.gradient_for(command.roots))

        return self.change(plan, ["backward"], alter)

    def gradient_for(self, roots: Sequence[int]) -> Any:
        return self.numbers(self.shapes[roots[0]])

    def flags(self, plan: Plan) -> Plan:
        if self.random.random() < 0.67:
            return self.change(plan, ["backward"], lambda c: replace(c, retain_graph=not c.retain_graph))
        return self.change(plan, ["backward"], lambda c: replace(c, create_graph=not c.create_graph))

    def inputs(self, plan: Plan) -> Plan:
        def alter(command: Command) -> Command:
            if self.function(command) != "backward":
                return command
            there = [t for t in self.present(command) if t in self.receivers]
            return replace(
                command, inputs=tuple(self.random.sample(there, min(len(there), 1 + self.random.randrange(2))))
            )

        return self.change(plan, ["backward"], alter)

    def root(self, plan: Plan) -> Plan:
        def alter(command: Command) -> Command:
            there = [t for t in self.present(command) if t in self.differentiable or self.is_refused_now_and_then(t)]
            if not there or self.function(command) != "backward":
                return command
            roots = (self.random.choice(there),)
            return replace(command, roots=roots, gradient=self.gradient_for(roots))

        return self.change(plan, ["backward"], alter)

    def is_refused_now_and_then(self, tensor: int) -> bool:
        """Whether a call starts from this tensor all the same.  What becomes a parameter is another object then."""
        return tensor not in self.switched and self.random.random() < 0.2

    def without(self, plan: Plan) -> Plan:
        removable = [c for c in self.commands if self.function(c) != "grad"]
        if not removable:
            return plan
        command = self.random.choice(removable)
        return replace(plan, changed={**plan.changed, command.id: None})

    def more(self, plan: Plan) -> Plan:
        def make(near: Command) -> Command | None:
            there = [t for t in self.present(near) if t in self.differentiable]
            if not there:
                return None
            roots = (self.random.choice(there),)
            implicit = self.random.random() < 0.2
            return Command(
                self.name(), "backward", near.after, None, roots, None if implicit else self.gradient_for(roots),
                retain_graph=self.random.random() < 0.8,
            )  # fmt: skip

        return self.add(plan, make)

    def zero(self, plan: Plan) -> Plan:
        def make(near: Command) -> Command | None:
            there = [t for t in self.present(near) if t in self.differentiable]
            return Command(self.name(), "zero", near.after, leaf=self.random.choice(there)) if there else None

        return self.add(plan, make)

    def add(self, plan: Plan, make: Callable[[Command], Command | None]) -> Plan:
        near = self.random.choice(self.commands)
        new = make(near)
        if new is None:
            return plan
        if self.random.random() < 0.5 and not self.fails(near):
            return replace(plan, behind={**plan.behind, near.id: (*plan.behind.get(near.id, ()), new)})
        return replace(plan, before={**plan.before, near.id: (*plan.before.get(near.id, ()), new)})

    def name(self) -> str:
        return f"new{self.random.getrandbits(32)}"

    def present(self, command: Command) -> list[int]:
        """The tensors that are there when the command runs."""
        return [tensor for tensor, at in self.born.items() if at <= command.after]

    def event(self, command: Command) -> Any:
        assert command.base is not None
        return self.base.events[command.base]

    def function(self, command: Command) -> str:
        return str(getattr(self.event(command), "function", command.kind))

    def fails(self, command: Command) -> bool:
        return getattr(self.event(command), "call", None) in self.failed


def left_by_the_program(trace: Trace) -> bool:
    """Whether Python itself ended the run: the program asked for the shape of a gradient that is no longer there."""
    last = trace.events[-1] if trace.events else None
    return isinstance(last, ErrorRaised) and last.type in ("AttributeError", "TypeError") and "NoneType" in last.message


def compare(program: Program, base: Trace, plan: Plan) -> int:
    """How many events of a replay and of a fresh run with `plan` were found equal; all of them."""
    again = replay(base, plan.edits(base))
    fresh = run_fresh(program, base, plan)
    ours, theirs = canonical(again, program.path.name), canonical(fresh, program.path.name)
    if left_by_the_program(fresh):
        theirs.pop()
        while theirs and theirs[-1][0] == "ModeChanged":  # the `with` blocks that the error left
            theirs.pop()
        del ours[len(theirs) :]
    if program.id in UNTIL_DOUBT and (doubt := again.meta["doubt"]) is not None:
        del ours[doubt:], theirs[doubt:]
    for index, (mine, other) in enumerate(zip(ours, theirs, strict=False)):
        assert mine == other, f"event {index} of {program.id} under {plan}"
    assert len(ours) == len(theirs), f"{program.id} under {plan}"
    return len(theirs)


@pytest.mark.parametrize("program", PROGRAMS)
def test_replay_without_edits_is_the_recording(program: Program) -> None:
    base = recorded(program)
    assert canonical(replay(base), program.path.name) == canonical(base, program.path.name)


@pytest.mark.parametrize("program", PROGRAMS)
def test_replay_with_random_edits_equals_a_fresh_run(
    program: Program, record_property: Callable[[str, Any], None]
) -> None:
    base = recorded(program)
    draw = Draw(base, program.id)
    events = 0
    for _ in range(EDITS):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            events += compare(program, base, draw.plan())
    record_property("law", (EDITS, events))
    assert events >= EDITS
