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

from ..tensor.grad_mode import mode, no_grad
from ..tensor.tensor import Tensor
from .application import Call
from .custom import CustomNode

NO_BACKWARD = (
    "You must implement either the backward or vjp method for your custom autograd.Function to use it with backward "
    "mode AD."
)
TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"
LEGACY = (
    "Legacy autograd function with non-static forward method is deprecated. Please use new-style autograd function "
    "with static forward method. (Example: https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
)
NODE_METHODS = frozenset({"_input_metadata", "_sequence_nr", "register_hook", "register_prehook", "requires_grad"})


class FunctionCtx:
    """The context on which forward notes what it saves and writes.  Source: torch.autograd.function.FunctionCtx."""

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
        """Choose whether backward receives zeros (the default) or None for outputs that no gradient reached."""
        self._own_node.materialize = value


class BackwardCFunction(FunctionCtx):
    """The node of a custom Function as the user sees it: `ctx` in its methods, `grad_fn` of its outputs."""

    __slots__ = ("_own_node",)

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """The tensors that `save_for_backward` kept; raises torch's errors if they were freed, or written since."""
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

    Source: torch.autograd.Function.

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
        """The function itself: `forward(ctx, *args)`, or without ctx if `setup_context` is defined too."""
        raise NotImplementedError("You must implement the forward function for custom autograd.Function.")

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Save the tensors that backward needs, separately from forward."""
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
        """Not used here: vmap calls the Function once per example."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod or set "
            "generate_vmap_rule=True."
        )

    @classmethod
    def _run_backward(cls, ctx: Any, gradients: list[Any]) -> Any:
        """The user's backward, or vjp: two names for one thing."""
        if cls.backward is not Function.backward and cls.vjp is not Function.vjp:
            raise RuntimeError(
                "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should only "
                "implement one of them."
            )
        return (cls.vjp if cls.vjp is not Function.vjp else cls.backward)(ctx, *gradients)

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Run forward and give its outputs their node."""
        setup = cls.setup_context is not Function.setup_context
        if setup:
            bound = inspect.signature(cls.forward).bind(*args, **kwargs)
            bound.apply_defaults()
            args, kwargs = bound.args, bound.kwargs
        return Call(cls, args, kwargs, setup).run()


class InplaceFunction(Function):
    """Kept by torch for old code; as Function."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


class Error(Function):
    """The function of a gradient that cannot be differentiated again: its backward raises an error."""

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
        values = outputs if isinstance(outputs, tuple) else (outputs,)
        errors = tuple(None if o is None else Error.apply(o.detach().requires_grad_(), TWICE) for o in values)
        return errors if isinstance(outputs, tuple) else errors[0]

    return wrapper
