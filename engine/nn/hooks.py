"""The hooks of modules: how they are registered, and how a call with hooks runs."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ..arrays import errors
from ..tensor.node import RemovableHandle
from ..tensor.tensor import Tensor
from .boundary import Boundary, on_node

if TYPE_CHECKING:
    from .module import Module

BOTH_KINDS = (
    "Cannot use both regular backward hooks and full backward hooks on a single Module. Please use only one of them."
)

BOTH_GLOBAL = (
    "Cannot use both regular backward hooks and full backward hooks as a global Module hook. Please use only one of "
    "them."
)

EVERYWHERE: dict[str, dict[int, Any]] = {
    "forward_pre": {}, "forward": {}, "backward_pre": {}, "backward": {}, "backward_older": {}, "with_kwargs": {},
    "always_called": {},
}  # fmt: skip
"""The hooks of all modules, which those of one module follow."""


class Handle(RemovableHandle):
    """What a registration returns; it also forgets how the hook is called."""

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


def any_hooks(module: Hooks) -> bool:
    """Whether a call of the module is more than its forward."""
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
        wanted = number in module._forward_hooks_always_called or number in EVERYWHERE["always_called"]
        if not wanted or number in called:
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
