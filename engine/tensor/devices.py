"""Tensors of one op on different devices: the combinations that torch allows, and its error for the rest."""

from __future__ import annotations

from typing import Any

from ..arrays import errors
from ..arrays.array import flat
from ..ops.inplace import copy_slices
from ..ops.op import Op
from ..ops.shape import transfer
from .tensor import Tensor

INDEXED = frozenset({"index", "index_backward", "index_put", "index_cleared"})
"""Ops whose indices may be in the host's memory."""
JOINED = frozenset({"cat", "stack"})
STRUCTURED = frozenset({"addmm", "addmv", "baddbmm", "bmm", "cat", "gather", "mm", "scatter_add"})
"""Ops that torch's code generator names without a second underscore."""


def together(op: Op, args: Any) -> tuple[Any, ...]:
    """The arguments of `op` on one device. Tensors without dimensions go to the GPU if the op is elementwise, and so do
    indices; anything else raises torch's error.
    """
    tensors = [value for value in flat(args) if isinstance(value, Tensor)]
    places = {str(value.device): value.device for value in tensors}
    there = [value.device for value in tensors if value.is_cuda]
    iterates = op.presentation.elementwise or op is copy_slices.op
    by_element = iterates or (op.promote is not None and op.name not in JOINED)
    if op.name == "copy":
        return (args[0], _moved(args[1], str(args[0].device)))
    if op.name.startswith("masked_fill") and args[0].device != args[1].device:
        raise errors.runtime(
            f"expected self and mask to be on the same device, but got mask on {args[1].device} and self on "
            f"{args[0].device}",
            tensors=tuple(tensors),
        )
    if op.name in INDEXED:
        if op.name == "index_put" and args[1].device != args[0].device and args[1].dim():
            raise errors.runtime(_refusal(op, args), tensors=tuple(tensors))
        if not tensors[0].is_cuda:
            raise errors.runtime(
                "indices should be either on cpu or on the same device as the indexed tensor (cpu)",
                tensors=tuple(tensors),
            )
    elif not by_element:
        raise errors.runtime(_refusal(op, args), tensors=tuple(tensors))
    elif any(not value.is_cuda and value.dim() for value in tensors) or len(set(there)) > 1:
        second = next(str(value.device) for value in tensors if value.device != there[0])
        raise errors.runtime(
            f"Expected all tensors to be on the same device, but found at least two devices, {there[0]} and {second}!",
            f"Backstep: {op.name} was called with tensors on {', '.join(sorted(places))}; .to(device) moves them.",
            tensors=tuple(tensors),
        )
    return tuple(_moved(value, str(there[0])) for value in args)


def _moved(value: Any, where: str) -> Any:
    if isinstance(value, (list, tuple)):
        return [_moved(v, where) for v in value]
    if isinstance(value, Tensor) and str(value.device) != where:
        return transfer(value, where, str(value.device))
    return value


def _refusal(op: Op, args: Any) -> str:
    """torch's message for an op that accepts nothing from another device."""
    first: Any = None
    for name, value in zip(op.inputs, args, strict=True):
        for tensor in value if isinstance(value, (list, tuple)) else (value,):
            if not isinstance(tensor, Tensor):
                continue
            if first is None:
                first = tensor.device
            if tensor.device != first:
                base, _, overload = op.name.partition(".")
                base, name = ("cat", "tensors") if base in JOINED else (base, name)
                kernel = "_".join(filter(None, (base, overload))) if base in STRUCTURED else f"{overload}_{base}"
                return (
                    f"Expected all tensors to be on the same device, but got {name} is on "
                    f"{tensor.device}, different from other tensors on {first} (when checking argument in method "
                    f"wrapper_CUDA_{kernel})"
                )
    raise AssertionError("these lie on one device")
