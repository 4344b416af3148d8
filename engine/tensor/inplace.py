"""In-place ops: the same kernels and rules, written into the tensor, with versions and rebased history."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..arrays import errors
from ..arrays.array import apart, as_array, dtype_of, is_writable, takes_writes, xp
from ..arrays.session import slot, warn
from ..ops.choice import masked_fill, zero
from ..ops.indexing import index_put
from ..ops.inplace import INTO, copy, copy_slices, fits_into, retake, take_slice, zero_slice
from ..ops.op import Op
from ..ops.reduction import sum_to_size
from ..ops.shape import clone
from .devices import together
from .dispatch import AFTER, connect, kernel_error, wrapped
from .grad_mode import INFERENCE_INPLACE, mode
from .node import Node, gradient_edge, next_number
from .saved_tensors import save
from .storage import Storage
from .tensor import Tensor, tensor_of
from .views import View, limited, moved, refresh_view, retaken

__all__ = ["apply_inplace", "check_inplace", "copy_slices", "wrote", "zero_slice"]


JOINT: Op = copy_slices.op
REPEATED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. Please "
    "clone() the tensor before performing the operation."
)

BEFORE_WRITE: list[Callable[..., Any]] = []
"""Functions of (op, args, kwargs) that are called before each write while `slot.noted`; each returns a function to call
after the write."""
MODIFIED = "is being modified inplace"
DEPRECATED = (
    "Use of {}_ on expanded tensors is deprecated. Please clone() the tensor before performing this operation. This "
    "also applies to advanced indexing e.g. tensor[{}] = {}"
)


def check_inplace(tensor: Tensor, needs: bool) -> None:
    """Raise torch's error if `tensor` may not be written while gradients are recorded.

    `needs`: whether any tensor in the write requires grad.
    """
    if tensor.is_inference() and not mode.inference:
        raise errors.runtime(INFERENCE_INPLACE, "Backstep: write inside the block, or on a clone.", tensors=(tensor,))
    if not (mode.enabled and needs):
        return
    view = tensor._view
    if view is not None and view.kind is not None:
        raise limited(tensor, view, MODIFIED)
    if tensor._requires_grad and tensor._node is None and view is None:
        raise errors.runtime(
            "a leaf Variable that requires grad is being used in an in-place operation.",
            "Backstep: a leaf is where the graph ends: it has no earlier value to send a gradient to. "
            "Write inside `with torch.no_grad():`, or work on a clone.",
            tensors=(tensor,),
        )
    if view is not None and view.base._requires_grad and view.base._node is None:
        raise errors.runtime(
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
            "Backstep: writing to the view would also write to the leaf. Write inside `with torch.no_grad():`, or on "
            "a clone.",
            tensors=(tensor, view.base),
        )


def apply_inplace(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Tensor:
    """Run `op` and write its result into its first argument, which is returned."""
    writer = op.traits.write
    target: Tensor = args[0]
    inputs, statics = op.bind(args, kwargs)
    kind = target._array.dtype
    if kind.kind in "iu" and kind.itemsize < 8:
        inputs, statics = wrapped(tuple(inputs), statics, kind)
    needs = any(isinstance(t, Tensor) and t._requires_grad for t in _flat(inputs))
    check_inplace(target, needs and not _cuts(op, target))
    refresh_view(target)
    later = [function(op, args, kwargs) for function in BEFORE_WRITE] if slot.noted else ()
    arrays = [_raw(v) for v in inputs]
    if apart(arrays):
        inputs = together(op, inputs)
        arrays = [_raw(v) for v in inputs]
    sources = arrays
    if op.traits.promote is not None:
        try:
            arrays = op.traits.promote(arrays)
        except TypeError as error:
            raise kernel_error(op, arrays, error) from None
    result = None
    if writer is None and op.name in INTO and arrays is sources and fits_into(arrays):
        writer = INTO[op.name]
    if not is_writable(target._array):
        _check_repeats(op, inputs, target)
    if writer is not None and op.name.startswith("masked_fill") and not _covers(target, arrays[1]):
        writer = None  # computing raises the error
    if writer is None:
        result = _kernel_result(op, arrays, statics, target)
    is_fill = op is index_put.op and fills_mask(inputs[2], inputs[1])
    for value in () if is_fill else _flat(inputs[1:]) if op.lists else inputs[1:]:
        shared = value._shared if isinstance(value, Tensor) else None
        if (value is target or (shared is not None and shared is target._shared)) and not op.traits.reads_first:
            _check_overlap(target, value, op)
    node, before = _rebased(op, inputs, statics, target)
    if (active := slot.active) is not None:
        active.see(target)
        if target._view is not None:
            active.see_base(target._view.base, node is not None)
        active.before_write(target)
    if node is not None and op.inputs[0] in node.plan.names:
        before._array = target._array.copy()
    if writer is None:
        target._array[...] = result
    else:
        writer(*arrays, **statics)
    target._storage.count_write()
    if node is not None:
        _attach(node, (before, *inputs[1:]), arrays if arrays is not sources else None, target)
    if active is not None:
        active.op(op, inputs, statics, (target,), node, target)
        if node is not None and target._view is not None:
            report_joint(active, target, op.name)
        active.after_write(target)
    if node is not None and target._view is not None:
        refresh_view(target)
    if slot.noted:
        for function in AFTER:
            function(op, args, kwargs, target)
        for finish in later:
            if finish is not None:
                finish(target)
    return target


def _covers(target: Tensor, mask: Any) -> bool:
    """Return whether a mask can be broadcast to the written tensor."""
    sizes = target._array.shape[::-1]
    return len(mask.shape) <= len(sizes) and all(m in (1, n) for m, n in zip(mask.shape[::-1], sizes, strict=False))


def _cuts(op: Op, target: Tensor) -> bool:
    """Return whether a write leaves no history: a copy to integers, as in torch."""
    return op is copy.op and target._array.dtype.kind != "f"


def fills_mask(indices: Any, value: Tensor) -> bool:
    """Return whether an assignment by index writes one number where a mask is True: torch then checks less."""
    return value._array.size == 1 and [i._array.dtype.kind for i in indices if i is not None] == ["b"]


def _check_repeats(op: Op, inputs: Any, target: Tensor) -> None:
    """Raise torch's error, or give its warning, for a write to an expanded tensor or a read-only array."""
    repeats = op.traits.repeats
    if repeats is None or not takes_writes(target._array):
        raise errors.runtime(
            REPEATED,
            f"Backstep: {op.name}_ would write a tensor made by expand (or of a read-only numpy array).",
            tensors=(target,),
        )
    marks = [repeats]
    if op is index_put.op and fills_mask(inputs[2], inputs[1]):
        marks.append(masked_fill.op.traits.repeats or ())  # the ones that torch uses for it
    for words in marks:
        if words:
            warn(DEPRECATED.format(*words))


