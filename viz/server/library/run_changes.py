"""Edits of a section as changes of the whole program, and whether the rest of its run is as recorded."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from engine.replay.program import NONE_PASSED, Command, Edits, commands
from engine.replay.run import fitted
from engine.trace.events import AnyEvent, BackwardStarted, LeafCreated, OpCalled, Trace
from viz.reading.comparison import value_difference
from viz.reading.text import rough
from viz.record.torch.changes import AS_IS
from viz.run.run import Run

COMPARED = 20_000
"""Events before the change that are compared with the recording."""
OWN_SOURCES = frozenset(
    {"parameter", "buffer", "rand", "randn", "randint", "randperm", "normal", "uniform", "bernoulli"}
)
"""Leaves that no edit elsewhere changes; other numbers in them are other random numbers."""


class RunEditError(ValueError):
    """Raised if an edit cannot be made in a run of the program; the text says why."""


def leaf_values(run: Run, section: int, base: Trace, edits: Edits) -> dict[int, Any]:
    """The values of edited leaves, by the event of the whole recording that made the leaf."""
    if not edits.leaves:
        return {}
    leaves = {event.tensor: event for event in base.events if isinstance(event, LeafCreated)}
    tensors = run.tensors(section)
    changed = {}
    for tensor, values in edits.leaves.items():
        leaf = leaves.get(tensor)
        name = base.names.get(tensor, "The edited tensor")
        if leaf is None:
            raise RunEditError(
                f"{name} is computed by an op; only values of leaves can be changed in a run of the program."
            )
        creation = int(run.outline.born[tensors[tensor]])
        event = run.whole.events[creation]
        is_before = run.is_divided and creation < run.sections[section].start
        same = (
            isinstance(event, LeafCreated)
            and value_difference(base.value(leaf.value), run.whole.value(event.value)) == 0.0
        )
        if not isinstance(event, LeafCreated) or (is_before and (section or not same)):
            raise RunEditError(f"{name} comes from an earlier iteration: edit it in the iteration that makes it.")
        changed[creation] = fitted(values, leaf.shape, leaf.dtype, name).tolist()
    return changed


def by_number(run: Run, leaves: Mapping[int, Any]) -> dict[int, Any]:
    """The values of edited leaves by the number of the leaf, as the recorder counts them."""
    order = run.outline.where(LeafCreated)
    return {int(np.searchsorted(order, at)): values for at, values in leaves.items()}


def by_call(run: Run, calls: Mapping[int, Any]) -> dict[int, Any]:
    """The arguments of edited calls by the number of the call."""
    starts = ((run.whole.events[at], one) for at, one in calls.items())
    return {event.call: one for event, one in starts if isinstance(event, BackwardStarted)}


def call_arguments(run: Run, section: int, base: Trace, edits: Edits) -> dict[int, dict[str, Any]]:
    """The arguments of edited backward calls, by the event of the whole recording with which the call began."""
    if edits.commands is None:
        return {}
    recorded = commands(base)
    if [(one.id, _fixed(one)) for one in recorded] != [(one.id, _fixed(one)) for one in edits.commands]:
        raise RunEditError(
            "When the program runs again, only the gradients and flags of its backward calls and the values of leaves "
            "can be changed. To add, remove or move calls, change the script."
        )
    starts = run.outline.where(BackwardStarted)
    first = int(np.searchsorted(starts, run.sections[section].start)) if run.is_divided else 0
    here = [event.index for event in base.events if isinstance(event, BackwardStarted)]
    arguments = {}
    for was, now in zip(recorded, edits.commands, strict=True):
        if was.kind != "backward" or was == now or was.base is None:
            continue
        event = base.events[was.base]
        assert isinstance(event, BackwardStarted)
        arguments[int(starts[first + here.index(was.base)])] = {
            "gradients": AS_IS if now.gradient is None else list(_gradients(base, event, now)),
            "retain_graph": now.retain_graph, "create_graph": now.create_graph,
        }  # fmt: skip
    return arguments


def _fixed(command: Command) -> tuple[Any, ...]:
    """The parts of a command that a run of the program cannot change."""
    return command.kind, command.after, command.base, command.roots, command.inputs, command.leaf


def _gradients(base: Trace, event: BackwardStarted, command: Command) -> Iterator[Any]:
    """One gradient per root, as nested lists."""
    gradients = [command.gradient] if len(event.roots) == 1 else command.gradient
    for root, numbers in zip(event.roots, gradients, strict=True):
        value = base.value(root.gradient)
        yield None if numbers == NONE_PASSED else fitted(numbers, value.shape, value.dtype, "gradient").tolist()


def difference_elsewhere(run: Run, again: Trace, first: int, edited: set[int]) -> str:
    """How a new run differs from the recording where the edit does not reach, in a sentence; "" if it does not.

    It compares the events before the `first` change, and the random numbers and parameters that the run begins with.
    """
    whole = run.whole
    for at in range(max(0, first - COMPARED), min(first, len(again.events))):
        before, after = whole.events[at], again.events[at]
        if _outline(before) != _outline(after):
            return "The program took another path even before the edit, so more than the edit differs."
        difference = _differs(whole, again, before, after)
        if difference:
            return f"{difference} before the edit: the program does not compute the same numbers each time it runs."
    there = [event for event in again.events if isinstance(event, LeafCreated)]
    here = [whole.events[int(at)] for at in run.outline.where(LeafCreated)]
    for before, after in zip(here, there, strict=False):
        if (
            not isinstance(before, LeafCreated)  # it is damaged in its file
            or before.index < first
            or before.index in edited
            or before.source not in OWN_SOURCES
            or before.source != after.source
        ):
            continue
        difference = _differs(whole, again, before, after)
        if difference:
            return (
                f"{difference}: the program draws different random numbers each time it runs. A fixed seed makes runs "
                "comparable."
            )
    return ""


def _outline(event: AnyEvent) -> tuple[Any, ...]:
    if isinstance(event, OpCalled):
        return OpCalled, event.name, tuple(out.tensor for out in event.outputs)
    return type(event), getattr(event, "tensor", None)


def _differs(whole: Trace, again: Trace, before: AnyEvent, after: AnyEvent) -> str:
    """The first value of an event that is not the recorded one, to the last bit; "" if there is none."""
    if isinstance(before, OpCalled) and isinstance(after, OpCalled):
        pairs = [(a.value, b.value, a.tensor) for a, b in zip(before.outputs, after.outputs, strict=False)]
    elif isinstance(before, LeafCreated) and isinstance(after, LeafCreated):
        pairs = [(before.value, after.value, before.tensor)]
    else:
        return ""
    for mine, its, tensor in pairs:
        difference = value_difference(whole.value(mine), again.value(its))
        if difference:
            name = whole.names.get(tensor, "A value")
            much = difference if isinstance(difference, str) else f"differs from the recording by {rough(difference)}"
            return f"{name} {much}"
    return ""
