"""The ops that produce the first inf and the first nan, forward and backward: the place, its numbers, the fix."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from engine.arrays.element_types import is_float, largest
from engine.trace.events import GroupEntered, GroupLeft, OpCalled, Output, Value, VjpRun

from ..reading import labels, text
from ..reading.facts import Facts
from ..reading.source_text import source
from .finding import Finding, Kind
from .losses.about_loss import elements, producer_of
from .updates.gradient_values import UNSCALE

NonFinite = Literal["nan", "inf"]

_LOG = (
    "Keep its input away from 0, as in `p.clamp(min=1e-8).log()`. For the log of a softmax, use log_softmax, which "
    "needs no clamp."
)
_STEEP = (
    "The upstream gradient is 0, but the derivative of a square root is infinite at 0, and 0 · inf is nan. Add a small "
    "number inside, as in `(x + 1e-12).sqrt()`, or use torch.linalg.vector_norm, which sends 0 there."
)
_DIVISOR = "Keep the divisor away from 0: add a small number to it"
_DIVIDE = f"{_DIVISOR}, or put a 1 there with where() *before* dividing."
_OVERFLOWS = (
    "{name} overflows {dtype} above {most}: subtract the maximum first, or use softmax, log_softmax or logsumexp."
)
_ROOT = (
    "The derivative of a square root is infinite at 0, and below 0 the root is not defined: add a small number inside, "
    "or clamp it."
)
_ROOT_AGAIN = (
    "The derivatives of a square root are infinite at 0: add a small number inside, as in `torch.sqrt(x + 1e-12)`."
)
_NORM = (
    "A norm is the root of a sum of squares, and the derivatives of a root are infinite at 0: add a small number "
    "inside it, as in `torch.sqrt((x * x).sum(-1) + 1e-12)`."
)
_NORMS = frozenset({"linalg_vector_norm"})
_AGAIN: Mapping[str, str] = {"root": _ROOT_AGAIN, "deviation": ""}
"""The fix of a second derivative, by the reason in the op's declaration, where it is another one."""
_ONE = "A single value has no deviation (0 ÷ 0): use more values, or divide by their number with correction=0."
_ENDS = (
    "It is defined between -1 and 1, and its derivative is infinite at both ends: keep its input inside, as in "
    "`x.clamp(-1 + 1e-6, 1 - 1e-6)`. For an angle, torch.atan2 has no such ends."
)
_ROW = (
    "A mask leaves nothing in this row, so there is no largest number to subtract and no sum to divide by. Leave at "
    "least one entry unmasked, leave such rows out, or set their result to 0 with `torch.where(empty, 0.0, result)` "
    "and mask with a large negative number instead of `-inf`."
)
_REMEDIES: Mapping[str, str] = {
    "": "", "row": "", "deviation": _ONE, "logarithm": _LOG, "division": _DIVIDE, "root": _ROOT, "overflow": _OVERFLOWS,
    "ends": _ENDS,
    "power": "A negative or fractional power has no finite derivative at 0: keep its base away from 0.",
}  # fmt: skip
"""The fix, by the reason in the op's declaration (`nonfinite` in engine/ops/presentation.py)."""
_UNMASKED: Mapping[str, str] = {**_REMEDIES, "division": f"{_DIVISOR}."}
"""The same where the program has no mask."""
_MASKED = (
    "The upstream gradient is 0 there (a mask or where() discarded the value), but 0 · inf is nan. "
    "Put in a harmless value *before* this op, as in `torch.where(ok, x, 1.0)`."
)
_TIMES_ZERO = "The upstream gradient is 0 there, but the local derivative is infinite, and 0 · inf is nan."
_EPS = "The update divides by 0: pass a larger eps to {optimizer}."
_EPS_OF_HALF = (
    "In float16 the squares of small gradients and a small eps become 0, so the update divides by 0. Keep the "
    "parameters in float32, and compute in float16 with torch.autocast and a GradScaler."
)
_GRADIENT: Mapping[NonFinite, Kind] = {"nan": "nan-gradient", "inf": "inf-gradient"}
_NEAR = 1e-3
"""The share of the dtype's largest number above which a product of the largest inputs counts as an overflow: the terms
of a sum add up."""
_FLAT = "Fix the op that produced the inf: this one only multiplied it."
_FIX_THE_INF = "inf ÷ inf, inf − inf and 0 · inf are nan. Fix the op that produced the inf."
_FIX_FORWARD = "Fix the op that produced the {kind} in the forward pass: backward only passes it on."
_LEFT_OUT = " The GradScaler leaves out this update and lowers its scale: a problem only if it goes on for ever."
_OVERFLOW = "The largest {dtype} number is {most}: keep the numbers before this op smaller."