def _check_overlap(target: Tensor, value: Tensor, op: Op) -> None:
    """Raise torch's error if an input overlaps the written memory in part; torch checks dense tensors only.  Ops that
    write by position may not read exactly this memory either; a number to fill with is read before the write.
    """
    a, b = target._array, value._array
    if "fill" in op.name and not b.ndim:
        return
    if not (a.size and b.size and (a.flags.forc or a.T.flags.forc) and (b.flags.forc or b.T.flags.forc)):
        return
    first, second = (_address(x) for x in (a, b))
    whole = first == second and a.nbytes == b.nbytes
    apart = first + a.nbytes <= second or second + b.nbytes <= first
    if not apart and (op.traits.by_place or not (whole and _steps(a) == _steps(b))):
        raise errors.runtime(
            "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
            "memory location. Please clone() the tensor before performing the operation.",
            tensors=(target, value),
        )


def _steps(data: Any) -> list[tuple[int, int]]:
    """Size and stride of each dimension of several elements."""
    return [(n, step) for n, step in zip(data.shape, data.strides, strict=True) if n != 1]


def _address(data: Any) -> int:
    return int(data.ctypes.data if hasattr(data, "ctypes") else data.data.ptr)


def report_joint(active: Any, view: Tensor, writer: str) -> None:
    """Record that a write to `view` wrote its base."""
    path = view._view
    if path is not None:
        active.op(JOINT, (path.base,), {"path": path.path, "writer": writer}, (path.base,), path.base._node, path.base)


