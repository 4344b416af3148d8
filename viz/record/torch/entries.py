"""From the entries of this recorder to events: functions that the log's reader calls, later and perhaps elsewhere.

Each takes the reader, which has the number of the event and its stack, then the fields of the entry.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.trace.events import (
    AnyEvent,
    BackwardStarted,
    Edge,
    ErrorRaised,
    FlagChanged,
    Input,
    LeafCreated,
    NodeRecord,
    OpCalled,
    Output,
    Root,
    Saved,
)
from engine.trace.file.argument_types import first_misfit
from engine.trace.log_reader import INSTEAD, Reader, users_traceback
from engine.trace.messages import message_of

from .calls import FOREACH, Call, TensorArgument, plain
from .ops import Counterpart, counterpart

if TYPE_CHECKING:
    from .ops import Ops

EDITED = -1
"""Stands for a gradient that the program passed as a tensor: an edit passes one that is not the program's."""
Result = tuple[int, int, int, bool, int, int | None]
"""A new tensor: number, version, value, whether it requires a gradient, its memory, and the tensor that it is a view
of."""
Steps = list[tuple[Call, list[tuple[str, Any]], tuple[int, ...], int | None]] | None
"""The ops that make a view, with their arguments, shapes, and which result they take; None if some are unknown."""


@dataclass(frozen=True, slots=True)
class ViewOf:
    """A view by which its base was written, or which is taken again after that: the base, by number and version, and
    the steps from it."""

    base: tuple[int, int]
    steps: Steps


def leaf(reader: Reader, tensor: Result, source: str, grad: int | None, name: str | None, device: str) -> AnyEvent:
    number, version, value, requires, storage, _ = tensor
    shape, dtype = reader.shape(value)
    grad = None if grad is None else reader.tensors[grad]
    number = reader.tensors[number]
    reader.current[number] = value
    memory = reader.storages[storage]
    return LeafCreated(*reader.here, number, memory, value, shape, dtype, device, requires, source, grad, version, name)


def op(reader: Reader, call: Call, arguments: list[tuple[str, Any]],
       results: Sequence[Result], node: Any, inplace: int | None, during: int | None) -> AnyEvent:  # fmt: skip
    """An op ran: as the engine's op if it has the same, else with torch's name and arguments."""
    tensors = reader.tensors
    operands: list[tuple[str, Any]]
    shape, _ = reader.shape(results[0][2]) if results else ((), "")
    same = counterpart_of(reader.ops, call, arguments, shape)
    if same is None:
        name, operands = call.full_name, flat_inputs(arguments)
        attrs = {key: plain(value) for key, value in arguments if not holds_tensors(value)}
    else:
        name, operands, attrs = same.op, list(same.inputs), dict(same.attrs)
    inputs = tuple(given_input(reader, key, value) for key, value in operands)
    outputs = tuple(output(reader, one) for one in results)
    rules = {} if same is None else reader.ops[same.op].rules
    differentiable = [one for one in inputs if one.name.partition("[")[0] in rules] or inputs
    record = None if node is None else node_record(reader, node, inputs, differentiable, outputs)
    target = None if inplace is None else tensors[inplace]
    return OpCalled(*reader.here, name, inputs, attrs, outputs, record, target, during)


def counterpart_of(
    ops: Ops, call: Call, arguments: list[tuple[str, Any]], shape: tuple[int, ...]
) -> Counterpart | None:
    """The engine's call; None if the engine has no such op, or does not take such arguments: the file could not be
    read."""
    try:
        same = counterpart(ops, call.full_name, call.whole(arguments), shape) or of_list(ops, call, arguments, shape)
    except (TypeError, ValueError, IndexError, KeyError, AttributeError, ZeroDivisionError):  # bfloat16, no dimensions
        return None
    if same is None or first_misfit(same.op, same.attrs) is not None:
        return None
    numbers = all(type(one) is TensorArgument or isinstance(one, (bool, int, float)) for _, one in same.inputs)
    return same if numbers and gives(ops, same, shape) else None


