"""Module: it owns parameters, buffers and other modules, and can be called."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

from ..api.calls.check import typename
from ..api.inplace.inplace import set_data
from ..arrays import errors
from ..arrays.array import dtype
from ..arrays.session import slot
from ..tensor.grad_mode import no_grad
from ..tensor.tensor import Tensor
from ..trace.module_names import BUFFERS
from .hooks import (
    Hooks,
    any_hooks,
    call_with_hooks,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from .parameter import Buffer, Parameter
from .state import StateDictMethods

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
]


class Module(Hooks, StateDictMethods):
    """The base of layers and networks: a subclass assigns parameters and modules in `__init__`, and has a `forward`.

    Source: torch.nn.Module.

    >>> import engine as torch
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.factor = Parameter(torch.tensor(2.0))
    ...
    ...     def forward(self, x):
    ...         return x * self.factor
    >>> Scale()(torch.tensor([1.0, 3.0])), [name for name, _ in Scale().named_parameters()]
    (tensor([2., 6.], grad_fn=<MulBackward0>), ['factor'])
    """

    training: bool
    call_super_init = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kind = type(self).__name__
        if not self.call_super_init and kwargs:
            raise TypeError(f"{kind}.__init__() got an unexpected keyword argument '{next(iter(kwargs))}'")
        if not self.call_super_init and args:
            raise TypeError(f"{kind}.__init__() takes 1 positional argument but {len(args) + 1} were given")
        self.__dict__.update(
            training=True, _parameters={}, _buffers={}, _non_persistent_buffers_set=set(), _modules={},
            _forward_hooks={}, _forward_hooks_with_kwargs={}, _forward_hooks_always_called={}, _forward_pre_hooks={},
            _forward_pre_hooks_with_kwargs={}, _backward_hooks={}, _backward_pre_hooks={}, _is_full_backward_hook=None,
            _state_dict_hooks={}, _state_dict_pre_hooks={}, _load_state_dict_pre_hooks={},
            _load_state_dict_post_hooks={},
        )  # fmt: skip
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    # -- calls ----------------------------------------------------------------------------------------------------

    def forward(self, *input: Any, **kwargs: Any) -> Any:
        """The computation of the module; a subclass defines it."""
        raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if slot.active is None:
            return call_with_hooks(self, args, kwargs) if any_hooks(self) else self.forward(*args, **kwargs)
        with slot.active.enter_module(self):
            return call_with_hooks(self, args, kwargs) if any_hooks(self) else self.forward(*args, **kwargs)

    # -- attributes -----------------------------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        for kind in ("_parameters", "_buffers", "_modules"):
            if kind in own and name in own[kind]:
                return own[kind][name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'", name=name, obj=self)

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if isinstance(value, Parameter):
            if "_parameters" not in own:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, but="_parameters")
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in own:
                raise AttributeError("cannot assign module before Module.__init__() call")
            if name in self._parameters:
                self._refuse(value, f"as parameter '{name}' (torch.nn.Parameter or None expected)")
            self._forget(name, but="_modules")
            self._modules[name] = value
        elif name in own.get("_parameters", ()):
            if value is not None:
                self._refuse(value, f"as parameter '{name}' (torch.nn.Parameter or None expected)")
            self.register_parameter(name, value)
        elif name in own.get("_modules", ()):
            if value is not None:
                self._refuse(value, f"as child module '{name}' (torch.nn.Module or None expected)")
            self._modules[name] = value
        elif isinstance(value, Buffer) or name in own.get("_buffers", ()):
            if value is not None and not isinstance(value, Tensor):
                self._refuse(value, f"as buffer '{name}' (torch.nn.Buffer, torch.Tensor or None expected)")
            persistent = value.persistent if isinstance(value, Buffer) else name not in self._non_persistent_buffers_set
            self.register_buffer(name, value, persistent)
        else:
            object.__setattr__(self, name, value)

    @staticmethod
    def _refuse(value: Any, what: str) -> None:
        raise TypeError(f"cannot assign '{typename(value)}' {what}")

    def _forget(self, name: str, but: str) -> None:
        """Let a name go, wherever it stands, before it names something of another kind."""
        self.__dict__.pop(name, None)
        for kind in {"_parameters", "_buffers", "_modules"} - {but}:
            self.__dict__[kind].pop(name, None)
        self._non_persistent_buffers_set.discard(name)

    def __delattr__(self, name: str) -> None:
        for kind in (self._parameters, self._buffers, self._modules):
            if name in kind:
                del kind[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = [*dir(type(self)), *self.__dict__, *self._parameters, *self._modules, *self._buffers]
        return sorted(name for name in names if not name[0].isdigit())

    def _named(self, kind: str, name: Any, members: Any) -> None:
        """torch's checks of a name that is to be registered."""
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {typename(name)}")
        if kind == "module":
            if hasattr(self, name) and name not in members:
                raise KeyError(f"attribute '{name}' already exists")
            if "." in name:
                raise KeyError(f'module name can\'t contain ".", got: {name}')
        elif "." in name:
            raise KeyError(f'{kind} name can\'t contain "."')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in members:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Any) -> None:
        """Register a parameter under a name."""
        if "_parameters" not in self.__dict__:
            raise AttributeError("cannot assign parameter before Module.__init__() call")
        self._named("parameter", name, self._parameters)
        if not isinstance(param, (Parameter, type(None))):
            self._refuse(param, f"object to parameter '{name}' (torch.nn.Parameter or None required)")
        if param is not None and param._node is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be created explicitly. To "
                f"express '{name}' as a function of another Tensor, compute the value in the forward() method."
            )
        self._parameters[name] = param

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Register a tensor that is not a parameter; `persistent=False` keeps it out of the state_dict."""
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        self._named("buffer", name, self._buffers)
        if not isinstance(tensor, (Tensor, type(None))):
            self._refuse(tensor, f"object to buffer '{name}' (torch Tensor or None required)")
        self._buffers[name] = tensor
        BUFFERS.add(id(tensor))
        (self._non_persistent_buffers_set.discard if persistent else self._non_persistent_buffers_set.add)(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Register a module under a name."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{typename(module)} is not a Module subclass")
        self._named("module", name, self._modules)
        self._modules[name] = module

    register_module = add_module

    # -- what there is --------------------------------------------------------------------------------------------

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all in it, with their qualified names, each once."""
        memo = set() if memo is None else memo
        if self in memo:
            return
        if remove_duplicate:
            memo.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                yield from module.named_modules(memo, f"{prefix}.{name}" if prefix else name, remove_duplicate)

    def modules(self) -> Iterator[Module]:
        """This module and all in it, each once."""
        return (module for _, module in self.named_modules())

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The modules directly in this one, with their names."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def children(self) -> Iterator[Module]:
        """The modules directly in this one."""
        return (module for _, module in self.named_children())

    def _members(self, kind: str, prefix: str, recurse: bool, remove_duplicate: bool) -> Iterator[tuple[str, Any]]:
        seen = set()
        modules = self.named_modules(None, prefix, remove_duplicate) if recurse else [(prefix, self)]
        for start, module in modules:
            for name, member in module.__dict__[kind].items():
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield (f"{start}.{name}" if start else name), member

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their qualified names."""
        return self._members("_parameters", prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (parameter for _, parameter in self.named_parameters(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their qualified names."""
        return self._members("_buffers", prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        return (buffer for _, buffer in self.named_buffers(recurse=recurse))

    def get_submodule(self, target: str) -> Module:
        """The module of a qualified name."""
        module: Any = self
        for name in target.split(".") if target else ():
            if not hasattr(module, name):
                raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
            module = getattr(module, name)
            if not isinstance(module, Module):
                raise AttributeError(f"`{name}` is not an nn.Module")
        return module

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Replace the module with a qualified name."""
        if target == "":
            raise ValueError("Cannot set the submodule without a target name!")
        if not isinstance(module, Module):
            raise ValueError(f"`module` is not an nn.Module, found {type(module)}")
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if strict and not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        if hasattr(owner, name) and not isinstance(getattr(owner, name), Module):
            raise AttributeError(f"`{name}` is not an nn.Module")
        setattr(owner, name, module)

    def _member(self, target: str, kind: type, what: str) -> Any:
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        member = getattr(owner, name)
        if name not in owner._buffers if kind is Tensor else not isinstance(member, kind):
            raise AttributeError(f"`{name}` is not {what}")
        return member

    def get_parameter(self, target: str) -> Parameter:
        """The parameter of a qualified name."""
        return self._member(target, Parameter, "an nn.Parameter")

    def get_buffer(self, target: str) -> Tensor:
        """The buffer of a qualified name; None for one that is registered without a tensor."""
        return self._member(target, Tensor, "a buffer")

    # -- what is done to all --------------------------------------------------------------------------------------

    def apply(self, fn: Callable[[Module], Any]) -> Self:
        """Call `fn` with every module inside, then with this one."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    def train(self, mode: bool = True) -> Self:
        """Switch to training (or, with False, evaluation), which affects dropout and batch norm."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Self:
        """Switch to evaluation."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Self:
        """Set `requires_grad` of all parameters."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero."""
        for parameter in self.parameters():
            grad = parameter._grad
            if grad is None:
                continue
            if set_to_none:
                parameter.grad = None
            else:
                grad.detach_() if grad._node is not None else grad.requires_grad_(False)
                grad.zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Self:
        """Replace the elements of every parameter, its gradient, and every buffer by what `fn` makes of them."""
        if recurse:
            for module in self.children():
                module._apply(fn)
        for parameter in self._parameters.values():
            if parameter is None:
                continue
            _converted(parameter, fn)
            if parameter._grad is not None:
                _converted(parameter._grad, fn)
        for name, buffer in self._buffers.items():
            if buffer is not None:
                with no_grad():
                    self._buffers[name] = fn(buffer)
                BUFFERS.add(id(self._buffers[name]))
        return self

    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move parameters and buffers to a device, floating ones to a dtype."""
        where, which = _device_and_dtype(*args, **kwargs)
        if which is not None and not which.is_floating_point:
            raise TypeError(
                f"nn.Module.to only accepts floating point or complex dtypes, but got desired dtype={which}"
            )
        return self._apply(lambda t: t.to(device=where, dtype=which if t.is_floating_point() else None))

    def float(self) -> Self:
        """Floating parameters and buffers in float32."""
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Floating parameters and buffers in float64."""
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Floating parameters and buffers in float16."""
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def type(self, dst_type: Any) -> Self:
        """All parameters and buffers in a dtype."""
        return self._apply(lambda t: t.type(dst_type))

    def cpu(self) -> Self:
        """Parameters and buffers in the host's memory."""
        return self._apply(lambda t: t.cpu())

    def cuda(self, device: Any = None) -> Self:
        """Parameters and buffers on the GPU."""
        return self._apply(lambda t: t.cuda(device))

    # -- shown ----------------------------------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """The part of the printed form about this module itself."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        own = extra.split("\n") if extra else []
        inner = [f"({name}): {indented(repr(module))}" for name, module in self._modules.items()]
        if not own and not inner:
            return f"{self._get_name()}()"
        if len(own) == 1 and not inner:
            return f"{self._get_name()}({own[0]})"
        return f"{self._get_name()}(\n  " + "\n  ".join(own + inner) + "\n)"


def indented(text: str, by: int = 2) -> str:
    """All lines but the first, moved to the right.

    >>> indented("a\\nb")
    'a\\n  b'
    """
    return text.replace("\n", "\n" + " " * by)


def _converted(tensor: Tensor, fn: Callable[[Tensor], Tensor]) -> None:
    with no_grad():
        result = fn(tensor)
    if result is not tensor:
        set_data(tensor, result)


def _device_and_dtype(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
    """(device, dtype) of the arguments of `to`: a device, a dtype, both, or a tensor that has them."""
    where, which = kwargs.pop("device", None), kwargs.pop("dtype", None)
    kwargs.pop("non_blocking", None)
    if kwargs:
        raise TypeError(f"to() got an unexpected keyword argument '{next(iter(kwargs))}'")
    for value in args:
        if isinstance(value, Tensor):
            where, which = value.device, value.dtype
        elif isinstance(value, dtype):
            which = value
        elif not isinstance(value, bool) and value is not None:
            where = value
    if where is None and which is None and not args:
        raise errors.runtime("to() received an invalid combination of arguments - got (), but expected one of:")
    return where, which
