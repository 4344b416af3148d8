"""How an op meets Tensors: kernel, node where a gradient is needed, event where a recording runs."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from numpy import ndarray

from . import errors
from .array import Array, as_array, float32, xp
from .mode import mode
from .node import Node, SavedResult, accumulator, gradient_edge, next_number
from .op import HANDLERS, Op
from .ops.shape import cast
from .slot import slot
from .tensor import InferenceStorage, Storage, Tensor, View, refresh_view

_new = object.__new__
SINGLE = float32.numpy
KERNEL_ERRORS = (ValueError, IndexError, TypeError, AttributeError)
NONE: dict[str, Any] = {}
SAVED_INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
)
OPERATORS: dict[Callable[..., Any], Callable[..., Any]] = {
    xp.add: operator.add,
    xp.subtract: operator.sub,
    xp.multiply: operator.mul,
    xp.true_divide: operator.truediv,
    xp.negative: operator.neg,
}
"""The same functions, reached without parsing arguments."""


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
        made = op.kernel(*arrays, **statics)
    except KERNEL_ERRORS as error:
        raise kernel_error(op, arrays, error) from None
    needs &= op.mask
    node = connect(op, args, needs, numbers, statics) if needs and mode.enabled else None
    if type(made) is tuple:
        return _several(op, args, statics, made, node, None if arrays is sources else arrays)
    if type(made) is not ndarray:
        made = as_array(made)
    out: Tensor = _new(Tensor)
    out._array = made
    if op.view and made.base is not None:
        _share(out, args[0], op, statics)
    if node is not None:
        dtype = made.dtype
        if dtype is SINGLE or dtype.kind == "f":
            out._node = node
            out._requires_grad = True
            node.shape = made.shape
            node.dtype = dtype
            save(node, args, None if arrays is sources else arrays, (out,))
        else:
            node = None
    if slot.active is not None:
        slot.active.op(op, args, statics, (out,), node, None)
    return out


def connect(op: Op, args: Any, needs: int, numbers: int, statics: Any) -> Node:
    """A node with its edges, for the inputs whose bits are set in `needs`; those in `numbers` are no tensors."""
    plan = op.plans.get(needs | numbers << op.arity)
    if plan is None:
        plan = op.plan(needs, numbers)
    node: Node = _new(Node)
    node.plan = plan
    if statics:
        node.statics = statics
    node.sequence_nr = next_number()
    if op.lists:
        edges = [_edge(t) for value in (args[p] for p in op.places) for t in (value if _is_list(value) else (value,))]
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
        node.numbers = tuple(_edge(args[place])[1] for place in op.places)
    return node


def target_of(tensor: Tensor) -> Any:
    """The node that the gradient of a tensor goes to, where it is not simply the one that made it."""
    if tensor._view is not None:
        refresh_view(tensor)
        if tensor._node is not None:
            return tensor._node
    return accumulator(tensor)


def quick(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function of an op of one or two inputs, quicker where they are plain: Tensors of one dtype, or a number.

    It does what `apply` does, without a loop over the arguments; all else goes there.  Ops with static arguments,
    several outputs or views are left as they are.
    """
    op: Op = function.op  # type: ignore[attr-defined]
    if op.statics or op.lists or op.view or op.arity > 2 or op.mask not in (0, (1 << op.arity) - 1):
        return function
    return _quick_one(op, function) if op.arity == 1 else _quick_two(op, function)


def _quick_one(op: Op, function: Callable[..., Any]) -> Callable[..., Any]:
    kernel, plans, key = OPERATORS.get(op.kernel, op.kernel), op.plans, op.mask

    def one(self: Any) -> Any:
        array = self._array
        if slot.noted or (array.dtype is not SINGLE and array.dtype.kind != "f"):
            return function(self)
        try:
            made = kernel(array)
        except KERNEL_ERRORS as error:
            raise kernel_error(op, [array], error) from None
        if type(made) is not ndarray:
            made = as_array(made)
        out: Tensor = _new(Tensor)
        out._array = made
        node = None
        if key and self._requires_grad and mode.enabled:
            try:
                plan = plans[key]
            except KeyError:
                plan = op.plan(key)
            node = _new(Node)
            node.plan = plan
            node.targets = (target_of(self) if self._view is not None else self._node or target_of(self),)
            if self._nr:
                node.numbers = (self._nr,)
            node.sequence_nr = next_number()
            node.shape = made.shape
            node.dtype = made.dtype
            if plan.pick:
                if plan.of_result:
                    kept: SavedResult = _new(SavedResult)
                    kept._array, kept._nr = made, 0
                    kept._shared = out._shared = _new(Storage)
                    node.saved = (kept,)
                elif plan.of_inputs is not None and self._shared is None:
                    node.saved = (self,)
                else:
                    save(node, (self,), None, (out,))
            else:
                node.saved = ()
            out._node = node
            out._requires_grad = True
        if slot.active is not None:
            slot.active.op(op, (self,), NONE, (out,), node, None)
        return out

    return _as(one, function)