def share_data(source: Tensor, alias: Tensor) -> None:
    """`alias` is `source.data`: a recording reports, for each, the writes through the other."""
    own = alias._storage.recorded  # its facts are those of the memory that it joins
    alias._storage.join(source._storage)
    alias._storage.source = weakref.ref(source)
    source._storage.shared().recorded.extend(own)


def _flat(values: Any) -> Iterator[Any]:
    for value in values:
        if type(value) is list or type(value) is tuple:
            yield from value
        else:
            yield value


def _raw(value: Any) -> Any:
    """The array of a tensor, the arrays of a list of tensors."""
    if type(value) is list:
        return [_raw(v) for v in value]
    return value._array if isinstance(value, Tensor) else value


def need_shape(target: Tensor, shape: tuple[int, ...]) -> None:
    """Raise torch's error where a result of this shape cannot be written into a tensor."""
    own = target._array.shape
    if shape != own:
        raise errors.runtime(f"output with shape {list(own)} doesn't match the broadcast shape {list(shape)}")


def _kernel_result(op: Op, arrays: list[Any], statics: Any, target: Tensor) -> Any:
    try:
        result = as_array(op.kernel(*arrays, **statics))
    except (ValueError, IndexError, TypeError, AttributeError) as error:
        raise kernel_error(op, arrays, error) from None
    need_shape(target, result.shape)
    kinds = result.dtype.kind, target._array.dtype.kind
    if (kinds[0] == "f" and kinds[1] != "f") or (kinds[0] != "b" and kinds[1] == "b"):
        names = [dtype_of(a).legacy.removesuffix("Tensor") for a in (result, target._array)]
        raise errors.runtime(f"result type {names[0]} can't be cast to the desired output type {names[1]}")
    return result


def _rebased(op: Op, inputs: Any, statics: Any, target: Tensor) -> tuple[Node | None, Any]:
    """The node of the written tensor, and a stand-in for the tensor before the write."""
    needs = numbers = 0
    for position, value in enumerate(inputs):
        if not isinstance(value, (Tensor, list, tuple)):
            numbers |= 1 << position
        elif isinstance(value, Tensor) and value._requires_grad:
            needs |= 1 << position
    needs &= op.mask
    if not (needs and mode.enabled) or _cuts(op, target):
        return None, None
    before = object.__new__(Tensor)
    before._array, before._storage = target._array, Storage()
    before._node, before._nr, before._requires_grad = target._node, target._nr, target._requires_grad
    node: Node = connect(op, (before, *inputs[1:]), needs, numbers, statics)
    node.shape, node.dtype = target._array.shape, target._array.dtype
    return node, before


def _attach(node: Node, inputs: Any, promoted: Any, target: Tensor) -> None:
    """Make `node` the history of the written tensor, and of its base if it is a view."""
    save(node, inputs, promoted, (target,))
    if node.versions is not None:  # an input that is the tensor itself was read before the write: y.mul_(y)
        plan, own, arity, saved = node.plan, target._storage, len(inputs), node.saved or ()
        node.versions = tuple(
            version - (0 <= plan.pick[place] < arity and getattr(saved[place], "_shared", None) is own)
            for place, version in zip(plan.tensors, node.versions, strict=True)
        )
    wrote(target, node)


