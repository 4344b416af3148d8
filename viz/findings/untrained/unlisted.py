"""Leaves that a module uses without listing them, so that no optimiser holds them.  Pure."""

from __future__ import annotations

import ast
from dataclasses import replace

from engine.trace.events import (
    Accumulated,
    BackwardStarted,
    FlagChanged,
    Frame,
    GroupEntered,
    GroupLeft,
    LeafCreated,
    OpCalled,
    Refreshed,
)

from ...reading import text
from ...reading.facts import Facts
from ...reading.source_text import source
from ..finding import Finding
from .parameters import MOST_NAMED, optimizer_tensors


def unlisted(facts: Facts) -> list[Finding]:
    """One finding for leaves that a module uses without listing them, that receive gradients, and that nothing trains.

    Cost: linear in the events.
    """
    lost = unlisted_leaves(facts)
    return [_unlisted_finding(facts, lost)] if lost else []


def unlisted_leaves(facts: Facts) -> dict[int, str]:
    """The leaves of that finding, each with the name of the module that uses it first.

    The parameters that a module lists are known before it runs.  A leaf that no optimiser holds may be trained by hand,
    so one that is written in place is not among them; nor is an input of which the loss has derivatives, as the
    coordinates of a physics-informed network.
    """
    holdings = optimizer_tensors(facts)
    if not holdings.tensors or facts.errors:
        return {}
    met: dict[int, str] = {}
    constants: dict[int, str] = {}  # the data of which the engine's nn.Parameter makes a parameter
    around: list[str] = []
    trained: set[int | None] = set(holdings.tensors)
    reached: set[int] = set()
    for event in facts.trace.events:
        if isinstance(event, GroupEntered):
            around.append("" if event.optimizer else event.name)
        elif isinstance(event, GroupLeft) and around:
            around.pop()
        elif isinstance(event, LeafCreated):
            if around and around[0] and event.requires_grad and event.source in ("seen", "parameter"):
                met[event.tensor] = around[0]
            elif around and around[0] and facts.names.get(event.tensor, "").startswith(f"{around[0]}."):
                constants[event.tensor] = around[0]
        elif isinstance(event, FlagChanged):
            if event.tensor in constants and event.flag == "requires_grad" and event.value:
                met[event.tensor] = constants[event.tensor]
        elif isinstance(event, OpCalled):
            trained.add(event.inplace)
        elif isinstance(event, Refreshed):
            trained.add(event.tensor)
        elif isinstance(event, Accumulated):
            reached.add(event.tensor)
        elif isinstance(event, BackwardStarted) and event.create_graph:
            trained.update(event.inputs or ())
    return {tensor: module for tensor, module in met.items() if tensor in reached and tensor not in trained}


def _unlisted_finding(facts: Facts, lost: dict[int, str]) -> Finding:
    tensors, module, optimizer = list(lost), next(iter(lost.values())), optimizer_tensors(facts).name
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