def _quick_two(op: Op, function: Callable[..., Any]) -> Callable[..., Any]:
    kernel, plans, mask = OPERATORS.get(op.kernel, op.kernel), op.plans, op.mask

    def two(self: Any, other: Any) -> Any:
        kind = type(other)
        first = self._array
        dtype = first.dtype
        if slot.noted:
            return function(self, other)
        if kind is Tensor or isinstance(other, Tensor):
            second = other._array
            if second.dtype is not dtype or (dtype is not SINGLE and dtype.kind != "f"):
                return function(self, other)
            needs = 3 if other._requires_grad else 1
            if not self._requires_grad:
                needs -= 1
        elif (kind is float or kind is int) and (dtype is SINGLE or dtype.kind == "f"):
            second = other
            needs = 9 if self._requires_grad else 0  # 8: the second is no tensor, as `Op.plan` counts
        else:
            return function(self, other)
        try:
            made = kernel(first, second)
        except KERNEL_ERRORS as error:
            raise kernel_error(op, [first, second], error) from None
        if type(made) is not ndarray:
            made = as_array(made)
        out: Tensor = _new(Tensor)
        out._array = made
        node = None
        if needs and mask and mode.enabled:
            try:
                plan = plans[needs]
            except KeyError:
                plan = op.plan(needs & 3, needs >> 2)
            node = _new(Node)
            node.plan = plan
            numbered = False
            if needs & 1:
                target = (
                    target_of(self) if self._view is not None else self._node or self._accumulator() or target_of(self)
                )
                numbered = self._nr
            else:
                target = None
            if needs & 2:
                target_2 = (
                    target_of(other)
                    if other._view is not None
                    else other._node or other._accumulator() or target_of(other)
                )
                if other._nr:
                    numbered = True
            else:
                target_2 = None
            node.targets = (target, target_2)
            if numbered:
                node.numbers = (_edge(self)[1], _edge(other)[1])
            node.sequence_nr = next_number()
            node.shape = made.shape
            node.dtype = dtype
            if plan.pick:
                if plan.of_inputs is not None and self._shared is None and (needs & 8 or other._shared is None):
                    node.saved = plan.of_inputs((self, other))
                else:
                    save(node, (self, other), None, (out,))
            else:
                node.saved = ()
            out._node = node
            out._requires_grad = True
        if slot.active is not None:
            slot.active.op(op, (self, other), NONE, (out,), node, None)
        return out

    return _as(two, function)


