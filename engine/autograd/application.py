"""One call of a Function: forward runs unrecorded, its outputs get one node, and a recording gets an event."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from ..arrays import errors
from ..arrays.session import slot
from ..backward import anomaly
from ..ops.shape import detach
from ..tensor.grad_mode import mode
from ..tensor.inplace import report_joint, wrote
from ..tensor.node import SavedResult, gradient_edge
from ..tensor.tensor import Tensor
from ..tensor.views import View, refresh_view
from .custom import NO_OUTPUT, CustomNode

NOT_RETURNED = (
    "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
    "modified inplace must all be outputs of the Function."
)
NOT_AN_INPUT = (
    "ctx.mark_dirty() received a tensor that was not an input. Only input Tensors that have been mutated should be "
    "passed to ctx.mark_dirty()."
)
VIEW_AND_MORE = (
    "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return more "
    "than one Tensor. This is not supported by the current autograd engine. You should either make sure the input is "
    "not a view (using .clone() for example) or make your Function only return one Tensor (potentially splitting it "
    "into two Functions: one doing the inplace that returns a single Tensor and a second one that does the other "
    "operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do this change."
)
INPUT_RETURNED = (
    "An input that has been returned as-is as output is being saved for backward. This is not supported if you "
    "override setup_context. You should return and save a view of the input instead, e.g. with x.view_as(x) or setup "
    "ctx inside the forward function itself."
)
PUSH: list[Callable[..., None]] = []
"""What forward mode adds to a call of a Function."""


class Call:
    """One call of `apply`."""

    def __init__(self, cls: Any, args: tuple[Any, ...], kwargs: dict[str, Any], setup: bool) -> None:
        self.cls, self.args, self.kwargs, self.setup = cls, args, kwargs, setup
        every = (*args, *kwargs.values())
        self.node = node = CustomNode(cls)
        node.places = tuple(i for i, value in enumerate(every) if isinstance(value, Tensor))
        node.needs_input_grad = tuple(isinstance(v, Tensor) and v.requires_grad for v in every)
        self.inputs: list[Tensor] = [every[i] for i in node.places]
        self.ours = {id(t) for t in self.inputs}
        self.executable = mode.enabled and any(node.needs_input_grad)

    def run(self) -> Any:
        """Forward, and what it made of it."""
        node, active = self.node, slot.active
        self.edges()
        seen = None if active is None else [self.see(active, tensor) for tensor in self.inputs]
        if mode.anomaly:
            anomaly.note(node)
        context = node.user_node()
        if active is not None:
            active.enter_code("forward", self.inputs)
        result: Any = ()
        completed = False
        enabled = mode.enabled
        mode.turn(False)
        level, mode.dual = mode.dual, None  # tangents are for jvp to find, not for what forward is made of
        try:
            if self.setup:
                result = self.cls.forward(*self.args, **self.kwargs)
                self.cls.setup_context(context, self.args, result)
            else:
                result = self.cls.forward(context, *self.args, **self.kwargs)
            completed = True
        finally:
            mode.turn(enabled)
            mode.dual = level
            outputs: list[Any] = list(result) if isinstance(result, tuple) else [result]
            if active is not None:
                active.leave_code([o if isinstance(o, Tensor) else None for o in outputs], completed)
        dirty = context.dirty_tensors
        self.finish(context, outputs)
        for push in PUSH:
            push(self.cls, node, (*self.args, *self.kwargs.values()), outputs, dirty)
        tensors = [o for o in outputs if isinstance(o, Tensor)]
        if active is not None:
            self.report(active, seen, tensors)
        if node.saved_entries:
            node.pack()
        for tensor in tensors:
            if tensor._view is not None:
                refresh_view(tensor)
        return tuple(outputs) if isinstance(result, tuple) else outputs[0]

    def edges(self) -> None:
        """Where the gradients of the inputs go, as their history is before forward."""
        result: list[tuple[Any, int]] = []
        for tensor in self.inputs:
            refresh_view(tensor)
            edge = gradient_edge(tensor) if self.executable and tensor._requires_grad else None
            result.append(edge or (None, 0))
        self.node.targets = tuple(target for target, _ in result)
        self.node.numbers = tuple(nr for _, nr in result)

    @staticmethod
    def see(active: Any, tensor: Tensor) -> tuple[int, int]:
        """Show an input to the recording and return its number and version there."""
        seen: tuple[int, int] = active.see(tensor)
        return seen

    # -- outputs --------------------------------------------------------------------------------------------------

    def finish(self, context: Any, outputs: list[Any]) -> None:
        """Check what forward said of its tensors, give the outputs their history, save."""
        node, raw = self.node, list(outputs)
        dirty, plain = self.marked(context, raw)
        node.others = frozenset(i for i, o in enumerate(raw) if not isinstance(o, Tensor))
        node.metas = [NO_OUTPUT if nr in node.others else (o._array.shape, o._array.dtype) for nr, o in enumerate(raw)]
        for nr, output in enumerate(raw):
            if nr not in node.others:
                carries = self.executable and id(output) not in plain and output._array.dtype.kind == "f"
                outputs[nr] = self.output(output, nr, id(output) in dirty, carries, len(raw) - len(node.others))
        if self.executable:
            ids_to_save = {id(t) for t in context.to_save}
            if self.setup and any(id(o) in self.ours & ids_to_save and id(o) not in dirty for o in raw):
                raise errors.runtime(INPUT_RETURNED, node=node)
            node.keep(context.to_save)
        for name in ("to_save", "dirty_tensors", "non_differentiable"):
            node.space.pop(name, None)

    def marked(self, context: Any, outputs: list[Any]) -> tuple[set[int], set[int]]:
        """The ids of the tensors marked dirty, and of those marked non-differentiable."""
        for place, value in enumerate(context.dirty_tensors):
            if not isinstance(value, Tensor):
                raise errors.runtime(
                    f"mark_dirty can only accept variables, but argument {place} is of type {type(value).__name__}"
                )
            value._storage.version += 1
            if id(value) not in self.ours:
                warnings.warn(NOT_AN_INPUT, UserWarning, stacklevel=6)
        for value in context.non_differentiable:
            if not isinstance(value, Tensor):
                raise errors.runtime(
                    f"mark_non_differentiable only accepts variable arguments, but got {type(value).__name__}"
                )
        dirty = {id(t) for t in context.dirty_tensors}
        if not dirty <= {id(o) for o in outputs}:
            raise errors.runtime(NOT_RETURNED, node=self.node)
        return dirty, {id(t) for t in context.non_differentiable}

    def output(self, tensor: Tensor, nr: int, is_inplace: bool, carries: bool, count: int) -> Tensor:
        """An output with its history: of this node, or none."""
        ours = id(tensor) in self.ours
        if not carries:
            if not tensor._requires_grad:
                return tensor
            if ours:
                return detach(tensor)
            tensor._node, tensor._nr, tensor._requires_grad = None, 0, False
            return tensor
        if is_inplace:
            return self.rebased(tensor, nr, count)
        if ours:
            tensor = _alias(tensor)
        if tensor._view is not None:
            tensor._view.limit("several" if count > 1 else "custom", f"Output {nr} of {self.cls.__name__}")
            tensor._view.version = tensor._storage.version
        tensor._comes_from(self.node, nr)
        return tensor

    def rebased(self, tensor: Tensor, nr: int, count: int) -> Tensor:
        """An input that forward wrote in place: its history goes through this node from now on."""
        view = tensor._view
        if view is None and tensor._requires_grad and tensor._node is None:
            raise errors.runtime(
                "a leaf Variable that requires grad has been used in an in-place operation.", tensors=(tensor,)
            )
        if view is not None:
            if count > 1:
                raise errors.runtime(VIEW_AND_MORE, node=self.node)
            if view.base._requires_grad and view.base._node is None:
                raise errors.runtime(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                    tensors=(tensor, view.base),
                )
        wrote(tensor, self.node, nr)
        return tensor

    # -- the recording --------------------------------------------------------------------------------------------

    def report(self, active: Any, seen: Any, outputs: list[Tensor]) -> None:
        """Tell the recording what went in, what came out, and what is kept for backward."""
        target = next((o for o in outputs if id(o) in self.ours), None)
        node = self.node if self.executable else None
        onto_base = target is not None and target._view is not None and self.executable
        saved = [self.saved_tensor(value, outputs) for value, _ in self.node.saved_entries if value is not None]
        needed = tuple(place in self.node.places for place in range(len(self.node.needs_input_grad)))
        active.custom(self.cls.__name__, seen, outputs, node, target, saved, needed)
        if onto_base and target is not None:
            report_joint(active, target, self.cls.__name__)

    @staticmethod
    def saved_tensor(value: Any, outputs: list[Tensor]) -> Any:
        """The tensor that was saved: an output, of which the node has only the array, or another."""
        if type(value) is not SavedResult:
            return value
        return next((out for out in outputs if out._array is value._array), value)


def _alias(tensor: Tensor) -> Tensor:
    """An input that is returned as it is: another tensor of the same storage."""
    alias: Tensor = object.__new__(type(tensor))
    alias._array, alias._storage = tensor._array, tensor._storage
    view = tensor._view
    base, steps = (tensor, None) if view is None else (view.base, view.steps)
    alias._view = View(base, steps, tensor._storage.version)
    return alias
