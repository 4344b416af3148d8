"""Functions whose forward and backward the user writes.  Source: torch.autograd.Function.

`F.apply(x)` runs `F.forward` without recording what it computes, and gives its outputs one node, `FBackward`, which is
at the same time the context that forward and backward share.  A recording has the node with the values that came and
went; its formula is the user's own code.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from .. import anomaly, errors
from ..inplace import report_joint, wrote
from ..mode import mode, no_grad
from ..node import SavedResult, gradient_edge
from ..ops.shape import detach
from ..slot import slot
from ..tensor import Tensor
from ..views import View, refresh_view
from .custom import NO_OUTPUT, CustomNode

NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
    "mode AD."
)
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
TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"
LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
    "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
NODE_METHODS = frozenset({"_input_metadata", "_sequence_nr", "register_hook", "register_prehook", "requires_grad"})


PUSH: list[Callable[..., None]] = []
"""What forward mode adds to a call of a Function."""


class FunctionCtx:
    """What forward tells of its call.  Source: torch.autograd.function.FunctionCtx."""

    _own_node: CustomNode

    to_save: tuple[Any, ...] = ()
    dirty_tensors: tuple[Any, ...] = ()
    non_differentiable: tuple[Any, ...] = ()
    saved_for_forward: tuple[Any, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        """Keep tensors (or None) for backward, where `saved_tensors` has them; at most one call counts, the last."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        """Keep tensors for `jvp`."""
        for tensor in tensors:
            if not (isinstance(tensor, Tensor) or tensor is None):
                raise AssertionError(
                    "save_for_forward expects all arguments to be tensors; you should save non-tensors as attributes "
                    "on ctx."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Any) -> None:
        """Say which inputs forward has written in place."""
        self.dirty_tensors = tensors

    def mark_non_differentiable(self, *tensors: Any) -> None:
        """Say which outputs carry no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Whether backward is given zeros (the default) or None for outputs that no gradient reached."""
        self._own_node.materialize = value


class BackwardCFunction(FunctionCtx):
    """What the user sees of the node of a custom Function: `ctx` in its methods, `grad_fn` of its outputs."""

    __slots__ = ("_own_node",)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept; raises torch's errors where it was freed, or written since."""
        return self._own_node.saved_tensors()

    @property
    def needs_input_grad(self) -> tuple[bool, ...]:
        """Whether each argument of apply requires grad."""
        return self._own_node.needs_input_grad

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """As of any node."""
        return self._own_node.next_functions

    @property
    def metadata(self) -> dict[str, Any]:
        """As of any node."""
        return self._own_node.metadata

    def name(self) -> str:
        """`FBackward` for the Function F."""
        return self._own_node.name()

    def __repr__(self) -> str:
        cls = type(self)
        where = "" if cls.__module__ == "builtins" else f"{cls.__module__}."
        return f"<{where}{cls.__name__} object at 0x{id(self):x}>"

    def __getattr__(self, name: str) -> Any:
        if name in NODE_METHODS:  # what all nodes have; the user's own attributes go before
            return getattr(self._own_node, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class FunctionMeta(type):
    """Gives each Function the class of its nodes."""

    def __init__(cls, name: str, bases: tuple[type, ...], attrs: dict[str, Any]) -> None:
        own = {"_forward_cls": cls, "__module__": "torch.autograd.function", "__slots__": ()}
        cls._backward_cls: Any = type(f"{name}Backward", (BackwardCFunction,), own)
        super().__init__(name, bases, attrs)


class Function(metaclass=FunctionMeta):
    """Base of the user's own functions: subclass it, write `forward` and `backward` as static methods, call `apply`.

    >>> import engine as torch
    >>> class Cube(torch.autograd.Function):
    ...     @staticmethod
    ...     def forward(ctx, x):
    ...         ctx.save_for_backward(x)
    ...         return x * x * x
    ...     @staticmethod
    ...     def backward(ctx, grad):
    ...         (x,) = ctx.saved_tensors
    ...         return 3 * x * x * grad
    >>> x = torch.tensor([2.0], requires_grad=True)
    >>> y = Cube.apply(x)
    >>> y
    tensor([8.], grad_fn=<CubeBackward>)
    >>> y.backward()
    >>> x.grad
    tensor([12.])
    """

    _backward_cls: Any
    _node_name = ""
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all static, so you should "
            "invoke them on the class itself. Instantiating an autograd function will raise an error in a future "
            "version of PyTorch.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(LEGACY)

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """The function itself: `forward(ctx, *args)`, or without ctx where `setup_context` is written too."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Say what backward needs, apart from forward."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """The gradient of each argument of forward, from one gradient per output."""
        raise NotImplementedError(NO_BACKWARD)

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """The tangent of each output, from one tangent per input (forward mode)."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: Any, *args: Any) -> Any:
        """Not used here: there is no torch.vmap."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _run_backward(cls, ctx: Any, given: list[Any]) -> Any:
        """The user's backward, or vjp: two names for one thing."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return (cls.vjp if cls.vjp is not Function.vjp else cls.backward)(ctx, *given)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and give its outputs their node."""
        setup = cls.setup_context is not Function.setup_context
        if setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return _Call(cls, args, kwargs, setup).run()


class InplaceFunction(Function):
    """Kept by torch for old code; as Function."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class _Call:
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
        context = node.shown()
        if active is not None:
            active.enter_code("forward", self.inputs)
        made: Any = ()
        completed = False
        enabled = mode.enabled
        mode.turn(False)
        level, mode.dual = mode.dual, None  # tangents are for jvp to find, not for what forward is made of
        try:
            if self.setup:
                made = self.cls.forward(*self.args, **self.kwargs)
                self.cls.setup_context(context, self.args, made)
            else:
                made = self.cls.forward(context, *self.args, **self.kwargs)
            completed = True
        finally:
            mode.turn(enabled)
            mode.dual = level
            outputs: list[Any] = list(made) if isinstance(made, tuple) else [made]
            if active is not None:
                active.leave_code([o if isinstance(o, Tensor) else None for o in outputs], completed)
        dirty = context.dirty_tensors
        self.finish(context, outputs)
        for push in PUSH:
            push(self.cls, node, (*self.args, *self.kwargs.values()), outputs, dirty)
        tensors = [o for o in outputs if isinstance(o, Tensor)]
        if active is not None:
            self.report(active, seen, tensors)
        if node.kept:
            node.pack()
        for tensor in tensors:
            if tensor._view is not None:
                refresh_view(tensor)
        return tuple(outputs) if isinstance(made, tuple) else outputs[0]

    def edges(self) -> None:
        """Where the gradients of the inputs go, as their history is before forward."""
        found: list[tuple[Any, int]] = []
        for tensor in self.inputs:
            refresh_view(tensor)
            edge = gradient_edge(tensor) if self.executable and tensor._requires_grad else None
            found.append(edge or (None, 0))
        self.node.targets = tuple(target for target, _ in found)
        self.node.numbers = tuple(nr for _, nr in found)

    @staticmethod
    def see(active: Any, tensor: Tensor) -> tuple[int, int]:
        """What the recording calls an input."""
        seen: tuple[int, int] = active.see(tensor)
        return seen

    # -- outputs --------------------------------------------------------------------------------------------------

    def finish(self, context: BackwardCFunction, outputs: list[Any]) -> None:
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
            kept = {id(t) for t in context.to_save}
            if self.setup and any(id(o) in self.ours & kept and id(o) not in dirty for o in raw):
                raise errors.runtime(INPUT_RETURNED, node=node)
            node.keep(context.to_save)
        for name in ("to_save", "dirty_tensors", "non_differentiable"):
            node.space.pop(name, None)

    def marked(self, context: BackwardCFunction, outputs: list[Any]) -> tuple[set[int], set[int]]:
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

    def output(self, made: Tensor, nr: int, written: bool, carries: bool, count: int) -> Tensor:
        """An output with its history: of this node, or none."""
        ours = id(made) in self.ours
        if not carries:
            if not made._requires_grad:
                return made
            if ours:
                return detach(made)
            made._node, made._nr, made._requires_grad = None, 0, False
            return made
        if written:
            return self.rebased(made, nr, count)
        if ours:
            made = _alias(made)
        if made._view is not None:
            made._view.limit("several" if count > 1 else "custom", f"Output {nr} of {self.cls.__name__}")
            made._view.version = made._storage.version
        made._comes_from(self.node, nr)
        return made

    def rebased(self, made: Tensor, nr: int, count: int) -> Tensor:
        """An input that forward wrote in place: its history goes through this node from now on."""
        view = made._view
        if view is None and made._requires_grad and made._node is None:
            raise errors.runtime(
                "a leaf Variable that requires grad has been used in an in-place operation.", tensors=(made,)
            )
        if view is not None:
            if count > 1:
                raise errors.runtime(VIEW_AND_MORE, node=self.node)
            if view.base._requires_grad and view.base._node is None:
                raise errors.runtime(
                    "a view of a leaf Variable that requires grad is being used in an in-place operation.",
                    tensors=(made, view.base),
                )
        wrote(made, self.node, nr)
        return made

    # -- the recording --------------------------------------------------------------------------------------------

    def report(self, active: Any, seen: Any, outputs: list[Tensor]) -> None:
        """Tell the recording what went in, what came out, and what is kept for backward."""
        written = next((o for o in outputs if id(o) in self.ours), None)
        node = self.node if self.executable else None
        onto_base = written is not None and written._view is not None and self.executable
        saved = [self.known(kept, outputs) for kept, _ in self.node.kept if kept is not None]
        given = tuple(place in self.node.places for place in range(len(self.node.needs_input_grad)))
        active.custom(self.cls.__name__, seen, outputs, node, written, saved, given)
        if onto_base and written is not None:
            report_joint(active, written, self.cls.__name__)

    @staticmethod
    def known(kept: Any, outputs: list[Tensor]) -> Any:
        """The tensor that was saved: an output, of which the node has only the array, or another."""
        return next((out for out in outputs if out._array is kept._array), kept) if type(kept) is SavedResult else kept


def _alias(tensor: Tensor) -> Tensor:
    """An input that is returned as it is: another tensor of the same storage."""
    made: Tensor = Tensor.__new__(type(tensor))
    made._array, made._storage = tensor._array, tensor._storage
    view = tensor._view
    base, steps = (tensor, None) if view is None else (view.base, view.steps)
    made._view = View(base, steps, tensor._storage.version)
    return made


class Error(Function):
    """What stands behind a gradient that cannot be differentiated again."""

    _node_name = "torch::autograd::Error"

    @staticmethod
    def forward(ctx: Any, value: Any, message: str) -> Any:
        """The gradient as it is."""
        ctx.message = message
        return value.detach()

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        raise RuntimeError(ctx.message)


Error._backward_cls.__name__ = Error._backward_cls.__qualname__ = "Error"
Error._backward_cls.__module__ = "builtins"


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """For a `backward` that is not to be differentiated: its results are, and a second backward through them raises.

    Source: torch.autograd.function.once_differentiable.
    """

    @functools.wraps(function)
    def wrapper(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        with no_grad():
            outputs = function(ctx, *args, **kwargs)
        if not mode.enabled or not any(isinstance(a, Tensor) and a.requires_grad for a in args):
            return outputs
        listed = outputs if isinstance(outputs, tuple) else (outputs,)
        made = tuple(None if o is None else Error.apply(o.detach().requires_grad_(), TWICE) for o in listed)
        return made if isinstance(outputs, tuple) else made[0]

    return wrapper
