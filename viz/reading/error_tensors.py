"""The tensors that an error is about.  The engine names them; those of PyTorch's own errors are found by the
message, the call or node that raised it, and the program's text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import permutations

from engine.trace.events import BackwardStarted, ErrorRaised
from engine.trace.messages import ErrorKind, Message, read_error

from .facts import Facts

OF_ROOTS: frozenset[ErrorKind] = frozenset({"not-scalar", "seed-shape", "no-history"})
"""Errors about a root of the call."""
OF_INPUTS: frozenset[ErrorKind] = frozenset({"unused-input", "constant-input"})
"""Errors about a tensor whose gradient was asked for."""
OF_VIEWS: frozenset[ErrorKind] = frozenset({"leaf-view-changed", "several-views", "unrecorded-view"})
"""Errors about a view that is written, and its base."""
OF_THE_LINE: frozenset[ErrorKind] = OF_VIEWS | {
    "leaf-changed", "inference-tensor", "integer-leaf", "numpy-of-grad", "flag-of-inner", "size-of-grad",
    "retain-constant", "no-inputs",
}  # fmt: skip
"""Errors about the first tensor that the line of the program names."""
OF_OPERANDS: frozenset[ErrorKind] = frozenset({"matrix-shapes", "sizes", "dtypes", "devices"})
"""Errors about what an op was given: all tensors that the line names, if the op itself was not seen."""
OF_ARGUMENTS: frozenset[ErrorKind] = OF_OPERANDS | {
    "target-size", "batch-sizes", "class-range", "class-dimension", "class-columns", "soft-target", "channels",
    "features", "one-per-channel", "index-range", "view-size", "view-strides", "index-bounds", "list-sizes",
    "batched-matrices", "subscript-sizes", "number-of-many", "truth-of-many", "probability-range", "no-kernel",
    "mean-of-integers",
}  # fmt: skip
"""The same for layers and losses."""


def error_tensors(facts: Facts, event: ErrorRaised) -> tuple[int, ...]:
    """The tensors that an error is about, in the order of the engine's own errors; () if they are not known."""
    message = read_error(event)
    tensors = event.tensors or _unnamed(facts, event, message)
    if message.kind == "target-size":  # of the names in a line, those of what does not fit
        shapes = [re.findall(r"\d+", message.parts[part]) for part in ("input", "target")]
        return tuple(t for t in tensors if [str(size) for size in facts.tensors[t].shape] in shapes)
    if message.kind == "matrix-shapes":
        first, second = matrices(facts, tensors, message)
        return tensors if first is None or second is None else (first, second)
    return tensors


def matrices(facts: Facts, tensors: Iterable[int], message: Message) -> tuple[int | None, int | None]:
    """Of the tensors that a "matrix-shapes" error is about, the two that do not fit, without what the same op adds to
    their product; None for an unknown one."""
    remaining = [tensor for tensor in tensors if tensor in facts.tensors]

    def take(part: str) -> int | None:
        shape = message.parts[part]
        tensor = next((one for one in remaining if "x".join(map(str, facts.tensors[one].shape)) == shape), None)
        if tensor is not None:
            remaining.remove(tensor)
        return tensor

    return take("first"), take("second")


def _unnamed(facts: Facts, event: ErrorRaised, message: Message) -> tuple[int, ...]:
    """The same for an error that does not name its tensors."""
    if message.kind == "saved-changed":
        return _saved(facts, event)
    if message.kind in OF_ROOTS or message.kind in OF_INPUTS or message.kind == "seed-count":
        call = facts.calls.get(-1 if event.call is None else event.call)
        return () if call is None else _of_call(facts, call.event, message)
    if message.kind in OF_THE_LINE:
        named = next(named_in_line(facts, event), None)
        of = None if named is None or message.kind not in OF_VIEWS else base(facts, named)
        return () if named is None else (named,) if of is None else (named, of)
    if message.kind == "none-used":
        return tuple(tensor for attribute, tensor in _in_line(facts, event) if attribute == "grad")
    return _operands(facts, event, message) if message.kind in OF_ARGUMENTS else ()


def _operands(facts: Facts, event: ErrorRaised, message: Message) -> tuple[int, ...]:
    """The inputs of the node of an error, or all tensors that its line names."""
    op = facts.op_of_node.get(-1 if event.node is None else event.node)
    if op is None:
        pair = _arguments(facts, event, message) if message.kind == "sizes" else ()
        return pair or tuple(named_in_line(facts, event))
    return tuple(one.tensor for one in facts.ops[op].event.inputs if one.tensor is not None)


def _arguments(facts: Facts, event: ErrorRaised, message: Message) -> tuple[int, ...]:
    """The two operands in the failing expression or statement whose sizes the message gives, each a tensor with a name
    or the result of a call; () if they are not known."""
    frame = facts.failing[event.index]
    whole = facts.sources.node(frame) if frame is not None else None
    if frame is None or not isinstance(whole, (ast.expr, ast.Assign, ast.AugAssign, ast.Expr, ast.Return)):
        return ()
    by_name, text_of = _newest(facts, event), facts.sources.file(frame.file).text_of
    sizes = [int(message.parts[part]) for part in ("first", "second")]
    for node in reversed(list(ast.walk(whole))):  # the inner ones first
        candidates = (by_name.get(text_of(part), _result(facts, event, part)) for part in _operands_in(node))
        tensors = [tensor for tensor in candidates if tensor is not None]
        for pair in permutations(tensors, 2):
            if _aligned([facts.tensors[one].shape for one in pair], int(message.parts["dim"])) == sizes:
                return tuple(tensor for tensor in tensors if tensor in pair)
    return ()


