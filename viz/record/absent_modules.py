"""Modules of torch that the engine lacks: a script may import them, and gets an error when it uses them.

Many scripts import such a module at the top and use it only if they are asked to, or on several machines.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

from engine.arrays.errors import OutOfScope

_ONE = "a recording covers one process: leave it out, or use it only where there are several processes"
_GRAPH = "the program is recorded as Python runs it, op by op: use the module or function itself"
_ITSELF = "a recording covers one process: use the module itself"
_TIMES = "times mean little here, because recording takes time too: leave the block out"
_KINDS = "tensors hold real numbers, one per element: use such tensors, or leave it out"
_NET = "the engine downloads nothing: save the numbers with numpy, and load them with load_state_dict"
_CPU = "this device is not supported: use 'cpu'"
_WATCH = "print the values that you want to watch, or look at them in the recording"
_OWN = "the engine is written in Python: use its ops, which docs/ops.md lists"

REASONS = {
    "_dynamo": _GRAPH, "ao": _GRAPH, "compiler": _GRAPH, "distributed": _ONE,
    "export": _GRAPH, "fft": _KINDS, "futures": _ONE, "fx": _GRAPH, "hub": _NET, "jit": _GRAPH, "library": _OWN,
    "masked": _KINDS, "mps": _CPU, "multiprocessing": _ONE, "nested": _KINDS, "nn.parallel": _ITSELF,
    "onnx": _GRAPH, "overrides": _OWN, "package": _GRAPH,
    "quantization": _KINDS, "sparse": _KINDS, "testing": "compare with torch.allclose()",
    "utils.benchmark": _TIMES, "utils.bottleneck": _TIMES, "utils.cpp_extension": _OWN, "utils.data.distributed": _ONE,
    "utils.hooks": _OWN, "utils.model_zoo": _NET,
    "utils.tensorboard": _WATCH, "xpu": _CPU,
}  # fmt: skip
"""Why a module is left out, and what to do; one entry per module, by its name below torch."""

_NO = frozenset({
    "is_available", "is_built", "is_compiling", "is_initialized", "is_scripting", "is_torchelastic_launched",
    "is_tracing",
})  # fmt: skip
"""Questions whose answer is no."""
_SAME = frozenset({"allow_in_graph", "disable", "export", "ignore", "script", "script_if_tracing", "trace", "unused"})
_COMPILE = frozenset({"_dynamo", "compiler", "jit"})
"""Modules in which these names give a function that computes the same."""


class AbsentModule(ModuleType):
    """A module that can be imported.

    >>> AbsentModule("torch.onnx", "onnx").export
    torch.onnx.export
    """

    def __init__(self, name: str, module: str) -> None:
        super().__init__(name, f"Not in Backstep: {REASONS[module]}.")
        self.__module = module
        self.__path__: list[str] = []

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}", name=name, obj=self)
        if name in _NO:
            return lambda: False
        if self.__module in _COMPILE and name in _SAME:
            return _itself
        if name == "SummaryWriter":
            return Writer
        return Name(f"{self.__name__}.{name}", self.__module)


class Writer:
    """Stands for tensorboard's: a script goes on without it, because it only writes what it is given."""

    def __init__(self, *_: Any, **__: Any) -> None:
        text = f"torch.utils.tensorboard.SummaryWriter writes nothing in Backstep: {_WATCH}."
        warnings.warn(text, UserWarning, stacklevel=2)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("add_") or name in ("flush", "close"):
            return lambda *_, **__: None
        raise AttributeError(f"'SummaryWriter' object has no attribute {name!r}", name=name, obj=self)

    def __enter__(self) -> Writer:
        return self

    def __exit__(self, *_: object) -> None:
        """There is nothing to close."""


class Name:
    """A name in such a module: it can be imported and compared, and raises an error when it is called or subclassed.

    >>> Name("torch.onnx.export", "onnx")(1)
    Traceback (most recent call last):
    engine.arrays.errors.OutOfScope: torch.onnx.export is not in Backstep: the program is recorded as ...
    """

    def __init__(self, full: str, module: str) -> None:
        self.__full, self.__module = full, module

    def __refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise OutOfScope(f"{self.__full} is not in Backstep: {REASONS[self.__module]}")

    __call__ = __enter__ = __mro_entries__ = __refuse

    def __exit__(self, *_: object) -> None:
        """Never entered."""

    def __instancecheck__(self, _: object) -> bool:
        return False

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"{self.__full} has no attribute {name!r}", name=name, obj=self)
        return Name(f"{self.__full}.{name}", self.__module)

    def __repr__(self) -> str:
        return self.__full


def _itself(function: Callable[..., Any] | None = None, *_: Any, **__: Any) -> Any:
    """Returns the function or module as it is; also as a decorator with options."""
    return _itself if function is None else function


def absent_module(name: str) -> str | None:
    """The absent module that contains a module of torch (named from below torch); None if there is none.

    >>> absent_module("distributed.fsdp"), absent_module("nn")
    ('distributed', None)
    """
    while name and name not in REASONS:
        name = name.rpartition(".")[0]
    return name or None


def reason(name: str) -> str | None:
    """Why a name (from below torch) is left out, and what to do; None if none of these modules has it.

    >>> reason("nn.parallel.DistributedDataParallel")
    'a recording covers one process: use the module itself'
    """
    module = absent_module(name)
    return None if module is None else REASONS[module]
