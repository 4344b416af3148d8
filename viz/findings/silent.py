"""Problems without an error, each with its place and a proof in the numbers of this run.  Pure.

None of these is a mistake in every program (gradients of several batches may be meant to add up), so each finding says
what happened, in numbers, and what to write if that was not intended.
"""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import numpy as np

from engine.trace.events import (
    Accumulated,
    BackwardStarted,
    Escaped,
    LeafCreated,
    OpCalled,
    Saved,
    VjpRun,
    WarningGiven,
)
from engine.trace.messages import warning_kind

from ..reading import labels, text
from ..reading.facts import Facts
from ..reading.jacobian import arguments, pull
from ..reading.stale_values import unseen
from .finding import Finding, Kind
from .losses.outer_products import is_accidental

WHOLE = 120
"""The most characters of an expression that is quoted whole, because its end is the part that matters."""


def findings(facts: Facts) -> Iterator[Finding]:
    """The findings of this module, one search after the other.  Cost: linear in the events."""
    search = _Search(facts)
    for look in (search.sums, search.behind_back, search.half, search.choices, search.casts, search.spread,
                 search.rounded, search.copies, search.inner):  # fmt: skip
        yield from look()


class _Search:
    def __init__(self, facts: Facts) -> None:
        self.facts = facts
        self.trace, self.line, self.code_at = facts.trace, facts.line_number, facts.code_at

    def brief(self, index: int | None) -> str:
        return "nothing" if index is None else text.brief(self.trace.value(index))

    def called(self, event: VjpRun) -> OpCalled | None:
        index = self.facts.op_of_node.get(event.node)
        return self.facts.ops[index].event if index is not None else None

    def at(self, called: OpCalled) -> str:
        return self.facts.ops[self.facts.op_at[called.index]].id

    def runs(self) -> Iterator[tuple[VjpRun, OpCalled]]:
        """Every VJP that receives one gradient, with its op."""
        for event in self.trace.events:
            called = self.called(event) if isinstance(event, VjpRun) and len(event.upstream) == 1 else None
            if isinstance(event, VjpRun) and called is not None and event.upstream[0] is not None:
                yield event, called

    # -- gradients that add up ------------------------------------------------------------------------------------

    def sums(self) -> Iterator[Finding]:
        """For each tensor, the first gradient that is added to one of an earlier call, if both are nonzero somewhere.

        Calls that fill one element after the other do not add up, and adding up the gradients of several losses,
        without looking at one of them alone, is the purpose of `.grad`.
        """
        first: dict[int, int] = {}
        between: dict[int, int] = defaultdict(int)  # calls that added to it since the first
        calls: set[int] = set()
        looked: set[int] = set()  # gradients that were printed, or read into Python in another way
        for event in self.trace.events:
            if isinstance(event, Escaped):
                looked.add(event.tensor)
            if not isinstance(event, Accumulated):
                continue
            earlier = first.setdefault(event.tensor, event.call)
            if event.before is None or not self.trace.value(event.before).sample.any():
                first[event.tensor], between[event.tensor] = event.call, 0
                looked.discard(event.grad)
                continue
            if (
                earlier != event.call
                and event.tensor not in calls
                and self.meet(event.before, event.added)
                and (event.grad in looked or self.again(event, earlier))
            ):
                calls.add(event.tensor)
                yield self.sum(event, earlier, between[event.tensor])
            between[event.tensor] += earlier != event.call

    def again(self, event: Accumulated, earlier: int) -> bool:
        """Return whether a call repeats an earlier one: it starts at the same root or at a gradient that the earlier
        call computed, or its gradient is the same."""
        call, other = self.facts.calls[event.call], self.facts.calls[earlier]
        roots = {root.tensor for root in other.event.roots}
        if call.order > other.order or any(root.tensor in roots for root in call.event.roots):
            return True
        assert event.before is not None
        grad, came = self.trace.value(event.before), self.trace.value(event.added)
        return not grad.damaged and bool(np.array_equal(grad.sample, came.sample))

    def meet(self, before: int, added: int) -> bool:
        """Return whether two gradients are both nonzero in some element."""
        grad, came = self.trace.value(before), self.trace.value(added)
        if grad.array is None or came.array is None:
            return True
        return bool(((grad.array != 0) & (came.array != 0)).any())

    def sum(self, event: Accumulated, earlier: int, between: int) -> Finding:
        name = self.facts.names.get(event.tensor) or "a tensor"
        call = self.facts.calls[event.call].event
        by, before = self.code_at(call.stack), self.code_at(self.facts.calls[earlier].event.stack)
        came = f"from {before}" if before else "from an earlier call"
        if by and by == before:  # a line in a loop
            came, by = f"from an earlier {by}", "the next run of this line"
        if between:
            came += f" and {text.count(between, 'later call')}"
        why = (
            f"`{name}.grad` held {self.brief(event.before)} {came}, and {by or 'this call'} added "
            f"{self.brief(event.added)}: {self.brief(event.after)}. backward() adds to `.grad`; it never replaces it."
        )
        note = " zero_grad() does not reset it, because it is not a leaf." if event.retained else ""
        fix = f"If you want only the latest gradient, set `{name}.grad = None` before the call.{note}"
        if event.before is not None and any(self.facts.owner.get(root.tensor) == event.tensor for root in call.roots):
            fix = (  # the call starts from `.grad`, which must not be cleared before it
                "If you want only the latest gradient, take it out first: "
                f"`g = {name}.grad; {name}.grad = None; g.backward()`. "
                "Or use torch.autograd.grad, which does not touch `.grad`."
            )
        return Finding("sum", event.index, None, f"{name}.grad adds up", why, fix, self.line(call.stack))

    # -- writes that the version counter does not count -----------------------------------------------------------

    def behind_back(self) -> Iterator[Finding]:
        """A node that runs on a saved value which was changed through .data or numpy since it was saved."""
        for index, stale in unseen(self.facts).items():
            event, first = self.trace.events[index], stale[0]
            if isinstance(event, VjpRun) and (called := self.called(event)) is not None:
                yield self.changed(event, called, first.saved, first.now, first.wrote)
                return

    def changed(self, event: VjpRun, called: OpCalled, saved: Saved, now: int, wrote: int | None) -> Finding:
        name = self.facts.names.get(saved.tensor) if saved.tensor is not None else None
        name = name or "a tensor"
        by = self.code_at(self.trace.events[wrote].stack) if wrote is not None else ""
        node = called.node.name if called.node is not None else "A node"
        sent = next((c for c in event.cotangents if c is not None), None)
        right = self.as_recorded(event, called)
        instead = f"; with the value of the forward pass it would send {right}" if right else ""
        why = (
            f"{node} saved {name} = {self.brief(saved.value)}. {by or 'A write'} changed it to {self.brief(now)}, but "
            f"the version counter did not change. So it sends {self.brief(sent)}{instead}."
        )
        fix = f"Change {name} after the backward call, or under no_grad() instead of .data: then you get an error."
        return Finding(
            "write",
            event.index,
            self.at(called),
            f"{name} changed unseen",
            why,
            fix,
            self.line(called.stack),
        )

    def as_recorded(self, event: VjpRun, called: OpCalled) -> str:
        """The first cotangent, computed from the values of the forward pass."""
        upstream = self.trace.value(event.upstream[0]).array if event.upstream[0] is not None else None
        name = called.node.inputs[0] if called.node is not None and called.node.inputs else None
        cotangent = self.pulled(called, name, upstream)
        return "" if cotangent is None else text.elements(cotangent)

    def pulled(self, called: OpCalled, name: str | None, upstream: Any, wide: bool = False) -> np.ndarray | None:
        """The cotangent of one input, computed again; None if that is not possible."""
        values = arguments(self.facts, called) if name is not None and upstream is not None else None
        if values is None or name is None:
            return None
        if wide:
            values = {key: _wide(value) for key, value in values.items()}
            upstream = _wide(upstream)
        try:
            return pull(called, name, values, upstream)
        except Exception:  # noqa: BLE001  a rule may need what a trace does not keep: then there is no proof
            return None

    # -- paths that are cut ---------------------------------------------------------------------------------------

    def half(self) -> Iterator[Finding]:
        """An op of a tensor and of its own detached copy.

        Their difference is 0 and its derivative 1, which is written for that: a policy's ratio with its probabilities
        of now, and estimators that let a gradient through.
        """
        for event, called in self.runs():
            inputs = [i for i in called.inputs if i.tensor is not None]
            if len(inputs) != 2 or called.node is None or labels.written_name(called) == "sub":
                continue
            for live, cut in (inputs, inputs[::-1]):
                producer = self.facts.producer(cut.tensor, cut.version) if cut.tensor in self.facts.tensors else None
                op = self.facts.ops[producer].event if producer is not None else None
                if op is None or op.name not in ("detach", "data") or op.inputs[0].tensor != live.tensor:
                    continue
                yield self.half_cut_finding(event, called, live.name, cut.name, live.tensor)
                return

    def half_cut_finding(self, event: VjpRun, called: OpCalled, live: str, cut: str, tensor: int | None) -> Finding:
        name = (self.facts.names.get(tensor) if tensor is not None else None) or "the tensor"
        upstream = self.trace.value(event.upstream[0] or 0).array
        ways = [self.pulled(called, way, upstream) for way in (live, cut)]
        numbers = [text.elements(way) if way is not None else "a gradient" for way in ways]
        why = (
            f"Both factors have the numbers of {name}, but only one is connected to it. That path contributes "
            f"{numbers[0]}; the path that was cut would contribute another {numbers[1]}."
        )
        fix = "If both should count, remove the detach()."
        return Finding("cut", event.index, self.at(called), "one path is cut", why, fix, self.line(called.stack))

    def copies(self) -> Iterator[Finding]:
        """A leaf that torch.tensor() made from a tensor of the graph."""
        for event in self.trace.events:
            if not isinstance(event, Escaped) or event.kind != "tensor":
                continue
            leaf = next((e for e in self.facts.following(event.index) if isinstance(e, LeafCreated)), None)
            old = self.facts.tensors.get(event.tensor)
            if leaf is None or old is None or not old.requires_grad:
                continue
            name = self.facts.names.get(leaf.tensor) or "The copy"
            producer = self.facts.made_by(event.tensor, event.index)
            was = self.facts.names.get(event.tensor) or (
                self.code_at(self.facts.ops[producer].event.stack) if producer is not None else "a tensor"
            )
            why = (
                f"{name} has the numbers of {was or 'a tensor'}, {self.brief(leaf.value)}, but it is a new leaf: no "
                "edge leads back, so the original receives no gradient."
            )
            fix = "Remove torch.tensor(); for a copy within the graph, use .clone()."
            yield Finding(
                "copy",
                leaf.index,
                f"t{leaf.tensor}",
                "the graph ends here",
                why,
                fix,
                self.line(leaf.stack),
            )

    def inner(self) -> Iterator[Finding]:
        """The program read `.grad` of a tensor that is not a leaf: for each name the first time."""
        names: set[str] = set()
        sources = self.facts.sources
        for event in self.trace.events:
            if not isinstance(event, WarningGiven) or warning_kind(event) != "grad-of-inner":
                continue
            frame = self.facts.frames.get(event.stack)
            node = sources.node(frame) if frame is not None else None
            if frame is None or not isinstance(node, ast.Attribute) or node.attr != "grad":
                continue
            name = sources.file(frame.file).text_of(node.value)
            if name in names:
                continue
            names.add(name)
            named = [t for t, label in self.trace.names.items() if label == name and t in self.facts.tensors]
            tensor = max((t for t in named if self.facts.tensors[t].event < event.index), default=None)
            if tensor is None:
                continue
            fact = self.facts.tensors[tensor]
            producer = self.facts.producer(tensor, fact.last)
            op = self.facts.ops[producer] if producer is not None else None
            came = self.upstream_before(op.event, event.index) if op is not None else []
            passed = f" The gradient {self.brief(came[-1])} passed through it and went on." if came else ""
            by = self.code_at(op.event.stack, WHOLE) if op is not None else ""  # its end says why it is not a leaf
            why = f"{name} was computed ({by or 'by an op'}), so it is not a leaf, and `{name}.grad` is None.{passed}"
            other = " (the existing call is on another tensor of this name)" if self.asked_of(name, tensor) else ""
            fix = (
                f"Read `.grad` of the leaf, or call `{name}.retain_grad()` before the backward call{other}. "
                "For a parameter, compute its initial values first and set requires_grad last."
            )
            if f"{name}.grad" in by:
                fix = (
                    f"Update {name} in place, as in `with torch.no_grad(): {name} -= …`: an assignment makes a new "
                    "tensor, which is not a leaf."
                )
            yield Finding(
                "leaf",
                event.index,
                f"t{tensor}",
                f"{name} is not a leaf",
                why,
                fix,
                self.line(event.stack),
            )

    def asked_of(self, name: str, tensor: int) -> bool:
        """Return whether the program calls `retain_grad()` on another tensor of the same name."""
        return any(other != tensor and self.trace.names.get(other) == name for other in self.facts.retained)

    def upstream_before(self, called: OpCalled, before: int) -> list[int | None]:
        """The upstream gradients that an op's node received before an event."""
        node = called.node.node if called.node is not None else None
        return [e.upstream[0] for e in self.trace.events[:before] if isinstance(e, VjpRun) and e.node == node]

    # -- choices, types and shapes --------------------------------------------------------------------------------

    def choices(self) -> Iterator[Finding]:
        """Points at which a function has no derivative, and a similar function uses another value."""
        for event, called in self.runs():
            first, name = called.inputs[0], labels.written_name(called)
            is_extreme, is_clamped = name in ("max", "min") and not called.attrs, name.startswith("clamp")
            if not is_extreme and not is_clamped:
                continue
            value = self.facts.read(first)
            array = value.array if value is not None else None
            if array is None or array.dtype.kind != "f" or first.tensor is None:
                continue
            of = self.facts.names.get(first.tensor) or "its input"
            if is_extreme and array.size:
                best = array.max() if name == "max" else array.min()
                ties = int((array == best).sum())
                if ties > 1:
                    why = (
                        f"{text.number(best)} occurs {ties} times in {of}. {name}() divides its gradient equally among "
                        f"them, 1/{ties} each; {name}(dim=0) would give all of it to the first."
                    )
                    fix = f"If only one should receive it, use {name}(dim).values; otherwise this is right."
                    yield self.choice(
                        "tie", event, called, f"{ties} are the {'largest' if name == 'max' else 'smallest'}", why, fix
                    )
                    return
            if is_clamped:
                bounds = [called.attrs.get("min"), called.attrs.get("max")]
                hit = next((b for b in bounds if isinstance(b, (int, float)) and (array == b).any()), None)
                if hit is not None:
                    place = [int(n) for n in np.argwhere(array == hit)[0]]
                    why = (
                        f"{of}{place} is {text.number(hit)}, exactly the bound, where clamp has a kink and no "
                        "derivative. clamp uses 1 there, as for values inside. relu has the same values but uses 0."
                    )
                    fix = "If no gradient should pass at the bound, use relu()."
                    yield self.choice("kink", event, called, "a kink", why, fix)
                    return

    def choice(self, kind: Kind, event: VjpRun, called: OpCalled, label: str, why: str, fix: str) -> Finding:
        return Finding(kind, event.index, self.at(called), label, why, fix, self.line(called.stack))

    def casts(self) -> Iterator[Finding]:
        """A gradient that was cast to another type and changed its value."""
        for event in self.trace.events:
            for root in event.roots if isinstance(event, BackwardStarted) else ():
                source = self.facts.tensors.get(root.source) if root.source is not None else None
                to = self.facts.tensors.get(root.tensor)
                if source is None or to is None or source.dtype == to.dtype:
                    continue
                old = self.trace.value(source.values[source.last]).array
                new = self.trace.value(root.gradient).array
                if old is None or new is None or old.shape != new.shape:
                    continue
                lost = np.argwhere((old != new) & ~np.isclose(old, new.astype(np.float64), 1e-6, 0))
                first = next((e for e in self.facts.following(event.index) if isinstance(e, VjpRun)), None)
                if not len(lost) or first is None:
                    continue
                pairs = [f"{text.number(old[tuple(p)])} became {text.number(new[tuple(p)])}" for p in lost[:2]]
                name = self.facts.names.get(root.tensor) or "the root"
                why = f"The gradient is {source.dtype} but {name} is {to.dtype}, so it was cast: {text.join(pairs)}."
                fix = f"Compute {name} in {source.dtype}, or keep the gradient within the range of {to.dtype}."
                label = f"cast to {to.dtype}"
                yield Finding("cast", first.index, f"t{root.tensor}", label, why, fix, self.line(event.stack))

    def spread(self) -> Iterator[Finding]:
        """A column combined with a row of the same length: every pair of elements instead of each with its own."""
        for event in self.trace.events:
            if not isinstance(event, OpCalled) or event.call is not None or len(event.inputs) < 2:
                continue
            if event.index in self.facts.own.hidden:
                continue
            name = labels.written_name(event)
            if name not in ("sub", "mul", "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
                continue
            if name == "mul" and not is_accidental(self.facts, event):
                continue
            sides = [self.narrow(i.tensor, i.version) for i in event.inputs[:2] if i.tensor in self.facts.tensors]
            shapes = sorted((side.shape for side in sides if side is not None), key=len)
            n = shapes[0][0] if len(shapes) == 2 and len(shapes[0]) == 1 else 0
            if n < 2 or shapes != [(n,), (n, 1)]:
                continue
            first, second = (side.reshape(-1) for side in sides if side is not None)
            results, alone = ("products", first * second) if name == "mul" else ("differences", first - second)
            numbers = f": {text.elements(alone)}" if n <= text.SMALL else ""
            why = (
                f"A column of {n} and a row of {n} broadcast to {n}×{n}: {n * n} {results}, every element of one "
                f"with every element of the other. Element by element there are {n}{numbers}."
            )
            fix = (
                "Give both the same shape: `squeeze(1)` turns the column into a row, `view(-1, 1)` the row into a "
                "column."
            )
            label = f"{n * n} {results}, not {n}"
            yield Finding("shape", event.index, self.at(event), label, why, fix, self.line(event.stack))
            return

    def narrow(self, tensor: int | None, version: int) -> np.ndarray | None:
        """The value of an input, before it was expanded for the op."""
        if tensor is None:
            return None
        producer = self.facts.producer(tensor, version)
        op = self.facts.ops[producer].event if producer is not None else None
        if op is not None and op.name == "expand" and op.inputs[0].tensor is not None:
            tensor, version = op.inputs[0].tensor, op.inputs[0].version
        index = self.facts.value(tensor, version)
        return self.trace.value(index).array if index is not None else None

    def rounded(self) -> Iterator[Finding]:
        """A gradient that became 0 because it is too small for float16."""
        for event, called in self.runs():
            received = self.trace.value(event.upstream[0] or 0)
            upstream = received.array if received.dtype == "float16" else None
            if upstream is None or called.node is None:
                continue
            for name, index in zip(called.node.inputs, event.cotangents, strict=True):
                sent = self.trace.value(index).array if index is not None else None
                right = self.pulled(called, name, upstream, wide=True)
                if sent is None or right is None or right.shape != sent.shape:
                    continue
                lost = np.argwhere((sent == 0) & (right != 0))
                if len(lost):
                    place = tuple(int(n) for n in lost[0])
                    came = upstream[place] if upstream.shape == sent.shape else upstream.reshape(-1)[0]
                    why = (
                        f"It receives {text.number(came)} and should send {text.number(right[place])}. float16 has "
                        "no number between 0 and 5.96e-8, and 0 is nearer, so it sends 0."
                    )
                    fix = (
                        "Multiply the loss by a power of 2 before backward() and divide the gradients by it in float32."
                    )
                    label = "rounded to 0"
                    yield Finding("rounded", event.index, self.at(called), label, why, fix, self.line(called.stack))
                    return


def _wide(value: Any) -> Any:
    if isinstance(value, (list, tuple)) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(_wide(v) for v in value)
    return value.astype(np.float64) if isinstance(value, np.ndarray) and value.dtype.kind == "f" else value
