"""Modules that hold modules or parameters in a list, a dict or a row."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any, Self

from ..api.calls.check import typename
from ..tensor.tensor import Tensor
from .module import Module, indented
from .parameter import Parameter

__all__ = ["DataParallel", "ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


class _IndexedModules(Module):
    """The base of ModuleList and Sequential: modules with the keys "0", "1", ..."""

    def _key(self, idx: Any) -> str:
        place: int = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return list(self._modules)[place]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._key(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        for key in list(self._modules)[idx] if isinstance(idx, slice) else [self._key(idx)]:
            delattr(self, key)
        self.__dict__["_modules"] = {str(place): module for place, module in enumerate(self._modules.values())}

    def pop(self, key: int | slice) -> Any:
        """Take a module (or a slice of them) out."""
        module = self[key]  # type: ignore[index]  # of the classes that mix this in
        del self[key]
        return module

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self


class DataParallel(Module):
    """The module itself, because there is one device.  Its parameters have torch's names, `module.weight`.

    Source: torch.nn.DataParallel.

    >>> import engine as torch
    >>> list(torch.nn.DataParallel(torch.nn.Linear(1, 1)).state_dict())
    ['module.weight', 'module.bias']
    """

    def __init__(self, module: Module, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[int] = []
        self.dim = dim

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)


class Sequential(_IndexedModules):
    """Modules called one after the other, each with the result of the previous one.

    Raises IndexError for a place it has not.  Source: torch.nn.Sequential.

    >>> Sequential()
    Sequential()
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], OrderedDict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name), module)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._key(idx)]

    def forward(self, input: Any) -> Any:
        """The last module's output."""
        for module in self._modules.values():
            input = module(input)
        return input

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before place `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        modules = list(self._modules.values())
        modules.insert(index if index >= 0 else index + len(self), module)
        self.__dict__["_modules"] = {str(place): m for place, m in enumerate(modules)}
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Any) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return Sequential(*self, *other)

    def __iadd__(self, other: Any) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(f"add operator supports only objects of Sequential class, but {type(other)} is given.")
        return self.extend(list(other))

    def _times(self, other: Any) -> int:
        if not isinstance(other, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(other)}")
        if other <= 0:
            raise ValueError(f"Non-positive multiplication factor {other} for {type(self)}")
        return other

    def __mul__(self, other: int) -> Sequential:
        return Sequential(*list(self) * self._times(other))

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        return self.extend(list(self) * (self._times(other) - 1))


class ModuleList(_IndexedModules):
    """Modules in a list.

    Raises IndexError for a place it has not, TypeError for what is no module.  Source: torch.nn.ModuleList.

    >>> import engine as torch
    >>> torch.nn.ModuleList([torch.nn.ReLU(), torch.nn.Tanh()])
    ModuleList(
      (0): ReLU()
      (1): Tanh()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self._modules.values())[idx])
        return self._modules[self._key(idx)]

    def insert(self, index: int, module: Module) -> None:
        """Put a module before place `index`."""
        modules = list(self._modules.values())
        modules.insert(index, module)
        self.__dict__["_modules"] = {str(place): m for place, m in enumerate(modules)}

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        if not isinstance(modules, Iterable):
            raise TypeError(f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}")
        for module in modules:
            self.append(module)
        return self

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        """Neighbours that read alike are one line, as torch prints them."""
        runs: list[tuple[int, int, str]] = []
        for place, module in enumerate(self):
            text = repr(module)
            if runs and runs[-1][2] == text:
                runs[-1] = (runs[-1][0], place, text)
            else:
                runs.append((place, place, text))
        if not runs:
            return f"{self._get_name()}()"
        lines = [f"({a}): {t}" if a == b else f"({a}-{b}): {b - a + 1} x {t}" for a, b, t in runs]
        return f"{self._get_name()}(\n  " + "\n  ".join(indented(line) for line in lines) + "\n)"


def _pairs(entries: Any, owner: str, name: str) -> Iterator[tuple[Any, Any]]:
    """The items of a mapping, or of a sequence of pairs, checked as torch checks them."""
    if not isinstance(entries, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got {type(entries).__name__}"
        )
    if isinstance(entries, (Mapping, ModuleDict, ParameterDict)):
        yield from entries.items()
        return
    for place, pair in enumerate(entries):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{name} update sequence element #{place} should be Iterable; is{type(pair).__name__}")
        if not isinstance(pair, Sequence) or len(pair) != 2:
            size = len(pair) if isinstance(pair, Sequence) else "unknown"
            raise ValueError(f"{name} update sequence element #{place} has length {size}; 2 is required")
        yield pair[0], pair[1]


class ModuleDict(Module):
    """Modules in a dict.

    Raises KeyError for a name it has not, TypeError for what is no module.  Source: torch.nn.ModuleDict.

    >>> import engine as torch
    >>> torch.nn.ModuleDict({"act": torch.nn.ReLU()})
    ModuleDict(
      (act): ReLU()
    )
    """

    def __init__(self, modules: Any = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()

    def pop(self, key: str) -> Any:
        """Take a module out."""
        return self._modules.pop(key)

    def keys(self) -> Any:
        """The names."""
        return self._modules.keys()

    def items(self) -> Any:
        """Names and modules."""
        return self._modules.items()

    def values(self) -> Any:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Any) -> None:
        """Take in the modules of a mapping or of pairs."""
        for key, module in _pairs(modules, "ModuleDict", "ModuleDict"):
            self[key] = module


def _described(place: Any, value: Any, kind: Any) -> str:
    if not isinstance(value, Tensor):
        return f"  ({place}): Object of type: {type(value).__name__}"
    where = f" ({value.device})" if value.is_cuda else ""
    name = "Parameter" if isinstance(value, Parameter) else "Tensor"
    return f"  ({place}): {name} containing: [{kind(value)} of size {'x'.join(map(str, value.shape))}{where}]"


def _as_parameter(value: Any) -> Any:
    return Parameter(value) if isinstance(value, Tensor) and not isinstance(value, Parameter) else value


class ParameterList(Module):
    """Parameters (and other values) in a list; tensors become parameters.

    Raises IndexError for a place it has not.  Source: torch.nn.ParameterList.

    >>> import engine as torch
    >>> len(torch.nn.ParameterList([torch.ones(2)]))
    1
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _key(self, idx: Any) -> str:
        place: int = operator.index(idx)
        if not -len(self) <= place < len(self):
            raise IndexError(f"index {place} is out of range")
        return str(place % len(self))

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[place] for place in range(*idx.indices(len(self))))
        return getattr(self, self._key(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._key(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[place] for place in range(len(self))])

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}")
        for value in values:
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def extra_repr(self) -> str:
        return "\n".join(_described(place, value, lambda v: v.dtype) for place, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters (and other values) in a dict; tensors become parameters.

    Raises AttributeError for a name it has not, TypeError for a key that is no string.
    Source: torch.nn.ParameterDict.

    >>> import engine as torch
    >>> list(torch.nn.ParameterDict({"w": torch.ones(2)}))
    ['w']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    @staticmethod
    def _checked(key: Any) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type is "
                f"'{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._checked(key))

    def __setitem__(self, key: str, value: Any) -> None:
        self._keys[key] = None
        setattr(self, self._checked(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._checked(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """Another dict of the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any = None) -> Any:
        """The value of `key`, put in where it is not there."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take all out."""
        for key in list(self._keys):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take one out."""
        parameter = self[key]
        del self[key]
        return parameter

    def popitem(self) -> tuple[str, Any]:
        """Take the last one out."""
        key = next(reversed(self))
        return key, self.pop(key)

    def get(self, key: str, default: Any = None) -> Any:
        """The value of `key`, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 (this is the `get`)

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """A dict of one value for all keys."""
        return ParameterDict([(key, default) for key in keys])

    def keys(self) -> Any:
        """The names."""
        return self._keys.keys()

    def items(self) -> Any:
        """Names and values."""
        return [(key, self[key]) for key in self._keys]

    def values(self) -> Any:
        """The values."""
        return [self[key] for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Take in the values of a mapping (a plain one by sorted keys) or of pairs."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for key, value in _pairs(parameters, "ParametersDict", "ParameterDict"):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_described(key, value, typename) for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: Any) -> ParameterDict:
        result = self.copy()
        result.update(other)
        return result

    def __ror__(self, other: Any) -> ParameterDict:
        result = ParameterDict(other)
        result.update(self)
        return result

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self
