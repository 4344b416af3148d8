"""The backward graph: a Node per recorded op, and AccumulateGrad where it ends in a leaf."""

from __future__ import annotations

import functools
import itertools
import re
import weakref
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, ClassVar

from ..arrays import errors
from ..arrays.array import BY_NUMPY, Array, dtype_of
from ..arrays.session import reserve
from ..ops.op import Op, Plan
from .grad_mode import mode

SUFFIX = re.compile(r"Backward(?:0|(\d*))$")
"""The part of a node's name that torch's messages leave out: TBackward1 becomes T1."""
UNKNOWN = "NotImplemented"
"""The node of an op that has no derivative."""
LAST = 2**64 - 1
"""The sequence number of AccumulateGrad, as in torch: it runs as soon as it is ready."""

_numbers = itertools.count()
next_number = _numbers.__next__

FREED = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
    "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
    "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access saved "
    "tensors after calling backward."
)
HINT = (
    "Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
    "torch.autograd.set_detect_anomaly(True, check_nan=False)."
)
HINT_SHOWN = (
    "Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable in "
    "question was changed in there or anywhere later. Good luck!"
)
"""The same during anomaly detection."""


class RemovableHandle:
    """The result of registering a hook.  Source: torch.utils.hooks.RemovableHandle."""

    _numbers = itertools.count()

    def __init__(self, hooks: dict[int, Any], hook: Any) -> None:
        self._dict = hooks
        self.id = next(self._numbers)
        hooks[self.id] = hook

    def remove(self) -> None:
        """Take the hook away."""
        self._dict.pop(self.id, None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


class SavedResult:
    """An output that its own node keeps: the array, not the Tensor, which would close a reference cycle."""

    __slots__ = ("_array", "_nr", "_shared")
    _id = -1  # not part of a recording

    def __init__(self, data: Array, storage: Any, nr: int) -> None:
        self._array = data
        self._shared = storage
        self._nr = nr


class _Rare:
    """Attributes that few nodes have, as defaults of the class, so that a new node need not set them."""

    __slots__ = ()
    numbers: tuple[int, ...] | None = None
    versions: tuple[int, ...] | None = None
    metas: list[tuple[tuple[int, ...], Any]] | None = None
    statics: Mapping[str, Any] = MappingProxyType({})
    requires_grad = True
    own: Any = None
    """A node's own code instead of rules: a method (upstream gradients, the run) that returns a cotangent per edge."""


class Node(_Rare):
    """One op of the backward graph, named as in torch (`MulBackward0`).

    `targets` has a node or None per differentiable input and `numbers` the output of that node which the input was
    (None: the first, of all); `saved` has a value per name of the plan, `versions` the versions of the saved tensors'
    storages at that time (None: all 0).  `shape` and `dtype` are the output's; a node of several outputs has `metas`
    instead, one (shape, dtype) per output.  `more` has hooks and other attributes that few nodes have; if it is None,
    the loop runs the rules and nothing else.
    """

    __slots__ = ("__dict__", "__weakref__", "dtype", "more", "plan", "saved", "sequence_nr", "shape", "targets")

    plan: Plan
    targets: tuple[Any, ...]
    sequence_nr: int
    shape: tuple[int, ...] | None
    dtype: Any
    saved: tuple[Any, ...] | None
    more: dict[str, Any] | None
    look: ClassVar[Callable[[Node, str], Any]]
    """The value of `_saved_...`, and the names for dir(): set by `engine.tensor.attributes`, which knows Tensors."""
    attribute_names: ClassVar[Callable[[Node], list[str]]]
    called: ClassVar[Callable[[Node, tuple[Any, ...]], Any]]
    """Runs the rules of a node alone: set by `engine.backward.loop`, which knows the loop."""

    @property
    def op(self) -> Op:
        """The forward op."""
        return self.plan.op

    def name(self) -> str:
        """torch's name of this node."""
        name = self.op.node_name
        return f"torch::autograd::{name}" if name in ("CopyBackwards", UNKNOWN) else name

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that receive the cotangents, `(None, 0)` where no gradient is needed, as in torch."""
        numbers = self.numbers or (0,) * len(self.targets)
        edges = zip(self.targets, numbers, strict=True)
        if self.op.traits.node == UNKNOWN:  # torch gives it edges to what requires grad, and no others
            return tuple((target.user_node(), nr) for target, nr in edges if target is not None)
        return tuple((None if target is None else target.user_node(), nr) for target, nr in edges)

    def user_node(self) -> Any:
        """The node as the user sees it: only now does it get a class of its own name."""
        if type(self) is Node:
            self.__class__ = _kind(self.name().rpartition("::")[2])
        return self

    @property
    def metadata(self) -> dict[str, Any]:
        """A dict defined by the user."""
        entries: dict[str, Any] = self.extras().setdefault("metadata", {})
        return entries

    def extras(self) -> dict[str, Any]:
        """Hooks and other things that few nodes have."""
        if self.more is None:
            self.more = {}
        return self.more

    def register_hook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node has run; a result replaces its cotangents."""
        return RemovableHandle(self.extras().setdefault("post_hooks", {}), fn)

    def register_prehook(self, fn: Any) -> RemovableHandle:
        """Call `fn(grad_outputs)` before the node runs; a result replaces its upstream gradients."""
        return RemovableHandle(self.extras().setdefault("pre_hooks", {}), fn)

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _set_sequence_nr(self, number: int) -> None:
        """Make the node run earlier (a higher number) or later than its position in the forward pass implies."""
        self.sequence_nr = number

    def __call__(self, *grads: Any) -> Any:
        """Run the rules of this node alone: a gradient per output in, a cotangent per edge out."""
        return self.called(grads)

    @property
    def _input_metadata(self) -> list[InputMetadata]:
        metas: list[Any] = [(self.shape, self.dtype)] if self.metas is None else self.metas
        return [InputMetadata(shape, dtype) for shape, dtype in metas]

    def meta(self, nr: int) -> tuple[Any, Any]:
        """(shape, dtype) of output `nr`."""
        return (self.shape, self.dtype) if self.metas is None else self.metas[nr]

    def number(self, edge: int) -> int:
        """Which output of its target an edge leads to."""
        return self.numbers[edge] if self.numbers else 0

    def free(self) -> bool:
        """Drop the saved tensors; False if there were none (the node can run again)."""
        if not self.plan.tensors or self.saved is None:
            return False
        self.saved = None
        return True

    def freed_error(self) -> RuntimeError:
        """torch's error for a node that ran before and whose saved tensors were freed."""
        shapes = [shape for shape, _ in self.metas] if self.metas else [self.shape or ()]
        text = " and ".join(str(list(shape)) for shape in shapes)
        return errors.runtime(
            FREED,
            f"Backstep: {self.name()}, whose output has the shape {text}, needs the tensors that it saved in forward, "
            "but an earlier backward has freed them. "
            "Pass retain_graph=True to the earlier call, or compute the forward again.",
            node=self,
        )

    def check_versions(self) -> None:
        """Raise torch's error if a saved tensor was written in place since it was saved."""
        saved = self.saved or ()
        tensors = self.plan.tensors
        for place, version in zip(tensors, self.versions or (0,) * len(tensors), strict=True):
            value = saved[place]
            for item in value if type(value) is list else (value,):
                storage = getattr(item, "_shared", None)
                if storage is not None and storage.version != version:
                    raise self._changed_error(item, self.plan.names[place], storage.version, version)

    def _changed_error(self, value: Any, name: str, version: int, expected: int) -> RuntimeError:
        own = isinstance(value, SavedResult)
        maker = self.name() if own else value._node and value._node.name()
        note = (
            f"Backstep: {self.name()} saved {name!r} of shape {list(value._array.shape)} in forward; since then it was "
            f"written in place {version - expected} time(s). Write out of place (x = x + 1), or change a clone."
        )
        return errors.runtime(
            changed_message(value, maker, version, expected), note, node=self, tensors=() if own else (value,)
        )

    def __repr__(self) -> str:
        return f"<{self.name().rpartition('::')[2]} object at 0x{id(self):x}>"


def changed_message(value: Any, maker: str | None, version: int, expected: int) -> str:
    """torch's message for a saved tensor that was written since; the node named `maker` computed it."""
    view = getattr(value, "_view", None)
    if maker and view is not None and view.base._requires_grad and view.path[-1][2] is None:
        maker = "AsStrided"  # torch creates a new node for a view when it finds its base changed
    name = SUFFIX.sub(r"\1", maker or "")
    origin = f", which is output {value._nr} of {name}," if maker else ""
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[torch.{dtype_of(value._array).legacy} {list(value._array.shape)}]{origin} is at version {version}; expected "
        f"version {expected} instead. {HINT_SHOWN if mode.anomaly else HINT}"
    )


