"""In-place ops: the same kernels and rules, written into the tensor, with versions and rebased history."""

from __future__ import annotations

from typing import Any

from . import errors
from .array import as_array, dtype_of, is_array
from .dispatch import connect, kernel_error, save
from .mode import mode
from .node import Node, gradient_edge, next_number
from .op import REGISTRY, Op
from .ops.inplace import copy_slices, zero_slice
from .slot import slot
from .tensor import Storage, Tensor, View, refresh_view

__all__ = ["apply_inplace", "check_inplace", "copy_slices", "wrote", "zero_slice"]


JOINT: Op = copy_slices.op  # type: ignore[attr-defined]


def check_inplace(tensor: Tensor) -> None:
    """Raise torch's error where `tensor` may not be written while gradients are recorded."""
    if not mode.enabled:
        return
    view = tensor._view
    if view is not None and view.base._requires_grad and view.unrecorded:
        raise _half_recorded(tensor, view)
    if view is not None and view.base._requires_grad and (nr := view.path[-1][2]) is not None:
        kind = REGISTRY[view.path[-1][0]].node_name.removesuffix("Backward0")
        raise errors.runtime(
            f"Output {nr} of {kind} is a view and is being modified inplace. This view is the output of a function "
            "that returns multiple views. Such functions do not allow the output views to be modified inplace. You "
            "should replace the inplace operation by an out-of-place one.",
            "Backstep: write out of place (row = row + 1), or write the whole tensor by index (x[0] += 1).",
            tensors=(tensor, view.base),
        )
    if tensor._requires_grad and tensor._node is None and view is None:
        raise errors.runtime(
            "a leaf Variable that requires grad is being used in an in-place operation.",
            "Backstep: a leaf is the end of the graph, it has no earlier value to send its gradient to. "
            "Write inside `with torch.no_grad():`, or work on a clone.",
            tensors=(tensor,),
        )
    if view is not None and view.base._requires_grad and view.base._node is None:
        raise errors.runtime(
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
            "Backstep: writing the view would write the leaf. Write inside `with torch.no_grad():`, or on a clone.",
            tensors=(tensor, view.base),
        )


def _half_recorded(tensor: Tensor, view: View) -> BaseException:
    """torch's error for a recorded write to a view that was not recorded itself."""
    first = "A view was created in"
    if view.unrecorded == 2:
        kind = REGISTRY[view.path[-1][0]].node_name.removesuffix("Backward0")
        first = f"Output {view.path[-1][2] or 0} of {kind} is a view of a view which was created in"
    return errors.runtime(
        f"{first} no_grad mode and is being modified inplace with grad mode enabled. Given that this use case is "
        "ambiguous and error-prone, it is forbidden. You can clarify your code by moving both the view and the inplace "
        "either both inside the no_grad block (if you don't want the inplace to be tracked) or both outside (if you "
        "want the inplace to be tracked).",
        "Backstep: the write would be recorded, and the view through which it goes was not.",
        tensors=(tensor, view.base),
    )


