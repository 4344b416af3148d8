"""The state of a module as a dict of tensors by qualified name: read from it, and written back into it."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..arrays import errors
from ..tensor.grad_mode import no_grad
from ..tensor.node import RemovableHandle
from ..tensor.tensor import Tensor
from .parameter import Parameter

if TYPE_CHECKING:
    pass

EXTRA = "_extra_state"
POSITIONAL = (
    "Positional args are being deprecated, use kwargs instead. Refer to "
    "https://pytorch.org/docs/main/generated/torch.nn.Module.html#torch.nn.Module.state_dict for details."
)


class StateDict(OrderedDict[str, Any]):
    """The result of `state_dict`: the tensors in the order of their registration, and the version of each module."""

    _metadata: OrderedDict[str, dict[str, Any]]

    def __repr__(self) -> str:
        return f"OrderedDict({list(self.items())})" if self else "OrderedDict()"


class Keys(NamedTuple):
    """The names that a loaded dict lacked, and those that it had too much."""

    missing_keys: list[str]
    unexpected_keys: list[str]

    def __repr__(self) -> str:
        if not self.missing_keys and not self.unexpected_keys:
            return "<All keys matched successfully>"
        return f"_IncompatibleKeys(missing_keys={self.missing_keys!r}, unexpected_keys={self.unexpected_keys!r})"

    def __str__(self) -> str:
        return repr(self)


def without_prefix(state_dict: dict[str, Any], prefix: str) -> None:
    """Take a prefix off the names of a state, in place: `module.` of one that was trained in parallel.

    Source: torch.nn.modules.utils.consume_prefix_in_state_dict_if_present.

    >>> state = {"module.weight": 1, "bias": 2}
    >>> without_prefix(state, "module.")
    >>> sorted(state)
    ['bias', 'weight']
    """
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key and (key == prefix.replace(".", "") or key.startswith(prefix)):
            metadata[key[len(prefix) :]] = metadata.pop(key)


class StateLoad:
    """One call of load_state_dict: what it was told, and what it found."""

    def __init__(self, state: Mapping[str, Any], metadata: Any, strict: bool, assign: bool) -> None:
        self.state = state
        self.metadata = metadata
        self.strict = strict
        self.assign = assign
        self.missing: list[str] = []
        self.unexpected: list[str] = []
        self.messages: list[str] = []

    def module(self, module: Any, state: dict[str, Any], prefix: str) -> None:
        """Load into a module and all in it."""
        local = {} if self.metadata is None else self.metadata.get(prefix[:-1], {})
        if self.assign:
            local["assign_to_params_buffers"] = True
        module._load_from_state_dict(state, prefix, local, True, self.missing, self.unexpected, self.messages)
        for name, inner in module._modules.items():
            if inner is not None:
                start = f"{prefix}{name}."
                self.module(inner, {k: v for k, v in state.items() if k.startswith(start)}, start)
        for hook in module._load_state_dict_post_hooks.values():
            if hook(module, Keys(self.missing, self.unexpected)) is not None:
                raise AssertionError(
                    "Hooks registered with ``register_load_state_dict_post_hook`` are not expected to return new "
                    "values, if incompatible_keys need to be modified, it should be done inplace."
                )

    def complaints(self) -> list[str]:
        """Everything that did not fit, in torch's order."""
        result = []
        if self.strict:
            for words, keys in (("Missing", self.missing), ("Unexpected", self.unexpected)):
                if keys:
                    names = ", ".join(f'"{key}"' for key in keys)
                    result.append(f"{words} key(s) in state_dict: {names}. ")
        return result + self.messages


