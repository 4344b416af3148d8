"""The hooks of modules: how they are registered, how a call with hooks runs, and where those of backward sit.

A backward hook of a module sits on two nodes: one around its outputs and one around its inputs.  The node of the
outputs runs first in backward: it calls the backward pre-hooks and keeps the gradients of the outputs.  The node of the
inputs runs when their gradients are there, and calls the hooks with both.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from ..arrays import errors
from ..autograd.function import Function
from ..tensor.grad_mode import mode
from ..tensor.node import RemovableHandle
from ..tensor.tensor import Tensor

if TYPE_CHECKING:
    from .module import Module

BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
)

BOTH_GLOBAL = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of "
    "them."
)

NO_INPUT = (
    "Full backward hook is firing when gradients are computed with respect to module outputs since no inputs require "
    "gradients. See "
    "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook "
    "for more details."
)
OLDER = "Using {} deprecated and will be removed in future versions. This hook will be missing some {}"
FULL = ". Please use register_full_backward_hook to get the documented behavior."
ONE = "non-full backward hooks on a Module that does not {} single Tensor or a tuple of Tensors is"

EVERYWHERE: dict[str, dict[int, Any]] = {
    "forward_pre": {}, "forward": {}, "backward_pre": {}, "backward": {}, "backward_older": {}, "with_kwargs": {},
    "always_called": {},
}  # fmt: skip
"""The hooks of all modules, which those of one module follow."""


class Handle(RemovableHandle):
    """The handle that a registration returns; removing it also forgets how the hook is called."""

    def __init__(self, hooks: dict[int, Any], hook: Any, *flags: dict[int, bool] | None, prepend: bool = False) -> None:
        super().__init__(hooks, hook)
        self.flags = [flag for flag in flags if flag is not None]
        for flag in self.flags:
            flag[self.id] = True
        if prepend:
            others = [key for key in hooks if key != self.id]
            for key in others:
                hooks[key] = hooks.pop(key)

    def remove(self) -> None:
        """Take the hook away."""
        super().remove()
        for flag in self.flags:
            flag.pop(self.id, None)


class Hooks:
    """The registering half of Module."""

    _forward_hooks: dict[int, Any]
    _forward_hooks_with_kwargs: dict[int, bool]
    _forward_hooks_always_called: dict[int, bool]
    _forward_pre_hooks: dict[int, Any]
    _forward_pre_hooks_with_kwargs: dict[int, bool]
    _backward_hooks: dict[int, Any]
    _backward_pre_hooks: dict[int, Any]
    _is_full_backward_hook: bool | None

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before every forward; its result replaces the arguments."""
        flag = self._forward_pre_hooks_with_kwargs if with_kwargs else None
        return Handle(self._forward_pre_hooks, hook, flag, prepend=prepend)

    def register_forward_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after every forward; its result replaces the output."""
        return Handle(
            self._forward_hooks, hook,
            self._forward_hooks_with_kwargs if with_kwargs else None,
            self._forward_hooks_always_called if always_call else None,
            prepend=prepend,
        )  # fmt: skip

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` of the node that made the output; deprecated, as in torch."""
        if self._is_full_backward_hook is True:
            raise errors.runtime(BOTH_KINDS)
        self._is_full_backward_hook = False
        return Handle(self._backward_hooks, hook)

    def register_full_backward_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are there."""
        if self._is_full_backward_hook is False:
            raise errors.runtime(BOTH_KINDS)
        self._is_full_backward_hook = True
        return Handle(self._backward_hooks, hook, prepend=prepend)

    def register_full_backward_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> RemovableHandle:
        """Call `hook(module, grad_output)` when the gradients of the outputs are there; its result replaces them."""
        return Handle(self._backward_pre_hooks, hook, prepend=prepend)


class BackwardHookFunction(Function):
    """Tensors as they are, behind one node.  The name is torch's."""

    @staticmethod
    def forward(ctx: Any, *args: Any) -> Any:
        """The arguments; those without gradient stay without."""
        ctx.mark_non_differentiable(*[arg for arg in args if not arg.requires_grad])
        return args

    @staticmethod
    def backward(ctx: Any, *args: Any) -> Any:
        """The gradients as they are."""
        return args