def apply_inplace(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Run `op` and write its result into its first argument, which is returned."""
    writer = op.traits.write
    target: Tensor = args[0]
    check_inplace(target)
    refresh_view(target)
    inputs, statics = op.bind(args, kwargs)
    arrays = [_raw(v) for v in inputs]
    sources = arrays
    if op.traits.promote is not None:
        arrays = op.traits.promote(arrays)
    result = None
    if writer is None:
        result = _computed(op, arrays, statics, target)
    if not target._array.flags.writeable:
        raise errors.runtime(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation.",
            f"Backstep: {op.name}_ would write a tensor made by expand (or of a read-only numpy array).",
            tensors=(target,),
        )
    node, before = _rebased(op, inputs, statics, target)
    if (active := slot.active) is not None:
        active.see(target)
        if target._view is not None:
            active.see(target._view.base)
        active.before_write(target)
    if node is not None and op.inputs[0] in node.plan.names:
        before._array = target._array.copy()
    if writer is None:
        target._array[...] = result
    else:
        writer(*arrays, **statics)
    storage = target._storage
    storage.version += 1
    if storage.origin is not None:
        storage.origin.unseen += 1
    if node is not None:
        _attach(op, node, (before, *inputs[1:]), arrays if arrays is not sources else None, target)
    if active is not None:
        active.op(op, inputs, statics, (target,), node, target)
        if node is not None and target._view is not None:
            base, path = target._view.base, target._view.path
            active.op(JOINT, (base, target), {"path": path}, (base,), base._node, base)
    return target


def share_data(source: Tensor, made: Tensor) -> None:
    """`made` is `source.data`: a recording tells of `source` what is written through it.

    It copies first what it has of both: a write to one is not announced for the other.
    """
    made._storage.origin = source._storage.origin or source._storage
    if (active := slot.active) is not None:
        active.before_write(source)
        for tensor in (source, made):
            kept = active.values[tensor._value]
            if is_array(kept):
                active.values[tensor._value] = kept.copy()


def _raw(value: Any) -> Any:
    """The array of a tensor, the arrays of a list of tensors."""
    if type(value) is list:
        return [_raw(v) for v in value]
    return value._array if isinstance(value, Tensor) else value


def _computed(op: Op, arrays: list[Any], statics: Any, target: Tensor) -> Any:
    try:
        result = as_array(op.kernel(*arrays, **statics))
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        raise kernel_error(op, arrays, error) from None
    if result.shape != target._array.shape:
        raise errors.runtime(
            f"output with shape {list(target._array.shape)} doesn't match the broadcast shape {list(result.shape)}"
        )
    if result.dtype.kind == "f" and target._array.dtype.kind != "f":
        names = [dtype_of(a).legacy.removesuffix("Tensor") for a in (result, target._array)]
        raise errors.runtime(f"result type {names[0]} can't be cast to the desired output type {names[1]}")
    return result


def _rebased(op: Op, inputs: Any, statics: Any, target: Tensor) -> tuple[Node | None, Any]:
    """The node of the written tensor, and a stand-in for the tensor as it was before."""
    needs = numbers = 0
    for position, value in enumerate(inputs):
        if not isinstance(value, (Tensor, list, tuple)):
            numbers |= 1 << position
        elif isinstance(value, Tensor) and value._requires_grad:
            needs |= 1 << position
    needs &= op.mask
    if not (needs and mode.enabled):
        return None, None
    before = Tensor.__new__(Tensor)
    before._array, before._storage = target._array, Storage()
    before._node, before._nr, before._requires_grad = target._node, target._nr, target._requires_grad
    node: Node = connect(op, (before, *inputs[1:]), needs, numbers, statics)
    node.shape, node.dtype = target._array.shape, target._array.dtype
    return node, before


def _attach(op: Op, node: Node, inputs: Any, promoted: Any, target: Tensor) -> None:
    """Make `node` the history of the written tensor, and of the base where it is a view."""
    save(node, inputs, promoted, (target,))
    wrote(target, node)


def wrote(target: Tensor, node: Node) -> None:
    """`target` was written, with history `node`: itself, or through CopySlices where it is a view."""
    target._requires_grad = True
    view: View | None = target._view
    if view is None:
        target._node, target._nr = node, 0
        return
    base = view.base
    through = Node()
    through.sequence_nr = next_number()
    through.plan = JOINT.plan(3 if base._requires_grad else 2)
    earlier, nr = (base._requires_grad and gradient_edge(base)) or (None, 0)
    through.targets, through.numbers = (earlier, node), (nr, 0)
    through.shape, through.dtype = base._array.shape, base._array.dtype
    through.statics = {"path": view.path}
    through.saved = tuple(view.path for _ in through.plan.names)
    base._node, base._nr, base._requires_grad = through, 0, True
    view.version = -1
    refresh_view(target)
