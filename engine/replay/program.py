"""A trace read as a program: what is fixed, and the commands that a person may change.

Fixed are leaves, forward ops and flags, in their order; commands are the backward calls and the zeroing and setting of
gradients.  Edits are data: other values of leaves, another list of commands.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from ..trace.events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    DataSet,
    FlagChanged,
    GradSet,
    HookRan,
    LeafCreated,
    OpCalled,
    Refreshed,
    StatisticMoved,
    Trace,
    VjpRun,
    WrittenOutside,
)
from .user_code import Blocks

NONE_PASSED = "none"
"""The gradient of a command that passes none, whatever the program passes there."""


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user told autograd to do: `backward` (or `grad`), `zero` the gradient of a leaf, or `set` it.

    `after` is the index of the fixed event that it follows (-1: the start).  A command of the recording has its number
    in `base`; a new one has None.  `gradient` is None for the one recorded (or the implicit 1), "none" where none is
    passed, else nested lists; of several roots a list of these.
    """

    id: str
    kind: Literal["backward", "zero", "set"]
    after: int
    base: int | None = None
    roots: tuple[int, ...] = ()
    gradient: Any = None
    retain_graph: bool = False
    create_graph: bool = False
    inputs: tuple[int, ...] | None = None
    leaf: int | None = None


@dataclass(frozen=True, slots=True)
class Edits:
    """The changes of a revision: values of leaves by tensor id, and the list of commands (None: as recorded)."""

    leaves: Mapping[int, Any] = field(default_factory=dict)
    commands: tuple[Command, ...] | None = None

    def key(self) -> str:
        """A short name of these edits: equal edits, equal key."""
        return hashlib.sha256(json.dumps(self.as_json(), sort_keys=True).encode()).hexdigest()[:16]

    def as_json(self) -> dict[str, Any]:
        """The edits as JSON, the form in which the browser holds them."""
        entries = None if self.commands is None else [_command_json(c) for c in self.commands]
        return {"leaves": {str(k): v for k, v in self.leaves.items()}, "commands": entries}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Edits:
        """Edits from JSON.  Raises ValueError that says what was expected and found."""
        try:
            leaves = {int(k): v for k, v in (data.get("leaves") or {}).items()}
            entries = data.get("commands")
            commands = None if entries is None else tuple(_command_from(c) for c in entries)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"edits should be {{leaves, commands}} as in docs/scene-format.md; found {error!r}"
            ) from None
        return cls(leaves, commands)


def _command_json(c: Command) -> dict[str, Any]:
    return {
        "id": c.id, "kind": c.kind, "after": c.after, "base": c.base, "roots": list(c.roots), "gradient": c.gradient,
        "retain_graph": c.retain_graph, "create_graph": c.create_graph,
        "inputs": None if c.inputs is None else list(c.inputs), "leaf": c.leaf,
    }  # fmt: skip


def _command_from(data: Mapping[str, Any]) -> Command:
    if data["kind"] not in ("backward", "zero", "set"):
        raise ValueError(f"command kind {data['kind']!r}")
    inputs = data.get("inputs")
    return Command(
        str(data["id"]), data["kind"], int(data["after"]), data.get("base"), tuple(data.get("roots") or ()),
        data.get("gradient"), bool(data.get("retain_graph")), bool(data.get("create_graph")),
        None if inputs is None else tuple(inputs), data.get("leaf"),
    )  # fmt: skip


