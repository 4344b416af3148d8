"""Leaves on which the loss depends through differentiable ops, and where the gradient to them stops.  Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from engine.ops.op import CUSTOM
from engine.trace.events import Edge, Frame, NodeRecord, OpCalled, VjpRun
from engine.trace.source import File

from ...reading.facts import Facts, is_for_a_gradient


@dataclass(frozen=True, slots=True)
class Stop:
    """A custom Function whose backward returned None for the input `edge`: the event of its VJP, and its op."""

    event: int
    op: OpCalled
    edge: int


@dataclass(frozen=True, slots=True)
class StopSource:
    """A stop in the program's text: the Function's name, its `parameter` for the input, and the line that returns None,
    quoted; "" for what is not known."""

    function: str
    parameter: str
    line: str


class BackwardReach:
    """The backward graph from the roots of all calls to leaves.

    `connected` are the leaves that it reaches, `open` those behind the root of a call without `inputs=`, `of_inputs`
    those behind the root of a call that has `inputs=` and asks for a gradient to train with.  `stops` has, for a leaf,
    the first custom Function on the way that returned None.  Cost: linear in the events.
    """

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._places: dict[tuple[str, int | None], StopSource] = {}
        self.nodes: dict[int, OpCalled] = {}
        for event in facts.trace.events:
            if isinstance(event, OpCalled) and event.node is not None:
                self.nodes[event.node.node] = event
        every, whole, chosen = set[int](), set[int](), set[int]()
        for tensor, calls in facts.roots.items():
            fact = facts.tensors.get(tensor)
            makers = [] if fact is None else [facts.node(op) for op in fact.producers.values() if op is not None]
            starts = {node.node for node in makers if node is not None}
            every |= starts
            events = [facts.calls[call].event for call in calls]
            if any(event.inputs is None for event in events):
                whole |= starts
            if any(event.inputs is not None and not is_for_a_gradient(event) for event in events):
                chosen |= starts
        self.connected = frozenset(self._leaves([Edge(node, None) for node in every], set()))
        self.open = frozenset(self._leaves([Edge(node, None) for node in whole], set()))
        self.of_inputs = frozenset(self._leaves([Edge(node, None) for node in chosen], set()))
        self.stops = self._stops()

    def _leaves(self, edges: Iterable[Edge | None], seen: set[int]) -> Iterator[int]:
        """The leaves behind edges, without what is behind the nodes that were `seen` before."""
        todo = list(edges)
        while todo:
            edge = todo.pop()
            if edge is None:
                continue
            if edge.leaf is not None:
                yield edge.leaf
            if edge.node is not None and edge.node not in seen and edge.node in self.nodes:
                seen.add(edge.node)
                todo += _node(self.nodes[edge.node]).edges

    def place(self, stop: Stop) -> StopSource:
        """A stop in the program's text, read once for each input of each Function."""
        key = str(stop.op.attrs.get("function") or _node(stop.op).name.removesuffix("Backward")), _position(stop)
        if key not in self._places:
            self._places[key] = _read(self._facts, *key)
        return self._places[key]

    def _stops(self) -> dict[int, Stop]:
        stops: dict[int, Stop] = {}
        seen = set[int]()
        for event in self._facts.trace.events:
            if not isinstance(event, VjpRun) or event.node not in self.nodes:
                continue
            op, call = self.nodes[event.node], self._facts.calls.get(event.call)
            if op.name != CUSTOM.name or call is None or call.event.inputs is not None:
                continue
            if all(gradient is None for gradient in event.upstream):
                continue
            for number, edge in enumerate(_node(op).edges[: len(event.cotangents)]):
                if edge is not None and event.cotangents[number] is None:
                    for leaf in self._leaves([edge], seen):
                        stops.setdefault(leaf, Stop(event.index, op, number))
        return stops


def _node(op: OpCalled) -> NodeRecord:
    assert op.node is not None
    return op.node


def _read(facts: Facts, function: str, position: int | None) -> StopSource:
    """Reads the class of a Function, if the files of the trace have exactly one of its name."""
    classes = [
        (name, file, node)
        for name in facts.trace.files
        for file in (facts.sources.file(name),)
        for node in file.above
        if isinstance(node, ast.ClassDef) and node.name == function and _method(node, "backward") is not None
    ]
    if len(classes) != 1:
        return StopSource(function, "", "")
    (name, file, node) = classes[0]
    forward, backward = _method(node, "forward"), _method(node, "backward")
    parameter = ""
    if forward is not None and position is not None:
        arguments = [*forward.args.posonlyargs, *forward.args.args]
        arguments = arguments if _method(node, "setup_context") is not None else arguments[1:]  # without ctx
        parameter = arguments[position].arg if position < len(arguments) else ""
    statement = _return_statement(file, backward, position)
    line = "" if statement is None else facts.quoted(Frame(name, f"{function}.backward", *file.span(statement)))
    return StopSource(function, parameter, line)


def _method(node: ast.ClassDef, name: str) -> ast.FunctionDef | None:
    return next((one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == name), None)


def _position(stop: Stop) -> int | None:
    """The place of the input among all arguments of forward, of which only tensors are inputs of the op."""
    inputs = [argument.name for argument in stop.op.inputs]
    name = _node(stop.op).inputs[stop.edge]
    flags = stop.op.attrs.get("tensors") or [True] * len(inputs)
    places = [place for place, flag in enumerate(flags) if flag]
    number = inputs.index(name) if name in inputs else len(places)
    return places[number] if number < len(places) else None


def _return_statement(file: File, backward: ast.FunctionDef | None, position: int | None) -> ast.Return | None:
    """The statement of a backward that returns None at a position; else its only one."""
    returns = [
        node for node in (ast.walk(backward) if backward is not None else ())
        if isinstance(node, ast.Return) and _function_around(file, node) is backward
    ]  # fmt: skip
    plain = [one for one in returns if _is_none(one.value, position)]
    return plain[0] if len(plain) == 1 else returns[0] if len(returns) == 1 else None


def _function_around(file: File, node: ast.AST) -> ast.AST | None:
    above = file.above.get(node)
    while above is not None and not isinstance(above, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
        above = file.above.get(above)
    return above


def _is_none(value: ast.expr | None, position: int | None) -> bool:
    if isinstance(value, ast.Tuple) and position is not None and position < len(value.elts):
        value = value.elts[position]
    return value is None or (isinstance(value, ast.Constant) and value.value is None)
