"""How an op meets Tensors: kernel, node where a gradient is needed, event where a recording runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy import ndarray

from ..arrays import errors
from ..arrays.array import apart, as_array, float32
from ..arrays.session import slot
from ..ops.op import HANDLERS, Op
from .devices import together
from .grad_mode import mode
from .node import Node, accumulator, gradient_edge, next_number
from .saved_tensors import packed, save
from .storage import InferenceStorage
from .tensor import Tensor
from .views import refresh_view, share, share_each

_new = object.__new__
SINGLE = float32.numpy
KERNEL_ERRORS = (ValueError, IndexError, TypeError, AttributeError)


def apply(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an op on Tensors: kernel, node where a gradient is needed, event where a recording runs."""
    if kwargs or len(args) != op.arity:
        args, statics = op.bind(args, kwargs)
    else:
        statics = op.statics
    arrays: list[Any] = []
    needs = numbers = 0
    bit = 1
    for value in args:
        kind = type(value)
        if kind is Tensor or isinstance(value, Tensor):
            arrays.append(value._array)
            if value._requires_grad:
                needs |= bit
        elif kind is list or kind is tuple:
            arrays.append([v._array if isinstance(v, Tensor) else v for v in value])
            if any(isinstance(v, Tensor) and v._requires_grad for v in value):
                needs |= bit
        else:
            arrays.append(value)
            numbers |= bit
        bit += bit
    sources = arrays
    promote = op.promote
    try:
        if promote is not None:
            arrays = promote(arrays)
        result = op.kernel(*arrays, **statics)
    except KERNEL_ERRORS as error:
        if apart(arrays):
            return apply(op, together(op, args), statics)
        raise kernel_error(op, arrays, error) from None
    except OverflowError:
        fitted, named = wrapped(args, statics, narrow(arrays))
        if fitted == args and named == statics:
            raise
        return apply(op, fitted, named)
    needs &= op.mask
    node = connect(op, args, needs, numbers, statics) if needs and mode.enabled else None
    if type(result) is tuple:
        if result and type(result[0]) is not ndarray and apart(arrays):
            return apply(op, together(op, args), statics)
        return _several(op, args, statics, result, node, None if arrays is sources else arrays)
    if type(result) is not ndarray:
        result = as_array(result)
        if type(result) is not ndarray and op.name != "to.device" and apart(arrays):
            return apply(op, together(op, args), statics)
    out: Tensor = _new(Tensor)
    out._array = result
    if op.view and result.base is not None:
        share(out, args[0], op, statics)
        if out._storage.inference:  # a view of an inference tensor is one too: it has no history
            node = None
    if node is not None:
        dtype = result.dtype
        if dtype is SINGLE or dtype.kind == "f":
            out._node = node
            out._requires_grad = True
            node.shape = result.shape
            node.dtype = dtype
            save(node, args, None if arrays is sources else arrays, (out,))
        else:
            node = None
    if slot.active is not None:
        slot.active.op(op, args, statics, (out,), node, None)
    return out


def narrow(arrays: Any) -> Any:
    """The integer dtype in which an op computes, if it is not the widest; else None."""
    kinds = {a.dtype for a in arrays if hasattr(a, "dtype") and a.dtype.kind != "b"}
    kind = kinds.pop() if len(kinds) == 1 else None
    return kind if kind is not None and kind.kind in "iu" and kind.itemsize < 8 else None