def findings(facts: Facts) -> list[Finding]:
    """The ops that produced the first inf and the first nan, forward and backward, in order of events.

    A value that is infinite because the program wrote an infinity (a mask of -inf) does not count, nor, if the roots of
    all backward calls are finite, a nan in a tensor that nothing computed, such as a buffer to be filled, or a value
    that only becomes integers, such as the numbers of the buckets for the distances in T5.
    Cost: one look at each recorded value.
    """
    search = _Search(facts)
    result: dict[Kind, Finding] = {}
    for event in facts.trace.events:
        if event.index in facts.own.hidden:
            continue
        if isinstance(event, OpCalled):
            sources = search.forward(event)
        elif isinstance(event, VjpRun):
            sources = search.backward(event)
        else:
            continue
        for finding in sources:
            result.setdefault(finding.kind, finding)
    return sorted(result.values(), key=lambda finding: finding.event)


def roots_are_finite(facts: Facts) -> bool:
    """Return whether all roots of backward calls were finite."""
    root_values = (facts.tensors[root].values for root in facts.roots if root in facts.tensors)
    return not any(_kinds(facts.trace.value(index)) for values in root_values for index in values.values())


class _Step(NamedTuple):
    """The first and the last event of an optimiser's step, its class, and the leaves that it holds."""

    start: int
    end: int
    optimizer: str
    leaves: frozenset[int | None]


