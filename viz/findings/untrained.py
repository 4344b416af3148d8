"""Parameters that never learn, because no gradient reaches them or no optimiser holds them.  Pure."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from engine.arrays.element_types import is_float
from engine.trace.events import (
    Accumulated,
    BackwardStarted,
    Escaped,
    Frame,
    GradSet,
    GroupEntered,
    GroupLeft,
    LeafCreated,
    OpCalled,
    Refreshed,
)

from ..reading import labels, text
from ..reading.facts import Facts, OpFact
from ..reading.source_text import source
from .finding import Finding
from .gradient_stops import BackwardReach, StopSource

PLAIN = frozenset({"item", "numpy", "tolist"})
"""Calls that take numbers out of the graph, to Python or numpy, through which no gradient comes back."""
MOST_NAMED = 4
"""The most parameters that are named one by one; of more, the sentence names the first and counts the rest."""


def unreached(facts: Facts) -> list[Finding]:
    """One finding per place at which the path from the loss to parameters of an optimiser is cut.

    A parameter that requires no gradient is frozen on purpose, and one that no optimiser holds may be trained in
    another way: neither is a finding.  A program that stopped with an error may not have run the code that would reach
    them.  Cost: linear in the events.
    """
    holdings = _in_optimisers(facts)
    if not holdings.name or facts.errors:
        return []
    here = {e.tensor for e in facts.trace.events if isinstance(e, Accumulated) and not e.retained}
    reached = here | facts.elsewhere("taught")
    assigned = {e.tensor for e in facts.trace.events if isinstance(e, GradSet) and e.value is not None}
    if not here:
        return []
    search = _Reachability(facts, holdings.name)
    causes: dict[object, list[int]] = {}
    for tensor in holdings.tensors:
        if tensor not in reached and tensor not in assigned and tensor in facts.tensors:
            causes.setdefault(search.cause(tensor), []).append(tensor)
    result = [finding for tensors in causes.values() if (finding := search.finding(tensors)) is not None]
    missed = _untrained_parameters(facts, holdings, here)
    unused = holdings.unknown + len(causes.get(_NO_PATH, ()))
    holds_none = not holdings.tensors and not holdings.unknown
    return [*result, search.stale(missed, unused)] if missed and (unused or holds_none) else result


def unlisted(facts: Facts) -> list[Finding]:
    """One finding for leaves that a module uses without listing them, that receive gradients, and that nothing trains.

    The parameters that a module lists are known before it runs.  A leaf that no optimiser holds may be trained by hand,
    so one that is written in place is not a finding; nor is an input of which the loss has derivatives, as the
    coordinates of a physics-informed network.  Cost: linear in the events.
    """
    holdings = _in_optimisers(facts)
    if not holdings.tensors or facts.errors:
        return []
    met: dict[int, str] = {}
    around: list[str] = []
    trained: set[int | None] = set(holdings.tensors)
    reached: dict[int, int] = {}
    for event in facts.trace.events:
        if isinstance(event, GroupEntered):
            around.append("" if event.optimizer else event.name)
        elif isinstance(event, GroupLeft) and around:
            around.pop()
        elif isinstance(event, LeafCreated):
            if around and around[0] and event.requires_grad and event.source in ("seen", "parameter"):
                met[event.tensor] = around[0]
        elif isinstance(event, OpCalled):
            trained.add(event.inplace)
        elif isinstance(event, Refreshed):
            trained.add(event.tensor)
        elif isinstance(event, Accumulated):
            reached.setdefault(event.tensor, event.index)
        elif isinstance(event, BackwardStarted) and event.create_graph:
            trained.update(event.inputs or ())
    lost = [tensor for tensor in met if tensor in reached and tensor not in trained]
    return [_unlisted_finding(facts, lost, met[lost[0]], holdings.name)] if lost else []


@dataclass(slots=True)
class _OptimizerTensors:
    """The tensors that require a gradient and that optimisers hold, in order, the number of others that nothing uses,
    the class of the first optimiser that took a step, and the last of their events."""

    tensors: dict[int, None] = field(default_factory=dict)
    unknown: int = 0
    name: str = ""
    last: int = -1


def _in_optimisers(facts: Facts) -> _OptimizerTensors:
    holdings, last = _OptimizerTensors(), {}
    for event in facts.trace.events:
        if isinstance(event, GroupEntered) and (event.tensors or event.optimizer):
            holdings.name, holdings.last = holdings.name or event.optimizer or event.kind, event.index
            holdings.tensors.update(dict.fromkeys(t for t in event.tensors if t is not None))
            if event.tensors:
                last[event.kind, event.stack] = sum(t is None for t in event.tensors)
    holdings.unknown = sum(last.values())
    return holdings


def _untrained_parameters(facts: Facts, holdings: _OptimizerTensors, reached: set[int]) -> list[int]:
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


def names_of(facts: Facts, tensors: Sequence[int]) -> str:
    """The names of parameters; of many, the first and the number of the others."""
    names = [facts.names.get(tensor) or "a parameter without a name" for tensor in tensors]
    return text.join(names) if len(names) <= MOST_NAMED else f"{names[0]} and {len(names) - 1} more parameters"


class _Reachability:
    """Follows tensors forward to the op that cuts them off, and the loss back to everything it was computed from."""

    def __init__(self, facts: Facts, optimizer: str) -> None:
        self.facts = facts
        self.optimizer = optimizer
        self.inputs = {argument.tensor for op in facts.ops if op.event.call is None for argument in op.event.inputs}
        self.ahead, self.behind = self._behind_roots()
        self.paths = BackwardReach(facts)
        self.cuts = self._cuts()
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

    def first_gradient(self, tensors: list[int]) -> Accumulated:
        """The first gradient that reaches another leaf after one of the tensors is used; the first of all otherwise."""
        uses = (op.event.index for op in self.facts.ops if any(i.tensor in tensors for i in op.event.inputs))
        start = next(uses, -1)
        gradients = [e for e in self.facts.trace.events if isinstance(e, Accumulated)]
        return next((e for e in gradients if e.index > start), gradients[0])

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

    def stale(self, missed: list[int], unused: int) -> Finding:
        names, many = names_of(self.facts, missed), len(missed) > 1
        first = next(e for e in self.facts.trace.events if isinstance(e, Accumulated) and e.tensor == missed[0])
        calls = sum(isinstance(e, Accumulated) and e.tensor == missed[0] for e in self.facts.trace.events)
        others, cause = "only tensors that require no gradient", ""
        if unused:
            others = f"{text.count(unused, 'other tensor')} that nothing uses"
            cause = f" The optimiser was created before the model got {'these' if many else 'this one'}."
        why = (
            f"{names} {'receive' if many else 'receives'} a gradient in {text.count(calls, 'backward call')}, but no "
            f"optimiser holds {'them' if many else 'it'}, while {self.optimizer} holds {others}, so the values never "
            f"change.{cause}"
        )
        fix = (
            "Create the optimiser after the last change to the model, or add the new parameters with add_param_group()."
        )
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


def _unlisted_finding(facts: Facts, tensors: list[int], module: str, optimizer: str) -> Finding:
    all_names = list(dict.fromkeys(facts.names.get(tensor) or "a parameter without a name" for tensor in tensors))
    op = next(uses[0][0] for t in tensors if (uses := facts.uses.get((t, facts.tensors[t].first))))
    op_fact = facts.ops[op]
    frame = facts.frames.get(op_fact.event.stack)
    names = text.join(all_names) if len(all_names) <= MOST_NAMED else f"{all_names[0]} and others"
    assignment = _assignment_in_forward(facts, frame, set(all_names)) if frame is not None else None
    count = len(tensors) if assignment is None else len(all_names)  # each call has its own
    them, stay = ("them", "they never change") if count > 1 else ("it", "it never changes")
    why = f"does not list {them} among its parameters, so {optimizer} does not hold {them}: {stay}."
    fix = (
        "Keep layers in nn.ModuleList or nn.ModuleDict, and single parameters in nn.ParameterList: a module does not "
        "look into a plain list."
    )
    if frame is not None:
        at = f"in `{source(facts.trace, frame, 48)}` ({facts.line(frame)})"
        names = f"{_used_at(facts, tensors, frame) if assignment is None else names} {at}"
    if frame is not None and assignment is not None:
        why = (
            f"creates {them} again in each call, in {facts.line(replace(frame, line=assignment))}, with new initial "
            f"values, and {optimizer} does not hold {them}: nothing that {'they learn' if count > 1 else 'it learns'} "
            "is kept."
        )
        fix = f"Create {them} once, in `__init__`, before the optimiser is created."
    why = f"{module} uses {names}, and gradients reach {them}. But {module} {why}"
    label = f"{count} parameters are in no optimiser" if count > 1 else f"{all_names[0]} is in no optimiser"
    line = facts.line_number(op_fact.event.stack)
    return Finding("unlisted", op_fact.event.index, op_fact.id, label, why, fix, line)


def _assignment_in_forward(facts: Facts, frame: Frame, names: set[str]) -> int | None:
    """The line of the call at a frame's function that creates all leaves of these names; None if there is none.

    It assigns a layer to the variable `head` of `head.weight`, or a parameter to the attribute `scale` of `net.scale`.
    """
    function = facts.sources.function(frame)
    for node in ast.walk(function) if function is not None and function.name != "__init__" else ():
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            kind = ast.unparse(node.value.func).rsplit(".", 1)[-1]
            match node.targets[0]:
                case ast.Name(id=variable) if kind[:1].isupper():
                    created = {name for name in names if name == variable or name.startswith(f"{variable}.")}
                case ast.Attribute(value=ast.Name(id="self"), attr=variable) if kind[:1].isupper():
                    created = {name for name in names if variable in name.split(".")[1:]}
                case _:
                    continue
            if created == names:
                return node.lineno
    return None


def _used_at(facts: Facts, tensors: list[int], frame: Frame) -> str:
    """Parameters by their names, if they are few and the expression at a frame uses all of them; else their number, and
    the names of those that it uses."""
    there = [
        tensor for tensor in tensors
        if any(
            facts.frames.get(facts.ops[op].event.stack) == frame
            for op, _ in facts.uses.get((tensor, facts.tensors[tensor].first), ())
        )
    ]  # fmt: skip
    names = [name for tensor in there if (name := facts.names.get(tensor))]
    unique = [name for name in dict.fromkeys(names) if "." in name or names.count(name) == 1][:MOST_NAMED]
    if len(unique) == len(tensors):
        return text.join(unique)
    among = f", among them {text.join(unique)}" if unique else ", some of them" if len(there) < len(tensors) else ""
    return f"{text.count(len(tensors), 'parameter')}{among}"
