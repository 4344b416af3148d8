"""User code that the engine called: which of its ops are drawn, and how the others are described.

Ops that a hook or a custom Function runs without a graph are arithmetic inside of a step: they are not drawn, and
appear in the words of that step. Ops that are part of a graph, or write a tensor of the program, are drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from engine.ops.op import CUSTOM
from engine.trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    ErrorRaised,
    FlagChanged,
    HookRan,
    LeafCreated,
    OpCalled,
    VjpRun,
)


@dataclass(slots=True)
class OwnCall:
    """One call of such code, the `ops` that it ran and that are not drawn, and the values into which its gradients were
    `turned`."""

    entered: CodeEntered
    ops: list[OpCalled] = field(default_factory=list)
    turned: list[HookRan] = field(default_factory=list)


@dataclass(slots=True)
class OwnCode:
    """`hidden` has the events of ops that are not drawn, `at` the calls in the step of an event, `values` the results
    of hidden ops, by tensor, `created` the tensors that such code creates."""

    hidden: set[int] = field(default_factory=set)
    at: dict[int, list[OwnCall]] = field(default_factory=dict)
    values: dict[int, int] = field(default_factory=dict)
    created: set[int] = field(default_factory=set)


def own_code(events: Iterable[AnyEvent]) -> OwnCode:
    """Read the calls of the program's own code. Cost: linear in the events."""
    own = OwnCode()
    open_: list[OwnCall] = []
    graphs: set[int] = set()  # calls that make a graph: ops in their course are drawn
    waiting: list[OwnCall] = []
    latest: OpCalled | None = None
    makers: dict[int, tuple[OwnCall, OpCalled]] = {}
    for event in events:
        if isinstance(event, BackwardStarted) and event.create_graph:
            graphs.add(event.call)
        elif isinstance(event, CodeEntered):
            open_.append(OwnCall(event))
        elif isinstance(event, CodeLeft) and open_:
            ran = open_.pop()
            if ran.entered.place == "pack" and latest is not None:
                own.at.setdefault(latest.index, []).append(ran)
            else:
                waiting.append(ran)
        elif isinstance(event, OpCalled) and open_ and _is_hidden(event, open_, own, graphs):
            own.hidden.add(event.index)
            own.values.update((out.tensor, out.value) for out in event.outputs)
            open_[-1].ops.append(event)
            makers.update((out.tensor, (open_[-1], event)) for out in event.outputs)
        elif isinstance(event, LeafCreated) and open_ and event.source != "gradient":
            own.created.add(event.tensor)
        elif isinstance(event, FlagChanged) and event.flag == "requires_grad" and event.tensor in makers:
            ran, maker = makers[event.tensor]  # a leaf from now on, of a graph of the code's own
            own.hidden.discard(maker.index)
            ran.ops = [op for op in ran.ops if op is not maker]
        elif isinstance(event, HookRan) and waiting:
            waiting[-1].turned.append(event)
        elif isinstance(event, (VjpRun, Accumulated, ErrorRaised, OpCalled)):
            if isinstance(event, OpCalled):
                latest = event
                if event.name != CUSTOM.name:
                    continue
            if waiting:
                own.at[event.index] = waiting
            waiting = []
        elif isinstance(event, BackwardEnded):
            waiting = []
    return own


def _is_hidden(event: OpCalled, around: list[OwnCall], own: OwnCode, graphs: set[int]) -> bool:
    """Return whether an op is only part of its step.

    Ops after an accumulation belong to the program, as an update does.
    """
    places = {ran.entered.place for ran in around}
    if event.node is not None or places == {"accumulated"} or (event.call in graphs and "forward" not in places):
        return False
    return event.inplace is None or event.inplace in own.values or "forward" in places
