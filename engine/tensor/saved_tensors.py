"""Saved tensors: the inputs and results that a node keeps for its rule."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

from ..arrays import errors
from ..arrays.array import Array
from ..arrays.session import slot, unrecorded
from ..ops.shape import cast
from .grad_mode import mode
from .node import Node, SavedResult, accumulator
from .tensor import Tensor

_new = object.__new__
MOST = 2**20
"""The most tensors in a list: the distance between the positions of two lists."""
SAVED_INFERENCE = (
    "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
    "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it in "
    "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`."
)


def save(node: Node, args: Any, promoted: Any, outputs: Any) -> None:
    """Save the inputs and results that the plan names; `promoted` has the arrays that the kernel read, if they differ
    from the arguments' own."""
    plan = node.plan
    arity = len(args)
    saved: list[Any] = []
    needs_versions = False
    for place in plan.pick:
        if place < 0:
            saved.append(_sizes(args[~place]))
        elif place < arity:
            value = args[place]
            if isinstance(value, Tensor):
                if value._shared is not None and value._shared.version:
                    needs_versions = True
                if promoted is not None and promoted[place] is not value._array:
                    value = PromotedTensor(value, promoted[place].dtype)
            elif type(value) is list or type(value) is tuple:
                value = list(value)
                needs_versions = True
            saved.append(value)
        elif place == arity:
            if "results" in plan.names:
                saved.append([_saved_result(out) for out in outputs])
                needs_versions = True
            else:
                saved.append(_saved_result(outputs[0]))
                if outputs[0]._shared.version:
                    needs_versions = True
        elif place <= arity + len(node.statics):
            saved.append(list(node.statics.values())[place - arity - 1])
        else:
            out = outputs[place - arity - 1 - len(node.statics)]
            saved.append(_saved_result(out))
            if out._shared.version:
                needs_versions = True
    node.saved = tuple(saved)
    if needs_versions:
        node.versions = tuple(saved_version(saved[p]) for p in plan.tensors)


def _saved_result(out: Tensor) -> SavedResult:
    """The form in which a node saves its own output: without a reference back to the node."""
    result: SavedResult = _new(SavedResult)
    result._array, result._shared, result._nr = out._array, out._storage, out._nr
    return result


def saved_value(node: Node, tensor: Tensor) -> Any:
    """The form in which a node saves a tensor: its own output without a reference back to the node."""
    return _saved_result(tensor) if tensor._node is node else tensor


def unpack_saved(node: Node | None, value: Any) -> Any:
    """A saved value as its Tensor, with its history."""
    if type(value) is SavedResult:
        out: Tensor = _new(Tensor)
        out._array, out._shared = value._array, value._shared
        if value._array.dtype.kind == "f":
            through = None if node is None or node.more is None else node.more.get("through")
            out._comes_from(through or node, 0 if through else value._nr)
        if slot.active is not None:
            slot.active.recognise(out)
        return out
    if type(value) is PromotedTensor:
        return cast(value.tensor, value.dtype)
    if type(value) is PackedTensor:
        return value.tensor(node)
    if type(value) is list:
        return [unpack_saved(node, v) for v in value]
    return value


def saved_version(value: Any) -> int:
    """The version of a saved value; for a list, that of its first tensor: the others are compared one by one if they
    can differ."""
    if type(value) is list:
        return saved_version(value[0]) if value else 0
    storage = getattr(value, "_shared", None)
    if storage is None:
        return 0
    if storage.inference:
        raise errors.runtime(SAVED_INFERENCE, tensors=(value,))
    return int(storage.version)


class PromotedTensor:
    """A saved input that the op read in another dtype."""

    __slots__ = ("_node", "_nr", "_shared", "dtype", "tensor")
    _id = -1  # no recording knows it

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


def packed(node: Node, value: Any, place: int) -> Any:
    """A saved value packed by the user's hook; a value that is not a tensor, unchanged.  `place` is its position; each
    tensor of a list has its own."""
    if type(value) is list:
        return [packed(node, v, MOST * (place + 1) + i) for i, v in enumerate(value)]
    if not isinstance(value, (Tensor, SavedResult, PromotedTensor)):
        return value
    return PackedTensor(node, value, *mode.packing[-1], place)


class PackedTensor:
    """A saved tensor that went through saved_tensors_hooks: the packed object, and the hook that unpacks it.  It has no
    version: as in torch, the hooks are responsible for later writes.  The ops in the hooks are recorded, at this
    `place` of the node, unless they are `quiet`.
    """

    __slots__ = ("_node", "_nr", "_shared", "accumulator", "payload", "place", "requires", "sequence", "unpack")
    _id = -1  # no recording knows it

    def __init__(
        self, node: Node | None, value: Any, pack: Any, unpack: Any, quiet: bool = False, place: int = 0
    ) -> None:
        with unrecorded() if type(value) is PromotedTensor else nullcontext():
            tensor = unpack_saved(node, value)
        self._shared = None
        self.unpack = unpack
        self.place, self.sequence = place, None if quiet or node is None else node.sequence_nr
        own = type(value) is SavedResult
        self._node, self._nr, self.requires = (None if own else tensor._node), tensor._nr, tensor._requires_grad
        self.accumulator = accumulator(tensor) if self.requires and tensor._node is None else None
        enabled = mode.enabled
        mode.turn(False)
        version = tensor._version
        noted, mode.packing = mode.packing, ()
        active = None if self.sequence is None else slot.active
        if active is not None:
            active.enter_code("pack", (tensor,), node=node, nr=place, source="saved")
        completed = False
        try:
            self.payload = pack(tensor)
            completed = True
        finally:
            if active is not None:
                active.leave_code(None, completed)
            mode.turn(enabled)
            mode.packing = noted
        if tensor._version != version:
            raise errors.runtime(
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open "
                "an issue if you need to perform in-place operations on the input to a pack hook."
            )

    @property
    def _array(self) -> Array:
        return self.unpacked()._array

    def unpacked(self) -> Tensor:
        """The result of the unpack hook."""
        active = None if self.sequence is None else slot.active
        tensor: Any = None
        if active is None:
            with unrecorded():  # of a rerun
                tensor = self.unpack(self.payload)
        else:
            active.enter_code("unpack", (), sequence=self.sequence, nr=self.place)
            try:
                tensor = self.unpack(self.payload)
            finally:
                completed = isinstance(tensor, Tensor)
                active.leave_code((tensor,) if completed else None, completed)
        if not isinstance(tensor, Tensor):
            raise TypeError(
                "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                f"{type(tensor).__name__}"
            )
        return tensor

    def tensor(self, node: Node | None) -> Tensor:
        """The same, with the history of the packed tensor."""
        unpacked = self.unpacked()
        if not self.requires:
            return unpacked
        out: Tensor = _new(Tensor)
        out._array, out._shared = unpacked._array, unpacked._storage
        out._requires_grad = True
        out._node = node if self._node is None and self.accumulator is None else self._node
        out._nr = self._nr
        if self.accumulator is not None:
            out._accumulator = lambda leaf_node=self.accumulator: leaf_node
        return out
