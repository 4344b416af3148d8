"""Weights that are computed from other tensors whenever they are asked for.  Source: torch.nn.utils.parametrize.

A parametrized module is of a class of its own, made for it, in which the weight's name is a property: reading it runs
the parametrizations on the original tensors, setting it runs their `right_inverse`.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from copy import deepcopy
from typing import Any

from ...api.inplace.inplace import set_data
from ...tensor.grad_mode import no_grad
from ...tensor.tensor import Tensor
from ..container import ModuleDict, ModuleList
from ..module import Module
from ..parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "transfer_parametrizations_and_params",
    "type_before_parametrizations",
]

NOT_SERIALISED = (
    "Serialization of parametrized modules is only supported through state_dict(). See:\n"
    "https://pytorch.org/tutorials/beginner/saving_loading_models.html"
    "#saving-loading-a-general-checkpoint-for-inference-and-or-resuming-training"
)
SEVERAL = (
    "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a sequence of "
    "tensors."
)


class _Cache:
    depth = 0
    weights: dict[tuple[int, str], Tensor] = {}  # noqa: RUF012 (replaced as a whole, never shared)


cache = _Cache()


@contextmanager
def cached() -> Iterator[None]:
    """Inside, a parametrized weight is computed once, however often it is read.

    Source: torch.nn.utils.parametrize.cached.

    >>> import engine as torch
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", torch.nn.Tanh())
    >>> with cached():
    ...     layer.weight is layer.weight
    True
    """
    cache.depth += 1
    try:
        yield
    finally:
        cache.depth -= 1
        if not cache.depth:
            cache.weights = {}


def _keep(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _kind(value: Any) -> str:
    return type(value).__name__


class ParametrizationList(ModuleList):
    """The parametrizations of one weight, and the tensors that it is computed from: `original`, or `original0` ...

    Source: torch.nn.utils.parametrize.ParametrizationList.

    >>> import engine as torch
    >>> layer = register_parametrization(torch.nn.Linear(2, 3), "weight", torch.nn.Tanh())
    >>> layer.parametrizations.weight.original.shape
    torch.Size([3, 2])
    """

    original: Tensor

    def __init__(self, modules: Sequence[Module], original: Tensor, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        new = self._undone(original)
        self.is_tensor = isinstance(new, Tensor)
        self.ntensors = 1 if self.is_tensor else len(new)
        if self.is_tensor:
            self._begin_with(original, new)
        else:
            self._begin_with_several(original, new)
        if not unsafe:
            self._check(shape, dtype)

    def _undone(self, original: Tensor) -> Any:
        """Compute the input from which the parametrizations make `original`, as far as each has a `right_inverse`."""
        new: Any = original
        with no_grad():
            for module in reversed(list(self)):
                if hasattr(module, "right_inverse"):
                    with suppress(NotImplementedError):  # then the weight begins with what comes of the tensor itself
                        new = module.right_inverse(new)
        if not isinstance(new, (Tensor, Sequence)):
            raise ValueError(
                f"'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got {_kind(new)}"
            )
        return new

    def _begin_with(self, original: Tensor, new: Tensor) -> None:
        for what in ("dtype", "device"):
            if getattr(original, what) != getattr(new, what):
                raise ValueError(
                    f"When `right_inverse` outputs one tensor, it may not change the {what}.\n"
                    f"original.{what}: {getattr(original, what)}\n"
                    f"right_inverse(original).{what}: {getattr(new, what)}"
                )
        if new is not original:
            set_data(original, new.detach())
        _keep(self, "original", original)

    def _begin_with_several(self, original: Tensor, new: Sequence[Any]) -> None:
        for place, tensor in enumerate(new):
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                    f"{place} of the sequence with type {_kind(tensor)}."
                )
            if isinstance(original, Parameter):
                tensor = Parameter(tensor, original.requires_grad)
            tensor.requires_grad_(original.requires_grad)
            _keep(self, f"original{place}", tensor)

    def _check(self, shape: Any, dtype: Any) -> None:
        """Raise torch's errors where the weight would be another kind of tensor than before."""
        result = self()
        if not isinstance(result, Tensor):
            raise ValueError(f"A parametrization must return a tensor. Got {_kind(result)}.")
        for what, before in (("dtype", dtype), ("shape", shape)):
            if getattr(result, what) != before:
                raise ValueError(
                    f"Registering a parametrization may not change the {what} of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized {what}: {before}\nparametrized {what}: {getattr(result, what)}"
                )

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the weight becomes `value`."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(f"parametrization {_kind(module)} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor:
                self._set(value)
            else:
                self._set_several(value)

    def _set(self, value: Any) -> None:
        if not isinstance(value, Tensor):
            raise ValueError(f"`right_inverse` should return a tensor. Got {_kind(value)}")
        if value.dtype != self.original.dtype:
            raise ValueError(
                f"The tensor returned by `right_inverse` has dtype {value.dtype} while `original` has dtype "
                f"{self.original.dtype}"
            )
        set_data(self.original, value.detach())

    def _set_several(self, value: Any) -> None:
        if not isinstance(value, Sequence):
            raise ValueError(f"'right_inverse' must return a sequence of tensors. Got {_kind(value)}.")
        if len(value) != self.ntensors:
            raise ValueError(
                f"'right_inverse' must return a sequence of tensors of length {self.ntensors}. Got a sequence of "
                f"length {len(value)}."
            )
        for place, tensor in enumerate(value):
            original = getattr(self, f"original{place}")
            if not isinstance(tensor, Tensor):
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors or reference-type opaques. Got element "
                    f"{place} of type {_kind(tensor)}."
                )
            if original.dtype != tensor.dtype:
                raise ValueError(
                    f"Tensor {place} returned by `right_inverse` has dtype {tensor.dtype} while `original{place}` has "
                    f"dtype {original.dtype}"
                )
            set_data(original, tensor.detach())

    def forward(self) -> Any:
        """The weight."""
        first, *others = list(self)
        names = ["original"] if self.is_tensor else [f"original{place}" for place in range(self.ntensors)]
        value = first(*(getattr(self, name) for name in names))
        for module in others:
            value = module(value)
        return value


