"""What a replay runs in place of code of the user's: functions that answer as the recording did.

The forward and backward of a custom Function, and hooks, are not in a trace; what they were given and what they
returned is.  A stand-in returns that again where it is given the same, and raises a doubt where it is not.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from . import errors
from .array import xp
from .autograd.function import Function
from .mode import mode
from .ops.inplace import retake
from .tensor import Tensor
from .trace import (
    AnyEvent,
    ErrorRaised,
    Escaped,
    FlagChanged,
    GradSet,
    HookRan,
    LeafCreated,
    ModeChanged,
    OpCalled,
    Refreshed,
    Trace,
    VjpRun,
)

NOT_RECORDED = (
    "the recording has no gradient of {}: its backward is the program's own code, which a replay does not run. Add "
    "this backward call to the program, and record it again."
)


def same_bits(a: Any, b: Any) -> bool:
    """Whether two arrays are equal, bit for bit."""
    return a.shape == b.shape and a.dtype == b.dtype and bool(xp.asarray(a).tobytes() == xp.asarray(b).tobytes())


class StandIns:
    """The stand-ins of one replay; `doubt` is called where one was given something else than in the recording."""

    def __init__(self, base: Trace, doubt: Callable[[], None]) -> None:
        self.base = base
        self.doubt = doubt
        self.runs: dict[int, list[VjpRun]] = {}  # by node
        for event in base.events:
            if isinstance(event, VjpRun):
                self.runs.setdefault(event.node, []).append(event)
        self.group: Sequence[AnyEvent] = ()
        """The events of the backward call that is run again."""

    def array(self, index: int | None) -> Any:
        """A recorded value; raises ValueError where it was too large to be kept."""
        if index is None:
            return None
        kept = self.base.value(index)
        if kept.array is None:
            raise ValueError(f"a value of shape {list(kept.shape)} was recorded as a sample only: record with a higher "
                             "limit")  # fmt: skip
        return xp.array(kept.array)

    def function(self, event: OpCalled, live: Mapping[int, Tensor]) -> Any:
        """The Function of a recorded call: it returns what was recorded, of forward and of backward."""
        name = str(event.attrs["function"])
        outputs = [self.array(out.value) for out in event.outputs]

        def forward(ctx: Any, *given: Tensor) -> tuple[Tensor, ...]:
            made = [self.output(event, nr, data, given, ctx) for nr, data in enumerate(outputs)]
            ctx.set_materialize_grads(False)
            if event.node is not None:
                ctx.save_for_backward(*self.saved(event, made, live))
            return tuple(made)

        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            return self.cotangents(event, ctx, gradients)

        return type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})

    def output(self, event: OpCalled, nr: int, data: Any, given: Sequence[Tensor], ctx: Any) -> Tensor:
        """One output of forward: an input that was written or returned as it was, or the recorded value."""
        out = event.outputs[nr]
        place = next((i for i, argument in enumerate(event.inputs) if argument.tensor == out.tensor), None)
        if place is not None:
            tensor = given[place]
            tensor._array[...] = data
            tensor._storage.version += out.version - event.inputs[place].version - 1  # marking it counts as one
            ctx.mark_dirty(tensor)
            return tensor
        for argument, tensor in zip(event.inputs, given, strict=True):
            if argument.tensor == out.view_of and tensor._array.shape == data.shape:
                return tensor
        made = Tensor(data)
        if out.version:  # forward wrote it before it was returned
            made._storage.version = out.version
        if event.node is not None and not out.requires_grad:
            ctx.mark_non_differentiable(*ctx.non_differentiable, made)
        return made

    def saved(self, event: OpCalled, made: Sequence[Tensor], live: Mapping[int, Tensor]) -> list[Tensor]:
        """What forward saved: inputs, outputs, and what else it computed."""
        numbers = {out.tensor: tensor for out, tensor in zip(event.outputs, made, strict=True)}
        found = []
        for item in event.node.saved if event.node is not None else ():
            known = None if item.tensor is None else numbers.get(item.tensor, live.get(item.tensor))
            found.append(Tensor(self.array(item.value)) if known is None else known)
        return found

    def cotangents(self, event: OpCalled, ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """What backward returned for these upstream gradients."""
        record, path = self.runner(event)
        if record is None:
            return (None,) * len(event.inputs)
        if record.saved:
            _ = ctx.saved_tensors  # raises where they were freed, as the user's own backward did
        runs = [e for e in self.group if isinstance(e, VjpRun) and e.node == record.node]
        failed = next((e for e in self.group if isinstance(e, ErrorRaised) and e.node == record.node), None)
        if not runs and failed is not None:
            raise rebuilt(failed)
        runs += self.runs.get(record.node, ())
        if not runs:
            self.doubt()
            raise errors.runtime(NOT_RECORDED.format(record.name))
        run = next((e for e in runs if self.equal(e.upstream, gradients, path)), None)
        if run is None:
            self.doubt()
            run = runs[0]
        if mode.enabled:  # what was recorded is returned, without the graph that the user's code made of it
            self.doubt()
        places = [whole if whole is not None else own for whole, own in zip(run.unsummed, run.cotangents, strict=True)]
        found = [None if place is None else self.array(place) for place in places]
        if path and found[0] is not None:
            found[0] = part(found[0], path)
        return tuple(None if data is None else Tensor(data) for data in found)

    def runner(self, event: OpCalled) -> tuple[Any, Any]:
        """The node whose runs tell of backward: the Function's own, or the base's where forward wrote a view (then with
        the part of the base that it is)."""
        after = self.base.events[event.index + 1] if event.index + 1 < len(self.base.events) else None
        if event.inplace is not None and isinstance(after, OpCalled) and "writer" in after.attrs:
            return after.node, after.attrs["path"]
        return event.node, ()

    def tensor_hook(self, event: HookRan) -> Any:
        """What stands for a hook on a tensor."""

        def hook(gradient: Tensor) -> Tensor | None:
            if mode.enabled:
                self.doubt()
            if self.equal((event.before,), (gradient,), ()):
                return Tensor(self.array(event.after))
            self.doubt()
            return None

        return hook

    def node_hook(self, event: HookRan) -> Any:
        """What stands for a hook before or after a node, for one of its gradients."""

        def hook(gradients: tuple[Any, ...], upstream: tuple[Any, ...] = ()) -> tuple[Any, ...] | None:
            if not self.equal((event.before,), (gradients[event.nr],), ()):
                self.doubt()
                return None
            after = None if event.after is None else Tensor(self.array(event.after))
            return tuple(after if nr == event.nr else gradient for nr, gradient in enumerate(gradients))

        return hook

    def equal(self, recorded: Sequence[int | None], gradients: Sequence[Any], path: Any) -> bool:
        """Whether gradients are those of the recording."""
        for index, gradient in zip(recorded, gradients, strict=True):
            if (index is None) != (gradient is None):
                return False
            if index is not None and not same_bits(gradient._array, part(self.array(index), path)):
                return False
        return True


def block_after(events: Sequence[AnyEvent], index: int) -> list[AnyEvent]:
    """What the program did right after an event of a backward call: what a hook did that ran there."""
    block: list[AnyEvent] = []
    for event in events[index + 1 :]:
        if not isinstance(event, (OpCalled, GradSet, FlagChanged, ModeChanged, Escaped, LeafCreated, Refreshed)):
            break
        if not isinstance(event, Refreshed):
            block.append(event)
    return block


def part(data: Any, path: Any) -> Any:
    """What a path of views takes of an array."""
    return retake(data, path) if path else data


def rebuilt(event: ErrorRaised) -> BaseException:
    """A recorded exception, of its own type where that is one of Python's."""
    kind = getattr(builtins, event.type, RuntimeError)
    if not (isinstance(kind, type) and issubclass(kind, Exception)):
        kind = RuntimeError
    try:
        error: BaseException = kind(event.message)
    except TypeError:
        error = RuntimeError(event.message)
    if event.note:
        error.add_note(event.note)
    return error
