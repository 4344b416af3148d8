"""When each node, edge and value is waiting, active or done: tracks over the steps of a trace.

A step is one forward op, one VJP, one accumulation, one write by the user, or an error.  Tracks have entries only where
something changes; each element that a backward call touches is reset once, so that the cost is linear in the events
plus the nodes that the calls reach.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from engine.trace.events import (
    Accumulated,
    BackwardEnded,
    BackwardStarted,
    Damaged,
    DataSet,
    ErrorRaised,
    GradSet,
    LeafCreated,
    OpCalled,
    Printed,
    Refreshed,
    VjpRun,
    WarningGiven,
)

from ..graph.gradient_paths import ArrivedGradients, results
from ..graph.graph import Drawing, Link
from ..reading.facts import Facts
from ..reading.labels import written_name
from ..schema.scene import MarkKind, PhaseKind, State, StepKind
from . import phases
from .participants import participants
from .reach import edges, op_behind, reached
from .seeds import derived, is_refused, passed_by
from .steps import BEGIN, HALF, Flow, Phase, Step, Timeline


def timeline(drawing: Drawing) -> Timeline:
    """Play the events once.  Cost: linear in events plus the nodes that backward calls reach."""
    player = _Player(drawing)
    for event in drawing.facts.trace.events:
        match event:
            case LeafCreated():
                player.leaf(event)
            case DataSet():
                player.data_set(event)
            case Refreshed():
                player.refreshed(event)
            case OpCalled() if event.index not in player.facts.own.hidden:
                player.op(event)
            case GradSet():
                player.grad_set(event)
            case BackwardStarted():
                player.start(event)
            case VjpRun():
                player.vjp(event)
            case Accumulated():
                player.accumulated(event)
            case BackwardEnded():
                player.end(event)
            case ErrorRaised():
                player.error(event)
            case Damaged():
                player.damaged(event)
            case WarningGiven():
                player.line.warnings.append((player.now, event.message))
                player.line.marks.append((player.now, "warning", event.category))
            case Printed():
                player.line.prints.append((player.now, event))
    return player.line


class _Player:
    """The state of the graph while the events pass."""

    def __init__(self, drawing: Drawing) -> None:
        self.drawing = drawing
        self.facts: Facts = drawing.facts
        self.line = Timeline()
        self.call: BackwardStarted | None = None
        self.outer: list[BackwardStarted] = []  # the running calls, each started in the course of the one before
        self.touched: dict[str, None] = {}
        self.clear: dict[str, None] = {}
        self.pending: dict[int, int] = {}
        self.ready_at: dict[int, float] = {}
        self.stale = False
        self.starts: dict[int, int] = {}  # the step at which each call begins
        self.latest: dict[int, str] = {}
        self.seeded: set[int] = set()
        self.arrived_gradients = ArrivedGradients(self.facts)
        self.updates = phases.optimizer_steps(drawing)
        self.update: str | None = None  # the step of an optimiser that runs

    @property
    def now(self) -> int:
        return len(self.line.steps)

    # -- small helpers --------------------------------------------------------------------------------------------

    def step(
        self, kind: StepKind, event: Any, at: str | None, name: str, op: int | None = None, own: Phase | None = None
    ) -> Step:
        """Append a step to its phase, or to the phase `own`."""
        line = self.line
        call = self.call.call if self.call is not None else None
        update = self.updating(op) if call is None else None
        phase = own if own is not None else self.phase(kind, event, call, update)
        if own is None or update is None:
            self.update = update
        if not line.phases or phase is not line.phases[-1]:
            line.phases.append(phase)
        phase.end = self.now + 1
        if phase.call is not None:
            self.starts.setdefault(phase.call, phase.start)
        order = self.facts.calls[call].order if call is not None else 0  # the same for all steps of the call
        step = Step(kind, len(line.phases) - 1, at, name, event.index, op, order, call)
        line.step_of[event.index] = self.now
        line.steps.append(step)
        return step

    def phase(self, kind: StepKind, event: Any, call: int | None, update: str | None) -> Phase:
        """The phase of the next step: the last one if that goes on, else a new one."""
        last = self.line.phases[-1] if self.line.phases else None
        if update is not None:  # the step of an optimiser is one phase, whatever it does
            if last is not None and update == self.update:
                return last
            label = phases.label_of_update(self.drawing, update, event)
            return Phase("write", label, self.now, self.now, None, event.stack)
        group: PhaseKind = "backward" if call is not None else "write" if kind == "write" else "forward"
        stack = self.call.stack if self.call is not None else event.stack
        same = last if last is not None and (last.kind, last.call, last.failed) == (group, call, False) else None
        if same is not None and group != "write":
            return same
        label = "forward" if group == "forward" else phases.label(self.facts, self.call, stack, event)
        if same is not None and same.label == label:  # two lines with writes are two phases
            return same
        return Phase(group, label, self.now, self.now, call, stack)

    def updating(self, op: int | None) -> str | None:
        """The step of an optimiser, as a group, in which an op runs."""
        grouping = self.drawing.grouping
        path = grouping.paths[grouping.of.get(op)] if op is not None else ()
        return next((group for group in path if group in self.updates), None)

    def state(self, element: str, step: float, value: State) -> None:
        self.line.put(element, "state", step, value, "future")

    def faint(self, element: str, step: float, value: bool) -> None:
        self.line.put(element, "faint", step, value, False)
        if value:
            self.clear.pop(element, None)
        else:
            self.clear[element] = None

    def exists(self, element: str, step: int) -> None:
        self.state(element, step, "idle")
        self.clear[element] = None

    def appear(self, card: str, step: int) -> None:
        """A card, with its links to the earlier versions of the tensor."""
        self.exists(card, step)
        if card in self.drawing.older:
            self.exists(self.drawing.older[card].id, step)

    # -- forward --------------------------------------------------------------------------------------------------

    def leaf(self, event: LeafCreated) -> None:
        card = self.drawing.cards.get((event.tensor, event.version))
        if card is None:
            return
        self.exists(card, self.now)
        self.latest[event.tensor] = card
        self.line.put(card, "row:value", self.now, event.value)
        if event.grad is not None and event.grad in self.facts.tensors:
            grad = self.facts.tensors[event.grad]
            self.line.put(card, "row:grad", self.now, grad.values[grad.first])

    def refreshed(self, event: Refreshed) -> None:
        self.put_grads(self.facts.holding(event.tensor, event.index), event.value)
        card = self.drawing.cards.get((event.tensor, event.version))
        if card is not None:
            self.appear(card, self.now)
            self.line.put(card, "row:value", self.now, event.value)
            self.move_grad(event.tensor, card)
        elif event.tensor in self.latest:  # no op uses its present value, so it has no card of its own
            self.line.put(self.latest[event.tensor], "row:value", self.now, event.value)

    def data_set(self, event: DataSet) -> None:
        """`x.data = y` is a step; the values of x are on its card, or on its new one."""
        if (owner := self.facts.owner_at(event.tensor, event.index)) is not None:
            self.write_grad(event, owner, self.facts.holding(event.tensor, event.index), event.value, "grad.data = …")
            return
        self.rest()
        card = self.latest.get(event.tensor)
        fresh = self.drawing.cards.get((event.tensor, event.version))
        step = self.step("write", event, fresh or card, "data = …")
        step.writes_value = True
        self.line.marks.append((self.now - 1, "set", phases.label(self.facts, self.call, event.stack, event)))
        if fresh is not None:
            self.refreshed(event)
            if link := self.drawing.data_links.get(fresh):
                self.exists(link.id, self.now)
                step.flows.append(Flow(link, False, event.value))
        elif card is not None:
            self.line.put(card, "row:value", self.now, event.value)

    def move_grad(self, tensor: int, card: str) -> None:
        """`card` shows the tensor from now on, with the `.grad` that it holds."""
        before = self.latest.get(tensor)
        if before is not None and before != card:
            self.line.put(card, "row:grad", self.now, self.line.at(before, "row:grad", self.now))
            self.line.until[before] = self.now
        self.latest[tensor] = card

    def op(self, event: OpCalled) -> None:
        index = self.facts.op_at[event.index]
        fact = self.facts.ops[index]
        if fact.writes_grad is not None:
            leaves = self.facts.holding(event.inplace, event.index)
            self.write_grad(event, fact.writes_grad, leaves, event.outputs[0].value, written_name(event))
            return
        self.rest()
        is_write = event.inplace is not None and (
            event.inplace in self.facts.behind
            or event.outputs[0].version in self.facts.tensors[event.inplace].leaf_versions
        )  # for a write to `.data`, the card of its tensor, whose version does not count the write
        cards = [self.drawing.cards.get((o.tensor, o.version)) for o in event.outputs]
        at = self.facts.ops[index].id
        step = self.step("write" if is_write else "forward", event, at, written_name(event), index)
        done = self.now
        self.exists(at, done)
        if event.node is not None and event.node.saved:
            self.line.put(at, "saved", done, "saved", "none")
        for link in self.drawing.into[index]:
            self.exists(link.id, done)
            if self.drawing.items[link.source].kind == "stub":  # a use of a tensor, to come until the op runs
                self.exists(link.source, done)
            fact_in = self.facts.tensors[link.tensor]
            step.flows.append(Flow(link, False, fact_in.values.get(link.version)))
        for out, card in zip(event.outputs, cards, strict=True):
            if card is not None:
                self.appear(card, done)
                self.line.put(card, "row:value", done, out.value)
                self.move_grad(out.tensor, card)
        if event.inplace in self.facts.behind:
            self.behind(event, self.facts.behind[event.inplace], done)
        for link in self.drawing.out_of[index]:
            self.exists(link.id, done)
            step.flows.append(Flow(link, False, self.facts.tensors[link.tensor].values.get(link.version)))

    def behind(self, event: OpCalled, tensor: int, done: int) -> None:
        """Values written to `x.data` are on the card of x; those of `x.data = …` on the new card of x."""
        next_ = next(
            (e for e in self.facts.following(event.index) if isinstance(e, Refreshed) and e.tensor == tensor), None
        )
        card = self.latest.get(tensor)
        moves = next_ is not None and self.drawing.cards.get((tensor, next_.version), card) != card
        if card is not None and not moves:
            self.line.put(card, "row:value", done, event.outputs[0].value)

    def write_grad(self, event: Any, owner: int, leaves: Sequence[int], value: int | None, name: str) -> None:
        """A step that writes to a gradient: `leaves` have it; none, if they no longer refer to it."""
        self.step("write", event, self.latest.get(leaves[-1] if leaves else owner), name)
        sign: MarkKind = "zero" if name == "zero_" else "none" if value is None else "set"
        text = phases.label(self.facts, self.call, event.stack, event)
        self.line.marks.append((self.now - 1, sign, text))
        self.put_grads(leaves, value)

    def put_grads(self, leaves: Sequence[int], value: int | None) -> None:
        """Show the present `.grad` of leaves on their cards."""
        for leaf in leaves:
            if leaf in self.latest:
                self.line.put(self.latest[leaf], "row:grad", self.now, value)

    def grad_set(self, event: GradSet) -> None:
        name = "grad = None" if event.value is None else "grad = …"
        self.write_grad(event, event.tensor, (event.tensor,), event.value, name)

    def rest(self) -> None:
        """Once the program goes on after a backward call, nothing is `done` any more."""
        if self.call is None and self.stale:
            for element in self.touched:
                self.state(element, self.now + BEGIN, "idle")
            self.stale = False

    # -- backward -------------------------------------------------------------------------------------------------

    def start(self, event: BackwardStarted) -> None:
        if self.call is not None:
            self.outer.append(self.call)
        self.call = event
        begin = self.now + BEGIN
        for element in self.touched:
            self.state(element, begin, "idle")
            if element.startswith("n"):
                self.line.put(element, "upstream", begin, None)
            if element.startswith("e"):
                self.line.put(element, "cotangent", begin, None)
        self.touched = {}
        self.pending, leaves = reached(self.facts, event)
        roots = [card for root in event.roots if (card := self.drawing.card(root.tensor)) is not None]
        part = participants(self.drawing, self.latest, set(self.pending), leaves, event.inputs or (), roots)
        runs = not self.is_turned_down(event)
        for element in [e for e in self.clear if e not in part]:
            self.faint(element, begin, True)
        for element, kind in part.items():
            self.faint(element, begin, False)
            if kind and runs:
                self.touched[element] = None
                self.state(element, begin, kind)
        self.ready_at = {op: begin for op, missing in self.pending.items() if missing == 0 and runs}
        for op in self.ready_at:
            self.make_ready(op, begin)
        self.seeds(event, begin, runs)

    def is_turned_down(self, event: BackwardStarted) -> bool:
        """Return whether a call is refused because of its arguments, so that nothing waits for a gradient."""
        next_ = next(self.facts.following(event.index), None)
        return isinstance(next_, ErrorRaised) and next_.node is None

    def seeds(self, event: BackwardStarted, begin: float, runs: bool) -> None:
        """The gradients that the call passes to its roots."""
        for root in event.roots:
            card = self.drawing.card(root.tensor)
            if card is not None:
                first = root.tensor not in self.seeded
                is_early = first and not self.is_computed(root.source)
                start = 0 if is_early else begin  # the gradient of the first call is shown, and edited, before it runs
                self.seeded.add(root.tensor)
                refused = root.implicit and is_refused(self.facts, event)  # the implicit 1 does not fit
                self.line.put(card, "row:seed", start, None if refused else root.gradient)
                self.line.put(card, "row:call", 0 if first else begin, event.call)
                how = derived(self.facts, event, root) or passed_by(self.facts, event)
                self.line.put(card, "row:derived", start, how)
                if runs:
                    self.state(card, begin, "ready")
            fact = self.facts.tensors.get(root.tensor)
            version = next(iter(fact.before(event.index)), None) if fact is not None else None
            if version is not None:
                self.arrived_gradients.add(event.call, root.tensor, version, root.gradient)

    def is_computed(self, tensor: int | None) -> bool:
        """Return whether the program computes a tensor, by an op or as a gradient: its numbers are unknown before."""
        fact = self.facts.tensors.get(tensor) if tensor is not None else None
        return fact is not None and (fact.leaf is None or fact.leaf.source == "grad")

    def make_ready(self, op: int, step: float) -> None:
        self.state(self.facts.ops[op].id, step, "ready")
        for link in results(self.drawing, op):
            if link.grad and (link.value or link.target in self.touched):
                self.state(link.target, step, "ready")

    def vjp(self, event: VjpRun) -> None:
        op = self.facts.op_of_node.get(event.node)
        record = self.facts.ops[op].event.node if op is not None else None
        node = self.facts.ops[op].id if op is not None else ""
        at = node if node in self.drawing.items else None
        step = self.step("vjp", event, at, record.name if record else "VJP", op)
        if op is None or record is None:
            return
        done = self.now
        self.touched[node] = None
        upstream = next((u for u in event.upstream if u is not None), None)
        self.line.put(node, "upstream", self.ready_at.get(op, done - 1 + BEGIN), upstream)
        if record.saved:
            self.line.put(node, "saved", done - HALF, "freed" if event.freed else "kept", "none")
        for link in results(self.drawing, op):
            nr = link.position
            passed = event.upstream[nr] if nr < len(event.upstream) else None
            if link.value:
                self.carry(step, link, passed, None, done)
            else:
                goes, passed = self.arrived_gradients.beyond(event.call, op, link, passed)
                if not goes:
                    continue
                self.travel(step, Flow(link, True, passed), done)
            if link.grad:
                self.state(link.target, done, "done")
                self.touched[link.target] = None
        for link in self.drawing.into[op]:
            if link.slot is not None and link.slot < len(event.cotangents):
                self.carry(step, link, event.cotangents[link.slot], upstream, done)
                self.arrived_gradients.add(event.call, link.tensor, link.version, event.cotangents[link.slot])
                if self.drawing.items[link.source].kind == "stub":
                    self.state(link.source, done, "done")
                    self.touched[link.source] = None
        self.state(node, done, "done")
        for edge in edges(self.facts, op):
            following = op_behind(self.facts, edge)
            if following in self.pending and following is not None:
                self.pending[following] -= 1
                if self.pending[following] == 0:
                    self.ready_at[following] = done
                    self.make_ready(following, done)

    def carry(self, step: Step, link: Link, value: int | None, upstream: int | None, done: int) -> None:
        if value is not None:
            self.travel(step, Flow(link, True, value, upstream), done)

    def travel(self, step: Step, flow: Flow, done: int) -> None:
        step.flows.append(flow)
        self.line.put(flow.link.id, "cotangent", done, flow.value)
        self.state(flow.link.id, done, "done")
        self.touched[flow.link.id] = None

    def accumulated(self, event: Accumulated) -> None:
        card = self.latest.get(event.tensor) or self.drawing.place(event.tensor)
        name = "retain_grad" if event.retained else "AccumulateGrad"
        self.step("accumulate", event, card, name)
        if card is None:
            return
        self.line.put(card, "row:grad", self.now, event.after)
        along = [leaf for leaf in self.facts.holding(event.grad, event.index) if leaf != event.tensor]
        self.put_grads(along, event.after)
        if not event.retained:
            self.state(card, self.now, "done")
            self.touched[card] = None

    def end(self, event: BackwardEnded) -> None:
        if self.call is not None:
            self.line.spans[event.call] = (self.starts.get(event.call, self.now), self.now)
            if not event.completed and self.line.phases and self.line.phases[-1].call == event.call:
                self.line.phases[-1].failed = True
            if event.completed:
                self.over(event)
        self.call, self.stale = self.outer.pop() if self.outer else None, True

    def over(self, event: BackwardEnded) -> None:
        """Nothing waits for a call that has ended: the tensors whose gradients `autograd.grad` returned are done,
        although nothing accumulates them; the others received nothing, as after an undefined gradient."""
        assert self.call is not None
        if self.call.function == "grad":
            for tensor, result in zip(self.call.inputs or (), event.results, strict=False):
                card = self.latest.get(tensor)
                if card is not None and result is not None and self.line.at(card, "state", self.now) == "waiting":
                    self.state(card, self.now, "done")
        for element in self.touched:
            if self.line.at(element, "state", self.now) in ("waiting", "ready"):
                self.state(element, self.now, "idle")

    def damaged(self, event: Damaged) -> None:
        """The end of a damaged file: one step represents the rest."""
        text = "damaged in the file"
        own = Phase("forward", text, self.now, self.now, None, event.stack) if self.call is None else None
        self.step("error", event, None, text, own=own)
        self.line.phases[-1].failed = True
        self.line.marks.append((self.now - 1, "error", text))

    def error(self, event: ErrorRaised) -> None:
        op = self.facts.op_of_node.get(event.node) if event.node is not None else None
        at = self.facts.ops[op].id if op is not None else next(
            (place for t in self.drawing.failing[event.index] if (place := self.drawing.place(t)) is not None), None
        )  # fmt: skip
        last = self.line.phases[-1] if self.line.phases else None
        own = phases.failing(self.facts, event, last, self.now) if self.call is None else None
        self.step("error", event, at, event.type, op, own)
        self.line.phases[-1].failed = True
        self.line.marks.append((self.now - 1, "error", event.type))
        if at is not None:
            self.state(at, self.now, "error")
            self.touched[at] = None
