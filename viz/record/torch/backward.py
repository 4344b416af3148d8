"""Backward calls as they run: the nodes in torch's order, what each receives and sends, and what leaves accumulate."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch._C import _len_torch_dispatch_stack, _pop_torch_dispatch_stack, _push_on_torch_dispatch_stack
from torch.utils._python_dispatch import TorchDispatchMode

from engine.trace.messages import notes_of

from . import entries
from .calls import PassThroughMode
from .forward import grad_fn_of
from .graph import Node
from .tensors import TensorState, grad_of, requires_of, version_of
from .values import PLAIN, numel, unheard, whole_of

if TYPE_CHECKING:
    from .watch import Watch


REDUCER = "DDP replaces the gradient by its mean over all processes"


class SentGradient(weakref.ref):  # type: ignore[type-arg]
    """A gradient on its way, in the version in which it was sent."""

    __slots__ = ("value", "version")
    value: int
    version: int


class Sums(PassThroughMode):
    """Sees the sums that are computed while a node runs."""

    def __init__(self, backward: Backward) -> None:
        self.backward = backward
        self.seen: list[int] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func is torch.ops.aten.sum.dim_IntList:
            value = self.backward.watch.while_off(self.backward.receive, args[0])
            if value is not None:
                self.seen.append(value)
        return super().__torch_dispatch__(func, types, args, kwargs)

    def before(self, sent: Sequence[Any], received: Sequence[Any]) -> tuple[int | None, ...]:
        """Each gradient before it was summed over broadcast dimensions."""
        shape = next((g.shape for g in received if g is not None), None)
        seen = iter(self.seen)
        return tuple(None if g is None or g.shape == shape else next(seen, None) for g in sent)


def remove(mode: TorchDispatchMode) -> None:
    """Take a mode off the stack, wherever it is in it."""
    above = []
    while _len_torch_dispatch_stack():
        last = _pop_torch_dispatch_stack(None)
        if last is mode:
            break
        above.append(last)
    for last in reversed(above):
        _push_on_torch_dispatch_stack(last)


class Backward:
    """Records backward calls. `call` is the number of the current one, `keep` whether it keeps saved tensors."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.tensors, self.graph = watch, watch.tensors, watch.graph
        self.recorder, self.log = watch.recorder, watch.log
        self.call: int | None = None
        self.keep = self.create = False
        self.stack = -1
        self.sent: dict[int, SentGradient] = {}
        self.wholes: dict[int, SentGradient] = {}  # by the large tensor whose elements were sent, in whatever shape
        self.sums: Sums | None = None
        self.retained_gradients: dict[int, TensorState] = {}  # by tensor that retains its gradient: that one
        self.inputs: list[Any] = []  # the inputs of the call that runs,
        self.gradient_count = 0  # and how many gradients were passed to it
        self.running: Node | None = None  # whose code of the user's runs
        self.nodes_run: set[int] = set()
        self.reached: list[TensorState] = []  # the gradients that leaves have accumulated in the call that runs
        self.implicit: frozenset[int] = frozenset()

    # -- a call ----------------------------------------------------------------------------------------------------

    def run(self, real: Any, outputs: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A backward call: torch's own, with unchanged arguments."""
        watch = self.watch
        gradients, keep, create = args[0], bool(args[1]), bool(args[2])
        inputs = args[3] if len(args) > 3 else ()
        is_grad = kwargs.get("accumulate_grad") is False
        if not watch.threads.claim():
            return real(outputs, *args, **kwargs)
        try:
            outer = self.call, self.keep, self.create, self.recorder.call, self.stack, watch.forward.grad_enabled
            with watch.aside():
                watch.guarded(self.begin, "grad" if is_grad else "backward", outputs, gradients, inputs, keep, create)
        finally:
            watch.off -= 1
        popped = not create and watch.pop()
        out, error = None, None
        running, self.running = self.running, None
        try:
            out = real(outputs, *args, **kwargs)
            return out
        except BaseException as raised:
            error = raised
            raise
        finally:
            if self.sums is not None:  # an error left it in place
                remove(self.sums)
                self.sums = None
            if popped:
                remove(watch.mode)  # likewise
                watch.push()
            with watch.aside():
                watch.guarded(self.end, outputs, out if is_grad else (), error, outer)
            self.running = running

    def begin(self, function: str, outputs: Any, gradients: Any, inputs: Any, keep: bool, create: bool) -> None:
        """Record the beginning of a call."""
        tensors, changes = self.tensors, self.watch.changes
        self.watch.forward.settle()
        self.stack = self.recorder.stacks.caller = stack = self.watch.stack(5)
        roots = []
        for nr, root in enumerate(outputs):
            if not isinstance(root, torch.Tensor):  # an edge of the graph
                continue
            state = self.watch.forward.operand(root, stack)
            gradient = gradients[nr] if nr < len(gradients) else None
            source = None
            if gradient is None:
                gradient = unheard(torch.ones_like, root)
            elif changes is not None and id(gradient) in changes.passed:
                source = entries.EDITED
                if (own := changes.passed[id(gradient)][1]) is not None:
                    tensors.see(own, stack)  # as in the recording, so that all numbers stay
            elif id(gradient) not in self.implicit:
                source = tensors.see(gradient, stack).number
            if gradient.dtype is not root.dtype:
                gradient = gradient.to(root.dtype)
            roots.append((state.number, self.receive(gradient), source))
        self.inputs, self.gradient_count = [t for t in inputs or () if isinstance(t, torch.Tensor)], len(gradients)
        numbers = [tensors.see(t, stack).number for t in self.inputs]
        self.call = self.recorder.call = self.recorder.calls
        self.recorder.calls += 1
        self.keep, self.create, self.watch.forward.grad_enabled = keep, create, create
        anomaly = torch.is_anomaly_enabled()
        self.log.append(
            (
                "made", stack, entries.start, self.call, function, tuple(roots), tuple(numbers) if inputs else None,
                keep, create, anomaly,
            )
        )  # fmt: skip

    def end(self, outputs: Any, out: Any, error: BaseException | None, outer: Any, is_refused: bool = False) -> None:
        """Record the end of a call, and the error that ended it."""
        if self.watch.forward.pending:
            self.watch.forward.settle()
        results: tuple[int | None, ...] = ()
        if error is not None:
            self.stopped(outputs, error, is_refused)
        else:
            results = tuple(None if g is None else self.tensors.see(g, self.stack, "grad").number for g in out)
        self.log.append(("made", -1, entries.end, self.call, error is None, results))
        self.averaged()
        forward, self.inputs = self.watch.forward, []
        self.call, self.keep, self.create, self.recorder.call, self.stack, forward.grad_enabled = outer
        self.recorder.stacks.caller = self.stack
        if self.call is None:
            self.sent.clear()
            self.wholes.clear()
            self.nodes_run.clear()

    def stopped(self, outputs: Any, error: BaseException, is_refused: bool) -> None:
        """Record the error that ended a call, and the node at which it happened, if any."""
        if self.running is not None:  # the user's code, or its result
            self.running = None
            self.log.append(("made", -1, entries.left, None, False))
        if id(error) in self.recorder.errors:
            return
        self.recorder.errors[id(error)] = error
        roots = [grad_fn_of(root) for root in outputs if isinstance(root, torch.Tensor)]
        node = None if is_refused or self.refuses(outputs) else self.graph.stopped_at(roots, self.nodes_run)
        note = notes_of(error)
        line = None if node is None else self.recorder.stacks.line(node.stack)
        if node is not None and line is not None and not note:
            note = f"Backstep: {node.name}() stands for the op in {line}."
        self.raised(error, note, self.call, None if node is None else node.key)

    def refuses(self, outputs: Any) -> bool:
        """Return whether torch refused the call before it ran a node."""
        any_constant = self.inputs and not all(t.requires_grad for t in self.inputs)
        return not self.nodes_run and (any_constant or self.gradient_count != len(outputs))

    def raised(self, error: BaseException, note: str, call: int | None, node: int | None) -> None:
        """Record an error."""
        self.log.append(("made", self.stack, entries.raised, error, note, call, node))

    def refused(
        self, function: str, error: BaseException, outputs: Any, gradients: Any, keep: bool, create: bool
    ) -> None:
        """Record a call whose arguments torch refused before it began."""
        outer = self.call, self.keep, self.create, self.recorder.call, self.stack, self.watch.forward.grad_enabled
        passed = gradients if isinstance(gradients, (list, tuple)) else [gradients]
        roots = outputs if isinstance(outputs, (list, tuple)) else [outputs]
        self.begin(function, roots, [g if isinstance(g, torch.Tensor) else None for g in passed], (), keep, create)
        self.end(roots, (), error, outer, is_refused=True)

    # -- gradients -------------------------------------------------------------------------------------------------

    def receive(self, gradient: Any) -> int:
        """The value of a gradient that arrives or is sent: the same one until somebody writes to it."""
        sent = self.sent.get(id(gradient))
        version = version_of(gradient)
        if sent is not None and sent.version == version and sent() is gradient:
            return sent.value
        self.sent[id(gradient)] = sent = SentGradient(gradient)
        is_large = type(gradient) in PLAIN and numel(gradient) > self.tensors.limit
        sent.version = version
        sent.value = self.large(gradient, version) if is_large else self.tensors.keep(gradient)
        return sent.value

    def large(self, gradient: Any, version: int) -> int:
        """The value of a large gradient as it is now.

        Its statistics are those of a view of it, transposed or reshaped, that was kept before: a Linear computes the
        gradient of its weight transposed.
        """
        tensors = self.tensors
        whole = unheard(whole_of, gradient)
        if whole is None:
            return tensors.keep(gradient)
        seen = self.wholes.get(id(whole))
        if seen is not None and seen.version == version and seen() is whole:
            return tensors.keep_as(gradient, seen.value)
        self.wholes[id(whole)] = seen = SentGradient(whole)
        seen.version, seen.value = version, tensors.keep(gradient)
        return seen.value

    def ran(self, node: Node, sent: tuple[Any, ...], received: tuple[Any, ...]) -> None:
        """A node ran."""
        if self.watch.forward.pending:
            self.watch.forward.settle()
        receive = self.receive
        upstream = tuple([None if g is None else receive(g) for g in received])
        if node.places is not None:
            upstream = in_place(upstream, node.places)
        if node.retaining:
            self.retained(node, upstream)
        cotangents = tuple([None if g is None else receive(g) for g in sent])
        self.nodes_run.add(node.key)
        freed = node.frees and not self.keep
        before: tuple[int | None, ...] = (None,) * len(cotangents)
        if self.sums is not None:
            remove(self.sums)
            before, self.sums = self.sums.before(sent, received), None
        self.log.append(("made", -1, entries.vjp, self.call, node.key, upstream, cotangents, before, freed))

    def sums_begin(self) -> None:
        """A node of an op that broadcast an input runs: torch sums its gradient afterwards."""
        self.sums = Sums(self)
        _push_on_torch_dispatch_stack(self.sums)

    def retained(self, node: Node, upstream: tuple[int | None, ...]) -> None:
        """Tensors that retain their gradient have it now."""
        for nr, ref in node.retaining or ():
            tensor = ref()
            value = upstream[nr] if nr < len(upstream) else None
            if tensor is None or value is None or grad_of(tensor) is None:
                continue
            state = self.tensors.see(tensor, -1)
            former = self.retained_gradients.get(state.number)
            before = None if former is None else former.value
            grad = self.held_gradient(grad_of(tensor), value if before is None else None)
            self.retained_gradients[state.number] = grad
            self.log.append(
                ("made", -1, entries.accumulate, self.call, state.number, grad.number, before, value, grad.value, True)
            )

    def held_gradient(self, grad: Any, value: int | None) -> TensorState:
        """A tensor that is the `.grad` of another one, with its current value."""
        tensors = self.tensors
        state = tensors.find(grad)
        version = version_of(grad)
        if state is None:
            value = tensors.keep(grad) if value is None else value
            state = tensors.enter(grad, value, 0, requires_of(grad))
            state.offset = version
            return state
        state.version, state.value = version - state.offset, tensors.keep(grad) if value is None else value
        state.requires = requires_of(grad)
        return state

    def gradient_before(self, leaf: TensorState) -> int | None:
        """The value of the `.grad` of a leaf before a gradient is added to it."""
        tensor = leaf()
        grad = None if tensor is None else grad_of(tensor)
        if grad is None:
            return None
        grad_state = self.tensors.find(grad)
        if grad_state is not None and grad_state.version == version_of(grad) - grad_state.offset:
            return grad_state.value
        return self.tensors.see(grad, -1).value

    def accumulated(self, leaf: TensorState, gradient: Any, before: int | None) -> None:
        """A gradient was added to the `.grad` of a leaf."""
        if self.watch.forward.pending:
            self.watch.forward.settle()
        tensor = leaf()
        if tensor is None or grad_of(tensor) is None:
            return
        added = self.receive(gradient)
        grad = self.held_gradient(grad_of(tensor), added if before is None else None)
        self.reached.append(grad)
        self.log.append(
            (
                "made", -1, entries.accumulate, self.call, leaf.number, grad.number, before, added, grad.value,
                False,
            )
        )  # fmt: skip

    def averaged(self) -> None:
        """DDP has replaced gradients by their mean over all processes, without an op that we could see."""
        reached, self.reached = self.reached, []
        if not torch.distributed.is_available() or not torch.distributed.is_initialized():
            return
        for state in reached:
            grad = state()
            if grad is None or version_of(grad) - state.offset == state.version:
                continue
            inputs = (("gradient", state.number, state.version),)
            state.version, state.value = version_of(grad) - state.offset, self.tensors.keep(grad)
            result = (state.number, state.version, state.value, False, state.storage, None)
            attrs = {"not_seen": REDUCER, "processes": torch.distributed.get_world_size()}
            self.log.append(
                ("made", self.stack, entries.hidden, "all_reduce", inputs, attrs, (result,), None, state.number, None)
            )

    # -- code of the user's in it ------------------------------------------------------------------------------------

    def let_in(self) -> bool:
        """The user's own code begins: its ops are recorded.

        Returns whether our mode was removed, for `keep_out`.
        """
        watch = self.watch
        was_away = not self.create
        if was_away:
            watch.push()
        return was_away

    def keep_out(self, was_away: bool) -> None:
        """The user's own code ends."""
        if was_away:
            self.watch.pop()

    def begins(self, node: Node, received: tuple[Any, ...]) -> None:
        """The backward of a custom Function begins."""
        if not self.watch.is_looking() or self.call is None:
            return

        def record() -> None:
            values = self.watch.gradients(received)
            self.log.append(("made", -1, entries.code, self.call, "backward", None, node.key, 0, values, 0))

        self.watch.while_off(record)
        node.entered, self.running = self.let_in(), node

    def ends(self, node: Node, sent: Sequence[Any]) -> None:
        """The backward of a custom Function ends."""
        was_away, node.entered, self.running = bool(node.entered), None, None
        self.keep_out(was_away)
        self.watch.while_off(self.code_left, sent, True)

    def code_left(self, results: Sequence[Any] | None, completed: bool) -> None:
        """Record the end of the user's own code."""
        if self.watch.forward.pending:
            self.watch.forward.settle()
        numbers = None if results is None else self.watch.gradients(results)
        self.log.append(("made", -1, entries.left, numbers, completed))

    def hook(self, hook: Any, tensor: Any, gradient: Any) -> Any:
        """Run a hook on the gradient of a tensor."""
        watch = self.watch
        number = watch.while_off(self.hook_begins, tensor, gradient)
        was_away = self.let_in()
        completed, result = False, None
        try:
            result = hook(gradient)
            completed = True
            return result
        finally:
            self.keep_out(was_away)
            watch.while_off(self.code_left, None if result is None else (result,), completed)
            if result is not None:
                watch.while_off(self.replaced, number, gradient, result)

    def hook_begins(self, tensor: Any, gradient: Any) -> int | None:
        """The number of the tensor that a hook is on."""
        if self.watch.forward.pending:
            self.watch.forward.settle()
        state = self.tensors.find(tensor)
        number = None if state is None else state.number
        fn = tensor.grad_fn
        node = None if fn is None else self.graph.node_of(fn)
        key = None if node is None else node.key
        values = self.watch.gradients((gradient,))
        nr = 0 if fn is None else tensor.output_nr
        self.log.append(("made", -1, entries.code, self.call, "tensor", number, key, nr, values, 0))
        return number

    def replaced(self, number: int | None, before: Any, after: Any) -> None:
        """A hook returned another gradient."""
        values = self.receive(before), self.receive(after)
        self.log.append(("made", -1, entries.hook, self.call, number, *values, None, "tensor", 0))


def in_place(upstream: tuple[int | None, ...], places: dict[int, int]) -> tuple[int | None, ...]:
    """The gradients of a node in the order of its op's results, some of which have none."""
    ordered: list[int | None] = [None] * (1 + max(places.values()))
    for nr, place in places.items():
        ordered[place] = upstream[nr] if nr < len(upstream) else None
    return tuple(ordered)
