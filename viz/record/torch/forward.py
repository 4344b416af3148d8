"""The ops of a program as they run: their arguments, results and nodes."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Iterator, Sequence
from math import prod
from typing import TYPE_CHECKING, Any

import torch

from engine.trace.events import SCALER
from engine.trace.tensor_states import next_id

from . import entries
from .calls import BATCH_NORMS, STATISTICS, Call, TensorArgument, count_writes, counts_lists
from .graph import NUMBERS, SINK
from .tensors import TensorState, requires_of, version_of
from .values import PLAIN, UnreadableValue, shape_of

if TYPE_CHECKING:
    from .watch import Watch

Place = tuple[int, int] | None
_getframe: Any = sys._getframe
_grad_enabled = torch.is_grad_enabled
Tensor = torch.Tensor
FACTORS = frozenset({"mat1", "mat2", "mat", "vec", "batch1", "batch2"})
"""Inputs of such ops that have a shape of their own."""
ALIAS = torch.ops.aten.alias.default
UNSEEN = "it ran before the recording, in another thread, or where the recorder cannot see it"


class PendingOp:
    """An op that has run; autograd makes its node only after it has returned."""

    __slots__ = ("arguments", "base", "call", "during", "enabled", "outs", "place", "stack", "targets", "write")
    call: Call
    stack: int
    arguments: list[tuple[str, Any]]
    base: TensorState | None
    """The tensor whose memory the results share, if they are views."""
    write: tuple[TensorState, Any] | None
    """The tensor that it wrote, and the base of that tensor if it is a view."""
    enabled: bool
    during: int | None
    outs: list[tuple[TensorState, int, bool]]
    """The results: the facts about each, its value, and whether it is new."""
    place: Place
    targets: list[tuple[int, Any]]
    """The tensors that it writes in lists, each with its position there."""


class NewTensor:
    """A tensor that a function has made: its flag is set after the op has returned."""

    __slots__ = ("place", "ref", "source", "stack")

    def __init__(self, source: str, stack: int, tensor: Any, place: Place) -> None:
        self.source, self.stack, self.place = source, stack, place
        self.ref = weakref.ref(tensor)


class Forward:
    """Records ops.  `pending` are those whose nodes are not known yet."""

    def __init__(self, watch: Watch) -> None:
        self.watch, self.tensors, self.graph = watch, watch.tensors, watch.graph
        self.log, self.stack = watch.log, watch.stack
        self.calls: dict[int, Call] = {}  # by the id of the operator
        self.pending: list[PendingOp | NewTensor] = []
        self.grad_enabled = True
        self.switched: int | None = None  # where the program switched it off, until an op runs that way
        self.escapes = "item"

    # -- one op --------------------------------------------------------------------------------------------------

    def run(self, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an op and record it. It runs exactly once, and an error of it is the program's."""
        call = self.calls.get(id(func)) or self.watch.guarded(self.met, func)
        if call is None:
            return func(*args, **kwargs)
        if call.kind in ("none", "exchange"):
            if call.kind == "exchange":
                self.watch.while_off(self.exchanged, args)
            return func(*args, **kwargs)
        if call.detaches and self.pending and self.is_saving(args[0]):
            return self.detached_again(func, args, kwargs)
        watch = self.watch
        watch.off += 1
        try:
            try:
                if call.detaches and is_parameter_made(outer(3)):
                    return self.as_parameter(func, args, kwargs)
                if self.pending:
                    self.settle()
                op = None if call.kind == "factory" else self.before(call, args, kwargs)
            except Exception:  # noqa: BLE001 ours
                watch.failed()
                return func(*args, **kwargs)
            try:
                out = func(*args, **kwargs)
            except Exception as error:
                if type(op) is PendingOp:
                    watch.recorder.about = (
                        id(error),
                        tuple(one.number for _, one in entries.flat_inputs(op.arguments)),
                    )
                raise
            try:
                if call.lists and call.writes and not counts_lists():
                    count_writes(args[0])
                if type(op) is PendingOp:
                    self.after(op, out)
                    if not call.counts:
                        self.count_statistics(op, dict(call.bound(args, kwargs)))
                elif call.kind == "factory":
                    self.created(call, out)
                elif op is not None:
                    self.filled(call, op)
            except Exception:  # noqa: BLE001 ours
                watch.failed()
            return out
        finally:
            watch.off -= 1

    def met(self, func: Any) -> Call:
        """An operator that runs for the first time."""
        call = self.calls[id(func)] = Call(func)  # which holds it; the hash of an operator is computed in Python
        return call

    def before(self, call: Call, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The arguments of an op that is about to run.

        None for an op that is not part of the program; the tensor itself for the first write to one without elements.
        """
        tensors = self.tensors
        if self.is_aside(args):
            return None
        stack = self.stack(4)
        enabled = self.note_mode(stack)
        op = PendingOp()
        op.call, op.stack, op.enabled, op.during = call, stack, enabled, self.watch.backward.call
        op.arguments = arguments = []
        op.write = None
        op.targets = []
        first: TensorState | None = None
        see = self.operand if enabled and not call.detaches else tensors.see
        for pair in call.bound(args, kwargs):
            name, value = pair
            kind = type(value)
            if kind in NUMBERS:
                arguments.append(pair)
                continue
            if kind is Tensor or isinstance(value, Tensor):
                writes = name in call.writes
                if writes and tensors.unwritten and id(value) in tensors.unwritten:
                    return value
                state = see(value, stack)
                if first is None:
                    first = state
                argument: Any = TensorArgument(state, value)
                if call.strided:
                    argument.strides, argument.offset = value.stride(), value.storage_offset()
                if writes:
                    op.write = state, (value._base if value._is_view() else None)
            elif kind in (list, tuple) and any(isinstance(one, Tensor) for one in value):
                argument = []
                for one in value:
                    if isinstance(one, Tensor):
                        state = see(one, stack)
                        argument.append(TensorArgument(state, one))
                        if name in call.writes:
                            op.write = state, (one._base if one._is_view() else None)
                            op.targets.append((len(argument) - 1, one))
                    else:
                        argument.append(one)
            else:
                argument = value
            arguments.append((name, argument))
        op.base = first if call.view else None
        if call.rearranges and not (args[0].is_leaf and requires_of(args[0])):
            op.base, op.write = first, None  # the tensor goes on as a view of what it was
        if call.kind == "escape":
            state = tensors.see(args[0], stack)
            self.log.append(("made", stack, entries.escape, state.number, self.escapes, state.value))
            return None
        return op

    def after(self, op: PendingOp, out: Any) -> None:
        """Its results."""
        op.place = place_at(3)
        op.outs = []
        if op.targets and not op.call.returns:
            self.spread(op)
        elif op.call.lists and not op.enabled:
            self.spread(op, out)
        elif op.call.one:
            op.outs = [self.result(out, op)]
        else:
            op.outs = self.results(out, op)
        if op.base is not None:
            self.note_views(op)
        op.targets = []  # nothing is held on to
        if op.outs:
            self.pending.append(op)
        if self.watch.recorder.pace is not None:
            self.watch.recorder.pace()

    def count_statistics(self, op: PendingOp, named: dict[str, Any]) -> None:
        """A batch norm has run: the statistics that it wrote are read again when they are used."""
        if not named["training"]:
            return
        momentum, eps = BATCH_NORMS[op.call.base]
        elements = named["input"].numel() // max(1, named["input"].shape[1])
        how = (named[momentum], None, elements), (named[momentum], named[eps], elements)
        for name, (source, _, _), fields in zip(STATISTICS, op.outs[1:], how, strict=False):
            state = self.tensors.find(named[name])
            if state is not None:
                state.offset -= 1
                state.moved = (source.number, *fields) if elements > 1 else None

    def spread(self, op: PendingOp, out: Sequence[Any] = ()) -> None:
        """An op that writes or returns lists of tensors: one op for each place in them."""
        for place in sorted({place for place, _ in op.targets} or range(len(out))):
            one = PendingOp()
            one.call, one.stack, one.enabled, one.during = op.call, op.stack, op.enabled, op.during
            one.base, one.place, one.targets = None, op.place, []
            one.arguments = [(name, nth(value, place)) for name, value in op.arguments]
            tensors = [tensor for at, tensor in op.targets if at == place]
            one.outs = [self.result(tensor, one) for tensor in tensors or [out[place]]]
            one.write = (one.outs[0][0], None) if tensors else None
            for tensor, (state, _, _) in zip(tensors, one.outs, strict=False):
                if version_of(tensor) - state.offset == state.version:  # torch did not count the write
                    state.offset -= 1
            self.pending.append(one)

    def results(self, out: Any, op: PendingOp) -> list[tuple[TensorState, int, bool]]:
        """The results of an op that may have several."""
        return [self.result(one, op) for one in flat(out) if isinstance(one, Tensor)]

    def result(self, tensor: Any, op: PendingOp) -> tuple[TensorState, int, bool]:
        """A result of an op.

        No reference to it is kept: torch copies the handle if somebody else has one.
        """
        tensors, base = self.tensors, op.base
        is_own = base is None or op.call.strided  # as_strided may repeat some elements, and leave out others
        value = tensors.keep(tensor) if base is None or is_own else tensors.keep_as(tensor, base.value)
        state = tensors.find(tensor)
        if state is None or (state is base and op.call.rearranges):
            state = tensors.enter(tensor, value, 0, False, None if base is None else base.storage)
            state.offset = 0 if base is None else base.offset  # a view counts writes as its base does
            return state, value, True
        state.value = value
        return state, value, False

    @staticmethod
    def note_views(op: PendingOp) -> None:
        """Note how views were taken."""
        base, call = op.base, op.call
        for nr, (state, _, _) in enumerate(op.outs):
            out = state()
            if base is not None and out is not None:
                state.steps = (
                    base.steps, base.number, call, op.arguments, tuple(shape_of(out)), None if call.one else nr,
                )  # fmt: skip

    def created(self, call: Call, out: Any) -> None:
        """A tensor is made: a leaf, once the function that makes it has set its flag."""
        if not isinstance(out, Tensor) or self.watch.backward.call is not None or is_library(outer(4)):
            return
        if call.unwritten:
            self.tensors.without_elements(out)
        elif self.tensors.find(out) is None:
            source = "tensor" if call.base == "lift_fresh" else call.base
            if source == "full" and is_of_scaler(outer(3)):
                source = SCALER
            stack = self.stack(4)
            self.note_mode(stack)
            self.pending.append(NewTensor(source, stack, out, place_at(3)))

    def as_parameter(self, func: Any, args: Any, kwargs: Any) -> Any:
        """`Parameter(...)` takes a tensor: a new one is the parameter from now on."""
        out = func(*args, **kwargs)
        last = self.pending[-1] if self.pending else None
        if type(last) is NewTensor and last.ref() is args[0]:
            last.ref = weakref.ref(out)
        return out

    def filled(self, call: Call, target: Any) -> None:
        """The first write to a tensor that had no elements before."""
        self.tensors.unwritten.pop(id(target), None)
        if self.tensors.find(target) is None and not is_library(outer(4)):
            self.pending.append(NewTensor(call.base.rstrip("_"), self.stack(4), target, place_at(3)))

    def is_saving(self, tensor: Any) -> bool:
        """Return whether autograd detaches the result of the last op, to save it: at the same place of the program."""
        last = self.pending[-1]
        if last.place != place_at(3):
            return False
        if isinstance(last, NewTensor):  # a tensor that is made is detached once more
            return last.ref() is tensor
        return any(state() is tensor for state, _, _ in last.outs)

    def exchanged(self, args: tuple[Any, ...]) -> None:
        """Processes exchange tensors, which have other elements when they are used next."""
        self.settle()
        for one in flat(args):
            state = self.tensors.find(one) if isinstance(one, Tensor) else None
            if state is not None:
                state.version = -1

    def detached_again(self, func: Any, args: Any, kwargs: Any) -> Any:
        """A result is detached in order to be saved; or by `x.detach()` itself, as before torch 2.5, whose second
        result is the one that the program gets."""
        out = func(*args, **kwargs)
        last = self.pending[-1]
        if isinstance(last, PendingOp) and last.call.detaches:
            self.watch.while_off(self.handed_on, last, out)
        return out

    def handed_on(self, op: PendingOp, out: Any) -> None:
        """The result of an op is another tensor than the one that it gave at first."""
        op.outs = [self.result(out, op)]

    def is_aside(self, args: tuple[Any, ...]) -> bool:
        """Return whether an op makes a layer's parameters, which the trace does not show."""
        states = self.tensors.states
        for one in args:  # twice as quick as any()
            if id(one) in states and isinstance(one, Tensor):
                return False
        return is_library(outer(5))

    def mode_changed(self, enabled: bool, stack: int) -> None:
        """Ops record gradients from now on, or do not."""
        self.grad_enabled, self.switched = enabled, None
        self.log.append(("made", stack, entries.mode, enabled))

    def note_mode(self, stack: int) -> bool:
        """Whether an op records gradients that runs now; the first one after a change notes that."""
        enabled: bool = _grad_enabled()
        if enabled is not self.grad_enabled:
            self.mode_changed(enabled, stack if self.switched is None else self.switched)
        return enabled

    # -- and its node --------------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Record the ops that ran: autograd has made their nodes by now."""
        pending, self.pending = self.pending, []
        for one in pending:
            if type(one) is PendingOp:
                self.record(one)
            elif type(one) is NewTensor:
                tensor = one.ref()
                if tensor is not None and self.tensors.find(tensor) is None:
                    self.tensors.leaf(tensor, one.stack, one.source)

    def record(self, op: PendingOp) -> None:
        """An op and its results, with the node that autograd made for it."""
        write = op.write
        results: list[tuple[int, int, int, bool, int, int | None]] = []
        fn, is_plain = None, True
        places: dict[int, int] = {}
        for state, value, is_new in op.outs:
            out = state()
            if out is not None:
                state.version = version_of(out) - state.offset - op.call.rearranges * is_new
                if op.enabled or not is_new or op.base is not None:
                    state.requires = requires_of(out)
                if state.requires and op.enabled:
                    fn, is_plain = fn or grad_fn_of(out), type(out) in PLAIN
                    if len(op.outs) > 1:
                        places[out.output_nr] = len(results)
            elif write is not None and write[1] is not None:  # a view that the program has let go of
                state.version, state.requires = version_of(write[1]) - state.offset, requires_of(write[1])
            elif write is not None and not is_new:
                state.version += 1
            view_of = op.base.number if op.base is not None and is_new else None
            results.append((state.number, state.version, value, state.requires, state.storage, view_of))
        part, base = (None, None) if write is None else write
        joins = base is not None and op.enabled and requires_of(base) and self.is_new(grad_fn_of(base))
        record, outputs = None, tuple(results)
        if fn is not None and not joins and self.is_new(fn):
            widens = op.call.broadcasts and self.broadcasts(op)
            record = self.graph.node(fn, op.stack, outputs, op.arguments, False, widens, is_plain)
            if places and any(nr != place for nr, place in places.items()):
                self.graph.node_of(fn).places = places
        inplace = None if part is None else part.number
        self.log.append(
            (
                "made", op.stack, entries.op, op.call, op.arguments, outputs, record, inplace,
                op.during,
            )
        )  # fmt: skip
        if joins and part is not None:
            self.join(op, part, base)
        elif part is not None and self.tensors.behind:
            self.beside(part)

    def beside(self, part: TensorState | None) -> None:
        """The result of `x.data` was written: x has other elements, and its version counter did not change."""
        owner = None if part is None else self.tensors.behind.get(part.storage)
        tensor = None if owner is None else owner()
        if owner is not None and tensor is not None:
            owner.offset -= 1
            self.tensors.refresh(owner, tensor, version_of(tensor) - owner.offset)

    def data(self, tensor: Any, alias: Any, stack: int) -> None:
        """`x.data` gives the elements of x, without a version of their own."""
        tensors = self.tensors
        self.settle()
        state = tensors.see(tensor, stack)
        result = tensors.enter(alias, state.value, 0, False)
        result.offset = version_of(alias)
        tensors.behind[result.storage] = state
        fields = (result.number, 0, state.value, False, result.number, None)
        self.log.append(("made", stack, entries.data_given, state.number, state.version, fields))

    def broadcasts(self, op: PendingOp) -> bool:
        """Return whether an input of an op is smaller than its result, as one that is broadcast is."""
        out = op.outs[0][0]()
        if out is None:
            return False
        shape = out.shape
        for name, one in op.arguments:
            if type(one) is TensorArgument and one.shape != shape and name not in FACTORS:
                return True
        return False

    def is_new(self, fn: Any) -> bool:
        """Return whether a node has to be recorded."""
        return fn is not None and type(fn).__name__ != SINK and self.graph.node_of(fn) is None

    def join(self, op: PendingOp, part: TensorState, base: Any) -> None:
        """A view was written: its base has a new history from now on, and the view is taken from it again."""
        state = self.tensors.find(base)
        if state is None:
            return
        path, before = part.path_from(state.number), (state.number, state.version)
        state.version, state.value, state.requires = version_of(base) - state.offset, self.tensors.keep(base), True
        result = (state.number, state.version, state.value, True, state.storage, None)
        record = self.graph.node(grad_fn_of(base), op.stack, [result], ())
        self.log.append(
            (
                "made", op.stack, entries.joint, op.call, op.arguments, entries.ViewOf(before, path),
                part.number, result, record, op.during,
            )
        )  # fmt: skip
        view = part()
        fn = None if view is None else grad_fn_of(view)
        if self.is_new(fn):
            view_result = (part.number, part.version, part.value, True, part.storage, state.number)
            record = self.graph.node(fn, op.stack, [view_result], ())
            again = entries.ViewOf((state.number, state.version), path)
            self.log.append(("made", op.stack, entries.retaken, again, view_result, record, op.during))

    def retyped(self, tensor: Any, alias: Any, stack: int) -> None:
        """`as_subclass` gives an alias, of which no dispatch mode hears."""
        op = PendingOp()
        op.call, op.stack = self.calls.get(id(ALIAS)) or self.met(ALIAS), stack
        op.enabled, op.during = self.note_mode(stack), self.watch.backward.call
        op.base = state = self.operand(tensor, stack) if op.enabled else self.tensors.see(tensor, stack)
        op.arguments = [("self", TensorArgument(state, tensor))]
        op.write, op.targets, op.place = None, [], None
        op.outs = [self.result(alias, op)]
        self.note_views(op)
        self.record(op)

    def operand(self, tensor: Any, stack: int) -> TensorState:
        """A tensor that is used in the graph: if no recorded op made it, its node is recorded with it."""
        if self.tensors.find(tensor) is None and not tensor.is_leaf:
            fn = grad_fn_of(tensor)
            if self.is_new(fn):
                self.graph.unseen(fn, stack, tensor)
        return self.tensors.see(tensor, stack)

    def unseen(self, fn: Any, stack: int, tensor: Any = None) -> None:
        """A node that no recorded op made: of its results other than `tensor` only the shapes are known."""
        graph = self.graph
        inputs: list[tuple[str, int, int]] = []
        for up, nr in fn.next_functions:
            if up is None:
                continue
            if type(up).__name__ == SINK:
                state = self.tensors.see(up.variable, stack)
                graph.sink(up, stack)
                inputs.append((f"input[{len(inputs)}]", state.number, state.version))
            else:
                number, version = graph.node_of(up).result(nr)
                inputs.append((f"input[{len(inputs)}]", number, version))
        results = []
        own = None if tensor is None else tensor.output_nr
        for nr, shape in enumerate(shapes_of(fn)):
            if nr == own:
                state = self.tensors.enter_whole(tensor)
                results.append((state.number, state.version, state.value, True, state.storage, None))
                continue
            value = len(self.tensors.values)
            self.tensors.values.append(UnreadableValue(shape, prod(shape)))
            number = next_id()
            results.append((number, 0, value, True, number, None))
        record = graph.node(fn, stack, results, ())
        attrs = {"not_seen": UNSEEN}
        self.log.append(
            (
                "made", stack, entries.hidden, record[1], tuple(inputs), attrs, tuple(results), record, None,
                self.watch.backward.call,
            )
        )  # fmt: skip

    # -- custom Functions ----------------------------------------------------------------------------------------

    def custom(self, real: Any, kind: type, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A custom Function runs by `real`, its `apply`: its forward is the user's code, its result has a node."""
        watch = self.watch
        with watch.aside():
            start = watch.guarded(self.custom_begins, args)
        enabled, self.grad_enabled = self.grad_enabled, False
        completed, out = False, None
        try:
            out = real(*args, **kwargs)
            completed = True
            return out
        finally:
            if start is not None and watch.is_looking():
                with watch.aside():
                    watch.guarded(self.custom_ended, kind, args, start, out, completed)
            self.grad_enabled = enabled

    def custom_begins(self, args: tuple[Any, ...]) -> Any:
        """Its inputs: (stack, references)."""
        self.settle()
        stack = self.stack(5)
        seen = [self.operand(one, stack) for one in args if isinstance(one, Tensor)]
        refs = tuple((f"input[{i}]", one.number, one.version) for i, one in enumerate(seen))
        values = [ref[1] for ref in refs]
        self.log.append(("made", -1, entries.code, self.watch.backward.call, "forward", None, None, 0, values, 0))
        return stack, refs

    def custom_ended(self, kind: type, args: Any, start: Any, out: Any, completed: bool) -> None:
        """Its results, with their node."""
        stack, refs = start
        self.settle()
        outs = [one for one in flat(out) if isinstance(one, Tensor)]
        results, fn = [], None
        for one in outs:
            state = self.tensors.find(one)
            if state is None:
                state = self.tensors.leaf(one, stack, "seen")  # its node is recorded below
            elif state.version != version_of(one) - state.offset:
                state = self.tensors.see(one, stack)
            state.requires = requires_of(one)
            results.append((state.number, state.version, state.value, state.requires, state.storage, None))
            fn = fn or grad_fn_of(one)
        numbers = tuple(one[0] for one in results) if completed else None
        self.log.append(("made", -1, entries.left, numbers, completed))
        if not results:
            return
        record = None
        if self.is_new(fn):
            record = self.graph.node(fn, stack, results, (), code=True)
        attrs: dict[str, Any] = {"function": kind.__name__}
        tensors = tuple(isinstance(one, Tensor) for one in args)
        if not all(tensors):
            attrs["tensors"] = tensors
        self.log.append(("made", stack, entries.custom, refs, attrs, tuple(results), record, self.watch.backward.call))


def nth(value: Any, place: int) -> Any:
    """An argument at one position of the lists that an op takes."""
    return value[place] if type(value) is list and place < len(value) else value


def grad_fn_of(tensor: Any) -> Any:
    """The node of a tensor; None if torch refuses to say."""
    try:
        return tensor.grad_fn
    except RuntimeError:  # a view made under no_grad whose base was written
        return None


def shapes_of(fn: Any) -> list[tuple[int, ...]]:
    """The shapes of the results of the op of a node."""
    try:
        return [tuple(shape_of(one)) for one in fn._input_metadata]
    except (AttributeError, RuntimeError, TypeError, ValueError):
        return [()]


def flat(out: Any) -> Iterator[Any]:
    """The results of an op, taken out of tuples and lists."""
    if isinstance(out, (tuple, list)):
        for one in out:
            yield from flat(one)
    else:
        yield out


HELPERS = "torch/nn/init.py", "torch/nn/parameter.py", "torch/overrides.py"
_LAYERS: dict[Any, int] = {}


def kind_of(code: Any) -> int:
    """Where in torch code stands: 1 in a layer that makes its parameters, 2 where it is helped, 0 anywhere else."""
    kind = _LAYERS.get(code)
    if kind is None:
        name = code.co_filename.replace("\\", "/")
        is_init = "/torch/nn/" in name and code.co_name in ("__init__", "reset_parameters", "_reset_parameters")
        is_helper = name.endswith(HELPERS) or "/torch/utils/_" in name
        kind = _LAYERS[code] = 1 if is_init else 2 if is_helper or "/record/torch/" in name else 0
    return kind


def outer(depth: int) -> Any:
    """The frame this many calls further out; the outermost one if there are not so many, as in a script that records a
    block of its own top level, and None in a thread of autograd's."""
    try:
        frame = _getframe(depth)
    except ValueError:
        return None
    return frame.f_back or frame


def place_at(depth: int) -> Place:
    """The frame this many calls outside the caller, by its id, and its instruction; None in a thread of autograd's.  A
    mode that hears of the call stands in between, as that of `torch.set_default_device`."""
    try:
        frame = _getframe(depth + 1)
    except ValueError:
        return None
    while frame.f_code.co_name == "__torch_function__" and frame.f_back is not None:
        frame = frame.f_back
    return id(frame), frame.f_lasti


def is_library(frame: Any) -> bool:
    """Return whether a layer of torch's is being made in a frame."""
    while frame is not None and kind_of(frame.f_code) == 2:
        frame = frame.f_back
    return frame is not None and kind_of(frame.f_code) == 1


def is_of_scaler(frame: Any) -> bool:
    """Return whether a GradScaler makes its scale in a frame."""
    while frame is not None and frame.f_code.co_name == "__torch_function__":  # of a mode that hears of it first
        frame = frame.f_back
    return frame is not None and frame.f_code.co_filename.endswith("grad_scaler.py")


def is_parameter_made(frame: Any) -> bool:
    """Return whether `Parameter(...)` runs in a frame."""
    return frame is not None and frame.f_code.co_filename.endswith("parameter.py")