reserve(Node, "statics", "numbers", "versions", "metas")


@functools.cache
def _kind(name: str) -> type[Node]:
    """The class of nodes of a name, so that `type(y.grad_fn).__name__` is torch's; they have torch's `_saved_...` too.
    Node itself, which the loop reads, does not: attributes of a class with a `__getattr__` are slower.
    """
    own = {"__getattr__": Node.look, "__dir__": Node.attribute_names, "__doc__": Node.__doc__}
    return type(name, (Node,), {"__slots__": (), "__module__": "builtins", **own})


class InputMetadata:
    """Shape and dtype of the gradient that a node takes for one output."""

    def __init__(self, shape: Any, which: Any) -> None:
        self.shape, self.dtype = shape, BY_NUMPY[which]


class AccumulateGrad:
    """The end of the graph at a leaf: adds arriving gradients into the leaf's `.grad`."""

    __slots__ = ("__weakref__", "dtype", "more", "shape", "variable")

    targets: tuple[Any, ...] = ()
    numbers = None
    next_functions: tuple[tuple[Any, int], ...] = ()
    metas = None
    sequence_nr = LAST
    requires_grad = True

    def __init__(self, variable: Any) -> None:
        self.variable = variable
        self.shape = variable._array.shape
        self.dtype = variable._array.dtype
        self.more: dict[str, Any] = {}

    def name(self) -> str:
        """torch's name of this node."""
        return "torch::autograd::AccumulateGrad"

    extras = Node.extras
    metadata = Node.metadata
    meta = Node.meta
    user_node = Node.user_node
    register_hook = Node.register_hook
    register_prehook = Node.register_prehook
    _sequence_nr = Node._sequence_nr
    _input_metadata = Node._input_metadata

    def __repr__(self) -> str:
        return f"<AccumulateGrad object at 0x{id(self):x}>"


def accumulator(tensor: Any) -> AccumulateGrad | None:
    """The AccumulateGrad of a leaf: the same one as long as a graph holds it.  None for a view without a history that
    requires grad because its base does: torch's receives nothing.
    """
    if tensor._view is not None and tensor._view.lent:
        return None
    node: AccumulateGrad | None = tensor._accumulator()
    if node is None:
        node = AccumulateGrad(tensor)
        tensor._accumulator = weakref.ref(node)
    return node


def gradient_edge(tensor: Any) -> tuple[Any, int] | None:
    """Where the gradient of `tensor` goes: its node, the AccumulateGrad of a leaf, or nowhere."""
    if tensor._node is not None:
        return tensor._node, tensor._nr
    node = accumulator(tensor) if tensor._requires_grad else None
    return None if node is None else (node, 0)