def _copied(self: Any, memo: dict[int, Any]) -> Any:
    if id(self) in memo:
        return memo[id(self)]
    copy = memo[id(self)] = object.__new__(type(self))
    copy.__dict__ = deepcopy(self.__dict__, memo)
    return copy


def _not_serialised(self: Any) -> Any:
    raise RuntimeError(NOT_SERIALISED)


def _own_class(module: Module) -> None:
    """Give a module a class of its own, which properties can be added to."""
    kind: Any = module.__class__
    own: dict[str, Any] = {"__getstate__": _not_serialised}
    if not hasattr(kind, "__deepcopy__"):
        own["__deepcopy__"] = _copied
    module.__class__ = types.new_class(f"Parametrized{kind.__name__}", (kind,), {}, lambda space: space.update(own))


def _own_property(module: Module, name: str) -> None:
    """Have a name of a module stand for what its parametrizations make."""

    def get(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not cache.depth:
            return parametrization()
        key = (id(self), name)
        if key not in cache.weights:
            cache.weights[key] = parametrization()
        return cache.weights[key]

    def put(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, put))


def register_parametrization(
    module: Module, tensor_name: str, parametrization: Module, *, unsafe: bool = False
) -> Module:
    """Compute a parameter or buffer of `module` by `parametrization` from the original; several are applied in order.

    Raises ValueError where that changes its dtype or shape, unless `unsafe`.
    Source: torch.nn.utils.parametrize.register_parametrization.

    >>> import engine as torch
    >>> class Symmetric(torch.nn.Module):
    ...     def forward(self, weight):
    ...         return weight.triu() + weight.triu(1).T
    >>> layer = register_parametrization(torch.nn.Linear(3, 3), "weight", Symmetric())
    >>> torch.equal(layer.weight, layer.weight.T), [name for name, _ in layer.named_parameters()]
    (True, ['bias', 'parametrizations.weight.original'])
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        if not unsafe:
            _check_another(module, tensor_name, parametrization)
        chain = module.parametrizations[tensor_name]
        chain.append(parametrization)
        chain.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        parametrizations = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _own_class(module)
            module.parametrizations = ModuleDict()
        _own_property(module, tensor_name)
        module.parametrizations[tensor_name] = parametrizations
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'"
        )
    return module


def _check_another(module: Module, name: str, parametrization: Any) -> None:
    """Raise torch's errors where one more parametrization would change what the weight is."""
    before = getattr(module, name)
    after = parametrization(before)
    if not isinstance(after, Tensor):
        raise ValueError(f"A parametrization must return a tensor. Got {_kind(after)}.")
    for what in ("dtype", "shape"):
        if getattr(after, what) != getattr(before, what):
            raise ValueError(
                f"Registering a parametrization may not change the {what} of the tensor, unless the `unsafe` flag is "
                f"enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                f"parametrization(module.{name}).{what}: {getattr(after, what)}"
            )
    if not hasattr(parametrization, "right_inverse"):
        return
    try:
        back = parametrization.right_inverse(after)
    except NotImplementedError:
        return
    if not isinstance(back, Tensor):
        raise ValueError(f"parametrization.right_inverse must return a tensor. Got: {_kind(back)}")
    for what in ("dtype", "shape"):
        if getattr(back, what) != getattr(before, what):
            raise ValueError(
                f"The tensor returned by parametrization.right_inverse must have the same {what} as module.{name}, "
                f"unless the `unsafe` flag is enabled.\nmodule.{name}.{what}: {getattr(before, what)}\n"
                f"returned {what}: {getattr(back, what)}"
            )