def _operands_in(node: ast.AST) -> list[ast.expr]:
    """The expressions of which a node computes something."""
    match node:
        case ast.Call(args=args, keywords=keywords):
            return [*args, *(one.value for one in keywords)]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.AugAssign(target=target, value=value):
            return [target, value]
    return []


def _aligned(shapes: Sequence[tuple[int, ...]], dim: int) -> list[int]:
    """The sizes of shapes in a dimension of what they would broadcast to."""
    most = max(map(len, shapes))
    return [((1,) * (most - len(shape)) + shape)[dim] if dim < most else 1 for shape in shapes]


def _result(facts: Facts, event: ErrorRaised, part: ast.AST) -> int | None:
    """The result of the last op that an expression computed before an error; None if it computed none."""
    for op in reversed(facts.ops):
        stack = facts.trace.stacks[op.event.stack] if op.event.stack >= 0 else ()
        if op.event.index < event.index and any(facts.sources.node(frame) is part for frame in stack):
            return op.event.outputs[0].tensor if op.event.outputs else None
    return None


def _of_call(facts: Facts, call: BackwardStarted, message: Message) -> tuple[int, ...]:
    """The same for an error that a backward call raised."""
    roots, inputs = [root.tensor for root in call.roots], list(call.inputs or ())
    at = int(message.parts.get("index") or 0)
    if message.kind == "seed-count":
        return tuple(roots[int(message.parts["gradients"]) :])
    if message.kind == "constant-input":
        return tuple(t for t in inputs if t in facts.tensors and not asks(facts, t, call.index))
    tensors = inputs if message.kind in OF_INPUTS else roots
    return tuple(tensors[at : at + 1])


def _saved(facts: Facts, event: ErrorRaised) -> tuple[int, ...]:
    """The tensor that the node of the error has saved, and that was written since: the one written last."""
    op = facts.op_of_node.get(-1 if event.node is None else event.node)
    maker = None if op is None else facts.ops[op].event
    if maker is None or maker.node is None:
        return ()
    saved = [one.tensor for one in maker.node.saved if one.tensor is not None]
    for write in reversed(facts.ops):
        target = write.event.inplace
        if target is not None and maker.index < write.event.index < event.index:
            changed = next((t for t in saved if shares(facts, t, target)), None)
            if changed is not None:
                return (changed,)
    return ()


def named_in_line(facts: Facts, event: ErrorRaised) -> Iterator[int]:
    """The tensors that the program's line names at which an error came up, in the order of the text: those that it
    reads, or writes in place.  What it would have bound has no such name."""
    yield from dict.fromkeys(tensor for _, tensor in _in_line(facts, event))


def _in_line(facts: Facts, event: ErrorRaised) -> Iterator[tuple[str, int]]:
    """The same, each time that it is named, with the attribute that the line asks of it there; "" for none."""
    frame = facts.failing[event.index]
    if frame is None:
        return
    file = facts.sources.file(frame.file)
    inside = [
        node for node in file.above
        if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript))
        and (isinstance(node.ctx, ast.Load) or isinstance(file.above[node], ast.AugAssign))
        and frame.line <= node.lineno <= (node.end_lineno or node.lineno) <= frame.end_line
    ]  # fmt: skip
    newest = _newest(facts, event)
    for node in sorted(inside, key=lambda one: (one.lineno, one.col_offset, -(one.end_col_offset or 0))):
        tensor, around = newest.get(file.text_of(node)), file.above[node]
        if tensor is not None:
            yield around.attr if isinstance(around, ast.Attribute) else "", tensor


def _newest(facts: Facts, event: ErrorRaised) -> dict[str, int]:
    """The newest tensor of each name before an error."""
    return {name: tensor for tensor, name in sorted(facts.trace.names.items()) if _is_before(facts, tensor, event)}


def _is_before(facts: Facts, tensor: int, event: ErrorRaised) -> bool:
    fact = facts.tensors.get(tensor)
    return fact is not None and fact.event < event.index


def asks(facts: Facts, tensor: int, before: int) -> bool:
    """Return whether a tensor required a gradient at an event, by the last setting of the flag before it."""
    fact = facts.tensors[tensor]
    last = next((flag.value for flag in reversed(fact.flags) if flag.index < before), None)
    return fact.requires_grad if last is None else last


def shares(facts: Facts, one: int, other: int) -> bool:
    """Return whether two tensors share memory."""
    return one == other or (one in facts.storages and facts.storages[one] == facts.storages.get(other, -1))


def base(facts: Facts, tensor: int) -> int | None:
    """The first tensor in the memory of a view; None for a tensor with memory of its own."""
    storage = facts.storages.get(tensor)
    return next((t for t, s in facts.storages.items() if s == storage and t != tensor), None)
