"""Parameters that a module uses and does not list, as of layers in a plain list: no optimiser gets them.  Pure."""

from __future__ import annotations

from engine.trace.events import Accumulated, GroupEntered, GroupLeft, LeafCreated, OpCalled, Refreshed

from ..reading import text
from ..reading.facts import Facts
from ..reading.source_text import source
from .finding import Finding
from .unreached import MOST_NAMED, in_optimisers


def unlisted(facts: Facts) -> list[Finding]:
    """One finding for leaves that a module met only while it ran, that receive gradients, and that nothing trains.

    What a module lists is known before it runs.  A leaf that no optimiser of the program holds may be trained by hand:
    what is written in place is no finding.  Cost: linear in the events.
    """
    held = in_optimisers(facts)
    if not held.known or facts.errors:
        return []
    met: dict[int, str] = {}
    around: list[str] = []
    trained: set[int | None] = set(held.known)
    reached: dict[int, int] = {}
    for event in facts.trace.events:
        if isinstance(event, GroupEntered):
            around.append("" if event.kind.endswith(".step") else event.name)
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
    lost = [tensor for tensor in met if tensor in reached and tensor not in trained]
    return [_finding(facts, lost, met[lost[0]], held.name)] if lost else []


def _finding(facts: Facts, tensors: list[int], module: str, optimizer: str) -> Finding:
    known = list(dict.fromkeys(facts.name(tensor) or "a parameter without a name" for tensor in tensors))
    names = text.join(known) if len(known) <= MOST_NAMED else f"{known[0]} and others"
    op = next(uses[0][0] for t in tensors if (uses := facts.uses.get((t, facts.tensors[t].first))))
    used = facts.ops[op]
    frame = facts.frame(used.event.stack)
    where = f" in `{source(facts.trace, frame, 48)}` ({facts.line(frame)})" if frame is not None else ""
    many = len(tensors) > 1
    them, stay = ("them", "they never change") if many else ("it", "it never changes")
    why = (
        f"{module} uses {names}{where}, and gradients reach {them}. But {module} does not list {them} among its "
        f"parameters, so {optimizer} does not hold {them}: {stay}."
    )
    fix = (
        "Keep layers in nn.ModuleList or nn.ModuleDict, and single parameters in nn.ParameterList: a module does not "
        "look into a plain list."
    )
    label = f"{len(tensors)} parameters are in no optimiser" if many else f"{known[0]} is in no optimiser"
    line = frame.line if frame is not None else None
    return Finding("unlisted", used.event.index, used.id, label, why, fix, line)
