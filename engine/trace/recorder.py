"""The hot path of recording: plain tuples, interned call stacks, arrays kept by reference.

One module-level slot, `slot.active`, is read by op dispatch and by the backward loop; while no recording runs, this
read is the only cost.  The entries become the objects of `engine.trace.events` only when they are read
(`engine.trace.log_reader`).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Protocol

from numpy import generic

from ..arrays.session import slot
from .call_stacks import CallStacks
from .columns import Column
from .events import Trace
from .log import NONE, OWN, OWN_SUM, SAME, SUM, Entry, Recording, in_full, sequence_of
from .messages import notes_of
from .tensor_states import TensorStates, is_fresh, is_unwritten, next_id
from .value_store import LIMIT, ValueStore


class LibraryWatch(Protocol):
    """What watches another library for a recording, and does not while the recording pauses."""

    @property
    def may_pause(self) -> bool:
        """Whether nothing runs that has to be recorded to its end."""

    def pause(self) -> None:
        """Leave the library as it is without us."""

    def go_on(self) -> None:
        """Watch it again: any tensor may have changed."""


class Recorder:
    """Writes the log: the engine's events with their stacks, tensors and values.  `stacks` knows where the program is,
    `tensors` which tensors are known, `store` their values.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.log: list[Entry] = []
        self.stacks = CallStacks(self.log)
        self.store = ValueStore(limit)
        self.tensors = tensors = TensorStates(self.log, self.stacks, self.store)
        self.names = tensors.names
        self.call: int | None = None
        self.calls = 0
        self.errors: dict[int, BaseException] = {}
        self.about: tuple[int, tuple[int, ...]] = 0, ()
        """The last error of an op of another library, by its id, and the tensors that the op was given."""
        self.depth = 0
        self.settle: Callable[[], object] | None = None
        """Records the ops that wait for it, as those of another library do, before an event that they precede."""
        self.pace: Callable[[], object] | None = None
        """Called after an op if the recording is written to a file meanwhile and the writing cannot keep up."""
        self.go_on: Callable[[], object] | None = None
        """Ends the pause, if there is one, of a recording that pauses between iterations."""
        self.library: LibraryWatch | None = None
        """The side of a recording that watches another library."""
        self.meta: dict[str, Any] = {}
        """The `meta` of the recording, without how its program ended."""
        self.until: Callable[[int, int, int], Trace] | None = None
        """Reads the recording up to an entry, a value and a stack from the file that it is written to meanwhile."""
        self.forgotten = 0  # entries of the log that are written, and not here any more,
        self.lines = Column("i")  # and the stacks of the ops among them, by sequence number
        # Looked up once, because each op needs them:
        self.limit, self.values, self.summary, self.first = limit, self.store.values, self.store.summary, tensors.first
        self.stack, self.see = self.stacks.number, tensors.see
        self.knows, self.recognise, self.hand_out = tensors.knows, tensors.recognise, tensors.hand_out
        self.see_base, self.before_write, self.after_write = tensors.see_base, tensors.before_write, tensors.after_write

    @property
    def recording(self) -> Recording:
        """The collected data, in the reader's form; it grows while the recording goes on."""
        stacks = self.stacks
        return Recording(self.log, self.values, stacks.numbers, stacks.codes, stacks.iterations, self.names)

    # -- events ---------------------------------------------------------------------------------------------

    def op(self, op: Any, inputs: Any, statics: Any, outputs: Any, node: Any, inplace: Any) -> None:
        """A forward op ran.  Common cases have short forms: a tensor in version 0 is its number, a single new output is
        (number, value, requires_grad); everything else is written out.
        """
        first, values, limit = self.first, self.values, self.limit
        refs: list[Any] = []
        for value in inputs:
            kind = type(value)
            if kind is float or kind is int or kind is bool or value is None:
                refs.append((None, value))
            elif isinstance(value, generic):  # a numpy number
                refs.append((None, value.item()))
            elif kind is list or kind is tuple:
                refs.append((("list",), *(self.see(v) if hasattr(v, "_array") else (None, v) for v in value)))
            elif value is inplace:
                refs.append((value._id, value._shared.moment - 1))
            elif value._id >= first and ((shared := value._shared) is None or is_unwritten(shared)):
                refs.append(value._id)
            else:
                refs.append(self.see(value))
        out = outputs[0]
        shared = out._shared
        if out._id < first and len(outputs) == 1 and (shared is None or is_fresh(shared, first)):
            data = out._array
            number = out._id = next_id()
            out._value = len(values)
            values.append(data if data.size <= limit else self.summary(data))
            if shared is not None:
                shared.number, shared.recorded = number, [out._value]
            results: tuple[Any, ...] = (number, out._value, out._requires_grad)
        else:
            results = tuple([self.tensors.result(out, inplace) for out in outputs])
        if op.unsafe:  # a write to one of the results changes the input, whose value is recorded
            for out in outputs:
                out._storage.recorded = [*out._storage.recorded, inputs[0]._value]
        if node is None:
            sequence, needs = -1, 0
        else:
            sequence, needs = node.sequence_nr, node.plan.needs
        self.log.append(
            (
                "op", self.stack(3), op.name, tuple(refs), statics or None, results,
                sequence, needs, None if inplace is None else inplace._id, self.call,
            )
        )  # fmt: skip
        if self.pace is not None:
            self.pace()

    def plain(self, op: Any, first: Any, second: Any, out: Any, node: Any) -> None:
        """An op of one or two inputs (`second` is None, a tensor or a number) ran and made a tensor, as most do."""
        values, first_id = self.values, self.first
        a = first._id
        if a < first_id or ((s := first._shared) is not None and (s.version or s.unseen or s.memory)):  # is_unwritten
            a = self.see(first)
        b: Any = None
        if second is not None:
            kind = type(second)
            if kind is float or kind is int:
                b = (None, second)
            else:
                b = second._id
                if b < first_id or ((s := second._shared) is not None and (s.version or s.unseen or s.memory)):
                    b = self.see(second)
        data = out._array
        number = out._id = next_id()
        value = out._value = len(values)
        values.append(data if data.size <= self.limit else self.summary(data))
        shared = out._shared
        if shared is not None:
            shared.number, shared.recorded = number, [value]
        sequence, needs = (-1, 0) if node is None else (node.sequence_nr, node.plan.needs)
        self.log.append(("plain", self.stack(3), op.name, a, b, number, value, sequence, needs, self.call))
        if self.pace is not None:
            self.pace()

    def plain_vjp(self, node: Any, gradient: Any, cotangents: Any, fitted: Any, freed: bool) -> bool:
        """A node of one output ran; `fitted` are the cotangents summed over what was broadcast.  Returns False and
        records nothing if they do not all have the shape of their targets, or if a summed array is large.
        """
        limit, values = self.limit, self.values
        arrived = gradient if gradient.size <= limit else self.summary(gradient)
        start = len(values)
        arrays: list[Any] = []
        if values[-1] is arrived:  # most gradients are a value that the node before has just sent
            upstream = start - 1
        elif values[-2] is arrived:
            upstream = start - 2
        elif start > 2 and values[-3] is arrived:
            upstream = start - 3
        else:
            upstream, start = start, start + 1
            arrays.append(arrived)
        kinds = ""
        edge = -1
        for target in node.targets:
            edge += 1
            cotangent = fitted[edge]
            if cotangent is None:
                kinds += NONE
            elif cotangent.shape != target.shape:
                return False
            elif cotangent is gradient:
                kinds += SAME
            elif cotangent is (unsummed := cotangents[edge]):
                kinds += OWN
                arrays.append(cotangent if cotangent.size <= limit else self.summary(cotangent))
            elif unsummed.size > limit:
                return False
            elif unsummed is gradient:
                kinds += SUM
                arrays.append(cotangent)
            else:
                kinds += OWN_SUM
                arrays += unsummed, cotangent
        values += arrays
        self.log.append(("run", -1, self.call, node.sequence_nr, upstream, start, kinds, freed))
        return True

    def again(self, op: Any, view: Any, base: Any, path: Any, node: Any) -> None:
        """A view whose base was written is taken from it again: the same elements with another history."""
        refs = (self.see(base),)
        number, version = self.see(view)
        results = ((number, version, view._value, True, view._shared.number),)
        self.log.append(
            ("op", self.stack(3), op.name, refs, {"path": path}, results, node.sequence_nr, 1, None, self.call)
        )

    def custom(
        self, name: str, seen: Any, outputs: Any, node: Any, target: Any, saved: Any, tensors: tuple[bool, ...]
    ) -> None:
        """A custom Function ran: `seen` are its inputs as returned by `see`, `target` the one that it wrote in place,
        `saved` its saved tensors, `tensors` says which of its arguments are tensors."""
        results = tuple([self.tensors.result(out, target) for out in outputs])
        values = tuple([(t._id, t._value) if self.knows(t) else (None, self.store.add_copy(t._array)) for t in saved])
        sequence, needs = (-1, 0) if node is None else (node.sequence_nr, 1)
        statics: dict[str, Any] = {"function": name, "saved": values}
        if not all(tensors):
            statics["tensors"] = tensors
        if node is not None and node.name() != f"{name}Backward":
            statics["node"] = node.name()
        self.log.append(
            (
                "op", self.stack(3), "custom_function", ((("list",), *seen),), statics, results, sequence, needs,
                None if target is None else target._id, self.call,
            )
        )  # fmt: skip

    def data_set(self, tensor: Any, source: Any) -> None:
        """`x.data = y`: a tensor has the elements of another from now on, which its version does not count."""
        number = self.see(source)[0]
        self.tensors.register(tensor, self.store.add_copy(tensor._array))
        self.log.append(("data", self.stack(2), tensor._id, tensor._seen, tensor._value, number))

    def grad_set(self, tensor: Any, grad: Any) -> None:
        """`x.grad = ...`, or `= None`."""
        value = None if grad is None else self.store.add_copy(grad._array)
        self.log.append(("grad_set", self.stack(2), self.see(tensor)[0], value, self.tensors.gradient(grad)))

    def start(
        self, function: str, roots: Any, gradients: Any, passed: Any, inputs: Any, *,
        keep: bool, graph: bool, legacy: bool, anomaly: bool,
    ) -> int:  # fmt: skip
        """A backward call begins; returns its number.  `passed` are the gradients as the user passed them, None where
        there is none."""
        own = [g for g in passed if hasattr(g, "_storage")]
        if self.call is None:
            self.tensors.begin_backward(own)
        tensors = [self.see(root)[0] for root in roots]
        sources = [self.see(g)[0] if hasattr(g, "_storage") else g for g in passed]
        self.hand_out(own)
        values = [self.store.add_copy(g) for g in gradients]
        places = None if inputs is None else [self.see(t)[0] for t in inputs]
        starts = list(zip(tensors, values, sources, strict=True))
        stack = self.stack(2)
        call = self.calls
        self.calls += 1
        self.log.append(("start", stack, call, function, starts, places, keep, graph, legacy, anomaly))
        self.call = call  # now that the log has it: the next event may be another thread's
        return call

    def end(self, call: int, completed: bool, outer: int | None, results: Any = ()) -> None:
        """The backward call `call` ended; `outer` is the call it ran in, `results` what `autograd.grad` returns."""
        self.call = outer
        self.hand_out(results)
        numbers = [None if t is None else self.see(t, "grad")[0] for t in results]
        self.log.append(("end", -1, call, completed, numbers))

    def vjp(self, node: Any, upstream: Any, cotangents: Any, unsummed: Any, freed: bool) -> None:
        """A node ran."""
        add = self.store.add
        self.log.append(
            (
                "vjp", -1, self.call, node.sequence_nr,
                tuple([None if g is None else add(g) for g in upstream]),
                tuple([None if c is None else add(c) for c in cotangents]),
                tuple([None if c is None else add(c) for c in unsummed]),
                freed,
            )
        )  # fmt: skip

    def accumulate(self, tensor: Any, grad: Any, before: int | None, added: Any, retained: bool) -> None:
        """A gradient was added to `.grad`."""
        number = self.see(tensor)[0]
        after = self.store.add(grad._array)  # all writes to it go through `before_write`
        gradient = self.tensors.register(grad, after)
        self.tensors.gradients.add(gradient)
        self.log.append(("accumulate", -1, self.call, number, gradient, before, self.store.add(added), after, retained))

    def hook(self, tensor: Any, node: Any, place: str, nr: int, before: Any, after: Any) -> None:
        """A hook replaced a gradient: of a tensor, or gradient `nr` before or after a node."""
        number = None if tensor is None else self.see(tensor)[0]
        values = [None if g is None else self.store.add(g) for g in (before, after)]
        sequence = None if node is None else node.sequence_nr
        self.log.append(("hook", -1, self.call, number, *values, sequence, place, nr))

    def enter_code(
        self, place: str, arguments: Any, *, tensor: Any = None, node: Any = None, sequence: int | None = None,
        nr: int = 0, split: int = 0, source: str = "gradient",
    ) -> None:  # fmt: skip
        """User code begins, called with `arguments`: its ops are recorded."""
        if source == "gradient" and place != "forward":  # its arguments are recorded like any others
            self.hand_out(arguments)
        numbers = [None if g is None else self.see(g, source)[0] for g in arguments]
        owner = None if tensor is None else self.see(tensor)[0]
        sequence = sequence if node is None else node.sequence_nr
        self.log.append(("code", -1, self.call, place, owner, sequence, nr, numbers, split))

    def leave_code(self, results: Any, completed: bool) -> None:
        """The innermost user code ended; `results` are tensors and None, or None."""
        numbers = None if results is None else [None if r is None else self.see(r)[0] for r in results]
        self.log.append(("left", -1, numbers, completed))

    def event(self, kind: str, *fields: Any) -> None:
        """Any rare event."""
        self.log.append((kind, self.stack(2), *fields))

    # -- groups ------------------------------------------------------------------------------------

    def within(
        self, name: str, kind: str = "", tensors: tuple[int | None, ...] = (), rate: float | None = None
    ) -> Group:
        """`with recorder.within(name):` groups the events inside; `tensors` are those that the group owns, `rate` the
        learning rate of an optimiser's step."""
        return Group(self, name, kind or name, tensors, rate)

    def enter_module(self, module: Any) -> Group:
        """The group of a module's call."""
        return Group(self, self.names.entered(module, see=self.see, outermost=not self.depth), type(module).__name__)

    def enter(self, name: str, kind: str, tensors: tuple[int | None, ...], rate: float | None = None) -> None:
        """A group begins."""
        self.depth += 1
        self.log.append(("enter", self.stack(3), name, kind, tensors, rate))

    def leave(self) -> None:
        """The innermost group ends."""
        self.depth -= 1
        self.log.append(("leave", -1))

    # -- errors, and expressions in the program's text -----------------------------------------------------

    def error(self, error: BaseException) -> None:
        """An exception passed through; the same one is recorded once, with the line of the op that it is about."""
        if id(error) in self.errors:
            return
        self.errors[id(error)] = error
        node = getattr(getattr(error, "place", None), "node", None)
        line = None if node is None else self.line_of(node.sequence_nr)
        if node is not None and line is not None:
            note = f"Backstep: {node.name()} stands for the op in {line}."
            if note not in notes_of(error):  # a recorded error that is raised again has it
                error.add_note(note)
        number, tensors = self.about
        self.log.append(("error", self.stack(2), error, self.call, tensors if number == id(error) else ()))

    def uncaught(self, error: BaseException) -> None:
        """An exception ends what is recorded, which may be in a pause."""
        if self.go_on is not None:
            self.go_on()
        if slot.active is self:
            self.error(error)

    def line_of(self, sequence_nr: int) -> str | None:
        """File and line of the user's call of the op with this sequence number; None if it was not recorded."""
        entries = (self.log[place] for place in range(len(self.log) - 1, self.forgotten - 1, -1))
        ops = (in_full(entry) for entry in entries if entry[:1] in (("op",), ("plain",)))
        stack = next((entry[1] for entry in ops if entry[6] == sequence_nr), self.lines.get(sequence_nr))
        return None if stack is None else self.stacks.line(stack)

    def forget(self, until: int) -> None:
        """Let go of the entries before one, which are written; the newest stays."""
        log = self.log
        until = min(until, len(log) - 1)
        for entry in log[self.forgotten : until]:
            sequence = sequence_of(entry)
            if sequence >= 0:
                self.lines[sequence] = entry[1]
        for place in [place for place in list(self.stacks.iterations) if place < until]:
            del self.stacks.iterations[place]
        if until > self.forgotten:
            log[self.forgotten : until] = [()] * (until - self.forgotten)
            self.forgotten = until

    def is_within_call(self, tensor: Any) -> bool:
        """Return whether `tensor` is the result of the last event, in an expression inside the parentheses of the call
        that runs now."""
        last = in_full(self.log[-1]) if self.log else ("",)
        if last[0] == "leaf":
            newest = last[2]
        elif last[0] == "op" and last[8] is None:
            newest = last[5][0]
        else:
            return False
        return bool(newest == tensor._id and self.knows(tensor) and self.stacks.encloses(sys._getframe(2), last[1]))


class Group:
    """A group of events, from its beginning to its end, also if an error ends it."""

    __slots__ = ("kind", "name", "rate", "recorder", "tensors")

    def __init__(
        self, recorder: Recorder, name: str, kind: str, tensors: tuple[int | None, ...] = (), rate: float | None = None
    ) -> None:
        self.recorder, self.name, self.kind, self.tensors, self.rate = recorder, name, kind, tensors, rate

    def __enter__(self) -> None:
        self.recorder.enter(self.name, self.kind, self.tensors, self.rate)

    def __exit__(self, *_: object) -> None:
        self.recorder.leave()