class _Search:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.kinds_by_value: dict[int, frozenset[NonFinite]] = {}

    @cached_property
    def is_sound(self) -> bool:
        """Whether there are backward calls, and their roots are finite."""
        return bool(self.facts.roots) and roots_are_finite(self.facts)

    @cached_property
    def is_scaled(self) -> bool:
        """Whether a GradScaler divides gradients by its scale."""
        return any(isinstance(event, OpCalled) and event.name == UNSCALE for event in self.facts.trace.events)

    def kinds(self, index: int | None) -> frozenset[NonFinite]:
        """The kinds that a value contains: nan, inf, both or none."""
        if index is None:
            return frozenset()
        if index not in self.kinds_by_value:
            self.kinds_by_value[index] = _kinds(self.facts.trace.value(index))
        return self.kinds_by_value[index]

    def all_kinds(self, indices: Iterable[int | None]) -> frozenset[NonFinite]:
        return frozenset[NonFinite]().union(*(self.kinds(index) for index in indices))

    def forward(self, event: OpCalled) -> Iterable[Finding]:
        results = event.outputs[:1] + tuple(out for out in event.outputs[1:] if self.is_read(out))
        bad = next((out for out in results if self.kinds(out.value)), None)
        if bad is None or event.call is not None:
            return
        kinds = self.all_kinds(self.inputs(event))
        kinds |= frozenset[NonFinite]().union(*(_written_kinds(v) for v in self.numbers(event)))
        if labels.presentation(event).masks:  # the program's own infinity, in the words of attention
            kinds |= {"inf"}
        name = labels.written_name(event)
        for kind in sorted(self.kinds(bad.value), reverse=True):
            if kind in kinds or (kind == "inf" and kinds):
                leaf = self.origin(event, kind)
                if leaf is None or self.is_sound:
                    continue
                why, fix = self.of_leaf(leaf, kind)
            elif self.is_sound and self.becomes_integers(event):
                return
            else:
                leaf = None
                sample = self.example(event, bad.value, kind)
                of = f" of {optimizer}.step()" if (optimizer := self.optimizer(event)) else ""
                why = f"The input of {name} has no {kind}, but its result has one{sample}. This op{of} produced it"
                fix = _FIX_THE_INF if "inf" in kinds else self.remedy(event, kind, bad.dtype)
                if row := self.empty_row(event):
                    why, fix = f"{row}, and {name} of nothing but −inf is nan. This op produced it", _ROW
                elif kind == "nan" and (targets := self.ignored(event)):
                    why = f"{targets}, which the loss ignores. A mean over no targets is 0 ÷ 0 = nan"
                    fix = "Check how the targets are computed. Leave out a batch that has none."
            yield replace(self.finding(kind, event, event, f"first {kind}: {name}", why, fix), leaf=leaf)

    def of_leaf(self, leaf: int, kind: NonFinite) -> tuple[str, str]:
        """The reason and the fix for a leaf that holds nan or inf from the beginning."""
        name, section = self.facts.names.get(leaf) or "the tensor", self.facts.changed_in(leaf)
        if not section:
            return f"{name} holds {kind} before anything is computed", f"Check where {name} comes from."
        optimizer = next((step.optimizer for step in self.steps if leaf in step.leaves), "")
        who = f"{name}, which {optimizer} updates," if optimizer else name
        return (
            f"{who} already holds {kind} when this iteration begins: {section} wrote it. It is first used here",
            f"Go to {section} and look for the op that produced the {kind}.",
        )

    def becomes_integers(self, event: OpCalled) -> bool:
        """Whether only integers are computed from the results of an op, and from those that are not finite either.

        Cost: linear in the ops up to the first integers.
        """
        facts, is_integer = self.facts, False
        todo, seen = [out for out in event.outputs if self.kinds(out.value)], set[tuple[int, int]]()
        while todo:
            out = todo.pop()
            if out.requires_grad or not self.kinds(out.value):
                return False
            uses = () if (out.tensor, out.version) in seen else facts.uses.get((out.tensor, out.version), ())
            seen.add((out.tensor, out.version))
            for index, _ in uses:
                results = facts.ops[index].event.outputs
                is_integer |= any(not is_float(one.dtype) and one.dtype != "bool" for one in results)
                todo += [one for one in results if is_float(one.dtype)]
        return is_integer

    def is_read(self, out: Output) -> bool:
        """Whether an op reads a result: one that none reads is for backward, as the -inf of ctc_loss's table."""
        return (out.tensor, out.version) in self.facts.uses

    def ignored(self, event: OpCalled) -> str:
        """`All 8 targets are -100`, of a loss that ignores this class; "" if a target is left.

        A library may divide the sum by the number of targets in another op.
        """
        for loss in (event, producer_of(self.facts, event.inputs[0]) if event.inputs else None):
            if loss is not None and "ignore_index" in loss.attrs:
                targets = elements(self.facts, loss.inputs[1])
                if targets is not None and targets.size and (targets == loss.attrs["ignore_index"]).all():
                    return f"All {targets.size:,} targets are {loss.attrs['ignore_index']}"
        return ""

    def numbers(self, event: OpCalled) -> list[Any]:
        return [i.scalar for i in event.inputs if i.tensor is None] + list(event.attrs.values())

    def origin(self, event: OpCalled, kind: NonFinite) -> int | None:
        """An input with a nan that no op computed.  An infinity in such an input is intended, except in a parameter
        that an earlier iteration updated."""
        for argument in event.inputs:
            if argument.tensor is None or argument.tensor in self.facts.owner:
                continue
            if kind != "nan" and not self.facts.changed_in(argument.tensor):
                continue
            fact = self.facts.tensors.get(argument.tensor)
            if fact is None or fact.leaf is None or argument.version != fact.first:
                continue
            if kind in self.kinds(self.facts.value(argument.tensor, argument.version)):
                return argument.tensor
        return None

    def backward(self, event: VjpRun) -> Iterable[Finding]:
        op = self.facts.op_of_node.get(event.node)
        upstream = self.all_kinds(event.upstream)
        if op is None:
            return
        called = self.facts.ops[op].event
        if self.ignored(called):  # its result is nan for the same reason
            return
        node = self.facts.node(op)
        name = node.name if node is not None else "a node"
        for kind in sorted(self.all_kinds(event.cotangents), reverse=True):
            if kind in upstream or (kind == "inf" and upstream):
                continue
            sample, came = self.slope(event, called, kind)
            reason, fix = self.reason(event, called, kind, came)
            why = f"{name} receives no {kind}, but it sends one{sample}. {reason}"
            finding = self.finding(_GRADIENT[kind], event, called, f"first {kind} gradient: {name}", why, fix)
            is_searched = self.is_scaled and self.is_sound
            yield replace(finding, why=finding.why + _LEFT_OUT, fix="") if is_searched else finding

    def reason(self, event: VjpRun, called: OpCalled, kind: NonFinite, came: float | None) -> tuple[str, str]:
        """The reason why a VJP sends a non-finite gradient without receiving one, and the fix; `came` is the upstream
        gradient of that element."""
        source = f"The {kind} comes from the local derivative"
        values, dtype = self.inputs(called), called.outputs[0].dtype
        of = self.differentiated(called)
        if came == 0.0 and self.is_masked(called, event.index):
            return source, _MASKED
        if came == 0.0 and "nan" not in self.all_kinds(values):
            if of is None and labels.presentation(called).nonfinite == "root":
                return source, _STEEP
            return source, f"{_TIMES_ZERO} {self.of_derivative(event, called, of, _UNMASKED)}".strip()
        if kind == "nan" and came is not None and np.isinf(came):
            return "The inf is multiplied by a derivative of 0, and 0 · inf is nan", _FLAT
        if kind == "nan" and "inf" in self.all_kinds(event.upstream):
            return "The upstream gradient has an inf, and 0 · inf and inf − inf are nan", _FIX_THE_INF
        inputs, results = self.all_kinds(values), self.all_kinds(out.value for out in called.outputs)
        causes = [one for one in (kind, "inf") if one in inputs]
        if not causes and kind in results and not _remedy(called):
            causes = [kind]
        if causes:
            why = f"The {causes[0]} is in the values of the forward pass, which its derivative uses"
            return why, _FIX_FORWARD.format(kind=causes[0])
        if kind == "inf" and self.largest(event.upstream) * max(self.largest(values), 1.0) > _NEAR * _most(dtype):
            return f"A product exceeds the largest {dtype} number", _too_large(dtype)
        sent = self.dtype_sent(event)
        if kind == "inf" and sent != dtype and self.largest(event.upstream) > _most(sent):
            most = text.rough(self.largest(event.upstream), 3)
            return f"A gradient of up to {most} is converted to {sent}, which cannot hold it", _too_large(sent)
        return source, self.of_derivative(event, called, of, _REMEDIES)

    def dtype_sent(self, event: VjpRun) -> str:
        """The dtype of the gradients that a VJP sends."""
        return next((self.facts.trace.value(one).dtype for one in event.cotangents if one is not None), "")

    def remedy(self, event: OpCalled, kind: NonFinite, dtype: str) -> str:
        """The fix for an op that gives a non-finite value without receiving one."""
        if self.divides_by_zero(event):
            optimizer = self.optimizer(event)
            about_eps = _EPS_OF_HALF if dtype == "float16" else _EPS.format(optimizer=optimizer)
            return about_eps if optimizer else _remedy(event)
        overflows = labels.presentation(event).largest is not None
        if kind == "inf" and not overflows and self.largest(self.inputs(event)) ** 2 > _NEAR * _most(dtype):
            return _too_large(dtype)
        return _remedy(event)

    def divides_by_zero(self, event: OpCalled) -> bool:
        """Whether the divisor of an op, its last input, has a 0."""
        if labels.presentation(event).nonfinite != "division":
            return False
        divisor = event.inputs[-1]
        value = self.facts.value(divisor.tensor, divisor.version) if divisor.tensor is not None else None
        return divisor.scalar == 0 if value is None else bool(self.facts.trace.value(value).stats["zeros"])

    def optimizer(self, event: OpCalled) -> str:
        """The class of the optimiser in whose step an op runs; "" for none."""
        place = bisect_right(self.steps, event.index, key=lambda step: step.start) - 1
        return self.steps[place].optimizer if place >= 0 and event.index < self.steps[place].end else ""

    @cached_property
    def steps(self) -> list[_Step]:
        """The steps of optimisers, in order.  Linear in the events."""
        result, around = list[_Step](), list[GroupEntered]()
        for event in self.facts.trace.events:
            if isinstance(event, GroupEntered):
                around.append(event)
            elif isinstance(event, GroupLeft) and around:
                group = around.pop()
                if group.optimizer:
                    result.append(_Step(group.index, event.index, group.optimizer, frozenset(group.tensors)))
        return sorted(result, key=lambda step: step.start)

    def differentiated(self, called: OpCalled) -> OpCalled | None:
        """The program's own op of whose derivative an op is a part; None for an op of the program."""
        while called.call is not None:
            runs = (e for e in self.facts.following(called.index) if isinstance(e, VjpRun) and e.call == called.call)
            op = self.facts.op_of_node.get(next((run.node for run in runs), -1))
            if op is None or self.facts.ops[op].event.index >= called.index:
                return None
            called = self.facts.ops[op].event
            if called.call is None:
                return called
        return None

    def of_derivative(self, event: VjpRun, called: OpCalled, of: OpCalled | None, reasons: Mapping[str, str]) -> str:
        """The fix for the derivative of an op; `of` is the program's op of whose derivative that op is a part, None for
        one of the program."""
        if of is None:
            return _remedy(called, reasons)
        record = self.facts.node(self.facts.op_of_node[event.node])
        name = record.name if record is not None else "This node"
        frame = self.facts.frames.get(of.stack)
        where = labels.written_name(of)
        if frame is not None:
            where = f"`{source(self.facts.trace, frame, 60)}` ({self.facts.line(frame)})"
        fix = _NORM if of.name in _NORMS else _remedy(of, {**reasons, **_AGAIN})
        return f"{name} belongs to the derivative of {where}, which is differentiated once more. {fix}".strip()

    def inputs(self, event: OpCalled) -> list[int | None]:
        """The values of an op's inputs."""
        return [self.facts.value(i.tensor, i.version) for i in event.inputs if i.tensor is not None]

    def largest(self, values: Iterable[int | None]) -> float:
        """The largest finite magnitude in some values."""
        contents = [self.facts.trace.value(index) for index in values if index is not None]
        return max((abs(float(value.stats[key])) for value in contents for key in ("min", "max")), default=0.0)

    def is_masked(self, called: OpCalled, before: int) -> bool:
        """Return whether the program put the result of an op, or what it computed from the same elements of it, into a
        where() or a mask, which discarded a part of it.  A mask that is part of a derivative is not the program's."""
        facts, outs = self.facts, {out.tensor for out in called.outputs}
        for op in facts.ops[facts.op_at[called.index] + 1 :]:
            if op.event.index >= before:
                break
            form = labels.presentation(op.event)
            if all(argument.tensor not in outs for argument in op.event.inputs):
                continue
            if form.chooses and op.event.call is None:
                return True
            if form.elementwise:
                outs |= {out.tensor for out in op.event.outputs}
        return False

    def finding(
        self, kind: Kind, event: OpCalled | VjpRun, called: OpCalled, label: str, why: str, fix: str
    ) -> Finding:
        frame = self.facts.frames.get(called.stack)
        where = "."
        if frame is not None:
            where = f", in `{source(self.facts.trace, frame, 60)}` ({self.facts.line(frame)})."
        at = self.facts.ops[self.facts.op_at[called.index]].id
        return Finding(kind, event.index, at, label, why + where, fix, self.facts.line_number(called.stack))

    # -- one element ----------------------------------------------------------------------------------------------

    def example(self, event: OpCalled, value: int, kind: NonFinite) -> str:
        """`: 0 ÷ 0 = nan at [1]`, for the first such element; "" if it cannot be written in numbers."""
        name, result = labels.written_name(event), self.facts.trace.value(value).array
        if not labels.presentation(event).elementwise or result is None or event.inplace is not None:
            return ""
        place = _first(result, kind)
        parts = [self.element(i.tensor, i.version, i.scalar, result.shape, place) for i in event.inputs]
        parts += [text.number(v) for k, v in event.attrs.items() if k == "exponent" and isinstance(v, (int, float))]
        if place is None or None in parts:
            return ""
        sign = labels.presentation(event).sign
        operands = [part for part in parts if part is not None]
        expression = f" {sign} ".join(operands) if sign and len(operands) == 2 else f"{name}({', '.join(operands)})"
        return f": {expression} = {text.number(result[place])}{_at(place)}"

    def empty_row(self, event: OpCalled) -> str:
        """`All 10 numbers of s[3, 0, :] are −inf`, of the first such row; "" if none is in the recorded values."""
        index = next(iter(self.inputs(event)), None) if labels.presentation(event).nonfinite == "row" else None
        array = self.facts.trace.value(index).array if index is not None else None
        if array is None or not array.ndim:
            return ""
        axis = int(event.attrs["dim"]) % array.ndim
        rows = np.argwhere(np.isneginf(array).all(axis=axis))
        if not len(rows):
            return ""
        place = [str(n) for n in rows[0]]
        place.insert(axis, ":")
        tensor = event.inputs[0].tensor
        name = (self.facts.names.get(tensor) if tensor is not None else None) or "the input"
        return f"All {array.shape[axis]} numbers of {name}[{', '.join(place)}] are −inf"

    def slope(self, event: VjpRun, called: OpCalled, kind: NonFinite) -> tuple[str, float | None]:
        """The upstream gradient and the inputs at the first such element, in words; and the upstream gradient alone."""
        bad = next((c for c in event.cotangents if kind in self.kinds(c)), None)
        plain = labels.presentation(called).elementwise and bad is not None and len(event.upstream) == 1
        above_of = event.upstream[0] if plain else None
        if bad is None or above_of is None or called.inplace is not None:
            return "", None
        sent, above = self.facts.trace.value(bad).array, self.facts.trace.value(above_of).array
        place = _first(sent, kind) if sent is not None else None
        if sent is None or above is None or place is None or above.shape != sent.shape:
            return "", None
        there = []
        for argument in called.inputs:
            part = self.element(argument.tensor, argument.version, argument.scalar, sent.shape, place)
            name = self.facts.names.get(argument.tensor) if argument.tensor is not None else None
            if part is not None and argument.tensor is not None:
                there.append(f"{name or 'its input'} is {part}")
        there = list(dict.fromkeys(there))  # once for the two of x * x
        came = float(above[place])
        where = f" where {text.join(there)}" if there else ""
        return f"{where}: it receives {text.number(came)} and sends {text.number(sent[place])}{_at(place)}", came

    def element(
        self, tensor: int | None, version: int, scalar: Any, shape: tuple[int, ...], place: tuple[int, ...] | None
    ) -> str | None:
        if tensor is None:
            return text.scalar(scalar)
        index = self.facts.value(tensor, version)
        array = self.facts.trace.value(index).array if index is not None else None
        if array is None or place is None:
            return None
        try:
            return text.number(np.broadcast_to(array, shape)[place])
        except ValueError:
            return None