class Boundary:
    """The two nodes of one call of a module."""

    def __init__(self, module: Any, hooks: Sequence[Callable[..., Any]], early: Sequence[Callable[..., Any]]) -> None:
        self.module = module
        self.hooks = hooks
        self.early = early
        self.received: Any = None  # what the outputs received, from their node to that of the inputs
        self.inputs: list[int] | None = None
        self.count = 0

    def enter(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments behind a node, where one of them requires grad."""
        args, self.inputs = self._wrapped(args, self._inputs_ran)
        self.count = len(args)
        return args

    def leave(self, result: Any) -> Any:
        """The result behind a node, where a tensor of it requires grad."""
        several = isinstance(result, tuple)
        parts = result if several else (result,)
        places: list[int] = []

        def ran(_: Any, grad_outputs: Any) -> Any:
            return self._outputs_ran(grad_outputs, places, len(parts))

        wrapped, positions = self._wrapped(parts, ran)
        places.extend(positions or ())
        return wrapped if several else wrapped[0]

    def _wrapped(self, parts: tuple[Any, ...], hook: Callable[..., Any]) -> tuple[tuple[Any, ...], list[int] | None]:
        places = [place for place, part in enumerate(parts) if isinstance(part, Tensor)]
        if not mode.enabled or not any(parts[place].requires_grad for place in places):
            return parts, None
        wrapped = BackwardHookFunction.apply(*(parts[place] for place in places))
        next(tensor.grad_fn for tensor in wrapped if tensor.grad_fn is not None).register_hook(hook)
        items = list(parts)
        for place, tensor in zip(places, wrapped, strict=True):
            items[place] = tensor
        kind = type(parts)
        return (tuple(items) if kind is tuple else kind(*items)), places

    def _outputs_ran(self, grad_outputs: Any, places: list[int], count: int) -> Any:
        """The gradients of the outputs are there."""
        received = _spread(grad_outputs, places, count)
        for hook in self.early:
            changed = hook(self.module, received)
            if changed is None:
                continue
            if len(changed) != count:
                raise errors.runtime(
                    f"Backward pre hook returned an invalid number of grad_output, got {len(changed)}, but expected "
                    f"{count}"
                )
            received = changed
        self.received = received
        if self.inputs is None:
            self._without_inputs()
        return tuple(received[place] for place in places)

    def _without_inputs(self) -> None:
        """No input requires grad: the hooks are called here, with nothing for the inputs."""
        warnings.warn(NO_INPUT, stacklevel=4)
        nothing = (None,) * self.count
        for hook in self.hooks:
            changed = hook(self.module, nothing, self.received)
            if changed is not None and not (isinstance(changed, tuple) and all(part is None for part in changed)):
                raise errors.runtime(
                    "Backward hook for Modules where no input requires gradient should always return None or None for "
                    "all gradients."
                )
        self.received = None

    def _inputs_ran(self, grad_inputs: Any, _: Any) -> Any:
        """The gradients of the inputs are there."""
        if self.received is None:  # a gradient that came past the outputs
            return None
        assert self.inputs is not None
        gradients = _spread(grad_inputs, self.inputs, self.count)
        for hook in self.hooks:
            changed = hook(self.module, gradients, self.received)
            if changed is None:
                continue
            if len(changed) != len(gradients):
                raise errors.runtime(
                    f"Backward hook returned an invalid number of grad_input, got {len(changed)}, but expected "
                    f"{len(gradients)}"
                )
            gradients = changed
        self.received = None
        return tuple(gradients[place] for place in self.inputs)


def _spread(values: Any, places: list[int], count: int) -> tuple[Any, ...]:
    """Values at their places among `count`, None elsewhere."""
    result: list[Any] = [None] * count
    for place, value in zip(places, values, strict=True):
        result[place] = value
    return tuple(result)


def on_node(module: Any, hooks: Sequence[Callable[..., Any]], args: Any, result: Any) -> None:
    """The older backward hooks: on the node of the first tensor of the result, whatever that node is."""
    tensor = result
    while not isinstance(tensor, Tensor):
        tensor = next(v for v in tensor.values() if isinstance(v, Tensor)) if isinstance(tensor, dict) else tensor[0]
    node = tensor.grad_fn
    if node is None:
        return
    for hook in hooks:
        node.register_hook(lambda inner, outer, hook=hook: hook(module, inner, outer))
    text = _what_is_missed(node, args, result)
    if text is not None:
        warnings.warn(OLDER.format(*text), FutureWarning, stacklevel=5)


def _what_is_missed(node: Any, args: Any, result: Any) -> tuple[str, str] | None:
    """Choose the words of torch's warning about a module for which the older hooks do not see all gradients."""
    outputs = (result,) if isinstance(result, Tensor) else result
    if not (isinstance(outputs, tuple) and all(isinstance(o, Tensor) for o in outputs)):
        return ONE.format("return a"), "of the grad_output" + FULL
    if not all(isinstance(a, Tensor) for a in args):
        return ONE.format("take as input a"), "of the grad_input" + FULL
    nodes = {id(o.grad_fn): o.grad_fn for o in outputs if o.grad_fn is not None}
    if not nodes or (len(nodes) == 1 and id(node) not in nodes):
        return "a non-full backward hook when outputs are nested in python data structure is", "grad_output."
    if len(nodes) > 1:
        return (
            "a non-full backward hook when outputs are generated by different autograd Nodes is",
            "grad_output" + FULL,
        )
    if {id(a.grad_fn) for a in args if a.grad_fn is not None} != {id(n) for n, _ in node.next_functions}:
        return "a non-full backward hook when the forward contains multiple autograd Nodes is", "grad_input" + FULL
    return None


def any_hooks(module: Hooks) -> bool:
    """Return whether a call of the module runs hooks besides its forward."""
    return bool(
        module._forward_hooks
        or module._forward_pre_hooks
        or module._backward_hooks
        or module._backward_pre_hooks
        or EVERYWHERE["forward"]
        or EVERYWHERE["forward_pre"]
        or EVERYWHERE["backward"]
        or EVERYWHERE["backward_older"]
        or EVERYWHERE["backward_pre"]
    )


def call_with_hooks(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the hooks before, the forward, and the hooks after; as torch orders them."""
    called: set[int] = set()
    result = None
    try:
        args, kwargs = _before(module, args, kwargs)
        boundary = None
        own = list(module._backward_hooks.values())
        newer = module._is_full_backward_hook is not False
        full = [*EVERYWHERE["backward"].values(), *(own if newer else ())]
        early = [*EVERYWHERE["backward_pre"].values(), *module._backward_pre_hooks.values()]
        if full or early:
            boundary = Boundary(module, full, early)
            args = boundary.enter(args)
        result = module.forward(*args, **kwargs)
        for number, hook in [*EVERYWHERE["forward"].items(), *module._forward_hooks.items()]:
            called.add(number)
            changed = _after(module, number, hook, args, kwargs, result)
            if changed is not None:
                result = changed
        if boundary is not None:
            if not isinstance(result, (Tensor, tuple)):
                warnings.warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(result)}",
                    stacklevel=3,
                )
            result = boundary.leave(result)
        older = [*EVERYWHERE["backward_older"].values(), *(() if newer else own)]
        if older:
            on_node(module, older, args, result)
    except Exception:
        _always(module, called, args, kwargs, result)
        raise
    return result


def _before(module: Module, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    for number, hook in [*EVERYWHERE["forward_pre"].items(), *module._forward_pre_hooks.items()]:
        if number in module._forward_pre_hooks_with_kwargs:
            changed = hook(module, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise errors.runtime(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        else:
            changed = hook(module, args)
            if changed is not None:
                args = changed if isinstance(changed, tuple) else (changed,)
    return args, kwargs


def _after(module: Module, number: int, hook: Any, args: Any, kwargs: Any, result: Any) -> Any:
    if number in module._forward_hooks_with_kwargs or number in EVERYWHERE["with_kwargs"]:
        return hook(module, args, kwargs, result)
    return hook(module, args, result)


def _always(module: Module, called: set[int], args: Any, kwargs: Any, result: Any) -> None:
    """Hooks that run though the forward raised; an error of theirs becomes a warning."""
    for number, hook in [*EVERYWHERE["forward"].items(), *module._forward_hooks.items()]:
        always = number in module._forward_hooks_always_called or number in EVERYWHERE["always_called"]
        if not always or number in called:
            continue
        try:
            changed = _after(module, number, hook, args, kwargs, result)
            result = result if changed is None else changed
        except Exception as error:  # noqa: BLE001 (any error of the user's hook; the forward's own goes on)
            where = "global module" if number in EVERYWHERE["forward"] else "module"
            warnings.warn(
                f"{where} forward hook with ``always_call=True`` raised an exception that was silenced as another "
                f"error was raised in forward: {error!s}",
                stacklevel=4,
            )


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module.

    >>> import engine as torch
    >>> handle = torch.nn.modules.module.register_module_forward_pre_hook(lambda module, args: (2 * args[0],))
    >>> torch.nn.ReLU()(torch.tensor(1.0))
    tensor(2.)
    >>> handle.remove()
    """
    return Handle(EVERYWHERE["forward_pre"], hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, output)` after the forward of every module.

    >>> import engine as torch
    >>> handle = torch.nn.modules.module.register_module_forward_hook(lambda module, args, output: 2 * output)
    >>> torch.nn.ReLU()(torch.tensor(1.0))
    tensor(2.)
    >>> handle.remove()
    """
    return Handle(
        EVERYWHERE["forward"], hook,
        EVERYWHERE["with_kwargs"] if with_kwargs else None,
        EVERYWHERE["always_called"] if always_call else None,
    )  # fmt: skip


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` of the node that made the output of every module; deprecated."""
    if EVERYWHERE["backward"]:
        raise errors.runtime(BOTH_GLOBAL)
    return Handle(EVERYWHERE["backward_older"], hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` for every module.

    >>> import engine as torch
    >>> hook = torch.nn.modules.module.register_module_full_backward_hook
    >>> handle, x = hook(lambda module, inner, outer: print(outer)), torch.tensor(1.0, requires_grad=True)
    >>> torch.nn.ReLU()(x).backward()
    (tensor(1.),)
    >>> handle.remove()
    """
    if EVERYWHERE["backward_older"]:
        raise errors.runtime(BOTH_GLOBAL)
    return Handle(EVERYWHERE["backward"], hook)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` for every module.

    >>> import engine as torch
    >>> hook = torch.nn.modules.module.register_module_full_backward_pre_hook
    >>> handle, x = hook(lambda module, outer: print(outer)), torch.tensor(1.0, requires_grad=True)
    >>> torch.nn.ReLU()(x).backward()
    (tensor(1.),)
    >>> handle.remove()
    """
    return Handle(EVERYWHERE["backward_pre"], hook)
