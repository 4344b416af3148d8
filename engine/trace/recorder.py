"""The hot path of recording: plain tuples, interned call stacks, arrays kept by reference.

One module-level slot, `slot.active`, is read by op dispatch and by the backward loop; nothing is paid beyond that read
while no recording runs.  What is appended here becomes the objects of `engine.trace` only when it is read
(`engine.trace.building`).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any

from numpy import generic

from ..arrays.errors import notes_of
from .kept import LIMIT, Kept
from .short import in_full, next_id, plain
from .source import Places


class Recorder(Kept):
    """Collects what happens, as tuples (kind, stack, ...).  `read` in `engine.trace.building` makes the Trace.

    What is appended are tuples of numbers and names: Python's cyclic collector stops looking at those, so that a long
    recording does not slow the program down.

    Kinds and their fields:
    leaf (tensor, storage, version, value, requires_grad, source, grad) · op (name, inputs, statics, outputs, sequence,
    needs, inplace, call) · plain, an op in short (name, input, input or None, output, value, sequence, needs, call) ·
    refresh · outside · data · flag · mode · grad_set · start · vjp (call, sequence, upstream, cotangents, unsummed,
    freed) · run, a vjp in short (call, sequence, first value, kinds, freed) · accumulate · hook · code · left ·
    escape · error · warning · end · enter · leave.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        super().__init__(limit)
        self.call: int | None = None
        self.calls = 0
        self.errors: dict[int, BaseException] = {}
        self.depth = 0
        self.pace: Callable[[], object] | None = None
        self.is_read = False  # whether the values are read from here too, and not from a file alone

    # -- what happens ---------------------------------------------------------------------------------------------

    def op(self, op: Any, inputs: Any, statics: Any, outputs: Any, node: Any, inplace: Any) -> None:
        """A forward op ran.

        What is common is short: a tensor in version 0 is its number, the one fresh output is (number, value,
        requires_grad); everything else is written out.
        """
        first, values, limit = self.first, self.values, self.limit
        refs: list[Any] = []
        for value in inputs:
            kind = type(value)
            if kind is float or kind is int or kind is bool or value is None:
                refs.append((None, value))
            elif isinstance(value, generic):  # a number of numpy's
                refs.append((None, value.item()))
            elif kind is list or kind is tuple:
                refs.append((("list",), *(self.see(v) if hasattr(v, "_array") else (None, v) for v in value)))
            elif value is inplace:
                refs.append((value._id, value._shared.moment - 1))
            elif value._id >= first and ((shared := value._shared) is None or plain(shared)):
                refs.append(value._id)
            else:
                refs.append(self.see(value))
        out = outputs[0]
        shared = out._shared
        if out._id < first and len(outputs) == 1 and (shared is None or fresh(shared, first)):
            data = out._array
            number = out._id = next_id()
            out._value = len(values)
            values.append(data if data.size <= limit else self.summary(data))
            if shared is not None:
                shared.number, shared.recorded = number, [out._value]
            results: tuple[Any, ...] = (number, out._value, out._requires_grad)
        else:
            results = tuple([self.result(out, inplace) for out in outputs])
        if op.name == "_unsafe_view":  # it has the memory of its input, a result that the program has no hold of
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

    def again(self, op: Any, view: Any, base: Any, path: Any, node: Any) -> None:
        """A view whose base was written is taken of it anew: the same elements with another history."""
        refs = (self.see(base),)
        number, version = self.see(view)
        results = ((number, version, view._value, True, view._shared.number),)
        self.log.append(
            ("op", self.stack(3), op.name, refs, {"path": path}, results, node.sequence_nr, 1, None, self.call)
        )

    def custom(
        self, name: str, seen: Any, outputs: Any, node: Any, written: Any, saved: Any, given: tuple[bool, ...]
    ) -> None:
        """A custom Function ran: `seen` are its inputs as `see` told them, `written` the one that it wrote in place,
        `saved` what it keeps for backward, `given` which of its arguments are tensors."""
        results = tuple([self.result(out, written) for out in outputs])
        held = tuple([(t._id, t._value) if self.knows(t) else (None, self.keep_copy(t._array)) for t in saved])
        sequence, needs = (-1, 0) if node is None else (node.sequence_nr, 1)
        statics: dict[str, Any] = {"function": name, "saved": held}
        if not all(given):
            statics["tensors"] = given
        if node is not None and node.name() != f"{name}Backward":
            statics["node"] = node.name()
        self.log.append(
            (
                "op", self.stack(3), "custom_function", ((("list",), *seen),), statics, results, sequence, needs,
                None if written is None else written._id, self.call,
            )
        )  # fmt: skip

    def data_set(self, tensor: Any, source: Any) -> None:
        """`x.data = y`: a tensor has the elements of another from now on, which its version does not count."""
        number = self.see(source)[0]
        self.register(tensor, self.keep_copy(tensor._array))
        self.log.append(("data", self.stack(2), tensor._id, tensor._seen, tensor._value, number))

    def grad_set(self, tensor: Any, grad: Any) -> None:
        """`x.grad = ...`, or `= None`."""
        value = None if grad is None else self.keep_copy(grad._array)
        self.log.append(("grad_set", self.stack(2), self.see(tensor)[0], value, self.held(grad)))

    def start(
        self, function: str, roots: Any, gradients: Any, given: Any, inputs: Any, *,
        keep: bool, graph: bool, legacy: bool, anomaly: bool,
    ) -> int:  # fmt: skip
        """A backward call begins; its number.  `given` are the gradients as the user passed them, None where none."""
        own = [g for g in given if hasattr(g, "_storage")]
        if self.call is None:
            self.begun = min((g._value for g in own if self.knows(g)), default=len(self.values))
        seen = [self.see(root)[0] for root in roots]
        sources = [self.see(g)[0] if hasattr(g, "_storage") else g for g in given]
        self.hand_out(own)
        held = [self.keep_copy(g) for g in gradients]
        asked = None if inputs is None else [self.see(t)[0] for t in inputs]
        self.call = call = self.calls
        self.calls += 1
        started = list(zip(seen, held, sources, strict=True))
        self.log.append(("start", self.stack(2), call, function, started, asked, keep, graph, legacy, anomaly))
        return call

    def end(self, call: int, completed: bool, outer: int | None, results: Any = ()) -> None:
        """The backward call `call` ended; `outer` is the call it ran in, `results` what `autograd.grad` returns."""
        self.call = outer
        self.hand_out(results)
        numbers = [None if t is None else self.see(t, "grad")[0] for t in results]
        self.log.append(("end", -1, call, completed, numbers))

    def vjp(self, node: Any, upstream: Any, cotangents: Any, unsummed: Any, freed: bool) -> None:
        """A node ran."""
        keep = self.keep
        self.log.append(
            (
                "vjp", -1, self.call, node.sequence_nr,
                tuple([None if g is None else keep(g) for g in upstream]),
                tuple([None if c is None else keep(c) for c in cotangents]),
                tuple([None if c is None else keep(c) for c in unsummed]),
                freed,
            )
        )  # fmt: skip

    def accumulate(self, tensor: Any, grad: Any, before: int | None, added: Any, retained: bool) -> None:
        """A gradient was added to `.grad`."""
        number = self.see(tensor)[0]
        after = self.keep(grad._array)  # whoever writes into it goes through `before_write`
        held = self.register(grad, after)
        self.grads.add(held)
        self.log.append(("accumulate", -1, self.call, number, held, before, self.keep(added), after, retained))

    def hook(self, tensor: Any, node: Any, place: str, nr: int, before: Any, after: Any) -> None:
        """A hook replaced a gradient: of a tensor, or gradient `nr` before or after a node."""
        seen = None if tensor is None else self.see(tensor)[0]
        kept = [None if g is None else self.keep(g) for g in (before, after)]
        sequence = None if node is None else node.sequence_nr
        self.log.append(("hook", -1, self.call, seen, *kept, sequence, place, nr))

    def enter_code(
        self, place: str, given: Any, *, tensor: Any = None, node: Any = None, sequence: int | None = None, nr: int = 0,
        split: int = 0, source: str = "gradient",
    ) -> None:  # fmt: skip
        """Code of the user's begins, called with `given`: what it does is recorded."""
        if source == "gradient" and place != "forward":  # whose arguments are seen as any other's
            self.hand_out(given)
        numbers = [None if g is None else self.see(g, source)[0] for g in given]
        seen = None if tensor is None else self.see(tensor)[0]
        sequence = sequence if node is None else node.sequence_nr
        self.log.append(("code", -1, self.call, place, seen, sequence, nr, numbers, split))

    def leave_code(self, results: Any, completed: bool) -> None:
        """The code that was entered last ended; `results` are tensors and None, or None."""
        numbers = None if results is None else [None if r is None else self.see(r)[0] for r in results]
        self.log.append(("left", -1, numbers, completed))

    def event(self, kind: str, *fields: Any) -> None:
        """Anything rare."""
        self.log.append((kind, self.stack(2), *fields))

    # -- what belongs together ------------------------------------------------------------------------------------

    def within(self, name: str, kind: str = "", held: tuple[int | None, ...] = ()) -> Group:
        """`with recorder.within(name):` groups what runs inside."""
        return Group(self, name, kind or name, held)

    def enter_module(self, module: Any) -> Group:
        """The group of a module's call."""
        return Group(self, self.names.entered(module, see=self.see, outermost=not self.depth), type(module).__name__)

    # -- where it happened --------------------------------------------------------------------------------------------

    def error(self, error: BaseException) -> None:
        """An exception passed through; the same one is recorded once, with the line of the op that it is about."""
        if id(error) in self.errors:
            return
        self.errors[id(error)] = error
        node = getattr(getattr(error, "place", None), "node", None)
        where = None if node is None else self.line_of(node.sequence_nr)
        if node is not None and where is not None:
            note = f"Backstep: {node.name()} stands for the op in {where}."
            if note not in notes_of(error):  # a recorded error that is raised again has it
                error.add_note(note)
        self.log.append(("error", self.stack(2), error, self.call))

    def is_within_call(self, tensor: Any) -> bool:
        """Whether `tensor` is what the last event gave, written inside of the brackets of the call that runs now."""
        last = in_full(self.log[-1]) if self.log else ("",)
        if last[0] == "leaf":
            made = last[2]
        elif last[0] == "op" and last[8] is None:
            made = last[5][0]
        else:
            return False
        now = self.frames(sys._getframe(2))
        whole = next((place for place, number in self.stacks.items() if number == last[1]), ())
        then = whole[len(whole) - len(now) :]  # perhaps a helper of the user's made it: then it has more frames
        if not now or made != tensor._id or not self.knows(tensor) or now[:1] + now[2:] != then[:1] + then[2:]:
            return False
        spans = list(self.codes[now[0]].co_positions())
        (line, end, col, stop), (first, last_line, begin, close) = spans[now[1] // 2], spans[then[1] // 2]
        known = None not in (line, end, col, stop, first, last_line, begin, close)  # else compiled without columns
        return known and (line, col) <= (first, begin) and (last_line, close) <= (end, stop)

    def line_of(self, sequence_nr: int) -> str | None:
        """The user's line of the op with this sequence number: file and line; None where it was not recorded."""
        ops = (in_full(e) for e in reversed(self.log) if e[0] in ("op", "plain"))
        stack = next((e[1] for e in ops if e[6] == sequence_nr), -1)
        key = list(self.stacks)[stack] if stack >= 0 else ()
        if not key:
            return None
        frames = key[0] if isinstance(key[0], tuple) else (Places().frame(self.codes[key[0]], key[1]),)
        return f"{os.path.basename(frames[-1].file)}, line {frames[-1].line}" if frames else None


class Group:
    """What belongs together, from entering to leaving; also where an error leaves."""

    __slots__ = ("held", "kind", "name", "recorder")

    def __init__(self, recorder: Recorder, name: str, kind: str, held: tuple[int | None, ...] = ()) -> None:
        self.recorder, self.name, self.kind, self.held = recorder, name, kind, held

    def __enter__(self) -> None:
        self.recorder.depth += 1
        self.recorder.log.append(("enter", self.recorder.stack(2), self.name, self.kind, self.held))

    def __exit__(self, *_: object) -> None:
        self.recorder.depth -= 1
        self.recorder.log.append(("leave", -1))


def fresh(shared: Any, first: int) -> bool:
    """Whether a storage is known to no recording yet and was never written: that of a new result."""
    return shared.number < first and not (shared.version or shared.unseen or shared.memory)


def written_out(results: tuple[Any, ...]) -> tuple[tuple[int, int, int, bool, int], ...]:
    """The results of an "op" entry as (number, version, value, requires_grad, storage) each."""
    if type(results[0]) is int:
        number, value, requires = results
        return ((number, 0, value, requires, number),)
    return results