def wrote(target: Tensor, node: Node, nr: int = 0) -> None:
    """`target` was written, with history `node`: itself, or through CopySlices if it is a view."""
    view: View | None = target._view
    if view is None:
        moved(target, node, nr)
        target._node, target._nr = node, nr
        requires_now(target)
        return
    target._requires_grad = True
    base = view.base
    through = CopySlices(base, view.path, node, not is_writable(target._array))
    moved(base, through, 0)
    base._node, base._nr = through, 0
    requires_now(base)
    view.version = -1


def requires_now(base: Tensor) -> None:
    """A written tensor requires grad, and so do its views, including those made before."""
    if not base._requires_grad:
        base._requires_grad = True
        for reference in base._storage.views or ():
            view = reference()
            if view is not None and view._view is not None and view._view.base is base:
                view._requires_grad = True


class CopySlices(Node):
    """The history of a base after a write to a view of it: it runs the write's own node on the view's part."""

    def __init__(self, base: Tensor, path: Any, inner: Node, repeats: bool) -> None:
        self.plan = JOINT.plan(1 if base._requires_grad else 2)
        self.sequence_nr = next_number()
        earlier, nr = (base._requires_grad and gradient_edge(base)) or (None, 0)
        numbers = inner.numbers or (0,) * len(inner.targets)
        self.targets = (earlier, *inner.targets[1:])
        self.numbers = (nr, *numbers[1:])
        self.shape, self.dtype = base._array.shape, base._array.dtype
        self.saved = ()
        self.more = {}  # not a node for the loop's fast path
        self.path = path
        self.repeats = repeats  # the written view is expanded: torch cannot write its gradient
        self.inner: Node | None = inner

    def __getattr__(self, name: str) -> Any:
        return self.look(name)

    def __dir__(self) -> list[str]:
        return self.attribute_names()

    def name(self) -> str:
        """torch's name of this node."""
        return "torch::autograd::CopySlices"

    def free(self) -> bool:
        """Drop the write's node, as torch does regardless of its saved tensors."""
        had = self.inner is not None and self.inner.free()
        self.inner = None
        return had

    def own(self, upstream: Any, run: Any) -> Sequence[Any]:
        """The cotangent of the base, whose part in the view comes from the write, and those of the write's other
        inputs."""
        if upstream is None:
            return (None,) * len(self.targets)
        if self.inner is None:
            raise self.freed_error()
        if run.create_graph:
            return self.graphed(upstream, run)
        part = take_slice(upstream, self.path)
        cotangents = run.vjp(self.inner, part if self.inner.metas is None else [part])
        whole = None
        if self.targets[0] is not None:
            if self.repeats:
                raise errors.runtime(REPEATED, "Backstep: the written tensor was made by expand.", node=self)
            first = cotangents[0]
            if first is None:
                whole = zero_slice(upstream, self.path)
            else:
                whole = copy_slices(upstream, sum_to_size(first, part.shape), self.path)
        return (whole, *cotangents[1:])

    def graphed(self, upstream: Tensor, run: Any) -> Sequence[Any]:
        """The same while gradients are recorded: a view of a copy of the gradient is written, as torch does."""
        inner = self.inner
        assert inner is not None
        whole = tensor_of(xp.zeros_like(upstream._array))
        apply_inplace(copy.op, (whole, upstream), {})
        part = retake(whole, self.path)
        gradient = clone(part)
        # The saved result of the write is the view after it, taken from the base that this node computed.
        inner.extras()["through"] = retaken(self, 0, self.path, self.shape or (), part._array)
        try:
            cotangents = run.vjp(inner, gradient if inner.metas is None else [gradient])
        finally:
            del inner.extras()["through"]
        if self.targets[0] is not None:
            first = cotangents[0]
            if first is None or (first._node is not None and first._node.op is zero.op):  # overwritten: plain zeros
                first = tensor_of(xp.zeros_like(part._array))
            value = first if first._array.shape == part._array.shape else sum_to_size(first, part._array.shape)
            apply_inplace(copy.op, (part, value), {})
        return (None if self.targets[0] is None else whole, *cotangents[1:])