def of_list(ops: Ops, call: Call, arguments: list[tuple[str, Any]], shape: tuple[int, ...]) -> Counterpart | None:
    """The engine's call for one place of the lists that an op of torch's for optimisers takes: `mul_` of
    `_foreach_mul_`."""
    base = call.base.removeprefix(FOREACH)
    if call.lists and base == "norm":
        whole = {"dim": None, "keepdim": False, **call.whole(arguments)}
        return counterpart(ops, "aten::linalg_vector_norm", whole, shape)
    if not call.lists or base.rstrip("_") not in ("add", "sub", "mul", "div"):
        return None
    named = {"alpha": 1, **{"other" if name in ("scalar", "scalars") else name: value for name, value in arguments}}
    if any(type(value) is list for value in named.values()):
        return None
    return counterpart(ops, f"aten::{base}.Tensor", named, shape)


def gives(ops: Ops, same: Counterpart, shape: tuple[int, ...]) -> bool:
    """Return whether the engine's op gives a result of a shape, as far as that is known."""
    rule = ops[same.op].presentation.shape
    try:
        shapes = [tuple(one.shape) if type(one) is TensorArgument else () for _, one in same.inputs]
        computed = None if rule is None else rule(same.attrs, *shapes)
    except (ValueError, IndexError, KeyError, TypeError):
        return False
    return computed is None or tuple(computed) == tuple(shape)


def holds_tensors(value: Any) -> bool:
    return type(value) is TensorArgument or (type(value) is list and any(type(one) is TensorArgument for one in value))


def flat_inputs(arguments: list[tuple[str, Any]]) -> list[tuple[str, TensorArgument]]:
    """The tensors among the arguments; those of a list with their places."""
    tensors = []
    for name, value in arguments:
        if type(value) is TensorArgument:
            tensors.append((name, value))
        elif holds_tensors(value):
            tensors += [(f"{name}[{place}]", one) for place, one in enumerate(value) if type(one) is TensorArgument]
    return tensors


def hidden(reader: Reader, name: str, refs: Sequence[tuple[str, int, int]], attrs: dict[str, Any],
           results: Any, node: Any, inplace: int | None, during: int | None) -> AnyEvent:  # fmt: skip
    """An op that torch did not report: it has the name of its node, if it has one."""
    inputs = tuple(Input(argument, reader.tensors[number], version) for argument, number, version in refs)
    outputs = tuple(output(reader, one) for one in results)
    record = None if node is None else node_record(reader, node, inputs, inputs, outputs)
    target = None if inplace is None else reader.tensors[inplace]
    return OpCalled(*reader.here, f"torch::{name}", inputs, attrs, outputs, record, target, during)


def joint(reader: Reader, call: Call, arguments: list[tuple[str, Any]], view: ViewOf, part: int, result: Result,
          node: Any, during: int | None) -> AnyEvent:  # fmt: skip
    """A base was written through a view: CopySlices, as the engine has it where it has the views and the write."""
    tensors = reader.tensors
    (_, before), *_ = flat_inputs(arguments)
    same, path = counterpart_of(reader.ops, call, arguments, tuple(before.shape)), path_of(reader.ops, view.steps)
    inputs = [base_of(reader, view)]
    source = Input("source", tensors[part], before.version)
    if same is None or path is None:
        others = [Input(name, tensors[one.number], one.version) for name, one in flat_inputs(arguments)[1:]]
        name, attrs = "torch::CopySlices", {"writer": call.base.rstrip("_")}
    else:
        others = [given_input(reader, name, value) for name, value in same.inputs[1:]]
        name, attrs = "copy_slices", {"path": path, "writer": same.op}
    outputs = (output(reader, result),)
    sources = [*inputs, *others]
    record = node_record(reader, node, sources, sources, outputs)
    operands = (*inputs, source, *others)
    return OpCalled(*reader.here, name, operands, attrs, outputs, record, outputs[0].tensor, during)


def retaken(reader: Reader, view: ViewOf, result: Result, node: Any, during: int | None) -> AnyEvent:
    """A view is taken again from a base that was written."""
    path = path_of(reader.ops, view.steps)
    inputs = (base_of(reader, view),)
    outputs = (output(reader, result),)
    record = node_record(reader, node, inputs, inputs, outputs)
    name, attrs = (f"torch::{record.name}", {}) if path is None else ("as_strided.path", {"path": path})
    return OpCalled(*reader.here, name, inputs, attrs, outputs, record, None, during)


def base_of(reader: Reader, view: ViewOf) -> Input:
    number, version = view.base
    return Input("self", reader.tensors[number], version)


