"""The facts about an operator of torch that are known before it runs: its arguments, its writes, its name in a
trace."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from .values import shape_of

FACTORIES_OF_ONE = frozenset({"lift_fresh", "lift"})
"""Ops that give their input a name: `torch.tensor(...)` ends with one."""
UNWRITTEN = ("empty", "new_empty", "empty_like", "empty_strided", "new_empty_strided", "resize", "resize_as")
"""Functions whose results have no elements yet."""


BATCH_NORMS = {
    "native_batch_norm": ("momentum", "eps"),
    "cudnn_batch_norm": ("exponential_average_factor", "epsilon"),
    "miopen_batch_norm": ("exponential_average_factor", "epsilon"),
}
"""Ops that write their running statistics in training, which neither the schema nor a version counter shows; the
arguments that say how."""
FUSED = "_fused_"
"""The prefix of the names of ops that are the step of an optimiser; what they write has no new version in torch."""
FOREACH = "_foreach_"
"""The prefix of the names of ops that work on each tensor of a list."""
STATISTICS = ("running_mean", "running_var")
BROADCAST = frozenset(
    {
        "add",
        "sub",
        "rsub",
        "mul",
        "div",
        "pow",
        "where",
        "maximum",
        "minimum",
        "fmax",
        "fmin",
        "addcmul",
        "addcdiv",
        "lerp",
        "atan2",
        "hypot",
        "fmod",
        "remainder",
        "xlogy",
        "logaddexp",
        "addmm",
        "addmv",
        "baddbmm",
        "addbmm",
        "masked_fill",
        "mse_loss",
        "copysign",
        "clamp",
    }
)
"""Ops that broadcast their inputs."""


class TensorArgument:
    """A tensor among the arguments of a call, as it was then: its number, version and value, and its form."""

    __slots__ = ("dtype", "number", "offset", "shape", "strides", "value", "version")

    def __init__(self, state: Any, tensor: Any) -> None:
        self.number, self.version, self.value = state.number, state.version, state.value
        self.dtype = tensor.dtype
        self.shape = shape_of(tensor)
        self.strides: Any = None
        self.offset = 0

    def stride(self) -> Any:
        """The strides in memory, if an op needs them."""
        return self.strides or ()

    def storage_offset(self) -> int:
        """The offset in memory, likewise."""
        return self.offset


class Call:
    """An operator, once for all of its calls.

    `names` are its arguments, `writes` those that it changes, `views` whether each result shares the memory of its
    first input, `counts` whether its writes count as versions, `lists` whether it works on each tensor of a list,
    `broadcasts` whether it broadcasts its inputs, `rearranges` whether it gives its tensor another form, as
    `transpose_`.
    `full_name` is `aten::add.Tensor`, `defaults` are all arguments with their defaults, once they have been needed.
    `kind` is "op", "factory" (no tensor goes in), "escape" (a number comes out), "exchange" (other processes write its
    inputs, later perhaps) or "none".
    """

    __slots__ = (
        "base", "broadcasts", "counts", "defaults", "detaches", "full_name", "func", "kind", "lists", "name", "names",
        "one", "rearranges", "returns", "strided", "unwritten", "view", "writes",
    )  # fmt: skip

    def __init__(self, func: Any) -> None:
        schema = func._schema
        self.func = func
        self.name = schema.name.partition("::")[2] + (f".{schema.overload_name}" if schema.overload_name else "")
        self.full_name = f"{func.namespace}::{self.name}"
        self.base = schema.name.partition("::")[2]
        arguments = schema.arguments
        self.names = tuple(argument.name for argument in arguments)
        self.defaults: dict[str, Any] | None = None
        self.writes = tuple(a.name for a in arguments if a.alias_info is not None and a.alias_info.is_write)
        if self.base.startswith(FUSED):  # unscaled by a GradScaler only
            self.writes = tuple(name for name in self.writes if name != "grads")
        results = [r for r in schema.returns if "Tensor" in str(r.type)]
        self.view = any(r.alias_info is not None and not r.alias_info.is_write for r in results)
        self.returns = bool(results)
        self.one = len(schema.returns) == 1 and str(schema.returns[0].type) == "Tensor"
        takes = any("Tensor" in str(argument.type) for argument in arguments)
        self.counts = self.base not in BATCH_NORMS
        self.lists = self.base.startswith(FOREACH)
        self.detaches = self.base in ("detach", "detach_")
        self.rearranges = is_view_in_place(func) and not self.detaches
        self.strided = self.base.startswith("as_strided")
        self.broadcasts = self.base.rstrip("_") in BROADCAST
        self.unwritten = self.base.rstrip("_") in UNWRITTEN
        if schema.name.startswith(("c10d::", "_c10d")):
            self.kind = "exchange"
        elif schema.name.startswith(("profiler::", "prim::", "prims::")):
            self.kind = "none"
        elif not results and not self.writes:
            self.kind = "escape" if self.base == "_local_scalar_dense" else "none"
        elif (not takes and results) or self.base in FACTORIES_OF_ONE or self.is_like(results):
            self.kind = "factory"
        else:
            self.kind = "op"

    def is_like(self, results: list[Any]) -> bool:
        """Return whether an op makes a tensor of the size of another one: `zeros_like`, `new_ones`."""
        creates = self.base.endswith("_like") or self.base.startswith("new_")
        return creates and bool(results) and not self.writes

    def bound(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[tuple[str, Any]]:
        """The arguments of a call with their names."""
        pairs = list(zip(self.names, args, strict=False))
        return pairs + list(kwargs.items()) if kwargs else pairs

    def whole(self, arguments: list[tuple[str, Any]]) -> dict[str, Any]:
        """All arguments of a call by their names, defaults filled in."""
        if self.defaults is None:
            self.defaults = {argument.name: argument.default_value for argument in self.func._schema.arguments}
        named = dict(arguments)
        return {name: named.get(name, default) for name, default in self.defaults.items()}


def is_view_in_place(func: Any) -> bool:
    """Return whether an operator makes a tensor a view of what it was, as `transpose_` does, and not `resize_`."""
    if torch.Tag.inplace_view not in func.tags:
        return False
    packet = getattr(torch.ops.aten, func._schema.name.partition("::")[2].rstrip("_"), None)
    others = [] if packet is None else [getattr(packet, name) for name in packet.overloads()]
    return any(result.alias_info is not None for one in others for result in one._schema.returns)


class PassThroughMode(TorchDispatchMode):
    """A mode that runs each op as it is."""

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        return False  # so that no compiler is imported for it

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **kwargs) if kwargs else func(*args)


@functools.cache
def counts_lists() -> bool:
    """Return whether this torch counts the writes of `_foreach_mul_` and the like as versions under a mode."""
    with torch.inference_mode(False), PassThroughMode():  # a tensor of inference mode counts nothing
        one = torch.ones(1)
        torch._foreach_mul_([one], 1.0)
    return bool(one._version)


def count_writes(tensors: Sequence[Any]) -> None:
    """Count a write of each tensor as a version, as torch does without a mode: it tells autograd that a saved tensor
    was written."""
    for one in tensors:
        if not one.is_inference():
            torch.autograd.graph.increment_version(one)


def plain(value: Any) -> Any:
    """An argument in a form that a file can hold."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return tuple(plain(item) for item in value)
    return str(value)[:200]
