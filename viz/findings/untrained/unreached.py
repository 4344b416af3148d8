"""Parameters that never learn, because no gradient reaches them, or the optimiser was created too early.  Pure."""

from __future__ import annotations

from engine.arrays.element_types import is_float
from engine.trace.events import (
    Accumulated,
    AnyEvent,
    Escaped,
    GradSet,
    LeafCreated,
    OpCalled,
    Refreshed,
)

from ...reading import labels, text
from ...reading.facts import Facts, OpFact
from ..finding import Finding
from .checkpoints import cutting_checkpoints
from .gradient_stops import BackwardReach, StopSource
from .parameters import MOST_NAMED, OptimizerTensors, names_of, optimizer_tensors
from .unlisted import unlisted_leaves

PLAIN = frozenset({"item", "numpy", "tolist"})
"""Calls that take numbers out of the graph, to Python or numpy, through which no gradient comes back."""


def unreached(facts: Facts) -> list[Finding]:
    """One finding per place at which the path from the loss to parameters of an optimiser is cut.

    A parameter that requires no gradient is frozen on purpose, and one that no optimiser holds may be trained in
    another way: neither is a finding.  One that `forward` replaces in each call is reported as that.  A program that
    stopped with an error may not have run the code that would reach them.  Cost: linear in the events.
    """
    holdings = optimizer_tensors(facts)
    if not holdings.name or facts.errors:
        return []
    here = {e.tensor for e in facts.trace.events if isinstance(e, Accumulated) and not e.retained}
    reached = here | facts.elsewhere("taught")
    assigned = {e.tensor for e in facts.trace.events if isinstance(e, GradSet) and e.value is not None}
    if not here and not _begin_at_leaves(facts):
        return []
    search = _Reachability(facts, holdings.name)
    unlisted = unlisted_leaves(facts)
    replaced = {_attribute(facts, tensor, module) for tensor, module in unlisted.items()}
    causes: dict[object, list[int]] = {}
    for tensor in holdings.tensors:
        if tensor not in reached | assigned and tensor in facts.tensors and facts.names.get(tensor) not in replaced:
            causes.setdefault(search.cause(tensor), []).append(tensor)
    result = [finding for tensors in causes.values() if (finding := search.finding(tensors)) is not None]
    missed = [one for one in _untrained_parameters(facts, holdings, here) if one not in unlisted]
    unused = holdings.unknown + len(causes.get(_NO_PATH, ()))
    holds_none = not holdings.tensors and not holdings.unknown
    is_apart = here.isdisjoint(holdings.tensors)
    return [*result, search.stale(missed, unused, is_apart)] if missed and (unused or holds_none) else result


def _attribute(facts: Facts, tensor: int, module: str) -> str:
    """The name of a tensor, as that of a parameter of the module in whose `forward` it may be called `self.scale`."""
    name = facts.names.get(tensor, "")
    return f"{module}.{name.removeprefix('self.')}" if name.startswith("self.") else name


def _begin_at_leaves(facts: Facts) -> bool:
    """Whether there are backward calls, and each begins at tensors without a history, which were switched on."""
    roots = [facts.tensors.get(root.tensor) for call in facts.calls.values() for root in call.event.roots]
    return bool(roots) and all(fact is not None and fact.recorded is None for fact in roots)


def _untrained_parameters(facts: Facts, holdings: OptimizerTensors, reached: set[int]) -> list[int]:
    """Parameters of modules that receive gradients, that no optimiser holds, and that the program never writes.

    An optimiser that last took a step before a parameter was first used may hold it: then it was not known by a number.
    """
    targets: set[int | None] = set()
    for event in facts.trace.events:
        if isinstance(event, OpCalled):
            targets.add(event.inplace)
        elif isinstance(event, Refreshed):
            targets.add(event.tensor)
    created = (e for e in facts.trace.events[: max(holdings.last, 0)] if isinstance(e, LeafCreated))
    parameters = [event.tensor for event in created if event.source == "parameter"]
    return [t for t in parameters if t in reached and t not in holdings.tensors and t not in targets]