def path_of(ops: Ops, steps: Steps) -> tuple[Any, ...] | None:
    """The steps to a view as ops of the engine; None if it lacks one."""
    path = []
    for call, arguments, shape, nr in steps or ():
        same = counterpart_of(ops, call, arguments, shape)
        if same is None or not ops[same.op].view:
            return None
        path.append((same.op, dict(same.attrs), nr))
    return tuple(path) or None


def given_input(reader: Reader, name: str, value: Any) -> Input:
    """An argument of an op: a tensor, or a number."""
    if isinstance(value, TensorArgument):
        return Input(name, reader.tensors[value.number], value.version)
    return Input(name, None, 0, value)


def custom(reader: Reader, refs: Any, attrs: dict[str, Any], results: Any, node: Any, during: int | None) -> AnyEvent:
    """A custom Function ran."""
    inputs = tuple(Input(argument, reader.tensors[number], version) for argument, number, version in refs)
    outputs = tuple(output(reader, one) for one in results)
    record = None if node is None else node_record(reader, node, inputs, inputs, outputs)
    return OpCalled(*reader.here, "custom_function", inputs, attrs, outputs, record, None, during)


def data_given(reader: Reader, tensor: int, version: int, result: Result) -> AnyEvent:
    """The program asked for `x.data`."""
    inputs = (Input("self", reader.tensors[tensor], version),)
    return OpCalled(*reader.here, "data", inputs, {}, (output(reader, result),), None, None, None)


def output(reader: Reader, result: Result) -> Output:
    number, version, value, requires, storage, base = result
    shape, dtype = reader.shape(value)
    view_of = None if base is None else reader.tensors[base]
    reader.current[reader.tensors[number]] = value
    return Output(reader.tensors[number], version, value, shape, dtype, requires, reader.storages[storage], view_of)


def node_record(
    reader: Reader, node: Any, inputs: Sequence[Input], differentiable: Sequence[Input], outputs: Sequence[Output]
) -> NodeRecord:
    """The node of an op, with one of its differentiable inputs for each edge; all inputs, if these are not known."""
    key, name, edges, saved = node
    links = tuple(edge_of(reader, edge) for edge in edges)
    while len(links) > len(differentiable) and links[-1] is None:
        links = links[:-1]  # of arguments that the call was not given
    number = reader.nodes[key]
    for nr, out in enumerate(outputs):
        if out.requires_grad:
            reader.makers[out.tensor] = (number, nr)
    names = behind(reader, differentiable, links)
    return NodeRecord(number, name, len(reader.nodes) - 1, names, links, saved_of(reader, saved, inputs))


def edge_of(reader: Reader, edge: Any) -> Edge | None:
    """(node, output) or (leaf,)."""
    if edge is None:
        return None
    return Edge(None, reader.tensors[edge[0]]) if len(edge) == 1 else Edge(reader.nodes[edge[0]], None, edge[1])


def behind(reader: Reader, inputs: Sequence[Input], edges: Sequence[Edge | None]) -> tuple[str, ...]:
    """The name of the input that each edge leads to: the one whose tensor comes from there, else the next one in
    order."""
    rest, names = list(inputs), []
    for edge in edges:
        place = next((nr for nr, one in enumerate(rest) if edge is not None and is_from(reader, one, edge)), 0)
        names.append(rest[place].name if rest else inputs[-1].name if inputs else "")
        rest = rest[place + 1 :]
    return tuple(names)


def is_from(reader: Reader, source: Input, edge: Edge) -> bool:
    """Return whether the tensor of an input comes from where an edge leads."""
    if source.tensor is None:
        return False
    if edge.leaf is not None:
        return edge.leaf == source.tensor
    return bool(reader.makers.get(source.tensor) == (edge.node, edge.output_nr))


def saved_of(reader: Reader, saved: Any, inputs: Sequence[Input]) -> tuple[Saved, ...]:
    """The saved tensors, (name, value, tensor, bytes), in the order of the inputs, results after them."""
    order = {one.name: place for place, one in enumerate(inputs)}
    numbers = {one.name: one.scalar for one in inputs if one.tensor is None}
    return tuple(
        Saved(name, None, numbers[name], None, 8)
        if name in numbers
        else Saved(name, value, None, None if tensor is None else reader.tensors[tensor], size)
        for name, value, tensor, size in sorted(saved, key=lambda one: order.get(one[0], len(order)))
    )