def _as(made: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    made.__name__, made.__qualname__, made.__doc__ = function.__name__, function.__qualname__, function.__doc__
    made.op = function.op  # type: ignore[attr-defined]
    return made


def _is_list(value: Any) -> bool:
    return type(value) is list or type(value) is tuple


def _edge(value: Any) -> tuple[Any, int]:
    """(node, output number) that the gradient of an argument goes to; (None, 0) where none goes."""
    if not isinstance(value, Tensor) or not value._requires_grad:
        return None, 0
    refresh_view(value)
    return gradient_edge(value) or (None, 0)


def _several(op: Op, args: Any, statics: Any, made: tuple[Any, ...], node: Node | None, promoted: Any) -> Any:
    """The outputs of an op that has more than one."""
    carriers = op.traits.differentiable
    outputs = []
    for nr, result in enumerate(made):
        out: Tensor = _new(Tensor)
        out._array = as_array(result)
        if op.view and out._array.base is not None:
            _share(out, args[0], op, statics, nr)
        if node is not None and out._array.dtype.kind == "f" and (carriers is None or nr in carriers):
            out._node, out._nr, out._requires_grad = node, nr, True
        outputs.append(out)
    if node is not None:
        node.metas = [(out._array.shape, out._array.dtype) for out in outputs]
        node.shape = node.dtype = None  # no cotangent fits: the loop looks at the metas
        save(node, args, promoted, outputs)
    if slot.active is not None:
        slot.active.op(op, args, statics, outputs, node, None)
    return tuple(outputs)


def save(node: Node, args: Any, promoted: Any, outputs: Any) -> None:
    """Keep what the plan says; `promoted` are the arrays that the kernel read where they are not the arguments' own."""
    plan = node.plan
    arity = len(args)
    saved: list[Any] = []
    written = False
    for place in plan.pick:
        if place < 0:
            saved.append(_sizes(args[~place]))
        elif place < arity:
            value = args[place]
            if isinstance(value, Tensor):
                if value._shared is not None and value._shared.version:
                    written = True
                if promoted is not None and promoted[place] is not value._array:
                    value = Promoted(value, promoted[place].dtype)
            elif _is_list(value):
                value = list(value)
                written = True
            saved.append(value)
        elif place == arity:
            if "results" in plan.names:
                saved.append([_saved_result(out) for out in outputs])
                written = True
            else:
                saved.append(_saved_result(outputs[0]))
                if outputs[0]._shared.version:
                    written = True
        elif place <= arity + len(node.statics):
            saved.append(list(node.statics.values())[place - arity - 1])
        else:
            out = outputs[place - arity - 1 - len(node.statics)]
            saved.append(_saved_result(out))
            if out._shared.version:
                written = True
    node.saved = tuple(saved)
    if written:
        node.versions = tuple(saved_version(saved[p]) for p in plan.tensors)


def _saved_result(out: Tensor) -> SavedResult:
    """What a node keeps of its own output: no part of it leads back to the node."""
    kept: SavedResult = _new(SavedResult)
    kept._array, kept._shared, kept._nr = out._array, out._storage, out._nr
    return kept


def saved_value(node: Node, tensor: Tensor) -> Any:
    """What a node keeps of a tensor: an output of its own without the way back to the node."""
    kept = _saved_result(tensor) if tensor._node is node else tensor
    return packed(node, kept) if mode.packing else kept


def unpack_saved(node: Node, value: Any) -> Any:
    """A saved value as the Tensor that it was, with its history."""
    if type(value) is SavedResult:
        out: Tensor = _new(Tensor)
        out._array, out._shared = value._array, value._shared
        if value._array.dtype.kind == "f":
            out._node, out._nr, out._requires_grad = node, value._nr, True
        return out
    if type(value) is Promoted:
        return cast(value.tensor, value.dtype)
    if type(value) is Packed:
        return value.tensor(node)
    if type(value) is list:
        return [unpack_saved(node, v) for v in value]
    return value


def saved_version(value: Any) -> int:
    """The version of a saved value (of a list: of its first; they are compared one by one only where they can "
    "differ)."""
    if type(value) is list:
        return saved_version(value[0]) if value else 0
    storage = getattr(value, "_shared", None)
    if storage is None:
        return 0
    if storage.inference:
        raise errors.runtime(SAVED_INFERENCE, tensors=(value,))
    return int(storage.version)


class Promoted:
    """A saved input that the op read in another dtype."""

    __slots__ = ("_node", "_nr", "_shared", "dtype", "tensor")

    def __init__(self, tensor: Tensor, which: Any) -> None:
        self.tensor = tensor
        self.dtype = which
        self._shared = tensor._storage
        self._node, self._nr = tensor._node, tensor._nr

    @property
    def _array(self) -> Array:
        return self.tensor._array.astype(self.dtype)


def _sizes(value: Any) -> Any:
    if type(value) in (list, tuple):
        return [_sizes(v) for v in value]
    return value._array.shape if isinstance(value, Tensor) else ()


def _share(out: Tensor, source: Any, op: Op, statics: Any, nr: int | None = None) -> None:
    """Make `out` a view of `source`: one storage, one version, a path back to the base."""
    out._shared = source._storage
    if not op.rules:  # detach: what is written is shared, the history is not
        return
    view = source._view
    if view is None:
        out._view = View(source, ((op.name, statics, nr),), out._shared.version)
    else:
        out._view = View(view.base, (*view.path, (op.name, statics, nr)), out._shared.version, view.kind)
    if nr is not None:
        out._view.limit("several", f"Output {nr} of {_plain(op.node_name)}")
    if not mode.enabled:  # torch's rule: such a view is a leaf that requires grad where its base does
        out._view.limit("inference" if mode.inference else "no_grad", "A view")
        out._requires_grad = out._view.base._requires_grad
    if not out._view.base._requires_grad:
        out._shared.add(out)
    if mode.enabled and view is not None and view.kind is not None and nr is None:
        out._view.limit(view.kind, f"Output {nr or 0} of {_plain(op.node_name)}")


def _plain(name: str) -> str:
    return name.rpartition("::")[2].removesuffix("Backward0")


AFTER: list[Callable[..., None]] = []
"""What is told of each op on Tensors while `slot.noted`: functions of (op, args, kwargs, made)."""


def _noted(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    made = apply(op, args, kwargs)
    for function in AFTER:
        function(op, args, kwargs, made)
    return made


def _swap(noted: bool) -> None:
    HANDLERS[Tensor] = _noted if noted else apply


slot.swap = _swap


def _infer(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
    """In inference mode results are inference tensors, unless they share the storage of others."""
    if mode.inference:
        for tensor in made if isinstance(made, tuple) else (made,):
            if tensor._shared is None:
                tensor._shared = InferenceStorage()


AFTER.append(_infer)


def _pack(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any], made: Any) -> None:
    """Within saved_tensors_hooks, what a new node keeps is packed."""
    if mode.packing and mode.enabled:
        first = made[0] if isinstance(made, tuple) else made
        node = first._node
        if node is not None and node.own is None and node.saved:
            node.saved = tuple(packed(node, v) if i in node.plan.tensors else v for i, v in enumerate(node.saved))


AFTER.append(_pack)


def packed(node: Node, value: Any) -> Any:
    """A saved value as the user's pack hook made it; what is no tensor as it is."""
    if type(value) is list:
        return [packed(node, v) for v in value]
    if not isinstance(value, (Tensor, SavedResult, Promoted)):
        return value
    return Packed(node, value, *mode.packing[-1])


class Packed:
    """A saved tensor that went through the hooks of saved_tensors_hooks: what the user made of it, and the way back.

    It has no version: what was written since is the hooks' affair, as in torch.
    """

    __slots__ = ("_node", "_nr", "_shared", "accumulator", "kept", "requires", "unpack")

    def __init__(self, node: Node, value: Any, pack: Any, unpack: Any) -> None:
        shown = unpack_saved(node, value)
        self._shared = None
        self.unpack = unpack
        own = type(value) is SavedResult
        self._node, self._nr, self.requires = (None if own else shown._node), shown._nr, shown._requires_grad
        self.accumulator = accumulator(shown) if self.requires and shown._node is None else None
        enabled, mode.enabled = mode.enabled, False
        version = shown._version
        noted, mode.packing = mode.packing, ()
        try:
            self.kept = pack(shown)
        finally:
            mode.enabled, mode.packing = enabled, noted
        if shown._version != version:
            raise errors.runtime(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
                "an issue if you need to perform in-place operations on the input to a pack hook."
            )

    @property
    def _array(self) -> Array:
        return self.found()._array

    def found(self) -> Tensor:
        """What the unpack hook gives."""
        found = self.unpack(self.kept)
        if not isinstance(found, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(found).__name__}"
            )
        return found

    def tensor(self, node: Node) -> Tensor:
        """The same with the history of what was packed."""
        found = self.found()
        out: Tensor = _new(Tensor)
        out._array, out._shared = found._array, found._storage
        if self.requires:
            out._requires_grad = True
            out._node = node if self._node is None and self.accumulator is None else self._node
            out._nr = self._nr
            if self.accumulator is not None:
                out._accumulator = lambda held=self.accumulator: held
        return out


def kernel_error(op: Op, arrays: Any, error: Exception) -> BaseException:
    """A kernel's complaint in torch's words; the shapes stand in the note."""
    shapes = [tuple(a.shape) if hasattr(a, "shape") else a for a in arrays]
    note = f"Backstep: {op.name} was called with " + ", ".join(
        f"{name} {list(s) if isinstance(s, tuple) else s!r}" for name, s in zip(op.inputs, shapes, strict=True)
    )
    return errors.from_kernel(op.name, shapes, error, note)


HANDLERS[Tensor] = apply
