"""The check that the events of a trace fit together: an earlier event made each thing that an event names.

The form of each event is checked when it is read (`encoding`). This module checks the rest, for files of unknown
origin: the page is built from what events say about each other, and a contradiction would be shown as numbers of
something else.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from ...ops.op import CUSTOM, REGISTRY
from ..events import (
    Accumulated,
    AnyEvent,
    BackwardEnded,
    BackwardStarted,
    CodeEntered,
    CodeLeft,
    Damaged,
    DataSet,
    Escaped,
    FlagChanged,
    GradSet,
    GroupEntered,
    GroupLeft,
    HookRan,
    LeafCreated,
    NodeRecord,
    OpCalled,
    Output,
    Refreshed,
    StatisticMoved,
    Trace,
    VjpRun,
    WrittenOutside,
    is_foreign,
)
from .argument_types import check_arguments
from .database import Database, Rows
from .encoding import MalformedJson, read_shape
from .tracefile import open_trace

Head = tuple[tuple[int, ...], str]
"""Shape and dtype of a value."""
_DIMENSIONS = frozenset({"dim", "dim0", "dim1", "dim2", "dims", "dimension"})
"""The static arguments that are dimensions of an input or of the result."""


def check(
    events: Iterable[AnyEvent],
    head: Callable[[int], Head | None] = lambda value: None,
    is_damaged: Callable[[int], bool] = lambda value: False,
) -> None:
    """Raises MalformedJson for the first event that does not fit the events before, with its number and field.

    `head` gives the shape and dtype of a value, None if unknown; a value that `is_damaged` may have lost its own.

    >>> from engine.trace.events import GroupLeft
    >>> check([GroupLeft(0, -1)])
    Traceback (most recent call last):
    ...
    engine.trace.file.encoding.MalformedJson: row 0 of events: no group was entered
    """
    seen = _Checker(head, is_damaged)
    for event in events:
        test = _TESTS.get(type(event))
        if test is not None:
            try:
                test(seen, event)
            except MalformedJson as error:
                raise MalformedJson(f"row {event.index} of events: {error}") from None


def open_checked(path: str | os.PathLike[str], most: int) -> Trace:
    """A trace of unknown origin of which the first `most` events were read and fit together.

    It ends before the first damaged event, and `meta["damaged"]` says so: the effect of that event is unknown, and with
    it the state after it. Raises like `open_trace`, and also if events contradict each other.
    """
    return checked(open_trace(path), most)


def checked(trace: Trace, most: int) -> Trace:
    """The same for a trace that is already open; one in memory is returned as it is."""
    rows = trace.events
    if not isinstance(rows, Rows):
        return trace
    lost = next((event.index for event in itertools.islice(rows, most) if isinstance(event, Damaged)), None)
    if lost is not None:
        behind = f"the events from number {lost + 1:,} on"
        meta = {**trace.meta, "damaged": [*trace.meta.get("damaged", ()), behind]}
        trace = dataclasses.replace(trace, events=rows[: lost + 1], meta=meta)
    try:
        check(itertools.islice(trace.events, most), _heads(rows.source), lambda value: trace.values[value].damaged)
    except MalformedJson as error:
        raise rows.source.damage_error(str(error)) from error
    return trace


def check_part(whole: Trace, part: Trace, numbers: Sequence[int]) -> None:
    """Check a part of a file whose values have these numbers in the file.

    Raises TraceFileError if its events do not fit together; does nothing for a trace that is not a file.
    """
    rows = whole.events
    if not isinstance(rows, Rows):
        return
    heads = _heads(rows.source)
    try:
        check(part.events, lambda value: heads(numbers[value]), lambda value: part.values[value].damaged)
    except MalformedJson as error:
        raise rows.source.damage_error(str(error)) from error


def _heads(source: Database) -> Callable[[int], Head | None]:
    """A function that looks up the shape and dtype of a value without its elements; it returns None if there is no such
    value."""

    @functools.lru_cache(maxsize=64)
    def block(number: int) -> dict[int, Head]:
        query = (
            "SELECT tensor_values.id, dtype, shape FROM tensor_values JOIN contents ON contents.id = content "
            "WHERE tensor_values.id >= ? AND tensor_values.id < ?"
        )
        heads = source.all(query, (number * 1024, (number + 1) * 1024))
        return {value: (read_shape(shape), str(dtype)) for value, dtype, shape in heads}

    return lambda value: block(value // 1024).get(value)


class _Checker:
    """Checks each event against the tensors, nodes, values and calls that the events before it made."""

    def __init__(self, head: Callable[[int], Head | None], is_damaged: Callable[[int], bool]) -> None:
        self.head, self.is_damaged = head, is_damaged
        self.tensors: dict[int, tuple[int, ...] | None] = {}
        """The shape of each that was made; None of a gradient, whose event has none."""
        self.nodes: dict[int, NodeRecord] = {}
        self.outputs: dict[int, list[tuple[int, ...]]] = {}  # node -> the shapes of its op's results
        self.inputs: dict[int, list[tuple[int, ...] | None]] = {}  # node -> those of the inputs behind its edges
        self.calls: set[int] = set()
        self.running: set[int] = set()  # of several threads, and in each other
        self.groups = 0
        self.codes = 0

    def has(self, field: str, tensor: int | None) -> None:
        if tensor is not None and tensor not in self.tensors:
            raise MalformedJson(f"{field}: no tensor {tensor} was made before")

    def check_call(self, field: str, call: int | None) -> None:
        if call is not None and call not in self.calls:
            raise MalformedJson(f"{field}: no backward call {call} began before")

    def shape(self, tensor: int | None) -> tuple[int, ...] | None:
        """That of a tensor, where it is known."""
        return None if tensor is None else self.tensors[tensor]

    def holds(self, value: int, shape: tuple[int, ...], dtype: str) -> None:
        """A value has the shape and dtype that its event says."""
        head = self.head(value)
        if head is not None and head != (shape, dtype) and not self.is_damaged(value):
            raise MalformedJson(f"shape: {dtype} {list(shape)}, but value {value} is {head[1]} {list(head[0])}")

    def fits(self, field: str, value: int | None, shape: tuple[int, ...] | None) -> None:
        """A gradient has the shape of what it is the gradient of."""
        head = None if value is None or shape is None else self.head(value)
        if value is not None and head is not None and head[0] != shape and not self.is_damaged(value):
            raise MalformedJson(
                f"{field}: value {value} has the shape {list(head[0])}, where {list(shape or ())} is expected"
            )

    def leaf(self, event: LeafCreated) -> None:
        self.holds(event.value, event.shape, event.dtype)
        self.has("grad", event.grad)
        self.tensors[event.tensor] = event.shape

    def op(self, event: OpCalled) -> None:
        if not is_foreign(event.name):
            if event.name not in REGISTRY and event.name != CUSTOM.name:
                raise MalformedJson(f"name: no op is called {event.name[:80]!r}")
            _check_inputs(event)
            check_arguments(event.name, event.attrs)
        for argument in event.inputs:
            self.has("inputs: tensor", argument.tensor)
        self.has("inplace", event.inplace)
        self.check_call("call", event.call)
        if event.node is not None:
            self.node(event.node, event)
        self.result(event)
        for out in event.outputs:
            self.output(out)

    def result(self, event: OpCalled) -> None:
        """The result has the shape that follows from the inputs and the arguments, where that is known."""
        if not event.outputs and is_foreign(event.name):
            return
        made_shape = event.outputs[0].shape
        sizes = [() if one.tensor is None else self.tensors[one.tensor] for one in event.inputs]
        shapes = [shape for shape in sizes if shape is not None]
        if len(shapes) < len(sizes):
            return
        if is_foreign(event.name):
            return
        _check_dimensions(event.attrs, max(1, *map(len, [made_shape, *shapes])))
        shape = _result_shape(event.name, event.attrs, shapes)
        _check_path(event.attrs, shapes)
        if shape is not None and shape != made_shape:
            raise MalformedJson(f"outputs: shape: {list(made_shape)}, where {list(shape)} follows from the inputs")

    def output(self, out: Output) -> None:
        self.holds(out.value, out.shape, out.dtype)
        self.has("outputs: view_of", out.view_of)
        self.tensors[out.tensor] = out.shape

    def node(self, node: NodeRecord, event: OpCalled) -> None:
        if node.node in self.nodes:
            raise MalformedJson(f"node: {node.node} was made before")
        input_names = {argument.name for argument in event.inputs}
        for name in node.inputs:
            if name not in input_names:
                raise MalformedJson(f"node: inputs: {name[:80]!r} is not an input of the op")
        for edge in node.edges:
            if edge is None:
                continue
            self.has("node: edges: leaf", edge.leaf)
            if (edge.node is None) == (edge.leaf is None):
                raise MalformedJson("node: edges: a node or a leaf is expected, and not both")
            if edge.node is not None and edge.output_nr >= len(self.outputs.get(edge.node, ())):
                raise MalformedJson(f"node: edges: no node {edge.node} with an output {edge.output_nr} was made before")
        results = {out.tensor for out in event.outputs}
        for saved in node.saved:
            if saved.tensor not in results:
                self.has("node: saved: tensor", saved.tensor)
                self.fits("node: saved: value", saved.value, self.shape(saved.tensor))
        shapes = {one.name: self.tensors[one.tensor] for one in event.inputs if one.tensor is not None}
        self.nodes[node.node] = node
        self.outputs[node.node] = [out.shape for out in event.outputs]
        self.inputs[node.node] = [shapes.get(name) for name in node.inputs]

    def check_refresh(self, event: Refreshed) -> None:
        self.has("tensor", event.tensor)
        if isinstance(event, (DataSet, StatisticMoved)):
            self.has("source", event.source)
        if isinstance(event, StatisticMoved) and event.elements < 2:
            raise MalformedJson(f"elements: {event.elements} have no variance")
        head = self.head(event.value)  # `x.data = y` may give another shape
        self.tensors[event.tensor] = None if head is None else head[0]

    def tensor(self, event: FlagChanged | Escaped) -> None:
        self.has("tensor", event.tensor)
        if isinstance(event, Escaped):
            self.fits("value", event.value, self.tensors[event.tensor])

    def grad_set(self, event: GradSet) -> None:
        self.has("tensor", event.tensor)
        self.has("source", event.source)
        self.fits("value", event.value, self.tensors[event.tensor])

    def check_start(self, event: BackwardStarted) -> None:
        if event.call in self.calls:
            raise MalformedJson(f"call: {event.call} began before")
        for root in event.roots:
            self.has("roots: tensor", root.tensor)
            self.has("roots: source", root.source)
        for tensor in event.inputs or ():
            self.has("inputs", tensor)
        self.calls.add(event.call)
        self.running.add(event.call)

    def vjp(self, event: VjpRun) -> None:
        self.check_call("call", event.call)
        node = self.nodes.get(event.node)
        if node is None:
            raise MalformedJson(f"node: no node {event.node} was made before")
        if len(event.cotangents) < len(node.edges):  # more: inputs that the call was not given
            raise MalformedJson(f"cotangents: {len(event.cotangents)} for a node with {len(node.edges)} edges")
        if len(event.upstream) > len(self.outputs[event.node]):
            raise MalformedJson(
                f"upstream: {len(event.upstream)} for a node with {len(self.outputs[event.node])} outputs"
            )
        for value, shape in zip(event.upstream, self.outputs[event.node], strict=False):
            self.fits("upstream", value, shape)
        if len(event.cotangents) == len(node.edges):
            for value, size in zip(event.cotangents, self.inputs[event.node], strict=True):
                self.fits("cotangents", value, size)

    def check_accumulation(self, event: Accumulated) -> None:
        self.check_call("call", event.call)
        self.has("tensor", event.tensor)
        for field, value in (("before", event.before), ("added", event.added), ("after", event.after)):
            self.fits(field, value, self.tensors[event.tensor])
        self.tensors[event.grad] = None

    def hook(self, event: HookRan) -> None:
        self.check_call("call", event.call)
        self.has("tensor", event.tensor)
        self.has_node(event.node)
        if event.place == "tensor" and event.tensor is not None:
            for field, value in (("before", event.before), ("after", event.after)):
                self.fits(field, value, self.tensors[event.tensor])

    def has_node(self, node: int | None) -> None:
        if node is not None and node not in self.nodes:
            raise MalformedJson(f"node: no node {node} was made before")

    def check_end(self, event: BackwardEnded) -> None:
        self.check_call("call", event.call)
        if event.call not in self.running:
            raise MalformedJson(f"call: {event.call} does not run")
        self.running.remove(event.call)

    def check_entry(self, event: GroupEntered) -> None:
        self.groups += 1
        for tensor in event.tensors:
            self.has("tensors", tensor)

    def check_exit(self, _: GroupLeft) -> None:
        if not self.groups:
            raise MalformedJson("no group was entered")
        self.groups -= 1

    def code(self, event: CodeEntered) -> None:
        self.check_call("call", event.call)
        self.has("tensor", event.tensor)
        self.codes += 1

    def check_code_exit(self, _: CodeLeft) -> None:
        if not self.codes:
            raise MalformedJson("no code was entered")
        self.codes -= 1


def _check_inputs(event: OpCalled) -> None:
    """Inputs have the names that the op knows; of a base that was written through a view, also those of the writer."""
    op = REGISTRY.get(event.name, CUSTOM)
    writer = REGISTRY.get(str(event.attrs.get("writer")), op)
    for name in (argument.name for argument in event.inputs):
        base, bracket, _ = name.partition("[")
        if not any(base in one.inputs and bool(bracket) == (base in one.lists) for one in (op, writer)):
            raise MalformedJson(f"inputs: {name[:80]!r} is not an input of {event.name[:80]}")


def _result_shape(name: str, attrs: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...] | None:
    """The shape that follows from inputs and arguments; None where the op does not say."""
    rule = REGISTRY.get(name, CUSTOM).presentation.shape
    try:
        return None if rule is None else rule(attrs, *shapes)
    except (ValueError, IndexError, KeyError, TypeError) as error:
        raise MalformedJson(f"inputs: {name} takes no tensors of shapes {shapes}"[:400]) from error


def _check_path(attrs: Mapping[str, Any], shapes: Sequence[tuple[int, ...]]) -> None:
    """The views of a path fit the tensor on which it begins: the first input, or the result of a gradient put back."""
    shape: tuple[int, ...] | None = attrs.get("sizes", shapes[0] if shapes else None)
    for name, arguments, _ in attrs.get("path", ()):
        if shape is None:
            return
        result = _result_shape(name, arguments, [shape])
        _check_dimensions(arguments, max(1, len(shape), 0 if result is None else len(result)))
        shape = result


def _check_dimensions(attrs: Mapping[str, Any], rank: int) -> None:
    """Dimensions that arguments name are there, in tensors of at most `rank` of them."""
    for name in _DIMENSIONS & attrs.keys():
        dims = attrs[name]
        if not all(-rank <= dim < rank for dim in ((dims,) if isinstance(dims, int) else dims or ())):
            raise MalformedJson(f"attrs: {name}: {str(dims)[:80]} for tensors of at most {rank} dimensions")


_TESTS: Mapping[type, Callable[[_Checker, Any], None]] = {
    LeafCreated: _Checker.leaf, OpCalled: _Checker.op, BackwardStarted: _Checker.check_start, VjpRun: _Checker.vjp,
    Accumulated: _Checker.check_accumulation, HookRan: _Checker.hook, BackwardEnded: _Checker.check_end,
    GroupEntered: _Checker.check_entry, GroupLeft: _Checker.check_exit,
    CodeEntered: _Checker.code, CodeLeft: _Checker.check_code_exit,
    GradSet: _Checker.grad_set, FlagChanged: _Checker.tensor, Escaped: _Checker.tensor,
    Refreshed: _Checker.check_refresh, WrittenOutside: _Checker.check_refresh, DataSet: _Checker.check_refresh,
    StatisticMoved: _Checker.check_refresh,
}  # fmt: skip