def flag(reader: Reader, tensor: int, name: str, value: bool) -> AnyEvent:
    return FlagChanged(*reader.here, reader.tensors[tensor], name, value)


def start(reader: Reader, call: int, function: str, roots: Any, inputs: Any, keep: bool,
          graph: bool, anomaly: bool) -> AnyEvent:  # fmt: skip
    tensors = reader.tensors
    starts = tuple(Root(tensors[t], v, s is None, None if s in (None, EDITED) else tensors[s]) for t, v, s in roots)
    ends = None if inputs is None else tuple(tensors[t] for t in inputs)
    return BackwardStarted(*reader.here, call, function, starts, ends, keep, graph, anomaly=anomaly)


def raised(reader: Reader, error: BaseException, note: str, call: int | None, node: int | None) -> AnyEvent:
    number = None if node is None else reader.nodes[node]
    text, traceback = message_of(error), users_traceback(error)
    return ErrorRaised(*reader.here, type(error).__name__, text, note, call, number, (), traceback)


# -- instead of entries that cannot be read ----------------------------------------------------------------------------


def unread(reader: Reader, name: str, refs: Sequence[tuple[str, int, int]], results: Sequence[Result],
           node: Any, inplace: int | None, during: int | None) -> AnyEvent:  # fmt: skip
    """An op with its inputs and outputs, whose arguments and saved tensors are not known."""
    rest = None if node is None else (*node[:3], ())
    return hidden(reader, name, refs, reader.unseen, results, rest, inplace, during)


def unread_op(reader: Reader, call: Call, arguments: list[tuple[str, Any]],
              results: Sequence[Result], node: Any, inplace: int | None, during: int | None) -> AnyEvent:  # fmt: skip
    refs = refs_of(arguments)
    return unread(reader, call.name, refs, results, node, inplace, during)


def refs_of(arguments: list[tuple[str, Any]]) -> list[tuple[str, int, int]]:
    return [(name, one.number, one.version) for name, one in flat_inputs(arguments)]


def unread_hidden(reader: Reader, name: str, refs: Any, attrs: Any, results: Any, node: Any,
                  inplace: int | None, during: int | None) -> AnyEvent:  # fmt: skip
    return unread(reader, name, refs, results, node, inplace, during)


def unread_joint(reader: Reader, call: Call, arguments: list[tuple[str, Any]], view: ViewOf, part: int, result: Result,
                 node: Any, during: int | None) -> AnyEvent:  # fmt: skip
    refs = [("self", *view.base), *refs_of(arguments)[1:]]
    return unread(reader, "CopySlices", refs, [result], node, result[0], during)


def unread_retaken(reader: Reader, view: ViewOf, result: Result, node: Any, during: int | None) -> AnyEvent:
    return unread(reader, node[1], [("self", *view.base)], [result], node, None, during)


def unread_custom(reader: Reader, refs: Any, attrs: dict[str, Any], results: Any, node: Any,
                  during: int | None) -> AnyEvent:  # fmt: skip
    return unread(reader, str(attrs["function"]), refs, results, node, None, during)


def unread_data_given(reader: Reader, tensor: int, version: int, result: Result) -> AnyEvent:
    return unread(reader, "data", [("self", tensor, version)], [result], None, None, None)


def unread_leaf(reader: Reader, tensor: Result, *_: Any) -> AnyEvent:
    number, version, value, requires, storage, _base = tensor
    return reader.unread_leaf(number, storage, version, value, requires)


accumulate, code, data, end, enter, escape, grad_set, hook, leave, left, mode, refresh, vjp = (
    Reader.accumulate, Reader.code, Reader.data, Reader.end, Reader.enter, Reader.escape, Reader.grad_set, Reader.hook,
    Reader.leave, Reader.left, Reader.mode, Reader.refresh, Reader.vjp,
)  # fmt: skip
"""Entries that the engine's recorder has as well."""
INSTEAD |= {
    op: unread_op, hidden: unread_hidden, joint: unread_joint, retaken: unread_retaken, custom: unread_custom,
    data_given: unread_data_given, leaf: unread_leaf, start: Reader.unread_start,
}  # fmt: skip
