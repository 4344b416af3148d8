"""User code that the engine called: which of its ops are drawn, and how the others are described.

What a hook or a custom Function computes without a graph is arithmetic inside of a step: it has no place in the
drawing, and stands in the words of that step.  What takes part in a graph there, or writes a tensor of the program's,
is drawn.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

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
class Ran:
    """One call of such code, the `ops` that it ran unseen, and what its gradients were `turned` into."""

    entered: CodeEntered
    ops: list[OpCalled] = field(default_factory=list)
    turned: list[HookRan] = field(default_factory=list)


@dataclass(slots=True)
class OwnCode:
    """`hidden` are the events of ops that are not drawn, `at` what ran in the step of an event, `values` what the
    hidden ops gave, by tensor, `made` the tensors that such code makes of nothing."""

    hidden: set[int] = field(default_factory=set)
    at: dict[int, list[Ran]] = field(default_factory=dict)
    values: dict[int, int] = field(default_factory=dict)
    made: set[int] = field(default_factory=set)


def own_code(events: Iterable[AnyEvent]) -> OwnCode:
    """Read what code of the program's own did.  Cost: linear in the events."""
    own = OwnCode()
    open_: list[Ran] = []
    graphs: set[int] = set()  # calls that make a graph: what runs in their course is drawn
    waiting: list[Ran] = []
    latest: OpCalled | None = None
    makers: dict[int, tuple[Ran, OpCalled]] = {}
    for event in events:
        if isinstance(event, BackwardStarted) and event.create_graph:
            graphs.add(event.call)
        elif isinstance(event, CodeEntered):
            open_.append(Ran(event))
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
            own.made.add(event.tensor)
        elif isinstance(event, FlagChanged) and event.flag == "requires_grad" and event.tensor in makers:
            ran, maker = makers[event.tensor]  # a leaf from now on, of a graph of the code's own
            own.hidden.discard(maker.index)
            ran.ops = [op for op in ran.ops if op is not maker]
        elif isinstance(event, HookRan) and waiting:
            waiting[-1].turned.append(event)
        elif isinstance(event, (VjpRun, Accumulated, ErrorRaised, OpCalled)):
            if isinstance(event, OpCalled):
                latest = event
                if event.name != "custom_function":
                    continue
            if waiting:
                own.at[event.index] = waiting
            waiting = []
        elif isinstance(event, BackwardEnded):
            waiting = []
    return own


def _is_hidden(event: OpCalled, around: list[Ran], found: OwnCode, graphs: set[int]) -> bool:
    """Whether an op is part of its step only.  What runs after an accumulation is the program's, as an update is."""
    places = {ran.entered.place for ran in around}
    if event.node is not None or places == {"accumulated"} or (event.call in graphs and "forward" not in places):
        return False
    return event.inplace is None or event.inplace in found.values or "forward" in places