def _remedy(event: OpCalled, reasons: Mapping[str, str] = _REMEDIES) -> str:
    """The fix for an op whose result or derivative is not finite, by the reason in its declaration; "" if there is
    none."""
    form, dtype = labels.presentation(event), event.outputs[0].dtype
    most = "" if form.largest is None else text.number(math.floor(10 * form.largest(_most(dtype))) / 10)
    return reasons[form.nonfinite].format(name=labels.written_name(event), dtype=dtype, most=most)


_FEW = 64
"""Elements that are looked at sooner than their statistics are computed."""


def _kinds(value: Value) -> frozenset[NonFinite]:
    array = value.array_up_to(_FEW)
    if array is None:
        return frozenset(kind for kind in _TESTS if value.stats[kind])
    if array.dtype.kind != "f" or np.isfinite(array).all():
        return frozenset()
    return frozenset(k for k, test in _TESTS.items() if test(array).any())


_TESTS: Mapping[NonFinite, Callable[[Any], Any]] = {"nan": np.isnan, "inf": np.isinf}


def _most(dtype: str) -> float:
    """The largest number of a dtype of the trace."""
    return largest(dtype if is_float(dtype) else "float32")


def _too_large(dtype: str) -> str:
    most = _most(dtype)
    return _OVERFLOW.format(dtype=dtype, most=f"{most:.0f}" if most < 1e6 else f"{most:.2g}".replace("e+", "e"))


def _written_kinds(number: Any) -> frozenset[NonFinite]:
    if not isinstance(number, float) or np.isfinite(number):
        return frozenset()
    return frozenset({"nan" if np.isnan(number) else "inf"})


def _first(array: np.ndarray, kind: NonFinite) -> tuple[int, ...] | None:
    places = np.argwhere(_TESTS[kind](array))
    return tuple(int(n) for n in places[0]) if len(places) else None


def _at(place: tuple[int, ...]) -> str:
    return f" at [{', '.join(str(n) for n in place)}]" if place else ""
