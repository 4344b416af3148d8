"""Several steps in words: the sentence of a span, and the norm of the gradient that it receives."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engine.trace.events import Accumulated, Edge, GradSet, Input, OpCalled, VjpRun

from ..graph.gradient_free import is_owned
from ..graph.graph import Drawing
from ..reading import text
from ..reading.labels import written_name
from ..time.phases import optimizer_steps
from ..time.reach import behind
from ..time.spans import Span, writes
from ..time.steps import Step, Timeline
from .names import called

MOST = 2
"""The most tensors, gradients or receivers of a span that are named one by one; of more, their number."""

End = tuple[int | None, int | None, int]
"""The receiver of a gradient: the node, or else the leaf, and the number of the node's output."""


@dataclass(frozen=True, slots=True)
class SpanText:
    """The sentence of a span; `norm` is that of the largest gradient that it receives, None if it receives none."""

    text: str
    norm: float | None


def span_texts(spans: Sequence[Span], drawing: Drawing, line: Timeline) -> list[SpanText]:
    """The sentences of spans.  Cost: linear in the steps times the rows of spans."""
    ways = _StepPaths(drawing, line)
    return [ways.say(span) for span in spans]


def short(label: str) -> str:
    """The name of a group without its class and its iteration; a group that has only a number keeps its class.

    >>> short("blocks.3: Block · round 4"), short("0: Linear"), short("step = 2")
    ('blocks.3', 'Linear 0', 'step = 2')
    """
    name, _, kind = label.split(" · ")[0].partition(": ")
    return f"{kind} {name}" if name.isdigit() and kind else name


@dataclass(slots=True)
class _Gradient:
    """The gradient of one receiver in one call: `parts` has (step, value) of each summand, `total` their sum."""

    parts: list[tuple[int, int]] = field(default_factory=list)
    total: int | None = None

    def of(self, parts: Sequence[tuple[int, int]]) -> int | None:
        """The sum of some of the parts, as a trace value; None if it is not recorded."""
        return parts[0][1] if len(parts) == 1 else self.total if len(parts) == len(self.parts) else None


