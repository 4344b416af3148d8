"""The base of all optimisers: groups of parameters with their options, a state per parameter, and a step."""

from __future__ import annotations

import copy
import functools
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from ..api.calls.check import typename
from ..api.creation.creation import tensor
from ..arrays import array as arrays
from ..arrays import errors
from ..arrays.session import slot, unrecorded
from ..tensor.grad_mode import enable_grad, set_grad_enabled
from ..tensor.node import RemovableHandle
from ..tensor.tensor import Tensor
from ..trace.events import STEP
from ..trace.module_names import begun_after_closure

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

Group = dict[str, Any]
State = dict[str, Any]
BEFORE: dict[int, Any] = {}
AFTER: dict[int, Any] = {}

DUPLICATES = (
    "optimizer contains a parameter group with duplicate parameters; in future, this will cause an error; see "
    "github.com/pytorch/pytorch/issues/40967 for more information"
)


class _RequiredOption:
    """The default of an option that has none."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredOption()


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """A step that runs the hooks around it, and is known to a scheduler and to a recording."""

    @functools.wraps(step)
    def hooked(*args: Any, **kwargs: Any) -> Any:
        self, *_ = args
        if "_opt_called" in self.__dict__:
            self._opt_called = True
        for hook in [*BEFORE.values(), *self._optimizer_step_pre_hooks.values()]:
            changed = hook(self, args, kwargs)
            if changed is None:
                continue
            if not (isinstance(changed, tuple) and len(changed) == 2):
                raise errors.runtime(
                    f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                )
            args, kwargs = changed
        if (active := slot.active) is None:
            out = step(*args, **kwargs)
        else:
            with ExitStack() as group:

                def begin() -> None:
                    kind, tensors = type(self).__name__ + STEP, active.names.held_by(self)
                    group.enter_context(active.within(kind, tensors=tensors, rate=active.names.rate_of(self)))

                args, kwargs = begun_after_closure(args, kwargs, begin)
                out = step(*args, **kwargs)
        for hook in [*self._optimizer_step_post_hooks.values(), *AFTER.values()]:
            hook(self, args, kwargs)
        if slot.stepped is not None:
            slot.stepped(self)
        return out

    hooked._wrapped_by_lr_sched = True  # type: ignore[attr-defined]  # torch marks it so
    return hooked


class Optimizer:
    """The base of the optimisers: a subclass defines the state of a parameter (`_begin`) and how to update one.

    `params` are tensors, dicts with options of their own, or pairs (name, tensor).

    Raises TypeError for a tensor in place of a list, ValueError for no parameters, or ones that are no leaves.
    Source: torch.optim.Optimizer.

    >>> import engine as torch
    >>> w = torch.tensor([1.0], requires_grad=True)
    >>> isinstance(torch.optim.SGD([w], lr=0.1), torch.optim.Optimizer)
    True
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self.state: defaultdict[Any, State] = defaultdict(dict)
        self.param_groups: list[Group] = []
        for name in ("step_pre", "step_post", "state_dict_pre", "state_dict_post", "load_pre", "load_post"):
            self.__dict__[f"_optimizer_{name}_hooks"] = {}
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def __init_subclass__(cls) -> None:
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.__dict__["step"])  # type: ignore[method-assign]  # with the hooks around it

    def __repr__(self) -> str:
        text = f"{type(self).__name__} ("
        for number, group in enumerate(self.param_groups):
            lines = [f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params"]
            text += f"\nParameter Group {number}\n" + "".join(lines)
        return text + ")"

    # -- groups ---------------------------------------------------------------------------------------------------

    def add_param_group(self, param_group: Group) -> None:
        """Add parameters with their own options."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        tensors = param_group["params"]
        if isinstance(tensors, set):
            raise TypeError(
                "optimizer parameters need to be organized in ordered collections, but the ordering of tensors in sets "
                "will change between runs. Please use a list instead."
            )
        entries = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        names = [pair[0] for pair in entries if isinstance(pair, tuple)]
        params = [p[1] if isinstance(p, tuple) else p for p in entries]
        param_group["params"] = params
        if names:
            if len(names) != len(params):
                raise ValueError("all optimizer params should be with/without names. Some param names are missing")
            param_group["param_names"] = names
        for param in params:
            self._check(param)
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"parameter group didn't specify a value of required optimization parameter {name}")
            param_group.setdefault(name, default)
        if len(params) != len(set(params)):
            warnings.warn(DUPLICATES, stacklevel=3)
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with names" if "param_names" in param_group else "without names"
                raise ValueError(
                    "all optimizer param groups should be with/without names. cannot add param group "
                    f"{kind} to the optimizer"
                )
        other_params = {param for group in self.param_groups for param in group["params"]}
        if not other_params.isdisjoint(params):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def _check(self, param: Any) -> None:
        if not isinstance(param, Tensor):
            raise TypeError(f"optimizer can only optimize Tensors, but one of the params is {typename(param)}")
        if not self.defaults.get("differentiable", None) and not (param.is_leaf or param.retains_grad):
            raise ValueError("can't optimize a non-leaf Tensor")

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Set the gradients of all parameters to None, or to zero."""
        for group in self.param_groups:
            for param in group["params"]:
                grad = param._grad
                if grad is None:
                    continue
                if set_to_none:
                    param.grad = None
                else:
                    grad.detach_() if grad._node is not None else grad.requires_grad_(False)
                    grad.zero_()

    # -- steps ----------------------------------------------------------------------------------------------------

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Update every parameter that has a gradient; `closure` computes the loss again, which is then returned."""
        if not hasattr(self, "_update"):
            raise NotImplementedError
        with set_grad_enabled(bool(self.defaults.get("differentiable", False))):
            loss = None
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                for param in group["params"]:
                    grad = param._grad
                    if grad is None:
                        continue
                    if (active := slot.active) is None:
                        self._one(group, param, grad)
                    else:
                        with active.within(active.names.of(param)):
                            self._one(group, param, grad)
        return loss

    def _one(self, group: Group, param: Tensor, grad: Tensor) -> None:
        state = self.state.get(param, {})
        if not state:
            self._begin(group, param, state)
        self._update(group, param, -grad if group.get("maximize") else grad, state)
        if state:  # one that keeps nothing has no state
            self.state[param] = state

    if TYPE_CHECKING:  # what each optimiser of PyTorch's has; one of the user's own has a `step` instead

        def _update(self, group: Group, param: Tensor, grad: Tensor, state: State) -> None:
            """Update one parameter, under no_grad."""

    def _begin(self, group: Group, param: Tensor, state: State) -> None:
        """Fill the state of a parameter before its first update."""

    # -- state ----------------------------------------------------------------------------------------------------

    def state_dict(self) -> dict[str, Any]:
        """The state by the number of the parameter, and the groups with numbers instead of parameters."""
        for hook in self._hooks("state_dict_pre").values():
            hook(self)
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for number, param in enumerate(group["params"], start):
                numbers.setdefault(id(param), number)
            start += len(group["params"])
            packed = {key: value for key, value in group.items() if key != "params"}
            groups.append(packed | {"params": [numbers[id(param)] for param in group["params"]]})
        state = {(numbers[id(key)] if isinstance(key, Tensor) else key): value for key, value in self.state.items()}
        result = {"state": state, "param_groups": groups}
        for hook in self._hooks("state_dict_post").values():
            changed = hook(self, result)
            result = result if changed is None else changed
        return result

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load the result of `state_dict`; floating state gets the dtype and device of its parameter."""
        state_dict = state_dict.copy()
        for hook in self._hooks("load_pre").values():
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = copy.deepcopy(state_dict["param_groups"])
        if len(self.param_groups) != len(saved):
            raise ValueError("loaded state dict has a different number of parameter groups")
        pairs = list(zip(self.param_groups, saved, strict=True))
        if any(len(mine["params"]) != len(new["params"]) for mine, new in pairs):
            raise ValueError(
                "loaded state dict contains a parameter group that doesn't match the size of optimizer's group"
            )
        params = {
            number: param for mine, new in pairs for number, param in zip(new["params"], mine["params"], strict=True)
        }
        state: defaultdict[Any, State] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in params:
                state[params[key]] = _fitted(params[key], value)
            else:
                state[key] = value
        for mine, new in pairs:
            new["params"] = mine["params"]
            if "param_names" in mine:
                new.setdefault("param_names", mine["param_names"])
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in self._hooks("load_post").values():
            hook(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)

    # -- hooks ----------------------------------------------------------------------------------------------------

    def _hooks(self, kind: str) -> dict[int, Any]:
        hooks: dict[int, Any] = self.__dict__[f"_optimizer_{kind}_hooks"]
        return hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before every step."""
        return RemovableHandle(self._hooks("step_pre"), hook)

    def register_step_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after every step."""
        return RemovableHandle(self._hooks("step_post"), hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer)` before the state is read."""
        return RemovableHandle(self._hooks("state_dict_pre"), hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` after the state was read; its result replaces it."""
        return RemovableHandle(self._hooks("state_dict_post"), hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` before a state is loaded; its result replaces it."""
        return RemovableHandle(self._hooks("load_pre"), hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer)` after a state was loaded."""
        return RemovableHandle(self._hooks("load_post"), hook)


Optimizer.step = _with_hooks(Optimizer.step)  # type: ignore[method-assign]  # with the hooks around it


def _fitted(param: Tensor, value: Any, key: Any = None) -> Any:
    """Loaded state as the parameter is: its dtype and device, but for the count of steps."""
    if isinstance(value, Tensor):
        if key == "step":
            return value
        which = param.dtype if param.is_floating_point() else None
        return value.to(device=param.device, dtype=which)
    if isinstance(value, dict):
        return {name: _fitted(param, inner, name) for name, inner in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str):
        return type(value)(_fitted(param, inner) for inner in value)  # type: ignore[call-arg]  # list, tuple or set
    return value


# -- what the optimisers share ---------------------------------------------------------------------------------------


def counter(start: float = 0.0) -> Tensor:
    """A number that is kept as a tensor, as torch keeps it: a recording is not told of it."""
    with unrecorded():
        double = arrays.default_dtype is arrays.float64
        return tensor(start, dtype=arrays.float64 if double else arrays.float32)


def count_step(state: State, name: str = "step") -> float:
    """Count a step, and say how many there are.

    >>> count_step({"step": counter()})
    1.0
    """
    count = state[name]
    if not isinstance(count, Tensor):  # loaded from where it was a number
        count = state[name] = counter(float(count))
    return replaced(count, count._array + 1)


def replaced(count: Tensor, value: Any) -> float:
    """Give a counter another number, in an array of its own: what a recording holds of it stays."""
    count._array = arrays.as_array(value)
    return float(value)


def decayed(group: Group, param: Tensor, grad: Tensor, lr: float) -> Tensor:
    """The gradient with the weight decay in it; a decoupled one shrinks the parameter itself, before the step."""
    share = group["weight_decay"]
    if share and group["decoupled_weight_decay"]:
        param.mul_(1 - lr * share)
        return grad
    return grad.add(param, alpha=share) if share else grad


def number(value: Any) -> Any:
    """A learning rate as a number, though it may be given as a tensor."""
    return value.item() if isinstance(value, Tensor) else value


def check(lr: Any, **options: Any) -> None:
    """torch's checks of a learning rate and of options that may not be negative."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not 0.0 <= lr:  # noqa: SIM300  # in torch's order, which a TypeError names
        raise ValueError(f"Invalid learning rate: {lr}")
    for name, value in options.items():
        if not 0.0 <= value:  # noqa: SIM300  # likewise
            raise ValueError(f"Invalid {'epsilon' if name == 'eps' else name} value: {value}")


def check_betas(betas: Any) -> None:
    """torch's checks of the two rates of forgetting."""
    for place in (0, 1):
        if not 0.0 <= betas[place] < 1.0:
            raise ValueError(f"Invalid beta parameter at index {place}: {betas[place]}")


def check_fused(fused: Any, foreach: Any, differentiable: bool) -> None:
    """torch's refusals of ways to compute that exclude each other; here all are computed in one way."""
    if fused:
        if differentiable:
            raise errors.runtime("`fused` does not support `differentiable`")
        if foreach:
            raise errors.runtime("`fused` and `foreach` cannot be `True` together.")


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before a step of every optimiser; a pair that it returns replaces them.

    >>> handle = register_optimizer_step_pre_hook(lambda optimizer, args, kwargs: None)
    >>> handle.remove()
    """
    return RemovableHandle(BEFORE, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after a step of every optimiser."""
    return RemovableHandle(AFTER, hook)
