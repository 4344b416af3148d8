"""Replacements for user code in a replay: functions that do what the recording shows.

The forward and backward of a custom Function, and hooks, are not in a trace; which ops they ran is.  A stand-in runs
those again, on what it is given.  What the code decided in Python it does not decide anew: where a value left for
Python that is another one now, or the code did not run in the recording, a doubt is raised.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, Protocol

from ..arrays import errors
from ..arrays.session import unrecorded
from ..autograd.custom import CustomNode
from ..autograd.function import Function
from ..tensor.grad_mode import mode
from ..tensor.saved_tensors import MOST, PackedTensor, unpack_saved
from ..tensor.tensor import Tensor, tensor_of
from ..trace.events import Accumulated, BackwardStarted, CodeEntered, ErrorRaised, NodeRecord, OpCalled, Trace, VjpRun
from .doubts import ELSEWHERE, NOT_RECORDED, NOT_UNPACKED, OTHER_MODE
from .run import Run
from .user_code import Block


class Interpreter(Protocol):
    """Runs the events of a trace again."""

    def block(self, block: Block, tensors: Sequence[Tensor | None]) -> None:
        """Do again what code of the user's did, with other tensors in the place of those that it was given."""


class StandIns:
    """The stand-ins of one replay."""

    def __init__(self, run: Run, interpreter: Interpreter) -> None:
        self.run = run
        self.interpreter = interpreter
        self.blocks = run.blocks
        self.graphs = {e.call: e.create_graph for e in run.base.events if isinstance(e, BackwardStarted)}
        self.passed = passed(run.base)
        self.call: int | None = None
        """The backward call of the recording that is run again; None for a new one."""
        self.tensors_by_place: dict[int, Tensor] = {}
        """The saved values of the Function whose backward runs, by position."""
        self.ran: set[Block] = set()

    # -- custom Functions -----------------------------------------------------------------------------------------

    def function(self, event: OpCalled) -> Any:
        """The Function of a recorded call: it does what was recorded, in forward and in backward."""
        name = str(event.attrs["function"])
        block = self.blocks.forwards.get(event.index)

        def forward(ctx: Any, *arguments: Any) -> tuple[Tensor, ...]:
            tensors = [tensor for tensor in arguments if tensor is not None]
            if block is not None:
                self.interpreter.block(block, tensors)
            result = [self.output(event, nr, tensors, ctx) for nr in range(len(event.outputs))]
            ctx.set_materialize_grads(self.materializes(event))
            if event.node is not None:
                ctx.save_for_backward(*self.saved(event, result))
            return tuple(result)

        def backward(ctx: Any, *gradients: Any) -> tuple[Any, ...]:
            return self.cotangents(event, ctx, gradients)

        result: Any = type(name, (Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)})
        if event.node is not None and "::" in event.node.name:
            result._node_name = event.node.name
        return result

    def materializes(self, event: OpCalled) -> bool:
        """Return whether backward received zeros instead of None, in all its runs."""
        record = self.runner(event)
        runs = self.blocks.of_node.get(record.node, ()) if record is not None else ()
        return bool(runs) and all(None not in block.entered.given for block in runs)

    def output(self, event: OpCalled, nr: int, inputs: Sequence[Tensor], ctx: Any) -> Tensor:
        """One output of forward: an input that was written or returned as it was, what forward made of it, or the
        recorded value."""
        out = event.outputs[nr]
        place = next((i for i, argument in enumerate(event.inputs) if argument.tensor == out.tensor), None)
        if place is not None:
            ctx.mark_dirty(inputs[place])
            return inputs[place]
        result = self.run.live.get(out.tensor)
        if result is None:
            for argument, tensor in zip(event.inputs, inputs, strict=True):
                if argument.tensor == out.view_of and tensor._array.shape == out.shape:
                    return tensor
            result = tensor_of(self.run.array(out.value))
            result._storage.version = out.version
        if event.node is not None and not out.requires_grad:
            ctx.mark_non_differentiable(*ctx.non_differentiable, result)
        return result

    def saved(self, event: OpCalled, outputs: Sequence[Tensor]) -> list[Tensor]:
        """The values that forward saved: inputs, outputs, and others that it computed."""
        numbers = {out.tensor: tensor for out, tensor in zip(event.outputs, outputs, strict=True)}
        values = []
        for item in event.node.saved if event.node is not None else ():
            live_tensor = None if item.tensor is None else numbers.get(item.tensor, self.run.live.get(item.tensor))
            values.append(tensor_of(self.run.array(item.value)) if live_tensor is None else live_tensor)
        return values

    def cotangents(self, event: OpCalled, ctx: Any, gradients: Sequence[Any]) -> tuple[Any, ...]:
        """The cotangents that backward computes from these upstream gradients."""
        record = self.runner(event)
        if record is None:
            return (None,) * len(event.inputs)
        runs = self.blocks.of_node.get(record.node, ())
        own = next((block for block in runs if block.entered.call == self.call), None)
        if own is None or self.is_other_mode(own):
            own = next((block for block in runs if not self.is_other_mode(block)), own)
        block = own or next(iter(runs), None)
        if block is None:
            self.run.doubted(NOT_RECORDED.format(record.name))
            raise errors.runtime(NOT_RECORDED.format(record.name))
        before, self.tensors_by_place = self.tensors_by_place, {}
        try:
            if record.saved:
                self.take(ctx._own_node)
            results = self.done(block, gradients, block.entered.call != self.call)
        finally:
            self.tensors_by_place = before
        return tuple(results or ())

    def take(self, node: CustomNode) -> None:
        """Have what a Function saved at hand; what was packed is unpacked where the recording did that.

        Raises where it was freed, or written since, as the user's own backward did.
        """
        with unrecorded():
            if node.released:
                node.saved_tensors()
            for place, (value, version) in enumerate(node.saved_entries):
                if value is not None and type(value) is not PackedTensor:
                    self.tensors_by_place[place] = node.unpack(place, value, version)

    def unpack(self, entered: CodeEntered, node: Any) -> None:
        """Code of the user's asks for a tensor that was packed."""
        place = entered.nr
        if isinstance(node, CustomNode) and place < len(node.saved_entries):
            self.tensors_by_place[place] = unpack_saved(node, node.saved_entries[place][0])
        elif node is not None and node.saved is not None and place < len(node.saved):
            unpack_saved(node, node.saved[place])

    def runner(self, event: OpCalled) -> NodeRecord | None:
        """The node whose runs tell of backward: the Function's own, or the base's where forward wrote a view."""
        events = self.run.base.events
        after = events[event.index + 1] if event.index + 1 < len(events) else None
        if event.inplace is not None and isinstance(after, OpCalled) and "writer" in after.attrs:
            return after.node
        return event.node

    # -- what saved tensors are packed to -------------------------------------------------------------------------

    def pack(self, block: Block, node: Any) -> None:
        """Have what a node saved go through stand-ins of the user's pack and unpack."""
        if node is None:
            return
        entered = block.entered
        key = entered.node, entered.nr

        def pack(tensor: Tensor) -> Tensor:
            self.interpreter.block(block, (tensor,))
            if block.left is not None and not block.left.completed:
                raise self.error(block)
            return tensor

        def unpack(tensor: Tensor) -> Tensor:
            runs = self.blocks.unpacks.get(key, ())
            own = next((run for run in runs if run.entered.call == self.call), None)
            run = own or next(iter(runs), None)
            if run is None:
                self.run.doubted(NOT_UNPACKED)
                return tensor
            results = self.done(run, (), own is None)
            return tensor if not results or results[0] is None else results[0]

        def again(value: Any, place: int) -> Any:
            """The value at `place` packed, wherever it is."""
            if type(value) is list and place == entered.nr // MOST - 1:
                return [again(v, MOST * (place + 1) + i) for i, v in enumerate(value)]
            return PackedTensor(node, value, pack, unpack, place=place) if place == entered.nr else value

        if isinstance(node, CustomNode):
            node.saved_entries = tuple(
                (again(value, place), version) for place, (value, version) in enumerate(node.saved_entries)
            )
        elif node.saved is not None:
            node.saved = tuple(again(value, place) for place, value in enumerate(node.saved))

    # -- hooks ----------------------------------------------------------------------------------------------------

    def hooks(self, call: int | None, goes_elsewhere: bool) -> list[tuple[Block, bool]]:
        """The blocks of the hooks that a backward call runs, and whether they are taken from another call.

        Another is asked where this one `goes_elsewhere` than in the recording (or is new): there it has no blocks.
        """
        own = [block for block in self.blocks.of_call.get(-1 if call is None else call, ()) if block.is_hook]
        pairs = [(block, False) for block in own]
        if goes_elsewhere:
            places = {block.place for block in own} | self.passed.get(-1 if call is None else call, set())
            for other, blocks in self.blocks.of_call.items():
                if other != call:
                    pairs += [(b, True) for b in blocks if b.is_hook and not places & {b.place, b.place[1:]}]
                    places |= {b.place for b in blocks}
        return pairs

    def hook(self, block: Block, borrowed: bool) -> Callable[..., Any]:
        """A function that stands for a hook, wherever it is registered."""

        def hook(*arguments: Any) -> Any:
            flat = [one for part in arguments for one in (part if isinstance(part, tuple) else (part,))]
            results = self.done(block, flat, borrowed)
            if results is None or block.entered.place == "tensor":
                return results and results[0]
            return results

        return hook

    # -- both -----------------------------------------------------------------------------------------------------

    def done(self, block: Block, tensors: Sequence[Tensor | None], borrowed: bool) -> tuple[Any, ...] | None:
        """Do again what a block did; what it returns.  What it made in another call stays that call's.

        What it is given stands for the recorded tensors in the block alone: a hook may get the gradient that the
        program passed, and passes again later.
        """
        run = self.run
        self.ran.add(block)
        if borrowed and block.is_hook:
            run.doubted(ELSEWHERE, len(run.recorder.log) - 1)  # that it runs is noted already
        if self.is_other_mode(block):
            run.doubted(OTHER_MODE)
        live_before = dict(run.live) if borrowed else {n: run.live[n] for n in block.entered.given if n in run.live}
        try:
            self.interpreter.block(block, tensors)
            left = block.left
            if left is None or not left.completed:
                raise self.error(block)
            return None if left.results is None else tuple(self.result(number) for number in left.results)
        finally:
            if borrowed:
                run.live.clear()
            run.live.update(live_before)

    def is_other_mode(self, block: Block) -> bool:
        """Return whether only one of two calls makes a graph: this one, or the one in which a block was recorded."""
        call = block.entered.call
        return call is not None and mode.enabled != self.graphs.get(call)

    def result(self, number: int | None) -> Tensor | None:
        """A tensor that code of the user's returned."""
        return None if number is None else self.run.live[number]

    def error(self, block: Block) -> BaseException:
        """The error that a block raised, or that its result caused."""
        events, call = self.run.base.events, block.entered.call
        after = block.left.index if block.left is not None else len(events)
        raised = next((e for e in events[after:] if isinstance(e, ErrorRaised) and e.call == call), None)
        return RuntimeError("the recording ended here") if raised is None else rebuilt(raised)


def passed(base: Trace) -> dict[int, set[Any]]:
    """By backward call the places (tensor, node, output) that it came by: a hook without a block was not there then."""
    keys: dict[int, set[Any]] = {}
    makers = {e.node.node: e for e in base.events if isinstance(e, OpCalled) and e.node is not None}
    for event in base.events:
        if isinstance(event, Accumulated):
            keys.setdefault(event.call, set()).add((event.tensor, None, 0))
        elif isinstance(event, VjpRun):
            outputs = makers[event.node].outputs if event.node in makers else ()
            places = {(out.tensor, event.node, nr) for nr, out in enumerate(outputs)} | {(None, event.node, 0)}
            keys.setdefault(event.call, set()).update(places)
    return keys


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
