"""The backward graph: a Node per recorded op, and AccumulateGrad where it ends in a leaf."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from . import errors
from .array import Array, dtype_of
from .op import Op, Plan

Edge = tuple[Any, int]
"""A node and the number of its output: where a cotangent goes."""

LAST = 2**64 - 1
"""The sequence number of AccumulateGrad, torch's: it runs as soon as it is ready."""

_numbers = itertools.count()
next_number = _numbers.__next__

SECOND_BACKWARD = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)


class SavedResult:
    """An output that its own node keeps: the array, not the Tensor, which would close a reference cycle."""

    __slots__ = ("array", "nr", "storage")

    def __init__(self, array: Array, storage: Any, nr: int) -> None:
        self.array = array
        self.storage = storage
        self.nr = nr


class Node:
    """One op of the backward graph, named as in torch (`MulBackward0`).

    `edges` has a (node, output number) or None per differentiable input, `saved` what the plan says, `versions` what
    the storages of the saved tensors were at when they were saved, `metas` the (shape, dtype) of each output.
    """

    __slots__ = ("__weakref__", "edges", "metas", "more", "op", "plan", "saved", "sequence_nr", "statics", "versions")

    def __init__(self, op: Op, plan: Plan, edges: tuple[Edge | None, ...], metas: list[Any]) -> None:
        self.op = op
        self.plan = plan
        self.edges = edges
        self.metas = metas
        self.more: dict[str, Any] | None = None
        self.sequence_nr = next_number()

    def name(self) -> str:
        """torch's name of this node."""
        return self.op.node_name

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that the cotangents go to, `(None, 0)` where no gradient is needed, as torch shows them."""
        return tuple(edge or (None, 0) for edge in self.edges)

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict of the user's own."""
        return self.extras().setdefault("metadata", {})

    def extras(self) -> dict[str, Any]:
        """Hooks and other things that few nodes have."""
        if self.more is None:
            self.more = {}
        return self.more

    def save(self, values: list[Any], storages: list[Any]) -> None:
        """Keep `values` (one per name of the plan); `storages` are those whose version must not change."""
        self.saved: list[Any] | None = values
        self.versions = [(storage, storage.version) for storage in storages]

    def free(self) -> bool:
        """Drop the saved tensors; False where there was none to drop (the node can run again)."""
        if not self.plan.tensors or self.saved is None:
            return False
        self.saved = None
        self.versions = []
        return True

    def saved_values(self) -> list[Any]:
        """What was saved, checked: raises torch's error where it was freed or changed in place."""
        if self.saved is None:
            raise errors.runtime(
                SECOND_BACKWARD,
                f"Backstep: {self.name()} needs what it saved in forward, and an earlier backward has freed it. "
                "Pass retain_graph=True to the earlier call, or compute the forward again.",
                node=self,
            )
        for storage, version in self.versions:
            if storage.version != version:
                raise self._changed(storage, version)
        return self.saved

    def _changed(self, storage: Any, version: int) -> RuntimeError:
        assert self.saved is not None
        guilty = next(v for v in self.saved if getattr(v, "_storage", getattr(v, "storage", None)) is storage)
        if isinstance(guilty, SavedResult):
            array, nr, maker = guilty.array, guilty.nr, self.op.node_name
        else:
            array, nr, maker = guilty._array, guilty._nr, guilty._node and guilty._node.name()
        kind = f"torch.{dtype_of(array).legacy} {list(array.shape)}"
        origin = f", which is output {nr} of {maker.removesuffix('Backward0')}," if maker else ""
        message = (
            f"one of the variables needed for gradient computation has been modified by an inplace operation: [{kind}]"
            f"{origin or ''} is at version {storage.version}; expected version {version} instead. Hint: enable anomaly "
            "detection to find the operation that failed to compute its gradient, with "
            "torch.autograd.set_detect_anomaly(True, check_nan=False)."
        )
        name = self.plan.names[self.saved.index(guilty)]
        note = (
            f"Backstep: {self.name()} saved {name!r} of shape {list(array.shape)} in forward; since then it was written "
            f"in place {storage.version - version} time(s). Write out of place (x = x + 1), or change a clone."
        )
        return errors.runtime(message, note, node=self, tensors=(guilty,) if not isinstance(guilty, SavedResult) else ())

    def __repr__(self) -> str:
        return f"<{self.name()} object at 0x{id(self):x}>"


class AccumulateGrad:
    """The end of the graph at a leaf: adds what arrives into the leaf's `.grad`."""

    __slots__ = ("__weakref__", "metas", "more", "variable")

    edges: tuple[Edge | None, ...] = ()
    sequence_nr = LAST

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.metas = [(variable._array.shape, variable._array.dtype)]
        self.more: dict[str, Any] | None = None

    next_functions: tuple[tuple[Any, int], ...] = ()

    def name(self) -> str:
        """torch's name of this node."""
        return "AccumulateGrad"

    extras = Node.extras
    metadata = Node.metadata

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at 0x{id(self):x}>"


def gradient_edge(tensor: Any) -> Edge | None:
    """Where the gradient of `tensor` goes: its node, the AccumulateGrad of a leaf, or nowhere."""
    node = tensor._node
    if node is not None:
        return node, tensor._nr
    if not tensor._requires_grad:
        return None
    reference = tensor._accumulator
    accumulator = reference() if reference is not None else None
    if accumulator is None:
        accumulator = AccumulateGrad(tensor)
        tensor._accumulator = weakref.ref(accumulator)
    return accumulator, 0