class _Reachability:
    """Follows tensors forward to the op that cuts them off, and the loss back to everything it was computed from."""

    def __init__(self, facts: Facts, optimizer: str) -> None:
        self.facts = facts
        self.optimizer = optimizer
        self.inputs = {argument.tensor for op in facts.ops if op.event.call is None for argument in op.event.inputs}
        self.ahead, self.behind = self._behind_roots()
        self.paths = BackwardReach(facts)
        self.cuts = self._cuts()
        self.checkpoints = cutting_checkpoints(facts)
        self.left = self._left()

    def _behind_roots(self) -> tuple[set[int], set[int]]:
        """The ops and tensors from which roots of backward calls were computed, whether or not gradients flow through
        them."""
        todo = list(self.facts.roots)
        seen, ops = set(todo), set[int]()
        while todo:
            fact = self.facts.tensors.get(todo.pop())
            fresh = {op for op in fact.producers.values() if op is not None} - ops if fact is not None else set()
            ops |= fresh
            inputs = {i.tensor for op in fresh for i in self.facts.ops[op].event.inputs if i.tensor is not None} - seen
            seen |= inputs
            todo += inputs
        return ops, seen

    def _cuts(self) -> dict[int, int]:
        """By tensor, the first op on its path to the loss that passes no gradient back; no entry without such a path.
        Goes from the last op to the first, so that each is visited once."""
        cuts: dict[int, int] = {}
        for index in reversed(range(len(self.facts.ops))):
            event = self.facts.ops[index].event
            if event.call is not None:
                continue
            behind = [cuts[out.tensor] for out in event.outputs if out.tensor in cuts]
            if event.node is None:
                behind = [index] if index in self.ahead else []
            for argument in event.inputs if behind else ():
                if argument.tensor is not None:
                    cuts[argument.tensor] = min(*behind, cuts.get(argument.tensor, behind[0]))
        return cuts

    def _left(self) -> dict[int, Escaped]:
        """By tensor, the event in which numbers computed from it first left the graph.  What leaves after the last
        backward call has begun is in no loss."""
        escapes: dict[int, Escaped] = {}
        for event in self.facts.trace.events[: max(call.start for call in self.facts.calls.values())]:
            if isinstance(event, Escaped) and event.kind in PLAIN:
                escapes.setdefault(event.tensor, event)
        for op in reversed(self.facts.ops):
            behind = [escapes[out.tensor] for out in op.event.outputs if out.tensor in escapes]
            for argument in op.event.inputs if behind and op.event.call is None else ():
                if argument.tensor is not None:
                    ways = [*behind, *([escapes[argument.tensor]] if argument.tensor in escapes else [])]
                    escapes[argument.tensor] = min(ways, key=lambda event: event.index)
        return escapes

    # -- in words -------------------------------------------------------------------------------------------------

    def cause(self, tensor: int) -> object:
        """Why no gradient reaches a tensor: tensors with the same cause are one finding."""
        if tensor in self.paths.stops:
            return self.paths.place(self.paths.stops[tensor])
        if tensor in self.checkpoints and tensor not in self.inputs:
            return self.facts.ops[self.checkpoints[tensor]].event.stack
        if tensor in self.paths.connected:
            if tensor in self.paths.open:
                return _UNKNOWN
            return _LEFT_OUT if tensor in self.paths.of_inputs else _CONSTANT
        cut, away = self.cuts.get(tensor), self.left.get(tensor)
        if cut is not None:
            frame = self.facts.frames.get(self.facts.ops[cut].event.stack)
            return (frame.file, frame.line) if frame is not None else cut
        if away is not None:
            return away.kind, away.stack
        return _UNKNOWN if tensor in self.behind else _NO_PATH

    def finding(self, tensors: list[int]) -> Finding | None:
        """The finding for tensors with the same cause; None if that is unknown."""
        names, many = names_of(self.facts, tensors), len(tensors) > 1
        calls = text.count(len([c for c in self.facts.calls.values() if c.completed]), "backward call")
        them, stay = ("them", "They never change") if many else ("it", "It never changes")
        why = f"{self.optimizer} holds {names}, but no gradient reaches {them} in {calls}"
        label = f"{self.facts.names.get(tensors[0]) or 'a parameter'} never learns"
        if many:
            label = f"{len(tensors)} parameters never learn"
        tensor = tensors[0]
        freeze = f"To freeze {them} on purpose, call `requires_grad_(False)`."
        match self.cause(tensor):
            case StopSource() as place:
                return self.stop_finding(place, tensor, label, f"{why}: the loss depends on {them}", stay, freeze)
            case cause if cause == _UNKNOWN:
                return None
            case cause if cause in (_LEFT_OUT, _CONSTANT, _NO_PATH):
                reason, fix = self.no_place(cause, tensors, them)
                first = self.first_gradient(tensors)
                return Finding("unreached", first.index, f"t{tensor}", label, f"{why}: {reason}. {stay}.", fix, None)
        if tensor in self.checkpoints and tensor not in self.inputs:
            return self.checkpoint_finding(tensor, label, why, them, stay)
        if tensor not in self.cuts:
            return self.escape_finding(self.left[tensor], tensors, label, why, stay)
        ways = self.ways(tensor)
        op = next(iter(ways.values()))
        reason, fix = _why(op)
        if len(ways) > 1:  # which of them is meant, as where a baseline is detached in a policy's loss, is not known
            reason, fix = "cut every path to the loss", f"Let gradients through on the path that should train {them}."
            if all(one.event.name in _DETACHING for one in ways.values()):
                fix = f"Remove the detach on the path that should train {them}."
        places = list(ways)[:MOST_NAMED]
        more = [f"{len(ways) - MOST_NAMED} more places"] if len(ways) > MOST_NAMED else []
        why += f": {text.join([*places, *more])} {reason}. {stay}."
        line = self.facts.line_number(op.event.stack)
        return Finding("unreached", op.event.index, op.id, label, why, f"{fix} {freeze}", line)

    def ways(self, tensor: int) -> dict[str, OpFact]:
        """The first op that passes no gradient back on each path from a tensor to the loss, by where it is written.

        Ops that have a derivative, which only the program keeps from running, come alone if there are any: of the
        others, such as a comparison, nobody expects a gradient.
        """
        alive, cuts = {tensor}, list[OpFact]()
        for index, op in enumerate(self.facts.ops):
            if op.event.call is not None or not any(argument.tensor in alive for argument in op.event.inputs):
                continue
            if op.event.node is not None:
                alive.update(out.tensor for out in op.event.outputs)
            elif index in self.ahead:
                cuts.append(op)
        able = [op for op in cuts if all(is_float(out.dtype) for out in op.event.outputs)]
        places: dict[str, OpFact] = {}
        for op in able or cuts or [self.facts.ops[self.cuts[tensor]]]:
            places.setdefault(self.facts.code_at(op.event.stack) or labels.written_name(op.event), op)
        return places

    def first_gradient(self, tensors: list[int]) -> AnyEvent:
        """The first gradient that reaches another leaf after one of the tensors is used; the first of all otherwise,
        and if there is none, the first backward call."""
        uses = (op.event.index for op in self.facts.ops if any(i.tensor in tensors for i in op.event.inputs))
        start = next(uses, -1)
        gradients: list[AnyEvent] = [e for e in self.facts.trace.events if isinstance(e, Accumulated)]
        calls: list[AnyEvent] = [call.event for call in self.facts.calls.values()]
        return next((event for event in gradients if event.index > start), (gradients or calls)[0])

    def no_place(self, cause: object, tensors: list[int], them: str) -> tuple[str, str]:
        """The reason and the fix for tensors where no line of the program cuts the path to them."""
        if cause == _LEFT_OUT:
            return (
                f"the backward calls that depend on {them} list only other tensors in `inputs=`",
                f"Add {them} to `inputs=`, or remove {them} from the optimiser.",
            )
        if cause == _CONSTANT:
            return (
                "the loss is computed from a gradient that `autograd.grad` returns, and that gradient does not depend "
                f"on {them}: the derivative of an added constant is 0",
                f"Remove {them}, for instance with `bias=False`; if {them} should learn, add a term to the loss that "
                f"depends on {them}.",
            )
        is_input = not self.inputs.isdisjoint(tensors)
        reason = f"no root of backward() depends on {them}" if is_input else f"no op uses {them}"
        return reason, f"Use {them} to compute the loss, or remove {them} from the optimiser."

    def stop_finding(self, place: StopSource, tensor: int, label: str, why: str, stay: str, freeze: str) -> Finding:
        """The finding for tensors behind a custom Function whose backward returns None."""
        stop = self.paths.stops[tensor]
        argument = f"its input {place.parameter}" if place.parameter else "one of its inputs"
        line = f" ({place.line})" if place.line else ""
        why += f" through the custom Function {place.function}, whose backward returns None for {argument}{line}."
        name = place.parameter or "that input"
        fix = f"Return the gradient of the loss with respect to {name} there instead of None. {freeze}"
        at = self.facts.ops[self.facts.op_at[stop.op.index]].id
        return Finding("unreached", stop.event, at, label, f"{why} {stay}.", fix, self.facts.line_number(stop.op.stack))

    def checkpoint_finding(self, tensor: int, label: str, why: str, them: str, stay: str) -> Finding:
        """The finding for tensors that only the function of a reentrant checkpoint uses."""
        op = self.facts.ops[self.checkpoints[tensor]]
        written_at = self.facts.code_at(op.event.stack)
        where = f", {written_at}," if written_at else ""
        why += (
            f": a checkpoint{where} uses {them} with use_reentrant=True. Such a checkpoint lets gradients through "
            f"only if one of its inputs requires a gradient, and here none does. {stay}."
        )
        fix = "Pass use_reentrant=False to checkpoint(), or call requires_grad_() on an input of the first checkpoint."
        return Finding("unreached", op.event.index, op.id, label, why, fix, self.facts.line_number(op.event.stack))

    def escape_finding(self, away: Escaped, tensors: list[int], label: str, why: str, stay: str) -> Finding:
        """The finding for tensors whose results leave the graph as plain numbers."""
        them = "them" if len(tensors) > 1 else "it"
        written_at = self.facts.code_at(away.stack)
        where = f" at {written_at}" if written_at else ""
        why += (
            f": the result computed with {them} leaves the graph{where} as {_AS[away.kind]}, which has no history, "
            f"so no gradient comes back. {stay}."
        )
        fix = f"Use the tensor itself to compute the loss; {away.kind}() is for looking at numbers."
        producer = self.facts.made_by(away.tensor, away.index)
        at = self.facts.ops[producer].id if producer is not None else f"t{tensors[0]}"
        event = self.facts.ops[producer].event.index if producer is not None else away.index
        return Finding("unreached", event, at, label, why, fix, self.facts.line_number(away.stack))

    def stale(self, missed: list[int], unused: int, is_apart: bool) -> Finding:
        """The finding for parameters that no optimiser holds; `is_apart` if it holds no other that gradients reach."""
        names, many = names_of(self.facts, missed), len(missed) > 1
        first = next(e for e in self.facts.trace.events if isinstance(e, Accumulated) and e.tensor == missed[0])
        calls = sum(isinstance(e, Accumulated) and e.tensor == missed[0] for e in self.facts.trace.events)
        others, cause = "only tensors that require no gradient", ""
        if unused:
            others = f"{text.count(unused, 'other tensor')} that nothing uses"
            cause = f" The optimiser was created before the model got {'these' if many else 'this one'}."
            if is_apart:
                cause = " The optimiser was created from another model, or from an earlier copy of this one."
        why = (
            f"{names} {'receive' if many else 'receives'} a gradient in {text.count(calls, 'backward call')}, but no "
            f"optimiser holds {'them' if many else 'it'}, while {self.optimizer} holds {others}, so the values never "
            f"change.{cause}"
        )
        fix = (
            "Create the optimiser after the last change to the model, or add the new parameters with add_param_group()."
        )
        if unused and is_apart:
            fix = "Create the optimiser from the parameters of the model that is trained, after creating that model."
        line = self.facts.line_number(self.facts.calls[first.call].event.stack)
        label = f"{self.facts.names.get(missed[0]) or 'a parameter'} is in no optimiser"
        if many:
            label = f"{len(missed)} parameters are in no optimiser"
        return Finding("unheld", first.index, f"t{missed[0]}", label, why, fix, line)


_UNKNOWN, _LEFT_OUT, _CONSTANT, _NO_PATH = "unknown", "left out of inputs=", "a constant of a gradient", "no path"
"""Causes without a line: there is a path, but nothing on it explains the missing gradient; each call lists other
tensors; only the quantity of which the program takes a gradient depends on it; there is no path from a root."""
_AS = {"item": "a Python number", "numpy": "an array", "tolist": "a list"}


_DETACHING = ("detach", "data")


def _why(op: OpFact) -> tuple[str, str]:
    """How an op cuts the backward path, and what to write instead."""
    if op.event.name in _DETACHING:
        return "cuts the path to the loss", f"Remove the {op.event.name}."
    if not all(is_float(out.dtype) for out in op.event.outputs):
        kind = "True or False" if op.event.outputs[0].dtype == "bool" else "a position"
        return f"returns {kind}, which has no derivative", "Compute the loss from a differentiable quantity."
    return "runs while gradients are switched off (no_grad)", "Compute it outside of no_grad()."