class _StepPaths:
    """The paths of values and gradients between steps: the step that computes a tensor, the last step that uses it, and
    the gradients that each node receives."""

    def __init__(self, drawing: Drawing, line: Timeline) -> None:
        self.drawing, self.line, self.facts = drawing, line, drawing.facts
        self.updates = optimizer_steps(drawing)
        self.makers: dict[int, int] = {}  # by tensor: the step that made it
        self.last_use: dict[int, int] = {}  # by tensor: the last step that uses it
        self.rule: dict[tuple[int, int], int] = {}  # by call and node: the step in which its rule ran
        self.gradients: dict[tuple[int, End], _Gradient] = defaultdict(_Gradient)
        events = self.facts.trace.events
        for call, fact in self.facts.calls.items():
            for root in fact.event.roots:
                self.last_use[root.tensor] = len(line.steps)
                if (end := self.end_of(root.tensor, fact.event.index)) is not None:
                    self.gradients[call, end].parts.append((-1, root.gradient))  # before all spans
        for k, step in enumerate(line.steps):
            event = events[step.event]
            if isinstance(event, OpCalled):
                self.last_use.update(
                    (i.tensor, k) for i in event.inputs if i.tensor is not None and k > self.last_use.get(i.tensor, -1)
                )
                self.makers.update((out.tensor, k) for out in event.outputs if out.tensor not in self.makers)
            elif isinstance(event, VjpRun):
                self.rule[event.call, event.node] = k
                for nr, upstream in enumerate(event.upstream):
                    if upstream is not None:
                        self.gradients[event.call, (event.node, None, nr)].total = upstream
                for edge, value in self.sends(step, event):
                    self.gradients[event.call, _end(edge)].parts.append((k, value))

    def end_of(self, tensor: int, event: int) -> End | None:
        """The receiver of a root's gradient."""
        op = behind(self.facts, tensor, event)
        node = self.facts.node(op) if op is not None else None
        if op is None or node is None:
            return None
        outputs = [out.tensor for out in self.facts.ops[op].event.outputs]
        return node.node, None, outputs.index(tensor) if tensor in outputs else 0

    def sends(self, step: Step, event: VjpRun) -> Iterator[tuple[Edge, int]]:
        """The edges along which a rule sends gradients."""
        node = self.facts.node(step.op) if step.op is not None else None
        if node is not None:
            for edge, value in zip(node.edges, event.cotangents, strict=False):
                if edge is not None and value is not None:
                    yield edge, value

    # -- sentences ------------------------------------------------------------------------------------------------

    def say(self, span: Span) -> SpanText:
        match span.kind:
            case "write":
                return SpanText(self.write(span), None)
            case "forward":
                return SpanText(self.forward(span), None)
        coming = self.coming(span)
        norms = [self.norm(value) for value in self.readable(coming)]
        return SpanText(self.backward(span, coming), max(norms, default=None))

    def steps(self, span: Span) -> range:
        return range(span.start, span.end)

    def forward(self, span: Span) -> str:
        name, ops = short(span.label), text.count(span.end - span.start, "op")
        if span.row == 0:
            return f"The forward pass runs {ops}."
        inputs, results = self.tensors_across(span)
        if not results:
            return f"{name} runs {ops}."
        if not inputs:
            return f"{name} gives {self.text_of(results)}."
        return f"{name} turns {self.text_of(inputs)} into {self.text_of(results)}."

    def tensors_across(self, span: Span) -> tuple[list[int], list[int]]:
        """The tensors, without parameters, that a span takes from earlier steps and that it leaves to later ones."""
        facts, events = self.facts, self.facts.trace.events
        first = events[self.line.steps[span.start].event].index
        tensors: dict[int, None] = {}
        results: dict[int, None] = {}
        last: OpCalled | None = None
        for k in self.steps(span):
            event = events[self.line.steps[k].event]
            if not isinstance(event, OpCalled):
                continue
            last = event
            for one in event.inputs:
                if one.tensor is None or self.makers.get(one.tensor, -1) >= span.start:
                    continue
                fact = facts.tensors.get(one.tensor)
                if fact is not None and fact.event < first and not self.is_held(one):
                    tensors[one.tensor] = None
            results.update((o.tensor, None) for o in event.outputs if self.last_use.get(o.tensor, -1) >= span.end)
        if not results and last is not None:
            results = dict.fromkeys(out.tensor for out in last.outputs[:1])
        return list(tensors), list(results)

    def is_held(self, argument: Input) -> bool:
        """Return whether an argument is a parameter or a buffer, which a module holds itself."""
        assert argument.tensor is not None
        name = self.facts.names.get(argument.tensor) or ""
        leaf = self.facts.tensors[argument.tensor].leaf is not None
        return argument.version in self.facts.tensors[argument.tensor].leaf_versions or (leaf and "." in name)

    def text_of(self, tensors: Sequence[int]) -> str:
        if len(tensors) > MOST:
            return f"{len(tensors)} tensors"
        return text.join([self.described(tensor) for tensor in tensors])

    def described(self, tensor: int) -> str:
        """The shape of a tensor; of a scalar its name and number."""
        fact = self.facts.tensors[tensor]
        if fact.shape and text.size(fact.shape) != 1:
            return text.shape(fact.shape)
        name, number = self.facts.names.get(tensor), text.brief(self.facts.trace.value(fact.values[fact.last]))
        return f"{name} = {number}" if name else number

    def backward(self, span: Span, coming: Sequence[int | None]) -> str:
        received = self.received(span) + self.returned(span)
        if span.row == 0:
            count = sum(self.line.steps[k].kind == "vjp" for k in self.steps(span))
            return f"{span.label} runs the rules of {text.count(count, 'op')}{received}."
        going = self.going(span)
        norms = all(value is not None and self.is_large(value) for value in coming) and len(coming) == 1
        amounts = text.join([f"{self.amounts(values, norms)} to {name}" for name, values in list(going.items())[:MOST]])
        if len(going) > MOST:
            amounts = f"gradients to {len(going)} others"
        sends = f" and sends {amounts}" if amounts else "" if received else " and sends no gradient further"
        return f"{short(span.label)} receives {self.amounts(coming)}{sends}{received}."

    def coming(self, span: Span) -> list[int | None]:
        """The gradients that a span receives from outside, as trace values; None for a sum that is not recorded."""
        events = self.facts.trace.events
        values: list[int | None] = []
        for k in self.steps(span):
            event = events[self.line.steps[k].event]
            if not isinstance(event, VjpRun):
                continue
            for nr, upstream in enumerate(event.upstream):
                gradient = self.gradients.get((event.call, (event.node, None, nr)))
                parts = [part for part in gradient.parts if part[0] < span.start] if gradient is not None else []
                if upstream is not None and gradient is not None and parts:
                    values.append(gradient.of(parts))
        return values

    def going(self, span: Span) -> dict[str, list[int | None]]:
        """The gradients that a span sends, by the names of their receivers, without those it accumulates in leaves."""
        events = self.facts.trace.events
        ends: dict[tuple[int, End], Edge] = {}
        for k in self.steps(span):
            event = events[self.line.steps[k].event]
            if isinstance(event, VjpRun):
                for edge, _ in self.sends(self.line.steps[k], event):
                    if (
                        edge.leaf is None
                        and not span.start <= self.rule.get((event.call, edge.node or 0), -1) < span.end
                    ):
                        ends[event.call, _end(edge)] = edge
        receivers: dict[str, list[int | None]] = defaultdict(list)
        for (call, end), edge in ends.items():
            gradient = self.gradients[call, end]
            mine = [part for part in gradient.parts if span.start <= part[0] < span.end]
            receivers[self.receiver(span, edge)].append(gradient.of(mine))
        return receivers

    def receiver(self, span: Span, edge: Edge) -> str:
        """The name of a gradient's receiver, as seen from a span: a group beside it, a tensor, or an op."""
        grouping = self.drawing.grouping
        op = self.facts.op_of_node.get(edge.node) if edge.node is not None else None
        if op is None:
            return "what comes before"
        path, own = list(reversed(grouping.paths[grouping.of.get(op)])), grouping.paths[span.group]
        beside = next((group for group in path if group not in own and group not in grouping.parts), None)
        if beside is not None:
            return short(grouping.labels[beside])
        event = self.facts.ops[op].event
        node = self.facts.node(op)
        name = (
            self.facts.names.get(event.outputs[edge.output_nr].tensor) if edge.output_nr < len(event.outputs) else None
        )
        return name or (node.name if node is not None else event.name)

    def amounts(self, values: Sequence[int | None], as_before: bool = False) -> str:
        """`a gradient of norm 0.12`, `the gradient 1`; only the number if the sentence has mentioned a norm before."""
        readable = self.readable(values)
        if not values:
            return "no gradient"
        if len(values) > MOST or len(readable) < len(values):
            largest = (
                f", the largest of norm {text.number(max(map(self.norm, readable)))}"
                if readable and len(values) > 1
                else ""
            )
            return f"{len(values)} gradients{largest}" if len(values) > 1 else "a gradient"
        numbers = [text.number(self.norm(value)) if self.is_large(value) else self.brief(value) for value in readable]
        large = [self.is_large(value) for value in readable]
        if as_before and all(large):
            return text.join(numbers)
        if len(readable) == 1:
            return f"a gradient of norm {numbers[0]}" if large[0] else f"the gradient {numbers[0]}"
        return (
            f"gradients of norms {text.join(numbers)}"
            if all(large)
            else f"the gradients {text.join([self.brief(v) for v in readable])}"
        )

    def brief(self, value: int) -> str:
        return text.brief(self.facts.trace.value(value))

    def is_large(self, value: int) -> bool:
        """Return whether a gradient is described by its norm: all except single numbers."""
        return text.size(self.facts.trace.value(value).shape) != 1

    def readable(self, values: Sequence[int | None]) -> list[int]:
        """The values of which the trace has elements; it has none of complex ones."""
        return [value for value in values if value is not None and not self.facts.trace.value(value).damaged]

    def norm(self, value: int) -> float:
        return text.norm(self.facts.trace.value(value).stats)

    def received(self, span: Span) -> str:
        """`; its 12 parameters get theirs`: the leaves to whose gradients a span adds."""
        events = self.facts.trace.events
        added: dict[int, bool] = {}
        is_zero = True
        for k in self.steps(span):
            event = events[self.line.steps[k].event]
            if isinstance(event, Accumulated) and not event.retained:
                added[event.tensor] = added.get(event.tensor, False) or event.before is not None
                is_zero = is_zero and self.facts.trace.value(event.added).is_zero
        if not added:
            return ""
        if len(added) == 1:
            name = called(next(iter(added)), self.facts, "a leaf")
            gradient = "only zeros" if is_zero else "its gradient"
            return f"; {name} adds {gradient} to .grad" if any(added.values()) else f"; {name} gets {gradient}"
        its, most = "its " if span.row else "", len(added)
        beside = [tensor for tensor in added if not self.is_parameter(tensor)]  # the input of a module, perhaps
        others = ""
        if 0 < len(beside) < most:
            most -= len(beside)
            others = " and another leaf" if len(beside) == 1 else f" and {len(beside)} other leaves"
        what = "parameter" if most == 1 else f"{most} parameters"
        theirs = "only zeros" if is_zero else "theirs"
        return f"; {its}{what}{others} {f'add {theirs} to .grad' if any(added.values()) else f'get {theirs}'}"

    def returned(self, span: Span) -> str:
        """`; the call returns the gradients of 12 leaves`: those to which a span of `autograd.grad` sends gradients."""
        leaves: dict[int, None] = {}
        for k in self.steps(span):
            event = self.facts.trace.events[self.line.steps[k].event]
            if not isinstance(event, VjpRun) or event.call not in self.facts.calls:
                continue
            call = self.facts.calls[event.call].event
            if call.function == "grad" and call.inputs is not None:
                edges = [edge for edge, _ in self.sends(self.line.steps[k], event)]
                leaves |= {edge.leaf: None for edge in edges if edge.leaf is not None and edge.leaf in call.inputs}
        if not leaves:
            return ""
        whose = called(next(iter(leaves)), self.facts, "a leaf") if len(leaves) == 1 else f"{len(leaves)} leaves"
        return f"; the call returns the gradient{'s' if len(leaves) > 1 else ''} of {whose}"

    def is_parameter(self, tensor: int) -> bool:
        leaf = self.facts.tensors[tensor].leaf
        return leaf is not None and is_owned(leaf, self.facts.names.get(tensor, ""))

    def write(self, span: Span) -> str:
        """The effect of a statement on leaves: an update of their values, or of their `.grad`."""
        events, steps = self.facts.trace.events, [self.line.steps[k] for k in self.steps(span)]
        changes = [(leaf, step) for step in steps if (leaf := writes(self.drawing, step)) is not None]
        name = short(span.label)
        leaves = list(dict.fromkeys(leaf for leaf, _ in changes))
        done = {self.change(events[step.event], step) for _, step in changes}
        if not leaves:
            return f"{name} runs {text.count(len(steps), 'op')}."
        if done <= {"updates"}:
            inside = (group for group in self.drawing.grouping.paths[span.group] if group in self.updates)
            whole = next((self.drawing.grouping.labels[group] for group in inside), name)
            return f"{whole} updates {self.counted(leaves)}."
        whose = f"{called(leaves[0], self.facts, 'a leaf')}.grad"
        whose = whose if len(leaves) == 1 else f"the gradients of {self.counted(leaves)}"
        if done == {"the same"}:
            return f"{name} leaves {whose} unchanged."
        if len(done) == 1 or done == {"new values", "the same"}:
            return f"{name} sets {whose} to {'new values' if len(done) > 1 else done.pop()}."
        return f"{name} writes to {self.counted(leaves)} or their gradients."

    def change(self, event: object, step: Step) -> str:
        if isinstance(event, GradSet):
            return "None" if event.value is None else "new values"
        if isinstance(event, OpCalled) and step.op is None:
            if written_name(event) == "zero_":
                return "zero"
            return "the same" if self.is_same(event) else "new values"
        return "updates"

    def is_same(self, event: OpCalled) -> bool:
        """Whether a write gives the values that were there, as clipping does if the norm is small enough: a factor of
        1."""
        before = next((one.version for one in event.inputs if one.tensor == event.inplace), None)
        if before is None or event.inplace is None:
            return False
        value = self.facts.value(event.inplace, before)
        return value is not None and self.facts.trace.value(value).is_like(
            self.facts.trace.value(event.outputs[0].value)
        )

    def counted(self, leaves: Sequence[int]) -> str:
        return called(leaves[0], self.facts, "a leaf") if len(leaves) == 1 else f"{len(leaves)} parameters"


def _end(edge: Edge) -> End:
    return edge.node, edge.leaf, edge.output_nr