def is_parametrized(module: Module, tensor_name: str | None = None) -> bool:
    """Return whether a weight of `module` is parametrized: the one named, or any.

    Source: torch.nn.utils.parametrize.is_parametrized.

    >>> import engine as torch
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", torch.nn.Tanh())
    >>> is_parametrized(layer, "weight"), is_parametrized(layer, "bias")
    (True, False)
    """
    parametrizations = getattr(module, "parametrizations", None)
    if not isinstance(parametrizations, ModuleDict):
        return False
    return len(parametrizations) > 0 if tensor_name is None else tensor_name in parametrizations


def remove_parametrizations(module: Module, tensor_name: str, leave_parametrized: bool = True) -> Module:
    """Make a weight ordinary again, with its current elements or else those of the original.

    Raises ValueError for a name that is not parametrized.  Source: torch.nn.utils.parametrize.remove_parametrizations.

    >>> import engine as torch
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", torch.nn.Tanh())
    >>> type(remove_parametrizations(layer, "weight")).__name__, type(layer.weight).__name__
    ('Linear', 'Parameter')
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    chain = module.parametrizations[tensor_name]
    if chain.is_tensor:
        weight = chain.original
        if leave_parametrized:
            with no_grad():
                set_data(weight, getattr(module, tensor_name).detach())
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        weight = Parameter(value) if value.requires_grad else value
    else:
        raise ValueError(SEVERAL)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _keep(module, tensor_name, weight)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def type_before_parametrizations(module: Module) -> type:
    """The class of a module before it was parametrized.

    Source: torch.nn.utils.parametrize.type_before_parametrizations.

    >>> import engine as torch
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", torch.nn.Tanh())
    >>> type(layer).__name__, type_before_parametrizations(layer).__name__
    ('ParametrizedLinear', 'Linear')
    """
    kind: type = module.__class__
    return kind.__bases__[0] if is_parametrized(module) else kind


def transfer_parametrizations_and_params(
    from_module: Module, to_module: Module, tensor_name: str | None = None
) -> Module:
    """Give `to_module` the parametrizations of `from_module`, and the tensors that they work on.

    Source: torch.nn.utils.parametrize.transfer_parametrizations_and_params.

    >>> import engine as torch
    >>> layer = register_parametrization(torch.nn.Linear(2, 2), "weight", torch.nn.Tanh())
    >>> other = transfer_parametrizations_and_params(layer, torch.nn.Linear(2, 2))
    >>> torch.equal(other.weight, layer.weight)
    True
    """
    if not is_parametrized(from_module):
        return to_module
    for name in list(from_module.parametrizations) if tensor_name is None else [tensor_name]:
        source = from_module.parametrizations[name]
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in source:
            register_parametrization(to_module, name, parametrization)
        target = to_module.parametrizations[name]
        if source.is_tensor:
            target.original = source.original
        else:
            for place in range(source.ntensors):
                setattr(target, f"original{place}", getattr(source, f"original{place}"))
    return to_module
