"""Terms of a loss that were added without their graph, as a number or as a detached copy.  Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.trace.events import BackwardStarted, Escaped, Input, OpCalled

from ...reading import labels, text
from ...reading.facts import Facts
from ..finding import Finding
from .about_loss import about, constant, producer_of, written_at

DIGITS = 4
"""The most digits of a weight that a program writes.  A loss has more, so a number that is a loss times such a weight
was computed from it."""
EXACT = 1e-12
"""The relative difference of two numbers that are the same but for the rounding of one product."""
NUMBERS = frozenset({"item", "float", "tolist"})
"""The ways in which the value of a loss becomes a number."""
COPIES = frozenset({"detach", "data"})


def constant_terms(facts: Facts) -> list[Finding]:
    """The first term of a loss that a gradient could flow through, but that was added without its graph.

    Only sums are searched, and only terms of which no gradient was computed in another way: a difference with a number
    may be an advantage, and a detached value next to its original replaces the value of a loss by intention.
    Cost: linear in the events, and in the terms of the losses.
    """
    escapes: dict[int, tuple[Escaped, float]] = {}
    for event in facts.trace.events:
        if isinstance(event, Escaped) and event.kind in NUMBERS:
            number = _single(facts, event)
            if number is not None:
                escapes[event.tensor] = event, number
        elif isinstance(event, BackwardStarted):
            for root in event.roots:
                for finding in _Terms(facts, escapes).findings(Input("", root.tensor, _version(facts, root.tensor))):
                    return [finding]
    return []


def _version(facts: Facts, tensor: int) -> int:
    fact = facts.tensors.get(tensor)
    return 0 if fact is None else fact.last


def _single(facts: Facts, event: Escaped) -> float | None:
    """The number that a program read from a tensor with a history; None if it says nothing, as 0 and 0.5 do."""
    fact = facts.tensors.get(event.tensor)
    if fact is None or not fact.requires_grad or fact.leaf is not None:
        return None
    array = facts.trace.value(event.value).array
    number = float(array.reshape(())) if array is not None and array.size == 1 and array.dtype.kind == "f" else 0.0
    return None if number == float(f"{number:.{DIGITS}g}") or number != number else number


@dataclass
class _Terms:
    """The terms of a loss: `live` are the tensors that they and their sums are, as far as a gradient flows to them."""

    facts: Facts
    escapes: Mapping[int, tuple[Escaped, float]]
    """By tensor, the event in which its value became a number, and the number."""
    live: set[int] = field(default_factory=set)
    numbers: list[tuple[OpCalled, float]] = field(default_factory=list)
    copies: list[tuple[OpCalled, OpCalled]] = field(default_factory=list)
    """The sum that adds a detached copy, and the op that made the copy."""

    def findings(self, root: Input) -> Iterator[Finding]:
        self.walk(root)
        for event, number in self.numbers:
            for tensor, (escape, value) in self.escapes.items():
                if _is_multiple(number, value) and self.is_lost(tensor):
                    how = f"as the number {text.number(number)}"
                    yield self.finding(event, tensor, escape.stack, how, "number", f"{escape.kind}()")
        for event, copy in self.copies:
            source = copy.inputs[0].tensor
            if source is not None and self.is_lost(source):
                by = ".data" if copy.name == "data" else "detach()"
                how = f"without its graph, because of {by}"
                yield self.finding(event, source, copy.stack, how, "constant", by)

    def walk(self, term: Input) -> None:
        todo: list[tuple[Input, OpCalled | None]] = [(term, None)]
        while todo:
            one, adds = todo.pop()
            event = producer_of(self.facts, one)
            if event is None or event.outputs[0].shape not in ((), (1,)):
                continue
            name = labels.written_name(event).removesuffix("_")
            if name in COPIES and adds is not None:
                self.copies.append((adds, event))
                continue
            if self.facts.tensors[one.tensor or 0].requires_grad:
                self.live.add(one.tensor or 0)
            if name == "add":
                todo += [(side, event) for side in event.inputs]
                self.numbers += [(event, number) for number in _added(event)]
            elif name in ("mul", "div") and constant(self.facts, event) is not None:
                sides = [side for side in event.inputs if side.tensor in self.facts.tensors]
                todo += [(side, adds) for side in sides[:1]]

    def is_lost(self, tensor: int) -> bool:
        """Return whether no gradient flows to a tensor that depends on a leaf, and no live term is part of it."""
        fact = self.facts.tensors.get(tensor)
        if fact is None or not fact.requires_grad or fact.leaf is not None or fact.shape not in ((), (1,)):
            return False
        ops = [self.facts.ops[op] for op in fact.producers.values() if op is not None]
        return bool(ops) and not any(op.vjps for op in ops) and self.live.isdisjoint(self.parts(tensor))

    def parts(self, tensor: int) -> set[int]:
        """A single number and those that it was computed from."""
        seen, todo = set[int](), [tensor]
        while todo:
            one = todo.pop()
            fact = self.facts.tensors.get(one)
            if one in seen or fact is None or fact.shape not in ((), (1,)):
                continue
            seen.add(one)
            ops = [self.facts.ops[op].event for op in fact.producers.values() if op is not None]
            todo += (side.tensor for op in ops for side in op.inputs if side.tensor is not None)
        return seen

    def finding(self, event: OpCalled, tensor: int, stack: int, how: str, what: str, remove: str) -> Finding:
        facts = self.facts
        fact = facts.tensors[tensor]
        maker = next(facts.ops[op].event for op in fact.producers.values() if op is not None)
        name = _variable(facts, stack) or facts.names.get(tensor) or "a term"
        by = facts.code_at(maker.stack)
        whose = f"{name}, which {by} computes," if by else name
        why = (
            f"{written_at(facts, event)} adds {whose} {how}. A {what} has no gradient: {name} makes the loss larger, "
            "but it changes no gradient, so no update makes it smaller."
        )
        fix = f"Add {name} itself, without {remove}. Read its value with {remove} only to print it."
        return about("constant-term", facts, event, f"{name} is added without a gradient", why, fix)


def _variable(facts: Facts, stack: int) -> str:
    """The variable of which a line takes the number or the copy, as it is written there; "" if it is not one."""
    frame = facts.frames.get(stack)
    node = facts.sources.node(frame) if frame is not None else None
    if isinstance(node, ast.Call):
        node = node.func if isinstance(node.func, ast.Attribute) else next(iter(node.args), None)
    variable = node.value if isinstance(node, ast.Attribute) else node
    if frame is None or not isinstance(variable, (ast.Name, ast.Attribute)):
        return ""
    return facts.sources.file(frame.file).text_of(variable)


def _added(event: OpCalled) -> Iterator[float]:
    """The numbers that a sum adds."""
    numbers = [side.scalar for side in event.inputs if side.tensor is None] or [event.attrs.get("other")]
    for number in numbers:
        if isinstance(number, float):
            yield number


def _is_multiple(number: float, value: float) -> bool:
    """Return whether a number is a value times a weight of few digits."""
    weight = float(f"{number / value:.{DIGITS}g}")
    return weight != 0 and abs(number - weight * value) <= EXACT * abs(number)