def wrapped(args: tuple[Any, ...], statics: Any, dtype: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments with numbers that the integer `dtype` cannot hold taken modulo its range, as torch takes them."""
    if dtype is None:
        return args, statics
    values = tuple(_wrap(v, dtype) for v in args)
    return values, {name: _wrap(v, dtype) if name in NUMBERS else v for name, v in statics.items()}


NUMBERS = frozenset({"alpha", "other", "value"})
"""Static arguments that are numbers to compute with, not places or sizes."""


def _wrap(value: Any, dtype: Any) -> Any:
    if type(value) is not int:
        return value
    bits = 8 * dtype.itemsize
    low = value & ((1 << bits) - 1)
    return low - (1 << bits) if dtype.kind == "i" and low >> (bits - 1) else low


def connect(op: Op, args: Any, needs: int, numbers: int, statics: Any) -> Node:
    """A node with its edges, for the inputs whose bits are set in `needs`; inputs in `numbers` are not tensors."""
    plan = op.plans.get(needs | numbers << op.arity)
    if plan is None:
        plan = op.plan(needs, numbers)
    node: Node = _new(Node)
    node.plan = plan
    node.more = None
    if statics:
        node.statics = statics
    node.sequence_nr = next_number()
    if op.lists:
        edges = [edge_of(tensor) for place in op.places for tensor in _tensors(args[place])]
        node.targets = tuple(target for target, _ in edges)
        node.numbers = tuple(nr for _, nr in edges)
        return node
    targets = []
    numbered = False
    for place in op.places:
        if needs >> place & 1:
            value = args[place]
            target = value._node
            targets.append(target if target is not None and value._view is None else target_of(value))
            if value._nr:
                numbered = True
        else:
            targets.append(None)
    node.targets = tuple(targets)
    if numbered:
        node.numbers = tuple(edge_of(args[place])[1] for place in op.places)
    return node


def target_of(tensor: Tensor) -> Any:
    """The node that receives the gradient of a tensor."""
    if tensor._view is not None:
        refresh_view(tensor)
    return accumulator(tensor) if tensor._node is None else tensor._node


def _tensors(value: Any) -> Any:
    """The tensors of an argument that may be a list of them."""
    return value if type(value) is list or type(value) is tuple else (value,)


def edge_of(value: Any) -> tuple[Any, int]:
    """(node, output number) that receives the gradient of an argument; (None, 0) if it needs none."""
    if not isinstance(value, Tensor) or not value._requires_grad:
        return None, 0
    refresh_view(value)
    return gradient_edge(value) or (None, 0)


def _several(op: Op, args: Any, statics: Any, results: tuple[Any, ...], node: Node | None, promoted: Any) -> Any:
    """The outputs of an op that has more than one."""
    carriers = op.traits.differentiable
    outputs: list[Tensor] = []
    for result in results:
        out: Tensor = _new(Tensor)
        out._array = result if type(result) is ndarray else as_array(result)
        out._requires_grad = False
        outputs.append(out)
    if op.view:
        share_each(outputs, args[0], op, statics)
    if node is not None:
        for nr, out in enumerate(outputs):
            if out._array.dtype.kind == "f" and (carriers is None or nr in carriers):
                out._comes_from(node, nr)
        carrying = outputs if carriers is None else outputs[: carriers[-1] + 1]  # no gradient comes for the others
        node.metas = [(out._array.shape, out._array.dtype) for out in carrying]
        node.more = {}
        node.shape = node.dtype = None  # no single shape fits every output: the loop uses the metas
        save(node, args, promoted, outputs)
    if slot.active is not None:
        slot.active.op(op, args, statics, outputs, node, None)
    return tuple(outputs)


AFTER: list[Callable[..., None]] = []
"""Functions of (op, args, kwargs, made) that are called after each op on Tensors while `slot.noted`."""


def _apply_and_notify(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    result = apply(op, args, kwargs)
    for function in AFTER:
        function(op, args, kwargs, result)
    return result


def _swap(noted: bool) -> None:
    for kind in list(HANDLERS):  # parameters, buffers and the user's own kinds too
        if issubclass(kind, Tensor):
            HANDLERS[kind] = _apply_and_notify if noted else apply


slot.swap = _swap


def _infer(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], results: Any) -> None:
    """In inference mode results are inference tensors, unless they share the storage of others."""
    if mode.inference:
        for tensor in results if isinstance(results, tuple) else (results,):
            if tensor._shared is None:
                tensor._shared = InferenceStorage()


AFTER.append(_infer)


def _pack(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], results: Any) -> None:
    """Within saved_tensors_hooks, the saved tensors of a new node are packed."""
    if mode.packing and mode.enabled:
        first = results[0] if isinstance(results, tuple) else results
        node = first._node
        if node is not None and node.own is None and node.saved:
            node.saved = tuple(packed(node, v, i) if i in node.plan.tensors else v for i, v in enumerate(node.saved))


AFTER.append(_pack)


def kernel_error(op: Op, arrays: Any, error: Exception) -> BaseException:
    """A kernel's error in torch's words; the note has the shapes."""
    shapes = [tuple(a.shape) if hasattr(a, "shape") else a for a in arrays]
    note = f"Backstep: {op.name} was called with " + ", ".join(
        f"{name} {list(s) if isinstance(s, tuple) else s!r}" for name, s in zip(op.inputs, shapes, strict=True)
    )
    return errors.from_kernel(op.name, shapes, error, note)


HANDLERS[Tensor] = apply
