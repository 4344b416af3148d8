"""Views: how a view is made from its base, and what happens to it when the base is written in place."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from ..arrays import errors
from ..arrays.session import slot
from ..ops.inplace import retake
from ..ops.op import REGISTRY, Op
from .grad_mode import mode
from .node import Node, accumulator, next_number

if TYPE_CHECKING:
    from .tensor import Tensor

RETAKE: Op = retake.op
AMBIGUOUS = (
    " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by moving both "
    "the view and the inplace either both inside the {} block (if you don't want the inplace to be tracked) or both "
    "outside (if you want the inplace to be tracked)."
)
REASONS = {
    "several": (
        " This view is the output of a function that returns multiple views. Such functions do not allow the output "
        "views to be modified inplace. You should replace the inplace operation by an out-of-place one."
    ),
    "custom": (
        " This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
        "logic to handle view+inplace would override the custom backward associated with the custom Function, leading "
        "to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the custom "
        "Function."
    ),
    "no_grad": AMBIGUOUS.format("no_grad"),
    "inference": AMBIGUOUS.format("inference_mode"),
}
"""Why views of a kind may not be written, in torch's words."""


Step = tuple[str, Any, int | None]
"""(op name, statics, output number where the op has several)."""
Steps = tuple[Any, Step] | None
"""The steps to a view, the last in front: (the steps before, step).  Views of views share their common steps."""


class View:
    """How a view is taken from its base: by some steps.  `version` is the version of the base for which the view's node
    is valid.  `kind` says why the view may not be written while gradients are recorded: `no_grad` or `inference` (the
    mode in which it was made), `several` (one of several outputs), `custom` (of a Function); None if it may.  `label`
    is its name in torch's messages; None if its last step gives the name: `Output 0 of Unbind`.
    """

    __slots__ = ("base", "kind", "label", "lent", "steps", "version")

    def __init__(self, base: Tensor, steps: Steps, version: int, kind: str | None = None) -> None:
        self.base = base
        self.steps = steps
        self.version = version
        self.kind = kind
        self.label: str | None = None
        self.lent = False  # it requires grad as its base does, but receives and passes on no gradient

    @property
    def path(self) -> tuple[Step, ...]:
        """The steps from the base on.  Linear in their number."""
        result, steps = [], self.steps
        while steps is not None:
            steps, step = steps
            result.append(step)
        return tuple(reversed(result))

    @property
    def name(self) -> str:
        """The name of this view in those torch messages that name it; else ""."""
        if self.label is None and self.steps is not None and (nr := self.steps[1][2]) is not None:
            return f"Output {nr} of {_short_name(REGISTRY[self.steps[1][0]].node_name)}"
        return self.label or ""

    def called(self) -> str:
        """The name of this view in torch's messages."""
        return self.name or "A view"

    def limit(self, kind: str, label: str) -> None:
        """Forbid writes while gradients are recorded."""
        self.kind, self.label = kind, label


def share(out: Tensor, source: Any, op: Op, statics: Any) -> None:
    """Make `out` a view of `source`: one storage, one version, a path back to the base."""
    out._shared = source._storage
    if not op.rules or out._shared.inference:  # detach: what is written is shared, the history is not
        if slot.active is not None and out._shared.source is None:
            out._shared.source = weakref.ref(source)
        return
    view = source._view
    if view is None:
        out._view = View(source, (None, (op.name, statics, None)), out._shared.version)
    else:
        out._view = View(view.base, (view.steps, (op.name, statics, None)), out._shared.version, view.kind)
    if not mode.enabled:  # torch's rule: such a view is a leaf that requires grad where its base does
        out._view.limit("inference" if mode.inference else "no_grad", "")
        out._requires_grad = out._view.lent = out._view.base._requires_grad
    if not out._view.base._requires_grad:
        out._shared.add(out)
    if mode.enabled and view is not None and view.kind is not None:
        out._view.limit(view.kind, f"Output 0 of {_short_name(op.node_name)}")


def share_each(outputs: list[Tensor], source: Any, op: Op, statics: Any) -> None:
    """Make all outputs of an op views of `source`, in a short loop, because there may be hundreds."""
    shared, view, name = source._storage, source._view, op.name
    base, steps = (source, None) if view is None else (view.base, view.steps)
    requires, version = base._requires_grad, shared.version
    kind, label = ("several", None) if mode.enabled else ("inference" if mode.inference else "no_grad", "")
    for nr, out in enumerate(outputs):
        if out._array.base is None:
            continue
        out._shared = shared
        out._view = record = View(base, (steps, (name, statics, nr)), version, kind)
        if label is not None:  # torch's rule: such a view is a leaf that requires grad where its base does
            record.label = label
            out._requires_grad = record.lent = requires
        if not requires:
            shared.add(out)


def _short_name(name: str) -> str:
    return name.rpartition("::")[2].removesuffix("Backward0")


def refresh_view(tensor: Tensor) -> None:
    """Give a view whose base was written in place the node that leads to the base as it is now: AsStridedBackward0.

    Raises torch's error if the view is of a kind whose base may not be written.
    """
    view = tensor._view
    if view is None or view.version == tensor._storage.version or not view.base._requires_grad:
        return
    base = view.base
    if view.kind is not None:
        raise limited(tensor, view, "its base or another view of its base has been modified inplace")
    target, nr = (accumulator(base), 0) if base._node is None else (base._node, base._nr)
    node = retaken(target, nr, view.path, base._array.shape, tensor._array)
    moved(tensor, node, 0)
    tensor._node, tensor._nr, tensor._requires_grad = node, 0, True
    view.version = tensor._storage.version
    if slot.active is not None:
        slot.active.again(RETAKE, tensor, base, view.path, node)


def moved(tensor: Tensor, node: Node, nr: int) -> None:
    """Hooks stay with the history that a tensor had when they were registered; a retained gradient goes with it."""
    tensor._hooks = None
    if tensor._retains and tensor._node is not None:
        retained = tensor._node.extras().get("retain", {}).pop(tensor._nr, None)
        if retained is not None:
            node.extras().setdefault("retain", {})[nr] = retained


def retaken(base: Any, nr: int, path: Any, sizes: tuple[int, ...], part: Any) -> Node:
    """The node of the part that a path takes from output `nr`, of shape `sizes`, of the node `base`; `part` is its
    array."""
    plan = RETAKE.plan(1)
    node = Node()
    node.plan, node.sequence_nr, node.more = plan, next_number(), None
    node.targets, node.numbers = (base,), (nr,)
    node.shape, node.dtype = part.shape, part.dtype
    node.statics = {"path": path}
    named: dict[str, Any] = {"path": path, "self_sizes": sizes}
    node.saved = tuple(named[name] for name in plan.names)
    return node


def limited(tensor: Tensor, view: View, what: str) -> RuntimeError:
    """torch's error for a write to a view of some `kind`, or to its base."""
    label, kind = view.called(), view.kind or "several"
    own = not view.name or tensor._node is None
    if kind in ("inference", "no_grad"):
        start = "A view" if own else f"{label} is a view of a view which"
        block, where = ("inference", "in normal mode") if kind == "inference" else ("no_grad", "with grad mode enabled")
        message = f"{start} was created in {block} mode and {what} {where}."
    elif tensor._node is None:
        message = f"A view was created in no_grad mode and {what} with grad mode enabled."
    else:
        message = f"{label} is a view and {what}."
    return errors.runtime(
        message + REASONS[kind],
        "Backstep: write out of place (row = row + 1), or write the whole tensor by index (x[0] += 1).",
        tensors=(tensor, view.base),
    )