class StateDictMethods:
    """The half of Module that reads and writes its state."""

    _version = 1
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _state_dict_hooks: dict[int, Any]
    _state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_pre_hooks: dict[int, Any]
    _load_state_dict_post_hooks: dict[int, Any]

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """Parameters and persistent buffers by qualified name: the tensors themselves, detached unless `keep_vars`."""
        if args:
            warnings.warn(POSITIONAL, FutureWarning, stacklevel=2)
            destination = args[0] if destination is None else destination
            prefix = args[1] if len(args) > 1 and prefix == "" else prefix
            keep_vars = args[2] if len(args) > 2 and keep_vars is False else keep_vars
        if destination is None:
            destination = StateDict()
            destination._metadata = OrderedDict()
        local = {"version": self._version}
        if hasattr(destination, "_metadata"):
            destination._metadata[prefix[:-1]] = local
        for hook in self._state_dict_pre_hooks.values():
            hook(self, prefix, keep_vars)
        self._save_to_state_dict(destination, prefix, keep_vars)
        for name, module in self._modules.items():
            if module is not None:
                module.state_dict(destination=destination, prefix=f"{prefix}{name}.", keep_vars=keep_vars)
        for hook, public in self._state_dict_hooks.values():
            changed = hook(self, destination, prefix, local)
            if public and changed is not None:
                raise errors.runtime("state_dict post-hook must return None")
            destination = destination if changed is None else changed
        return destination

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the state of this module alone into `destination`."""
        buffers = [(n, v) for n, v in self._buffers.items() if n not in self._non_persistent_buffers_set]
        for name, value in [*self._parameters.items(), *buffers]:
            if value is not None:
                destination[prefix + name] = value if keep_vars else value.detach()
        if type(self).get_extra_state is not StateDictMethods.get_extra_state:
            destination[prefix + EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """State beside tensors, of a subclass that has one."""
        raise errors.runtime(
            "Reached a code path in Module.get_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
        )

    def set_extra_state(self, state: Any) -> None:
        """Load the result of `get_extra_state`."""
        raise errors.runtime(
            "Reached a code path in Module.set_extra_state() that should never be called. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues/new?template=bug-report.yml to report this bug."
        )

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Keys:
        """Write the tensors of `state_dict` into those of the same names.

        Raises RuntimeError that lists what is missing, unexpected or of another size (`strict=False` keeps the last).
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"Expected state_dict to be dict-like, got {type(state_dict)}.")
        loading = StateLoad(state_dict, getattr(state_dict, "_metadata", None), strict, assign)
        loading.module(self, dict(state_dict), "")
        complaints = loading.complaints()
        if complaints:
            text = "\n\t".join(complaints)
            raise errors.runtime(f"Error(s) in loading state_dict for {type(self).__name__}:\n\t{text}")
        return Keys(loading.missing, loading.unexpected)

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], strict: bool,
        missing_keys: list[str], unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        """Load this module alone; what does not fit is added to the three lists."""
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        buffers = {n: v for n, v in self._buffers.items() if n not in self._non_persistent_buffers_set}
        own = {n: v for n, v in {**self._parameters, **buffers}.items() if v is not None}
        for name, mine in own.items():
            key = prefix + name
            if key in state_dict:
                complaint = self._load_one(name, key, mine, state_dict[key], local_metadata)
                if complaint:
                    error_msgs.append(complaint)
            elif strict:
                missing_keys.append(key)
        extra = prefix + EXTRA
        if type(self).set_extra_state is not StateDictMethods.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key.startswith(prefix) and key != extra:
                    first, *rest = key[len(prefix) :].split(".", 1)
                    if first not in (self._modules if rest else own):
                        unexpected_keys.append(key)

    def _load_one(self, name: str, key: str, mine: Tensor, value: Any, local: dict[str, Any]) -> str | None:
        """Write one tensor; the complaint where it does not fit."""
        if not isinstance(value, Tensor):
            return (
                f'While copying the parameter named "{key}", expected torch.Tensor or Tensor-like object from '
                f"checkpoint but received {type(value)}"
            )
        if mine.dim() == 0 and tuple(value.shape) == (1,):
            value = value[0]
        if value.shape != mine.shape:
            return (
                f"size mismatch for {key}: copying a param with shape {value.shape} from checkpoint, the shape in "
                f"current model is {mine.shape}."
            )
        try:
            if local.get("assign_to_params_buffers", False):
                if isinstance(mine, Parameter):
                    if isinstance(value, Parameter):
                        value.requires_grad_(mine.requires_grad)
                    else:
                        value = Parameter(value, requires_grad=mine.requires_grad)
                setattr(self, name, value)
            else:
                with no_grad():
                    mine.copy_(value)
        except Exception as error:  # noqa: BLE001 (torch reports whatever a copy raises together with the rest)
            return (
                f'While copying the parameter named "{key}", whose dimensions in the model are {mine.size()} and whose '
                f"dimensions in the checkpoint are {value.size()}, an exception occurred : {error.args}."
            )
        return None

    # -- hooks ----------------------------------------------------------------------------------------------------

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, prefix, keep_vars)` before the state is read."""
        return RemovableHandle(self._state_dict_pre_hooks, hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, local_metadata)` after the state was read; it changes it in place."""
        return RemovableHandle(self._state_dict_hooks, (hook, True))

    def _register_state_dict_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        return RemovableHandle(self._state_dict_hooks, (hook, False))

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, state_dict, prefix, ...)` before a module is loaded."""

        def with_module(*args: Any) -> Any:
            return hook(self, *args)

        return RemovableHandle(self._load_state_dict_pre_hooks, with_module)

    def _register_load_state_dict_pre_hook(
        self, hook: Callable[..., Any], with_module: bool = False
    ) -> RemovableHandle:
        if with_module:
            return self.register_load_state_dict_pre_hook(hook)
        return RemovableHandle(self._load_state_dict_pre_hooks, hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, incompatible_keys)` after a module was loaded; it changes the lists in place."""
        return RemovableHandle(self._load_state_dict_post_hooks, hook)