def given_numbers(trace: Trace, leaves: Mapping[int, Any]) -> dict[int, OpCalled]:
    """Of edited leaves those that an op computes, as in `(x * 2).requires_grad_()`, by tensor: they get their numbers
    in its place.  Raises ValueError for what is no leaf of the program.
    """
    created = {event.tensor for event in trace.events if isinstance(event, LeafCreated)}
    tensors = leaves.keys() - created
    makers: dict[int, OpCalled] = {}
    with_grad = set()
    for event in trace.events if tensors else ():
        if isinstance(event, OpCalled):
            for out in event.outputs:
                makers.setdefault(out.tensor, event)
        elif isinstance(event, FlagChanged) and event.flag == "requires_grad" and event.value:
            with_grad.add(event.tensor)
    for tensor in sorted(tensors):
        name, op = trace.names.get(tensor, f"tensor {tensor}"), makers.get(tensor)
        if op is None:
            raise ValueError(
                f"only the values of a leaf can be edited, and the program makes no tensor with the number {tensor}"
            )
        if tensor not in with_grad or op.node is not None or op.call is not None:
            what = f"only the values of a leaf can be edited, and {name} is computed by {op.name}"
            raise ValueError(f"{what}: edit a leaf from which it is computed")
        if len(op.outputs) > 1:
            what = (
                f"only the values of a leaf can be edited, and {name} is one of {len(op.outputs)} results of {op.name}"
            )
            raise ValueError(f"{what}: write {name}.clone().requires_grad_() in the program, and run it again")
    return {tensor: makers[tensor] for tensor in tensors}


def gradient_tensors(trace: Trace) -> dict[int, int]:
    """The tensors that are some leaf's `.grad`, with the leaf."""
    leaves = {e.grad: e.tensor for e in trace.events if isinstance(e, Accumulated)}
    leaves.update({e.grad: e.tensor for e in trace.events if isinstance(e, LeafCreated) and e.grad is not None})
    leaves.update({e.source: e.tensor for e in trace.events if isinstance(e, GradSet) and e.source is not None})
    return leaves


def commands(trace: Trace) -> tuple[Command, ...]:
    """The commands of a recording, in order."""
    return tuple(action for _, action in program(trace) if isinstance(action, Command))


def program(trace: Trace) -> list[tuple[int, AnyEvent | Command]]:
    """(event index, action) of everything that the program did: fixed events and commands, in order."""
    holders = gradient_tensors(trace)
    blocks = Blocks(trace.events)
    actions: list[tuple[int, AnyEvent | Command]] = []
    after, number, depth = -1, 0, 0
    for event in trace.events:
        if isinstance(event, (BackwardStarted, CodeEntered)):  # what code of a Function does is part of its call
            depth += 1
            if depth == 1 and (event.index in blocks.loose or event.index in blocks.packs):
                actions.append((event.index, event))
                after = event.index
            elif depth == 1 and isinstance(event, BackwardStarted):
                actions.append((event.index, backward_command(event, after, number)))
                number += 1
        elif isinstance(event, (BackwardEnded, CodeLeft)):
            depth -= 1
        elif depth or (
            isinstance(event, (VjpRun, Accumulated, HookRan, Refreshed))
            and not isinstance(event, (WrittenOutside, DataSet, StatisticMoved))
        ):
            continue
        elif isinstance(event, OpCalled) and event.inplace in holders:
            command = Command(f"c{number}", "zero", after, event.index, leaf=holders[event.inplace])
            actions.append((event.index, command))
            number += 1
        elif isinstance(event, GradSet):
            actions.append((event.index, Command(f"c{number}", "set", after, event.index, leaf=event.tensor)))
            number += 1
        else:
            after = event.index
            actions.append((event.index, event))
    return actions


def backward_command(event: BackwardStarted, after: int, number: int) -> Command:
    return Command(
        f"c{number}", "backward", after, event.index, tuple(r.tensor for r in event.roots), None,
        event.retain_graph, event.create_graph, event.inputs,
    )  # fmt: skip


def calls_of(events: Sequence[AnyEvent]) -> dict[int, list[AnyEvent]]:
    """The events of each backward call, from its start to its end; with those of the calls that run inside of it."""
    groups: dict[int, list[AnyEvent]] = {}
    running: list[int] = []
    for event in events:
        if isinstance(event, BackwardStarted):
            running.append(event.call)
            groups[event.call] = []
        for call in running:
            groups[call].append(event)
        if isinstance(event, BackwardEnded) and running:
            running.pop()
    return groups
