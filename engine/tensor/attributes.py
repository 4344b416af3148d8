"""The saved values of a node, as the user reads them: `grad_fn._saved_self`, `_raw_saved_self`."""

from __future__ import annotations

from typing import Any

from ..arrays import errors
from ..arrays.array import xp
from .node import FREED, Node
from .saved_tensors import PackedTensor, unpack_saved
from .tensor import tensor_of

PUBLIC = (
    "_input_metadata", "_sequence_nr", "metadata", "name", "next_functions", "register_hook", "register_prehook",
    "requires_grad",
)  # fmt: skip
_HOOKS_ALREADY_SET = (
    "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: only one pair of hooks is "
    "allowed at a time."
)


class SavedTensor:
    """A saved tensor before it is unpacked."""

    __module__ = "torch._C._autograd"

    def __init__(self, node: Node, place: int) -> None:
        self.node, self.place = node, place

    def register_hooks(self, pack_hook: Any, unpack_hook: Any) -> None:
        """Keep `pack_hook(tensor)` instead, from which `unpack_hook` restores the tensor."""
        node, place = self.node, self.place
        if node.saved is None:
            raise errors.runtime(
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward.",
                node=node,
            )
        value = node.saved[place]
        if type(value) is PackedTensor:
            raise errors.runtime(_HOOKS_ALREADY_SET)
        packed = PackedTensor(node, value, pack_hook, unpack_hook, place=place)
        node.saved = (*node.saved[:place], packed, *node.saved[place + 1 :])


def names(node: Node) -> tuple[list[str], list[str]]:
    """(tensors, other values) that a node of this op may keep, under torch's names."""
    op = node.plan.op
    whole = op.plan(op.mask)
    tensors = [whole.names[place] for place in whole.tensors]
    others = [n for n in whole.names if n not in tensors]
    return sorted(tensors), sorted(_torchs(n) for n in others)


def _torchs(name: str) -> str:
    return name.removesuffix("_sizes") + "_sym_sizes" if name.endswith("_sizes") else name


def attribute_names(node: Node) -> list[str]:
    """The names that dir() lists for a node."""
    tensors, others = names(node)
    saved_names = [f"_saved_{name}" for name in (*tensors, *others)] + [f"_raw_saved_{name}" for name in tensors]
    return sorted([*PUBLIC, *saved_names, *dir(object)])


def attribute(node: Node, name: str) -> Any:
    """The value of an attribute that nodes compute on request.  Raises AttributeError, or torch's error if it was
    freed."""
    raw = name.startswith("_raw_saved_")
    if not raw and not name.startswith("_saved_"):
        raise AttributeError(f"{node.name()!r} object has no attribute {name!r}")
    key = name.removeprefix("_raw_saved_" if raw else "_saved_")
    tensors, others = names(node)
    plan = node.plan
    if raw and key in tensors and key in plan.names:
        return SavedTensor(node, plan.names.index(key))
    if key in tensors and not raw:
        if node.saved is None:
            raise errors.runtime(FREED, node=node)
        if key not in plan.names:
            return None
        node.check_versions()
        return _tensor(node, node.saved[plan.names.index(key)])
    if key in others and not raw:
        own = key.removesuffix("_sym_sizes") + "_sizes" if key.endswith("_sym_sizes") else key
        if own in node.statics or own in plan.op.statics:
            return node.statics.get(own, plan.op.statics.get(own))
        if own in plan.names and node.saved is not None:
            return node.saved[plan.names.index(own)]
        return None
    raise AttributeError(f"{node.name()!r} object has no attribute {name!r}")


def _tensor(node: Node, value: Any) -> Any:
    """A saved value as a tensor; a number as one without dimensions."""
    if isinstance(value, (bool, int, float)):
        return tensor_of(xp.asarray(value))
    unpacked = unpack_saved(node, value)
    return tuple(unpacked) if isinstance(unpacked, list) else unpacked


Node.look, Node.attribute_names = attribute, attribute_names  # bound here: these know Tensor
